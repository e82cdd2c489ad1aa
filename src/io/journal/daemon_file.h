// SPDX-License-Identifier: Apache-2.0
#pragma once

// One connection to `daemon.db`, the file beside the state folders that all their roots share. It
// makes the file when something is to be written first, and tells whether another process has
// changed it since.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <sys/types.h>

#include "base/result.h"
#include "io/journal/sqlite.h"

namespace baton {

/// `daemon.db` beside a state folder.
std::string daemon_db_path(const std::string& state_folder);

class DaemonFile {
 public:
  /// An empty path: there is no file, and none is made.
  DaemonFile(std::string path, bool read_only) : path_(std::move(path)), read_only_(read_only) {}

  /// Whether there is a file. Closes it if it was removed, or if another file has its
  /// place.
  bool is_there();
  /// Differs when `is_there` has found the file gone, or another one in its place.
  std::uint64_t number() const { return number_; }
  bool read_only() const { return read_only_; }
  /// Opens it unless it is open. `make`: makes it if it is missing. Errc::io: it is damaged, or a
  /// empty, or of another program. Errc::config: another baton wrote it. Errc::not_regular, denied,
  /// busy; the message says what helps.
  Result<void> open(bool make);
  /// Closes it: it is gone, or another file has its place.
  void close();
  sqlite::Database& db() { return *db_; }

  /// Whether something was written since the last call, by this connection or by another one.
  Result<bool> changed();
  /// This connection has written: the next `changed` says so.
  void wrote() { seen_ = -1; }
  /// Whether the table is there. A file of an older baton may lack it, if it was only read since.
  Result<bool> has(const std::string& table);
  /// Adds to an error the file, and to Errc::busy the process that locks it.
  Result<void> explained(Result<void> done) const;

  /// Runs `write` in one transaction. An error leaves nothing behind.
  template <class Write>
  Result<void> transaction(const Write& write) {
    (void)is_there();
    auto done = open(true);
    if (done)
      done = db_->execute("BEGIN IMMEDIATE");
    if (done)
      done = write();
    if (done)
      done = db_->execute("COMMIT");
    if (!done && db_ != nullptr)
      db_->rollback();
    return explained(std::move(done));
  }

 private:
  Result<void> look() const;
  Result<void> make() const;
  Result<void> has_tables(sqlite::Database& db) const;

  const std::string path_;
  const bool read_only_;
  dev_t device_ = 0;  ///< of the file that is open
  ino_t inode_ = 0;
  std::uint64_t number_ = 1;
  std::unique_ptr<sqlite::Database> db_;
  std::int64_t seen_ = -1;  ///< `data_version` at the last look; -1: something is new
};

}  // namespace baton
