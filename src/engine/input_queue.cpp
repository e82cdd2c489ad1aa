#include "engine/input_queue.h"

#include <algorithm>
#include <utility>

#include "engine/decide/control.h"

namespace baton {
namespace {

constexpr Millis kReadAgain{1000};
constexpr Millis kLateWrites{1200};

/// Sorts paths by the order in which the dialects list their kinds, so that a plan comes before the
/// files that are judged by it.
std::vector<std::string> in_order(const std::set<std::string>& paths, const Catalog& catalog) {
  std::vector<std::pair<std::ptrdiff_t, std::string>> ranked;
  ranked.reserve(paths.size());
  for (const std::string& path : paths) {
    const auto match = catalog.match(path);
    ranked.emplace_back(match ? match->kind - match->entry->kinds.data() : 0, path);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> order;
  order.reserve(ranked.size());
  for (auto& [rank, path] : ranked)
    order.push_back(std::move(path));
  return order;
}

}  // namespace

void InputQueue::take(const std::vector<Input>& inputs, ConfiguredParts& parts,
                      const FlowRecords& records, RequestQueue& requests) {
  const auto look_at_all = [&](const Rescan& rescan) {
    requests.changed();
    const bool all = rescan.why != "timer" && rescan.why != "poll";
    auto paths = parts.intake.scan().paths(records, all);
    if (paths)
      dirty_.merge(*paths);
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
      dirty_.insert(changed->path);
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
                                RunCompletion& ending) {
  if (!parts.setup.rehearsal)
    look_late(next.now);
  // Without descriptors or memory baton cannot list folders either. A scan reports that.
  if (parts.intake.starved() && !rescan_)
    rescan_ = Rescan{"timer"};
  for (const std::string& path : parts.intake.due(next.now))
    dirty_.insert(path);
  later_.clear();
  Result<void> kept;
  for (const RunEnd& ended : ends_) {
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
    dirty_.insert(worked_on.begin(), worked_on.end());
    if (record != nullptr)
      dirty_.merge(parts.intake.scan().created(*record));
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

void InputQueue::before_forgetting(const std::vector<Request>& requests,
                                   const ConfiguredParts& parts, const FlowRecords& records) {
  for (const Request& request : requests)
    for (const auto& [flow, record] : records)
      if (request.verb == "forget" &&
          (request.flow == FlowId{} ? is_gone(record) : request.flow == flow)) {
        dirty_.merge(files_of(record));
        dirty_.merge(parts.intake.scan().created(record));
      }
}

Result<void> InputQueue::look(Draft& next, ConfiguredParts& parts,
                              const std::vector<Request>& requests, PendingWrites& pending_writes) {
  parts.intake.scan().closed().tell(next);
  // While a write of baton's own is pending or planned, the file is older than the accepted
  // version. baton looks at the file after the write.
  const auto planned = [&](const std::string& path) {
    return std::any_of(next.writes.begin(), next.writes.end(),
                       [&](const Intent& write) { return write.path == path; });
  };
  const auto unwritten = [&](const std::string& path) {
    return pending_writes.awaits(path) || planned(path);
  };
  taken_.clear();
  for (const LateWrite& write : late_) {
    if (unwritten(write.path))
      continue;
    auto done = parts.intake.late(write, next, requests);
    if (!done)
      return pass_on(done);
    if (*done)
      taken_.insert(write.kept);
  }
  for (const std::string& path : in_order(dirty_, parts.catalog)) {
    if (unwritten(path)) {
      // If somebody changed the file, the pending write gives way and the new version counts at
      // once. It may be the last version of an agent that ends in this step.
      const auto assumed = pending_writes.meet(path, parts.setup.load.max_bytes);
      if (!assumed || planned(path)) {
        parts.intake.leave(path);
        continue;
      }
      next.gave_way.emplace(path, *assumed);
    }
    if (auto done = parts.intake.look(path, next, requests); !done)
      return done;
  }
  if (const auto away = parts.intake.away())
    lost(*away);
  return {};
}

void InputQueue::due(Draft& next, const FlowRecords& records, const FlowIndex& flow_index,
                     bool rehearsal) const {
  if (away() && !(rehearsal && decide_all_))
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
  dirty_.clear();
  ends_ = std::exchange(later_, {});
  ends_left_ = ends_.size();
  std::erase_if(late_, [&](const LateWrite& write) {
    if (!taken_.contains(write.kept))
      return false;
    disk_.late_noted(write);
    return true;
  });
  taken_.clear();
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
