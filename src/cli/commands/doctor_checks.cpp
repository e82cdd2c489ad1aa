#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/commands/doctor.h"
#include "dialects/rules/cycles.h"
#include "dialects/rules/pointers.h"
#include "engine/decide/status.h"
#include "io/agents/spawn.h"
#include "io/files/disk.h"
#include "io/files/fd.h"
#include "io/files/file_system.h"
#include "io/files/lock.h"
#include "io/files/path_trust.h"
#include "io/files/root.h"
#include "io/journal/reader.h"
#include "workspace/agent_spec.h"
#include "workspace/config_warnings.h"
#include "workspace/environment.h"
#include "workspace/file_patterns.h"
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

void add(Diagnoses& all, Level level, std::string check, std::string message,
         std::string advice = {}) {
  all.push_back({level, std::move(check), std::move(message), std::move(advice)});
}

/// A number the kernel tells in a file; nothing when it cannot be read.
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
    return add(all, Level::warning, "limits", name + " cannot be read",
               "is /proc mounted? without inotify folders are polled");
  const std::string found = std::to_string(*limit) + " " + what;
  if (*limit >= few)
    return add(all, Level::fine, "limits", found);
  add(all, Level::warning, "limits", found + " is little",
      "sysctl fs.inotify." + name + "=" + std::to_string(few * 8) +
          "; folders beyond the limit are polled");
}

/// Whoever can change what is started can start what he likes; the agents run as this user too.
void examine_writable(const std::string& check, const std::string& path, Diagnoses& all) {
  if (geteuid() != 0 && access(path.c_str(), W_OK) == 0)
    add(all, Level::warning, check, path + " can be written by the user its agents run as",
        "give it to root, or another user, and make it readable only");
}

void examine_agent(const Role& role, const AgentSpec& spec, Diagnoses& all) {
  if (!spec.problem.empty())
    return add(all, Level::error, "agent", spec.problem,
               "mend what the message names, or change `agents:`");
  add(all, Level::fine, "agent", role + ": " + spec.argv.front());
  examine_writable("agent", spec.argv.front(), all);
}

/// The root that a folder lies in; agents may write everything there.
std::optional<std::string> root_around(const Context& context, const std::string& folder) {
  const auto real = real_path(folder);
  if (!real)
    return std::nullopt;
  for (const std::string& root : context.roots())
    if (*real == root || below(root, *real))
      return root;
  return std::nullopt;
}

/// A place somebody asked for is taken or refused; those behind it in the list do not count.
bool asked_into_a_root(const Context& context, Diagnoses& all) {
  for (const StateParent& parent : context.state_parents()) {
    if (!parent.asked_for)
      continue;
    const auto root = root_around(context, parent.path);
    if (root)
      add(all, Level::error, "state",
          parent.path + " lies inside the root " + *root + ", which agents can write",
          "name a folder outside of all roots with --state-dir or state_dir:; `baton run` refuses "
          "this one");
    return root.has_value();
  }
  return false;
}

/// Where the state folder will be made.
void examine_parents(const Context& context, Diagnoses& all) {
  for (const StateParent& parent : context.state_parents()) {
    fs::path at = parent.path;
    std::error_code error;
    if (root_around(context, parent.path))
      continue;
    while (!fs::exists(at, error) && at != at.parent_path())
      at = at.parent_path();
    if (access(at.c_str(), W_OK | X_OK) == 0)
      return add(all, Level::fine, "state", "none yet; it will be made in " + parent.path);
    if (parent.asked_for)
      return add(all, Level::error, "state", parent.path + " cannot be made or written",
                 "make it writable for this user, or name another with --state-dir");
  }
  add(all, Level::error, "state", "no folder for state can be made",
      "name one with --state-dir or state_dir:");
}

/// Bytes and files that still find room beside the folder.
void examine_room(const std::string& folder, Diagnoses& all) {
  struct statvfs room {};
  // Some, such as a ramfs, do not say what they have.
  if (statvfs(folder.c_str(), &room) != 0 || room.f_blocks == 0)
    return;
  const auto tell = [&](std::uint64_t left, std::uint64_t little, std::uint64_t none,
                        const std::string& what) {
    if (left < little)
      add(all, left < none ? Level::error : Level::warning, "state",
          "the disk of " + folder + " has room for " + what + " only",
          "make room: on a full disk nothing is started");
  };
  const std::uint64_t bytes = room.f_bavail * room.f_frsize;
  tell(bytes, kLittleRoom, kNoRoom, std::to_string(bytes >> 10U) + " KiB");
  // Where inodes are made as they are needed there are none to be counted.
  if (room.f_files != 0)
    tell(room.f_favail, kLittleRoomFiles, kNoRoomFiles, std::to_string(room.f_favail) + " files");
}

void examine_state(const Context& context, Diagnoses& all) {
  if (asked_into_a_root(context, all))
    return;
  const auto state = context.state_folder();
  if (!state && state.error().code != Errc::not_found)
    return add(all, Level::error, "state", describe(state.error()),
               "until then nothing can be said of what runs");
  if (!state)
    return examine_parents(context, all);
  const auto folder = open_folder(*state);
  const auto network = folder ? network_file_system_of(folder->get()) : std::string_view();
  if (!network.empty())
    add(all, Level::error, "state", *state + " lies on " + std::string(network),
        "name a local folder with --state-dir: locks cannot be relied upon there");
  examine_room(*state, all);
  if (access(state->c_str(), W_OK | X_OK) != 0)
    add(all, Level::warning, "state", *state + " cannot be written by this user",
        "fine for looking; run control commands and the daemon as its owner");
  auto journal = read_journal(*state);
  if (!journal && journal.error().code == Errc::not_found)
    return add(all, Level::fine, "state", *state + ", without a journal yet");
  if (!journal)
    return add(all, Level::error, "state", describe(journal.error()),
               journal.error().code == Errc::denied
                   ? "run this as the owner of the folder, who alone can tell more"
                   : "keep a copy of the folder before anything is done about it");
  const auto damage = (*journal)->damage();
  if (!damage)
    return add(
        all, Level::error, "state", describe(damage.error()),
        "look for faults of the disk in the kernel's log, or name another folder with --state-dir");
  if (damage->empty())
    return add(all, Level::fine, "state", *state + ", journal undamaged");
  add(all, Level::error, "state", "the journal is damaged: " + damage->front(),
      "stop the daemon, keep a copy of " + *state + ", and let baton begin a new one");
}

void examine_daemon(const Context& context, Diagnoses& all) {
  const auto state = context.state_folder();
  if (!state && state.error().code != Errc::not_found)
    return;
  if (!state || !daemon_lives(*state))
    return add(all, Level::warning, "daemon", "none serves " + context.root(), "`baton run`");
  const LockHolder holder = lock_holder(*state);
  add(all, Level::fine, "daemon",
      "process " + std::to_string(holder.pid) + " serves " + context.root() + " since " +
          holder.since);
}

/// Pointers that lead nowhere, and stages that never come, by the schemas of the documents.
void examine_places(const rules::Rule& rule, const SchemaFetch& fetch, Diagnoses& all) {
  std::map<std::string, std::optional<Json>> known;
  const auto schema_of = [&](const rules::Kind& kind) -> const Value* {
    if (kind.schema.empty())
      return nullptr;
    auto [found, fresh] = known.try_emplace(kind.schema);
    if (fresh) {
      auto text = fetch(kind.schema);
      if (!text)
        text = fetch("schemas/" + kind.schema + ".schema.json");
      auto parsed = text ? parse_json(*text) : Result<Json>(pass_on(text));
      if (parsed)
        found->second = *std::move(parsed);
    }
    return found->second ? &**found->second : nullptr;
  };
  for (const std::string& fault : rules::place_faults(rule, schema_of))
    add(all, Level::warning, "rules", fault, "mend baton.yaml, or the schema");
}

/// What the rules may lead to that nobody meant.
void examine_rules(const Context& context, const SchemaFetch& fetch, Diagnoses& all) {
  for (const auto& [name, options] : context.config().dialects) {
    if (name != "rules")
      continue;
    for (const rules::Rule& rule : rules::rules_in(options)) {
      examine_places(rule, fetch, all);
      const auto cycles = rules::run_cycles(rule);
      for (const std::string& cycle : cycles)
        add(all, Level::warning, "rules", "rule " + rule.name + ": agents may go round: " + cycle,
            "fine where it is meant: `max_entries` and `spawns_per_hour` end it; else say with "
            "`next` where an agent leaves its subject");
      if (cycles.empty())
        add(all, Level::fine, "rules", "rule " + rule.name + ": no agents go round");
    }
  }
}

/// Whether the journal or the folder has a file of the rule.
bool has_files(const rules::Rule& rule, const FlowRecords& records) {
  return std::any_of(records.begin(), records.end(), [&](const auto& row) {
    const auto& [flow, record] = row;
    return flow.dialect == "rules" && flow.name.substr(0, flow.name.find('/')) == rule.name &&
           !(record.accepted.empty() && record.rejected.empty());
  });
}

/// Folders in which baton looks or, beside a file of a flow, has to write.
void examine_folders(const Context& context, const FlowRecords& records, Diagnoses& all) {
  std::set<std::string> folders;
  for (const auto& [flow, record] : records) {
    for (const auto& [path, row] : record.rejected)
      if (flow == FlowId{})
        add(all, Level::error, "root",
            (fs::path(context.root()) / path).string() + ": " + first_message(row),
            "let this user read it, or run baton as its owner");
    for (const auto& [path, row] : record.accepted)
      if (row.present)
        folders.insert((fs::path(context.root()) / path).parent_path().string());
  }
  std::vector<std::string> closed;
  for (const std::string& folder : folders)
    if (access(folder.c_str(), W_OK | X_OK) != 0)
      closed.push_back(folder);
  if (!closed.empty())
    add(all, Level::warning, "root", join(closed, ", ") + " cannot be written",
        "fine for watching; what baton itself writes there will fail, such as `set:`, a dialect's "
        "own fields and repairs of stale overwrites");
}

bool is_of_dialect(const Catalog& catalog, const std::string& pattern) {
  const auto match = catalog.match(pattern);
  return match && match->entry->dialect->name != "rules";
}

/// What no file fits, for a slip in `files:` looks like having nothing to do.
void examine_kind(const std::string& root, const rules::Rule& rule, const rules::Kind& kind,
                  Diagnoses& all) {
  std::error_code error;
  const std::string folder = pattern_folder(kind.pattern).folder;
  if (!folder.empty() && !fs::is_directory(fs::path(root) / folder, error))
    add(all, Level::warning, "rules",
        "rule " + rule.name + ": there is no folder " + folder + " below " + root + ", where " +
            kind.pattern + " is looked for",
        "make it, or mend `files:` of the rule");
  else
    add(all, Level::fine, "rules",
        "rule " + rule.name + ": no file below " + root + " fits " + kind.pattern + " yet");
}

void examine_files(const Context& context, const Rehearsal& seen, Diagnoses& all) {
  for (const std::string& each : never_seen(seen.catalog()))
    add(all, Level::warning, "rules", each, "take the rule out, or the dialect");
  for (const auto& [name, options] : context.config().dialects)
    for (const rules::Rule& rule :
         name == "rules" ? rules::rules_in(options) : std::vector<rules::Rule>())
      for (const rules::Kind& kind : rule.kinds)
        if (!kind.optional && !is_of_dialect(seen.catalog(), kind.pattern) &&
            !has_files(rule, seen.records()))
          examine_kind(context.root(), rule, kind, all);
}

void examine_known(const Context& context, const Rehearsal& seen, Diagnoses& all) {
  examine_files(context, seen, all);
  examine_folders(context, seen.records(), all);
}

void examine_shim(Diagnoses& all) {
  const auto shim = find_shim(own_path());
  if (!shim)
    return add(all, Level::error, "shim", describe(shim.error()),
               "install baton-shim beside baton");
  const auto fits = shim_fits(*shim);
  if (fits && *fits)
    return add(all, Level::fine, "shim", *shim);
  add(all, Level::error, "shim",
      *shim + (fits ? " does not fit this baton: nothing would be started by it"
                    : " cannot be run: " + describe(fits.error())),
      "install baton and baton-shim of one version, then restart the daemon");
}

/// A daemon has read the prompts with its configuration, and goes by them until it reads it again.
void examine_prompts(const Context& context, const PromptFaults& faults, Diagnoses& all) {
  const auto state = context.state_folder();
  const auto word = state ? daemon_status(*state) : std::optional<DaemonStatus>();
  const bool knows =
      word && word->prompt_faults && word->configuration_digest == hex(digest_of(context.text()));
  const PromptFaults& known = knows ? *word->prompt_faults : faults;
  for (const auto& [place, fault] : faults)
    add(all, Level::error, "rules", fault,
        known.contains(place)
            ? "mend the file, or `prompt:` of the reaction, and have a daemon reload; until then "
              "its "
              "agent is not started"
            : "mend it before the next `baton reload` or restart; the daemon goes by what it read "
              "before");
  for (const auto& [place, fault] : known)
    if (!faults.contains(place))
      add(all, Level::warning, "rules", fault + "; so the daemon found it, and it is mended by now",
          "`baton reload`");
}

/// The programs that backups go through.
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
        add(all, Level::error, "backups", describe(program.error()),
            "install the program, or change `backups:` of " + std::string(dialect->name));
    }
    if (!plan.filter.empty() && plan.undo.empty())
      add(all, Level::warning, "backups", "`encrypt` is configured and `decrypt` is not",
          "`baton recover` cannot read them without it");
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
    add(all, few ? Level::warning : Level::fine, "limits",
        std::to_string(files.rlim_cur) + " open files " +
            (its_own ? "for the daemon" : "per process") + (few ? " is little" : ""),
        few ? "ulimit -n, or LimitNOFILE= in the unit" : "");
  }
  examine_shim(all);
  struct stat process {};
  if (daemon > 0 && stat(("/proc/" + std::to_string(daemon)).c_str(), &process) == 0 &&
      process.st_uid != geteuid())
    add(all, Level::warning, "user",
        "the daemon runs as user " + std::to_string(process.st_uid) + ", and this as user " +
            std::to_string(geteuid()) + ": what is said of trust and permissions is for this one",
        "run `baton doctor` as the daemon's user");
  else if (geteuid() == 0)
    add(all, Level::warning, "user", "baton runs as root, and so will every agent",
        "use a user of its own; the unit files do");
}

void examine_configuration(const Context& context, Diagnoses& all) {
  const auto unlike = context.unlike();
  if (!context.faults().empty()) {
    for (const std::string& fault : context.faults())
      add(all, Level::error, "configuration", fault,
          "see docs/configuration.md; `baton schema config` is its schema");
    return;
  }
  if (context.configuration().empty() && !unlike.why.empty())
    return add(all, Level::warning, "configuration", unlike.why,
               "bring it back: the next daemon acts upon nothing without it");
  if (context.configuration().empty())
    return add(all, Level::warning, "configuration", "there is none, so nothing is acted upon",
               "`baton init` writes one");
  if (!unlike.why.empty())
    add(all, Level::warning, "configuration", unlike.why,
        "`baton reload`, when the file is as you want it");
  add(all, Level::fine, "configuration", context.configuration());
  examine_writable("configuration", context.configuration(), all);
  for (const Finding& finding : context.warnings())
    add(all, Level::warning, "configuration", describe(finding, context.configuration()),
        "see docs/configuration.md");
  const auto setup = context.setup(context.root());
  if (!setup)
    return add(all, Level::error, "configuration", describe(setup.error()),
               "docs/configuration.md says what it may be; `baton --version --json` names the "
               "dialects there are");
  for (const auto& [role, spec] : setup->agents)
    examine_agent(role, spec, all);
  examine_prompts(context, prompt_faults(setup->dialects), all);
  for (std::string& each : prompt_files(context.config(), context.folder()).unknown)
    add(all, Level::warning, "agent", std::move(each), "rename or remove the file");
  for (std::string& each : unplayed(context.config(), setup->dialects))
    add(all, Level::warning, "agent", std::move(each),
        "name it below `agents:`; a flow that needs it waits until then");
  examine_backups(context, *setup, all);
  if (!context.config().notify.empty()) {
    const auto program = notify_program(context);
    if (!program)
      add(all, Level::error, "notify", describe(program.error()),
          "install the program, or change `notify:`; until then nobody is told anything");
  }
  examine_rules(context, setup->schemas, all);
  for (const Context& on_root : context.each()) {
    const auto rehearsal = Rehearsal::of_root(on_root);
    if (rehearsal)
      examine_known(on_root, **rehearsal, all);
    else if (exit_code_of(rehearsal.error().code) == ExitCode::usage)
      return add(all, Level::error, "schemas", describe(rehearsal.error()),
                 "mend the schema, or change `schema:` of the rule; the daemon would not start");
  }
}

void examine_places(const Context& context, Diagnoses& all) {
  for (const std::string& root : context.roots()) {
    const auto folder = open_folder(root);
    if (!folder) {
      add(all, Level::error, "root", describe(folder.error()),
          "make the folder, name another by --root or `roots:`, or run as a user who may read it");
      continue;
    }
    const auto network = network_file_system_of(folder->get());
    if (!network.empty())
      add(all, Level::warning, "root", root + " lies on " + std::string(network),
          "it is polled every few seconds, for changes made elsewhere give no event");
    else
      add(all, Level::fine, "root", root);
    if (access(root.c_str(), R_OK | X_OK) != 0)
      add(all, Level::error, "root", root + " cannot be read",
          "let this user read it, or run baton as its owner");
    else if (access(root.c_str(), W_OK) != 0)
      add(all, Level::warning, "root", root + " cannot be written",
          "fine for watching where the folders in it can be written");
  }
  for (const Context& on_root : context.each()) {
    examine_state(on_root, all);
    examine_daemon(on_root, all);
  }
}

std::int64_t take_daemon_path(const Context& context, Diagnoses& all) {
  const auto state = context.state_folder();
  if (!state || !daemon_lives(*state))
    return 0;
  const std::int64_t pid = lock_holder(*state).pid;
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ");
  std::string entry;
  while (std::getline(file, entry, '\0')) {
    if (!entry.starts_with("PATH="))
      continue;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
    (void)setenv("PATH", entry.c_str() + 5, 1);
    add(all, Level::fine, "environment",
        "programs are looked for as the daemon (process " + std::to_string(pid) + ") does");
    return pid;
  }
  add(all, Level::warning, "environment",
      "the environment of the daemon (process " + std::to_string(pid) + ") cannot be read",
      "run `baton doctor` as its user; programs are looked for in this shell's PATH");
  return pid;
}

}  // namespace baton
