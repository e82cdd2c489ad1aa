#include "dialects/fsm_loop/record.h"

#include <algorithm>
#include <iterator>

#include "dialects/kinds.h"
#include "dialects/tables.h"

namespace baton::fsm_loop {
namespace {

Json kept(const Value& root, std::string_view name, Json otherwise) {
  const Value* const value = json::child(root, name);
  return value == nullptr || value->IsNull() ? std::move(otherwise) : Json(*value);
}

Counts counts_in(const Value& root, std::string_view name) {
  Counts counts;
  const Value* const map = json::child(root, name);
  if (map != nullptr && map->IsObject())
    for (const auto& member : map->GetObject())
      counts.emplace(std::string(json::name(member.name)), json::integer(member.value).value_or(0));
  return counts;
}

Json json_of(const Counts& counts) {
  Json map = Json::object();
  for (const auto& [name, count] : counts)
    map.set(name, count);
  return map;
}

/// Sets what says something, and removes what says nothing.
class Optional {
 public:
  explicit Optional(Json& root) : root_(root) {}
  void text(std::string_view name, const std::string& value) { put(name, value, value.empty()); }
  void count(std::string_view name, std::int64_t value) { put(name, value, value == 0); }
  void map(std::string_view name, const Json& value) { put(name, value, value->ObjectEmpty()); }
  void list(std::string_view name, const std::vector<std::string>& values) {
    Json all = Json::array();
    for (const std::string& value : values)
      all.push(value);
    put(name, all, values.empty());
  }

 private:
  void put(std::string_view name, const Json& value, bool nothing) {
    if (!nothing)
      root_.set(name, value);
    else
      root_.erase(name);
  }
  Json& root_;
};

}  // namespace

Record record_of(const Value& state) {
  Record record;
  record.loop_name = text_of(state, "loop_name");
  record.current_state = text_of(state, "current_state");
  record.iteration = count_of(state, "iteration");
  record.cycle = count_of(state, "cycle");
  record.captured = kept(state, "captured", Json::object());
  record.prev_result = kept(state, "prev_result", Json());
  record.last_result = kept(state, "last_result", Json());
  record.started_at = text_of(state, "started_at");
  const StatusRow* const status = row_of(kStatus, text_of(state, "status"));
  record.status = status == nullptr ? Status::failed : status->status;
  record.continuation_prompt = text_of(state, "continuation_prompt");
  record.accumulated_ms = count_of(state, "accumulated_ms");
  record.passes = count_of(state, "iteration_count");
  record.retries = counts_in(state, "retry_counts");
  record.edges = counts_in(state, "edge_revisit_counts");
  record.entries = counts_in(state, "entry_counts");
  record.rate_limits = kept(state, "rate_limit_retries", Json::object());
  record.exhaustions = count_of(state, "consecutive_rate_limit_exhaustions");
  if (const Value* const messages = json::child(state, "messages");
      messages != nullptr && messages->IsArray())
    for (const Value& message : messages->GetArray())
      record.messages.emplace_back(json::text(message).value_or(""));
  record.context = kept(state, "context", Json::object());
  // A file without a phase is another program's: whether the action has run, nobody can say.
  const PhaseRow* const phase = row_of(kPhase, text_of(state, "phase"));
  record.phase = phase == nullptr ? Phase::entered : phase->phase;
  record.resumed_at = text_of(state, "resumed_at");
  record.resume_count = count_of(state, "resume_count");
  record.seq = count_of(state, "seq");
  if (const auto steps = json::integer(state, "max_steps"))
    record.max_steps = *steps;
  record.start = text_of(state, "start");
  record.archived = text_of(state, "archived");
  record.terminated_by = text_of(state, "terminated_by");
  record.limited_state = text_of(state, "limited_state");
  record.error = text_of(state, "error");
  return record;
}

Json json_of(const Record& record, const Value* before) {
  Json root = before == nullptr ? Json::object() : Json(*before);
  root.set("loop_name", record.loop_name);
  root.set("current_state", record.current_state);
  root.set("iteration", record.iteration);
  root.set("captured", record.captured);
  root.set("prev_result", record.prev_result);
  root.set("last_result", record.last_result);
  root.set("started_at", record.started_at);
  if (json::child(*root, "updated_at") == nullptr)
    root.set("updated_at", "");
  root.set("status", record.status_word());
  root.set("phase", kPhase.at(static_cast<std::size_t>(record.phase)).word);
  root.set("accumulated_ms", record.accumulated_ms);
  root.set("cycle", record.cycle);
  root.set("seq", record.seq);
  Optional some(root);
  some.text("continuation_prompt", record.continuation_prompt);
  some.count("iteration_count", record.passes);
  some.map("retry_counts", json_of(record.retries));
  some.map("edge_revisit_counts", json_of(record.edges));
  some.map("entry_counts", json_of(record.entries));
  some.map("rate_limit_retries", record.rate_limits);
  some.count("consecutive_rate_limit_exhaustions", record.exhaustions);
  some.list("messages", record.messages);
  some.map("context", record.context);
  some.text("resumed_at", record.resumed_at);
  some.count("resume_count", record.resume_count);
  some.count("max_steps", record.max_steps.value_or(0));
  some.text("start", record.start);
  some.text("archived", record.archived);
  some.text("terminated_by", record.terminated_by);
  some.text("limited_state", record.limited_state);
  some.text("error", record.error);
  return root;
}

std::string_view last_bytes(std::string_view text, std::size_t bytes) {
  std::size_t begin = text.size() - std::min(text.size(), bytes);
  while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U)
    ++begin;
  return text.substr(begin);
}

void add_message(Record& record, std::string_view message) {
  std::vector<std::string>& all = record.messages;
  all.emplace_back(last_bytes(message, kMostMessages));
  std::size_t bytes = 0;
  auto first = all.end();
  while (first != all.begin() && bytes + std::prev(first)->size() <= kMostMessages)
    bytes += (--first)->size();
  all.erase(all.begin(), first);
}

void take_way(Record& record, const std::string& from, const std::string& to) {
  if (to == from) {
    ++record.retries[to];
  } else {
    record.retries.erase(from);
    record.entries.erase(from);
  }
  record.current_state = to;
  record.phase = Phase::routed;
}

}  // namespace baton::fsm_loop
