// SPDX-License-Identifier: Apache-2.0

// Agents of several providers in a seeded world: they succeed, fail, meet limits with and without a
// time, limits of one model, overload and refused logins, and print their prompt; agents share
// providers and stand in for each other; other daemons meet limits, people clear them; daemon.db is
// locked, damaged or not writable for a while; the clock moves; the daemon is killed between any
// two port calls, also between what it writes into daemon.db and into the journal.
//
// Nothing of a provider starts while it has a limit, a limit costs no attempt and leaves nothing in
// the files, people hear of it once, and it is never lost. When the limits are over, each flow ends
// with each piece of work done once. Each mutant must be caught. A failing seed prints `seed=S
// step=N` and is replayed by `--first S --seeds 1 --trace`.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/adapter.h"
#include "config/registry.h"
#include "provider_mutants.h"
#include "seeded_world.h"

namespace baton::testing {
namespace {

constexpr int kSteps = 90;
constexpr int kRounds = 200;
constexpr std::uint32_t kMaxAttempts = 4;
/// So many runs of one piece of work may fail, so that no attempts are used up by them.
constexpr std::size_t kMostFailures = kMaxAttempts - 1;
constexpr Millis kFirstProbe = std::chrono::minutes(15);
constexpr Millis kMostExtra = std::chrono::seconds(90);
constexpr Millis kLongestProbe = std::chrono::hours(5);

constexpr const char* kWorkflow = R"(name: w
steps:
  - {id: plan, agent: worker, prompt: p}
  - {id: build, agent: worker, prompt: p, needs: [plan]}
  - {id: check, agent: reviewer, prompt: p, needs: [plan]}
)";
const std::vector<std::string> all_steps = {"plan", "build", "check"};
const std::vector<std::string> all_runs = {"r1", "r2"};
const std::vector<std::string> all_tickets = {"a", "b", "c"};
constexpr std::string_view kRules = R"({"rules": [
  {"name": "t", "files": "t/{flow}.json", "stage": "/status", "react": [
    {"to": "pending", "run": "developer"}, {"to": "waiting_qa", "run": "qa_expert"}]}]})";

struct Counts {
  FlowIndex flow_index;
  std::uint64_t starts = 0;
  std::map<Outcome, std::uint64_t> ends;
  std::uint64_t stood_in = 0;
};

/// What an agent reports at its end.
enum class End { success, failure, limit_until, limit, model_limit, overload, login, echo, mute };

/// One agent of the configuration.
struct Player {
  Role role;
  std::string_view adapter;
  ProviderAccount account;
  std::vector<Role> fallback;
};
const std::vector<Player> players = {
    {"worker", "claude", {"anthropic", "a", "sonnet"}, {"worker_codex", "worker_opus"}},
    {"worker_codex", "codex", {"openai", "", ""}, {}},
    {"worker_opus", "claude", {"anthropic", "b", "opus"}, {}},
    {"reviewer", "claude", {"anthropic", "a", "opus"}, {}},
    {"developer", "codex", {"openai", "", ""}, {"worker"}},
    {"qa_expert", "claude", {"anthropic", "a", "sonnet"}, {}},
};

const Player& player(const Role& role) {
  return *std::find_if(players.begin(), players.end(),
                       [&](const Player& each) { return each.role == role; });
}

/// A limit as this simulation remembers it, without the eyes of core/provider_limits.
struct Known {
  bool login = false;
  Time since{};                      ///< of a login: when it was refused
  std::optional<bool> told = false;  ///< nothing: it may be a new limit, or the one before
  std::optional<Time> until;         ///< at least
  Time surely_over{};                ///< at the latest
};
using LimitKey = std::pair<ProviderAccount, bool>;  ///< whose, and whether it is a refused login
using Limits = std::map<LimitKey, Known>;

bool covers(const ProviderAccount& limited, const ProviderAccount& agent) {
  return limited.provider == agent.provider && limited.account == agent.account &&
         (limited.model.empty() || limited.model == agent.model);
}

class ManyProviders {
 public:
  ManyProviders(std::uint64_t seed, std::string_view mutant, Counts& counts, bool tracing)
      : chance_(seed, mutant, counts.flow_index), counts_(counts), tracing_(tracing) {
    configure();
  }

  std::optional<Fault> run() {
    first_files();
    for (chance_.step = 1; chance_.step <= kSteps && !chance_.fault; ++chance_.step) {
      happen();
      turn();
      check();
      trace();
    }
    for (int round = 0; round < kRounds && !chance_.fault && !over(); ++round, ++chance_.step) {
      rest();
      trace();
    }
    if (!chance_.fault)
      at_rest();
    for (const Run& run : world_.journal.tables.runs) {
      ++counts_.ends[run.outcome];
      counts_.stood_in += !run.agent.empty() && run.agent != run.key.role ? 1U : 0U;
    }
    counts_.starts += world_.agents.order.size();
    return chance_.fault;
  }

 private:
  using Shim = FakeAgents::Shim;

  void configure() {
    Setup& setup = world_.setup;
    setup.dialects = {{dialect("rules"), *parse_json(kRules)},
                      {&provider_dialect(chance_.mutant), Json::object()}};
    setup.environment = Environment{"/root", "/root", "/usr/bin/baton"};
    setup.max_running = 6;
    setup.spawns_per_hour = 100'000;
    setup.retry = RetryLimits{kMaxAttempts, Millis(1000), Millis(4000)};
    setup.on_interrupted = OnInterrupted::retry;
    setup.act_on_existing = true;
    setup.schemas = [](std::string_view name) -> Result<std::string> {
      return fail(Errc::not_found, std::string(name));
    };
    for (const Player& each : players) {
      AgentSpec spec;
      spec.argv = {"/agents/" + each.role};
      spec.adapter = provider_adapter(chance_.mutant, each.adapter);
      spec.provider = each.account.provider;
      spec.account = each.account.account;
      spec.model = each.account.model;
      spec.fallback = each.fallback;
      spec.retry = setup.retry;
      spec.max_transient = 1000;
      setup.agents[each.role] = spec;
    }
    // Which of several runs tells of a limit that they met together is checked for one commit.
    world_.limits.ends = 0;
    world_.providers.in_memory = chance_.mutant == "kept_in_memory";
    world_.providers.sees_nothing = chance_.mutant == "sees_no_limit";
    world_.providers.hides_errors = chance_.mutant == "starts_blindly";
    world_.providers.forgets_run = chance_.mutant == "forgets_who_met";
    world_.journal.after_commit = [this](const Commit& commit) { committed(commit); };
    world_.journal.before_commit = [this,
                                    before = world_.journal.before_commit](const Commit& commit) {
      if (before)
        before(commit);
      for (const Run& run : commit.runs)
        if (!before_.contains(run.id))
          before_[run.id] = stand_before(run);
    };
    world_.agents.releasing = [this, before = world_.agents.releasing](const Launch& launch) {
      before(launch);
      released(launch);
    };
  }

  void say(std::string what) { chance_.say(std::move(what)); }

  void trace() {
    if (!tracing_)
      return;
    std::printf("--- step %llu, %s%s%s\n", static_cast<unsigned long long>(chance_.step),
                iso_time(world_.clock.at).c_str(), world_.engine == nullptr ? ", no daemon" : "",
                world_.providers.fails || world_.providers.shut ? ", no daemon.db" : "");
    for (const Parked& row : world_.providers.rows)
      std::printf("    %s/%s/%s %s until %s, %u times, by %s\n", row.whose.provider.c_str(),
                  row.whose.account.c_str(), row.whose.model.c_str(), row.login ? "login" : "limit",
                  row.until ? iso_time(*row.until).c_str() : "-", row.times,
                  row.run.substr(0, 8).c_str());
    for (const Event& event : std::exchange(world_.observer.events, {}))
      std::printf("  %s %s %s %s %s: %s\n", event.event.c_str(), text(event.flow).c_str(),
                  event.subject.c_str(), event.role.c_str(), event.run.substr(0, 8).c_str(),
                  event.why.c_str());
  }

  // ---- files ------------------------------------------------------------------------------------

  static std::string folder(const std::string& run) { return ".agents/runs/" + run; }
  static std::string ticket(const std::string& name) { return "t/" + name + ".json"; }

  void first_files() {
    chance_.guarded([&] { return world_.start(); });
    for (const std::string& name : all_tickets)
      world_.disk.write(ticket(name), R"({"status": "pending"})");
    Json prompts = Json::object();
    for (const std::string& step : all_steps)
      prompts.set(step, "Do it.");
    for (const std::string& run : all_runs) {
      Request request;
      request.id = "request-" + run;
      request.verb = "start";
      request.flow = FlowId{"agent_run", run};
      request.arguments = Json::object({{"workflow", kWorkflow},
                                        {"prompts", prompts},
                                        {"max_attempts", std::int64_t{kMaxAttempts}}});
      world_.requests.add(request);
    }
  }

  Json accepted(const std::string& path) const {
    const auto row = world_.journal.tables.accepted.find(path);
    return row == world_.journal.tables.accepted.end() ? Json() : *parse_json(row->second.second);
  }

  /// Where the work of a key stands by its files: `status` and counts of a step, or the ticket.
  std::string stand_of(const Key& key) const {
    if (key.flow.dialect == "rules") {
      const Json ticket = accepted(key.flow.name + ".json");
      return ticket.is_null() ? "" : ticket.dump();
    }
    const Json state = accepted(folder(key.flow.name) + "/run_state.json");
    const Value* const step = json::at(*state, "/steps/" + key.subject);
    if (step == nullptr)
      return "";
    std::string all;
    for (const char* const name : {"status", "iteration_count", "attempts"})
      if (const Value* const value = json::child(*step, name))
        all += std::string(name) + "=" + json::dump(*value) + " ";
    return all;
  }

  // ---- agents -----------------------------------------------------------------------------------

  static std::string report(const Shim& shim, const std::string& now) {
    const Key& key = shim.launch.key;
    return Json::object({{"schema", "run_report@v0"},
                         {"run_id", key.flow.name},
                         {"step_id", key.subject},
                         {"agent", key.role},
                         {"status", "COMPLETED"},
                         {"started_at", now},
                         {"ended_at", now},
                         {"artifacts", Json::array().push(Json("x/" + shim.id))},
                         {"logs", Json::array()}})
        .dump();
  }

  void do_work(const Shim& shim) {
    const Key& key = shim.launch.key;
    worked_.insert(shim.id);
    if (key.flow.dialect == "rules")
      return world_.disk.write(key.flow.name + ".json", key.role == "developer"
                                                            ? R"({"status": "waiting_qa"})"
                                                            : R"({"status": "done"})");
    world_.disk.write(
        folder(key.flow.name) + "/reports/" + key.flow.name + "__" + key.subject + ".json",
        report(shim, iso_time(world_.clock.at)));
  }

  bool short_steps() const { return world_.limits.files != 0; }

  /// What the files said before the run was started. A start that was void has left its mark. So
  /// has one that met a limit, if its end was committed before all files had been looked at.
  std::string stand_before(const Run& run) const {
    const auto& runs = world_.journal.tables.runs;
    const auto last = std::find_if(runs.rbegin(), runs.rend(), [&](const Run& other) {
      return is_same_work(other.key, run.key);
    });
    const bool marked = last != runs.rend() && (last->live() || last->outcome == Outcome::voided ||
                                                (says_nothing(last->outcome) && short_steps()));
    return marked ? before_.at(last->id) : stand_of(run.key);
  }

  /// A workflow repeats a step under a new key, and counts its attempts itself.
  static bool is_same_work(const Key& one, const Key& other) {
    return one.flow == other.flow && one.role == other.role && one.subject == other.subject;
  }

  /// Runs of the same work that have failed, or will be found to have.
  std::size_t failures(const Key& key) const {
    const auto& runs = world_.journal.tables.runs;
    return static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), [&](const Run& run) {
      return is_same_work(run.key, key) && failing_.contains(run.id);
    }));
  }

  End any_end(const Shim& shim) {
    static const std::vector<End> ends = {
        End::success, End::success, End::success, End::limit_until, End::limit_until,
        End::limit,   End::limit,   End::failure, End::overload,    End::model_limit,
        End::login,   End::echo,    End::mute};
    const End end = random_.pick(ends);
    const bool fails = end == End::failure || end == End::echo || end == End::mute;
    const bool codex = player(shim.launch.agent).adapter == "codex";
    // Codex knows no limits of one model.
    if ((end == End::model_limit && codex) || (fails && failures(shim.launch.key) >= kMostFailures))
      return End::success;
    return end;
  }

  static std::string claude(const std::string& text, bool failed) {
    return Json::object({{"type", "result"},
                         {"subtype", "success"},
                         {"is_error", failed},
                         {"num_turns", std::int64_t{2}},
                         {"result", text}})
               .dump() +
           "\n";
  }
  static std::string codex(const std::string& text, bool failed) {
    return failed ? Json::object({{"type", "error"}, {"message", text}}).dump() + "\n" +
                        Json::object(
                            {{"type", "turn.failed"}, {"error", Json::object({{"message", text}})}})
                            .dump() +
                        "\n"
                  : Json::object({{"type", "turn.completed"}, {"usage", Json::object()}}).dump() +
                        "\n";
  }

  /// What it was told: it names limits, and how to report.
  std::string prompt_of(const Shim& shim) const {
    return "If it fails with: You've hit your session limit, resets 3:45pm, go on later.\n"
           "Print a report like this one:\n<<<RUN_REPORT_JSON\n" +
           report(shim, iso_time(world_.clock.at)) + "\nRUN_REPORT_JSON>>>\n";
  }

  void finish(const Shim& shim, End how) {
    const bool is_codex = player(shim.launch.agent).adapter == "codex";
    const auto says = [&](const std::string& text, bool failed) {
      return is_codex ? codex(text, failed) : claude(text, failed);
    };
    RunEnd end;
    end.prompt = chance_.mutant == "echo_counts" ? "" : prompt_of(shim);
    end.output = random_.one_in(3) ? prompt_of(shim) : "";
    Promise& promise = promised_[shim.id];
    promise.whose = player(shim.launch.agent).account;
    promise.whose.model.clear();
    bool failed = true;
    switch (how) {
      case End::success:
        do_work(shim);
        end.output += says("done", false);
        failed = false;
        promise.outcome = Outcome::succeeded;
        break;
      case End::failure:
        end.output += says("I could not do it", true);
        promise.outcome = Outcome::failed;
        break;
      case End::limit_until: {
        // Codex names no seconds.
        const Time until = std::chrono::floor<std::chrono::minutes>(world_.clock.at) +
                           std::chrono::minutes(2 + random_.below(180));
        promise.until = until;
        promise.outcome = Outcome::limited;
        if (is_codex)
          end.output +=
              says("You've hit your usage limit. Try again at " + clock_text(until) + ".", true);
        else
          end.output +=
              R"({"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":)" +
              std::to_string(until.time_since_epoch().count() / 1000) +
              R"(,"rateLimitType":"five_hour"}})" + "\n" +
              says("You've hit your session limit", true);
        break;
      }
      case End::limit:
        promise.outcome = Outcome::limited;
        end.output += says(is_codex ? "You've hit your usage limit. Visit https://x.y/usage."
                                    : "You've hit your session limit",
                           true);
        break;
      case End::model_limit:
        promise.outcome = Outcome::limited;
        promise.whose = player(shim.launch.agent).account;
        end.output += says("You've hit your Opus limit", true);
        break;
      case End::overload:
        promise.outcome = Outcome::transient;
        end.output +=
            is_codex ? says("stream disconnected before completion: 503 Service Unavailable", true)
                     : says("API Error: 529 Overloaded. Try again.", true);
        break;
      case End::login:
        promise.outcome = Outcome::auth;
        end.output += says(
            is_codex ? "unexpected status 401 Unauthorized" : "Not logged in · Please run /login",
            true);
        break;
      case End::echo:
        end.output = prompt_of(shim);
        failed = false;
        promise.outcome = Outcome::failed;
        break;
      case End::mute:
        end.output.clear();
        failed = false;
        promise.outcome = Outcome::failed;
        break;
    }
    // Claude Code says in its result that it failed, whatever its exit status is.
    end.exit_code = failed && (is_codex || random_.one_in(2)) ? 1 : 0;
    end.outcome = end.exit_code == 0 ? Outcome::succeeded : Outcome::failed;
    end.reason = end.exit_code == 0 ? "" : "exit_1";
    if (promise.outcome == Outcome::failed)
      failing_.insert(shim.id);
    world_.agents.finish(shim.id, end);
  }

  /// `3:51 PM`, in UTC.
  static std::string clock_text(Time time) {
    const auto minutes =
        std::chrono::floor<std::chrono::minutes>(time.time_since_epoch()).count() % (24 * 60);
    const auto hour = minutes / 60;
    char text[16];
    std::snprintf(text, sizeof text, "%d:%02d %s",
                  static_cast<int>(hour % 12 == 0 ? 12 : hour % 12), static_cast<int>(minutes % 60),
                  hour < 12 ? "AM" : "PM");
    return text;
  }

  // ---- what happens -----------------------------------------------------------------------------

  void happen() {
    world_.agents.tick();
    const auto running = world_.agents.in(FakeAgents::State::running);
    switch (random_.below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5:
        if (!running.empty()) {
          const Shim& shim = *random_.pick(running);
          finish(shim, any_end(shim));
        }
        break;
      case 6:
      case 7:
        world_.clock.advance(std::chrono::minutes(random_.below(20)));
        break;
      case 8:
        world_.clock.advance(std::chrono::minutes(random_.below(300)));
        break;
      case 9:
      case 10:
        world_.fuse.light(1 + random_.below(16));
        break;
      case 11:
        daemon_db();
        break;
      case 12:
        person();
        break;
      case 13:
        other_daemon();
        break;
      case 14:
        world_.journal.fails = random_.one_in(2) ? std::optional(Errc::no_space) : std::nullopt;
        break;
      default:
        world_.clock.advance(Millis(1500));
    }
    world_.agents.tick();
  }

  /// The daemon's turn. Events that get lost are the subject of the other simulations.
  void turn() {
    if (world_.engine == nullptr) {
      if (!random_.one_in(3))
        chance_.guarded([&] { return world_.start(); });
      return;
    }
    chance_.guarded([&] { return world_.engine->step(world_.inputs()); });
    for (int i = 0; i < 4 && world_.engine != nullptr && world_.engine->pending(); ++i)
      chance_.guarded([&] { return world_.engine->step({}); });
  }

  void daemon_db() {
    world_.providers.fails.reset();
    world_.providers.shut.reset();
    switch (random_.below(4)) {
      case 0:
        world_.providers.fails = Errc::busy;
        break;
      case 1:
        world_.providers.fails = Errc::io;
        break;
      case 2:
        world_.providers.shut = random_.one_in(2) ? Errc::busy : Errc::no_space;
        break;
      default:
        break;
    }
  }

  /// `baton limits --clear PROVIDER`, or `baton resume --agent NAME`.
  void person() {
    if (world_.providers.fails || world_.providers.shut)
      return;
    const ProviderAccount whose = random_.pick(players).account;
    const bool all = random_.one_in(2);
    const auto cleared = [&](const ProviderAccount& row) {
      return all ? row.provider == whose.provider : covers(row, whose);
    };
    std::erase_if(world_.providers.rows, [&](const Parked& row) { return cleared(row.whose); });
    std::erase_if(limits_, [&](const auto& row) { return cleared(row.first.first); });
  }

  /// Another daemon of the same folder has met a limit, and told it.
  void other_daemon() {
    if (world_.providers.fails || world_.providers.shut)
      return;
    Run run;
    run.id = "other" + std::to_string(++others_);
    run.started = run.ended = world_.clock.at;
    ProviderAccount whose = random_.pick(players).account;
    if (random_.one_in(2))
      whose.model.clear();
    auto& rows = world_.providers.rows;
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const Parked& each) {
      return each.whose == whose && !each.login;
    });
    const auto named =
        random_.one_in(2)
            ? std::nullopt
            : std::optional<Time>(world_.clock.at + std::chrono::minutes(random_.below(90)));
    const auto before = row == rows.end() ? std::nullopt : std::optional(*row);
    const Parked now = parked_by_limit(before, whose, named, run, "elsewhere");
    if (row != rows.end())
      rows.erase(row);
    rows.push_back(now);
    const bool told = is_told_by(before, run);
    Known& known = met(whose, false, named, run.ended);
    if (told)
      known.told = true;
  }

  // ---- what must hold ---------------------------------------------------------------------------

  /// Enters a limit that was met at `ended`. `named`: when it ends by the program.
  Known& met(const ProviderAccount& whose, bool login, std::optional<Time> named, Time ended) {
    const auto [row, fresh] = limits_.try_emplace({whose, login});
    Known& known = row->second;
    known.login = login;
    if (login)
      return known;
    if (!fresh && *known.until <= ended)
      known.told = known.surely_over <= ended ? std::optional(false) : std::nullopt;
    // Who meets a limit that may be in force already, and names no time, changes nothing.
    const bool is_new = fresh || known.surely_over <= ended;
    const Time until = named.value_or(is_new ? ended + kFirstProbe : Time{});
    known.until = fresh ? until : std::max(*known.until, until);
    known.surely_over =
        std::max(known.surely_over, std::max(until, ended + kLongestProbe) + kMostExtra);
    return known;
  }

  static bool in_force(const Known& known, Time now) { return !known.until || *known.until > now; }

  void committed(const Commit& commit) {
    std::map<LimitKey, RunId> now;  ///< what was met, and by whom
    for (const Run& run : commit.runs)
      if (const auto known = run.live() ? std::nullopt : ended(run)) {
        now[*known] = run.id;
        for (const Event& event : commit.events)
          if (event.run == run.id &&
              (event.event == "provider_limit" || event.event == "login_refused"))
            told(event);
      }
    for (const auto& [key, run] : now) {
      const auto known = limits_.find(key);
      if (known == limits_.end())
        continue;  // a success in the same commit proved it over
      if (!known->second.told.value_or(true))
        say("nobody was told of the limit that run " + run + " met");
      known->second.told = true;
    }
    for (const Run& run : commit.runs)
      if (run.live() && run.state == RunState::started)
        started(run);
  }

  /// What the run has met; nothing: no limit, or it is known already.
  std::optional<LimitKey> ended(const Run& run) {
    const auto promise = promised_.find(run.id);
    if (promise == promised_.end() || !settled_.insert(run.id).second)
      return std::nullopt;
    if (run.outcome != promise->second.outcome)
      say("run " + run.id + " of `" + run.agent + "` is " + std::string(word(run.outcome)) +
          " and reported " + std::string(word(promise->second.outcome)));
    if (run.outcome == Outcome::succeeded)
      std::erase_if(limits_, [&](const auto& row) {
        const Time over = row.second.login ? row.second.since : row.second.surely_over;
        return covers(row.first.first, player(run.agent).account) && over <= run.started;
      });
    const bool login = run.outcome == Outcome::auth;
    if (run.outcome != Outcome::limited && !login)
      return std::nullopt;
    const LimitKey key{promise->second.whose, login};
    Known& known = met(promise->second.whose, login, promise->second.until, run.ended);
    // A run that was started later was a new try.
    if (login && run.started >= known.since) {
      known.since = run.ended;
      known.told = false;
    }
    return key;
  }

  void told(const Event& event) {
    const auto promise = promised_.find(event.run);
    if (promise == promised_.end())
      return;
    const bool login = event.event == "login_refused";
    const auto row = limits_.find({promise->second.whose, login});
    if (row == limits_.end())
      return say("people were told of a limit that nobody met: " + event.why);
    if (row->second.told.value_or(false))
      say("people were told twice of one limit of " + row->first.first.provider + ": " + event.why);
    row->second.told = true;
  }

  /// A limit uses up no attempt.
  void started(const Run& run) {
    if (!known_runs_.insert(run.id).second)
      return;
    // The file may have come in the same step, and baton writes nothing into it.
    if (run.key.flow.dialect == "rules")
      before_[run.id] = stand_of(run.key);
    const Run* last = nullptr;
    std::size_t failed = 0;
    for (const Run& other : world_.journal.tables.runs) {
      if (!is_same_work(other.key, run.key) || other.id == run.id ||
          other.outcome == Outcome::voided)
        continue;
      last = &other;
      failed += says_nothing(other.outcome) ? 0U : 1U;
    }
    if (last != nullptr && says_nothing(last->outcome) && run.attempt != last->attempt)
      say("run " + last->id + " ended as " + std::string(word(last->outcome)) +
          " and used up attempt " + std::to_string(last->attempt) + " of " + text(run.key));
    if (run.attempt > failed + 1)
      say(text(run.key) + " is at attempt " + std::to_string(run.attempt) + " after " +
          std::to_string(failed) + " that count");
  }

  void released(const Launch& launch) {
    if (world_.providers.fails)
      say("an agent was started while daemon.db could not be read");
    const ProviderAccount& agent = player(launch.agent).account;
    for (const auto& [whose, known] : limits_)
      if (covers(whose.first, agent) && in_force(known, world_.clock.at))
        say("`" + launch.agent + "` was started, and " + agent.provider +
            (known.login ? " refuses its login" : " has a limit until " + iso_time(*known.until)));
    // The place for "a cap is exceeded by more than what the runs at work may still cost".
  }

  void check() {
    chance_.check();
    check_files();
    check_attempts();
    check_logins();
  }

  /// A success whose commit failed has ended a refused login all the same: a run that was at work
  /// meanwhile may enter it again, and tell it again.
  void check_logins() {
    for (auto& [key, known] : limits_) {
      const auto is_row = [&key = key](const Parked& row) {
        return row.login && row.whose == key.first;
      };
      if (known.login &&
          std::none_of(world_.providers.rows.begin(), world_.providers.rows.end(), is_row))
        known.told.reset();
    }
  }

  /// What baton wrote at the start of a run that met a limit is taken back.
  void check_files() {
    if (world_.engine == nullptr || world_.engine->pending() || world_.journal.fails ||
        !world_.journal.tables.intents.empty())
      return;
    std::map<std::pair<FlowId, Subject>, const Run*> last;
    for (const Run& run : world_.journal.tables.runs)
      last[{run.key.flow, run.key.subject}] = &run;
    for (const auto& [subject, run] : last)
      if (!run->live() && says_nothing(run->outcome) && !before_.at(run->id).empty() &&
          stand_of(run->key) != before_.at(run->id))
        say("run " + run->id + " ended as " + std::string(word(run->outcome)) + " and left " +
            text(run->key) + " as " + stand_of(run->key) + "; before it was " +
            before_.at(run->id));
  }

  void check_attempts() {
    if (world_.engine == nullptr)
      return;
    for (const auto& [flow, record] : world_.engine->records())
      for (const Hold& hold : record.holds)
        if (hold.cause.condition == Condition::failed)
          say(text(flow) + " has failed, and it had attempts left: " + hold.why);
  }

  // ---- the end ----------------------------------------------------------------------------------

  bool over() {
    if (world_.engine == nullptr || !world_.agents.in(FakeAgents::State::running).empty())
      return false;
    const bool tickets =
        std::all_of(all_tickets.begin(), all_tickets.end(), [&](const std::string& name) {
          return json::text(*accepted(ticket(name)), "status") == "done";
        });
    return tickets && std::all_of(all_runs.begin(), all_runs.end(), [&](const std::string& run) {
             return json::text(*accepted(folder(run) + "/run_state.json"), "status") == "COMPLETED";
           });
  }

  /// All trouble ends; people log in again; time passes until the limits are over.
  void rest() {
    chance_.calm();
    world_.fuse.cut();
    world_.providers.fails.reset();
    world_.providers.shut.reset();
    std::erase_if(world_.providers.rows, [](const Parked& row) { return row.login; });
    std::erase_if(limits_, [](const auto& row) { return row.second.login; });
    chance_.settle();
    for (const Shim* const shim : world_.agents.in(FakeAgents::State::running))
      finish(*shim, End::success);
    chance_.settle();
    check();
    world_.clock.advance(std::chrono::minutes(10));
    chance_.settle();
    check();
  }

  void at_rest() {
    if (!over())
      return say("the limits are over, and the flows never come to their end");
    std::map<std::array<std::string, 3>, std::size_t> done;
    for (const Run& run : world_.journal.tables.runs) {
      if (run.live())
        say("run " + run.id + " has ended and the journal does not know");
      if (run.outcome != Outcome::succeeded)
        continue;
      ++done[{run.key.flow.name, run.key.role, run.key.subject}];
      if (!worked_.contains(run.id))
        say("run " + run.id + " succeeded, and did no work");
    }
    for (const auto& [work, times] : done)
      if (times > 1)
        say("the work of " + work[1] + " on " + work[0] + "/" + work[2] + " was done " +
            std::to_string(times) + " times");
    const std::size_t wanted = all_runs.size() * all_steps.size() + all_tickets.size() * 2;
    if (done.size() != wanted)
      say(std::to_string(done.size()) + " pieces of work were done of " + std::to_string(wanted));
    if (!chance_.fault)
      chance_.check_restart();
  }

  /// How a run ends by what its program prints.
  struct Promise {
    Outcome outcome = Outcome::none;
    ProviderAccount whose;
    std::optional<Time> until;
  };

  SeededWorld chance_;
  World& world_ = chance_.world;
  Random& random_ = chance_.random;
  Counts& counts_;
  bool tracing_;
  Limits limits_;
  std::map<RunId, Promise> promised_;
  std::set<RunId> settled_;     ///< whose end the journal knows
  std::set<RunId> known_runs_;  ///< whose start it knows
  std::set<RunId> failing_;
  std::set<RunId> worked_;
  std::map<RunId, std::string> before_;  ///< `stand_of` its work before it was started; may be ""
  std::uint64_t others_ = 0;
};

int simulate(const std::vector<std::string>& words) {
  Counts counts;
  Sweep all;
  all.program = "baton_provider_simulation";
  all.mutants = provider_mutants();
  all.trial = [&](std::uint64_t seed, std::string_view mutant, bool trace) {
    return ManyProviders(seed, mutant, counts, trace).run();
  };
  all.summary = [&] {
    std::string ends;
    for (const auto& [outcome, count] : counts.ends)
      ends += ", " + std::to_string(count) + " " + std::string(word(outcome));
    return std::to_string(counts.flow_index.worlds) + " worlds, " + std::to_string(counts.starts) +
           " starts" + ends + ", " + std::to_string(counts.stood_in) + " stood in, " +
           std::to_string(counts.flow_index.crashes) + " crashes";
  };
  return sweep(all, words);
}

}  // namespace
}  // namespace baton::testing

int main(int count, char** values) {
  return baton::testing::simulate(std::vector<std::string>(values + 1, values + count));
}
