#include <algorithm>

#include "base/text.h"
#include "dialects/ccw_loop/decide.h"
#include "dialects/ccw_loop/scene.h"
#include "dialects/ccw_loop/tasks.h"
#include "dialects/kinds.h"

// The values for the prompts below schemas/ccw_loop/prompts.

namespace baton::ccw_loop {
namespace {

constexpr std::size_t kTailBytes = 4096;

/// How the last executor ended and the last of what it printed.
void add_last(const Scene& scene, Brief& brief) {
  const Run* const last = scene.job.last;
  if (last == nullptr)
    return;
  brief.parts["last_action"] = last->purpose;
  brief.parts["last_end"] = how_it_ended(*last);
  const std::string& output = last->output;
  brief.parts["last_output"] = output.substr(output.size() - std::min(output.size(), kTailBytes));
  if (scene.loop.skill != nullptr && !list(*scene.loop.skill, "errors").Empty())
    brief.parts["errors"] = pretty_text(&list(*scene.loop.skill, "errors"));
}

}  // namespace

Brief brief(const View& view, const Desired& desired) {
  const Scene scene(view);
  Brief brief;
  if (scene.loop.root == nullptr)
    return brief;
  const bool single = scene.options.granularity == Granularity::action;
  const std::string description = scene.loop.text("description");
  const TaskList prepared = task_list(view.docs);
  brief.state_file = scene.loop.path;
  brief.values = {{"loop_id", view.flow.name},
                  {"progress_dir",
                   view.env.root + "/" + scene.options.path + "/" + view.flow.name + ".progress"},
                  {"action", desired.purpose},
                  {"mode", scene.interactive() ? "interactive" : "auto"}};
  brief.env = {{"CCW_LOOP_ID", brief.values["loop_id"]},
               {"CCW_LOOP_PROGRESS_DIR", brief.values["progress_dir"]},
               {"CCW_LOOP_ACTION", brief.values["action"]},
               {"CCW_LOOP_MODE", brief.values["mode"]}};
  brief.parts = {
      {"task", description.empty() ? scene.loop.text("title") : description},
      {"single_action", single ? desired.purpose : ""},
      {"iteration_limit", single ? "" : json::dump(member(*scene.loop.root, "max_iterations"))},
      {"answer", scene.memo.choice_key == scene.job.key() ? scene.memo.answer : ""},
      {"rejected", rejected_lines(view)},
      {"task_files", join(prepared.paths, ", ")},
      {"tasks", prepared.tasks.empty() ? "" : develop_tasks(prepared).pretty()},
      {"state", scene.loop.file->document->text()}};
  add_last(scene, brief);
  return brief;
}

}  // namespace baton::ccw_loop
