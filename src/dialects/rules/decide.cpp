// SPDX-License-Identifier: Apache-2.0
#include "dialects/rules/decide.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text.h"
#include "dialects/kinds.h"
#include "dialects/rules/conditions.h"
#include "dialects/rules/layout.h"
#include "dialects/rules/needs.h"
#include "dialects/rules/rounds.h"

namespace baton::rules {
namespace {

std::string passage(const StageState& state) {
  return (state.previous.empty() ? "" : state.previous + " -> ") + state.stage;
}

/// The subject of a sentence about a stage. People do not know the name `main`.
std::string subject_or(const Subject& subject, const std::string& otherwise) {
  return subject == "main" ? otherwise : subject;
}

/// Adds the limits of the rule to the desired run.
void limit(const Value& limits, const std::string& rule, Desired& desired) {
  if (const auto places = json::integer(limits, "max_running"); places && *places > 0)
    desired.claims.push_back(Claim{"rule " + rule, static_cast<std::uint32_t>(*places)});
  const auto millis = [](const Value& from, std::string_view name, Millis otherwise) {
    const auto value = json::integer(from, name);
    return value ? Millis(*value) : otherwise;
  };
  if (const Value* const retry = json::child(limits, "retry")) {
    RetryLimits own;
    own.max_attempts = static_cast<std::uint32_t>(
        json::integer(*retry, "max_attempts").value_or(own.max_attempts));
    own.backoff = millis(*retry, "backoff_ms", own.backoff);
    own.max_backoff = millis(*retry, "max_backoff_ms", own.max_backoff);
    desired.retry = own;
  }
  if (const Value* const run = json::child(limits, "run")) {
    RunLimits own;
    own.timeout = millis(*run, "timeout_ms", own.timeout);
    own.idle_timeout = millis(*run, "idle_timeout_ms", own.idle_timeout);
    own.kill_grace = millis(*run, "kill_grace_ms", own.kill_grace);
    own.log_cap_bytes =
        static_cast<std::uint64_t>(json::integer(*run, "log_cap_bytes")
                                       .value_or(static_cast<std::int64_t>(own.log_cap_bytes)));
    desired.limits = own;
  }
}

/// What a test over all subjects found: `; 2 of 3 are, but not p3`.
std::string found_over(const Condition& condition, const std::map<Subject, const Value*>& all) {
  constexpr std::size_t kMostNames = 3;
  const bool listed = condition.test == Test::none;
  std::vector<std::string> names;
  for (const auto& [subject, member] : all)
    if (is_listed(condition, member) == listed)
      names.push_back(printable(subject, 60));
  const std::string of = std::to_string(all.size());
  if (all.empty())
    return "; there is none yet";
  if (condition.test == Test::any)
    return "; none of " + of + " is";
  const std::string are =
      std::to_string(all.size() - names.size()) + " of " + of + " are, but not ";
  if (names.size() > kMostNames) {
    const std::string more = "and " + std::to_string(names.size() - kMostNames) + " more";
    names.resize(kMostNames);
    names.push_back(more);
  }
  return "; " + (listed ? join(names, ", ") + (names.size() == 1 ? " is" : " are")
                        : are + join(names, ", "));
}

/// Applies all reactions that are about one subject in its stage.
class Reacting {
 public:
  Reacting(const View& view, const Snapshot& snapshot, Memo& memo, Writes& writes,
           Decision& decision)
      : view_(view), snapshot_(snapshot), memo_(memo), writes_(writes), decision_(decision) {}

  Due to(const Subject& subject, const StageState& state) {
    const std::size_t before = pending();
    subject_ = &subject;
    state_ = &state;
    idle_ = true;
    bool any = false;
    stopped_.clear();
    started_.clear();
    rejected_ = rejected_document();
    std::vector<Hold> unmet;
    for (const bool stops : {true, false})
      for (const Reaction& reaction : snapshot_.rule().react) {
        if (reaction.stop.empty() == stops || !snapshot_.concerns(reaction, subject, state))
          continue;
        any = true;
        const Condition* const condition = snapshot_.unmet(reaction, subject);
        if (condition == nullptr)
          react(reaction);
        else if (rejected_.empty())
          unmet.push_back(Hold{reaction.run, subject, cause_of(Situation::condition_unmet),
                               "waits until " + text(*condition) + found(*condition, subject)});
        else if (!begun(reaction.run))
          unmet.push_back(rejected_hold(reaction.run));
      }
    // If the conditions of one reaction hold, the subject is on its way. The unmet conditions of
    // other reactions are then not worth a report.
    if (idle_)
      decision_.holds.insert(decision_.holds.end(), unmet.begin(), unmet.end());
    any = any || is_awaited(snapshot_.rule(), state.stage);
    return !any ? Due::no_reaction : pending() > before ? Due::open : Due::complete;
  }

  /// What stands at the place of a condition.
  std::string found(const Condition& condition, const Subject& subject) const {
    if (is_over_all(condition))
      return found_over(condition, snapshot_.over(condition.place));
    const Value* const value = snapshot_.value(condition.place, subject);
    return value == nullptr ? "; it is not there" : "; it is " + printable(json::dump(*value), 80);
  }

 private:
  /// How much of the decision is still to come. It grows while the reactions of a subject are
  /// applied.
  std::size_t pending() const { return decision_.holds.size() + decision_.desired.size(); }

  void react(const Reaction& reaction) {
    const StageState& state = *state_;
    idle_ = false;
    if (reaction.approval)
      if (auto hold = approval_hold(view_, snapshot_, memo_, reaction, *subject_)) {
        if (hold->cause == cause_of(Situation::rejected_by_person) &&
            !reaction.approval->rejected.empty())
          set(reaction.key + "r", reaction.approval->rejected, reaction,
              subject_or(*subject_, "the stage") + " was rejected");
        else
          decision_.holds.push_back(std::move(*hold));
        return;
      }
    const std::string passed = reaction.join.empty() ? passage(state) : reaction.join;
    const std::string why = reaction.join.empty()
                                ? subject_or(*subject_, "the stage") + " is " + passed
                                : passed + " is met";
    if (reaction.notify)
      decision_.notices.push_back(
          Notice{"notice", *subject_, passed + " (#" + std::to_string(state.generation) + ")"});
    if (!reaction.stop.empty()) {
      // A stop with conditions also ends the agent of the present entry. It also keeps a new agent
      // from taking its place.
      const bool any = !reaction.when.empty();
      decision_.releases.push_back(Release{reaction.stop, *subject_, any, Millis(0), why});
      if (any)
        stopped_.emplace(reaction.stop, told(reaction.when));
    }
    if (!reaction.set.empty())
      set(reaction.key, reaction.set, reaction, why);
    if (!reaction.run.empty())
      run(reaction, why);
  }

  /// Whether the subject has entered its stage too often to go on. Adds the hold that says so.
  bool round_in_circles(const Reaction& reaction) {
    const EntryLimit& limit = reaction.max_entries;
    if (limit.count == 0)
      return false;
    const Entered all = entered(view_, memo_, *subject_, limit);
    if (all.count <= limit.count)
      return false;
    const std::string span = limit.per == Millis(0) ? "" : duration_text(limit.per);
    const std::string why = subject_or(*subject_, "the flow") + " has entered " + state_->stage +
                            " " + std::to_string(all.count) + " times" +
                            (!span.empty()   ? " within " + span
                             : all.since_end ? " since it was last at an end"
                                             : "") +
                            " (max_entries is " + std::to_string(limit.count) +
                            (span.empty() ? "" : " per " + span) + ")";
    if (all.until && (!decision_.wake || *all.until < *decision_.wake))
      decision_.wake = all.until;
    decision_.holds.push_back(
        Hold{reaction.run, *subject_,
             cause_of(all.until ? Situation::max_entries_per : Situation::max_entries),
             why + (all.until ? "; it goes on at " + iso_time(*all.until) : ""),
             command("resume", view_.flow), all.until});
    return true;
  }

  void set(const std::string& key, const std::vector<Member>& members, const Reaction& reaction,
           const std::string& why) {
    if (round_in_circles(reaction))
      return;
    if (!rejected_.empty() && !writes_.done(*subject_, key))
      return decision_.holds.push_back(rejected_hold(""));
    if (auto hold = writes_.set(*subject_, key, members, why))
      decision_.holds.push_back(std::move(*hold));
  }

  void run(const Reaction& reaction, const std::string& why) {
    // A role does one piece of work per entry. The first matching reaction says which.
    if (among(started_, reaction.run))
      return;
    started_.push_back(reaction.run);
    if (const auto stop = stopped_.find(reaction.run); stop != stopped_.end()) {
      // No hold if the role works already or is done: then nothing waits.
      if (!begun(reaction.run))
        decision_.holds.push_back(Hold{reaction.run, *subject_,
                                       cause_of(Situation::condition_unmet),
                                       reaction.run + " is stopped as long as " + stop->second});
      return;
    }
    if (round_in_circles(reaction))
      return;
    if (!rejected_.empty() && !begun(reaction.run))
      return decision_.holds.push_back(rejected_hold(reaction.run));
    // The same hold as for an agent whose own prompt cannot be used.
    if (!reaction.prompt_fault.empty() && !begun(reaction.run))
      return decision_.holds.push_back(
          Hold{reaction.run, *subject_, cause_of(Situation::prompt_unusable), reaction.prompt_fault,
               "correct " + printable(reaction.prompt_file, 200) +
                   ", then `baton reload`; `baton doctor` checks it"});
    // At an end, over all subjects and in a log, nobody expects the agent to move the subject on.
    // So its work is simply done.
    const bool stays = !reaction.join.empty() || is_end(snapshot_.rule(), state_->stage);
    if ((stays && succeeded(reaction.run)) || (is_of_log() && did_its_work(reaction.run)))
      return;
    if (!begun(reaction.run))
      if (auto hold = needs_hold(view_, snapshot_, *subject_, reaction.run, decision_.wake)) {
        decision_.holds.push_back(std::move(*hold));
        return;
      }
    if (auto hold = waits_for_agents(reaction))
      return decision_.holds.push_back(std::move(*hold));
    Desired desired;
    desired.role = reaction.run;
    desired.subject = *subject_;
    desired.purpose = purpose_of(reaction, *state_);
    // The agent that moved the subject may still be ending when the next one is due. The claim
    // keeps them from running at the same time.
    desired.claims.push_back(Claim{"subject " + *subject_ + " of " + text(view_.flow), 1});
    if (!reaction.join.empty() && !has_many_subjects(snapshot_.rule()))
      desired.claims.push_back(Claim{"subject main of " + text(view_.flow), 1});
    limit(*snapshot_.rule().limits, snapshot_.rule().name, desired);
    desired.why = why;
    if (const auto& order = snapshot_.rule().order) {
      const Value* const number = snapshot_.value(*order, *subject_);
      desired.rank = number != nullptr && number->IsNumber()
                         ? number->GetDouble()
                         : std::numeric_limits<double>::infinity();
    }
    decision_.desired.push_back(std::move(desired));
  }

  static std::string told(const std::vector<Condition>& conditions) {
    std::string all;
    for (const Condition& condition : conditions)
      all += (all.empty() ? "" : " and ") + text(condition);
    return all;
  }

  static bool among(const std::vector<Role>& roles, const Role& role) {
    return std::find(roles.begin(), roles.end(), role) != roles.end();
  }

  /// The hold of a reaction over all subjects whose agent would start while the last agents of
  /// these subjects still end. Empty if it may start.
  std::optional<Hold> waits_for_agents(const Reaction& reaction) const {
    if (reaction.join.empty() || begun(reaction.run))
      return std::nullopt;
    for (const Run& run : view_.runs) {
      const auto stage = view_.stages.find(run.key.subject);
      if (run.live() && !snapshot_.is_join(run.key.subject) && stage != view_.stages.end() &&
          stage->second.generation != run.key.generation)
        return Hold{reaction.run, *subject_, cause_of(Situation::condition_unmet),
                    "waits until the agent " + run.key.role + " of " +
                        subject_or(run.key.subject, "the flow") + " has ended"};
    }
    return std::nullopt;
  }

  /// Whether the role works for this entry, or has finished its work for it.
  bool begun(const Role& role) const {
    return succeeded(role) ||
           std::any_of(view_.runs.begin(), view_.runs.end(),
                       [&](const Run& run) { return is_of(run, role) && run.live(); });
  }
  bool succeeded(const Role& role) const {
    return std::any_of(view_.runs.begin(), view_.runs.end(), [&](const Run& run) {
      return is_of(run, role) && run.outcome == Outcome::succeeded && !run.forgiven;
    });
  }
  /// As above, and the agent did not only say so.
  bool did_its_work(const Role& role) const {
    return std::any_of(view_.runs.begin(), view_.runs.end(), [&](const Run& run) {
      return is_of(run, role) && run.outcome == Outcome::succeeded && run.error.empty() &&
             !run.forgiven;
    });
  }
  /// Whether the stage stands in a log, whose next line says what comes next.
  bool is_of_log() const {
    const auto doc = view_.docs.find(snapshot_.holder(*subject_));
    return doc != view_.docs.end() && doc->second.document->format() == Format::jsonl;
  }
  bool is_of(const Run& run, const Role& role) const {
    return run.key.role == role && run.key.subject == *subject_ &&
           run.key.generation == state_->generation;
  }

  /// The path of a document with a rejected version: the subject's own, or one that a condition for
  /// this stage reads. Empty if there is none. An agent would read the rejected version from the
  /// file, and baton does not know which reaction is due. So baton starts and sets nothing.
  std::string rejected_document() const {
    // A file that was never valid is no part yet, and its part may have been meant to count.
    if (snapshot_.is_join(*subject_))
      return view_.rejected.empty() ? std::string() : view_.rejected.begin()->first;
    std::vector<std::string> paths = {snapshot_.holder(*subject_)};
    for (const Reaction& reaction : snapshot_.rule().react)
      if (snapshot_.concerns(reaction, *subject_, *state_))
        for (const Condition& condition : reaction.when) {
          paths.push_back(snapshot_.path(condition.place, *subject_));
          if (const auto limit = limit_place(condition))
            paths.push_back(snapshot_.path(*limit, *subject_));
        }
    const auto bad = std::find_if(paths.begin(), paths.end(), [&](const std::string& each) {
      return view_.rejected.contains(each);
    });
    return bad == paths.end() ? std::string() : *bad;
  }

  Hold rejected_hold(const Role& role) const {
    return Hold{role, *subject_, cause_of(Situation::file_rejected),
                rejected_ + " has a version that was rejected, so nothing is " +
                    (role.empty() ? "set" : "started") + ": " +
                    first_error(rejected_, view_.rejected.at(rejected_)),
                correct(rejected_)};
  }

  const View& view_;
  const Snapshot& snapshot_;
  Memo& memo_;
  Writes& writes_;
  Decision& decision_;
  const Subject* subject_ = nullptr;
  const StageState* state_ = nullptr;
  std::map<Role, std::string> stopped_;  ///< with the conditions that stop it
  std::vector<Role> started_;
  std::string rejected_;  ///< see rejected_document
  bool idle_ = true;      ///< no reaction has its conditions met
};

/// Removes from the memo what is over: subjects that are gone, earlier entries, and files that are
/// gone.
void tidy(const View& view, const Rule& rule, Memo& memo) {
  const auto gone = [&](const auto& row) {
    const auto state = view.stages.find(row.first);
    return state == view.stages.end() ||
           (state->second.stage.empty() &&
            !(remembers(rule) && view.now - state->second.since < kRemembered));
  };
  std::erase_if(memo.entries, [&](const auto& row) {
    return gone(row) || view.stages.at(row.first).generation != row.second.generation;
  });
  std::erase_if(memo.said, gone);
  std::erase_if(memo.files, [&](const auto& row) { return !view.docs.contains(row.first); });
}

/// Applies the reactions over all subjects that have this one's tests, or says what they wait for.
/// Once all subjects are at an end, only one with `to` still waits.
void join_in(const View& view, const Snapshot& snapshot, const Reaction& reaction,
             Reacting& reacting, Standings& standings, Decision& decision) {
  const auto& react = snapshot.rule().react;
  const auto first = std::find_if(react.begin(), react.end(),
                                  [&](const Reaction& each) { return each.join == reaction.join; });
  if (&*first != &reaction || !snapshot.disputes().empty())
    return;
  const auto state = view.stages.find(reaction.join);
  if (state != view.stages.end() && state->second.stage == kMet)
    return standings.take_join(reacting.to(reaction.join, state->second));
  if (!snapshot.is_expected(reaction) || (reaction.to.empty() && standings.all_at_ends()))
    return;
  const Condition* const unmet = snapshot.unmet(reaction, reaction.join);
  if (unmet == nullptr)
    return;
  decision.holds.push_back(
      Hold{reaction.run, reaction.join, cause_of(Situation::condition_unmet),
           "waits until " + text(*unmet) + reacting.found(*unmet, reaction.join)});
  standings.take_join(Due::open);
}

}  // namespace

std::string stage_text(const Subject& subject, const Word& stage) {
  const std::string word = "`" + printable(stage, 60) + "`";
  return subject == "main" ? "the stage is " + word
                           : printable(subject, 60) + " is in the stage " + word;
}

std::string correct(const std::string& path) {
  return "correct " + path + ", then `baton validate " + shell_word(path) + "`";
}

Decision decide(const View& view) {
  Decision decision;
  const auto rule = rule_of(view.flow, view.options);
  if (!rule) {
    decision.control = Control::idle;
    decision.memo = view.memo;
    decision.holds.push_back(
        Hold{"", "", cause_of(Situation::rule_missing),
             "no rule called `" + view.flow.name.substr(0, view.flow.name.find('/')) +
                 "` is configured, so baton starts nothing for it",
             "put the rule back and `baton reload`, or `" + command("forget", view.flow) + "`"});
    return decision;
  }
  if (const auto cap = json::integer(*rule->limits, "spawns_per_hour"); cap && *cap >= 0)
    decision.spawns_per_hour = static_cast<std::uint32_t>(*cap);
  const Snapshot snapshot(view.flow, view.docs, *rule);
  Memo memo = memo_of(view.memo);
  tidy(view, *rule, memo);
  count_entries(view, *rule, memo);
  read_decisions(view, snapshot, memo, decision);
  Writes writes(view, snapshot, memo);
  Reacting reacting(view, snapshot, memo, writes, decision);
  Standings standings(view, snapshot, decision);
  const auto joins = std::count_if(view.stages.begin(), view.stages.end(),
                                   [&](const auto& row) { return snapshot.is_join(row.first); });
  const bool alone =
      view.stages.size() == static_cast<std::size_t>(joins) + 1 && view.stages.contains("main");
  for (const auto& [subject, state] : view.stages) {
    if (state.stage.empty() || snapshot.is_join(subject))
      continue;
    if (!decision.declared.empty())
      decision.declared += ", ";
    decision.declared += alone ? state.stage : subject + ": " + state.stage;
    if (snapshot.disputed(subject))
      standings.count();
    else
      standings.take(subject, state, reacting.to(subject, state));
  }
  for (const Reaction& reaction : rule->react)
    if (!reaction.join.empty())
      join_in(view, snapshot, reaction, reacting, standings, decision);
  for (Update& update : writes.updates())
    decision.updates.push_back(std::move(update));
  standings.finish();
  decision.needs = needed_flows(view.flow, snapshot);
  decision.finished = is_finished(*rule, view.stages);
  decision.memo = json_of(memo);
  return decision;
}

Admission admit(const View& view, const Change& change) {
  Admission admission;
  Memo memo = memo_of(view.memo);
  std::vector<Writing>& writings = memo.files[change.path];
  const auto there = view.docs.find(change.path);
  if (there == view.docs.end())
    return admission;
  const auto missed =
      there->second.writer != "baton"
          ? writings.end()
          : std::find_if(writings.begin(), writings.end(), [&](const Writing& each) {
              // A writing without members is a late write that baton merged. It has no members to
              // repeat, so a new late write based on the same version cannot begin with it.
              return each.over == hex(change.unseen->base) &&
                     !(change.unseen->late && each.members.empty());
            });
  // Somebody else has written since the version that this writer saw, so the file is not the result
  // of baton's writes alone. baton has nothing to repeat.
  if (missed == writings.end()) {
    if (change.unseen->late)
      admission.verdict = Admission::Verdict::later;
    return admission;
  }
  const auto rule = rule_of(view.flow, view.options);
  admission.text = with_own_writes(change.after, {missed, writings.end()},
                                   rule ? rule->subject_key : std::string());
  if (change.unseen->late) {
    // The merge replaces all earlier writings: a writer who saw only one of them has not seen the
    // merge. It becomes a writing without members, see Writing.
    writings = {Writing{hex(there->second.document->digest()), {}}};
  } else {
    // The remaining writes are now based on this version, in case the merged version gives way to
    // another one.
    writings.erase(writings.begin(), missed);
    for (Writing& each : writings)
      each.over.clear();
    writings.front().over = hex(change.after.digest());
  }
  admission.memo = json_of(memo);
  if (admission.text.empty())
    return admission;
  admission.verdict = Admission::Verdict::merged;
  admission.why = "what baton had set was written over by somebody who had not seen it";
  return admission;
}

}  // namespace baton::rules
