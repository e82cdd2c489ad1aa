// SPDX-License-Identifier: Apache-2.0
#include "io/files/file_facts.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "base/digest.h"

namespace baton {
namespace {

constexpr std::int64_t kYoungNanoseconds = 20'000'000;
constexpr std::int64_t kCoarseNanoseconds = 2'000'000'000;  // FAT: two seconds; old ext4: one

}  // namespace

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::int64_t granularity_ns(const struct stat& info) {
  return info.st_mtim.tv_nsec == 0 || info.st_ctim.tv_nsec == 0 ? kCoarseNanoseconds : 0;
}

Stamp stamp_of(const struct stat& info) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  // Some file systems keep the time of creation as st_ctim.
  const std::int64_t last = std::max(nanoseconds(info.st_mtim), nanoseconds(info.st_ctim));
  if (nanoseconds(now) - last < kYoungNanoseconds + granularity_ns(info))
    return 0;
  const std::array<std::int64_t, 5> parts = {
      nanoseconds(info.st_mtim), nanoseconds(info.st_ctim), static_cast<std::int64_t>(info.st_ino),
      static_cast<std::int64_t>(info.st_dev), static_cast<std::int64_t>(info.st_size)};
  const Digest digest =
      digest_of(std::string_view(reinterpret_cast<const char*>(parts.data()), sizeof(parts)));
  return digest.low == 0 ? 1 : digest.low;
}

FileIdentity identity_of(int fd) {
  struct statx info {};
  constexpr unsigned kWanted = STATX_INO | STATX_BTIME;
  if (statx(fd, "", AT_EMPTY_PATH, kWanted, &info) != 0 || (info.stx_mask & kWanted) != kWanted)
    return 0;
  const std::array<std::uint64_t, 5> parts = {info.stx_dev_major, info.stx_dev_minor, info.stx_ino,
                                              static_cast<std::uint64_t>(info.stx_btime.tv_sec),
                                              info.stx_btime.tv_nsec};
  const Digest digest =
      digest_of(std::string_view(reinterpret_cast<const char*>(parts.data()), sizeof(parts)));
  return digest.low == 0 ? 1 : digest.low;
}

// The kernel refuses a read lease while a process has the file open for writing. It grants no lease
// to a user who does not own the file, and some file systems have no leases. If a writer opens the
// file while we hold the lease, the kernel sends the signal set here: SIGURG is ignored, the
// default signal would kill baton.
OpenWriters open_writers(int fd) {
  if (fcntl(fd, F_SETSIG, SIGURG) != 0)
    return OpenWriters::unknown;
  if (fcntl(fd, F_SETLEASE, F_RDLCK) != 0)
    return errno == EAGAIN ? OpenWriters::some : OpenWriters::unknown;
  fcntl(fd, F_SETLEASE, F_UNLCK);
  return OpenWriters::none;
}

namespace {

// The device and inode are the sixth word, as in `1: FLOCK ADVISORY WRITE 4711 fe:00:5123 0 EOF`.
bool is_flock_of(std::istringstream& words, const std::string& file, std::int64_t& pid) {
  std::string number;
  std::string kind;
  std::string advisory;
  std::string mode;
  std::string which;
  return words >> number >> kind >> advisory >> mode >> pid >> which && kind == "FLOCK" &&
         which == file;
}

}  // namespace

std::int64_t flock_holder(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0)
    return 0;
  const auto all = flock_holders(info);
  return all.empty() ? 0 : all.front();
}

std::vector<std::int64_t> flock_holders(const struct stat& info) {
  std::vector<std::int64_t> all;
  std::ostringstream file;
  file << std::hex;
  file.fill('0');
  file.width(2);
  file << major(info.st_dev) << ':';
  file.width(2);
  file << minor(info.st_dev) << ':' << std::dec << info.st_ino;
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::int64_t pid = 0;
    if (is_flock_of(words, file.str(), pid))
      all.push_back(pid);
  }
  return all;
}

namespace {

struct Row {
  std::uint64_t magic;
  std::string_view name;
};
// overlay is not listed: its upper layer gives events. OCFS2 and similar ones are not listed,
// because they are not tested.
constexpr std::array kNetwork = {
    Row{0x6969, "nfs"},        Row{0x65735546, "fuse"},     Row{0xFF534D42, "cifs"},
    Row{0xFE534D42, "smb2"},   Row{0x517B, "smb"},          Row{0x01021997, "9p"},
    Row{0x00C36400, "ceph"},   Row{0x5346414F, "afs"},      Row{0x6B414653, "afs"},
    Row{0x73757245, "coda"},   Row{0x0BD00BD0, "lustre"},   Row{0x47504653, "gpfs"},
    Row{0x786F4256, "vboxsf"}, Row{0x20030528, "orangefs"}, Row{0x19830326, "beegfs"},
    Row{0x01161970, "gfs2"},
};

}  // namespace

std::string_view network_file_system(std::uint64_t magic) {
  for (const Row& row : kNetwork) {
    if (row.magic == magic)
      return row.name;
  }
  return {};
}

std::string_view network_file_system_of(int fd) {
  struct statfs info {};
  if (fstatfs(fd, &info) != 0)
    return {};
  // f_type is signed on some architectures; magic numbers have 32 bits.
  return network_file_system(static_cast<std::uint64_t>(info.f_type) & 0xFFFFFFFFU);
}

}  // namespace baton
