#include "dialects/agent_run/agent_run.h"

#include "dialects/agent_run/check.h"
#include "dialects/agent_run/files.h"
#include "dialects/kinds.h"

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
  return check_each(docs, options, scope, check_one);
}

/// Every run counts as somebody else's for now.
Decision decide(const View& view) {
  return only_looked_at(view, "run_state");
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
