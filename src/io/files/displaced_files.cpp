// SPDX-License-Identifier: Apache-2.0
#include "io/files/displaced_files.h"

#include <iterator>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/fd.h"
#include "io/files/file_facts.h"
#include "io/files/safe_open.h"

namespace baton {

namespace {

constexpr Millis kFirstLook{1000};
constexpr Millis kLastLook{60'000};
constexpr std::size_t kMaxDisplacedBytes = 256U << 20U;
constexpr std::string_view kWas = ".was";
constexpr std::size_t kDigestDigits = 32;
constexpr std::size_t kSuffixDigits = 8;
/// The characters of the name besides the original name.
constexpr std::size_t kTail = 1 + kDigestDigits + 1 + kSuffixDigits + kWas.size();
constexpr std::size_t kLongestName = 255;

/// The age at which a file is compared for the last time and removed.
Millis patience(OpenWriters open_writers) {
  switch (open_writers) {
    case OpenWriters::none:
      return kFirstLook;
    case OpenWriters::some:
      return kLastLook;
    case OpenWriters::unknown:
      break;
  }
  return DisplacedFiles::kUnknownLook;
}

/// Another user may have made a hard link to a file that he cannot read but we can.
bool has_one_name(int fd) {
  struct stat info {};
  return fstat(fd, &info) == 0 && info.st_nlink <= 1;
}

void remove(int root, const std::string& path) {
  const SplitPath at = split_path(path);
  if (const auto folder = safe_open(root, at.folder, O_RDONLY | O_DIRECTORY))
    unlinkat(folder->get(), at.name.c_str(), 0);
}

}  // namespace

std::string displaced_name(std::string_view name, const Digest& digest) {
  if (1 + name.size() + kTail > kLongestName)
    return {};
  return "." + std::string(name) + "." + hex(digest) + "-" + random_hex(kSuffixDigits / 2) +
         std::string(kWas);
}

void DisplacedFiles::add(const std::string& path, const std::string& displaced,
                         const Digest& digest) {
  files_.insert_or_assign(displaced, Displaced{.path = path, .digest = digest, .since = {}});
}

bool DisplacedFiles::add_found(const std::string& displaced) {
  const SplitPath at = split_path(displaced);
  const std::string& name = at.name;
  if (!name.starts_with('.') || !name.ends_with(kWas) || name.size() < kTail + 2)
    return false;
  const std::string_view tail = std::string_view(name).substr(name.size() - kTail);
  const auto digest = parse_digest(tail.substr(1, kDigestDigits));
  if (tail.front() != '.' || tail[1 + kDigestDigits] != '-' || !digest)
    return false;
  const std::string path = join_path(at.folder, name.substr(1, name.size() - kTail - 1));
  files_.try_emplace(displaced,
                     Displaced{.path = path, .digest = *digest, .since = {}, .own = false});
  return true;
}

bool DisplacedFiles::any(Time now) {
  for (auto& [displaced, row] : files_)
    if (!row.since)
      row.since = now;
  return !files_.empty();
}

std::vector<LateWrite> DisplacedFiles::late_writes(int root, Time now) {
  std::vector<LateWrite> late;
  // Returns true when the file needs no further look.
  const auto settle = [&](const std::string& displaced, Displaced& row) {
    if (!row.since)
      row.since = now;
    const auto age = now - *row.since;
    if (row.reported || age < kFirstLook)
      return false;
    const auto fd = open_regular(root, displaced, O_RDONLY);
    if (!fd)
      return fd.error().code != Errc::busy;
    if (!has_one_name(fd->get()))
      return true;
    if (age < patience(open_writers(fd->get())))
      return false;
    auto bytes = read_all(fd->get(), kMaxDisplacedBytes, displaced);
    if (!bytes)
      return bytes.error().code != Errc::busy;
    if (digest_of(*bytes) != row.digest) {
      late.push_back(
          {.path = row.path, .bytes = std::move(*bytes), .into = row.digest, .kept = displaced});
      row.reported = true;
      return false;
    }
    remove(root, displaced);
    return true;
  };
  for (auto each = files_.begin(); each != files_.end();)
    each = settle(each->first, each->second) ? files_.erase(each) : std::next(each);
  return late;
}

void DisplacedFiles::remove_saved(int root, const std::string& displaced) {
  remove(root, displaced);
  files_.erase(displaced);
}

void DisplacedFiles::remove_unchanged(int root) {
  for (const auto& [displaced, row] : files_) {
    if (!row.own)
      continue;
    const auto fd = open_regular(root, displaced, O_RDONLY);
    if (!fd || open_writers(fd->get()) == OpenWriters::some)
      continue;
    const auto bytes = read_all(fd->get(), kMaxDisplacedBytes, displaced);
    if (bytes && digest_of(*bytes) == row.digest)
      remove(root, displaced);
  }
  files_.clear();
}

}  // namespace baton
