// SPDX-License-Identifier: Apache-2.0
#include "base/schema/schema_front.h"

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <map>
#include <set>

#include "base/json/numbers.h"
#include "base/schema/uri.h"
#include "base/text.h"

namespace baton {
namespace {

// Keeps the memory below 64 MiB, including valijson's part.
constexpr std::size_t kMaxNodes = 45'000;
constexpr std::size_t kMaxTreePointerBytes = 2U << 20U;
// PCRE2 copies a repetition: twenty characters may take 64 KiB.
constexpr std::size_t kMaxTreePatternBytes = 4U << 20U;

struct TypeRow {
  std::string_view name;
  TypeBit bit;
};
constexpr std::array kTypes = {
    TypeRow{"null", null_type},     TypeRow{"boolean", boolean_type},
    TypeRow{"object", object_type}, TypeRow{"array", array_type},
    TypeRow{"string", string_type}, TypeRow{"integer", integer_type},
    TypeRow{"number", number_type},
};

/// A fault of the schema at a place. Thrown inside this file only.
struct SchemaFault {
  SchemaPlace place;
  std::string keyword;
  std::string message;
  /// the place, if the fault is in another file that `place` refers to
  std::string elsewhere = {};
};

class TreeBuilder {
 public:
  TreeBuilder(const SchemaFetch& fetch, bool checked)
      : index_(fetch, checked), tree_(std::make_shared<SchemaTree>()) {}

  Result<std::shared_ptr<const SchemaTree>> build(std::string_view text, std::string_view uri) {
    const auto root = index_.add(std::string(text), std::string(uri));
    if (!root)
      return tl::unexpected(root.error());
    try {
      node_for(*root);
      compile_waiting();
      while (add_dynamic_anchors())
        compile_waiting();
      refuse_circles(*root);
      mark_singles();
    } catch (const SchemaFault& fault) {
      const std::string here = index_.where(fault.place, fault.keyword);
      if (fault.elsewhere.empty())
        return fail(Errc::schema, fault.message, here);
      return fail(Errc::schema, fault.message + " (referred to at " + here + ")", fault.elsewhere);
    }
    tree_->lint = located(std::move(doubts_), *index_.documents()[0]);
    tree_->documents = std::move(index_.documents());
    return std::shared_ptr<const SchemaTree>(std::move(tree_));
  }

 private:
  [[noreturn]] static void refuse(const SchemaPlace& place, std::string_view keyword,
                                  std::string message) {
    throw SchemaFault{place, std::string(keyword), std::move(message)};
  }

  void compile_waiting() {
    while (!waiting_.empty()) {
      const NodeIndex index = waiting_.front();
      waiting_.pop_front();
      compile(index, places_[index]);
    }
  }

  /// Adds the schemas that the dynamic references may lead to. False: there was none to add.
  bool add_dynamic_anchors() {
    bool added = false;
    // Compiling may find more of them.
    for (std::size_t i = 0; i < index_.dynamic_anchors().size(); ++i) {
      const DynamicAnchor anchor = index_.dynamic_anchors()[i];
      const std::pair key(resource_of(anchor.place), anchor.name);
      if (dynamic_names_.contains(anchor.name) && !tree_->dynamic_anchors.contains(key)) {
        tree_->dynamic_anchors.emplace(key, node_for(anchor.place));
        added = true;
      }
    }
    return added;
  }

  std::size_t resource_of(const SchemaPlace& place) {
    return resources_.emplace(place.base, resources_.size()).first->second;
  }

  /// Whether a schema is nothing but a reference, so that its target can stand for it. From draft
  /// 2019-09 on, the keywords beside it count, and so does a resource on the way (`base` is where
  /// the way began): a dynamic reference may look there.
  bool is_reference(const SchemaPlace& place, const std::string& base) const {
    return json::child(*place.value, "$ref") != nullptr &&
           (index_.keywords(place).draft < SchemaDraft::draft2019_09 ||
            (place.value->MemberCount() == 1 && place.base == base));
  }

  SchemaPlace target(const SchemaPlace& place, std::string_view keyword) {
    const auto reference = json::text(*place.value, keyword);
    if (!reference)
      refuse(place, keyword, "a " + std::string(keyword) + " has to be a string");
    auto next = index_.follow(place, *reference);
    if (!next)
      throw SchemaFault{place, std::string(keyword), next.error().message, next.error().where};
    return std::move(*next);
  }

  NodeIndex node_for(SchemaPlace place) {
    const std::string base = place.base;
    return node_for(std::move(place), base);
  }

  /// The node of a schema; for a mere reference, the node of its target. `base`: as in
  /// `is_reference`.
  NodeIndex node_for(SchemaPlace place, const std::string& base) {
    std::set<const Value*> seen;
    while (is_reference(place, base)) {
      if (!seen.insert(place.value).second)
        refuse(place, "$ref", "this $ref leads back to itself");
      place = target(place, "$ref");
    }
    const auto [known, fresh] = indices_.emplace(place.value, tree_->nodes.size());
    if (fresh) {
      if (tree_->nodes.size() == kMaxNodes)
        refuse(place, "", "more than " + std::to_string(kMaxNodes) + " schemas");
      pointer_bytes_ += place.pointer.size();
      if (pointer_bytes_ > kMaxTreePointerBytes)
        refuse(place, "", "the places of its many schemas take more than 2 MiB to name");
      tree_->nodes.emplace_back();
      places_.push_back(std::move(place));
      waiting_.push_back(known->second);
    }
    return known->second;
  }

  void compile(NodeIndex index, const SchemaPlace& place) {
    SchemaNode node;
    node.pointer = index_.label(place);
    node.draft = index_.keywords(place).draft;
    node.resource = resource_of(place);
    const bool booleans = node.draft != SchemaDraft::draft4;
    if (place.value->IsBool() && booleans) {
      node.never = place.value->IsFalse();
    } else if (!place.value->IsObject()) {
      refuse(place, "",
             booleans ? "a schema has to be an object, true or false"
                      : "a schema has to be an object");
    } else {
      value_rules(node, place);
      size_rules(node, place);
      object_parts(node, place);
      array_parts(node, place);
      in_place_parts(node, place);
      note_doubts(place);
    }
    tree_->nodes[index] = std::move(node);
  }

  /// The value of a keyword, if this draft has it.
  const Value* keyword(const SchemaPlace& place, std::string_view name) const {
    return index_.keywords(place).has(name) ? json::child(*place.value, name) : nullptr;
  }

  /// The keyword, which has to be of a type.
  const Value* typed(const SchemaPlace& place, std::string_view name, bool (Value::*is)() const,
                     const std::string& what) const {
    const Value* value = keyword(place, name);
    if (value != nullptr && !(value->*is)())
      refuse(place, name, std::string(name) + " has to be " + what);
    return value;
  }

  void value_rules(SchemaNode& node, const SchemaPlace& place) {
    if (const Value* type = keyword(place, "type"))
      node.types = types(place, *type);
    node.allowed = typed(place, "enum", &Value::IsArray, "an array");
    index_enum(node);
    node.constant = keyword(place, "const");
    node.multiple_of = number(place, "multipleOf");
    if (node.multiple_of != nullptr && node.multiple_of->GetDouble() <= 0)
      refuse(place, "multipleOf", "multipleOf has to be greater than 0");
    node.maximum = number(place, "maximum");
    node.minimum = number(place, "minimum");
    if (node.draft == SchemaDraft::draft4) {
      if (flag(place, "exclusiveMaximum"))
        node.exclusive_maximum = std::exchange(node.maximum, nullptr);
      if (flag(place, "exclusiveMinimum"))
        node.exclusive_minimum = std::exchange(node.minimum, nullptr);
    } else {
      node.exclusive_maximum = number(place, "exclusiveMaximum");
      node.exclusive_minimum = number(place, "exclusiveMinimum");
    }
    if (const Value* pattern = keyword(place, "pattern"))
      node.pattern = compiled(place, "pattern", *pattern);
    node.pattern_words = json::text(*place.value, "patternErrorMessage").value_or("");
    const Value* const format = typed(place, "format", &Value::IsString, "a string");
    if (format != nullptr && index_.keywords(place).formats)
      node.format = json::name(*format);
  }

  void size_rules(SchemaNode& node, const SchemaPlace& place) {
    node.max_length = size(place, "maxLength");
    node.min_length = size(place, "minLength");
    node.max_items = size(place, "maxItems");
    node.min_items = size(place, "minItems");
    node.max_properties = size(place, "maxProperties");
    node.min_properties = size(place, "minProperties");
    node.unique_items = flag(place, "uniqueItems");
  }

  void object_parts(SchemaNode& node, const SchemaPlace& place) {
    if (const Value* required = keyword(place, "required"))
      node.required = names(place, "required", *required);
    for (const std::string& name : entries(place, "properties"))
      node.properties.emplace_back(name, node_for(index_.below(place, {"properties", name})));
    std::sort(node.properties.begin(), node.properties.end());
    for (const std::string& name : entries(place, "patternProperties")) {
      const Value source(rapidjson::StringRef(name.data(), name.size()));
      node.pattern_properties.emplace_back(
          compiled(place, "patternProperties", source),
          node_for(index_.below(place, {"patternProperties", name})));
    }
    node.additional_properties = single(place, "additionalProperties");
    node.property_names = single(place, "propertyNames");
    for (const std::string_view keyword :
         {"dependencies", "dependentRequired", "dependentSchemas"}) {
      for (const std::string& name : entries(place, keyword)) {
        const SchemaPlace inner = index_.below(place, {std::string(keyword), name});
        const bool either = keyword == "dependencies";
        if (either ? inner.value->IsArray() : keyword == "dependentRequired")
          node.needs.emplace_back(name, names(place, keyword, *inner.value));
        else
          node.dependencies.emplace_back(name, node_for(inner));
      }
    }
    node.unevaluated_properties = single(place, "unevaluatedProperties");
  }

  void array_parts(SchemaNode& node, const SchemaPlace& place) {
    const Value* items = keyword(place, "items");
    if (items != nullptr && items->IsArray() && index_.keywords(place).holds_schema_list("items")) {
      node.tuple = list(place, "items");
      node.additional_items = single(place, "additionalItems");
    } else {
      node.tuple = list(place, "prefixItems");
      (node.tuple.empty() ? node.items : node.additional_items) = single(place, "items");
    }
    node.contains = single(place, "contains");
    if (node.contains) {
      node.max_contains = size(place, "maxContains");
      node.min_contains = size(place, "minContains");
    }
    node.unevaluated_items = single(place, "unevaluatedItems");
  }

  void in_place_parts(SchemaNode& node, const SchemaPlace& place) {
    references(node, place);
    for (const NodeIndex part : list(place, "allOf"))
      node.all_of.push_back(part);
    node.any_of = list(place, "anyOf");
    node.one_of = list(place, "oneOf");
    node.negated = single(place, "not");
    node.condition = single(place, "if");
    if (node.condition) {
      node.consequence = single(place, "then");
      node.alternative = single(place, "else");
    }
  }

  void references(SchemaNode& node, const SchemaPlace& place) {
    if (keyword(place, "$ref") != nullptr)
      node.all_of.push_back(node_for(target(place, "$ref"), place.base));
    for (const std::string_view name : {"$dynamicRef", "$recursiveRef"}) {
      if (keyword(place, name) == nullptr)
        continue;
      const SchemaPlace there = target(place, name);
      std::string anchor;
      bool dynamic = false;
      if (name == "$dynamicRef") {
        // Only a reference by such a name is dynamic.
        const auto reference = json::text(*place.value, name).value_or(std::string_view{});
        anchor = json::text(*there.value, "$dynamicAnchor").value_or(std::string_view{});
        dynamic = !anchor.empty() &&
                  split_fragment(resolve_uri(place.base, reference)).fragment == anchor;
      } else {
        dynamic = json::boolean(*there.value, "$recursiveAnchor").value_or(false);
      }
      const NodeIndex otherwise = node_for(there, place.base);
      if (dynamic) {
        dynamic_names_.insert(anchor);
        node.dynamic = DynamicReference{std::move(anchor), otherwise};
      } else {
        node.all_of.push_back(otherwise);
      }
    }
  }

  /// Makes an index of a long list. A short list is compared item by item.
  static void index_enum(SchemaNode& node) {
    constexpr rapidjson::SizeType kFew = 16;
    if (node.allowed == nullptr || node.allowed->Size() <= kFew)
      return;
    for (rapidjson::SizeType i = 0; i < node.allowed->Size(); ++i)
      node.allowed_hashes.emplace_back(hash_of((*node.allowed)[i]), i);
    std::sort(node.allowed_hashes.begin(), node.allowed_hashes.end());
  }

  static unsigned types(const SchemaPlace& place, const Value& type) {
    const auto bit = [&](const Value& name) -> unsigned {
      const auto text = json::text(name);
      for (const TypeRow& row : kTypes)
        if (text == row.name)
          return row.bit;
      refuse(place, "type", "there is no type " + printable(json::dump(name), 60));
    };
    if (!type.IsArray())
      return bit(type);
    unsigned bits = 0;
    for (const Value& name : type.GetArray())
      bits |= bit(name);
    return bits;
  }

  const Value* number(const SchemaPlace& place, std::string_view name) const {
    return typed(place, name, &Value::IsNumber, "a number");
  }

  bool flag(const SchemaPlace& place, std::string_view name) const {
    const Value* value = typed(place, name, &Value::IsBool, "true or false");
    return value != nullptr && value->IsTrue();
  }

  std::optional<std::uint64_t> size(const SchemaPlace& place, std::string_view name) const {
    const Value* value = keyword(place, name);
    if (value == nullptr)
      return std::nullopt;
    const auto count = json::integer(*value);
    if (count && *count >= 0)
      return static_cast<std::uint64_t>(*count);
    if (value->IsNumber() && value->GetDouble() >= 0x1p63)
      return UINT64_MAX;
    refuse(place, name, std::string(name) + " has to be a whole number, 0 or more");
  }

  Pattern compiled(const SchemaPlace& place, std::string_view name, const Value& source) {
    if (!source.IsString())
      refuse(place, name, std::string(name) + " has to be a string");
    auto pattern = Pattern::compile(json::name(source));
    if (!pattern)
      refuse(place, name, pattern.error().message);
    pattern_bytes_ += pattern->bytes();
    if (pattern_bytes_ > kMaxTreePatternBytes)
      refuse(place, name, "the patterns of this schema take more than 4 MiB");
    return std::move(*pattern);
  }

  static std::vector<std::string> names(const SchemaPlace& place, std::string_view name,
                                        const Value& value) {
    std::vector<std::string> out;
    if (!value.IsArray())
      refuse(place, name, std::string(name) + " has to be an array of names");
    for (const Value& item : value.GetArray()) {
      if (!item.IsString())
        refuse(place, name, std::string(name) + " has to be an array of names");
      out.emplace_back(json::name(item));
    }
    return out;
  }

  std::vector<std::string> entries(const SchemaPlace& place, std::string_view name) const {
    std::vector<std::string> out;
    const Value* value = typed(place, name, &Value::IsObject, "an object");
    if (value == nullptr)
      return out;
    for (const auto& member : value->GetObject())
      out.emplace_back(json::name(member.name));
    return out;
  }

  std::optional<NodeIndex> single(const SchemaPlace& place, std::string_view name) {
    const Value* value = keyword(place, name);
    if (value == nullptr)
      return std::nullopt;
    // In draft-04 these two keywords may have a boolean instead of a schema. No other keyword may.
    const bool additional = name == "additionalProperties" || name == "additionalItems";
    if (value->IsBool() && additional && index_.keywords(place).draft == SchemaDraft::draft4)
      return value->IsTrue() ? std::nullopt : std::optional(nothing(place));
    return node_for(index_.below(place, {std::string(name)}));
  }

  std::vector<NodeIndex> list(const SchemaPlace& place, std::string_view name) {
    std::vector<NodeIndex> out;
    const Value* value = typed(place, name, &Value::IsArray, "an array");
    if (value == nullptr)
      return out;
    for (rapidjson::SizeType i = 0; i < value->Size(); ++i)
      out.push_back(node_for(index_.below(place, {std::string(name), std::to_string(i)})));
    return out;
  }

  /// The schema that matches nothing.
  NodeIndex nothing(const SchemaPlace& place) {
    tree_->nodes.push_back({.pointer = index_.label(place), .never = true});
    places_.push_back(place);
    return tree_->nodes.size() - 1;
  }

  void note_doubts(const SchemaPlace& place) {
    // Report doubts about the requested schema, not about schemas it refers to.
    if (place.document != 0 || doubts_.size() > kMaxDoubts)
      return;
    const SchemaKeywords& keywords = index_.keywords(place);
    std::vector<Doubt> doubts = lint_schema(place, keywords);
    if (json::child(*place.value, "format") != nullptr && !keywords.formats &&
        !std::exchange(formats_doubted_, true)) {
      Finding finding{.severity = Severity::warning, .rule = "schema/lint"};
      finding.pointer = place.pointer + "/format";
      finding.message = "no value is checked for its format: in " +
                        std::string(draft_row(keywords.draft).name) +
                        " a format is a note, unless the meta-schema says otherwise";
      doubts.push_back({std::move(finding), true});
    }
    std::move(doubts.begin(), doubts.end(), std::back_inserter(doubts_));
  }

  /// The one place where a dynamic reference can lead; nothing if there are several.
  std::optional<NodeIndex> only_target(const DynamicReference& reference) const {
    const auto named =
        std::count_if(tree_->dynamic_anchors.begin(), tree_->dynamic_anchors.end(),
                      [&](const auto& row) { return row.first.second == reference.anchor; });
    return named > 1 ? std::nullopt : std::optional(reference.otherwise);
  }

  std::vector<NodeIndex> in_place(const SchemaNode& node) const {
    std::vector<NodeIndex> out = node.all_of;
    out.insert(out.end(), node.any_of.begin(), node.any_of.end());
    out.insert(out.end(), node.one_of.begin(), node.one_of.end());
    for (const auto& part : {node.negated, node.condition, node.consequence, node.alternative})
      if (part)
        out.push_back(*part);
    // Of several places, only the way decides. There the walk measures its depth.
    if (const auto only = node.dynamic ? only_target(*node.dynamic) : std::nullopt)
      out.push_back(*only);
    for (const auto& [name, part] : node.dependencies)
      out.push_back(part);
    return out;
  }

  /// Refuses a schema that applies itself to the same value without end.
  void refuse_circles(const SchemaPlace& root) {
    enum class Colour { fresh, open, done };
    struct Step {
      NodeIndex node;
      std::vector<NodeIndex> next;
    };
    constexpr std::size_t kMaxChain = 500;
    std::vector<Colour> colours(tree_->nodes.size(), Colour::fresh);
    for (NodeIndex start = 0; start < tree_->nodes.size(); ++start) {
      if (colours[start] != Colour::fresh)
        continue;
      std::vector<Step> path;
      colours[start] = Colour::open;
      path.push_back({start, in_place(tree_->nodes[start])});
      while (!path.empty()) {
        if (path.back().next.empty()) {
          colours[path.back().node] = Colour::done;
          path.pop_back();
          continue;
        }
        const NodeIndex next = path.back().next.back();
        path.back().next.pop_back();
        if (colours[next] == Colour::open)
          refuse(places_[next], "", "this schema applies itself to the same value without end");
        if (colours[next] == Colour::done)
          continue;
        if (path.size() == kMaxChain)
          refuse(root, "", "more than 500 nested schemas apply to one value");
        colours[next] = Colour::open;
        path.push_back({next, in_place(tree_->nodes[next])});
      }
    }
  }

  void mark_singles() {
    std::deque<SchemaNode>& nodes = tree_->nodes;
    for (SchemaNode& node : nodes)
      node.single =
          node.never || (!node.has_members() && !node.has_items() && !node.contains &&
                         !node.property_names && !node.has_unevaluated() && !node.dynamic &&
                         node.dependencies.empty() && in_place(node).empty());
    tree_->walked = std::any_of(nodes.begin(), nodes.end(), [](const SchemaNode& node) {
      return node.has_unevaluated() || node.dynamic || node.max_contains || node.min_contains;
    });
    const auto single = [&](NodeIndex part) { return nodes[part].single; };
    for (SchemaNode& node : nodes)
      node.single_items = (!node.items || single(*node.items)) &&
                          (!node.additional_items || single(*node.additional_items)) &&
                          std::all_of(node.tuple.begin(), node.tuple.end(), single);
  }

  SchemaIndex index_;
  std::shared_ptr<SchemaTree> tree_;
  std::unordered_map<const Value*, NodeIndex> indices_;
  std::deque<SchemaPlace> places_;  ///< the places of the nodes; a deque keeps them in place
  std::vector<Doubt> doubts_;
  bool formats_doubted_ = false;
  std::size_t pattern_bytes_ = 0;
  std::size_t pointer_bytes_ = 0;
  std::deque<NodeIndex> waiting_;
  std::map<std::string, std::size_t> resources_;  ///< their numbers, by URI
  std::set<std::string> dynamic_names_;           ///< those that dynamic references name
};

}  // namespace

const NodeIndex* SchemaNode::property(std::string_view name) const {
  const auto found =
      std::lower_bound(properties.begin(), properties.end(), name,
                       [](const auto& entry, std::string_view n) { return entry.first < n; });
  return found != properties.end() && found->first == name ? &found->second : nullptr;
}

Result<std::shared_ptr<const SchemaTree>> build_schema_tree(std::string_view text,
                                                            std::string_view uri,
                                                            const SchemaFetch& fetch,
                                                            bool checked) {
  return TreeBuilder(fetch, checked).build(text, uri);
}

}  // namespace baton
