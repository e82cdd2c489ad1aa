// SPDX-License-Identifier: Apache-2.0
#include "engine/perform/pending_writes.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include "base/text.h"
#include "engine/perform/write_settlement.h"

namespace baton {
namespace {

constexpr std::string_view kBehind = "is behind an earlier write that waits";
constexpr Millis kFirstTryAgain{1000};
constexpr Millis kLongestTryAgain{60'000};

/// Whether the file to create is there already, byte for byte.
bool stands_already(Disk& disk, const Intent& write, std::size_t max_bytes) {
  if (write.kind != Intent::Kind::create)
    return false;
  const auto there = disk.read(write.path, max_bytes);
  return there && there->digest == write.after;
}

bool gives_way(const Result<void>& done) {
  return !done && done.error().code == Errc::changed;
}

bool whole(const Intent& write) {
  return write.kind == Intent::Kind::replace || write.kind == Intent::Kind::restore ||
         write.kind == Intent::Kind::create;
}

bool may_be_made(const Intent& write, const Catalog& catalog) {
  return catalog.may_write(write.path) && (write.to.empty() || catalog.may_write(write.to));
}

bool may_pass(const Error& error) {
  return error.code == Errc::no_space || error.code == Errc::busy || error.code == Errc::away;
}

Hold behind(const std::string& path, bool rejected) {
  const std::string why = "a write of baton's own gave way to another version of " + path;
  if (rejected)
    return Hold{"", "", Reason::file_rejected, why + ", which is rejected",
                "correct " + path + ", then `baton validate " + shell_word(path) +
                    "`; what of the write is not contradicted by that is made"};
  return Hold{"", "", Reason::settling, why + ", which is not accepted yet"};
}

}  // namespace

/// Refused writes wait longer after each try: permissions seldom change within a second, and each
/// try may cost a temporary file.
void PendingWrites::put_off(Waiting& waiting, const Error& error, Time now, std::size_t max_bytes) {
  waiting.refused = !may_pass(error);
  waiting.why = (error.where.empty() ? waiting.write.path : error.where) + " " + error.message;
  waiting.pause = waiting.refused ? std::clamp(2 * waiting.pause, kFirstTryAgain, kLongestTryAgain)
                                  : kFirstTryAgain;
  waiting.due = now + waiting.pause;
  // The bytes may be in the file all the same, and only the sync may be missing.
  if (error.code == Errc::io || error.code == Errc::no_space)
    waiting.to_settle = max_bytes;
}

void PendingWrites::assign(Intent& write, const Catalog& catalog) {
  const auto match = catalog.match(write.path);
  if (!match)
    return;
  write.flow = match->flow;
  write.rotate_above = match->kind->rotate_above_bytes;
}

void PendingWrites::assign_all(const Catalog& catalog) {
  for (Waiting& each : waiting_) {
    assign(each.write, catalog);
    if (std::exchange(each.barred, !may_be_made(each.write, catalog)) != each.barred)
      each.refused = each.barred;
  }
  for (auto& [path, given_up] : given_up_)
    for (Intent& write : given_up.writes)
      assign(write, catalog);
}

std::vector<Intent> PendingWrites::bar(std::vector<Intent>& intents, const Catalog& catalog,
                                       const FlowRecords& records) {
  const auto first =
      std::stable_partition(intents.begin(), intents.end(),
                            [&](const Intent& write) { return may_be_made(write, catalog); });
  std::vector<Intent> barred(std::make_move_iterator(first),
                             std::make_move_iterator(intents.end()));
  intents.erase(first, intents.end());
  for (const Intent& write : barred) {
    const auto record = records.find(write.flow);
    const bool in_force =
        record != records.end() && whole(write) && record->second.accepted.contains(write.path);
    if (!in_force) {
      done_.push_back(write.id);
      continue;
    }
    Waiting& held = waiting_.emplace_back(Waiting{write, write.path});
    held.refused = true;
    held.barred = true;
  }
  return barred;
}

std::set<std::string> PendingWrites::recover(const std::vector<Intent>& intents,
                                             std::size_t max_bytes) {
  std::set<std::string> paths;
  for (const Intent& intent : intents) {
    Waiting left{intent, {}, max_bytes};
    if (awaits(intent.path)) {
      left.why = intent.path + " " + std::string(kBehind);
      waiting_.push_back(std::move(left));
      continue;
    }
    const auto made = make(left);
    if (!made && !gives_way(made)) {
      put_off(waiting_.emplace_back(std::move(left)), made.error(), Time{}, max_bytes);
      continue;
    }
    if (made)
      end(left.write);
    else
      give_up(left);
    paths.insert(intent.path);
  }
  return paths;
}

void PendingWrites::suppose(const std::vector<Intent>& intents, std::size_t max_bytes) {
  for (Intent write : intents) {
    const auto settled = settle(disk_, write, max_bytes);
    if (awaits(write.path) || !settled || *settled == Settled::redo) {
      seen(write.path);
      supposed_.push_back(write);
    } else if (*settled != Settled::done) {
      give_up(write);
    }
  }
}

Result<void> PendingWrites::make(Waiting& waiting) {
  Intent& write = waiting.write;
  if (waiting.to_settle > 0) {
    auto settled = settle(disk_, write, waiting.to_settle);
    if (!settled)
      return pass_on(settled);
    // The bytes are in the file, but perhaps not safely on the disk.
    if (*settled == Settled::done)
      return make_last(disk_, write, waiting.to_settle);
    waiting.overtaken = waiting.overtaken || *settled == Settled::abandoned;
    waiting.to_settle = 0;
  }
  auto done = waiting.overtaken ? Result<void>(fail(Errc::changed, "was changed", write.path))
                                : baton::perform(disk_, write);
  // Another program may have written the same bytes; then the write counts as made. This does not
  // hold for a create, because then the file belongs to that program.
  return gives_way(done) && write.kind != Intent::Kind::create && whole(write) &&
                 disk_.make_last(write.path, write.bytes)
             ? Result<void>()
             : done;
}

void PendingWrites::give_up(const Waiting& waiting) {
  if (waiting.seen)
    done_.push_back(waiting.write.id);
  else
    give_up(waiting.write);
}

void PendingWrites::give_up(const Intent& write) {
  // No version in force depends on an append or a move.
  if (write.kind == Intent::Kind::append || write.kind == Intent::Kind::move) {
    done_.push_back(write.id);
    return;
  }
  const bool news = write.kind != Intent::Kind::restore;
  // If this write was made from the version that overtook the earlier ones, a step has looked at
  // that version.
  if (const auto before = given_up_.find(write.path);
      news && before != given_up_.end() && before->second.writes.back().after != write.assumes)
    drop(write.path);
  GivenUp& given_up =
      given_up_.try_emplace(write.path, GivenUp{write.assumes, {}, false}).first->second;
  if (news && !std::exchange(given_up.news, true))
    given_up.base = write.assumes;
  given_up.writes.push_back(write);
}

void PendingWrites::end(const Intent& write) {
  done_.push_back(write.id);
  drop(write.path);
}

std::map<std::string, Digest> PendingWrites::gave_way() const {
  std::map<std::string, Digest> bases;
  for (const auto& [path, given_up] : given_up_)
    bases.emplace(path, given_up.base);
  return bases;
}

PendingWrites::Performed PendingWrites::perform(const std::vector<Intent>& writes, Time now,
                                                std::size_t max_bytes) {
  Performed performed;
  std::vector<Waiting> all = std::exchange(waiting_, {});
  std::transform(writes.begin(), writes.end(), std::back_inserter(all), [](const Intent& write) {
    return Waiting{write, {}};
  });
  // The first waiting write of each path. Later writes of the path build on it, so they wait, too.
  std::map<std::string, Waiting> ahead;
  const auto wait = [&](Waiting waiting) {
    performed.unfit.insert(waiting.write.flow);
    for (const std::string* const path : {&waiting.write.path, &waiting.write.to})
      if (!path->empty())
        ahead.try_emplace(*path, Waiting{{}, {}, 0, waiting.refused, {}, waiting.due});
    waiting_.push_back(std::move(waiting));
  };
  for (Waiting& each : all) {
    const Intent& write = each.write;
    if (const auto first = ahead.find(write.path); first != ahead.end()) {
      each.why = write.path + " " + std::string(kBehind);
      each.refused = first->second.refused;
      each.due = first->second.due;
      wait(std::move(each));
      continue;
    }
    if (each.barred || (now < each.due && !each.overtaken)) {
      wait(std::move(each));
      continue;
    }
    const auto done = make(each);
    performed.paths.insert(write.path);
    performed.news = true;
    if (!done && !write.vital) {
      if (!stands_already(disk_, write, max_bytes))
        performed.missed.emplace_back(write, done.error());
      done_.push_back(write.id);
    } else if (gives_way(done)) {
      performed.unfit.insert(write.flow);
      performed.again.insert(write.flow);
      give_up(each);
    } else if (!done) {
      put_off(each, done.error(), now, max_bytes);
      wait(std::move(each));
    } else {
      end(write);
    }
  }
  return performed;
}

bool PendingWrites::awaits(const std::string& path) const {
  const auto about = [&](const Intent& write) { return write.path == path || write.to == path; };
  return std::any_of(supposed_.begin(), supposed_.end(), about) ||
         std::any_of(waiting_.begin(), waiting_.end(),
                     [&](const Waiting& each) { return about(each.write); });
}

std::optional<Digest> PendingWrites::meet(const std::string& path, std::size_t max_bytes) {
  const auto first = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& each) {
    return each.write.path == path || each.write.to == path;
  });
  if (first == waiting_.end() || first->write.path != path)
    return std::nullopt;
  // A missing file may be back in a moment, so only a file that was read counts as changed.
  Intent write = first->write;
  const bool there = disk_.read(path, max_bytes).has_value();
  const auto settled = settle(disk_, write, max_bytes);
  const bool overtaken = there && settled && *settled == Settled::abandoned;
  bool all = true;
  for (Waiting& each : waiting_) {
    // Later writes of the path build on a version that will never be in the file.
    if (each.write.path == path)
      each.overtaken = overtaken;
    else
      all = all && each.write.to != path;
  }
  return overtaken && all ? std::optional(first->write.assumes) : std::nullopt;
}

/// The flows with a write of the path that gave way or can only give way.
std::set<FlowId> PendingWrites::overtaken(const std::string& path) const {
  std::set<FlowId> flows;
  for (const Waiting& each : waiting_)
    if (each.overtaken && each.write.path == path)
      flows.insert(each.write.flow);
  if (const auto given_up = given_up_.find(path); given_up != given_up_.end())
    for (const Intent& write : given_up->second.writes)
      flows.insert(write.flow);
  return flows;
}

std::set<std::string> PendingWrites::looked_at(const Draft& step, const Catalog& catalog) const {
  std::set<std::string> paths = step.as_accepted;
  paths.insert(step.changed.begin(), step.changed.end());
  std::erase_if(paths, [&](const std::string& path) {
    const std::set<FlowId> flows = overtaken(path);
    const bool in_force = std::any_of(flows.begin(), flows.end(), [&](const FlowId& flow) {
      const FlowRecord* const record = step.find(flow);
      return record != nullptr && record->accepted.contains(path);
    });
    return flows.empty() || (in_force && !catalog.match(path));
  });
  return paths;
}

std::vector<std::uint64_t> PendingWrites::given_up(const std::string& path) const {
  std::vector<std::uint64_t> ids;
  if (const auto given_up = given_up_.find(path); given_up != given_up_.end())
    for (const Intent& write : given_up->second.writes)
      ids.push_back(write.id);
  return ids;
}

bool PendingWrites::seen(const std::string& path) {
  for (Waiting& each : waiting_)
    each.seen = each.seen || (each.overtaken && each.write.path == path);
  return given_up_.erase(path) > 0;
}

void PendingWrites::drop(const std::string& path) {
  for (const std::uint64_t id : given_up(path))
    done_.push_back(id);
  given_up_.erase(path);
}

std::set<FlowId> PendingWrites::flows() const {
  std::set<FlowId> flows;
  for (const Waiting& each : waiting_)
    flows.insert(each.write.flow);
  for (const auto& [path, given_up] : given_up_)
    for (const Intent& write : given_up.writes)
      flows.insert(write.flow);
  return flows;
}

std::optional<Hold> PendingWrites::hold(const FlowRecord& record, const Dialect* dialect) const {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& each) {
    return each.write.flow == record.id;
  });
  if (found == waiting_.end())
    return hold_given_up(record, dialect);
  if (found->barred)
    return Hold{"", "", Reason::write_refused,
                "the journal holds a write of " + found->write.path +
                    ", which belongs to no dialect or rule in force, so baton does not make it",
                "put its dialect or rule back into the configuration and run `baton reload`"};
  if (found->refused)
    return Hold{
        "", "", Reason::write_refused,
        "a write of baton's own was refused, and is tried again within a minute: " + found->why,
        "let baton write " + found->write.path + "; `baton doctor` checks who may"};
  return Hold{"", "", Reason::pending_write,
              "a write is still to be made, tried again every second: " + found->why};
}

/// The version in force has never stood in the file, so it must not start anything.
std::optional<Hold> PendingWrites::hold_given_up(const FlowRecord& record,
                                                 const Dialect* dialect) const {
  for (const auto& [path, given_up] : given_up_) {
    // A missing file has a hold of its own if the flow needs it. A restored version has stood in
    // the file before.
    const auto row = record.accepted.find(path);
    if (!given_up.news || row == record.accepted.end() || !row->second.present)
      continue;
    const bool rejected = record.rejected.contains(path);
    if (rejected && (dialect == nullptr || !dialect->files_rule))
      continue;
    for (const Intent& write : given_up.writes)
      if (write.flow == record.id)
        return behind(path, rejected);
  }
  return std::nullopt;
}

bool PendingWrites::passing() const {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [](const Waiting& each) { return !each.refused; });
}

std::optional<Time> PendingWrites::wake() const {
  std::optional<Time> first;
  for (const Waiting& each : waiting_)
    if (!each.barred && (!first || each.due < *first))
      first = each.due;
  return first;
}

void PendingWrites::forget(const FlowId& flow) {
  std::erase_if(waiting_, [&](const Waiting& each) { return each.write.flow == flow; });
  std::erase_if(given_up_, [&](const auto& row) {
    return std::all_of(row.second.writes.begin(), row.second.writes.end(),
                       [&](const Intent& write) { return write.flow == flow; });
  });
}

}  // namespace baton
