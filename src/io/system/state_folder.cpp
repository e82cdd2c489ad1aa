// SPDX-License-Identifier: Apache-2.0
#include "io/system/state_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pwd.h>

#include "base/digest.h"
#include "base/text.h"
#include "io/files/fd.h"
#include "io/files/lock.h"
#include "io/files/path_trust.h"
#include "io/system/acting_as.h"
#include "io/system/process.h"

namespace baton {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigits = 16;
constexpr std::size_t kNameBytes = 100;
constexpr mode_t kStateFolderMode = 0750;

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value == nullptr ? "" : value;
}

std::string home() {
  std::string path = variable("HOME");
  if (path.empty()) {
    const passwd* user = getpwuid(geteuid());  // NOLINT(concurrency-mt-unsafe): one thread
    if (user != nullptr && user->pw_dir != nullptr)
      path = user->pw_dir;
  }
  return path;
}

bool inside(std::string_view path, std::string_view folder) {
  if (folder == "/")
    return true;
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::string state_path(const std::string& parent, const std::string& real_root) {
  return (fs::path(parent) / state_name(real_root)).string();
}

/// The user to whom a state folder belongs, without opening it.
std::optional<uid_t> owner_of(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 ? std::optional(info.st_uid) : std::nullopt;
}

/// A user who can write the folder, or exchange it, can make us start anything.
Result<void> check_safe(const std::string& path) {
  const auto owner = owner_of(path);
  if (!owner)
    return system_error(errno, "cannot be looked at", path);
  if (*owner != geteuid())
    return refused(OtherState{*owner, path});
  auto trusted = trusted_folder(path);
  if (!trusted && trusted.error().where != path && trusted.error().code == Errc::denied)
    trusted.error().message += "; who can exchange this folder can exchange the state folder " +
                               path + " below it; name another folder with --state-dir";
  return trusted;
}

/// Creates missing folders one by one: the umask of a service may leave them open to everybody.
Result<void> make_parents(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error) || path == path.parent_path())
    return {};
  if (auto above = make_parents(path.parent_path()); !above)
    return above;
  if (mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return system_error(errno, "folder cannot be made", path.string());
  return {};
}

Result<std::string> make_below(const std::string& parent, const std::string& name) {
  const std::string path = (fs::path(parent) / name).string();
  // Say whose the state is, and not that its parent is another user's.
  if (const auto owner = owner_of(path); owner && *owner != geteuid())
    return refused(OtherState{*owner, path});
  if (auto made = make_parents(parent); !made)
    return pass_on(made);
  if (auto trusted = trusted_folder(parent); !trusted) {
    if (owner_in_charge(trusted.error().where))
      trusted.error().message += "; name a folder of your own with --state-dir";
    return pass_on(trusted);
  }
  if (mkdir(path.c_str(), kStateFolderMode) == 0) {
    const Fd made(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!made)
      return system_error(errno, "folder cannot be opened", path);
    if (auto settled = set_mode(made.get(), kStateFolderMode, path); !settled)
      return pass_on(settled);
  } else if (errno != EEXIST) {
    return system_error(errno, "folder cannot be made", path);
  }
  if (auto safe = check_safe(path); !safe)
    return pass_on(safe);
  if (access(path.c_str(), W_OK | X_OK) != 0)
    return system_error(errno, "cannot be written", path);
  return path;
}

Result<std::vector<std::string>> real_paths(const std::vector<std::string>& paths) {
  std::vector<std::string> real;
  for (const std::string& path : paths) {
    auto one = real_path(path);
    if (!one)
      return pass_on(one);
    real.push_back(std::move(*one));
  }
  return real;
}

/// In a run of an agent, the folder that its daemon named comes first.
std::vector<StateParent> parents_of(const std::string& real_root,
                                    std::vector<StateParent> parents) {
  const std::string told = variable(kRootStateVariable);
  if (!told.empty() && variable("BATON_ROOT") == real_root)
    parents.insert(std::find_if(parents.begin(), parents.end(),
                                [](const StateParent& each) { return !each.named; }),
                   StateParent{told, true});
  return parents;
}

Result<std::string> use(const StateParent& parent, const std::string& name,
                        const std::vector<std::string>& roots) {
  auto path = real_path(parent.path);
  if (!path)
    return path;
  for (const std::string& root : roots) {
    if (inside(*path, root))
      return fail(Errc::config, "the state folder must not be inside the root " + root, *path);
  }
  return make_below(*path, name);
}

}  // namespace

tl::unexpected<Error> refused(const OtherState& other) {
  const std::string parent = fs::path(other.path).parent_path().string();
  return fail(Errc::denied,
              "belongs to " + user_text(other.owner) + ", and " +
                  (geteuid() == 0 ? "root uses no state of other users"
                                  : "this is " + user_text(geteuid())) +
                  "; use `" + command_as(other.owner, "--state-dir", parent) +
                  "`, or name a folder of your own with --state-dir",
              other.path);
}

std::vector<StateParent> state_parents(const std::string& option, const std::string& configured) {
  std::vector<StateParent> parents;
  const auto add = [&parents](std::string path, bool asked_for) {
    if (!path.empty())
      parents.push_back({.path = std::move(path), .asked_for = asked_for});
  };
  add(option, true);
  if (!parents.empty())
    parents.front().named = true;
  add(configured, true);
  add(variable("BATON_STATE_DIR"), true);
  add(split(variable("STATE_DIRECTORY"), ':').front(), true);
  add("/var/lib/baton", false);
  if (const std::string xdg = variable("XDG_STATE_HOME"); xdg.starts_with('/'))
    add(xdg + "/baton", false);
  if (const std::string path = home(); path.starts_with('/'))
    add(path + "/.local/state/baton", false);
  return parents;
}

std::string state_name(std::string_view real_root) {
  const auto slash = real_root.rfind('/');
  std::string name;
  for (const char c : real_root.substr(slash == std::string_view::npos ? 0 : slash + 1)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-';
    name += plain ? c : '_';
    if (name.size() == kNameBytes)
      break;
  }
  if (name.empty() || name.front() == '.' || name.front() == '-' || name.front() == '_')
    name.insert(0, "root");
  return name + "-" + hex(digest_of(real_root)).substr(0, kDigits);
}

Result<std::string> real_path(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  fs::path real = fs::weakly_canonical(whole, error);
  // A mount whose file system has died cannot be resolved, but its parent can.
  if (error == std::errc::not_connected && whole.has_filename())
    real = fs::weakly_canonical(whole.parent_path(), error) / whole.filename();
  if (error)
    return system_error(error.value(), "cannot be resolved", path);
  std::string text = real.lexically_normal().string();
  while (text.size() > 1 && text.back() == '/')
    text.pop_back();
  return text;
}

Result<std::string> make_state_folder(const std::string& root,
                                      const std::vector<StateParent>& parents,
                                      const std::vector<std::string>& roots) {
  auto real_root = real_path(root);
  if (!real_root)
    return real_root;
  auto trees = real_paths(roots);
  if (!trees)
    return pass_on(trees);
  trees->push_back(*real_root);
  const std::string name = state_name(*real_root);
  std::optional<Error> last;
  for (const StateParent& parent : parents_of(*real_root, parents)) {
    auto path = use(parent, name, *trees);
    if (path || parent.asked_for)
      return path;
    // Another user serves this root already. Root takes that for a slip, and not for a place that
    // cannot be used.
    if (const auto owner = owner_of(state_path(parent.path, *real_root));
        geteuid() == 0 && owner && *owner != 0)
      return path;
    last = std::move(path.error());
  }
  if (last)
    return tl::unexpected(std::move(*last));
  return fail(Errc::config, "there is no place for the state folder: set HOME or use --state-dir",
              root);
}

namespace {

/// The user of a process.
std::optional<uid_t> user_of(std::int64_t pid) {
  const auto user = user_of_process(pid);
  return user ? std::optional(static_cast<uid_t>(*user)) : std::nullopt;
}

tl::unexpected<Error> served_elsewhere(const std::string& root, std::int64_t pid,
                                       const std::vector<StateParent>& parents) {
  std::string looked;
  for (const StateParent& parent : parents)
    looked += (looked.empty() ? "" : ", ") + parent.path;
  const auto user = user_of(pid);
  const bool other = user && *user != geteuid();
  return fail(Errc::denied,
              "is served by process " + std::to_string(pid) +
                  (user ? " of " + user_text(*user) : "") + ", whose state is in none of " +
                  looked +
                  ", or this user may not read it; name the folder with --state-dir, or run this "
                  "command as the user of the daemon" +
                  (other ? ": `" + command_as(*user) + "`" : ""),
              root);
}

}  // namespace

Result<std::string> find_state_folder(const std::string& root,
                                      const std::vector<StateParent>& parents) {
  auto real_root = real_path(root);
  if (!real_root)
    return real_root;
  std::optional<std::string> first;
  std::optional<Error> unusable;
  const std::int64_t holder = holder_of_root(*real_root);
  bool elsewhere = holder > 0;
  for (const StateParent& parent : parents_of(*real_root, parents)) {
    std::error_code error;
    const std::string path = state_path(parent.path, *real_root);
    if (!fs::is_directory(path, error))
      continue;
    if (auto usable = check_usable(path); !usable) {
      if (!unusable)
        unusable = std::move(usable.error());
      continue;
    }
    if (daemon_lives(path))
      return path;
    elsewhere = elsewhere && lock_holder(path).pid != holder;
    if (!first)
      first = path;
  }
  // The root may be another root of the agent's daemon.
  if (const std::string told = variable(kRootStateVariable); !told.empty())
    if (const std::string path = told + "/" + state_name(*real_root);
        check_usable(path) && daemon_lives(path))
      return path;
  if (unusable && !first)
    return tl::unexpected(*std::move(unusable));
  // Look again: the daemon may have started or ended in this moment.
  if (elsewhere && holder_of_root(*real_root) == holder)
    return served_elsewhere(*real_root, holder, parents);
  if (!first)
    return fail(Errc::not_found, "no daemon has served this root yet", root);
  return *std::move(first);
}

Result<void> check_usable(const std::string& state_folder) {
  return geteuid() == 0 ? check_safe(state_folder) : Result<void>();
}

std::optional<OtherState> state_of_other(const std::vector<std::string>& roots,
                                         const std::vector<StateParent>& parents) {
  std::optional<OtherState> other;
  for (const std::string& root : roots) {
    const auto real_root = real_path(root);
    if (!real_root)
      continue;
    for (const StateParent& parent : parents_of(*real_root, parents)) {
      const std::string path = state_path(parent.path, *real_root);
      const auto owner = owner_of(path);
      if (owner == uid_t{0})
        return std::nullopt;
      if (owner && !other)
        other = OtherState{*owner, path};
    }
  }
  return other;
}

}  // namespace baton
