// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/text.h"
#include "io/agents/agents.h"
#include "io/files/disk.h"
#include "io/files/fd.h"

namespace baton {
namespace {

/// In this file, blank, tab, line feed and backslash are written as \040, \011, \012 and \134.
std::string unescape(std::string_view word) {
  std::string plain;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '\\' && i + 3 < word.size()) {
      plain += static_cast<char>((word[i + 1] - '0') * 64 + (word[i + 2] - '0') * 8 +
                                 (word[i + 3] - '0'));
      i += 3;
    } else {
      plain += word[i];
    }
  }
  return plain;
}

struct Mounted {
  std::string root;   ///< the mounted part of the tree
  std::string point;  ///< the mount point
};

/// Parses a line "id parent major:minor root point options [tag ...] - type source options".
std::optional<Mounted> cgroup_mount(std::string_view line) {
  constexpr std::size_t kRoot = 3;
  constexpr std::size_t kPoint = 4;
  const std::size_t separator = line.find(" - ");
  if (separator == std::string_view::npos || !line.substr(separator + 3).starts_with("cgroup2 "))
    return std::nullopt;
  const auto words = split(line.substr(0, separator), ' ');
  if (words.size() <= kPoint)
    return std::nullopt;
  return Mounted{unescape(words[kRoot]), unescape(words[kPoint])};
}

bool marked(const std::string& directory) {
  for (const char* name : {"user.delegate", "trusted.delegate"}) {
    std::array<char, 8> value{};
    if (getxattr(directory.c_str(), name, value.data(), value.size()) == 1 && value[0] == '1')
      return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> cgroup_directory(std::string_view cgroup, std::string_view mountinfo) {
  std::optional<std::string> own;
  for (const std::string& line : split(cgroup, '\n'))
    if (line.starts_with("0::/") && !line.starts_with("0::/.."))  // outside of the cgroup namespace
      own = line.substr(3);
  if (!own)
    return std::nullopt;
  for (const std::string& line : split(mountinfo, '\n')) {
    const auto mount = cgroup_mount(line);
    if (!mount)
      continue;
    const std::string above = mount->root == "/" ? "" : mount->root;
    if (*own == above || own->starts_with(above + "/")) {
      const std::string below = own->substr(above.size());
      return below == "/" ? mount->point : mount->point + below;
    }
  }
  return std::nullopt;
}

namespace {

constexpr std::size_t kMostBytes = 16U << 20U;

std::string text_of(const std::string& path) {
  return read_file(path, kMostBytes).value_or("");
}

bool lists(const std::string& file, const std::string& word) {
  for (const std::string& line : split(text_of(file), '\n'))
    for (const std::string& each : split(line, ' '))
      if (each == word)
        return true;
  return false;
}

struct Delegated {
  std::string own;        ///< the cgroup of the process
  std::string directory;  ///< where its agents get theirs
};

/// With `DelegateSubgroup=`, the service manager puts the daemon into a cgroup below the delegated
/// one. Only then can the delegated one pass controllers on (cgroups(7), "no internal processes").
std::optional<Delegated> delegated_to(const std::string& process) {
  const auto own = cgroup_directory(text_of("/proc/" + process + "/cgroup"),
                                    text_of("/proc/" + process + "/mountinfo"));
  if (!own)
    return std::nullopt;
  const std::string above = own->substr(0, own->rfind('/'));
  if (!marked(*own) && !above.empty() && marked(above))
    return Delegated{*own, above};
  if (geteuid() == 0 && !marked(*own))
    return std::nullopt;
  return Delegated{*own, *own};
}

bool writable(const std::string& directory) {
  return access(directory.c_str(), W_OK | X_OK) == 0;
}

void pass_on_controller(const std::string& directory, std::string_view word) {
  const Fd file(open((directory + "/cgroup.subtree_control").c_str(), O_WRONLY | O_CLOEXEC));
  if (file)
    (void)!write(file.get(), word.data(), word.size());
}

}  // namespace

std::string delegated_cgroup() {
  const auto delegated = delegated_to("self");
  if (!delegated)
    return {};
  const std::string tried = delegated->directory + "/baton-" + std::to_string(getpid());
  if (mkdir(tried.c_str(), S_IRWXU) != 0)
    return {};
  rmdir(tried.c_str());
  // Each on its own: one of them may be missing.
  for (const std::string_view word : {"+memory", "+pids"})
    pass_on_controller(delegated->directory, word);
  return delegated->directory;
}

std::string without_cgroup(std::int64_t daemon) {
  const auto delegated = delegated_to(daemon > 0 ? std::to_string(daemon) : "self");
  if (delegated && writable(delegated->directory))
    return {};
  return daemon > 0 ? "no cgroup is delegated to the daemon"
                    : "no cgroup is delegated to a daemon started from here";
}

std::string unenforced_limit(const SystemdUnits& units, const std::string& controller) {
  const std::string manager = units.slice.substr(0, units.slice.rfind('/'));
  return lists(manager + "/cgroup.controllers", controller)
             ? ""
             : "the cgroup " + manager + " has no controller `" + controller + "`";
}

std::string unenforced_limit(std::int64_t daemon, const std::string& controller) {
  if (std::string why = without_cgroup(daemon); !why.empty())
    return why;
  const auto delegated = delegated_to(daemon > 0 ? std::to_string(daemon) : "self");
  if (!delegated)
    return "its cgroup has just changed";
  const std::string& directory = delegated->directory;
  if (!lists(directory + "/cgroup.controllers", controller))
    return "the cgroup " + directory + " has no controller `" + controller + "`";
  if (lists(directory + "/cgroup.subtree_control", controller) ||
      (daemon <= 0 && directory != delegated->own))
    return {};
  return "processes of baton are in the cgroup " + directory +
         " itself, so that it cannot pass on the controller `" + controller + "`";
}

}  // namespace baton
