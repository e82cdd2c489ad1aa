// SPDX-License-Identifier: Apache-2.0
#pragma once

// Walks a document and its schema together. It answers valijson's questions about single values,
// and explains why an invalid document is invalid.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/schema/schema.h"
#include "base/schema/schema_tree.h"

namespace baton {

/// Thrown when a validation takes too many steps.
struct SchemaExhausted {
  std::string why;
  bool at_value = false;  ///< one value caused it; the explanation stops there and names it
};

/// Applies a compiled schema to a value. Without a sink it only says yes or no; with a sink it
/// collects the reasons. valijson asks `rules_hold` for each node; the whole walk runs only to
/// explain an invalid document.
class SchemaWalk {
 public:
  /// Decides about schemas that have a structure.
  using Judge = std::function<bool(NodeIndex, const Value&)>;

  /// Create it on the stack where the validation begins: it measures the stack from there. Without
  /// a judge it decides everything itself.
  SchemaWalk(const SchemaTree& tree, std::size_t max_steps, Judge judge = {});

  /// Checks everything about the value. Throws SchemaExhausted.
  bool holds(NodeIndex index, const Value& value);
  /// Checks what valijson does not check: rules about the value by itself, items that are single
  /// values, and which schemas apply to which members. The judge decides about each such schema.
  /// (valijson compares member names one by one and cuts them at a NUL.)
  bool rules_hold(NodeIndex index, const Value& value);
  /// Like `holds`, but adds the reasons to `out`. Throws also when there are too many reasons;
  /// those found so far stay in `out`.
  void reasons(NodeIndex node, const Value& value, Findings& out);

  /// The current place; after SchemaExhausted, where the walk stopped.
  std::string pointer() const;

  void spend(std::size_t steps);
  std::size_t steps_left() const { return steps_left_; }
  /// Deep documents and deep schemas multiply, so the stack could run out.
  void look_at_stack() const;

 private:
  using Step = std::variant<std::string_view, std::size_t>;
  /// For each member or item of one value, whether a rule that holds looked at it.
  using Seen = std::vector<unsigned char>;
  class Entered;

  bool all_rules(NodeIndex index, const Value& value);
  bool unevaluated(const SchemaNode& node, const Value& value);
  void see(std::size_t part);
  void see_all();

  bool scalar_rules(const SchemaNode& node, const Value& value);
  bool number_rules(const SchemaNode& node, const Value& value);
  bool refuse_by_pattern(const SchemaNode& node, const Value& value);
  bool string_rules(const SchemaNode& node, const Value& value);
  bool array_rules(const SchemaNode& node, const Value& value);
  bool object_rules(const SchemaNode& node, const Value& value);
  struct SizeWords {
    std::string_view least;  ///< the keywords
    std::string_view most;
    std::string_view unit;
  };
  bool size_rule(const SchemaNode& node, const Value& value, std::uint64_t size,
                 const std::optional<std::uint64_t>& least,
                 const std::optional<std::uint64_t>& most, const SizeWords& words);
  bool needed_members(const SchemaNode& node, const Value& value);
  bool names(const SchemaNode& node, const Value& value);
  bool members(const SchemaNode& node, const Value& value);
  bool dependencies(const SchemaNode& node, const Value& value);
  bool member(const SchemaNode& node, std::string_view name, const Value& value, std::size_t part);
  bool not_allowed(const SchemaNode& node, std::string_view keyword, std::string_view name,
                   const Value& value);
  bool item_parts(const SchemaNode& node, const Value& value);
  bool contains(const SchemaNode& node, const Value& value);
  bool allowed(const SchemaNode& node, const Value& value);
  bool in_place(const SchemaNode& node, const Value& value);
  bool any_of(const SchemaNode& node, const Value& value);
  bool one_of(const SchemaNode& node, const Value& value);
  bool below(Step step, NodeIndex node, const Value& value);
  NodeIndex dynamic_target(const DynamicReference& reference);
  bool quietly(NodeIndex node, const Value& value);
  bool fits(NodeIndex node, const Value& value);
  std::vector<Findings> branches(const std::vector<NodeIndex>& nodes, const Value& value);
  bool no_branch(const SchemaNode& node, const Value& value, std::string_view keyword,
                 const std::vector<NodeIndex>& nodes);
  bool matches(const Pattern& pattern, std::string_view text);
  bool unique(const Value& array, std::size_t& second);
  void spend_on(const Value& value);

  bool refuse(const SchemaNode& node, std::string_view keyword, const Value& value,
              std::string message, std::string expected = {}, std::string suggestion = {});
  const SchemaTree& tree_;
  std::size_t steps_left_;
  std::uintptr_t stack_begin_;
  Judge judge_;
  Findings* sink_ = nullptr;
  /// Whether a suggestion is affordable: it compares every letter with every letter.
  bool may_suggest(std::string_view word, std::size_t candidates);
  /// compared letters that one explanation may still use
  std::size_t suggestions_left_ = 5'000'000;
  std::size_t found_ = 0;          ///< number of findings, including those of dropped branches
  std::size_t pointer_bytes_ = 0;  ///< total size
  std::vector<Step> path_;
  Seen* seen_ = nullptr;                ///< of the current value, if somebody asks
  std::vector<std::size_t> resources_;  ///< those entered on the way here, if somebody asks
};

/// The faults of a document, located, in the order of the text: at most `limits.max_findings`, and
/// one that says how many more there are.
Findings explain(const SchemaTree& tree, const Document& document, const SchemaLimits& limits);

/// The finding for a validation that was stopped.
Finding exhausted_finding(const SchemaExhausted& exhausted);

}  // namespace baton
