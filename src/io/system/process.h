#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "io/files/fd.h"

namespace baton {

/// What /proc/PID/stat says, as far as it matters here.
struct ProcessStat {
  std::int64_t pid = 0;
  std::int64_t parent = 0;
  char state = '?';
  std::uint64_t start_ticks = 0;  ///< clock ticks since boot
  /// A zombie is dead: it only waits for somebody to ask.
  bool alive() const { return state != 'Z' && state != 'X'; }
  bool operator==(const ProcessStat&) const = default;
};
/// Nothing for what is no such line. The name in brackets may hold blanks and brackets.
std::optional<ProcessStat> parse_stat(std::string_view text);
/// Nothing when there is no such process.
std::optional<ProcessStat> process_stat(std::int64_t pid);

/// Whether NUL-separated words, as in /proc/PID/cmdline, hold this one.
bool has_word(std::string_view words, std::string_view word);

/// Names one process for ever: its number, its start time, the boot both belong to.
struct ProcessIdentity {
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::string_view word;  ///< stands in its command line
};
/// A pidfd of that very process. Errc::not_found when it is gone or somebody else has its number;
/// busy when that cannot be told, for want of descriptors, say.
Result<Fd> open_process(const ProcessIdentity& identity);

/// Sends a signal through a pidfd. A process that is gone already is no error.
Result<void> send_signal(int process, int signal);

/// Whether the process of this pidfd has ended, or does within this time; signals do not cut it
/// short.
bool has_ended(int process, Millis within = Millis(0));

/// Takes the exit status of a child that has ended, so that no zombie stays; 128 and the signal for
/// one that was killed. Nothing for a process that is not our child or has not ended.
std::optional<int> reap(const Fd& process);

/// Whether any living process was started with this variable (`NAME=value`) in its environment, as
/// far as this user may look. True as well when there is nothing to look with, no descriptor, say:
/// who cannot look does not know that there is none.
bool variable_lives(std::string_view entry);

/// The value of a variable in the environment that a process was started with; "" where it has
/// none, or this user may not look.
std::string variable_of(std::int64_t pid, std::string_view name);
/// The living processes that were started with a variable of that name, as far as this user may
/// look.
std::vector<std::int64_t> processes_naming(std::string_view variable);
/// Where it is now, as this process sees it; "" when that cannot be told.
std::string working_directory(std::int64_t pid);

/// Whether any living process has `words` in its command line, one behind the other, and not this
/// variable in its environment. True as well when there is nothing to look with.
bool call_lives(const std::vector<std::string>& words, std::string_view without);

/// The present boot; empty when unknown.
std::string boot_id();

/// Says for as long as it lives that somebody in this process takes the exit status of this child.
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

/// For a daemon that is PID 1 of a container: takes the exit status of all ended children but those
/// that are awaited. Returns how many.
std::size_t reap_others();

}  // namespace baton
