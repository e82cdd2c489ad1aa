#include "dialects/ml_workflow/ml_workflow.h"

#include <array>

#include "dialects/ml_workflow/admit.h"
#include "dialects/ml_workflow/backup.h"
#include "dialects/ml_workflow/check.h"
#include "dialects/ml_workflow/create.h"
#include "dialects/ml_workflow/decide.h"
#include "dialects/ml_workflow/files.h"
#include "dialects/ml_workflow/next.h"
#include "dialects/ml_workflow/rebuild.h"

namespace baton {
namespace {

constexpr std::array kVerbs = {std::string_view("approve"), std::string_view("reject"),
                               std::string_view("revise"), std::string_view("answer"),
                               std::string_view("resume")};
/// What brief.cpp puts into Brief::values.
constexpr std::array kPlaceholders = {std::string_view("step"), std::string_view("template"),
                                      std::string_view("artifacts"), std::string_view("instance")};

constexpr std::string_view kRoles[] = {"planner", "validator", "programmer"};

}  // namespace

const Dialect& ml_workflow_dialect() {
  static const Dialect dialect = {
      .name = "ml_workflow",
      .verbs = kVerbs,
      .files = ml_workflow::files,
      .stages = ml_workflow::stages,
      .decide = ml_workflow::decide,
      .check = ml_workflow::check,
      .admit = ml_workflow::admit,
      .mends = true,
      .create = ml_workflow::create,
      .brief = ml_workflow::brief,
      .placeholders = kPlaceholders,
      .roles = kRoles,
      .backups = ml_workflow::backups,
      .rebuild = ml_workflow::rebuild,
  };
  return dialect;
}

}  // namespace baton
