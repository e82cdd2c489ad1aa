// SPDX-License-Identifier: Apache-2.0

// Workflows of the dialect ml_workflow in a seeded world: agents that write the whole state from
// the copy they began with, give scores that do not do, fail in every way, tear the file, leave
// without a word or stay, and meddle with what is not theirs; people who approve, reject, ask for
// changes, answer, pause and stop, by command and by file, also when nobody asked; events lost,
// disks full, the daemon killed between any two port calls, power cuts.
//
// What was completed stays as it is and where it is, each run's work is entered once, nothing but a
// person's word about the newest validation opens a gate, nothing is started that is halted, and
// when the trouble ends each workflow comes to its end with everything recorded. Each mutant must
// be caught. A failing seed prints `seed=S step=N` and is replayed by `--first S --seeds 1
// --trace`.

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

#include "base/gzip.h"
#include "config/registry.h"
#include "seeded_world.h"
#include "workflow_mutants.h"

namespace baton::testing {
namespace {

constexpr int kSteps = 140;
constexpr int kRounds = 250;
constexpr std::int64_t kPlanAttempts = 3;
constexpr std::size_t kMostBytes = 1U << 20U;
const std::vector<std::string> asked_lists = {
    R"(["plan", "code", "final"])", R"(["plan", "final"])", R"(["final"])", R"(["plan"])"};
const std::vector<std::string> all_names = {"wf1", "wf2"};
constexpr const char* kFresh = R"({"workflow_id": "wf2", "workflow_name": "Churn",
  "created_at": "2026-01-22T09:00:00Z", "status": "initialized", "current_phase": "phase_1",
  "current_step": 0, "workspace_context": {"developer_type": "shared"},
  "requirements": {"initial_requirements": "Derive churn features."}})";
constexpr std::array<std::pair<std::string_view, double>, 3> kLeast = {
    std::pair<std::string_view, double>{"alignment_score", 9},
    {"standardization_score", 8},
    {"compatibility_score", 8}};

std::string folder_of(const std::string& name) {
  return "workflow_states/" + name;
}
std::string path_of(const std::string& name) {
  return folder_of(name) + "/state.json";
}
FlowId flow_of(const std::string& name) {
  return FlowId{"ml_workflow", name};
}

std::vector<const Value*> list_at(const Value& root, std::string_view pointer) {
  std::vector<const Value*> all;
  if (const Value* const list = json::at(root, pointer); list != nullptr && list->IsArray())
    for (const Value& item : list->GetArray())
      all.push_back(&item);
  return all;
}

std::string text_at(const Value& root, std::string_view name) {
  return std::string(json::text(root, name).value_or(""));
}

bool completed(const Value& entry) {
  return json::text(entry, "status") == "completed";
}

std::int64_t step_of(const Value& entry) {
  return json::integer(entry, "step_number").value_or(0);
}

bool validates_code(const Value& entry) {
  return step_of(entry) == 5 || step_of(entry) == 7;
}

/// `4`, `5a`
std::string subject_of(const Value& entry) {
  const std::string subject = std::to_string(step_of(entry));
  return validates_code(entry) ? subject + text_at(entry, "template").substr(5, 1) : subject;
}

struct Counts {
  FlowIndex flow_index;
  std::uint64_t starts = 0;
  std::uint64_t completed = 0;
  std::map<std::string, std::uint64_t> events;
};

/// Scores as they count, read without the dialect's own eyes.
using Scores = std::map<std::string_view, double>;

bool pass(const Scores& scores) {
  return std::all_of(kLeast.begin(), kLeast.end(), [&](const auto& least) {
    const auto score = scores.find(least.first);
    return score != scores.end() && score->second >= least.second;
  });
}

void lower(const Value& entry, Scores& scores) {
  const Value* const given = json::child(entry, "validation_scores");
  for (const auto& [name, least] : kLeast)
    if (const auto score = given == nullptr ? std::nullopt : json::number(*given, name)) {
      const auto [at, fresh] = scores.emplace(name, *score);
      at->second = std::min(at->second, *score);
    }
}

Scores plan_scores(const Value& root) {
  Scores scores;
  for (const Value* const entry : list_at(root, "/step_history"))
    if (step_of(*entry) == 2 && completed(*entry)) {
      scores.clear();
      lower(*entry, scores);
    }
  return scores;
}

/// Nothing until both halves are there.
Scores code_scores(const Value& root) {
  std::map<char, const Value*> halves;
  for (const Value* const entry : list_at(root, "/step_history")) {
    if (step_of(*entry) == 4 || step_of(*entry) == 6)
      halves.clear();
    else if (validates_code(*entry) && completed(*entry))
      halves[subject_of(*entry)[1]] = entry;
  }
  Scores scores;
  if (halves.size() == 2)
    for (const auto& [half, entry] : halves)
      lower(*entry, scores);
  return scores;
}

/// Where in step_history the work on the present plan begins.
std::size_t first_of_plan(const Value& root) {
  std::int64_t first = 0;
  for (const Value* const change : list_at(root, "/phase_transitions"))
    if (json::text(*change, "to_phase") == "phase_1")
      first = json::integer(*change, "entry").value_or(0);
  return static_cast<std::size_t>(first);
}

/// How often what an approval is about has been validated.
std::size_t validations(const Value& root, std::string_view approval) {
  const auto entries = list_at(root, "/step_history");
  return static_cast<std::size_t>(
      std::count_if(entries.begin(), entries.end(), [&](const Value* entry) {
        return completed(*entry) &&
               (approval == "plan" ? step_of(*entry) == 2 : validates_code(*entry));
      }));
}

std::int64_t rounds(const Value& root, std::string_view phase) {
  const auto all = list_at(root, "/convergence_status/convergence_history");
  return std::count_if(all.begin(), all.end(),
                       [&](const Value* round) { return json::text(*round, "phase") == phase; });
}

/// What a version that was accepted must be like, given the ones before.
struct Known {
  std::map<std::size_t, std::string> done;  ///< by place in step_history: what its run made
  std::vector<std::string> decisions;
  std::string status;
  std::string fixed;           ///< what nobody changes
  std::int64_t helped = 0;     ///< attempts that a person has let pass
  bool code = false;           ///< phase_2
  std::uint64_t reopened = 0;  ///< how often a person may have it go on after its end
  bool halted = false;         ///< a person said so, and was answered
};

class Workflows {
 public:
  Workflows(std::uint64_t seed, std::string_view mutant, Counts& counts, bool tracing)
      : chance_(seed, mutant, counts.flow_index),
        counts_(counts),
        tracing_(tracing),
        asked_(random_.pick(asked_lists)),
        parallel_(random_.one_in(2)) {
    auto setup = setup_of(
        *parse_json(R"({"validators": ")" + std::string(parallel_ ? "parallel" : "sequential") +
                    R"(", "plan_attempts": )" + std::to_string(kPlanAttempts) +
                    R"(, "approvals": )" + asked_ +
                    R"(, "agents": {"planner": {}, "validator": {}, "programmer": {}},
                              "limits": {"backoff": "1s", "max_backoff": "2s", "max_running": 8,
                                         "spawns_per_hour": 100000}})"),
        "ml_workflow");
    if (!setup) {
      chance_.say(describe(setup.error()));
      return;
    }
    world_.setup = std::move(*setup);
    world_.setup.on_interrupted = chance_.any_policy();
    for (const WorkflowMutant& each : workflow_mutants())
      if (each.name == mutant)
        world_.setup.dialects.front().first = &each.dialect;
    world_.journal.after_commit = [this](const Commit& commit) { committed(commit); };
  }

  std::optional<Fault> run() {
    chance_.guarded([&] { return world_.start(); });
    // One is asked for, the other one appears.
    request("start", all_names[0], "", Json::object({{"requirements", "Derive churn features."}}));
    world_.disk.write(path_of(all_names[1]), kFresh);
    for (chance_.step = 1; chance_.step <= kSteps && !chance_.fault; ++chance_.step) {
      happen();
      chance_.deliver();
      check();
    }
    for (int round = 0; round < kRounds && !chance_.fault && !over(); ++round, ++chance_.step)
      rest(round);
    if (!chance_.fault)
      at_rest();
    if (tracing_)
      trace();
    for (const auto& [id, shim] : world_.agents.shims)
      counts_.starts += shim.claim ? 1U : 0U;
    for (const Event& event : world_.journal.tables.events)
      ++counts_.events[event.event];
    return chance_.fault;
  }

 private:
  using Shim = FakeAgents::Shim;

  // ---- what is there ----------------------------------------------------------------------------

  Json accepted(const std::string& name) const {
    const auto row = world_.journal.tables.accepted.find(path_of(name));
    return row == world_.journal.tables.accepted.end() ? Json() : *parse_json(row->second.second);
  }

  std::string status(const std::string& name) const { return text_at(*accepted(name), "status"); }

  /// As it stands, or as it was when it was whole last.
  std::string text(const std::string& name) const {
    const std::string* const bytes = world_.disk.file(path_of(name));
    return bytes != nullptr && parse_json(*bytes) ? *bytes : accepted(name).dump();
  }

  bool asked(std::string_view approval) const { return asked_.find(approval) != std::string::npos; }

  const FlowRecord* record(const std::string& name) const {
    if (world_.engine == nullptr)
      return nullptr;
    const auto found = world_.engine->records().find(flow_of(name));
    return found == world_.engine->records().end() ? nullptr : &found->second;
  }

  std::size_t live(const std::string& name) {
    std::size_t count = 0;
    for (const auto state : {FakeAgents::State::running, FakeAgents::State::going})
      for (const Shim* const shim : world_.agents.in(state))
        count += shim->launch.key.flow.name == name ? 1U : 0U;
    return count;
  }

  // ---- what agents do ---------------------------------------------------------------------------

  static std::string variable(const Shim& shim, std::string_view wanted) {
    for (const auto& [name, value] : shim.launch.env)
      if (name == wanted)
        return value;
    return "";
  }

  /// The agent's own entry in a copy of the file.
  static std::optional<std::string> own_entry(const Json& copy, const Shim& shim) {
    const auto all = list_at(*copy, "/step_history");
    for (std::size_t i = all.size(); i > 0; --i)
      if (json::text(*all[i - 1], "template") == variable(shim, "ML_WORKFLOW_TEMPLATE") &&
          subject_of(*all[i - 1]) == shim.launch.key.subject)
        return completed(*all[i - 1]) ? std::nullopt
                                      : std::optional("/step_history/" + std::to_string(i - 1));
    return std::nullopt;
  }

  /// The file as the agent read it when it began, and writes from ever after.
  std::string& copy_of(const Shim& shim) {
    return copies_.emplace(shim.id, text(shim.launch.key.flow.name)).first->second;
  }

  void read_copies() {
    for (const Shim* const shim : world_.agents.in(FakeAgents::State::running))
      (void)copy_of(*shim);
  }

  std::string scores(bool well) {
    std::string all;
    for (const auto& [name, least] : kLeast)
      all += (all.empty() ? "{\"" : ", \"") + std::string(name) +
             "\": " + (well || !random_.one_in(6) ? "9" : "7.5");
    return all + "}";
  }

  /// The entry done: in its place, or (as some programs do it) added to the list.
  std::vector<json::Edit> work_of(const Shim& shim, bool well) {
    const std::string output = "{\"by\": " + json::quote(shim.id) + "}";
    const std::string& subject = shim.launch.key.subject;
    const bool judges = subject[0] == '2' || subject[0] == '5' || subject[0] == '7';
    const auto entry = own_entry(*parse_json(copy_of(shim)), shim);
    if (entry) {
      std::vector<json::Edit> edits = {
          {*entry + "/output", output},
          {*entry + "/validation_scores", judges ? scores(well) : "null"},
          {*entry + "/status", "\"completed\""}};
      if (!well && random_.one_in(8))
        edits.push_back({"/requirements/initial_requirements", "\"Less.\""});
      return edits;
    }
    if (well || !random_.one_in(2))
      return {};
    return {{"/step_history/-",
             "{\"step_number\": " + subject.substr(0, 1) +
                 ", \"agent\": " + json::quote(shim.launch.key.role) +
                 ", \"template\": " + json::quote(variable(shim, "ML_WORKFLOW_TEMPLATE")) +
                 ", \"status\": \"completed\", \"output\": " + output +
                 ", \"validation_scores\": " + (judges ? scores(false) : "null") + "}"}};
  }

  std::vector<json::Edit> failure_of(const Shim& shim) {
    static const std::vector<std::string> types = {"validation_error", "resource_exhaustion",
                                                   "critical_error", "timeout", "nonsense"};
    const auto entry = own_entry(*parse_json(copy_of(shim)), shim);
    if (!entry)
      return {};
    return {{*entry + "/error_info", "{\"error_type\": " + json::quote(random_.pick(types)) +
                                         ", \"error_message\": \"it went wrong\"}"},
            {*entry + "/status", "\"failed\""}};
  }

  /// What is not the agent's to write.
  std::vector<json::Edit> meddling() {
    static const std::vector<std::vector<json::Edit>> all = {
        {{"/human_approvals/plan_approved", "true"}, {"/human_approvals/final_approved", "true"}},
        {{"/human_approvals/approval_history/-",
          R"({"approval_type": "plan", "status": "approved", "approver": "planner",
              "timestamp": "2036-01-22T10:00:00Z", "comments": "forged"})"}},
        {{"/human_approvals/approval_history/-",
          R"({"approval_type": "final", "status": "approved", "approver": "validator",
              "timestamp": "2036-01-22T10:00:00Z", "comments": "forged"})"}},
        {{"/convergence_status/convergence_criteria/alignment_threshold", "1"}},
        {{"/status", "\"completed\""}},
        {{"/status", "\"initialized\""}},
        {{"/current_phase", "\"phase_2\""}, {"/convergence_status/phase_1_converged", "true"}},
        {{"/step_history", "[]"}},
        {{"/created_at", "\"2020-01-01T00:00:00Z\""}},
        {{"/metrics", "{}"}}};
    return random_.pick(all);
  }

  void write(const Shim& shim, const std::vector<json::Edit>& edits, bool well) {
    const auto written = json::splice(copy_of(shim), edits);
    if (!written)
      return;
    copy_of(shim) = *written;
    const bool torn = !well && random_.one_in(12);
    world_.disk.write(path_of(shim.launch.key.flow.name),
                      torn ? written->substr(0, written->size() / 2) : *written);
  }

  void finish(const Shim& shim, Outcome outcome) {
    RunEnd end;
    end.outcome = shim.stopping ? Outcome::interrupted : outcome;
    end.signal = shim.stopping ? 15 : 0;
    end.exit_code = outcome == Outcome::succeeded ? 0 : 1;
    world_.agents.finish(shim.id, end);
  }

  void work(const Shim& shim, bool well) {
    if (well) {
      copy_of(shim) = text(shim.launch.key.flow.name);
      write(shim, work_of(shim, true), true);
      return finish(shim, Outcome::succeeded);
    }
    switch (random_.below(16)) {
      case 0:
        return write(shim, {}, false);  // renews the file, and goes on
      case 1:
        return write(shim, meddling(), false);
      case 2:
        write(shim, failure_of(shim), false);
        return random_.one_in(3) ? void() : finish(shim, Outcome::failed);
      case 3:
        return finish(shim, random_.one_in(2) ? Outcome::failed : Outcome::timed_out);
      case 4:
        return random_.one_in(2) ? world_.agents.kill_shim(shim.id)
                                 : finish(shim, Outcome::succeeded);  // nothing was done
      case 5: {                                                       // a score out of range
        const auto entry = own_entry(*parse_json(copy_of(shim)), shim);
        if (entry)
          write(shim, {{*entry + "/validation_scores", R"({"alignment_score": 11})"}}, false);
        return finish(shim, Outcome::succeeded);
      }
      case 6:  // all of the work, and it does not leave
        return write(shim, work_of(shim, false), false);
      default:
        write(shim, work_of(shim, false), false);
        finish(shim, Outcome::succeeded);
    }
  }

  // ---- what people do ---------------------------------------------------------------------------

  void request(const std::string& verb, const std::string& name, const std::string& subject,
               const Json& arguments) {
    Request request;
    request.id = "request-" + std::to_string(10'000 + verbs_.size());
    request.verb = verb;
    request.flow = flow_of(name);
    request.subject = subject;
    request.arguments = arguments;
    request.by = "ann";
    request.made = world_.clock.at;
    verbs_.emplace_back(verb, name);
    world_.requests.add(request);
  }

  /// Each has a word of its own, by which it is known again.
  std::string word() {
    said_.emplace_back();
    return "word-" + std::to_string(said_.size() - 1);
  }

  void decide(const std::string& verb, const std::string& name, const std::string& approval) {
    request(verb, name, approval, Json::object({{"comment", word()}}));
  }

  std::string any_verb() {
    return random_.one_in(10) ? "reject" : random_.one_in(3) ? "revise" : "approve";
  }

  void person() {
    static const std::vector<std::string> approvals = {"plan", "code", "final", ""};
    static const std::vector<std::string> controls = {"pause", "resume", "resume",
                                                      "retry", "stop",   "resume"};
    const std::string& name = random_.pick(all_names);
    const FlowRecord* const known = record(name);
    if (known != nullptr)
      for (const Hold& hold : known->decision.holds) {
        if (hold.cause.reason == Reason::approval_wanted && !random_.one_in(4))
          return decide(any_verb(), name, random_.one_in(3) ? "" : hold.subject);
        if (hold.cause.reason == Reason::answer_wanted && !random_.one_in(4))
          return request("answer", name, "", Json::object({{"comment", "go on"}}));
      }
    if (random_.one_in(3))
      return decide(any_verb(), name, random_.pick(approvals));  // nobody asked
    request(random_.pick(controls), name, "", Json::object());
  }

  /// The decision that is waited for, or a pause, written into the file.
  void person_by_file() {
    const std::string& name = random_.pick(all_names);
    const FlowRecord* const known = record(name);
    const std::string* const bytes = world_.disk.file(path_of(name));
    const auto state = bytes == nullptr ? Result<Json>(Json()) : parse_json(*bytes);
    if (known == nullptr || !state || !(*state)->IsObject() || live(name) > 0)
      return;
    std::vector<json::Edit> edits;
    for (const Hold& hold : known->decision.holds) {
      if (hold.cause.reason != Reason::approval_wanted)
        continue;
      static const std::vector<std::string> words = {"approved", "approved", "changes_requested"};
      const std::string& said = random_.pick(words);
      const std::string id = word();
      said_.back() = PersonWord{hold.subject, said, validations(**state, hold.subject)};
      edits = {{"/human_approvals/approval_history/-",
                "{\"approval_type\": " + json::quote(hold.subject) +
                    ", \"status\": " + json::quote(said) +
                    ", \"approver\": \"ann\", \"comments\": " + json::quote(id) +
                    ", \"timestamp\": " + json::quote(iso_time(world_.clock.at)) + "}"},
               {"/human_approvals/" + hold.subject + "_approved",
                said == "approved" ? "true" : "false"}};
    }
    if (edits.empty() && random_.one_in(4) && text_at(**state, "status") == "running")
      edits = {{"/status", "\"paused\""}};
    if (const auto written = json::splice(*bytes, edits); written && !edits.empty())
      world_.disk.write(path_of(name), *written);
  }

  void happen() {
    read_copies();
    const auto running = world_.agents.in(FakeAgents::State::running);
    const std::size_t what = random_.below(18);
    if (what < 9) {
      if (!running.empty())
        work(*random_.pick(running), false);
    } else if (what == 9) {
      person();
    } else if (what < 12) {
      person_by_file();
    } else if (what == 12) {
      chance_.trouble();
      was_full_ = was_full_ || world_.disk.full;
    } else if (what < 15) {
      world_.fuse.light(1 + random_.below(40));
    } else if (what == 15 && random_.one_in(chance_.mutant == "no_sync" ? 2 : 6)) {
      chance_.power_cut();
    } else {
      world_.clock.advance(Millis(random_.below(3000)));
    }
    world_.agents.tick();
    read_copies();
  }

  // ---- what must hold ---------------------------------------------------------------------------

  /// A person's decision.
  struct PersonWord {
    std::string approval;
    std::string status;
    std::optional<std::size_t> validations;  ///< when it was given
  };

  void check() {
    chance_.check();
    std::set<std::string> busy;
    for (const Shim* const shim : world_.agents.in(FakeAgents::State::running))
      if (!busy.insert(shim->launch.key.flow.name + "#" + shim->launch.key.subject).second)
        chance_.say("two agents work on " + shim->launch.key.subject);
  }

  void committed(const Commit& commit) {
    for (const Reply& reply : commit.replies) {
      const auto& [verb, name] = verbs_.at(std::stoul(reply.request.substr(8)) - 10'000);
      if (!reply.accepted)
        continue;
      Known& known = known_[name];
      if (verb == "pause" || verb == "stop" || verb == "resume")
        known.halted = verb != "resume";
      known.reopened += verb == "revise" ? 1U : 0U;
    }
    for (const auto& [row, bytes] : commit.accepted)
      for (const std::string& name : all_names)
        if (row.path == path_of(name))
          look(name, **parse_json(bytes));
    for (const Run& run : commit.runs)
      if (runs_.insert(run.id).second)
        started(run);
  }

  void look(const std::string& name, const Value& root) {
    Known& known = known_[name];
    look_at_decisions(name, root, known);
    look_at_history(name, root, known);
    const Value* const criteria = json::at(root, "/convergence_status/convergence_criteria");
    const std::string fixed = text_at(root, "workflow_id") + text_at(root, "created_at") +
                              (criteria == nullptr ? "" : json::dump(*criteria)) +
                              json::dump(*json::at(root, "/requirements"));
    if (!known.fixed.empty() && fixed != known.fixed)
      chance_.say(name + " had something changed that is fixed");
    known.fixed = fixed;
    const std::string status = text_at(root, "status");
    static const std::set<std::string> ends = {"completed", "failed", "cancelled"};
    const bool code = text_at(root, "current_phase") == "phase_2";
    const bool back = std::exchange(known.code, code) && !code;
    if ((back || (ends.contains(known.status) && status != known.status)) && known.reopened-- == 0)
      chance_.say(name + " was " + known.status + ", and nobody has asked for more");
    if (back)
      known.helped = rounds(root, "phase_1");
    if (known.status == "paused" && status == "running")
      known.helped = rounds(root, "phase_1");
    if (status == "completed" &&
        (!pass(code_scores(root)) || !decided(root, "code") || !decided(root, "final")))
      chance_.say(name + " is completed, and is not");
    if (code && plan_open(root))
      chance_.say(name + " is in phase_2, and its plan is not good and approved");
    known.status = status;
  }

  bool plan_open(const Value& root) const {
    const auto entries = list_at(root, "/step_history");
    const auto first = std::min(first_of_plan(root), entries.size());
    const bool begun =
        std::any_of(entries.begin() + static_cast<std::ptrdiff_t>(first), entries.end(),
                    [](const Value* entry) { return step_of(*entry) > 3; });
    return !begun && (!pass(plan_scores(root)) || !decided(root, "plan"));
  }

  /// Approved, about the newest validation, by a person, or not asked about.
  bool decided(const Value& root, std::string_view approval) const {
    if (!asked(approval))
      return true;
    const PersonWord* newest = nullptr;
    for (const Value* const decision : list_at(root, "/human_approvals/approval_history"))
      if (json::text(*decision, "approval_type") == approval)
        newest = said(*decision);
    return newest != nullptr && newest->status == "approved" &&
           newest->validations == validations(root, approval);
  }

  const PersonWord* said(const Value& decision) const {
    const std::string comment = text_at(decision, "comments");
    if (!comment.starts_with("word-"))
      return nullptr;
    return &said_.at(std::stoul(comment.substr(5)));
  }

  void look_at_decisions(const std::string& name, const Value& root, Known& known) {
    std::vector<std::string> all;
    for (const Value* const decision : list_at(root, "/human_approvals/approval_history")) {
      all.push_back(text_at(*decision, "comments"));
      const PersonWord* const person = said(*decision);
      if (person == nullptr) {
        chance_.say(name + " has a decision that no person has taken");
        continue;
      }
      PersonWord& fresh = said_.at(std::stoul(all.back().substr(5)));
      if (!fresh.validations)
        fresh = PersonWord{text_at(*decision, "approval_type"), text_at(*decision, "status"),
                           validations(root, text_at(*decision, "approval_type"))};
    }
    if (!std::equal(known.decisions.begin(), known.decisions.end(), all.begin(),
                    all.begin() +
                        static_cast<std::ptrdiff_t>(std::min(all.size(), known.decisions.size()))))
      chance_.say(name + " has lost a decision");
    known.decisions = std::move(all);
  }

  void look_at_history(const std::string& name, const Value& root, Known& known) {
    const auto all = list_at(root, "/step_history");
    std::set<std::string> outputs;
    std::size_t working = 0;
    for (const auto& [at, output] : known.done)
      if (at >= all.size() || !completed(*all[at]) || json::dump(*all[at]) != output)
        chance_.say(name + " has lost what was done as entry " + std::to_string(at));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Value& entry = *all[i];
      working += json::text(entry, "status") == "in_progress" ? 1U : 0U;
      if (!completed(entry))
        continue;
      if (i + 2 < all.size())
        known.done[i] = json::dump(entry);
      const Value* const output = json::child(entry, "output");
      const std::string by = output == nullptr ? "" : text_at(*output, "by");
      const auto shim = world_.agents.shims.find(by);
      if (shim == world_.agents.shims.end() || shim->second.launch.key.subject != subject_of(entry))
        chance_.say(name + " has an entry that nobody has made: " + json::dump(entry));
      if (!outputs.insert(by).second)
        chance_.say(name + " has two entries of one run");
    }
    if (working > (parallel_ ? 2U : 1U))
      chance_.say(name + " has too many entries in progress");
  }

  void started(const Run& run) {
    const std::string& name = run.key.flow.name;
    const Json state = accepted(name);
    const std::string now = text_at(*state, "status");
    const Known& known = known_[name];
    if (now != "initialized" && now != "running")
      chance_.say(run.key.subject + " was started, and " + name + " is " + now);
    if (known.halted)
      chance_.say(run.key.subject + " was started, and " + name + " was halted");
    if (run.key.subject == "4" && plan_open(*state))
      chance_.say("code is written for a plan that is not good and approved");
    const auto all = list_at(*state, "/convergence_status/convergence_history");
    const bool new_plan = run.key.subject == "3" && !pass(plan_scores(*state));
    if (new_plan && rounds(*state, "phase_1") - known.helped >= kPlanAttempts)
      chance_.say("a plan too many is made");
  }

  // ---- the end ----------------------------------------------------------------------------------

  bool over() {
    return std::all_of(all_names.begin(), all_names.end(),
                       [&](const std::string& name) {
                         const std::string now = status(name);
                         return (now == "completed" || now == "cancelled" || now == "failed") &&
                                live(name) == 0;
                       }) &&
           // What baton has said it would write stands on the disk.
           world_.requests.waiting.empty() && world_.journal.tables.intents.empty() &&
           world_.engine != nullptr;
  }

  /// The trouble is over: agents do their work well, people say yes.
  void rest(int round) {
    chance_.settle();
    repair();
    chance_.guarded([&] { return world_.settle(); });
    for (const Shim* const shim : world_.agents.in(FakeAgents::State::running))
      work(*shim, true);
    chance_.guarded([&] { return world_.settle(); });
    for (const std::string& name : all_names)
      help(name, round);
    chance_.guarded([&] { return world_.settle(); });
    chance_.guarded([&] { return world_.pass(Millis(3000)); });
    check();
  }

  void help(const std::string& name, int round) {
    const FlowRecord* const known = record(name);
    if (known == nullptr)
      return;
    if (known->control.control != Control::run)
      return request("resume", name, "", Json::object());
    // Who has written his decision into the file waits until it is seen.
    const std::string* const bytes = world_.disk.file(path_of(name));
    const auto row = world_.journal.tables.accepted.find(path_of(name));
    if (bytes != nullptr && row != world_.journal.tables.accepted.end() &&
        *bytes != row->second.second)
      return;
    for (const Hold& hold : known->decision.holds) {
      if (hold.cause.reason == Reason::approval_wanted)
        return decide("approve", name, hold.subject);
      if (hold.cause.reason == Reason::answer_wanted)
        return request("answer", name, "", Json::object({{"comment", "go on"}}));
    }
    if (status(name) == "paused")
      return request("resume", name, "", Json::object());
    if (round % 8 == 7)
      request("retry", name, "", Json::object());
  }

  /// What was left torn or wrong is nobody's but a person's to put right.
  void repair() {
    for (const std::string& name : all_names) {
      const auto row = world_.journal.tables.accepted.find(path_of(name));
      const std::string* const bytes = world_.disk.file(path_of(name));
      if (row != world_.journal.tables.accepted.end() && bytes != nullptr &&
          (!parse_json(*bytes) || world_.journal.tables.rejected.contains(path_of(name))))
        world_.disk.write(path_of(name), row->second.second);
    }
  }

  void at_rest() {
    if (!over())
      chance_.say("the workflows do not come to their end");
    for (const std::string& name : all_names) {
      counts_.completed += status(name) == "completed" ? 1U : 0U;
      check_recorded(name);
      check_rules(name);
      if (!was_full_)
        check_backups(name);
    }
    chance_.check_known();
    chance_.check_restart();
  }

  /// Steps and rounds are recorded, each once and in order.
  void check_recorded(const std::string& name) {
    const Json state = accepted(name);
    std::vector<std::int64_t> steps;
    std::map<std::string, std::int64_t> judged;
    std::set<char> halves;
    for (const Value* const entry : list_at(*state, "/step_history")) {
      if (steps.empty() || steps.back() != step_of(*entry))
        steps.push_back(step_of(*entry));
      judged["phase_1"] += step_of(*entry) == 2 && completed(*entry) ? 1 : 0;
      if (step_of(*entry) == 4 || step_of(*entry) == 6)
        halves.clear();
      if (validates_code(*entry) && completed(*entry) &&
          halves.insert(subject_of(*entry)[1]).second && halves.size() == 2)
        ++judged["phase_2"];
      for (const Value* const tried : list_at(*entry, "/error_info/recovery_strategies"))
        if (completed(*entry) && text_at(*tried, "result").empty())
          chance_.say("how a retry of " + name + " came out is not noted");
    }
    std::vector<std::int64_t> noted;
    for (const Value* const transition : list_at(*state, "/step_transitions"))
      noted.push_back(json::integer(*transition, "to_step").value_or(0));
    if (noted != steps)
      chance_.say("step_transitions of " + name + " are not its steps");
    for (const auto& [phase, count] : judged)
      if (rounds(*state, phase) != count)
        chance_.say(name + " had " + std::to_string(count) + " rounds of " + phase + ", and " +
                    std::to_string(rounds(*state, phase)) + " are recorded");
    const auto phases = list_at(*state, "/phase_transitions").size();
    if ((phases % 2 == 1) != (text_at(*state, "current_phase") == "phase_2"))
      chance_.say("phase_transitions of " + name + " tell of " + std::to_string(phases));
  }

  /// No rule of the format page has anything to say.
  void check_rules(const std::string& name) {
    const auto row = world_.journal.tables.accepted.find(path_of(name));
    if (row == world_.journal.tables.accepted.end())
      return chance_.say("nothing of " + name + " was ever accepted");
    auto document = load_document(row->second.second, Format::json);
    if (!document)
      return chance_.say("what was accepted is no JSON");
    const Json options = Json::object({{"approvals", *parse_json(asked_)}});
    for (const Finding& finding :
         dialect("ml_workflow")->check(path_of(name), Accepted{*document, "state"}, options, {}))
      chance_.say(name + " breaks " + finding.rule + " at " + finding.pointer + ": " +
                  finding.message);
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
    if (newest.empty())
      return chance_.say(name + " has no backup");
    const auto text = gunzip(*world_.disk.file(newest), kMostBytes);
    const auto state = text ? parse_json(*text) : Result<Json>(Json());
    const auto done = [](const Json& from) {
      const auto all = list_at(*from, "/step_history");
      return std::count_if(all.begin(), all.end(),
                           [](const Value* entry) { return completed(*entry); });
    };
    if (!text || !state || done(*state) != done(accepted(name)))
      chance_.say("the newest backup of " + name + " is not whole");
  }

  void trace() {
    for (const Event& event : world_.journal.tables.events)
      std::printf("%s %s %s %s %s: %s\n", iso_time(event.time).c_str(), event.event.c_str(),
                  event.flow.name.c_str(), event.subject.c_str(), event.run.substr(0, 8).c_str(),
                  event.why.c_str());
    for (const std::string& name : all_names) {
      std::printf("%s\n", accepted(name).pretty().c_str());
      if (const FlowRecord* const known = record(name))
        for (const Hold& hold : known->holds)
          std::printf("%s %s: %s\n", hold.subject.c_str(), baton::text(hold.cause).c_str(),
                      hold.why.c_str());
    }
  }

  SeededWorld chance_;
  World& world_ = chance_.world;
  Random& random_ = chance_.random;
  Counts& counts_;
  bool tracing_;
  std::string asked_;
  bool parallel_;
  bool was_full_ = false;
  std::map<RunId, std::string> copies_;
  std::map<std::string, Known> known_;
  std::set<RunId> runs_;
  std::vector<PersonWord> said_;
  std::vector<std::pair<std::string, std::string>> verbs_;  ///< and workflows, of requests
};

int simulate(const std::vector<std::string>& words) {
  Counts counts;
  Sweep all;
  all.program = "baton_workflow_simulation";
  all.mutants = protocol_mutants();
  for (const WorkflowMutant& mutant : workflow_mutants())
    all.mutants.push_back(mutant.name);
  all.trial = [&](std::uint64_t seed, std::string_view mutant, bool trace) {
    return Workflows(seed, mutant, counts, trace).run();
  };
  all.summary = [&] {
    return std::to_string(counts.flow_index.worlds) + " worlds, " + std::to_string(counts.starts) +
           " starts, " + std::to_string(counts.flow_index.crashes) + " crashes, " +
           std::to_string(counts.flow_index.power_cuts) + " power cuts, " +
           std::to_string(counts.completed) + " completed, " +
           std::to_string(counts.events["merged"]) + " merged, " +
           std::to_string(counts.events["restored"]) + " restored, " +
           std::to_string(counts.events["rejected"]) + " rejected, " +
           std::to_string(counts.events["escalated"]) + " escalated";
  };
  return sweep(all, words);
}

}  // namespace
}  // namespace baton::testing

int main(int count, char** values) {
  return baton::testing::simulate(std::vector<std::string>(values + 1, values + count));
}
