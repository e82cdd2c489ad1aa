// SPDX-License-Identifier: Apache-2.0
#include "io/journal/claims.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <iterator>
#include <set>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "io/agents/run_directory.h"
#include "io/files/fd.h"
#include "io/files/folder.h"
#include "io/journal/journal.h"
#include "io/journal/rows.h"
#include "io/system/process.h"
#include "io/system/state_folder.h"
#include "shim/protocol.h"

namespace baton {
namespace {

using sqlite::Database;
using sqlite::Statement;

constexpr std::size_t kNamed = 3;

/// The names in the folder that can be run ids. Other names belong to other programs.
Result<std::vector<std::string>> run_names(const std::string& folder) {
  std::vector<std::string> names;
  const auto runs = open_runs_folder(folder);
  if (!runs && runs.error().code == Errc::not_found)
    return names;
  auto found = runs ? names_in(runs->get(), folder) : tl::unexpected(runs.error());
  if (!found)
    return pass_on(found);
  for (auto* const each : {&found->folders, &found->files})
    std::copy_if(each->begin(), each->end(), std::back_inserter(names),
                 [](const std::string& name) { return safe_name(name); });
  return names;
}

/// Adds the ids of a table; a missing table has none.
Result<void> add_ids(Database& db, std::string_view table, const char* sql,
                     std::set<std::string>& ids) {
  bool there = false;
  auto done = rows::each(
      db, "sqlite_master", "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?",
      [&](Statement& s) { s.add(table); }, [&](Statement&) { there = true; });
  if (!done || !there)
    return done;
  return rows::each(db, table, sql, {}, [&](Statement& row) { ids.insert(row.text()); });
}

bool there(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0;
}

enum class Trace { claimed, unclaimed, foreign };

/// Decides what a folder with this name proves. Agents can write here, and copy or rename their own
/// folders, so a folder counts as claimed only if its content names this very run. A claim that is
/// unreadable, or of an older baton without that name, counts if the folder's name can be a run id.
Trace trace_of(const std::string& path, const std::string& name) {
  const auto directory = open_run_directory(path);
  const auto has = [&](const char* file) {
    struct stat status {};
    return directory && fstatat(directory->get(), file, &status, AT_SYMLINK_NOFOLLOW) == 0;
  };
  if (!has(shim::kClaimFile) && !has(shim::kExitFile))
    return is_run_id(name) ? Trace::unclaimed : Trace::foreign;
  const std::string run = run_named_in(*directory);
  if (run.empty() ? is_run_id(name) : run == name)
    return Trace::claimed;
  return Trace::foreign;
}

/// `kill 4711` for the shims that still run; "" when none does.
std::string kill_command(const std::string& runs, const std::vector<std::string>& ids) {
  std::string command;
  for (const std::string& id : ids) {
    const auto directory = open_run_directory(runs + "/" + id);
    const auto shim = directory ? living_shim(*directory, id) : std::nullopt;
    if (shim)
      command += (command.empty() ? "kill " : " ") + std::to_string(*shim);
  }
  return command;
}

std::string older(const std::string& runs, const std::vector<std::string>& ids) {
  std::vector<std::string> named(
      ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(std::min(kNamed, ids.size())));
  if (named.size() < ids.size())
    named.emplace_back("...");
  const std::string kill = kill_command(runs, ids);
  return "the journal is an old copy: it does not know " +
         (ids.size() == 1 ? std::string("a run that was")
                          : std::to_string(ids.size()) + " runs that were") +
         " started (" + join(named, ", ") + "), and would start " +
         (ids.size() == 1 ? "its" : "their") +
         " work again; restore the newest journal.db together with its -wal. If it is lost: " +
         (kill.empty() ? "" : "end what still runs (`" + kill + "`), ") +
         "look into the folders of these runs to see what they did, and move the folders out of " +
         printable(runs) + "; baton then starts again what is due";
}

/// Whether a process of a run was started on this root. It names this root, or it works in this
/// root and names one that is gone.
bool started_on(std::int64_t pid, const std::string& root) {
  const std::string former = variable_of(pid, "BATON_ROOT");
  if (former == root)
    return true;
  const std::string at = working_directory(pid);
  return !former.empty() && !there(former) && (at == root || at.starts_with(root + "/"));
}

/// The run ids that the journal knows.
Result<std::set<std::string>> known_runs(Database& db) {
  std::set<std::string> known;
  auto done = add_ids(db, "runs", "SELECT id FROM runs", known);
  if (done)
    done = add_ids(db, "forgotten_runs", "SELECT id FROM forgotten_runs", known);
  if (!done)
    return pass_on(done);
  return known;
}

}  // namespace

Result<UnknownRuns> unknown_runs(Database& db, const std::string& state_folder) {
  const std::string runs = runs_folder(state_folder);
  // Read the folders first: a run is in the journal before it is claimed, whatever is written
  // meanwhile.
  auto names = run_names(runs);
  if (!names)
    return pass_on(names);
  UnknownRuns unknown;
  if (names->empty())
    return unknown;
  const auto known = known_runs(db);
  if (!known)
    return tl::unexpected(known.error());
  for (const std::string& name : *names) {
    if (known->contains(name))
      continue;
    switch (trace_of(runs + "/" + name, name)) {
      case Trace::claimed:
        unknown.claimed.push_back(name);
        break;
      case Trace::unclaimed:
        unknown.unclaimed.push_back(name);
        break;
      case Trace::foreign:
        break;
    }
  }
  // A run may have been recorded and claimed since the journal was read: read the journal again.
  const auto by_now = unknown.claimed.empty() ? known : known_runs(db);
  if (!by_now)
    return tl::unexpected(by_now.error());
  std::erase_if(unknown.claimed, [&](const std::string& id) { return by_now->contains(id); });
  std::sort(unknown.claimed.begin(), unknown.claimed.end());
  return unknown;
}

Result<void> refuse_older_journal(Database& db, const std::string& state_folder) {
  auto unknown = unknown_runs(db, state_folder);
  if (!unknown)
    return pass_on(unknown);
  if (unknown->claimed.empty())
    return {};
  return fail(Errc::io, older(runs_folder(state_folder), unknown->claimed));
}

Result<void> refuse_older_journal(const std::string& state_folder) {
  const std::string path = journal_path(state_folder);
  auto db = Database::open(path, Database::Access::look);
  if (!db)
    return pass_on(db);
  auto usable = refuse_newer_journal(**db);
  if (usable)
    usable = refuse_older_journal(**db, state_folder);
  if (!usable && usable.error().where.empty())
    usable.error().where = path;
  return usable;
}

Result<void> refuse_agents_without_journal(const std::string& root,
                                           const std::string& state_folder) {
  if (there(journal_path(state_folder)))
    return {};
  std::string pids;
  std::string state;
  std::string former;
  for (const std::int64_t pid : processes_naming(shim::kRunIdVariable)) {
    if (pid == getpid() || !started_on(pid, root))
      continue;
    pids += (pids.empty() ? "" : " ") + std::to_string(pid);
    state = variable_of(pid, kRootStateVariable);
    former = variable_of(pid, "BATON_ROOT");
  }
  if (pids.empty())
    return {};
  if (former != root)
    return fail(Errc::io,
                "agents that were started when this root was called " + printable(former) +
                    " still run, but no journal here knows them, so baton starts nothing. Rename "
                    "the root back, or wait for their end, or end them: `kill " +
                    pids + "`",
                root);
  return fail(
      Errc::io,
      "agents that were started on this root still run, but no journal here knows them, so baton "
      "starts nothing. " +
          (state.empty()
               ? std::string("Find the state folder of their daemon and name it with --state-dir")
               : "Name their state: `--state-dir " + printable(state) + "`, or `state_dir:`") +
          ". If it is lost, "
          "wait for their end, or end them: `kill " +
          pids + "`",
      root);
}

namespace {

constexpr off_t kHeaderBytes = 512;

/// The first run gets its folder only after the tables were created and synced.
bool has_runs(const std::string& state_folder) {
  const auto runs = open_runs_folder(runs_folder(state_folder));
  const auto names = runs ? names_in(runs->get(), "runs") : tl::unexpected(runs.error());
  return names && !(names->folders.empty() && names->files.empty());
}

}  // namespace

Result<void> look_at_journal(const std::string& state_folder, JournalUse use) {
  const std::string path = journal_path(state_folder);
  struct stat facts {};
  const bool there = lstat(path.c_str(), &facts) == 0;
  if (!there && errno != ENOENT && errno != ENOTDIR)
    return system_error(errno, "cannot look at the journal", path);
  if ((!there || (S_ISREG(facts.st_mode) && facts.st_size == 0)) && has_runs(state_folder))
    return fail(Errc::io,
                std::string("the journal is ") + (there ? "empty" : "gone") +
                    ", but folders of its runs are there" + kBeginAnew,
                path);
  if (!there)
    return fail(Errc::not_found, "no journal: no daemon has served this root yet", path);
  if (!S_ISREG(facts.st_mode))
    return fail(Errc::not_regular, std::string("the journal is not a regular file") + kBeginAnew,
                path);
  if (access(path.c_str(), use == JournalUse::write ? R_OK | W_OK : R_OK) != 0)
    return fail(Errc::denied,
                std::string("the journal is not ") +
                    (use == JournalUse::write ? "writable" : "readable") +
                    " for this user; act as the user whose daemon serves this root" +
                    (use == JournalUse::write ? "" : ", or as a member of its group"),
                path);
  if (facts.st_size > 0 && facts.st_size < kHeaderBytes)
    return fail(Errc::io, std::string("the journal is damaged: it was cut") + kBeginAnew, path);
  return {};
}

}  // namespace baton
