// SPDX-License-Identifier: Apache-2.0
#pragma once

// Time zones for tests: some with a fixed offset, and Europe/Berlin with its summer time of 2026.

#include <map>
#include <string>

#include "core/ports.h"

namespace baton {

class FakeZones final : public TimeZones {
 public:
  std::optional<Time> moment(const std::string& zone, LocalTime local) const override {
    const Time as_utc(local.time_since_epoch());
    const auto before = offset(zone, as_utc - std::chrono::hours(24));
    const auto after = offset(zone, as_utc + std::chrono::hours(24));
    if (!before)
      return std::nullopt;
    for (const Millis each : {*after, *before})
      if (offset(zone, as_utc - each) == each)
        return as_utc - each;
    return kSummer;  // the only time that is skipped
  }
  std::optional<LocalTime> local(const std::string& zone, Time moment) const override {
    const auto east = offset(zone, moment);
    return east ? std::optional(LocalTime(moment.time_since_epoch() + *east)) : std::nullopt;
  }

 private:
  static std::optional<Millis> offset(const std::string& zone, Time moment) {
    static const std::map<std::string, int> minutes = {
        {"", 0},
        {"UTC", 0},
        {"America/Chicago", -5 * 60},  // in summer, the others in winter
        {"America/Edmonton", -7 * 60},
        {"America/Los_Angeles", -8 * 60},
        {"America/Recife", -3 * 60},
        {"Asia/Calcutta", 5 * 60 + 30},
        {"Asia/Seoul", 9 * 60},
        {"Europe/Prague", 60},
        {"Pacific/Kiritimati", 14 * 60},
    };
    if (zone == "Europe/Berlin")
      return std::chrono::hours(moment >= kSummer && moment < kWinter ? 2 : 1);
    const auto found = minutes.find(zone);
    return found == minutes.end() ? std::nullopt
                                  : std::optional<Millis>(std::chrono::minutes(found->second));
  }

  static constexpr Time kSummer{Millis(1'774'746'000'000)};  // 2026-03-29T01:00:00Z
  static constexpr Time kWinter{Millis(1'792'890'000'000)};  // 2026-10-25T01:00:00Z
};

}  // namespace baton
