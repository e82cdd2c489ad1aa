// SPDX-License-Identifier: Apache-2.0
#include "core/ignored_names.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/text.h"

namespace baton {
namespace {

bool digit(char c) {
  return c >= '0' && c <= '9';
}

bool capital(char c) {
  return c >= 'A' && c <= 'Z';
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (capital(c))
      c = static_cast<char>(c - 'A' + 'a');
  return out;
}

/// One segment of a path that matched one of a pattern with a placeholder.
struct Segment {
  std::string text;
  std::string lower;
  bool begins_free = false;  ///< the pattern spells nothing before the first placeholder
  bool ends_free = false;    ///< nor behind the last one
  std::size_t begin = 0;     ///< where the value of the last placeholder begins, and its end
  std::size_t end = 0;
};

Segment segment_of(std::string_view pattern, std::string_view text, std::string_view flow,
                   std::string_view part) {
  // A pattern can allow flows whose names begin with a dot (PatternNames::plain).
  const bool hidden = flow.starts_with('.');
  Segment segment{std::string(text),     lower(text), pattern.front() == '{' && !hidden,
                  pattern.back() == '}', 0,           0};
  std::size_t at = 0;
  while (!pattern.empty()) {
    const auto open = std::min(pattern.find('{'), pattern.size());
    at += open;
    pattern.remove_prefix(open);
    if (pattern.empty())
      break;
    segment.begin = at;
    at += pattern.starts_with("{flow}") ? flow.size() : part.size();
    segment.end = at;
    pattern.remove_prefix(pattern.find('}') + 1);
  }
  return segment;
}

/// The value of the last placeholder without the suffix of a data file. A pattern such as `{flow}`
/// leaves the suffix in the value.
std::size_t stem_end(const Segment& segment) {
  static constexpr std::array<std::string_view, 6> kSuffixes = {".json", ".jsonl", ".ndjson",
                                                                ".yaml", ".yml",   ".md"};
  const std::string_view value =
      std::string_view(segment.lower).substr(segment.begin, segment.end - segment.begin);
  for (const std::string_view suffix : kSuffixes)
    if (value.size() > suffix.size() && value.ends_with(suffix))
      return segment.end - suffix.size();
  return segment.end;
}

/// Where the word stands in the value, before its suffix or at its end; npos: nowhere.
std::size_t word_at(const Segment& segment, std::string_view word) {
  for (const std::size_t end : {stem_end(segment), segment.end}) {
    const std::string_view value =
        std::string_view(segment.lower).substr(segment.begin, end - segment.begin);
    if (value.size() > word.size() && value.ends_with(word))
      return end - word.size();
  }
  return std::string::npos;
}

std::string editor_sign(const Segment& segment) {
  const std::string& name = segment.lower;
  if (segment.begins_free && (name.front() == '.' || name.front() == '~'))
    return std::string("begins with ") + name.front();
  if (segment.begins_free && segment.ends_free && name.size() > 1 && name.front() == '#' &&
      name.back() == '#')
    return "between two #";
  for (const char* end : {"~", ".swp", ".swo", ".swx", ".kate-swp"})
    if (segment.ends_free && name.ends_with(end))
      return end;
  return {};
}

std::string temporary_sign(const Segment& segment) {
  if (segment.begins_free && segment.lower.starts_with("tmp."))
    return "tmp.";
  for (const char* word : {".tmp", ".temp", ".partial", ".crdownload"})
    if (word_at(segment, word) != std::string::npos)
      return word;
  return segment.ends_free && segment.lower.ends_with(".part") ? ".part" : "";
}

/// `_BASE_1234` and its like at the end of the value, as git mergetool names the versions.
std::string merge_sign(const Segment& segment) {
  const std::string_view value =
      std::string_view(segment.lower).substr(0, stem_end(segment)).substr(segment.begin);
  for (const std::string_view word : {"_backup_", "_base_", "_local_", "_remote_"}) {
    const auto at = value.rfind(word);
    if (at == std::string_view::npos || at == 0)
      continue;
    const std::string_view digits = value.substr(at + word.size());
    if (!digits.empty() && std::all_of(digits.begin(), digits.end(), digit))
      return std::string(word);
  }
  return {};
}

std::string backup_sign(const Segment& segment) {
  for (const char* word : {".bak", ".backup", ".orig", ".rej"})
    if (word_at(segment, word) != std::string::npos)
      return word;
  return merge_sign(segment);
}

std::string conflict_sign(const Segment& segment) {
  const std::string_view value =
      std::string_view(segment.lower).substr(0, segment.end).substr(segment.begin);
  for (const char* word : {".sync-conflict-", "~syncthing~"})
    if (value.find(word) != std::string_view::npos)
      return word;
  const auto open = value.find('(');
  const auto copy = value.find("conflicted copy", std::min(open, value.size()));
  if (copy != std::string_view::npos && value.find(')', copy) != std::string_view::npos)
    return "conflicted copy";
  constexpr std::string_view kDated = "_conflict-";
  const auto dated = value.find(kDated);
  const bool date = dated != std::string_view::npos && dated + kDated.size() < value.size() &&
                    digit(value[dated + kDated.size()]);
  return date ? std::string(kDated) : "";
}

/// The length of ` (copy 2)`, ` - Copy (2)` or their like at the end of the value; 0: there is
/// none.
std::size_t copy_mark(std::string_view value) {
  for (const std::string_view mark : {" - copy", "-copy", " (copy)", " copy"})
    if (value.size() > mark.size() && value.ends_with(mark))
      return mark.size();
  if (!value.ends_with(')'))
    return 0;
  std::size_t at = value.size() - 1;
  while (at > 0 && digit(value[at - 1]))
    --at;
  if (at == value.size() - 1)
    return 0;
  for (const std::string_view mark : {" - copy (", " (copy "})
    if (at > mark.size() && value.substr(0, at).ends_with(mark))
      return value.size() - at + mark.size();
  return 0;
}

/// `a.json.aB3xYz`: the name of another file, and what mktemp and rsync append.
std::size_t random_mark(const Segment& segment) {
  if (!segment.ends_free)
    return 0;
  const auto dot = segment.text.rfind('.');
  if (dot == std::string::npos || dot <= segment.begin)
    return 0;
  const std::string_view mark = std::string_view(segment.text).substr(dot + 1);
  const auto alphanumeric = [](char c) {
    return digit(c) || capital(c) || (c >= 'a' && c <= 'z') || c == '_';
  };
  const bool random =
      mark.size() >= 6 && std::all_of(mark.begin(), mark.end(), alphanumeric) &&
      std::any_of(mark.begin(), mark.end(), [](char c) { return digit(c) || capital(c); });
  return random ? mark.size() + 1 : 0;
}

/// The name that is left without a mark in it.
std::string without(const Segment& segment, std::size_t at, std::size_t length) {
  std::string name = segment.text;
  return name.erase(at, length);
}

std::optional<IgnoredName> sign_of(const Segment& segment) {
  const auto found = [](const std::string& what, const std::string& sign) {
    return IgnoredName{what + " (" + sign + ")", {}, false};
  };
  if (const std::string sign = editor_sign(segment); !sign.empty())
    return found("a file of an editor", sign);
  if (const std::string sign = temporary_sign(segment); !sign.empty())
    return found("a temporary file", sign);
  if (const std::string sign = backup_sign(segment); !sign.empty())
    return found("a backup", sign);
  if (const std::string sign = conflict_sign(segment); !sign.empty())
    return found("a copy that a sync program made of a conflict", sign);
  return std::nullopt;
}

/// A sign that counts only beside the file that the name would be a copy of.
std::optional<IgnoredName> copy_sign_of(const Segment& segment) {
  for (const std::string_view word : {".new", ".old"})
    if (const auto at = word_at(segment, word); at != std::string::npos)
      return IgnoredName{"a copy (" + std::string(word) + ")", without(segment, at, word.size()),
                         false};
  if (const std::size_t length = random_mark(segment); length > 0)
    return IgnoredName{"a temporary file", without(segment, segment.text.size() - length, length),
                       false};
  const std::size_t end = stem_end(segment);
  const std::size_t length =
      copy_mark(std::string_view(segment.lower).substr(0, end).substr(segment.begin));
  if (length > 0)
    return IgnoredName{"a copy", without(segment, end - length, length), true};
  return std::nullopt;
}

/// How many bytes the first character of UTF-8 has; at least 1.
std::size_t first_character(std::string_view text) {
  std::size_t length = 1;
  while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U)
    ++length;
  return length;
}

/// The end of the set `[...]` at the begin of the pattern; npos: it has none.
std::size_t set_end(std::string_view pattern) {
  std::size_t at = 1;
  if (at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^'))
    ++at;
  return pattern.find(']', at + 1);
}

/// Whether the set (without its brackets) has the character.
bool in_set(std::string_view set, std::string_view character) {
  const bool no = set.front() == '!' || set.front() == '^';
  if (no)
    set.remove_prefix(1);
  bool found = false;
  while (!set.empty()) {
    const std::string_view from = set.substr(0, first_character(set));
    set.remove_prefix(from.size());
    std::string_view to = from;
    if (set.size() > 1 && set.front() == '-') {
      set.remove_prefix(1);
      to = set.substr(0, first_character(set));
      set.remove_prefix(to.size());
    }
    found = found || (from <= character && character <= to);
  }
  return found != no;
}

}  // namespace

bool matches_shell_pattern(std::string_view pattern, std::string_view name) {
  // Where to go on if what follows the last `*` does not match: the `*` takes one more character.
  std::optional<std::string_view> star;
  std::string_view star_name;
  while (!name.empty() || !pattern.empty()) {
    if (!pattern.empty() && pattern.front() == '*') {
      pattern.remove_prefix(1);
      star = pattern;
      star_name = name;
      continue;
    }
    const std::size_t taken = name.empty() ? 0 : first_character(name);
    std::size_t used = 0;
    if (!pattern.empty() && !name.empty()) {
      const std::size_t end = pattern.front() == '[' ? set_end(pattern) : std::string::npos;
      const bool escaped = pattern.front() == '\\' && pattern.size() > 1;
      if (pattern.front() == '?')
        used = 1;
      else if (end != std::string::npos)
        used = in_set(pattern.substr(1, end - 1), name.substr(0, taken)) ? end + 1 : 0;
      else if (pattern.substr(escaped ? 1 : 0).starts_with(name.substr(0, taken)))
        used = taken + (escaped ? 1 : 0);
    }
    if (used > 0) {
      pattern.remove_prefix(used);
      name.remove_prefix(taken);
    } else if (star && !star_name.empty()) {
      star_name.remove_prefix(first_character(star_name));
      name = star_name;
      pattern = *star;
    } else {
      return false;
    }
  }
  return true;
}

void add_ignored(const Value& options, IgnoredNames& names) {
  const Value* const list = json::child(options, "ignore");
  if (list == nullptr || !list->IsArray())
    return;
  if (list->Empty())
    names.usual = false;
  for (const Value& pattern : list->GetArray())
    if (const auto text = json::text(pattern))
      names.patterns.emplace_back(*text);
}

std::optional<IgnoredName> ignored_name(const IgnoredNames& names, std::string_view pattern,
                                        std::string_view path, std::string_view flow,
                                        std::string_view part) {
  const std::vector<std::string> wanted = split(pattern, '/');
  const std::vector<std::string> given = split(path, '/');
  for (const std::string& each : names.patterns)
    if (matches_shell_pattern(each, given.back()))
      return IgnoredName{"ignored by the configuration (`" + printable(each) + "`)", {}, false};
  if (!names.usual || wanted.size() != given.size())
    return std::nullopt;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].find('{') == std::string::npos || given[i].empty())
      continue;
    const Segment segment = segment_of(wanted[i], given[i], flow, part);
    const bool last = i + 1 == wanted.size();
    if (auto sign = sign_of(segment))
      return sign;
    if (!last)
      continue;
    auto copy = copy_sign_of(segment);
    if (copy)
      copy->beside = join(std::span(given).first(i), "/") + (i == 0 ? "" : "/") + copy->beside;
    return copy;
  }
  return std::nullopt;
}

}  // namespace baton
