// SPDX-License-Identifier: Apache-2.0
#include "engine/input_queue.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "engine/decide/control.h"

namespace baton {
namespace {

constexpr Millis kReadAgain{1000};
constexpr Millis kLateWrites{1200};

/// Whether nothing is started before all files of the scan have been looked at.
bool is_of_whole_root(const Rescan& rescan) {
  return rescan.why == "start" || rescan.why == "reload" || rescan.why == "overflow" ||
         rescan.why == "root_replaced";
}

/// The queued files of one flow.
struct QueuedFlow {
  std::uint64_t since = 0;  ///< the step in which the first of them came in
  std::vector<std::pair<std::ptrdiff_t, std::string>> files;  ///< with the rank of their kind
  std::size_t turn = 0;      ///< how many flows of its folder come before it, of those of its step
  std::uint64_t served = 0;  ///< the last step that looked at a file of its folder
};

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/') + 1);
}

}  // namespace

/// The flows that cannot wait come first. Then come in turns the flow that changed last and the one
/// that has waited longest. Of flows that changed together, one of each folder comes first, then a
/// second one of each folder, and so on; the folder that was not looked at for longest begins. So
/// neither a flood of changes nor a long queue keeps another flow from being looked at.
/// Within a
/// flow, files come in the order in which the dialect lists their kinds, so that a plan comes
/// before the files that are judged by it.
std::vector<std::string> InputQueue::in_order(const Catalog& catalog) const {
  std::map<FlowId, QueuedFlow> queued;
  for (const auto& [path, queued_at] : dirty_) {
    const auto match = catalog.match(path);
    QueuedFlow& flow = queued[match ? match->flow : FlowId{}];
    flow.since = flow.files.empty() ? queued_at.step : std::min(flow.since, queued_at.step);
    flow.files.emplace_back(match ? match->kind - match->entry->kinds.data() : 0, path);
  }
  std::vector<const QueuedFlow*> order;
  std::map<std::uint64_t, std::deque<const QueuedFlow*>> waiting;  // by their step
  std::map<std::pair<std::uint64_t, std::string>, std::size_t> turns;
  for (auto& [flow, its] : queued) {
    std::sort(its.files.begin(), its.files.end());
    if (urgent_.contains(flow)) {
      order.push_back(&its);
      continue;
    }
    const std::string folder = folder_of(its.files.front().second);
    its.turn = turns[{its.since, folder}]++;
    if (const auto served = served_.find(folder); served != served_.end())
      its.served = served->second;
    waiting[its.since].push_back(&its);
  }
  for (auto& [since, flows] : waiting)
    std::stable_sort(flows.begin(), flows.end(), [](const QueuedFlow* one, const QueuedFlow* two) {
      return std::pair(one->turn, one->served) < std::pair(two->turn, two->served);
    });
  // They take turns at being first, too, because a step may have time for one flow only.
  for (bool oldest = step_ % 2 == 1; !waiting.empty(); oldest = !oldest) {
    const auto next = oldest ? waiting.begin() : std::prev(waiting.end());
    order.push_back(next->second.front());
    next->second.pop_front();
    if (next->second.empty())
      waiting.erase(next);
  }
  std::vector<std::string> paths;
  paths.reserve(dirty_.size());
  for (const QueuedFlow* const flow : order)
    for (const auto& [rank, path] : flow->files)
      paths.push_back(path);
  return paths;
}

void InputQueue::changed(const std::set<std::string>& paths) {
  for (const std::string& path : paths)
    queue(path);
}

std::vector<Time> InputQueue::queued_since(const std::vector<std::string>& paths) const {
  std::vector<Time> since;
  for (const std::string& path : paths)
    if (const auto queued = dirty_.find(path); queued != dirty_.end())
      since.push_back(queued->second.since);
  return since;
}

/// Takes the paths that a scan has found. While the files of a scan of the whole root are being
/// looked at, an overflow adds nothing that has to be looked at before the first start. Otherwise a
/// writer who causes one overflow after the other would keep everything from starting.
void InputQueue::scanned(const std::set<std::string>& paths, const Rescan& rescan) {
  if (is_of_whole_root(rescan) && (scanned_.empty() || rescan.why != "overflow"))
    scanned_.insert(paths.begin(), paths.end());
  changed(paths);
}

void InputQueue::take(const std::vector<Input>& inputs, ConfiguredParts& parts,
                      const FlowRecords& records, RequestQueue& requests) {
  ++step_;
  urgent_.clear();
  const auto look_at_all = [&](const Rescan& rescan) {
    requests.changed();
    // After an overflow that follows another one, what has been looked at since is known by its
    // stamp.
    const bool all = rescan.why != "timer" && rescan.why != "poll" &&
                     (rescan.why != "overflow" || scanned_.empty());
    auto paths = parts.intake.scan().paths(records, all);
    if (paths)
      scanned(*paths, rescan);
    else
      look_again(paths.error(), rescan);
    blind_ = !paths;
    if (!blind_) {
      why_blind_.clear();
      decide_all_ = std::exchange(away_, false) || decide_all_;
    }
    if (!blind_ && parts.intake.scan().closed().passing())
      rescan_ = Rescan{"timer"};
  };
  if (const auto due = std::exchange(rescan_, {}))
    look_at_all(*due);
  for (const Input& input : inputs) {
    if (const auto* const changed = std::get_if<FileChanged>(&input)) {
      queue(changed->path);
      if (!changed->was.empty())
        parts.intake.renamed(changed->was, changed->path);
      if (changed->complete)
        parts.intake.complete(changed->path);
      // The path lies in a folder that could not be listed, or it may have replaced a folder.
      if (parts.intake.scan().reopens(changed->path))
        look_at_all(Rescan{"timer"});
    } else if (const auto* const ended = std::get_if<RunEnded>(&input))
      ends_.push_back(ended->end);
    else if (std::holds_alternative<RequestsChanged>(input))
      requests.changed();
    else if (const auto* const rescan = std::get_if<Rescan>(&input))
      look_at_all(*rescan);
  }
}

/// When an unavailable root is back, baton looks at everything, because it may be another root.
void InputQueue::look_again(const Error& error, const Rescan& rescan) {
  const bool away = error.code == Errc::away;
  away_ = away_ || away;
  rescan_ = away ? Rescan{"root_replaced"} : rescan;
  blind_ = true;
  why_blind_ = away ? "baton " + error.message : "the root cannot be looked at: " + describe(error);
}

// Keep a check that is due: a program that writes all the time must not postpone it.
void InputQueue::mind_late(Time now) {
  if (disk_.keeps_old(now) && !late_check_)
    late_check_ = now + kLateWrites;
}

void InputQueue::look_late(Time now) {
  if (late_check_ && now >= *late_check_) {
    late_check_.reset();
    std::vector<LateWrite> found = disk_.late_writes(now);
    std::move(found.begin(), found.end(), std::back_inserter(late_));
  }
  mind_late(now);
}

namespace {

std::set<std::string> files_of(const FlowRecord& record) {
  std::set<std::string> files;
  for (const auto& [path, row] : record.accepted)
    files.insert(path);
  return files;
}

/// The files that an agent may have written, even if an event is late or lost. These are the files
/// of its flow and the files it began with. The latter may belong to another flow by now, for
/// example because a rule was renamed.
std::set<std::string> files_of(const FlowRecord* record, const RunId& id) {
  if (record == nullptr)
    return {};
  std::set<std::string> files = files_of(*record);
  if (const auto run = record->run(id); run != record->runs.end())
    for (const DocRef& began_with : run->base)
      files.insert(began_with.path);
  return files;
}

}  // namespace

Result<void> InputQueue::gather(Draft& next, const ConfiguredParts& parts,
                                const FlowRecords& records, const FlowIndex& flow_index,
                                RunCompletion& ending, const StepBudget& budget) {
  if (!parts.setup.rehearsal)
    look_late(next.now);
  // Without descriptors or memory baton cannot list folders either. A scan reports that.
  if (parts.intake.starved() && !rescan_)
    rescan_ = Rescan{"timer"};
  for (const std::string& path : parts.intake.due(next.now))
    queue(path);
  later_.clear();
  more_ends_ = false;
  std::size_t count = 0;
  Result<void> kept;
  for (const RunEnd& ended : ends_) {
    if (!budget.may_end(count)) {
      later_.push_back(ended);
      ending.heard(ended.run);
      more_ends_ = true;
      continue;
    }
    const FlowRecord* const record = record_of(records, flow_index, ended.run);
    const std::set<std::string> worked_on = files_of(record, ended.run);
    if (!can_look(worked_on, parts)) {
      later_.push_back(ended);
      ending.heard(ended.run);
      continue;
    }
    if (auto entered = ending.enter(next, records, flow_index, parts.setup, ended); !entered) {
      later_.push_back(ended);
      kept = std::move(entered);
      continue;
    }
    ++count;
    changed(worked_on);
    if (record == nullptr)
      continue;
    changed(parts.intake.scan().created(*record));
    urgent_.insert(record->id);
    for (const std::string& path : worked_on)
      if (const auto match = parts.catalog.match(path))
        urgent_.insert(match->flow);
  }
  return kept;
}

bool InputQueue::has_ended(const RunId& run) const {
  return std::any_of(ends_.begin(), ends_.end(),
                     [&](const RunEnd& ended) { return ended.run == run; });
}

/// baton reads the last files of an agent before it records the agent's end. While the root is
/// unavailable it cannot read them, so the end waits.
bool InputQueue::can_look(const std::set<std::string>& files, const ConfiguredParts& parts) {
  if (files.empty())
    return true;
  const auto there = disk_.read(*files.begin(), parts.setup.load.max_bytes);
  const bool away = !there && there.error().code == Errc::away;
  if (away)
    lost(there.error());
  return !away;
}

namespace {

bool is_planned(const std::string& path, const Draft& next) {
  return std::any_of(next.writes.begin(), next.writes.end(),
                     [&](const Intent& write) { return write.path == path; });
}

/// While a write of baton's own is pending or planned, the file is older than the accepted version.
/// baton looks at the file after the write.
bool is_unwritten(const std::string& path, const Draft& next, const PendingWrites& pending_writes) {
  return pending_writes.awaits(path) || is_planned(path, next);
}

}  // namespace

void InputQueue::before_requests(const std::vector<Request>& requests, const ConfiguredParts& parts,
                                 const FlowRecords& records) {
  for (const Request& request : requests) {
    urgent_.insert(request.flow);
    if (request.verb != "forget")
      continue;
    for (const auto& [flow, record] : records) {
      if (!(request.flow == FlowId{} ? is_gone(record) : request.flow == flow))
        continue;
      changed(files_of(record));
      changed(parts.intake.scan().created(record));
      urgent_.insert(flow);
    }
  }
}

/// Queued names of the files that this step has met. Only all names of a file together show whether
/// it was renamed.
std::set<std::string> InputQueue::other_names(const Draft& next,
                                              const FlowIndex& flow_index) const {
  std::set<std::string> names;
  for (const FlowFile& met : next.identified) {
    const FlowRecord* const record = next.find(met.flow);
    if (record == nullptr || !record->origin.files.contains(met.path))
      continue;
    const auto known = flow_index.files.find(record->origin.files.at(met.path));
    if (known == flow_index.files.end())
      continue;
    for (const FlowFile& each : known->second)
      if (dirty_.contains(each.path) && !looked_.contains(each.path))
        names.insert(each.path);
  }
  return names;
}

Result<void> InputQueue::look(Draft& next, ConfiguredParts& parts, const FlowIndex& flow_index,
                              const std::vector<Request>& requests, PendingWrites& pending_writes,
                              StepBudget& budget, bool first_start) {
  parts.intake.scan().closed().tell(next);
  taken_.clear();
  for (const LateWrite& write : late_) {
    if (is_unwritten(write.path, next, pending_writes))
      continue;
    auto done = parts.intake.late(write, next, requests);
    if (!done)
      return pass_on(done);
    if (*done)
      taken_.insert(write.kept);
  }
  looked_.clear();
  for (const std::string& path : in_order(parts.catalog)) {
    const auto match = parts.catalog.match(path);
    if (!urgent_.contains(match ? match->flow : FlowId{})) {
      if (!budget.may_look())
        break;
      budget.looked();
      served_[folder_of(path)] = step_;
    }
    looked_.insert(path);
    if (auto done = look_at(path, next, parts, requests, pending_writes); !done)
      return done;
  }
  for (const std::string& path : other_names(next, flow_index)) {
    looked_.insert(path);
    if (auto done = look_at(path, next, parts, requests, pending_writes); !done)
      return done;
  }
  // At the first start, a file that was just written counts as one that was there before. Who
  // writes for longer than ten seconds keeps nobody from starting.
  const bool more_to_come = first_start && !parts.intake.being_written(next.now).empty();
  note_unread(parts.catalog, first_start, more_to_come);
  if (const auto away = parts.intake.away())
    lost(*away);
  return {};
}

Result<void> InputQueue::look_at(const std::string& path, Draft& next, ConfiguredParts& parts,
                                 const std::vector<Request>& requests,
                                 PendingWrites& pending_writes) {
  if (is_unwritten(path, next, pending_writes)) {
    // If somebody changed the file, the pending write gives way and the new version counts at once.
    // It may be the last version of an agent that ends in this step.
    const auto assumed = pending_writes.meet(path, parts.setup.load.max_bytes);
    if (!assumed || is_planned(path, next)) {
      parts.intake.leave(path);
      return {};
    }
    next.gave_way.emplace(path, *assumed);
  }
  return parts.intake.look(path, next, requests);
}

void InputQueue::note_unread(const Catalog& catalog, bool first_start, bool more_to_come) {
  unread_.clear();
  bool left = false;
  for (const auto& [path, queued_at] : dirty_) {
    if (looked_.contains(path))
      continue;
    left = true;
    if (const auto match = catalog.match(path); match && match->kind->kept)
      unread_.insert(match->flow);
  }
  reading_ = (first_start && left) || more_to_come ||
             std::any_of(scanned_.begin(), scanned_.end(),
                         [&](const std::string& path) { return !looked_.contains(path); });
}

void InputQueue::due(Draft& next, const FlowRecords& records, const FlowIndex& flow_index,
                     bool rehearsal) const {
  if (reading_ || (away() && !(rehearsal && decide_all_)))
    return;
  next.decide.insert(again_.begin(), again_.end());
  for (const auto* const moments : {&flow_index.wakes, &flow_index.breakers})
    for (auto at = moments->begin(); at != moments->end() && at->first <= next.now; ++at)
      next.decide.insert(at->second);
  if (decide_all_)
    for (const auto& [flow, record] : records)
      next.decide.insert(flow);
}

bool InputQueue::committed() {
  for (const std::string& path : looked_) {
    dirty_.erase(path);
    scanned_.erase(path);
  }
  looked_.clear();
  if (dirty_.empty())
    served_.clear();
  ends_ = std::exchange(later_, {});
  ends_left_ = ends_.size();
  std::erase_if(late_, [&](const LateWrite& write) {
    if (!taken_.contains(write.kept))
      return false;
    disk_.late_noted(write);
    return true;
  });
  taken_.clear();
  if (reading_)
    return false;
  again_.clear();
  // Until a scan succeeds, deciding all flows stays due. After an unavailable root, `take` makes it
  // due again.
  if (!scan_due() || away())
    decide_all_ = false;
  return !scan_due();
}

std::optional<Time> InputQueue::wake(Time now) const {
  if (!rescan_)
    return late_check_;
  const Time again = now + kReadAgain;
  return late_check_ ? std::min(*late_check_, again) : again;
}

}  // namespace baton
