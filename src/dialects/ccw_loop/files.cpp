// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <utility>

#include "base/text.h"
#include "dialects/ccw_loop/ccw_loop.h"
#include "dialects/ccw_loop/loop.h"
#include "dialects/kinds.h"

namespace baton::ccw_loop {

namespace {

constexpr std::string_view kPrefix = "loop-v2-";
constexpr std::string_view kSuffix = ".json";

struct Row {
  std::string_view kind;
  std::string_view name;  ///< path below the folder of the loops
  Format format;
  bool essential;
  bool schema = true;
};
constexpr std::array kRows = {
    // Before the master state: the name fits that pattern too, and the first match wins.
    Row{"tasks_alias", "loop-v2-{flow}.tasks.json", Format::json, false, false},
    Row{"state", "loop-v2-{flow}.json", Format::json, true},
    Row{"tasks", "loop-v2-{flow}.tasks.jsonl", Format::jsonl, false},
    Row{"tasks", "loop-v2-{flow}/tasks.jsonl", Format::jsonl, false},
    Row{"tasks_backup", "loop-v2-{flow}/tasks.jsonl.backup", Format::jsonl, false, false},
    Row{"tasks_alias", "loop-v2-{flow}.progress/tasks.json", Format::json, false, false},
    Row{"tasks_alias", "loop-v2-{flow}/tasks.json", Format::json, false, false},
    Row{"task", "loop-v2-{flow}/.task/{part}.json", Format::json, false, false},
    Row{"changes", "loop-v2-{flow}.progress/changes.log", Format::jsonl, false},
    Row{"debug", "loop-v2-{flow}.progress/debug.log", Format::jsonl, false},
    Row{"hypotheses", "loop-v2-{flow}.progress/hypotheses.json", Format::json, false},
    Row{"test_results", "loop-v2-{flow}.progress/test-results.json", Format::json, false},
    // Written for people. baton reads them only to rebuild a lost master state.
    Row{"progress", "loop-v2-{flow}.progress/{part}.md", Format::text, false, false},
    Row{"backup", "loop-v2-{flow}.json.backup", Format::text, false, false},
};

constexpr std::array<std::string_view, 2> kFolders = {".workflow/.loop", ".loop"};

/// Files that baton recognises and leaves alone.
FileKind other(std::string pattern, std::string whose) {
  FileKind kind;
  kind.kind = std::move(whose);
  kind.names = PatternNames::plain;
  kind.pattern = std::move(pattern);
  return kind;
}

}  // namespace

std::vector<std::string> own_files(const Json& options) {
  const std::string folder = options_of(options).path + "/" + std::string(kForgotten) + "/{part}/";
  std::vector<std::string> patterns;
  for (const Row& row : kRows)
    patterns.push_back(folder + std::string(row.name));
  return patterns;
}

std::vector<FileKind> files(const Json& options) {
  const std::string folder = options_of(options).path;
  std::vector<FileKind> kinds;
  for (const Row& row : kRows) {
    FileKind kind = file_kind("ccw_loop", std::string(row.kind),
                              folder + "/" + std::string(row.name), row.format);
    if (!row.schema)
      kind.schema.clear();
    kind.flow = std::string(kPrefix) + "{flow}";
    kind.essential = row.essential;
    kinds.push_back(std::move(kind));
  }
  for (const auto& [pattern, whose] :
       {std::pair("/loop-b-{part}.json", "a loop of the variant with workers"),
        std::pair("/loop-v2-{flow}.json",
                  "named like a loop, but by no id (`loop-v2-`, then a "
                  "letter or a digit)"),
        std::pair("/loop-{part}.json", "a loop of another version")})
    kinds.push_back(other(folder + pattern, whose));
  // The origin has used both folders (C-31). baton reports a loop in the other one.
  for (const std::string_view elsewhere : kFolders)
    if (elsewhere != folder)
      kinds.push_back(other(std::string(elsewhere) + "/loop-v2-{part}.json",
                            "a loop in a folder that is not served (`path` of ccw_loop in "
                            "baton.yaml is " +
                                folder + ")"));
  return kinds;
}

std::optional<std::string_view> loop_of_name(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix) ||
      name.size() < kPrefix.size() + kSuffix.size())
    return std::nullopt;
  name.remove_suffix(kSuffix.size());
  return safe_name(name.substr(kPrefix.size())) ? std::optional(name) : std::nullopt;
}

}  // namespace baton::ccw_loop
