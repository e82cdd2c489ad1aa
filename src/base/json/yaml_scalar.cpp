#include "base/json/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/json/parse.h"
#include "base/text.h"

namespace baton::yaml {
namespace {

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?` of the core schema.
bool is_float(std::string_view text) {
  const auto digits = [&] {
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
  };
  if (text.starts_with('+') || text.starts_with('-'))
    text.remove_prefix(1);
  std::size_t mantissa = digits();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    mantissa += digits();
  }
  if (mantissa == 0)
    return false;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-'))
      text.remove_prefix(1);
    if (digits() == 0)
      return false;
  }
  return text.empty();
}

bool is_special_float(std::string_view text) {
  if (text == ".nan" || text == ".NaN" || text == ".NAN")
    return true;
  if (text.starts_with('+') || text.starts_with('-'))
    text.remove_prefix(1);
  return text == ".inf" || text == ".Inf" || text == ".INF";
}

/// `[-+]? [0-9]+`, `0o [0-7]+`, `0x [0-9a-fA-F]+`.
bool is_integer(std::string_view text) {
  std::string_view digits = "0123456789";
  if (text.starts_with("0o") || text.starts_with("0x")) {
    digits = text[1] == 'o' ? "01234567" : "0123456789abcdefABCDEF";
    text.remove_prefix(2);
  } else if (text.starts_with('+') || text.starts_with('-')) {
    text.remove_prefix(1);
  }
  return !text.empty() && text.find_first_not_of(digits) == std::string_view::npos;
}

/// The integer, if 64 bits hold it.
std::optional<Json> integer_of(std::string_view digits, int base) {
  if (digits.starts_with('+'))
    digits.remove_prefix(1);
  const char* end = digits.data() + digits.size();
  std::int64_t value = 0;
  const auto result = std::from_chars(digits.data(), end, value, base);
  if (result.ec == std::errc() && result.ptr == end)
    return Json(value);
  std::uint64_t natural = 0;
  const auto second = std::from_chars(digits.data(), end, natural, base);
  if (second.ec == std::errc() && second.ptr == end)
    return Json(natural);
  return std::nullopt;
}

tl::expected<Json, std::string> float_of(std::string_view text) {
  // from_chars knows no '+' and wants a digit on each side of the point only loosely: ".5" and "1."
  // pass.
  const std::string_view spelled = text.starts_with('+') ? text.substr(1) : text;
  double value = 0;
  const auto result = std::from_chars(spelled.data(), spelled.data() + spelled.size(), value);
  if (result.ec == std::errc())
    return Json(value);
  if (too_small(spelled))
    return Json(0.0);
  return tl::unexpected("the number " + printable(text, 40) + " is too large");
}

/// Nothing: no number.
std::optional<tl::expected<Json, std::string>> number_of(std::string_view text) {
  if (is_integer(text)) {
    const bool prefixed = text.starts_with("0o") || text.starts_with("0x");
    const int base = !prefixed ? 10 : text[1] == 'o' ? 8 : 16;
    if (auto integer = integer_of(prefixed ? text.substr(2) : text, base))
      return std::move(*integer);
    if (prefixed)
      return tl::unexpected("the number " + printable(text, 40) + " is too large");
  }
  if (!is_float(text))
    return std::nullopt;
  return float_of(text);
}

bool one_of(std::string_view text, std::string_view a, std::string_view b, std::string_view c) {
  return text == a || text == b || text == c;
}

bool is_null(std::string_view text) {
  return text.empty() || text == "~" || one_of(text, "null", "Null", "NULL");
}

bool is_bool(std::string_view text) {
  return one_of(text, "true", "True", "TRUE") || one_of(text, "false", "False", "FALSE");
}

/// `yes`, `no`, `on` and `012:30` are strings, as in YAML 1.2.
tl::expected<Json, std::string> plain(std::string_view text) {
  if (is_null(text))
    return Json();
  if (is_bool(text))
    return Json(text[0] == 't' || text[0] == 'T');
  if (is_special_float(text))
    return tl::unexpected("the number " + std::string(text) + " has no place in JSON");
  if (auto number = number_of(text))
    return std::move(*number);
  return Json(text);
}

constexpr std::string_view kPrefix = "tag:yaml.org,2002:";

struct TagRow {
  std::string_view name;  ///< behind the prefix
  std::string_view what;
  bool (*fits)(std::string_view text);  ///< a spelling of it; null: no scalar
};
constexpr std::array kTags = {
    TagRow{"str", "string", [](std::string_view) { return true; }},
    TagRow{"int", "integer", is_integer},
    TagRow{"float", "number",
           [](std::string_view text) { return is_float(text) || is_special_float(text); }},
    TagRow{"bool", "boolean", is_bool},
    TagRow{"null", "null", is_null},
    TagRow{"seq", "array", nullptr},
    TagRow{"map", "object", nullptr},
};

const TagRow* row_of(std::string_view tag) {
  if (!tag.starts_with(kPrefix))
    return nullptr;
  const auto* const row = std::find_if(kTags.begin(), kTags.end(), [&](const TagRow& each) {
    return each.name == tag.substr(kPrefix.size());
  });
  return row == kTags.end() ? nullptr : row;
}

/// As people write it.
std::string shown(std::string_view tag) {
  return tag.starts_with(kPrefix) ? printable("!!" + std::string(tag.substr(kPrefix.size())), 100)
                                  : printable(tag, 100);
}

std::string unknown(std::string_view tag) {
  std::vector<std::string> names;
  names.reserve(kTags.size());
  for (const TagRow& row : kTags)
    names.push_back("!!" + std::string(row.name));
  return "the tag " + shown(tag) + " is not known; YAML's own are " + join(names, ", ");
}

}  // namespace

tl::expected<Json, std::string> scalar(std::string_view text, std::string_view tag) {
  if (tag.empty() || tag == "?")
    return plain(text);
  if (tag == "!")
    return Json(text);
  const TagRow* const row = row_of(tag);
  if (row == nullptr)
    return tl::unexpected(unknown(tag));
  if (row->fits == nullptr)
    return tl::unexpected("a scalar is no " + std::string(row->what) + " (" + shown(tag) + ")");
  if (!row->fits(text))
    return tl::unexpected(printable(json::quote(text), 100) + " is no " + std::string(row->what) +
                          " (" + shown(tag) + ")");
  if (row->name == "str")
    return Json(text);
  auto value = plain(text);
  if (value && row->name == "float")
    return Json((**value).GetDouble());
  return value;
}

std::optional<std::string> collection_fault(std::string_view tag, std::string_view kind) {
  if (tag.empty() || tag == "?" || tag == "!")
    return std::nullopt;
  const TagRow* const row = row_of(tag);
  if (row == nullptr)
    return unknown(tag);
  if (row->name == kind)
    return std::nullopt;
  return std::string(kind == "seq" ? "an array" : "an object") + " is no " +
         std::string(row->what) + " (" + shown(tag) + ")";
}

}  // namespace baton::yaml
