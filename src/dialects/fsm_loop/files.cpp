#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "dialects/fsm_loop/snapshot.h"
#include "dialects/kinds.h"

namespace baton::fsm_loop {

namespace {

FileKind kind(std::string name, std::string pattern, Format format) {
  FileKind result = file_kind("fsm_loop", std::move(name), std::move(pattern), format);
  // Only the state file is essential: a running loop keeps the definition it started with, and its
  // events and lock are for other programs.
  result.essential = result.kind == "state";
  result.kept = result.kind != "events";
  return result;
}

/// The file of other programs with the number of a process.
FileKind process_id(std::string pattern) {
  FileKind result = kind("pid", std::move(pattern), Format::text);
  result.schema.clear();
  return result;
}

}  // namespace

std::vector<FileKind> files(const Json& options) {
  const std::string path(json::text(*options, "path").value_or(".loops"));
  const std::string running = path + "/.running/{flow}";
  // `x.fsm.yaml` is the definition of `x`, so its pattern is first.
  return {kind("definition", path + "/{flow}.fsm.yaml", Format::yaml),
          kind("definition", path + "/{flow}.yaml", Format::yaml),
          kind("state", running + ".state.json", Format::json),
          kind("events", running + ".events.jsonl", Format::jsonl),
          kind("lock", running + ".lock", Format::json),
          process_id(running + ".pid")};
}

std::string stem_of(const Json& options, std::string_view kind, std::string_view path) {
  auto match = match_kind(files(options), kind, path);
  return match ? std::move(match->flow) : std::string();
}

Paths::Paths(const View& view) : name_(view.flow.name) {
  folder_ = json::text(*view.options, "path").value_or(".loops");
  while (folder_.size() > 1 && folder_.ends_with('/'))
    folder_.pop_back();
  running_ = folder_ + "/.running/" + name_;
}

std::vector<std::string> Paths::definitions() const {
  std::vector<std::string> all;
  for (const std::string_view name : {std::string_view(name_), loop_of_instance(name_)})
    for (const char* const end : {".fsm.yaml", ".yaml"})
      if (!name.empty())
        all.push_back(folder_ + "/" + std::string(name) + end);
  return all;
}

std::string Paths::archive(std::string_view started_at, std::string_view last) const {
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

}  // namespace baton::fsm_loop
