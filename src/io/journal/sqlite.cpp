// SPDX-License-Identifier: Apache-2.0
#include "io/journal/sqlite.h"

#include <cerrno>
#include <utility>

#include <sqlite3.h>

#include "base/text.h"

namespace baton::sqlite {
namespace {

constexpr std::size_t kShownBytes = 80;

/// Also before it has its name.
bool is_daemon_db(std::string_view path) {
  return path.substr(path.rfind('/') + 1).starts_with(kDaemonDb);
}

/// How messages name a file.
std::string name_of(std::string_view path) {
  return is_daemon_db(path) ? std::string(kDaemonDb) : "the journal";
}

std::string damage_of(std::string_view path, std::string_view what) {
  return name_of(path) + " is damaged: " + std::string(what) +
         (is_daemon_db(path) ? kBeginAnewWithout : kBeginAnew);
}

std::string file_of(sqlite3* db) {
  const char* const file = sqlite3_db_filename(db, "main");
  return file == nullptr ? "" : file;
}

tl::unexpected<Error> failure(sqlite3* db) {
  // Save errno now: SQLite does not keep it for a failed commit (sqlite3_system_errno).
  const int system = errno;
  const int code = sqlite3_extended_errcode(db);
  const Errc meaning = error_code(code, system);
  std::string file = file_of(db);
  std::string message = name_of(file) + ": " + sqlite3_errmsg(db);
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
    message = damage_of(file, sqlite3_errmsg(db));
  return fail(meaning, std::move(message), std::move(file));
}

/// A `file:` URI for a path; SQLite decodes `%xx`.
std::string uri_of(const std::string& path, std::string_view query) {
  std::string uri = "file:";
  for (const char c : path) {
    switch (c) {
      case '%':
        uri += "%25";
        break;
      case '?':
        uri += "%3f";
        break;
      case '#':
        uri += "%23";
        break;
      default:
        uri += c;
    }
  }
  uri += query;
  return uri;
}

}  // namespace

Errc error_code(int extended_code, int system_errno) {
  const bool no_space = system_errno == ENOSPC || system_errno == EDQUOT || system_errno == EFBIG;
  switch (extended_code) {
    case SQLITE_FULL:
      return Errc::no_space;
    case SQLITE_IOERR_WRITE:
    case SQLITE_IOERR_SHMSIZE:
    case SQLITE_IOERR_SHMMAP:
    case SQLITE_IOERR_SHMOPEN:
    case SQLITE_CANTOPEN:
      return no_space ? Errc::no_space : Errc::io;
    default:
      break;
  }
  switch (extended_code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Errc::busy;
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return Errc::denied;
    default:
      return Errc::io;
  }
}

Statement::Statement(sqlite3* db, sqlite3_stmt* handle) : db_(db), handle_(handle) {}
Statement::~Statement() {
  sqlite3_finalize(handle_);
}

Statement& Statement::add(std::string_view text) {
  const char* data = text.data() == nullptr ? "" : text.data();
  bind_error_ |=
      sqlite3_bind_text64(handle_, ++parameter_, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::add(std::int64_t value) {
  bind_error_ |= sqlite3_bind_int64(handle_, ++parameter_, value);
  return *this;
}

Statement& Statement::add(std::optional<std::int64_t> value) {
  if (value)
    return add(*value);
  bind_error_ |= sqlite3_bind_null(handle_, ++parameter_);
  return *this;
}

Statement& Statement::add(std::optional<double> value) {
  ++parameter_;
  bind_error_ |= value ? sqlite3_bind_double(handle_, parameter_, *value)
                       : sqlite3_bind_null(handle_, parameter_);
  return *this;
}

Statement& Statement::add(Blob blob) {
  const std::string_view bytes = blob.bytes;
  const char* data = bytes.data() == nullptr ? "" : bytes.data();
  bind_error_ |= sqlite3_bind_blob64(handle_, ++parameter_, data, bytes.size(), SQLITE_STATIC);
  return *this;
}

Result<bool> Statement::step() {
  column_ = 0;
  damage_.clear();
  if (bind_error_ != SQLITE_OK)
    return fail(Errc::io, name_of(file_of(db_)) + " cannot take a value: " + sqlite3_errmsg(db_));
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW)
    return true;
  if (code == SQLITE_DONE)
    return false;
  auto error = failure(db_);
  reset();
  return error;
}

Result<void> Statement::run() {
  auto more = step();
  while (more && *more)
    more = step();
  if (!more)
    return pass_on(more);
  reset();
  return {};
}

void Statement::reset() {
  sqlite3_reset(handle_);
  sqlite3_clear_bindings(handle_);
  parameter_ = 0;
  column_ = 0;
  bind_error_ = SQLITE_OK;
}

bool Statement::column_is(int type) {
  if (sqlite3_column_type(handle_, column_++) == type)
    return true;
  if (damage_.empty())
    damage_ = std::string(sqlite3_column_name(handle_, column_ - 1)) + " has a wrong type";
  return false;
}

std::string Statement::text() {
  if (!column_is(SQLITE_TEXT))
    return {};
  const int index = column_ - 1;
  const void* data = sqlite3_column_text(handle_, index);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_, index));
  return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), size);
}

std::int64_t Statement::integer() {
  return column_is(SQLITE_INTEGER) ? sqlite3_column_int64(handle_, column_ - 1) : 0;
}

std::optional<std::int64_t> Statement::maybe_integer() {
  if (sqlite3_column_type(handle_, column_) == SQLITE_NULL) {
    ++column_;
    return std::nullopt;
  }
  return integer();
}

std::optional<double> Statement::maybe_real() {
  if (sqlite3_column_type(handle_, column_) == SQLITE_NULL) {
    ++column_;
    return std::nullopt;
  }
  return column_is(SQLITE_FLOAT) ? sqlite3_column_double(handle_, column_ - 1) : 0.0;
}

std::string Statement::blob() {
  if (!column_is(SQLITE_BLOB))
    return {};
  const int index = column_ - 1;
  const void* data = sqlite3_column_blob(handle_, index);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_, index));
  return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), size);
}

void Statement::damaged(std::string_view value) {
  if (damage_.empty())
    damage_ = std::string(sqlite3_column_name(handle_, column_ - 1)) + " is '" +
              printable(value, kShownBytes) + "'";
}

Result<std::unique_ptr<Database>> Database::open(const std::string& path, Access access) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
  const bool may_write = access == Access::write || access == Access::look;
  flags |= may_write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  const std::string uri = uri_of(path, access == Access::immutable ? "?immutable=1" : "");
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(uri.c_str(), &handle, flags, vfs_name());
  std::unique_ptr<Database> db(new Database(handle));  // NOLINT: the constructor is private
  if (handle == nullptr)
    return fail(Errc::io, "no memory for " + name_of(path), path);
  if (code != SQLITE_OK) {
    const Errc meaning =
        sqlite3_system_errno(handle) == EACCES
            ? Errc::denied
            : error_code(sqlite3_extended_errcode(handle), sqlite3_system_errno(handle));
    return fail(meaning, "cannot open " + name_of(path) + ": " + sqlite3_errmsg(handle), path);
  }
  auto configured = db->configure(access);
  if (!configured)
    return pass_on(configured);
  return db;
}

Database::~Database() {
  statements_.clear();
  sqlite3_close(db_);
}

Result<void> Database::configure(Access access) {
  sqlite3_extended_result_codes(db_, 1);
  wait_for_locks(kPatience);
  // The schema of a damaged or hostile file must not run code.
  sqlite3_db_config(db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  // Keep -wal and -shm when the last connection closes: a reader who may not write in the folder
  // needs them to open the file.
  int persist = 1;
  sqlite3_file_control(db_, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
  if (access != Access::write) {
    sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    return execute("PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA query_only=ON;");
  }
  return execute("PRAGMA cell_size_check=ON; PRAGMA mmap_size=0;");
}

void Database::wait_for_locks(Millis at_most) {
  sqlite3_busy_timeout(db_, static_cast<int>(at_most.count()));
}

Result<void> Database::execute(const std::string& sql) {
  if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK)
    return {};
  return failure(db_);
}

Result<Statement*> Database::prepare(std::string_view sql) {
  if (const auto known = statements_.find(sql); known != statements_.end()) {
    known->second->reset();
    return known->second.get();
  }
  sqlite3_stmt* handle = nullptr;
  if (sqlite3_prepare_v3(db_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                         &handle, nullptr) != SQLITE_OK)
    return failure(db_);
  auto& place = statements_[std::string(sql)];
  place = std::make_unique<Statement>(db_, handle);
  return place.get();
}

std::string Database::damage_text(std::string_view what) const {
  return damage_of(file_of(db_), what);
}

bool Database::in_transaction() const {
  return sqlite3_get_autocommit(db_) == 0;
}

void Database::rollback() {
  if (in_transaction())
    sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace baton::sqlite
