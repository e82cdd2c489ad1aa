// SPDX-License-Identifier: Apache-2.0
#include "dialects/rules/needs.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/text.h"
#include "core/catalog.h"
#include "dialects/findings.h"
#include "dialects/kinds.h"
#include "dialects/rules/conditions.h"

namespace baton::rules {
namespace {

constexpr std::string_view kRelated = "related";

/// By name: the names that it needs.
using NeedsGraph = std::map<std::string, std::vector<std::string>>;

/// The shortest way from a name back to itself: `a -> b -> a`. Empty if there is none.
std::string circle_of(const NeedsGraph& graph, const std::string& start) {
  std::map<std::string, std::string> from;
  std::deque<std::string> open{start};
  while (!open.empty()) {
    const std::string name = open.front();
    open.pop_front();
    const auto needs = graph.find(name);
    if (needs == graph.end())
      continue;
    for (const std::string& next : needs->second) {
      if (next == start) {
        std::string way = start;
        for (std::string at = name; at != start; at = from.at(at))
          way = at + " -> " + way;
        return start + " -> " + way;
      }
      if (from.emplace(next, name).second)
        open.push_back(next);
    }
  }
  return {};
}

/// The names that stand at `needs` for one subject.
std::vector<std::string> names_for(const Snapshot& snapshot, const Subject& subject) {
  const auto& place = snapshot.rule().needs;
  return place ? needed_names(snapshot.value(*place, subject)) : std::vector<std::string>();
}

/// The name of a flow as people may write it: with or without the rule and the dialect before it.
std::string flow_part(const Rule& rule, std::string name) {
  for (const std::string& front : {std::string("rules/"), rule.name + "/"})
    if (name.starts_with(front))
      name.erase(0, front.size());
  return name;
}

std::string some_names(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  std::string all;
  for (std::size_t i = 0; i < names.size() && i < kMost; ++i)
    all += (i == 0 ? "" : ", ") + printable(names[i], 60);
  return all +
         (names.size() > kMost ? " and " + std::to_string(names.size() - kMost) + " more" : "");
}

/// The patterns of the documents that `needs` is looked for in.
std::vector<std::string> patterns_with_needs(const Rule& rule) {
  const std::string& name =
      rule.needs->document.empty() ? rule.stage.document : rule.needs->document;
  std::vector<std::string> patterns;
  for (const Kind& kind : rule.kinds)
    if (kind.name == name)
      patterns.push_back(kind.pattern);
  return patterns;
}

/// The flow that a path belongs to, with the pattern that says so.
struct NamedFlow {
  std::string pattern;
  std::string flow;
};
std::optional<NamedFlow> flow_at(const Rule& rule, const std::string& path) {
  for (const std::string& pattern : patterns_with_needs(rule))
    if (const auto match = match_pattern(pattern, path, PatternNames::people))
      return NamedFlow{pattern, match->flow};
  return std::nullopt;
}

/// The names of flows in one document.
std::vector<std::string> flows_in(const Rule& rule, const Accepted& accepted) {
  const Value* const record =
      accepted.document == nullptr ? nullptr : record_of(*accepted.document);
  std::vector<std::string> names =
      needed_names(record == nullptr ? nullptr : json::at(*record, rule.needs->pointer));
  for (std::string& name : names)
    name = flow_part(rule, std::move(name));
  return names;
}

/// Adds findings about one document.
class NeedsCheck {
 public:
  NeedsCheck(const NeedsGraph& graph, std::map<std::string, Findings>& found)
      : graph_(graph), found_(found) {}

  /// `name`: the subject or flow whose `needs` stands at the pointer. Empty names are known.
  void take(const std::string& name, const std::string& path, const std::string& pointer,
            const std::vector<std::string>& unknown, const std::string& what) {
    FindingList list("rules");
    if (const std::string circle = circle_of(graph_, name); !circle.empty())
      list.error("needs", pointer,
                 "each of them would wait for itself: " + printable(circle, 400) +
                     "; take one of them out of `needs`");
    for (const std::string& each : unknown)
      list.warning("needs", pointer,
                   "there is no " + what + " `" + printable(each, 80) +
                       "`; nothing starts before it is there and done",
                   {.found = each, .expected = "", .suggestion = ""});
    for (Finding& finding : list.take())
      found_[path].push_back(std::move(finding));
  }

 private:
  const NeedsGraph& graph_;
  std::map<std::string, Findings>& found_;
};

void check_subjects(const Rule& rule, const Snapshot& snapshot, const FlowState& docs,
                    std::map<std::string, Findings>& found) {
  NeedsGraph graph;
  for (const auto& [subject, stage] : snapshot.stages())
    graph.emplace(subject, names_for(snapshot, subject));
  NeedsCheck check(graph, found);
  for (const auto& [subject, names] : graph) {
    const std::string path = snapshot.path(*rule.needs, subject);
    if (names.empty() || !docs.contains(path))
      continue;
    std::vector<std::string> unknown;
    std::copy_if(names.begin(), names.end(), std::back_inserter(unknown),
                 [&](const std::string& name) { return !graph.contains(name); });
    check.take(subject, path, snapshot.pointer(*rule.needs, subject).value_or(rule.needs->pointer),
               unknown, "subject");
  }
}

void check_other_flows(const Rule& rule, const FlowState& docs,
                       std::map<std::string, Findings>& found) {
  NeedsGraph graph;
  std::map<std::string, std::string> own;  // by flow: the path with its needs
  std::vector<std::string> missing;
  for (const auto& [path, accepted] : docs) {
    const auto named = flow_at(rule, path);
    if (!named)
      continue;
    if (accepted.kind == kRelated && accepted.document == nullptr) {
      missing.push_back(named->flow);
      continue;
    }
    graph.emplace(named->flow, flows_in(rule, accepted));
    if (accepted.kind != kRelated)
      own.emplace(named->flow, path);
  }
  NeedsCheck check(graph, found);
  for (const auto& [flow, path] : own) {
    std::vector<std::string> unknown;
    for (const std::string& name : graph.at(flow))
      if (std::find(missing.begin(), missing.end(), name) != missing.end())
        unknown.push_back(name);
    check.take(flow, path, rule.needs->pointer, unknown, "flow");
  }
}

}  // namespace

bool has_subjects(const Rule& rule) {
  return subject_path(rule.stage.pointer) ||
         std::any_of(rule.kinds.begin(), rule.kinds.end(), [&](const Kind& kind) {
           return kind.per_subject && kind.name == rule.stage.document;
         });
}

std::vector<std::string> needed_names(const Value* value) {
  std::vector<std::string> names;
  const auto add = [&](const Value& each) {
    if (each.IsBool())
      return;
    if (auto name = rules::word_of(&each))
      names.push_back(*std::move(name));
  };
  if (value == nullptr)
    return names;
  if (value->IsArray())
    std::for_each(value->Begin(), value->End(), add);
  else
    add(*value);
  return names;
}

std::string needs_fault(const Value* value) {
  if (value == nullptr || value->IsNull())
    return {};
  const std::size_t wanted = value->IsArray() ? value->Size() : 1;
  return needed_names(value).size() == wanted
             ? ""
             : "`needs` is a name or a list of names: texts that are not empty, or numbers";
}

std::vector<FlowId> needed_flows(const FlowId& flow, const Snapshot& snapshot) {
  const Rule& rule = snapshot.rule();
  std::vector<FlowId> flows;
  if (!rule.needs || has_subjects(rule))
    return flows;
  for (const std::string& name : names_for(snapshot, "main"))
    flows.push_back(FlowId{flow.dialect, rule.name + "/" + flow_part(rule, name)});
  return flows;
}

bool is_finished(const Rule& rule, const std::map<Subject, StageState>& stages) {
  const bool all_gone = std::all_of(stages.begin(), stages.end(),
                                    [](const auto& row) { return row.second.stage.empty(); });
  return !stages.empty() && std::all_of(stages.begin(), stages.end(), [&](const auto& row) {
    const StageState& state = row.second;
    return state.stage.empty() ? !all_gone || is_end(rule, state.previous)
                               : is_end(rule, state.stage);
  });
}

std::optional<Hold> needs_hold(const View& view, const Snapshot& snapshot, const Subject& subject,
                               const Role& role, std::optional<Time>& wake) {
  const Rule& rule = snapshot.rule();
  if (!rule.needs || !has_subjects(rule))
    return std::nullopt;
  std::vector<std::string> waits;
  std::vector<std::string> unknown;
  for (const std::string& name : names_for(snapshot, subject)) {
    const auto state = view.stages.find(name);
    if (state == view.stages.end() ||
        (state->second.stage.empty() && !is_end(rule, state->second.previous)))
      unknown.push_back(name);
    else if (!state->second.stage.empty() && !is_end(rule, state->second.stage))
      waits.push_back(name);
  }
  const std::string path = snapshot.path(*rule.needs, subject);
  const Time until = view.stages.at(subject).since + kUnknownNeed;
  if (!unknown.empty() && view.now >= until)
    return Hold{role, subject, cause_of(Situation::unknown_need),
                "it needs " + some_names(unknown) + ", but there is no such subject",
                "correct " + snapshot.pointer(*rule.needs, subject).value_or(rule.needs->pointer) +
                    " in " + path + ", then `baton validate " + shell_word(path) + "`"};
  if (unknown.empty() && waits.empty())
    return std::nullopt;
  Hold hold{role, subject, cause_of(Situation::needs_others), ""};
  if (!waits.empty())
    hold.why = "waits until " + some_names(waits) + (waits.size() == 1 ? " is" : " are") +
               " in a stage of `done:`";
  if (!unknown.empty()) {
    hold.why += (waits.empty() ? "" : "; ") + std::string("waits for ") + some_names(unknown) +
                ", which is not there yet";
    hold.until = until;
    wake = wake ? std::min(*wake, until) : until;
  }
  return hold;
}

void check_needs(const Rule& rule, const Snapshot& snapshot, const FlowState& docs,
                 std::map<std::string, Findings>& found) {
  if (!rule.needs)
    return;
  if (has_subjects(rule))
    check_subjects(rule, snapshot, docs, found);
  else
    check_other_flows(rule, docs, found);
}

std::vector<std::string> related_flows(const FlowState& docs, const Json& options) {
  const auto own = std::find_if(docs.begin(), docs.end(),
                                [](const auto& row) { return row.second.kind != kRelated; });
  if (own == docs.end())
    return {};
  const std::string& kind = own->second.kind;
  const auto rule = rule_named(options, kind.substr(0, kind.find('/')));
  if (!rule || !rule->needs || has_subjects(*rule))
    return {};
  std::vector<std::string> paths;
  for (const auto& [path, accepted] : docs)
    if (const auto named = flow_at(*rule, path))
      for (const std::string& name : flows_in(*rule, accepted))
        if (file_name(name))
          paths.push_back(path_of(named->pattern, {name, ""}));
  return paths;
}

}  // namespace baton::rules
