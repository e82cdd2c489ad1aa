// SPDX-License-Identifier: Apache-2.0
#include "dialects/fsm_loop/definition.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "dialects/fsm_loop/check.h"
#include "dialects/fsm_loop/values.h"
#include "dialects/kinds.h"

namespace baton::fsm_loop {

namespace {

constexpr std::array<std::string_view, 4> kOtherTargets = {
    "on_maintain", "on_retry_exhausted", "on_rate_limit_exhausted", "on_throttle_hard"};

/// The keys of loops. Every loop has at least one of them.
constexpr std::array<std::string_view, 5> kOfLoops = {"name", "initial", "states", "flow",
                                                      "paradigm"};

class Resolver {
 public:
  Resolver(const Value& root, FindingList& findings) : root_(root), findings_(findings) {}

  Definition resolve() {
    Definition definition;
    definition.root = Json(root_);
    definition.open = json::child(root_, "from") != nullptr || only_fragments(root_);
    definition.shortcut = is_short_form(root_) && !definition.open;
    if (definition.shortcut)
      add_compiled(definition);
    else if (const Value* const flow = json::child(root_, "flow"))
      add_flow(*flow, definition);
    else if (const Value* const states = json::child(root_, "states"))
      add_members(*states, "/states", definition);
    return definition;
  }

 private:
  void add_members(const Value& states, const std::string& pointer, Definition& definition) {
    for (const auto& member : states.GetObject()) {
      const std::string name(json::name(member.name));
      if (definition.state(name) == nullptr)
        add(name, member_pointer(pointer, name), Json(member.value), definition);
    }
  }

  /// Adds the states of a short form. Findings point to the members that the states were made from.
  void add_compiled(Definition& definition) {
    ShortForm form = compiled(root_);
    definition.root = std::move(form.root);
    for (CompiledState& state : form.states)
      add(state.name, std::move(state.pointer), std::move(state.body), definition);
  }

  void add_flow(const Value& flow, Definition& definition) {
    const Value* const bodies = json::child(root_, "state_defs");
    for (rapidjson::SizeType i = 0; i < flow.Size(); ++i) {
      const std::string place = item_pointer("/flow", i);
      Json body = skeleton(flow, i, place);
      const std::string name = entry_name(flow[i]);
      std::string pointer = place;
      if (definition.state(name) != nullptr) {
        findings_.error("S10", place, "the flow names " + quoted_word(name) + " twice");
        continue;
      }
      if (const Value* const own = bodies == nullptr ? nullptr : json::child(*bodies, name)) {
        body = merged(*body, *own);
        pointer = member_pointer("/state_defs", name);
      }
      add(name, pointer, std::move(body), definition);
    }
    if (bodies != nullptr)
      add_members(*bodies, "/state_defs", definition);
  }

  static std::string entry_name(const Value& entry) {
    const std::string text(json::text(entry).value_or(""));
    return text.substr(0, text.find('?'));
  }

  /// The members that the entry's place in `flow` gives. `c?x:y` goes to x for yes and to y for no.
  /// Any other entry goes to the next one. The last entry is terminal.
  Json skeleton(const Value& flow, rapidjson::SizeType index, const std::string& place) {
    const std::string text(json::text(flow[index]).value_or(""));
    const auto question = text.find('?');
    if (index + 1 == flow.Size())
      return Json::object({{"terminal", true}});
    if (question == std::string::npos)
      return Json::object({{"next", entry_name(flow[index + 1])}});
    const auto colon = text.find(':', question);
    const std::string yes = text.substr(question + 1, colon - question - 1);
    const std::string no = colon == std::string::npos ? "" : text.substr(colon + 1);
    if (question == 0 || yes.empty() || no.empty()) {
      findings_.error("S10", place, "one side of the branch is missing in " + quoted_word(text),
                      {.found = text, .expected = "state?yes_state:no_state"});
      return Json::object();
    }
    return Json::object({{"on_yes", yes}, {"on_no", no}});
  }

  void add(const std::string& name, std::string pointer, Json body, Definition& definition) {
    State state{name, std::move(pointer), std::move(body), definition.open};
    if (const auto fragment = json::text(*state.body, "fragment"))
      work_in(std::string(*fragment), state);
    definition.index.emplace(name, definition.states.size());
    definition.states.push_back(std::move(state));
  }

  void work_in(const std::string& name, State& state) {
    const Value* const fragments = json::child(root_, "fragments");
    const Value* const own = fragments == nullptr ? nullptr : json::child(*fragments, name);
    if (own != nullptr) {
      Json base(*own);
      base.erase("description").erase("parameters");
      state.body = merged(*base, *state.body);
      bind(name, *own, state);
      return;
    }
    state.open = true;
    if (json::child(root_, "import") != nullptr || json::child(root_, "from") != nullptr)
      return;
    std::vector<std::string_view> names;
    for (const auto& member : members_in(root_, "fragments"))
      names.push_back(json::name(member.name));
    findings_.error("S10", member_pointer(state.pointer, "fragment"),
                    "there is no fragment " + quoted_word(name),
                    {.found = name, .suggestion = near_word(name, names)});
  }

  /// Binds the parameters of the fragment to the values of the state's `with`.
  void bind(const std::string& name, const Value& fragment, State& state) {
    const Value* const given = json::child(*state.body, "with");
    Json param = given == nullptr ? Json::object() : Json(*given);
    // With `loop`, `with` may also be for that loop.
    for (const auto& member : members_in(*state.body, "with"))
      if (const std::string why = binding_fault(fragment, json::name(member.name), member.value);
          !why.empty() && json::child(*state.body, "loop") == nullptr)
        findings_.error(
            "S10", member_pointer(member_pointer(state.pointer, "with"), json::name(member.name)),
            "the fragment " + quoted_word(name) + " " + why);
    for (const auto& member : members_in(fragment, "parameters")) {
      const std::string key(json::name(member.name));
      const Value* const fallback = json::child(member.value, "default");
      if (json::child(*param, key) != nullptr)
        continue;
      if (fallback != nullptr)
        param.set(key, *fallback);
      else if (json::boolean(member.value, "required") == true)
        findings_.error(
            "S10", member_pointer(state.pointer, "with"),
            "the fragment " + quoted_word(name) + " needs the parameter " + quoted_word(key),
            {.expected = "with: {" + key + ": ...}"});
    }
    state.param = std::move(param);
    if (json::child(*state.body, "loop") == nullptr) {
      state.body.erase("with");
      return;
    }
    // What is meant for the fragment alone is no value for the loop.
    Json values = given == nullptr ? Json() : Json(*given);
    const Value* const own = json::child(fragment, "with");
    for (const auto& member : members_in(fragment, "parameters"))
      if (!values.is_null() &&
          (own == nullptr || json::child(*own, json::name(member.name)) == nullptr))
        values.erase(json::name(member.name));
    if (!values.is_null())
      state.body.set("with", values);
  }

  const Value& root_;
  FindingList& findings_;
};

void check_shortcut(const Value& root, FindingList& findings) {
  std::set<std::string> names;
  std::size_t i = 0;
  for (const Value& constraint : items_in(root, "constraints")) {
    const std::string name = text_of(constraint, "name");
    if (!names.insert(name).second)
      findings.error("S11", item_pointer("/constraints", i) + "/name",
                     "two constraints are called " + quoted_word(name), {.found = name});
    ++i;
  }
}

bool has_type(std::string_view type, const Value& value, const Value& parameter) {
  if (type == "string")
    return value.IsString();
  if (type == "integer")
    return value.IsInt64() || value.IsUint64();
  if (type == "number")
    return value.IsNumber();
  if (type == "boolean")
    return value.IsBool();
  const auto allowed = items_in(parameter, "values");
  return type != "enum" || allowed.Empty() ||
         std::any_of(allowed.begin(), allowed.end(),
                     [&](const Value& each) { return json::equal(each, value); });
}

/// Whether the state may capture the name. A loop inside it, or another file that adds to it, may
/// capture any name.
bool may_capture(const State& state, std::string_view name) {
  const std::vector<std::string_view> names = captures_of(state);
  return state.open || json::child(*state.body, "loop") != nullptr ||
         std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

const State* Definition::state(std::string_view name) const {
  const auto found = index.find(name);
  return found == index.end() ? nullptr : &states[found->second];
}

bool only_fragments(const Value& root) {
  return json::child(root, "fragments") != nullptr && json::child(root, "from") == nullptr &&
         std::none_of(kOfLoops.begin(), kOfLoops.end(),
                      [&](std::string_view key) { return json::child(root, key) != nullptr; });
}

Definition resolve(const Value& root, FindingList& findings) {
  Definition definition = Resolver(root, findings).resolve();
  if (definition.shortcut)
    check_shortcut(root, findings);
  definition.generation = generation_of(root, definition.states);
  return definition;
}

Json long_form(const Definition& definition) {
  Json root = definition.root;
  for (const char* const key : {"from", "import", "fragments", "flow", "state_defs"})
    root.erase(key);
  Json states = Json::object();
  for (const State& state : definition.states) {
    Json body = state.body;
    if (!state.param.is_null())
      body.set("param", state.param);
    states.set(state.name, body.erase("fragment"));
  }
  root.set("states", states);
  return root.set("generation", definition.generation == Generation::modern ? "modern" : "v1");
}

std::string binding_fault(const Value& owner, std::string_view key, const Value& value) {
  std::vector<std::string_view> names;
  for (const auto& member : members_in(owner, "parameters"))
    names.push_back(json::name(member.name));
  if (names.empty())
    return {};
  const Value* const parameter = json::child(*json::child(owner, "parameters"), key);
  if (parameter == nullptr)
    return "has no parameter " + quoted_word(key) + "; it has " +
           printable(join(std::vector<std::string>(names.begin(), names.end()), ", "), 200);
  const std::string type = std::string(json::text(*parameter, "type").value_or("string"));
  const auto text = json::text(value);
  if ((text && computed(*text)) || has_type(type, value, *parameter))
    return {};
  const Value* const allowed = json::child(*parameter, "values");
  return "takes " +
         (type == "enum" && allowed != nullptr ? "one of " + printable(json::dump(*allowed), 200)
                                               : "a value of the type " + type) +
         " as " + quoted_word(key) + ", not " + printable(json::dump(value), 80);
}

Json merged(const Value& under, const Value& over) {
  if (!under.IsObject() || !over.IsObject())
    return Json(over);
  Json result(under);
  for (const auto& member : over.GetObject()) {
    const std::string name(json::name(member.name));
    const Value* const below = json::child(under, name);
    result.set(name, below == nullptr ? Json(member.value) : merged(*below, member.value));
  }
  return result;
}

const Value* repeated_failure_in(const Value& root) {
  const Value* const circuit = json::child(root, "circuit");
  const Value* const failure =
      circuit == nullptr ? nullptr : json::child(*circuit, "repeated_failure");
  return failure == nullptr || !failure->IsObject() ? nullptr : failure;
}

std::vector<Reference> references(const State& state) {
  std::vector<Reference> all;
  const auto add = [&](const std::string& pointer, const std::string& key, const Value& value) {
    if (const auto target = json::text(value))
      all.push_back({pointer, key, std::string(*target)});
  };
  for (const auto& member : state.body->GetObject()) {
    const std::string key(json::name(member.name));
    const std::string pointer = member_pointer(state.pointer, key);
    if (key == "next" || key.starts_with("on_"))
      add(pointer, key, member.value);
    if (key == "route" && member.value.IsObject())
      for (const auto& row : member.value.GetObject())
        add(member_pointer(pointer, json::name(row.name)), std::string(json::name(row.name)),
            row.value);
  }
  return all;
}

bool is_verdict_key(std::string_view key) {
  return key.starts_with("on_") &&
         std::find(kOtherTargets.begin(), kOtherTargets.end(), key) == kOtherTargets.end();
}

std::vector<std::string_view> captures_of(const State& state) {
  const Value& body = *state.body;
  const Value* const evaluate = json::child(body, "evaluate");
  std::vector<std::string_view> names;
  for (const auto& name : {json::text(body, "capture"),
                           evaluate == nullptr ? std::nullopt : json::text(*evaluate, "remember")})
    if (name)
      names.push_back(*name);
  // See LoopState::hands_back.
  if (json::child(body, "loop") != nullptr &&
      (json::child(body, "with") != nullptr || json::boolean(body, "context_passthrough") == true))
    names.emplace_back(state.name);
  return names;
}

Graph::Graph(const Definition& definition, const Value& root) : definition_(definition) {
  const auto state_in = [&](const Value& object, const char* key) {
    const auto found = definition.index.find(text_of(object, key));
    return found == definition.index.end() ? std::nullopt : std::optional(found->second);
  };
  start_ = state_in(root, "initial");
  if (const Value* const failure = repeated_failure_in(root))
    guard_ = state_in(*failure, "on_repeated_failure");
  const bool maintain = json::boolean(root, "maintain").value_or(false);
  for (const State& state : definition.states) {
    std::vector<std::size_t>& to = ways_.emplace_back();
    bool anywhere = false;
    for (const Reference& reference : references(state)) {
      if (computed(reference.target))
        anywhere = true;
      else if (reference.target == "$current")
        to.push_back(ways_.size() - 1);
      else if (const auto found = definition.index.find(reference.target);
               found != definition.index.end())
        to.push_back(found->second);
    }
    if (state.terminal() && maintain && start_)
      to.push_back(*start_);
    anywhere_.push_back(anywhere);
  }
  // A limit leads there at the earliest after the first state.
  for (const char* const key : {"on_max_steps", "on_max_iterations"})
    if (const auto summary = state_in(root, key); summary && start_)
      ways_[*start_].push_back(*summary);
}

std::vector<bool> Graph::reachable(std::string_view uncaptured) const {
  std::vector<bool> seen(ways_.size(), false);
  std::vector<std::size_t> next;
  if (start_)
    next.push_back(*start_);
  // A guard leads there from any state, also from one that captures.
  if (guard_ && uncaptured.empty())
    next.push_back(*guard_);
  while (!next.empty()) {
    const std::size_t state = next.back();
    next.pop_back();
    if (seen[state])
      continue;
    seen[state] = true;
    if (!uncaptured.empty() && may_capture(definition_.states[state], uncaptured))
      continue;
    if (anywhere_[state])
      return std::vector<bool>(ways_.size(), true);
    next.insert(next.end(), ways_[state].begin(), ways_[state].end());
  }
  return seen;
}

}  // namespace baton::fsm_loop
