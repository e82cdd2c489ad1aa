#include "cli/served.h"

#include "base/document.h"
#include "io/disk.h"
#include "io/lock.h"

namespace baton {
namespace {

constexpr std::size_t kMaxBytes = 64U << 10U;

std::string place(const std::string& state_folder) {
  return state_folder + "/daemon.json";
}

}  // namespace

std::optional<Served> served(const std::string& state_folder) {
  if (!daemon_lives(state_folder))
    return std::nullopt;
  Served word;
  word.pid = lock_holder(state_folder).pid;
  const auto text = read_file(place(state_folder), kMaxBytes);
  const auto json = text ? parse_json(*text) : Result<Json>(Json());
  if (!json)
    return word;
  word.since = json::text(**json, "since").value_or("");
  word.watching = json::text(**json, "watching").value_or("");
  word.polls = json::boolean(**json, "polls").value_or(false);
  word.disk_full = json::boolean(**json, "disk_full").value_or(false);
  return word;
}

Result<void> leave_word(const std::string& state_folder, const Served& word) {
  const Json json = Json::object({{"pid", word.pid},
                                  {"since", word.since},
                                  {"watching", word.watching},
                                  {"polls", word.polls},
                                  {"disk_full", word.disk_full}});
  return write_file_durably(place(state_folder), json.pretty(), 0640);
}

}  // namespace baton
