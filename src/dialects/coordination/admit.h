#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dialects/coordination/snapshot.h"

namespace baton::coordination {

/// What is wrong with a new entry, for the history and for the next agents.
struct EntryFault {
  std::string_view rule;  ///< T1
  std::string member;     ///< a JSON pointer within the entry
  std::string why;
  bool operator==(const EntryFault&) const = default;
};

/// What a new entry of one group means, given the one in force.
struct EntryVerdict {
  enum class Kind {
    taken,    ///< it stands, perhaps completed by what it forgot, without what it may not say
    stale,    ///< a copy of something earlier: the one in force stays
    refused,  ///< a move nobody may make: the one in force stays
  };
  Kind kind = Kind::taken;
  Json entry;                      ///< what should stand there; null: nothing
  std::string why;                 ///< of a stale one; that is nobody's fault
  std::vector<EntryFault> faults;  ///< of the others
};

/// Where a new entry stands. The shared file is written whole, from copies that may be old; nobody
/// copies a file that is about one group.
enum class Origin { shared_file, own_file };

/// Either may be nullptr: the group is new, or has been removed.
EntryVerdict judge_entry(const Scene& scene, const std::string& id, const Value* before,
                         const Value* after, Origin origin = Origin::shared_file);

/// Whether what has just come may say that a group is good: that is the word of its review. Of a
/// person's hand too, but only while no agent is at work that could have written it as well.
bool may_approve(const Scene& scene, const Subject& group);

/// A sentence on that.
std::string who_may_approve(const FlowId& flow, const Subject& group);

/// Whether what has just come may be the word of this role about the group: an agent of it is at
/// work there. Again a person's hand counts while no agent is at work.
bool may_speak(const Scene& scene, std::string_view role, const Subject& group);

/// A sentence on that.
std::string who_may_speak(std::string_view role, const Subject& group);

/// Rules about successive versions: T1 to T7 of the format page.
Admission admit(const View& view, const Change& change);

}  // namespace baton::coordination
