#include "io/sqlite_vfs.h"

#include <cerrno>

#include <sys/mman.h>

#include <sqlite3.h>

namespace baton::sqlite {
namespace {

/// How SQLite itself does it. Set once, before the first file is opened.
sqlite3_vfs* base = nullptr;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
const sqlite3_io_methods*
    base_methods;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

int map_shared(sqlite3_file* file, int region, int size, int extend, volatile void** where) {
  const int code = base_methods->xShmMap(file, region, size, extend, where);
  if (code != SQLITE_OK || *where == nullptr)
    return code;
  void* const memory = const_cast<void*>(*where);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  // A kernel that does not know it (before 5.14) leaves things as they are without us.
  if (madvise(memory, static_cast<std::size_t>(size), MADV_POPULATE_WRITE) == 0 || errno != EFAULT)
    return SQLITE_OK;
  *where = nullptr;
  return SQLITE_FULL;
}

/// Files of SQLite's are opened by SQLite; only what a database's file can do is exchanged.
int open_file(sqlite3_vfs* /*vfs*/, const char* name, sqlite3_file* file, int flags, int* out) {
  const int code = base->xOpen(base, name, file, flags, out);
  if (code != SQLITE_OK || (flags & SQLITE_OPEN_MAIN_DB) == 0 || file->pMethods == nullptr ||
      file->pMethods->iVersion < 2)
    return code;
  static sqlite3_io_methods methods = [&] {
    base_methods = file->pMethods;
    sqlite3_io_methods copy = *base_methods;
    copy.xShmMap = map_shared;
    return copy;
  }();
  if (file->pMethods == base_methods)
    file->pMethods = &methods;
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
    vfs.xOpen = open_file;
    return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK ? vfs.zName : nullptr;
  }();
  return name;
}

}  // namespace baton::sqlite
