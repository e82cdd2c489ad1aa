// SPDX-License-Identifier: Apache-2.0
#include "core/flow_origin.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace baton {
namespace {

/// Longer than the hour of the limits, because a run may end long after its start.
constexpr Millis kRenamesKept = std::chrono::hours(24);
/// The newest are kept. A flow that is renamed more often within a day has begun at its limits
/// again long since.
constexpr std::size_t kMostRenames = 500;

std::string hex_of(FileIdentity identity) {
  char text[16];
  const auto end = std::to_chars(text, text + sizeof(text), identity, 16).ptr;
  return {text, end};
}

FileIdentity identity_of(std::string_view text) {
  FileIdentity identity = 0;
  std::from_chars(text.data(), text.data() + text.size(), identity, 16);
  return identity;
}

std::int64_t number(Time time) {
  return time.time_since_epoch().count();
}

Time time_in(const Value& row, std::string_view name) {
  return Time(Millis(json::integer(row, name).value_or(0)));
}

std::string text_in(const Value& row, std::string_view name) {
  return std::string(json::text(row, name).value_or(""));
}

FlowId flow_in(const Value& row, std::string_view name) {
  return parse_flow(text_in(row, name)).value_or(FlowId{});
}

template <class Read>
void for_items(const Value& json, std::string_view name, const Read& read) {
  const Value* const list = json::child(json, name);
  if (list != nullptr && list->IsArray())
    for (const Value& item : list->GetArray())
      read(item);
}

template <class Read>
void for_members(const Value& json, std::string_view name, const Read& read) {
  const Value* const object = name.empty() ? &json : json::child(json, name);
  if (object != nullptr && object->IsObject())
    for (const auto& member : object->GetObject())
      read(std::string(json::name(member.name)), member.value);
}

}  // namespace

void add_rename(FlowOrigin& origin, const FlowOrigin& former, Rename rename) {
  std::vector<Rename>& all = origin.renames;
  for (const Rename& earlier : former.renames)
    if (std::find(all.begin(), all.end(), earlier) == all.end())
      all.push_back(earlier);
  const Time since = rename.at - kRenamesKept;
  all.push_back(std::move(rename));
  std::stable_sort(all.begin(), all.end(),
                   [](const Rename& one, const Rename& other) { return one.at < other.at; });
  std::erase_if(all, [&](const Rename& one) { return one.at < since; });
  if (all.size() > kMostRenames)
    all.erase(all.begin(), all.end() - kMostRenames);
}

std::uint64_t entered_before(const FlowOrigin& origin, const Subject& subject, const Word& stage) {
  const auto stages = origin.entries.find(subject);
  if (stages == origin.entries.end())
    return 0;
  const auto count = stages->second.find(stage);
  return count == stages->second.end() ? 0 : count->second;
}

Json json_of(const FlowOrigin& origin) {
  Json json = Json::object();
  Json files = Json::object();
  for (const auto& [path, identity] : origin.files)
    files.set(path, hex_of(identity));
  json.set("files", files);
  Json renames = Json::array();
  for (const Rename& rename : origin.renames)
    renames.push(Json::object({{"from", text(rename.from)},
                               {"to", text(rename.to)},
                               {"at", number(rename.at)},
                               {"from_resumed", number(rename.from_resumed)},
                               {"to_resumed", number(rename.to_resumed)}}));
  json.set("renames", renames);
  Json entries = Json::object();
  for (const auto& [subject, stages] : origin.entries) {
    Json row = Json::object();
    for (const auto& [stage, count] : stages)
      row.set(stage, count);
    entries.set(subject, row);
  }
  json.set("entries", entries);
  Json attempts = Json::array();
  for (const FormerAttempts& former : origin.attempts)
    attempts.push(Json::object({{"flow", text(former.flow)},
                                {"role", former.role},
                                {"subject", former.subject},
                                {"stage", former.stage},
                                {"failures", static_cast<std::int64_t>(former.failures)},
                                {"at", number(former.at)}}));
  json.set("attempts", attempts);
  return json;
}

FlowOrigin flow_origin_of(const Value& json) {
  FlowOrigin origin;
  for_members(json, "files", [&](std::string path, const Value& file) {
    origin.files.emplace(std::move(path), identity_of(json::text(file).value_or("")));
  });
  for_items(json, "renames", [&](const Value& row) {
    origin.renames.push_back({flow_in(row, "from"), flow_in(row, "to"), time_in(row, "at"),
                              time_in(row, "from_resumed"), time_in(row, "to_resumed")});
  });
  for_members(json, "entries", [&](const std::string& subject, const Value& stages) {
    for_members(stages, "", [&](const std::string& stage, const Value& count) {
      origin.entries[subject][stage] = static_cast<std::uint64_t>(json::integer(count).value_or(0));
    });
  });
  for_items(json, "attempts", [&](const Value& row) {
    origin.attempts.push_back(
        {flow_in(row, "flow"), text_in(row, "role"), text_in(row, "subject"), text_in(row, "stage"),
         static_cast<std::uint32_t>(json::integer(row, "failures").value_or(0)),
         time_in(row, "at")});
  });
  return origin;
}

}  // namespace baton
