#include "dialects/ccw_loop/memo.h"

#include <limits>

#include "dialects/ccw_loop/loop.h"

namespace baton::ccw_loop {

namespace {

template <class Texts>
Json list_of(const Texts& texts) {
  Json all = Json::array();
  for (const std::string& text : texts)
    all.push(text);
  return all;
}

std::vector<std::string> texts(const Value& object, std::string_view name) {
  std::vector<std::string> all;
  for (const Value& item : list(object, name).GetArray())
    all.emplace_back(json::text(item).value_or(""));
  return all;
}

constexpr std::size_t kHistory = 32;

}  // namespace

void remember(std::vector<std::string>& history, const std::string& digest) {
  if (!history.empty() && history.back() == digest)
    return;
  history.push_back(digest);
  if (history.size() > kHistory)
    history.erase(history.begin());
}

Memo memo_of(const Json& json) {
  const Value& from = *json;
  Memo memo;
  memo.skills = texts(from, "skills");
  memo.states = texts(from, "states");
  memo.corrected = texts(from, "corrected");
  memo.metadata = texts(from, "metadata");
  memo.run = text_of(from, "run");
  memo.work = text_of(from, "work");
  memo.judged = json::boolean(from, "judged").value_or(false);
  memo.debug_log_done = json::boolean(from, "teed").value_or(false);
  const auto idle = json::integer(from, "idle").value_or(0);
  if (idle > 0 && idle <= std::numeric_limits<std::uint32_t>::max())
    memo.idle = static_cast<std::uint32_t>(idle);
  memo.counted = text_of(from, "counted");
  for (std::string& request : texts(from, "dealt"))
    memo.dealt.insert(std::move(request));
  memo.limit_ms = json::integer(from, "limit_ms").value_or(0);
  memo.mode = text_of(from, "mode");
  memo.choice = text_of(from, "choice");
  memo.choice_key = text_of(from, "choice_key");
  memo.answer = text_of(from, "answer");
  memo.pause_asked = json::boolean(from, "pause_asked").value_or(false);
  memo.resumed_over = text_of(from, "resumed_over");
  memo.left = json::boolean(from, "left").value_or(false);
  memo.hurry = json::boolean(from, "hurry").value_or(false);
  memo.untested = text_of(from, "untested");
  memo.hold = text_of(from, "hold");
  memo.hold_why = text_of(from, "hold_why");
  memo.facts = texts(from, "facts");
  memo.newest = text_of(from, "newest");
  memo.warning = text_of(from, "warning");
  memo.ahead = json::boolean(from, "ahead").value_or(false);
  return memo;
}

Json json_of(const Memo& memo) {
  return Json::object({{"skills", list_of(memo.skills)},
                       {"states", list_of(memo.states)},
                       {"corrected", list_of(memo.corrected)},
                       {"metadata", list_of(memo.metadata)},
                       {"run", memo.run},
                       {"work", memo.work},
                       {"judged", memo.judged},
                       {"teed", memo.debug_log_done},
                       {"idle", static_cast<std::uint64_t>(memo.idle)},
                       {"counted", memo.counted},
                       {"limit_ms", memo.limit_ms},
                       {"mode", memo.mode},
                       {"choice", memo.choice},
                       {"choice_key", memo.choice_key},
                       {"answer", memo.answer},
                       {"pause_asked", memo.pause_asked},
                       {"resumed_over", memo.resumed_over},
                       {"left", memo.left},
                       {"hurry", memo.hurry},
                       {"untested", memo.untested},
                       {"hold", memo.hold},
                       {"hold_why", memo.hold_why},
                       {"facts", list_of(memo.facts)},
                       {"newest", memo.newest},
                       {"warning", memo.warning},
                       {"ahead", memo.ahead},
                       {"dealt", list_of(memo.dealt)}});
}

}  // namespace baton::ccw_loop
