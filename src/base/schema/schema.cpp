// SPDX-License-Identifier: Apache-2.0
#include "base/schema/schema.h"

#include <algorithm>

#include <valijson/constraints/concrete_constraints.hpp>
#include <valijson/schema.hpp>
#include <valijson/validator.hpp>

#include "base/schema/schema_front.h"
#include "base/schema/schema_tree.h"
#include "base/schema/schema_walk.h"
#include "base/schema/value_adapter.h"

// valijson decides whether a document is valid. It does not get the text of the schema, because its
// own parser cannot follow `$id`, ignores `propertyNames` after a reference and loops on circular
// references. It gets the finished tree as constraints. It asks SchemaWalk about everything that it
// would get wrong: numbers, patterns, formats, lengths, equality, names of members. It also asks
// about single values, which would cost it a dozen allocations each. valijson itself handles the
// structure: objects, arrays, items and combinations. It cannot say what a rule has looked at, nor
// on which way it came to a rule; schemas that depend on this are decided by SchemaWalk alone.

namespace baton {
namespace {

namespace vc = valijson::constraints;

/// All rules of a node that SchemaWalk checks by itself, as one constraint of valijson.
class NodeRules : public vc::PolyConstraint {
 public:
  explicit NodeRules(NodeIndex node) : node_(node) {}

  bool validate(const valijson::adapters::Adapter& target, const std::vector<std::string>& context,
                valijson::ValidationResults* results) const override {
    static_cast<void>(context);
    static_cast<void>(results);
    const auto* adapter = dynamic_cast<const judge::Adapter*>(&target);
    if (adapter == nullptr || adapter->ref().walk == nullptr)
      throw SchemaExhausted{"a value that is not ours came back from valijson"};
    // A visit by valijson costs as much as several steps of the walk.
    constexpr std::size_t kVisit = 5;
    adapter->ref().walk->spend(kVisit);
    return adapter->ref().walk->rules_hold(node_, *adapter->ref().value);
  }

 private:
  // NOLINTNEXTLINE(readability-identifier-naming): valijson's name
  vc::Constraint* cloneInto(void* place) const override { return new (place) NodeRules(node_); }
  // NOLINTNEXTLINE(readability-identifier-naming): as above
  std::size_t sizeOf() const override { return sizeof(NodeRules); }

  NodeIndex node_;
};

class ValijsonSchema : public Schema {
 public:
  explicit ValijsonSchema(std::shared_ptr<const SchemaTree> tree) : tree_(std::move(tree)) {
    if (tree_->walked)
      return;
    for (std::size_t i = 0; i < tree_->nodes.size(); ++i)
      parts_.push_back(schema_.createSubschema());
    for (NodeIndex i = 0; i < tree_->nodes.size(); ++i)
      fill(i);
  }

  Findings check(const Document& document, const SchemaLimits& limits) const override {
    // Has a cache of std::regex, which stays empty: valijson gets no patterns.
    valijson::Validator validator;
    SchemaWalk* asked = nullptr;
    const auto judge = [&](NodeIndex node, const Value& value) {
      return validator.validate(*parts_[node], judge::Adapter({&value, asked}), nullptr);
    };
    const std::size_t steps = limits.steps_for(document.text().size());
    SchemaWalk walk(*tree_, steps, tree_->walked ? SchemaWalk::Judge() : judge);
    asked = &walk;
    try {
      if (tree_->walked ? walk.holds(0, document.root()) : judge(0, document.root()))
        return {};
    } catch (const SchemaExhausted& exhausted) {
      if (!exhausted.at_value)
        return {exhausted_finding(exhausted)};
    } catch (const std::exception& error) {
      return {exhausted_finding({std::string("valijson gave up: ") + error.what()})};
    }
    // valijson stops at the first fault. Looking for all faults may cost more, so it has a limit of
    // its own.
    constexpr std::size_t kBeyond = 500'000;
    const std::size_t used = steps - walk.steps_left();
    Findings findings = explain(*tree_, document,
                                {.max_steps = std::min(2 * used + kBeyond, steps),
                                 .max_steps_per_byte = 0,
                                 .max_findings = limits.max_findings});
    if (findings.empty())
      findings.push_back({.rule = "schema/limit",
                          .message = "not valid, but the reason could not be found",
                          .span = document.locate("")});
    return findings;
  }

  const Findings& lint() const override { return tree_->lint; }

 private:
  void fill(NodeIndex index) {
    const SchemaNode& node = tree_->nodes[index];
    add(index, NodeRules(index));
    if (!node.never) {
      fill_array(index, node);
      fill_combined(index, node);
    }
  }

  void fill_array(NodeIndex index, const SchemaNode& node) {
    if (node.items && !node.single_items) {
      vc::SingularItemsConstraint constraint;
      constraint.setItemsSubschema(parts_[*node.items]);
      add(index, constraint);
    }
    if ((!node.tuple.empty() || node.additional_items) && !node.single_items) {
      vc::LinearItemsConstraint constraint;
      for (const NodeIndex schema : node.tuple)
        constraint.addItemSubschema(parts_[schema]);
      constraint.setAdditionalItemsSubschema(node.additional_items ? parts_[*node.additional_items]
                                                                   : schema_.emptySubschema());
      add(index, constraint);
    }
    if (node.contains) {
      vc::ContainsConstraint constraint;
      constraint.setSubschema(parts_[*node.contains]);
      add(index, constraint);
    }
  }

  void fill_combined(NodeIndex index, const SchemaNode& node) {
    add_list<vc::AllOfConstraint>(index, node.all_of);
    add_list<vc::AnyOfConstraint>(index, node.any_of);
    add_list<vc::OneOfConstraint>(index, node.one_of);
    if (node.negated) {
      vc::NotConstraint constraint;
      constraint.setSubschema(parts_[*node.negated]);
      add(index, constraint);
    }
    if (node.condition) {
      vc::ConditionalConstraint constraint;
      constraint.setIfSubschema(parts_[*node.condition]);
      if (node.consequence)
        constraint.setThenSubschema(parts_[*node.consequence]);
      if (node.alternative)
        constraint.setElseSubschema(parts_[*node.alternative]);
      add(index, constraint);
    }
  }

  template <class List>
  void add_list(NodeIndex index, const std::vector<NodeIndex>& nodes) {
    if (nodes.empty())
      return;
    List constraint;
    for (const NodeIndex schema : nodes)
      constraint.addSubschema(parts_[schema]);
    add(index, constraint);
  }

  void add(NodeIndex index, const vc::Constraint& constraint) {
    schema_.addConstraintToSubschema(constraint, parts_[index]);
  }

  std::shared_ptr<const SchemaTree> tree_;
  valijson::Schema schema_;
  std::vector<const valijson::Subschema*> parts_;  ///< owned by `schema_`; one per node
};

}  // namespace

Result<std::shared_ptr<const Schema>> compile_schema(std::string_view text, std::string_view uri,
                                                     const SchemaFetch& fetch) {
  auto tree = build_schema_tree(text, uri, fetch, true);
  if (!tree)
    return tl::unexpected(std::move(tree.error()));
  return std::shared_ptr<const Schema>(std::make_shared<ValijsonSchema>(std::move(*tree)));
}

}  // namespace baton
