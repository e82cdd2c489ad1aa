// SPDX-License-Identifier: Apache-2.0
#include "io/system/descriptor_limit.h"

#include <algorithm>
#include <array>

#include <fcntl.h>
#include <unistd.h>

#include "io/files/fd.h"

namespace baton {
namespace {

/// A step opens about so many files at a time: folders on the way to a file, pipes of a shim.
constexpr std::size_t kFew = 16;

bool few_are_free() {
  const Fd nothing(open("/", O_PATH | O_CLOEXEC));
  std::array<Fd, kFew> few;
  for (Fd& each : few)
    each = Fd(nothing ? fcntl(nothing.get(), F_DUPFD_CLOEXEC, 0) : -1);
  return std::all_of(few.begin(), few.end(), [](const Fd& each) { return bool(each); });
}

std::string text(rlim_t limit) {
  return limit == RLIM_INFINITY ? "no limit" : std::to_string(limit);
}

}  // namespace

DescriptorLimit::DescriptorLimit() {
  (void)getrlimit(RLIMIT_NOFILE, &begin_);
  last_ = begin_;
}

DescriptorLimit::Found DescriptorLimit::look() {
  rlimit now{};
  if (getrlimit(RLIMIT_NOFILE, &now) != 0 || now.rlim_cur >= begin_.rlim_cur)
    return {};
  const std::string what = "another process lowered the limit of open files of this one from " +
                           text(begin_.rlim_cur) + " to " + text(now.rlim_cur) +
                           " (an agent of the same user can do that with `prlimit`)";
  // Only root may raise the hard limit.
  rlimit wanted = begin_;
  bool raised = setrlimit(RLIMIT_NOFILE, &wanted) == 0;
  if (!raised) {
    wanted = {std::min(begin_.rlim_cur, now.rlim_max), now.rlim_max};
    raised = setrlimit(RLIMIT_NOFILE, &wanted) == 0 && wanted.rlim_cur == begin_.rlim_cur;
  }
  if (raised)
    return {what + "; it was raised again", false};
  const bool known = last_.rlim_cur == wanted.rlim_cur;
  last_ = wanted;
  return {known ? "" : what, !few_are_free()};
}

}  // namespace baton
