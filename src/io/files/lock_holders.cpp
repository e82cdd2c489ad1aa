// SPDX-License-Identifier: Apache-2.0
#include "io/files/lock_holders.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/text.h"
#include "io/files/exchange.h"
#include "io/files/file_facts.h"
#include "io/files/path_trust.h"

namespace baton {
namespace {

constexpr mode_t kOwnMode = 0600;
constexpr int kMostTries = 10;
/// Twice the time in which a daemon notices that its file is gone.
constexpr std::chrono::milliseconds kOthersComeBack{2000};
constexpr std::size_t kShownCommand = 80;

/// A process, as /proc/PID/status has it.
struct ProcessFacts {
  std::uint64_t uid = 0;  ///< the real one: a set-user-id program of a stranger stays a stranger's
  std::vector<std::uint64_t> groups;
  bool ended = false;
};

std::optional<ProcessFacts> facts_of(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  ProcessFacts facts;
  bool has_user = false;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name == "State:") {
      std::string state;
      words >> state;
      facts.ended = state == "Z" || state == "X";
    } else if (name == "Uid:") {
      has_user = static_cast<bool>(words >> facts.uid);
    } else if (name == "Gid:" || name == "Groups:") {
      for (std::uint64_t group = 0; words >> group;)
        facts.groups.push_back(group);
    }
  }
  return has_user ? std::optional(facts) : std::nullopt;
}

/// Whether an access list lets one of these write. The rights of the group are in the mode.
bool listed(int folder, const ProcessFacts& process) {
  struct Entry {
    std::uint16_t tag;
    std::uint16_t rights;
    std::uint32_t id;
  };
  constexpr std::size_t kHead = 4;
  constexpr std::uint16_t kUser = 2;
  constexpr std::uint16_t kGroup = 8;
  constexpr std::uint16_t kWrite = 2;
  std::string bytes(std::size_t{64} << 10U, '\0');
  const ssize_t size = fgetxattr(folder, "system.posix_acl_access", bytes.data(), bytes.size());
  for (std::size_t at = kHead; size > 0 && at + sizeof(Entry) <= static_cast<std::size_t>(size);
       at += sizeof(Entry)) {
    Entry entry{};
    memcpy(&entry, bytes.data() + at, sizeof entry);
    const bool group =
        entry.tag == kGroup &&
        std::find(process.groups.begin(), process.groups.end(), entry.id) != process.groups.end();
    const bool user = entry.tag == kUser && entry.id == process.uid;
    if ((user || group) && (entry.rights & kWrite) != 0)
      return true;
  }
  return false;
}

bool may_serve(const ProcessFacts& process, int root) {
  struct stat info {};
  if (fstat(root, &info) != 0)
    return true;
  const bool in_group =
      std::find(process.groups.begin(), process.groups.end(), info.st_gid) != process.groups.end();
  return process.uid == 0 || process.uid == info.st_uid || process.uid == geteuid() ||
         (info.st_mode & S_IWOTH) != 0 || ((info.st_mode & S_IWGRP) != 0 && in_group) ||
         listed(root, process);
}

/// False if the process certainly does not have the file open: its number was that of a process
/// that has ended. Only processes of our own user can be asked.
bool may_have_open(std::int64_t pid, const struct stat& info) {
  std::error_code error;
  std::filesystem::directory_iterator at("/proc/" + std::to_string(pid) + "/fd", error);
  bool seen = error.operator bool();
  for (const std::filesystem::directory_iterator end; !error && at != end; at.increment(error)) {
    struct stat each {};
    seen = seen || stat(at->path().c_str(), &each) != 0 ||
           (each.st_dev == info.st_dev && each.st_ino == info.st_ino);
  }
  return seen || error;
}

std::string text_of(std::int64_t pid, const std::optional<ProcessFacts>& facts) {
  if (pid <= 0)
    return "an unknown process";
  const std::string place = "/proc/" + std::to_string(pid);
  std::string text = "process " + std::to_string(pid);
  if (!facts)
    return text + ", which has ended or is hidden";
  text += " of " + user_text(static_cast<uid_t>(facts->uid));
  if (facts->ended)
    return text + ", which has ended";
  std::ifstream file(place + "/cmdline");
  std::string command{std::istreambuf_iterator<char>(file), {}};
  std::replace(command.begin(), command.end(), '\0', ' ');
  while (command.ends_with(' '))
    command.pop_back();
  return command.empty() ? text : text + ", `" + printable(command, kShownCommand) + "`";
}

LockVerdict judge_process(std::int64_t pid, const struct stat& info, int root) {
  LockVerdict verdict{LockStanding::unknown, std::max<std::int64_t>(pid, 0), {}};
  const auto facts = pid > 0 ? facts_of(pid) : std::nullopt;
  verdict.who = text_of(pid, facts);
  if (facts && !facts->ended && may_have_open(pid, info))
    verdict.standing =
        root < 0 || may_serve(*facts, root) ? LockStanding::may_serve : LockStanding::stranger;
  return verdict;
}

tl::unexpected<Error> not_ours(const std::string& why, const std::string& path) {
  return fail(Errc::busy,
              why + ", so it cannot keep other daemons away while a stranger locks the root; `rm " +
                  shell_word(path) + "` if no daemon serves this root",
              path);
}

/// The error for a held `.baton.lock`; nothing if nobody who counts holds it.
Result<void> judge_lock_file(const struct stat& info, int folder, const std::string& path) {
  const LockVerdict verdict = judge_lock(info, folder);
  if (verdict.standing == LockStanding::may_serve)
    return fail(Errc::served, "is locked by " + verdict.who, path);
  if (verdict.standing == LockStanding::unknown)
    return fail(Errc::busy, "is locked by " + verdict.who, path);
  return {};
}

/// Whether nobody but us may change the file's mode and owner, and no other name leads to it.
Result<void> check_ours(const struct stat& info, const std::string& path) {
  if (!S_ISREG(info.st_mode))
    return not_ours("is not a regular file", path);
  if (info.st_uid != geteuid())
    return not_ours("belongs to " + user_text(info.st_uid), path);
  if (info.st_nlink > 1)
    return not_ours("has a second name", path);
  return {};
}

Result<Fd> open_or_make(int folder, const std::string& path) {
  constexpr int kOpen = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  Fd made(openat(folder, LockFile::kName, kOpen | O_CREAT | O_EXCL, kOwnMode));
  if (made) {
    if (auto settled = set_mode(made.get(), kOwnMode, path); !settled)
      return pass_on(settled);
    return made;
  }
  if (errno != EEXIST)
    return system_error(errno, "cannot be made", path);
  struct stat info {};
  if (fstatat(folder, LockFile::kName, &info, AT_SYMLINK_NOFOLLOW) != 0)
    return system_error(errno, "cannot be looked at", path);
  if (auto free = judge_lock_file(info, folder, path); !free)
    return pass_on(free);
  if (auto ours = check_ours(info, path); !ours)
    return pass_on(ours);
  Fd fd(openat(folder, LockFile::kName, kOpen));
  if (!fd)
    return system_error(errno, "cannot be opened", path);
  // git checks a committed file out with the mode 0644. Nobody else may open it from now on.
  if (fstat(fd.get(), &info) != 0)
    return system_error(errno, "cannot be looked at", path);
  if (auto ours = check_ours(info, path); !ours)
    return pass_on(ours);
  if (auto settled = set_mode(fd.get(), kOwnMode, path); !settled)
    return pass_on(settled);
  return fd;
}

}  // namespace

LockVerdict judge_lock(const struct stat& info, int root) {
  LockVerdict gravest;
  for (const std::int64_t pid : flock_holders(info)) {
    LockVerdict each = judge_process(pid, info, root);
    if (each.standing > gravest.standing)
      gravest = std::move(each);
  }
  return gravest;
}

std::string lock_holder_text(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? judge_lock(info, -1).who : "";
}

Result<LockFile> LockFile::take(int folder, const std::string& root) {
  const std::string path = root + "/" + kName;
  std::string stranger;
  LockFile lock;
  lock.folder_ = Fd(fcntl(folder, F_DUPFD_CLOEXEC, 0));
  if (!lock.folder_)
    return system_error(errno, "cannot be held", root);
  for (int tries = 0; tries < kMostTries; ++tries) {
    auto file = open_or_make(folder, path);
    if (!file && file.error().code == Errc::not_found)
      continue;  // its holder removed it just now
    if (!file)
      return pass_on(file);
    struct stat info {};
    if (fstat(file->get(), &info) != 0)
      return system_error(errno, "cannot be looked at", path);
    if (auto ours = check_ours(info, path); !ours)
      return pass_on(ours);
    if (flock(file->get(), LOCK_EX | LOCK_NB) != 0) {
      if (auto free = judge_lock_file(info, folder, path); !free)
        return pass_on(free);
      stranger = judge_lock(info, folder).who;
      continue;
    }
    if (name_leads_to(folder, kName, file->get())) {
      lock.file_ = std::move(*file);
      return lock;
    }
  }
  return fail(Errc::busy, "is locked by " + (stranger.empty() ? "an unknown process" : stranger),
              path);
}

Result<LockFile> LockFile::take_after_others(int folder, const std::string& root) {
  for (int tries = 0; tries < kMostTries; ++tries) {
    auto left = open_or_make(folder, root + "/" + kName);
    if (!left && left.error().code != Errc::not_found)
      return pass_on(left);
    std::this_thread::sleep_for(kOthersComeBack);
    auto taken = take(folder, root);
    struct stat before {};
    struct stat now {};
    const bool same = taken && left && fstat(left->get(), &before) == 0 &&
                      fstat(taken->file_.get(), &now) == 0 && before.st_ino == now.st_ino;
    if (!taken || same)
      return taken;
  }
  return fail(Errc::busy, "is removed again and again", root + "/" + kName);
}

bool LockFile::in_place() const {
  return file_ && name_leads_to(folder_.get(), kName, file_.get());
}

LockFile& LockFile::operator=(LockFile&& other) noexcept {
  if (this != &other) {
    remove();
    folder_ = std::move(other.folder_);
    file_ = std::move(other.file_);
  }
  return *this;
}

void LockFile::remove() {
  if (in_place())
    (void)unlinkat(folder_.get(), kName, 0);
  file_.reset();
  folder_.reset();
}

Result<void> check_lock_file(int folder, const std::string& root) {
  struct stat info {};
  if (fstatat(folder, LockFile::kName, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
    return {};
  return judge_lock_file(info, folder, root + "/" + LockFile::kName);
}

}  // namespace baton
