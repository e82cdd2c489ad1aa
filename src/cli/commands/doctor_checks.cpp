// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/commands/doctor.h"
#include "dialects/rules/rule_check.h"
#include "engine/decide/status.h"
#include "engine/metrics.h"
#include "io/files/disk.h"
#include "io/files/fd.h"
#include "io/files/file_facts.h"
#include "io/files/lock.h"
#include "io/files/path_trust.h"
#include "io/files/published_file.h"
#include "io/files/root.h"
#include "io/journal/reader.h"
#include "io/system/process.h"
#include "io/system/spawn.h"
#include "workspace/agent_spec.h"
#include "workspace/config_warnings.h"
#include "workspace/daemon_environment.h"
#include "workspace/environment.h"
#include "workspace/folders.h"
#include "workspace/prompt_files.h"
#include "workspace/rehearsal.h"
#include "workspace/rule_prompts.h"

namespace baton {
namespace {

namespace fs = std::filesystem;
using Level = Diagnosis::Level;

constexpr std::uint64_t kFewWatches = 8192;
constexpr std::uint64_t kFewInstances = 64;
constexpr std::uint64_t kFewFiles = 1024;
constexpr std::uint64_t kLittleRoom = 64U << 20U;  ///< bytes
constexpr std::uint64_t kNoRoom = 1U << 20U;
constexpr std::uint64_t kLittleRoomFiles = 1000;
constexpr std::uint64_t kNoRoomFiles = 16;
constexpr const char* kNotShown = "(not shown)";

/// A number in a file of /proc; nothing when it cannot be read.
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (file >> number)
    return number;
  return std::nullopt;
}

void examine_kernel_limit(const std::string& name, std::uint64_t few, const std::string& what,
                          Diagnoses& all) {
  const auto limit = number_in("/proc/sys/fs/inotify/" + name);
  if (!limit)
    return diagnose(all, Level::warning, "limits", name + " cannot be read",
                    "check that /proc is mounted; without inotify, baton polls folders");
  const std::string found = std::to_string(*limit) + " " + what;
  if (*limit >= few)
    return diagnose(all, Level::fine, "limits", found);
  diagnose(all, Level::warning, "limits", found + " is low",
           "sysctl fs.inotify." + name + "=" + std::to_string(few * 8) +
               "; baton polls the folders beyond the limit");
}

/// systemd gives this PATH to a service that has none of its own.
constexpr std::string_view kServicePath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Whether a service would not find the program of an agent that this shell finds.
bool hidden_from_service(const Context& context, const Role& role, const AgentSpec& spec) {
  const AgentConfig* const agent = agent_for(context.config(), role);
  if (agent == nullptr)
    return false;
  const std::vector<std::string>& command =
      agent->command.empty() && spec.adapter != nullptr ? spec.adapter->argv : agent->command;
  return !command.empty() && command.front().find('/') == std::string::npos &&
         !find_program(command.front(), std::string(kServicePath), context.folder());
}

/// `daemon`: 0 when none runs; else the PATH is that of the daemon.
void examine_agent(const Context& context, const Role& role, const AgentSpec& spec,
                   std::int64_t daemon, Diagnoses& all) {
  if (spec.problem)
    return diagnose(all, Level::error, "agent", spec.problem->why,
                    "fix what the message names, or change `agents:`");
  const std::string found = role + ": " + spec.argv.front();
  // The units of systemd name configurations in this folder.
  const bool of_service = context.configuration().starts_with("/etc/baton/");
  if (daemon == 0 && of_service && hidden_from_service(context, role, spec))
    return diagnose(all, Level::warning, "agent",
                    found + " is found by this shell; a service looks in " +
                        std::string(kServicePath) + " unless its unit sets PATH",
                    "write the whole path into `command:` of the agent, or PATH into the unit: "
                    "`systemctl edit` it and add Environment=PATH=...");
  diagnose(all, Level::fine, "agent", found);
}

/// The root around a folder, where agents may write.
std::optional<std::string> root_around(const Context& context, const std::string& folder) {
  const auto real = real_path(folder);
  if (!real)
    return std::nullopt;
  for (const std::string& root : context.roots())
    if (*real == root || below(root, *real))
      return root;
  return std::nullopt;
}

/// Whether the user asked for a state folder inside a root, where agents can write. Only the first
/// requested place counts, because baton uses or refuses that one.
bool asked_into_a_root(const Context& context, Diagnoses& all) {
  for (const StateParent& parent : context.state_parents()) {
    if (!parent.asked_for)
      continue;
    const auto root = root_around(context, parent.path);
    if (root)
      diagnose(
          all, Level::error, "state",
          parent.path + " lies inside the root " + *root + ", which agents can write",
          "name a folder outside all roots with --state-dir or state_dir:; start one with `baton "
          "run` refuses this one");
    return root.has_value();
  }
  return false;
}

/// Reports where the daemon would create the state folder.
void examine_parents(const Context& context, Diagnoses& all) {
  for (const StateParent& parent : context.state_parents()) {
    std::error_code error;
    fs::path at = fs::absolute(parent.path, error);
    if (root_around(context, parent.path))
      continue;
    while (!fs::exists(at, error) && at != at.parent_path())
      at = at.parent_path();
    if (fs::is_directory(at, error) && access(at.c_str(), W_OK | X_OK) == 0)
      return diagnose(all, Level::fine, "state",
                      "none yet; baton will create it in " + parent.path);
    if (parent.asked_for)
      return diagnose(all, Level::error, "state", parent.path + " cannot be created or written",
                      "make it writable for this user, or name another with --state-dir");
  }
  diagnose(all, Level::error, "state", "baton has no place for its state folder",
           "name a folder with --state-dir or state_dir:");
}

/// Free bytes and files on the disk of the folder.
void examine_disk_space(const std::string& folder, Diagnoses& all) {
  struct statvfs room {};
  // Some file systems, such as ramfs, do not report their size.
  if (statvfs(folder.c_str(), &room) != 0 || room.f_blocks == 0)
    return;
  const auto tell = [&](std::uint64_t left, std::uint64_t little, std::uint64_t none,
                        const std::string& what) {
    if (left < little)
      diagnose(all, left < none ? Level::error : Level::warning, "state",
               "the disk of " + folder + " has only " + what + " left",
               "free some space: baton starts no agents while the disk is full");
  };
  const std::uint64_t bytes = room.f_bavail * room.f_frsize;
  tell(bytes, kLittleRoom, kNoRoom, std::to_string(bytes >> 10U) + " KiB");
  // File systems that create inodes on demand report none.
  if (room.f_files != 0)
    tell(room.f_favail, kLittleRoomFiles, kNoRoomFiles, std::to_string(room.f_favail) + " files");
}

void examine_state(const Context& context, Diagnoses& all) {
  if (asked_into_a_root(context, all))
    return;
  const auto state = context.state_folder();
  if (!state && state.error().code != Errc::not_found)
    return diagnose(all, Level::error, "state", describe(state.error()),
                    "until this is fixed, baton cannot tell what runs");
  if (!state)
    return examine_parents(context, all);
  const auto folder = open_folder(*state);
  const auto network = folder ? network_file_system_of(folder->get()) : std::string_view();
  if (!network.empty())
    diagnose(all, Level::error, "state", *state + " lies on " + std::string(network),
             "name a local folder with --state-dir: locks on that file system are not reliable");
  examine_disk_space(*state, all);
  if (access(state->c_str(), W_OK | X_OK) != 0)
    diagnose(all, Level::warning, "state", *state + " cannot be written by this user",
             "reading works; run the daemon and the control commands as the owner of the folder");
  auto journal = read_journal(*state);
  if (!journal && journal.error().code == Errc::not_found)
    return diagnose(all, Level::fine, "state", *state + ", without a journal yet");
  if (!journal)
    return diagnose(all, Level::error, "state", describe(journal.error()),
                    journal.error().code == Errc::denied
                        ? "run `baton doctor` as the owner of the folder"
                        : "copy the folder before you change anything in it");
  const auto damage = (*journal)->damage();
  if (!damage)
    return diagnose(
        all, Level::error, "state", describe(damage.error()),
        "look for disk errors in the kernel log, or name another folder with --state-dir");
  if (damage->empty())
    return diagnose(all, Level::fine, "state", *state + ", journal undamaged");
  diagnose(all, Level::error, "state", "the journal is damaged: " + damage->front(),
           "stop the daemon, then restore " + *state +
               " from a backup, or move it away: baton then begins a new journal");
}

void examine_daemon(const Context& context, Diagnoses& all) {
  const auto state = context.state_folder();
  if (!state && state.error().code != Errc::not_found)
    return;
  if (!state || !daemon_lives(*state))
    return diagnose(all, Level::warning, "daemon", "no daemon serves " + context.root(),
                    "start one with `baton run`");
  const LockHolder holder = lock_holder(*state);
  diagnose(all, Level::fine, "daemon",
           "process " + std::to_string(holder.pid) + " serves " + context.root() + " since " +
               holder.since);
}

void examine_shim(Diagnoses& all) {
  const auto shim = find_shim(own_path());
  if (!shim)
    return diagnose(all, Level::error, "shim", describe(shim.error()),
                    "install baton-shim beside baton");
  const auto fits = shim_fits(*shim);
  if (fits && *fits)
    return diagnose(all, Level::fine, "shim", *shim);
  diagnose(
      all, Level::error, "shim",
      *shim + (fits ? " has another version than this baton, so baton cannot start agents with it"
                    : " cannot be run: " + describe(fits.error())),
      "install baton and baton-shim of one version, then restart the daemon");
}

/// Checks the filter programs of backups.
void examine_backups(const Context& context, const Setup& setup, Diagnoses& all) {
  for (const auto& [dialect, options] : setup.dialects) {
    if (dialect->backups == nullptr)
      continue;
    const BackupPlan plan = dialect->backups(options);
    for (const std::vector<std::string>& argv : {plan.filter, plan.undo}) {
      if (argv.empty())
        continue;
      const auto program = find_program(argv.front(), variable("PATH"), context.folder());
      if (!program)
        diagnose(all, Level::error, "backups", describe(program.error()),
                 "install the program, or change `backups:` of " + std::string(dialect->name));
    }
    if (!plan.filter.empty() && plan.undo.empty())
      diagnose(all, Level::warning, "backups", "`encrypt` is configured and `decrypt` is not",
               "configure `decrypt`: without it `baton recover` cannot read the backups");
  }
}

}  // namespace

void examine_system(std::int64_t daemon, Diagnoses& all) {
  examine_kernel_limit("max_user_watches", kFewWatches, "inotify watches per user", all);
  examine_kernel_limit("max_user_instances", kFewInstances, "inotify instances per user", all);
  rlimit files{};
  const bool its_own =
      daemon > 0 && prlimit(static_cast<pid_t>(daemon), RLIMIT_NOFILE, nullptr, &files) == 0;
  if ((its_own || getrlimit(RLIMIT_NOFILE, &files) == 0) && files.rlim_cur != RLIM_INFINITY) {
    const bool few = files.rlim_cur < kFewFiles;
    diagnose(all, few ? Level::warning : Level::fine, "limits",
             std::to_string(files.rlim_cur) + " open files " +
                 (its_own ? "for the daemon" : "per process") + (few ? " is low" : ""),
             few ? "ulimit -n, or LimitNOFILE= in the unit" : "");
  }
  examine_shim(all);
  const auto user = daemon > 0 ? user_of_process(daemon) : std::nullopt;
  if (user && *user != geteuid())
    diagnose(all, Level::warning, "user",
             "the daemon runs as user " + std::to_string(*user) + ", but this command as user " +
                 std::to_string(geteuid()) +
                 ", for whom `baton doctor` checked trust and permissions",
             "run `baton doctor` as the daemon's user");
  else if (geteuid() == 0)
    diagnose(all, Level::warning, "user", "baton runs as root, and so does every agent",
             "run it as its own user, as the unit files do");
}

/// Other commands use the daemon's copy of its configuration while the file differs from it.
void examine_copy(const Context& context, Diagnoses& all) {
  const auto state = context.state_folder();
  const auto status = state ? daemon_status(*state) : std::optional<DaemonStatus>();
  if (!status || status->lock_only || status->configuration.empty())
    return;
  const auto copy = read_configuration_copy(*state, status->configuration_digest);
  if (!copy)
    diagnose(all, Level::warning, "configuration",
             "the daemon's copy of its configuration cannot be used: " + describe(copy.error()),
             "run `baton reload` as the daemon's user: it writes the copy anew");
}

/// The running daemon may fail where this command would not: its unit may have a sandbox.
void examine_metrics(const Context& context, Diagnoses& all) {
  const std::string& path = context.config().metrics.textfile;
  if (path.empty())
    return;
  const std::string empty = metrics_text(std::string(kMetricsWriter) + context.configuration(), {});
  const auto fault = check_published(path, empty.substr(0, empty.find('\n') + 1));
  const auto state = context.state_folder();
  const auto status = state ? daemon_status(*state) : std::optional<DaemonStatus>();
  std::string why = fault ? "" : describe(fault.error());
  const bool of_daemon = why.empty() && status && !status->metrics_fault.empty();
  if (of_daemon)
    why = "the daemon says: " + status->metrics_fault;
  if (why.empty())
    return diagnose(all, Level::fine, "metrics", path);
  const bool taken =
      !fault && (fault.error().code == Errc::not_regular || fault.error().code == Errc::config);
  diagnose(all, Level::error, "metrics", "the metrics cannot be written: " + why,
           of_daemon
               ? "mend what it names; a service may need ReadWritePaths= for the folder in its "
                 "unit (docs/operations.md, \"Metrics\")"
           : taken ? "baton goes on without metrics until then"
                   : "create the folder, and let the user of the daemon write it; a service needs "
                     "ReadWritePaths= for it in its unit (docs/operations.md, \"Metrics\")");
}

void examine_configuration(const Context& context, std::int64_t daemon, Diagnoses& all) {
  examine_copy(context, all);
  const auto difference = context.difference();
  if (!context.faults().empty()) {
    for (const std::string& fault : context.faults())
      diagnose(all, Level::error, "configuration", fault, kCorrect);
    return;
  }
  if (context.configuration().empty() && !difference.why.empty())
    return diagnose(all, Level::warning, "configuration", difference.why,
                    "restore it: without it the next daemon starts nothing");
  if (context.configuration().empty())
    return diagnose(all, Level::warning, "configuration",
                    "there is no baton.yaml, so baton starts nothing", "`baton init` writes one");
  if (!difference.why.empty())
    diagnose(all, Level::warning, "configuration", difference.why,
             "run `baton reload` when the file is ready");
  diagnose(all, Level::fine, "configuration", context.configuration());
  if (context.config().dialects.empty())
    diagnose(
        all, Level::warning, "configuration",
        "it names no dialects and no rules, so baton starts nothing",
        "write `rules:` for your files or `dialects:` for a layout that baton knows, as `baton "
        "init "
        "--help` and docs/configuration.md say");
  for (const Finding& finding : context.warnings())
    diagnose(all, Level::warning, "configuration", describe(finding, context.configuration()),
             "see docs/configuration.md");
  const auto setup = context.setup(context.root());
  if (!setup)
    return diagnose(all, Level::error, "configuration", describe(setup.error()),
                    "see docs/configuration.md; `baton --version --json` lists the dialects");
  for (const auto& [role, spec] : setup->agents)
    examine_agent(context, role, spec, daemon, all);
  examine_trust(context, *setup, all);
  examine_adapters(context, *setup, all);
  examine_agent_limits(*setup, daemon, all);
  examine_prompts(context, prompt_faults(setup->dialects), all);
  for (std::string& each : unknown_prompt_files(context.config(), context.folder()))
    diagnose(all, Level::warning, "agent", std::move(each), "rename or remove the file");
  for (std::string& each : unplayed(context.config(), setup->dialects))
    diagnose(all, Level::warning, "agent", std::move(each),
             "add it below `agents:`; until then, flows that need it wait");
  examine_backups(context, *setup, all);
  examine_caps(context, *setup, all);
  if (!context.config().notify.empty()) {
    const auto program = notify_program(context);
    if (!program)
      diagnose(all, Level::error, "notify", describe(program.error()),
               "install the program, or change `notify:`; until then baton sends no notifications");
  }
  examine_metrics(context, all);
  examine_rules(context, setup->schemas, all);
  if (std::string advice = without_stages(setup->dialects); !advice.empty())
    diagnose(all, Level::warning, "rules", std::move(advice),
             "name the last stages in `done:` and all others in `stages:`");
  for (const Context& on_root : context.each()) {
    const auto rehearsal = Rehearsal::of_root(on_root);
    if (rehearsal)
      examine_known(on_root, **rehearsal, all);
    else if (exit_code_of(rehearsal.error().code) == ExitCode::usage)
      return diagnose(
          all, Level::error, "schemas", describe(rehearsal.error()),
          "fix the schema, or change `schema:` of the rule; a daemon would refuse to start");
  }
}

void examine_places(const Context& context, Diagnoses& all) {
  for (const std::string& root : context.roots()) {
    const auto folder = open_folder(root);
    if (!folder) {
      diagnose(
          all, Level::error, "root", describe(folder.error()),
          "create the folder, name another one with --root or `roots:`, or run as a user who may "
          "read it");
      continue;
    }
    const auto network = network_file_system_of(folder->get());
    if (!network.empty())
      diagnose(
          all, Level::warning, "root", root + " lies on " + std::string(network),
          "baton polls it every few seconds, because changes by other machines cause no event");
    else
      diagnose(all, Level::fine, "root", root);
    if (access(root.c_str(), R_OK | X_OK) != 0)
      diagnose(all, Level::error, "root", root + " cannot be read",
               "let this user read it, or run baton as its owner");
    else if (access(root.c_str(), W_OK) != 0)
      diagnose(all, Level::warning, "root", root + " cannot be written",
               "this works if the folders in it can be written");
  }
  for (const Context& on_root : context.each()) {
    examine_state(on_root, all);
    examine_daemon(on_root, all);
  }
}

namespace {

/// A daemon that has just taken its lock may not have written the file yet.
Result<DaemonEnvironment> environment_of_daemon(const std::string& state, std::int64_t pid) {
  constexpr std::chrono::milliseconds kNap{50};
  constexpr int kMostNaps = 10;
  auto its = read_daemon_environment(state, pid);
  for (int naps = 0; naps < kMostNaps && !its && its.error().code != Errc::denied; ++naps) {
    std::this_thread::sleep_for(kNap);
    its = read_daemon_environment(state, pid);
  }
  return its;
}

}  // namespace

std::int64_t take_daemon_path(const Context& context, Diagnoses& all) {
  const auto state = context.state_folder();
  if (!state || !daemon_lives(*state))
    return 0;
  const std::int64_t pid = lock_holder(*state).pid;
  struct stat facts {};
  const bool own = stat(state->c_str(), &facts) == 0 && facts.st_uid == geteuid();
  // Another user must not say in which environment this one looks for programs and asks them.
  const auto its = own ? environment_of_daemon(*state, pid)
                       : Result<DaemonEnvironment>(fail(Errc::denied, "belongs to another user"));
  const auto path = its ? its->find("PATH") : DaemonEnvironment::const_iterator();
  if (its && path != its->end() && path->second) {
    for (const std::string& name : agent_variables(context)) {
      const auto at = its->find(name);
      // NOLINTBEGIN(concurrency-mt-unsafe): one thread
      if (at == its->end())
        (void)unsetenv(name.c_str());
      else
        // A value that was not written down is a secret perhaps. That there is one is enough.
        (void)setenv(name.c_str(), at->second.value_or(kNotShown).c_str(), at->second ? 1 : 0);
      // NOLINTEND(concurrency-mt-unsafe)
    }
    diagnose(
        all, Level::fine, "environment",
        "programs are looked up in the PATH of the daemon (process " + std::to_string(pid) + ")");
    return pid;
  }
  diagnose(all, Level::warning, "environment",
           "the environment of the daemon (process " + std::to_string(pid) + ") cannot be read",
           "run `baton doctor` as its user; this time it used the PATH of this shell");
  return pid;
}

}  // namespace baton
