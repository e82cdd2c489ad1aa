// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a flow comes from: which files it has, and which flows its files belonged to before they
// were renamed.
//
// Problem: limits of a flow would begin anew if an agent renamed its state file.
// Way: a rename is kept with both flows and its time. What the former flow had started and spent
// until then counts for the new one, too; see `CapSums::use_of`. Where the new name has counts of
// its own, the larger of both counts.
// Limits: a copy is a new file. A hard link counts as a rename; the first name keeps its counts.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/time.h"
#include "core/flow.h"

namespace baton {

/// Tells a file from all others whatever its name and content: device, inode and time of birth,
/// combined into one number. 0: unknown.
using FileIdentity = std::uint64_t;

struct Rename {
  FlowId from;
  FlowId to;
  Time at{};
  /// When a person had resumed the flows until then. A later resume of the new name forgives
  /// nothing that counts under the former name.
  Time from_resumed{};
  Time to_resumed{};
  bool operator==(const Rename&) const = default;
};

/// Attempts that failed under the former name. They count until the subject enters a stage again.
struct FormerAttempts {
  FlowId flow;  ///< the former one
  Role role;
  Subject subject;
  Word stage;
  std::uint32_t failures = 0;
  Time at{};
  bool operator==(const FormerAttempts&) const = default;
};

struct FlowOrigin {
  std::map<std::string, FileIdentity> files;  ///< by path, as they were looked at last
  std::vector<Rename> renames;  ///< that led to this flow, in order, of the last hours
  /// How often the stages were entered under former names, if that is more.
  std::map<Subject, std::map<Word, std::uint64_t>> entries;
  std::vector<FormerAttempts> attempts;
  bool operator==(const FlowOrigin&) const = default;
};

/// Adds a rename, with those that led to the former flow. Drops old ones.
void add_rename(FlowOrigin& origin, const FlowOrigin& former, Rename rename);

/// How often a stage was entered under former names.
std::uint64_t entered_before(const FlowOrigin& origin, const Subject& subject, const Word& stage);

/// As the journal keeps it. Members that cannot be read are left out.
Json json_of(const FlowOrigin& origin);
FlowOrigin flow_origin_of(const Value& json);

}  // namespace baton
