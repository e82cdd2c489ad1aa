#include "dialects/fsm_loop/fsm_loop.h"

#include "dialects/fsm_loop/check.h"
#include "dialects/fsm_loop/files.h"
#include "dialects/fsm_loop/library.h"
#include "dialects/kinds.h"

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
  return scope == Scope::flow ? fsm_loop::check_whole(docs)
                              : check_each(docs, options, scope, check_one);
}

/// Every loop counts as somebody else's for now.
Decision decide(const View& view) {
  return only_looked_at(view, "state");
}

}  // namespace

const Dialect& fsm_loop_dialect() {
  static const Dialect dialect = {
      .name = "fsm_loop",
      .files = fsm_loop::files,
      .decide = decide,
      .check = check,
      .related = fsm_loop::related,
  };
  return dialect;
}

}  // namespace baton
