// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/content_kind.h"

#include <algorithm>
#include <initializer_list>

#include "workspace/kind_choice.h"

namespace baton {
namespace {

bool is_object(const Value& root, const char* key) {
  const Value* const value = json::child(root, key);
  return value != nullptr && value->IsObject();
}

bool has_any(const Value& object, std::initializer_list<const char*> keys) {
  return std::any_of(keys.begin(), keys.end(),
                     [&](const char* key) { return json::child(object, key) != nullptr; });
}

}  // namespace

std::string_view kind_by_content(const Value& root) {
  if (!root.IsObject())
    return {};
  const Value* const steps = json::child(root, "steps");
  if (steps != nullptr && steps->IsArray() && !steps->Empty() && (*steps)[0].IsObject() &&
      has_any((*steps)[0], {"id"}) && has_any((*steps)[0], {"agent", "prompt"}))
    return "agent_run/workflow";
  const auto initial = json::text(root, "initial");
  const Value* const states = json::child(root, "states");
  if (initial && states != nullptr && states->IsObject() &&
      std::any_of(states->MemberBegin(), states->MemberEnd(), [](const auto& member) {
        return member.value.IsObject() && has_any(member.value, {"action", "terminal", "next",
                                                                 "evaluate", "loop", "fragment"});
      }))
    return "fsm_loop/definition";
  const Value* const rules = json::child(root, "rules");
  // One that acts on nothing has its version only.
  if (json::integer(root, "version") == 1 &&
      (root.MemberCount() == 1 || is_object(root, "agents") || is_object(root, "dialects") ||
       (rules != nullptr && rules->IsArray())))
    return kConfiguration;
  return has_any(root, {"name"}) && has_any(root, {"command"}) && has_any(root, {"tested"})
             ? kAdapterSchema
             : std::string_view();
}

}  // namespace baton
