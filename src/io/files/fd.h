// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owned file descriptors, and the few calls on them that everything in io needs: read all, write
// all, sync, lock, temporary names. Each turns an errno into an `Errc` and a message with the path.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>

#include "base/result.h"

namespace baton {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

/// The `Errc` for an errno. A name that cannot exist is not_regular, like a path that is not
/// allowed.
Errc errc_of(int error);
/// An error with the message `what: <text of the errno>`.
tl::unexpected<Error> system_error(int error, std::string_view what, std::string where);

/// Reads from the current offset to the end, at most `max_bytes` (then Errc::too_large), even if
/// the file grows.
Result<std::string> read_all(int fd, std::size_t max_bytes, const std::string& where);
/// Up to `size` bytes from `first` on; fewer at the end of the file. Does not move the offset.
Result<std::string> read_at(int fd, std::size_t size, std::size_t first, const std::string& where);
Result<void> write_all(int fd, std::string_view bytes, const std::string& where);
Result<void> sync(int fd, const std::string& where);

/// Sets the mode of a new open file, whatever the umask is. Keeps a set-group bit that the folder
/// passed on, if this user may set it. A service with RestrictSUIDSGID= may not; then the bit is
/// dropped.
Result<void> set_mode(int fd, mode_t mode, const std::string& where);

/// Locks with an exclusive flock and waits at most `patience_ms` for it. Errc::busy.
Result<void> lock_exclusive(int fd, int patience_ms, const std::string& where);

/// Returns `bytes` random bytes as hexadecimal digits.
std::string random_hex(std::size_t bytes);

/// `.name.<16 random hex>.tmp`: the name of a file that will be renamed to `name` when it is
/// complete. A long name is cut.
std::string temporary_name(std::string_view name);
bool is_temporary_name(std::string_view name);

}  // namespace baton
