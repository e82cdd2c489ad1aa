#pragma once

namespace baton::sqlite {

/// The name of SQLite's own way to files but for two things. nullptr when SQLite cannot take it.
///
/// SQLite makes room for the index of the write-ahead log, which it maps into memory, by one byte
/// for each 4 KiB. On a file system with smaller blocks the rest is a hole, and on a full disk the
/// first touch of it is a SIGBUS. Here the room is really taken when the index is mapped, or it is
/// SQLITE_FULL.
///
/// It writes two pieces to that log for each page, some thirty for a start. Here they are written
/// in one: when the log is synced, as every commit asks for (synchronous=FULL), or is looked at,
/// and at the latest before the lock for writers is let go. A write that fails, for want of room,
/// say, fails the call before which it is made, and the transaction cannot be committed.
const char* vfs_name();

}  // namespace baton::sqlite
