// SPDX-License-Identifier: Apache-2.0
#pragma once

// The words of baton as types: flow, role, subject, key of a piece of work, limits of runs.
// docs/concepts.md explains them.
// A run (core/run.h) and what a dialect asks for (core/effect.h) are built from these types.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/time.h"

namespace baton {

/// One thing that baton coordinates: a folder, a loop, a workflow. Written `dialect/name`.
struct FlowId {
  std::string dialect;
  std::string name;
  auto operator<=>(const FlowId&) const = default;
};
std::string text(const FlowId& flow);
/// The command `baton VERB FLOW [SUBJECT]`, quoted where a shell needs it, to be pasted.
std::string command(std::string_view verb, const FlowId& flow, std::string_view subject = {});
/// Splits at the first `/`; nothing if there is none.
std::optional<FlowId> parse_flow(std::string_view text);

using Role = std::string;     ///< names an agent: a key of `agents:`
using Subject = std::string;  ///< a part of a flow with its own stage: a group, a step, `main`
using Word = std::string;     ///< an enumerated word: a stage, a purpose, a reason
using RunId = std::string;    ///< 32 hexadecimal digits, made by Agents::prepare

/// A number from the journal that orders everything accepted or recorded on one root.
using Arrival = std::uint64_t;

/// Identifies a piece of work. Each attempt of a key starts at most once.
/// `generation` counts how often the subject has entered a stage (any stage).
/// `turn` counts further runs in the same stage, after the run before succeeded.
struct Key {
  FlowId flow;
  Role role;
  Subject subject;
  std::uint64_t generation = 0;
  std::uint32_t turn = 0;
  auto operator<=>(const Key&) const = default;
};
std::string text(const Key& key);

/// A resource that at most `capacity` runs of a root may hold at a time. A resource that begins
/// with `path:` is a path, and conflicts with every path inside it.
struct Claim {
  std::string resource;
  std::uint32_t capacity = 1;
  auto operator<=>(const Claim&) const = default;
};

/// A document as a run got it: path, and digest of the version accepted when the run started.
struct DocRef {
  std::string path;
  Digest digest;
  bool operator==(const DocRef&) const = default;
};
using DocSet = std::vector<DocRef>;

/// Limits of one run. A duration of zero means no limit.
struct RunLimits {
  Millis timeout{3'600'000};
  Millis idle_timeout{900'000};
  Millis kill_grace{10'000};
  std::uint64_t log_cap_bytes = 10U << 20U;
  bool operator==(const RunLimits&) const = default;
};

/// Limits of repeated attempts for one key.
struct RetryLimits {
  std::uint32_t max_attempts = 3;
  Millis backoff{10'000};  ///< before the second attempt; doubles for each further attempt
  Millis max_backoff{300'000};
  bool operator==(const RetryLimits&) const = default;
};

}  // namespace baton
