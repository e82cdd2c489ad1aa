// SPDX-License-Identifier: Apache-2.0
#pragma once

// Converts single columns of the journal to values of the core and back. A column with a wrong
// value marks the row as damaged.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ports.h"
#include "io/journal/sqlite.h"

namespace baton::rows {

std::string_view word(Control control);
std::string_view word(Intent::Kind kind);
using baton::word;

/// SQLite's integers are signed; larger counts do not occur and become the largest integer.
std::int64_t count(std::uint64_t value);
std::optional<std::int64_t> optional_count(std::optional<int> value);
std::int64_t flag(bool value);
std::int64_t millis(Time time);
std::string entries_text(const std::map<Word, std::uint64_t>& entries);
std::string claims_text(const std::vector<Claim>& claims);
std::string base_text(const DocSet& base);

// Each function reads the next column of the row. The statement itself marks a column of another
// type (sqlite.h), which then gives an empty value. Other damage is listed here.

/// Damage: a number below 0; the result is 0.
std::uint64_t read_count(sqlite::Statement& row);
/// Damage: a number below 0 (the result is 0) or above 32 bits (the result is cut).
std::uint32_t read_small_count(sqlite::Statement& row);
/// NULL gives nothing. Damage: a number that does not fit into an int; the result is nothing.
std::optional<int> read_maybe_int(sqlite::Statement& row);
/// Damage: neither 0 nor 1; the result is false.
bool read_flag(sqlite::Statement& row);
/// Milliseconds of Unix time.
Time read_time(sqlite::Statement& row);
/// Damage: not 32 hexadecimal digits; the result is all zeros.
Digest read_digest(sqlite::Statement& row);
/// Nothing when the column is not JSON; this is no damage.
std::optional<Json> maybe_json(sqlite::Statement& row);
/// Damage: not JSON; the result is null.
Json read_json(sqlite::Statement& row);
/// Damage: an unknown word; the result is `started`.
RunState read_run_state(sqlite::Statement& row);
/// Damage: an unknown word; the result is `none`.
Outcome read_outcome(sqlite::Statement& row);
/// Damage: an unknown word; the result is `run`.
Control read_control(sqlite::Statement& row);
/// Damage: an unknown word; the result is `replace`.
Intent::Kind read_intent_kind(sqlite::Statement& row);
/// These read what `entries_text`, `claims_text` and `base_text` write. Damage: anything else, even
/// in one item; the result is empty.
std::map<Word, std::uint64_t> read_entries(sqlite::Statement& row);
std::vector<Claim> read_claims(sqlite::Statement& row);
DocSet read_base(sqlite::Statement& row);

}  // namespace baton::rows
