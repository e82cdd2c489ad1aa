#include "dialects/fsm_loop/fsm_loop.h"

#include "dialects/fsm_loop/check.h"
#include "dialects/fsm_loop/control.h"
#include "dialects/fsm_loop/create.h"
#include "dialects/fsm_loop/decide.h"
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

constexpr std::string_view kRoles[] = {"agent", "judge"};

}  // namespace

const Dialect& fsm_loop_dialect() {
  static const Dialect dialect = {
      .name = "fsm_loop",
      .verbs = fsm_loop::kVerbs,
      .files = fsm_loop::files,
      .reads = fsm_loop::reads,
      .stages = fsm_loop::stages,
      .decide = fsm_loop::decide,
      .check = check,
      .related = fsm_loop::related,
      .admit = fsm_loop::admit,
      .defined = true,
      .create = fsm_loop::create,
      .brief = fsm_loop::brief,
      .placeholders = fsm_loop::kPlaceholders,
      .roles = kRoles,
      .rebuild = fsm_loop::rebuild,
  };
  return dialect;
}

}  // namespace baton
