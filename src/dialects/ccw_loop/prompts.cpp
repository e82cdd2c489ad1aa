#include "dialects/ccw_loop/prompts.h"

#include <algorithm>

#include "base/text.h"
#include "dialects/ccw_loop/progress.h"
#include "dialects/ccw_loop/snapshot.h"

namespace baton::ccw_loop {

namespace {

constexpr std::size_t kTailBytes = 4096;

struct Task {
  std::string_view word;
  Action action;
  std::string_view text;
};
constexpr std::array kTasks = {
    Task{"init", Action::init,
         "INIT: split the task into 3 to 7 tasks (or take the prepared ones below as they are), "
         "write `skill_state` with all of its members, and begin develop.md."},
    Task{"develop", Action::develop,
         "DEVELOP: take the first task that is in_progress or pending, do it, set it `completed` "
         "with files_changed and completed_at, bring `develop.completed` and "
         "`develop.last_progress_at` up to date, append to develop.md and changes.log."},
    Task{
        "debug", Action::debug,
        "DEBUG: find out why the validation fails. Make hypotheses, look for evidence (debug.log), "
        "confirm or reject them; write `skill_state.debug` with `last_analysis_at`, "
        "hypotheses.json and debug.md. A fix is a new pending task, or done at once."},
    Task{"validate", Action::validate,
         "VALIDATE: run the tests and write `skill_state.validate`: test_results, pass_rate, "
         "passed, failed_tests, last_run_at; also test-results.json and validate.md."},
    Task{"complete", Action::complete,
         "COMPLETE: write summary.md and `skill_state.summary`, then set `status` to `completed` "
         "and `completed_at`."},
};
static_assert(in_enum_order(kTasks, &Task::action, Action::complete));

std::string_view task_text(std::string_view purpose) {
  const auto action = parse_action(purpose);
  return action ? kTasks.at(static_cast<std::size_t>(*action)).text : std::string_view();
}

void section(std::string& prompt, std::string_view title, const std::string& text) {
  if (!text.empty())
    prompt += "\n## " + std::string(title) + "\n\n" + text + (text.ends_with('\n') ? "" : "\n");
}

std::string json_block(const std::string& text) {
  return "```json\n" + text + (text.ends_with('\n') ? "" : "\n") + "```\n";
}

/// Whether the executor goes on by itself, and who counts.
std::string manner(const Snapshot& snapshot) {
  if (snapshot.options.granularity == Granularity::action)
    return "Do this one action, then end. Do not raise current_iteration: baton counts.";
  return "Then go on with the next action: develop while a task is pending, then validate; debug "
         "what fails; complete when the validation has passed. Raise current_iteration by 1 with "
         "each develop, debug and validate; end when it reaches max_iterations.";
}

std::string rules(const Snapshot& snapshot, const std::string& state_file) {
  return "- At the start of every action read " + state_file +
         " anew. If `status` is not `running`, end at once without writing it: `paused` means come "
         "back later, everything else means stop.\n"
         "- Change only " +
         std::string(snapshot.options.granularity == Granularity::action
                         ? "`skill_state`"
                         : "`skill_state`, `current_iteration`") +
         " and `updated_at` of it (and `status` "
         "when you complete). Everything else belongs to others. Write the file whole, and never "
         "from a copy you read before the action began.\n"
         "- Check it before you write: `" +
         snapshot.view.env.executable +
         " validate --as ccw_loop/state FILE`.\n"
         "- What you print is kept. If you like, end with a block that begins with "
         "`ACTION_RESULT:` and names `NEXT_ACTION_NEEDED:`; the file counts, not the block.\n";
}

std::string refusals(const Snapshot& snapshot) {
  std::string all;
  for (const auto& [path, accepted] : snapshot.view.docs) {
    auto findings = parse_json(accepted.rejected);
    if (accepted.rejected.empty() || !findings || !(*findings)->IsArray())
      continue;
    for (const Value& finding : (*findings)->GetArray()) {
      all += "- " + path + ":" + std::to_string(json::integer(finding, "line").value_or(0)) + " " +
             text_of(finding, "pointer") + ": " + text_of(finding, "message");
      // A message about JSON's syntax says itself what is expected.
      const std::string expected = text_of(finding, "expected");
      if (!expected.empty() && text_of(finding, "rule") != "json")
        all += "; expected: " + expected;
      all += "\n";
    }
  }
  return all.empty() ? all
                     : "A newer version of these files stands there and was refused; put it "
                       "right:\n" +
                           all;
}

/// How the last executor ended and the last of what it printed.
std::string last_attempt(const Snapshot& snapshot) {
  const Run* const last = snapshot.job.last;
  if (last == nullptr)
    return {};
  std::string text = "It was to " + last->purpose + " and ended as " + how_it_ended(*last) + ".\n";
  const std::string_view output = last->output;
  const std::string tail(output.substr(output.size() - std::min(output.size(), kTailBytes)));
  if (!tail.empty())
    text += "The last of what it printed:\n\n```\n" + tail + (tail.ends_with('\n') ? "" : "\n") +
            "```\n";
  if (snapshot.loop.skill != nullptr && !list(*snapshot.loop.skill, "errors").Empty())
    text += "Errors so far:\n" + json_block(json::dump(list(*snapshot.loop.skill, "errors")));
  return text;
}

std::string tasks(const Snapshot& snapshot) {
  const TaskList prepared = task_list(snapshot.view.docs);
  if (prepared.tasks.empty())
    return {};
  std::string text = "From " + join(prepared.paths, ", ") + ".";
  if (snapshot.loop.skill == nullptr)
    text += " Take them as `skill_state.develop.tasks`:";
  return text + "\n" + json_block(develop_tasks(prepared).pretty());
}

}  // namespace

Brief brief(const View& view, const Desired& desired) {
  const Snapshot snapshot(view);
  Brief brief;
  if (snapshot.loop.root == nullptr)
    return brief;
  const std::string folder = snapshot.options.path + "/" + view.flow.name + ".progress";
  brief.state_file = snapshot.loop.path;
  brief.values = {{"loop_id", view.flow.name},
                  {"progress_dir", view.env.root + "/" + folder},
                  {"action", desired.purpose},
                  {"mode", snapshot.interactive() ? "interactive" : "auto"}};
  for (const auto& [name, variable] :
       {std::pair("loop_id", "CCW_LOOP_ID"), std::pair("progress_dir", "CCW_LOOP_PROGRESS_DIR"),
        std::pair("action", "CCW_LOOP_ACTION"), std::pair("mode", "CCW_LOOP_MODE")})
    brief.env.emplace_back(variable, brief.values.at(name));
  std::string& prompt = brief.prompt;
  prompt = "You are the executor of the loop " + view.flow.name + " in the project " +
           view.env.root +
           ". You remember nothing of earlier runs; the files below are the only memory.\n";
  section(prompt, "The task",
          snapshot.loop.text("description").empty() ? snapshot.loop.text("title")
                                                    : snapshot.loop.text("description"));
  section(prompt, "Your action: " + desired.purpose,
          std::string(task_text(desired.purpose)) + "\n" + manner(snapshot));
  section(prompt, "Why you were started", desired.why);
  section(prompt, "What a person says about it",
          snapshot.memo.choice_key == snapshot.job.key() ? snapshot.memo.answer : "");
  section(prompt, "Mode", brief.values.at("mode"));
  section(prompt, "Files",
          "- state file: " + view.env.root + "/" + snapshot.loop.path +
              "\n- progress directory: " + view.env.root + "/" + folder +
              " (develop.md, debug.md, validate.md, summary.md, changes.log, debug.log, "
              "hypotheses.json, test-results.json)\n");
  section(prompt, "Rules", rules(snapshot, snapshot.loop.path));
  section(prompt, "Not accepted", refusals(snapshot));
  section(prompt, "The last executor", last_attempt(snapshot));
  section(prompt, "Prepared tasks", tasks(snapshot));
  section(prompt, "The state as it stands", json_block(snapshot.loop.file->document->text()));
  return brief;
}

}  // namespace baton::ccw_loop
