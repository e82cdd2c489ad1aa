// SPDX-License-Identifier: Apache-2.0
#include "io/system/asker.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "io/files/fd.h"
#include "io/files/file_facts.h"
#include "io/files/folder.h"
#include "io/files/root.h"
#include "io/files/safe_open.h"
#include "io/system/process.h"
#include "shim/protocol.h"

namespace baton {
namespace {

constexpr std::size_t kMostFactBytes = 64U << 10U;
constexpr std::size_t kRunIdDigits = 32;
constexpr int kMostAncestors = 10'000;
constexpr std::string_view kCgroupPrefix = "run-";

bool names_run(std::string_view name) {
  return name.size() == kRunIdDigits && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string fact_of(std::int64_t process, const char* name) {
  const std::string path = "/proc/" + std::to_string(process) + "/" + name;
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return fd ? read_all(fd.get(), kMostFactBytes, path).value_or("") : "";
}

std::vector<std::string_view> words_of(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// The run whose shim this process is; "" if it is none.
RunId run_of_shim(std::int64_t process) {
  const std::string line = fact_of(process, "cmdline");
  const auto words = words_of(line, '\0');
  const bool shim = words.size() == 4 && words[0].ends_with("baton-shim") &&
                    (words[2] == shim::kModeRun || words[2] == shim::kModeEnter) &&
                    names_run(words[3]);
  return shim ? RunId(words[3]) : RunId();
}

/// The process and its ancestors, the nearest first. Ends at the first one of `known`.
std::vector<std::int64_t> ancestry(std::int64_t process, const std::set<std::int64_t>& known) {
  std::vector<std::int64_t> line;
  for (int n = 0; n < kMostAncestors && process > 0 && !known.contains(process); ++n) {
    line.push_back(process);
    const auto stat = process_stat(process);
    process = stat ? stat->parent : 0;
  }
  return line;
}

/// The run whose cgroup the process is in.
RunId run_of_cgroup(std::int64_t process) {
  const std::string text = fact_of(process, "cgroup");
  for (const std::string_view line : words_of(text, '\n'))
    for (const std::string_view part : words_of(line, '/'))
      if (part.starts_with(kCgroupPrefix) && names_run(part.substr(kCgroupPrefix.size())))
        return RunId(part.substr(kCgroupPrefix.size()));
  return {};
}

/// Folders of runs without a recorded end.
template <typename Visit>
bool any_open_run(const std::string& state_folder, const Visit& visit) {
  auto state = open_folder(state_folder);
  const auto runs = state ? list_folder(state->get(), "runs") : pass_on(state);
  if (!runs)
    return false;
  return std::any_of(
      runs->names.folders.begin(), runs->names.folders.end(), [&](const std::string& name) {
        struct stat info {};
        const auto folder = names_run(name)
                                ? safe_open(runs->fd.get(), name, O_RDONLY | O_DIRECTORY)
                                : fail(Errc::not_found, "is no run", name);
        return folder && fstatat(folder->get(), shim::kExitFile, &info, AT_SYMLINK_NOFOLLOW) != 0 &&
               visit(name, folder->get());
      });
}

/// The run in whose session the process is.
RunId run_of_session(std::int64_t process, const std::string& state_folder) {
  const pid_t session = getsid(static_cast<pid_t>(process));
  if (session <= 1 || session == getsid(0))
    return {};
  const std::string line = "\nsession " + std::to_string(session) + "\n";
  RunId run;
  any_open_run(state_folder, [&](const std::string& name, int folder) {
    auto file = open_regular(folder, shim::kAgentFile, O_RDONLY);
    const auto text = file ? read_all(file->get(), kMostFactBytes, name) : pass_on(file);
    if (!text || (*text + "\n").find(line) == std::string::npos)
      return false;
    run = name;
    return true;
  });
  return run;
}

}  // namespace

Asker asker_of(std::int64_t process, const std::string& state_folder) {
  const auto there = process_stat(process);
  if (!there || !there->alive())
    return {Asker::Kind::nobody, {}};
  std::set<std::int64_t> own;
  if (process != getpid())
    for (const std::int64_t each : ancestry(getpid(), {}))
      own.insert(each);
  // The last shim counts: an agent can run a program that looks like the shim of another run.
  RunId run;
  for (const std::int64_t each : ancestry(process, own))
    if (RunId found = run_of_shim(each); !found.empty())
      run = std::move(found);
  if (run.empty()) {
    run = run_of_cgroup(process);
    if (process != getpid() && run == run_of_cgroup(getpid()))
      run.clear();
  }
  if (run.empty())
    run = run_of_session(process, state_folder);
  return run.empty() ? Asker{} : Asker{Asker::Kind::run, std::move(run)};
}

Asker own_asker(const std::string& state_folder) {
  return asker_of(getpid(), state_folder);
}

std::int64_t posix_lock_holder(int fd) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  // A lock of an open file description conflicts with the POSIX locks of this process too.
  if (fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK || lock.l_pid <= 0)
    return 0;
  return lock.l_pid;
}

bool any_run_lives(const std::string& state_folder) {
  return any_open_run(state_folder, [](const std::string&, int folder) {
    const auto lock = open_regular(folder, shim::kLockFile, O_RDONLY);
    return lock && flock_holder(lock->get()) > 0;
  });
}

}  // namespace baton
