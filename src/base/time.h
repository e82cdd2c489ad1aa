// SPDX-License-Identifier: Apache-2.0
#pragma once

// Times and durations as files and configurations write them.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace baton {

using Millis = std::chrono::milliseconds;

/// A moment on baton's clock: Unix time in milliseconds.
using Time = std::chrono::time_point<std::chrono::system_clock, Millis>;

/// Such as `2026-01-22T10:00:00Z`; with milliseconds only if `millis`.
std::string iso_time(Time time, bool millis = false);

/// Parses an RFC 3339 date-time (`Z` or an offset, fractions cut to milliseconds). Nothing for
/// anything else.
std::optional<Time> parse_time(std::string_view text);

/// Parses `250ms`, `10s`, `5m`, `1h30m`, `2d`; refuses a number without a unit.
std::optional<Millis> parse_duration(std::string_view text);

/// The shortest text that `parse_duration` reads back: 90 s give `1m30s`.
std::string duration_text(Millis duration);

}  // namespace baton
