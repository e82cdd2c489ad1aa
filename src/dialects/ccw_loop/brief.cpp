// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "dialects/ccw_loop/ccw_loop.h"
#include "dialects/ccw_loop/progress.h"
#include "dialects/kinds.h"

namespace baton::ccw_loop {

Brief brief(const View& view, const Desired& desired) {
  constexpr std::size_t kTailBytes = 4096;
  const Snapshot snapshot(view);
  const Loop& loop = snapshot.loop;
  Brief brief;
  if (loop.root == nullptr)
    return brief;
  const bool single = snapshot.options.granularity == Granularity::action;
  const std::string description = loop.text("description");
  const TaskList prepared = task_list(view.docs);
  const Run* const last = snapshot.job.last;
  const std::string output = last == nullptr ? "" : last->output;
  const Value* const errors = json::at(*loop.root, "/skill_state/errors");
  brief.state_file = loop.path;
  brief.values = {
      {"loop_id", view.flow.name},
      {"progress_dir",
       view.env.root + "/" + snapshot.options.path + "/" + view.flow.name + ".progress"},
      {"action", desired.purpose},
      {"mode", snapshot.interactive() ? "interactive" : "auto"},
      {"task", description.empty() ? loop.text("title") : description},
      {"single_action", single ? desired.purpose : ""},
      {"iteration_limit", single ? "" : json::dump(member(*loop.root, "max_iterations"))},
      {"answer", snapshot.memo.choice_key == snapshot.job.key() ? snapshot.memo.answer : ""},
      {"rejected", rejected_lines(view)},
      {"last_action", last == nullptr ? "" : last->purpose},
      {"last_end", last == nullptr ? "" : how_it_ended(*last)},
      {"last_output", output.substr(output.size() - std::min(output.size(), kTailBytes))},
      {"errors", items_in(errors).Empty() ? "" : pretty_text(errors)},
      {"task_files", join(prepared.paths, ", ")},
      {"tasks", prepared.tasks.empty() ? "" : develop_tasks(prepared).pretty()},
      {"state", loop.file->document->text()}};
  brief.env = {{"CCW_LOOP_ID", view.flow.name},
               {"CCW_LOOP_PROGRESS_DIR", brief.values["progress_dir"]},
               {"CCW_LOOP_ACTION", desired.purpose},
               {"CCW_LOOP_MODE", brief.values["mode"]}};
  return brief;
}

}  // namespace baton::ccw_loop
