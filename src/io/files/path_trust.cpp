// SPDX-License-Identifier: Apache-2.0
#include "io/files/path_trust.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <grp.h>
#include <pwd.h>

#include "base/text.h"
#include "io/files/fd.h"

namespace baton {

namespace {

constexpr int kMaxLinks = 40;

struct CloseFile {
  void operator()(FILE* file) const { (void)fclose(file); }
};
using DataBase = std::unique_ptr<FILE, CloseFile>;

/// Whether nobody but the owner, root and our own user is in the group. Only the files of this
/// machine are asked: a name server may not list all users of a group, and may take its time.
/// An unknown group may have anybody in it.
bool is_private(gid_t gid, uid_t owner) {
  std::set<std::string> members;
  bool known = false;
  const DataBase groups(fopen("/etc/group", "re"));
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  while (const group* const each = groups ? fgetgrent(groups.get()) : nullptr)
    if (each->gr_gid == gid) {
      known = true;
      for (char* const* name = each->gr_mem; *name != nullptr; ++name)
        members.insert(*name);
    }
  if (!known)
    return false;
  const DataBase users(fopen("/etc/passwd", "re"));
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  while (const passwd* const user = users ? fgetpwent(users.get()) : nullptr) {
    const bool fine = user->pw_uid == 0 || user->pw_uid == owner || user->pw_uid == geteuid();
    if (!fine && (user->pw_gid == gid || members.contains(user->pw_name)))
      return false;
    if (fine)
      members.erase(user->pw_name);
  }
  return members.empty();  // the rest are users that this machine does not know
}

/// With an access list, the rights of the group are those of everybody in the list.
bool has_access_list(const std::string& path) {
  return lgetxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) > 0;
}

std::string above(const std::string& here) {
  const auto slash = here.rfind('/');
  return slash == 0 ? "/" : here.substr(0, slash);
}

bool is_foreign(uid_t user) {
  return user != 0 && user != geteuid();
}

/// A single file or link in a folder of our own can be taken over. A folder is never taken over: it
/// may be the home of its owner.
bool may_be_taken_over(const struct stat& info, const std::string& path) {
  struct stat folder {};
  return !S_ISDIR(info.st_mode) && lstat(above(path).c_str(), &folder) == 0 &&
         folder.st_uid == geteuid();
}

Result<void> check_one(const struct stat& info, const std::string& path) {
  if (is_foreign(info.st_uid))
    return fail(
        Errc::denied,
        "belongs to " + user_text(info.st_uid) +
            (may_be_taken_over(info, path)
                 ? std::string("; `chown ") + (S_ISLNK(info.st_mode) ? "-h " : "") +
                       (geteuid() == 0 ? "root" : std::to_string(geteuid())) + " " +
                       shell_word(path) + "`, by root, ends that once its content is checked"
                 : ""),
        path);
  if (S_ISLNK(info.st_mode))
    return {};  // a link has no mode; the folder decides who may replace it
  const bool sticky = S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0 && info.st_uid == 0;
  const bool others = (info.st_mode & S_IWOTH) != 0;
  const bool group = (info.st_mode & S_IWGRP) != 0 &&
                     (has_access_list(path) || !is_private(info.st_gid, info.st_uid));
  if (sticky || (!group && !others))
    return {};
  return fail(Errc::denied,
              std::string("can be written by ") + (others ? "everybody" : "its group") +
                  " (it belongs to " + user_text(info.st_uid) + ")" +
                  (info.st_uid == geteuid() ? "; `chmod go-w " + shell_word(path) + "` ends that"
                                            : "; ask root to change that, or use another folder"),
              path);
}

Result<std::string> link_target(const std::string& path) {
  std::string target(PATH_MAX, '\0');
  const ssize_t size = readlink(path.c_str(), target.data(), target.size());
  if (size < 0)
    return system_error(errno, "cannot be looked at", path);
  target.resize(static_cast<std::size_t>(size));
  return target;
}

using Check = std::function<Result<void>(const struct stat& info, const std::string& path)>;

Result<struct stat> judged(const std::string& path, const Check& check) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0)
    return system_error(errno, "cannot be looked at", path);
  if (auto fine = check(info, path); !fine)
    return pass_on(fine);
  return info;
}

std::string beside(const std::string& here, const std::string& name) {
  return here == "/" ? "/" + name : here + "/" + name;
}

// Walks the path like the kernel, and checks each folder, link and file on the way. Returns the
// facts of the last one.
Result<struct stat> walk(const std::string& path, const Check& check = check_one) {
  std::error_code error;
  const auto names = split(std::filesystem::absolute(path, error).string(), '/');
  std::deque<std::string> waiting(names.begin(), names.end());
  std::string here = "/";
  for (int links = 0; !waiting.empty();) {
    const std::string name = std::move(waiting.front());
    waiting.pop_front();
    if (name.empty() || name == ".")
      continue;
    if (name == "..") {
      here = above(here);
      continue;
    }
    std::string next = beside(here, name);
    auto info = judged(next, check);
    if (!info)
      return info;
    if (!S_ISLNK(info->st_mode)) {
      here = std::move(next);
      continue;
    }
    const auto target = link_target(next);
    if (!target)
      return tl::unexpected(target.error());
    if (++links > kMaxLinks)
      return fail(Errc::denied, "leads over too many links", path);
    const auto parts = split(*target, '/');
    waiting.insert(waiting.begin(), parts.begin(), parts.end());
    if (target->starts_with('/'))
      here = "/";
  }
  return judged(here, check);
}

Result<void> check_program(const std::string& path) {
  const auto info = walk(path);
  if (!info)
    return tl::unexpected(info.error());
  if (!S_ISREG(info->st_mode))
    return fail(Errc::denied, "is not a regular file", path);
  if ((info->st_mode & (S_ISUID | S_ISGID)) != 0)
    return fail(Errc::denied, "is a setuid or setgid program", path);
  if (faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) != 0)
    return fail(Errc::denied, "is not executable", path);
  return {};
}

Result<std::string> search(const std::string& name, std::string_view path_variable) {
  const auto entries = split(path_variable, ':');
  // Check all entries first: one bad entry makes the list untrustworthy, wherever the program is
  // found.
  for (const std::string& entry : entries) {
    if (!entry.starts_with('/'))
      return fail(Errc::config, "PATH has an empty or relative entry", printable(entry));
    if (auto fine = trusted_folder(entry); !fine && fine.error().code == Errc::denied)
      return fail(Errc::config,
                  "PATH has an entry that is not safe: " + describe(fine.error()) +
                      "; baton starts with a PATH without it",
                  printable(entry));
  }
  for (const std::string& entry : entries) {
    const std::string path = entry + "/" + name;
    struct stat info {};
    if (stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0)
      return path;
  }
  return fail(Errc::not_found, "no such program in PATH", printable(name));
}

/// What the kernel would refuse: a file without content, or a script whose interpreter is not
/// there. A program that may be executed but not read is taken as it is.
Result<void> check_beginning(const std::string& path) {
  constexpr std::size_t kMostLine = 256;
  std::ifstream file(path, std::ios::binary);
  std::string head(kMostLine, '\0');
  if (!file)
    return {};
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  if (head.empty())
    return fail(Errc::not_found, "is empty, so it is no program", path);
  if (!head.starts_with("#!"))
    return {};
  const std::string_view line = trimmed(std::string_view(head).substr(2, head.find('\n') - 2));
  const std::string interpreter(line.substr(0, line.find_first_of(" \t")));
  std::error_code error;
  if (interpreter.starts_with('/') && !std::filesystem::exists(interpreter, error) && !error)
    return fail(Errc::not_found,
                "needs the interpreter " + printable(interpreter, 200) +
                    ", which its first line names and which is not there",
                path);
  return {};
}

}  // namespace

Result<void> trusted_file(const std::string& path) {
  const auto info = walk(path);
  if (!info)
    return tl::unexpected(info.error());
  if (!S_ISREG(info->st_mode))
    return fail(Errc::denied, "is not a regular file", path);
  return {};
}

Result<void> trusted_folder(const std::string& path) {
  const auto info = walk(path);
  if (!info)
    return tl::unexpected(info.error());
  if (!S_ISDIR(info->st_mode))
    return fail(Errc::not_found, "is not a folder", path);
  return {};
}

std::optional<uid_t> owner_in_charge(const std::string& where) {
  struct stat info {};
  if (lstat(where.c_str(), &info) != 0 || !is_foreign(info.st_uid) ||
      may_be_taken_over(info, where))
    return std::nullopt;
  return info.st_uid;
}

std::string user_text(std::uint32_t uid) {
  const DataBase users(fopen("/etc/passwd", "re"));
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  while (const passwd* const user = users ? fgetpwent(users.get()) : nullptr)
    if (user->pw_uid == uid)
      return "user " + std::to_string(uid) + " (" + user->pw_name + ")";
  return "user " + std::to_string(uid);
}

std::string writable_place(const std::string& path) {
  std::string place;
  (void)walk(path, [&](const struct stat& info, const std::string& at) -> Result<void> {
    const bool own = info.st_uid == geteuid();
    const bool writable =
        !S_ISLNK(info.st_mode) && faccessat(AT_FDCWD, at.c_str(), W_OK, AT_EACCESS) == 0;
    // In a folder with the sticky bit, only the owner can exchange a file.
    const bool sticky = S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0;
    if (own || (writable && !sticky))
      place = at;
    return {};
  });
  return place;
}

Result<std::string> find_program(const std::string& name, std::string_view path_variable,
                                 const std::string& configuration_folder) {
  if (name.empty() || name.find('\0') != std::string::npos)
    return fail(Errc::config, "program has no name");
  std::string path;
  if (name.find('/') == std::string::npos) {
    auto found = search(name, path_variable);
    if (!found)
      return found;
    path = std::move(*found);
  } else {
    std::error_code error;
    path = std::filesystem::absolute(std::filesystem::path(configuration_folder) / name, error)
               .lexically_normal()
               .string();
  }
  if (auto fine = check_program(path); !fine)
    return pass_on(fine);
  if (auto fine = check_beginning(path); !fine)
    return pass_on(fine);
  return path;
}

}  // namespace baton
