// SPDX-License-Identifier: Apache-2.0
#include "core/flow_logs.h"

#include <charconv>

#include "base/text.h"

namespace baton {
namespace {

std::string hex_number(std::uint64_t number) {
  char text[16];
  const auto end = std::to_chars(text, text + sizeof(text), number, 16).ptr;
  return {text, end};
}

std::uint64_t hex_number_of(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return number;
}

std::uint64_t count_in(const Value& json, std::string_view name) {
  return static_cast<std::uint64_t>(json::integer(json, name).value_or(0));
}

std::string word_in(const Value& json, std::string_view name) {
  return std::string(json::text(json, name).value_or(""));
}

template <class Read>
void for_all(const Value& json, std::string_view name, const Read& read) {
  const Value* const list = json::child(json, name);
  if (list != nullptr && list->IsArray())
    for (const Value& item : list->GetArray())
      read(item);
}

Json log_json(const LogPosition& log) {
  Json faults = Json::array();
  for (const LogFault& fault : log.last_faults)
    faults.push(Json::object({{"where", fault.where}, {"why", fault.why}}));
  Json tail = Json::array();
  for (const Digest& record : log.tail)
    tail.push(hex(record));
  return Json::object({{"file", hex_number(log.file)},
                       {"offset", log.offset},
                       {"line", log.line},
                       {"head_bytes", static_cast<std::uint64_t>(log.head_bytes)},
                       {"head", hex(log.head)},
                       {"mark_bytes", static_cast<std::uint64_t>(log.mark_bytes)},
                       {"mark", hex(log.mark)},
                       {"in_long_line", log.in_long_line},
                       {"anew", log.anew},
                       {"tail", tail},
                       {"faults", log.faults},
                       {"last_faults", faults}});
}

LogPosition log_of(const Value& json) {
  LogPosition log;
  log.file = hex_number_of(word_in(json, "file"));
  log.offset = count_in(json, "offset");
  log.line = count_in(json, "line");
  log.head_bytes = static_cast<std::uint32_t>(count_in(json, "head_bytes"));
  log.head = parse_digest(word_in(json, "head")).value_or(Digest{});
  log.mark_bytes = static_cast<std::uint32_t>(count_in(json, "mark_bytes"));
  log.mark = parse_digest(word_in(json, "mark")).value_or(Digest{});
  log.in_long_line = json::boolean(json, "in_long_line").value_or(false);
  log.anew = json::boolean(json, "anew").value_or(false);
  for_all(json, "tail", [&](const Value& record) {
    if (const auto digest = parse_digest(record.IsString() ? record.GetString() : ""))
      log.tail.push_back(*digest);
  });
  log.faults = count_in(json, "faults");
  for_all(json, "last_faults", [&](const Value& fault) {
    log.last_faults.push_back({word_in(fault, "where"), word_in(fault, "why")});
  });
  return log;
}

Json positions_json(const std::map<std::string, LogPosition>& logs) {
  Json all = Json::object();
  for (const auto& [path, log] : logs)
    all.set(path, log_json(log));
  return all;
}

std::map<std::string, LogPosition> positions_in(const Value& json, std::string_view name) {
  std::map<std::string, LogPosition> logs;
  if (const Value* const all = json::child(json, name); all != nullptr && all->IsObject())
    for (const auto& member : all->GetObject())
      logs.emplace(std::string(json::name(member.name)), log_of(member.value));
  return logs;
}

}  // namespace

Json json_of(const FlowLogs& logs) {
  Json wanted = Json::array();
  for (const auto& [role, subject] : logs.wanted)
    wanted.push(Json::object({{"role", role}, {"subject", subject}}));
  Json all = Json::object(
      {{"files", positions_json(logs.files)}, {"wanted", wanted}, {"held", logs.held}});
  if (logs.passed)
    all.set("passed", true);
  if (!logs.changed.empty()) {
    Json changed = Json::object();
    for (const auto& [path, why] : logs.changed)
      changed.set(path, why);
    all.set("changed", changed);
  }
  return all;
}

FlowLogs flow_logs_of(const Value& json) {
  FlowLogs logs;
  logs.files = positions_in(json, "files");
  if (const Value* const changed = json::child(json, "changed");
      changed != nullptr && changed->IsObject())
    for (const auto& member : changed->GetObject())
      logs.changed.emplace(std::string(json::name(member.name)),
                           member.value.IsString() ? member.value.GetString() : "");
  for_all(json, "wanted", [&](const Value& row) {
    logs.wanted.emplace_back(word_in(row, "role"), word_in(row, "subject"));
  });
  logs.held = json::boolean(json, "held").value_or(false);
  logs.passed = json::boolean(json, "passed").value_or(false);
  return logs;
}

std::string fault_text(const std::string& path, const LogPosition& log) {
  if (log.faults == 0 || log.last_faults.empty())
    return {};
  const LogFault& last = log.last_faults.back();
  return (log.faults == 1 ? std::string("1 line") : std::to_string(log.faults) + " lines") +
         " of " + printable(path, 200) + " cannot be read and " + (log.faults == 1 ? "is" : "are") +
         " skipped (" + last.where + ": " + last.why + ")";
}

}  // namespace baton
