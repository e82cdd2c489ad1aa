#include "dialects/ml_workflow/ml_workflow.h"

#include "dialects/kinds.h"
#include "dialects/ml_workflow/check.h"
#include "dialects/ml_workflow/files.h"

namespace baton {
namespace {

Decision decide(const View& view) {
  return only_looked_at(view, "state");
}

}  // namespace

const Dialect& ml_workflow_dialect() {
  static const Dialect dialect = {
      .name = "ml_workflow",
      .files = ml_workflow::files,
      .decide = decide,
      .check = ml_workflow::check,
  };
  return dialect;
}

}  // namespace baton
