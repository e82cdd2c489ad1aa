#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>

#include "base/result.h"

namespace baton {

/// An owned file descriptor.
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

/// What an errno means to a caller. A name that cannot exist is not_regular, like one that leads
/// astray.
Errc errc_of(int error);
/// `what`, a colon, and what the system says about `error`.
tl::unexpected<Error> system_error(int error, std::string_view what, std::string where);

/// Everything from the present offset on, never more than `max_bytes`: then Errc::too_large. A file
/// that grows meanwhile cannot make it read more.
Result<std::string> read_all(int fd, std::size_t max_bytes, const std::string& where);
Result<void> write_all(int fd, std::string_view bytes, const std::string& where);
Result<void> sync(int fd, const std::string& where);

/// The mode of what was just made and is open, whatever the umask. A set-group bit that the kernel
/// passed on stays where this user may keep it; one that may not be set (RestrictSUIDSGID= of a
/// unit) is done without.
Result<void> set_mode(int fd, mode_t mode, const std::string& where);

/// An exclusive flock, tried for at most `patience_ms`: a holder that never lets go must not stop
/// us. Errc::busy.
Result<void> lock_exclusive(int fd, int patience_ms, const std::string& where);

/// `bytes` random bytes as hexadecimal digits.
std::string random_hex(std::size_t bytes);

/// `.name.<16 random hex>.tmp`, the name of everything that is on its way to become `name`. A name
/// that would become too long is cut.
std::string temporary_name(std::string_view name);
bool is_temporary_name(std::string_view name);

}  // namespace baton
