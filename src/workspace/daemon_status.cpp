// SPDX-License-Identifier: Apache-2.0
#include "workspace/daemon_status.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/document.h"
#include "base/text.h"
#include "config/config.h"
#include "io/files/disk.h"
#include "io/files/fd.h"
#include "io/files/lock.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

/// The file always has this size. So the daemon can overwrite it in place even on a full disk.
constexpr std::size_t kBytes = 16U << 10U;
constexpr unsigned kMode = 0640;
constexpr std::size_t kMostCopyBytes = 32U << 20U;
constexpr unsigned kCopyMode = 0600;

std::string place(const std::string& state_folder) {
  return state_folder + "/daemon.json";
}

std::string copy_path(const std::string& state_folder) {
  return state_folder + "/configuration.json";
}

/// May fail while the daemon overwrites the file.
Result<Json> read_status(const std::string& state_folder) {
  const auto text = read_file(place(state_folder), kBytes);
  if (!text)
    return tl::unexpected(text.error());
  return parse_json(*text);
}

/// A row for each flow, at most `most`. `tell` adds members to the row of a flow.
template <class Map, class Tell>
Json list_of(const Map& flows, std::size_t most, const Tell& tell) {
  Json list = Json::array();
  for (const auto& [flow, value] : flows) {
    if (most-- == 0)
      break;
    Json row = Json::object({{"dialect", flow.dialect}, {"flow", flow.name}});
    tell(row, value);
    list.push(row);
  }
  return list;
}

Json json_of(const std::string& why, std::size_t room) {
  return Json(printable(why, room));
}
Json json_of(const AgentFault& fault, std::size_t room) {
  return Json::object({{"why", printable(fault.why, room)}, {"do", printable(fault.action, room)}});
}

void read(const Value& json, std::string& why) {
  why = json::text(json).value_or("");
}
void read(const Value& json, AgentFault& fault) {
  fault.why = json::text(json, "why").value_or("");
  fault.action = json::text(json, "do").value_or("");
}

/// Each name with its fault; texts are cut to fit. Null if there is no space for all names, because
/// a reader would take a missing name for usable.
template <class Fault>
Json unusable(const std::optional<std::map<std::string, Fault>>& all, std::size_t most) {
  constexpr std::size_t kTextBytes = 500;
  if (!all || (!all->empty() && most == 0))
    return {};
  const std::size_t room = all->size() > most ? kTextBytes * most / all->size() : kTextBytes;
  Json json = Json::object();
  for (const auto& [name, fault] : *all)
    json.set(printable(name, 200), json_of(fault, room));
  return json;
}

template <class Fault>
std::optional<std::map<std::string, Fault>> unusable_in(const Value& json, std::string_view name) {
  const Value* const all = json::child(json, name);
  if (all == nullptr || !all->IsObject())
    return std::nullopt;
  std::map<std::string, Fault> unusable;
  for (const auto& each : all->GetObject())
    read(each.value, unusable[each.name.GetString()]);
  return unusable;
}

void add_hold(const Hold& hold, Json& object) {
  constexpr std::size_t kWhyBytes = 500;
  add_cause(hold.cause, object);
  object.set("why", printable(hold.why, kWhyBytes)).set("do", printable(hold.action, kWhyBytes));
  object.set("until", hold.until ? Json(iso_time(*hold.until, true)) : Json());
}

/// `otherwise`: the cause if a daemon of another version has written words that are unknown here.
Hold hold_in(const Value& object, Reason otherwise) {
  Hold hold{"", "", cause_in(object).value_or(Cause(otherwise)),
            std::string(json::text(object, "why").value_or("")),
            std::string(json::text(object, "do").value_or(""))};
  hold.until = parse_time(json::text(object, "until").value_or(""));
  return hold;
}

Json json_of(const DaemonState& state, std::size_t most) {
  Json json = Json::object(
      {{"held", Json()},
       {"rate_breaker",
        list_of(state.calm_at, most,
                [](Json& row, Time until) { row.set("until", iso_time(until, true)); })},
       {"unwritten",
        list_of(state.unwritten, most, [](Json& row, const Hold& hold) { add_hold(hold, row); })}});
  if (const Json agents = unusable(state.unusable, most); agents->IsObject())
    json.set("agents_unusable", agents);
  if (state.held) {
    Json held = Json::object();
    add_hold(*state.held, held);
    json.set("held", held);
  }
  return json;
}

DaemonState daemon_state_in(const Value& json) {
  const auto string = [](const Value& value, std::string_view name) {
    return std::string(json::text(value, name).value_or(""));
  };
  DaemonState state;
  state.lives = true;
  if (const Value* const held = json::child(json, "held"); held != nullptr && held->IsObject())
    state.held = hold_in(*held, Reason::cannot_start);
  state.unusable = unusable_in<AgentFault>(json, "agents_unusable");
  const auto for_each = [&](const char* name, const auto& take) {
    const Value* const list = json::child(json, name);
    if (list == nullptr || !list->IsArray())
      return;
    for (const Value& each : list->GetArray())
      take(FlowId{string(each, "dialect"), string(each, "flow")}, each);
  };
  for_each("rate_breaker", [&](const FlowId& flow, const Value& each) {
    if (const auto until = parse_time(string(each, "until")))
      state.calm_at[flow] = *until;
  });
  for_each("unwritten", [&](const FlowId& flow, const Value& each) {
    state.unwritten[flow] = hold_in(each, Reason::pending_write);
  });
  return state;
}

Json json_of(const std::optional<RootTrouble>& trouble) {
  if (!trouble)
    return {};
  return Json::object({{"reason", word(trouble->reason)},
                       {"why", printable(trouble->why, 500)},
                       {"since", iso_time(trouble->since, true)}});
}

std::optional<RootTrouble> trouble_in(const Value& json) {
  const Value* const trouble = json::child(json, "trouble");
  if (trouble == nullptr || !trouble->IsObject())
    return std::nullopt;
  const auto reason = parse_reason(json::text(*trouble, "reason").value_or(""));
  const auto since = parse_time(json::text(*trouble, "since").value_or(""));
  if (!reason || !since)
    return std::nullopt;
  return RootTrouble{*reason, std::string(json::text(*trouble, "why").value_or("")), *since};
}

DaemonStatus status_in(const Value& json) {
  DaemonStatus status;
  status.pid = json::integer(json, "pid").value_or(0);
  status.root = json::text(json, "root").value_or("");
  status.configuration = json::text(json, "configuration").value_or("");
  status.configuration_digest = json::text(json, "configuration_digest").value_or("");
  status.since = json::text(json, "since").value_or("");
  status.watching = json::text(json, "watching").value_or("");
  status.polls = json::boolean(json, "polls").value_or(false);
  status.root_inode = json::integer(json, "root_inode").value_or(0);
  status.disk_full = json::boolean(json, "disk_full").value_or(false);
  status.trouble = trouble_in(json);
  status.state = daemon_state_in(json);
  status.prompt_faults = unusable_in<std::string>(json, "prompts_unusable");
  status.metrics_fault = json::text(json, "metrics_fault").value_or("");
  return status;
}

DaemonStatuses statuses_of(const std::vector<StateParent>& parents,
                           std::optional<DaemonStatus> (*read)(const std::string& state_folder)) {
  std::map<std::string, DaemonStatus> found;
  for (const StateParent& parent : parents) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(parent.path, error)) {
      const std::string folder = entry.path().string();
      if (!check_usable(folder))
        continue;
      if (auto status = read(folder))
        found.emplace(folder, *std::move(status));
    }
  }
  return {found.begin(), found.end()};
}

/// Overwrites a file in place. Errc::not_found: there is no regular file of this size.
Result<void> overwrite(const std::string& path, const std::string& text) {
  const Fd fd(open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd || fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
      static_cast<std::size_t>(info.st_size) != text.size())
    return fail(Errc::not_found, "is not there yet", path);
  const ssize_t written = pwrite(fd.get(), text.data(), text.size(), 0);
  if (written != static_cast<ssize_t>(text.size()))
    return system_error(written < 0 ? errno : EIO, "cannot be overwritten", path);
  return {};
}

}  // namespace

std::optional<DaemonStatus> daemon_status(const std::string& state_folder) {
  if (!daemon_lives(state_folder))
    return std::nullopt;
  const LockHolder holder = lock_holder(state_folder);
  DaemonStatus status;
  status.pid = holder.pid;
  status.root = holder.root;
  status.lock_only = true;
  status.since = holder.since;
  auto json = read_status(state_folder);
  if (!json)
    json = read_status(state_folder);
  // The file is missing, or an earlier daemon wrote it. Only the lock is known.
  if (!json || (status.pid != 0 && json::integer(**json, "pid") != status.pid))
    return status;
  const std::int64_t pid = status.pid;
  status = status_in(**json);
  status.pid = pid;
  return status;
}

std::optional<DaemonStatus> last_daemon_status(const std::string& state_folder) {
  if (daemon_lives(state_folder))
    return std::nullopt;
  const auto json = read_status(state_folder);
  return json ? std::optional(status_in(**json)) : std::nullopt;
}

void remember_last_root(const std::string& state_folder, RootFolder& root) {
  const auto json = read_status(state_folder);
  if (const auto inode = json ? json::integer(**json, "root_inode").value_or(0) : 0; inode != 0)
    root.remember(static_cast<ino_t>(inode));
}

DaemonStatuses daemon_statuses(const std::vector<StateParent>& parents) {
  return statuses_of(parents, daemon_status);
}

DaemonStatuses last_daemon_statuses(const std::vector<StateParent>& parents) {
  return statuses_of(parents, last_daemon_status);
}

Result<void> write_daemon_status(const std::string& state_folder, const DaemonStatus& status) {
  std::string text;
  // If the text is too long for the file, try again with half as many flows.
  std::size_t flows = std::max({status.state.calm_at.size(), status.state.unwritten.size(),
                                status.state.unusable ? status.state.unusable->size() : 0,
                                status.prompt_faults ? status.prompt_faults->size() : 0});
  while (text.empty() || text.size() > kBytes) {
    if (!text.empty() && flows == 0)
      return fail(Errc::too_large, "the status is too long", place(state_folder));
    flows = text.empty() ? flows : flows / 2;
    Json json = json_of(status.state, flows);
    json.set("pid", status.pid)
        .set("root", status.root)
        .set("configuration", status.configuration)
        .set("configuration_digest", status.configuration_digest)
        .set("since", status.since)
        .set("watching", status.watching)
        .set("polls", status.polls)
        .set("root_inode", status.root_inode)
        .set("disk_full", status.disk_full)
        .set("trouble", json_of(status.trouble))
        .set("metrics_fault", printable(status.metrics_fault, 500));
    if (const Json prompts = unusable(status.prompt_faults, flows); prompts->IsObject())
      json.set("prompts_unusable", prompts);
    text = json.pretty();
  }
  text.resize(kBytes, ' ');
  auto done = overwrite(place(state_folder), text);
  if (!done && done.error().code == Errc::not_found)
    return write_file_durably(place(state_folder), text, kMode);
  return done;
}

Result<void> write_configuration_copy(const std::string& state_folder, const std::string& digest,
                                      const std::string& text) {
  const std::string path = copy_path(state_folder);
  Result<Json> configuration = text.empty() ? Json() : without_secrets(text);
  if (!configuration)
    return pass_on(configuration);
  const std::string bytes =
      Json::object({{"digest", digest}, {"configuration", *configuration}}).pretty();
  if (bytes.size() > kMostCopyBytes)
    return fail(Errc::too_large, "the copy of the configuration is too large", path);
  return write_file_durably(path, bytes, kCopyMode);
}

Result<std::string> read_configuration_copy(const std::string& state_folder,
                                            const std::string& digest) {
  const std::string path = copy_path(state_folder);
  auto bytes = read_file(path, kMostCopyBytes);
  if (!bytes)
    return pass_on(bytes);
  const auto copy = parse_json(*bytes);
  const Value* const configuration = copy ? json::child(**copy, "configuration") : nullptr;
  if (configuration == nullptr || json::text(**copy, "digest") != digest)
    return fail(Errc::changed, "is not of the configuration that the daemon uses", path);
  return json::dump(*configuration);
}

}  // namespace baton
