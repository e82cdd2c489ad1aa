#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "dialects/kinds.h"

namespace baton {

// A type that is stored as a JSON object lists its members once, in a function that calls
// `visit(name, member)` for each. MemberReader and MemberWriter are the two visitors, so reading
// and writing cannot differ.

/// Reads each member. A member that is absent, null or of another type keeps its default (Json) or
/// becomes empty (everything else).
class MemberReader {
 public:
  explicit MemberReader(const Value& root) : root_(root) {}

  void operator()(std::string_view name, std::string& value) const { value = text_of(root_, name); }
  void operator()(std::string_view name, std::int64_t& value) const {
    value = count_of(root_, name);
  }
  void operator()(std::string_view name, std::uint32_t& value) const {
    const std::int64_t count = count_of(root_, name);
    const bool fits = count > 0 && count <= std::numeric_limits<std::uint32_t>::max();
    value = fits ? static_cast<std::uint32_t>(count) : 0;
  }
  void operator()(std::string_view name, std::optional<std::int64_t>& value) const {
    value = json::integer(root_, name);
  }
  void operator()(std::string_view name, bool& value) const {
    value = json::boolean(root_, name).value_or(false);
  }
  void operator()(std::string_view name, Json& value) const {
    if (const Value* const found = json::child(root_, name); found != nullptr && !found->IsNull())
      value = Json(*found);
  }
  void operator()(std::string_view name, std::vector<std::string>& texts) const {
    texts.clear();
    if (const Value* const list = json::child(root_, name); list != nullptr && list->IsArray())
      for (const Value& each : list->GetArray())
        texts.emplace_back(json::text(each).value_or(""));
  }
  void operator()(std::string_view name, std::set<std::string>& texts) const {
    std::vector<std::string> all;
    (*this)(name, all);
    texts = {all.begin(), all.end()};
  }
  void operator()(std::string_view name, std::map<std::string, std::int64_t>& counts) const {
    counts.clear();
    if (const Value* const map = json::child(root_, name); map != nullptr && map->IsObject())
      for (const auto& member : map->GetObject())
        counts.emplace(std::string(json::name(member.name)),
                       json::integer(member.value).value_or(0));
  }

 private:
  const Value& root_;
};

/// Sets each member of `root`. With `drop_empty` a member without content (empty, zero, false) is
/// removed instead.
class MemberWriter {
 public:
  explicit MemberWriter(Json& root, bool drop_empty = false)
      : root_(root), drop_empty_(drop_empty) {}

  void operator()(std::string_view name, const std::string& value) const {
    put(name, value, value.empty());
  }
  void operator()(std::string_view name, std::int64_t value) const { put(name, value, value == 0); }
  void operator()(std::string_view name, std::uint32_t value) const {
    put(name, static_cast<std::int64_t>(value), value == 0);
  }
  void operator()(std::string_view name, const std::optional<std::int64_t>& value) const {
    put(name, value.value_or(0), !value || *value == 0);
  }
  void operator()(std::string_view name, bool value) const { put(name, value, !value); }
  void operator()(std::string_view name, const Json& value) const {
    put(name, value, value.is_null() || (value->IsObject() && value->ObjectEmpty()));
  }
  void operator()(std::string_view name, const std::vector<std::string>& texts) const {
    list(name, texts);
  }
  void operator()(std::string_view name, const std::set<std::string>& texts) const {
    list(name, texts);
  }
  void operator()(std::string_view name, const std::map<std::string, std::int64_t>& counts) const {
    Json map = Json::object();
    for (const auto& [key, count] : counts)
      map.set(key, count);
    put(name, map, counts.empty());
  }

 private:
  template <class Texts>
  void list(std::string_view name, const Texts& texts) const {
    Json all = Json::array();
    for (const std::string& text : texts)
      all.push(text);
    put(name, all, texts.empty());
  }
  void put(std::string_view name, const Json& value, bool empty) const {
    if (drop_empty_ && empty)
      root_.erase(name);
    else
      root_.set(name, value);
  }
  Json& root_;
  bool drop_empty_;
};

}  // namespace baton
