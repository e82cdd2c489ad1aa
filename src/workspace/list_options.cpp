// SPDX-License-Identifier: Apache-2.0
#include "workspace/list_options.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace baton {

Result<std::optional<Time>> since_of(const std::string& text, Time now) {
  if (text.empty())
    return std::optional<Time>();
  if (const auto time = parse_time(text))
    return std::optional(*time);
  if (const auto duration = parse_duration(text))
    return std::optional(now - *duration);
  return fail(Errc::usage,
              "--since takes a time such as 2026-01-22T10:00:00Z or a duration such as 2h, not " +
                  printable(text, 60));
}

Result<std::size_t> limit_of(const std::string& text) {
  if (text.empty())
    return std::size_t{0};
  std::size_t limit = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || limit == 0)
    return fail(Errc::usage, "--limit takes a number from 1 on, not " + printable(text, 60));
  return limit;
}

Error no_such(std::string_view what, const std::string& word, std::span<const std::string> known) {
  const auto near = nearest(word, known);
  Error error;
  error.code = Errc::usage;
  constexpr std::size_t kMost = 20;
  const std::size_t shown = std::min(known.size(), kMost);
  error.message =
      "there is no " + std::string(what) + " `" + printable(word, 60) + "`; " +
      (near ? "did you mean `" + *near + "`?" : "there are " + join(known.first(shown), ", ")) +
      (near || shown == known.size() ? ""
                                     : " and " + std::to_string(known.size() - shown) + " more");
  return error;
}

}  // namespace baton
