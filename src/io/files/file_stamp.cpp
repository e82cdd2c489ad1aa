#include "io/files/file_stamp.h"

#include <array>
#include <cstdint>
#include <ctime>
#include <string_view>

#include "base/digest.h"

namespace baton {
namespace {

constexpr std::int64_t kYoungNanoseconds = 20'000'000;

}  // namespace

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

Stamp stamp_of(const struct stat& info) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const std::int64_t age = nanoseconds(now) - nanoseconds(info.st_ctim);
  if (age < kYoungNanoseconds)
    return 0;
  const std::array<std::int64_t, 5> parts = {
      nanoseconds(info.st_mtim), nanoseconds(info.st_ctim), static_cast<std::int64_t>(info.st_ino),
      static_cast<std::int64_t>(info.st_dev), static_cast<std::int64_t>(info.st_size)};
  const Digest digest =
      digest_of(std::string_view(reinterpret_cast<const char*>(parts.data()), sizeof(parts)));
  return digest.low == 0 ? 1 : digest.low;
}

}  // namespace baton
