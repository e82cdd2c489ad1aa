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

// The folder must be ours: a user who can write it can make us start anything.
Result<void> check_own(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0)
    return system_error(errno, "cannot be looked at", path);
  if (!S_ISDIR(info.st_mode))
    return fail(Errc::denied, "is not a folder", path);
  if (geteuid() != 0 && info.st_uid != geteuid())
    return fail(Errc::denied, "belongs to user " + std::to_string(info.st_uid), path);
  if ((info.st_mode & S_IWOTH) != 0)
    return fail(Errc::denied, "can be written by everybody", path);
  return {};
}

Result<std::string> make_below(const std::string& parent, const std::string& name) {
  std::error_code error;
  fs::create_directories(parent, error);
  if (error)
    return system_error(error.value(), "folder cannot be made", parent);
  const std::string path = (fs::path(parent) / name).string();
  if (mkdir(path.c_str(), kStateFolderMode) == 0) {
    const Fd made(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!made)
      return system_error(errno, "folder cannot be opened", path);
    if (auto settled = set_mode(made.get(), kStateFolderMode, path); !settled)
      return pass_on(settled);
  } else if (errno != EEXIST) {
    return system_error(errno, "folder cannot be made", path);
  }
  if (auto own = check_own(path); !own)
    return pass_on(own);
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
    last = std::move(path.error());
  }
  if (last)
    return tl::unexpected(std::move(*last));
  return fail(Errc::config, "there is no place for the state folder: set HOME or use --state-dir",
              root);
}

namespace {

/// The name of the user of a process.
std::string user_of(std::int64_t pid) {
  const auto number = user_of_process(pid);
  if (!number)
    return "";
  const struct passwd* const user = getpwuid(*number);  // NOLINT(concurrency-mt-unsafe): one
  return user != nullptr ? user->pw_name : std::to_string(*number);
}

tl::unexpected<Error> served_elsewhere(const std::string& root, std::int64_t pid,
                                       const std::vector<StateParent>& parents) {
  std::string looked;
  for (const StateParent& parent : parents)
    looked += (looked.empty() ? "" : ", ") + parent.path;
  const std::string user = user_of(pid);
  return fail(Errc::denied,
              "is served by process " + std::to_string(pid) + (user.empty() ? "" : " of " + user) +
                  ", whose state is in none of " + looked +
                  ", or this user may not read it; name the folder with --state-dir, or run this "
                  "command as the user of the daemon",
              root);
}

}  // namespace

Result<std::string> find_state_folder(const std::string& root,
                                      const std::vector<StateParent>& parents) {
  auto real_root = real_path(root);
  if (!real_root)
    return real_root;
  std::optional<std::string> first;
  const std::int64_t holder = holder_of_root(*real_root);
  bool elsewhere = holder > 0;
  for (const StateParent& parent : parents_of(*real_root, parents)) {
    std::error_code error;
    const fs::path path = fs::path(parent.path) / state_name(*real_root);
    if (!fs::is_directory(path, error))
      continue;
    if (daemon_lives(path.string()))
      return path.string();
    elsewhere = elsewhere && lock_holder(path.string()).pid != holder;
    if (!first)
      first = path.string();
  }
  // The root may be another root of the agent's daemon.
  if (const std::string told = variable(kRootStateVariable); !told.empty())
    if (const std::string path = told + "/" + state_name(*real_root); daemon_lives(path))
      return path;
  // Look again: the daemon may have started or ended in this moment.
  if (elsewhere && holder_of_root(*real_root) == holder)
    return served_elsewhere(*real_root, holder, parents);
  if (!first)
    return fail(Errc::not_found, "no daemon has served this root yet", root);
  return *std::move(first);
}

}  // namespace baton
