#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/time.h"

namespace baton {

/// One thing being coordinated: a folder, a loop, a workflow run. Written `dialect/name`.
struct FlowId {
  std::string dialect;
  std::string name;
  auto operator<=>(const FlowId&) const = default;
};
std::string text(const FlowId& flow);
/// Splits at the first `/`. Nothing without one.
std::optional<FlowId> parse_flow(std::string_view text);

using Role = std::string;     ///< who does the work: a key of `agents:`
using Subject = std::string;  ///< the part of a flow that moves by itself: a group, a step, `main`
using Word = std::string;     ///< an enumerated word: a stage, a purpose, a reason
using RunId = std::string;    ///< 32 hexadecimal digits, made by Agents::prepare

/// The journal's running number; orders everything that was accepted or happened on one root.
using Arrival = std::uint64_t;

/// What identifies a piece of work. `generation` counts how often the subject has entered a stage
/// (any stage) as the journal saw it; `turn` is a further start asked for after the former one
/// ended well in the same stage. Each attempt of a key is started at most once.
struct Key {
  FlowId flow;
  Role role;
  Subject subject;
  std::uint64_t generation = 0;
  std::uint32_t turn = 0;
  auto operator<=>(const Key&) const = default;
};
std::string text(const Key& key);

/// A resource that at most `capacity` runs may hold at the same time, per root. One that begins
/// with `path:` is a path; it is the same as every path within it.
struct Claim {
  std::string resource;
  std::uint32_t capacity = 1;
  auto operator<=>(const Claim&) const = default;
};

/// The documents a run was handed: path and digest of each, as accepted when it was started.
struct DocRef {
  std::string path;
  Digest digest;
  bool operator==(const DocRef&) const = default;
};
using DocSet = std::vector<DocRef>;

/// Limits of one run. A zero duration means: no limit.
struct RunLimits {
  Millis timeout{3'600'000};
  Millis idle_timeout{900'000};
  Millis kill_grace{10'000};
  std::uint64_t log_cap_bytes = 10U << 20U;
  bool operator==(const RunLimits&) const = default;
};

/// Limits of repeated starts of one key.
struct RetryLimits {
  std::uint32_t max_attempts = 3;
  Millis backoff{10'000};  ///< before the second attempt; doubled for each further one
  Millis max_backoff{300'000};
  bool operator==(const RetryLimits&) const = default;
};

}  // namespace baton
