// SPDX-License-Identifier: Apache-2.0
#include "dialects/ccw_loop/ccw_loop.h"

#include "dialects/ccw_loop/conditions.h"
#include "dialects/ccw_loop/words.h"
#include "dialects/dialects.h"

namespace baton {

namespace {

/// What brief.cpp puts into Brief::values.
constexpr std::string_view kPlaceholders[] = {"loop_id", "progress_dir", "action", "mode"};
constexpr std::string_view kRoles[] = {"executor"};

}  // namespace

const Dialect& ccw_loop_dialect() {
  static const Dialect dialect = {
      .name = "ccw_loop",
      .files = ccw_loop::files,
      .own_files = ccw_loop::own_files,
      .check = ccw_loop::check,
      .admit = ccw_loop::admit,
      .stages = ccw_loop::stages,
      .decide = ccw_loop::decide,
      .states = ccw_loop::kStates,
      .words = [](const FlowId& /*flow*/,
                  const Json& /*options*/) { return flow_words(ccw_loop::kStatuses); },
      .verbs = ccw_loop::kVerbs,
      .brief = ccw_loop::brief,
      .placeholders = kPlaceholders,
      .roles = kRoles,
      .fresh_name = ccw_loop::fresh_id,
      .check_request = ccw_loop::check_request,
      .create = ccw_loop::create,
      .rebuild = ccw_loop::rebuild,
  };
  return dialect;
}

}  // namespace baton
