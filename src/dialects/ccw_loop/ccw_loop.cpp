#include "dialects/ccw_loop/ccw_loop.h"

#include "dialects/ccw_loop/check.h"
#include "dialects/ccw_loop/files.h"
#include "dialects/kinds.h"

namespace baton {
namespace {

Decision decide(const View& view) {
  return only_looked_at(view, "state");
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
