#pragma once

// A thin layer over SQLite that only the journal uses: handles that close themselves, results
// instead of codes, parameters and columns in order instead of by number.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace baton::sqlite {

/// What a failed call means to the journal. FULL and a write that found no room: Errc::no_space.
/// BUSY: Errc::busy. Everything else is Errc::io, a failed sync above all: after it a transaction
/// may or may not be there. `system_errno` is the errno of the failed call.
Errc error_code(int extended_code, int system_errno);

/// One prepared statement. Parameters are given in order with `add`, columns are read in order.
class Statement {
 public:
  Statement(sqlite3* db, sqlite3_stmt* handle);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  Statement(Statement&&) = delete;
  Statement& operator=(Statement&&) = delete;

  Statement& add(std::string_view text);
  Statement& add(std::int64_t value);
  Statement& add(std::optional<std::int64_t> value);
  Statement& add(std::optional<double> value);
  /// Not copied: `bytes` must live until the statement has run.
  Statement& add_blob(std::string_view bytes);

  /// True: there is a row to be read.
  Result<bool> step();
  /// Runs a statement that gives no rows, and resets it.
  Result<void> run();
  /// Makes it ready to be used again; parameters are cleared.
  void reset();

  // The columns of the present row, from left to right. A column of another type than the one asked
  // for gives an empty value and is remembered in `damage`, for strict tables only hold other types
  // when the file is damaged.
  std::string text();
  std::int64_t integer();
  std::optional<std::int64_t> maybe_integer();
  std::optional<double> maybe_real();
  std::string blob();
  /// Remembers that the column read last does not hold what it should.
  void damaged(std::string_view value);
  /// What was wrong with the columns of the present row; empty when all is well.
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

/// One connection.
class Database {
 public:
  enum class Access {
    write,      ///< the file must exist
    look,       ///< for who may write: undoes what a killed writer had begun, and changes nothing
    read,       ///< follows what a writer does at the same time
    immutable,  ///< of a file nobody writes, in a folder where nothing can be created
  };
  static Result<std::unique_ptr<Database>> open(const std::string& path, Access access);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  Database(Database&&) = delete;
  Database& operator=(Database&&) = delete;

  /// Runs any number of statements without parameters; rows are ignored.
  Result<void> execute(const std::string& sql);
  /// A statement, ready for its parameters; prepared once per text and owned by the connection.
  Result<Statement*> prepare(std::string_view sql);

  bool in_transaction() const;
  /// Ends an open transaction as if it had never begun. Harmless without one.
  void rollback();

 private:
  explicit Database(sqlite3* db) : db_(db) {}
  Result<void> configure(Access access);

  sqlite3* db_;
  std::map<std::string, std::unique_ptr<Statement>, std::less<>> statements_;
};

}  // namespace baton::sqlite
