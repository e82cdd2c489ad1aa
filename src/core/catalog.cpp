// SPDX-License-Identifier: Apache-2.0
#include "core/catalog.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace baton {
namespace {

bool takes(PatternNames names, bool flow, std::string_view value) {
  switch (names) {
    case PatternNames::safe:
      return safe_name(value);
    case PatternNames::plain:
      return flow ? plain_name(value) : safe_name(value);
    case PatternNames::people:
      return file_name(value);
    case PatternNames::any:
      return !value.empty() && value.front() != '.' && value.back() != '~';
  }
  return false;
}

/// Sets the value of a placeholder; false if it already has another value.
bool bind(std::string& slot, std::string_view value) {
  if (!slot.empty())
    return slot == value;
  slot = value;
  return true;
}

/// Matches one segment. The literal text behind a placeholder is searched from the end, so
/// `{flow}.json` matches `a.json.json` with the value `a.json`.
bool match_segment(std::string_view pattern, std::string_view text, PatternNames names,
                   PatternMatch& match) {
  const auto open = pattern.find('{');
  if (open == std::string_view::npos)
    return pattern == text;
  if (!text.starts_with(pattern.substr(0, open)))
    return false;
  const auto close = pattern.find('}', open);
  if (close == std::string_view::npos)
    return false;
  const std::string_view name = pattern.substr(open + 1, close - open - 1);
  const std::string_view behind = pattern.substr(close + 1);
  text.remove_prefix(open);
  const auto next = behind.find('{');
  const std::string_view literal = behind.substr(0, next);
  for (std::size_t length = text.size(); length > 0; --length) {
    if (!text.substr(length).starts_with(literal))
      continue;
    PatternMatch attempt = match;
    std::string* const slot = name == "flow"   ? &attempt.flow
                              : name == "part" ? &attempt.part
                                               : nullptr;
    const std::string_view value = text.substr(0, length);
    if (slot == nullptr || !takes(names, name == "flow", value) || !bind(*slot, value))
      continue;
    if (match_segment(behind, text.substr(length), names, attempt)) {
      match = attempt;
      return true;
    }
  }
  return false;
}

std::string expand(std::string text, const PatternMatch& match) {
  const std::string_view token = "{flow}";
  if (const auto at = text.find(token); at != std::string::npos)
    text.replace(at, token.size(), match.flow);
  return text;
}

bool within(const PatternFolder& inner, const PatternFolder& outer) {
  if (inner.folder == outer.folder)
    return inner.depth <= outer.depth;
  const std::string prefix = outer.folder.empty() ? "" : outer.folder + "/";
  if (!inner.folder.starts_with(prefix))
    return false;
  const std::string_view rest = std::string_view(inner.folder).substr(prefix.size());
  const auto levels = static_cast<unsigned>(std::count(rest.begin(), rest.end(), '/')) + 1;
  return levels + inner.depth <= outer.depth;
}

/// A segment as characters, with each placeholder as one wildcard character.
constexpr char kAny = '\0';
std::string with_wildcards(std::string_view segment) {
  std::string text;
  while (!segment.empty()) {
    const auto close = segment.front() == '{' ? segment.find('}') : std::string_view::npos;
    text += close == std::string_view::npos ? segment.front() : kAny;
    segment.remove_prefix(close == std::string_view::npos ? 1 : close + 1);
  }
  return text;
}

/// Computed from the end: `same[i][j]` is true if the rest from `i` on the left and from `j` on the
/// right can be the same text. A wildcard matches one or more characters.
bool segments_overlap(std::string_view left, std::string_view right) {
  std::vector<std::vector<bool>> same(left.size() + 1, std::vector<bool>(right.size() + 1));
  same[left.size()][right.size()] = true;
  for (std::size_t i = left.size(); i-- > 0;)
    for (std::size_t j = right.size(); j-- > 0;) {
      const bool any_left = left[i] == kAny;
      const bool any_right = right[j] == kAny;
      const bool meet = any_left || any_right || left[i] == right[j];
      const bool on =
          same[i + 1][j + 1] || (any_left && same[i][j + 1]) || (any_right && same[i + 1][j]);
      same[i][j] = meet && on;
    }
  return same[0][0];
}

/// What is wrong with the name of a path that only nearly matches.
std::string unfit_text(PatternNames names) {
  const std::string text = "would be a state file but for its name: names ";
  return names == PatternNames::people
             ? text +
                   "are UTF-8 without control characters and line breaks, and do not begin with "
                   "`-`"
             : text +
                   "are at most 200 letters and digits of ASCII, `.`, `_` and `-`, and begin "
                   "with a letter or digit";
}

}  // namespace

std::optional<PatternMatch> match_pattern(std::string_view pattern, std::string_view path,
                                          PatternNames names) {
  const std::vector<std::string> wanted = split(pattern, '/');
  const std::vector<std::string> given = split(path, '/');
  if (wanted.size() != given.size())
    return std::nullopt;
  PatternMatch match;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!match_segment(wanted[i], given[i], names, match))
      return std::nullopt;
  return match;
}

std::string path_of(std::string_view pattern, const PatternMatch& values) {
  std::string path;
  for (;;) {
    const auto open = std::min(pattern.find('{'), pattern.size());
    path += pattern.substr(0, open);
    pattern.remove_prefix(open);
    if (pattern.empty())
      return path;
    path += pattern.starts_with("{flow}") ? values.flow : values.part;
    pattern.remove_prefix(std::min(pattern.find('}') + 1, pattern.size()));
  }
}

bool patterns_overlap(std::string_view left, std::string_view right) {
  const std::vector<std::string> one = split(left, '/');
  const std::vector<std::string> other = split(right, '/');
  if (one.size() != other.size())
    return false;
  for (std::size_t i = 0; i < one.size(); ++i)
    if (!segments_overlap(with_wildcards(one[i]), with_wildcards(other[i])))
      return false;
  return true;
}

PatternFolder pattern_folder(std::string_view pattern) {
  const std::vector<std::string> segments = split(pattern, '/');
  std::size_t fixed = 0;
  while (fixed + 1 < segments.size() && segments[fixed].find('{') == std::string::npos)
    ++fixed;
  PatternFolder folder;
  folder.folder = join(std::span(segments).first(fixed), "/");
  folder.depth = static_cast<unsigned>(segments.size() - 1 - fixed);
  return folder;
}

Catalog Catalog::of(const std::vector<std::pair<const Dialect*, Json>>& dialects) {
  Catalog catalog;
  for (const auto& [dialect, options] : dialects) {
    Entry entry{dialect, options, {}, {}, {}};
    if (dialect->own_files != nullptr)
      entry.own = dialect->own_files(options);
    if (dialect->backups != nullptr)
      if (const std::string folder = dialect->backups(options).folder; !folder.empty())
        entry.own.push_back(folder + "/{part}");
    for (FileKind& kind : dialect->files(options)) {
      add_ignored(*options, kind.ignored);
      (kind.flow.empty() ? entry.others : entry.kinds).push_back(std::move(kind));
    }
    catalog.entries_.push_back(std::move(entry));
  }
  return catalog;
}

std::optional<Catalog::Match> Catalog::match_in(const Entry& entry, std::string_view path) {
  for (const FileKind& kind : entry.kinds) {
    auto found = match_pattern(kind.pattern, path, kind.names);
    if (!found)
      continue;
    auto ignored = ignored_name(kind.ignored, kind.pattern, path, found->flow, found->part);
    if (ignored && ignored->beside.empty())
      continue;
    return Match{&entry, &kind, FlowId{std::string(entry.dialect->name), expand(kind.flow, *found)},
                 found->part, std::move(ignored)};
  }
  return std::nullopt;
}

bool Catalog::may_write(std::string_view path) const {
  const std::vector<std::string> names = split(path, '/');
  const auto never = [](const std::string& name) {
    return name.empty() || name == "." || name == ".." || name == ".git";
  };
  if (std::any_of(names.begin(), names.end(), never) || names.back() == "baton.yaml")
    return false;
  // A brace in the path would count as a placeholder.
  const bool plain = path.find_first_of(std::string_view("{}\0", 3)) == std::string_view::npos;
  return match(path) ||
         (plain && std::any_of(entries_.begin(), entries_.end(), [&](const Entry& e) {
            return std::any_of(e.own.begin(), e.own.end(), [&](const std::string& pattern) {
              return patterns_overlap(pattern, path);
            });
          }));
}

std::optional<Catalog::Match> Catalog::match(std::string_view path) const {
  for (const Entry& entry : entries_)
    if (auto found = match_in(entry, path))
      return found;
  return std::nullopt;
}

std::string Catalog::ignored(std::string_view path) const {
  if (match(path))
    return {};
  for (const Entry& entry : entries_)
    for (const FileKind& kind : entry.kinds)
      if (const auto found = match_pattern(kind.pattern, path, kind.names))
        if (const auto why =
                ignored_name(kind.ignored, kind.pattern, path, found->flow, found->part))
          return why->why;
  return {};
}

bool Catalog::leads_on(std::string_view path) const {
  const auto within = [&](std::string_view pattern) {
    PatternMatch match;
    for (std::string_view rest = path;;) {
      const auto end = pattern.find('/');
      if (end == std::string_view::npos ||
          !match_segment(pattern.substr(0, end), rest.substr(0, rest.find('/')), PatternNames::any,
                         match))
        return false;
      pattern.remove_prefix(end + 1);
      if (rest.find('/') == std::string_view::npos)
        return true;
      rest.remove_prefix(rest.find('/') + 1);
    }
  };
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return std::any_of(entry.kinds.begin(), entry.kinds.end(),
                       [&](const FileKind& kind) { return kind.kept && within(kind.pattern); });
  });
}

std::string Catalog::known_other(std::string_view path) const {
  if (match(path))
    return {};
  for (const Entry& entry : entries_)
    for (const FileKind& kind : entry.others)
      if (match_pattern(kind.pattern, path, kind.names))
        return kind.kind;
  return {};
}

std::string Catalog::unfit(std::string_view path) const {
  if (match(path) || !ignored(path).empty())
    return {};
  for (const Entry& entry : entries_)
    for (const FileKind& kind : entry.kinds)
      if (match_pattern(kind.pattern, path, PatternNames::any))
        return unfit_text(kind.names);
  return {};
}

const Catalog::Entry* Catalog::entry(std::string_view dialect) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& e) { return e.dialect->name == dialect; });
  return found == entries_.end() ? nullptr : &*found;
}

std::vector<PatternFolder> Catalog::folders() const {
  std::vector<PatternFolder> all;
  for (const Entry& entry : entries_)
    for (const auto* const kinds : {&entry.kinds, &entry.others})
      for (const FileKind& kind : *kinds)
        all.push_back(pattern_folder(kind.pattern));
  std::vector<PatternFolder> kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    bool covered = false;
    for (std::size_t j = 0; j < all.size() && !covered; ++j)
      covered = i != j && within(all[i], all[j]) && !(within(all[j], all[i]) && i < j);
    if (!covered)
      kept.push_back(all[i]);
  }
  return kept;
}

}  // namespace baton
