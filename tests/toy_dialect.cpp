// SPDX-License-Identifier: Apache-2.0
#include "toy_dialect.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

namespace baton::testing {
namespace {

constexpr std::array kVerbs = {std::string_view("poke")};

std::vector<FileKind> files(const Json&) {
  FileKind state;
  state.kind = "state";
  state.pattern = "toy/{flow}.json";
  state.flow = "{flow}";
  FileKind log;
  log.kind = "log";
  log.pattern = "toy/{flow}.log";
  log.flow = "{flow}";
  log.format = Format::jsonl;
  log.essential = false;
  return {state, log};
}

std::string state_path(const View& view) {
  return "toy/" + view.flow.name + ".json";
}
std::string log_path(const View& view) {
  return "toy/" + view.flow.name + ".log";
}

const Document* state_of(const View& view) {
  const auto found = view.docs.find(state_path(view));
  return found == view.docs.end() ? nullptr : found->second.document.get();
}

Stages stages(const View& view) {
  Stages stages;
  if (const Document* const state = state_of(view))
    if (const auto stage = json::text(state->root(), "stage"))
      stages["main"] = Word(*stage);
  return stages;
}

Update set(const View& view, std::vector<json::Edit> edits) {
  return SetMembers{state_path(view), state_of(view)->digest(), std::move(edits),
                    "the toy says so"};
}

Update line(const View& view) {
  const auto found = view.docs.find(log_path(view));
  const std::uint64_t size = found == view.docs.end() ? 0 : found->second.document->text().size();
  const std::string text =
      "{\"generation\":" + std::to_string(view.stages.at("main").generation) + "}\n";
  return Append{log_path(view), size, text, "one line per handover"};
}

/// The last line of the log stands for the present generation.
bool logged(const View& view) {
  const auto found = view.docs.find(log_path(view));
  if (found == view.docs.end() || found->second.document->root().Empty())
    return false;
  const Value& lines = found->second.document->root();
  return json::integer(lines[lines.Size() - 1], "generation") ==
         static_cast<std::int64_t>(view.stages.at("main").generation);
}

void act(const View& view, const Word& stage, std::int64_t count, Decision& decision) {
  const json::Edit more{"/count", std::to_string(count + 1)};
  if (stage == "work" || stage == "both")
    decision.desired.push_back(Desired{.role = "worker",
                                       .subject = "main",
                                       .purpose = stage,
                                       .claims = {},
                                       .action = {},
                                       .limits = {},
                                       .retry = {},
                                       .why = "main is " + stage});
  if (stage == "next")
    decision.updates.push_back(set(view, {json::Edit{"/stage", "\"work\""}, more}));
  if (stage == "both" && count != 1)
    decision.updates.push_back(set(view, {json::Edit{"/count", "1"}}));
  if (stage == "spin")
    decision.updates.push_back(set(view, {more}));
  if (stage == "log") {
    if (!logged(view))
      decision.updates.push_back(line(view));
    else
      decision.updates.push_back(set(view, {json::Edit{"/stage", "\"done\""}}));
  }
  if (stage == "stale")
    decision.updates.emplace_back(SetMembers{state_path(view), Digest{1, 2}, {more}, "on purpose"});
  if (stage == "stop")
    decision.control = Control::stop;
  if (stage == "pause") {
    decision.control = Control::pause;
    decision.end_at = view.stages.at("main").since + Millis(5000);
  }
}

Decision decide(const View& view) {
  Decision decision;
  for (const Request& request : view.requests)
    if (request.verb == "poke" && request.flow == view.flow)
      decision.replies.push_back(Reply{request.id, true, "poked"});
  const Document* const state = state_of(view);
  if (state == nullptr)
    return decision;
  decision.declared = std::string(json::text(state->root(), "stage").value_or(""));
  act(view, decision.declared, json::integer(state->root(), "count").value_or(0), decision);
  return decision;
}

std::map<std::string, Findings> check_flow(const FlowState& docs, const Json& /*options*/) {
  std::map<std::string, Findings> all;
  for (const auto& [path, accepted] : docs) {
    if (!json::boolean(accepted.document->root(), "conflict").value_or(false))
      continue;
    Finding finding;
    finding.rule = "toy/C1";
    finding.pointer = "/conflict";
    finding.message = "the documents do not fit together";
    all[path].push_back(finding);
  }
  return all;
}

std::vector<std::string> items(const Value& root) {
  std::vector<std::string> all;
  if (const Value* const list = json::child(root, "items"); list != nullptr && list->IsArray())
    for (const Value& item : list->GetArray())
      all.emplace_back(json::text(item).value_or(""));
  return all;
}

Admission admit(const View&, const Change& change) {
  Admission admission;
  if (change.kind != "state")
    return admission;
  const Value& after = change.after.root();
  if (json::boolean(after, "partial").value_or(false)) {
    admission.verdict = Admission::Verdict::later;
    admission.again = Millis(200);
    return admission;
  }
  if (change.before == nullptr)
    return admission;
  const Value& before = change.before->root();
  if (json::text(before, "owner") != json::text(after, "owner")) {
    admission.verdict = Admission::Verdict::restore;
    admission.why = "owner belongs to baton";
    return admission;
  }
  const std::vector<std::string> had = items(before);
  std::vector<std::string> have = items(after);
  bool lost = false;
  for (const std::string& item : had)
    if (std::find(have.begin(), have.end(), item) == have.end()) {
      have.push_back(item);
      lost = true;
    }
  if (!lost)
    return admission;
  std::sort(have.begin(), have.end());
  Json merged(after);
  std::vector<Json> list(have.begin(), have.end());
  merged.set("items", Json::array(list));
  admission.verdict = Admission::Verdict::merged;
  admission.text = merged.dump();
  admission.why = "items only grow";
  return admission;
}

Brief brief(const View& view, const Desired&) {
  Brief brief;
  brief.state_file = state_path(view);
  return brief;
}

}  // namespace

const Dialect& toy_dialect() {
  static const Dialect dialect = {
      .name = "toy",
      .files = files,
      .check_flow = check_flow,
      .admit = admit,
      .stages = stages,
      .decide = decide,
      .verbs = kVerbs,
      .brief = brief,
  };
  return dialect;
}

}  // namespace baton::testing
