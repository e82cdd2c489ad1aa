// SPDX-License-Identifier: Apache-2.0
#include "base/schema/schema_walk.h"

#include <algorithm>
#include <span>

#include "base/schema/schema_words.h"
#include "base/text.h"

namespace baton {
namespace {

// More findings than are shown, so that the shown ones are the first in the text.
constexpr std::size_t kMaxKept = 10'000;
// A name may be as long as the document and occur in every pointer below it.
constexpr std::size_t kMaxPointerBytes = 4U << 20U;

// So many parts of a value are marked and put together in the time of a step.
constexpr std::size_t kPartsPerStep = 64;

// A main thread has 8 MiB.
constexpr std::uintptr_t kMaxStackBytes = 3U << 20U;

std::uintptr_t stack_pointer() {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

std::size_t depth_of(const Finding& finding) {
  return static_cast<std::size_t>(std::count(finding.pointer.begin(), finding.pointer.end(), '/'));
}

std::size_t parts_of(const Value& value) {
  return value.IsArray() ? value.Size() : value.IsObject() ? value.MemberCount() : 0;
}

/// Marks in `seen` what is marked in `more`; both are of the same value.
void add_to(std::vector<unsigned char>* seen, const std::vector<unsigned char>& more) {
  if (seen != nullptr)
    for (std::size_t part = 0; part < more.size(); ++part)
      (*seen)[part] |= more[part];
}

std::size_t deepest(const Findings& findings) {
  std::size_t depth = 0;
  for (const Finding& finding : findings)
    depth = std::max(depth, depth_of(finding));
  return depth;
}

}  // namespace

SchemaWalk::SchemaWalk(const SchemaTree& tree, std::size_t max_steps, Judge judge)
    : tree_(tree),
      steps_left_(max_steps),
      stack_begin_(stack_pointer()),
      judge_(std::move(judge)) {}

void SchemaWalk::look_at_stack() const {
  const std::uintptr_t here = stack_pointer();
  const std::uintptr_t grown = here < stack_begin_ ? stack_begin_ - here : here - stack_begin_;
  if (grown > kMaxStackBytes)
    throw SchemaExhausted{"document and schema together are nested too deeply"};
}

void SchemaWalk::spend(std::size_t steps) {
  if (steps > steps_left_)
    throw SchemaExhausted{
        "the validation was stopped after too many steps; use a smaller document, or fewer "
        "alternatives and patterns in the schema"};
  steps_left_ -= steps;
}

std::string SchemaWalk::pointer() const {
  std::string out;
  for (const Step& step : path_) {
    out += '/';
    if (const auto* name = std::get_if<std::string_view>(&step))
      out += json::pointer_token(*name);
    else
      out += std::to_string(std::get<std::size_t>(step));
  }
  return out;
}

bool SchemaWalk::refuse(const SchemaNode& node, std::string_view keyword, const Value& value,
                        std::string message, std::string expected, std::string suggestion) {
  if (sink_ != nullptr) {
    Finding finding;
    finding.rule = "schema/" + std::string(keyword);
    finding.pointer = pointer();
    finding.schema_pointer = node.pointer + (node.never ? "" : "/" + std::string(keyword));
    finding.message = std::move(message);
    finding.found = shown(value);
    finding.expected = std::move(expected);
    finding.suggestion = std::move(suggestion);
    ++found_;
    pointer_bytes_ += finding.pointer.size();
    sink_->push_back(std::move(finding));
    // Nothing more would be kept, so stop.
    if (found_ >= kMaxKept || pointer_bytes_ >= kMaxPointerBytes)
      throw SchemaExhausted{"not valid, with too many reasons to list"};
  }
  return false;
}

bool SchemaWalk::may_suggest(std::string_view word, std::size_t candidates) {
  const std::size_t cost = (1 + word.size()) * (1 + word.size()) * (1 + candidates);
  if (sink_ == nullptr || word.size() > kMaxPointerBytes || cost > suggestions_left_)
    return false;
  suggestions_left_ -= cost;
  return true;
}

/// Notes the resource of a node for as long as the walk is in it.
class SchemaWalk::Entered {
 public:
  Entered(SchemaWalk& walk, std::size_t resource)
      : walk_(walk),
        fresh_(!walk.tree_.dynamic_anchors.empty() &&
               (walk.resources_.empty() || walk.resources_.back() != resource)) {
    if (fresh_)
      walk_.resources_.push_back(resource);
  }
  ~Entered() {
    if (fresh_)
      walk_.resources_.pop_back();
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  Entered(Entered&&) = delete;
  Entered& operator=(Entered&&) = delete;

 private:
  SchemaWalk& walk_;
  bool fresh_;
};

void SchemaWalk::see(std::size_t part) {
  if (seen_ != nullptr)
    (*seen_)[part] = 1;
}

void SchemaWalk::see_all() {
  if (seen_ != nullptr)
    seen_->assign(seen_->size(), 1);
}

bool SchemaWalk::holds(NodeIndex index, const Value& value) {
  const SchemaNode& node = tree_.nodes[index];
  const Entered entered(*this, node.resource);
  const bool asks = value.IsArray() ? node.unevaluated_items.has_value()
                                    : value.IsObject() && node.unevaluated_properties.has_value();
  if (!asks)
    return all_rules(index, value);
  // What rules beside this schema looked at does not count in it.
  Seen mine(parts_of(value), 0);
  spend(1 + mine.size() / kPartsPerStep);
  Seen* const outer = std::exchange(seen_, &mine);
  bool good = all_rules(index, value);
  if (good || sink_ != nullptr)
    good = unevaluated(node, value) && good;
  seen_ = outer;
  add_to(outer, mine);
  return good;
}

/// Checks the parts that no rule looked at.
bool SchemaWalk::unevaluated(const SchemaNode& node, const Value& value) {
  const Seen& seen = *seen_;
  bool good = true;
  for (std::size_t part = 0; part < seen.size() && (good || sink_ != nullptr); ++part) {
    if (seen[part])
      continue;
    if (value.IsArray()) {
      good &= below(part, *node.unevaluated_items, value[static_cast<rapidjson::SizeType>(part)]);
      continue;
    }
    const auto& entry = *(value.MemberBegin() + static_cast<std::ptrdiff_t>(part));
    const std::string_view name = json::name(entry.name);
    if (tree_.nodes[*node.unevaluated_properties].never)
      good = not_allowed(node, "unevaluatedProperties", name, entry.value);
    else
      good &= below(name, *node.unevaluated_properties, entry.value);
  }
  see_all();
  return good;
}

bool SchemaWalk::all_rules(NodeIndex index, const Value& value) {
  const SchemaNode& node = tree_.nodes[index];
  bool good = rules_hold(index, value);
  if (!good && sink_ == nullptr)
    return false;
  if (value.IsArray()) {
    if (!node.single_items)
      good &= item_parts(node, value);
    if (node.contains)
      good &= contains(node, value);
  }
  return in_place(node, value) && good;
}

bool SchemaWalk::rules_hold(NodeIndex index, const Value& value) {
  spend(1);
  look_at_stack();
  const SchemaNode& node = tree_.nodes[index];
  if (node.never)
    return refuse(node, "false", value, "nothing is allowed here");
  bool good = scalar_rules(node, value);
  if (value.IsNumber())
    good &= number_rules(node, value);
  else if (value.IsString())
    good &= string_rules(node, value);
  else if (value.IsArray())
    good &= array_rules(node, value);
  else if (value.IsObject())
    good &= object_rules(node, value);
  return good;
}

void SchemaWalk::reasons(NodeIndex node, const Value& value, Findings& out) {
  sink_ = &out;
  holds(node, value);
  sink_ = nullptr;
}

bool SchemaWalk::names(const SchemaNode& node, const Value& value) {
  const std::string& words = tree_.nodes[*node.property_names].pattern_words;
  bool good = true;
  for (const auto& entry : value.GetObject()) {
    if (quietly(*node.property_names, entry.name))
      continue;
    path_.emplace_back(json::name(entry.name));
    good = refuse(node, "propertyNames", entry.name,
                  "the name " + shown_name(json::name(entry.name)) + " is not allowed" +
                      (words.empty() ? "" : ": " + printable(words, 200)),
                  printable(words, 200));
    path_.pop_back();
  }
  return good;
}

bool SchemaWalk::object_rules(const SchemaNode& node, const Value& value) {
  bool good = size_rule(node, value, value.MemberCount(), node.min_properties, node.max_properties,
                        {"minProperties", "maxProperties", "member"});
  good &= needed_members(node, value);
  if (node.property_names)
    good &= names(node, value);
  if (!good && sink_ == nullptr)
    return false;
  good &= members(node, value);
  return dependencies(node, value) && good;
}

bool SchemaWalk::members(const SchemaNode& node, const Value& value) {
  if (!node.has_members())
    return true;
  bool good = true;
  std::size_t part = 0;
  for (const auto& entry : value.GetObject()) {
    good &= member(node, json::name(entry.name), entry.value, part++);
    if (!good && sink_ == nullptr)
      return false;
  }
  return good;
}

bool SchemaWalk::member(const SchemaNode& node, std::string_view name, const Value& value,
                        std::size_t part) {
  bool good = true;
  bool known = false;
  if (const NodeIndex* declared = node.property(name)) {
    known = true;
    good &= below(name, *declared, value);
  }
  for (const auto& [pattern, schema] : node.pattern_properties) {
    if (matches(pattern, name)) {
      known = true;
      good &= below(name, schema, value);
    }
  }
  if (known || node.additional_properties)
    see(part);
  if (known || !node.additional_properties)
    return good;
  const NodeIndex additional = *node.additional_properties;
  return tree_.nodes[additional].never ? not_allowed(node, "additionalProperties", name, value)
                                       : below(name, additional, value);
}

bool SchemaWalk::not_allowed(const SchemaNode& node, std::string_view keyword,
                             std::string_view name, const Value& value) {
  if (sink_ == nullptr)
    return false;
  std::string suggestion;
  if (may_suggest(name, node.properties.size())) {
    std::vector<std::string> names;
    for (const auto& [declared, schema] : node.properties)
      names.push_back(declared);
    suggestion = nearest(name, names).value_or("");
  }
  path_.emplace_back(name);
  refuse(node, keyword, value, "the member " + shown_name(name) + " is not allowed here", "",
         std::move(suggestion));
  path_.pop_back();
  return false;
}

bool SchemaWalk::below(Step step, NodeIndex node, const Value& value) {
  if (judge_ && !tree_.nodes[node].single)
    return judge_(node, value);
  path_.push_back(step);
  Seen* const seen = std::exchange(seen_, nullptr);
  const bool good = holds(node, value);
  seen_ = seen;
  path_.pop_back();
  return good;
}

bool SchemaWalk::item_parts(const SchemaNode& node, const Value& value) {
  bool good = true;
  for (rapidjson::SizeType i = 0; i < value.Size() && (good || sink_ != nullptr); ++i) {
    const NodeIndex* const schema = node.items              ? &*node.items
                                    : i < node.tuple.size() ? &node.tuple[i]
                                    : node.additional_items ? &*node.additional_items
                                                            : nullptr;
    if (schema == nullptr)
      break;
    see(i);
    good &= below(std::size_t{i}, *schema, value[i]);
  }
  return good;
}

bool SchemaWalk::contains(const SchemaNode& node, const Value& value) {
  const std::uint64_t least = node.min_contains.value_or(1);
  // Before draft 2020-12 the items that match do not count as looked at.
  const bool sees = seen_ != nullptr && node.draft >= SchemaDraft::draft2020_12;
  std::uint64_t found = 0;
  for (rapidjson::SizeType i = 0; i < value.Size(); ++i) {
    if (!quietly(*node.contains, value[i]))
      continue;
    ++found;
    if (sees)
      see(i);
    else if (found >= least && !node.max_contains)
      break;
  }
  const bool many = node.max_contains && found > *node.max_contains;
  if (!many && found >= least)
    return true;
  if (sink_ == nullptr)
    return false;
  if (!many && !node.min_contains)
    return refuse(node, "contains", value,
                  "no item matches the schema that one of them must match");
  const std::string bound = (many ? "at most " : "at least ") +
                            count_words(many ? *node.max_contains : least, "item", "items");
  return refuse(node, many ? "maxContains" : "minContains", value,
                bound + (many ? " may" : " must") + " match the schema of contains, " +
                    std::to_string(found) + (found == 1 ? " does" : " do"),
                bound);
}

/// Checks another value than the current one, without recording reasons.
bool SchemaWalk::quietly(NodeIndex node, const Value& value) {
  Seen* const seen = std::exchange(seen_, nullptr);
  Findings* const sink = std::exchange(sink_, nullptr);
  const bool good = holds(node, value);
  sink_ = sink;
  seen_ = seen;
  return good;
}

/// Checks the current value without recording reasons. What a schema that does not hold looked at
/// does not count.
bool SchemaWalk::fits(NodeIndex node, const Value& value) {
  if (seen_ == nullptr)
    return quietly(node, value);
  Seen mine(seen_->size(), 0);
  spend(1 + mine.size() / kPartsPerStep);
  Seen* const outer = std::exchange(seen_, &mine);
  Findings* const sink = std::exchange(sink_, nullptr);
  const bool good = holds(node, value);
  sink_ = sink;
  seen_ = outer;
  if (good)
    add_to(outer, mine);
  return good;
}

/// The outermost resource that was entered on the way here and has the name.
NodeIndex SchemaWalk::dynamic_target(const DynamicReference& reference) {
  for (const std::size_t resource : resources_) {
    spend(1);
    const auto found = tree_.dynamic_anchors.find({resource, reference.anchor});
    if (found != tree_.dynamic_anchors.end())
      return found->second;
  }
  return reference.otherwise;
}

bool SchemaWalk::in_place(const SchemaNode& node, const Value& value) {
  bool good = true;
  for (const NodeIndex part : node.all_of) {
    good &= holds(part, value);
    if (!good && sink_ == nullptr)
      return false;
  }
  if (node.dynamic)
    good &= holds(dynamic_target(*node.dynamic), value);
  good &= any_of(node, value);
  good &= one_of(node, value);
  if (node.negated && quietly(*node.negated, value))
    good = sink_ != nullptr &&
           refuse(node, "not", value, shown(value) + " matches the schema that it must not match");
  if (node.condition) {
    const auto& branch = fits(*node.condition, value) ? node.consequence : node.alternative;
    if (branch)
      good &= holds(*branch, value);
  }
  return good;
}

bool SchemaWalk::dependencies(const SchemaNode& node, const Value& value) {
  bool good = true;
  for (const auto& [name, schema] : node.dependencies)
    if (json::child(value, name) != nullptr)
      good &= judge_ ? judge_(schema, value) : holds(schema, value);
  return good;
}

bool SchemaWalk::any_of(const SchemaNode& node, const Value& value) {
  if (node.any_of.empty())
    return true;
  bool fitting = false;
  for (const NodeIndex branch : node.any_of) {
    fitting |= fits(branch, value);
    // All that fit count for what they looked at.
    if (fitting && seen_ == nullptr)
      return true;
  }
  return fitting || no_branch(node, value, "anyOf", node.any_of);
}

bool SchemaWalk::one_of(const SchemaNode& node, const Value& value) {
  if (node.one_of.empty())
    return true;
  std::size_t fitting = 0;
  for (const NodeIndex branch : node.one_of)
    fitting += fits(branch, value) ? 1U : 0U;
  if (fitting == 1)
    return true;
  if (fitting == 0)
    return no_branch(node, value, "oneOf", node.one_of);
  return sink_ != nullptr && refuse(node, "oneOf", value,
                                    shown(value) + " fits " + std::to_string(fitting) +
                                        " alternatives, exactly one is allowed");
}

std::vector<Findings> SchemaWalk::branches(const std::vector<NodeIndex>& nodes,
                                           const Value& value) {
  // A reader does not look at more branches.
  constexpr std::size_t kMostBranches = 64;
  std::vector<Findings> out;
  Findings* const sink = sink_;
  Seen* const seen = std::exchange(seen_, nullptr);
  for (const NodeIndex node : std::span(nodes).first(std::min(nodes.size(), kMostBranches))) {
    Findings findings;
    sink_ = &findings;
    holds(node, value);
    out.push_back(std::move(findings));
  }
  sink_ = sink;
  seen_ = seen;
  return out;
}

/// Reports the branch that was probably meant: the one whose faults lie deepest. If all fail at the
/// value itself, reports them together.
bool SchemaWalk::no_branch(const SchemaNode& node, const Value& value, std::string_view keyword,
                           const std::vector<NodeIndex>& nodes) {
  if (sink_ == nullptr)
    return false;
  std::vector<Findings> all = branches(nodes, value);
  const auto best =
      std::max_element(all.begin(), all.end(), [](const auto& one, const auto& other) {
        return deepest(one) < deepest(other) ||
               (deepest(one) == deepest(other) && one.size() > other.size());
      });
  if (deepest(*best) > path_.size()) {
    sink_->insert(sink_->end(), best->begin(), best->end());
    return false;
  }
  constexpr std::size_t kTold = 4;
  std::vector<std::string> reasons;
  for (const Findings& findings : all)
    if (!findings.empty() && reasons.size() < kTold &&
        std::find(reasons.begin(), reasons.end(), findings.front().message) == reasons.end())
      reasons.push_back(findings.front().message);
  return refuse(node, keyword, value,
                "none of " + count_words(nodes.size(), "alternative", "alternatives") +
                    " fits: " + join(reasons, "; "));
}

}  // namespace baton
