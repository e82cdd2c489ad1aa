// SPDX-License-Identifier: Apache-2.0
#include "workspace/folders.h"

#include <filesystem>
#include <iterator>

#include "io/system/state_folder.h"

namespace baton {

namespace fs = std::filesystem;

Result<std::string> existing_folder(const std::string& path) {
  auto real = real_path(path);
  if (!real)
    return real;
  std::error_code error;
  if (!fs::is_directory(*real, error))
    return fs::exists(*real, error) ? fail(Errc::not_regular, "is no folder", path)
                                    : fail(Errc::not_found, "there is no such folder", path);
  return real;
}

Result<void> check_apart(const std::vector<std::string>& roots) {
  for (const std::string& outer : roots)
    for (const std::string& inner : roots)
      if (below(outer, inner))
        return fail(Errc::config,
                    "one root lies inside another, " + outer +
                        ", and its files would start agents twice; name only one of them",
                    inner);
  // A folder that is mounted twice has two paths.
  std::error_code error;
  for (auto one = roots.begin(); one != roots.end(); ++one)
    for (auto other = std::next(one); other != roots.end(); ++other)
      if (*one != *other && fs::equivalent(*one, *other, error))
        return fail(Errc::config,
                    "is the same folder as " + *one +
                        ", and its files would start agents twice; name only one of them",
                    *other);
  return {};
}

std::optional<std::string> below(const std::string& root, const std::string& path) {
  const std::string prefix = root == "/" ? root : root + "/";
  if (!path.starts_with(prefix) || path.size() == prefix.size())
    return std::nullopt;
  return path.substr(prefix.size());
}

LinkPath resolve_outside(const std::string& path,
                         const std::function<bool(const std::string& folder)>& inside) {
  std::error_code error;
  LinkPath way;
  fs::path at = "/";
  for (const fs::path& name : fs::absolute(path, error).relative_path()) {
    if (name.empty() || name == ".")
      continue;
    const bool link = name != ".." && fs::is_symlink(fs::symlink_status(at / name, error));
    if (!way.link.empty() || (name != ".." && !link)) {
      at /= name;
    } else if (name == "..") {
      at = at.parent_path();
    } else if (inside(at.string())) {
      at /= name;
      way.link = at.string();
    } else {
      const auto real = real_path((at / name).string());
      at = real ? fs::path(*real) : at / name;
    }
  }
  way.path = at.string();
  return way;
}

}  // namespace baton
