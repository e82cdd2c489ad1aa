#pragma once

#include <string>

#include "dialects/coordination/scene.h"

namespace baton::coordination {

/// What a new entry of one group means, given the one in force.
struct EntryVerdict {
  enum class Kind {
    taken,    ///< it stands, perhaps completed by what it forgot
    stale,    ///< a copy of something earlier: the one in force stays
    refused,  ///< a move nobody may make: the one in force stays
  };
  Kind kind = Kind::taken;
  Json entry;  ///< what should stand there; null: nothing
  std::string why;
};

/// Either may be nullptr: the group is new, or has been removed.
EntryVerdict judge_entry(const Scene& scene, const std::string& id, const Value* before,
                         const Value* after);

/// Rules about successive versions: T1 to T7 of the format page.
Admission admit(const View& view, const Change& change);

}  // namespace baton::coordination
