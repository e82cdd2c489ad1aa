#include "dialects/coordination/memo.h"

#include <algorithm>

#include "dialects/coordination/files.h"

namespace baton::coordination {
namespace {

/// Agents that write wrong things all the time do not fill the memory.
constexpr std::size_t kMostPutBack = 20;

std::uint64_t count(const Value& object, std::string_view name) {
  const auto number = json::integer(object, name);
  return number && *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
}

MailCount mail_of(const Value& object, std::string_view name = "mail") {
  MailCount mail{};
  const auto list = items(object, name);
  for (std::size_t i = 0; i < mail.size() && i < list.size(); ++i)
    mail.at(i) =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, json::integer(*list[i]).value_or(0)));
  return mail;
}

Json json_of(const MailCount& mail) {
  Json list = Json::array();
  for (const std::uint64_t number : mail)
    list.push(Json(number));
  return list;
}

template <class Texts>
Json list_of(const Texts& texts) {
  Json list = Json::array();
  for (const std::string& text : texts)
    list.push(text);
  return list;
}

template <class Read>
void each(const Value& object, std::string_view name, const Read& read) {
  const Value* const map = json::child(object, name);
  if (map == nullptr || !map->IsObject())
    return;
  for (const auto& member : map->GetObject())
    read(std::string(json::name(member.name)), member.value);
}

GroupMemo group_of(const Value& value) {
  GroupMemo group;
  group.history = texts(value, "history");
  group.changed_ms = json::integer(value, "changed_ms").value_or(0);
  group.mail = mail_of(value);
  group.mail_ms = mail_of(value, "mail_ms");
  group.unblocks = count(value, "unblocks");
  group.base_developer = json::integer(value, "base_developer").value_or(0);
  group.base_qa = json::integer(value, "base_qa").value_or(0);
  group.base_tech_lead = json::integer(value, "base_tech_lead").value_or(0);
  for (std::string& run : texts(value, "helped"))
    group.helped.insert(std::move(run));
  group.interventions = texts(value, "interventions");
  group.turn_generation = count(value, "turn_generation");
  each(value, "turn_base", [&](const std::string& role, const Value& turn) {
    group.turn_base[role] = static_cast<std::uint32_t>(json::integer(turn).value_or(0));
  });
  group.block = text_of(value, "block");
  group.blocker = text_of(value, "blocker");
  group.answer = text_of(value, "answer");
  group.held = json::boolean(value, "held").value_or(false);
  return group;
}

Json json_of(const GroupMemo& group) {
  Json turns = Json::object();
  for (const auto& [role, turn] : group.turn_base)
    turns.set(role, Json(static_cast<std::uint64_t>(turn)));
  return Json::object({{"history", list_of(group.history)},
                       {"changed_ms", Json(group.changed_ms)},
                       {"mail", json_of(group.mail)},
                       {"mail_ms", json_of(group.mail_ms)},
                       {"unblocks", Json(group.unblocks)},
                       {"base_developer", Json(group.base_developer)},
                       {"base_qa", Json(group.base_qa)},
                       {"base_tech_lead", Json(group.base_tech_lead)},
                       {"helped", list_of(group.helped)},
                       {"interventions", list_of(group.interventions)},
                       {"turn_generation", Json(group.turn_generation)},
                       {"turn_base", turns},
                       {"block", group.block},
                       {"blocker", group.blocker},
                       {"answer", group.answer},
                       {"held", group.held}});
}

MailMemo mailbox_of(const Value& value) {
  MailMemo memo;
  memo.archived_ms = json::integer(value, "archived_ms").value_or(0);
  each(value, "read_ms", [&](const std::string& key, const Value& ms) {
    memo.read_ms[key] = json::integer(ms).value_or(0);
  });
  return memo;
}

Json json_of(const MailMemo& memo) {
  Json read = Json::object();
  for (const auto& [key, ms] : memo.read_ms)
    read.set(key, Json(ms));
  return Json::object({{"read_ms", read}, {"archived_ms", Json(memo.archived_ms)}});
}

PutBack put_back_of(const Value& value) {
  PutBack back{text_of(value, "path"),
               text_of(value, "pointer"),
               text_of(value, "why"),
               text_of(value, "subject"),
               {},
               json::boolean(value, "stays").value_or(false)};
  for (std::string& run : texts(value, "told"))
    back.told.insert(std::move(run));
  return back;
}

Json json_of(const PutBack& back) {
  return Json::object({{"path", back.path},
                       {"pointer", back.pointer},
                       {"why", back.why},
                       {"subject", back.subject},
                       {"told", list_of(back.told)},
                       {"stays", back.stays}});
}

}  // namespace

void remember(Memo& memo, PutBack back) {
  std::erase_if(memo.put_back, [&](const PutBack& old) {
    return old.path == back.path && old.pointer == back.pointer;
  });
  memo.put_back.push_back(std::move(back));
  if (memo.put_back.size() > kMostPutBack)
    memo.put_back.erase(memo.put_back.begin());
}

Memo memo_of(const Json& json) {
  Memo memo;
  const Value& value = *json;
  memo.fresh = !value.IsObject();
  memo.spawns = count(value, "spawns");
  memo.refused = json::boolean(value, "refused").value_or(false);
  memo.refusal = texts(value, "refusal");
  for (std::string& run : texts(value, "refusal_told"))
    memo.refusal_told.insert(std::move(run));
  memo.final_pm = text_of(value, "final_pm");
  memo.word = text_of(value, "word");
  for (std::string& run : texts(value, "refused_words"))
    memo.refused_words.insert(std::move(run));
  memo.written_word = json::boolean(value, "written_word").value_or(false);
  memo.completed = json::boolean(value, "completed").value_or(false);
  memo.used_up = json::boolean(value, "used_up").value_or(false);
  memo.phase_checked = json::integer(value, "phase_checked").value_or(0);
  memo.last_phase = text_of(value, "last_phase");
  each(value, "inbox", [&](const std::string& part, const Value& digest) {
    memo.inbox[part] = json::text(digest).value_or("");
  });
  each(value, "groups",
       [&](const std::string& id, const Value& group) { memo.groups[id] = group_of(group); });
  memo.forgotten_ms = json::integer(value, "forgotten_ms").value_or(0);
  each(value, "runs", [&](const std::string& id, const Value& run) {
    memo.runs[id] = RunMemo{json::boolean(run, "counted").value_or(false),
                            json::boolean(run, "group").value_or(false),
                            json::boolean(run, "over").value_or(false),
                            count(run, "arrival"),
                            json::integer(run, "started_ms").value_or(0),
                            count(run, "number"),
                            mail_of(run)};
  });
  memo.heard = texts(value, "heard");
  each(value, "mail",
       [&](const std::string& kind, const Value& mail) { memo.mail[kind] = mailbox_of(mail); });
  for (const Value* const back : items(value, "put_back"))
    memo.put_back.push_back(put_back_of(*back));
  return memo;
}

Json json_of(const Memo& memo) {
  Json inbox = Json::object();
  for (const auto& [part, digest] : memo.inbox)
    inbox.set(part, digest);
  Json groups = Json::object();
  for (const auto& [id, group] : memo.groups)
    groups.set(id, json_of(group));
  Json runs = Json::object();
  for (const auto& [id, run] : memo.runs)
    runs.set(id, Json::object({{"counted", run.counted},
                               {"group", run.group},
                               {"over", run.over},
                               {"arrival", Json(run.arrival)},
                               {"started_ms", Json(run.started_ms)},
                               {"number", Json(run.number)},
                               {"mail", json_of(run.mail)}}));
  Json mail = Json::object();
  for (const auto& [kind, box] : memo.mail)
    mail.set(kind, json_of(box));
  Json put_back = Json::array();
  for (const PutBack& back : memo.put_back)
    put_back.push(json_of(back));
  return Json::object({{"spawns", Json(memo.spawns)},
                       {"refused", memo.refused},
                       {"refusal", list_of(memo.refusal)},
                       {"refusal_told", list_of(memo.refusal_told)},
                       {"final_pm", memo.final_pm},
                       {"word", memo.word},
                       {"refused_words", list_of(memo.refused_words)},
                       {"written_word", memo.written_word},
                       {"completed", memo.completed},
                       {"used_up", memo.used_up},
                       {"phase_checked", Json(memo.phase_checked)},
                       {"last_phase", memo.last_phase},
                       {"inbox", inbox},
                       {"groups", groups},
                       {"runs", runs},
                       {"forgotten_ms", Json(memo.forgotten_ms)},
                       {"heard", list_of(memo.heard)},
                       {"mail", mail},
                       {"put_back", put_back}});
}

}  // namespace baton::coordination
