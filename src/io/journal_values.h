#pragma once

// Single columns of the journal: how values of the core are spelled there. Reading marks the row as
// damaged when a column does not hold such a value.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ports.h"
#include "io/sqlite.h"

namespace baton::rows {

std::string_view word(Control control);
std::string_view word(Intent::Kind kind);
using baton::word;

/// SQLite's integers are signed; larger counts never come up and become the largest it has.
std::int64_t count(std::uint64_t value);
std::optional<std::int64_t> optional_count(std::optional<int> value);
std::int64_t flag(bool value);
std::int64_t millis(Time time);
std::string entries_text(const std::map<Word, std::uint64_t>& entries);
std::string claims_text(const std::vector<Claim>& claims);
std::string base_text(const DocSet& base);

std::uint64_t read_count(sqlite::Statement& row);
std::uint32_t read_small_count(sqlite::Statement& row);
std::optional<int> read_maybe_int(sqlite::Statement& row);
bool read_flag(sqlite::Statement& row);
Time read_time(sqlite::Statement& row);
Digest read_digest(sqlite::Statement& row);
/// Nothing when the column is no JSON, which is no damage then.
std::optional<Json> maybe_json(sqlite::Statement& row);
Json read_json(sqlite::Statement& row);
RunState read_run_state(sqlite::Statement& row);
Outcome read_outcome(sqlite::Statement& row);
Control read_control(sqlite::Statement& row);
Intent::Kind read_intent_kind(sqlite::Statement& row);
std::map<Word, std::uint64_t> read_entries(sqlite::Statement& row);
std::vector<Claim> read_claims(sqlite::Statement& row);
DocSet read_base(sqlite::Statement& row);

}  // namespace baton::rows
