// SPDX-License-Identifier: Apache-2.0
#pragma once

// Options that commands with lists have in common: `--since`, `--limit`, and words of a fixed list.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace baton {

/// The meaning of `--since`: a time, or a duration before `now`. Empty text: not given.
/// Errc::usage.
Result<std::optional<Time>> since_of(const std::string& text, Time now);

/// How many lines lists for people have without `--limit`.
inline constexpr std::size_t kUsualLimit = 50;

/// The meaning of `--limit`: a number from 1 on. Empty text: 0, no limit. Errc::usage.
Result<std::size_t> limit_of(const std::string& text);

/// `there is no WHAT `word`; did you mean ...?`, or the list of words. Errc::usage.
Error no_such(std::string_view what, const std::string& word, std::span<const std::string> known);

}  // namespace baton
