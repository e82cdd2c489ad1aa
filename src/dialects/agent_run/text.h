#pragma once

#include <string>
#include <string_view>

#include "base/json/json.h"

namespace baton::agent_run {

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
