// SPDX-License-Identifier: Apache-2.0
#include "dialects/ml_workflow/ml_workflow.h"

#include <array>

#include "base/text.h"
#include "dialects/dialects.h"
#include "dialects/kinds.h"
#include "dialects/ml_workflow/conditions.h"
#include "dialects/ml_workflow/next_step.h"
#include "dialects/ml_workflow/record.h"

namespace baton::ml_workflow {
namespace {

constexpr std::string_view kFolder = "workflow_states";
constexpr std::string_view kFile = "state.json";

std::string folder(const Json& options) {
  return std::string(json::text(*options, "path").value_or(kFolder));
}

}  // namespace

std::vector<FileKind> files(const Json& options) {
  return {file_kind("ml_workflow", "state", folder(options) + "/{flow}/" + std::string(kFile))};
}

std::string state_path(const std::string& workflow, const Json& options) {
  constexpr std::string_view kHole = "{flow}";
  std::string path = files(options).front().pattern;
  return path.replace(path.find(kHole), kHole.size(), workflow);
}

std::optional<std::string> workflow_of_path(const std::string& path, const Json& options) {
  const std::vector<std::string> segments = split(path, '/');
  const std::vector<std::string> above = split(folder(options), '/');
  const std::size_t count = segments.size();
  // A command that checks a single document (`--as`) uses the folder name `document`.
  if (count >= 2 && segments[count - 2] == "document")
    return std::nullopt;
  if (count < 3 || segments[count - 1] != kFile || segments[count - 3] != above.back() ||
      !safe_name(segments[count - 2]))
    return std::nullopt;
  return segments[count - 2];
}

}  // namespace baton::ml_workflow

namespace baton {
namespace {

constexpr std::array<std::string_view, 5> kVerbs = {"approve", "reject", "revise", "answer",
                                                    "resume"};
/// The names that brief.cpp sets in Brief::values.
constexpr std::array<std::string_view, 4> kPlaceholders = {"step", "template", "artifacts",
                                                           "instance"};

constexpr std::string_view kRoles[] = {"planner", "validator", "programmer"};

}  // namespace

const Dialect& ml_workflow_dialect() {
  static const Dialect dialect = {
      .name = "ml_workflow",
      .files = ml_workflow::files,
      .own_files =
          [](const Json& options) {
            return std::vector<std::string>{ml_workflow::folder(options) +
                                            "/{flow}/artifacts/{part}/.keep"};
          },
      .check = ml_workflow::check,
      .admit = ml_workflow::admit,
      .mends = true,
      .stages = ml_workflow::stages,
      .decide = ml_workflow::decide,
      .states = ml_workflow::kStates,
      .words = [](const FlowId& /*flow*/,
                  const Json& /*options*/) { return flow_words(ml_workflow::kStatuses); },
      .verbs = kVerbs,
      .brief = ml_workflow::brief,
      .placeholders = kPlaceholders,
      .roles = kRoles,
      .create = ml_workflow::create,
      .backups = ml_workflow::backups,
      .rebuild = ml_workflow::rebuild,
  };
  return dialect;
}

}  // namespace baton
