// SPDX-License-Identifier: Apache-2.0
#include "fakes.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace baton::testing {
namespace {

constexpr Millis kHour{3'600'000};

/// A run id from a running number: 32 hexadecimal digits that differ from the first one on.
std::string id_of(std::uint64_t number) {
  std::uint64_t mixed = number * 0x9E3779B97F4A7C15U;
  mixed ^= mixed >> 29U;
  std::array<char, 33> text{};
  (void)std::snprintf(text.data(), text.size(), "%016llx%016llx",
                      static_cast<unsigned long long>(mixed),
                      static_cast<unsigned long long>(number));
  return text.data();
}

RunEnd end_of(const RunId& run, Outcome outcome, std::string reason, Time at) {
  RunEnd end;
  end.run = run;
  end.outcome = outcome;
  end.reason = std::move(reason);
  end.ended = at;
  return end;
}

unsigned levels(std::string_view path) {
  return static_cast<unsigned>(std::count(path.begin(), path.end(), '/'));
}

}  // namespace

// ---- disk

std::optional<Errc> FakeDisk::shut(const std::map<std::string, Errc>& closed,
                                   const std::string& path) const {
  if (away && !away_is_gone)
    return Errc::away;
  for (const auto& [at, error] : closed)
    if (path == at || path.starts_with(at + "/"))
      return error;
  return std::nullopt;
}
// -----------------------------------------------------------------------------------------

void FakeDisk::put(const std::string& path, std::string bytes) {
  stood_.emplace(path, digest_of(bytes));
  files_[path] = std::move(bytes);
  stamps_[path] = ++stamp_;
  identities_[path] = ++identity_;
  changed_at.erase(path);
  by_git.erase(path);
  changes.push_back(path);
}

/// A file that is there is written in place.
void FakeDisk::write(const std::string& path, std::string bytes) {
  const auto known = identities_.find(path);
  const FileIdentity same = known == identities_.end() ? 0 : known->second;
  put(path, std::move(bytes));
  if (same != 0)
    identities_[path] = same;
}

void FakeDisk::remove(const std::string& path) {
  files_.erase(path);
  stamps_.erase(path);
  identities_.erase(path);
  changes.push_back(path);
}

bool FakeDisk::link(const std::string& from, const std::string& to) {
  const std::string* const bytes = file(from);
  if (bytes == nullptr)
    return false;
  const FileIdentity same = identities_.at(from);
  put(to, *bytes);
  identities_[to] = same;
  complete.insert(to);
  if (const auto changed = changed_at.find(from); changed != changed_at.end())
    changed_at[to] = changed->second;
  return true;
}

bool FakeDisk::rename(const std::string& from, const std::string& to) {
  if (!link(from, to))
    return false;
  remove(from);
  return true;
}

const std::string* FakeDisk::file(const std::string& path) const {
  const auto found = files_.find(path);
  return found == files_.end() ? nullptr : &found->second;
}

Result<FileBytes> FakeDisk::read(const std::string& path, std::size_t max_bytes) {
  fuse_.moment();
  if (const auto error = shut(unreadable, path))
    return fail(*error, "cannot be read", path);
  const std::string* const bytes = file(path);
  if (bytes == nullptr || away)
    return fail(Errc::not_found, "no such file", path);
  if (bytes->size() > max_bytes)
    return fail(Errc::too_large, "larger than " + std::to_string(max_bytes) + " bytes", path);
  const auto changed = changed_at.find(path);
  return FileBytes{*bytes,
                   digest_of(*bytes),
                   stamps_.at(path),
                   identities_.at(path),
                   changed == changed_at.end() ? Time() : changed->second,
                   bytes->size()};
}

VersionSource FakeDisk::source(const std::string& path, const Digest& digest, bool may_wait) {
  fuse_.moment();
  const std::string* const bytes = file(path);
  if (bytes == nullptr || digest_of(*bytes) != digest || !by_git.contains(path))
    return VersionSource::other;
  return index_locked && may_wait ? VersionSource::under_way : VersionSource::by_git;
}

Result<FileBytes> FakeDisk::read_from(const std::string& path, std::uint64_t first,
                                      std::size_t max_bytes) {
  auto file = read(path, std::string::npos);
  if (!file)
    return file;
  file->bytes = file->bytes.substr(std::min<std::uint64_t>(first, file->bytes.size()), max_bytes);
  file->digest = digest_of(file->bytes);
  return file;
}

Result<std::vector<FileEntry>> FakeDisk::list(const std::string& folder, unsigned depth) {
  fuse_.moment();
  if (list_fails)
    return fail(*std::exchange(list_fails, {}), "cannot be listed", folder);
  if (const auto error = shut(unreadable, folder))
    return fail(*error, "cannot be listed", folder);
  std::vector<FileEntry> entries;
  if (blind || away)
    return entries;
  for (Kept& each : kept_)
    each.adopted = true;
  const std::string prefix = folder.empty() ? "" : folder + "/";
  for (const auto& [path, bytes] : files_)
    if (path.starts_with(prefix) && levels(path) - levels(prefix) <= depth)
      entries.push_back(FileEntry{path, stamps_.at(path)});
  return entries;
}

void FakeDisk::race(const std::string& path) {
  const auto found = racing.find(path);
  if (found == racing.end())
    return;
  std::string bytes = std::move(found->second);
  racing.erase(found);
  put(path, std::move(bytes));
}

Result<void> FakeDisk::replace(const std::string& path, const Digest& assumes,
                               std::string_view bytes) {
  fuse_.moment();
  race(path);
  if (full)
    return fail(Errc::no_space, "no space left on device", path);
  // Its own lock is like anybody's.
  if (held.contains(path))
    return fail(Errc::busy, "is locked", path);
  if (const auto error = shut(unreadable, path))
    return fail(*error, "cannot be read", path);
  const std::string* const there = file(path);
  if (there == nullptr || digest_of(*there) != assumes)
    return fail(Errc::changed, "the file was changed meanwhile", path);
  if (const auto error = shut(unwritable, path))
    return fail(*error, "cannot be written", path);
  if (replacing)
    replacing(path, *there);
  kept_.push_back(
      Kept{path, path + "." + std::to_string(++kept_ever_), *there, digest_of(*there), {}, {}});
  put(path, std::string(bytes));
  deeds_.push_back(Did{Did::What::write, {}, path});
  fuse_.moment();
  return {};
}

Result<void> FakeDisk::append(const std::string& path, std::uint64_t assumes_bytes,
                              std::string_view bytes, std::uint64_t rotate_above) {
  fuse_.moment();
  race(path);
  if (full)
    return fail(Errc::no_space, "no space left on device", path);
  if (const auto error = shut(unwritable, path))
    return fail(*error, "cannot be written", path);
  const std::string* const there = file(path);
  const std::string before = there == nullptr ? "" : *there;
  if (assumes_bytes != kAtEnd && before.size() != assumes_bytes)
    return fail(Errc::changed, "the file has another size", path);
  const bool torn = assumes_bytes == kAtEnd && !before.empty() && before.back() != '\n';
  const bool rotates = assumes_bytes == kAtEnd && rotate_above > 0 && !before.empty() &&
                       before.size() + bytes.size() > rotate_above;
  if (rotates) {
    put(path + ".1", before);
    remove(path);
    fuse_.moment();
    put(path, std::string(bytes));
  } else {
    put(path, before + (torn ? "\n" : "") + std::string(bytes));
  }
  deeds_.push_back(Did{Did::What::write, {}, path});
  fuse_.moment();
  return {};
}

Result<void> FakeDisk::create(const std::string& path, std::string_view bytes) {
  fuse_.moment();
  race(path);
  if (full)
    return fail(Errc::no_space, "no space left on device", path);
  if (const auto error = shut(unwritable, path))
    return fail(*error, "cannot be written", path);
  if (file(path) != nullptr)
    return fail(Errc::changed, "the file exists", path);
  put(path, std::string(bytes));
  deeds_.push_back(Did{Did::What::write, {}, path});
  fuse_.moment();
  return {};
}

Result<void> FakeDisk::make_last(const std::string& path, std::string_view bytes) {
  if (const auto error = shut(unreadable, path))
    return fail(*error, "cannot be read", path);
  const std::string* const there = file(path);
  return there != nullptr && *there == bytes ? Result<void>()
                                             : fail(Errc::changed, "the file was changed", path);
}

Result<void> FakeDisk::move(const std::string& from, const Digest& assumes, const std::string& to) {
  fuse_.moment();
  race(from);
  const std::string* const there = file(from);
  if (there == nullptr && assumes == Digest{})
    return {};
  const bool fits = there != nullptr && (assumes == Digest{} || digest_of(*there) == assumes);
  if (!fits)
    return fail(Errc::changed, "the file was changed meanwhile", from);
  for (const std::string& path : {from, to})
    if (const auto error = shut(unwritable, path))
      return fail(*error, "cannot be moved", path);
  if (file(to) != nullptr)
    return fail(Errc::denied, "exists already", to);
  const std::string bytes = *there;
  remove(from);
  put(to, bytes);
  deeds_.push_back(Did{Did::What::write, {}, to});
  fuse_.moment();
  return {};
}

FakeDisk::Kept* FakeDisk::kept(const std::string& path, std::int64_t older) {
  const auto found = std::find_if(kept_.rbegin(), kept_.rend(), [&](const Kept& each) {
    return each.path == path && older-- <= 0;
  });
  return found == kept_.rend() || found->notified ? nullptr : &*found;
}

const std::string* FakeDisk::former(const std::string& path, std::int64_t older) {
  const Kept* const there = kept(path, older);
  return there == nullptr ? nullptr : &there->bytes;
}

bool FakeDisk::write_late(const std::string& path, std::string bytes, Time closes,
                          std::int64_t older) {
  Kept* const kept = this->kept(path, older);
  if (kept == nullptr)
    return false;
  kept->bytes = std::move(bytes);
  kept->open_until = closes;
  return true;
}

void FakeDisk::daemon_killed() {
  for (Kept& each : kept_)
    each = Kept{each.path, each.name, std::move(each.bytes), each.was, {}, each.open_until,
                false,     false};
}

bool FakeDisk::keeps_old(Time now) {
  bool any = false;
  for (Kept& each : kept_) {
    any = any || each.adopted;
    if (each.adopted && !each.since)
      each.since = now;
  }
  return any;
}

std::vector<LateWrite> FakeDisk::late_writes(Time now) {
  constexpr Millis kFirstLook{1000};
  fuse_.moment();
  std::vector<LateWrite> late;
  std::erase_if(kept_, [&](Kept& each) {
    if (each.notified || !each.since || now - *each.since < kFirstLook)
      return false;
    if (!each.open_until)
      return true;
    if (now >= *each.open_until) {
      late.push_back(LateWrite{each.path, each.bytes, each.was, each.name});
      each.notified = true;
    }
    return false;
  });
  return late;
}

void FakeDisk::late_noted(const LateWrite& write) {
  fuse_.moment();
  std::erase_if(kept_, [&](const Kept& each) { return each.name == write.kept; });
}

// ---- journal
// --------------------------------------------------------------------------------------

void FakeJournal::power_cut() {
  if (no_sync)
    tables = synced_.value_or(Tables{});
}

Result<Ledger> FakeJournal::load(Time now) {
  fuse_.moment();
  return ledger(now);
}

Ledger FakeJournal::ledger(Time now) const {
  Ledger ledger;
  ledger.arrival = tables.arrival;
  ledger.intent = tables.intent;
  for (const auto& [path, row] : tables.accepted)
    ledger.accepted.push_back(row.first);
  for (const auto& [path, row] : tables.rejected)
    ledger.rejected.push_back(row);
  for (const auto& [at, row] : tables.stages)
    ledger.stages.push_back(row);
  for (const auto& row : tables.memos)
    ledger.memos.emplace_back(row);
  for (const auto& row : tables.origins)
    ledger.origins.emplace_back(row);
  for (const auto& row : tables.logs)
    ledger.logs.emplace_back(row);
  for (const auto& row : tables.notified)
    ledger.notified.emplace_back(row);
  for (const Run& run : tables.runs) {
    const auto stage = tables.stages.find({run.key.flow, run.key.subject});
    const bool present =
        stage == tables.stages.end() ||
        (stage->second.state.generation == run.key.generation &&
         (!stage->second.state.stage.empty() || stage->second.state.since > now - kRemembered));
    if (run.live() || std::max(run.started, run.ended) > now - kHour || present ||
        left_something(run))
      ledger.runs.push_back(run);
  }
  if (mixes_up)
    for (Run& run : ledger.runs)
      ++run.pid;
  for (const auto& [id, intent] : tables.intents)
    ledger.intents.push_back(intent);
  for (const auto& [flow, row] : tables.controls)
    ledger.controls.push_back(row);
  for (const auto& row : tables.replies)
    ledger.replies.emplace_back(row);
  return ledger;
}

void FakeJournal::forget(const FlowId& flow) {
  std::erase_if(tables.versions, [&](const auto& version) {
    const auto row = tables.accepted.find(version.first);
    return row != tables.accepted.end() && row->second.first.flow == flow;
  });
  std::erase_if(tables.accepted, [&](const auto& r) { return r.second.first.flow == flow; });
  std::erase_if(tables.rejected, [&](const auto& r) { return r.second.flow == flow; });
  std::erase_if(tables.stages, [&](const auto& r) { return r.first.first == flow; });
  std::erase_if(tables.memos, [&](const auto& r) { return r.first == flow; });
  tables.notified.erase(flow);
  tables.origins.erase(flow);
  tables.logs.erase(flow);
  std::erase_if(tables.runs, [&](const Run& r) { return r.key.flow == flow; });
  std::erase_if(tables.intents, [&](const auto& r) { return r.second.flow == flow; });
  std::erase_if(tables.controls, [&](const auto& r) { return r.first == flow; });
  std::erase_if(tables.requests, [&](const auto& r) { return r.second.flow == flow; });
  std::erase_if(tables.events, [&](const Event& r) { return r.flow == flow; });
}

void FakeJournal::enter(const Run& run) {
  for (Run& other : tables.runs) {
    if (other.id == run.id) {
      other = run;
      return;
    }
    // As the unique index of the real one.
    if (other.key == run.key && other.attempt == run.attempt && other.outcome != Outcome::voided &&
        !says_nothing(other.outcome) && !other.forgiven)
      faults.push_back("the journal was told of attempt " + std::to_string(run.attempt) + " of " +
                       text(run.key) + " twice");
  }
  tables.runs.push_back(run);
}

void FakeJournal::enter_files(const Commit& commit) {
  for (const std::string& path : commit.moved_away)
    tables.accepted.erase(path);
  for (const auto& [row, text] : commit.accepted) {
    const auto before = tables.accepted.find(row.path);
    if (before != tables.accepted.end() && row.arrival < before->second.first.arrival)
      faults.push_back("the accepted state of " + row.path + " went backwards");
    tables.accepted[row.path] = {row, text};
    tables.versions.insert({row.path, row.digest});
    tables.arrival = std::max(tables.arrival, row.arrival);
  }
  for (const std::string& path : commit.no_longer_rejected)
    tables.rejected.erase(path);
  for (const RejectedRow& row : commit.rejected)
    tables.rejected[row.path] = row;
  tables.replaced.insert(tables.replaced.end(), commit.replaced.begin(), commit.replaced.end());
}

void FakeJournal::enter_flows(const Commit& commit) {
  for (const StageRow& row : commit.stages) {
    const auto before = tables.stages.find({row.flow, row.subject});
    if (before != tables.stages.end() && row.state.generation < before->second.state.generation)
      faults.push_back("the generation of " + text(row.flow) + "#" + row.subject +
                       " went backwards");
    tables.stages[{row.flow, row.subject}] = row;
    tables.arrival = std::max(tables.arrival, row.state.arrival);
  }
  for (const auto& [flow, memo] : commit.memos)
    tables.memos[flow] = memo;
  for (const auto& [flow, notified] : commit.notified) {
    if (notified->IsNull())
      tables.notified.erase(flow);
    else
      tables.notified[flow] = notified;
  }
  // As the real one: what it writes can be read again.
  for (const auto& [flow, origin] : commit.origins)
    tables.origins[flow] = flow_origin_of(*json_of(origin));
  for (const auto& [flow, logs] : commit.logs)
    tables.logs[flow] = flow_logs_of(*json_of(logs));
  for (const ControlRow& row : commit.controls)
    tables.controls[row.flow] = row;
}

void FakeJournal::enter_intents(const Commit& commit) {
  for (const Intent& intent : commit.intents) {
    if (intent.id <= tables.intent)
      faults.push_back("the intent number " + std::to_string(intent.id) + " was given out twice");
    tables.intents[intent.id] = intent;
  }
  for (const Intent& intent : commit.intents)
    tables.intent = std::max(tables.intent, intent.id);
  for (const std::uint64_t id : commit.intents_done)
    tables.intents.erase(id);
}

Result<Arrival> FakeJournal::commit(const Commit& commit) {
  fuse_.moment();
  if (fails)
    return fail(*fails,
                *fails == Errc::no_space ? "no space left on device"
                : *fails == Errc::busy   ? "it is locked by process 7 (python3)"
                                         : "input/output error",
                "journal.db");
  if (before_commit)
    before_commit(commit);
  for (const FlowId& flow : commit.forgotten)
    forget(flow);
  tables.arrival = std::max(tables.arrival, commit.arrival);
  enter_files(commit);
  enter_flows(commit);
  for (const bool live : {false, true})
    for (const Run& run : commit.runs)
      if (run.live() == live)
        enter(run);
  enter_intents(commit);
  for (const Request& request : commit.requests)
    tables.requests[request.id] = request;
  for (const Reply& reply : commit.replies)
    tables.replies[reply.request] = reply;
  for (Event event : commit.events) {
    event.seq = tables.events.size() + 1;
    tables.events.push_back(std::move(event));
  }
  ++commits;
  for (const Run& run : commit.runs)
    if ((run.forgiven || says_nothing(run.outcome)) && forgiven)
      forgiven(run);
  if (after_commit)
    after_commit(commit);
  fuse_.moment();
  return commit.events.empty() ? 0 : tables.events.back().seq;
}

Result<std::string> FakeJournal::bytes(const std::string& path) {
  fuse_.moment();
  const auto found = tables.accepted.find(path);
  if (found == tables.accepted.end())
    return fail(Errc::not_found, "nothing was accepted", path);
  return found->second.second;
}

// ---- agents
// ---------------------------------------------------------------------------------------

FakeAgents::Shim* FakeAgents::live(const Role& role, const Subject& subject) {
  for (auto& [id, shim] : shims)
    if (shim.state != State::ended && shim.state != State::parked &&
        (role.empty() || shim.launch.key.role == role) &&
        (subject.empty() || shim.launch.key.subject == subject))
      return &shim;
  return nullptr;
}

std::vector<FakeAgents::Shim*> FakeAgents::in(State state) {
  std::vector<Shim*> found;
  for (const RunId& id : order)
    if (const auto at = shims.find(id); at != shims.end() && at->second.state == state)
      found.push_back(&at->second);
  return found;
}

void FakeAgents::begin(Shim& shim) {
  const Key& key = shim.launch.key;
  for (const auto& [id, other] : shims)
    if (other.state == State::running && other.launch.key == key)
      faults.push_back(text(key) + " runs twice at once");
  if (!begun_[key.flow].insert({key, shim.launch.attempt}).second)
    faults.push_back("attempt " + std::to_string(shim.launch.attempt) + " of " + text(key) +
                     " was started twice");
  shim.state = State::running;
  shim.claim = !no_claim;
  shim.began = clock_.at;
}

void FakeAgents::tick() {
  for (Shim* const shim : in(State::going)) {
    if (shim->claims_at > clock_.at)
      continue;
    if (!shim->stopping) {
      begin(*shim);
      continue;
    }
    // Told to end before it made its claim: it leaves, and nothing ran.
    shim->state = State::ended;
    shim->lock = false;
    if (shim->watched)
      ended.push_back(end_of(shim->id, Outcome::voided, "no_claim", clock_.at));
  }
}

void FakeAgents::finish(const RunId& run, RunEnd end) {
  Shim& shim = shims.at(run);
  if (shim.state != State::running)
    return;
  end.run = run;
  end.ended = clock_.at;
  shim.state = State::ended;
  shim.lock = false;
  shim.exit = end;
  if (shim.watched)
    ended.push_back(end);
}

void FakeAgents::kill_shim(const RunId& run) {
  Shim& shim = shims.at(run);
  const bool ran = shim.state == State::running;
  shim.state = State::ended;
  shim.lock = false;
  if (!shim.watched)
    return;
  ended.push_back(shim.claim && ran ? end_of(run, Outcome::unknown, "shim_killed", clock_.at)
                                    : end_of(run, Outcome::voided, "no_claim", clock_.at));
}

void FakeAgents::daemon_killed() {
  ended.clear();
  std::erase_if(shims, [](const auto& row) { return row.second.state == State::parked; });
  for (auto& [id, shim] : shims)
    shim.watched = false;
}

void FakeAgents::power_cut() {
  daemon_killed();
  for (auto& [id, shim] : shims) {
    shim.state = State::ended;
    shim.lock = false;
  }
  boot_id = "boot-" + std::to_string(std::stoi(boot_id.substr(5)) + 1);
}

void FakeAgents::go(Shim& shim) {
  shim.state = State::going;
  shim.claims_at = clock_.at + claim_delay;
  deeds_.push_back(Did{Did::What::start, shim.id, {}});
  tick();
}

Result<Prepared> FakeAgents::prepare(const Launch& launch) {
  fuse_.moment();
  if (prepare_fails)
    return fail(*prepare_fails, "resource temporarily unavailable");
  Shim shim;
  shim.id = id_of(++made_);
  shim.launch = launch;
  shim.pid = 1000 + static_cast<std::int64_t>(made_ % 7);  // numbers are used again
  shim.start_ticks = made_;
  shim.boot_id = boot_id;
  Shim& kept = shims.emplace(shim.id, shim).first->second;
  order.push_back(shim.id);
  if (release_early)
    go(kept);
  fuse_.moment();
  return Prepared{shim.id, shim.pid, shim.start_ticks, shim.boot_id, "/state/runs/" + shim.id};
}

Result<void> FakeAgents::release(const RunId& run) {
  fuse_.moment();
  const auto found = shims.find(run);
  if (found == shims.end())
    return fail(Errc::not_found, "no such shim");
  if (releasing)
    releasing(found->second.launch);
  if (found->second.state == State::parked)
    go(found->second);
  fuse_.moment();
  return {};
}

void FakeAgents::discard(const RunId& run) {
  fuse_.moment();
  const auto found = shims.find(run);
  if (found != shims.end() && found->second.state == State::parked) {
    shims.erase(found);
    removed_.insert(run);
  }
  fuse_.moment();
}

void FakeAgents::revoke(const RunId& run) {
  fuse_.moment();
  const auto found = shims.find(run);
  if (found != shims.end() && found->second.state == State::parked)
    shims.erase(found);
  fuse_.moment();
}

Result<void> FakeAgents::stop(const Run& run) {
  fuse_.moment();
  const auto found = shims.find(run.id);
  if (found == shims.end() || found->second.state == State::ended)
    return {};
  Shim& shim = found->second;
  if (shim.pid != run.pid || shim.start_ticks != run.start_ticks || shim.boot_id != run.boot_id ||
      run.boot_id != boot_id) {
    faults.push_back("a signal was meant for run " + run.id + " with another identity");
    return fail(Errc::io, "the process is another one");
  }
  if (stop_fails)
    return fail(*stop_fails,
                std::string("no signal was sent: ") +
                    (*stop_fails == Errc::busy ? "try again" : "who it is is in doubt"));
  if (deaf)
    return {};
  if (!shim.stopping)
    deeds_.push_back(Did{Did::What::stop, run.id, {}});
  shim.stopping = true;
  fuse_.moment();
  return {};
}

Found FakeAgents::recover(const Run& run) {
  fuse_.moment();
  const auto found = shims.find(run.id);
  if (removed_.contains(run.id) && run.boot_id == boot_id)
    return {false, end_of(run.id, Outcome::unknown, "run_directory_missing", clock_.at)};
  if (found == shims.end())
    return {false, run.boot_id == boot_id
                       ? end_of(run.id, Outcome::voided, "no_claim", clock_.at)
                       : end_of(run.id, Outcome::interrupted, "machine_down", clock_.at)};
  Shim& shim = found->second;
  if (shim.exit)
    return {false, *shim.exit};
  if (run.boot_id != boot_id)
    return {false, end_of(run.id, Outcome::interrupted, "machine_down", clock_.at)};
  if (shim.lock && !no_lock) {
    shim.watched = true;
    return {true, {}};
  }
  if (!shim.claim)
    return {false, end_of(run.id, Outcome::voided, "no_claim", clock_.at)};
  return {false, end_of(run.id, Outcome::unknown, "shim_killed", clock_.at)};
}

std::optional<Time> FakeAgents::last_output(const Run& run) {
  const auto found = shims.find(run.id);
  return found == shims.end() ? std::nullopt : std::optional<Time>(found->second.began);
}

void FakeAgents::forget(const FlowId& flow) {
  begun_.erase(flow);
}

// ---- providers
// -------------------------------------------------------------------------------------

Result<std::vector<Parked>> FakeProviders::parked() {
  if (sees_nothing || (fails && hides_errors))
    return std::vector<Parked>{};
  if (fails)
    return fail(*fails, *fails == Errc::busy ? "another process locks it" : "it is damaged",
                "daemon.db");
  return rows;
}

Result<void> FakeProviders::write(const Parked& row, bool is_parked) {
  fuse_.moment();
  if (fails || shut)
    return fail(fails ? *fails : *shut, "it cannot be written", "daemon.db");
  std::erase_if(
      rows, [&](const Parked& each) { return each.whose == row.whose && each.login == row.login; });
  if (is_parked) {
    rows.push_back(row);
    if (forgets_run)
      rows.back().run.clear();
    if (in_memory)
      unsaved_.push_back(rows.back());
  }
  fuse_.moment();
  return {};
}

void FakeProviders::daemon_killed() {
  for (const Parked& row : unsaved_)
    std::erase(rows, row);
  unsaved_.clear();
}

Result<void> FakeProviders::park(const Parked& row) {
  return write(row, true);
}

Result<void> FakeProviders::release(const Parked& row) {
  return write(row, false);
}

// ---- requests
// -------------------------------------------------------------------------------------

void FakeRequests::add(Request request) {
  waiting.push_back(std::move(request));
  changed = true;
}

std::vector<Request> FakeRequests::pending(std::vector<std::string>& damaged) {
  fuse_.moment();
  damaged = std::exchange(damage, {});
  std::vector<Request> sorted = waiting;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Request& a, const Request& b) { return a.id < b.id; });
  return sorted;
}

void FakeRequests::answer(const Reply& reply) {
  fuse_.moment();
  const auto [at, fresh] = answered_.emplace(reply.request, reply);
  if (fresh)
    answers.push_back(reply);
  else if (at->second != reply)
    faults.push_back("request " + reply.request + " got two different answers");
  std::erase_if(waiting, [&](const Request& r) { return r.id == reply.request; });
  fuse_.moment();
}

}  // namespace baton::testing
