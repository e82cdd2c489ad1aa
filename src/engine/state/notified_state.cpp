// SPDX-License-Identifier: Apache-2.0
#include "engine/state/notified_state.h"

#include <algorithm>

#include "base/text.h"
#include "dialects/kinds.h"

namespace baton {
namespace {

template <class Item, class Read>
void read_list(const Json& json, std::string_view name, Item& into, const Read& read) {
  const Value* const list = json::child(*json, name);
  if (list == nullptr || !list->IsArray())
    return;
  for (const Value& each : list->GetArray())
    into.insert(into.end(), read(each));
}

template <class Items, class Write>
void write_list(Json& json, std::string_view name, const Items& items, const Write& write) {
  if (items.empty())
    return;
  Json list = Json::array();
  for (const auto& item : items)
    list.push(write(item));
  json.set(name, list);
}

// A name that is not UTF-8 cannot be a text in JSON, so its bytes are written as numbers.
Json json_of_name(const std::string& name) {
  if (!bad_utf8(name))
    return name;
  Json bytes = Json::array();
  for (const char byte : name)
    bytes.push(static_cast<int>(static_cast<unsigned char>(byte)));
  return bytes;
}

std::string told_name(const Value& json) {
  if (!json.IsArray())
    return std::string(json::text(json).value_or(""));
  std::string name;
  for (const Value& byte : json.GetArray())
    name += static_cast<char>(static_cast<unsigned char>(json::integer(byte).value_or(0)));
  return name;
}

}  // namespace

bool NotifiedState::has(const Hold& hold) const {
  return std::any_of(holds.begin(), holds.end(), [&](const Hold& other) {
    return other.role == hold.role && other.subject == hold.subject && other.cause == hold.cause;
  });
}

NotifiedState notified_state_of(const Json& json) {
  NotifiedState notified;
  read_list(json, "notices", notified.notices, [](const Value& each) {
    return Notice{text_of(each, "event"), text_of(each, "subject"), text_of(each, "why")};
  });
  read_list(json, "holds", notified.holds, [](const Value& each) {
    // A word of an older journal was told, too, but under another name.
    return Hold{text_of(each, "role"), text_of(each, "subject"), cause_in(each).value_or(Cause()),
                ""};
  });
  notified.conflict = text_of(*json, "conflict");
  notified.open = json::child(*json, "open") != nullptr;
  read_list(json, "ignored", notified.ignored, told_name);
  if (const Value* const list = json::child(*json, "reverted"); list != nullptr && list->IsArray())
    for (const Value& each : list->GetArray())
      if (const Value* const path = json::child(each, "path"))
        notified.reverted.emplace(told_name(*path),
                                  parse_digest(text_of(each, "before")).value_or(Digest{}));
  read_list(json, "large", notified.large, told_name);
  notified.first_start = json::child(*json, "first_start") != nullptr;
  return notified;
}

Json json_of(const NotifiedState& notified) {
  if (notified == NotifiedState{})
    return {};
  Json json = Json::object();
  write_list(json, "notices", notified.notices, [](const Notice& notice) {
    return Json::object(
        {{"event", notice.event}, {"subject", notice.subject}, {"why", notice.why}});
  });
  write_list(json, "holds", notified.holds, [](const Hold& hold) {
    Json row = Json::object({{"role", hold.role}, {"subject", hold.subject}});
    add_cause(hold.cause, row);
    return row;
  });
  if (!notified.conflict.empty())
    json.set("conflict", Json(notified.conflict));
  if (notified.open)
    json.set("open", Json(true));
  write_list(json, "ignored", notified.ignored, json_of_name);
  write_list(json, "reverted", notified.reverted, [](const auto& row) {
    return Json::object({{"path", json_of_name(row.first)}, {"before", Json(hex(row.second))}});
  });
  write_list(json, "large", notified.large, json_of_name);
  if (notified.first_start)
    json.set("first_start", Json(true));
  return json;
}

}  // namespace baton
