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

Settled settle(Disk& disk, const Intent& write, std::size_t max_bytes) {
  const auto there = disk.read(write.path, max_bytes);
  const bool missing = !there && there.error().code == Errc::not_found;
  switch (write.kind) {
    case Intent::Kind::replace:
      if (!there)
        return Settled::abandoned;
      if (there->digest == write.after)
        return Settled::done;
      return there->digest == write.assumes ? Settled::redo : Settled::abandoned;
    case Intent::Kind::create:
      if (missing)
        return Settled::redo;
      return there && there->digest == write.after ? Settled::done : Settled::abandoned;
    case Intent::Kind::append: {
      if (missing)
        return write.assumes_bytes == 0 ? Settled::redo : Settled::abandoned;
      if (!there)
        return Settled::abandoned;
      const std::string_view bytes = there->bytes;
      if (bytes.size() == write.assumes_bytes)
        return Settled::redo;
      const bool appended = bytes.size() >= write.assumes_bytes + write.bytes.size() &&
                            bytes.substr(write.assumes_bytes, write.bytes.size()) == write.bytes;
      return appended ? Settled::done : Settled::abandoned;
    }
    case Intent::Kind::move: {
      if (there && there->digest == write.assumes)
        return Settled::redo;
      const auto moved = disk.read(write.to, max_bytes);
      return missing && moved && moved->digest == write.after ? Settled::done : Settled::abandoned;
    }
  }
  return Settled::abandoned;
}

}  // namespace baton
