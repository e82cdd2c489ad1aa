// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a log, a file of JSON Lines in which each line says something new, on from the place that
// was read last.
//
// Problem: a log may have 500 MB, its last line may still be being written, and it is rotated: the
// file is renamed, or it is copied and cut off.
// Way: it reads at most a few lines and never the whole file. Digests of the bytes before the place
// (LogPosition) show whether the file goes on. If it does not, the former file is looked for beside
// it, and its last lines are read first. Without one, the records that were read last are looked
// for in the file itself: its first lines were removed, or lines behind them were edited. If only
// some of them are left, nobody knows what is new, and a person has to say.
// Limits: a rotated file that is compressed at once or moved to another folder cannot be read on.
// When the next line may be read is decided in engine/state/log_entries.h.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json/document.h"
#include "core/flow_logs.h"
#include "core/ports.h"

namespace baton {

/// What reading on has found.
struct LogStep {
  LogPosition at;                     ///< behind what was read
  std::optional<std::string> record;  ///< the text of one JSON value
  std::string where;                  ///< of `record`: `line 7`
  std::vector<LogFault> faults;       ///< new ones; only the first few
  std::uint64_t fault_count = 0;
  std::uint64_t passed = 0;  ///< how many records before `record` were read over
  bool more = false;         ///< there may be another record, which can be read at once
  bool clean_end = true;     ///< no fault and no unfinished line stands behind `record`
  bool unsettled = false;    ///< the file does not go on, perhaps because it is being written
  /// Why the file cannot be read on: lines that were read have been changed or removed.
  std::string changed;
  std::string beside;  ///< the rotated file that is read; empty: the file itself
  std::string note;    ///< an event: the log was rotated, begins anew ...
};

class LogReader {
 public:
  LogReader(Disk& disk, const LoadLimits& limits) : disk_(disk), limits_(limits) {}

  /// The last record of a log that was never read. Errors here and below as Disk::read_from.
  Result<LogStep> first(const std::string& path);
  /// The next record, with `all` the last one. `patient`: a file that does not go on has been
  /// waited for long enough.
  Result<LogStep> next(const std::string& path, const LogPosition& at, bool all, bool patient);
  /// Whether the file that was read last has another name now, and bytes that were not read.
  Result<bool> has_rest(const std::string& path, const LogPosition& at);
  /// The place behind a text with which the log begins. Nothing: it begins otherwise.
  Result<std::optional<LogPosition>> behind(const std::string& path, std::uint64_t size_bytes,
                                            const Digest& digest);

 private:
  struct Probe {
    FileBytes file;
    bool goes_on = false;
    bool same_head = false;
  };
  /// What of the records that were read last still stands in a file.
  struct Remains {
    std::size_t places = 0;  ///< behind so many records all of them stand, or all that are left
    LogPosition place;       ///< the last one
    bool all = false;        ///< kTailRecords of them stand before it
    bool any = false;        ///< at least one of them stands somewhere
    /// They do so like in a log whose first lines were removed.
    bool trimmed = false;
  };
  Result<Probe> probe(const std::string& name, const LogPosition& at);
  Result<LogStep> read(const std::string& name, LogPosition at, std::string before, bool all);
  Result<LogStep> read_former(const std::string& path, const std::string& former,
                              const LogPosition& at, const FileBytes& here, bool all);
  Result<Remains> remains_of(const std::string& path, const LogPosition& at, const FileBytes& here);
  Result<LogStep> next_of_other(const std::string& path, const LogPosition& at, const Probe& here,
                                const std::optional<std::string>& copy);
  Result<std::vector<std::string>> names_beside(const std::string& path);
  Result<std::optional<std::string>> find_former(const std::string& path, const LogPosition& at,
                                                 bool by_content);
  Result<std::string> edited_former(const std::string& path, const LogPosition& at);
  Result<std::string> successor(const std::string& path, const std::string& former);

  Disk& disk_;
  LoadLimits limits_;
};

}  // namespace baton
