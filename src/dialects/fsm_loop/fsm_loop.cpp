#include "dialects/fsm_loop/fsm_loop.h"

#include "dialects/fsm_loop/check.h"
#include "dialects/fsm_loop/files.h"

namespace baton {
namespace {

Findings check_one(const std::string& path, const Accepted& accepted, const Json& options) {
  const Value& root = accepted.document->root();
  if (accepted.kind == "definition")
    return fsm_loop::check_definition(*accepted.document);
  if (accepted.kind == "state")
    return fsm_loop::check_state(root, fsm_loop::stem_of(options, accepted.kind, path));
  if (accepted.kind == "events")
    return fsm_loop::check_events(root);
  if (accepted.kind == "lock")
    return fsm_loop::check_lock(root);
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

/// Every loop counts as somebody else's for now: it is looked at, and nothing is done.
Decision decide(const View& view) {
  static_cast<void>(view);
  Decision decision;
  decision.control = Control::idle;
  return decision;
}

}  // namespace

const Dialect& fsm_loop_dialect() {
  static const Dialect dialect = {
      .name = "fsm_loop",
      .files = fsm_loop::files,
      .decide = decide,
      .check = check,
  };
  return dialect;
}

}  // namespace baton
