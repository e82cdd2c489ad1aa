// SPDX-License-Identifier: Apache-2.0
#include "io/files/fd.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/file_facts.h"

namespace baton {

namespace {

constexpr std::size_t kRandomDigits = 16;
constexpr std::string_view kTmp = ".tmp";
constexpr std::size_t kNameMax = 255;

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

void Fd::reset() {
  if (fd_ >= 0)
    close(release());
}

Errc errc_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return Errc::not_found;
    case ELOOP:
    case EXDEV:
    case ENXIO:
    case EISDIR:
    case ENODEV:
    case ENAMETOOLONG:
      return Errc::not_regular;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:  // most likely the file would be larger than this process may write
      return Errc::no_space;
    case EACCES:
    case EPERM:
    case EROFS:
      return Errc::denied;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
    case EINTR:
    case ESTALE:  // network file system: another machine has replaced the file
      return Errc::busy;
    case EEXIST:
      return Errc::changed;
    default:
      return Errc::io;
  }
}

tl::unexpected<Error> system_error(int error, std::string_view what, std::string where) {
  return fail(errc_of(error), std::string(what) + ": " + std::generic_category().message(error),
              std::move(where));
}

Result<std::string> read_all(int fd, std::size_t max_bytes, const std::string& where) {
  std::string bytes;
  struct stat info {};
  if (fstat(fd, &info) == 0 && info.st_size > 0) {
    if (static_cast<std::uintmax_t>(info.st_size) > max_bytes)
      return fail(Errc::too_large,
                  "has more than " + std::to_string(max_bytes) + " bytes, namely " +
                      std::to_string(info.st_size),
                  where);
    bytes.reserve(static_cast<std::size_t>(info.st_size) + 1);
  }
  std::array<char, 32768> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read fills it
  for (;;) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return system_error(errno, "cannot be read", where);
    if (got == 0)
      return bytes;
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
    if (bytes.size() > max_bytes)
      return fail(Errc::too_large, "has more than " + std::to_string(max_bytes) + " bytes", where);
  }
}

Result<std::string> read_at(int fd, std::size_t size, std::size_t first, const std::string& where) {
  std::string bytes(size, '\0');
  std::size_t have = 0;
  while (have < size) {
    const ssize_t got =
        pread(fd, bytes.data() + have, size - have, static_cast<off_t>(first + have));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return system_error(errno, "cannot be read", where);
    if (got == 0)
      break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

Result<void> write_all(int fd, std::string_view bytes, const std::string& where) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return system_error(errno, "cannot be written", where);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Result<void> sync(int fd, const std::string& where) {
  if (fsync(fd) != 0)
    return system_error(errno, "cannot be synced", where);
  return {};
}

Result<void> set_mode(int fd, mode_t mode, const std::string& where) {
  struct stat made {};
  if (fstat(fd, &made) != 0)
    return system_error(errno, "cannot be looked at", where);
  const mode_t is = made.st_mode & 07777U;
  const mode_t wanted = mode | (is & S_ISGID);
  if (is == wanted || fchmod(fd, wanted) == 0)
    return {};
  if (errno == EPERM && (wanted & S_ISGID) != 0 && fchmod(fd, wanted & ~mode_t{S_ISGID}) == 0)
    return {};
  return system_error(errno, "cannot set the mode", where);
}

Result<void> lock_exclusive(int fd, int patience_ms, const std::string& where) {
  constexpr int kNapMs = 5;
  for (int waited = 0;; waited += kNapMs) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
      return {};
    if (errno != EWOULDBLOCK && errno != EINTR)
      return system_error(errno, "cannot be locked", where);
    if (waited >= patience_ms) {
      const std::int64_t pid = flock_holder(fd);
      return fail(
          Errc::busy,
          pid > 0 ? "is locked by process " + std::to_string(pid) : "is locked by another process",
          where);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(kNapMs));
  }
}

std::string random_hex(std::size_t bytes) {
  std::string raw(bytes, '\0');
  for (std::size_t have = 0; have < bytes;) {
    // Waits only while the kernel is still collecting randomness, right after boot.
    const ssize_t got = getrandom(raw.data() + have, bytes - have, 0);
    if (got > 0)
      have += static_cast<std::size_t>(got);
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const char byte : raw) {
    const auto value = static_cast<unsigned char>(byte);
    hex += kDigits[value >> 4U];
    hex += kDigits[value & 15U];
  }
  return hex;
}

std::string temporary_name(std::string_view name) {
  constexpr std::size_t kRest = 2 + kRandomDigits + kTmp.size();
  std::string result = ".";
  result += name.substr(0, kNameMax - kRest);
  result += "." + random_hex(kRandomDigits / 2);
  return result += kTmp;
}

bool is_temporary_name(std::string_view name) {
  constexpr std::size_t kEndSize = 1 + kRandomDigits + kTmp.size();
  if (name.size() < kEndSize + 2 || !name.starts_with('.') || !name.ends_with(kTmp))
    return false;
  const std::string_view tail = name.substr(name.size() - kEndSize);
  const std::string_view digits = tail.substr(1, kRandomDigits);
  return tail.front() == '.' &&
         digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace baton
