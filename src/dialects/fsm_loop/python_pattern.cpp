#include "dialects/fsm_loop/python_pattern.h"

#include <array>
#include <string>

namespace baton::fsm_loop {
namespace {

struct Spelling {
  std::string_view python;
  std::string_view ecma;
};
constexpr std::array kSpellings = {
    Spelling{"(?P<", "(?<"},
    Spelling{"(?P=", "\\k<"},  // its `)` becomes `>`
    Spelling{"\\A", "(?<![\\s\\S])"},
    Spelling{"\\Z", "(?![\\s\\S])"},
};

/// Takes `(?im)` off the beginning. False for a letter that nothing here is like.
bool take_flags(std::string_view& text, Pattern::Flags& flags) {
  if (!text.starts_with("(?"))
    return true;
  const auto close = text.find_first_not_of("abcdefghijklmnopqrstuvwxyzL", 2);
  if (close == 2 || close == std::string_view::npos || text[close] != ')')
    return true;
  for (const char flag : text.substr(2, close - 2)) {
    flags.any_case = flags.any_case || flag == 'i';
    flags.many_lines = flags.many_lines || flag == 'm';
    flags.dot_all = flags.dot_all || flag == 's';
    if (std::string_view("aimsu").find(flag) == std::string_view::npos)
      return false;
  }
  text.remove_prefix(close + 1);
  return true;
}

/// What the text begins with that is spelled otherwise here; nullptr: nothing.
const Spelling* spelling_at(std::string_view text) {
  for (const Spelling& each : kSpellings)
    if (text.starts_with(each.python))
      return &each;
  return nullptr;
}

/// Takes a class's beginning over. A `]` that comes first in it is one of its characters.
void begin_class(std::string_view& text, std::string& out) {
  const std::size_t bytes = text.starts_with("[^") ? 2 : 1;
  out += text.substr(0, bytes);
  text.remove_prefix(bytes);
  if (!text.starts_with(']'))
    return;
  out += "\\]";
  text.remove_prefix(1);
}

/// `{,4}` is from none on.
bool lacks_minimum(std::string_view text) {
  if (!text.starts_with("{,"))
    return false;
  const auto end = text.find_first_not_of("0123456789", 2);
  return end != std::string_view::npos && text[end] == '}';
}

/// Takes what is spelled otherwise here. False: nothing is at this place.
bool respell(std::string_view& text, std::string& out) {
  if (lacks_minimum(text)) {
    out += "{0";
    text.remove_prefix(1);
    return true;
  }
  const Spelling* const known = spelling_at(text);
  if (known == nullptr)
    return false;
  out += known->ecma;
  text.remove_prefix(known->python.size());
  if (const auto close = text.find(')');
      known->python == "(?P=" && close != std::string_view::npos) {
    out += std::string(text.substr(0, close)) + ">";
    text.remove_prefix(close + 1);
  }
  return true;
}

std::string respelled(std::string_view text) {
  std::string out;
  bool in_class = false;
  while (!text.empty()) {
    if (!in_class && respell(text, out))
      continue;
    if (!in_class && text.front() == '[') {
      begin_class(text, out);
      in_class = true;
      continue;
    }
    const std::size_t bytes = text.front() == '\\' && text.size() > 1 ? 2 : 1;
    out += text.substr(0, bytes);
    in_class = in_class && text.front() != ']';
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace

Result<Pattern> python_pattern(std::string_view text) {
  Pattern::Flags flags;
  if (!take_flags(text, flags))
    return fail(Errc::schema, "a flag at its beginning is not known here");
  flags.python_lines = true;
  return Pattern::compile(respelled(text), flags);
}

}  // namespace baton::fsm_loop
