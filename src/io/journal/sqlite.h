// SPDX-License-Identifier: Apache-2.0
#pragma once

// A thin layer over SQLite for the journal and daemon.db: handles that close themselves, results
// instead of error codes, parameters and columns in order instead of by number.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/pinned.h"
#include "base/result.h"
#include "base/time.h"

struct sqlite3;
struct sqlite3_stmt;

namespace baton {

/// The end of each message about an unusable journal.
inline constexpr const char* kBeginAnew =
    "; restore it from a backup, or move the state folder away: baton then begins a new journal "
    "and starts again what is due";
/// The same for `daemon.db`.
inline constexpr const char* kBeginAnewWithout =
    "; move it away: baton then begins a new one and enters the runs of the last 24 hours from the "
    "journals; the limits of providers and the raised caps in it are lost";
inline constexpr std::string_view kDaemonDb = "daemon.db";

}  // namespace baton

namespace baton::sqlite {

/// The name under which SQLite knows the file functions of sqlite_vfs.cpp; nullptr without them.
const char* vfs_name();

/// The `Errc` of a failed call. FULL, and a write without space: no_space. BUSY: busy. Everything
/// else is io; after a failed sync it is unknown whether the transaction is on disk. `system_errno`
/// is the errno of the call.
Errc error_code(int extended_code, int system_errno);

/// Bytes for a statement. They are not copied: they must live until the statement has run.
struct Blob {
  std::string_view bytes;
};

/// A prepared statement. Add parameters in order with `add`; read columns in order.
class Statement : private Pinned {
 public:
  Statement(sqlite3* db, sqlite3_stmt* handle);
  ~Statement();

  Statement& add(std::string_view text);
  Statement& add(std::int64_t value);
  Statement& add(std::optional<std::int64_t> value);
  Statement& add(std::optional<double> value);
  Statement& add(Blob blob);

  /// True if there is a row to read.
  Result<bool> step();
  /// Runs a statement without result rows, and resets it.
  Result<void> run();
  /// Makes the statement ready for new parameters.
  void reset();

  // The columns of the current row, from left to right. A column of the wrong type gives an empty
  // value and is noted in `damage`: in strict tables this happens only in damaged files.
  std::string text();
  std::int64_t integer();
  std::optional<std::int64_t> maybe_integer();
  std::optional<double> maybe_real();
  std::string blob();
  /// Notes that the column read last has a wrong value.
  void damaged(std::string_view value);
  /// What was wrong in the current row; empty when nothing was.
  const std::string& damage() const { return damage_; }

 private:
  bool column_is(int type);

  sqlite3* db_;
  sqlite3_stmt* handle_;
  int parameter_ = 0;
  int column_ = 0;
  int bind_error_ = 0;
  std::string damage_;
};

/// How long a statement waits for a lock, unless `wait_for_locks` says otherwise.
inline constexpr Millis kPatience{5000};

/// One connection.
class Database : private Pinned {
 public:
  enum class Access {
    write,  ///< the file must exist
    look,  ///< for a user who may write: rolls back what a killed writer began, and changes nothing
           ///< else
    read,  ///< while another process may write
    immutable,  ///< a file that no process writes, in a folder where nothing can be created
  };
  static Result<std::unique_ptr<Database>> open(const std::string& path, Access access);
  ~Database();

  /// Runs statements without parameters; ignores rows.
  Result<void> execute(const std::string& sql);
  /// A statement, ready for parameters. It is prepared once per text and owned by the connection.
  Result<Statement*> prepare(std::string_view sql);

  /// Says that the file is damaged, and what helps.
  std::string damage_text(std::string_view what) const;
  bool in_transaction() const;
  /// How long a statement waits for the lock of another process.
  void wait_for_locks(Millis at_most);
  /// Rolls back an open transaction. Does nothing without one.
  void rollback();

 private:
  explicit Database(sqlite3* db) : db_(db) {}
  Result<void> configure(Access access);

  sqlite3* db_;
  std::map<std::string, std::unique_ptr<Statement>, std::less<>> statements_;
};

}  // namespace baton::sqlite
