#include "dialects/fsm_loop/fsm_loop.h"

#include "dialects/dialects.h"
#include "dialects/fsm_loop/definition.h"

namespace baton {

namespace {

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
      .check = fsm_loop::check,
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
