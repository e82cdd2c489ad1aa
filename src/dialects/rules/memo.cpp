// SPDX-License-Identifier: Apache-2.0
#include "dialects/memo_fields.h"
#include "dialects/rules/snapshot.h"

namespace baton::rules {

template <class Visit>
void fields(PersonDecision& said, Visit visit) {
  visit("decision", said.decision);
  visit("by", said.by);
  visit("comment", said.comment);
}

template <class Visit>
void fields(Entry& entry, Visit visit) {
  visit("generation", entry.generation);
  visit("written", entry.written);
  visit("waits", entry.waits);
  visit("said", entry.said);
}

template <class Visit>
void fields(Written& member, Visit visit) {
  visit("pointer", member.pointer);
  visit("subject", member.subject);
  visit("before", member.before);
  visit("after", member.after);
}

template <class Visit>
void fields(Writing& writing, Visit visit) {
  visit("over", writing.over);
  visit("members", writing.members);
}

template <class Visit>
void fields(Answer& answer, Visit visit) {
  visit("accepted", answer.accepted);
  visit("message", answer.message);
}

template <class Visit>
void fields(Round& round, Visit visit) {
  visit("generation", round.generation);
  visit("entries", round.entries);
  visit("ended", round.ended);
  visit("counts", round.counts);
  visit("times", round.times);
}

template <class Visit>
void fields(Memo& memo, Visit visit) {
  visit("entries", memo.entries);
  visit("said", memo.said);
  visit("files", memo.files);
  visit("rounds", memo.rounds);
  visit("heard", memo.heard);
}

Entry& Memo::entry(const Subject& subject, std::uint64_t generation) {
  Entry& entry = entries[subject];
  if (entry.generation != generation)
    entry = Entry{generation, {}, {}, {}};
  return entry;
}

Memo memo_of(const Json& json) {
  Memo memo;
  read_memo(*json, memo);
  return memo;
}

Json json_of(Memo memo) {
  std::erase_if(memo.entries, [](const auto& row) {
    const Entry& entry = row.second;
    return entry.written.empty() && entry.waits.empty() && entry.said == PersonDecision{};
  });
  std::erase_if(memo.rounds,
                [](const auto& row) { return !row.second.ended && row.second.times.empty(); });
  const bool empty = memo.entries.empty() && memo.said.empty() && memo.files.empty() &&
                     memo.rounds.empty() && memo.heard.empty();
  return empty ? Json() : write_memo(memo);
}

}  // namespace baton::rules
