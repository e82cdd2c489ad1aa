// SPDX-License-Identifier: Apache-2.0
#include "dialects/agent_run/workflow.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "dialects/agent_run/agent_run.h"
#include "dialects/agent_run/files.h"
#include "dialects/agent_run/snapshot.h"
#include "dialects/findings.h"

namespace baton::agent_run {
namespace {

constexpr std::array<std::string_view, 13> kStepKeys = {"id",
                                                        "agent",
                                                        "prompt",
                                                        "needs",
                                                        "next_on_success",
                                                        "gates",
                                                        "loop_back_to",
                                                        "human_in_the_loop",
                                                        "metadata",
                                                        "model",
                                                        "timeout",
                                                        "loop",
                                                        "max_attempts"};
constexpr std::array<std::string_view, 7> kLoopKeys = {
    "items",     "items_from_step", "items_from_artifact", "max_iterations", "item_var",
    "index_var", "parallel"};
constexpr std::array<std::string_view, 3> kSources = {"items", "items_from_step",
                                                      "items_from_artifact"};

class WorkflowCheck {
 public:
  explicit WorkflowCheck(const Value& root) : workflow_(root) {}

  Findings run() {
    std::set<std::string> seen;
    for (const Step& step : workflow_.steps()) {
      const std::string pointer = step.pointer + "/id";
      if (!seen.insert(step.id).second)
        findings_.error("S1", pointer, "two steps have the id " + quoted_word(step.id),
                        {.found = step.id});
      if (const std::string fault = id_fault(step.id); !fault.empty())
        findings_.error(
            "S3", pointer,
            "the id " + quoted_word(step.id) + " cannot be part of a file name: " + fault,
            {.found = step.id, .expected = "letters, digits, _ . - and blanks, at most 100 bytes"});
      check(step);
    }
    order();
    return findings_.take();
  }

 private:
  void check(const Step& step) {
    keys(*step.body, step.pointer, kStepKeys);
    for (const char* const key : {"needs", "next_on_success"})
      ids(step, key);
    if (step.loop_back_to)
      known(*step.loop_back_to, step.pointer + "/loop_back_to", "loop_back_to");
    gates(step);
    human(step);
    if (const Value* const loop = loop_of(step))
      check_loop(step, *loop, step.pointer + "/loop");
  }

  bool known(std::string_view id, const std::string& pointer, std::string_view key) {
    if (workflow_.step(id) != nullptr)
      return true;
    findings_.error(
        "S2", pointer,
        std::string(key) + " names the step " + quoted_word(id) + ", which does not exist",
        none_of_words(id, workflow_.ids()));
    return false;
  }

  void ids(const Step& step, const char* key) {
    const Value* const value = json::child(*step.body, key);
    if (value == nullptr)
      return;
    const std::string pointer = member_pointer(step.pointer, key);
    one_for_list(*value, pointer, key);
    const auto all = texts_of(value);
    for (std::size_t i = 0; i < all.size(); ++i)
      known(all[i], value->IsArray() ? item_pointer(pointer, i) : pointer, key);
  }

  void one_for_list(const Value& value, const std::string& pointer, std::string_view key) {
    if (const auto text = json::text(value))
      findings_.warning("S7", pointer,
                        std::string(key) + " is one text; it is read as a list of one",
                        {.found = std::string(*text), .expected = "[" + std::string(*text) + "]"});
  }

  /// Checks the gates. `- ci.tests: passed` without quotes is a map in YAML.
  void gates(const Step& step) {
    const Value* const gates = json::child(*step.body, "gates");
    if (gates == nullptr)
      return;
    const std::string pointer = step.pointer + "/gates";
    one_for_list(*gates, pointer, "gates");
    if (!gates->IsArray())
      return;
    for (rapidjson::SizeType i = 0; i < gates->Size(); ++i)
      if ((*gates)[i].IsObject())
        findings_.warning(
            "S8", item_pointer(pointer, i),
            "a gate without quotes is a map; it is read as the gate " +
                quoted_word(gate_text((*gates)[i])),
            {.found = json::dump((*gates)[i]), .expected = quoted_word(gate_text((*gates)[i]))});
  }

  /// Checks human_in_the_loop. Programs that read YAML 1.1 take `no` for false, and the text "no"
  /// for true.
  void human(const Step& step) {
    const Value* const human = json::child(*step.body, "human_in_the_loop");
    if (human == nullptr || human->IsBool() || human->IsNull())
      return;
    const std::string pointer = step.pointer + "/human_in_the_loop";
    const std::string word = json::text(*human) ? upper(*json::text(*human)) : json::dump(*human);
    constexpr std::array<std::string_view, 8> kWords = {"YES", "ON",  "TRUE",  "1",
                                                        "NO",  "OFF", "FALSE", "0"};
    const auto* const found = std::find(kWords.begin(), kWords.end(), word);
    const Detail detail{.found = json::dump(*human), .expected = "true or false"};
    if (found == kWords.end())
      findings_.error("S10", pointer, "human_in_the_loop must be true or false", detail);
    else
      findings_.warning("S10", pointer,
                        std::string("human_in_the_loop is read as ") +
                            (found - kWords.begin() < 4 ? "true" : "false"),
                        detail);
  }

  void keys(const Value& body, const std::string& pointer,
            std::span<const std::string_view> known) {
    for (const auto& member : body.GetObject())
      if (const std::string_view key = json::name(member.name);
          std::find(known.begin(), known.end(), key) == known.end())
        findings_.warning("S9", member_pointer(pointer, key),
                          "the key " + quoted_word(key) + " has no effect",
                          {.found = std::string(key), .suggestion = near_word(key, known)});
  }

  void check_loop(const Step& step, const Value& loop, const std::string& pointer) {
    keys(loop, pointer, kLoopKeys);
    std::vector<std::string> sources;
    for (const std::string_view key : kSources)
      if (json::child(loop, key) != nullptr)
        sources.emplace_back(key);
    if (sources.size() != 1)
      findings_.error("S6", pointer, "a loop must name exactly one source of items",
                      {.found = join(sources, " and "), .expected = any_of_words(kSources)});
    if (const auto file = json::text(loop, "items_from_artifact"); file && leaves_folder(*file))
      findings_.error("S6", pointer + "/items_from_artifact",
                      "the file with the items is outside the repository",
                      {.found = std::string(*file), .expected = "a path inside the repository"});
    if (is_parallel(step))
      check_item_ids(step, pointer + "/parallel");
    const auto from = json::text(loop, "items_from_step");
    if (!from || !known(*from, pointer + "/items_from_step", "items_from_step"))
      return;
    if (std::find(step.needs.begin(), step.needs.end(), *from) == step.needs.end())
      findings_.error(
          "S6", pointer + "/items_from_step",
          "the items come from " + quoted_word(*from) + ", but the step is not in needs",
          {.found = std::string(*from), .expected = "a step in needs"});
  }

  /// Checks that the items of a parallel loop can be called `ID.1`, `ID.2` ...
  void check_item_ids(const Step& step, const std::string& pointer) {
    constexpr std::size_t kMostBytes = 90;
    if (step.id.size() > kMostBytes)
      findings_.error("S6", pointer,
                      "the id " + quoted_word(step.id) +
                          " is too long for a parallel loop: its items are called by it",
                      {.found = std::to_string(step.id.size()) + " bytes",
                       .expected = "an id of at most 90 bytes"});
    const std::string front = step.id + ".";
    for (const Step& other : workflow_.steps())
      if (other.id.size() > front.size() && other.id.starts_with(front) &&
          std::all_of(other.id.begin() + static_cast<std::ptrdiff_t>(front.size()), other.id.end(),
                      is_digit))
        findings_.error(
            "S6", pointer,
            "the step " + quoted_word(other.id) + " has the name of an item of this parallel loop",
            {.found = other.id, .expected = "another id for that step"});
  }

  void order() {
    if (const auto cycle = workflow_.cycle(); !cycle.empty()) {
      const Step& first = *workflow_.step(cycle.front());
      findings_.error(
          "S4", first.pointer + "/needs",
          "steps wait for each other in a cycle: " + printable(join(cycle, " needs "), 300));
      return;
    }
    for (const Step& step : workflow_.steps()) {
      if (!step.loop_back_to || *step.loop_back_to == step.id ||
          workflow_.step(*step.loop_back_to) == nullptr)
        continue;
      const auto before = workflow_.ancestors(step);
      const std::vector<std::string_view> words(before.begin(), before.end());
      if (!before.contains(*step.loop_back_to))
        findings_.error(
            "S5", step.pointer + "/loop_back_to",
            "the step " + quoted_word(*step.loop_back_to) + " is not before " +
                quoted_word(step.id),
            {.found = *step.loop_back_to,
             .expected = "the step itself" + (words.empty() ? "" : ", " + any_of_words(words))});
    }
  }

  Workflow workflow_;
  FindingList findings_{"agent_run"};
};

}  // namespace

Workflow::Workflow(const Value& root) {
  for (const Value& body : items_in(root, "steps")) {
    Step step;
    step.id = text_of(body, "id");
    step.pointer = item_pointer("/steps", steps_.size());
    step.needs = texts_of(body, "needs");
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

std::string item_id(std::string_view step, std::size_t index) {
  return std::string(step) + "." + std::to_string(index + 1);
}

void Workflow::add_items(const std::string& id, std::size_t count) {
  const auto found = index_.find(id);
  if (found == index_.end())
    return;
  for (std::size_t i = 0; i < count; ++i) {
    Step item = steps_[found->second];
    item.id = item_id(id, i);
    item.loop_back_to.reset();
    item.of = id;
    item.item = i;
    index_.emplace(item.id, steps_.size());
    needs_.push_back(needs_[found->second]);
    steps_.push_back(std::move(item));
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

std::string Workflow::no_step(std::string_view id) const {
  const Detail detail = none_of_words(id, ids());
  return "the workflow has no step " + quoted_word(id) + "; it has " + detail.expected +
         (detail.suggestion.empty() ? "" : "; did you mean " + detail.suggestion + "?");
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
  // Removes steps without open needs until only cycles are left, and steps that need them.
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

Findings check_workflow(const Value& root) {
  return WorkflowCheck(root).run();
}

}  // namespace baton::agent_run
