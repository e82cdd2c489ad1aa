#pragma once

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

/// Thrown when a validation costs more than it may; caught where it was begun.
struct SchemaExhausted {
  std::string why;
  bool at_value = false;  ///< one value is to blame; an explanation gets as far and names it
};

/// Applies a compiled schema to a value. Without a sink it only says yes or no, with one it says
/// what is wrong. valijson judges documents and asks this walk what a node demands by itself
/// (`rules_hold`); the walk as a whole explains what valijson found invalid.
class SchemaWalk {
 public:
  /// The judge of schemas that have a structure.
  using Judge = std::function<bool(NodeIndex, const Value&)>;

  /// Made on the stack where a validation begins: it counts how deep the stack grows from there.
  /// Without a judge the walk judges everything by itself.
  SchemaWalk(const SchemaTree& tree, std::size_t max_steps, Judge judge = {});

  /// Everything about the value: its rules and its parts. Errors are thrown as SchemaExhausted.
  bool holds(NodeIndex index, const Value& value);
  /// Only what valijson is not asked: the rules about the value by itself; which schemas apply to
  /// which members (valijson searches them name by name and cuts names at a NUL), each of them
  /// handed to the judge again; and items that are single values.
  bool rules_hold(NodeIndex index, const Value& value);
  /// As `holds`, but adds the reasons to `out`; they stay there when it is given up, which it is
  /// too when there are more than can be kept.
  void reasons(NodeIndex node, const Value& value, Findings& out);

  /// Where it is; after SchemaExhausted, where it gave up.
  std::string pointer() const;

  void spend(std::size_t steps);
  std::size_t steps_left() const { return steps_left_; }
  /// Documents and schemas that are both nested deeply multiply; the stack is what runs out.
  void look_at_stack() const;

 private:
  using Step = std::variant<std::string_view, std::size_t>;

  bool scalar_rules(const SchemaNode& node, const Value& value);
  bool number_rules(const SchemaNode& node, const Value& value);
  bool string_rules(const SchemaNode& node, const Value& value);
  bool array_rules(const SchemaNode& node, const Value& value);
  bool object_rules(const SchemaNode& node, const Value& value);
  bool object_size(const SchemaNode& node, const Value& value);
  bool needed_members(const SchemaNode& node, const Value& value);
  bool names(const SchemaNode& node, const Value& value);
  bool members(const SchemaNode& node, const Value& value);
  bool dependencies(const SchemaNode& node, const Value& value);
  bool member(const SchemaNode& node, std::string_view name, const Value& value);
  bool item_parts(const SchemaNode& node, const Value& value);
  bool contains(const SchemaNode& node, const Value& value);
  bool allowed(const SchemaNode& node, const Value& value);
  bool in_place(const SchemaNode& node, const Value& value);
  bool any_of(const SchemaNode& node, const Value& value);
  bool one_of(const SchemaNode& node, const Value& value);
  bool below(Step step, NodeIndex node, const Value& value);
  bool quietly(NodeIndex node, const Value& value);
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
  /// Whether looking for what was meant is affordable: it compares each letter with each.
  bool may_suggest(std::string_view word, std::size_t candidates);
  std::size_t suggestions_left_ = 5'000'000;  ///< in compared letters, of one explanation
  std::size_t told_ = 0;           ///< findings, those of branches that were dropped included
  std::size_t pointer_bytes_ = 0;  ///< of all of them
  std::vector<Step> path_;
};

/// The faults of a document, located and in the order of the text, at most `limits.max_findings`
/// and one that says how many more there are.
Findings explain(const SchemaTree& tree, const Document& document, const SchemaLimits& limits);

/// The one finding of a validation that was given up.
Finding exhausted_finding(const SchemaExhausted& exhausted);

}  // namespace baton
