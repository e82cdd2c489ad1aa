// SPDX-License-Identifier: Apache-2.0
#include "seeded_world.h"

#include <utility>

#include "engine/perform/write_settlement.h"
#include "remembered.h"

namespace baton::testing {

const std::vector<std::string_view>& protocol_mutants() {
  static const std::vector<std::string_view> all = {
      "release_before_commit", "no_claim", "no_lock", "no_sync", "by_event",
      "write_before_journal"};
  return all;
}

SeededWorld::SeededWorld(std::uint64_t seed, std::string_view with_mutant, FlowIndex& of_all)
    : random(seed), mutant(with_mutant), flow_index(of_all) {
  world.agents.release_early = mutant == "release_before_commit";
  world.agents.no_claim = mutant == "no_claim";
  world.agents.no_lock = mutant == "no_lock";
  world.journal.no_sync = mutant == "no_sync";
  world.disk.blind = mutant == "by_event";
  if (mutant == "write_before_journal")
    world.journal.before_commit = [this](const Commit& commit) {
      for (const Intent& intent : commit.intents)
        (void)perform(world.disk, intent);
    };
  if (seed % 2 == 0)
    world.limits = kOneFile;
  ++flow_index.worlds;
}

void SeededWorld::say(std::string what) {
  if (!fault)
    fault = Fault{step, std::move(what)};
}

void SeededWorld::guarded(const std::function<Result<void>()>& work) {
  try {
    if (auto done = work(); !done)
      say("the daemon ended: " + describe(done.error()));
  } catch (const DaemonKilled&) {
    ++flow_index.crashes;
    world.kill();
  }
}

OnInterrupted SeededWorld::any_policy() {
  const std::size_t policy = random.below(3);
  return policy == 0   ? OnInterrupted::hold
         : policy == 1 ? OnInterrupted::retry
                       : OnInterrupted::fail;
}

void SeededWorld::trouble() {
  calm();
  switch (random.below(6)) {
    case 0:
      world.journal.fails = Errc::no_space;
      world.disk.full = random.one_in(2);
      break;
    case 1:
      world.disk.full = true;
      break;
    case 2:
      world.agents.prepare_fails = Errc::busy;
      break;
    case 3:
      world.disk.list_fails = Errc::busy;
      break;
    case 4:
      world.disk.away = true;
      break;
    default:
      world.agents.claim_delay = Millis(random.below(1500));
  }
}

void SeededWorld::calm() {
  world.journal.fails.reset();
  world.disk.full = false;
  world.disk.away = false;
  world.disk.racing.clear();
  world.disk.list_fails.reset();
  world.agents.prepare_fails.reset();
  world.agents.stop_fails.reset();
  world.agents.claim_delay = Millis(0);
}

void SeededWorld::power_cut() {
  ++flow_index.power_cuts;
  world.fuse.cut();
  world.power_cut();
  world.requests.changed = true;
}

void SeededWorld::deliver() {
  if (mutant == "no_sync" && random.one_in(6))
    world.journal.sync();
  if (world.engine == nullptr) {
    if (!random.one_in(3))
      guarded([&] { return world.start(); });
    return;
  }
  std::vector<Input> inputs;
  for (Input& input : world.inputs()) {
    if (std::holds_alternative<FileChanged>(input) && random.one_in(5))
      continue;
    inputs.push_back(input);
    if (random.one_in(8))
      inputs.push_back(std::move(input));
  }
  for (std::size_t i = inputs.size(); i > 1; --i)
    std::swap(inputs[i - 1], inputs[random.below(i)]);
  if (random.one_in(6))
    inputs.emplace_back(Rescan{random.one_in(2) ? "timer" : "overflow"});
  guarded([&] { return world.engine->step(inputs); });
  for (int i = 0; i < 4 && world.engine != nullptr && world.engine->pending(); ++i)
    guarded([&] { return world.engine->step({}); });
}

void SeededWorld::settle() {
  world.fuse.cut();
  calm();
  if (world.engine == nullptr)
    guarded([&] { return world.start(); });
  if (mutant != "by_event" && world.engine != nullptr)
    guarded([&] { return world.engine->step({Rescan{"overflow"}}); });
  guarded([&] { return world.settle(); });
}

void SeededWorld::check() {
  for (const std::string& broken : world.faults())
    say(broken);
}

void SeededWorld::check_known() {
  const FakeJournal::Tables& tables = world.journal.tables;
  for (const auto& [path, bytes] : world.disk.files()) {
    if (!path.ends_with(".json") || path.find("/inbox/archive/") != std::string::npos)
      continue;  // backups, artifacts, what was put away: written, never read
    const auto accepted = tables.accepted.find(path);
    const auto rejected = tables.rejected.find(path);
    if ((accepted == tables.accepted.end() || accepted->second.second != bytes) &&
        (rejected == tables.rejected.end() || rejected->second.digest != digest_of(bytes)))
      say("nobody knows what stands in " + path);
  }
}

void SeededWorld::check_restart() {
  // A mutant is to be caught by what it does, and not by what it knows.
  if (const auto otherwise = remembered_otherwise(world); otherwise && mutant.empty())
    say(*otherwise);
  const FakeJournal::Tables before = world.journal.tables;
  world.deeds.clear();
  for (int i = 0; i < 2; ++i) {
    world.kill();
    guarded([&] { return world.start(); });
    guarded([&] { return world.settle(); });
  }
  const FakeJournal::Tables& after = world.journal.tables;
  if (!world.deeds.empty())
    say("a restart at rest started, stopped or wrote something");
  if (before.runs != after.runs || before.stages != after.stages ||
      before.accepted != after.accepted || before.controls != after.controls)
    say("a restart at rest changed the journal");
  check();
}

View with(const View& view, const FlowState& docs, const Json& memo, const Json& options) {
  View other{view.flow,     docs,    view.stages, view.runs, memo,
             view.requests, options, view.env,    view.now,  view.wall};
  other.rejected = view.rejected;
  other.rejected_digests = view.rejected_digests;
  other.control = view.control;
  other.refused = view.refused;
  return other;
}

}  // namespace baton::testing
