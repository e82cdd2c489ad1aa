// SPDX-License-Identifier: Apache-2.0
#include "dialects/coordination/snapshot.h"

#include <algorithm>

#include "base/text.h"
#include "core/run_text.h"

namespace baton::coordination {
namespace {

bool failed(const Run& run) {
  if (run.live() || run.forgiven || run.outcome == Outcome::voided)
    return false;
  if (is_put_back(run.outcome))
    return stalled(run);
  return run.outcome != Outcome::succeeded;
}

std::uint32_t max_attempts(const Environment& env, std::string_view role) {
  return of_role(env.role_retry, Role(role), env.retry).max_attempts;
}

std::string shared_file(const Group& a, const Group& b) {
  for (const std::string& file : a.files)
    if (std::find(b.files.begin(), b.files.end(), file) != b.files.end())
      return file;
  return {};
}

}  // namespace

Snapshot::Snapshot(const View& given)
    : view(given),
      options(options_of(given.options)),
      memo(memo_of(given.memo)),
      plan(plan_of(given.docs)) {}

std::uint64_t Snapshot::generation(const Subject& subject) const {
  const auto found = view.stages.find(subject);
  return found == view.stages.end() ? 0 : found->second.generation;
}

template <class Which>
const Run* Snapshot::first_live(const Which& which) const {
  for (const Run& run : view.runs)
    if (run.live() && which(run))
      return &run;
  return nullptr;
}

const Run* Snapshot::live(const Subject& subject) const {
  return first_live([&](const Run& run) { return run.key.subject == subject; });
}

const Run* Snapshot::present(const Subject& subject) const {
  return first_live([&](const Run& run) {
    return run.key.subject == subject && run.key.generation == generation(subject);
  });
}

const Run* Snapshot::live_worker(const Subject& subject) const {
  return first_live(
      [&](const Run& run) { return run.key.subject == subject && run.key.role != kManager; });
}

const Run* Snapshot::live_manager() const {
  return first_live([](const Run& run) { return run.key.role == kManager; });
}

bool Snapshot::any_live() const {
  return first_live([](const Run&) { return true; }) != nullptr;
}

bool Snapshot::forgotten(const Run& run) const {
  return !run.live() && !memo.runs.contains(run.id) &&
         run.started.time_since_epoch().count() <= memo.forgotten_ms;
}

bool Snapshot::may_have_written(const Run& run) const {
  if (run.live())
    return true;
  const auto known = memo.runs.find(run.id);
  return run.outcome != Outcome::voided && !forgotten(run) &&
         (known == memo.runs.end() || !known->second.over);
}

Job Snapshot::job(std::string_view role, const Subject& subject) const {
  const std::uint64_t now = generation(subject);
  const auto ours = [&](const Run& run) {
    return run.key.subject == subject && run.key.role == role && run.key.generation == now;
  };
  Job job;
  std::uint32_t base = 0;
  if (const auto group = memo.groups.find(subject); group != memo.groups.end())
    if (const auto turn = group->second.turn_base.find(std::string(role));
        turn != group->second.turn_base.end() && group->second.turn_generation == now)
      base = turn->second;
  job.turn = base;
  const auto done = [&](const Run& run) {
    return ours(run) && run.key.turn == job.turn && run.outcome == Outcome::succeeded &&
           !run.forgiven;
  };
  while (std::any_of(view.runs.begin(), view.runs.end(), done))
    ++job.turn;
  job.fresh = job.turn - base;
  for (const Run& run : view.runs) {
    if (!ours(run))
      continue;
    if (run.outcome != Outcome::voided)
      job.last = &run;
    if (run.key.turn != job.turn)
      continue;
    job.first = job.first == nullptr ? &run : job.first;
    job.failures += failed(run) ? 1U : 0U;
  }
  job.exhausted = job.failures >= max_attempts(view.env, role);
  return job;
}

bool stalled(const Run& run) {
  return run.outcome == Outcome::stopped && run.stop_why.starts_with(kStalled);
}

bool unblocked(const Snapshot& snapshot, const Group& group) {
  const auto memo = snapshot.memo.groups.find(group.id);
  const bool known = memo != snapshot.memo.groups.end();
  auto open = open_blockers(group.entry);
  // `unblocked` resolves the blocker that baton wrote, even if the entry still shows it as open.
  if (known)
    std::erase(open, memo->second.blocker);
  if (group.entry == nullptr || !open.empty() ||
      count_decisions(snapshot.view.docs, group, "unblocked") <=
          (known ? memo->second.unblocks : 0))
    return false;
  // The newest message or the newest feedback must say `unblocked`.
  const auto sent = messages(snapshot.view.docs, *mailbox("techlead_to_dev"), group.id);
  if (!sent.empty() && word_of(*sent.back().value, "decision") == "unblocked")
    return true;
  const auto feedback = items_in(*group.entry, "tech_lead_feedback");
  return !feedback.Empty() && word_of(feedback[feedback.Size() - 1], "decision") == "unblocked";
}

std::string named_run(const Job& job) {
  if (job.last == nullptr || job.last->live())
    return "";
  const std::string said = last_words(*job.last);
  return " (" + run_name(*job.last) + (said.empty() ? "" : ", its last line: " + said) + ")";
}

std::string correction(const Snapshot& snapshot, const std::string& path) {
  std::string what =
      "correct " + path + " (`baton validate " + shell_word(path) + "` shows what is wrong)";
  if (const auto file = snapshot.view.docs.find(path); file != snapshot.view.docs.end())
    what += ", or put its last good version back: `" + command("recover", snapshot.view.flow) +
            " --write`";
  return what;
}

std::string faults_to_fix(const Snapshot& snapshot, const Subject& subject) {
  std::string text;
  for (const PutBack& back : snapshot.memo.put_back)
    if (back.concerns(subject))
      text += std::string(back.stays ? "; noted: " : "; put back: ") + back.why;
  for (const auto& [path, accepted] : snapshot.view.docs)
    if (!accepted.rejected.empty())
      text += "; rejected: " + first_error(path, accepted.rejected);
  return text;
}

MailCount mail_count(const FlowState& docs, std::string_view group) {
  MailCount count{};
  for (std::size_t i = 0; i < count.size(); ++i)
    count.at(i) = messages(docs, i, group).size();
  return count;
}

Word stage_of(const Snapshot& snapshot, const Group& group) {
  if (group.status == Status::dev_blocked && unblocked(snapshot, group))
    return "dev";
  if (group.status == Status::waiting_qa && !snapshot.options.qa)
    return "review";
  return Word(status_row(group.status).stage);
}

DeveloperSlots::DeveloperSlots(const Snapshot& snapshot) : snapshot_(snapshot) {
  for (const Run& run : snapshot.view.runs) {
    if (!run.live())
      continue;
    in_hand_.insert(run.key.subject);
    if (run.key.role == kDeveloper)
      developing_.insert(run.key.subject);
  }
}

std::vector<Claim> DeveloperSlots::claims(const Group& group) const {
  const std::uint32_t most = snapshot_.plan.simple ? 1 : snapshot_.options.max_developers;
  std::vector<Claim> claims = {Claim{"developers " + text(snapshot_.view.flow), most}};
  const std::set<std::string> files(group.files.begin(), group.files.end());
  for (const std::string& file : files)
    claims.push_back(Claim{"file " + file, 1});
  return claims;
}

std::size_t DeveloperSlots::room(const Group& group) const {
  std::size_t most = snapshot_.plan.simple ? 1 : snapshot_.options.max_developers;
  if (const auto count = snapshot_.plan.parallel_counts.find(group.phase);
      count != snapshot_.plan.parallel_counts.end())
    most = std::min(most, static_cast<std::size_t>(count->second));
  return most;
}

/// Enough developers work, or groups come first whose developers have not started yet.
DeveloperSlots::Obstacle DeveloperSlots::no_room(const Group& group) const {
  std::vector<std::string> first;
  for (const Subject& id : developing_)
    if (snapshot_.live(id) == nullptr)
      first.push_back(id);
  if (!first.empty())
    return Obstacle{
        Situation::depends_on,
        "waits for the group" + std::string(first.size() > 1 ? "s " : " ") + join(first, ", ")};
  return Obstacle{Situation::no_slot, std::to_string(developing_.size()) + " of " +
                                          std::to_string(room(group)) + " developers are at work"};
}

std::optional<DeveloperSlots::Obstacle> DeveloperSlots::obstacle(const Group& group) const {
  if (std::string why = snapshot_.plan.waits_for(group); !why.empty())
    return Obstacle{why.starts_with("it depends") ? Situation::depends_on : Situation::phase,
                    std::move(why)};
  if (developing_.size() >= room(group))
    return no_room(group);
  for (const std::string& id : in_hand_) {
    const Group* const other = snapshot_.plan.find(id);
    if (other == nullptr || id == group.id)
      continue;
    if (const std::string file = shared_file(group, *other); !file.empty())
      return Obstacle{Situation::file_claimed,
                      file + " also belongs to " + id + ", which is in progress"};
  }
  for (const std::string& id : developing_) {
    const Group* const other = snapshot_.plan.find(id);
    if (!group.can_parallel || (other != nullptr && !other->can_parallel))
      return Obstacle{Situation::not_parallel, (group.can_parallel ? id : group.id) +
                                                   " must not run in parallel, and " + id +
                                                   " is in progress"};
  }
  return std::nullopt;
}

void DeveloperSlots::take(const Group& group, std::string_view role) {
  in_hand_.insert(group.id);
  if (role == kDeveloper)
    developing_.insert(group.id);
}

}  // namespace baton::coordination
