#include "io/kept.h"

#include <csignal>

#include <fcntl.h>
#include <unistd.h>

#include "io/beneath.h"

namespace baton {

namespace {

constexpr Millis kFirstLook{1000};
constexpr Millis kLastLook{60'000};
constexpr std::size_t kMaxBytes = 256U << 20U;

// The kernel refuses a read lease while anybody has the file open for writing. Should a writer open
// it in the moment we hold the lease, the kernel tells us by SIGURG, which is ignored, and not by
// its usual signal, which kills.
bool open_for_writing(int fd) {
  if (fcntl(fd, F_SETSIG, SIGURG) != 0)
    return false;
  if (fcntl(fd, F_SETLEASE, F_RDLCK) != 0)
    return errno == EAGAIN;
  fcntl(fd, F_SETLEASE, F_UNLCK);
  return false;
}

void remove(int root, const std::string& path) {
  const SplitPath at = split_path(path);
  if (const auto folder = open_beneath(root, at.folder, O_RDONLY | O_DIRECTORY))
    unlinkat(folder->get(), at.name.c_str(), 0);
}

}  // namespace

std::vector<LateWrite> KeptFiles::late_writes(int root, Time now) {
  std::vector<LateWrite> late;
  // True: it is settled and need not be looked at again.
  const auto settle = [&](Kept& kept) {
    if (!kept.since)
      kept.since = now;
    const auto age = now - *kept.since;
    if (age < kFirstLook)
      return false;
    const auto fd = open_regular(root, kept.temporary, O_RDONLY);
    if (!fd)
      return fd.error().code != Errc::busy;
    if (age < kLastLook && open_for_writing(fd->get()))
      return false;
    auto bytes = read_all(fd->get(), kMaxBytes, kept.temporary);
    if (!bytes)
      return bytes.error().code != Errc::busy;
    if (digest_of(*bytes) != kept.digest)
      late.push_back({.path = kept.path, .bytes = std::move(*bytes)});
    remove(root, kept.temporary);
    return true;
  };
  std::erase_if(kept_, settle);
  return late;
}

void KeptFiles::leave(int root) {
  for (const Kept& kept : kept_) {
    const auto fd = open_regular(root, kept.temporary, O_RDONLY);
    if (!fd || open_for_writing(fd->get()))
      continue;
    const auto bytes = read_all(fd->get(), kMaxBytes, kept.temporary);
    if (bytes && digest_of(*bytes) == kept.digest)
      remove(root, kept.temporary);
  }
  kept_.clear();
}

}  // namespace baton
