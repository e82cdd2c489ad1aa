#include "dialects/fsm_loop/places.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "base/time.h"

namespace baton::fsm_loop {
namespace {}  // namespace

Places::Places(const View& view) : name_(view.flow.name) {
  folder_ = json::text(*view.options, "path").value_or(".loops");
  while (folder_.size() > 1 && folder_.ends_with('/'))
    folder_.pop_back();
  running_ = folder_ + "/.running/" + name_;
}

std::vector<std::string> Places::definitions() const {
  std::vector<std::string> all;
  for (const std::string_view name : {std::string_view(name_), loop_of_instance(name_)})
    for (const char* const end : {".fsm.yaml", ".yaml"})
      if (!name.empty())
        all.push_back(folder_ + "/" + std::string(name) + end);
  return all;
}

std::string Places::archive(std::string_view started_at, std::string_view last) const {
  constexpr std::size_t kCompact = 17;  // to the second
  std::string compact(started_at);
  std::erase_if(compact, [](char c) { return c == ':' || c == '.' || c == '+' || c == '/'; });
  std::string folder = folder_ + "/.history/" + compact.substr(0, kCompact) + "-" + name_;
  if (last != folder && !last.starts_with(folder + "."))
    return folder;
  int count = 1;
  if (last.size() > folder.size())
    std::from_chars(last.data() + folder.size() + 1, last.data() + last.size(), count);
  return folder + "." + std::to_string(count + 1);
}

std::string_view loop_of_instance(std::string_view stem) {
  constexpr std::size_t kSuffix = 16;  // -YYYYMMDDTHHMMSS
  if (stem.size() <= kSuffix)
    return {};
  const std::string_view name = stem.substr(0, stem.size() - kSuffix);
  const std::string_view suffix = stem.substr(name.size());
  const bool fits = suffix[0] == '-' && all_digits(suffix.substr(1, 8)) && suffix[9] == 'T' &&
                    all_digits(suffix.substr(10));
  return fits ? name : std::string_view();
}

std::string stamp(Time time) {
  std::string text = iso_time(time, true);
  return text.insert(text.size() - 1, "000");
}

}  // namespace baton::fsm_loop
