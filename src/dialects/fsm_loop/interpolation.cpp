#include <algorithm>
#include <array>
#include <iterator>

#include "base/text.h"
#include "dialects/findings.h"
#include "dialects/fsm_loop/values.h"

namespace baton::fsm_loop {

namespace {

constexpr std::array<std::string_view, 10> kSpaces = {
    "context", "captured", "prev", "result", "state", "loop", "env", "messages", "param", "last"};
/// Name spaces with a fixed set of names.
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
  // Such a default could be meant as both, and would reach a shell without quotes.
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
  for (; next_ < std::min(place, text_.size()); ++next_) {
    const char c = text_[next_];
    if (c == '\\' && quote_ != '\'')
      ++next_;
    else if (quote_ != 0)
      quote_ = c == quote_ ? '\0' : quote_;
    else if (c == '\'' || c == '"')
      quote_ = c;
  }
  return quote_ != 0;
}

}  // namespace baton::fsm_loop
