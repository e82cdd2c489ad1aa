// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/completion_values.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "adapters/adapter.h"
#include "base/text.h"
#include "cli/commands/completion_sources.h"
#include "cli/commands/provider_release.h"
#include "cli/commands/schema_catalog.h"
#include "cli/commands/start_workflow.h"
#include "config/registry.h"
#include "core/caps.h"
#include "core/catalog.h"
#include "core/condition.h"
#include "io/files/disk.h"
#include "workspace/rehearsal.h"

namespace baton {
namespace {

using Values = std::vector<CompletionValue>;

Values plain(const std::vector<std::string>& words) {
  Values all;
  for (const std::string& each : words)
    all.push_back({each, ""});
  return all;
}

template <std::size_t Count>
Values fixed(const std::array<std::string_view, Count>& words) {
  return plain({words.begin(), words.end()});
}

// What there is of each kind.

Values flow_names(CompletionSources& from) {
  // Of a flow without files there is something to see, to write anew or to forget.
  constexpr std::array<std::string_view, 5> kAlsoGone = {"agents", "events", "explain", "forget",
                                                         "recover"};
  const bool gone =
      std::find(kAlsoGone.begin(), kAlsoGone.end(), from.command()) != kAlsoGone.end();
  Values all;
  for (const KnownFlows& root : from.flows(gone))
    for (const FlowId& flow : root.flows)
      all.push_back({text(flow), ""});
  return all;
}

Values run_ids(CompletionSources& from) {
  Values all;
  for (const Run& run : from.runs(from.place().typed))
    all.push_back({run.id, text(run.key.flow) + " " + run.key.role});
  return all;
}

/// The rules of the configuration, or the reactions of one.
std::vector<const Value*> members_of(const Value& value, std::string_view name) {
  std::vector<const Value*> all;
  if (const Value* const list = json::child(value, name); list != nullptr && list->IsArray())
    for (const Value& each : list->GetArray())
      all.push_back(&each);
  return all;
}

std::vector<std::string> words_of(const Value& value, std::string_view name) {
  std::vector<std::string> all;
  for (const Value* const each : members_of(value, name))
    if (const auto word = json::text(*each))
      all.emplace_back(*word);
  return all;
}

Values role_names(CompletionSources& from) {
  Values all;
  if (from.context() == nullptr)
    return all;
  for (const auto& [role, agent] : from.context()->config().agents)
    if (role != "default")
      all.push_back({role, ""});
  for (const auto& [known, options] : from.configured()) {
    for (const std::string_view role : known->roles)
      all.push_back({std::string(role), ""});
    for (const Value* const rule : members_of(*options, "rules"))
      for (const Value* const reaction : members_of(*rule, "react"))
        if (const auto role = json::text(*reaction, "run"))
          all.push_back({std::string(*role), ""});
  }
  for (const Run& run : from.runs(""))
    all.push_back({run.key.role, ""});
  return all;
}

Values agent_names(CompletionSources& from) {
  Values all;
  if (from.context() != nullptr)
    for (const auto& [name, agent] : from.context()->config().agents)
      all.push_back({name, agent.adapter});
  return all;
}

Values dialect_names(CompletionSources& /*from*/) {
  Values all;
  for (const Dialect* const each : dialects())
    all.push_back({std::string(each->name), ""});
  return all;
}

Values rule_names(CompletionSources& from) {
  Values all;
  for (const auto& [known, options] : from.configured())
    for (const Value* const rule : members_of(*options, "rules"))
      if (const auto name = json::text(*rule, "name"))
        all.push_back({std::string(*name), ""});
  return all;
}

Values parked_names(CompletionSources& from) {
  Values all;
  if (from.context() != nullptr)
    if (const auto rows = parked_providers(*from.context()))
      for (const Parked& row : *rows)
        all.push_back({row.whose.provider, ""});
  return all;
}

Values provider_names(CompletionSources& from) {
  Values all = parked_names(from);
  if (from.context() != nullptr)
    for (const auto& [name, agent] : from.context()->config().agents)
      all.push_back({agent.provider, ""});
  return all;
}

Values adapter_words(CompletionSources& /*from*/) {
  return plain(adapter_names());
}

Values adapters_after_adapter(CompletionSources& from) {
  return from.place().before.front() == "adapter" ? plain(adapter_names()) : Values();
}

Values schema_words(CompletionSources& /*from*/) {
  Values all = plain(schema_names());
  for (std::string& each : prompt_names())
    all.push_back({std::move(each), ""});
  return all;
}

Values kind_words(CompletionSources& from) {
  Values all = schema_words(from);
  for (CompletionValue& each : rule_names(from))
    all.push_back(std::move(each));
  const auto known = from.context() == nullptr ? known_dialects(Config{})
                                               : known_dialects(from.context()->config());
  if (!known)
    return all;
  const Catalog catalog = Catalog::of(*known);
  for (const Catalog::Entry& entry : catalog.entries())
    for (const FileKind& kind : entry.kinds)
      if (entry.dialect->name != "rules")
        all.push_back({std::string(entry.dialect->name) + "/" + kind.kind, ""});
  return all;
}

Values condition_words(CompletionSources& /*from*/) {
  Values all;
  for (const ConditionRow& row : kConditions)
    all.push_back({std::string(row.word), ""});
  return all;
}

/// The words in which a rule names stages.
std::vector<std::string> stages_of_rule(const Value& rule) {
  std::vector<std::string> all = words_of(rule, "stages");
  const auto add = [&](std::vector<std::string> words) {
    std::move(words.begin(), words.end(), std::back_inserter(all));
  };
  add(words_of(rule, "done"));
  for (const Value* const reaction : members_of(rule, "react")) {
    add(words_of(*reaction, "from"));
    add(words_of(*reaction, "to"));
    add(words_of(*reaction, "next"));
  }
  return all;
}

/// The stages and declared words that a flow can have by its dialect.
std::vector<std::string> stages_by_dialect(CompletionSources& from, const FlowId& flow) {
  std::vector<std::string> all;
  for (const auto& [known, options] : from.configured()) {
    if (known->name != flow.dialect)
      continue;
    if (known->words != nullptr)
      all = known->words(flow, options);
    for (const Value* const rule : members_of(*options, "rules"))
      if (const auto name = json::text(*rule, "name");
          name && (flow.name == *name || flow.name.starts_with(std::string(*name) + "/")))
        for (std::string& word : stages_of_rule(*rule))
          all.push_back(std::move(word));
  }
  return all;
}

/// The stages of the flow that is named, else of all flows.
std::vector<std::string> stages(CompletionSources& from) {
  std::vector<std::string> all;
  const auto add = [&](std::vector<std::string> words) {
    std::move(words.begin(), words.end(), std::back_inserter(all));
  };
  if (const auto named = from.named_flow()) {
    add(stages_by_dialect(from, named->first));
    for (const auto& [subject, state] : named->second.stages)
      add({state.stage, state.previous});
    return all;
  }
  for (const auto& [known, options] : from.configured()) {
    if (known->words != nullptr && known->name != "rules")
      add(known->words(FlowId{std::string(known->name), ""}, options));
    for (const Value* const rule : members_of(*options, "rules"))
      add(stages_of_rule(*rule));
  }
  return all;
}

/// `--until`: a condition or a stage. A stage with a colon needs `stage:`.
Values awaited_words(CompletionSources& from) {
  constexpr std::string_view kOfStage = "stage:";
  constexpr std::string_view kOfCondition = "condition:";
  const std::string& typed = from.place().typed;
  Values all;
  if (!typed.starts_with(kOfStage))
    for (const CompletionValue& each : condition_words(from))
      all.push_back({(typed.starts_with(kOfCondition) ? std::string(kOfCondition) : "") + each.word,
                     "condition"});
  if (!typed.starts_with(kOfCondition))
    for (const std::string& each : stages(from)) {
      const bool prefixed =
          typed.starts_with(kOfStage) || each.find(':') != std::string::npos || each.empty();
      if (!each.empty())
        all.push_back({(prefixed ? std::string(kOfStage) : "") + each, "stage"});
    }
  return all;
}

/// The parts of the flow that have a stage.
Values subject_names(CompletionSources& from) {
  Values all;
  if (const auto named = from.named_flow())
    for (const auto& [subject, state] : named->second.stages)
      if (!state.stage.empty())
        all.push_back({subject, state.stage});
  return all;
}

/// The steps of a workflow file, or of a run.
Values step_names(CompletionSources& from) {
  constexpr std::size_t kMostBytes = 1U << 20U;
  if (from.place().before.empty() || !names_workflow(from.place().before.front()))
    return subject_names(from);
  Values all;
  auto text = read_file(from.place().before.front(), kMostBytes);
  const auto workflow =
      text ? load_document(*std::move(text), Format::yaml) : tl::make_unexpected(LoadFailure{});
  if (!workflow)
    return all;
  for (const Value* const step : members_of((*workflow)->root(), "steps"))
    if (const auto id = json::text(*step, "id"))
      all.push_back({std::string(*id), std::string(json::text(*step, "agent").value_or(""))});
  return all;
}

Values workflow_runs(CompletionSources& from) {
  Values all;
  for (const KnownFlows& root : from.flows(false))
    for (const FlowId& flow : root.flows)
      if (flow.dialect == kWorkflowDialect)
        all.push_back({flow.name, ""});
  return all;
}

Values startable_names(CompletionSources& from) {
  Values all = flow_names(from);
  for (const auto& [known, options] : from.configured())
    if (known->create != nullptr)
      all.push_back({std::string(known->name), "dialect"});
  return all;
}

Values event_words(CompletionSources& from) {
  Values all;
  for (const Event& each : from.events())
    all.push_back({each.event, ""});
  return all;
}

Values cap_words(CompletionSources& /*from*/) {
  Values all;
  for (const CapKey key : kCapKeys)
    all.push_back({std::string(word(key)) + "=", ""});
  return all;
}

Values outcomes(CompletionSources& /*from*/) {
  return plain(outcome_words());
}

Values nothing(CompletionSources& /*from*/) {
  return {};
}

/// Words that never change.
Values retry_conditions(CompletionSources& /*from*/) {
  return fixed(std::array<std::string_view, 2>{"blocked", "failed"});
}
Values groups(CompletionSources& /*from*/) {
  return fixed(std::array<std::string_view, 4>{"agent", "day", "flow", "provider"});
}
Values orders(CompletionSources& /*from*/) {
  return fixed(std::array<std::string_view, 4>{"condition", "cost", "flow", "since"});
}
Values formats(CompletionSources& /*from*/) {
  return fixed(std::array<std::string_view, 5>{"github", "json", "junit", "sarif", "text"});
}
Values hook_actions(CompletionSources& /*from*/) {
  return fixed(std::array<std::string_view, 2>{"install", "uninstall"});
}
Values shells(CompletionSources& /*from*/) {
  return fixed(std::array<std::string_view, 3>{"bash", "fish", "zsh"});
}
Values mailboxes(CompletionSources& /*from*/) {
  return fixed(std::array<std::string_view, 3>{"dev_to_qa", "qa_to_techlead", "techlead_to_dev"});
}

/// What is expected where. The first row that fits wins.
struct PlaceRow {
  std::string_view command;  ///< empty: any
  std::string_view place;    ///< an option, or the name of an argument or value
  Values (*values)(CompletionSources& from);
  CompletionFiles files = CompletionFiles::none;
  bool list = false;  ///< several words with commas between them
};

constexpr std::array kPlaces = {
    PlaceRow{"retry", "--only", retry_conditions},
    PlaceRow{"start", "NAME", startable_names, CompletionFiles::files},
    PlaceRow{"schema", "NAME", schema_words},
    PlaceRow{"schema", "ADAPTER", adapters_after_adapter},
    PlaceRow{"completions", "SHELL", shells},
    PlaceRow{"hook", "ACTION", hook_actions},
    PlaceRow{"validate", "--schema", schema_words, CompletionFiles::files},
    PlaceRow{"", "--adapter", adapter_words},
    PlaceRow{"", "--agent", agent_names},
    PlaceRow{"", "--as", kind_words},
    PlaceRow{"", "--by", groups},
    PlaceRow{"", "--clear", parked_names},
    PlaceRow{"", "--dialect", dialect_names},
    PlaceRow{"", "--event", event_words, CompletionFiles::none, true},
    PlaceRow{"", "--format", formats},
    PlaceRow{"", "--only", condition_words, CompletionFiles::none, true},
    PlaceRow{"", "--outcome", outcomes},
    PlaceRow{"", "--provider", provider_names},
    PlaceRow{"", "--raise", cap_words},
    PlaceRow{"", "--rule", rule_names},
    PlaceRow{"", "--run-id", workflow_runs},
    PlaceRow{"", "--sort", orders},
    PlaceRow{"", "--start-at-step", step_names},
    PlaceRow{"", "--until", awaited_words},
    PlaceRow{"", "DIR", nothing, CompletionFiles::folders},
    PlaceRow{"", "FILE", nothing, CompletionFiles::files},
    PlaceRow{"", "FLOW", flow_names},
    PlaceRow{"", "MAILBOX", mailboxes, CompletionFiles::files},
    PlaceRow{"", "PATH", nothing, CompletionFiles::files},
    PlaceRow{"", "PATH|FLOW", flow_names, CompletionFiles::files},
    PlaceRow{"", "ROLE", role_names},
    PlaceRow{"", "RUN", run_ids},
    PlaceRow{"", "SUBJECT", subject_names},
};

const PlaceRow* row_at(std::string_view command, const CompletionPlace& place) {
  const auto fits = [&](const PlaceRow& row) {
    return (row.command.empty() || row.command == command) &&
           (row.place == place.what || (!place.option.empty() && row.place == place.option));
  };
  const auto* const row = std::find_if(kPlaces.begin(), kPlaces.end(), fits);
  return row == kPlaces.end() ? nullptr : row;
}

/// How much of an explanation is shown.
constexpr std::size_t kMostOfAbout = 72;

/// A terminal can show it, and no command takes it for an option.
bool is_offered(const std::string& word) {
  return !word.empty() && word.front() != '-' && printable(word, word.size()) == word;
}

}  // namespace

CompletionOffer completion_offer(std::string_view command, const CompletionPlace& place) {
  CompletionOffer offer;
  for (const auto& [name, help] : place.options)
    offer.values.push_back({name, printable(help, kMostOfAbout)});
  const PlaceRow* const row = row_at(command, place);
  if (row == nullptr)
    return offer;
  offer.files = row->files;
  const std::size_t comma = row->list ? place.typed.rfind(',') : std::string::npos;
  const std::string before = comma == std::string::npos ? "" : place.typed.substr(0, comma + 1);
  const std::vector<std::string> chosen = split(before, ',');
  CompletionSources sources(command, place);
  for (CompletionValue& each : row->values(sources))
    if (is_offered(each.word) && std::find(chosen.begin(), chosen.end(), each.word) == chosen.end())
      offer.values.push_back(
          {place.lead + before + each.word, printable(each.about, kMostOfAbout)});
  return offer;
}

}  // namespace baton
