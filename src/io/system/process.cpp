// SPDX-License-Identifier: Apache-2.0
#include "io/system/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

namespace baton {
namespace {

// P_PIDFD. The headers of glibc 2.36 do not have it in a form for C++.
constexpr auto kPidfdType = static_cast<idtype_t>(3);

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// The text of a small /proc file; empty when it cannot be read. Nothing when descriptors or memory
/// have run out.
std::optional<std::string> readable_text(const std::string& path, std::size_t max_bytes) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errc_of(errno) == Errc::busy)
    return std::nullopt;
  std::string text;
  std::array<char, 4096> buffer{};
  while (file && text.size() < max_bytes) {
    const ssize_t got = read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::string proc_text(const std::string& path, std::size_t max_bytes) {
  return readable_text(path, max_bytes).value_or("");
}

/// One list for the whole process, because each root collects all ended children that are not in
/// it. Used by one thread only.
std::multiset<std::int64_t>& awaited() {
  static std::multiset<std::int64_t> pids;
  return pids;
}

constexpr std::size_t kLongestEnvironment = 4U << 20U;

/// Whether `is` holds for the /proc folder of any process, or cannot tell.
template <class Is>
bool any_process(const Is& is) {
  std::error_code error;
  std::filesystem::directory_iterator process("/proc", error);
  for (; !error && process != std::filesystem::directory_iterator(); process.increment(error)) {
    std::int64_t pid = 0;
    const std::string name = process->path().filename().string();
    if (read_number(std::string_view(name), pid) && is("/proc/" + name).value_or(true))
      return true;
  }
  return static_cast<bool>(error);
}

/// Nothing when unknown.
std::optional<bool> has_variable(const std::string& process, std::string_view entry) {
  const auto all = readable_text(process + "/environ", kLongestEnvironment);
  return all ? std::optional(has_word(*all, entry)) : std::nullopt;
}

}  // namespace

std::optional<ProcessStat> parse_stat(std::string_view text) {
  const std::size_t opening = text.find(" (");
  const std::size_t closing = text.rfind(") ");
  ProcessStat stat;
  if (opening == std::string_view::npos || closing == std::string_view::npos || closing < opening ||
      !read_number(text.substr(0, opening), stat.pid))
    return std::nullopt;
  // proc(5) counts fields from 1; the first one after the name is number 3.
  constexpr std::size_t kState = 0;
  constexpr std::size_t kParent = 1;
  constexpr std::size_t kStart = 19;
  const std::vector<std::string> fields = split(text.substr(closing + 2), ' ');
  if (fields.size() <= kStart || fields[kState].size() != 1 ||
      !read_number(fields[kParent], stat.parent) || !read_number(fields[kStart], stat.start_ticks))
    return std::nullopt;
  stat.state = fields[kState][0];
  return stat;
}

std::optional<ProcessStat> process_stat(std::int64_t pid) {
  return parse_stat(proc_text("/proc/" + std::to_string(pid) + "/stat", 4096));
}

void hide_memory() {
  (void)prctl(PR_SET_DUMPABLE, 0);
}

std::optional<unsigned> user_of_process(std::int64_t pid) {
  const std::string text = proc_text("/proc/" + std::to_string(pid) + "/status", 8192);
  constexpr std::string_view kUsers = "\nUid:\t";  // real, effective, saved, of file systems
  const std::size_t at = text.find(kUsers);
  if (at == std::string::npos)
    return std::nullopt;
  const auto users = split(std::string_view(text).substr(at + kUsers.size(), 64), '\t');
  unsigned user = 0;
  if (users.size() < 2 || !read_number(std::string_view(users[1]), user))
    return std::nullopt;
  return user;
}

bool has_word(std::string_view words, std::string_view word) {
  const std::vector<std::string> all = split(words, '\0');
  return std::find(all.begin(), all.end(), word) != all.end();
}

Result<Fd> open_process(const ProcessIdentity& identity) {
  const std::string where = "process " + std::to_string(identity.pid);
  if (identity.pid <= 1)
    return fail(Errc::not_found, "there is no such process", where);
  // Open the descriptor first: the answers below are then about that very process.
  Fd process(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(identity.pid), 0U)));
  if (!process)
    return errno == ESRCH || errno == EINVAL
               ? fail(Errc::not_found, "there is no such process", where)
               : system_error(errno, "cannot watch the process", where);
  const std::optional<ProcessStat> stat = process_stat(identity.pid);
  const std::string words = proc_text("/proc/" + std::to_string(identity.pid) + "/cmdline", 4096);
  if (has_ended(process.get()) || (stat && !stat->alive()))
    return fail(Errc::not_found, "the process has ended", where);
  if (!stat || (stat->start_ticks == identity.start_ticks && words.empty()))
    return fail(Errc::busy, "cannot look at the process", where);
  if (stat->start_ticks != identity.start_ticks || !has_word(words, identity.word))
    return fail(Errc::not_found, "the number belongs to another process", where);
  return process;
}

bool any_process_has_variable(std::string_view entry) {
  return any_process([&](const std::string& process) { return has_variable(process, entry); });
}

std::string variable_of(std::int64_t pid, std::string_view name) {
  const std::string begin = std::string(name) + "=";
  const auto all = readable_text("/proc/" + std::to_string(pid) + "/environ", kLongestEnvironment);
  for (const std::string& entry : split(all.value_or(""), '\0'))
    if (entry.starts_with(begin))
      return entry.substr(begin.size());
  return {};
}

std::vector<std::int64_t> processes_naming(std::string_view variable) {
  std::vector<std::int64_t> found;
  (void)any_process([&](const std::string& process) {
    std::int64_t pid = 0;
    if (read_number(std::string_view(process).substr(std::string_view("/proc/").size()), pid) &&
        !variable_of(pid, variable).empty())
      found.push_back(pid);
    return std::optional(false);
  });
  return found;
}

std::string working_directory(std::int64_t pid) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/cwd", error).string();
}

bool any_process_has_words(const std::vector<std::string>& words, std::string_view without) {
  std::string wanted(1, '\0');
  for (const std::string& word : words)
    wanted += word + '\0';
  return any_process([&](const std::string& process) -> std::optional<bool> {
    const auto all = readable_text(process + "/cmdline", 4096);
    if (!all)
      return std::nullopt;
    if (all->find(wanted) == std::string::npos)
      return false;
    const auto excluded = has_variable(process, without);
    return excluded ? std::optional(!*excluded) : std::nullopt;
  });
}

Result<void> send_signal(int process, int signal) {
  if (syscall(SYS_pidfd_send_signal, process, signal, nullptr, 0U) == 0 || errno == ESRCH)
    return {};
  return system_error(errno, "cannot send a signal", {});
}

bool has_ended(int process, Millis within) {
  pollfd watched{process, POLLIN, 0};
  const auto until = std::chrono::steady_clock::now() + within;
  int ready = 0;
  do {
    const auto left = std::chrono::duration_cast<Millis>(until - std::chrono::steady_clock::now());
    ready = poll(&watched, 1, static_cast<int>(std::max(left, Millis(0)).count()));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

std::optional<int> reap(const Fd& process) {
  siginfo_t info{};
  const auto id = static_cast<id_t>(process.get());
  if (waitid(kPidfdType, id, &info, WEXITED | WNOHANG) != 0 || info.si_pid == 0)
    return std::nullopt;
  constexpr int kKilled = 128;
  return info.si_code == CLD_EXITED ? info.si_status : kKilled + info.si_status;
}

std::string boot_id() {
  std::string text = proc_text("/proc/sys/kernel/random/boot_id", 64);
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text;
}

AwaitedChild::AwaitedChild(std::int64_t pid) : pid_(pid) {
  awaited().insert(pid);
}

AwaitedChild::~AwaitedChild() {
  if (pid_ != 0)
    awaited().erase(awaited().find(pid_));
}

std::size_t reap_others() {
  std::size_t reaped = 0;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    for (const std::string& word : split(proc_text(task.path() / "children", 1U << 20U), ' ')) {
      std::int64_t pid = 0;
      if (!read_number(std::string_view(word), pid) || awaited().contains(pid))
        continue;
      if (waitpid(static_cast<pid_t>(pid), nullptr, WNOHANG) > 0)
        ++reaped;
    }
  }
  return reaped;
}

}  // namespace baton
