#include "dialects/agent_run/text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/text.h"

namespace baton::agent_run {
namespace {

bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

bool is_id_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_.- ").find(c) != std::string_view::npos;
}

/// C1 controls, and what is invisible or turns the direction of writing: U+200B to U+200F,
/// U+2028 to U+202F, U+2060 to U+206F, U+FEFF.
bool has_hidden(std::string_view text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const auto byte = [&](std::size_t at) {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
    };
    if (byte(i) == 0xC2 && byte(i + 1) < 0xA0)
      return true;
    if (byte(i) == 0xE2 && byte(i + 1) == 0x80 &&
        ((byte(i + 2) >= 0x8B && byte(i + 2) <= 0x8F) || byte(i + 2) >= 0xA8))
      return byte(i + 2) <= 0xAF;
    if (byte(i) == 0xE2 && byte(i + 1) == 0x81 && byte(i + 2) >= 0xA0 && byte(i + 2) <= 0xAF)
      return true;
    if (byte(i) == 0xEF && byte(i + 1) == 0xBB && byte(i + 2) == 0xBF)
      return true;
  }
  return false;
}

}  // namespace

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'a' && c <= 'z')
      c = static_cast<char>(c - 'a' + 'A');
  return result;
}

std::string id_fault(std::string_view id) {
  constexpr std::size_t kMaxBytes = 100;
  if (id.empty() || id == "." || id == "..")
    return "it is no name";
  if (id.size() > kMaxBytes)
    return "it is longer than 100 bytes";
  const auto* const bad =
      std::find_if(id.begin(), id.end(), [](char c) { return is_ascii(c) && !is_id_character(c); });
  if (bad != id.end())
    return "the character '" + printable(std::string_view(&*bad, 1)) + "' is not allowed";
  return has_hidden(id) ? "it holds an invisible character" : "";
}

std::string file_part(std::string_view id) {
  if (safe_name(id))
    return std::string(id);
  constexpr std::size_t kDigits = 8;
  std::string part(id);
  for (char& c : part)
    if (!safe_name(std::string("a") + c))
      c = '_';
  if (part.empty() || !safe_name(part.substr(0, 1)))
    part = "s" + part;
  return part + "-" + hex(digest_of(id)).substr(0, kDigits);
}

bool within(std::string_view path, std::string_view folder) {
  while (folder.ends_with('/'))
    folder.remove_suffix(1);
  if (!path.starts_with(folder) || (path.size() > folder.size() && path[folder.size()] != '/'))
    return false;
  const auto parts = split(path, '/');
  return std::find(parts.begin(), parts.end(), "..") == parts.end();
}

bool leaves(std::string_view path) {
  if (path.starts_with('/'))
    return true;
  int depth = 0;
  for (const std::string& part : split(path, '/')) {
    if (part == "..")
      --depth;
    else if (!part.empty() && part != ".")
      ++depth;
    if (depth < 0)
      return true;
  }
  return false;
}

std::string tidied(std::string_view path) {
  std::vector<std::string> kept;
  for (std::string& part : split(path, '/')) {
    if (part == ".." && !kept.empty() && kept.back() != "..")
      kept.pop_back();
    else if (!part.empty() && part != "." && !(part == ".." && path.starts_with('/')))
      kept.push_back(std::move(part));
  }
  return (path.starts_with('/') ? "/" : "") + join(kept, "/");
}

std::string folded_gate(const Value& gate) {
  const auto member = gate.MemberBegin();
  const auto text = json::text(member->value);
  return std::string(member->name.GetString()) + ": " +
         (text ? std::string(*text) : json::dump(member->value));
}

}  // namespace baton::agent_run
