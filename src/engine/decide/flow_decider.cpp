// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/flow_decider.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>

#include "core/flow_plan.h"
#include "engine/decide/control.h"
#include "engine/decide/status.h"
#include "engine/intake/moved_files.h"
#include "engine/state/log_entries.h"

namespace baton {
namespace {

constexpr int kMaxRounds = 8;
constexpr std::string_view kRead = "read";
constexpr std::size_t kMaxReads = 1024;
constexpr std::size_t kLogEnd = 4U << 20U;  ///< how much of a log is read, from its end

bool essential(const Catalog::Entry& entry, const FlowRecord& record, const AcceptedRow& row) {
  const KindNow now = kind_now(entry, record, row);
  return now.in_force && (now.kind == nullptr || now.kind->essential);
}

/// The first error across documents that holds the flow, that is, one the dialect does not
/// tolerate.
std::string first_error(const std::map<std::string, Findings>& conflicts,
                        std::span<const std::string_view> tolerated) {
  const auto matters = [&](const Finding& finding) {
    return finding.severity == Severity::error &&
           std::find(tolerated.begin(), tolerated.end(), finding.rule) == tolerated.end();
  };
  for (const auto& [path, findings] : conflicts)
    for (const Finding& finding : findings)
      if (matters(finding))
        return path + "#" + finding.pointer + ": " + finding.message + " [" + finding.rule + "]";
  return {};
}

void enter_spent(FlowRecord& record, Draft& draft) {
  for (const Spent& spent : record.decision.spent) {
    const auto known = record.run(spent.run);
    if (known == record.runs.end() ||
        (known->cost_usd == spent.cost_usd && known->tokens == spent.tokens))
      continue;
    Run run = *known;
    run.cost_usd = spent.cost_usd;
    run.tokens = spent.tokens;
    draft.put(record, run);
  }
}

/// What the dialect found out about the work of runs that ended well.
void enter_failed_work(FlowRecord& record, Draft& draft) {
  for (const auto& [id, why] : record.decision.failed_work) {
    const auto known = record.run(id);
    if (known == record.runs.end() || known->outcome != Outcome::succeeded ||
        !known->reason.empty())
      continue;
    Run run = *known;
    run.reason = why;
    draft.put(record, run);
  }
}

/// What to do if a file to create is there already and was rejected; "" if there is none.
std::string in_the_way(const FlowRecord& record, const std::vector<Update>& updates) {
  for (const Update& update : updates)
    if (const auto* const fresh = std::get_if<Create>(&update);
        fresh != nullptr && record.rejected.contains(fresh->path))
      return fresh->path + " is there and was rejected; `baton explain " + fresh->path +
             "` says why. Put it right or move it away";
  return {};
}

/// Answers and adds to the history who asked for what. The events of the work itself do not say
/// that.
void answer(std::span<const Request> requests, const Reply& reply, Draft& draft) {
  const auto request = std::find_if(requests.begin(), requests.end(),
                                    [&](const Request& each) { return each.id == reply.request; });
  if (request == requests.end())
    draft.reply(reply);
  else
    enter_answer(*request, reply, draft);
}

/// What the operator ordered for a flow. For the dialect a stop of the whole root is only a pause,
/// because it must not end the flow.
Control ordered(const FlowRecord& record, const FlowRecord* root) {
  if (record.control.control != Control::run || root == nullptr)
    return record.control.control;
  return root->control.control == Control::run ? Control::run : Control::pause;
}

/// The pause or stop that is in force for the flow; nullptr if there is none.
const ControlRow* control_in_force(const FlowRecord& record, const Draft& draft) {
  const FlowRecord* const root = draft.find(FlowId{});
  for (const FlowRecord* const one : {&record, root})
    if (one != nullptr &&
        (one->control.control == Control::pause || one->control.control == Control::stop))
      return &one->control;
  return nullptr;
}

void show_rejected(const FlowRecord& record, View& view) {
  view.rejected.clear();
  view.rejected_digests.clear();
  for (const auto& [path, row] : record.rejected) {
    view.rejected.emplace(path, row.findings);
    view.rejected_digests.emplace(path, row.digest);
  }
}

/// baton cannot read a document, so it does not know what the flow needs. It looks after the agents
/// of the flow and starts nothing.
void stand_still(FlowRecord& record, const Error& unreadable) {
  record.decision = Decision{};
  record.decision.control = Control::idle;
  record.decision.holds.push_back(
      Hold{"", "", Reason::unconfigured,
           describe(unreadable) + "; the configuration has such files read otherwise now",
           "put the configuration back and `baton reload`, or write the file anew"});
  record.held.reset();
}

/// Adds an event for a notice when it becomes true, not at every decision at which it is true.
void notify_once(const FlowRecord& record, std::vector<Notice>& said, Draft& draft) {
  const auto has = [](const std::vector<Notice>& notices, const Notice& notice) {
    return std::find(notices.begin(), notices.end(), notice) != notices.end();
  };
  for (const Notice& notice : record.decision.notices) {
    if (has(said, notice))
      continue;
    if (!has(record.notified.notices, notice))
      draft.event(notice.event, record.id, notice.why, notice.subject);
    said.push_back(notice);
  }
}

/// The writes of a decision were not made, so its notices do not count. Keeps the notices that were
/// sent before.
void keep_notified(FlowRecord& record, const std::vector<Notice>& said) {
  std::vector<Notice>& notified = record.notified.notices;
  std::copy_if(said.begin(), said.end(), std::back_inserter(notified), [&](const Notice& notice) {
    return std::find(notified.begin(), notified.end(), notice) == notified.end();
  });
}

/// The writes of a decision were not made. So a reply that accepts a request becomes a refusal.
void take_back(std::span<const Request> requests, FlowRecord& record, const std::string& trouble,
               Draft& draft) {
  for (const Reply& reply : record.decision.replies)
    answer(requests,
           reply.accepted ? Reply{reply.request, false, "it cannot be written: " + trouble} : reply,
           draft);
  // Decide again at once: without these requests the next decision may have nothing to refuse.
  if (!record.decision.replies.empty())
    record.decision.wake = draft.now;
}

/// The flow's own writes never end.
Hold endless() {
  return Hold{"", "", Reason::write_refused,
              "the flow's own writes lead to further writes without end (stopped after " +
                  std::to_string(kMaxRounds) + " rounds)",
              "correct the `set:` of its rule in the configuration, then `baton reload`"};
}

/// One of the flow's own writes would make a file invalid.
Hold refused_write(const Error& refused) {
  return Hold{"", "", Reason::write_refused, UpdateBuilder::describe_refusal(refused),
              "correct " + refused.where +
                  ", or its schema or the `set:` of its rule in the configuration; then `baton "
                  "reload`"};
}

bool remembers_subjects(const Catalog::Entry& entry, const FlowId& flow) {
  return entry.dialect->remembers != nullptr && entry.dialect->remembers(flow, entry.options);
}

/// Whether a subject that was missing is back in the stage that it had. It may have been missing by
/// mistake, so it does not enter the stage again.
bool is_back(const StageState& state, const Word& stage, Time now) {
  return state.stage.empty() && stage == state.previous && now - state.since < kRemembered;
}

void leave(StageState& state) {
  state.earlier = std::exchange(state.previous, state.stage);
}

void arrive(StageState& state, bool back) {
  state.previous = back ? state.earlier : state.stage;
  state.earlier.clear();
}

/// Reports an end, and that the files stop or pause the flow. Only for flows that baton saw before:
/// a flow that was finished at first sight is not news. `later`: leaves it to the next daemon,
/// because a command notifies nobody.
void tell_end(FlowRecord& record, Draft& draft, bool later) {
  const Standing& own = record.decision.standing;
  const Condition condition = own.cause.condition;
  const bool ended = condition == Condition::done || condition == Condition::failed ||
                     condition == Condition::stopped || condition == Condition::paused;
  // An agent's order was told when it was given, and a hold of the same condition is told by
  // itself.
  const bool ordered = record.control.reason == word(Reason::agent) &&
                       (condition == Condition::stopped || condition == Condition::paused);
  const bool held =
      ordered || std::any_of(record.decision.holds.begin(), record.decision.holds.end(),
                             [&](const Hold& hold) { return hold.cause.condition == condition; });
  if (ended && later)
    return;
  if (ended && !held && record.notified.open)
    draft.event(condition == Condition::done ? "finished" : Word(word(condition)), record.id,
                condition == Condition::done ? std::string(word(condition)) : own.why);
  // A flow that never had a file in force has not begun.
  record.notified.open = !ended && !record.accepted.empty();
}

std::string why_unconfigured(const Setup& setup, const std::string& dialect) {
  if (!setup.unconfigured.empty())
    return setup.unconfigured;
  const auto left_out = setup.left_out.find(dialect);
  const std::string nothing = ", so baton starts nothing for it";
  return left_out == setup.left_out.end()
             ? "the configuration knows no dialect `" + dialect + "`" + nothing
             : "the dialect `" + dialect + "` cannot be used" + nothing + ": " + left_out->second;
}

}  // namespace

Result<void> FlowDecider::decide(const FlowId& flow, Draft& draft,
                                 const std::vector<Request>& requests, bool only_look) {
  if (draft.find(flow) == nullptr)
    return {};
  FlowRecord& record = draft.touch(flow);
  const Catalog::Entry* const entry = catalog_.entry(flow.dialect);
  if (entry == nullptr || is_left(record)) {
    // Nothing is known of this flow by the configuration in force. baton looks after its agents and
    // starts nothing.
    if (entry != nullptr)
      (void)advance(record, *entry, {}, draft);
    record.decision = Decision{};
    record.decision.control = Control::idle;
    record.held =
        Hold{"", "", Reason::unconfigured,
             is_left(record) ? record.control.why : why_unconfigured(setup_, flow.dialect),
             "configure it again and `baton reload`, or `" + command("forget", flow) + "`"};
    note_entries(record);
    return {};
  }
  if (record.control.reason == kLeft)
    draft.control(record, Control::run, "", "");
  auto opened = documents_.open(record, *entry, draft.documents);
  if (!opened && opened.error().code == Errc::parse) {
    stand_still(record, opened.error());
    note_entries(record);
    return {};
  }
  if (!opened)
    return pass_on(opened);
  FlowState docs = std::move(*opened);
  View view{record.id, docs,           record.stages,      record.runs, record.memo,
            requests,  entry->options, setup_.environment, draft.now,   draft.wall};
  view.control = ordered(record, draft.find(FlowId{}));
  view.refused = record.refused;
  view.being_written = intake_.unsettled(flow);
  if (only_look && view.control == Control::run)
    view.control = Control::idle;
  const bool stands = stand_reverted(view, *entry->dialect, record, docs);
  const std::optional<Hold> trouble =
      stands ? std::nullopt : settle(view, *entry, record, docs, draft);
  for (const std::string& path : draft.changed)
    if (setup_.daemon_state.lives && !setup_.daemon_state.held && record.accepted.contains(path))
      record.unseen = unseen_by_daemon(path, draft.before(flow));
  hold(record, *entry, draft.now);
  if (away_)
    record.held = Hold{"", "", Reason::root_away, "baton " + away_->message};
  if (trouble)
    record.held = trouble;
  // The end of the flow may be one of the writes that were not made.
  if (!away_ && !trouble && !stands)
    tell_end(record, draft, !setup_.may_start);
  note_entries(record);
  forget_old_runs(record, draft.now);
  std::erase_if(docs, [](const auto& row) { return row.second.kind == kRead; });
  documents_.keep(flow, std::move(docs));
  return {};
}

Result<Reply> FlowDecider::begin(const Request& request, Draft& draft,
                                 const std::vector<Request>& requests) {
  const FlowId& flow = request.flow;
  const Catalog::Entry& entry = *catalog_.entry(flow.dialect);
  FlowRecord unknown;
  unknown.id = flow;
  const FlowRecord& seen = draft.find(flow) == nullptr ? unknown : draft.touch(flow);
  auto opened = documents_.open(seen, entry, draft.documents);
  if (!opened && opened.error().code == Errc::parse)
    return Reply{request.id, false, describe(opened.error())};
  if (!opened)
    return pass_on(opened);
  FlowState docs = std::move(*opened);
  View view{seen.id,  docs,          seen.stages,        seen.runs, seen.memo,
            requests, entry.options, setup_.environment, draft.now, draft.wall};
  show_rejected(seen, view);
  if (!read_more(view, *entry.dialect, docs))
    return Reply{request.id, false, "the root is not there; say it again when it is"};
  const auto updates = entry.dialect->create(request, view);
  std::erase_if(docs, [](const auto& row) { return row.second.kind == kRead; });
  const std::string fault = updates ? in_the_way(seen, *updates) : describe(updates.error());
  if (!fault.empty())
    return Reply{request.id, false, fault};
  // Try first: a refused update must not leave the other updates behind.
  if (const auto tried = update_builder_.tried(seen, docs, *updates, draft); tried.refused)
    return Reply{request.id, false, UpdateBuilder::describe_refusal(*tried.refused)};
  FlowRecord& record = draft.touch(flow);
  (void)update_builder_.apply(record, docs, *updates, draft);
  documents_.keep(flow, std::move(docs));
  record.control.started = true;
  const ControlRow control = record.control;
  draft.control(record, control.control, control.reason, control.why);
  std::string done = updates->empty() ? "there is nothing to be written: it is as asked for already"
                     : request.verb == "create" ? "created; `baton start` begins it"
                                                : "started";
  if (control.control != Control::run)
    done += "; it starts nothing yet (" + control.why + "): `baton resume " + text(flow) + "`";
  return Reply{request.id, true, done};
}

bool FlowDecider::read_more(const View& view, const Dialect& dialect, FlowState& docs) {
  if (dialect.reads == nullptr)
    return true;
  std::set<std::string> tried;
  // A file that was read may name more files to read.
  for (bool more = true; more;) {
    more = false;
    for (const std::string& path : dialect.reads(view)) {
      if (docs.contains(path) || tried.size() >= kMaxReads || !tried.insert(path).second)
        continue;
      const auto read = read_one(path, docs);
      if (!read) {
        away_ = read.error();
        return false;
      }
      more = *read || more;
    }
  }
  return true;
}

/// A file of a library that a dialect was given.
Result<FileBytes> FlowDecider::read_library(const std::string& path) {
  for (const std::string& folder : setup_.libraries)
    if (path.starts_with(folder + "/"))
      return disk_.read_outside(folder, path.substr(folder.size() + 1), setup_.load.max_bytes);
  return fail(Errc::not_found, "lies in no library of the configuration", path);
}

Result<bool> FlowDecider::read_one(const std::string& path, FlowState& docs) {
  const bool yaml = path.ends_with(".yaml") || path.ends_with(".yml");
  const bool log = path.ends_with(".jsonl");
  auto bytes = log                     ? disk_.read_end(path, kLogEnd)
               : path.starts_with('/') ? read_library(path)
                                       : disk_.read(path, setup_.load.max_bytes);
  if (!bytes && bytes.error().code == Errc::away)
    return pass_on(bytes);
  if (!bytes)
    return false;
  const Format format = log ? Format::jsonl : yaml ? Format::yaml : Format::json;
  auto document = load_document(std::move(bytes->bytes), format, setup_.load);
  if (document)
    docs[path] = Accepted{std::move(*document), Word(kRead), {}, 0, {}, true, {}};
  return document.has_value();
}

namespace {

/// Whether an agent is at work for it, or has done it.
bool is_begun(const Desired& desired, const FlowRecord& record) {
  const auto stage = record.stages.find(desired.subject);
  return std::any_of(record.runs.begin(), record.runs.end(), [&](const Run& run) {
    return run.key.role == desired.role && run.key.subject == desired.subject &&
           (run.live() || (run.outcome == Outcome::succeeded && stage != record.stages.end() &&
                           run.key.generation == stage->second.generation));
  });
}

}  // namespace

/// The stages stay as they were before git put a file back, so nothing is entered when git goes
/// forward again. The flow is blocked only if the earlier version asks for something. With the same
/// stages as before, that is what has not begun yet, or is to be tried again.
bool FlowDecider::stand_reverted(const View& view, const Dialect& dialect, FlowRecord& record,
                                 FlowState& docs) {
  if (record.notified.reverted.empty() || dialect.stages == nullptr)
    return false;
  std::map<Subject, StageState> stages = record.stages;
  bool differ = false;
  std::string stage;
  for (const auto& [subject, word] : dialect.stages(view)) {
    StageState& state = stages[subject];
    if (state.stage == word)
      continue;
    differ = true;
    stage = word;
    state.previous = std::exchange(state.stage, word);
    ++state.generation;
    state.entries = 1;
    state.since = view.now;
  }
  View then{record.id,     docs,         stages,   record.runs, record.memo,
            view.requests, view.options, view.env, view.now,    view.wall};
  then.control = view.control;
  show_rejected(record, then);
  if (!read_more(then, dialect, docs))
    return true;  // the root is away; the former decision stays
  Decision asked = dialect.decide(then);
  if (!differ) {
    const auto next =
        std::find_if(asked.desired.begin(), asked.desired.end(),
                     [&](const Desired& desired) { return !is_begun(desired, record); });
    if (next == asked.desired.end())
      return false;
    if (const auto state = stages.find(next->subject); state != stages.end())
      stage = state->second.stage;
  }
  record.decision = Decision{};
  record.decision.control = Control::idle;
  record.decision.standing = std::move(asked.standing);
  const bool asks_person =
      std::any_of(asked.holds.begin(), asked.holds.end(),
                  [](const Hold& hold) { return hold.cause.reason == Reason::approval_wanted; });
  if (!asked.desired.empty() || !asked.updates.empty() || asks_person)
    record.decision.holds.push_back(
        Hold{"", "", Reason::reverted,
             "git put back an earlier version of " + record.notified.reverted.begin()->first +
                 ", with the stage `" + stage + "`; nothing follows from it",
             command("resume", record.id)});
  return true;
}

/// Asks the dialect, applies what it writes, and asks again until it writes nothing more. If its
/// writes cannot be made, returns what holds the flow until a person has corrected that.
std::optional<Hold> FlowDecider::settle(View& view, const Catalog::Entry& entry, FlowRecord& record,
                                        FlowState& docs, Draft& draft) {
  const Dialect& dialect = *entry.dialect;
  std::vector<Notice> said;
  for (int round = 0;; ++round) {
    show_rejected(record, view);
    check(record, entry, docs, draft);
    const bool moved = record.control.reason == kMoved;
    if (dialect.stages != nullptr)
      advance(record, entry, dialect.stages(view), draft);
    if (moved && record.control.reason != kMoved)
      view.control = ordered(record, draft.find(FlowId{}));
    // The former decision stays.
    if (!read_more(view, dialect, docs))
      return {};
    record.decision = dialect.decide(view);
    for (Hold& hold : record.decision.holds)
      if (hold.cause.reason == Reason::existing && record.control.reason == kMoved)
        hold = Hold{hold.role, hold.subject, Reason::moved, record.control.why,
                    command("resume", record.id)};
    // The dialect only knows that something is paused, not why, nor by which order.
    if (const ControlRow* const row = control_in_force(record, draft))
      for (Hold& hold : record.decision.holds)
        if (hold.cause == Cause{Condition::paused, Reason::by_operator}) {
          hold.cause = cause_of(row->control, row->reason);
          if (row != &record.control)
            hold.action = kResumeAll;
        }
    // Move the memo out of the decision. Kept there and in the record, it would double the memory
    // of a thousand flows.
    const Json memo = std::exchange(record.decision.memo, Json());
    enter_spent(record, draft);
    enter_failed_work(record, draft);
    const bool writes = !record.decision.updates.empty();
    if (writes && record.control.reason == kMoved) {
      take_back(view.requests, record, record.control.why, draft);
      keep_notified(record, said);
      record.decision.updates.clear();
      record.decision.holds.push_back(
          Hold{"", "", Reason::moved, record.control.why, command("resume", record.id)});
      return {};
    }
    const std::optional<Hold> trouble = !writes               ? std::nullopt
                                        : round == kMaxRounds ? std::optional(endless())
                                                              : update(record, docs, draft);
    if (trouble) {
      take_back(view.requests, record, trouble->why, draft);
      keep_notified(record, said);
      return trouble;
    }
    draft.memo(record, memo);
    notify_once(record, said, draft);
    for (const Reply& reply : record.decision.replies)
      answer(view.requests, reply, draft);
    if (!writes)
      break;
  }
  record.notified.notices = std::move(said);
  return {};
}

/// Makes the updates of one decision. If one of them would make a document invalid, none is made.
/// If one only assumes what another one has just changed, the next round deals with it.
std::optional<Hold> FlowDecider::update(FlowRecord& record, FlowState& docs, Draft& draft) {
  const std::vector<Update>& updates = record.decision.updates;
  if (updates.size() > 1)
    if (const auto tried = update_builder_.tried(record, docs, updates, draft);
        tried.refused && tried.refused->code != Errc::changed)
      return refused_write(*tried.refused);
  const auto applied = update_builder_.apply(record, docs, updates, draft);
  return applied.refused && applied.made == 0 ? std::optional(refused_write(*applied.refused))
                                              : std::nullopt;
}

void FlowDecider::check(FlowRecord& record, const Catalog::Entry& entry, const FlowState& docs,
                        Draft& draft) {
  if (entry.dialect->check_flow == nullptr)
    return;
  auto findings = entry.dialect->check_flow(docs, entry.options);
  record.conflicts = std::move(findings);
  std::string conflict = first_error(record.conflicts, entry.dialect->tolerated);
  if (conflict != record.notified.conflict)
    draft.event(conflict.empty() ? "resolved" : "conflict", record.id,
                conflict.empty() ? "the documents fit together again" : conflict);
  record.notified.conflict = std::move(conflict);
}

namespace {

/// Why a log of which read lines were changed is not read on; "": there is none.
std::string changed_log(const FlowLogs& logs) {
  for (const auto& [path, why] : logs.changed)
    if (!why.empty())
      return path + ": " + why +
             ", so nobody knows what is new; put the lines back, or `baton resume` " +
             "goes on with the last line";
  return {};
}

}  // namespace

void FlowDecider::hold(FlowRecord& record, const Catalog::Entry& entry, Time now) {
  record.held.reset();
  const auto gone = std::find_if(
      record.accepted.begin(), record.accepted.end(),
      [&](const auto& row) { return !row.second.present && essential(entry, record, row.second); });
  if (const std::string conflict = first_error(record.conflicts, entry.dialect->tolerated);
      !conflict.empty())
    record.held =
        Hold{"", "", Reason::conflict, conflict, "correct one of the files, then `baton validate`"};
  else if (gone != record.accepted.end())
    record.held =
        Hold{"",
             "",
             {Condition::gone, Reason::files},
             gone->first + " is gone",
             (entry.dialect->rebuild == nullptr
                  ? ""
                  : "`" + command("recover", record.id) + " --write` writes it again; else ") +
                 "put " + gone->first + " back, or `" + command("forget", record.id) + "`"};
  else if (const auto changed = changed_log(record.logs); !changed.empty())
    record.held = Hold{"", "", Reason::log_changed, changed, command("resume", record.id)};
  else if (now < record.calm_at)
    record.held = Hold{"",
                       "",
                       Reason::rate_breaker,
                       "a file changes too often; nothing starts until " + iso_time(record.calm_at),
                       "",
                       record.calm_at};
  else if (!record.unseen.empty())
    record.held = Hold{"", "", Reason::settling, record.unseen};
}

bool FlowDecider::advance(FlowRecord& record, const Catalog::Entry& entry, const Stages& stages,
                          Draft& draft) {
  bool changed = false;
  // Subjects that move in one step get the same arrival, because none of them has waited longer.
  const Arrival arrival = draft.arrival + 1;
  const bool remembers = remembers_subjects(entry, record.id);
  const auto enter = [&](const Subject& subject, const Word& stage) {
    StageState& state = record.stages[subject];
    if (state.stage == stage)
      return;
    changed = true;
    auto& entries = record.entries[subject];
    const std::string from = state.stage.empty() ? "" : state.stage + " -> ";
    const bool back = remembers && !stage.empty() && is_back(state, stage, draft.now);
    const bool goes_on = !state.stage.empty() && !stage.empty();
    if (stage.empty())
      leave(state);
    else
      arrive(state, back);
    state.stage = stage;
    state.since = draft.now;
    if (!stage.empty() && !back) {
      state.arrival = draft.arrival = arrival;
      ++state.generation;
      std::uint64_t& count = entries[stage];
      count = std::max(count, entered_before(record.origin, subject, stage)) + 1;
      state.entries = count;
    }
    draft.stage(record, subject);
    if (goes_on && stage_change_resumes(record, draft))
      draft.control(record, Control::run, "", "");
    draft.event("stage", record.id,
                from + (stage.empty() ? "gone" : stage) + (back ? " again" : ""), subject);
  };
  for (const auto& [subject, stage] : stages)
    enter(subject, stage);
  std::vector<Subject> vanished;
  for (const auto& [subject, state] : record.stages)
    if (!stages.contains(subject))
      vanished.push_back(subject);
  for (const Subject& subject : vanished)
    enter(subject, "");
  return changed;
}

}  // namespace baton
