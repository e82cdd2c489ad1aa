// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far baton has read the logs of a flow: files of JSON Lines in which each line says something
// new (FileKind::log). The journal keeps it, so a restart neither repeats nor leaves out a line.
//
// Problem: a log grows without end, is rotated, and its lines are judged one after the other.
// Way: the place behind the last line that was read, with digests of what stands before it. They
// show whether another file has taken the place of the log; see engine/intake/log_reader.h.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/json/json.h"
#include "core/flow.h"
#include "core/flow_origin.h"

namespace baton {

/// A line that cannot be read.
struct LogFault {
  std::string where;  ///< `line 7`, or `byte 123` where the number of the line is unknown
  std::string why;
  bool operator==(const LogFault&) const = default;
};

/// A longer line is skipped.
inline constexpr std::size_t kLongestLine = 1U << 20U;
inline constexpr std::size_t kTailRecords = 8;
/// Stands in LogPosition::tail for a record that was refused.
inline constexpr Digest kRefused{};

/// How far one log was read.
struct LogPosition {
  FileIdentity file = 0;     ///< of the file that is read; after a rotation it has another name
  std::uint64_t offset = 0;  ///< of the first byte that was not read
  std::uint64_t line = 1;    ///< the number of the line at `offset`; 0: unknown
  /// The first line, or its beginning.
  std::uint32_t head_bytes = 0;
  Digest head;
  /// The bytes before `offset`.
  std::uint32_t mark_bytes = 0;
  Digest mark;
  bool anew = false;          ///< the next line is an entry whatever it says
  bool in_long_line = false;  ///< `offset` is inside of a line that is too long
  /// The last records that were read, at most kTailRecords, the newest one last. They show how far
  /// a log was read whose first lines were removed, and whether one was edited or begins anew.
  std::vector<Digest> tail;
  std::uint64_t faults = 0;  ///< lines of this file that cannot be read
  std::vector<LogFault> last_faults;
  bool operator==(const LogPosition&) const = default;
};

/// The logs of one flow.
struct FlowLogs {
  std::map<std::string, LogPosition> files;  ///< by path
  /// Logs of which lines that were read have been changed or removed, by path: why they cannot be
  /// read on. Their flow is blocked until the lines are back, or a person says that the last line
  /// counts; then the text is empty.
  std::map<std::string, std::string> changed;
  /// Which agents the present stages want, so that the next line waits until they have done their
  /// work.
  std::vector<std::pair<Role, Subject>> wanted;
  /// The next line waits for something else: a person, or a decision that is still to be made.
  bool held = false;
  /// A person lets the next line be read although the work of the present one has failed.
  bool passed = false;
  bool operator==(const FlowLogs&) const = default;
};

/// As the journal keeps it. Members that cannot be read are left out.
Json json_of(const FlowLogs& logs);
FlowLogs flow_logs_of(const Value& json);

/// `2 lines of tickets/log.jsonl cannot be read and are skipped (line 7: is cut off)`; "" if all
/// lines of the log can be read.
std::string fault_text(const std::string& path, const LogPosition& log);

}  // namespace baton
