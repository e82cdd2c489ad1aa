#include "io/journal/journal_file.h"

#include <cerrno>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include "io/agents/run_directory.h"
#include "io/files/fd.h"
#include "io/journal/journal.h"

namespace baton {
namespace {

constexpr off_t kHeaderBytes = 512;

/// Tables are made and synced before the first run has a folder.
bool has_runs(const std::string& state_folder) {
  std::error_code none;
  const std::filesystem::path runs = runs_folder(state_folder);
  return std::filesystem::is_directory(runs, none) && !std::filesystem::is_empty(runs, none) &&
         !none;
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
