// SPDX-License-Identifier: Apache-2.0
#include "io/files/git_index.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <nettle/sha1.h>

#include "io/files/safe_open.h"

namespace baton {
namespace {

constexpr std::size_t kBlock = 64U << 10U;
constexpr std::size_t kLongestPath = 4096;
constexpr std::size_t kLongestLink = 4096;
constexpr std::size_t kObjectBytes = 20;
constexpr std::uint16_t kExtended = 0x4000;
constexpr std::uint16_t kStage = 0x3000;

/// Reads a file from its beginning to its end, a block at a time.
class IndexBytes {
 public:
  explicit IndexBytes(int fd) : fd_(fd) {}

  /// False: the file ends before.
  bool next(char& byte) {
    if (at_ == size_ && !fill())
      return false;
    byte = block_.at(at_++);
    ++taken_;
    return true;
  }
  bool take(std::string& into, std::size_t count) {
    into.clear();
    for (char byte = 0; into.size() < count; into += byte)
      if (!next(byte))
        return false;
    return true;
  }
  bool skip(std::size_t count) {
    for (char byte = 0; count > 0; --count)
      if (!next(byte))
        return false;
    return true;
  }
  std::optional<std::uint32_t> number(int bytes = 4) {
    std::uint32_t value = 0;
    for (char byte = 0; bytes > 0; --bytes) {
      if (!next(byte))
        return std::nullopt;
      value = value << 8U | static_cast<unsigned char>(byte);
    }
    return value;
  }
  /// Up to a NUL, which is taken, too.
  bool name(std::string& name) {
    for (char byte = 0; next(byte); name += byte) {
      if (byte == '\0')
        return true;
      if (name.size() > kLongestPath)
        return false;
    }
    return false;
  }
  std::uint64_t taken() const { return taken_; }

 private:
  bool fill() {
    ssize_t got = 0;
    do
      got = read(fd_, block_.data(), block_.size());
    while (got < 0 && errno == EINTR);
    size_ = got > 0 ? static_cast<std::size_t>(got) : 0;
    at_ = 0;
    return size_ > 0;
  }

  int fd_;
  std::array<char, kBlock> block_{};
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  std::uint64_t taken_ = 0;
};

/// Version 4 keeps of a name only what differs from the name before.
bool next_name(IndexBytes& bytes, std::uint32_t version, std::string& name) {
  if (version < 4) {
    name.clear();
    return bytes.name(name);
  }
  std::size_t drop = 0;
  for (char byte = 0;;) {
    if (!bytes.next(byte) || drop > kLongestPath)
      return false;
    const auto value = static_cast<unsigned char>(byte);
    drop = (drop << 7U) | (value & 0x7FU);
    if ((value & 0x80U) == 0)
      break;
    ++drop;
  }
  if (drop > name.size())
    return false;
  name.resize(name.size() - drop);
  return bytes.name(name);
}

/// The folder where git keeps what it knows of a repository, and the folder of its files.
struct Repository {
  std::string git;
  std::string files;
};

/// In linked work trees and submodules `.git` is a file that names the folder.
std::optional<std::string> named_by(const std::string& link, const std::string& folder) {
  const Fd file(open(link.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info {};
  if (!file || fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return std::nullopt;
  auto text = read_all(file.get(), kLongestLink, link);
  constexpr std::string_view kWord = "gitdir: ";
  if (!text || !text->starts_with(kWord))
    return std::nullopt;
  std::string named = text->substr(kWord.size());
  named.erase(named.find_last_not_of("\r\n") + 1);
  if (named.empty() || named.find('\0') != std::string::npos)
    return std::nullopt;
  return named.front() == '/' ? named : folder + "/" + named;
}

/// The innermost repository that has the file.
std::optional<Repository> repository_of(const std::string& file) {
  for (auto end = file.rfind('/'); end != std::string::npos && end != 0;
       end = file.rfind('/', end - 1)) {
    const std::string folder = file.substr(0, end);
    const std::string git = folder + "/.git";
    struct stat info {};
    if (stat(git.c_str(), &info) != 0)
      continue;
    if (S_ISDIR(info.st_mode))
      return Repository{git, folder};
    auto named = named_by(git, folder);
    return named ? std::optional(Repository{*std::move(named), folder}) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<GitEntry> git_entry(int fd, std::string_view path) {
  IndexBytes bytes(fd);
  std::string word;
  if (!bytes.take(word, 4) || word != "DIRC")
    return std::nullopt;
  const auto version = bytes.number();
  const auto count = bytes.number();
  if (!version || *version < 2 || *version > 4 || !count)
    return std::nullopt;
  std::string name;
  for (std::uint32_t i = 0; i < *count; ++i) {
    const std::uint64_t begin = bytes.taken();
    GitEntry entry;
    // Before them the time of the last change of name or mode, between them the device, behind them
    // mode, owner, group and size.
    const bool head = bytes.skip(8);
    const auto seconds = bytes.number();
    const auto nanoseconds = bytes.number();
    const bool device = bytes.skip(4);
    const auto inode = bytes.number();
    if (!head || !seconds || !nanoseconds || !device || !inode || !bytes.skip(16) ||
        !bytes.take(entry.object, kObjectBytes))
      return std::nullopt;
    const auto flags = bytes.number(2);
    if (!flags || ((*flags & kExtended) != 0 && !bytes.skip(2)) ||
        !next_name(bytes, *version, name))
      return std::nullopt;
    // Entries are padded with NULs, of which the name has one already.
    if (*version < 4 && !bytes.skip((8 - (bytes.taken() - begin) % 8) % 8))
      return std::nullopt;
    if (name > path)
      return std::nullopt;
    if (name != path || (*flags & kStage) != 0)
      continue;
    entry.modified_s = *seconds;
    entry.modified_ns = *nanoseconds;
    entry.inode = *inode;
    return entry;
  }
  return std::nullopt;
}

std::string git_object_of(std::string_view bytes) {
  sha1_ctx state{};
  sha1_init(&state);
  // With the NUL behind it.
  const std::string head = "blob " + std::to_string(bytes.size());
  sha1_update(&state, head.size() + 1, reinterpret_cast<const std::uint8_t*>(head.c_str()));
  sha1_update(&state, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  std::array<std::uint8_t, SHA1_DIGEST_SIZE> name{};
  sha1_digest(&state, name.size(), name.data());
  return {reinterpret_cast<const char*>(name.data()), name.size()};
}

VersionSource git_source_of(const std::string& file, const struct stat& info,
                            std::string_view bytes, bool may_wait) {
  const auto repository = repository_of(file);
  if (!repository)
    return VersionSource::other;
  // Git writes the files first and then, from this lock, the index.
  struct stat lock {};
  if (may_wait && lstat((repository->git + "/index.lock").c_str(), &lock) == 0)
    return VersionSource::under_way;
  const std::string index = repository->git + "/index";
  const Fd fd(open(index.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat of_index {};
  if (!fd || fstat(fd.get(), &of_index) != 0 || !S_ISREG(of_index.st_mode))
    return VersionSource::other;
  const auto entry = git_entry(fd.get(), file.substr(repository->files.size() + 1));
  const auto low = [](auto number) { return static_cast<std::uint32_t>(number); };
  const bool same = entry && entry->inode == low(info.st_ino) &&
                    entry->modified_s == low(info.st_mtim.tv_sec) &&
                    (entry->modified_ns == 0 || entry->modified_ns == low(info.st_mtim.tv_nsec));
  return same && entry->object == git_object_of(bytes) ? VersionSource::by_git
                                                       : VersionSource::other;
}

}  // namespace baton
