// SPDX-License-Identifier: Apache-2.0
#include "io/system/clock.h"

#include <ctime>

namespace baton {

namespace {

Millis reading(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::duration_cast<Millis>(std::chrono::seconds(time.tv_sec) +
                                            std::chrono::nanoseconds(time.tv_nsec));
}

class RealClock final : public Clock {
 public:
  // CLOCK_BOOTTIME also counts the time the machine sleeps, so deadlines pass as people expect.
  Time now() override { return Time(start_ + reading(CLOCK_BOOTTIME)); }
  Time wall() override { return Time(reading(CLOCK_REALTIME)); }

 private:
  Millis start_ = reading(CLOCK_REALTIME) - reading(CLOCK_BOOTTIME);
};

}  // namespace

std::unique_ptr<Clock> real_clock() {
  return std::make_unique<RealClock>();
}

}  // namespace baton
