// SPDX-License-Identifier: Apache-2.0
#include "io/system/acting_as.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <grp.h>
#include <pwd.h>

#include "base/text.h"
#include "io/files/fd.h"
#include "io/files/path_trust.h"

namespace baton {
namespace {

/// The group that owns nothing, for a user whose groups are not known.
constexpr gid_t kNoGroup = 65534;

/// The words of this process's command line.
std::vector<std::string> own_words() {
  constexpr std::size_t kMost = 64U << 10U;
  const Fd file(open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
  auto text = file ? read_all(file.get(), kMost, "") : Result<std::string>("");
  if (!text || text->empty())
    return {"baton"};
  text->pop_back();
  return split(*text, '\0');
}

/// The places of the user before do not count for the new one.
void set_environment(const passwd& user) {
  // NOLINTBEGIN(concurrency-mt-unsafe): one thread
  for (const char* name :
       {"XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"})
    unsetenv(name);
  setenv("HOME", user.pw_dir, 1);
  setenv("USER", user.pw_name, 1);
  setenv("LOGNAME", user.pw_name, 1);
  // NOLINTEND(concurrency-mt-unsafe)
}

}  // namespace

std::string command_as(uid_t user, const std::string& option, const std::string& value) {
  const passwd* const known = getpwuid(user);  // NOLINT(concurrency-mt-unsafe): one thread
  const std::string number = std::to_string(user);
  std::string line = known != nullptr
                         ? "sudo -u " + shell_word(known->pw_name)
                         : "setpriv --reuid " + number + " --regid " + number + " --clear-groups";
  const auto words = own_words();
  for (const std::string& word : words)
    line += " " + shell_word(word);
  const bool there = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word == option || word.starts_with(option + "=");
  });
  if (!option.empty() && !there)
    line += " " + option + " " + shell_word(value);
  return line;
}

std::string advice_on_owner(const std::string& where) {
  const auto owner = owner_in_charge(where);
  if (!owner)
    return {};
  return geteuid() == 0 ? "; use `" + command_as(*owner) + "`"
                        : "; ask " + user_text(*owner) + ", or use a copy in a folder of your own";
}

Result<void> continue_as(uid_t user) {
  const passwd* const known = getpwuid(user);  // NOLINT(concurrency-mt-unsafe): one thread
  const gid_t group = known == nullptr ? kNoGroup : known->pw_gid;
  const int grouped = known == nullptr ? setgroups(0, nullptr) : initgroups(known->pw_name, group);
  if (user == 0 || grouped != 0 || setresgid(group, group, group) != 0 ||
      setresuid(user, user, user) != 0)
    return fail(Errc::denied,
                "root cannot continue as " + user_text(user) + "; use `" + command_as(user) + "`");
  // A process that keeps its capabilities (capabilities(7), securebits) could take root back.
  if (setresuid(0, 0, 0) == 0 || geteuid() != user)
    return fail(Errc::denied,
                "root cannot give up its rights here; use `" + command_as(user) + "`");
  if (known != nullptr)
    set_environment(*known);
  return {};
}

}  // namespace baton
