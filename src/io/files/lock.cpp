// SPDX-License-Identifier: Apache-2.0
#include "io/files/lock.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <map>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/time.h"
#include "io/files/disk.h"
#include "io/files/file_facts.h"
#include "io/files/root.h"

namespace baton {

namespace {

constexpr int kPatienceMs = 2000;
constexpr int kNapMs = 20;
/// How long a daemon whose file was removed waits for one that looks for the file.
constexpr int kLastLookMs = 200;
/// A process writes its name into `lock` right after it has locked it.
constexpr int kMaxUnsigned = 10;
/// A killed process can seem to hold the lock until a child that it was forking has called exec. It
/// may also be a process in another container, which we cannot see.
constexpr int kMaxGone = 25;
constexpr const char* kCommand = "command";
/// How often we try a lock whose holder is gone each time we look for it.
constexpr int kMostTurns = 10;
constexpr const char* kUnknownHolder =
    ", so it is not known whether another daemon serves it; `fuser -v` on the folder, run by root, "
    "may show who has it open";
/// The longest path with every byte escaped, and a few words.
constexpr std::size_t kMaxLockBytes = 32'768;

std::string lock_path(const std::string& state_folder) {
  return state_folder + "/lock";
}

Result<Fd> open_lock(const std::string& path) {
  constexpr int kOpen = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  constexpr mode_t kMode = 0640;
  if (Fd made(open(path.c_str(), kOpen | O_CREAT | O_EXCL, kMode)); made) {
    if (auto settled = set_mode(made.get(), kMode, path); !settled)
      return pass_on(settled);
    return made;
  }
  if (errno != EEXIST)
    return system_error(errno, "cannot be made", path);
  Fd fd(open(path.c_str(), kOpen));
  if (!fd)
    return system_error(errno, "cannot be opened", path);
  return fd;
}

/// The error for a held lock. `state_folder`: its `lock` file names the holder if the kernel does
/// not; may be "".
tl::unexpected<Error> held(int fd, const std::string& state_folder, const std::string& where) {
  std::int64_t pid = flock_holder(fd);
  const LockHolder holder = state_folder.empty() ? LockHolder{} : lock_holder(state_folder);
  if (pid <= 0)
    pid = holder.pid;
  if (holder.role == LockRole::command && pid > 0)
    return fail(
        Errc::locked,
        "is locked by a command that works without a daemon, process " + std::to_string(pid),
        where);
  if (pid <= 0)
    return fail(Errc::served, "is locked by another process", where);
  return fail(Errc::served, "is locked by process " + std::to_string(pid), where);
}

// Locks what the path leads to. The folder or file may be replaced while we wait.
Result<Fd> lock_path_at(const std::string& path, Result<Fd> (*opened)(const std::string&),
                        const std::string& state_folder, int& patience_ms) {
  for (;;) {
    auto fd = opened(path);
    if (!fd)
      return fd;
    const bool locked = flock(fd->get(), LOCK_EX | LOCK_NB) == 0;
    if (!locked && errno != EWOULDBLOCK && errno != EINTR)
      return system_error(errno, "cannot be locked", path);
    if (locked && leads_to(path, fd->get()))
      return fd;
    if (patience_ms <= 0 && locked)
      return fail(Errc::locked, "is being replaced", path);
    if (patience_ms <= 0)
      return held(fd->get(), state_folder, path);
    patience_ms -= kNapMs;
    std::this_thread::sleep_for(std::chrono::milliseconds(kNapMs));
  }
}

Result<void> sign(int fd, LockRole role, const std::string& root, const std::string& path) {
  const auto now = std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
  const std::string text = Json::object({{"pid", static_cast<std::int64_t>(getpid())},
                                         {"since", iso_time(now)},
                                         {"root", root},
                                         {"role", role == LockRole::command ? kCommand : "daemon"}})
                               .dump() +
                           "\n";
  if (ftruncate(fd, 0) != 0)
    return system_error(errno, "cannot be written", path);
  return write_all(fd, text, path);
}

}  // namespace

Result<RootLock> RootLock::take(const std::string& root, const std::string& state_folder,
                                LockRole role) {
  int patience_ms = kPatienceMs;
  const std::string path = lock_path(state_folder);
  auto state = lock_path_at(path, open_lock, state_folder, patience_ms);
  if (!state)
    return pass_on(state);
  auto folder = open_folder(root);
  // When the root is gone, a command can still end its agents.
  const bool gone = !folder && folder.error().code == Errc::not_found && role == LockRole::command;
  if (!folder && !gone)
    return pass_on(folder);
  FolderLock locked;
  if (!gone && network_file_system_of(folder->get()).empty()) {
    auto done = lock_folder(root, patience_ms);
    if (!done)
      return pass_on(done);
    locked = std::move(*done);
  }
  if (auto signed_by = sign(state->get(), role, root, path); !signed_by)
    return pass_on(signed_by);
  return RootLock(std::move(locked), std::move(*state));
}

/// Locks the root's folder, or `.baton.lock` in it if a stranger has locked the folder.
Result<RootLock::FolderLock> RootLock::lock_folder(const std::string& root, int& patience_ms) {
  for (int tries = 0; tries < kMostTurns; ++tries) {
    // A holder of this lock without the state folder has another state folder.
    auto fd = lock_path_at(root, open_folder, "", patience_ms);
    if (fd) {
      if (auto free = check_lock_file(fd->get(), root); !free)
        return pass_on(free);
      return FolderLock{std::move(*fd), {}, {}};
    }
    if (fd.error().code != Errc::served)
      return pass_on(fd);
    const auto folder = open_folder(root);
    struct stat info {};
    if (!folder || fstat(folder->get(), &info) != 0)
      return fail(Errc::busy, "is being replaced", root);
    LockVerdict verdict = judge_lock(info, folder->get());
    if (verdict.standing == LockStanding::may_serve)
      return pass_on(fd);
    if (verdict.standing == LockStanding::stranger)
      return lock_beside(root, std::move(verdict));
    if (verdict.standing == LockStanding::unknown)
      return fail(Errc::busy, "is locked by " + verdict.who + kUnknownHolder, root);
    std::this_thread::sleep_for(std::chrono::milliseconds(kNapMs));  // it has just been released
  }
  return fail(Errc::busy, std::string("is locked by an unknown process") + kUnknownHolder, root);
}

/// Locks `.baton.lock`. A daemon that locked the folder before it saw this file is seen now, and
/// one that locks the folder later looks at the file first.
Result<RootLock::FolderLock> RootLock::lock_beside(const std::string& root, LockVerdict stranger) {
  auto folder = open_folder(root);
  if (!folder)
    return pass_on(folder);
  auto file = LockFile::take_after_others(folder->get(), root);
  if (!file) {
    file.error().message += "; the root itself is locked by " + stranger.who;
    return pass_on(file);
  }
  struct stat info {};
  if (fstat(folder->get(), &info) != 0 || !leads_to(root, folder->get()))
    return fail(Errc::busy, "is being replaced", root);
  if (flock(folder->get(), LOCK_EX | LOCK_NB) == 0)
    return FolderLock{std::move(*folder), {}, {}};  // the file is not needed any more
  const LockVerdict now = judge_lock(info, folder->get());
  if (now.standing == LockStanding::may_serve)
    return fail(Errc::served, "is locked by " + now.who, root);
  if (now.standing != LockStanding::stranger)
    return fail(Errc::busy, std::string("is locked by another process") + kUnknownHolder, root);
  return FolderLock{{}, std::move(*file), std::move(stranger.who)};
}

Result<std::string> RootLock::keep(const std::string& root) {
  // A folder that has taken the place of the root is locked by `lock_root_folder`.
  if (!beside() || !leads_to(root, root_.file.folder()))
    return "";
  const bool in_place = root_.file.in_place();
  if (flock(root_.file.folder(), LOCK_EX | LOCK_NB) != 0)
    return in_place ? Result<std::string>("") : lock_again(root);
  if (auto free = check_lock_file(root_.file.folder(), root);
      !in_place && !free && free.error().code == Errc::served)
    return pass_on(free);
  // A second descriptor for the same lock.
  Fd folder(fcntl(root_.file.folder(), F_DUPFD_CLOEXEC, 0));
  if (!folder)
    return system_error(errno, "cannot be held", root);
  root_ = FolderLock{std::move(folder), {}, {}};
  return "no other process locks the root any more, so .baton.lock is not needed";
}

/// Makes and locks `.baton.lock` again.
Result<std::string> RootLock::lock_again(const std::string& root) {
  const int folder = root_.file.folder();
  auto file = LockFile::take(folder, root);
  struct stat info {};
  // A daemon of another user that waits before it locks its file. We could not lock that file.
  if (!file && fstatat(folder, LockFile::kName, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISREG(info.st_mode) && info.st_uid != geteuid())
    file.error().code = Errc::served;
  if (!file)
    return pass_on(file);
  // One that found no file may have locked the folder. If it sees the new file, it gives up.
  int patience_ms = kLastLookMs;
  for (; fstat(folder, &info) == 0; patience_ms -= kNapMs) {
    const LockVerdict verdict = judge_lock(info, folder);
    if (verdict.standing != LockStanding::may_serve)
      break;
    if (patience_ms <= 0)
      return fail(Errc::served, "is locked by " + verdict.who, root);
    std::this_thread::sleep_for(std::chrono::milliseconds(kNapMs));
  }
  root_.file = std::move(*file);
  return ".baton.lock was removed and is made again, because " + root_.stranger + " locks the root";
}

void RootLock::release_root() {
  // The disk has a duplicate of this descriptor with the same lock, so closing this one does not
  // unlock.
  if (root_.folder)
    (void)flock(root_.folder.get(), LOCK_UN);
  root_ = {};
}

Result<Fd> RootLock::lock_root_folder(const std::string& root) {
  release_root();
  auto folder = open_folder(root);
  if (!folder || !network_file_system_of(folder->get()).empty())
    return folder;
  int no_patience = 0;
  auto locked = lock_folder(root, no_patience);
  if (!locked)
    return pass_on(locked);
  root_ = std::move(*locked);
  if (!root_.folder)
    return leads_to(root, folder->get()) ? std::move(folder)
                                         : fail(Errc::busy, "is being replaced", root);
  // A second descriptor for the same lock.
  Fd held(fcntl(root_.folder.get(), F_DUPFD_CLOEXEC, 0));
  if (!held)
    return system_error(errno, "cannot be held", root);
  return held;
}

Result<RootLock> lock_root(const std::string& root, const std::string& state_folder,
                           LockRole role) {
  return RootLock::take(root, state_folder, role);
}

bool daemon_lives(const std::string& state_folder) {
  // A process waits only once for each lock, however often it asks.
  static std::map<std::string, int> patience;
  int& naps_left = patience.try_emplace(state_folder, kMaxGone).first->second;
  const Fd fd(
      open(lock_path(state_folder).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  for (int naps = 0;; ++naps) {
    // A shared lock, so that two processes that ask at once do not see each other.
    if (!fd || flock(fd.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
      return false;
    const LockHolder holder = lock_holder(state_folder);
    const std::int64_t pid = flock_holder(fd.get());
    // The holder was killed, and a child that it was forking still has its descriptors. The kernel
    // may not tell the number of a process that is gone.
    const auto it = static_cast<pid_t>(pid > 0 ? pid : holder.pid);
    const bool gone = it > 0 && kill(it, 0) != 0 && errno == ESRCH;
    // If the two numbers differ, the text may still be that of the previous holder.
    const bool settled = !gone && (pid <= 0 || pid == holder.pid || naps >= kMaxUnsigned);
    if (settled || (gone && naps_left-- <= 0))
      return holder.role == LockRole::daemon;
    std::this_thread::sleep_for(std::chrono::milliseconds(kNapMs));
  }
}

std::int64_t holder_of_root(const std::string& root) {
  const auto folder = open_folder(root);
  struct stat info {};
  if (!folder || fstat(folder->get(), &info) != 0)
    return 0;
  LockVerdict verdict = judge_lock(info, folder->get());
  if (verdict.standing == LockStanding::stranger &&
      fstatat(folder->get(), LockFile::kName, &info, AT_SYMLINK_NOFOLLOW) == 0)
    verdict = judge_lock(info, folder->get());
  const std::int64_t pid = verdict.standing == LockStanding::stranger ? 0 : verdict.pid;
  // Other programs may lock a folder for their own reasons.
  const auto name = pid > 0 ? read_file("/proc/" + std::to_string(pid) + "/comm", kMaxLockBytes)
                            : Result<std::string>("");
  if (!name || !name->starts_with("baton"))
    return 0;
  // A command that works without a daemon is not a daemon either.
  const auto words = read_file("/proc/" + std::to_string(pid) + "/cmdline", kMaxLockBytes);
  return words && words->find(std::string_view("\0run\0", 5)) != std::string::npos ? pid : 0;
}

LockHolder lock_holder(const std::string& state_folder) {
  const auto text = read_file(lock_path(state_folder), kMaxLockBytes);
  const auto value = text ? parse_json(*text) : Result<Json>(tl::unexpected(text.error()));
  if (!value)
    return {};
  return {.pid = json::integer(**value, "pid").value_or(0),
          .since = std::string(json::text(**value, "since").value_or("")),
          .root = std::string(json::text(**value, "root").value_or("")),
          .role = json::text(**value, "role") == kCommand ? LockRole::command : LockRole::daemon};
}

}  // namespace baton
