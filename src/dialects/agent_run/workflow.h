// SPDX-License-Identifier: Apache-2.0
#pragma once

// The steps of a workflow and their order. The class points into the document that it was read
// from.

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "dialects/kinds.h"

namespace baton::agent_run {

/// One step and its order. A missing list, an empty list and null mean the same.
struct Step {
  std::string id;
  std::string pointer;
  std::vector<std::string> needs;
  std::optional<std::string> loop_back_to;
  const Value* body = nullptr;
  /// Only for one item of a parallel loop, which is planned like a step: the id of the step with
  /// the loop, and the item's index. Empty: a step of the workflow.
  std::string of = {};
  std::size_t item = 0;
};

/// The id of an item of a parallel loop, as a step. The first item has the index 0 and the
/// number 1.
std::string item_id(std::string_view step, std::size_t index);

/// The steps in the order of the file, then the items of parallel loops.
class Workflow {
 public:
  explicit Workflow(const Value& root);

  const std::vector<Step>& steps() const { return steps_; }
  const Step* step(std::string_view id) const;
  std::vector<std::string_view> ids() const;
  /// A message that the workflow has no such step.
  std::string no_step(std::string_view id) const;

  /// Adds the items of a parallel loop as steps `ID.1`, `ID.2` ... Pointers to steps become
  /// invalid.
  void add_items(const std::string& id, std::size_t count);

  /// The steps that must run before this one of `steps()`. A step in a cycle is its own ancestor.
  std::set<std::string> ancestors(const Step& step) const;

  /// One cycle as `a, b, a`. Empty if there is none.
  std::vector<std::string> cycle() const;

 private:
  std::vector<Step> steps_;
  std::map<std::string, std::size_t, std::less<>> index_;  ///< the first step of each id
  std::vector<std::vector<std::size_t>> needs_;            ///< needs that exist, by index
};

}  // namespace baton::agent_run
