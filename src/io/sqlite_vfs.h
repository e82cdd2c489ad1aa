#pragma once

namespace baton::sqlite {

/// The name of SQLite's own way to files but for one thing. SQLite makes room for the index of the
/// write-ahead log, which it maps into memory, by one byte for each 4 KiB. On a file system with
/// smaller blocks the rest is a hole, and on a full disk the first touch of it is a SIGBUS. Here
/// the room is really taken when the index is mapped, or it is SQLITE_FULL. nullptr when SQLite
/// cannot take it.
const char* vfs_name();

}  // namespace baton::sqlite
