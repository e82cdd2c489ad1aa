// SPDX-License-Identifier: Apache-2.0
#include "base/json/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include "base/text.h"

namespace baton {

void detail::json_assertion_failed(const char* what) {
  throw std::logic_error(what);
}

namespace {

// Most of our own values have a few hundred bytes.
constexpr std::size_t kPoolChunk = 1024;

Value string_value(std::string_view text, JsonPool& pool) {
  // An empty view may point nowhere, which RapidJSON does not take.
  const char* const begin = text.empty() ? "" : text.data();
  return {begin, static_cast<rapidjson::SizeType>(text.size()), pool};
}

// Text that is not UTF-8 comes from file names and arguments. It must not make a whole line or
// journal row unreadable.
std::string sound(std::string_view text) {
  return bad_utf8(text) ? mended_utf8(text) : std::string(text);
}

template <class Writer>
std::string write_with(const Value& value) {
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  value.Accept(writer);
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace

Json::Json() = default;
Json::Json(const Json& other) {
  copy_from(other.value_);
}
Json::Json(Json&& other) noexcept
    : pool_(std::move(other.pool_)),
      changes_(std::exchange(other.changes_, 0)),
      useful_bytes_(std::exchange(other.useful_bytes_, 0)) {
  value_.Swap(other.value_);
}
Json& Json::operator=(const Json& other) {
  if (this != &other)
    *this = Json(other);
  return *this;
}
Json& Json::operator=(Json&& other) noexcept {
  pool_.swap(other.pool_);
  value_.Swap(other.value_);
  std::swap(changes_, other.changes_);
  std::swap(useful_bytes_, other.useful_bytes_);
  return *this;
}
Json::~Json() = default;

Json::Json(const Value& value) {
  copy_from(value);
}
Json::Json(std::unique_ptr<JsonPool> pool, Value&& value)
    : pool_(std::move(pool)), value_(std::move(value)), useful_bytes_(pool_ ? pool_->Size() : 0) {}
Json::Json(std::string_view text) : value_(string_value(text, pool())) {}
Json::Json(const char* text) : Json(std::string_view(text)) {}
Json::Json(const std::string& text) : Json(std::string_view(text)) {}
Json::Json(bool value) : value_(value) {}
Json::Json(int value) : value_(value) {}
Json::Json(std::int64_t value) : value_(value) {}
Json::Json(std::uint64_t value) : value_(value) {}
Json::Json(double value) {
  // JSON has no NaN and no infinity.
  if (std::isfinite(value))
    value_.SetDouble(value);
}

Json Json::object() {
  Json out;
  out.value_.SetObject();
  return out;
}

Json Json::object(std::initializer_list<std::pair<std::string_view, Json>> members) {
  Json out = object();
  for (const auto& [name, value] : members)
    out.set(name, value);
  return out;
}

Json Json::array() {
  Json out;
  out.value_.SetArray();
  return out;
}

Json Json::array(const std::vector<Json>& items) {
  Json out = array();
  for (const Json& item : items)
    out.push(item);
  return out;
}

Json& Json::set(std::string_view name, const Json& value) {
  return set(name, value.value_);
}

Json& Json::set(std::string_view name, const Value& value) {
  if (!value_.IsObject())
    value_.SetObject();
  Value copy(value, pool());
  if (const Value* old = json::child(value_, name)) {
    // child() is read-only, but the member belongs to this value.
    const_cast<Value&>(*old) = std::move(copy);  // NOLINT(cppcoreguidelines-pro-type-const-cast): ^
  } else {
    value_.AddMember(string_value(name, pool()), std::move(copy), pool());
  }
  changed();
  return *this;
}

Json& Json::erase(std::string_view name) {
  if (!value_.IsObject())
    return *this;
  for (auto member = value_.MemberBegin(); member != value_.MemberEnd(); ++member) {
    if (json::name(member->name) == name) {
      value_.EraseMember(member);
      changed();
      break;
    }
  }
  return *this;
}

Json& Json::push(const Json& value) {
  if (!value_.IsArray())
    value_.SetArray();
  value_.PushBack(Value(value.value_, pool()), pool());
  changed();
  return *this;
}

bool Json::operator==(const Json& other) const {
  return json::equal(value_, other.value_);
}
std::string Json::dump() const {
  return json::dump(value_);
}

std::string Json::pretty() const {
  rapidjson::StringBuffer buffer;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> writer(buffer);
  writer.SetIndent(' ', 2);
  value_.Accept(writer);
  return sound({buffer.GetString(), buffer.GetSize()}) + '\n';
}

JsonPool& Json::pool() {
  if (!pool_)
    pool_ = std::make_unique<JsonPool>(kPoolChunk);
  return *pool_;
}

void Json::copy_from(const Value& value) {
  JsonPool unused;  // plain values need no memory from it
  const bool plain = !value.IsObject() && !value.IsArray() && !value.IsString();
  value_.CopyFrom(value, plain ? unused : pool());
  useful_bytes_ = pool_ ? pool_->Size() : 0;
}

/// A pool never frees memory. A value that is changed often is copied into a new pool when most of
/// the old one is unused.
void Json::changed() {
  constexpr std::size_t kLookEvery = 64;
  if (++changes_ % kLookEvery != 0 || !pool_ || pool_->Size() < 4 * useful_bytes_ + 16 * kPoolChunk)
    return;
  *this = Json(static_cast<const Value&>(value_));
}

namespace json {
namespace {

/// Exact for two integers or two doubles. A double equals an integer only if it is exactly that
/// number: as doubles, 2^53 and 2^53+1 would be equal.
bool equal_numbers(const Value& left, const Value& right) {
  if (left.IsDouble() && right.IsDouble())
    return left.GetDouble() == right.GetDouble();
  if (left.IsDouble())
    return equal_numbers(right, left);
  if (!right.IsDouble()) {
    if (left.IsInt64() && right.IsInt64())
      return left.GetInt64() == right.GetInt64();
    return left.IsUint64() && right.IsUint64() && left.GetUint64() == right.GetUint64();
  }
  const double number = right.GetDouble();
  if (number != std::floor(number))
    return false;
  if (left.IsInt64())
    return number >= -0x1p63 && number < 0x1p63 &&
           left.GetInt64() == static_cast<std::int64_t>(number);
  return number >= 0 && number < 0x1p64 && left.GetUint64() == static_cast<std::uint64_t>(number);
}

using MemberIterator = Value::ConstMemberIterator;

std::vector<MemberIterator> by_name(const Value& object) {
  std::vector<MemberIterator> members;
  members.reserve(object.MemberCount());
  for (auto member = object.MemberBegin(); member != object.MemberEnd(); ++member)
    members.push_back(member);
  std::sort(members.begin(), members.end(), [](MemberIterator left, MemberIterator right) {
    return json::name(left->name) < json::name(right->name);
  });
  return members;
}

bool equal_objects(const Value& left, const Value& right) {
  constexpr rapidjson::SizeType kFew = 16;
  if (left.MemberCount() != right.MemberCount())
    return false;
  if (left.MemberCount() <= kFew) {
    return std::all_of(left.MemberBegin(), left.MemberEnd(), [&](const auto& member) {
      const Value* other = child(right, json::name(member.name));
      return other != nullptr && equal(member.value, *other);
    });
  }
  const auto lefts = by_name(left);
  const auto rights = by_name(right);
  return std::equal(lefts.begin(), lefts.end(), rights.begin(), [](auto one, auto other) {
    return json::name(one->name) == json::name(other->name) && equal(one->value, other->value);
  });
}

/// The item at an array index. nullptr unless the token is an index inside the array, without
/// leading zeros.
const Value* item(const Value& array, std::string_view token) {
  rapidjson::SizeType index = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  const bool leading_zero = token.size() > 1 && token.front() == '0';
  if (error != std::errc() || end != token.data() + token.size() || leading_zero ||
      index >= array.Size())
    return nullptr;
  return &array[index];
}

}  // namespace

std::string dump(const Value& value) {
  return sound(write_with<rapidjson::Writer<rapidjson::StringBuffer>>(value));
}

bool is_utf8(const Value& value) {
  return !bad_utf8(write_with<rapidjson::Writer<rapidjson::StringBuffer>>(value));
}

std::string quote(std::string_view text) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  return sound({buffer.GetString(), buffer.GetSize()});
}

const Value* child(const Value& value, std::string_view name) {
  if (!value.IsObject())
    return nullptr;
  for (const auto& member : value.GetObject())
    if (json::name(member.name) == name)
      return &member.value;
  return nullptr;
}

const Value* at(const Value& root, std::string_view pointer) {
  const auto tokens = pointer_tokens(pointer);
  if (!tokens)
    return nullptr;
  const Value* value = &root;
  for (const std::string& token : *tokens) {
    value = value->IsArray() ? item(*value, token) : child(*value, token);
    if (value == nullptr)
      return nullptr;
  }
  return value;
}

std::string_view name(const Value& text) {
  return {text.GetString(), text.GetStringLength()};
}

std::optional<std::string_view> text(const Value& value) {
  return value.IsString() ? std::optional(json::name(value)) : std::nullopt;
}

std::optional<std::int64_t> integer(const Value& value) {
  if (value.IsInt64())
    return value.GetInt64();
  if (!value.IsDouble())
    return std::nullopt;
  const double number = value.GetDouble();
  if (number != std::floor(number) || number < -0x1p63 || number >= 0x1p63)
    return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::optional<double> number(const Value& value) {
  return value.IsNumber() ? std::optional(value.GetDouble()) : std::nullopt;
}

std::optional<bool> boolean(const Value& value) {
  return value.IsBool() ? std::optional(value.GetBool()) : std::nullopt;
}

std::optional<std::string_view> text(const Value& value, std::string_view name) {
  const Value* found = child(value, name);
  return found == nullptr ? std::nullopt : text(*found);
}
std::optional<std::int64_t> integer(const Value& value, std::string_view name) {
  const Value* found = child(value, name);
  return found == nullptr ? std::nullopt : integer(*found);
}
std::optional<double> number(const Value& value, std::string_view name) {
  const Value* found = child(value, name);
  return found == nullptr ? std::nullopt : number(*found);
}
std::optional<bool> boolean(const Value& value, std::string_view name) {
  const Value* found = child(value, name);
  return found == nullptr ? std::nullopt : boolean(*found);
}

bool equal(const Value& left, const Value& right) {
  if (left.IsNumber() && right.IsNumber())
    return equal_numbers(left, right);
  if (left.GetType() != right.GetType())
    return false;
  if (left.IsString())
    return json::name(left) == json::name(right);
  if (left.IsArray())
    return std::equal(left.Begin(), left.End(), right.Begin(), right.End(), equal);
  return !left.IsObject() || equal_objects(left, right);
}

std::string_view type_name(const Value& value) {
  switch (value.GetType()) {
    case rapidjson::kNullType:
      return "null";
    case rapidjson::kFalseType:
    case rapidjson::kTrueType:
      return "boolean";
    case rapidjson::kObjectType:
      return "object";
    case rapidjson::kArrayType:
      return "array";
    case rapidjson::kStringType:
      return "string";
    case rapidjson::kNumberType:
      break;
  }
  return value.IsDouble() ? "number" : "integer";
}

std::string pointer_token(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

std::optional<std::vector<std::string>> pointer_tokens(std::string_view pointer) {
  std::vector<std::string> tokens;
  if (pointer.empty())
    return tokens;
  if (pointer.front() != '/')
    return std::nullopt;
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    if (pointer[i] == '/') {
      tokens.emplace_back();
    } else if (pointer[i] != '~') {
      tokens.back() += pointer[i];
    } else if (i + 1 < pointer.size() && (pointer[i + 1] == '0' || pointer[i + 1] == '1')) {
      tokens.back() += pointer[++i] == '0' ? '~' : '/';
    } else {
      return std::nullopt;
    }
  }
  return tokens;
}

}  // namespace json
}  // namespace baton
