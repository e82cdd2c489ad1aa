#include "dialects/ml_workflow/ml_workflow.h"

#include "dialects/ml_workflow/check.h"
#include "dialects/ml_workflow/files.h"

namespace baton {
namespace {

/// Only checked so far: nothing is started.
Decision decide(const View& view) {
  Decision decision;
  decision.control = Control::idle;
  for (const auto& [path, accepted] : view.docs)
    decision.declared = json::text(accepted.document->root(), "status").value_or("");
  return decision;
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
