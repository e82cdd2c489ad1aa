#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "core/dialect.h"
#include "dialects/rules/layout.h"

namespace baton::rules {

// What baton remembers of a flow of a rule besides its files. Kept in the journal.

/// The decision of a person.
struct PersonDecision {
  std::string decision;  ///< approved, rejected; empty: nothing yet
  std::string by;
  std::string comment;
  bool operator==(const PersonDecision&) const = default;
};

/// What was done since the subject entered its stage.
struct Entry {
  std::uint64_t generation = 0;
  /// Digests of files before a reaction wrote them, by key of the reaction (with `r` for a
  /// rejection). An unchanged file was not written.
  std::map<std::string, std::map<std::string, std::string>> written;
  /// Version of each decision file when the wait began, by path; 0: no file.
  std::map<std::string, Arrival> waits;
  PersonDecision said;
};

/// The reply to a request.
struct Answer {
  bool accepted = false;
  std::string message;
};

/// A member that baton wrote, as JSON; empty: it did not exist.
struct Written {
  std::string pointer;
  std::string before;
  std::string after;
};
/// One write of baton to a file. A late write that was merged has no members.
struct Writing {
  std::string over;  ///< digest of the version it was based on
  std::vector<Written> members;
};

struct Memo {
  std::map<Subject, Entry> entries;
  std::map<Subject, PersonDecision> said;  ///< last decision per subject
  /// Writes per path, each based on the result of the one before.
  std::map<std::string, std::vector<Writing>> files;
  std::map<std::string, Answer> heard;  ///< replies to requests that are still shown, by id

  /// The memory of the present entry; an older one is replaced.
  Entry& entry(const Subject& subject, std::uint64_t generation);
};

Memo memo_of(const Json& json);
/// Null without anything to remember.
Json json_of(Memo memo);

/// A stage is a word; a number or a truth value is as good as one.
std::optional<Word> word_of(const Value* value);
/// As JSON, numbers by their value: 1, 1.0 and 1e0 are one word.
std::string spelled(const Value& value);

/// What a document says now: of lines it is the last one. nullptr: there is no line yet.
const Value* record_of(const Document& document);

/// Where each subject of one document stands. With `{subject}` in the pointer each member of the
/// object in front of it is one; members without a stage (comments, metadata) are none.
Stages stages_in(const Value& root, const std::string& pointer, const Subject& otherwise);

/// The name of a document out of its kind: `tickets/review` is `review`, `tickets` has none.
std::string document_name(const std::string& kind);

/// The documents of one flow, seen by its rule. What it was made of has to outlive it.
class Snapshot {
 public:
  Snapshot(const FlowId& flow, const FlowState& docs, const Rule& rule);

  const Rule& rule() const { return rule_; }
  const Stages& stages() const { return stages_; }
  /// Two documents say where it stands; the flow is held.
  bool disputed(const Subject& subject) const { return disputed_.contains(subject); }
  /// By path: the other document that says where a subject of it stands too.
  const std::map<Subject, std::pair<std::string, std::string>>& disputes() const {
    return disputed_;
  }

  /// The path of the document that holds the subject; empty when none does.
  std::string holder(const Subject& subject) const;
  /// The path a place's document has or would have; empty for one nobody can tell, and where the
  /// subject's name cannot be part of a path.
  std::string path(const Place& place, const Subject& subject) const;
  /// The document of a place; nullptr when it is not there.
  const Accepted* file(const Place& place, const Subject& subject) const;
  /// What stands at a place; nullptr when nothing does.
  const Value* value(const Place& place, const Subject& subject) const;
  /// Each named document that has one, with its path.
  std::map<std::string, std::string> paths(const Subject& subject) const;

  /// Whether a condition holds.
  bool met(const Condition& condition, const Subject& subject) const;
  /// The first condition of a reaction that does not hold; nullptr when all do.
  const Condition* unmet(const Reaction& reaction, const Subject& subject) const;

 private:
  const Kind* kind(const std::string& name) const;
  void collect();

  const FlowId& flow_;
  const FlowState& docs_;
  const Rule& rule_;
  Stages stages_;
  std::map<Subject, std::string> holders_;
  std::map<Subject, std::pair<std::string, std::string>> disputed_;
};

}  // namespace baton::rules
