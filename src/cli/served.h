#pragma once

#include <optional>
#include <string>

#include "app/setup.h"
#include "base/json.h"
#include "base/result.h"

namespace baton {

/// How a daemon serves a root, as it leaves word in `daemon.json` of the state folder.
struct Served {
  std::int64_t pid = 0;
  std::string since;     ///< ISO time
  std::string watching;  ///< for people: inotify or what is polled, and why
  bool polls = false;
  bool disk_full = false;  ///< the journal's disk: agents are looked after, none is started
  Said said;
  bool operator==(const Served&) const = default;
};

/// What the living daemon of a state folder says; nothing when none lives.
std::optional<Served> served(const std::string& state_folder);

Result<void> leave_word(const std::string& state_folder, const Served& word);

}  // namespace baton
