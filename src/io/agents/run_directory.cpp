// SPDX-License-Identifier: Apache-2.0
#include "io/agents/run_directory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"
#include "io/agents/run_end.h"
#include "io/files/disk.h"
#include "io/files/file_facts.h"
#include "io/files/folder.h"
#include "io/files/safe_open.h"
#include "shim/protocol.h"

namespace baton {
namespace {

constexpr mode_t kFolderMode = 0750;
constexpr mode_t kFileMode = 0640;
constexpr const char* kSpareFolder = ".spare";
constexpr std::size_t kRunIdBytes = 16;
constexpr std::size_t kMaxClaimBytes = 4096;
constexpr std::size_t kMaxAgentBytes = 8192;
constexpr std::size_t kMaxExitBytes = 64U << 10U;
constexpr int kMaxDepth = 64;

/// Sets mode and group, independent of the umask. If this user may not use the group, it is left
/// out: then fewer users can read the file.
Result<void> settle(int fd, mode_t mode, std::optional<unsigned> group, const std::string& where) {
  if (group && fchown(fd, static_cast<uid_t>(-1), *group) != 0 && errno != EPERM)
    return system_error(errno, "cannot set the group", where);
  return set_mode(fd, mode, where);
}

Result<Fd> make_file(const Fd& directory, const char* name, std::optional<unsigned> group) {
  Fd made(openat(directory.get(), name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode));
  if (!made)
    return system_error(errno, "cannot make the file", name);
  if (auto settled = settle(made.get(), kFileMode, group, name); !settled)
    return pass_on(settled);
  return made;
}

/// Makes the folder of that path, whose name is `name` in the open folder `at`.
Result<Fd> make_folder(const RunFolder& folder, int at, const std::string& name,
                       const std::string& path) {
  if (mkdirat(at, name.c_str(), kFolderMode) != 0)
    return system_error(errno, "cannot make the folder", path);
  Fd made(openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!made)
    return system_error(errno, "cannot open the folder", path);
  // Files that others create in it, above all the shim, get its group too.
  const bool foreign = folder.group && *folder.group != getegid();
  const mode_t mode = kFolderMode | (foreign ? S_ISGID : 0U);
  if (auto settled = settle(made.get(), mode, folder.group, path); !settled)
    return pass_on(settled);
  return made;
}

/// Opens a folder that may be on another mount, but no link. An agent can put a link there, and
/// what baton makes and removes would then be elsewhere.
Result<Fd> open_no_link(int at, const std::string& name, const std::string& path) {
  Fd folder(openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder)
    return folder;
  const int number = errno;
  struct stat status {};
  if (fstatat(at, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode))
    return fail(Errc::not_regular,
                "is a symbolic link, and baton follows none below its state folder; remove the "
                "link and put the folder itself there",
                path);
  return system_error(number, "cannot open the folder of the runs", path);
}

/// The folder of all runs; made if it is missing.
Result<Fd> make_runs(const RunFolder& folder) {
  auto runs = open_runs_folder(folder.path);
  if (runs || runs.error().code != Errc::not_found)
    return runs;
  runs = make_folder(folder, AT_FDCWD, folder.path, folder.path);
  // Another process may have been faster.
  if (!runs && runs.error().code == Errc::changed)
    return open_runs_folder(folder.path);
  return runs;
}

/// An entry of the folder of the runs, or of `.spare` in it.
struct Entry {
  Fd above;
  std::string name;
};
Result<Entry> entry_of(const std::string& path) {
  const SplitPath parts = split_path(path);
  const SplitPath outer = split_path(parts.folder);
  const bool spare = outer.name == kSpareFolder;
  auto above = open_runs_folder(spare ? outer.folder : parts.folder);
  if (above && spare)
    above = open_no_link(above->get(), kSpareFolder, parts.folder);
  if (!above)
    return pass_on(above);
  return Entry{*std::move(above), parts.name};
}

/// Opens a folder. An agent of our own user may have removed our rights to it; then this function
/// restores them.
Fd enter(int at, const std::string& name) {
  constexpr int kFolder = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Fd folder(openat(at, name.c_str(), O_RDONLY | kFolder));
  if (folder || errno != EACCES)
    return folder;
  const Fd closed(openat(at, name.c_str(), O_PATH | kFolder));
  struct stat status {};
  const std::string itself = "/proc/self/fd/" + std::to_string(closed.get());
  if (closed && fstat(closed.get(), &status) == 0 && status.st_uid == geteuid() &&
      chmod(itself.c_str(), (status.st_mode & ~static_cast<mode_t>(S_IFMT)) | S_IRWXU) == 0)
    return Fd(openat(at, name.c_str(), O_RDONLY | kFolder));
  errno = EACCES;
  return {};
}

void add(std::string& text, std::string_view word, std::string_view value) {
  text.append(word).append(" ").append(value).push_back('\0');
}

void add(std::string& text, std::string_view word, std::uint64_t value) {
  add(text, word, std::to_string(value));
}

void add(std::string& text, std::string_view word, Millis value) {
  add(text, word, static_cast<std::uint64_t>(std::max<Millis::rep>(0, value.count())));
}

bool usable(std::string_view text) {
  return text.find('\0') == std::string_view::npos;
}

std::optional<std::int64_t> number_after(std::string_view text, std::string_view word) {
  const std::size_t found = text.find(word);
  if (found == std::string_view::npos)
    return std::nullopt;
  const std::string_view rest = text.substr(found + word.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return error == std::errc() && number > 0 ? std::optional(number) : std::nullopt;
}

/// Opens a file of the folder for reading. It may be none that the shim made.
Fd open_file(const Fd& directory, const char* name) {
  return Fd(openat(directory.get(), name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

/// "" when it cannot be read.
std::string claim_text(const Fd& directory) {
  const Fd file = open_file(directory, shim::kClaimFile);
  return file ? read_all(file.get(), kMaxClaimBytes, shim::kClaimFile).value_or("") : "";
}

/// Removes everything inside `folder`.
Result<void> empty_folder(const Fd& folder, dev_t device, int depth, const std::string& where) {
  struct stat status {};
  if (depth > kMaxDepth)
    return fail(Errc::too_large, "folders lie too deep", where);
  if (fstat(folder.get(), &status) != 0 || status.st_dev != device)
    return fail(Errc::not_regular, "another file system is mounted in it", where);
  // The folder may have been made read-only; if that cannot be changed, removing fails.
  if ((status.st_mode & S_IRWXU) != S_IRWXU)
    (void)fchmod(folder.get(), (status.st_mode & ~static_cast<mode_t>(S_IFMT)) | S_IRWXU);
  auto names = names_in(folder.get(), where);
  if (!names)
    return pass_on(names);
  names->files.insert(names->files.end(), names->folders.begin(), names->folders.end());
  for (const std::string& name : names->files) {
    const std::string path = where + "/" + name;
    if (unlinkat(folder.get(), name.c_str(), 0) == 0 || errno == ENOENT)
      continue;
    const Fd inner = enter(folder.get(), name);
    if (!inner)
      return system_error(errno, "cannot remove", path);
    if (auto emptied = empty_folder(inner, device, depth + 1, path); !emptied)
      return emptied;
    if (unlinkat(folder.get(), name.c_str(), AT_REMOVEDIR) != 0)
      return system_error(errno, "cannot remove", path);
  }
  return {};
}

}  // namespace

std::string runs_folder(const std::string& state_folder) {
  return state_folder + "/runs";
}

RunId make_run_id() {
  return random_hex(kRunIdBytes);
}

bool is_run_id(std::string_view name) {
  return name.size() == 2 * kRunIdBytes &&
         name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string fill_in(std::string_view text, const RunId& run, const std::string& directory,
                    const std::string& prompt_file) {
  const std::array<std::pair<std::string_view, std::string>, 5> values = {
      {{"$${", "${"},
       {"${run_id}", run},
       {"${run_uuid}", uuid_of(run)},
       {"${run_dir}", directory},
       {"${prompt_file}", prompt_file}}};
  std::string filled;
  while (!text.empty()) {
    const auto* const value = std::find_if(
        values.begin(), values.end(), [&](const auto& row) { return text.starts_with(row.first); });
    if (value != values.end()) {
      filled += value->second;
      text.remove_prefix(value->first.size());
    } else {
      filled += text.front();
      text.remove_prefix(1);
    }
  }
  return filled;
}

namespace {

/// The name by which the program can open its prompt.
std::string prompt_file_of(const Launch& launch, const std::string& directory) {
  return launch.user ? shim::kPromptName : directory + "/" + shim::kPromptFile;
}

/// The command that runs before the agent, and the arguments of both.
Result<void> add_words(std::string& text, const Launch& launch, const RunId& run,
                       const std::string& directory) {
  if (!launch.before.empty()) {
    if (!launch.before[0].starts_with('/') || !launch.before_cwd.starts_with('/') ||
        !usable(launch.before_cwd))
      return fail(Errc::usage, "`before` has no absolute program or working directory");
    add(text, "before_cwd", launch.before_cwd);
    add(text, "before_ms", launch.before_timeout);
  }
  for (const auto& [word, argv] :
       {std::pair("arg", &launch.argv), std::pair("before", &launch.before)})
    for (const std::string& argument : *argv) {
      if (!usable(argument))
        return fail(Errc::usage, "an argument holds a NUL byte");
      add(text, word, fill_in(argument, run, directory, prompt_file_of(launch, directory)));
    }
  return {};
}

Result<void> add_environment(std::string& text, const Launch& launch, const RunId& run,
                             const std::string& directory) {
  const std::array<std::pair<std::string, std::string>, 3> own = {
      {{shim::kRunIdVariable, run},
       {"BATON_RUN_DIR", directory},
       {"BATON_PROMPT_FILE", prompt_file_of(launch, directory)}}};
  for (const auto& [name, value] : launch.env) {
    if (name.empty() || name.find('=') != std::string::npos || !usable(name) || !usable(value))
      return fail(Errc::usage, "a variable cannot be passed on", name);
    const bool is_own = std::any_of(own.begin(), own.end(),
                                    [&, &key = name](const auto& row) { return row.first == key; });
    if (!is_own)
      add(text, "env", name + "=" + value);
  }
  for (const auto& [name, value] : own)
    add(text, "env", name + "=" + value);
  return {};
}

}  // namespace

Result<std::string> launch_text(const Launch& launch, const RunId& run,
                                const std::string& directory, const std::string& cgroup) {
  if (launch.argv.empty() || !launch.argv[0].starts_with('/'))
    return fail(Errc::usage, "the program is not an absolute path");
  if (!launch.cwd.starts_with('/') || !usable(launch.cwd))
    return fail(Errc::usage, "the working directory is not an absolute path", launch.cwd);
  std::string text;
  add(text, "launch", shim::kCallVersion);
  add(text, "run", run);
  add(text, "cwd", launch.cwd);
  add(text, "timeout_ms", launch.limits.timeout);
  add(text, "idle_timeout_ms", launch.limits.idle_timeout);
  add(text, "kill_grace_ms", launch.limits.kill_grace);
  add(text, "log_cap_bytes", launch.limits.log_cap_bytes);
  if (launch.user) {
    if (launch.user->uid == 0)
      return fail(Errc::usage, "no agent runs as root for another user", launch.user->name);
    add(text, "uid", std::uint64_t{launch.user->uid});
    add(text, "gid", std::uint64_t{launch.user->gid});
    for (const std::uint32_t group : launch.user->groups)
      add(text, "group", std::uint64_t{group});
  }
  add(text, "memory_max_bytes", launch.memory_max_bytes);
  add(text, "tasks_max", std::uint64_t{launch.tasks_max});
  for (const std::string& path : launch.flow_paths)
    if (path.starts_with('/') && usable(path))
      add(text, "watch", path);
  add(text, "stdin", launch.prompt.empty() || !launch.prompt_on_stdin ? "null" : "prompt");
  if (!cgroup.empty())
    add(text, "cgroup", cgroup);
  if (launch.log.starts_with('/') && usable(launch.log))
    add(text, "log", launch.log);
  if (auto added = add_words(text, launch, run, directory); !added)
    return pass_on(added);
  if (auto added = add_environment(text, launch, run, directory); !added)
    return pass_on(added);
  add(text, "end", "1");
  return text;
}

Result<SpareDirectory> make_spare_directory(const RunFolder& folder, const RunId& run) {
  const std::string place = folder.path + "/" + kSpareFolder;
  auto runs = make_runs(folder);
  if (!runs)
    return pass_on(runs);
  auto spares = open_no_link(runs->get(), kSpareFolder, place);
  if (!spares && spares.error().code == Errc::not_found)
    spares = make_folder(folder, runs->get(), kSpareFolder, place);
  if (!spares)
    return pass_on(spares);
  SpareDirectory spare{.directory = {}, .path = place + "/" + run};
  auto directory = make_folder(folder, spares->get(), run, spare.path);
  if (!directory)
    return pass_on(directory);
  if (auto lock = make_file(*directory, shim::kLockFile, folder.group); !lock) {
    (void)remove_run_directory(spare.path);
    return pass_on(lock);
  }
  spare.directory = std::move(*directory);
  return spare;
}

Result<void> write_claim(const RunFolder& folder, const SpareDirectory& spare,
                         const ProcessIdentity& shim, const std::string& boot_id) {
  auto file = make_file(spare.directory, shim::kWrittenClaimFile, folder.group);
  if (!file)
    return pass_on(file);
  return write_all(file->get(),
                   "pid " + std::to_string(shim.pid) + "\nstart_ticks " +
                       std::to_string(shim.start_ticks) + "\nboot_id " + boot_id + "\nrun " +
                       std::string(shim.word) + "\n",
                   shim::kWrittenClaimFile);
}

Result<std::string> move_into_place(const RunFolder& folder, const RunId& run,
                                    const SpareDirectory& spare) {
  std::string path = folder.path + "/" + run;
  const auto from = entry_of(spare.path);
  const auto to = entry_of(path);
  if (!from || !to)
    return tl::unexpected(from ? to.error() : from.error());
  // The directory must look new: an old one that is not in the journal is removed as a leftover.
  if (futimens(spare.directory.get(), nullptr) != 0 ||
      renameat(from->above.get(), from->name.c_str(), to->above.get(), run.c_str()) != 0)
    return system_error(errno, "cannot give the run its place", path);
  return path;
}

Result<void> write_prompt(const RunFolder& folder, const SpareDirectory& spare,
                          std::string_view prompt) {
  auto file = make_file(spare.directory, shim::kPromptFile, folder.group);
  if (!file && file.error().code == Errc::changed) {
    const std::string aside = ".prompt." + random_hex(8) + ".aside";
    if (renameat(spare.directory.get(), shim::kPromptFile, spare.directory.get(), aside.c_str()) !=
        0)
      return system_error(errno, "cannot move aside what has the name", shim::kPromptFile);
    file = make_file(spare.directory, shim::kPromptFile, folder.group);
  }
  if (!file)
    return pass_on(file);
  return write_all(file->get(), prompt, shim::kPromptFile);
}

Result<void> remove_spare_directories(const RunFolder& folder) {
  return remove_run_directory(folder.path + "/" + kSpareFolder);
}

Result<Fd> open_runs_folder(const std::string& path) {
  return open_no_link(AT_FDCWD, path, path);
}

Result<Fd> open_run_directory(const std::string& path) {
  const auto entry = entry_of(path);
  if (!entry)
    return tl::unexpected(entry.error());
  Fd directory = enter(entry->above.get(), entry->name);
  if (!directory)
    return system_error(errno, "cannot open the run directory", path);
  return directory;
}

Result<Fd> remake_run_directory(const RunFolder& folder, const RunId& run) {
  const std::string path = folder.path + "/" + run;
  const auto runs = make_runs(folder);
  if (!runs)
    return tl::unexpected(runs.error());
  auto made = make_folder(folder, runs->get(), run, path);
  if (!made && made.error().code == Errc::changed) {
    const std::string aside = ".aside." + random_hex(8);
    if (renameat(runs->get(), run.c_str(), runs->get(), aside.c_str()) != 0)
      return system_error(errno, "cannot move aside what is no run directory", path);
    made = make_folder(folder, runs->get(), run, path);
  }
  return made;
}

Result<std::optional<Fd>> take_run_lock(const Fd& directory) {
  Fd lock(openat(directory.get(), shim::kLockFile,
                 O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, kFileMode));
  if (!lock)
    return system_error(errno, "cannot open the lock", shim::kLockFile);
  if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0)
    return std::optional<Fd>(std::move(lock));
  if (errno == EWOULDBLOCK)
    return std::optional<Fd>();
  return system_error(errno, "cannot take the lock", shim::kLockFile);
}

bool lock_holder_seen(const Fd& directory) {
  const Fd lock = open_file(directory, shim::kLockFile);
  return lock && flock_holder(lock.get()) > 0;
}

Result<void> move_lock_aside(const Fd& directory) {
  struct stat status {};
  // The agent may have removed all rights to write here, its own too.
  if (fstat(directory.get(), &status) == 0)
    (void)fchmod(directory.get(), (status.st_mode & 07777U) | S_IRWXU);
  const std::string aside = ".lock." + random_hex(8) + ".aside";
  if (renameat(directory.get(), shim::kLockFile, directory.get(), aside.c_str()) != 0 &&
      errno != ENOENT)
    return system_error(errno, "cannot move the lock aside", shim::kLockFile);
  return {};
}

Result<bool> claimed(const Fd& directory) {
  struct stat status {};
  // The order matters: a shim that cannot rename the claim in one step creates the new name before
  // it removes the old one.
  const bool written =
      fstatat(directory.get(), shim::kWrittenClaimFile, &status, AT_SYMLINK_NOFOLLOW) == 0;
  if (!written && errno != ENOENT)
    return system_error(errno, "cannot look for the claim", shim::kWrittenClaimFile);
  if (!written || fstatat(directory.get(), shim::kClaimFile, &status, AT_SYMLINK_NOFOLLOW) == 0)
    return true;
  if (errno == ENOENT)
    return false;
  return system_error(errno, "cannot look for the claim", shim::kClaimFile);
}

std::string run_named_in(const Fd& directory) {
  const std::string claim = claim_text(directory);
  constexpr std::string_view kRun = "\nrun ";
  if (const std::size_t found = claim.find(kRun); found != std::string::npos) {
    const std::size_t begin = found + kRun.size();
    return claim.substr(begin, claim.find('\n', begin) - begin);
  }
  auto text = exit_text(directory);
  const auto exit = text ? parse_exit(*text, shim::kExitFile) : Result<ExitRecord>(pass_on(text));
  return exit ? exit->run_id : "";
}

std::optional<std::int64_t> living_shim(const Fd& directory, const RunId& run) {
  const std::string text = claim_text(directory);
  const auto pid = number_after(text, "pid ");
  const auto start_ticks = number_after(text, "\nstart_ticks ");
  if (!pid || !start_ticks || !open_process({*pid, static_cast<std::uint64_t>(*start_ticks), run}))
    return std::nullopt;
  return pid;
}

bool agent_lives(const Fd& directory) {
  const Fd file = open_file(directory, shim::kAgentFile);
  const std::string text =
      file ? read_all(file.get(), kMaxAgentBytes, shim::kAgentFile).value_or("") : "";
  const auto pid = number_after(text, "pid ");
  const auto start_ticks = number_after(text, "\nstart_ticks ");
  const auto stat = pid && start_ticks ? process_stat(*pid) : std::nullopt;
  return stat && stat->alive() && text.find("boot_id " + boot_id() + "\n") != std::string::npos &&
         stat->start_ticks == static_cast<std::uint64_t>(*start_ticks);
}

bool is_populated(const std::string& cgroup) {
  return !cgroup.empty() &&
         read_file(cgroup + "/cgroup.events", kMaxClaimBytes).value_or("").find("populated 1") !=
             std::string::npos;
}

Result<std::string> exit_text(const Fd& directory) {
  const Fd file = open_file(directory, shim::kExitFile);
  if (!file)
    return system_error(errno, "cannot read how the run ended", shim::kExitFile);
  return read_all(file.get(), kMaxExitBytes, shim::kExitFile);
}

namespace {

/// The bytes before `end` (nothing: the end of the file). "" when they cannot be read. Agents may
/// write in this folder: a file that has another name elsewhere is not read.
std::string bytes_before(const Fd& directory, const char* name, std::optional<off_t> end,
                         std::size_t most_bytes) {
  const Fd file = open_file(directory, name);
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 1)
    return {};
  const off_t last = std::min(end.value_or(status.st_size), status.st_size);
  const off_t first = std::max<off_t>(0, last - static_cast<off_t>(most_bytes));
  return read_at(file.get(), static_cast<std::size_t>(std::max<off_t>(0, last - first)),
                 static_cast<std::size_t>(first), name)
      .value_or("");
}

}  // namespace

std::string output_tail(const Fd& directory, const Output& output, std::size_t most_bytes) {
  std::string bytes;
  const std::size_t tail = shim::tail_bytes(output.bytes - std::min(output.bytes, output.dropped));
  const auto kept = static_cast<std::size_t>(
      std::min({output.dropped, std::uint64_t{tail}, std::uint64_t{most_bytes}}));
  if (kept > 0)
    bytes = bytes_before(directory, output.tail, std::nullopt, kept);
  // A shim that was killed or had no disk space leaves no tail. The log shows then where it was
  // cut.
  if (bytes.size() < kept || output.dropped > output.bytes)
    bytes = bytes_before(directory, output.log, std::nullopt, most_bytes);
  else if (kept == output.dropped && kept < most_bytes)
    bytes.insert(
        0, bytes_before(directory, output.log, static_cast<off_t>(output.bytes - output.dropped),
                        most_bytes - kept));
  // A character that was cut off at the beginning, and bytes that are not text, become question
  // marks. The size stays.
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = bytes[at] == '\0' ? 0 : utf8_length(bytes, at);
    if (length == 0)
      bytes[at] = '?';
    at += std::max<std::size_t>(length, 1);
  }
  return bytes;
}

std::string prompt_text(const Fd& directory) {
  return bytes_before(directory, shim::kPromptFile, std::nullopt, std::size_t{1} << 20U);
}

std::optional<Time> last_output_in(const std::string& path) {
  std::optional<Time> last;
  const auto directory = open_run_directory(path);
  if (!directory)
    return last;
  for (const char* name : {shim::kStdoutFile, shim::kStderrFile}) {
    struct stat status {};
    if (fstatat(directory->get(), name, &status, AT_SYMLINK_NOFOLLOW) != 0 || status.st_size == 0)
      continue;
    const Time time = Time(std::chrono::seconds(status.st_mtim.tv_sec)) +
                      Millis(status.st_mtim.tv_nsec / 1'000'000);
    last = std::max(last.value_or(time), time);
  }
  return last;
}

Result<void> remove_run_directory(const std::string& path) {
  const auto entry = entry_of(path);
  if (!entry)
    return entry.error().code == Errc::not_found ? Result<void>() : tl::unexpected(entry.error());
  const Fd directory = enter(entry->above.get(), entry->name);
  if (!directory && errc_of(errno) == Errc::not_found)
    return {};
  struct stat status {};
  if (!directory || fstat(directory.get(), &status) != 0)
    return system_error(errno, "cannot look at the run directory", path);
  if (auto emptied = empty_folder(directory, status.st_dev, 0, path); !emptied)
    return emptied;
  if (unlinkat(entry->above.get(), entry->name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
    return system_error(errno, "cannot remove the run directory", path);
  return {};
}

}  // namespace baton
