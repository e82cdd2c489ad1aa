// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/json/document.h"
#include "base/text.h"
#include "dialects/findings.h"
#include "dialects/fsm_loop/values.h"
#include "dialects/fsm_loop/verdict.h"
#include "dialects/kinds.h"

namespace baton::fsm_loop {

namespace {

/// The blanks that the original, a Python program, strips.
constexpr std::string_view kPythonBlanks = " \t\r\n\f\v";

std::string yes_or_no(bool yes) {
  return yes ? "yes" : "no";
}

/// A number of the evaluator: written out, or as a placeholder.
Result<double> number_of(const Judging& judging, std::string_view key) {
  auto text = setting(judging, key);
  if (!text)
    return pass_on(text);
  return decimal(*text);
}

std::string why_not(std::string_view key, const Error& error) {
  return "`" + std::string(key) + "` has no value: " + error.message;
}

std::optional<Operator> operator_of(const Judging& judging) {
  return parse_operator(json::text(*judging.state.evaluate, "operator").value_or("eq"));
}

/// The number at the beginning of a text, up to the first character that does not belong to it.
std::string_view leading_number(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789.eE+-");
  std::string_view number = text.substr(0, end);
  // As in `3.` or `2e`, at the end of a sentence or before a word.
  while (!number.empty() && !is_digit(number.back()))
    number.remove_suffix(1);
  return number;
}

/// The number after the last `KEY=` of the text, wherever it stands, or after a `KEY:` at the
/// beginning of a line.
Result<double> keyed_number(std::string_view text, std::string_view key) {
  constexpr std::string_view kBlank = " \t\r\n\f\v";
  std::optional<std::string_view> found;
  for (std::size_t at = text.find(key); at != std::string_view::npos && !key.empty();
       at = text.find(key, at + 1)) {
    const std::size_t sign = text.find_first_not_of(kBlank, at + key.size());
    if (sign == std::string_view::npos)
      break;
    const std::size_t line = text.substr(0, at).rfind('\n') + 1;  // 0 on the first line
    const bool first = trimmed(text.substr(line, at - line), " \t").empty();
    if (text[sign] != '=' && !(text[sign] == ':' && first))
      continue;
    const std::size_t number = text.find_first_not_of(kBlank, sign + 1);
    if (number != std::string_view::npos)
      found = leading_number(text.substr(number));
  }
  if (!found)
    return fail(Errc::not_found, "there is no `" + std::string(key) + "=NUMBER`");
  return decimal(*found);
}

const Value* item(const Value& list, std::string_view index) {
  const auto at = whole_number(index);
  return at && *at < list.Size() ? &list[static_cast<rapidjson::SizeType>(*at)] : nullptr;
}

/// The value at a path such as `.a.b.0`. Dots separate the names, and a number selects an item of a
/// list.
const Value* in_path(const Value& root, std::string_view path) {
  if (path.starts_with('.'))
    path.remove_prefix(1);
  if (path.empty())
    return nullptr;
  const Value* value = &root;
  for (const std::string& part : split(path, '.')) {
    value = value->IsArray() ? item(*value, part) : json::child(*value, part);
    if (value == nullptr)
      return nullptr;
  }
  return value;
}

/// The target of a comparison.
struct Target {
  Json value;
  bool filled = false;  ///< the value comes from a placeholder, so it is a text
};
Result<Target> target_of(const Judging& judging) {
  const Value* const given = json::child(*judging.state.evaluate, "target");
  if (given == nullptr)
    return fail(Errc::not_found, "there is no `target`");
  const auto text = json::text(*given);
  if (!text || text->find("${") == std::string_view::npos)
    return Target{Json(*given), false};
  auto filled = interpolate(*text, judging.values);
  if (!filled)
    return pass_on(filled);
  return Target{Json(*filled), true};
}

std::optional<double> as_number(const Target& target) {
  if (const auto number = json::number(*target.value))
    return number;
  const auto text = json::text(*target.value);
  if (!text || !target.filled)
    return std::nullopt;
  const auto number = decimal(*text);
  return number ? std::optional(*number) : std::nullopt;
}

bool equals(const Value& value, const Target& target) {
  if (json::equal(value, *target.value))
    return true;
  const auto text = json::text(*target.value);
  return target.filled && text && !value.IsObject() && !value.IsArray() && rendered(value) == *text;
}

Verdict compared(const Value& value, const Target& target, Operator op, Json details) {
  const auto left = json::number(value);
  const auto right = as_number(target);
  if (left && right)
    return make_verdict(yes_or_no(holds(op, *left, *right)), std::move(details));
  if (op == Operator::eq || op == Operator::ne)
    return make_verdict(yes_or_no(equals(value, target) == (op == Operator::eq)),
                        std::move(details));
  return failed("only numbers have an order; the value is of type " +
                    std::string(json::type_name(value)) + ", the target of type " +
                    std::string(json::type_name(*target.value)),
                std::move(details));
}

const std::string* one_of(const std::vector<std::string>& words, std::string_view text) {
  const auto word = std::find_if(words.begin(), words.end(), [&](const std::string& each) {
    return text.find(each) != std::string_view::npos;
  });
  return word == words.end() ? nullptr : &*word;
}

std::optional<double> optional_number(const Judging& judging, std::string_view key) {
  const auto number = number_of(judging, key);
  return number ? std::optional(*number) : std::nullopt;
}

/// Spellings that only Python's regular expressions have, outside a character class.
struct PythonSpelling {
  std::string_view text;
  std::string_view advice;
};
constexpr std::array kPythonSpellings = {
    PythonSpelling{"(?P<", "write `(?<name>...)`"},
    PythonSpelling{"(?P=", "write `\\k<name>`"},
    PythonSpelling{"\\A", "write `^`"},
    PythonSpelling{"\\Z", "write `(?![\\s\\S])`, or `$` to allow a line feed at the end"},
    PythonSpelling{"[]", "write `[\\]`"},
    PythonSpelling{"[^]", "write `[^\\]`, or `[\\s\\S]` for any character"},
};
/// Flags such as `(?i)`.
constexpr std::array kPythonFlags = {
    PythonSpelling{"i", "there is no such flag; write both cases, such as `[Yy]es`"},
    PythonSpelling{"m", "there is no such flag; write `(?<![^\\n])` for `^`, `(?![^\\n])` for `$`"},
    PythonSpelling{"s", "there is no such flag; write `[\\s\\S]` for any character"},
    PythonSpelling{"a", "leave it out; `\\d` and `\\w` are ASCII"},
    PythonSpelling{"u", "leave it out; patterns are Unicode, and `\\d` and `\\w` are ASCII"},
};

/// The Python spelling at the beginning of the text. Its `text` is empty if there is none.
PythonSpelling python_spelling_at(std::string_view text) {
  for (const PythonSpelling& each : kPythonSpellings)
    if (text.starts_with(each.text))
      return each;
  if (text.starts_with("{,"))
    if (const auto end = text.find_first_not_of("0123456789", 2);
        end != std::string_view::npos && text[end] == '}')
      return {text.substr(0, end + 1), "write `{0,` instead of `{,`"};
  const auto close = text.starts_with("(?") ? text.find(')') : std::string_view::npos;
  if (close == std::string_view::npos || close == 2 ||
      text.substr(2, close - 2).find_first_not_of("aimsu") != std::string_view::npos)
    return {};
  for (const PythonSpelling& each : kPythonFlags)
    if (text[2] == each.text.front())
      return {text.substr(0, close + 1), each.advice};
  return {};
}

}  // namespace

Result<Pattern> compile_pattern(std::string_view text) {
  bool in_class = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!in_class)
      if (const PythonSpelling found = python_spelling_at(text.substr(at)); !found.text.empty())
        return fail(Errc::usage, "the pattern has `" + printable(found.text, 40) +
                                     "`, a spelling of Python: " + std::string(found.advice));
    in_class = in_class ? text[at] != ']' : text[at] == '[';
    if (text[at] == '\\')
      ++at;
  }
  return Pattern::compile(text, Pattern::Lines::python);
}

Verdict by_exit_code(int exit_code) {
  Json details = Json::object({{"exit_code", exit_code}});
  if (exit_code < 0)
    details.set("error", "the action was ended by signal " + std::to_string(-exit_code));
  return make_verdict(exit_code == 0 ? "yes" : exit_code == 1 ? "no" : "error", std::move(details));
}

Verdict by_number(const Judging& judging, std::string_view text) {
  const auto op = operator_of(judging);
  const auto target = number_of(judging, "target");
  const auto key = json::text(*judging.state.evaluate, "key");
  const auto value = key ? keyed_number(text, *key) : decimal(text);
  Json details = Json::object();
  if (value)
    details.set("value", number_value(*value));
  if (target)
    details.set("target", number_value(*target));
  details.set("operator", json::text(*judging.state.evaluate, "operator").value_or("eq"));
  if (!op)
    return failed("there is no such operator", std::move(details));
  if (!target)
    return failed(why_not("target", target.error()), std::move(details));
  if (!value)
    return failed("the output is no number: " + value.error().message, std::move(details));
  return make_verdict(yes_or_no(holds(*op, *value, *target)), std::move(details));
}

Verdict by_json(const Judging& judging, std::string_view text) {
  const std::string path(json::text(*judging.state.evaluate, "path").value_or(""));
  const auto op = operator_of(judging);
  Json details =
      Json::object({{"path", path},
                    {"operator", json::text(*judging.state.evaluate, "operator").value_or("eq")}});
  const auto target = target_of(judging);
  if (target)
    details.set("target", target->value);
  if (!op)
    return failed("there is no such operator", std::move(details));
  if (!target)
    return failed(why_not("target", target.error()), std::move(details));
  const auto document = parse_json(text);
  if (!document)
    return failed("the output is no JSON: " + describe(document.error()), std::move(details));
  const Value* const value = in_path(**document, path);
  if (value == nullptr)
    return failed("the output has nothing at the path " + quoted_word(path), std::move(details));
  details.set("value", *value);
  return compared(*value, *target, *op, std::move(details));
}

Verdict by_pattern(const Judging& judging, std::string_view text) {
  const Value& evaluate = *judging.state.evaluate;
  const std::string pattern(json::text(evaluate, "pattern").value_or(""));
  const bool negate = json::boolean(evaluate, "negate").value_or(false);
  Json details = Json::object({{"pattern", pattern}, {"negate", negate}});
  const auto compiled = compile_pattern(pattern);
  if (!compiled && compiled.error().code == Errc::usage)
    return failed(compiled.error().message, std::move(details));
  if (!compiled)
    details.set("warning",
                "the pattern is searched for as plain text: " + compiled.error().message);
  const Pattern::Match match = compiled ? compiled->search(text).match
                               : text.find(pattern) != std::string_view::npos ? Pattern::Match::yes
                                                                              : Pattern::Match::no;
  if (match == Pattern::Match::too_expensive)
    return failed("the pattern takes too many steps on this output", std::move(details));
  const bool matched = match == Pattern::Match::yes;
  details.set("matched", matched);
  const auto errors = texts_of(evaluate, "error_patterns");
  if (const std::string* const error = matched || negate ? nullptr : one_of(errors, text)) {
    details.set("error_pattern", *error);
    return failed("the output holds " + quoted_word(*error), std::move(details));
  }
  return make_verdict(yes_or_no(matched != negate), std::move(details));
}

Verdict by_convergence(const Judging& judging, std::string_view text) {
  const std::string direction(
      json::text(*judging.state.evaluate, "direction").value_or("minimize"));
  const auto current = decimal(text);
  const auto target = number_of(judging, "target");
  const double tolerance = optional_number(judging, "tolerance").value_or(0);
  const auto previous = optional_number(judging, "previous");
  Json details = Json::object({{"direction", direction}});
  if (current)
    details.set("current", number_value(*current));
  if (target)
    details.set("target", number_value(*target));
  if (!current)
    return failed("the output is no number: " + current.error().message, std::move(details));
  if (!target)
    return failed(why_not("target", target.error()), std::move(details));
  details.set("previous", previous ? number_value(*previous) : Json());
  // The difference of two finite numbers may be infinite, which JSON cannot express.
  const double delta = previous ? *current - *previous : 0;
  details.set("delta", previous && std::isfinite(delta) ? number_value(delta) : Json());
  const auto verdict = [&]() -> std::string {
    if (std::fabs(*current - *target) <= tolerance)
      return "target";
    if (!previous || (direction == "maximize" ? *current > *previous : *current < *previous))
      return "progress";
    return "stall";
  };
  Verdict result = make_verdict(verdict(), std::move(details));
  if (const auto name = json::text(*judging.state.evaluate, "remember"))
    result.captured =
        Json::object({{*name, Json::object({{"output", rendered(*number_value(*current))}})}});
  return result;
}

Verdict by_token(const Judging& judging, std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string& line : split(text, '\n'))
    if (const std::string_view words = trimmed(line, kPythonBlanks); !words.empty())
      lines.emplace_back(words);
  const Value* const line = json::child(*judging.state.evaluate, "line");
  const auto count = static_cast<std::int64_t>(lines.size());
  std::int64_t index = line != nullptr && json::text(*line) == "first" ? 0 : count - 1;
  if (const auto number = line == nullptr ? std::nullopt : json::integer(*line))
    index = *number < 0 ? count + *number : *number;
  const bool there = index >= 0 && index < count;
  const std::string token = there ? lines[static_cast<std::size_t>(index)] : std::string();
  Json details = Json::object({{"token", token}, {"line", line == nullptr ? Json() : Json(*line)}});
  if (!there)
    details.set("note", count == 0 ? "there is no line with text"
                                   : "there is no such line among " + std::to_string(count));
  return make_verdict(token, std::move(details));
}

Verdict by_mcp_envelope(const Judging& judging, std::string_view text) {
  constexpr int kTimeIsUp = 124;
  constexpr int kNotFound = 127;
  const int code = judging.action == nullptr ? 0 : judging.action->exit_code;
  Json details = Json::object({{"exit_code", code}});
  if (code == kNotFound)
    return make_verdict("not_found", details.set("error", "the server or its tool was not found"));
  if (code == kTimeIsUp)
    return make_verdict("timeout", details.set("error", "the tool ran out of time"));
  if (trimmed(text, kPythonBlanks).empty())
    return make_verdict(code == 0 ? "success" : "tool_error", std::move(details));
  const auto envelope = parse_json(text);
  if (!envelope)
    return make_verdict(
        "tool_error", details.set("error", "the output is no JSON: " + describe(envelope.error())));
  details.set("envelope", *envelope);
  return make_verdict(
      json::boolean(**envelope, "isError").value_or(code != 0) ? "tool_error" : "success",
      std::move(details));
}

Verdict by_score(const Judging& judging, std::string_view text) {
  const int code = judging.action == nullptr ? 0 : judging.action->exit_code;
  Json details = Json::object({{"exit_code", code}});
  if (code != 0)
    return make_verdict("no", std::move(details));
  const auto score = decimal(text);
  if (!score)
    return failed("the output is no score: " + score.error().message, std::move(details));
  return make_verdict("yes", details.set("score", number_value(*score)));
}

}  // namespace baton::fsm_loop
