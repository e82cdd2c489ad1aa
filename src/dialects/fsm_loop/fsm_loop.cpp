// SPDX-License-Identifier: Apache-2.0
#include "dialects/fsm_loop/fsm_loop.h"

#include "dialects/dialects.h"
#include "dialects/fsm_loop/conditions.h"
#include "dialects/fsm_loop/definition.h"
#include "dialects/fsm_loop/words.h"

namespace baton {

namespace {

constexpr std::string_view kRoles[] = {"agent", "judge"};

/// The stage of a loop that baton runs has a number.
std::vector<Word> words(const FlowId& /*flow*/, const Json& /*options*/) {
  std::vector<Word> all = flow_words(fsm_loop::kStatus);
  all.emplace_back(fsm_loop::word(fsm_loop::Situation::owner_dead));
  return all;
}

}  // namespace

const Dialect& fsm_loop_dialect() {
  static const Dialect dialect = {
      .name = "fsm_loop",
      .files = fsm_loop::files,
      .reads = fsm_loop::reads,
      .related = fsm_loop::related,
      .own_files = fsm_loop::own_files,
      .check = fsm_loop::check,
      .check_flow = fsm_loop::check_flow,
      .admit = fsm_loop::admit,
      .stages = fsm_loop::stages,
      .decide = fsm_loop::decide,
      .states = fsm_loop::kStates,
      .words = words,
      .verbs = fsm_loop::kVerbs,
      .brief = fsm_loop::brief,
      .placeholders = fsm_loop::kPlaceholders,
      .roles = kRoles,
      .defined = true,
      .create = fsm_loop::create,
      .rebuild = fsm_loop::rebuild,
  };
  return dialect;
}

}  // namespace baton
