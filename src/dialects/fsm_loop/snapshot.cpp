// SPDX-License-Identifier: Apache-2.0
#include "dialects/fsm_loop/snapshot.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/json/document.h"
#include "base/size.h"
#include "base/text.h"
#include "dialects/fsm_loop/fsm_loop.h"
#include "dialects/fsm_loop/shell_access.h"
#include "dialects/kinds.h"

namespace baton::fsm_loop {

namespace {

FileKind kind(std::string name, std::string pattern, Format format) {
  FileKind result = file_kind("fsm_loop", std::move(name), std::move(pattern), format);
  // Only the state file is essential. A running loop keeps the definition from its start, and the
  // events and the lock are for other programs.
  result.essential = result.kind == "state";
  result.kept = result.kind != "events";
  return result;
}

FileKind events(const Json& options, std::string pattern) {
  constexpr std::uint64_t kUsual = 64U << 20U;
  FileKind result = kind("events", std::move(pattern), Format::jsonl);
  result.rotate_above_bytes =
      parse_size(json::text(*options, "max_events_file").value_or("")).value_or(kUsual);
  return result;
}

/// The file in which other programs write the number of their process.
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
          events(options, running + ".events.jsonl"),
          kind("lock", running + ".lock", Format::json),
          process_id(running + ".pid")};
}

std::vector<std::string> own_files(const Json& options) {
  std::string path(json::text(*options, "path").value_or(".loops"));
  while (path.size() > 1 && path.ends_with('/'))
    path.pop_back();
  return {path + "/.history/{flow}/{part}", path + "/.running/{flow}.events.jsonl.1",
          path + "/runs/{flow}/.keep"};
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

std::string Paths::run_folder(std::string_view started_at) const {
  constexpr std::size_t kCompact = 18;  // to the millisecond
  std::string compact(started_at);
  std::erase_if(compact, [](char c) { return c != 'T' && !is_digit(c); });
  return folder_ + "/runs/" + name_ +
         (loop_of_instance(name_).empty() ? "-" + compact.substr(0, kCompact) : "") + "/";
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

Snapshot::Snapshot(const View& given) : view(given), paths(given) {
  signals_anywhere = json::text(*view.options, "signals") == "anywhere";
  const auto found = view.docs.find(paths.state());
  state = found == view.docs.end() ? nullptr : &found->second;
  if (state == nullptr)
    return;
  const Record own = record_of(state->document->root());
  memo = memo_of(view.memo, own);
  // baton writes the state file when it starts a run. If the file is about another run than the
  // memo, that run has just started, or it belongs to another program.
  const bool same = memo.owned && memo.start == own.start;
  const std::int64_t resumes = memo.resumes;
  if (!same) {
    memo = Memo{};
    memo.resumes = resumes;
    memo.owned = state->writer == "baton" && !own.start.empty();
    memo.start = own.start;
  }
  if (memo.frames.empty())
    memo.frames.emplace_back().record = own;
}

const Accepted* Snapshot::present(const std::string& path) const {
  const auto found = view.docs.find(path);
  return found == view.docs.end() || !found->second.present ? nullptr : &found->second;
}

Word Snapshot::stage() const {
  const auto found = view.stages.find(Subject(kSubject));
  return found == view.stages.end() ? Word() : found->second.stage;
}

std::string Snapshot::definition() const {
  for (const std::string& path : paths.definitions())
    if (present(path) != nullptr)
      return path;
  return {};
}

std::string Snapshot::definition_fault() const {
  for (const std::string& path : paths.definitions()) {
    if (const auto found = view.rejected.find(path); found != view.rejected.end())
      return first_error(path, found->second);
    if (present(path) != nullptr)
      return {};
  }
  return {};
}

Loaded Snapshot::loaded(const std::string& path, bool ignore_unsupported) const {
  Library library = library_of(view.docs, view.options);
  // `reads` has asked for all wanted files. So a file that is not among the documents does not
  // exist.
  for (auto missing = wanted(path, library); !missing.empty(); missing = wanted(path, library))
    for (const std::string& each : missing)
      library.files.emplace(each, nullptr);
  Loaded loaded = load(path, library);
  if (!loaded.definition)
    return loaded;
  loaded.error = access_fault(library, **loaded.definition, view.options);
  if (loaded.error.empty() && !ignore_unsupported)
    loaded.error = loaded.unsupported;
  if (!loaded.error.empty())
    loaded.definition.reset();
  return loaded;
}

std::string why_not(const Loaded& loaded) {
  return loaded.error == loaded.unsupported ? loaded.error
                                            : "the definition is not valid: " + loaded.error;
}

const Run* Snapshot::live() const {
  const auto found =
      std::find_if(view.runs.begin(), view.runs.end(), [](const Run& run) { return run.live(); });
  return found == view.runs.end() ? nullptr : &*found;
}

void Snapshot::keep_clock() {
  const Step step = memo.frames.back().work.step;
  const bool waits =
      !memo.scope_claimed && (step == Step::act || step == Step::judge || step == Step::attach);
  const bool stands =
      record().status == Status::running && (waits || view.control == Control::pause);
  if (stands == (memo.stopped_ms > 0))
    return;
  for (Frame& frame : memo.frames)
    frame.since_ms += stands ? 0 : now_ms() - memo.stopped_ms;
  memo.stopped_ms = stands ? now_ms() : 0;
}

Word stage_of_other_program(const Snapshot& snapshot) {
  if (snapshot.state == nullptr || snapshot.owned())
    return {};
  const Record& record = snapshot.memo.frames.front().record;
  if (record.status == Status::interrupted)
    return "interrupted";
  return record.status == Status::running && owner_of(snapshot) == Owner::dead ? "owner_dead" : "";
}

Stages stages(const View& view) {
  const Snapshot snapshot(view);
  Stages stages;
  if (!snapshot.owned()) {
    if (Word stage = stage_of_other_program(snapshot); !stage.empty())
      stages.emplace(kSubject, std::move(stage));
    return stages;
  }
  if (!snapshot.memo.stage.empty())
    stages.emplace(kSubject, snapshot.memo.stage);
  if (!snapshot.memo.spawn.empty())
    stages.emplace(kHandoff, snapshot.memo.stage);
  return stages;
}

}  // namespace baton::fsm_loop
