#include "dialects/fsm_loop/snapshot.h"

#include <algorithm>

#include "base/json/document.h"
#include "dialects/fsm_loop/fsm_loop.h"
#include "dialects/kinds.h"

namespace baton::fsm_loop {

Snapshot::Snapshot(const View& given) : view(given), paths(given) {
  signals_anywhere = json::text(*view.options, "signals") == "anywhere";
  const auto found = view.docs.find(paths.state());
  state = found == view.docs.end() ? nullptr : &found->second;
  if (state == nullptr)
    return;
  const Record own = record_of(state->document->root());
  memo = memo_of(view.memo, own);
  // baton wrote the state file when it started the run. If the file is about another run than the
  // memo, that run has started just now, or it belongs to another program.
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

Loaded Snapshot::loaded(const std::string& path) const {
  Library library = library_of(view.docs);
  // Everything in `wanted` was asked for. A file that is not among the documents does not exist.
  for (auto missing = wanted(path, library); !missing.empty(); missing = wanted(path, library))
    for (const std::string& each : missing)
      library.emplace(each, nullptr);
  return load(path, library);
}

const Run* Snapshot::live() const {
  const auto found =
      std::find_if(view.runs.begin(), view.runs.end(), [](const Run& run) { return run.live(); });
  return found == view.runs.end() ? nullptr : &*found;
}

void Snapshot::keep_clock() {
  const Step step = memo.frames.back().work.step;
  const bool waits = !memo.scope_claimed && (step == Step::act || step == Step::judge);
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
