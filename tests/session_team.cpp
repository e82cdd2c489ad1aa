// SPDX-License-Identifier: Apache-2.0
#include "session_team.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace baton::testing {
namespace {

constexpr const char* kGroups =
    R"([{"id": "A"}, {"id": "B"}, {"id": "C"}, {"id": "D"}, {"id": "E", "depends_on": ["A", "B"]}])";

struct Box {
  std::string_view role;
  std::string path;
  std::string to;
};
const std::vector<Box>& boxes() {
  static const std::vector<Box> all = {
      {"developer", "coordination/messages/dev_to_qa.json", "qa_expert"},
      {"qa_expert", "coordination/messages/qa_to_techlead.json", "tech_lead"},
      {"tech_lead", "coordination/messages/techlead_to_dev.json", "developer"},
  };
  return all;
}
const Box& box_of(const Role& role) {
  return *std::find_if(boxes().begin(), boxes().end(),
                       [&](const Box& box) { return box.role == role; });
}

/// The word by which a message says what a status says; "" when there is none.
std::pair<std::string, std::string> said_by_message(const Role& role, const std::string& status) {
  if (role == "developer")
    return {"status", status == "waiting_qa"       ? "READY_FOR_QA"
                      : status == "waiting_review" ? "READY_FOR_REVIEW"
                                                   : ""};
  if (role == "qa_expert")
    return {"result", status == "waiting_review" ? "PASS" : "FAIL"};
  return {"decision", status == "complete"            ? "approved"
                      : status == "changes_requested" ? "changes_requested"
                                                      : "unblocked"};
}

std::string status_of(const Value& entry) {
  return std::string(json::text(entry, "status").value_or(""));
}

/// Nothing was said by the status yet.
bool parts(const Role& role, const std::string& status) {
  return status == (role == "developer"   ? "dev_working"
                    : role == "qa_expert" ? "qa_testing"
                                          : "tech_review");
}

Json entry_of(const Json& groups, const std::string& group) {
  const Value* const entry = json::child(*groups, group);
  return entry == nullptr ? Json::object({{"status", "pending"}}) : Json(*entry);
}

}  // namespace

std::string purpose_of(const FakeAgents::Shim& shim) {
  for (const auto& [name, value] : shim.launch.env)
    if (name == "BATON_PURPOSE")
      return value;
  return {};
}

Json list_with(const Value& entry, std::string_view name, const Json& item) {
  Json list = Json::array();
  if (const Value* const old = json::child(entry, name); old != nullptr && old->IsArray())
    for (const Value& each : old->GetArray())
      list.push(Json(each));
  return list.push(item);
}

Json Team::accepted(const std::string& path) const {
  const auto row = world_.journal.tables.accepted.find(path);
  if (row == world_.journal.tables.accepted.end())
    return Json::object();
  auto parsed = parse_json(row->second.second);
  return parsed ? std::move(*parsed) : Json::object();
}

Json Team::read(const std::string& path) const {
  const std::string* const bytes = world_.disk.file(path);
  auto parsed = bytes == nullptr ? Result<Json>(Json::object()) : parse_json(*bytes);
  return parsed && (*parsed)->IsObject() ? std::move(*parsed) : accepted(path);
}

void Team::write(const std::string& path, const Json& doc, bool well) {
  const std::string text = doc.dump();
  if (!well && random_.one_in(12))
    world_.disk.write(path, text.substr(0, random_.below(text.size())));  // torn, for a while
  else
    world_.disk.write(path, text);
}

// ---- the project manager
// --------------------------------------------------------------------------

/// One group becomes two; what depended on it depends on the second half.
void Team::split(const std::string& group, Json& plan) {
  Json groups = Json::array();
  const Value* const old = json::child(*plan, "task_groups");
  if (old == nullptr || group.size() > 2)
    return;
  for (const Value& task : old->GetArray()) {
    if (json::text(task, "id") == group) {
      groups.push(Json::object({{"id", group + "1"}}));
      groups.push(
          Json::object({{"id", group + "2"}, {"depends_on", Json::array({Json(group + "1")})}}));
      continue;
    }
    Json kept(task);
    Json needs = Json::array();
    if (const Value* const given = json::child(task, "depends_on"); given != nullptr)
      for (const Value& need : given->GetArray())
        needs.push(json::text(need) == group ? Json(group + "2") : Json(need));
    groups.push(kept.set("depends_on", needs));
  }
  plan.set("task_groups", groups);
  Json status = read(status_path);
  Json left = Json::object();
  for (const auto& member : status->GetObject())
    if (group != member.name.GetString())
      left.set(member.name.GetString(), member.value);
  world_.disk.write(plan_path, plan.dump());
  world_.disk.write(status_path, left.dump());
}

/// As a refused completion asks for it.
void Team::remove_unplanned(const Json& plan) {
  std::set<std::string> planned;
  if (const Value* const groups = json::child(*plan, "task_groups"); groups != nullptr)
    for (const Value& task : groups->GetArray())
      planned.insert(std::string(json::text(task, "id").value_or("")));
  const Json status = read(status_path);
  Json left = Json::object();
  for (const auto& member : status->GetObject())
    if (const std::string name = member.name.GetString();
        name.starts_with('_') || planned.contains(name))
      left.set(name, member.value);
  if (left.dump() != status.dump())
    world_.disk.write(status_path, left.dump());
}

/// What a plan must not be: each of these is rejected or put back.
void Team::spoil(Json& plan) {
  switch (random_.below(5)) {
    case 0:
      plan.set("task_groups", *parse_json(R"([{"id": "A", "depends_on": ["B"]},
                                              {"id": "B", "depends_on": ["A"]}])"));
      break;
    case 1:
      plan.set("task_groups", *parse_json(R"([{"id": "A", "depends_on": ["nowhere"]}])"));
      break;
    case 2:
      plan.set("original_requirements", "Build less.");
      break;
    case 3:
      plan.set("iteration", Json(std::int64_t{0}));
      break;
    default:
      plan.set("mode", "hybrid");
  }
}

void Team::manage(Shim& shim, bool well, RunEnd& end) {
  Json plan = accepted(plan_path);
  const auto before = json::integer(*plan, "iteration").value_or(0);
  plan.set("iteration", Json(before + 1));
  const std::string why = purpose_of(shim);
  const Value* const groups = json::child(*plan, "task_groups");
  const bool planned = groups != nullptr && groups->IsArray() && !groups->Empty();
  if (!planned && (well || !random_.one_in(4)))
    plan.set("mode", "parallel").set("task_groups", *parse_json(kGroups));
  if (well && planned && why == "final_check")
    remove_unplanned(plan);
  if (planned && shim.launch.key.subject != "*session" && random_.one_in(3))
    split(shim.launch.key.subject, plan);
  if (!well && planned && why == "final_check" && random_.one_in(6))
    plan.set("task_groups", list_with(*plan, "task_groups",
                                      Json::object({{"id", "F" + std::to_string(++work_)}})));
  if (!well && random_.one_in(4))
    spoil(plan);
  if (well ? why == "final_check" : random_.one_in(3)) {
    said_word_ = true;
    if (random_.one_in(2))
      end.output = "All is done.\nBAZINGA\n";
    else
      plan.set("signal", "BAZINGA");
  } else {
    plan.set("signal", Json());
  }
  write(plan_path, plan, well);
}

// ---- developers, QA experts, tech leads
// -----------------------------------------------------------

Json Team::develop(Json entry, bool well) {
  entry.set("commits", list_with(*entry, "commits", Json("c" + std::to_string(++work_))));
  const std::size_t how = well ? 0 : random_.below(6);
  if (how == 5)
    return entry.set("status", "dev_blocked")
        .set("blockers", list_with(*entry, "blockers",
                                   Json::object({{"description", "b" + std::to_string(work_)},
                                                 {"resolved", false}})));
  return entry.set("status", how == 4 ? "waiting_review" : "waiting_qa");
}

Json Team::test(Json entry, bool well) {
  return entry.set("status", well || !random_.one_in(3) ? "waiting_review" : "qa_failed");
}

Json Team::review(Json entry, const std::string& why, bool well) {
  const auto feedback = [&](const char* decision) {
    return list_with(*entry, "tech_lead_feedback",
                     Json::object({{"iteration", Json(++work_)},
                                   {"decision", decision},
                                   {"timestamp", "2026-01-22T09:00:00Z"}}));
  };
  if (why == "review") {
    const bool good = well || random_.one_in(2);
    return entry.set("status", good ? "complete" : "changes_requested")
        .set("tech_lead_feedback", feedback(good ? "approved" : "changes_requested"));
  }
  Json blockers = Json::array();
  if (const Value* const old = json::child(*entry, "blockers"); old != nullptr)
    for (const Value& each : old->GetArray())
      blockers.push(Json(each).set("resolved", true));
  return entry.set("blockers", blockers).set("tech_lead_feedback", feedback("unblocked"));
}

Json Team::worked(const Shim& shim, Json entry, bool well) {
  entry.set("current_agent", "none");
  if (shim.launch.key.role == "developer")
    return develop(std::move(entry), well);
  if (shim.launch.key.role == "qa_expert")
    return test(std::move(entry), well);
  return review(std::move(entry), purpose_of(shim), well);
}

/// What nobody may do to a group.
void Team::misbehave(const std::string& group, Json& entry) {
  Json counters = Json::object({{"developer", 0}, {"qa", 0}, {"tech_lead", 0}});
  switch (random_.below(5)) {
    case 0:
      entry.set("status", "complete");
      break;
    case 1:
      entry.set("iterations", counters);
      break;
    case 2:
      entry.set("iterations", counters.set("developer", Json(std::int64_t{9})));
      break;
    case 3:
      entry.set("commits", Json::array());
      break;
    default:
      entry.set("group_id", group + "x");
  }
}

/// Ids have the resolution of a second, so two agents may come upon the same one.
std::string Team::message_id() {
  if (random_.one_in(4))
    return "msg_" + std::to_string(world_.clock.at.time_since_epoch().count() / 1000);
  return "msg_n" + std::to_string(++work_);
}

/// As a whole from an own copy, like everything.
void Team::send(const Shim& shim, const Json& entry, bool well) {
  const Box& box = box_of(shim.launch.key.role);
  const auto [member, word] = said_by_message(shim.launch.key.role, status_of(*entry));
  if (word.empty())
    return;
  const std::string& copy = copies_[shim.id][box.path];
  Json file = well || copy.empty() ? accepted(box.path) : *parse_json(copy);
  Json message = Json::object({{"id", message_id()},
                               {"group_id", shim.launch.key.subject},
                               {"from", shim.launch.key.role},
                               {"to", box.to},
                               {"timestamp", iso_time(world_.clock.at)},
                               {member, word},
                               {"subject", "s" + std::to_string(++work_)}});
  if (!well && random_.one_in(10))
    message.set("from", "project_manager");
  file.set("messages", list_with(*file, "messages", message));
  copies_[shim.id][box.path] = file.dump();
  write(box.path, file, well);
}

/// Some group is good, says somebody who has not looked at it.
void Team::forge(const Shim& shim, Json& copy) {
  if (copy->ObjectEmpty())
    return;
  const std::string group =
      (copy->MemberBegin() + static_cast<std::ptrdiff_t>(random_.below(copy->MemberCount())))
          ->name.GetString();
  const Json approval = Json::object({{"iteration", Json(++work_)},
                                      {"decision", "approved"},
                                      {"timestamp", "2026-01-22T09:00:00Z"}});
  if (random_.one_in(2)) {
    Json entry = entry_of(copy, group);
    if (random_.one_in(2))
      entry.set("status", "complete");
    copy.set(group,
             entry.set("tech_lead_feedback", list_with(*entry, "tech_lead_feedback", approval)));
    return;
  }
  const Box& box = box_of("tech_lead");
  Json file = accepted(box.path);
  file.set("messages", list_with(*file, "messages",
                                 Json::object({{"id", message_id()},
                                               {"group_id", group},
                                               {"from", "tech_lead"},
                                               {"to", "developer"},
                                               {"timestamp", iso_time(world_.clock.at)},
                                               {"subject", "by " + shim.id},
                                               {"decision", "approved"}})));
  write(box.path, file, false);
}

void Team::hand_on(Shim& shim, bool well) {
  const Key& key = shim.launch.key;
  Json copy = *parse_json(copies_[shim.id][status_path]);
  const std::string before = status_of(*entry_of(copy, key.subject));
  Json entry = worked(shim, entry_of(copy, key.subject), well);
  if (!well && random_.one_in(8))
    misbehave(key.subject, entry);
  if (!well && random_.one_in(8))
    forge(shim, copy);
  // Blocks and their ends are said in the group's entry only.
  const bool plain = purpose_of(shim) == "review" || key.role != "tech_lead";
  const bool word = status_of(*entry) != "dev_blocked" && plain;
  const auto channel = word ? static_cast<Channel>(random_.below(4)) : Channel::status;
  if (channel == Channel::message || channel == Channel::both)
    send(shim, entry, well);
  if (channel == Channel::input_queue)
    write("coordination/inbox/" + key.subject + ".json", entry, well);
  if (channel == Channel::status || channel == Channel::both) {
    write(status_path, copy.set(key.subject, entry), well);
    copies_[shim.id][status_path] = copy.dump();
  } else if (well && parts(key.role, before)) {
    handed_on_ = HandedOn{key.subject, status_of(*entry),
                          channel == Channel::input_queue ? "an inbox file" : "a message"};
  }
}

/// orchestrator_state is baton's.
void Team::meddle() {
  Json state = accepted(state_path);
  switch (random_.below(5)) {
    case 0:
      if (!old_state_.empty())
        world_.disk.write(state_path, old_state_);
      return;
    case 1:
      state.set("status", "completed");
      break;
    case 2:
      state.set("total_spawns", Json(json::integer(*state, "total_spawns").value_or(0) + 7));
      break;
    case 3:
      state.set("active_agents", Json::array());
      break;
    default:
      state.set("token_usage", Json(++work_));
  }
  write(state_path, state, false);
}

void Team::work(Shim& shim, bool well) {
  const Key& key = shim.launch.key;
  auto& copies = copies_[shim.id];
  if (well || copies.empty()) {
    copies[status_path] = well ? accepted(status_path).dump() : read(status_path).dump();
    if (!well) {
      for (const Box& box : boxes())
        copies[box.path] = read(box.path).dump();
      if (random_.one_in(4))
        old_state_ = accepted(state_path).dump();
      return;
    }
  }
  const auto running = world_.agents.in(FakeAgents::State::running);
  most_writers_ = std::max<std::size_t>(
      most_writers_, static_cast<std::size_t>(
                         std::count_if(running.begin(), running.end(), [&](const Shim* other) {
                           return other->launch.key.role != "project_manager" &&
                                  copies_[other->id].contains(status_path);
                         })));
  RunEnd end;
  end.outcome = Outcome::succeeded;
  end.exit_code = 0;
  if (!well && random_.one_in(25))
    meddle();
  if (!well && random_.one_in(12)) {
    end.outcome = random_.one_in(2) ? Outcome::failed : Outcome::timed_out;
  } else if (!well && random_.one_in(40)) {
    world_.agents.kill_shim(shim.id);
    return;
  } else if (key.role == "project_manager") {
    manage(shim, well, end);
  } else if (well || !random_.one_in(10)) {
    hand_on(shim, well);
    if (!well && random_.one_in(4))
      return;  // goes on, and writes the same copy once more
  }
  if (shim.stopping) {
    end.outcome = Outcome::interrupted;
    end.signal = 15;
  }
  world_.agents.finish(shim.id, end);
}

}  // namespace baton::testing
