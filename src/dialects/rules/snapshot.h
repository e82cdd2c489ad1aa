// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "core/dialect.h"
#include "dialects/rules/layout.h"
#include "dialects/rules/subjects.h"

namespace baton::rules {

// What baton remembers of a rule's flow besides its files. The journal keeps it.

/// The decision of a person.
struct PersonDecision {
  std::string decision;  ///< approved or rejected; empty: none yet
  std::string by;
  std::string comment;
  bool operator==(const PersonDecision&) const = default;
};

/// What baton has done and heard since the subject entered its stage.
struct Entry {
  std::uint64_t generation = 0;
  /// By key of the reaction (with `r` at the end for a rejection) and path: the digest of the file
  /// before the reaction wrote it. A file that still has this digest was not written.
  std::map<std::string, std::map<std::string, std::string>> written;
  /// By path: the arrival of each decision file when the wait began. 0: there was no file.
  std::map<std::string, Arrival> waits;
  PersonDecision said;
};

/// The reply to a request.
struct Answer {
  bool accepted = false;
  std::string message;
};

/// A member that baton wrote, with its values as JSON. If `before` is empty, the member did not
/// exist.
struct Written {
  std::string pointer;  ///< as in the rule: `{subject}` stands for the subject
  Subject subject;
  std::string before;
  std::string after;
};
/// One write of baton to a file. It has no members if baton merged a late write.
struct Writing {
  std::string over;  ///< digest of the version it was based on
  std::vector<Written> members;
};

/// The entries of a subject, for limits that do not count all there ever were (rounds.h).
struct Round {
  std::uint64_t generation = 0;  ///< of the last entry that is in here
  std::uint64_t entries = 0;     ///< StageState::entries then; less now: a person resumed the flow
  bool ended = false;            ///< the subject was at an end: `counts` has the entries since then
  std::map<Word, std::uint64_t> counts;
  /// By stage, if a limit has a span: when it was entered, in milliseconds, the newest last.
  std::map<Word, std::vector<std::int64_t>> times;
};

struct Memo {
  std::map<Subject, Entry> entries;
  std::map<Subject, PersonDecision> said;  ///< by subject: the last decision
  /// By path: baton's writes to the file. Each is based on the result of the write before.
  std::map<std::string, std::vector<Writing>> files;
  std::map<Subject, Round> rounds;
  std::map<std::string, Answer> heard;  ///< by id: replies to requests that the view still has

  /// The entry of this generation. Replaces the entry of an older generation.
  Entry& entry(const Subject& subject, std::uint64_t generation);
};

Memo memo_of(const Json& json);
/// Null if there is nothing to remember.
Json json_of(Memo memo);

/// A stage as a word: a text that is not empty, a number or a boolean. Empty for other values.
std::optional<Word> word_of(const Value* value);
/// The value as JSON. Numbers of one value have one spelling: 1, 1.0 and 1e0.
std::string spelled(const Value& value);

/// The part of a document that counts now: the last line of a log, else the whole document. nullptr
/// if the log has no line yet.
const Value* record_of(const Document& document);

/// The document's name from its kind: `review` from `tickets/review`, empty for `tickets`.
std::string document_name(const std::string& kind);

/// The documents of one flow, as its rule reads them. The arguments of the constructor must outlive
/// it.
class Snapshot {
 public:
  Snapshot(const FlowId& flow, const FlowState& docs, const Rule& rule);

  const Rule& rule() const { return rule_; }
  const Stages& stages() const { return stages_; }
  /// Whether two documents have the stage of this subject. `check_flow` then reports an error,
  /// which holds the flow.
  bool disputed(const Subject& subject) const { return disputed_.contains(subject); }
  /// By subject: the paths of two documents that both have its stage.
  const std::map<Subject, std::pair<std::string, std::string>>& disputes() const {
    return disputed_;
  }

  /// The path of the document with the subject's stage. For a reaction over all subjects: the only
  /// document that may have the stage of several. Empty if there is none.
  std::string holder(const Subject& subject) const;
  /// The path of a place's document, even if the file does not exist. Empty if the document is
  /// unknown, or if the subject's name cannot be part of a path.
  std::string path(const Place& place, const Subject& subject) const;
  /// The document of a place. nullptr if baton knows no version of it, or if it is optional and its
  /// file is gone.
  const Accepted* file(const Place& place, const Subject& subject) const;
  /// The pointer of a place for one subject: in a list, with the index of its element now. Empty if
  /// the list has no such element.
  std::optional<std::string> pointer(const Place& place, const Subject& subject) const;
  /// The value at a place; nullptr if there is none.
  const Value* value(const Place& place, const Subject& subject) const;
  /// By name: the path of each named document. Leaves out documents without a path.
  std::map<std::string, std::string> paths(const Subject& subject) const;

  /// Whether the reaction is about this subject in its stage. A reaction over all subjects is only
  /// about the subject of its own name, once it is met.
  bool concerns(const Reaction& reaction, const Subject& subject, const StageState& state) const;
  /// Whether this is the name of a reaction over all subjects (Reaction::join).
  bool is_join(const Subject& subject) const;
  /// Whether a reaction over all subjects holds: a subject is in a stage of `to`, if it has some,
  /// and all its conditions hold.
  bool holds(const Reaction& join) const;
  /// Whether a reaction over all subjects that does not hold is worth a report: a subject is in a
  /// stage of `to`; without `to`, it has a test `all` and there are subjects.
  bool is_expected(const Reaction& join) const;
  /// The subjects or parts that a test over all looks at, each with its member (nullptr: it has
  /// none). With several subjects these are all of them and all files of the place's document; the
  /// stage of a document beside the parts is none of them. With the one subject `main` they are
  /// those files, or what stands around `{subject}`.
  std::map<Subject, const Value*> over(const Place& place) const;

  bool met(const Condition& condition, const Subject& subject) const;
  /// The first condition of a reaction that does not hold; nullptr if all hold.
  const Condition* unmet(const Reaction& reaction, const Subject& subject) const;

 private:
  const Kind* kind(const std::string& name) const;
  void collect();
  /// The value at a place of this record.
  const Value* member(const Value& record, const Place& place, const Subject& subject) const;
  bool any_in(const std::vector<Word>& stages) const;
  bool is_of_whole_flow(const Subject& subject) const;
  std::map<Subject, const Value*> around(const Place& place) const;
  std::string shared_holder() const;

  const FlowId& flow_;
  const FlowState& docs_;
  const Rule& rule_;
  SubjectPlaces places_;
  Stages stages_;
  std::map<Subject, std::string> holders_;
  std::map<Subject, std::pair<std::string, std::string>> disputed_;
};

}  // namespace baton::rules
