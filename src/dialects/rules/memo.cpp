#include "dialects/rules/memo.h"

#include <string_view>
#include <utility>

#include "dialects/kinds.h"

namespace baton::rules {
namespace {

/// Calls `take(name, value)` for each member of a member that is an object.
template <class Take>
void each_member(const Value& object, std::string_view name, Take take) {
  const Value* const members = json::child(object, name);
  if (members == nullptr || !members->IsObject())
    return;
  for (const auto& member : members->GetObject())
    take(std::string(json::name(member.name)), member.value);
}

Saying saying_of(const Value& value) {
  return Saying{text_of(value, "decision"), text_of(value, "by"), text_of(value, "comment")};
}

Json json_of(const Saying& said) {
  return Json::object({{"decision", said.decision}, {"by", said.by}, {"comment", said.comment}});
}

Entry entry_of(const Value& value) {
  Entry entry;
  entry.generation = static_cast<std::uint64_t>(json::integer(value, "generation").value_or(0));
  each_member(value, "waits", [&](const std::string& path, const Value& since) {
    entry.waits[path] = static_cast<Arrival>(json::integer(since).value_or(0));
  });
  if (const Value* const said = json::child(value, "said"))
    entry.said = saying_of(*said);
  each_member(value, "written", [&](const std::string& key, const Value& files) {
    auto& before = entry.written[key];
    each_member(files, "before", [&](const std::string& path, const Value& digest) {
      before[path] = std::string(json::text(digest).value_or(""));
    });
  });
  return entry;
}

Json json_of(const Entry& entry) {
  Json json = Json::object({{"generation", Json(entry.generation)}});
  Json waits = Json::object();
  for (const auto& [path, since] : entry.waits)
    waits.set(path, Json(since));
  if (!entry.waits.empty())
    json.set("waits", waits);
  if (entry.said != Saying{})
    json.set("said", json_of(entry.said));
  Json written = Json::object();
  for (const auto& [key, files] : entry.written) {
    Json before = Json::object();
    for (const auto& [path, digest] : files)
      before.set(path, Json(digest));
    written.set(key, Json::object({{"before", before}}));
  }
  if (!entry.written.empty())
    json.set("written", written);
  return json;
}

Writing writing_of(const Value& value) {
  Writing writing;
  writing.over = text_of(value, "over");
  each_member(value, "members", [&](const std::string& pointer, const Value& member) {
    writing.members.push_back(
        Written{pointer, text_of(member, "before"), text_of(member, "after")});
  });
  return writing;
}

Json json_of(const Writing& writing) {
  Json members = Json::object();
  for (const Written& member : writing.members)
    members.set(member.pointer, Json::object({{"before", member.before}, {"after", member.after}}));
  return Json::object({{"over", writing.over}, {"members", members}});
}

template <class Map, class Convert>
void put(Json& json, std::string_view name, const Map& map, Convert convert) {
  if (map.empty())
    return;
  Json object = Json::object();
  for (const auto& [key, each] : map)
    object.set(key, convert(each));
  json.set(name, object);
}

}  // namespace

Entry& Memo::entry(const Subject& subject, std::uint64_t generation) {
  Entry& entry = entries[subject];
  if (entry.generation != generation)
    entry = Entry{generation, {}, {}, {}};
  return entry;
}

Memo memo_of(const Json& json) {
  Memo memo;
  each_member(*json, "entries", [&](const std::string& subject, const Value& value) {
    memo.entries[subject] = entry_of(value);
  });
  each_member(*json, "said", [&](const std::string& subject, const Value& value) {
    memo.said[subject] = saying_of(value);
  });
  each_member(*json, "files", [&](const std::string& path, const Value& value) {
    std::vector<Writing>& writings = memo.files[path];
    if (value.IsArray())
      for (const Value& each : value.GetArray())
        writings.push_back(writing_of(each));
  });
  each_member(*json, "heard", [&](const std::string& id, const Value& value) {
    memo.heard[id] =
        Reply{id, json::boolean(value, "accepted").value_or(false), text_of(value, "message")};
  });
  return memo;
}

Json json_of(const Memo& memo) {
  Json json;
  std::map<Subject, Entry> entries;
  for (const auto& [subject, entry] : memo.entries)
    if (!entry.written.empty() || !entry.waits.empty() || entry.said != Saying{})
      entries.emplace(subject, entry);
  put(json, "entries", entries, [](const Entry& entry) { return json_of(entry); });
  put(json, "said", memo.said, [](const Saying& said) { return json_of(said); });
  put(json, "files", memo.files, [](const std::vector<Writing>& writings) {
    Json list = Json::array();
    for (const Writing& writing : writings)
      list.push(json_of(writing));
    return list;
  });
  put(json, "heard", memo.heard, [](const Reply& reply) {
    return Json::object({{"accepted", reply.accepted}, {"message", reply.message}});
  });
  return json;
}

}  // namespace baton::rules
