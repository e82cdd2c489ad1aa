#include "io/files/displaced_files.h"

#include <iterator>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/fd.h"
#include "io/files/open_writers.h"
#include "io/files/safe_open.h"

namespace baton {

namespace {

constexpr Millis kFirstLook{1000};
constexpr Millis kLastLook{60'000};
constexpr std::size_t kMaxKeptBytes = 256U << 20U;
constexpr std::string_view kWas = ".was";
constexpr std::size_t kDigestDigits = 32;
constexpr std::size_t kKeptRandomDigits = 8;
/// `.`, the digits with `-` between them, and what tells the name from others.
constexpr std::size_t kTail = 1 + kDigestDigits + 1 + kKeptRandomDigits + kWas.size();
constexpr std::size_t kLongestName = 255;

/// At which age a file is settled.
Millis patience(OpenWriters open_writers) {
  switch (open_writers) {
    case OpenWriters::none:
      return kFirstLook;
    case OpenWriters::some:
      return kLastLook;
    case OpenWriters::unknown:
      break;
  }
  return DisplacedFiles::kBlindLook;
}

/// Whoever gives a file a second name may not be allowed to read it, but we are.
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
  return "." + std::string(name) + "." + hex(digest) + "-" + random_hex(kKeptRandomDigits / 2) +
         std::string(kWas);
}

void DisplacedFiles::keep(const std::string& path, const std::string& kept, const Digest& digest) {
  kept_.insert_or_assign(kept, Kept{.path = path, .digest = digest, .since = {}});
}

bool DisplacedFiles::adopt(const std::string& kept) {
  const SplitPath at = split_path(kept);
  const std::string& name = at.name;
  if (!name.starts_with('.') || !name.ends_with(kWas) || name.size() < kTail + 2)
    return false;
  const std::string_view tail = std::string_view(name).substr(name.size() - kTail);
  const auto digest = parse_digest(tail.substr(1, kDigestDigits));
  if (tail.front() != '.' || tail[1 + kDigestDigits] != '-' || !digest)
    return false;
  const std::string path = join_path(at.folder, name.substr(1, name.size() - kTail - 1));
  kept_.try_emplace(kept, Kept{.path = path, .digest = *digest, .since = {}, .own = false});
  return true;
}

bool DisplacedFiles::any(Time now) {
  for (auto& [kept, row] : kept_)
    if (!row.since)
      row.since = now;
  return !kept_.empty();
}

std::vector<LateWrite> DisplacedFiles::late_writes(int root, Time now) {
  std::vector<LateWrite> late;
  // True: it is settled and need not be looked at again.
  const auto settle = [&](const std::string& kept, Kept& row) {
    if (!row.since)
      row.since = now;
    const auto age = now - *row.since;
    if (row.told || age < kFirstLook)
      return false;
    const auto fd = open_regular(root, kept, O_RDONLY);
    if (!fd)
      return fd.error().code != Errc::busy;
    if (!has_one_name(fd->get()))
      return true;
    if (age < patience(open_writers(fd->get())))
      return false;
    auto bytes = read_all(fd->get(), kMaxKeptBytes, kept);
    if (!bytes)
      return bytes.error().code != Errc::busy;
    if (digest_of(*bytes) != row.digest) {
      late.push_back(
          {.path = row.path, .bytes = std::move(*bytes), .into = row.digest, .kept = kept});
      row.told = true;
      return false;
    }
    remove(root, kept);
    return true;
  };
  for (auto each = kept_.begin(); each != kept_.end();)
    each = settle(each->first, each->second) ? kept_.erase(each) : std::next(each);
  return late;
}

void DisplacedFiles::noted(int root, const std::string& kept) {
  remove(root, kept);
  kept_.erase(kept);
}

void DisplacedFiles::leave(int root) {
  for (const auto& [kept, row] : kept_) {
    if (!row.own)
      continue;
    const auto fd = open_regular(root, kept, O_RDONLY);
    if (!fd || open_writers(fd->get()) == OpenWriters::some)
      continue;
    const auto bytes = read_all(fd->get(), kMaxKeptBytes, kept);
    if (bytes && digest_of(*bytes) == row.digest)
      remove(root, kept);
  }
  kept_.clear();
}

}  // namespace baton
