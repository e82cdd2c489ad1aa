// SPDX-License-Identifier: Apache-2.0
#include "shim/log.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/protocol.h"

namespace baton::shim {

int make_log(int directory, const char* name) {
  const int file =
      openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
  if (file >= 0)
    (void)fchmod(file, 0640);
  return file;
}

namespace {

/// Opens the folder with this absolute path and creates missing parts. -1 if the path has a link:
/// with a link, an agent could make the shim empty a file elsewhere.
int enter_folders(std::string_view path) {
  int folder = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  while (folder >= 0 && !path.empty()) {
    const auto slash = path.find('/');
    const Text name = Text() << path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (name.view().empty())
      continue;
    constexpr int kFolder = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int next = openat(folder, name.c_str(), kFolder);
    if (next < 0 && errno == ENOENT) {
      (void)mkdirat(folder, name.c_str(), 0777);
      next = openat(folder, name.c_str(), kFolder);
    }
    close(folder);
    folder = next;
  }
  return folder;
}

}  // namespace

int make_common_log(const char* path) {
  if (path == nullptr)
    return -1;
  const std::string_view whole(path);
  const auto slash = whole.rfind('/');
  const int folder = enter_folders(whole.substr(0, slash));
  if (folder < 0)
    return -1;
  // Make sure that it is a file before emptying it: opening a pipe would block the shim. With a
  // second name it may be another file of this user, because the name can be guessed.
  const int file =
      openat(folder, path + slash + 1,
             O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  close(folder);
  struct stat status {};
  if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1 &&
      ftruncate(file, 0) == 0)
    return file;
  if (file >= 0)
    close(file);
  return -1;
}

void Order::add(char stream, std::size_t bytes) {
  if (stream != stream_) {
    write_line();
    stream_ = stream;
    bytes_ = 0;
  }
  bytes_ += bytes;
}

void Order::finish() {
  if (file_ >= 0)
    write_line();
}

void Order::write_line() {
  if (bytes_ == 0 || lines_ >= kOrderLines)
    return;
  if (lines_ == 0)
    file_ = make_log(directory_, kOrderFile);
  ++lines_;
  const Text line = Text() << (stream_ == 'o' ? "o " : "e ") << bytes_ << "\n";
  if (file_ >= 0)
    (void)!write(file_, line.c_str(), line.view().size());
}

bool Log::drain(std::int64_t now_ms) {
  constexpr std::size_t kMaxAtOnce = 1U << 20U;
  std::array<char, 16384> buffer{};
  std::size_t taken = 0;
  while (source_ >= 0 && taken < kMaxAtOnce) {
    const ssize_t got = read(source_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0 && errno == EAGAIN)
      break;
    if (got <= 0) {
      close(source_);
      source_ = -1;
      break;
    }
    take(buffer.data(), static_cast<std::size_t>(got), now_ms);
    taken += static_cast<std::size_t>(got);
  }
  return taken > 0;
}

void Log::take(const char* bytes, std::size_t size, std::int64_t now_ms) {
  received_ += size;
  const std::size_t room = cap_ > kept_ ? static_cast<std::size_t>(cap_ - kept_) : 0;
  const bool was_whole = received_ - size == kept_;
  const std::size_t kept = was_whole ? keep(bytes, room < size ? room : size) : 0;
  if (kept == size)
    return;
  remember(bytes + kept, size - kept);
  if (was_whole)
    write_marker();
  // After the cap nothing more is written, but the modification time must still show the last
  // output.
  if (file_ >= 0 && now_ms - touched_ms_ >= 1000) {
    (void)futimens(file_, nullptr);
    touched_ms_ = now_ms;
  }
}

void Log::remember(const char* bytes, std::size_t size) {
  if (ring_ == nullptr) {
    // The buffer must begin with the first dropped byte, so do not create it later.
    if (dropped() != size)
      return;
    ring_bytes_ = tail_bytes(kept_);
    void* const memory =
        mmap(nullptr, ring_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return;
    ring_ = static_cast<char*>(memory);
  }
  for (std::uint64_t at = dropped() - size; size > 0;) {
    const std::size_t place = at % ring_bytes_;
    const std::size_t piece = size < ring_bytes_ - place ? size : ring_bytes_ - place;
    std::memcpy(ring_ + place, bytes, piece);
    bytes += piece;
    size -= piece;
    at += piece;
  }
}

void Log::write_tail(int directory, const char* name) const {
  if (ring_ == nullptr)
    return;
  (void)unlinkat(directory, name, 0);
  const int file = make_log(directory, name);
  if (file < 0)
    return;
  const std::uint64_t first = dropped() > ring_bytes_ ? dropped() - ring_bytes_ : 0;
  for (std::uint64_t at = first; at < dropped();) {
    const std::size_t place = at % ring_bytes_;
    const std::uint64_t left = dropped() - at;
    const std::size_t piece = left < ring_bytes_ - place ? left : ring_bytes_ - place;
    const ssize_t put = write(file, ring_ + place, piece);
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      break;
    at += static_cast<std::uint64_t>(put);
  }
  close(file);
}

std::size_t Log::keep(const char* bytes, std::size_t size) {
  std::size_t done = 0;
  while (file_ >= 0 && done < size) {
    const ssize_t put = pwrite(file_, bytes + done, size - done, static_cast<off_t>(kept_));
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      break;
    if (both_ >= 0)
      (void)!write(both_, bytes + done, static_cast<std::size_t>(put));
    done += static_cast<std::size_t>(put);
    kept_ += static_cast<std::uint64_t>(put);
    last_ = bytes[done - 1];
  }
  if (done > 0)
    order_.add(stream_, done);
  return done;
}

void Log::write_marker() const {
  const Text marker = this->marker();
  // Always write at the same place, because the number grows.
  if (file_ >= 0)
    (void)!pwrite(file_, marker.c_str(), marker.view().size(), static_cast<off_t>(kept_));
}

Text Log::marker() const {
  Text marker;
  if (last_ != '\n')
    marker << "\n";
  if (kept_ >= cap_)
    marker << "[baton: log cap of " << cap_ << " bytes reached, ";
  else
    marker << "[baton: the log could not be written, ";
  marker << dropped() << " bytes dropped]\n";
  return marker;
}

void Log::finish(int directory, const char* tail) const {
  if (dropped() == 0)
    return;
  write_marker();
  write_tail(directory, tail);
  const Text last = marker();
  if (both_ >= 0)
    (void)!write(both_, last.c_str(), last.view().size());
}

}  // namespace baton::shim
