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
#include "io/journal/sqlite.h"

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

// Each reads the next column of the row. What is not named as damage cannot be: a column of another
// type is marked by the statement itself (io/journal/sqlite.h), and comes as the empty value.

/// Damage: below 0; then 0.
std::uint64_t read_count(sqlite::Statement& row);
/// Damage: below 0, or above 32 bits; then 0, or what fits.
std::uint32_t read_small_count(sqlite::Statement& row);
/// NULL is nothing. Damage: beyond an int; then nothing too.
std::optional<int> read_maybe_int(sqlite::Statement& row);
/// Damage: neither 0 nor 1; then false.
bool read_flag(sqlite::Statement& row);
/// Milliseconds of Unix time; every number is one.
Time read_time(sqlite::Statement& row);
/// Damage: not 32 digits of hex; then all zeros.
Digest read_digest(sqlite::Statement& row);
/// Nothing when the column is no JSON, which is no damage then.
std::optional<Json> maybe_json(sqlite::Statement& row);
/// Damage: no JSON; then null.
Json read_json(sqlite::Statement& row);
/// Damage: a word that is none; then `started`.
RunState read_run_state(sqlite::Statement& row);
/// Damage: a word that is none; then `none`.
Outcome read_outcome(sqlite::Statement& row);
/// Damage: a word that is none; then `run`.
Control read_control(sqlite::Statement& row);
/// Damage: a word that is none; then `replace`.
Intent::Kind read_intent_kind(sqlite::Statement& row);
/// As `entries_text`, `claims_text` and `base_text` write them. Damage: anything else, also in one
/// item; then all of it is empty.
std::map<Word, std::uint64_t> read_entries(sqlite::Statement& row);
std::vector<Claim> read_claims(sqlite::Statement& row);
DocSet read_base(sqlite::Statement& row);

}  // namespace baton::rows
