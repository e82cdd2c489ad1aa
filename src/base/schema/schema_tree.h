// SPDX-License-Identifier: Apache-2.0
#pragma once

// A compiled schema as a tree: made by schema_front, used by the walk that explains (schema_walk)
// and by valijson (schema.cpp). All references are resolved; nodes refer to each other by index.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/schema/pattern.h"

namespace baton {

enum class SchemaDraft { draft4, draft6, draft7, draft2019_09, draft2020_12 };

using NodeIndex = std::size_t;

/// The types of JSON as bits.
enum TypeBit : unsigned {
  null_type = 1,
  boolean_type = 2,
  object_type = 4,
  array_type = 8,
  string_type = 16,
  integer_type = 32,
  number_type = 64,
};

/// A `$dynamicRef`, or a `$recursiveRef` with an empty anchor: it refers to the schema that the
/// outermost of the entered resources calls so.
struct DynamicReference {
  std::string anchor;
  NodeIndex otherwise = 0;  ///< where the reference leads as it is written
};

struct SchemaNode {
  std::string pointer;  ///< `#/properties/a`, with the URI of another document before it
  SchemaDraft draft = SchemaDraft::draft7;
  std::size_t resource = 0;  ///< number of the resource (by `$id`, or the document) it is part of
  bool never = false;        ///< the schema `false`

  // Rules about a value by itself. Values point into the documents of the tree.
  std::optional<unsigned> types;
  const Value* allowed = nullptr;  ///< `enum`
  /// for a long `enum`: hashes and indexes of the values, sorted
  std::vector<std::pair<std::uint64_t, rapidjson::SizeType>> allowed_hashes;
  const Value* constant = nullptr;  ///< `const`
  const Value* multiple_of = nullptr;
  const Value* maximum = nullptr;
  const Value* minimum = nullptr;
  const Value* exclusive_maximum = nullptr;
  const Value* exclusive_minimum = nullptr;
  std::optional<std::uint64_t> max_length, min_length;
  std::optional<std::uint64_t> max_items, min_items;
  std::optional<std::uint64_t> max_properties, min_properties;
  std::optional<Pattern> pattern;
  /// `patternErrorMessage`: what `pattern` allows, in words. Editors know this keyword, too.
  std::string pattern_words;
  std::string format;
  bool unique_items = false;
  std::vector<std::string> required;
  /// `dependentRequired`, or `dependencies` on names
  std::vector<std::pair<std::string, std::vector<std::string>>> needs;

  // Rules about parts of the value.
  std::vector<std::pair<std::string, NodeIndex>> properties;  ///< sorted by name
  std::vector<std::pair<Pattern, NodeIndex>> pattern_properties;
  std::optional<NodeIndex> additional_properties;
  std::optional<NodeIndex> property_names;
  std::optional<NodeIndex> items;
  std::vector<NodeIndex> tuple;               ///< `prefixItems`, or `items` as an array
  std::optional<NodeIndex> additional_items;  ///< also `items` beside `prefixItems`
  std::optional<NodeIndex> contains;
  std::optional<std::uint64_t> max_contains, min_contains;
  /// For the parts of the value that no other rule of this node, nor of those for the same value
  /// that hold, looked at.
  std::optional<NodeIndex> unevaluated_items, unevaluated_properties;

  /// The node has only rules about the value by itself, so valijson has nothing to do.
  bool single = false;
  /// The schemas of all items are `single`.
  bool single_items = false;

  // Rules that combine other schemas for the same value.
  std::vector<NodeIndex> all_of;  ///< also the target of a `$ref`
  std::vector<NodeIndex> any_of, one_of;
  std::optional<DynamicReference> dynamic;
  std::optional<NodeIndex> negated;
  std::optional<NodeIndex> condition, consequence, alternative;  ///< if, then, else
  /// `dependentSchemas`, or `dependencies` on schemas
  std::vector<std::pair<std::string, NodeIndex>> dependencies;

  const NodeIndex* property(std::string_view name) const;
  bool has_members() const {
    return !properties.empty() || !pattern_properties.empty() || additional_properties;
  }
  bool has_items() const { return items || !tuple.empty() || additional_items; }
  bool has_unevaluated() const { return unevaluated_items || unevaluated_properties; }
};

/// `nodes[0]` is the root. Immutable once built.
struct SchemaTree {
  /// A deque, so that large nodes stay in place while more are added.
  std::deque<SchemaNode> nodes;
  /// by resource and name
  std::map<std::pair<std::size_t, std::string>, NodeIndex> dynamic_anchors;
  /// Some rules depend on what other rules looked at or on the way to them. valijson has no such
  /// rules, so SchemaWalk decides alone.
  bool walked = false;
  std::vector<std::shared_ptr<const Document>> documents;
  Findings lint;
};

}  // namespace baton
