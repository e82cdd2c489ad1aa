#include "dialects/agent_run/agent_run.h"

#include "dialects/agent_run/check.h"
#include "dialects/agent_run/files.h"

namespace baton {
namespace {

Findings check_one(const std::string& path, const Accepted& accepted, const Json& options) {
  const Value& root = accepted.document->root();
  const agent_run::Place place = agent_run::place_of(options, accepted.kind, path);
  if (accepted.kind == "workflow")
    return agent_run::check_workflow(root);
  if (accepted.kind == "run_state")
    return agent_run::check_run_state(root, place);
  if (accepted.kind == "report")
    return agent_run::check_report(root, place);
  if (accepted.kind == "manual_input")
    return agent_run::check_manual_input(root);
  if (accepted.kind == "gate_state")
    return agent_run::check_gate_state(root);
  return {};
}

std::map<std::string, Findings> check(const FlowState& docs, const Json& options, Scope scope) {
  std::map<std::string, Findings> all;
  if (scope == Scope::document)
    for (const auto& [path, accepted] : docs)
      if (Findings found = check_one(path, accepted, options); !found.empty())
        all.emplace(path, std::move(found));
  return all;
}

/// Every run counts as somebody else's for now: it is looked at, and nothing is done.
Decision decide(const View& view) {
  static_cast<void>(view);
  Decision decision;
  decision.control = Control::idle;
  return decision;
}

}  // namespace

const Dialect& agent_run_dialect() {
  static const Dialect dialect = {
      .name = "agent_run",
      .files = agent_run::files,
      .decide = decide,
      .check = check,
  };
  return dialect;
}

}  // namespace baton
