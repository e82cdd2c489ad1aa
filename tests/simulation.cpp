// SPDX-License-Identifier: Apache-2.0

// The real engine on fakes in a seeded world: agents that succeed, fail, hang, write torn, stale,
// late, invalid or no output; events dropped, doubled and reordered; the daemon killed between any
// two port calls, also while it recovers; power cuts; full disks; operators. After every step the
// promises of src/README.md must hold, and when the world has come to rest nothing may be lost.
//
// A failing seed prints `seed=S step=N` and is replayed by `--first S --seeds 1 --trace`. Each
// mutant takes one piece out of the protocol and must be caught, otherwise the green of the rest
// means nothing.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/registry.h"
#include "seeded_world.h"
#include "toy_dialect.h"

namespace baton::testing {
namespace {

/// Those of the dialect rules, of limits, and of what the fakes promise.
const std::vector<std::string_view> all_mutants = {
    "set_forgotten",   "starts_rejected", "nobody_is_asked", "no_place_of_a_rule",
    "no_last_attempt", "no_budget",       "wrong_identity",  "deaf_shim",
    "admits_all",      "admits_stale",    "away_is_gone"};

struct Counts {
  FlowIndex flow_index;
  std::uint64_t steps = 0;
  std::uint64_t starts = 0;
  std::uint64_t commits = 0;
};

constexpr std::uint32_t kMaxRunning = 2;
constexpr std::uint32_t kMaxAttempts = 3;
constexpr std::uint32_t kFewSpawns = 4;
constexpr Millis kHour{3'600'000};
constexpr int kSteps = 24;
constexpr std::string_view kRules = R"({"rules": [
  {"name": "g", "files": "g.json", "stage": "/{subject}/status", "max_entries": 6, "react": [
    {"to": "pending", "run": "developer"}, {"to": "waiting_qa", "run": "qa_expert"},
    {"to": "waiting_review", "run": "tech_lead"}, {"to": "qa_failed", "run": "developer"}]},
  {"name": "t", "files": "t/{flow}.json", "stage": "/status", "limits": {"max_running": 1}, "react": [
    {"to": "pending", "run": "developer"},
    {"from": "pending", "to": "rejected", "stop": "developer"}]},
  {"name": "s", "files": "s/{flow}.json", "stage": "/status", "max_entries": 6, "react": [
    {"to": "new", "set": {"/status": "ready", "/note": "entry ${entry}"}},
    {"to": "ready", "set": {"/status": "pending"}},
    {"to": "pending", "run": "developer"},
    {"to": "idle", "set": {"/note": "idle ${entry}"}},
    {"to": "complete", "approval": {"rejected": {"/status": "rejected"}}, "set": {"/status": "shipped"}}]}]})";
constexpr std::string_view kPlaceOfRule = R"( "limits": {"max_running": 1},)";
constexpr std::string_view kApproval = R"("approval": {"rejected": {"/status": "rejected"}}, )";

const std::vector<std::string> rule_stages = {"pending",   "waiting_qa", "waiting_review",
                                              "qa_failed", "rejected",   "complete"};
const std::string set_path = "s/x.json";
const FlowId set_flow{"rules", "s/x"};
const std::vector<std::string> set_stages = {"new", "new", "idle", "complete", "rejected"};
const std::string toy_path = "toy/x.json";
const std::vector<std::string> toy_stages = {"work", "next", "both", "log", "rest"};
const std::vector<std::string> owners = {"anna", "ben"};

/// The dialect rules without its memory of what it has set.
Decision forgetting(const View& view) {
  const Json nothing;
  Decision decision = dialect("rules")->decide(with(view, view.docs, nothing, view.options));
  decision.memo = Json();
  return decision;
}

/// The same as if no version were ever rejected.
Decision unrejected(const View& view) {
  FlowState docs = view.docs;
  for (auto& [path, accepted] : docs)
    accepted.rejected.clear();
  View heedless = with(view, docs, view.memo, view.options);
  heedless.rejected.clear();
  return dialect("rules")->decide(heedless);
}

const Dialect& unheeding() {
  static const Dialect rules = [] {
    Dialect changed = *dialect("rules");
    changed.decide = unrejected;
    return changed;
  }();
  return rules;
}

const Dialect& forgetful() {
  static const Dialect rules = [] {
    Dialect changed = *dialect("rules");
    changed.decide = forgetting;
    return changed;
  }();
  return rules;
}

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(),
                     [&](std::string_view end) { return text.ends_with(end); });
}

/// The toy dialect when it takes any version for a good one, or one that lacks what was there.
Dialect careless_toy(std::string_view mutant) {
  Dialect toy = toy_dialect();
  if (mutant == "admits_all")
    toy.admit = [](const View&, const Change&) { return Admission{}; };
  if (mutant == "admits_stale")
    toy.admit = [](const View& view, const Change& change) {
      const Admission admission = toy_dialect().admit(view, change);
      return admission.verdict == Admission::Verdict::merged ? Admission{} : admission;
    };
  return toy;
}

class Simulation {
 public:
  Simulation(std::uint64_t seed, std::string_view mutant, Counts& counts, bool tracing)
      : chance_(seed, mutant, counts.flow_index), tracing_(tracing), counts_(counts) {
    configure();
  }

  std::optional<Fault> run() {
    first_files();
    for (chance_.step = 1; chance_.step <= kSteps && !chance_.fault; ++chance_.step) {
      act();
      daemon();
      check();
      trace();
    }
    if (!chance_.fault)
      rest();
    trace();
    counts_.steps += chance_.step;
    counts_.commits += world_.journal.commits;
    counts_.starts += world_.agents.order.size();
    return chance_.fault;
  }

 private:
  void configure() {
    std::string rules(kRules);
    if (chance_.mutant == "nobody_is_asked")
      rules.erase(rules.find(kApproval), kApproval.size());
    if (chance_.mutant == "no_place_of_a_rule")
      rules.erase(rules.find(kPlaceOfRule), kPlaceOfRule.size());
    const Json options = *parse_json(rules);
    Setup& setup = world_.setup;
    const Dialect* const rules_dialect = chance_.mutant == "set_forgotten"     ? &forgetful()
                                         : chance_.mutant == "starts_rejected" ? &unheeding()
                                                                               : dialect("rules");
    setup.dialects = {{rules_dialect, options}, {&toy_, Json::object()}};
    setup.environment = Environment{"/root", "/root", "/usr/bin/baton"};
    setup.max_running = kMaxRunning;
    setup.retry = RetryLimits{kMaxAttempts, Millis(1000), Millis(4000)};
    if (chance_.mutant == "no_last_attempt")
      ++setup.retry.max_attempts;
    few_spawns_ = random_.one_in(8);
    setup.spawns_per_hour = few_spawns_ && chance_.mutant != "no_budget" ? kFewSpawns : 1000;
    world_.disk.away_is_gone = chance_.mutant == "away_is_gone";
    world_.agents.deaf = chance_.mutant == "deaf_shim";
    world_.journal.mixes_up = chance_.mutant == "wrong_identity";
    setup.on_interrupted = chance_.any_policy();
    for (const char* const role : {"developer", "qa_expert", "tech_lead", "worker"}) {
      AgentSpec spec;
      spec.argv = {std::string("/agents/") + role};
      spec.retry = setup.retry;
      setup.agents[role] = spec;
    }
    setup.schemas = [](std::string_view name) -> Result<std::string> {
      return fail(Errc::not_found, std::string(name));
    };
    world_.journal.after_commit = [this](const Commit& commit) {
      for (const FlowId& flow : commit.forgotten) {
        world_.agents.forget(flow);
        for (const auto& [path, there] : world_.disk.files())
          news_[path].insert(there);
      }
      watch_sets(commit);
      for (const Event& event : commit.events)
        if (event.event == "gone" && world_.disk.away)
          say(text(event.flow) + ": " + event.why + ", while the root is away");
      for (const auto& [row, bytes] : commit.accepted) {
        const bool again = std::exchange(arrivals_[row.path], row.arrival) == row.arrival;
        if (row.writer != "baton" && !again)
          watch_news(row.path, bytes);
        if (row.kind == "state")
          watch_admitted(row.path, bytes);
      }
    };
  }

  /// The files and what was said since the last step, for somebody who replays a seed.
  void trace() {
    if (!tracing_)
      return;
    std::printf("--- step %llu%s\n", static_cast<unsigned long long>(chance_.step),
                world_.engine == nullptr ? ", no daemon" : "");
    for (const auto& [path, bytes] : world_.disk.files())
      std::printf("    %s: %s\n", path.c_str(), bytes.c_str());
    for (const Event& event : std::exchange(world_.observer.events, {}))
      std::printf("  %s %s %s %s: %s\n", event.event.c_str(), text(event.flow).c_str(),
                  event.subject.c_str(), event.run.substr(0, 8).c_str(), event.why.c_str());
  }

  void say(std::string what) { chance_.say(std::move(what)); }

  // ---- what counts as news ----------------------------------------------------------------------

  void write_file(const std::string& path, const std::string& bytes) {
    news_[path].insert(bytes);
    world_.disk.write(path, bytes);
  }

  /// A version is somebody's new one as often as somebody has written it, however late baton looks,
  /// and however long a write of its own waits beside it.
  void watch_news(const std::string& path, const std::string& bytes) {
    // The journal may have lost its end, and with it that it had been accepted.
    if (std::exchange(power_cuts_, counts_.flow_index.power_cuts) != counts_.flow_index.power_cuts)
      for (const auto& [each, there] : world_.disk.files())
        news_[each].insert(there);
    if (news_[path].erase(bytes) == 0)
      say(path + " was taken for news, and nobody has written it since: " + bytes);
  }

  // ---- what the toy dialect admits --------------------------------------------------------------

  void watch_admitted(const std::string& path, const std::string& bytes) {
    for (const std::string& item : items_in(bytes))
      items_[path].insert(item);
    const Json doc = *parse_json(bytes);
    if (json::boolean(*doc, "partial").value_or(false))
      say(path + " is not complete yet, and was accepted");
    const std::string owner(json::text(*doc, "owner").value_or(""));
    if (owner_.value_or(owner) != owner)
      say(path + " has another owner");
    owner_ = owner;
  }

  // ---- what rules set ---------------------------------------------------------------------------

  /// Each entry into a stage lets baton write at most once, and an approval once more.
  void watch_sets(const Commit& commit) {
    for (const Event& event : commit.events)
      if (event.event == "stage" && event.flow == set_flow)
        may_set_ += ends_with_any(event.why, {"new", "ready", "idle"}) ? 1U : 0U;
    // Who had not seen what baton set, and put back what was there, has it set once more.
    for (const Event& event : commit.events)
      may_set_ += event.event == "merged" && event.flow == set_flow ? 1U : 0U;
    for (const Reply& reply : commit.replies)
      if (const auto asked = decisions_.find(reply.request);
          asked != decisions_.end() && reply.accepted) {
        ++may_set_;
        approved_ += asked->second == "approve" ? 1U : 0U;
      }
    for (const auto& [row, bytes] : commit.accepted) {
      if (row.path != set_path)
        continue;
      const std::string now(json::text(**parse_json(bytes), "status").value_or(""));
      if (now == "shipped" && std::exchange(set_status_, now) != now && shipped_++ >= approved_)
        say("shipped, and nobody has approved it");
      set_status_ = now;
    }
  }

  void check_sets() {
    const auto written = std::count_if(
        world_.deeds.begin(), world_.deeds.end(),
        [](const Did& did) { return did.what == Did::What::write && did.path == set_path; });
    if (static_cast<std::size_t>(written) > may_set_)
      say("what is set once per entry was set more often");
  }

  /// What is to be set is set, or there is a reason.
  void set_is_made(const StageRow& row) {
    if (!ends_with_any(row.state.stage, {"new", "ready", "complete"}))
      return;
    static const std::set<Reason> reasons = {
        Reason::by_operator,  Reason::cap_reached,   Reason::existing,       Reason::max_entries,
        Reason::file_missing, Reason::file_rejected, Reason::approval_wanted};
    const FlowRecord& record = world_.engine->records().at(row.flow);
    const bool held =
        record.held || std::any_of(record.holds.begin(), record.holds.end(), [&](const Hold& hold) {
          return reasons.contains(hold.cause.reason);
        });
    if (!held)
      say(text(row.flow) + " is " + row.state.stage + ", and nothing was set");
  }

  // ---- files ------------------------------------------------------------------------------------

  static std::vector<std::string> items_in(const std::string& bytes) {
    std::vector<std::string> items;
    const auto parsed = parse_json(bytes);
    const Value* const list = parsed ? json::child(**parsed, "items") : nullptr;
    if (list != nullptr && list->IsArray())
      for (const Value& item : list->GetArray())
        items.emplace_back(json::text(item).value_or(""));
    return items;
  }

  /// What an agent or a person reads before it writes: the file, or what was last whole.
  Json document(const std::string& path) {
    const std::string* const bytes = world_.disk.file(path);
    auto parsed = bytes == nullptr ? Result<Json>(Json::object()) : parse_json(*bytes);
    if (parsed && (*parsed)->IsObject())
      return std::move(*parsed);
    const auto accepted = world_.journal.tables.accepted.find(path);
    if (accepted == world_.journal.tables.accepted.end())
      return Json::object();
    return *parse_json(accepted->second.second);
  }

  Json moved(Json doc, const std::string& path, const Subject& subject) {
    ++versions_;
    const Json number(static_cast<std::uint64_t>(versions_));
    if (path == "g.json")
      return doc.set(subject, Json::object({{"status", random_.pick(rule_stages)}, {"n", number}}));
    if (path.starts_with("t/"))
      return doc.set("status", Json(random_.pick(rule_stages))).set("n", number);
    // Somebody may have his own mind about what baton has set.
    if (path == set_path && json::text(*doc, "status") == "idle" && random_.one_in(2))
      return doc.set("note", "mine").set("n", number);
    if (path == set_path)
      return doc.set("status", Json(random_.pick(set_stages))).set("n", number);
    Json list = Json::array();
    if (const Value* const items = json::child(*doc, "items"); items != nullptr)
      list = Json(*items);
    if (random_.one_in(2))
      list.push(Json("item" + std::to_string(versions_)));
    if (random_.one_in(12))
      doc.set("owner", random_.pick(owners));
    doc.set("partial", Json(random_.one_in(12)));
    return doc.set("stage", Json(random_.pick(toy_stages))).set("items", list).set("n", number);
  }

  void write(const std::string& path, const Json& doc) {
    const std::string text = doc.dump();
    const std::size_t how = random_.below(12);
    if (how == 0)
      write_file(path, text.substr(0, random_.below(text.size())));  // torn
    else if (how == 1)
      write_file(path, "{\"status\": 1, \"status\": 2}");
    else if (how == 2 && !path.starts_with("toy/"))
      world_.disk.remove(path);
    else
      write_file(path, text);
  }

  /// Through a descriptor of a version that baton has replaced; whoever does it has seen that one.
  void write_late() {
    const std::string& path = random_.one_in(2) ? set_path : toy_path;
    const auto older = static_cast<std::int64_t>(random_.below(2));
    const std::string* const there = world_.disk.former(path, older);
    auto doc = there == nullptr ? Result<Json>(fail(Errc::not_found, "")) : parse_json(*there);
    if (doc && (*doc)->IsObject())
      world_.disk.write_late(path, moved(*std::move(doc), path, "A").dump(),
                             world_.clock.at + Millis(random_.below(4000)), older);
  }

  std::string any_path() {
    static const std::vector<std::string> paths = {"g.json", "g.json", "t/a.json", "t/b.json",
                                                   toy_path, set_path, set_path};
    return random_.pick(paths);
  }

  static std::string path_of(const Key& key) {
    if (key.flow.dialect == "toy")
      return "toy/" + key.flow.name + ".json";
    return key.flow.name + ".json";
  }

  void first_files() {
    for (int i = 0; i < 3; ++i) {
      const std::string path = any_path();
      write(path, moved(document(path), path, random_.one_in(2) ? "A" : "B"));
    }
  }

  // ---- what happens -----------------------------------------------------------------------------

  void act() {
    for (const FakeAgents::Shim* const shim : world_.agents.in(FakeAgents::State::running))
      read_at_start_.try_emplace(shim->id, document(path_of(shim->launch.key)));
    switch (random_.below(17)) {
      case 0:
      case 1:
      case 2: {
        const std::string path = any_path();
        write(path, moved(document(path), path, random_.one_in(2) ? "A" : "B"));
        break;
      }
      case 3:
      case 4:
      case 5:
      case 6:
      case 7:
        agent();
        break;
      case 8:
        world_.clock.advance(Millis(random_.below(3000)));
        break;
      case 9:
        world_.fuse.light(1 + random_.below(14));
        break;
      case 10:
        trouble();
        break;
      case 11:
        request();
        break;
      case 12:
        if (random_.one_in(chance_.mutant == "no_sync" ? 2 : 6))
          chance_.power_cut();
        else
          world_.journal.sync();
        break;
      case 13:
        world_.agents.claim_delay = Millis(random_.one_in(2) ? 0 : random_.below(1500));
        break;
      case 14:
        lose_events_ = random_.below(3) * 4;
        break;
      case 15:
        write_late();
        break;
      default:
        world_.clock.advance(Millis(60));
    }
    world_.agents.tick();
  }

  void trouble() {
    world_.journal.fails.reset();
    world_.disk.full = false;
    world_.disk.away = false;
    world_.agents.prepare_fails.reset();
    world_.agents.stop_fails.reset();
    switch (random_.below(8)) {
      case 0:
        world_.journal.fails = Errc::no_space;
        world_.disk.full = random_.one_in(2);
        break;
      case 1:
        world_.disk.full = true;
        break;
      case 2:
        world_.agents.prepare_fails = Errc::busy;
        break;
      case 3:
        world_.disk.list_fails = Errc::busy;
        break;
      case 4:
        world_.agents.stop_fails = random_.one_in(2) ? Errc::io : Errc::busy;
        break;
      case 5: {
        const std::string path = any_path();
        if (const std::string* const there = world_.disk.file(path); there != nullptr)
          news_[path].insert(world_.disk.racing[path] = moved(document(path), path, "A").dump());
        break;
      }
      case 6:
        world_.disk.away = true;
        break;
      default:
        break;
    }
  }

  void request() {
    static const std::vector<std::string> verbs = {"pause",   "resume",  "resume", "stop",
                                                   "retry",   "retry",   "forget", "poke",
                                                   "approve", "approve", "reject"};
    static const std::vector<FlowId> flows = {
        {"rules", "g"}, {"rules", "t/a"}, {"rules", "t/b"}, {"toy", "x"}, {}, set_flow, set_flow};
    Request request;
    request.id = "request-" + std::to_string(100 + requests_++);
    request.verb = random_.pick(verbs);
    request.flow = random_.pick(flows);
    request.made = world_.clock.at;
    if (request.flow == set_flow && (request.verb == "approve" || request.verb == "reject"))
      decisions_[request.id] = request.verb;
    world_.requests.add(request);
  }

  void agent() {
    const auto running = world_.agents.in(FakeAgents::State::running);
    if (running.empty())
      return;
    FakeAgents::Shim& shim = *random_.pick(running);
    const std::string path = path_of(shim.launch.key);
    const Subject& subject = shim.launch.key.subject;
    RunEnd end;
    end.outcome = Outcome::succeeded;
    end.exit_code = 0;
    switch (random_.below(8)) {
      case 0:
      case 1:
        write(path, moved(document(path), path, subject));
        return;  // goes on running: hangs, or writes again
      case 2:
      case 3:
        write(path, moved(document(path), path, subject));
        break;
      case 4:  // knows nothing of what others wrote meanwhile
        write(path, moved(read_at_start_.at(shim.id), path, subject));
        break;
      case 5:
        end.outcome = random_.one_in(2) ? Outcome::failed : Outcome::timed_out;
        break;
      case 6:
        world_.agents.kill_shim(shim.id);
        return;
      default:
        break;  // nothing was done
    }
    if (shim.stopping) {
      end.outcome = Outcome::interrupted;
      end.signal = 15;
    }
    world_.agents.finish(shim.id, end);
  }

  // ---- the daemon -------------------------------------------------------------------------------

  void daemon() {
    if (world_.engine == nullptr) {
      queue_.clear();
      if (!random_.one_in(3))
        chance_.guarded([&] { return world_.start(); });
      return;
    }
    for (Input& input : world_.inputs())
      queue_.push_back(std::move(input));
    std::vector<Input> now;
    for (Input& input : std::exchange(queue_, {})) {
      if (random_.one_in(5)) {
        queue_.push_back(input);  // comes later
        if (random_.one_in(2))
          now.push_back(std::move(input));  // and now
        continue;
      }
      const bool hint = !std::holds_alternative<RunEnded>(input);
      if (!(hint && lose_events_ > 0 && random_.one_in(lose_events_)))
        now.push_back(std::move(input));
    }
    for (std::size_t i = now.size(); i > 1; --i)
      std::swap(now[i - 1], now[random_.below(i)]);
    if (random_.one_in(10))
      now.emplace_back(Rescan{random_.one_in(2) ? "timer" : "overflow"});
    chance_.guarded([&] { return world_.engine->step(now); });
    for (int i = 0; i < 4 && world_.engine != nullptr && world_.engine->pending(); ++i)
      chance_.guarded([&] { return world_.engine->step({}); });
  }

  // ---- what must hold ---------------------------------------------------------------------------

  std::size_t live() {
    return world_.agents.in(FakeAgents::State::running).size() +
           world_.agents.in(FakeAgents::State::going).size();
  }

  void check() {
    chance_.check();
    check_sets();
    if (live() > kMaxRunning)
      say("more agents run than are allowed");
    check_rule();
    check_attempts();
    if (few_spawns_)
      check_budgets();
  }

  /// The rule `t` has one place for all its flows.
  void check_rule() {
    std::size_t running = 0;
    for (const auto& [id, shim] : world_.agents.shims)
      running +=
          (shim.state == FakeAgents::State::running || shim.state == FakeAgents::State::going) &&
                  shim.launch.key.flow.name.starts_with("t/")
              ? 1U
              : 0U;
    if (running > 1)
      say("more agents of one rule run than it allows");
  }

  /// In this life of a key: what was forgiven counts no more.
  void check_attempts() {
    std::map<Key, std::uint32_t> attempts;
    for (const Run& run : world_.journal.tables.runs)
      if (!run.forgiven && run.outcome != Outcome::voided && run.outcome != Outcome::stopped &&
          run.outcome != Outcome::succeeded && ++attempts[run.key] > kMaxAttempts)
        say(text(run.key) + " was attempted more often than is allowed");
  }

  void check_budgets() {
    std::map<FlowId, std::uint32_t> spawns;
    for (const Run& run : world_.journal.tables.runs) {
      const auto control = world_.journal.tables.controls.find(run.key.flow);
      const Time resumed =
          control == world_.journal.tables.controls.end() ? Time{} : control->second.resumed_at;
      if (run.outcome != Outcome::voided && run.started >= resumed &&
          run.started > world_.clock.at - kHour && ++spawns[run.key.flow] > kFewSpawns)
        say(text(run.key.flow) + " has started more agents within an hour than it may");
    }
  }

  /// All trouble ends; agents end without a word; after a while nothing moves any more.
  void rest() {
    world_.fuse.cut();
    chance_.calm();
    if (Json toy = document(toy_path); json::boolean(*toy, "partial").value_or(false))
      write_file(toy_path, toy.set("partial", Json(false)).dump());
    if (world_.engine == nullptr)
      chance_.guarded([&] { return world_.start(); });
    if (chance_.fault)
      return;
    // What was lost so far stays lost as an event; the scan every minute finds it.
    world_.clock.advance(Millis(60'000));
    if (lose_events_ > 0)
      world_.disk.changes.clear();
    chance_.guarded([&] { return world_.engine->step(std::exchange(queue_, {})); });
    chance_.guarded([&] { return world_.engine->step({Rescan{"timer"}}); });
    stops_are_heard();
    for (int i = 0; i < 100 && !chance_.fault; ++i) {
      chance_.guarded([&] { return world_.settle(); });
      check();
      if (live() == 0 && world_.engine->quiet())
        return at_rest();
      for (const FakeAgents::Shim* const shim : world_.agents.in(FakeAgents::State::running)) {
        RunEnd end;
        end.outcome = random_.one_in(2) ? Outcome::succeeded : Outcome::failed;
        world_.agents.finish(shim->id, end);
      }
      chance_.guarded([&] { return world_.pass(Millis(2500)); });
    }
    say("the world never comes to rest");
  }

  void at_rest() {
    files_are_known();
    for (const auto& [at, row] : world_.journal.tables.stages)
      stage_is_served(row);
    for (const Run& run : world_.journal.tables.runs)
      if (run.live())
        say("run " + run.id + " has ended and the journal does not know");
    for (const Request& request : world_.requests.waiting)
      say("request " + request.id + " (" + request.verb + ") was never answered");
    // One that gave way to what is no version stays open, for the next daemon has to know.
    for (const auto& [id, intent] : world_.journal.tables.intents)
      if (!world_.journal.tables.rejected.contains(intent.path) &&
          world_.disk.file(intent.path) != nullptr)
        say("an intended write is still open: " + intent.path);
    items_are_there();
    log_is_in_order();
    if (!chance_.fault)
      chance_.check_restart();
  }

  /// Whoever is to end has been told so within a minute, however often telling failed before.
  void stops_are_heard() {
    chance_.guarded([&] { return world_.pass(Millis(60'000)); });
    for (const Run& run : world_.journal.tables.runs) {
      const auto shim = world_.agents.shims.find(run.id);
      if (run.state == RunState::stopping && shim != world_.agents.shims.end() &&
          shim->second.state == FakeAgents::State::running && !shim->second.stopping)
        say("run " + run.id + " is to end and was never told");
    }
  }

  /// Every file is accepted as it stands, or rejected as it stands, or known to be gone.
  void files_are_known() {
    const FakeJournal::Tables& tables = world_.journal.tables;
    for (const auto& [path, bytes] : world_.disk.files()) {
      const Digest digest = digest_of(bytes);
      const auto accepted = tables.accepted.find(path);
      const auto rejected = tables.rejected.find(path);
      const bool known = accepted != tables.accepted.end() && accepted->second.first.present &&
                         accepted->second.first.digest == digest;
      const bool refused = rejected != tables.rejected.end() && rejected->second.digest == digest;
      if (!known && !refused)
        say("nobody knows what stands in " + path + ": " + bytes);
    }
    for (const auto& [path, row] : tables.accepted)
      if (row.first.present && world_.disk.file(path) == nullptr)
        say(path + " is gone and nobody knows");
  }

  static std::optional<Role> role_for(const FlowId& flow, const Word& stage) {
    if (flow.dialect == "toy")
      return stage == "work" || stage == "both" ? std::optional<Role>("worker") : std::nullopt;
    if (stage == "pending")
      return "developer";
    if (flow.name != "g")
      return std::nullopt;
    if (stage == "waiting_qa")
      return "qa_expert";
    if (stage == "waiting_review")
      return "tech_lead";
    return stage == "qa_failed" ? std::optional<Role>("developer") : std::nullopt;
  }

  /// Nothing lost: who is wanted has run, or there is a reason, and the reason is true.
  void stage_is_served(const StageRow& row) {
    stage_is_told(row);
    if (row.flow == set_flow)
      set_is_made(row);
    const auto role = role_for(row.flow, row.state.stage);
    if (!role)
      return;
    const std::string what = text(row.flow) + "#" + row.subject + " in " + row.state.stage;
    const FlowRecord& record = world_.engine->records().at(row.flow);
    const auto hold = std::find_if(record.holds.begin(), record.holds.end(), [&](const Hold& h) {
      return h.role == *role && h.subject == row.subject;
    });
    if (hold == record.holds.end())
      return say(what + " was entered, and nobody was started");
    std::uint32_t failures = 0;
    bool done = false;
    const Run* last = nullptr;
    for (const Run& run : world_.journal.tables.runs) {
      if (run.key != Key{row.flow, *role, row.subject, row.state.generation, 0} ||
          run.outcome == Outcome::voided)
        continue;
      last = &run;
      if (run.forgiven)
        continue;
      done = done || run.outcome == Outcome::succeeded;
      failures += run.outcome != Outcome::succeeded && run.outcome != Outcome::stopped ? 1 : 0;
    }
    const auto control = [&](Control wanted) {
      const auto& controls = world_.journal.tables.controls;
      const auto own = controls.find(row.flow);
      const auto root = controls.find(FlowId{});
      return (own != controls.end() && own->second.control == wanted) ||
             (root != controls.end() && root->second.control == wanted);
    };
    const std::string path = path_of(Key{row.flow, {}, row.subject, 0, 0});
    const std::map<Reason, bool> truths = {
        {Reason::no_change, done},
        {Reason::attempts_exhausted, failures >= kMaxAttempts},
        {Reason::interrupted, last != nullptr && last->outcome == Outcome::interrupted &&
                                  world_.setup.on_interrupted != OnInterrupted::retry &&
                                  (world_.setup.on_interrupted != OnInterrupted::fail ||
                                   hold->cause.condition == Condition::failed)},
        {Reason::by_operator, control(Control::pause) || control(Control::stop)},
        {Reason::write_conflict, control(Control::pause)},
        {Reason::cap_reached, control(Control::pause)},
        {Reason::max_entries, row.state.entries > 6},
        {Reason::settling, world_.disk.file(path) == nullptr},
        {Reason::file_rejected,
         row.flow.dialect == "rules" && world_.journal.tables.rejected.contains(path)},
        {Reason::files, std::any_of(record.accepted.begin(), record.accepted.end(),
                                    [](const auto& a) { return !a.second.present; })},
    };
    const auto truth = truths.find(hold->cause.reason);
    if (truth == truths.end() || !truth->second)
      say(what + " is held for a reason that is not true at rest: " + text(hold->cause) + ", " +
          hold->why);
  }

  /// The journal's stage is the one of the document in force.
  void stage_is_told(const StageRow& row) {
    const std::string path = path_of(Key{row.flow, {}, row.subject, 0, 0});
    const auto accepted = world_.journal.tables.accepted.find(path);
    if (accepted == world_.journal.tables.accepted.end())
      return say("the document of " + text(row.flow) + " is not there");
    const auto doc = parse_json(accepted->second.second);
    const std::string pointer = row.flow.dialect == "toy" ? "/stage"
                                : path == "g.json"        ? "/" + row.subject + "/status"
                                                          : "/status";
    const Value* const stage = json::at(**doc, pointer);
    const std::string notified(stage == nullptr ? "" : json::text(*stage).value_or(""));
    if (notified != row.state.stage)
      say(text(row.flow) + "#" + row.subject + " is " + notified + " and taken for " +
          row.state.stage);
  }

  void items_are_there() {
    for (const auto& [path, all] : items_) {
      const auto accepted = world_.journal.tables.accepted.find(path);
      if (accepted == world_.journal.tables.accepted.end())
        continue;
      const std::vector<std::string> left = items_in(accepted->second.second);
      for (const std::string& item : all)
        if (std::find(left.begin(), left.end(), item) == left.end())
          say("an update was lost: " + item + " of " + path);
    }
  }

  void log_is_in_order() {
    const std::string* const log = world_.disk.file("toy/x.log");
    if (log == nullptr)
      return;
    std::int64_t before = 0;
    std::size_t at = 0;
    while (at < log->size()) {
      const std::size_t end = log->find('\n', at);
      const auto line = parse_json(std::string_view(*log).substr(at, end - at));
      const std::int64_t now = line ? json::integer(**line, "generation").value_or(0) : 0;
      if (now <= before)
        say("the log has a line twice or out of order: " + *log);
      before = now;
      at = end == std::string::npos ? log->size() : end + 1;
    }
  }

  SeededWorld chance_;
  World& world_ = chance_.world;
  Random& random_ = chance_.random;
  bool tracing_;
  Counts& counts_;
  std::vector<Input> queue_;  ///< events on their way
  std::size_t lose_events_ = 0;
  bool few_spawns_ = false;
  const Dialect toy_ = careless_toy(chance_.mutant);
  std::uint64_t versions_ = 0;
  std::uint64_t requests_ = 0;
  std::map<RunId, Json> read_at_start_;  ///< its document, as an agent has found it
  std::optional<std::string> owner_;     ///< of the toy's document
  std::map<std::string, std::set<std::string>> items_;
  std::map<std::string, std::set<std::string>> news_;  ///< written by others and not accepted yet
  std::map<std::string, Arrival> arrivals_;            ///< of what was accepted
  std::uint64_t power_cuts_ = 0;
  std::map<std::string, Word> decisions_;  ///< by request
  std::size_t may_set_ = 0;
  std::size_t approved_ = 0;
  std::size_t shipped_ = 0;
  std::string set_status_;
};

std::string summary(const Counts& counts) {
  return std::to_string(counts.flow_index.worlds) + " seeds, " + std::to_string(counts.steps) +
         " steps, " + std::to_string(counts.starts) + " starts, " +
         std::to_string(counts.flow_index.crashes) + " crashes, " +
         std::to_string(counts.flow_index.power_cuts) + " power cuts, " +
         std::to_string(counts.commits) + " commits";
}

int simulate(const std::vector<std::string>& words) {
  Counts counts;
  Sweep all;
  all.program = "baton_simulation";
  all.seeds = 20'000;
  all.mutants = protocol_mutants();
  all.mutants.insert(all.mutants.end(), all_mutants.begin(), all_mutants.end());
  all.trial = [&](std::uint64_t seed, std::string_view mutant, bool trace) {
    return Simulation(seed, mutant, counts, trace).run();
  };
  all.summary = [&] { return summary(counts); };
  return sweep(all, words);
}

}  // namespace
}  // namespace baton::testing

int main(int count, char** values) {
  return baton::testing::simulate(std::vector<std::string>(values + 1, values + count));
}
