#include "dialects/ccw_loop/ccw_loop.h"

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
      .verbs = ccw_loop::kVerbs,
      .files = ccw_loop::files,
      .stages = ccw_loop::stages,
      .decide = ccw_loop::decide,
      .check = ccw_loop::check,
      .check_clock = ccw_loop::check_clock,
      .admit = ccw_loop::admit,
      .check_request = ccw_loop::check_request,
      .create = ccw_loop::create,
      .brief = ccw_loop::brief,
      .placeholders = kPlaceholders,
      .roles = kRoles,
      .fresh_name = ccw_loop::fresh_id,
      .rebuild = ccw_loop::rebuild,
  };
  return dialect;
}

}  // namespace baton
