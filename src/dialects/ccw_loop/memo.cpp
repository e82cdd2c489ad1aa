// SPDX-License-Identifier: Apache-2.0
#include "dialects/ccw_loop/memo.h"

#include "dialects/memo_fields.h"

namespace baton::ccw_loop {

template <class Visit>
void fields(Memo& memo, Visit visit) {
  visit("skills", memo.skills);
  visit("states", memo.states);
  visit("corrected", memo.corrected);
  visit("metadata", memo.metadata);
  visit("run", memo.run);
  visit("work", memo.work);
  visit("judged", memo.judged);
  visit("teed", memo.debug_log_done);
  visit("idle", memo.idle);
  visit("counted", memo.counted);
  visit("limit_ms", memo.limit_ms);
  visit("mode", memo.mode);
  visit("choice", memo.choice);
  visit("choice_key", memo.choice_key);
  visit("answer", memo.answer);
  visit("pause_asked", memo.pause_asked);
  visit("exit_asked", memo.exit_asked);
  visit("asking_agent", memo.asking_agent);
  visit("resumed_over", memo.resumed_over);
  visit("left", memo.left);
  visit("hurry", memo.hurry);
  visit("untested", memo.untested);
  visit("hold", memo.hold);
  visit("hold_why", memo.hold_why);
  visit("facts", memo.facts);
  visit("newest", memo.newest);
  visit("warning", memo.warning);
  visit("ahead", memo.ahead);
  visit("dealt", memo.dealt);
}

void remember(std::vector<std::string>& history, const std::string& digest) {
  constexpr std::size_t kHistory = 32;
  if (!history.empty() && history.back() == digest)
    return;
  history.push_back(digest);
  if (history.size() > kHistory)
    history.erase(history.begin());
}

Memo memo_of(const Json& json) {
  Memo memo;
  read_memo(*json, memo);
  return memo;
}

Json json_of(const Memo& memo) {
  return write_memo(memo);
}

}  // namespace baton::ccw_loop
