// SPDX-License-Identifier: Apache-2.0
#include "shim/record.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/protocol.h"
#include "shim/text.h"

namespace baton::shim {
namespace {

bool put(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0)
      return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Creates a new file with these bytes. On failure, leaves nothing behind and sets errno.
bool create(int directory, const char* name, std::string_view bytes, bool durable) {
  const int file =
      openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
  if (file < 0)
    return false;
  (void)fchmod(file, 0640);
  const bool good = put(file, bytes) && (!durable || fsync(file) == 0);
  const int number = errno;
  close(file);
  if (!good)
    unlinkat(directory, name, 0);
  errno = number;
  return good;
}

Text identity(const Stat& process) {
  std::array<char, kBootIdBytes> boot_id{};
  read_boot_id(boot_id.data(), boot_id.size());
  Text text;
  text << "pid " << process.pid << "\nstart_ticks " << process.start_ticks << "\nboot_id "
       << boot_id.data() << "\n";
  return text;
}

void copy(std::string_view text, char* to, std::size_t room) {
  // No value is better than a part of one.
  const std::size_t size = text.size() < room ? text.size() : 0;
  if (size > 0)  // an empty text may point nowhere
    std::memcpy(to, text.data(), size);
  to[size] = '\0';
}

void number_or_null(Text& text, std::string_view name, bool there, int number) {
  text << "  \"" << name << "\": ";
  if (there)
    text << number;
  else
    text << "null";
  text << ",\n";
}

Text json(const char* run_id, const ExitRecord& exit) {
  Text text;
  text << "{\n  \"version\": " << kExitVersion << ",\n  \"run_id\": ";
  text.quoted(run_id) << ",\n  \"cause\": ";
  text.quoted(exit.cause) << ",\n";
  number_or_null(text, "exit_code", exit.exit_code >= 0, exit.exit_code);
  number_or_null(text, "signal", exit.signal > 0, exit.signal);
  if (exit.error_number != 0) {
    Text error;
    const char* description = strerrordesc_np(exit.error_number);
    error << exit.error_step << ": " << (description != nullptr ? description : "unknown error");
    text << "  \"error\": ";
    text.quoted(error.view()) << ",\n";
  }
  text << "  \"started_ms\": " << exit.started_ms << ",\n  \"ended_ms\": " << exit.ended_ms
       << ",\n  \"wall_ms\": " << exit.wall_ms << ",\n  \"user_ms\": " << exit.user_ms
       << ",\n  \"system_ms\": " << exit.system_ms << ",\n  \"max_rss_kib\": " << exit.max_rss_kib
       << ",\n  \"stdout_bytes\": " << exit.stdout_bytes
       << ",\n  \"stderr_bytes\": " << exit.stderr_bytes
       << ",\n  \"stdout_dropped\": " << exit.stdout_dropped
       << ",\n  \"stderr_dropped\": " << exit.stderr_dropped
       << ",\n  \"leftovers\": " << exit.leftovers << ",\n  \"survivors\": " << exit.survivors
       << ",\n  \"memory_kills\": " << exit.memory_kills
       << ",\n  \"memory_peak_kib\": " << exit.memory_peak_kib << "\n}\n";
  return text;
}

/// Syncs the run directory and its parent: both entries must be on disk.
bool sync_directories(int directory) {
  if (fsync(directory) != 0)
    return false;
  const int parent = openat(directory, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (parent < 0)
    return true;  // we may not read it; its owner must sync it
  const bool good = fsync(parent) == 0;
  close(parent);
  return good;
}

/// `.exit.json.` and 16 random digits, so that an agent cannot block the name.
Text other_name(std::string_view ending) {
  std::array<unsigned char, 8> random{};
  if (getrandom(random.data(), random.size(), GRND_NONBLOCK) < 0)
    random = {};
  constexpr std::string_view kHex = "0123456789abcdef";
  Text name;
  name << "." << kExitFile << ".";
  for (const unsigned byte : random)
    name << kHex.substr(byte >> 4U, 1) << kHex.substr(byte & 0xfU, 1);
  name << ending;
  return name;
}

bool take_place(int directory, const char* temporary) {
  if (renameat(directory, temporary, directory, kExitFile) == 0)
    return true;
  // The agent may have made a folder with this name.
  return renameat(directory, kExitFile, directory, other_name(".aside").c_str()) == 0 &&
         renameat(directory, temporary, directory, kExitFile) == 0;
}

/// How many failures for lack of descriptors, or because of a file size limit, end the tries. An
/// agent that limited the shim like this does not undo it. Another process is not limited.
constexpr int kMostWithout = 5;

bool removed(int directory) {
  struct stat status {};
  return fstat(directory, &status) == 0 && status.st_nlink == 0;
}

}  // namespace

bool make_claim(int directory) {
  if (renameat2(directory, kWrittenClaimFile, directory, kClaimFile, RENAME_NOREPLACE) == 0)
    return true;
  // For file systems that cannot do it in one step.
  if ((errno != EINVAL && errno != ENOSYS) ||
      linkat(directory, kWrittenClaimFile, directory, kClaimFile, 0) != 0)
    return false;
  unlinkat(directory, kWrittenClaimFile, 0);
  return true;
}

bool claim_made(int directory) {
  return faccessat(directory, kClaimFile, F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
         faccessat(directory, kWrittenClaimFile, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
}

bool write_agent(int directory, const Stat& agent) {
  Text text = identity(agent);
  text << "session " << agent.pid << "\n";
  return create(directory, kAgentFile, text.view(), false);
}

bool add_cgroup(int directory, const char* path) {
  Text text;
  text << "cgroup " << path << "\n";
  const int file = openat(directory, kAgentFile, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0)
    return false;
  const bool good = put(file, text.view());
  close(file);
  return good;
}

void remove_agent(int directory) {
  unlinkat(directory, kAgentFile, 0);
}

bool read_agent(int directory, AgentRecord& agent) {
  std::array<char, 8192> bytes{};
  if (read_small(directory, kAgentFile, bytes.data(), bytes.size()) <= 0)
    return false;
  const std::string_view text(bytes.data());
  std::uint64_t session = 0;
  if (!parse_number(line_value(text, "session"), session) ||
      !parse_number(line_value(text, "start_ticks"), agent.start_ticks))
    return false;
  agent.session = static_cast<pid_t>(session);
  copy(line_value(text, "boot_id"), agent.boot_id, sizeof agent.boot_id);
  copy(line_value(text, "cgroup"), agent.cgroup, sizeof agent.cgroup);
  return true;
}

bool write_exit(int directory, const char* run_id, const ExitRecord& exit) {
  const Text text = json(run_id, exit);
  int without = 0;  // tries that failed because this process lacks something of its own
  while (!removed(directory) && without < kMostWithout) {
    const Text temporary = other_name(".tmp");
    if (create(directory, temporary.c_str(), text.view(), true)) {
      if (take_place(directory, temporary.c_str()) && sync_directories(directory))
        return true;
      unlinkat(directory, temporary.c_str(), 0);
    } else if (errno == EMFILE || errno == EFBIG) {
      ++without;
    }
    // The agent may have removed all rights to write here, its own too.
    struct stat status {};
    if (fstat(directory, &status) == 0)
      (void)fchmod(directory, (status.st_mode & 07777U) | S_IRWXU);
    poll(nullptr, 0, 1000);
  }
  return false;
}

}  // namespace baton::shim
