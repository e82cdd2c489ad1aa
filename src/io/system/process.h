// SPDX-License-Identifier: Apache-2.0
#pragma once

// Identifies processes safely. A process number is reused after its process ends, so every process
// is named by number, start time and boot, held by a pidfd, and checked through /proc. Signals go
// through the pidfd only.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "io/files/fd.h"

namespace baton {

/// The fields of /proc/PID/stat that baton needs.
struct ProcessStat {
  std::int64_t pid = 0;
  std::int64_t parent = 0;
  char state = '?';
  std::uint64_t start_ticks = 0;  ///< clock ticks since boot
  /// A zombie has ended; only its exit status was not collected.
  bool alive() const { return state != 'Z' && state != 'X'; }
  bool operator==(const ProcessStat&) const = default;
};
/// Nothing for anything else than such a line. The name in brackets may contain spaces and
/// brackets.
std::optional<ProcessStat> parse_stat(std::string_view text);
/// Nothing when there is no such process.
std::optional<ProcessStat> process_stat(std::int64_t pid);

/// Closes memory, environment and descriptors of this process in /proc to everybody but root, and
/// forbids debuggers: agents run as the same user, and secrets of all roles are in there. Holds
/// until the next exec, so programs that this process starts are open as usual. /proc/PID then
/// belongs to root: who needs the user of a process asks `user_of_process`.
void hide_memory();

/// The effective user of a process. Nothing when there is no such process.
std::optional<unsigned> user_of_process(std::int64_t pid);

/// Whether NUL-separated words, as in /proc/PID/cmdline, contain `word`.
bool has_word(std::string_view words, std::string_view word);

/// Names one process uniquely: its number, its start time and a word of its command line.
struct ProcessIdentity {
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::string_view word;  ///< a word of its command line
};
/// A pidfd of exactly this process. Errc::not_found when it is gone or the number belongs to
/// another process. Errc::busy when this cannot be decided, for example without free descriptors.
Result<Fd> open_process(const ProcessIdentity& identity);

/// Sends a signal through a pidfd. A process that is gone already is no error.
Result<void> send_signal(int process, int signal);

/// Whether the process has ended, or ends within this time. Signals do not shorten the wait.
bool has_ended(int process, Millis within = Millis(0));

/// Collects the exit status of a child that has ended, so that no zombie stays: 128 plus the signal
/// if it was killed. Nothing if the process is not our child or has not ended.
std::optional<int> reap(const Fd& process);

/// Whether any living process has this variable (`NAME=value`) in its environment, as far as this
/// user may look. Also true when it is impossible to look, for example without free descriptors.
bool any_process_has_variable(std::string_view entry);

/// The value of a variable in the environment of a process. "" when it has none, or this user may
/// not look.
std::string variable_of(std::int64_t pid, std::string_view name);
/// The living processes whose environment has a variable of that name, as far as this user may
/// look.
std::vector<std::int64_t> processes_naming(std::string_view variable);
/// The working directory of a process, as this process sees it. "" when unknown.
std::string working_directory(std::int64_t pid);

/// Whether any living process has `words` in sequence in its command line, and does not have the
/// variable `without`. Also true when it is impossible to look.
bool any_process_has_words(const std::vector<std::string>& words, std::string_view without);

/// The id of the current boot; empty when unknown.
std::string boot_id();

/// While it lives, `reap_others` leaves the exit status of this child to its owner.
class AwaitedChild {
 public:
  AwaitedChild() = default;
  explicit AwaitedChild(std::int64_t pid);
  AwaitedChild(AwaitedChild&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  AwaitedChild& operator=(AwaitedChild&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  AwaitedChild(const AwaitedChild&) = delete;
  AwaitedChild& operator=(const AwaitedChild&) = delete;
  ~AwaitedChild();

 private:
  std::int64_t pid_ = 0;  ///< 0: none
};

/// For a daemon that is PID 1 of a container: collects the exit status of all ended children except
/// awaited ones. Returns their number.
std::size_t reap_others();

}  // namespace baton
