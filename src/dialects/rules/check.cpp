#include <utility>

#include "base/text.h"
#include "dialects/rules/decide.h"
#include "dialects/rules/scene.h"

namespace baton::rules {
namespace {

Finding fault(std::string_view rule, std::string pointer, std::string message, const Value* found,
              std::string expected) {
  Finding finding;
  finding.rule = "rules/" + std::string(rule);
  finding.pointer = std::move(pointer);
  finding.message = std::move(message);
  finding.expected = std::move(expected);
  if (found != nullptr)
    finding.found = printable(json::dump(*found), 80);
  return finding;
}

Finding stage_fault(std::string pointer, std::string message, const Value* found) {
  return fault("stage", std::move(pointer), std::move(message), found,
               "a text that is not empty, a number or a truth value");
}

/// A stage that is there and no word. One that is absent is none: the member may be a comment, and
/// of several files of a flow one may hold it.
void check_stage(const Value* stage, const std::string& pointer, Findings& findings) {
  if (stage == nullptr || word_of(stage))
    return;
  const bool empty = stage->IsString() && stage->GetStringLength() == 0;
  const std::string found = empty ? "an empty text" : std::string(json::type_name(*stage));
  findings.push_back(stage_fault(pointer, "the stage is " + found + " and no word", stage));
}

Findings check_stages(const Value& root, const std::string& pointer) {
  Findings findings;
  if (!root.IsObject() && !pointer.empty()) {
    findings.push_back(stage_fault(
        "", "expected an object that holds the stage, found " + std::string(json::type_name(root)),
        &root));
    return findings;
  }
  const auto at = pointer.find(kSubject);
  if (at == std::string::npos) {
    check_stage(json::at(root, pointer), pointer, findings);
    return findings;
  }
  const std::string front = pointer.substr(0, at - 1);
  const std::string rest = pointer.substr(at + kSubject.size());
  const Value* const map = json::at(root, front);
  if (map == nullptr)
    return findings;
  if (!map->IsObject()) {
    findings.push_back(stage_fault(
        front,
        "expected an object with a member per subject, found " + std::string(json::type_name(*map)),
        map));
    return findings;
  }
  for (const auto& member : map->GetObject()) {
    const std::string_view name = json::name(member.name);
    const Value* const stage = json::at(member.value, rest);
    const std::string place = front + "/" + json::pointer_token(name) + rest;
    if (name.empty() && stage != nullptr)
      findings.push_back(fault("subject", place, "the subject has no name", stage,
                               "a member with a name that is not empty"));
    else
      check_stage(stage, place, findings);
  }
  return findings;
}

/// A person's word that means nothing would be waited for without end.
void check_decisions(const Rule& rule, const std::string& document, const Value& root,
                     Findings& findings) {
  for (const Reaction& reaction : rule.react) {
    if (!reaction.approval || !reaction.approval->decision ||
        reaction.approval->decision->document != document)
      continue;
    const std::string& pointer = reaction.approval->decision->pointer;
    const Value* const said = json::at(root, pointer);
    if (said == nullptr || said->IsNull() || decision_of(*said))
      continue;
    findings.push_back(fault(
        "decision", pointer,
        "the decision is " + printable(json::dump(*said), 80) + ", not " + std::string(kDecisions),
        said, std::string(kDecisions)));
    return;
  }
}

}  // namespace

Findings check(const std::string& /*path*/, const Accepted& accepted, const Json& options,
               std::optional<Time> /*wall*/) {
  const auto rule = rule_named(options, accepted.kind.substr(0, accepted.kind.find('/')));
  if (!rule)
    return {};
  const Value* const record = record_of(*accepted.document);
  const std::string name = document_name(accepted.kind);
  Findings findings;
  if (record == nullptr)
    return findings;
  if (rule->stage.document.empty() || rule->stage.document == name)
    findings = check_stages(*record, rule->stage.pointer);
  if (!name.empty())
    check_decisions(*rule, name, *record, findings);
  const Value& root = accepted.document->root();
  if (record != &root)
    for (Finding& finding : findings)
      finding.pointer.insert(0, "/" + std::to_string(root.Size() - 1));
  return findings;
}

std::map<std::string, Findings> check_flow(const FlowState& docs, const Json& options) {
  std::map<std::string, Findings> found;
  if (docs.empty())
    return found;
  const std::string& kind = docs.begin()->second.kind;
  const auto rule = rule_named(options, kind.substr(0, kind.find('/')));
  if (!rule)
    return found;
  const FlowId flow{"rules", rule->name};
  const Scene scene(flow, docs, *rule);
  for (const auto& [subject, paths] : scene.disputes()) {
    const std::string text = "`" + printable(subject, 80) + "` has its stage in " + paths.first +
                             " too; one file of a flow must say it";
    found[paths.second].push_back(fault("subject", "", text, nullptr, ""));
  }
  return found;
}

}  // namespace baton::rules
