#include "app/writes.h"

#include <string_view>

namespace baton {

Result<void> perform(Disk& disk, const Intent& write) {
  switch (write.kind) {
    case Intent::Kind::replace:
      return disk.replace(write.path, write.assumes, write.bytes);
    case Intent::Kind::append:
      return disk.append(write.path, write.assumes_bytes, write.bytes);
    case Intent::Kind::create:
      return disk.create(write.path, write.bytes);
    case Intent::Kind::move:
      return disk.move(write.path, write.assumes, write.to);
  }
  return fail(Errc::io, "unknown kind of write", write.path);
}

namespace {

Settled settle_append(const Intent& write, std::string_view there) {
  if (there.size() == write.assumes_bytes)
    return Settled::redo;
  const bool appended = there.size() >= write.assumes_bytes + write.bytes.size() &&
                        there.substr(write.assumes_bytes, write.bytes.size()) == write.bytes;
  return appended ? Settled::done : Settled::abandoned;
}

/// The file is there.
Settled settle_present(const Intent& write, const FileBytes& there) {
  switch (write.kind) {
    case Intent::Kind::replace:
      if (there.digest == write.after)
        return Settled::done;
      return there.digest == write.assumes ? Settled::redo : Settled::abandoned;
    case Intent::Kind::create:
      return there.digest == write.after ? Settled::done : Settled::abandoned;
    case Intent::Kind::append:
      return settle_append(write, there.bytes);
    case Intent::Kind::move:
      return there.digest == write.assumes ? Settled::redo : Settled::abandoned;
  }
  return Settled::abandoned;
}

/// The file is not there.
Settled settle_missing(Disk& disk, const Intent& write, std::size_t max_bytes) {
  switch (write.kind) {
    case Intent::Kind::replace:
      return Settled::abandoned;
    case Intent::Kind::create:
      return Settled::redo;
    case Intent::Kind::append:
      return write.assumes_bytes == 0 ? Settled::redo : Settled::abandoned;
    case Intent::Kind::move: {
      const auto moved = disk.read(write.to, max_bytes);
      return moved && moved->digest == write.after ? Settled::done : Settled::abandoned;
    }
  }
  return Settled::abandoned;
}

}  // namespace

Settled settle(Disk& disk, const Intent& write, std::size_t max_bytes) {
  const auto there = disk.read(write.path, max_bytes);
  if (there)
    return settle_present(write, *there);
  return there.error().code == Errc::not_found ? settle_missing(disk, write, max_bytes)
                                               : Settled::abandoned;
}

}  // namespace baton
