#include "dialects/agent_run/workflow.h"

#include <algorithm>

#include "dialects/findings.h"

namespace baton::agent_run {

Workflow::Workflow(const Value& root) {
  const Value* const steps = json::child(root, "steps");
  if (steps == nullptr || !steps->IsArray())
    return;
  for (rapidjson::SizeType i = 0; i < steps->Size(); ++i) {
    const Value& body = (*steps)[i];
    Step step;
    step.id = json::text(body, "id").value_or("");
    step.pointer = item_pointer("/steps", i);
    step.needs = listed(json::child(body, "needs"));
    if (const auto target = json::text(body, "loop_back_to"))
      step.loop_back_to = std::string(*target);
    step.body = &body;
    index_.emplace(step.id, steps_.size());
    steps_.push_back(std::move(step));
  }
  for (const Step& step : steps_) {
    std::vector<std::size_t>& needs = needs_.emplace_back();
    for (const std::string& id : step.needs)
      if (const auto found = index_.find(id); found != index_.end())
        needs.push_back(found->second);
  }
}

const Step* Workflow::step(std::string_view id) const {
  const auto found = index_.find(id);
  return found == index_.end() ? nullptr : &steps_[found->second];
}

std::vector<std::string_view> Workflow::ids() const {
  std::vector<std::string_view> all;
  for (const Step& step : steps_)
    all.emplace_back(step.id);
  return all;
}

std::set<std::string> Workflow::ancestors(const Step& step) const {
  std::set<std::string> all;
  std::vector<bool> seen(steps_.size(), false);
  std::vector<std::size_t> next = needs_[static_cast<std::size_t>(&step - steps_.data())];
  while (!next.empty()) {
    const std::size_t one = next.back();
    next.pop_back();
    if (seen[one])
      continue;
    seen[one] = true;
    all.insert(steps_[one].id);
    for (const std::size_t need : needs_[one])
      if (!seen[need])
        next.push_back(need);
  }
  return all;
}

std::vector<std::string> Workflow::cycle() const {
  // Steps that nothing in the remaining set waits for are taken away until only circles, and what
  // stands behind them, are left.
  std::set<std::string> left;
  for (const Step& step : steps_)
    left.insert(step.id);
  const auto waits = [&](const Step& step) {
    return std::find_if(step.needs.begin(), step.needs.end(),
                        [&](const std::string& id) { return left.contains(id); });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Step& step : steps_)
      if (left.contains(step.id) && waits(step) == step.needs.end())
        changed = left.erase(step.id) > 0;
  }
  if (left.empty())
    return {};
  std::vector<std::string> way = {*left.begin()};
  for (;;) {
    const Step& last = *step(way.back());
    const std::string next = *waits(last);
    const auto seen = std::find(way.begin(), way.end(), next);
    if (seen != way.end()) {
      std::vector<std::string> circle(seen, way.end());
      circle.push_back(next);
      return circle;
    }
    way.push_back(next);
  }
}

std::vector<std::string> listed(const Value* value) {
  std::vector<std::string> all;
  if (value == nullptr)
    return all;
  if (const auto one = json::text(*value))
    all.emplace_back(*one);
  else if (value->IsArray())
    for (const Value& item : value->GetArray())
      if (const auto each = json::text(item))
        all.emplace_back(*each);
  return all;
}

}  // namespace baton::agent_run
