// SPDX-License-Identifier: Apache-2.0
#include "base/schema/pattern.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "base/text.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace baton {
namespace {

// Far more than a schema needs, and still only about ten milliseconds. PCRE2's own limit starts
// again at each position of the text and does not see what a possessive repetition reads. So baton
// counts the steps itself, in callouts between the items of the pattern.
constexpr std::size_t kMaxSteps = 500'000;
constexpr std::uint32_t kMatchLimit = 500'000;
constexpr std::uint32_t kDepthLimit = 20'000;
constexpr std::uint32_t kHeapLimitKib = 20'000;
constexpr std::size_t kMaxPatternBytes = 16U << 10U;
constexpr std::uint32_t kMaxNesting = 250;

// ECMA has more white space characters than PCRE2.
constexpr std::string_view kSpaces =
    R"(\x09-\x0d\x20\xa0\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff})";

struct PropertyName {
  std::string_view ecma;
  std::string_view pcre;
};
constexpr std::array kProperties = {
    PropertyName{"Letter", "L"},
    PropertyName{"Alphabetic", "L"},
    PropertyName{"Number", "N"},
    PropertyName{"Decimal_Number", "Nd"},
    PropertyName{"digit", "Nd"},
    PropertyName{"Punctuation", "P"},
    PropertyName{"Symbol", "S"},
    PropertyName{"Separator", "Z"},
    PropertyName{"Mark", "M"},
    PropertyName{"Uppercase_Letter", "Lu"},
    PropertyName{"Lowercase_Letter", "Ll"},
};

class Translator {
 public:
  explicit Translator(std::string_view in) : in_(in) {}

  Result<std::string> run() {
    while (at_ < in_.size() && !wrong_) {
      const char c = in_[at_];
      if (c == '\\')
        escape();
      else if (in_class_)
        class_character(c);
      else
        character(c);
    }
    if (wrong_)
      return fail(Errc::schema, "in a pattern, " + *wrong_ + " is not known");
    return std::move(out_);
  }

 private:
  void refuse(std::string what) { wrong_ = std::move(what); }

  char peek(std::size_t ahead) const { return at_ + ahead < in_.size() ? in_[at_ + ahead] : '\0'; }

  void character(char c) {
    if (c == '[')
      return open_class();
    if (c == '(' && peek(1) == '?' && !known_group())
      return refuse("a group like " + printable(in_.substr(at_, 4)));
    if (c == '(' && peek(1) == '*')
      return refuse("a group like (*");
    const bool quantifier = c == '*' || c == '+' || c == '?' || c == '}';
    if (c == '+' && after_quantifier_)
      return refuse("a possessive quantifier");
    after_quantifier_ = quantifier;
    out_ += c;
    ++at_;
  }

  bool known_group() const {
    const std::string_view rest = in_.substr(at_ + 2);
    for (const std::string_view known : {":", "=", "!", "<=", "<!"})
      if (rest.starts_with(known))
        return true;
    return rest.size() > 1 && rest[0] == '<' && rest[1] != '=' && rest[1] != '!';
  }

  void open_class() {
    in_class_ = true;
    after_quantifier_ = false;
    out_ += '[';
    ++at_;
    if (peek(0) == '^') {
      out_ += '^';
      ++at_;
    }
  }

  void class_character(char c) {
    if (c == ']')
      in_class_ = false;
    // POSIX classes exist only in PCRE2; here the bracket is a plain character.
    if (c == '[')
      out_ += '\\';
    out_ += c;
    ++at_;
  }

  void escape() {
    after_quantifier_ = false;
    const char c = peek(1);
    at_ += 2;
    switch (c) {
      case '\0':
        return refuse("a backslash at the end");
      case 'd':
        return in_class_ ? put("0-9") : put("[0-9]");
      case 'D':
        return in_class_ ? put("\\x00-/:-\\x{10ffff}") : put("[^0-9]");
      case 'w':
        return in_class_ ? put("A-Za-z0-9_") : put("[A-Za-z0-9_]");
      case 'W':
        return in_class_ ? put("\\x00-/:-@\\[-\\^`{-\\x{10ffff}") : put("[^A-Za-z0-9_]");
      case 's':
        return in_class_ ? put(kSpaces) : put("[" + std::string(kSpaces) + "]");
      case 'S':
        return in_class_ ? put("\\S") : put("[^" + std::string(kSpaces) + "]");
      case 'v':
        return put("\\x0b");
      case '0':
        return put("\\x00");
      case 'c':
        return control();
      case 'u':
        return unicode();
      case 'x':
        return hexadecimal();
      case 'p':
      case 'P':
        return property(c);
      default:
        return plain_escape(c);
    }
  }

  void plain_escape(char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    constexpr std::string_view kKept = "bBfnrtk";
    if (letter && kKept.find(c) == std::string_view::npos)
      return refuse(std::string("the escape \\") + c);
    out_ += '\\';
    out_ += c;
  }

  void control() {
    const char letter = peek(0);
    if (!((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z')))
      return refuse("a \\c without a letter");
    ++at_;
    put_code_point(static_cast<unsigned char>(letter) & 0x1FU);
  }

  std::optional<char32_t> hex_digits(std::size_t count) {
    std::uint32_t value = 0;
    const std::string_view digits = in_.substr(std::min(at_, in_.size()), count);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != count || count == 0 || error != std::errc() ||
        end != digits.data() + digits.size())
      return std::nullopt;
    at_ += count;
    return value;
  }

  void hexadecimal() {
    const auto value = hex_digits(2);
    if (!value)
      return refuse("a \\x without two digits");
    put_code_point(*value);
  }

  void unicode() {
    if (peek(0) == '{') {
      ++at_;
      const std::size_t close = in_.find('}', at_);
      const auto value =
          hex_digits(close == std::string_view::npos || close - at_ > 6 ? 0 : close - at_);
      if (!value || *value > 0x10FFFF)
        return refuse("that \\u{}");
      ++at_;
      return put_code_point(*value);
    }
    auto unit = hex_digits(4);
    if (!unit)
      return refuse("a \\u without four digits");
    if (*unit >= 0xD800 && *unit < 0xDC00 && in_.substr(at_).starts_with("\\u")) {
      at_ += 2;
      const auto low = hex_digits(4);
      if (!low || *low < 0xDC00 || *low > 0xDFFF)
        return refuse("half a surrogate pair");
      unit = 0x10000 + ((*unit - 0xD800) << 10U) + (*low - 0xDC00);
    }
    if (*unit >= 0xD800 && *unit < 0xE000)
      return refuse("half a surrogate pair");
    put_code_point(*unit);
  }

  void property(char letter) {
    const std::size_t close = in_.find('}', at_);
    if (peek(0) != '{' || close == std::string_view::npos)
      return refuse("a \\p without a name");
    std::string_view name = in_.substr(at_ + 1, close - at_ - 1);
    at_ = close + 1;
    if (name.find('=') != std::string_view::npos)
      name = name.substr(name.find('=') + 1);
    for (const PropertyName& row : kProperties)
      if (row.ecma == name)
        name = row.pcre;
    out_ += '\\';
    out_ += letter;
    out_ += '{';
    out_ += name;
    out_ += '}';
  }

  void put(std::string_view text) { out_ += text; }
  void put_code_point(char32_t value) {
    std::array<char, 16> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(),
                                            static_cast<std::uint32_t>(value), 16);
    out_ += "\\x{";
    out_.append(digits.data(), end);
    out_ += '}';
  }

  std::string_view in_;
  std::size_t at_ = 0;
  std::string out_;
  bool in_class_ = false;
  bool after_quantifier_ = false;
  std::optional<std::string> wrong_;
};

struct FreeContext {
  void operator()(pcre2_compile_context* context) const { pcre2_compile_context_free(context); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};
template <class T>
using Owned = std::unique_ptr<T, FreeContext>;

PCRE2_SPTR units(std::string_view text) {
  // PCRE2 reads bytes as unsigned; only the type differs.
  return reinterpret_cast<PCRE2_SPTR>(text.data());
}

/// The cost of one search.
struct Work {
  std::size_t steps = 0;
  std::size_t weight = 1;  ///< cost of one item
  PCRE2_SIZE at = 0;
};

// Reading text costs less than trying an item of the pattern.
constexpr std::size_t kReadPerStep = 16;

int count_work(pcre2_callout_block* block, void* data) {
  Work& work = *static_cast<Work*>(data);
  const PCRE2_SIZE here = block->current_position;
  const PCRE2_SIZE read = here > work.at ? here - work.at : work.at - here;
  work.at = here;
  work.steps += work.weight + read / kReadPerStep;
  return work.steps > kMaxSteps ? PCRE2_ERROR_CALLOUT : 0;
}

/// The text that every match begins with: `ab` for `^abc*`; "" when that is not obvious. It is a
/// cheap first test: most patterns for names begin with such a text, and most names do not.
std::string literal_beginning(std::string_view ecma) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-/ :,;=@#%&~<>!'\"";
  if (!ecma.starts_with('^') || ecma.find('|') != std::string_view::npos)
    return {};
  ecma.remove_prefix(1);
  std::size_t length = std::min(ecma.find_first_not_of(kPlain), ecma.size());
  constexpr std::string_view kMayBeNone = "*?{";
  if (length > 0 && length < ecma.size() && kMayBeNone.find(ecma[length]) != std::string_view::npos)
    --length;
  return std::string(ecma.substr(0, length));
}

/// The largest number in braces, except in `\u{...}`.
std::size_t most_repeated(std::string_view pattern) {
  std::size_t most = 0;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    std::size_t number = 0;
    const char before = at == 0 ? ' ' : pattern[at - 1];
    const bool character = at >= 3 && pattern.substr(at - 3, 3) == "\\x{";
    if ((before == '{' && !character) || before == ',')
      std::from_chars(pattern.data() + at, pattern.data() + pattern.size(), number);
    most = std::max(most, number);
  }
  return std::min<std::size_t>(most, 65'535);
}

}  // namespace

struct Pattern::Code {
  Owned<pcre2_code> code;
  /// The largest repetition in the pattern. One item may read that much text and fail, and then no
  /// callout counts it.
  std::size_t most_repeated = 0;
  bool back_references = false;
  std::string beginning;
};

Result<std::string> pcre_from_ecma(std::string_view ecma) {
  return Translator(ecma).run();
}

Result<Pattern> Pattern::compile(std::string_view ecma, Lines lines) {
  if (ecma.size() > kMaxPatternBytes)
    return fail(Errc::schema, "a pattern of more than 16 KiB");
  const auto translated = pcre_from_ecma(ecma);
  if (!translated)
    return tl::unexpected(translated.error());
  const Owned<pcre2_compile_context> context(pcre2_compile_context_create(nullptr));
  const bool python = lines == Lines::python;
  pcre2_set_newline(context.get(), python ? PCRE2_NEWLINE_LF : PCRE2_NEWLINE_ANYCRLF);
  pcre2_set_parens_nest_limit(context.get(), kMaxNesting);
  constexpr std::uint32_t kOptions = PCRE2_UTF | PCRE2_MATCH_UNSET_BACKREF |
                                     PCRE2_ALLOW_EMPTY_CLASS | PCRE2_NEVER_BACKSLASH_C |
                                     PCRE2_AUTO_CALLOUT;
  int error = 0;
  PCRE2_SIZE offset = 0;
  auto code = std::make_shared<Code>();
  code->code.reset(pcre2_compile(units(*translated), translated->size(),
                                 kOptions | (python ? PCRE2_ALT_CIRCUMFLEX : PCRE2_DOLLAR_ENDONLY),
                                 &error, &offset, context.get()));
  if (!code->code) {
    std::array<PCRE2_UCHAR, 120> message{};
    pcre2_get_error_message(error, message.data(), message.size());
    return fail(Errc::schema, "the pattern " + printable(ecma, 100) +
                                  " is wrong: " + reinterpret_cast<const char*>(message.data()));
  }
  std::uint32_t references = 0;
  pcre2_pattern_info(code->code.get(), PCRE2_INFO_BACKREFMAX, &references);
  code->back_references = references > 0;
  code->most_repeated = most_repeated(*translated);
  code->beginning = literal_beginning(ecma);
  Pattern pattern;
  pattern.source_ = ecma;
  pattern.code_ = std::move(code);
  return pattern;
}

std::size_t Pattern::bytes() const {
  std::size_t size = 0;
  pcre2_pattern_info(code_->code.get(), PCRE2_INFO_SIZE, &size);
  return size;
}

Pattern::Search Pattern::search(std::string_view text) const {
  if (!text.starts_with(code_->beginning))
    return {Match::no, 0};
  // Created for each search, so that a Pattern is immutable. Both objects are small.
  const Owned<pcre2_match_data> data(pcre2_match_data_create(1, nullptr));
  const Owned<pcre2_match_context> context(pcre2_match_context_create(nullptr));
  pcre2_set_match_limit(context.get(), kMatchLimit);
  pcre2_set_depth_limit(context.get(), kDepthLimit);
  pcre2_set_heap_limit(context.get(), kHeapLimitKib);
  Work work;
  work.weight += std::min(code_->most_repeated, text.size()) / kReadPerStep;
  // A back reference compares two pieces of text, which is faster than reading text.
  if (code_->back_references)
    work.weight += text.size() / (8 * kReadPerStep);
  pcre2_set_callout(context.get(), count_work, &work);
  const int count = pcre2_match(code_->code.get(), units(text), text.size(), 0, PCRE2_NO_UTF_CHECK,
                                data.get(), context.get());
  constexpr std::size_t kCall = 4;
  work.steps += kCall + text.size() / kReadPerStep;
  if (count >= 0)
    return {Match::yes, work.steps};
  return {count == PCRE2_ERROR_NOMATCH ? Match::no : Match::too_expensive, work.steps};
}

}  // namespace baton
