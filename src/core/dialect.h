#pragma once

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
#include "core/run.h"

namespace baton {

/// One kind of file of a dialect. `pattern` is a path below the root in which `{flow}` and `{part}`
/// each stand for a safe name within one path segment ("tickets/{flow}.json").
struct FileKind {
  std::string kind;  ///< `pm_state`
  std::string pattern;
  std::string schema;  ///< embedded path (`schemas/x/y.schema.json`) or a file below the
                       ///< configuration; may be empty
  Format format = Format::json;
  /// Name of the flow; may contain `{flow}`. Empty: files of somebody else, known and left alone;
  /// `kind` says whose.
  std::string flow;
  /// true: `{flow}` is any plain name (base/text.h), which a hidden folder has too; false: a safe
  /// one.
  bool loose = false;
  bool essential = true;  ///< while it is gone, the flow starts nothing
  /// false: a log that baton only adds to. `validate` looks into it; a daemon neither reads nor
  /// keeps it, so that a long one costs no more than a short one.
  bool kept = true;
  /// Of JSON Lines: the last one says where the work stands, so that to have none any more is
  /// damage. Else they are a list, which may be empty.
  bool needs_line = false;
  /// A file that changes more often than this within `breaker_window` holds its flow until it is
  /// calm.
  std::uint32_t breaker_changes = 240;
  Millis breaker_window{60'000};
};

/// One accepted document of a flow.
struct Accepted {
  std::shared_ptr<const Document> document;
  std::string kind;
  std::string part;  ///< what `{part}` matched
  Arrival arrival = 0;
  RunId writer;         ///< the only live run when it arrived; `baton` for own writes; else empty
  bool present = true;  ///< false: the file is gone; the last accepted version is kept
  /// A JSON array of findings, when a newer version stands there and was rejected; else empty.
  std::string rejected;
};
/// By path relative to the root.
using FlowState = std::map<std::string, Accepted>;

/// Where each subject stands, as the documents say.
using Stages = std::map<Subject, Word>;

/// The journal's memory of a subject.
/// How long a subject that is gone is remembered, with its runs (see Dialect::remembers).
inline constexpr Millis kRemembered = std::chrono::hours(7 * 24);

struct StageState {
  Word stage;                    ///< empty: the subject is gone
  Word previous;                 ///< the stage before; empty at first
  std::uint64_t generation = 0;  ///< entries into any stage so far
  std::uint64_t entries = 0;     ///< entries into this stage so far
  Time since{};
  Arrival arrival = 0;
  Word earlier{};  ///< of one that is gone: the stage before `previous`
  bool operator==(const StageState&) const = default;
};

/// What the world around a flow offers.
struct Environment {
  std::string root;                              ///< absolute
  std::string configuration_folder;              ///< absolute
  std::string executable;                        ///< absolute path of baton itself
  RetryLimits retry;                             ///< of roles that have none of their own
  RunLimits limits;                              ///< of whatever has none of its own
  std::map<std::string, std::string> variables;  ///< of the daemon's own process
  std::int64_t pid = 0;                          ///< of the daemon; 0: none runs
  /// Whether a process is alive; none: nobody can say.
  std::function<bool(std::int64_t pid)> alive;
  /// An absolute path without links, as far as it exists; none: paths are taken as they are
  /// spelled.
  std::function<std::string(const std::string& path)> real_path;
  std::map<Role, RetryLimits> role_retry;
  std::map<Role, RunLimits> role_limits;
  std::map<Role, std::map<std::string, std::string>> role_env;  ///< what its agents are given
};

/// Everything a dialect may look at. Views do not outlive the call.
struct View {
  const FlowId& flow;
  const FlowState& docs;
  const std::map<Subject, StageState>& stages;  ///< as of this round: already advanced
  std::span<const Run> runs;  ///< of this flow: all live ones and those of present generations
  const Json& memo;
  std::span<const Request> requests;  ///< not yet answered, of this flow or of the root
  const Json& options;
  const Environment& env;
  Time now;   ///< never jumps; for deciding
  Time wall;  ///< for time stamps in files
  /// By path: the findings (a JSON array) of a version that stands in a file of the flow and was
  /// rejected, also where nothing was ever accepted. Filled in for deciding and creating.
  std::map<std::string, std::string> rejected = {};
  /// The digests of those versions: with one, a Move puts such a file aside.
  std::map<std::string, Digest> rejected_digests = {};
  /// The operator's word, for a dialect whose files tell of it; what follows for starts and agents
  /// is the engine's. stop: of this flow by name. Filled in for deciding.
  Control control = Control::run;
  /// A file of the flow stands there as nobody can read it yet: it is looked at again in a moment,
  /// and accepted or rejected then. What an agent that has ended left behind is not known before
  /// that.
  bool being_written = false;
  /// What was desired with `counts_refusal`, would be started now and cannot be → why. Filled in
  /// when a dialect is asked once more about what was planned.
  std::map<Key, std::string> refused = {};
};

enum class Scope { document, flow };

/// Why whoever wrote a version cannot have seen what baton wrote last: that gave way to it, or it
/// was written late, into a version that baton had replaced.
struct Unseen {
  Digest base;  ///< what he had before him at best; baton's writes upon that he has missed
  bool late = false;
};

/// A new version of one file, before it is accepted.
struct Change {
  std::string path;
  std::string kind;
  const Document* before = nullptr;  ///< last accepted; nullptr at first
  const Document& after;
  RunId writer;  ///< as in Accepted
  std::optional<Unseen> unseen = {};
  /// Found at the first look since the daemon began: several may have written it, one after the
  /// other.
  bool first_look = false;
};

/// What a new version means given the old one.
struct Admission {
  enum class Verdict {
    accept,
    merged,   ///< part of it is a stale overwrite: `text` is what should stand there
    restore,  ///< it breaks a rule of ownership or history: the last accepted version goes back
    later,    ///< not complete yet: look again after `again`
  };
  Verdict verdict = Verdict::accept;
  std::string text;
  std::optional<Json> memo;
  Findings findings;
  Millis again{0};
  std::string why;
};

/// What an agent is told.
struct Brief {
  std::string prompt;  ///< where schemas/NAME/prompts has no template for the role
  std::string form;    ///< a template with placeholders, instead of the role's; empty: none
  std::vector<std::pair<std::string, std::string>> env;  ///< besides BATON_*
  /// For `${name}`, besides role, subject, flow ...: all in templates, in commands only
  /// `Dialect::placeholders`.
  std::map<std::string, std::string> values;
  std::string state_file;  ///< relative to the root; the flow's main document
  std::string cwd;         ///< absolute; where the role names no other. Empty: the root
  std::string log;         ///< see Launch::log
};

/// A family of files: pure functions, no state. Any of the pointers may be null where the default
/// (nothing, accept) serves.
struct Dialect {
  std::string_view name;
  /// The verbs of requests it is asked about first (in Decision::replies); what it leaves
  /// unanswered, and all others, the engine deals with.
  std::span<const std::string_view> verbs = {};
  /// The kinds of files, from the dialect's options in `baton.yaml`. Null options: the defaults.
  /// Files that changed together are looked at in this order.
  std::vector<FileKind> (*files)(const Json& options) = nullptr;
  /// Further files to be looked at before each deciding, relative to the root. What is there and
  /// parses (`.yaml` and `.yml` as YAML, of `.jsonl` the last lines, else JSON) stands in the
  /// documents as of the kind `read`; nothing of it is kept or watched.
  std::vector<std::string> (*reads)(const View&) = nullptr;
  Stages (*stages)(const View&) = nullptr;
  Decision (*decide)(const View&) = nullptr;
  /// Rules no schema can state. Scope::document: each document by itself; Scope::flow: across them.
  /// Findings come per path.
  std::map<std::string, Findings> (*check)(const FlowState&, const Json& options, Scope) = nullptr;
  /// Single-document rules that need to know the time, for `validate`; the dialect tells a daemon
  /// about them by notices of its own, since a document is accepted once and time goes on.
  std::map<std::string, Findings> (*check_clock)(const FlowState&, Time wall) = nullptr;
  /// For `validate`: files beyond the flow's own that the rules across documents look into, by path
  /// below the root. Asked again as long as what was read names more. They come as of the kind
  /// `related`; one that is not there without a document and with `present` false.
  std::vector<std::string> (*related)(const FlowState&) = nullptr;
  /// Rules of `check` whose errors across documents do not hold the flow: it goes on, and `decide`
  /// deals with what is wrong.
  std::span<const std::string_view> tolerated = {};
  Admission (*admit)(const View&, const Change&) = nullptr;
  /// `admit` is asked of versions only to which a write of baton's own gave way. For each question
  /// all documents of the flow are opened, and there may be thousands of both.
  bool admits_unseen_only = false;
  /// Whether a subject may be gone by mistake, as where one file has many and an old copy of it is
  /// written. Within kRemembered back in the stage it was in, it has not entered it anew. Without
  /// it, whatever is there again is new.
  bool (*remembers)(const FlowId& flow, const Json& options) = nullptr;
  /// A version that only rules of `check` refuse is shown to `admit` first: what that makes of it
  /// counts if it is accepted.
  bool mends = false;
  /// Where a flow stands is what its files say, not what baton has come to. So nothing is started
  /// where a write of baton's own gave way to a version that is rejected: a person puts that right
  /// first.
  bool files_rule = false;
  /// Its flows begin with a file that somebody wrote, a definition: to `start` a name that no file
  /// has is a slip.
  bool defined = false;
  /// Asked by a command before it hands in a `start` or `create`, so that it can end as wrong
  /// usage: Errc::usage says what of the arguments the dialect does not know. What comes otherwise
  /// than by a command is refused by the dialect all the same.
  Result<void> (*check_request)(const Request&) = nullptr;
  /// For the requests `start` and `create`: the writes that bring the flow to life, or none when it
  /// lives already. What the command was given are members of the request's arguments; one it does
  /// not know is Errc::usage.
  Result<std::vector<Update>> (*create)(const Request&, const View&) = nullptr;
  /// The text of a mailbox with one message more; what a sender may leave out is filled in.
  /// Errc::usage when the kind is no mailbox or the message is none; Errc::schema when the file is
  /// not one.
  Result<std::string> (*send)(const Document& mailbox, std::string_view kind, const Value& message,
                              Time wall) = nullptr;
  Brief (*brief)(const View&, const Desired&) = nullptr;
  /// The names `Brief::values` adds to the placeholders every command may use.
  std::span<const std::string_view> placeholders = {};
  /// The roles its flows ask for by themselves; those that their files name besides are not among
  /// them. For `init`, which writes them, and `run` and `doctor`, which miss them.
  std::span<const std::string_view> roles = {};
  /// A name for a new flow, for `create`; different seeds give different ones.
  std::string (*fresh_name)(Time wall, std::string_view seed) = nullptr;
  /// Where and how the flows' documents are backed up; for `Backup` and `recover`.
  BackupPlan (*backups)(const Json& options) = nullptr;
  /// For the request `recover`: the flow's main document as it can be rebuilt from what else is
  /// known, best first; `why` says from what. Empty: from nothing. Backups that can be read are
  /// among the documents, of the kind `backup`, their names as `part`.
  std::vector<Create> (*rebuild)(const View&) = nullptr;
};

}  // namespace baton
