// Workflows in a seeded world: agents that write the whole state from the copy they began with,
// give scores that do not do, fail, leave without a word or tear the file; people who approve, ask
// for changes and answer; events that are lost; a daemon that is killed anywhere. A failing seed is
// printed; it gives the same world again.

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "base/gzip.h"
#include "random.h"
#include "world.h"

namespace baton::testing {
namespace {

constexpr std::uint64_t kSeeds = 60;
constexpr int kEvents = 60;
constexpr int kRounds = 200;
constexpr std::size_t kMostBytes = 1U << 20U;

std::string folder_of(const std::string& name) {
  return "workflow_states/" + name;
}
std::string path_of(const std::string& name) {
  return folder_of(name) + "/state.json";
}

class Workflows {
 public:
  explicit Workflows(std::uint64_t seed) : random_(seed) {
    const std::string validators = seed % 2 == 0 ? "parallel" : "sequential";
    const auto config = parse_json(R"({"validators": ")" + validators + R"(", "plan_attempts": 3,
        "approvals": ["plan", "code", "final"],
        "agents": {"planner": {}, "validator": {}, "programmer": {}},
        "limits": {"backoff": "1s", "max_backoff": "2s", "spawns_per_hour": 100000, "max_running": 8}})");
    REQUIRE(config);
    auto setup = setup_of(*config, "ml_workflow");
    REQUIRE(setup);
    world_.setup = std::move(*setup);
    REQUIRE(world_.start());
    for (const std::string& name : names_)
      request("start", name, "", Json::object({{"requirements", "Derive churn features."}}));
    settle();
  }

  void live() {
    for (int i = 0; i < kEvents; ++i) {
      event();
      check();
    }
  }

  /// Everybody does what he should from now on: each workflow comes to its end.
  void rest() {
    for (int i = 0; i < kRounds && !over(); ++i) {
      for (const FakeAgents::Shim* const shim : world_.agents.in(FakeAgents::State::running))
        work(*shim, true);
      repair();
      settle();
      people(true);
      settle();
      pass(Millis(3'000));
      check();
    }
    for (const std::string& name : names_) {
      CAPTURE(name);
      CAPTURE(*world_.disk.file(path_of(name)));
      CHECK(status(name) == "completed");
      check_backups(name);
    }
    CHECK(world_.agents.in(FakeAgents::State::running).empty());
  }

 private:
  void settle() {
    const auto settled = world_.survive();
    REQUIRE_MESSAGE(settled, (settled ? "" : describe(settled.error())));
  }

  void pass(Millis by) {
    world_.fuse.cut();
    REQUIRE(world_.pass(by));
  }

  Json accepted(const std::string& name) const {
    const auto row = world_.journal.tables.accepted.find(path_of(name));
    return row == world_.journal.tables.accepted.end() ? Json() : *parse_json(row->second.second);
  }

  std::string status(const std::string& name) const {
    return std::string(json::text(*accepted(name), "status").value_or(""));
  }

  bool over() const { return status(names_[0]) == "completed" && status(names_[1]) == "completed"; }

  static std::vector<const Value*> entries(const Json& state) {
    std::vector<const Value*> all;
    const Value* const list = json::child(*state, "step_history");
    if (list != nullptr && list->IsArray())
      for (const Value& entry : list->GetArray())
        all.push_back(&entry);
    return all;
  }

  static std::string variable(const FakeAgents::Shim& shim, std::string_view wanted) {
    for (const auto& [name, value] : shim.launch.env)
      if (name == wanted)
        return value;
    return "";
  }

  /// The agent's own entry in a copy of the file; -1: it is not there.
  static std::int64_t own_entry(const Json& copy, const FakeAgents::Shim& shim) {
    const std::string form = variable(shim, "ML_WORKFLOW_TEMPLATE");
    const std::string step = variable(shim, "ML_WORKFLOW_STEP");
    const auto all = entries(copy);
    for (std::size_t i = all.size(); i > 0; --i)
      if (json::text(*all[i - 1], "template") == form &&
          json::integer(*all[i - 1], "step_number") == step[0] - '0')
        return static_cast<std::int64_t>(i) - 1;
    return -1;
  }

  /// The copy an agent works on: the file as it was when it began, also where that is old.
  std::string copy_of(const FakeAgents::Shim& shim) {
    auto& copy = copies_[shim.id];
    if (copy.empty() || !parse_json(copy))
      copy = *world_.disk.file(path_of(shim.launch.key.flow.name));
    return copy;
  }

  void work(const FakeAgents::Shim& shim, bool well) {
    const std::string name = shim.launch.key.flow.name;
    const std::string text = well ? *world_.disk.file(path_of(name)) : copy_of(shim);
    const auto copy = parse_json(text);
    const std::int64_t at = copy ? own_entry(*copy, shim) : -1;
    if (at >= 0) {
      const std::string entry = "/step_history/" + std::to_string(at);
      const char* const alignment = well || random_.below(3) != 0 ? "9.5" : "8";
      std::vector<json::Edit> edits = {
          {entry + "/output", "{\"by\": " + json::quote(shim.id) + "}"},
          {entry + "/validation_scores", std::string("{\"alignment_score\": ") + alignment +
                                             ", \"standardization_score\": 9, "
                                             "\"compatibility_score\": 9}"},
          {entry + "/status", "\"completed\""}};
      if (!well && random_.below(6) == 0)
        edits = {{entry + "/error_info",
                  R"({"error_type": "resource_exhaustion", "error_message": "full"})"},
                 {entry + "/status", "\"failed\""}};
      if (!well && random_.below(12) == 0)
        edits[1].text = "{\"alignment_score\": 11}";
      if (const auto changed = json::splice(text, edits))
        world_.disk.write(path_of(name), *changed);
    }
    world_.leave(shim, 0);
  }

  void request(const std::string& verb, const std::string& name, const std::string& subject,
               const Json& arguments) {
    Request request;
    request.id = "request-" + std::to_string(1000 + asked_++);
    request.verb = verb;
    request.flow = FlowId{"ml_workflow", name};
    request.subject = subject;
    request.arguments = arguments;
    request.by = "ann";
    world_.requests.add(request);
  }

  /// What is asked is answered; `well`: approved.
  void people(bool well) {
    for (const std::string& name : names_) {
      const auto book = world_.engine->books().find(FlowId{"ml_workflow", name});
      if (book == world_.engine->books().end())
        continue;
      for (const Hold& hold : book->second.decision.holds) {
        if (hold.reason == "approval" && (well || random_.below(3) != 0))
          request(well || random_.below(3) != 0 ? "approve" : "revise", name, hold.subject,
                  Json::object({{"comment", "c"}}));
        if (hold.reason == "escalated")
          request("answer", name, "", Json::object({{"comment", "go on"}}));
      }
      for (const Hold& hold : book->second.holds)
        if (well && (hold.reason == "exhausted" || hold.reason == "finished"))
          request("retry", name, "", Json::object());
    }
  }

  /// What was left wrong is a person's to put right.
  void repair() {
    for (const std::string& name : names_) {
      const auto book = world_.engine->books().find(FlowId{"ml_workflow", name});
      if (book != world_.engine->books().end() && !book->second.rejected.empty())
        world_.disk.write(path_of(name), world_.journal.tables.accepted.at(path_of(name)).second);
    }
  }

  void event() {
    const auto running = world_.agents.in(FakeAgents::State::running);
    for (const FakeAgents::Shim* const each : running)
      (void)copy_of(*each);
    if (random_.below(4) == 0)
      world_.fuse.light(1 + random_.below(40));
    switch (random_.below(10)) {
      case 0:
      case 1:
        people(false);
        break;
      case 2:
        world_.fuse.cut();
        return pass(Millis(5000));
      case 3:
        if (!running.empty())
          world_.leave(*random_.pick(running), 1);
        break;
      case 4: {
        const std::string name = names_.at(random_.below(names_.size()));
        const std::string whole = *world_.disk.file(path_of(name));
        world_.disk.write(path_of(name), whole.substr(0, whole.size() / 2));
        settle();
        world_.disk.write(path_of(name), whole);
        break;
      }
      default:
        if (!running.empty())
          work(*random_.pick(running), false);
        break;
    }
    if (random_.below(6) == 0) {
      world_.disk.changes.clear();
      settle();
      pass(Millis(1000));
      world_.kill();
      REQUIRE(world_.start());
    }
    settle();
    world_.fuse.cut();
  }

  void check() {
    CHECK(world_.faults().empty());
    std::set<std::string> busy;
    for (const FakeAgents::Shim* const shim : world_.agents.in(FakeAgents::State::running))
      CHECK(busy.insert(shim->launch.key.flow.name + "#" + shim->launch.key.subject).second);
    for (const std::string& name : names_) {
      CAPTURE(name);
      check_history(name);
    }
  }

  /// What was completed stays, in its place and as it is; nothing is entered that nobody has done.
  void check_history(const std::string& name) {
    const Json state = accepted(name);
    const auto all = entries(state);
    std::map<std::size_t, std::string>& known = done_[name];
    for (const auto& [at, output] : known) {
      REQUIRE(at < all.size());
      CHECK(json::dump(*json::child(*all[at], "output")) == output);
    }
    std::set<std::string> outputs;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (json::text(*all[i], "status") != "completed")
        continue;
      known[i] = json::dump(*json::child(*all[i], "output"));
      CHECK_MESSAGE(outputs.insert(known[i]).second, "two entries of one run");
    }
    if (json::text(*state, "status") == "completed") {
      const Value* const approved = json::at(*state, "/human_approvals/final_approver");
      REQUIRE(approved != nullptr);
      CHECK(json::text(*approved) == "ann");
    }
  }

  /// The newest backup has all that was completed.
  void check_backups(const std::string& name) {
    std::string newest;
    for (const auto& [path, bytes] : world_.disk.files()) {
      const std::string stamp = path.substr(path.rfind('_') + 1);
      if (path.starts_with(folder_of(name) + "/backups/") &&
          stamp > newest.substr(newest.rfind('_') + 1))
        newest = path;
    }
    REQUIRE(!newest.empty());
    const auto text = gunzip(*world_.disk.file(newest), kMostBytes);
    REQUIRE(text);
    std::size_t done = 0;
    const auto state = parse_json(*text);
    REQUIRE(state);
    for (const Value* const entry : entries(*state))
      done += json::text(*entry, "status") == "completed" ? 1U : 0U;
    CHECK(done == done_[name].size());
  }

  Random random_;
  World world_;
  const std::array<std::string, 2> names_ = {"wf1", "wf2"};
  std::map<RunId, std::string> copies_;
  std::map<std::string, std::map<std::size_t, std::string>> done_;
  int asked_ = 0;
};

}  // namespace

TEST_SUITE("ml_workflow") {
  TEST_CASE("in any world no work that was accepted is lost, and a workflow comes to its end") {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      CAPTURE(seed);
      Workflows workflows(seed);
      workflows.live();
      workflows.rest();
    }
  }
}

}  // namespace baton::testing
