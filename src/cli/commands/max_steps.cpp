#include "cli/commands/max_steps.h"

#include <charconv>
#include <system_error>

#include "base/text.h"

namespace baton {

Result<void> add_max_steps(const std::string& given, Request& request) {
  if (given.empty())
    return {};
  int count = 0;
  const char* const end = given.data() + given.size();
  const auto read = std::from_chars(given.data(), end, count);
  if (read.ec != std::errc() || read.ptr != end || count < 1)
    return fail(Errc::usage, "--max-steps must be a whole number of 1 or more, not `" +
                                 printable(given, 40) + "`");
  request.arguments.set("max_steps", count);
  return {};
}

}  // namespace baton
