// SPDX-License-Identifier: Apache-2.0
#include "engine/perform/write_settlement.h"

#include <algorithm>
#include <string_view>

namespace baton {

Result<void> perform(Disk& disk, const Intent& write) {
  switch (write.kind) {
    case Intent::Kind::replace:
    case Intent::Kind::restore:
      return disk.replace(write.path, write.assumes, write.bytes);
    case Intent::Kind::append:
      return disk.append(write.path, write.assumes_bytes, write.bytes, write.rotate_above);
    case Intent::Kind::create:
      return disk.create(write.path, write.bytes);
    case Intent::Kind::move:
      return disk.move(write.path, write.assumes, write.to);
    case Intent::Kind::backup:
      break;  // BackupEncryption writes these
  }
  return fail(Errc::io, "unknown kind of write", write.path);
}

namespace {

constexpr std::size_t kMaxLogBytes = std::size_t{1} << 30U;

/// How many bytes at the end of `there` are the beginning of `text`. They start at a line.
std::size_t begun(std::string_view there, std::string_view text) {
  for (std::size_t most = std::min(there.size(), text.size()); most > 0; --most) {
    const std::size_t from = there.size() - most;
    if ((from == 0 || there[from - 1] == '\n') && there.substr(from) == text.substr(0, most))
      return most;
  }
  return 0;
}

bool has_lines(const FileBytes& there, const Intent& write) {
  return there.bytes.find(write.bytes) != std::string::npos;
}

Settled settle_append(Intent& write, std::string_view there) {
  if (write.assumes_bytes == kAtEnd) {
    if (there.find(write.bytes) != std::string_view::npos)
      return Settled::done;
    if (const std::size_t torn = begun(there, write.bytes); torn > 0) {
      write.bytes.erase(0, torn);
      write.assumes_bytes = there.size();
    }
    return Settled::redo;
  }
  if (there.size() == write.assumes_bytes)
    return Settled::redo;
  const bool appended = there.size() >= write.assumes_bytes + write.bytes.size() &&
                        there.substr(write.assumes_bytes, write.bytes.size()) == write.bytes;
  return appended ? Settled::done : Settled::abandoned;
}

bool has_moved(Disk& disk, const Intent& write, std::size_t max_bytes) {
  const auto moved = disk.read(write.to, max_bytes);
  return moved && moved->digest == write.after;
}

Settled settle_present(Disk& disk, Intent& write, const FileBytes& there, std::size_t max_bytes) {
  switch (write.kind) {
    case Intent::Kind::replace:
    case Intent::Kind::restore:
      if (there.digest == write.after)
        return Settled::done;
      return there.digest == write.assumes ? Settled::redo : Settled::abandoned;
    case Intent::Kind::create:
      return there.digest == write.after ? Settled::done : Settled::abandoned;
    case Intent::Kind::append:
      return settle_append(write, there.bytes);
    case Intent::Kind::move:
      if (write.assumes == Digest{})
        return disk.read(write.to, max_bytes) ? Settled::done : Settled::redo;
      if (there.digest != write.assumes)
        return Settled::abandoned;
      // The move may also have been made, if an agent has written the same bytes at the old path
      // since.
      return has_moved(disk, write, max_bytes) ? Settled::done : Settled::redo;
    case Intent::Kind::backup:
      break;
  }
  return Settled::abandoned;
}

Settled settle_missing(Disk& disk, const Intent& write, std::size_t max_bytes) {
  switch (write.kind) {
    case Intent::Kind::replace:
    case Intent::Kind::restore:
      return Settled::missing;
    case Intent::Kind::create:
      return Settled::redo;
    case Intent::Kind::append:
      return write.assumes_bytes == 0 || write.assumes_bytes == kAtEnd ? Settled::redo
                                                                       : Settled::missing;
    case Intent::Kind::move:
      // For a move of any version: the file was moved, or there never was one.
      return write.assumes != Digest{} && has_moved(disk, write, max_bytes) ? Settled::done
                                                                            : Settled::missing;
    case Intent::Kind::backup:
      break;
  }
  return Settled::missing;
}

}  // namespace

Result<Settled> settle(Disk& disk, Intent& write, std::size_t max_bytes) {
  // A log may be longer than the limit for documents.
  const bool log = write.assumes_bytes == kAtEnd || write.assumes == Digest{};
  auto there = disk.read(write.path, log ? kMaxLogBytes : max_bytes);
  // A later write may have renamed the file to which this one was appended.
  if (write.rotate_above > 0 && write.assumes_bytes == kAtEnd &&
      (there || there.error().code == Errc::not_found) && !(there && has_lines(*there, write)))
    if (const auto before = disk.read(write.path + ".1", kMaxLogBytes);
        before && has_lines(*before, write))
      return Settled::done;
  if (there)
    return settle_present(disk, write, *there, max_bytes);
  const Errc why = there.error().code;
  if (why == Errc::not_found)
    return settle_missing(disk, write, max_bytes);
  if (why == Errc::not_regular || why == Errc::too_large)
    return Settled::abandoned;
  return pass_on(there);
}

Result<void> make_last(Disk& disk, const Intent& write, std::size_t max_bytes) {
  const std::string& path = write.kind == Intent::Kind::move ? write.to : write.path;
  if (write.kind != Intent::Kind::append && write.kind != Intent::Kind::move)
    return disk.make_last(path, write.bytes);
  const auto there = disk.read(path, std::max(max_bytes, kMaxLogBytes));
  return there ? disk.make_last(path, there->bytes) : tl::unexpected(there.error());
}

}  // namespace baton
