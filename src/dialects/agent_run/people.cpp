#include "dialects/agent_run/people.h"

#include <vector>

#include "base/text.h"
#include "dialects/agent_run/progress.h"
#include "dialects/findings.h"

namespace baton::agent_run {
namespace {

std::vector<std::string> waiting(const Scene& scene) {
  std::vector<std::string> ids;
  for (const Step& step : scene.workflow->steps())
    if (scene.record(step.id).status == Status::waiting_on_human)
      ids.push_back(step.id);
  return ids;
}

}  // namespace

Reply heard(Scene& scene, const Request& request, Decision& decision) {
  const auto refused = [&](std::string why) { return Reply{request.id, false, std::move(why)}; };
  const std::vector<std::string> ids = waiting(scene);
  std::string id = request.subject;
  if (id.empty() && ids.size() == 1)
    id = ids.front();
  const Step* const step = scene.workflow->step(id);
  if (!id.empty() && step == nullptr)
    return refused("the workflow has no step " + quoted_word(id));
  if (step == nullptr || scene.record(id).status != Status::waiting_on_human)
    return refused(
        ids.empty() ? "no step of the run waits for a person"
                    : (id.empty() ? std::string("which step?")
                                  : "the step " + quoted_word(id) + " does not wait for a person") +
                          " Waiting: " + join(ids, ", "));
  if (request.verb == "answer")
    return refused("the step " + quoted_word(id) +
                   " needs a decision: `baton approve` or `baton reject`");
  const bool approved = request.verb == "approve";
  const std::string comment(json::text(*request.arguments, "comment").value_or(""));
  Json said = Json::object({{"decision", approved ? "approve" : "reject"}});
  if (!comment.empty())
    said.set("comments", Json(comment));
  said.set("by", Json(request.by));
  said.set("at", Json(stamp(scene.view.wall)));
  decision.updates.emplace_back(Create{scene.places.archived_input(id, scene.memo.steps[id].label),
                                       said.pretty(), "a person has decided"});
  settle(scene, *step, Verdict{approved, comment}, decision);
  return Reply{request.id, true, id + (approved ? " is approved" : " is rejected")};
}

}  // namespace baton::agent_run
