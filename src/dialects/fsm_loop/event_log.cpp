#include "dialects/fsm_loop/event_log.h"

namespace baton::fsm_loop {

void EventLog::add(std::string_view event, const Json& payload) {
  add(event, payload, scene_.memo.frames.size() - 1);
}

void EventLog::add(std::string_view event, const Json& payload, std::size_t depth) {
  Json line = Json::object({{"event", event}, {"ts", stamp(scene_.view.wall)}});
  for (const auto& member : payload->GetObject())
    line.set(json::name(member.name), member.value);
  if (depth > 0)
    line.set("depth", static_cast<std::int64_t>(depth));
  line.set("seq", ++scene_.record().seq);
  lines_ += line.dump() + "\n";
}

}  // namespace baton::fsm_loop
