// SPDX-License-Identifier: Apache-2.0
#include "base/json/parse.h"

#include <algorithm>
#include <charconv>
#include <memory>

#include <rapidjson/reader.h>

#include "base/text.h"
#include "base/utf8.h"

namespace baton {
namespace {

/// The text in the form that RapidJSON reads, with NUL as the end. The text itself has no NUL.
class TextStream {
 public:
  using Ch = char;
  TextStream(std::string_view text, std::size_t from) : text_(text), at_(from) {}
  // The names are RapidJSON's.
  // NOLINTBEGIN(readability-identifier-naming)
  Ch Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  Ch Take() { return at_ < text_.size() ? text_[at_++] : '\0'; }
  std::size_t Tell() const { return at_; }
  // Only in-situ parsing writes.
  static Ch* PutBegin() { return nullptr; }
  static void Put(Ch) {}
  static std::size_t PutEnd(Ch*) { return 0; }
  // NOLINTEND(readability-identifier-naming)

 private:
  std::string_view text_;
  std::size_t at_;
};

/// Stands between RapidJSON's reader and the document. It enforces the limits and converts numbers,
/// because RapidJSON's own conversion reads out of bounds (CVE-2024-38517).
class Filter {
 public:
  using Ch = char;
  Filter(rapidjson::Document& out, const TextStream& stream, const LoadLimits& limits)
      : out_(out), stream_(stream), limits_(limits) {}

  // The names are RapidJSON's.
  // NOLINTBEGIN(readability-identifier-naming)
  bool Null() { return one_more() && out_.Null(); }
  bool Bool(bool value) { return one_more() && out_.Bool(value); }
  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    return one_more() && number(std::string_view(text, length));
  }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    return one_more(length) && whole(std::string_view(text, length)) &&
           out_.String(text, length, true);
  }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    return one_more(length) && whole(std::string_view(text, length)) &&
           out_.Key(text, length, true);
  }
  bool StartObject() { return one_more() && deeper() && out_.StartObject(); }
  bool StartArray() { return one_more() && deeper() && out_.StartArray(); }
  bool EndObject(rapidjson::SizeType members) {
    --depth_;
    open_ -= 2 * std::size_t{members};
    if (members > limits_.max_object_members)
      return refuse(Refusal::members);
    return out_.EndObject(members);
  }
  bool EndArray(rapidjson::SizeType items) {
    --depth_;
    open_ -= items;
    return out_.EndArray(items);
  }
  // Never called: numbers come as text.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }
  // NOLINTEND(readability-identifier-naming)

  ParseFault fault(std::string_view text, std::size_t offset) const;
  /// The memory of the finished value.
  std::size_t bytes() const { return kValueBytes * values_ + string_bytes_; }
  std::vector<scan::Extent>& doubtful() { return doubtful_; }

 private:
  enum class Refusal { none, depth, members, memory, number_length, number_size, surrogate };
  /// The memory of a value or of a member's name.
  static constexpr std::size_t kValueBytes = sizeof(Value);

  bool refuse(Refusal why) {
    refusal_ = why;
    return false;
  }
  /// Counts a value and checks the limit for memory. While RapidJSON closes an array or object, it
  /// holds the content twice. While it reads a string, it holds the string twice.
  bool one_more(std::size_t string_size = 0) {
    constexpr std::size_t kWithin = 13;  // bytes that fit into a value itself
    constexpr std::size_t kAround = 9;   // NUL, alignment
    ++values_;
    ++open_;
    if (string_size > kWithin) {
      string_bytes_ += string_size + kAround;
      longest_ = std::max(longest_, string_size);
    }
    return bytes() + kValueBytes * open_ + longest_ <= limits_.max_memory_bytes ||
           refuse(Refusal::memory);
  }
  bool deeper() { return ++depth_ <= limits_.max_depth || refuse(Refusal::depth); }
  bool number(std::string_view text);
  /// RapidJSON turns a lone low surrogate escape into an invalid UTF-8 sequence.
  bool whole(std::string_view text) {
    for (std::size_t at = text.find('\xED'); at != std::string_view::npos;
         at = text.find('\xED', at + 1))
      if (utf8_length(text, at) == 0)
        return refuse(Refusal::surrogate);
    return true;
  }

  rapidjson::Document& out_;
  const TextStream& stream_;
  const LoadLimits& limits_;
  std::size_t depth_ = 0;
  std::size_t values_ = 0;  ///< includes names of members
  std::size_t open_ = 0;    ///< those in arrays and objects that are still open
  std::size_t string_bytes_ = 0;
  std::size_t longest_ = 0;
  std::vector<scan::Extent> doubtful_;
  Refusal refusal_ = Refusal::none;
};

bool Filter::number(std::string_view text) {
  if (text.size() > limits_.max_number_chars)
    return refuse(Refusal::number_length);
  const char* end = text.data() + text.size();
  if (text.find_first_of(".eE") == std::string_view::npos) {
    std::int64_t integer = 0;
    if (std::from_chars(text.data(), end, integer).ec == std::errc())
      return out_.Int64(integer);
    std::uint64_t natural = 0;
    if (text.front() != '-' && std::from_chars(text.data(), end, natural).ec == std::errc())
      return out_.Uint64(natural);
    constexpr std::size_t kMostDoubts = 100;
    if (limits_.doubt_numbers && doubtful_.size() < kMostDoubts)
      doubtful_.push_back({.begin = stream_.Tell() - text.size(), .end = stream_.Tell()});
  }
  double real = 0;
  const auto error = std::from_chars(text.data(), end, real).ec;
  if (error == std::errc::result_out_of_range) {
    if (!too_small(text))
      return refuse(Refusal::number_size);
    real = 0;
  }
  return out_.Double(real);
}

/// The number that contains `offset` or ends there.
scan::Extent number_around(std::string_view text, std::size_t offset) {
  constexpr std::string_view kNumberChars = "+-.0123456789eE";
  scan::Extent extent{.begin = std::min(offset, text.size()), .end = 0};
  while (extent.begin > 0 && kNumberChars.find(text[extent.begin - 1]) != std::string_view::npos)
    --extent.begin;
  extent.end = std::min(text.find_first_not_of(kNumberChars, extent.begin), text.size());
  return extent;
}

ParseFault too_large_number(std::string_view text, std::size_t offset) {
  const scan::Extent extent = number_around(text, offset);
  const std::string_view number = text.substr(extent.begin, extent.end - extent.begin);
  return {.code = Errc::too_large,
          .message = "the number " + printable(number, 40) + " is too large",
          .begin = extent.begin,
          .end = extent.end,
          .definite = true};
}

constexpr std::size_t kEscapeChars = 6;  // \uXXXX

/// The offset of the last low surrogate escape (`\uXXXX`) without its high surrogate; `until` if
/// there is none.
std::size_t lone_surrogate(std::string_view text, std::size_t until) {
  std::size_t found = until;
  for (std::size_t at = 0; at + 6 <= until; ++at) {
    if (text[at] != '\\')
      continue;
    const char kind = text[at + 1];
    const std::string_view digits = text.substr(at + 2, 2);
    ++at;
    if (kind != 'u' || (digits[0] != 'd' && digits[0] != 'D'))
      continue;
    constexpr std::string_view kHighSurrogates = "89abAB";
    constexpr std::string_view kLowSurrogates = "cdefCDEF";
    if (kHighSurrogates.find(digits[1]) != std::string_view::npos)
      at += 10;  // the reader has checked that the other half follows
    else if (kLowSurrogates.find(digits[1]) != std::string_view::npos)
      found = at - 1;  // the last one before the end of the refused string
  }
  return found;
}

ParseFault Filter::fault(std::string_view text, std::size_t offset) const {
  ParseFault fault{.code = Errc::too_large, .begin = offset - 1, .end = offset, .definite = true};
  // RapidJSON reports a bracket before it takes the bracket from the text, and all else afterwards.
  const auto at_bracket = [&] {
    fault.begin = offset;
    fault.end = offset + 1;
  };
  switch (refusal_) {
    case Refusal::depth:
      at_bracket();
      fault.message = too_deep(limits_);
      return fault;
    case Refusal::members:
      at_bracket();
      fault.message =
          "an object with more than " + std::to_string(limits_.max_object_members) + " members";
      return fault;
    case Refusal::memory:
      fault.too_much_memory = true;
      fault.message = std::to_string(values_ - 1) + " values and more take too much memory";
      return fault;
    case Refusal::number_size:
      return too_large_number(text, offset);
    case Refusal::number_length:
      fault.begin = number_around(text, offset).begin;
      fault.message =
          "a number of more than " + std::to_string(limits_.max_number_chars) + " characters";
      return fault;
    case Refusal::surrogate:
      fault.code = Errc::parse;
      fault.begin = lone_surrogate(text, offset);
      fault.end = std::min(fault.begin + kEscapeChars, text.size());
      fault.message = half_surrogate(text.substr(fault.begin, fault.end - fault.begin));
      return fault;
    case Refusal::none:
      break;
  }
  fault.message = "not accepted";
  return fault;
}

SyntaxKind kind_of(rapidjson::ParseErrorCode code) {
  switch (code) {
    case rapidjson::kParseErrorDocumentRootNotSingular:
      return SyntaxKind::after_end;
    case rapidjson::kParseErrorObjectMissName:
      return SyntaxKind::name;
    case rapidjson::kParseErrorObjectMissColon:
      return SyntaxKind::colon;
    case rapidjson::kParseErrorObjectMissCommaOrCurlyBracket:
      return SyntaxKind::object_end;
    case rapidjson::kParseErrorArrayMissCommaOrSquareBracket:
      return SyntaxKind::array_end;
    case rapidjson::kParseErrorStringUnicodeEscapeInvalidHex:
    case rapidjson::kParseErrorStringUnicodeSurrogateInvalid:
    case rapidjson::kParseErrorStringEscapeInvalid:
    case rapidjson::kParseErrorStringMissQuotationMark:
    case rapidjson::kParseErrorStringInvalidEncoding:
      return SyntaxKind::string;
    case rapidjson::kParseErrorNumberTooBig:
    case rapidjson::kParseErrorNumberMissFraction:
    case rapidjson::kParseErrorNumberMissExponent:
      return SyntaxKind::number;
    case rapidjson::kParseErrorNone:
    case rapidjson::kParseErrorDocumentEmpty:
    case rapidjson::kParseErrorValueInvalid:
    case rapidjson::kParseErrorTermination:
    case rapidjson::kParseErrorUnspecificSyntaxError:
      break;
  }
  return SyntaxKind::value;
}

ParseFault reader_fault(const rapidjson::ParseResult& result, const Filter& filter,
                        std::string_view text) {
  if (result.Code() == rapidjson::kParseErrorTermination)
    return filter.fault(text, result.Offset());
  if (result.Code() == rapidjson::kParseErrorNumberTooBig)
    return too_large_number(text, result.Offset());
  // The reader reports an unfinished string at its beginning; the fault is at the end of the text.
  if (result.Code() == rapidjson::kParseErrorStringMissQuotationMark)
    return syntax_fault(text, SyntaxKind::string, text.size());
  ParseFault fault = syntax_fault(text, kind_of(result.Code()), result.Offset());
  if (result.Code() == rapidjson::kParseErrorStringUnicodeSurrogateInvalid && !fault.incomplete) {
    fault.end = std::min(fault.begin + kEscapeChars, text.size());
    fault.message = half_surrogate(text.substr(fault.begin, kEscapeChars));
  }
  return fault;
}

struct Duplicate {
  std::string pointer;  ///< of the object
  std::string name;
  /// The pointer of the member. If the name is very long, the pointer of the object, to keep it
  /// short.
  std::string member() const {
    constexpr std::size_t kLongName = 64U << 10U;
    return name.size() > kLongName ? pointer : pointer + "/" + json::pointer_token(name);
  }
};

/// The first name that occurs twice.
std::optional<std::string_view> repeated_name(const Value& object) {
  constexpr rapidjson::SizeType kFew = 16;
  const auto members = object.GetObject();
  if (object.MemberCount() <= kFew) {
    for (auto second = members.begin(); second != members.end(); ++second)
      for (auto first = members.begin(); first != second; ++first)
        if (first->name.GetStringLength() == second->name.GetStringLength() &&
            json::name(first->name) == json::name(second->name))
          return json::name(second->name);
    return std::nullopt;
  }
  std::vector<std::pair<std::string_view, std::size_t>> names;
  names.reserve(object.MemberCount());
  for (const auto& member : members)
    names.emplace_back(json::name(member.name), names.size());
  std::sort(names.begin(), names.end());
  auto first = names.end();
  for (auto at = names.begin(); at + 1 < names.end(); ++at)
    if (at->first == (at + 1)->first && (first == names.end() || (at + 1)->second < first->second))
      first = at + 1;
  return first == names.end() ? std::nullopt : std::optional(first->first);
}

/// Recursive; the depth of the value is limited already.
std::optional<Duplicate> find_duplicate(const Value& value) {
  if (value.IsArray()) {
    for (rapidjson::SizeType i = 0; i < value.Size(); ++i) {
      if (auto found = find_duplicate(value[i])) {
        found->pointer = "/" + std::to_string(i) + found->pointer;
        return found;
      }
    }
    return std::nullopt;
  }
  if (!value.IsObject())
    return std::nullopt;
  if (const auto name = repeated_name(value))
    return Duplicate{.pointer = "", .name = std::string(*name)};
  for (const auto& member : value.GetObject()) {
    if (auto found = find_duplicate(member.value)) {
      found->pointer = "/" + json::pointer_token(json::name(member.name)) + found->pointer;
      return found;
    }
  }
  return std::nullopt;
}

ParseFault duplicate_fault(const Duplicate& duplicate, std::string_view text, std::size_t from) {
  ParseFault fault{
      .message = "the member " + printable(json::quote(duplicate.name), 100) + " appears twice",
      .pointer = duplicate.member(),
      .begin = from,
      .end = from,
      .definite = true};
  const auto tokens = json::pointer_tokens(duplicate.pointer);
  const auto object = scan::find(text, from, *tokens);
  if (!object)
    return fault;
  bool seen = false;
  for (const scan::Item& item : scan::items_at(text, object->value.begin)) {
    const scan::Extent name = *item.name;
    if (scan::unquote(text.substr(name.begin, name.end - name.begin)) != duplicate.name)
      continue;
    if (seen) {
      fault.begin = name.begin;
      fault.end = name.end;
      break;
    }
    seen = true;
  }
  return fault;
}

}  // namespace

tl::expected<ParsedValue, ParseFault> parse_value(std::string_view text, std::size_t from,
                                                  const LoadLimits& limits) {
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag |
                              rapidjson::kParseNumbersAsStringsFlag |
                              rapidjson::kParseStopWhenDoneFlag;
  // A document needs several times the memory of its text.
  constexpr std::size_t kLeast = 256;
  constexpr std::size_t kMost = 64U << 10U;
  auto pool = std::make_unique<JsonPool>(std::clamp((text.size() - from) * 4, kLeast, kMost));
  rapidjson::Document document(pool.get(), kLeast);
  TextStream stream(text, from);
  Filter filter(document, stream, limits);
  rapidjson::Reader reader;
  rapidjson::ParseResult result;
  auto generate = [&](rapidjson::Document&) {
    result = reader.Parse<kFlags>(stream, filter);
    return !result.IsError();
  };
  document.Populate(generate);
  if (result.IsError())
    return tl::unexpected(reader_fault(result, filter, text));
  if (const auto duplicate = find_duplicate(document))
    return tl::unexpected(duplicate_fault(*duplicate, text, from));
  Value root;
  root.Swap(document);
  return ParsedValue{.value = Json(std::move(pool), std::move(root)),
                     .bytes = filter.bytes(),
                     .end = stream.Tell(),
                     .doubtful_numbers = std::move(filter.doubtful())};
}

tl::expected<ParsedValue, ParseFault> parse_whole(std::string_view text, const LoadLimits& limits) {
  if (const auto bad = bad_utf8(text))
    return tl::unexpected(utf8_fault(text, *bad));
  const std::size_t from = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  LoadLimits left = limits;
  left.max_memory_bytes -= std::min(left.max_memory_bytes, text.size());
  auto parsed = parse_value(text, from, left);
  if (parsed && scan::skip_blanks(text, parsed->end) != text.size())
    return tl::unexpected(syntax_fault(text, SyntaxKind::after_end, parsed->end));
  return parsed;
}

bool too_small(std::string_view number) {
  const std::size_t exponent_at = std::min(number.find_first_of("eE"), number.size());
  const std::string_view mantissa = number.substr(0, exponent_at);
  const std::size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos)
    return true;
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  if (exponent_at < number.size())
    return number.substr(exponent_at + 1, 1) == "-";
  return first > point;
}

std::string too_deep(const LoadLimits& limits) {
  return "nested deeper than " + std::to_string(limits.max_depth) + " levels";
}

std::string half_surrogate(std::string_view escape) {
  return "half a surrogate pair: " + printable(escape);
}

ParseFault utf8_fault(std::string_view text, std::size_t bad_at) {
  ParseFault fault{.begin = bad_at, .end = bad_at + 1};
  fault.definite = text[bad_at] != '\0' && !utf8_cut(text, bad_at);
  const std::string_view head = text.substr(0, 4);
  if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF") ||
      // UTF-16 has NUL in half of its bytes. A crash leaves a file with nothing but NUL.
      (bad_at < 2 && text.size() > 1 && (text[0] == '\0') != (text[1] == '\0'))) {
    fault.message = "not UTF-8; is it UTF-16?";
    return fault;
  }
  const bool packed = head.starts_with("\x1F\x8B");
  if (packed || text.starts_with("Salted__") || text.starts_with("age-encryption.org/")) {
    fault.message = std::string("not UTF-8: this is ") + (packed ? "compressed" : "encrypted") +
                    "; it must be plain text";
    return fault;
  }
  fault.incomplete = utf8_cut(text, bad_at);
  if (fault.incomplete)
    fault.message = "the text ends in the middle of a character";
  else if (text[bad_at] == '\0')
    fault.message = "a NUL byte";
  else
    fault.message = "not UTF-8: " + printable(text.substr(bad_at, 1));
  return fault;
}

}  // namespace baton
