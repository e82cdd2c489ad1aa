// SPDX-License-Identifier: Apache-2.0
#include "dialects/ccw_loop/snapshot.h"

#include <algorithm>

namespace baton::ccw_loop {

namespace {

std::uint32_t max_attempts(const Environment& env) {
  return of_role(env.role_retry, Role(kExecutor), env.retry).max_attempts;
}

/// The run that succeeded in this turn; nullptr: none. A forgiven run counts too.
const Run* done_in(const View& view, std::uint64_t generation, std::uint32_t turn) {
  const auto found = std::find_if(view.runs.begin(), view.runs.end(), [&](const Run& run) {
    return run.key.generation == generation && run.key.turn == turn &&
           run.outcome == Outcome::succeeded;
  });
  return found == view.runs.end() ? nullptr : &*found;
}

Job job_of(const View& view) {
  Job job;
  if (const auto stage = view.stages.find(Subject(kMain)); stage != view.stages.end())
    job.generation = stage->second.generation;
  while (const Run* const done = done_in(view, job.generation, job.turn)) {
    job.debugged_in_a_row = done->purpose == word(Action::debug) ? job.debugged_in_a_row + 1 : 0;
    job.done = parse_action(done->purpose);
    job.completing = job.completing || done->purpose == word(Action::complete);
    ++job.turn;
  }
  for (const Run& run : view.runs) {
    if (run.live() || run.outcome == Outcome::voided)
      continue;
    if (job.last == nullptr || run.ended >= job.last->ended)
      job.last = &run;
    if (run.key.generation == job.generation && run.key.turn == job.turn)
      job.failures += failed(run) && !run.forgiven ? 1U : 0U;
  }
  job.exhausted = job.failures >= max_attempts(view.env);
  return job;
}

}  // namespace

bool failed(const Run& run) {
  return !run.live() && run.outcome != Outcome::voided && !is_put_back(run.outcome) &&
         run.outcome != Outcome::succeeded;
}

std::string how_it_ended(const Run& run) {
  return run.reason.empty() ? std::string(word(run.outcome)) : run.reason;
}

Snapshot::Snapshot(const View& given)
    : view(given),
      options(options_of(given.options)),
      memo(memo_of(given.memo)),
      loop(loop_of(given.docs)),
      job(job_of(given)) {}

const Run* Snapshot::live() const {
  const auto found =
      std::find_if(view.runs.begin(), view.runs.end(), [](const Run& run) { return run.live(); });
  return found == view.runs.end() ? nullptr : &*found;
}

Time Snapshot::since() const {
  const auto stage = view.stages.find(Subject(kMain));
  return stage == view.stages.end() ? view.now : stage->second.since;
}

bool Snapshot::interactive() const {
  if (!memo.mode.empty())
    return memo.mode == "interactive";
  if (loop.skill != nullptr)
    return json::text(*loop.skill, "mode") == "interactive";
  return options.interactive;
}

std::string Snapshot::work_digest() const {
  std::string text = skill_digest(*loop.root);
  if (options.granularity == Granularity::run)
    text += "/" + std::to_string(loop.iteration);
  return text;
}

void Writes::set(std::string_view name, const Json& value) {
  edits_.push_back(json::Edit{"/" + std::string(name), value.dump()});
}

void Writes::clear(std::string_view name) {
  edits_.push_back(json::Edit{"/" + std::string(name), ""});
}

void Writes::add_error(const Json& error) {
  edits_.push_back(json::Edit{"/skill_state/errors/-", error.dump()});
}

void Writes::because(const std::string& why) {
  why_ += (why_.empty() ? "" : "; ") + why;
}

void Writes::status(const Snapshot& snapshot, Status status, const std::string& failure_reason) {
  set("status", ccw_loop::word(status));
  if (status == Status::failed) {
    set("failure_reason", failure_reason);
    set("completed_at", iso_time(snapshot.view.wall, true));
  } else if (status == Status::running) {
    // A running loop has neither failed nor ended, and no other program removes these members.
    clear("failure_reason");
    clear("completed_at");
  }
}

std::vector<Update> Writes::updates(const Snapshot& snapshot) const {
  if (edits_.empty() || snapshot.loop.file == nullptr)
    return {};
  std::vector<json::Edit> edits = edits_;
  edits.push_back(json::Edit{"/updated_at", json::quote(iso_time(snapshot.view.wall, true))});
  return {SetMembers{snapshot.loop.path, snapshot.loop.file->document->digest(), edits, why_}};
}

std::string compact(std::string_view stamp) {
  std::string digits;
  for (const char c : stamp)
    if ((c >= '0' && c <= '9') || c == 'T')
      digits += c;
  return digits;
}

}  // namespace baton::ccw_loop
