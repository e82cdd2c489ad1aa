// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads from an error text when the limit of a provider ends: `resets 3:45pm (Europe/Berlin)`,
// `try again in 4 days 20 hours`, `resets Oct 5 at 12am`, and the other forms in use.
//
// Problem: most texts have no date or no time zone, and some name a time that is past.
// Way: the form that says most counts. What is missing is taken from the present time. A time that
// is too far away for its kind of limit is not believed.
// Source of the forms: docs/adapters.md.

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "core/ports.h"

namespace baton {

/// What the time of a limit is read against.
struct ResetClock {
  Time now{};        ///< wall clock when the run ended
  std::string zone;  ///< zone of the agent's process; empty: that of this machine
  const TimeZones& zones;
};

/// When the limit ends; never before `now`. A clock time up to five minutes ago means `now`.
/// Nothing: the text names no time, an unknown zone, or a time that is too far away: more than five
/// hours for a limit of a session, a day for a daily one, seven days for a weekly one, and 32 days
/// for all others.
std::optional<Time> reset_time(std::string_view text, const ResetClock& clock);

/// A number of seconds (10 digits) or milliseconds (13 digits) since 1970, at most 32 days ahead.
std::optional<Time> reset_epoch(double number, const ResetClock& clock);

/// The text in lower case with plain quotes and blanks, for comparisons: U+2019, U+00A0 and U+202F
/// become `'` and blanks.
std::string folded(std::string_view text);

}  // namespace baton
