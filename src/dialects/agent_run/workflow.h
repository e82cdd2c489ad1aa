#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"

namespace baton::agent_run {

/// One step, as far as its order goes; a missing or empty list and null are the same.
struct Step {
  std::string id;
  std::string pointer;
  std::vector<std::string> needs;
  std::optional<std::string> loop_back_to;
  const Value* body = nullptr;
};

/// The steps of a workflow, in the order of the file. Points into the document it was read from.
class Workflow {
 public:
  explicit Workflow(const Value& root);

  const std::vector<Step>& steps() const { return steps_; }
  const Step* step(std::string_view id) const;
  std::vector<std::string_view> ids() const;

  /// The steps that must have run before this one, one of `steps()`; not itself, unless it is in a
  /// cycle.
  std::set<std::string> ancestors(const Step& step) const;

  /// A way round in circles, `a, b, a`; empty when there is none.
  std::vector<std::string> cycle() const;

 private:
  std::vector<Step> steps_;
  std::map<std::string, std::size_t, std::less<>> index_;  ///< the first step of each id
  std::vector<std::vector<std::size_t>> needs_;            ///< those that exist
};

/// The texts of a list, of one text, or none.
std::vector<std::string> listed(const Value* value);

}  // namespace baton::agent_run
