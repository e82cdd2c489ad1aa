#include "workspace/daemon_status.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/json/document.h"
#include "base/text.h"
#include "io/files/disk.h"
#include "io/files/fd.h"
#include "io/files/lock.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

/// Always of this size: overwriting it in place needs no room, so it also arrives on a full disk.
constexpr std::size_t kBytes = 16U << 10U;
constexpr unsigned kMode = 0640;

std::string place(const std::string& state_folder) {
  return state_folder + "/daemon.json";
}

/// It may be read while it is written; then it is as if there were none.
Result<Json> read_word(const std::string& state_folder) {
  const auto text = read_file(place(state_folder), kBytes);
  if (!text)
    return tl::unexpected(text.error());
  return parse_json(*text);
}

/// `tell` sets what there is to say of a flow.
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

/// What cannot be used, with why, or the beginning of that. Null where not all of it finds room:
/// what is left out would be taken for usable.
Json unusable(const std::optional<std::map<std::string, std::string>>& all, std::size_t most) {
  constexpr std::size_t kWhyBytes = 500;
  if (!all || (!all->empty() && most == 0))
    return {};
  const std::size_t room = all->size() > most ? kWhyBytes * most / all->size() : kWhyBytes;
  Json json = Json::object();
  for (const auto& [name, why] : *all)
    json.set(printable(name, 200), printable(why, room));
  return json;
}

std::optional<std::map<std::string, std::string>> unusable_in(const Value& json,
                                                              std::string_view name) {
  const Value* const all = json::child(json, name);
  if (all == nullptr || !all->IsObject())
    return std::nullopt;
  std::map<std::string, std::string> unusable;
  for (const auto& each : all->GetObject())
    unusable.emplace(each.name.GetString(), json::text(each.value).value_or(""));
  return unusable;
}

Json json_of(const DaemonState& said, std::size_t most) {
  Json json = Json::object(
      {{"held", Json()},
       {"rate_breaker",
        list_of(said.calm_at, most,
                [](Json& row, Time until) { row.set("until", iso_time(until, true)); })},
       {"unwritten", list_of(said.unwritten, most, [](Json& row, const Hold& hold) {
          row.set("reason", hold.reason).set("why", printable(hold.why, 500));
        })}});
  if (const Json agents = unusable(said.unusable, most); agents->IsObject())
    json.set("agents_unusable", agents);
  if (said.held)
    json.set("held", Json::object({{"reason", said.held->reason}, {"why", said.held->why}}));
  return json;
}

DaemonState said_in(const Value& json) {
  const auto string = [](const Value& value, std::string_view name) {
    return std::string(json::text(value, name).value_or(""));
  };
  DaemonState said;
  said.lives = true;
  if (const Value* const held = json::child(json, "held"); held != nullptr && held->IsObject())
    said.held = Hold{"", "", string(*held, "reason"), string(*held, "why")};
  said.unusable = unusable_in(json, "agents_unusable");
  const auto for_each = [&](const char* name, const auto& take) {
    const Value* const list = json::child(json, name);
    if (list == nullptr || !list->IsArray())
      return;
    for (const Value& each : list->GetArray())
      take(FlowId{string(each, "dialect"), string(each, "flow")}, each);
  };
  for_each("rate_breaker", [&](const FlowId& flow, const Value& each) {
    if (const auto until = parse_time(string(each, "until")))
      said.calm_at[flow] = *until;
  });
  for_each("unwritten", [&](const FlowId& flow, const Value& each) {
    said.unwritten[flow] = Hold{"", "", string(each, "reason"), string(each, "why")};
  });
  return said;
}

DaemonStatus word_in(const Value& json) {
  DaemonStatus word;
  word.pid = json::integer(json, "pid").value_or(0);
  word.root = json::text(json, "root").value_or("");
  word.configuration = json::text(json, "configuration").value_or("");
  word.configuration_digest = json::text(json, "configuration_digest").value_or("");
  word.configuration_fd = static_cast<int>(json::integer(json, "configuration_fd").value_or(-1));
  word.since = json::text(json, "since").value_or("");
  word.watching = json::text(json, "watching").value_or("");
  word.polls = json::boolean(json, "polls").value_or(false);
  word.root_inode = json::integer(json, "root_inode").value_or(0);
  word.disk_full = json::boolean(json, "disk_full").value_or(false);
  word.said = said_in(json);
  word.prompt_faults = unusable_in(json, "prompts_unusable");
  return word;
}

DaemonStatuses words_of(const std::vector<StateParent>& parents,
                        std::optional<DaemonStatus> (*read)(const std::string& state_folder)) {
  std::map<std::string, DaemonStatus> found;
  for (const StateParent& parent : parents) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(parent.path, error))
      if (auto word = read(entry.path().string()))
        found.emplace(entry.path().string(), *std::move(word));
  }
  return {found.begin(), found.end()};
}

/// Errc::not_found unless there is one of the right size.
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
  DaemonStatus word;
  word.pid = holder.pid;
  word.root = holder.root;
  word.unsaid = true;
  word.since = holder.since;
  auto json = read_word(state_folder);
  if (!json)
    json = read_word(state_folder);
  // What a daemon before this one has left says nothing any more.
  if (!json || (word.pid != 0 && json::integer(**json, "pid") != word.pid))
    return word;
  const std::int64_t pid = word.pid;
  word = word_in(**json);
  word.pid = pid;
  return word;
}

std::optional<DaemonStatus> last_daemon_status(const std::string& state_folder) {
  if (daemon_lives(state_folder))
    return std::nullopt;
  const auto json = read_word(state_folder);
  return json ? std::optional(word_in(**json)) : std::nullopt;
}

void remember_last_root(const std::string& state_folder, RootFolder& root) {
  const auto json = read_word(state_folder);
  if (const auto inode = json ? json::integer(**json, "root_inode").value_or(0) : 0; inode != 0)
    root.remember(static_cast<ino_t>(inode));
}

DaemonStatuses daemon_statuses(const std::vector<StateParent>& parents) {
  return words_of(parents, daemon_status);
}

DaemonStatuses last_daemon_statuses(const std::vector<StateParent>& parents) {
  return words_of(parents, last_daemon_status);
}

Result<void> write_daemon_status(const std::string& state_folder, const DaemonStatus& word) {
  std::string text;
  // Of more flows than find room the rest goes unsaid.
  std::size_t flows = std::max({word.said.calm_at.size(), word.said.unwritten.size(),
                                word.said.unusable ? word.said.unusable->size() : 0,
                                word.prompt_faults ? word.prompt_faults->size() : 0});
  while (text.empty() || text.size() > kBytes) {
    if (!text.empty() && flows == 0)
      return fail(Errc::too_large, "the word is too long", place(state_folder));
    flows = text.empty() ? flows : flows / 2;
    Json json = json_of(word.said, flows);
    json.set("pid", word.pid)
        .set("root", word.root)
        .set("configuration", word.configuration)
        .set("configuration_digest", word.configuration_digest)
        .set("configuration_fd", std::int64_t{word.configuration_fd})
        .set("since", word.since)
        .set("watching", word.watching)
        .set("polls", word.polls)
        .set("root_inode", word.root_inode)
        .set("disk_full", word.disk_full);
    if (const Json prompts = unusable(word.prompt_faults, flows); prompts->IsObject())
      json.set("prompts_unusable", prompts);
    text = json.pretty();
  }
  text.resize(kBytes, ' ');
  auto done = overwrite(place(state_folder), text);
  if (!done && done.error().code == Errc::not_found)
    return write_file_durably(place(state_folder), text, kMode);
  return done;
}

Result<Fd> keep_configuration(std::string_view text) {
  Fd kept(memfd_create("configuration", MFD_CLOEXEC));
  if (!kept)
    return system_error(errno, "the configuration cannot be kept in memory", {});
  if (auto written = write_all(kept.get(), text, {}); !written)
    return pass_on(written);
  return kept;
}

Result<std::string> configuration_in_force(const DaemonStatus& word) {
  constexpr std::size_t kMost = 4U << 20U;
  const std::string path =
      "/proc/" + std::to_string(word.pid) + "/fd/" + std::to_string(word.configuration_fd);
  auto text = read_file(path, kMost);
  if (text && hex(digest_of(*text)) != word.configuration_digest)
    return fail(Errc::changed, "is not the configuration that the daemon goes by", path);
  return text;
}

}  // namespace baton
