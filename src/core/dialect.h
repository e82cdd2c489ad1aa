// SPDX-License-Identifier: Apache-2.0
#pragma once

// The interface of a dialect: a family of state files and the rules for them.
//
// Problem: one engine serves five layouts and any rules of a user.
// Way: a dialect is a table of pure functions over the accepted documents of one flow. The engine
// reads files, keeps the journal and starts agents. The dialect says what the files mean.
// Limits: a dialect sees nothing but its `View`. It reads no file, no clock and no environment. It
// keeps no state but its memo, which the journal holds.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/result.h"
#include "core/backup.h"
#include "core/effect.h"
#include "core/event.h"
#include "core/flow.h"
#include "core/ignored_names.h"
#include "core/run.h"

namespace baton {

/// Which names the placeholders of a pattern match.
enum class PatternNames {
  safe,    ///< a safe name (base/text.h)
  plain,   ///< `{flow}` any plain name, a hidden folder included
  people,  ///< a file_name
  any,     ///< any but hidden and temporary ones: to find what nearly matches
};

/// How a file of JSON Lines is read.
enum class LogReading {
  whole,    ///< all of it is one document
  last,     ///< on from the place read last; the last complete line is the document
  entries,  ///< the same line by line: the next line is read when the work of the one before is
            ///< done
};

/// One kind of file of a dialect. `pattern` is a path below the root in which `{flow}` and `{part}`
/// each stand for a name within one path segment ("tickets/{flow}.json").
struct FileKind {
  std::string kind;  ///< `pm_state`
  std::string pattern;
  std::string schema;  ///< embedded path (`schemas/x/y.schema.json`) or a file below the
                       ///< configuration; may be empty
  Format format = Format::json;
  /// Name of the flow; may contain `{flow}`. Empty: baton knows these files and leaves them alone;
  /// `kind` names the program that owns them.
  std::string flow;
  PatternNames names = PatternNames::safe;
  IgnoredNames ignored = {};  ///< names that match the pattern and are no such files
  bool essential = true;      ///< while this file is missing, the flow starts nothing
  /// false: a log that baton only appends to. `validate` checks it. The daemon neither reads nor
  /// keeps it, so that a long log costs no more than a short one.
  bool kept = true;
  /// Only for a log that baton appends to: a file that would become larger is renamed to `NAME.1`
  /// first, in place of an older one. 0: never.
  std::uint64_t rotate_above_bytes = 0;
  /// Only for JSON Lines. true: the last line says where the work stands, so a file without any
  /// line is damaged. false: the lines are a list, which may be empty.
  bool needs_line = false;
  LogReading log = LogReading::whole;
  /// The rate breaker: a file that changes more often than this within `breaker_window` holds its
  /// flow until the changes stop.
  std::uint32_t breaker_changes = 240;
  Millis breaker_window{60'000};
};

/// One accepted document of a flow.
struct Accepted {
  std::shared_ptr<const Document> document;
  std::string kind;
  std::string part;  ///< what `{part}` matched
  Arrival arrival = 0;
  RunId writer;  ///< the only live run when it arrived; `baton` for baton's writes; else empty
  bool present = true;  ///< false: the file is gone; this is the last accepted version of it
  /// A JSON array of findings if the file holds a newer version that was rejected; else empty.
  std::string rejected;
};
/// By path relative to the root.
using FlowState = std::map<std::string, Accepted>;

/// Where each subject stands, as the documents say.
using Stages = std::map<Subject, Word>;

/// How long a subject that is gone is remembered, with its runs (see Dialect::remembers).
inline constexpr Millis kRemembered = std::chrono::hours(7 * 24);
/// How long a flow or subject that has to come first and is not there is waited for. Then what
/// needs it is blocked.
inline constexpr Millis kUnknownNeed{60'000};

/// What the journal keeps of one subject.
struct StageState {
  Word stage;                    ///< empty: the subject is gone
  Word previous;                 ///< the stage before; empty at first
  std::uint64_t generation = 0;  ///< entries into any stage so far
  std::uint64_t entries = 0;     ///< entries into this stage so far
  Time since{};
  Arrival arrival = 0;
  Word earlier{};  ///< if the subject is gone: the stage before `previous`
  bool operator==(const StageState&) const = default;
};

/// The configured value for a role: its own, else that of `default`, which plays the roles without
/// an entry, else `otherwise`. No role plays an `Action`.
template <class T>
T of_role(const std::map<Role, T>& all, const Role& role, const T& otherwise) {
  const auto own = all.find(role);
  const auto found = own == all.end() && role != kActionRole ? all.find("default") : own;
  return found == all.end() ? otherwise : found->second;
}

/// Facts about the machine and the configuration that a dialect may use.
struct Environment {
  std::string root;                              ///< absolute
  std::string configuration_folder;              ///< absolute
  std::string executable;                        ///< absolute path of baton itself
  RetryLimits retry;                             ///< where `of_role` finds nothing in `role_retry`
  RunLimits limits;                              ///< where `of_role` finds nothing in `role_limits`
  std::map<std::string, std::string> variables;  ///< environment of the daemon
  std::int64_t pid = 0;                          ///< of the daemon; 0: no daemon runs
  /// Whether a process is alive. Empty: unknown.
  std::function<bool(std::int64_t pid)> alive;
  /// Resolves the links of an absolute path, as far as the path exists. Empty: paths are used as
  /// they are spelled.
  std::function<std::string(const std::string& path)> real_path;
  std::map<Role, RetryLimits> role_retry;
  std::map<Role, RunLimits> role_limits;
  std::map<Role, std::map<std::string, std::string>> role_env;  ///< environment of its agents
};

/// Everything a dialect may look at. Views do not outlive the call.
struct View {
  const FlowId& flow;
  const FlowState& docs;
  const std::map<Subject, StageState>& stages;  ///< already updated by this round's `stages`
  std::span<const Run> runs;  ///< of this flow: all live runs and those of present generations
  const Json& memo;
  std::span<const Request> requests;  ///< not yet answered, for this flow or for the root
  const Json& options;
  const Environment& env;
  Time now;   ///< monotonic; for decisions
  Time wall;  ///< wall clock; for time stamps in files
  /// Files of the flow whose present version was rejected, also where no version was ever accepted:
  /// path → findings (a JSON array). Only filled in for `decide` and `create`.
  std::map<std::string, std::string> rejected = {};
  /// Digests of those versions. A Move needs one to put such a file aside.
  std::map<std::string, Digest> rejected_digests = {};
  /// What the operator asked for, for dialects whose files show it. The engine itself acts on it
  /// for starts and agents. `stop` means: this flow, by name. Only filled in for `decide`.
  Control control = Control::run;
  /// A file of the flow cannot be parsed yet and is probably being written. baton reads it again in
  /// a moment and accepts or rejects it. Until then the last results of an agent may be missing.
  bool being_written = false;
  /// Desired runs with `counts_refusal` that are due and cannot be started → why. Only filled in
  /// when `decide` is asked again after planning.
  std::map<Key, std::string> refused = {};
};

/// The writer of a version cannot have seen baton's last write. Either baton gave up its write
/// because of this version, or the writer wrote late, into a file that baton had already replaced.
struct Unseen {
  Digest base;  ///< the newest version the writer can have seen
  bool late = false;
};

/// A new version of one file, before it is accepted.
struct Change {
  std::string path;
  std::string kind;
  const Document* before = nullptr;  ///< last accepted; nullptr for the first version
  const Document& after;
  RunId writer;  ///< as in Accepted
  std::optional<Unseen> unseen = {};
  /// The first look at this file since the daemon started: several programs may have written it,
  /// one after the other.
  bool first_look = false;
};

/// What becomes of a new version.
struct Admission {
  enum class Verdict {
    accept,
    merged,   ///< the version overwrote newer parts with old ones: `text` is written instead
    restore,  ///< it breaks a rule of ownership or history: baton writes the last version back
    later,    ///< the version is not complete yet: look again after `again`
  };
  Verdict verdict = Verdict::accept;
  std::string text;
  std::optional<Json> memo;
  Findings findings;
  Millis again{0};
  std::string why;
};

/// What an agent gets when it starts.
struct Brief {
  std::string prompt;  ///< used if schemas/DIALECT/prompts has no template for the role
  std::string form;    ///< a template with placeholders, instead of the role's; empty: the role's
  std::vector<std::pair<std::string, std::string>> env;  ///< besides BATON_*
  /// For `${name}`, besides role, subject, flow ...: all in templates, in commands only
  /// `Dialect::placeholders`.
  std::map<std::string, std::string> values;
  std::string state_file;  ///< relative to the root; the flow's main document
  std::string cwd;         ///< absolute; used if the role has no `cwd`. Empty: the root
  std::string log;         ///< see Launch::log
};

/// A dialect, in the order in which a file meets it. Any pointer may be null: then the default
/// applies (no such files, no rule, every version accepted).
struct Dialect {
  std::string_view name;

  // 1. Which files.

  /// The kinds of files, from the dialect's options in `baton.yaml`. Null options: the defaults.
  /// Files that changed together are read in this order.
  std::vector<FileKind> (*files)(const Json& options) = nullptr;
  /// More files to read before each decision, relative to the root. A file that exists and parses
  /// is added to the documents with the kind `read` (`.yaml` and `.yml` as YAML, of `.jsonl` the
  /// last lines, else JSON). baton neither watches these files nor keeps them.
  std::vector<std::string> (*reads)(const View&) = nullptr;
  /// More files that `check_flow` needs in `baton validate`, relative to the root. `validate` asks
  /// again as long as the files read so far name more. They have the kind `related`; a missing file
  /// is there without a document and with `present` false.
  std::vector<std::string> (*related)(const FlowState&, const Json& options) = nullptr;
  /// Patterns of files that baton writes and never reads back: archives, histories, empty files
  /// that keep a folder. Here a placeholder stands for any text in one segment. A write that the
  /// journal holds is made only if its path is among these, among `files`, or a backup.
  std::vector<std::string> (*own_files)(const Json& options) = nullptr;

  // 2. Whether a new version is valid, and whether baton accepts it.

  /// Rules about one document that no schema can state. Only `validate` sets `wall`, for rules
  /// about the present time and for faults that hold a flow although its document is accepted. The
  /// daemon checks a document once, so there a dialect reports such a thing by a notice or a hold.
  Findings (*check)(const std::string& path, const Accepted&, const Json& options,
                    std::optional<Time> wall) = nullptr;
  /// Rules across the documents of a flow; findings by path. An error holds the flow.
  std::map<std::string, Findings> (*check_flow)(const FlowState&, const Json& options) = nullptr;
  /// Rules of `check_flow` whose errors do not hold the flow: `decide` deals with them.
  std::span<const std::string_view> tolerated = {};
  /// Whether a valid version is accepted, merged, put back, or read again later.
  Admission (*admit)(const View&, const Change&) = nullptr;
  /// true: `admit` also sees versions that only `check` refuses, because it can mend them. The
  /// merged text counts if it is valid.
  bool mends = false;
  /// true: the files alone say where a flow stands, never what baton wrote last. Then `admit` is
  /// only asked about versions that overwrote a write of baton, which saves opening thousands of
  /// documents. And after a rejected version replaced a write of baton, the flow starts nothing
  /// until a person has mended the file.
  bool files_rule = false;

  // 3. Where the flow stands, and what happens next.

  Stages (*stages)(const View&) = nullptr;
  /// Whether a subject may disappear by mistake, for example when an old copy of a file with many
  /// subjects is written. If it comes back within kRemembered in the same stage, it has not entered
  /// that stage anew. Null: a subject that comes back is new.
  bool (*remembers)(const FlowId& flow, const Json& options) = nullptr;
  /// The first memo of a flow whose file had another name in the same rule: what of the former
  /// flow's memo still counts. Null: nothing.
  Json (*inherits)(const Json& former) = nullptr;
  Decision (*decide)(const View&) = nullptr;
  /// Every state in which the dialect lets a flow or a subject stand, ends and giving up included.
  /// Its holds and standings use the causes of this table.
  std::span<const StateRow> states = {};
  /// The declared words and stages that a flow can have, for `baton wait`. Stages with a number,
  /// such as `work#2`, are not among them. Null or no words: it can have any.
  std::vector<Word> (*words)(const FlowId& flow, const Json& options) = nullptr;
  /// Verbs of requests that `decide` answers first (Decision::replies). The engine handles the
  /// other verbs and what `decide` leaves unanswered.
  std::span<const std::string_view> verbs = {};

  // 4. What an agent gets.

  Brief (*brief)(const View&, const Desired&) = nullptr;
  /// Names that `Brief::values` adds to the placeholders of every command.
  std::span<const std::string_view> placeholders = {};
  /// Roles that every flow of this dialect may ask for. Roles named in files are not among them.
  /// `init` writes them; `run` and `doctor` report missing ones.
  std::span<const std::string_view> roles = {};

  // 5. How people begin a flow or write to it.

  /// A new name for `baton create`; different seeds give different names.
  std::string (*fresh_name)(Time wall, std::string_view seed) = nullptr;
  /// true: a flow begins with a definition file that a person wrote, so `start` refuses a name
  /// without such a file.
  bool defined = false;
  /// Lets `start` and `create` end with wrong usage before a request is queued. Errc::usage: an
  /// argument is unknown. `decide` refuses the same in requests that come another way.
  Result<void> (*check_request)(const Request&) = nullptr;
  /// For the requests `start` and `create`: the writes that begin the flow; none if the flow
  /// already lives. The request's arguments are those of the command. Errc::usage: one is unknown.
  Result<std::vector<Update>> (*create)(const Request&, const View&) = nullptr;
  /// For `baton send`: the text of a mailbox with one more message; missing members are filled in.
  /// Errc::usage: the kind is no mailbox, or the message is invalid. Errc::schema: the file is no
  /// mailbox.
  Result<std::string> (*send)(const Document& mailbox, std::string_view kind, const Value& message,
                              Time wall) = nullptr;

  // 6. How a lost main document comes back.

  /// Where and how documents are backed up, for `Backup` and `recover`.
  BackupPlan (*backups)(const Json& options) = nullptr;
  /// For the request `recover`: versions of the flow's main document rebuilt from what is left,
  /// best first; `why` names the source. Empty: nothing is left. Readable backups are among the
  /// documents, with the kind `backup` and their names as `part`.
  std::vector<Create> (*rebuild)(const View&) = nullptr;
};

}  // namespace baton
