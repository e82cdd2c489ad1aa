// SPDX-License-Identifier: Apache-2.0
#include "engine/intake/rest.h"

namespace baton {
namespace {

constexpr Rest kUnfinished{.stand = Millis(2000), .most = Millis(10'000)};
/// Names of temporary files live shorter.
constexpr Rest kFresh{.stand = Millis(50), .most = Millis(250)};
/// `mv a.json a.old.json; mv a.new.json a.json`: for a moment nothing stands beside the copy.
constexpr Rest kCopy{.stand = Millis(2000), .most = Millis(10'000)};
// Writers on network file systems pause for seconds between two parts of a file. JSON shows its own
// end, so less is enough there.
constexpr Rest kPolled{.stand = Millis(1000), .most = Millis(10'000)};
constexpr Rest kPolledOpenEnd{.stand = Millis(5000), .most = Millis(60'000)};
/// A file whose clock is further ahead says nothing about its age.
constexpr Millis kClocksDiffer{1000};

}  // namespace

std::optional<Rest> rest_of(const FoundVersion& version) {
  const bool open_end = !version.parsed || version.format == Format::yaml;
  // A log ends with each line.
  const bool polled = version.polled && version.format != Format::jsonl && !version.left &&
                      version.age < kPolledOpenEnd.most;
  if (polled)
    return open_end ? kPolledOpenEnd : kPolled;
  if (!version.parsed)
    return kUnfinished;
  if (version.fresh && version.copy)
    return kCopy;
  const bool young = version.age < kFresh.stand && version.age > -kClocksDiffer;
  if (version.fresh && !version.complete && !version.left && young)
    return kFresh;
  return std::nullopt;
}

}  // namespace baton
