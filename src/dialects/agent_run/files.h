#pragma once

#include <string>
#include <string_view>

#include "base/json/json.h"
#include "core/dialect.h"

namespace baton::agent_run {

/// Where the files of one run lie. Relative paths are below the root, as documents are named;
/// absolute ones are for the run state and for agents.
class Places {
 public:
  explicit Places(const View& view);

  /// The folder of the repository: what `path` of the options has before `.agents/runs`.
  const std::string& repository() const { return repository_; }
  /// A path within the repository, relative to the root.
  std::string in_repository(std::string_view path) const { return prefix_ + std::string(path); }
  std::string absolute(std::string_view relative) const;
  /// Relative to the repository where an absolute path lies in it; any other as it is.
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
  /// The name of a start's log; `which` says of which.
  std::string log_name(std::string_view step, std::string_view which) const;
  /// Where a report or a decision goes when it is used up; `label` says of which start it was.
  std::string archived_report(std::string_view step, std::string_view label) const;
  std::string archived_input(std::string_view step, std::string_view label) const;

 private:
  std::string name(std::string_view step) const;
  std::string root_;
  std::string flow_;
  std::string prefix_;      ///< of the repository, relative to the root; empty or with a `/`
  std::string repository_;  ///< absolute
  std::string run_;         ///< with a `/`
};

/// `2026-01-15T14:30:00.123000Z`, as run_state.json spells times.
std::string stamp(Time time);

/// ASCII letters turned to upper case; the words of the formats are ASCII.
std::string upper(std::string_view text);

/// Why a step id cannot become part of file names; empty when it can: letters, digits, `_ . -` and
/// blanks, at most 100 bytes, not `.` or `..`.
std::string id_fault(std::string_view id);

/// What stands for a step in file names: its id, where that is a plain name; else its plain
/// characters with eight hexadecimal digits that tell it apart: `Gr__e-1f0a9b3c`.
std::string file_part(std::string_view id);

/// Whether a path lies within a folder when both are read as they are written. A `..` never does.
bool within(std::string_view path, std::string_view folder);

/// Whether a path leads out of where it is looked up: absolute, or with a `..` that climbs.
bool leaves(std::string_view path);

/// A path without `.`, `..` and empty segments, as it is written: links are not looked at.
std::string tidied(std::string_view path);

/// The gate that a map of one entry stands for: `ci.tests: passed` without quotes.
std::string folded_gate(const Value& gate);

}  // namespace baton::agent_run
