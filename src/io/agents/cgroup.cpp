#include <array>
#include <cstddef>

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/text.h"
#include "io/agents/agents.h"
#include "io/files/disk.h"

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

std::string delegated_cgroup() {
  constexpr std::size_t kMostBytes = 16U << 20U;
  const auto text_of = [](const char* path) { return read_file(path, kMostBytes).value_or(""); };
  const auto own = cgroup_directory(text_of("/proc/self/cgroup"), text_of("/proc/self/mountinfo"));
  if (!own || (geteuid() == 0 && !marked(*own)))
    return {};
  const std::string tried = *own + "/baton-" + std::to_string(getpid());
  if (mkdir(tried.c_str(), S_IRWXU) != 0)
    return {};
  rmdir(tried.c_str());
  return *own;
}

}  // namespace baton
