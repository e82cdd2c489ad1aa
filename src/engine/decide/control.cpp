// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/control.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "engine/state/log_entries.h"

namespace baton {
namespace {

using Answer = std::pair<bool, std::string>;

std::string plural(std::size_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

std::size_t live_runs(const FlowRecord& record) {
  return static_cast<std::size_t>(
      std::count_if(record.runs.begin(), record.runs.end(), [](const Run& r) { return r.live(); }));
}

std::string by(const Request& request) {
  if (!request.agent.empty())
    return " by the agent " + printable(request.agent, 120);
  return request.by.empty() ? "" : " by " + printable(request.by, 80);
}

/// Enters a pause or a stop. `word` is its event and, if a person asked for it, its reason.
void order(const Request& request, Control control, const Word& word, FlowRecord& record,
           Draft& draft) {
  const bool agent = !request.agent.empty();
  const std::string why = word + by(request);
  draft.control(record, control, agent ? Word(baton::word(Reason::agent)) : word, why);
  // A person hears of what an agent asked for.
  if (agent)
    draft.event(word, record.id, why);
}

Answer pause(const Request& request, FlowRecord& record, Draft& draft) {
  order(request, Control::pause, "paused", record, draft);
  const std::size_t running = live_runs(record);
  return {true, running == 0 ? "paused" : "paused; " + plural(running, "agent") + " may finish"};
}

Answer stop(const Request& request, FlowRecord& record, Draft& draft) {
  order(request, Control::stop, "stopped", record, draft);
  if (!record.live())
    return {true, "stopped: no agent runs, and none is started until `baton resume " +
                      text(record.id) + "`"};
  return {true, "stopping " + plural(live_runs(record), "agent")};
}

/// Why a resumed flow waits all the same: its provider has a limit or refuses the login.
const Hold* provider_hold(const FlowRecord& record) {
  const auto found = std::find_if(record.holds.begin(), record.holds.end(), [](const Hold& hold) {
    return hold.cause.reason == Reason::provider_limit ||
           hold.cause.reason == Reason::login_refused;
  });
  return found == record.holds.end() ? nullptr : &*found;
}

/// What lets it go on.
std::string provider_remedy(const Hold& hold) {
  return hold.cause.reason == Reason::login_refused
             ? hold.action
             : "`baton limits` lists the provider, and `baton limits --clear PROVIDER` tries now";
}

/// Whether `lift` would change anything.
bool would_lift(const FlowRecord& record) {
  FlowRecord passed = record;
  pass_failed(passed);
  return record.control.control != Control::run || !record.control.started ||
         !record.notified.reverted.empty() || !record.logs.changed.empty() ||
         passed.logs.passed != record.logs.passed ||
         std::any_of(record.stages.begin(), record.stages.end(), [&](const auto& row) {
           const auto entries = record.entries.find(row.first);
           return row.second.entries > 1 ||
                  (entries != record.entries.end() && entries->second.size() > 1);
         });
}

Answer resume(FlowRecord& record, Draft& draft) {
  const Hold* const waits = provider_hold(record);
  if (record.id != FlowId{} && waits == nullptr && !would_lift(record)) {
    const FlowRecord* const root = draft.find(FlowId{});
    const bool all = root != nullptr && root->control.control != Control::run;
    return {false, "it is neither paused nor stopped" +
                       (all ? " by itself, but the whole root is: `baton resume --all`"
                            : "; `baton explain " + text(record.id) + "` says what it waits for")};
  }
  const std::string but =
      waits == nullptr ? "" : ", but it waits: " + waits->why + "; " + provider_remedy(*waits);
  lift(record, draft);
  return {true, "resumed" + but};
}

/// The ended runs that `retry` forgives. A retry also says that a person has looked after the
/// processes that a run of the subject left. Runs of that subject that succeeded are not repeated.
std::vector<Run> to_forgive(const Request& request, const FlowRecord& record) {
  std::set<Subject> left;
  for (const Run& run : record.runs)
    if (left_something(run))
      left.insert(run.key.subject);
  const auto present = [&](const Run& run) {
    const auto stage = record.stages.find(run.key.subject);
    return stage == record.stages.end() || stage->second.generation == run.key.generation;
  };
  std::vector<Run> all;
  for (const Run& run : record.runs) {
    const bool asked = request.subject.empty() || request.subject == run.key.subject;
    const bool done = run.outcome == Outcome::succeeded && left.contains(run.key.subject);
    if (asked && !run.live() && !run.forgiven && (left_something(run) || (present(run) && !done)))
      all.push_back(run);
  }
  return all;
}

Answer retry(const Request& request, FlowRecord& record, Draft& draft) {
  const std::vector<Run> runs = to_forgive(request, record);
  const auto counts = [](const Run& run) {
    return (!is_put_back(run.outcome) && run.outcome != Outcome::voided) ||
           run.reason == kCouldNotStop;
  };
  // Only what counted, or makes the next try wait, is an attempt to be forgiven.
  const bool worth = std::any_of(runs.begin(), runs.end(), [&](const Run& run) {
    return counts(run) || run.outcome == Outcome::voided || left_something(run);
  });
  if (!runs.empty() && !worth && record.origin.attempts.empty())
    return {false, "no attempt has failed" +
                       (record.control.control == Control::run
                            ? std::string()
                            : "; `baton resume " + text(record.id) + "` lets it go on")};
  std::size_t done = 0;  // succeeded and left processes
  std::size_t forgiven = 0;
  std::size_t counted = 0;  // stopped and voided attempts never counted
  bool voided = false;      // a voided attempt waits before the next try
  for (Run run : runs) {
    forgive(run);
    draft.put(record, run);
    if (!run.forgiven) {
      ++done;
      continue;
    }
    ++forgiven;
    voided = voided || run.outcome == Outcome::voided;
    counted += counts(run) ? 1U : 0U;
  }
  for (const FormerAttempts& former : record.origin.attempts)
    if (request.subject.empty() || request.subject == former.subject) {
      forgiven += former.failures;
      counted += former.failures;
    }
  std::erase_if(record.origin.attempts, [&](const FormerAttempts& former) {
    return request.subject.empty() || request.subject == former.subject;
  });
  draft.decide.insert(record.id);
  const bool known = request.subject.empty() || record.stages.contains(request.subject);
  if (forgiven == 0 && done > 0)
    return {true,
            "what it left holds nothing any more; it had ended well, so that no attempt is to be "
            "forgiven"};
  if (forgiven == 0)
    return {false, "there is no ended attempt to be made again" +
                       (request.subject.empty() ? "" : " for " + printable(request.subject, 80)) +
                       (known ? "" : ", for there is no such subject")};
  if (counted == 0)
    return {true, voided ? "to be tried again at once; no attempt has counted"
                         : "there is nothing to forgive: no attempt has counted"};
  return {true, "to be tried again: " + plural(counted, "attempt") + " forgiven"};
}

Answer forget(const FlowRecord& record, const Catalog& catalog, Draft& draft) {
  if (record.live())
    return {false, "agents of it are running; `baton stop " + text(record.id) + "` first"};
  // A file of a rule or dialect that is no longer configured starts nothing, so it may stay.
  const auto its_own = [&](const std::string& path) {
    const auto match = catalog.match(path);
    return match && match->flow == record.id;
  };
  const auto there =
      std::find_if(record.accepted.begin(), record.accepted.end(),
                   [&](const auto& row) { return row.second.present && its_own(row.first); });
  // baton remembers a rejected version only while the file is there.
  const auto bad = std::find_if(record.rejected.begin(), record.rejected.end(),
                                [&](const auto& row) { return its_own(row.first); });
  const std::string path = there != record.accepted.end() ? there->first
                           : bad != record.rejected.end() ? bad->first
                                                          : "";
  if (!path.empty())
    return {false, path + " is still there and would be taken up anew; remove it first"};
  draft.forget(record.id);
  return {true, "forgotten"};
}

bool files_gone(const FlowRecord& record) {
  return !record.accepted.empty() && record.rejected.empty() &&
         std::none_of(record.accepted.begin(), record.accepted.end(),
                      [](const auto& row) { return row.second.present; });
}

Answer forget_gone(const FlowRecords& records, Draft& draft) {
  std::size_t count = 0;
  std::string busy;
  for (const auto& [flow, before] : records) {
    const FlowRecord* const record = draft.find(flow);
    if (flow == FlowId{} || record == nullptr || !files_gone(*record))
      continue;
    if (record->live()) {
      busy += (busy.empty() ? "" : ", ") + text(flow);
      continue;
    }
    draft.forget(flow);
    ++count;
  }
  return {
      true,
      plural(count, "flow") + " whose files are gone " + (count == 1 ? "is" : "are") +
          " forgotten" +
          (busy.empty() ? "" : "; say it again when agents have ended that still run of " + busy)};
}

Answer for_flow(const Request& request, FlowRecord& record, const Catalog& catalog, Draft& draft) {
  if (request.verb == "pause")
    return pause(request, record, draft);
  if (request.verb == "stop")
    return stop(request, record, draft);
  if (request.verb == "resume")
    return resume(record, draft);
  if (request.verb == "retry")
    return retry(request, record, draft);
  if (request.verb == "forget")
    return forget(record, catalog, draft);
  return {false, "`" + printable(request.verb, 40) + "` means nothing to a flow of the dialect " +
                     record.id.dialect};
}

Answer for_root(const Request& request, const FlowRecords& records, Draft& draft) {
  if (request.verb == "forget")
    return forget_gone(records, draft);
  FlowRecord& root = draft.touch(FlowId{});
  std::size_t running = 0;
  std::size_t capped = 0;
  std::set<std::string> raises;  // what lets flows at a cap go on
  std::size_t parked = 0;
  std::set<std::string> remedies;  // what lets flows go on whose provider has a limit
  for (const auto& [flow, record] : records) {
    if (flow == FlowId{} || draft.find(flow) == nullptr)
      continue;
    if (const Hold* const cap = cap_of(record)) {
      ++capped;
      raises.insert("`" + cap->action + "`");
    }
    if (const Hold* const waits = provider_hold(record)) {
      ++parked;
      remedies.insert(provider_remedy(*waits));
    }
    running += live_runs(record);
    draft.decide.insert(flow);
    if (request.verb == "resume" &&
        (draft.find(flow)->control.control != Control::run ||
         !draft.find(flow)->notified.reverted.empty() || !draft.find(flow)->logs.changed.empty()))
      (void)resume(draft.touch(flow), draft);
  }
  if (request.verb == "pause") {
    (void)pause(request, root, draft);
    return {true, "everything is paused; " + plural(running, "agent") + " may finish"};
  }
  if (request.verb == "stop") {
    (void)stop(request, root, draft);
    return {
        true,
        running == 0
            ? "everything is stopped; no agent runs, and none is started until `baton resume --all`"
            : "stopping " + plural(running, "agent")};
  }
  if (request.verb == "resume") {
    (void)resume(root, draft);
    const auto but = [](std::size_t flows, const std::string& why,
                        const std::set<std::string>& help) {
      const std::vector<std::string> all(help.begin(), help.end());
      return flows == 0 ? std::string()
                        : ", but " + plural(flows, "flow") + (flows == 1 ? " waits" : " wait") +
                              why + join(all, ", ");
    };
    return {true, "everything is resumed" + but(capped, " at a cap; to go on: ", raises) +
                      but(parked, " for a provider: ", remedies)};
  }
  return {false, "`" + printable(request.verb, 40) + "` needs a flow"};
}

Answer unknown_flow(const Request& request, const FlowRecords& records, const Draft& draft) {
  std::vector<std::string> names;
  for (const auto& [flow, record] : records)
    if (flow != FlowId{} && draft.find(flow) != nullptr)
      names.push_back(text(flow));
  const auto near = nearest(text(request.flow), names);
  return {false, "there is no flow " + printable(text(request.flow), 120) +
                     (near ? "; did you mean " + *near + "?" : "; `baton status` lists them")};
}

void enter_event(const Request& request, const Reply& reply, Draft& draft) {
  draft.event(reply.accepted ? "request" : "refused", request.flow,
              request.verb + by(request) + ": " + reply.message, request.subject);
}

}  // namespace

const Hold* cap_of(const FlowRecord& record) {
  const auto found = std::find_if(record.holds.begin(), record.holds.end(),
                                  [](const Hold& hold) { return !hold.cap.empty(); });
  return found == record.holds.end() ? nullptr : &*found;
}

bool needs_no_dialect(std::string_view verb) {
  return verb == "pause" || verb == "stop";
}

bool is_gone(const FlowRecord& record) {
  return !record.live() && files_gone(record);
}

void lift(FlowRecord& record, Draft& draft) {
  record.control.started = true;
  record.notified.reverted.clear();
  for (auto& [path, why] : record.logs.changed)
    why.clear();
  pass_failed(record);
  // A flow that was blocked at `max_entries` may go round once more.
  for (auto& [subject, state] : record.stages) {
    auto& entries = record.entries[subject];
    if (state.entries <= 1 && entries.size() <= 1)
      continue;
    entries.clear();
    if (!state.stage.empty())
      entries[state.stage] = 1;
    state.entries = state.stage.empty() ? 0 : 1;
    draft.stage(record, subject);
  }
  draft.control(record, Control::run, "", "");
}

bool forgive_left(FlowRecord& record, const Subject& subject, Draft& draft) {
  bool any = false;
  const std::vector<Run> runs = record.runs;
  for (Run run : runs)
    if (left_something(run) && (subject.empty() || subject == run.key.subject)) {
      forgive(run);
      draft.put(record, run);
      any = true;
    }
  if (any)
    draft.decide.insert(record.id);
  return any;
}

Handled handle(const Request& request, const FlowRecords& records, const Catalog& catalog,
               Draft& draft) {
  Handled handled;
  handled.reply.request = request.id;
  Answer answer;
  if (request.verb == "drain") {
    handled.drain = true;
    answer = {true, "no new starts; the daemon ends when the last agent has"};
  } else if (request.verb == "reload") {
    handled.reload = true;
    return handled;
  } else if (request.flow == FlowId{}) {
    answer = for_root(request, records, draft);
  } else if (draft.find(request.flow) == nullptr) {
    answer = unknown_flow(request, records, draft);
  } else {
    answer = for_flow(request, draft.touch(request.flow), catalog, draft);
  }
  handled.reply.accepted = answer.first;
  handled.reply.message = answer.second;
  enter_event(request, handled.reply, draft);
  return handled;
}

void enter_answer(const Request& request, const Reply& reply, Draft& draft) {
  if (draft.reply(reply))
    enter_event(request, reply, draft);
}

}  // namespace baton
