// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/text.h"
#include "cli/commands/state_file_edit.h"
#include "dialects/rules/subjects.h"
#include "workspace/command.h"
#include "workspace/environment.h"
#include "workspace/options.h"
#include "workspace/output.h"

namespace baton {
namespace {

struct SetArguments {
  Places places;
  std::string file;
  std::vector<std::string> changes;
  std::vector<std::string> expectations;
  std::string subject;
};

/// `POINTER=JSON`, for example `/status="done"`.
struct Pair {
  std::string pointer;
  Json value;
  std::string text;  ///< as given: reading and writing would change some numbers
};

/// The text of the value without blanks and byte order mark.
std::string bare(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  constexpr std::string_view kBlank = " \t\r\n";
  if (text.starts_with(kMark))
    text.remove_prefix(kMark.size());
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  return std::string(text.substr(0, text.find_last_not_of(kBlank) + 1));
}

Result<Pair> parse_pair(const std::string& word) {
  const auto equals = word.find('=');
  if (equals == std::string::npos)
    return fail(Errc::usage, "`" + printable(word, 200) + "` is not POINTER=JSON");
  const std::string pointer = word.substr(0, equals);
  if (bad_utf8(pointer))
    return fail(Errc::usage, "`" + printable(pointer, 200) + "` is not UTF-8");
  if (!json::pointer_tokens(pointer))
    return fail(Errc::usage,
                "`" + printable(pointer, 200) + "` is not a JSON pointer; " +
                    (pointer.starts_with('/') ? "in a name, write ~ as ~0 and / as ~1"
                                              : "a pointer begins with /, as in /status"));
  if (bad_utf8(pointer))
    return fail(Errc::usage, "`" + printable(pointer, 200) + "` is not UTF-8");
  const std::string text = word.substr(equals + 1);
  auto value = parse_json(text);
  if (value)
    return Pair{pointer, *std::move(value), bare(text)};
  std::string message = "`" + printable(text, 200) + "` is not JSON: " + value.error().message;
  if (text.empty())
    message = "there is no value after " + printable(pointer, 200) + "=";
  else if (text.find_first_of("\"'{}[] ") == std::string::npos)
    message += "; a string needs double quotes, and the shell a second pair of quotes: '" +
               printable(pointer, 200) + "=\"" + printable(text, 200) + "\"'";
  return fail(Errc::usage, std::move(message));
}

Result<std::vector<Pair>> parse_pairs(const std::vector<std::string>& words) {
  std::vector<Pair> pairs;
  for (const std::string& word : words) {
    auto pair = parse_pair(word);
    if (!pair)
      return pass_on(pair);
    pairs.push_back(*std::move(pair));
  }
  return pairs;
}

/// The digits of a number without outer zeros, and its exponent. Empty for a number with so few
/// digits that reading it is exact.
std::string long_number(std::string_view number) {
  constexpr std::size_t kExact = 15;  // decimal digits that a double keeps exactly
  std::string digits;
  int exponent = 0;
  bool fraction = false;
  for (std::size_t i = 0; i < number.size(); ++i) {
    const char c = number[i];
    if (c == 'e' || c == 'E') {
      const std::size_t from = i + (number[i + 1] == '+' ? 2 : 1);
      int given = 0;
      std::from_chars(number.data() + from, number.data() + number.size(), given);
      exponent += given;
      break;
    }
    fraction = fraction || c == '.';
    if (c == '.' || c == '-' || (c == '0' && digits.empty() && !fraction))
      continue;
    exponent -= fraction ? 1 : 0;
    if (c != '0' || !digits.empty())
      digits += c;
  }
  for (; digits.ends_with('0'); digits.pop_back())
    ++exponent;
  return digits.size() <= kExact ? "" : digits + "e" + std::to_string(exponent);
}

/// The long numbers in a JSON text, sorted.
std::multiset<std::string> long_numbers(std::string_view text) {
  std::multiset<std::string> numbers;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"')
      quoted = !quoted;
    else if (quoted && text[i] == '\\')
      ++i;
    if (quoted || std::string_view("-0123456789").find(text[i]) == std::string_view::npos)
      continue;
    const std::size_t end = std::min(text.find_first_not_of("+-.0123456789eE", i), text.size());
    if (auto number = long_number(text.substr(i, end - i)); !number.empty())
      numbers.insert(std::move(number));
    i = end - 1;
  }
  return numbers;
}

/// The first expectation that does not hold; empty when all hold. Reading rounds long numbers, so
/// these are compared by their digits.
std::string unmet(const Document& now, const std::vector<Pair>& expectations) {
  for (const Pair& expected : expectations) {
    const Value* const found = json::at(now.root(), expected.pointer);
    if (found == nullptr)
      return expected.pointer + " does not exist; expected " + printable(expected.text, 200);
    const Span place = now.locate(expected.pointer);
    const std::string text =
        now.text().substr(place.begin.offset, place.end.offset - place.begin.offset);
    if (!json::equal(*found, *expected.value) || long_numbers(text) != long_numbers(expected.text))
      return expected.pointer + " is " + printable(text, 200) + ", not " +
             printable(expected.text, 200);
  }
  return {};
}

bool has_subject(const Pair& pair) {
  return rules::subject_path(pair.pointer).has_value();
}

/// The pairs with the place of the subject in this version of the file: in a list, that of the
/// element with this key.
Result<std::vector<Pair>> placed(std::vector<Pair> pairs, const Value& root,
                                 const std::string& subject, const std::string& subject_key) {
  const rules::SubjectPlaces places(subject_key);
  for (Pair& pair : pairs) {
    if (!has_subject(pair))
      continue;
    auto pointer = places.pointer(root, pair.pointer, subject);
    if (!pointer)
      return fail(Errc::changed, "the list has no element for " + printable(subject, 80) + ", so " +
                                     printable(pair.pointer, 200) + " is nowhere");
    pair.pointer = *std::move(pointer);
  }
  return pairs;
}

ExitCode change(StateFileEdit& file, const std::vector<Pair>& changes,
                const std::vector<Pair>& expectations, const std::string& subject) {
  const bool is_yaml = file.shown().ends_with(".yaml") || file.shown().ends_with(".yml");
  const std::string subject_key = file.subject_key();
  return rewrite(file, [&](const std::string& now) -> Result<std::string> {
    const auto document = load_document(now, Format::json);
    if (!document) {
      const Finding& first = document.error().findings.front();
      return fail(Errc::parse, "the file is not JSON: " + first.message + " (line " +
                                   std::to_string(first.span.begin.line) + ", column " +
                                   std::to_string(first.span.begin.column) + ")" +
                                   (is_yaml ? "; `baton set` cannot change YAML: write a complete "
                                              "new file and rename it over this one"
                                            : ""));
    }
    const auto expected = placed(expectations, (*document)->root(), subject, subject_key);
    const auto wanted = placed(changes, (*document)->root(), subject, subject_key);
    if (!expected || !wanted)
      return fail(Errc::changed,
                  (expected ? wanted : expected).error().message + "; nothing was changed");
    if (const std::string why = unmet(**document, *expected); !why.empty())
      return fail(Errc::changed, why + "; nothing was changed");
    std::vector<json::Edit> edits;
    edits.reserve(wanted->size());
    for (const Pair& each : *wanted)
      edits.push_back({each.pointer, each.text});
    auto after = json::splice(now, edits);
    if (!after)
      return fail(Errc::changed, after.error().message);
    return after;
  });
}

}  // namespace

ExitCode set_command(Words words) {
  SetArguments arguments;
  Options options(
      "set",
      "Changes members of a JSON file that others write too. baton locks the file, checks the\n"
      "result against the schema if there is one, and replaces the file at once. If another\n"
      "process was faster, baton reads the file again and repeats the change. The rest of the\n"
      "file keeps its formatting. Works without a daemon and without a configuration; a\n"
      "configuration that cannot be used is an error.\n"
      "\n"
      "  baton set group_status.json '/A/status=\"waiting_qa\"' /A/attempts=2\n"
      "  baton set prd.json '/userStories/{subject}/passes=true' --subject US-001",
      {{ExitCode::fine, "changed, or the values were set already"},
       {ExitCode::failed,
        "not as expected, or the change would break the file; nothing was changed"},
       {ExitCode::usage, "wrong usage, or the configuration or the schema cannot be used"},
       {ExitCode::unreachable,
        "the file or the configuration cannot be read, the file cannot be written, or another "
        "process keeps it locked"}});
  options.word("FILE", arguments.file, "The file");
  options.words("POINTER=JSON", arguments.changes,
                "What to set: a JSON pointer and a value; /- at the end appends to a list", true);
  options.values("--expect", arguments.expectations, "POINTER=JSON",
                 "Change nothing unless the file has this value");
  options.value("--subject", arguments.subject, "NAME",
                "The subject that {subject} in a pointer stands for, also in a list; default: "
                "$BATON_SUBJECT");
  options.places(arguments.places);
  if (const auto over = options.parse(words))
    return *over;
  const auto changes = parse_pairs(arguments.changes);
  if (!changes)
    return complain(changes.error());
  std::set<std::string> set;
  for (const Pair& each : *changes) {
    if (each.pointer.empty()) {
      complain("`=` alone would replace the whole file; write a pointer, such as /status=...");
      return ExitCode::usage;
    }
    if (!set.insert(each.pointer).second && !each.pointer.ends_with("/-")) {
      complain(printable(each.pointer, 200) + " is set twice; give one value");
      return ExitCode::usage;
    }
  }
  const auto expectations = parse_pairs(arguments.expectations);
  if (!expectations)
    return complain(expectations.error());
  const std::string subject =
      arguments.subject.empty() ? variable("BATON_SUBJECT") : arguments.subject;
  if (subject.empty() && (std::any_of(changes->begin(), changes->end(), has_subject) ||
                          std::any_of(expectations->begin(), expectations->end(), has_subject))) {
    complain("{subject} stands for the subject of an agent; name one with --subject");
    return ExitCode::usage;
  }
  if (arguments.file.ends_with(".jsonl")) {
    complain(printable(arguments.file) + " is a log of lines; append a line to it instead");
    return ExitCode::usage;
  }
  auto file = StateFileEdit::open(arguments.file, arguments.places);
  if (!file)
    return complain(file.error());
  return finish(change(*file, *changes, *expectations, subject));
}

}  // namespace baton
