// SPDX-License-Identifier: Apache-2.0
#include "dialects/coordination/memo.h"

#include <algorithm>

#include "dialects/memo_fields.h"

namespace baton::coordination {

template <class Visit>
void fields(GroupMemo& group, Visit visit) {
  visit("history", group.history);
  visit("changed_ms", group.changed_ms);
  visit("mail", group.mail);
  visit("unblocks", group.unblocks);
  visit("base_developer", group.base_developer);
  visit("base_qa", group.base_qa);
  visit("base_tech_lead", group.base_tech_lead);
  visit("helped", group.helped);
  visit("interventions", group.interventions);
  visit("turn_generation", group.turn_generation);
  visit("turn_base", group.turn_base);
  visit("block", group.block);
  visit("blocker", group.blocker);
  visit("answer", group.answer);
  visit("asked", group.asked);
}

template <class Visit>
void fields(RunMemo& run, Visit visit) {
  visit("counted", run.counted);
  visit("group", run.group);
  visit("over", run.over);
  visit("arrival", run.arrival);
  visit("started_ms", run.started_ms);
  visit("mail", run.mail);
}

template <class Visit>
void fields(PutBack& back, Visit visit) {
  visit("path", back.path);
  visit("pointer", back.pointer);
  visit("why", back.why);
  visit("subject", back.subject);
  visit("told", back.informed);
  visit("stays", back.stays);
}

template <class Visit>
void fields(MailMemo& mail, Visit visit) {
  visit("read_ms", mail.read_ms);
  visit("archived_ms", mail.archived_ms);
}

template <class Visit>
void fields(Memo& memo, Visit visit) {
  visit("spawns", memo.spawns);
  visit("refused", memo.refused);
  visit("refusal", memo.refusal);
  visit("refusal_told", memo.refusal_informed);
  visit("final_pm", memo.final_pm);
  visit("word", memo.word);
  visit("refused_words", memo.refused_words);
  visit("written_word", memo.written_word);
  visit("completed", memo.completed);
  visit("used_up", memo.used_up);
  visit("phase_checked", memo.phase_checked);
  visit("last_phase", memo.last_phase);
  visit("groups", memo.groups);
  visit("runs", memo.runs);
  visit("forgotten_ms", memo.forgotten_ms);
  visit("heard", memo.answered);
  visit("mail", memo.mail);
  visit("put_back", memo.put_back);
}

void remember(Memo& memo, PutBack back) {
  // Limits the memory that faulty agents can use.
  constexpr std::size_t kMostPutBack = 20;
  std::erase_if(memo.put_back, [&](const PutBack& old) {
    return old.path == back.path && old.pointer == back.pointer;
  });
  memo.put_back.push_back(std::move(back));
  if (memo.put_back.size() > kMostPutBack)
    memo.put_back.erase(memo.put_back.begin());
}

Memo memo_of(const Json& json) {
  Memo memo;
  memo.fresh = !json->IsObject();
  read_memo(*json, memo);
  return memo;
}

Json json_of(const Memo& memo) {
  return write_memo(memo);
}

}  // namespace baton::coordination
