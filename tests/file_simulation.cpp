// SPDX-License-Identifier: Apache-2.0

// The real engine on fakes in a seeded world in which people, git, editors and logrotate treat two
// files as they do: a log to which lines are appended (torn, several at once), which is rotated and
// trimmed, and of which lines go away and come back; and a ticket of which git puts back earlier
// versions. Each line that asks for work gets it once and in order, each ticket is worked once, and
// what git puts back starts nothing.
//
// A failing seed prints `seed=S step=N` and is replayed by `--first S --seeds 1 --trace`. Each
// mutant must be caught, otherwise the green of the rest means nothing.

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/registry.h"
#include "seeded_world.h"

namespace baton::testing {
namespace {

const std::vector<std::string_view> all_mutants = {
    "release_before_commit", "no_lock",      "by_event",    "last_line_only",
    "forgets_place",         "forgets_tail", "git_is_news", "needs_nobody"};

struct Counts {
  FlowIndex flow_index;
  std::uint64_t starts = 0;
  std::uint64_t lines = 0;
  std::uint64_t edits = 0;
  std::uint64_t reverts = 0;
};

constexpr int kSteps = 40;
constexpr int kRounds = 400;
const std::string log_path = "log/a.jsonl";
const std::string former_path = "log/a.jsonl.1";
const std::string ticket_path = "t/a.json";
constexpr std::string_view kRules = R"({"rules": [
  {"name": "log", "files": "log/{flow}.jsonl", "stage": "/s", "max_entries": 0,
   "react": [{"to": "go", "run": "worker"}]},
  {"name": "t", "files": "t/{flow}.json", "stage": "/s", "max_entries": 0, "done": ["done"],
   "react": [{"to": "go", "run": "worker"}]}]})";

/// The dialect rules when it takes a log for a document.
const Dialect& of_last_lines() {
  static const Dialect rules = [] {
    Dialect changed = *dialect("rules");
    changed.files = [](const Json& options) {
      auto kinds = dialect("rules")->files(options);
      for (FileKind& kind : kinds)
        if (kind.log == LogReading::entries)
          kind.log = LogReading::last;
      return kinds;
    };
    return changed;
  }();
  return rules;
}

std::string version(const std::string& stage, std::uint64_t number) {
  return Json::object({{"s", stage}, {"n", number}}).dump();
}

class RealFiles {
  using Shim = FakeAgents::Shim;

 public:
  RealFiles(std::uint64_t seed, std::string_view mutant, Counts& counts, bool tracing)
      : chance_(seed, mutant, counts.flow_index), counts_(counts), tracing_(tracing) {
    configure();
  }

  std::optional<Fault> run() {
    append("rest");
    show_log();
    world_.disk.write(ticket_path, version("rest", ++numbers_));
    chance_.settle();
    for (chance_.step = 1; chance_.step <= kSteps && !chance_.fault; ++chance_.step) {
      happen();
      chance_.deliver();
      chance_.check();
      trace();
    }
    if (!chance_.fault)
      rest();
    counts_.starts += world_.agents.order.size();
    counts_.lines += lines_.size();
    return chance_.fault;
  }

 private:
  void configure() {
    Setup& setup = world_.setup;
    const bool last = chance_.mutant == "last_line_only";
    setup.dialects = {
        {last ? &of_last_lines() : dialect("rules"), *parse_json(std::string(kRules))}};
    setup.environment = Environment{"/root", "/root", "/usr/bin/baton"};
    setup.retry = RetryLimits{3, Millis(1000), Millis(4000)};
    setup.spawns_per_hour = 100'000;
    setup.act_on_reverted = chance_.mutant == "git_is_news";
    AgentSpec spec;
    spec.argv = {"/agents/worker"};
    spec.retry = setup.retry;
    setup.agents["worker"] = spec;
    setup.schemas = [](std::string_view name) -> Result<std::string> {
      return fail(Errc::not_found, std::string(name));
    };
    world_.agents.releasing = [this](const Launch& launch) { begins(launch.key); };
    world_.journal.after_commit = [this](const Commit& commit) {
      for (const auto& [row, bytes] : commit.accepted)
        if (row.path == ticket_path)
          tickets_.push_back(bytes);
      for (auto& [flow, logs] : world_.journal.tables.logs) {
        if (chance_.mutant == "forgets_place")
          logs.files.clear();
        if (chance_.mutant == "forgets_tail")
          for (auto& [path, log] : logs.files)
            log.tail.clear();
        if (chance_.mutant == "needs_nobody")
          for (auto& [path, why] : logs.changed)
            why.clear();
      }
    };
  }

  void trace() {
    if (!tracing_)
      return;
    std::printf("--- step %llu%s\n", static_cast<unsigned long long>(chance_.step),
                world_.engine == nullptr ? ", no daemon" : "");
    for (const auto& [path, bytes] : world_.disk.files())
      std::printf("    %s:\n%s\n", path.c_str(), bytes.c_str());
    for (const Event& event : std::exchange(world_.observer.events, {}))
      std::printf("  %s %s %s: %s\n", event.event.c_str(), text(event.flow).c_str(),
                  event.run.substr(0, 8).c_str(), event.why.c_str());
  }

  // ---- what is promised
  // ---------------------------------------------------------------------------

  std::uint64_t number_in_force(const std::string& path) const {
    const auto row = world_.journal.tables.accepted.find(path);
    const auto json = row == world_.journal.tables.accepted.end()
                          ? Result<Json>(fail(Errc::not_found, ""))
                          : parse_json(row->second.second);
    return json ? static_cast<std::uint64_t>(json::integer(**json, "n").value_or(0)) : 0;
  }

  /// An agent is let go.
  void begins(const Key& key) {
    const bool is_log = key.flow.name == "log/a";
    const std::uint64_t number = number_in_force(is_log ? log_path : ticket_path);
    const auto [known, first] = entries_.emplace(number, key.generation);
    if (!first && known->second != key.generation)
      chance_.say(std::to_string(number) + " is worked again");
    if (is_log && first && number < std::exchange(newest_, number))
      chance_.say("line " + std::to_string(number) + " is worked after a later one");
  }

  /// Of the lines, those whose stage is another one than that of the line before.
  void check_lines() {
    std::string before;
    for (const auto& [stage, number] : lines_)
      if (std::exchange(before, stage) != stage && (stage == "go") != (entries_.count(number) == 1))
        chance_.say("line " + std::to_string(number) + " asks for " + stage + " and was " +
                    (stage == "go" ? "not " : "") + "worked");
  }

  // ---- the log
  // ------------------------------------------------------------------------------------

  void append(const std::string& stage) {
    lines_.emplace_back(stage, ++numbers_);
    file_ += version(stage, numbers_) + "\n";
  }

  void show_log() { world_.disk.write(log_path, file_); }

  /// Another file takes the place of the log, as editors, `mv` and git do it.
  void replace_log(const std::string& bytes) {
    ++counts_.edits;
    world_.disk.write("elsewhere", bytes);
    world_.disk.rename("elsewhere", log_path);
  }

  /// Where the line in force ends in the file; npos: it does not stand there.
  std::size_t end_of_read() const {
    const std::uint64_t number = number_in_force(log_path);
    for (const auto& [stage, each] : lines_) {
      const std::string line = version(stage, each) + "\n";
      if (const auto found = file_.find(line); each == number && found != std::string::npos)
        return found + line.size();
    }
    return std::string::npos;
  }

  void write_lines() {
    if (torn_ > 0)
      torn_ = 0;
    else
      for (std::size_t count = 1 + random_.below(4); count > 0; --count)
        append(random_.one_in(2) ? "go" : "rest");
    if (random_.one_in(4))
      torn_ = 1 + random_.below(6);
    world_.disk.write(log_path, file_.substr(0, file_.size() - torn_));
  }

  /// Two edits before baton has looked once are more than it promises to follow.
  void one_at_a_time() {
    if (std::exchange(edited_, true))
      all_leave();
  }

  /// Removes lines from the begin that were read.
  void trim() {
    one_at_a_time();
    const std::size_t read = end_of_read();
    if (read == std::string::npos || read < 2 || torn_ > 0)
      return;
    const std::size_t begin = file_.rfind('\n', read - 2);
    std::size_t cut = begin == std::string::npos ? 0 : begin + 1;
    if (const auto sooner = file_.find('\n'); cut > 0 && random_.one_in(2))
      cut = sooner + 1;
    file_.erase(0, cut);
    replace_log(file_);
  }

  /// Lines that were read go away, as by `git stash` or in an editor, others are appended to what
  /// is left, and then all lines are there again. Nothing follows from that but the new lines.
  void damage() {
    if (std::exchange(damaged_, false))
      return replace_log(file_);
    one_at_a_time();
    const std::size_t read = end_of_read();
    if (read == std::string::npos || torn_ > 0)
      return;
    std::size_t from = read;
    for (std::size_t lines = 1 + random_.below(3); lines > 0 && from > 0; --lines) {
      const auto end = from < 2 ? std::string::npos : file_.rfind('\n', from - 2);
      from = end == std::string::npos ? 0 : end + 1;
    }
    std::string left = file_.substr(0, from);
    // If the first lines go, the others are read on.
    if (from > 0 && random_.one_in(2))
      left += file_.substr(file_.find('\n', from) + 1);
    damaged_ = true;
    replace_log(left);
    if (!random_.one_in(3))
      return;
    const std::size_t end = file_.size();
    append(random_.one_in(2) ? "go" : "rest");
    if (!left.empty())
      world_.disk.write(log_path, left + file_.substr(end));
  }

  void rotate() {
    one_at_a_time();
    const std::string* const former = world_.disk.file(former_path);
    const bool drained = former == nullptr || end_of_read() != std::string::npos;
    if (!drained || torn_ > 0)
      return;
    ++counts_.edits;
    if (random_.one_in(2)) {
      world_.disk.rename(log_path, former_path);
      world_.disk.remove(log_path);
    } else {
      world_.disk.write("elsewhere", file_);
      world_.disk.rename("elsewhere", former_path);
    }
    file_.clear();
    // Perhaps the next writer makes the new file.
    if (world_.disk.file(log_path) != nullptr || random_.one_in(2))
      show_log();
  }

  // ---- the ticket
  // ---------------------------------------------------------------------------------

  bool asks_for_work() const {
    return !world_.disk.by_git.contains(ticket_path) &&
           world_.disk.file(ticket_path)->find(R"("go")") != std::string::npos;
  }

  void put_by_git(const std::string& bytes) {
    ++counts_.reverts;
    world_.disk.write("elsewhere", bytes);
    world_.disk.rename("elsewhere", ticket_path);
    world_.disk.by_git.insert(ticket_path);
  }

  void leave(const Shim& shim) {
    RunEnd end;
    const bool fails = random_.one_in(5) && failed_.insert(shim.launch.key).second;
    end.exit_code = fails ? 1 : 0;
    end.outcome = fails ? Outcome::failed : Outcome::succeeded;
    end.reason = fails ? "exit_1" : "";
    const std::string* const ticket = world_.disk.file(ticket_path);
    const bool has_ticket = !fails && shim.launch.key.flow.name == "t/a" && ticket != nullptr;
    for (const auto& [number, generation] : entries_)
      if (has_ticket && generation == shim.launch.key.generation &&
          *ticket == version("go", number))
        world_.disk.write(ticket_path, version("done", number));
    world_.agents.finish(shim.id, end);
  }

  // ---- what happens
  // -------------------------------------------------------------------------------

  void happen() {
    switch (random_.below(14)) {
      case 0:
      case 1:
      case 2:
        if (!damaged_)
          write_lines();
        break;
      case 3:
        if (!damaged_)
          trim();
        break;
      case 4:
        damage();
        break;
      case 5:
        if (!damaged_)
          rotate();
        break;
      case 6:
        // A version that says `go` again is no new entry.
        if (!asks_for_work())
          world_.disk.write(ticket_path, version("go", ++numbers_));
        break;
      case 7:
      case 8:
        if (!tickets_.empty())
          put_by_git(random_.pick(tickets_));
        world_.disk.index_locked = random_.one_in(3);
        break;
      case 9:
        world_.fuse.light(1 + random_.below(14));
        break;
      case 10:
        world_.clock.advance(Millis(random_.below(3000)));
        break;
      default:
        if (const auto running = world_.agents.in(FakeAgents::State::running); !running.empty())
          leave(*random_.pick(running));
        world_.clock.advance(Millis(60));
    }
    world_.agents.tick();
  }

  /// What keeps a flow from going on.
  std::string held(const std::string& flow) const {
    std::string all;
    if (world_.engine != nullptr)
      for (const Hold& hold : world_.engine->records().at(FlowId{"rules", flow}).holds)
        all += "; " + std::string(word(hold.cause.reason)) + ": " + hold.why;
    return all;
  }

  void all_leave() {
    for (int round = 0; round < kRounds && !chance_.fault; ++round) {
      chance_.settle();
      chance_.guarded([&] { return world_.pass(Millis(5000)); });
      const auto running = world_.agents.in(FakeAgents::State::running);
      if (running.empty())
        return;
      for (const Shim* const shim : running)
        leave(*shim);
    }
  }

  void rest() {
    world_.disk.index_locked = false;
    if (damaged_)
      damage();
    torn_ = 0;
    if (const std::string* const log = world_.disk.file(log_path); log == nullptr || file_ != *log)
      show_log();
    all_leave();
    world_.disk.write(ticket_path, version("rest", ++numbers_));
    all_leave();
    world_.disk.write(ticket_path, version("go", ++numbers_));
    const std::uint64_t last = numbers_;
    all_leave();
    chance_.check();
    check_lines();
    if (entries_.count(last) != 1 || *world_.disk.file(ticket_path) != version("done", last))
      chance_.say("the last ticket was not worked" + held("t/a"));
    chance_.check_known();
    chance_.check_restart();
  }

  SeededWorld chance_;
  World& world_ = chance_.world;
  Random& random_ = chance_.random;
  Counts& counts_;
  bool tracing_;
  std::uint64_t numbers_ = 0;
  std::uint64_t newest_ = 0;
  std::vector<std::pair<std::string, std::uint64_t>> lines_;  ///< all that were ever appended
  std::string file_;      ///< the log as its writers think it is
  std::size_t torn_ = 0;  ///< so many bytes of it are still to be written
  bool edited_ = false;
  bool damaged_ = false;                            ///< lines that were read are not there
  std::map<std::uint64_t, std::uint64_t> entries_;  ///< number → generation that was worked
  std::set<Key> failed_;
  std::vector<std::string> tickets_;  ///< all versions that were accepted
};

int simulate(const std::vector<std::string>& words) {
  Counts counts;
  Sweep all;
  all.program = "baton_file_simulation";
  all.mutants = all_mutants;
  all.trial = [&](std::uint64_t seed, std::string_view mutant, bool trace) {
    return RealFiles(seed, mutant, counts, trace).run();
  };
  all.summary = [&] {
    return std::to_string(counts.flow_index.worlds) + " worlds, " + std::to_string(counts.starts) +
           " starts, " + std::to_string(counts.lines) + " lines, " + std::to_string(counts.edits) +
           " edits and rotations, " + std::to_string(counts.reverts) +
           " versions put back by git, " + std::to_string(counts.flow_index.crashes) + " crashes";
  };
  return sweep(all, words);
}

}  // namespace
}  // namespace baton::testing

int main(int count, char** values) {
  return baton::testing::simulate(std::vector<std::string>(values + 1, values + count));
}
