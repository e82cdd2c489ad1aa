// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <sys/mman.h>

#include <sqlite3.h>

#include "io/journal/sqlite.h"

// SQLite's own file functions, except for two things.
//
// SQLite maps the index of the write-ahead log into memory, and makes room for it by writing one
// byte per 4 KiB. On a file system with smaller blocks the rest is a hole, and on a full disk the
// first access to it is a SIGBUS. Here the space is allocated when the index is mapped; without
// space, that call fails with SQLITE_FULL.
//
// SQLite writes two pieces to the log for each page, about thirty for one start. Here they are
// gathered and written at once: when SQLite syncs the log (at every commit, synchronous=FULL) or
// reads it, and at the latest before it releases the writer lock. If a write fails, the call that
// caused it fails, and the transaction cannot be committed.
namespace baton::sqlite {
namespace {

// SQLite's own functions. Those for a log differ from those for a database, which has locks. Each
// pointer is set once, before baton uses the first file of that kind.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
sqlite3_vfs* base = nullptr;
const sqlite3_io_methods* base_database = nullptr;
const sqlite3_io_methods* base_log = nullptr;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

int map_shared(sqlite3_file* file, int region, int size, int extend, volatile void** where) {
  const int code = base_database->xShmMap(file, region, size, extend, where);
  if (code != SQLITE_OK || *where == nullptr)
    return code;
  void* const memory = const_cast<void*>(*where);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  // Kernels before 5.14 do not know this call; then nothing changes.
  if (madvise(memory, static_cast<std::size_t>(size), MADV_POPULATE_WRITE) == 0 || errno != EFAULT)
    return SQLITE_OK;
  *where = nullptr;
  return SQLITE_FULL;
}

/// Consecutive bytes of a log that are not written yet.
struct Gathered {
  // A start needs half of it. SQLite itself writes less than 128 KiB at once.
  static constexpr int kRoom = (128 << 10) - 1;
  sqlite3_file* log = nullptr;
  sqlite3_file* database = nullptr;
  sqlite3_int64 begin = 0;
  int size = 0;
  int failed = SQLITE_OK;  ///< a write of this transaction failed, so it must not be committed
  std::array<char, kRoom> bytes{};
};

/// Where our part of an open file begins, behind SQLite's part: a pointer to the gathered bytes,
/// both in the log and in its database.
std::size_t own_bytes() {
  constexpr std::size_t kAlign = alignof(Gathered*);
  return (static_cast<std::size_t>(base->szOsFile) + kAlign - 1) / kAlign * kAlign;
}

Gathered*& gathered(sqlite3_file* file) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  return *reinterpret_cast<Gathered**>(reinterpret_cast<char*>(file) + own_bytes());
}

int write_out(sqlite3_file* file) {
  Gathered& waiting = *gathered(file);
  const int size = std::exchange(waiting.size, 0);
  if (size == 0)
    return SQLITE_OK;
  const int code = base_log->xWrite(file, waiting.bytes.data(), size, waiting.begin);
  if (code != SQLITE_OK)
    waiting.failed = code;
  return code;
}

int write_log(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  Gathered& waiting = *gathered(file);
  if (offset != waiting.begin + waiting.size || size > Gathered::kRoom - waiting.size) {
    (void)write_out(file);
    waiting.begin = offset;
  }
  if (waiting.failed != SQLITE_OK)
    return waiting.failed;
  std::memcpy(waiting.bytes.data() + waiting.size, bytes, static_cast<std::size_t>(size));
  waiting.size += size;
  return SQLITE_OK;
}

int sync_log(sqlite3_file* file, int flags) {
  (void)write_out(file);
  const int failed = gathered(file)->failed;
  return failed == SQLITE_OK ? base_log->xSync(file, flags) : failed;
}

/// Every other operation on a log first writes out the gathered bytes. After a failure SQLite rolls
/// the transaction back.
template <auto Method, class... Arguments>
int after_writing(sqlite3_file* file, Arguments... arguments) {
  const int code = write_out(file);
  return code == SQLITE_OK ? (base_log->*Method)(file, arguments...) : code;
}

// A log is written under the writer lock, which is a lock on the database. Bytes of a failed
// transaction must not be written while another process holds that lock.

void write_out_log_of(sqlite3_file* database) {
  if (Gathered* const waiting = gathered(database); waiting != nullptr)
    (void)write_out(waiting->log);
}

int lock_shared(sqlite3_file* file, int offset, int count, int flags) {
  constexpr int kForWriters = 0;  // the number of the writer lock in SQLite's log format
  if (offset == kForWriters && (flags & SQLITE_SHM_UNLOCK) != 0) {
    write_out_log_of(file);
    if (Gathered* const waiting = gathered(file); waiting != nullptr)
      waiting->failed = SQLITE_OK;
  }
  return base_database->xShmLock(file, offset, count, flags);
}

/// Called before other processes learn about new pages in the log.
void pass_barrier(sqlite3_file* file) {
  write_out_log_of(file);
  base_database->xShmBarrier(file);
}

int close_log(sqlite3_file* file) {
  Gathered* const waiting = gathered(file);
  gathered(waiting->database) = nullptr;
  delete waiting;
  return base_log->xClose(file);
}

void own_database(sqlite3_file* file) {
  static const sqlite3_io_methods methods = [&] {
    base_database = file->pMethods;
    sqlite3_io_methods own = *base_database;
    own.xShmMap = map_shared;
    own.xShmLock = lock_shared;
    own.xShmBarrier = pass_barrier;
    return own;
  }();
  if (file->pMethods != base_database)
    return;
  gathered(file) = nullptr;
  file->pMethods = &methods;
}

void own_log(const char* name, sqlite3_file* file) {
  static const sqlite3_io_methods methods = [&] {
    base_log = file->pMethods;
    sqlite3_io_methods own = *base_log;
    own.xClose = close_log;
    own.xWrite = write_log;
    own.xRead = after_writing<&sqlite3_io_methods::xRead>;
    own.xTruncate = after_writing<&sqlite3_io_methods::xTruncate>;
    own.xSync = sync_log;
    own.xFileSize = after_writing<&sqlite3_io_methods::xFileSize>;
    return own;
  }();
  sqlite3_file* const database = sqlite3_database_file_object(name);
  if (file->pMethods != base_log || database->pMethods->xShmLock != lock_shared)
    return;
  auto* const waiting = new (std::nothrow) Gathered;
  if (waiting == nullptr)
    return;
  waiting->log = file;
  waiting->database = database;
  gathered(file) = waiting;
  gathered(database) = waiting;
  file->pMethods = &methods;
}

/// SQLite opens its files; only some operations on the database and its log are replaced.
int open_file(sqlite3_vfs* /*vfs*/, const char* name, sqlite3_file* file, int flags, int* out) {
  const int code = base->xOpen(base, name, file, flags, out);
  if (code != SQLITE_OK || file->pMethods == nullptr || file->pMethods->iVersion < 2)
    return code;
  if ((flags & SQLITE_OPEN_MAIN_DB) != 0)
    own_database(file);
  if ((flags & SQLITE_OPEN_WAL) != 0)
    own_log(name, file);
  return code;
}

}  // namespace

const char* vfs_name() {
  static const char* const name = []() -> const char* {
    base = sqlite3_vfs_find(nullptr);
    if (base == nullptr)
      return nullptr;
    static sqlite3_vfs vfs = *base;
    vfs.pNext = nullptr;
    vfs.zName = "baton";
    vfs.szOsFile = static_cast<int>(own_bytes() + sizeof(void*));
    vfs.xOpen = open_file;
    return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK ? vfs.zName : nullptr;
  }();
  return name;
}

}  // namespace baton::sqlite
