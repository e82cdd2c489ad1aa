// SPDX-License-Identifier: Apache-2.0
#include "io/system/time_zones.h"

#include <string>

#include <absl/time/time.h>

namespace baton {
namespace {

std::optional<absl::TimeZone> zone_named(const std::string& name) {
  absl::TimeZone zone;
  if (name.empty())
    return absl::LocalTimeZone();
  return absl::LoadTimeZone(name, &zone) ? std::optional(zone) : std::nullopt;
}

class RealTimeZones final : public TimeZones {
 public:
  std::optional<Time> moment(const std::string& zone, LocalTime local) const override {
    const auto found = zone_named(zone);
    if (!found)
      return std::nullopt;
    const auto seconds = std::chrono::floor<std::chrono::seconds>(local.time_since_epoch());
    const absl::TimeZone::TimeInfo info =
        found->At(absl::CivilSecond(1970, 1, 1, 0, 0, 0) + seconds.count());
    // Of a time that clocks skip, `trans` is the next valid moment; of two moments, `post` is the
    // later one.
    const absl::Time moment = info.kind == absl::TimeZone::TimeInfo::SKIPPED    ? info.trans
                              : info.kind == absl::TimeZone::TimeInfo::REPEATED ? info.post
                                                                                : info.pre;
    return Time(Millis(absl::ToUnixMillis(moment)) + (local.time_since_epoch() - seconds));
  }

  std::optional<LocalTime> local(const std::string& zone, Time moment) const override {
    const auto found = zone_named(zone);
    if (!found)
      return std::nullopt;
    const auto offset = std::chrono::seconds(
        found->At(absl::FromUnixMillis(moment.time_since_epoch().count())).offset);
    return LocalTime(moment.time_since_epoch() + offset);
  }
};

}  // namespace

std::unique_ptr<TimeZones> real_time_zones() {
  return std::make_unique<RealTimeZones>();
}

}  // namespace baton
