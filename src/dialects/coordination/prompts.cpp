#include "dialects/coordination/prompts.h"

#include <algorithm>
#include <array>

#include "dialects/coordination/decide.h"

namespace baton::coordination {
namespace {

constexpr std::int64_t kStrongAfter = 3;
constexpr std::int64_t kSummariseAfter = 10;
constexpr std::size_t kLastDecisions = 3;

/// What a purpose asks for, in one sentence or two.
struct Task {
  std::string_view role;
  std::string_view purpose;
  std::string_view text;
};
constexpr std::array kTasks = {
    Task{kManager, "planning",
         "Plan the work: choose `mode` (`simple`: one group with the id `main`, for one feature, "
         "shared files or doubt; `parallel`: two to four independent groups at a time, more in "
         "phases), write `mode_reasoning`, `all_tasks`, `task_groups` with files, branch, "
         "`depends_on` and `can_parallel`, and `execution_phases`."},
    Task{
        kManager, "repair_plan",
        "The plan was rejected for its groups or their dependencies; the findings are below. Write "
        "it again."},
    Task{kManager, "phase_completion",
         "A phase is finished. Look at what came of it, bring your plan up to date, then end; the "
         "next phase begins when you have."},
    Task{kManager, "final_check",
         "Every planned group is complete. Compare the result with ALL of the original "
         "requirements. Is something missing, add groups to the plan. Is nothing missing, say so: "
         "set the member `signal` of pm_state.json to the completion word, or end your answer with "
         "it."},
    Task{kManager, "stuck",
         "The group below does not get any further. Find out why, then make it smaller, clearer or "
         "different: split it, change its tasks, its order or its files. A group you take out of "
         "the plan has to be removed from group_status.json as well."},
    Task{kManager, "mediate",
         "Developer and tech lead do not come to an agreement on the group below. Decide: say in "
         "the plan what counts, or plan the group anew."},
    Task{kManager, "review_blocked",
         "The tech lead comes to no verdict on the group below. Say in the plan what is to be "
         "reviewed and what counts, or plan the group anew."},
    Task{kDeveloper, "implement", "Implement the group below."},
    Task{
        kDeveloper, "continue",
        "Somebody has begun the group below and ended without handing it on. See what is there and "
        "finish it."},
    Task{kDeveloper, "continue_with_solution",
         "The group below was blocked; the tech lead has found a way. Take it and go on."},
    Task{kDeveloper, "fix_tests", "The tests of the group below fail. Make them pass."},
    Task{kDeveloper, "revise", "The review of the group below asks for changes. Make them."},
    Task{kQa, "test", "Test the group below: integration, contract and end-to-end tests."},
    Task{kTechLead, "review",
         "Review the group below against the original requirements: correct, safe, complete."},
    Task{kTechLead, "unblock",
         "The developer of the group below cannot go on. Find a way for every open blocker."},
    Task{
        kTechLead, "guidance",
        "The developer of the group below has ended twice without a result. Find out what keeps it "
        "and say how to go on."},
    Task{kTechLead, "troubleshoot",
         "The runs of the developer of the group below fail. Find out why and put it right."},
    Task{
        kTechLead, "explain_tests",
        "The tests of the group below have failed again and again. Explain what they mean and what "
        "has to change."},
    Task{kTechLead, "qa_blocked",
         "The QA expert gets no result for the group below. Put right what keeps it from testing."},
};

/// How what an agent writes has to look; for those who have never seen such a file.
constexpr const char* kPlanShape =
    R"(pm_state.json, besides `session_id` and `original_requirements`:

```json
{
  "mode": "parallel",
  "mode_reasoning": "why",
  "all_tasks": [{"id": "T1", "description": "what is to be done", "group_id": "A", "status": "pending"}],
  "task_groups": [
    {"id": "A", "name": "what it is about", "tasks": ["T1"], "files_affected": ["a.py"], "branch_name": "feature/a",
     "status": "pending", "can_parallel": true, "depends_on": []}
  ],
  "execution_phases": [{"phase_number": 1, "group_ids": ["A"], "parallel_count": 1, "status": "pending"}],
  "completed_groups": [], "in_progress_groups": [], "pending_groups": ["A"],
  "completion_percentage": 0,
  "iteration": 1,
  "last_update": "2026-01-22T10:00:00Z"
}
```
)";
constexpr const char* kFeedbackShape = R"(
An entry of `tech_lead_feedback`:

```json
{"iteration": 1, "decision": "changes_requested", "feedback": "what and why", "timestamp": "2026-01-22T10:00:00Z"}
```
)";

/// A result each mailbox knows.
constexpr std::array<std::string_view, 3> kResultOf = {"READY_FOR_QA", "PASS", "changes_requested"};

/// What an agent may leave behind, per role.
struct Outcomes {
  std::string_view role;
  std::string_view text;
};
constexpr std::array kOutcomes = {
    Outcomes{
        kManager,
        "- write pm_state.json: raise `iteration` by 1, set `last_update`, keep "
        "`original_requirements` as they are\n"
        "- remove the entries of groups you took out of the plan from group_status.json, after "
        "you have written the plan; change nothing else outside pm_state.json\n"},
    Outcomes{kDeveloper,
             "- done, with integration, contract or end-to-end tests touched: `status` "
             "`waiting_qa`, and a message with `status` `READY_FOR_QA` to dev_to_qa.json\n"
             "- done, without such tests: `status` `waiting_review`\n"
             "- you cannot go on: `status` `dev_blocked` and a new entry of `blockers` "
             "(`description`, `resolved` false)\n"
             "- also bring `files_modified`, `commits` and `test_results` up to date\n"},
    Outcomes{kQa,
             "- all tests pass: `status` `waiting_review`, and a message with `result` `PASS` to "
             "qa_to_techlead.json\n"
             "- a test fails: `status` `qa_failed`, and a message with `result` `FAIL` and what "
             "failed to qa_to_techlead.json\n"
             "- also bring `test_results` up to date\n"},
    Outcomes{
        kTechLead,
        "- review, all well: `status` `complete`, a new entry of `tech_lead_feedback` with "
        "`decision` `approved`, and the same as a message to techlead_to_dev.json\n"
        "- review, changes needed: `status` `changes_requested`, feedback and message with "
        "`decision` `changes_requested`, with `issues` and `actionable_items`\n"
        "- unblocking: leave `status`, set `resolved` true and `resolution` for every blocker, "
        "and send a message with `decision` `unblocked` to techlead_to_dev.json\n"
        "- never send the completion word; that is the project manager's\n"},
};

template <class Rows>
std::string_view text_in(const Rows& rows, std::string_view role) {
  for (const auto& row : rows)
    if (row.role == role)
      return row.text;
  return "";
}

std::string_view task_text(std::string_view role, std::string_view purpose) {
  for (const Task& task : kTasks)
    if (task.role == role && task.purpose == purpose)
      return task.text;
  return "";
}

void section(std::string& prompt, std::string_view title, const std::string& text) {
  if (!text.empty())
    prompt += "\n## " + std::string(title) + "\n\n" + text + (text.ends_with('\n') ? "" : "\n");
}

std::string block(const Value& value) {
  return "```json\n" + Json(value).pretty() + "```\n";
}

/// Not yet read ones; if all are read, the newest.
std::string mail(const Snapshot& snapshot, std::size_t box, std::string_view group) {
  const auto all = messages(snapshot.view.docs, box, group);
  Json chosen = Json::array();
  for (const Message& message : all)
    if (!json::boolean(*message.value, "read").value_or(false))
      chosen.push(Json(*message.value));
  if (chosen->Empty() && !all.empty())
    chosen.push(Json(*all.back().value));
  return chosen->Empty() ? std::string() : block(*chosen);
}

std::string files_section(const Snapshot& snapshot, const std::string& role,
                          const Subject& subject) {
  const std::string base = snapshot.view.env.root + "/";
  std::string text = "- " + base + path_of(snapshot.options, "pm_state") + "\n- " + base +
                     path_of(snapshot.options, "group_status") + "\n";
  if (const auto box = outbox(role))
    text += "- " + base + path_of(snapshot.options, kMailboxes.at(*box).kind) +
            " (your messages: append, never remove)\n";
  if (role != kManager)
    text +=
        "\nOthers write group_status.json at the same time. Change only your group's entry; best "
        "so, which locks, checks and writes at once:\n\n"
        "    \"$BATON_EXE\" set \"" +
        base + path_of(snapshot.options, "group_status") +
        "\" '/GROUP/status=\"...\"'\n\n"
        "Or leave that file alone and write your group's whole entry as a file of its own, which "
        "is taken over from there:\n\n    " +
        base + snapshot.options.path + "/inbox/" + subject + ".json\n";
  return text;
}

std::string message_shape(const Snapshot& snapshot, std::size_t box, const Subject& group) {
  const MailboxRow& row = kMailboxes.at(box);
  Json brief = Json::object({{"group_id", group}, {"subject", "in a few words"}});
  brief.set(row.result, Json(kResultOf.at(box)));
  Json whole = Json::object({{"id", "msg_20260122_100000"},
                             {"group_id", group},
                             {"from", row.from},
                             {"to", row.to},
                             {"timestamp", "2026-01-22T10:00:00Z"},
                             {"subject", "in a few words"}});
  whole.set(row.result, Json(kResultOf.at(box)));
  whole.set("read", false);
  return "A message in the list `messages` of " + std::string(row.kind) +
         ".json, with an id of its own:\n\n" + block(*whole) +
         "\nBest sent so, which fills in what is left out:\n\n    \"$BATON_EXE\" send " +
         std::string(row.kind) + " --root \"" + snapshot.view.env.root + "\" '" + brief.dump() +
         "'\n";
}

std::string shapes(const Snapshot& snapshot, const std::string& role, const Subject& subject) {
  std::string text;
  if (const auto box = outbox(role))
    text = message_shape(snapshot, *box, subject);
  else if (role == kManager)
    text = kPlanShape;
  if (role == kTechLead)
    text += kFeedbackShape;
  return text +
         "\nTimes are written like that. Whether a file is right, and why not:\n\n"
         "    \"$BATON_EXE\" validate --root \"" +
         snapshot.view.env.root + "\" FILE\n";
}

std::string tasks_of(const Snapshot& snapshot, const Group& group) {
  const Value* const pm = root(snapshot.view.docs, "pm_state");
  if (pm == nullptr || group.task == nullptr)
    return {};
  const auto ids = texts_of(*group.task, "tasks");
  std::string text;
  for (const Value* const task : items(*pm, "all_tasks")) {
    const std::string id = text_of(*task, "id");
    if (json::text(*task, "group_id") == group.id ||
        std::find(ids.begin(), ids.end(), id) != ids.end())
      text += "- " + id + ": " + text_of(*task, "description") + "\n";
  }
  return text;
}

std::string peers(const Snapshot& snapshot, const Group& group) {
  std::string text = snapshot.plan.simple ? "Mode: simple.\n" : "Mode: parallel.\n";
  // Those started in the same step are not among the runs yet.
  for (const Group& other : snapshot.plan.groups) {
    if (other.id == group.id || !snapshot.plan.planned(other))
      continue;
    const Run* const run = snapshot.live_worker(other.id);
    if (run != nullptr && run->key.role == kDeveloper)
      text += "Another developer works on group " + other.id + ".\n";
    else if (!snapshot.plan.simple && stage_of(snapshot, other) == "dev" &&
             snapshot.plan.waits_for(other).empty())
      text += "Another developer may work on group " + other.id + " at the same time.\n";
  }
  for (const std::string& file : group.files)
    text += "You may touch: " + file + "\n";
  return text;
}

/// The first decisions matter less than the last ones.
std::string decisions(const Snapshot& snapshot) {
  const Value* const state = root(snapshot.view.docs, "orchestrator_state");
  if (state == nullptr)
    return {};
  const auto all = items(*state, "decisions_log");
  const bool many = json::integer(*state, "iteration").value_or(0) > kSummariseAfter;
  const std::size_t from = many && all.size() > kLastDecisions ? all.size() - kLastDecisions : 0;
  std::string text;
  if (from > 0)
    text = "(" + std::to_string(from) + " earlier decisions are left out)\n";
  for (std::size_t i = from; i < all.size(); ++i)
    text += "- " + std::to_string(json::integer(*all[i], "iteration").value_or(0)) + " " +
            text_of(*all[i], "decision") + ": " + text_of(*all[i], "reasoning") + "\n";
  return text;
}

/// What the project manager has not heard yet of a claim, and what is wrong with it now.
std::string refusals(const Snapshot& snapshot, const std::string& role) {
  std::vector<std::string> faults;
  if (role == kManager)
    faults = snapshot.memo.refusal;
  if ((completion_claimed(snapshot) && !snapshot.memo.used_up) || snapshot.memo.refused)
    for (std::string& fault : completion_faults(snapshot))
      if (std::find(faults.begin(), faults.end(), fault) == faults.end())
        faults.push_back(std::move(fault));
  std::string text;
  for (const std::string& fault : faults)
    text += "- " + fault + "\n";
  return text.empty() ? text : "Completion was claimed and refused, because\n" + text;
}

/// What stands in the files and was not accepted, so that the next one puts it right.
std::string rejected(const Snapshot& snapshot) {
  std::string text;
  for (const auto& [path, accepted] : snapshot.view.docs) {
    if (accepted.rejected.empty())
      continue;
    text += "- " + snapshot.view.env.root + "/" + path + ": the newest version was rejected";
    const auto findings = parse_json(accepted.rejected);
    if (findings && (*findings)->IsArray())
      for (const Value& finding : (*findings)->GetArray())
        text += "\n  " + text_of(finding, "pointer") + ": " + text_of(finding, "message") + " [" +
                text_of(finding, "rule") + "]";
    text += "\n";
  }
  return text;
}

/// What was written before and did not stay, so that nobody writes it once more.
std::string put_back(const Snapshot& snapshot, const Subject& subject) {
  std::string text;
  for (const PutBack& back : snapshot.memo.put_back)
    if (back.concerns(subject))
      text += "- " + snapshot.view.env.root + "/" + back.path + " " + back.pointer + ": " +
              back.why + "\n";
  return text;
}

void manager_sections(const Snapshot& snapshot, std::string& prompt) {
  if (const Value* const pm = root(snapshot.view.docs, "pm_state"))
    section(prompt, "Your plan so far (pm_state.json)", block(*pm));
  section(prompt, "Findings on the newest plan, which was rejected", bad_plan(snapshot));
  if (const Value* const status = root(snapshot.view.docs, "group_status"))
    section(prompt, "Where the groups stand (group_status.json)", block(*status));
  section(prompt, "What was done so far", decisions(snapshot));
  section(prompt, "Completion word", snapshot.options.completion_word);
}

/// How often the review has asked for changes, by the group's own count or the feedback.
std::int64_t revisions(const Group& group) {
  if (group.entry == nullptr)
    return 0;
  std::int64_t asked = 0;
  for (const Value* const feedback : items(*group.entry, "tech_lead_feedback"))
    asked += word_of(*feedback, "decision") == "changes_requested" ? 1 : 0;
  return std::max(asked, json::integer(*group.entry, "revision_count").value_or(0));
}

/// What the plan says success is: the original has no such member, plans have it all the same.
std::string success(const Snapshot& snapshot) {
  const Value* const pm = root(snapshot.view.docs, "pm_state");
  const Value* const given = pm == nullptr ? nullptr : json::child(*pm, "success_criteria");
  if (given == nullptr || given->IsNull())
    return {};
  return given->IsString() ? text_of(*pm, "success_criteria") : block(*given);
}

void group_sections(const Snapshot& snapshot, const Group& group, const std::string& role,
                    std::string& prompt) {
  section(prompt, "Success criteria", success(snapshot));
  if (group.task != nullptr)
    section(prompt, "Group " + group.id + ", as planned", block(*group.task));
  section(prompt, "Its tasks", tasks_of(snapshot, group));
  if (group.entry != nullptr)
    section(prompt, "Where it stands (its entry of group_status.json)", block(*group.entry));
  if (role == kDeveloper)
    section(prompt, "Peers and files", peers(snapshot, group));
  if (role == kTechLead)
    section(prompt, "Reviews so far that asked for changes", std::to_string(revisions(group)));
  std::string open;
  for (const std::string& blocker : open_blockers(group))
    open += "- " + blocker + "\n";
  section(prompt, "Open blockers", open);
  // There is no mailbox from QA back to the developer: the tech lead's holds the failures too.
  for (std::size_t box = 0; box < kMailboxes.size(); ++box)
    if (kMailboxes.at(box).to == role || kMailboxes.at(box).kind == "qa_to_techlead" ||
        role == kTechLead)
      section(prompt, "Messages: " + std::string(kMailboxes.at(box).kind),
              mail(snapshot, box, group.id));
}

std::string tier(const Group& group, const Desired& desired) {
  const bool strong = desired.role == kTechLead && revisions(group) >= kStrongAfter;
  return strong ? "strong" : "standard";
}

}  // namespace

Brief brief(const View& view, const Desired& desired) {
  const Snapshot snapshot(view);
  const Group* const group = snapshot.plan.find(desired.subject);
  Brief brief;
  brief.state_file =
      path_of(snapshot.options, desired.role == kManager ? "pm_state" : "group_status");
  std::string& prompt = brief.prompt;
  prompt = "You are the " + desired.role + " of a team that works on one project, " +
           view.env.root +
           ". You are started for one job and remember nothing of earlier ones; "
           "the files below are the only memory. Do the job, write down what you found, end.\n";
  section(prompt, "Your job: " + desired.purpose,
          std::string(task_text(desired.role, desired.purpose)));
  section(prompt, "Why you were started", desired.why);
  section(prompt, "Original requirements, in full", snapshot.plan.requirements);
  if (desired.role == kManager)
    manager_sections(snapshot, prompt);
  if (group != nullptr)
    group_sections(snapshot, *group, desired.role, prompt);
  section(prompt, "Not accepted", refusals(snapshot, desired.role));
  section(prompt, "Files as they stand that were rejected; the version before is in force",
          rejected(snapshot));
  section(prompt, "What was written before and put back or doubted, and why",
          put_back(snapshot, desired.subject));
  if (const auto memo = snapshot.memo.groups.find(desired.subject);
      memo != snapshot.memo.groups.end())
    section(prompt, "What a person says about it", memo->second.answer);
  section(prompt, "Files", files_section(snapshot, desired.role, desired.subject));
  section(prompt, "How it has to look", shapes(snapshot, desired.role, desired.subject));
  section(prompt, "How to end", std::string(text_in(kOutcomes, desired.role)));
  brief.values["group"] = group == nullptr ? "" : group->id;
  brief.values["branch"] =
      group == nullptr || group->task == nullptr ? "" : text_of(*group->task, "branch_name");
  brief.values["tier"] = group == nullptr ? "standard" : tier(*group, desired);
  for (const char* const name : {"group", "branch", "tier"}) {
    std::string variable = std::string("COORDINATION_") + name;
    std::transform(variable.begin(), variable.end(), variable.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    brief.env.emplace_back(std::move(variable), brief.values.at(name));
  }
  return brief;
}

}  // namespace baton::coordination
