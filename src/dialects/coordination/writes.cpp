#include "dialects/coordination/writes.h"

#include <algorithm>

namespace baton::coordination {

void Writes::set(const Scene& scene, const Group& group,
                 const std::vector<std::pair<std::string_view, Json>>& members) {
  const std::string pointer = "/" + json::pointer_token(group.id);
  touched_.insert(group.id);
  const bool created = std::find(created_.begin(), created_.end(), group.id) != created_.end();
  if (group.entry == nullptr && !created) {
    Json entry = Json::object({{"group_id", group.id}});
    if (group.task != nullptr) {
      if (const auto name = json::text(*group.task, "name"))
        entry.set("group_name", Json(*name));
      if (const auto branch = json::text(*group.task, "branch_name"))
        entry.set("branch_name", Json(*branch));
    }
    entry.set("status", word(group.status));
    group_edits_.push_back(json::Edit{pointer, entry.dump()});
    created_.push_back(group.id);
  }
  for (const auto& [name, value] : members)
    group_edits_.push_back(json::Edit{pointer + "/" + std::string(name), value.dump()});
  group_edits_.push_back(
      json::Edit{pointer + "/last_update", json::quote(iso_time(scene.view.wall))});
}

void Writes::put(const std::string& id, const Json& entry) {
  touched_.insert(id);
  group_edits_.push_back(
      json::Edit{"/" + json::pointer_token(id), entry.is_null() ? "" : entry.dump()});
}

void Writes::because(const std::string& reason) {
  why += (why.empty() ? "" : "; ") + reason;
}

std::vector<Update> Writes::updates(const Scene& scene) const {
  if (group_edits_.empty())
    return {};
  const std::string path = path_of(scene.options, "group_status");
  const Accepted* const file = find(scene.view.docs, "group_status");
  if (file == nullptr) {
    auto text = json::splice("{}\n", group_edits_);
    return text ? std::vector<Update>{Create{path, *text, why}} : std::vector<Update>{};
  }
  // Gone: the flow is held anyway, and there is nothing to write to.
  if (!file->present)
    return {};
  return {SetMembers{path, file->document->digest(), group_edits_, why}};
}

}  // namespace baton::coordination
