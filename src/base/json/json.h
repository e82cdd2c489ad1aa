// SPDX-License-Identifier: Apache-2.0
#pragma once

// The only header that includes RapidJSON. It sets RAPIDJSON_ASSERT to a cheap check that throws.
// Every translation unit must see this before any header of RapidJSON or valijson. Otherwise
// valijson sets a check that costs a string each time, or RapidJSON sets one that aborts.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace baton::detail {
[[noreturn]] void json_assertion_failed(const char* what);
}  // namespace baton::detail

#ifndef RAPIDJSON_ASSERT
#define RAPIDJSON_ASSERT(x) \
  (__builtin_expect(!!(x), 1) ? (void)0 : ::baton::detail::json_assertion_failed(#x))
#define RAPIDJSON_HAS_STDSTRING 1
#endif
#include <rapidjson/document.h>

#include "base/result.h"

namespace baton {

/// A JSON value inside a document; read it with the functions of `json::`.
using Value = rapidjson::Value;

/// The memory of one owned value. RapidJSON's default would take 64 KiB for the first byte.
using JsonPool = rapidjson::MemoryPoolAllocator<>;

/// An owned JSON value with value semantics: memos, options, values to be written. Read it through
/// `*json` and `json::`. Change it through the members here, which copy deeply. A change
/// invalidates references into the value.
class Json {
 public:
  Json();  ///< null
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  explicit Json(const Value& value);
  /// Takes over a value that was built in `pool`.
  Json(std::unique_ptr<JsonPool> pool, Value&& value);
  Json(std::string_view text);    // NOLINT(google-explicit-constructor): literals of built values
  Json(const char* text);         // NOLINT(google-explicit-constructor): as above
  Json(const std::string& text);  // NOLINT(google-explicit-constructor): as above
  Json(bool value);               // NOLINT(google-explicit-constructor): as above
  Json(int value);                // NOLINT(google-explicit-constructor): as above
  Json(std::int64_t value);       // NOLINT(google-explicit-constructor): as above
  Json(std::uint64_t value);      // NOLINT(google-explicit-constructor): as above
  Json(double value);             // NOLINT(google-explicit-constructor): as above

  static Json object();
  static Json object(std::initializer_list<std::pair<std::string_view, Json>> members);
  static Json array();
  static Json array(const std::vector<Json>& items);

  const Value& operator*() const { return value_; }
  const Value* operator->() const { return &value_; }

  /// Sets or replaces a member; a value that is not an object becomes one.
  Json& set(std::string_view name, const Json& value);
  Json& set(std::string_view name, const Value& value);
  /// Removes a member; does nothing if there is none.
  Json& erase(std::string_view name);
  /// Appends an item; a value that is not an array becomes one.
  Json& push(const Json& value);

  /// Compares as JSON: the order of members does not matter, 1 equals 1.0.
  bool operator==(const Json& other) const;

  bool is_null() const { return value_.IsNull(); }
  /// One line without blanks: `{"a":1}`.
  std::string dump() const;
  /// Indented by two spaces, with a line feed at the end, like state files.
  std::string pretty() const;

 private:
  JsonPool& pool();
  void copy_from(const Value& value);
  void changed();

  std::unique_ptr<JsonPool> pool_;  ///< created when memory is needed
  Value value_;
  std::size_t changes_ = 0;       ///< since the last look at the pool
  std::size_t useful_bytes_ = 0;  ///< size of the pool when it last held only the value
};

namespace json {

/// The compact text of a value. Bytes that are not UTF-8 become U+FFFD, so the text can always be
/// read.
std::string dump(const Value& value);
std::string quote(std::string_view text);
/// Whether all texts in the value are UTF-8. Texts of a loaded document are. A file name may not
/// be.
bool is_utf8(const Value& value);

/// The member of an object; nullptr when `value` is not an object or has no such member.
const Value* child(const Value& value, std::string_view name);
/// The value at a JSON pointer (RFC 6901); nullptr when there is none. "" is the value itself.
const Value* at(const Value& root, std::string_view pointer);

/// The text of a member's name or of another value that is known to be a text.
std::string_view name(const Value& text);

std::optional<std::string_view> text(const Value& value);
std::optional<std::int64_t> integer(const Value& value);  ///< 3 and 3.0, not 3.5
std::optional<double> number(const Value& value);
std::optional<bool> boolean(const Value& value);

/// The same for a member: `text(value, "status")`.
std::optional<std::string_view> text(const Value& value, std::string_view name);
std::optional<std::int64_t> integer(const Value& value, std::string_view name);
std::optional<double> number(const Value& value, std::string_view name);
std::optional<bool> boolean(const Value& value, std::string_view name);

bool equal(const Value& left, const Value& right);

/// "object", "array", "string", "integer", "number", "boolean", "null".
std::string_view type_name(const Value& value);

/// Escapes one token of a JSON pointer (`~` and `/`).
std::string pointer_token(std::string_view name);
/// The unescaped tokens of a pointer. Nothing when it is malformed.
std::optional<std::vector<std::string>> pointer_tokens(std::string_view pointer);

/// One change. `pointer` leads to a member or item; all but its last token must exist. `/-` at the
/// end appends to an array, "" is the whole document. An empty `text` removes the value; removing a
/// missing value changes nothing.
struct Edit {
  std::string pointer;
  std::string text;  ///< JSON
  bool operator==(const Edit&) const = default;
};

/// Applies edits to the text of a JSON document. Everything else stays byte for byte (order,
/// blanks, spelling of numbers, escapes); additions are laid out like their neighbours. Each edit
/// works on the result of the one before. Errc::schema when a pointer leads nowhere, Errc::parse
/// when the document or a text is not JSON; then nothing is changed.
Result<std::string> splice(std::string_view document_text, const std::vector<Edit>& edits);

}  // namespace json
}  // namespace baton
