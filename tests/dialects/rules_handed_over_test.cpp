// Files that go from one rule to another while agents work on them and daemons are killed: what a
// person does who renames rules, splits them and takes that back. No history of it may leave
// another memory than journal, a subject of a file with two agents, or a daemon that spins.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "engine/configured_parts.h"
#include "random.h"
#include "remembered.h"
#include "world.h"

namespace baton::testing {
namespace {

const std::vector<std::string> rule_names = {"g", "h", "k"};
const std::vector<std::string> file_names = {"a.json", "b.json", "c.json"};
const std::vector<std::string> stage_words = {"idle", "go", "review", "auto", "done"};

class History {
 public:
  explicit History(std::uint64_t seed) : random_(seed) {}

  void play() {
    world_.setup = setup();
    start();
    for (int steps = 10 + static_cast<int>(random_.below(50)); steps > 0; --steps) {
      act();
      REQUIRE(world_.survive());
      look();
    }
    world_.fuse.cut();
    REQUIRE(world_.pass(Millis(180'000)));
    look();
    look_at_all();
    // At rest to look again enters nothing.
    const std::uint64_t commits = world_.journal.commits;
    look_at_all();
    CHECK(world_.journal.commits == commits);
  }

 private:
  /// Each file is one rule's or nobody's.
  Setup setup() {
    std::map<std::string, std::string> files;
    for (const std::string& file : file_names)
      if (!random_.one_in(10))
        files[random_.pick(rule_names)] += "\"" + file + "\",";
    std::string rules;
    for (auto& [name, list] : files) {
      list.pop_back();
      rules += R"({"name": ")" + name + R"(", "files": [)" + list +
               R"(], "stage": "/{subject}/s", "react": [{"to": "go", "run": "developer"},
                  {"to": "review", "run": "qa_expert"})";
      rules += random_.one_in(2) ? R"(, {"to": "auto", "set": {"/{subject}/s": "go"}}]},)" : "]},";
    }
    if (!rules.empty())
      rules.pop_back();
    auto made = setup_of(*parse_json(R"({"rules": [)" + rules + "]}"), "rules");
    REQUIRE(made);
    made->renew = world_.renewer();
    return *std::move(made);
  }

  std::string content() {
    if (random_.one_in(10))
      return random_.pick<std::string>({"{\"A\":", "[1]", "", R"({"A": {"s": [7]}})"});
    std::string members;
    for (const char* const subject : {"A", "B"})
      if (!random_.one_in(3))
        members += std::string(members.empty() ? "" : ",") + "\"" + subject + R"(": {"s": ")" +
                   random_.pick(stage_words) + "\"}";
    return "{" + members + "}";
  }

  void end_one() {
    const std::vector<FakeAgents::Shim*> running = world_.agents.in(FakeAgents::State::running);
    if (running.empty())
      return;
    RunEnd end;
    end.outcome = random_.one_in(3) ? Outcome::failed : Outcome::succeeded;
    if (random_.one_in(7))
      end.reason = kCouldNotStop;
    world_.agents.finish(random_.pick(running)->id, end);
  }

  void start() {
    world_.fuse.cut();
    REQUIRE(world_.start());
  }

  void reload() {
    world_.setup = setup();
    if (world_.engine == nullptr)
      return;
    auto works = world_.engine->configured_parts_of(world_.setup);
    REQUIRE(works);
    world_.engine->reconfigure(*std::move(works));
  }

  void ask() {
    Request request;
    request.id = "request-" + std::to_string(1000 + requests_++);
    request.verb = random_.pick<Word>({"forget", "forget", "retry", "resume"});
    if (request.verb != "forget" || random_.one_in(2))
      request.flow = {"rules", random_.pick(rule_names)};
    request.arguments = Json::object();
    request.made = world_.clock.at;
    world_.requests.add(request);
  }

  void act() {
    const std::string file = random_.pick(file_names);
    switch (random_.below(16)) {
      case 0:
      case 1:
        return reload();
      case 2:
      case 3:
        return end_one();
      case 4:
        return ask();
      case 5:
        return world_.disk.remove(file);
      case 6:
        world_.kill();
        return start();
      case 7:
        world_.power_cut();
        return start();
      case 8:
        world_.fuse.light(1 + random_.below(12));
        return;
      case 9:
      case 10:
        world_.fuse.cut();
        REQUIRE(world_.pass(random_.pick<Millis>({Millis(1000), Millis(15'000), kHour})));
        return;
      default:
        world_.disk.write(file, content());
        // Not each change is told.
        if (random_.one_in(6))
          world_.disk.changes.clear();
    }
  }

  void look_at_all() {
    REQUIRE(world_.engine->step({Rescan{"timer"}}));
    REQUIRE(world_.pass(Millis(5000)));
  }

  void look() {
    for (const std::string& broken : world_.faults())
      FAIL_CHECK(broken);
    const auto otherwise = remembered_otherwise(world_);
    CHECK_MESSAGE(!otherwise, otherwise.value_or(""));
    std::map<std::string, std::size_t> claimed;
    for (const auto& [flow, book] : world_.engine->records())
      for (const Run& run : book.runs)
        for (const Claim& claim : run.claims)
          if (run.live() && ++claimed[claim.resource] > claim.capacity)
            FAIL_CHECK("two agents hold " << claim.resource);
  }

  static constexpr Millis kHour{3'600'000};
  Random random_;
  World world_;
  int requests_ = 0;
};

}  // namespace

TEST_CASE("files go from rule to rule, and come back") {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    History(seed).play();
  }
}

}  // namespace baton::testing
