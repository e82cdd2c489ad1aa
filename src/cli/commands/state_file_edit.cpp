// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/state_file_edit.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include "base/text.h"
#include "dialects/rules/layout.h"
#include "io/files/disk.h"
#include "io/files/displaced_files.h"
#include "io/files/root.h"
#include "io/system/state_folder.h"
#include "workspace/environment.h"
#include "workspace/folders.h"
#include "workspace/inspection.h"
#include "workspace/output.h"

namespace baton {
namespace {

namespace fs = std::filesystem;
using Steady = std::chrono::steady_clock;

/// If other processes keep writing for this long, give up.
constexpr std::chrono::seconds kFilePatience{60};
/// Wait at most this long for a process that locks the file without replacing it.
constexpr std::chrono::seconds kFileLockPatience{10};
constexpr Millis kLongestNap{16};
Millis longer(Millis nap) {
  return nap >= kLongestNap ? Millis{1} : nap * 2;
}
/// A process that has the old version open gets this long to write.
constexpr Millis kWriterPatience{1000};
constexpr Millis kWriterNap{5};
/// From this age on, an old version is removed as soon as no process has it open. If the kernel
/// cannot say that, it is removed after the writer's time is over.
constexpr Millis kOldEnough = DisplacedFiles::kUnknownLook - kWriterPatience;

/// The root of the calling agent, if the file is in it; else the nearest folder upwards with a
/// configuration. Agents may work elsewhere.
std::string root_of(const std::string& folder) {
  std::error_code error;
  if (std::string own = variable("BATON_ROOT");
      !own.empty() && (own == folder || below(own, folder)))
    return own;
  for (fs::path at = folder;; at = at.parent_path()) {
    if (fs::exists(at / "baton.yaml", error))
      return at.string();
    if (at == at.parent_path())
      return {};
  }
}

/// The path of the file without links. Errc::not_regular if the file, or a folder below a root, is
/// a link: the daemon does not read through links either.
Result<std::string> path_without_links(const std::string& file, const Places& places) {
  std::string named;
  if (!places.root.empty())
    named = real_path(places.root).value_or("");
  const auto in_root = [&](const std::string& folder) {
    if (named.empty())
      return !root_of(folder).empty();
    return folder == named || below(named, folder).has_value();
  };
  // The last name is no link, or it is told as one. Links may change meanwhile, so the folder and
  // the file are opened without them.
  std::error_code error;
  const fs::path whole = fs::absolute(file, error);
  const bool named_file =
      whole.has_filename() && whole.filename() != "." && whole.filename() != "..";
  LinkPath way =
      resolve_outside(named_file ? whole.parent_path().string() : whole.string(), in_root);
  const std::string path = named_file ? (fs::path(way.path) / whole.filename()).string() : way.path;
  if (way.link.empty() && fs::is_symlink(fs::symlink_status(path, error)))
    way.link = file;
  if (way.link.empty())
    return path;
  return fail(Errc::not_regular,
              "is a symbolic link, and baton does not follow links; name its target", way.link);
}

}  // namespace

Result<StateFileEdit> StateFileEdit::open(const std::string& named, const Places& given) {
  auto real = path_without_links(named, given);
  if (!real)
    return pass_on(real);
  StateFileEdit file;
  file.shown_ = named;
  file.name_ = fs::path(*real).filename().string();
  const std::string folder = fs::path(*real).parent_path().string();
  auto held = RootFolder::open_without_links(folder);
  if (!held)
    return pass_on(held);
  file.disk_ = real_disk(*std::move(held));
  Places places = given;
  const std::string root = root_of(folder);
  if (places.root.empty() && root == variable("BATON_ROOT"))
    places.root = root;
  auto context = Context::open_active(places, root.empty() ? "" : folder, true);
  if (context) {
    file.schemas_ = std::make_unique<Schemas>(schemas_below(context->folder()));
    file.load_ = load_limits(context->config());
    const auto dialects = known_dialects(context->config());
    if (!dialects)
      return fail(
          dialects.error().code,
          dialects.error().message + "; baton cannot tell what the file is, so nothing was changed",
          context->configuration());
    file.catalog_ = Catalog::of(*dialects);
    for (const std::string& each : context->roots())
      if (auto path = below(each, *real))
        file.path_ = *std::move(path);
  } else {
    context.error().message += "; baton cannot tell what the file is, so nothing was changed";
    return pass_on(context);
  }
  const auto match =
      file.path_.empty() ? std::optional<Catalog::Match>() : file.catalog_.match(file.path_);
  const auto schema =
      match ? file.schemas_->of(*match->kind) : Result<std::shared_ptr<const Schema>>();
  if (!schema)
    return fail(Errc::schema,
                "the schema of the file cannot be used, so nothing was changed: " +
                    describe(schema.error()),
                named);
  return file;
}

Result<FileBytes> StateFileEdit::read() {
  auto bytes = disk_->read(name_, load_.max_bytes);
  if (!bytes)
    bytes.error().where = shown_;
  return bytes;
}

Result<void> StateFileEdit::replace(const Digest& assumes, std::string_view text) {
  auto done = disk_->replace(name_, assumes, text);
  if (done)
    written_ = digest_of(text);
  return done;
}

std::vector<LateWrite> StateFileEdit::late_writes(Millis waited) {
  return disk_->late_writes(Time{} + kOldEnough + std::min(waited, kWriterPatience));
}

Findings StateFileEdit::check(const std::string& text) {
  const auto match = path_.empty() ? std::nullopt : catalog_.match(path_);
  if (match)
    return check_document(*match, shown_, text, *schemas_, load_).findings;
  auto loaded = load_document(text, Format::json, load_);
  return loaded ? Findings{} : loaded.error().findings;
}

std::string StateFileEdit::subject_key() const {
  const auto match = path_.empty() ? std::nullopt : catalog_.match(path_);
  if (!match || match->flow.dialect != "rules")
    return {};
  const auto rule = rules::rule_of(match->flow, match->entry->options);
  return rule ? rule->subject_key : std::string();
}

namespace {

enum class Attempt { done, again, unfit };

/// Reads, changes, checks and replaces once. `look`: stops before replacing and returns `again`.
Result<Attempt> attempt(StateFileEdit& file,
                        const std::function<Result<std::string>(const std::string&)>& change,
                        bool look = false) {
  auto before = file.read();
  if (!before)
    return pass_on(before);
  auto after = change(before->bytes);
  if (!after)
    return fail(after.error().code, after.error().message,
                after.error().where.empty() ? file.shown() : after.error().where);
  if (*after == before->bytes)
    return Attempt::done;
  const Findings findings = file.check(*after);
  if (has_error(findings)) {
    // If the file had errors before, report those instead of blaming the change.
    const Findings standing = file.check(before->bytes);
    const bool broken = has_error(standing);
    std::string text = broken ? "the file has errors already, so nothing was changed. Fix them "
                                "first, with `baton set` or an editor:\n"
                              : "the change would break the file; nothing was changed\n";
    for (const Finding& finding : broken ? standing : findings)
      text += finding_text(file.shown(), finding);
    text.pop_back();
    complain(text);
    return Attempt::unfit;
  }
  if (look)
    return Attempt::again;
  const auto replaced = file.replace(before->digest, *after);
  if (replaced)
    return Attempt::done;
  if (replaced.error().code == Errc::changed)
    return Attempt::again;
  return tl::unexpected(replaced.error());
}

using TextChange = std::function<Result<std::string>(const std::string& now)>;

/// Applies the change to a version that another process wrote into the replaced file, as if it had
/// been first. False: impossible, or the file has changed again.
bool merge_late(StateFileEdit& file, const LateWrite& late, const TextChange& change) {
  const auto text = change(late.bytes);
  const auto now = file.read();
  if (!text || !now || !file.is_ours(*now) || has_error(file.check(*text)))
    return false;
  if (*text != now->bytes && !file.replace(now->digest, *text))
    return false;
  file.late_noted(late);
  return true;
}

/// Rescues what was written into the replaced file. What cannot be settled here stays beside the
/// file until a daemon takes it.
void settle_late(StateFileEdit& file, const TextChange& change) {
  const auto start = std::chrono::steady_clock::now();
  while (file.keeps_old()) {
    const auto waited =
        std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - start);
    const auto found = file.late_writes(waited);
    for (const LateWrite& late : found)
      if (!merge_late(file, late, change)) {
        complain("warning: " + printable(file.shown()) +
                 ": another process wrote into the old version at the same time. The old version "
                 "lies beside the file until `baton run` merges it, or keeps it in the journal and "
                 "reports it");
        return;
      }
    if (!file.keeps_old())
      return;
    // The merge replaced a version, too.
    if (waited >= kWriterPatience && found.empty()) {
      complain("warning: " + printable(file.shown()) +
               ": another process keeps the old version open for writing. `baton run` merges what "
               "it writes, or keeps it in the journal and reports it");
      return;
    }
    std::this_thread::sleep_for(kWriterNap);
  }
}

ExitCode refuse(Error error, const std::string& shown) {
  // Show the path as the user gave it.
  if (shown.ends_with("/" + error.where))
    error.where = shown;
  const bool failed = error.code == Errc::parse || error.code == Errc::changed;
  (void)complain(error);
  return failed ? ExitCode::failed : exit_code_of(error.code);
}

/// Waits until we hold the lock, or cannot get it. Processes that replace the file one after the
/// other are waited for. False: one process keeps the lock without replacing the file.
bool wait_for_turn(StateFileEdit& file, Steady::time_point until) {
  std::optional<Digest> seen;
  auto patience = until;
  for (Millis nap{1}; !file.lock(); nap = longer(nap)) {
    const auto bytes = file.read();
    const auto now = Steady::now();
    if (bytes && seen != bytes->digest)
      patience = std::min(now + kFileLockPatience, until);
    if (!bytes || now > patience)
      return false;
    seen = bytes->digest;
    std::this_thread::sleep_for(nap);
  }
  return true;
}

/// The exit code if no further try is needed. `free`: we had the lock, so a process without the
/// lock was faster.
std::optional<ExitCode> settled(const Result<Attempt>& tried, bool free, bool over,
                                const StateFileEdit& file) {
  const std::string& shown = file.shown();
  if (tried && *tried != Attempt::again)
    return *tried == Attempt::done ? ExitCode::fine : ExitCode::failed;
  const bool locked = !tried && tried.error().code == Errc::busy;
  if (!tried && (!locked || over))
    return refuse(tried.error(), shown);
  if (locked && !free) {
    const std::string holder = file.lock_holder();
    complain(printable(shown) + ": " +
             (holder.empty() ? tried.error().message : "is locked by " + holder) +
             "; nothing was changed. Repeat the command when that process has released the file");
    return ExitCode::unreachable;
  }
  if (!over)
    return std::nullopt;
  complain(printable(shown) + ": other processes change it all the time; nothing was changed");
  return ExitCode::unreachable;
}

ExitCode keep_trying(StateFileEdit& file, const TextChange& change) {
  const auto until = Steady::now() + kFilePatience;
  bool looked = false;
  for (Millis nap{1};; nap = longer(nap)) {
    bool free = file.lock();
    // A change that is refused, or is already there, needs no lock.
    const bool look = !free && !std::exchange(looked, true);
    if (!free && !look)
      free = wait_for_turn(file, until);
    const auto tried = attempt(file, change, look);
    file.unlock();
    if (const auto done = settled(tried, free, Steady::now() > until, file))
      return *done;
    if (!look)
      std::this_thread::sleep_for(nap);
  }
}

}  // namespace

ExitCode rewrite(StateFileEdit& file,
                 const std::function<Result<std::string>(const std::string& now)>& change) {
  const ExitCode done = keep_trying(file, change);
  if (done == ExitCode::fine)
    settle_late(file, change);
  return done;
}

}  // namespace baton
