// SPDX-License-Identifier: Apache-2.0

// Files that go from one rule to another while agents work on them and daemons are killed: what a
// person does who renames rules, splits them and takes that back. Nothing is started twice for one
// stage of a file unless a person said so, no file has two agents, and after a `resume` the work is
// done. Each file has one subject, which is called like the file.

#include <map>
#include <set>
#include <string>
#include <tuple>
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
const std::vector<std::string> file_names = {"a", "b", "c"};
const std::vector<std::string> stage_words = {"idle", "go", "review", "auto", "done"};
const std::map<std::string, Role> role_for = {{"go", "developer"}, {"review", "qa_expert"}};

class History {
 public:
  /// `resumes_all`: a mutant that acts as if no flow were held after a reload.
  explicit History(std::uint64_t seed, bool resumes_all = false)
      : random_(seed), resumes_all_(resumes_all) {}

  /// What went wrong first; "" when nothing did.
  std::string play() {
    world_.setup = setup();
    start();
    for (int steps = 10 + static_cast<int>(random_.below(50)); steps > 0 && fault_.empty();
         --steps) {
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
    finish();
    return fault_;
  }

 private:
  struct File {
    std::string stage;        ///< as somebody wrote it last; "": there is none, or it is no good
    bool good = false;        ///< what stands there can be accepted
    std::uint64_t entry = 0;  ///< higher with each change, and with each word of a person
  };

  /// Each file is one rule's or nobody's.
  Setup setup() {
    std::map<std::string, std::string> files;
    owners_.clear();
    for (const std::string& file : file_names)
      if (!random_.one_in(10)) {
        owners_[file] = random_.pick(rule_names);
        files[owners_[file]] += "\"" + file + ".json\",";
      }
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

  void write(const std::string& name) {
    File& file = files_[name];
    const std::string path = name + ".json";
    if (random_.one_in(6)) {
      file.good = false;
      world_.disk.write(path,
                        random_.pick<std::string>({"{\"A\":", "[1]", "", R"({"a": {"s": [7]}})"}));
      return;
    }
    const std::string stage = random_.pick(stage_words);
    // What baton has set since, the next writer takes back.
    if (stage != file.stage || stage == "auto")
      ++file.entry;
    file.stage = stage;
    file.good = true;
    world_.disk.write(path, "{\"" + name + R"(": {"s": ")" + stage + "\"}}");
  }

  void remove(const std::string& name) {
    files_[name] = File{"", false, files_[name].entry + 1};
    world_.disk.remove(name + ".json");
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
    if (!resumes_all_)
      return;
    REQUIRE(world_.survive());
    request("resume", {});
  }

  void request(const Word& verb, const FlowId& flow) {
    Request request;
    request.id = "request-" + std::to_string(1000 + requests_++);
    request.verb = verb;
    request.flow = flow;
    request.arguments = Json::object();
    request.made = world_.clock.at;
    world_.requests.add(request);
  }

  /// What a person asks for may be started once more.
  void ask() {
    const Word verb = random_.pick<Word>({"forget", "forget", "retry", "resume"});
    const bool one = verb != "forget" || random_.one_in(2);
    request(verb, one ? FlowId{"rules", random_.pick(rule_names)} : FlowId{});
    for (auto& [name, file] : files_)
      ++file.entry;
  }

  void act() {
    const std::string& file = random_.pick(file_names);
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
        return remove(file);
      case 6:
        world_.kill();
        if (random_.one_in(2))
          world_.setup = setup();
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
        write(file);
        // Not each change is told.
        if (random_.one_in(6))
          world_.disk.changes.clear();
    }
  }

  void look_at_all() {
    REQUIRE(world_.engine->step({Rescan{"timer"}}));
    REQUIRE(world_.pass(Millis(5000)));
  }

  void wrong(const std::string& what) {
    if (fault_.empty())
      fault_ = what;
  }

  void look() {
    for (const std::string& broken : world_.faults())
      wrong(broken);
    if (const auto otherwise = remembered_otherwise(world_))
      wrong(*otherwise);
    std::set<Subject> at_work;
    for (const auto& [id, shim] : world_.agents.shims) {
      const Key& key = shim.launch.key;
      if (shim.state == FakeAgents::State::running && !at_work.insert(key.subject).second)
        wrong("two agents work on " + key.subject);
      if (shim.began == Time{} || !begun_.insert(id).second)
        continue;
      const auto [first, fresh] = started_.try_emplace(
          std::tuple(key.role, key.subject, files_[key.subject].entry), key.flow);
      if (!fresh && first->second != key.flow)
        wrong(key.subject + " was started by " + text(key.flow) + " and by " + text(first->second));
    }
  }

  /// A person resumes and retries everything, and all agents do their work.
  void finish() {
    for (int round = 0; round < 4 && fault_.empty(); ++round) {
      for (auto& [name, file] : files_)
        ++file.entry;
      request("resume", {});
      for (const std::string& rule : rule_names)
        request("retry", {"rules", rule});
      for (FakeAgents::Shim* const shim : world_.agents.in(FakeAgents::State::running)) {
        RunEnd end;
        end.outcome = Outcome::succeeded;
        world_.agents.finish(shim->id, end);
      }
      REQUIRE(world_.pass(Millis(600'000)));
      look();
    }
    for (const auto& [name, owner] : owners_)
      if (const File& file = files_[name]; file.good && role_for.contains(file.stage))
        done({"rules", owner}, name, role_for.at(file.stage));
  }

  void done(const FlowId& flow, const Subject& subject, const Role& role) {
    const FlowRecords& records = world_.engine->records();
    const auto record = records.find(flow);
    if (record == records.end() || !record->second.stages.contains(subject))
      return wrong(text(flow) + " does not know " + subject);
    for (const Run& run : record->second.runs)
      if (run.key.subject == subject && run.key.role == role &&
          run.key.generation == record->second.stages.at(subject).generation &&
          (run.live() || run.outcome == Outcome::succeeded))
        return;
    std::string holds;
    for (const Hold& hold : record->second.holds) {
      // Another file of the rule was removed, which a person has to bring back.
      if (hold.cause.condition == Condition::gone)
        return;
      holds += "; " + hold.subject + ": " + std::string(word(hold.cause.reason));
    }
    wrong(subject + " of " + text(flow) + " has waited in vain for " + role + holds);
  }

  static constexpr Millis kHour{3'600'000};
  Random random_;
  bool resumes_all_;
  World world_;
  std::map<std::string, std::string> owners_;  ///< by file, its rule
  std::map<std::string, File> files_;
  std::set<RunId> begun_;
  std::map<std::tuple<Role, Subject, std::uint64_t>, FlowId> started_;
  std::string fault_;
  int requests_ = 0;
};

}  // namespace

TEST_CASE("files go from rule to rule, and come back") {
  for (std::uint64_t seed = 1; seed <= 150; ++seed)
    CHECK_MESSAGE(History(seed).play() == "", "seed " << seed);
}

TEST_CASE("without the hold something would be started twice") {
  std::string fault;
  for (std::uint64_t seed = 1; seed <= 400 && fault.empty(); ++seed)
    fault = History(seed, true).play();
  CHECK(fault.find("was started by") != std::string::npos);
}

}  // namespace baton::testing
