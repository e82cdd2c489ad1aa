// SPDX-License-Identifier: Apache-2.0
#pragma once

// The paths of one run and the rules for their texts: which names are safe in paths, and which
// paths stay inside a folder. Nothing here reads the disk.

#include <string>
#include <string_view>

#include "base/json/json.h"
#include "core/dialect.h"
#include "dialects/timestamps.h"

namespace baton::agent_run {

/// The paths of one run. Relative paths start at the root, like the paths of documents. Absolute
/// paths are for the run state and for agents.
class RunPaths {
 public:
  explicit RunPaths(const View& view);

  /// The repository: the part of the option `path` before `.agents/runs`.
  const std::string& repository() const { return repository_; }
  /// A path inside the repository, relative to the root.
  std::string in_repository(std::string_view path) const { return prefix_ + std::string(path); }
  std::string absolute(std::string_view relative) const;
  /// Relative to the repository if it lies there; else unchanged.
  std::string relative(const std::string& path) const;

  std::string state() const { return run_ + "run_state.json"; }
  std::string workflow() const { return run_ + "workflow.yaml"; }
  std::string gates() const { return run_ + "gate_state.json"; }
  std::string artifacts() const { return run_ + "artifacts"; }
  std::string logs() const { return run_ + "logs"; }
  std::string reports() const { return run_ + "reports"; }
  std::string manual_inputs() const { return run_ + "manual_inputs"; }
  std::string prompt(std::string_view step) const;
  std::string report(std::string_view step) const;
  std::string manual_input(std::string_view step) const;
  /// Name of the log of one start; `which` tells the starts apart.
  std::string log_name(std::string_view step, std::string_view which) const;
  /// Where a used report or decision is archived; `label` names the start.
  std::string archived_report(std::string_view step, std::string_view label) const;
  std::string archived_input(std::string_view step, std::string_view label) const;

 private:
  std::string name(std::string_view step) const;
  std::string root_;
  std::string flow_;
  std::string prefix_;  ///< of the repository, relative to the root; empty or with a `/` at the end
  std::string repository_;  ///< absolute
  std::string run_;         ///< with a `/`
};

/// Why an id cannot be part of a file name. Empty if it can. Allowed are letters, digits, `_ . -`
/// and blanks, at most 100 bytes, but not `.` or `..`.
std::string id_fault(std::string_view id);

/// The part of file names that stands for a step: its id if that is a plain name. Otherwise it has
/// the plain characters of the id and eight hexadecimal digits: `Gr__e-1f0a9b3c`.
std::string file_part(std::string_view id);

/// Whether a path lies in a folder, as far as its text shows. A path with `..` does not.
bool within(std::string_view path, std::string_view folder);

/// Whether a path leaves the folder it is relative to: it is absolute, or a `..` leads out.
bool leaves_folder(std::string_view path);

/// The text of a gate that YAML read as a map, such as `ci.tests: passed` without quotes.
std::string gate_text(const Value& gate);

}  // namespace baton::agent_run
