#include "dialects/ccw_loop/ccw_loop.h"

#include <string>

#include "dialects/ccw_loop/check.h"
#include "dialects/ccw_loop/files.h"

namespace baton {
namespace {

/// Only checked so far: nothing is started.
Decision decide(const View& view) {
  Decision decision;
  decision.control = Control::idle;
  for (const auto& [path, accepted] : view.docs)
    if (accepted.kind == "state")
      decision.declared = json::text(accepted.document->root(), "status").value_or("");
  return decision;
}

}  // namespace

const Dialect& ccw_loop_dialect() {
  static const Dialect dialect = {
      .name = "ccw_loop",
      .files = ccw_loop::files,
      .decide = decide,
      .check = ccw_loop::check,
  };
  return dialect;
}

}  // namespace baton
