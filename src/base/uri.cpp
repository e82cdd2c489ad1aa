#include "base/uri.h"

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

std::string without_dots(std::string_view path) {
  if (path.find("./") == std::string_view::npos && !path.ends_with("/.") && !path.ends_with(".."))
    return std::string(path);
  std::vector<std::string> out;
  const std::vector<std::string> segments = split(path, '/');
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const bool last = i + 1 == segments.size();
    if (segments[i] == "..") {
      if (out.size() > 1 || (out.size() == 1 && !out.front().empty()))
        out.pop_back();
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
  return concatenated(from.scheme, from.authority, without_dots(path), to.query, to.fragment);
}

SplitUri split_fragment(std::string_view uri) {
  SplitUri out;
  const std::size_t hash = uri.find('#');
  out.document = uri.substr(0, hash);
  if (hash == std::string_view::npos)
    return out;
  const std::string_view fragment = uri.substr(hash + 1);
  for (std::size_t i = 0; i < fragment.size(); ++i) {
    unsigned byte = 0;
    const char* digits = fragment.data() + i + 1;
    if (fragment[i] == '%' && i + 2 < fragment.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      out.fragment += static_cast<char>(byte);
      i += 2;
    } else {
      out.fragment += fragment[i];
    }
  }
  return out;
}

}  // namespace baton
