// SPDX-License-Identifier: Apache-2.0
#include "dialects/fsm_loop/values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "dialects/findings.h"
#include "dialects/tables.h"

namespace baton::fsm_loop {

namespace {

constexpr std::array<std::string_view, 10> kSpaces = {
    "context", "captured", "prev", "result", "state", "loop", "env", "messages", "param", "last"};
/// A name space with a fixed set of names.
struct SpaceRow {
  std::string_view space;
  std::array<std::string_view, 5> names;
};
constexpr std::array kFixed = {
    SpaceRow{"state", {"name", "iteration"}},
    SpaceRow{"loop", {"name", "started_at", "elapsed_ms", "elapsed", "continuation"}},
    SpaceRow{"prev", {"output", "exit_code", "state", "timeout_kind"}},
    SpaceRow{"last", {"verdict", "details"}},
    SpaceRow{"result", {"verdict", "details"}},
};
constexpr std::string_view kDefault = ":default=";
constexpr std::string_view kShell = ":shell";

/// Removes the suffixes. A default is literal text up to the end, so it is removed first.
std::string_view without_suffixes(std::string_view inside, Placeholder& found) {
  if (const auto at = inside.find(kDefault); at != std::string_view::npos) {
    found.has_default = true;
    found.default_text = inside.substr(at + kDefault.size());
    inside = inside.substr(0, at);
  }
  for (bool again = true; again;) {
    again = false;
    if (inside.ends_with('?')) {
      again = found.optional = true;
      inside.remove_suffix(1);
    } else if (inside.ends_with(kShell)) {
      again = found.shell = true;
      inside.remove_suffix(kShell.size());
    }
  }
  return inside;
}

/// The names of a name space with a fixed set; else empty.
std::vector<std::string_view> names_of(std::string_view space) {
  std::vector<std::string_view> names;
  for (const SpaceRow& row : kFixed)
    if (row.space == space)
      std::copy_if(row.names.begin(), row.names.end(), std::back_inserter(names),
                   [](std::string_view name) { return !name.empty(); });
  return names;
}

std::string_view first_name(std::string_view path) {
  return path.substr(0, path.find('.'));
}

std::string fault_of(const Placeholder& found, std::string_view inside) {
  // `:default=TEXT:shell` could mean both suffixes, and the text would reach the shell without
  // quotes.
  const bool both = found.has_default && found.default_text.ends_with(kShell);
  if (found.has_default + found.optional + found.shell > 1 || both)
    return "the suffixes :default=, ? and :shell exclude each other";
  if (std::find(kSpaces.begin(), kSpaces.end(), found.space) == kSpaces.end()) {
    if (inside.find('.') == std::string_view::npos)
      return "there is no name space in it; write $${" + printable(inside, 80) +
             "} for a literal that the shell reads";
    return "the name space " + quoted_word(found.space) + " does not exist";
  }
  if (found.path.empty() && found.space != "messages")
    return "nothing follows the name space";
  const std::vector<std::string_view> names = names_of(found.space);
  if (!names.empty() &&
      std::find(names.begin(), names.end(), first_name(found.path)) == names.end())
    return "the name space " + quoted_word(found.space) + " has " + any_of_words(names);
  return {};
}

Placeholder read(std::string_view text, std::size_t begin, std::size_t close) {
  Placeholder found;
  found.begin = begin;
  found.end = close + 1;
  const std::string_view inside =
      without_suffixes(text.substr(begin + 2, close - begin - 2), found);
  const auto dot = inside.find('.');
  found.space = inside.substr(0, dot);
  if (dot != std::string_view::npos)
    found.path = inside.substr(dot + 1);
  found.fault = fault_of(found, inside);
  if (found.fault.empty() || found.path.empty())
    return found;
  const auto instead = [&](std::size_t at, std::string_view word, const std::string& near) {
    if (near.empty() || near == word)
      return;
    found.meant = text.substr(begin, close + 1 - begin);
    found.meant.replace(at, word.size(), near);
  };
  instead(3 + dot, first_name(found.path),
          near_word(first_name(found.path), names_of(found.space)));
  instead(2, found.space, near_word(found.space, kSpaces));
  return found;
}

struct OperatorRow {
  std::string_view word;
  Operator op;
};
constexpr std::array kOperators = {
    OperatorRow{"eq", Operator::eq}, OperatorRow{"ne", Operator::ne},
    OperatorRow{"lt", Operator::lt}, OperatorRow{"le", Operator::le},
    OperatorRow{"gt", Operator::gt}, OperatorRow{"ge", Operator::ge},
};
static_assert(in_enum_order(kOperators, &OperatorRow::op, Operator::ge));

/// Removes `_` between digits and a leading plus, because from_chars does not accept them.
std::string plain(std::string_view text) {
  std::string digits;
  if (text.starts_with('+') && !text.starts_with("+-"))
    text.remove_prefix(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool between =
        i > 0 && i + 1 < text.size() && is_digit(text[i - 1]) && is_digit(text[i + 1]);
    if (text[i] != '_' || !between)
      digits += text[i];
  }
  return digits;
}

/// False for words such as `inf`, and for hexadecimal numbers.
bool spelled_as_decimal(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
}

/// Whether a number out of range is too small, not too large.
bool vanishes(std::string_view digits) {
  const std::size_t exponent = digits.find_first_of("eE");
  if (exponent != std::string_view::npos)
    return digits.substr(exponent + 1).starts_with('-');
  return digits.substr(0, digits.find('.')).find_first_not_of("-0") == std::string_view::npos;
}

tl::unexpected<Error> no_number(std::string_view text) {
  constexpr std::size_t kShown = 100;
  return fail(Errc::parse,
              text.empty() ? std::string("there is no number: the text is empty")
                           : "not a finite decimal number: \"" + printable(text, kShown) + "\"");
}

/// The value at a path through maps. A number in the path is a name.
Result<std::string> within(const Value* root, std::string_view path, std::string_view space,
                           std::string_view absent) {
  if (root == nullptr || root->IsNull())
    return fail(Errc::not_found, std::string(absent));
  const Value* value = root;
  std::size_t at = 0;
  while (at <= path.size()) {
    const std::size_t dot = std::min(path.find('.', at), path.size());
    value = json::child(*value, path.substr(at, dot - at));
    if (value == nullptr)
      return fail(Errc::not_found,
                  quoted_word(path.substr(0, dot)) + " is not in " + std::string(space));
    at = dot + 1;
  }
  return rendered(*value);
}

std::string joined(std::span<const std::string> messages, std::size_t count) {
  const std::size_t from = messages.size() - std::min(count, messages.size());
  return join(messages.subspan(from), "\n");
}

/// The count in `last(COUNT)`.
std::optional<std::size_t> last_of(std::string_view path) {
  constexpr std::string_view kLast = "last(";
  if (!path.starts_with(kLast) || !path.ends_with(')'))
    return std::nullopt;
  return whole_number(path.substr(kLast.size(), path.size() - kLast.size() - 1));
}

Result<std::string> message(std::string_view path, std::span<const std::string> messages) {
  if (path.empty() || path == "output")
    return joined(messages, messages.size());
  if (const auto count = last_of(path))
    return joined(messages, *count);
  if (path == "summary")
    return messages.empty()
               ? std::string()
               : std::to_string(messages.size()) + " messages, the last: " + messages.back();
  return fail(Errc::not_found, "messages have output, last(N) and summary");
}

Result<std::string> of_environment(std::string_view path, const Values& values) {
  if (values.env != nullptr)
    if (const auto found = values.env->find(std::string(path)); found != values.env->end())
      return found->second;
  return fail(Errc::not_found, "the variable " + quoted_word(path) +
                                   " is not set, or `shell: { env: [...] }` of fsm_loop in "
                                   "baton.yaml does not list it");
}

/// The value of a fragment's parameter may contain placeholders of the state that uses the
/// fragment.
Result<std::string> parameter(std::string_view path, const Values& values) {
  auto raw = within(values.param, path, "the fragment's parameters", "the state has no parameters");
  if (!raw || raw->find("${") == std::string::npos)
    return raw;
  Values outer = values;
  outer.param = nullptr;
  return interpolate(*raw, outer);
}

Result<std::string> look_up(const Placeholder& each, const Values& values) {
  const std::string_view path = each.path;
  if (each.space == "context")
    return within(values.context, path, "the context", "there is no context");
  if (each.space == "captured")
    return within(values.captured, path, "what was captured", "nothing was captured yet");
  if (each.space == "prev")
    return within(values.prev, path, "the result before", "no action ran before");
  if (each.space == "last")
    return within(values.last, path, "the evaluation before", "nothing was evaluated before");
  if (each.space == "result")
    return within(values.result != nullptr ? values.result : values.last, path, "the evaluation",
                  "nothing was evaluated yet");
  if (each.space == "state") {
    const Json state =
        Json::object({{"name", std::string(values.state)}, {"iteration", values.iteration}});
    return within(&*state, path, "the state", {});
  }
  if (each.space == "loop") {
    const Json loop = Json::object({{"name", std::string(values.loop)},
                                    {"started_at", std::string(values.started_at)},
                                    {"elapsed_ms", values.elapsed_ms},
                                    {"elapsed", elapsed_text(values.elapsed_ms)},
                                    {"continuation", std::string(values.continuation)}});
    return within(&*loop, path, "the loop", {});
  }
  if (each.space == "env")
    return of_environment(path, values);
  if (each.space == "messages")
    return message(path, values.messages);
  return parameter(path, values);
}

Result<std::string> filled(const Placeholder& each, std::string_view spelled,
                           const Values& values) {
  const auto because = [&](Errc code, const std::string& why) {
    return fail(code, "the placeholder " + quoted_word(spelled) + " cannot be filled in: " + why);
  };
  if (!each.fault.empty())
    return because(Errc::usage, each.fault);
  auto found = look_up(each, values);
  if (!found && each.has_default)
    return each.default_text;
  if (!found && each.optional)
    return std::string();
  if (!found)
    return because(Errc::not_found, found.error().message);
  // An argument of a program ends at a NUL, so the rest would be lost.
  if (found->find('\0') != std::string::npos)
    return because(Errc::usage, "its value holds a NUL character");
  return each.shell ? shell_word(*found) : std::move(*found);
}

/// `$${` becomes `${`.
void add_literal(std::string& out, std::string_view text) {
  constexpr std::string_view kEscaped = "$${";
  for (std::size_t at = 0;;) {
    const std::size_t next = text.find(kEscaped, at);
    out += text.substr(at, next == std::string_view::npos ? next : next - at);
    if (next == std::string_view::npos)
      return;
    out += "${";
    at = next + kEscaped.size();
  }
}

std::string number_text(const Value& value) {
  if (value.IsInt64())
    return std::to_string(value.GetInt64());
  if (value.IsUint64())
    return std::to_string(value.GetUint64());
  if (const Json number = number_value(value.GetDouble()); number->IsInt64())
    return std::to_string(number->GetInt64());
  char text[32];
  const auto [end, error] = std::to_chars(std::begin(text), std::end(text), value.GetDouble());
  return error == std::errc() ? std::string(text, end) : json::dump(value);
}

}  // namespace

std::vector<Placeholder> placeholders(std::string_view text) {
  std::vector<Placeholder> all;
  std::size_t at = 0;
  while ((at = text.find("${", at)) != std::string_view::npos) {
    const auto close = text.find('}', at + 2);
    if (close == std::string_view::npos)
      break;
    const bool literal = at > 0 && text[at - 1] == '$';
    if (!literal && close > at + 2)
      all.push_back(read(text, at, close));
    at = literal ? at + 2 : close + 1;
  }
  return all;
}

bool computed(std::string_view text) {
  return !placeholders(text).empty();
}

bool ShellQuotes::quoted_at(std::size_t place) {
  while (next_ < std::min(place, text_.size()))
    step();
  return place < document_end_ ? !expands_ : quote_ != 0;
}

void ShellQuotes::step() {
  if (next_ < document_end_) {
    next_ = document_end_;
    return;
  }
  const char c = text_[next_];
  if (c == '\\' && quote_ != '\'')
    ++next_;
  else if (quote_ != 0)
    quote_ = c == quote_ ? '\0' : quote_;
  else if (c == '\'' || c == '"')
    quote_ = c;
  else if (text_.substr(next_).starts_with("<<") && !text_.substr(next_).starts_with("<<<"))
    return begin_document();
  else if (c == '\n' && !delimiter_.empty())
    return end_line();
  ++next_;
}

/// Reads `<<END`, `<<-END` or `<<'END'`. The document begins with the next line.
void ShellQuotes::begin_document() {
  next_ = std::min(text_.find_first_not_of("<- \t", next_), text_.size());
  const std::string_view rest = text_.substr(next_);
  const std::string_view plain =
      rest.substr(std::min(rest.find_first_not_of("'\"\\"), rest.size()));
  expands_ = plain.size() == rest.size();
  delimiter_ = plain.substr(0, plain.find_first_of("'\" \t\n;|&<>()"));
  next_ += rest.size() - plain.size() + delimiter_.size() + (expands_ || rest[0] == '\\' ? 0 : 1);
}

void ShellQuotes::end_line() {
  std::size_t line = ++next_;
  while (line < text_.size()) {
    const std::size_t end = std::min(text_.find('\n', line), text_.size());
    if (trimmed(text_.substr(line, end - line), "\t") == delimiter_)
      break;
    line = end + 1;
  }
  delimiter_ = {};
  document_end_ = std::min(line, text_.size());
}

Result<double> decimal(std::string_view text) {
  const std::string_view written = trimmed(text, " \t\r\n\f\v");
  if (written.empty())
    return no_number({});
  const std::string digits = plain(written);
  double number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [behind, error] = std::from_chars(digits.data(), end, number);
  if (!spelled_as_decimal(digits) || behind != end || error == std::errc::invalid_argument)
    return no_number(written);
  if (error == std::errc::result_out_of_range) {
    if (!vanishes(digits))
      return no_number(written);
    number = 0;
  }
  return number;
}

std::optional<std::size_t> whole_number(std::string_view text) {
  std::size_t number = 0;
  const std::errc error = std::from_chars(text.data(), text.data() + text.size(), number).ec;
  return all_digits(text) && error == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<Operator> parse_operator(std::string_view word) {
  const OperatorRow* const row = row_of(kOperators, word);
  return row == nullptr ? std::nullopt : std::optional(row->op);
}

bool holds(Operator op, double left, double right) {
  switch (op) {
    case Operator::eq:
      return left == right;
    case Operator::ne:
      return left != right;
    case Operator::lt:
      return left < right;
    case Operator::le:
      return left <= right;
    case Operator::gt:
      return left > right;
    case Operator::ge:
      return left >= right;
  }
  return false;
}

Json number_value(double number) {
  constexpr double kExact = 9007199254740992.0;  // 2^53: integers beyond it are not exact
  if (number == std::floor(number) && std::fabs(number) < kExact)
    return static_cast<std::int64_t>(number);
  return number;
}

Result<std::string> interpolate(std::string_view text, const Values& values) {
  std::string out;
  std::size_t at = 0;
  for (const Placeholder& each : placeholders(text)) {
    add_literal(out, text.substr(at, each.begin - at));
    auto value = filled(each, text.substr(each.begin, each.end - each.begin), values);
    if (!value)
      return value;
    out += *value;
    at = each.end;
  }
  add_literal(out, text.substr(at));
  return out;
}

std::string rendered(const Value& value) {
  if (value.IsNull())
    return {};
  if (const auto text = json::text(value))
    return std::string(*text);
  if (const auto truth = json::boolean(value))
    return *truth ? "true" : "false";
  return value.IsNumber() ? number_text(value) : json::dump(value);
}

std::string elapsed_text(std::int64_t elapsed_ms) {
  const std::int64_t seconds = elapsed_ms / 1000;
  if (seconds < 1)
    return std::to_string(elapsed_ms) + "ms";
  if (seconds < 60)
    return std::to_string(seconds) + "s";
  const std::string minutes = std::to_string(seconds / 60) + "m";
  return seconds % 60 == 0 ? minutes : minutes + " " + std::to_string(seconds % 60) + "s";
}

Result<Json> interpolate_all(const Value& value, const Values& values) {
  if (const auto text = json::text(value)) {
    auto filled = interpolate(*text, values);
    if (!filled)
      return pass_on(filled);
    return Json(*filled);
  }
  if (value.IsObject()) {
    Json all = Json::object();
    for (const auto& member : value.GetObject()) {
      auto inner = interpolate_all(member.value, values);
      if (!inner)
        return inner;
      all.set(json::name(member.name), *inner);
    }
    return all;
  }
  if (value.IsArray()) {
    Json all = Json::array();
    for (const Value& item : value.GetArray()) {
      auto inner = interpolate_all(item, values);
      if (!inner)
        return inner;
      all.push(*inner);
    }
    return all;
  }
  return Json(value);
}

}  // namespace baton::fsm_loop
