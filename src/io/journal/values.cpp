// SPDX-License-Identifier: Apache-2.0
#include "io/journal/values.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/json/document.h"

namespace baton::rows {

using sqlite::Statement;

namespace {

template <class Enum>
struct Named {
  Enum value;
  std::string_view word;
};

constexpr std::array<Named<Control>, 4> kControls{{{Control::run, "run"},
                                                   {Control::pause, "pause"},
                                                   {Control::stop, "stop"},
                                                   {Control::idle, "idle"}}};

constexpr std::array<Named<Intent::Kind>, 6> kIntentKinds{{{Intent::Kind::replace, "replace"},
                                                           {Intent::Kind::restore, "restore"},
                                                           {Intent::Kind::append, "append"},
                                                           {Intent::Kind::create, "create"},
                                                           {Intent::Kind::move, "move"},
                                                           {Intent::Kind::backup, "backup"}}};

template <class Rows, class Enum>
std::string_view word_in(const Rows& rows, Enum value) {
  for (const auto& row : rows) {
    if (row.value == value)
      return row.word;
  }
  return {};
}

template <class Rows>
auto read_word(const Rows& rows, Statement& row) {
  const std::string text = row.text();
  for (const auto& entry : rows) {
    if (entry.word == text)
      return entry.value;
  }
  row.damaged(text);
  return rows.front().value;
}

// The journal holds only accepted values, so they must be readable at any size.
constexpr LoadLimits kOwnLimits{.max_bytes = std::numeric_limits<std::size_t>::max(),
                                .max_depth = 1024,
                                .max_number_chars = 4096,
                                .max_object_members = std::numeric_limits<std::size_t>::max()};

/// The column as JSON of one type; null and damage for anything else.
Json read_json_of(Statement& row, std::string_view type) {
  const std::string text = row.text();
  auto parsed = parse_json(text, kOwnLimits);
  if (parsed && (type.empty() || json::type_name(**parsed) == type))
    return std::move(*parsed);
  row.damaged(text);
  return {};
}

/// Both items of `[text, value]`; nullptr twice for anything else.
std::pair<const Value*, const Value*> pair_of(const Value& item) {
  if (!item.IsArray() || item.Size() != 2 || !item[0].IsString())
    return {nullptr, nullptr};
  return {&item[0], &item[1]};
}

}  // namespace

std::string_view word(Control control) {
  return word_in(kControls, control);
}
std::string_view word(Intent::Kind kind) {
  return word_in(kIntentKinds, kind);
}

std::int64_t count(std::uint64_t value) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(value, kMost));
}

std::optional<std::int64_t> optional_count(std::optional<int> value) {
  return value ? std::optional<std::int64_t>(*value) : std::nullopt;
}

std::int64_t flag(bool value) {
  return value ? 1 : 0;
}
std::int64_t millis(Time time) {
  return time.time_since_epoch().count();
}

std::string entries_text(const std::map<Word, std::uint64_t>& entries) {
  std::string text = "{";
  for (const auto& [stage, number] : entries)
    text += (text.size() > 1 ? "," : "") + json::quote(stage) + ":" + std::to_string(number);
  return text + "}";
}

std::string claims_text(const std::vector<Claim>& claims) {
  std::string text = "[";
  for (const Claim& claim : claims) {
    text += (text.size() > 1 ? ",[" : "[") + json::quote(claim.resource) + "," +
            std::to_string(claim.capacity) + "]";
  }
  return text + "]";
}

std::string base_text(const DocSet& base) {
  std::string text = "[";
  for (const DocRef& doc : base)
    text +=
        (text.size() > 1 ? ",[" : "[") + json::quote(doc.path) + ",\"" + hex(doc.digest) + "\"]";
  return text + "]";
}

std::uint64_t read_count(Statement& row) {
  const std::int64_t value = row.integer();
  if (value < 0)
    row.damaged(std::to_string(value));
  return value < 0 ? 0 : static_cast<std::uint64_t>(value);
}

std::uint32_t read_small_count(Statement& row) {
  const std::uint64_t value = read_count(row);
  if (value > std::numeric_limits<std::uint32_t>::max())
    row.damaged(std::to_string(value));
  return static_cast<std::uint32_t>(value);
}

std::optional<int> read_maybe_int(Statement& row) {
  const auto value = row.maybe_integer();
  if (!value)
    return std::nullopt;
  if (*value < std::numeric_limits<int>::min() || *value > std::numeric_limits<int>::max()) {
    row.damaged(std::to_string(*value));
    return std::nullopt;
  }
  return static_cast<int>(*value);
}

bool read_flag(Statement& row) {
  const std::int64_t value = row.integer();
  if (value != 0 && value != 1)
    row.damaged(std::to_string(value));
  return value == 1;
}

Time read_time(Statement& row) {
  return Time(Millis(row.integer()));
}

Digest read_digest(Statement& row) {
  const std::string text = row.text();
  const auto digest = parse_digest(text);
  if (!digest)
    row.damaged(text);
  return digest.value_or(Digest{});
}

std::optional<Json> maybe_json(Statement& row) {
  auto parsed = parse_json(row.text(), kOwnLimits);
  return parsed ? std::optional(*std::move(parsed)) : std::nullopt;
}

Json read_json(Statement& row) {
  return read_json_of(row, "");
}

RunState read_run_state(Statement& row) {
  constexpr std::array kStates = {RunState::started, RunState::stopping, RunState::ended};
  const std::string text = row.text();
  for (const RunState state : kStates) {
    if (word(state) == text)
      return state;
  }
  row.damaged(text);
  return RunState::started;
}

Outcome read_outcome(Statement& row) {
  const std::string text = row.text();
  const auto outcome = parse_outcome(text);
  if (!outcome)
    row.damaged(text);
  return outcome.value_or(Outcome::none);
}

Control read_control(Statement& row) {
  return read_word(kControls, row);
}
Intent::Kind read_intent_kind(Statement& row) {
  return read_word(kIntentKinds, row);
}

std::map<Word, std::uint64_t> read_entries(Statement& row) {
  const Json value = read_json_of(row, "object");
  std::map<Word, std::uint64_t> entries;
  if (value.is_null())
    return entries;
  for (const auto& member : value->GetObject()) {
    const auto number = json::integer(member.value);
    if (!number || *number < 0) {
      row.damaged(value.dump());
      return {};
    }
    entries[std::string(*json::text(member.name))] = static_cast<std::uint64_t>(*number);
  }
  return entries;
}

std::vector<Claim> read_claims(Statement& row) {
  const Json value = read_json_of(row, "array");
  std::vector<Claim> claims;
  if (value.is_null())
    return claims;
  for (const auto& item : value->GetArray()) {
    const auto [resource, capacity] = pair_of(item);
    const auto number = capacity == nullptr ? std::nullopt : json::integer(*capacity);
    if (!number || *number < 0 || *number > std::numeric_limits<std::uint32_t>::max()) {
      row.damaged(value.dump());
      return {};
    }
    claims.push_back({std::string(*json::text(*resource)), static_cast<std::uint32_t>(*number)});
  }
  return claims;
}

DocSet read_base(Statement& row) {
  const Json value = read_json_of(row, "array");
  DocSet base;
  if (value.is_null())
    return base;
  for (const auto& item : value->GetArray()) {
    const auto [path, digits] = pair_of(item);
    const auto text = digits == nullptr ? std::nullopt : json::text(*digits);
    const auto digest = text ? parse_digest(*text) : std::nullopt;
    if (!digest) {
      row.damaged(value.dump());
      return {};
    }
    base.push_back({std::string(*json::text(*path)), *digest});
  }
  return base;
}

}  // namespace baton::rows
