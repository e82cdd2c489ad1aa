// SPDX-License-Identifier: Apache-2.0
#include "base/schema/uri.h"

#include <charconv>
#include <vector>

#include "base/text.h"

namespace baton {
namespace {

/// The five parts, each with its delimiter, so that joining them gives the text again.
struct Parts {
  std::string_view scheme;
  std::string_view authority;
  std::string_view path;
  std::string_view query;
  std::string_view fragment;
};

std::string_view cut(std::string_view& text, std::size_t length) {
  const std::string_view out = text.substr(0, length);
  text.remove_prefix(out.size());
  return out;
}

Parts parts_of(std::string_view uri) {
  Parts parts;
  const std::size_t colon = uri.find(':');
  if (colon != std::string_view::npos && colon > 0 && colon < uri.find_first_of("/?#"))
    parts.scheme = cut(uri, colon + 1);
  if (uri.starts_with("//"))
    parts.authority = cut(uri, uri.find_first_of("/?#", 2));
  parts.path = cut(uri, uri.find_first_of("?#"));
  if (uri.starts_with('?'))
    parts.query = cut(uri, uri.find('#'));
  parts.fragment = uri;
  return parts;
}

/// Removes the last segment. `free`: for file paths, which may lead above their start.
void go_up(std::vector<std::string>& segments, bool free) {
  const bool at_top = segments.empty() || (segments.size() == 1 && segments.front().empty());
  if (free && (segments.empty() || segments.back() == ".."))
    segments.emplace_back("..");
  else if (!at_top)
    segments.pop_back();
}

std::string without_dots(std::string_view path, bool free = false) {
  if (path.find("./") == std::string_view::npos && !path.ends_with("/.") && !path.ends_with(".."))
    return std::string(path);
  std::vector<std::string> out;
  const std::vector<std::string> segments = split(path, '/');
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const bool last = i + 1 == segments.size();
    if (segments[i] == "..") {
      go_up(out, free);
      if (last)
        out.emplace_back();
    } else if (segments[i] == ".") {
      if (last)
        out.emplace_back();
    } else {
      out.push_back(segments[i]);
    }
  }
  return join(out, "/");
}

std::string concatenated(std::string_view scheme, std::string_view authority, std::string_view path,
                         std::string_view query, std::string_view fragment) {
  std::string out(scheme);
  return out.append(authority).append(path).append(query).append(fragment);
}

}  // namespace

std::string resolve_uri(std::string_view base, std::string_view reference) {
  const Parts from = parts_of(base);
  const Parts to = parts_of(reference);
  if (!to.scheme.empty())
    return concatenated(to.scheme, to.authority, without_dots(to.path), to.query, to.fragment);
  if (!to.authority.empty())
    return concatenated(from.scheme, to.authority, without_dots(to.path), to.query, to.fragment);
  if (to.path.empty())
    return concatenated(from.scheme, from.authority, from.path,
                        to.query.empty() ? from.query : to.query, to.fragment);
  if (to.path.starts_with('/'))
    return concatenated(from.scheme, from.authority, without_dots(to.path), to.query, to.fragment);
  std::string path;
  if (from.path.empty() && !from.authority.empty())
    path = "/";
  else if (const std::size_t slash = from.path.rfind('/'); slash != std::string_view::npos)
    path = from.path.substr(0, slash + 1);
  path += to.path;
  const bool file = from.scheme.empty() && from.authority.empty() && !path.starts_with('/');
  return concatenated(from.scheme, from.authority, without_dots(path, file), to.query, to.fragment);
}

SplitUri split_fragment(std::string_view uri) {
  SplitUri out;
  const std::size_t hash = uri.find('#');
  out.document = uri.substr(0, hash);
  if (hash == std::string_view::npos)
    return out;
  out.fragment = percent_decoded(uri.substr(hash + 1));
  return out;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string percent_encoded(std::string_view path) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  constexpr std::string_view kPlain = "-._~/!$&'()*+,;=@";
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (alnum || kPlain.find(c) != std::string_view::npos)
      out += c;
    else
      out += {'%', kDigits[byte >> 4U], kDigits[byte & 0xFU]};
  }
  return out;
}

}  // namespace baton
