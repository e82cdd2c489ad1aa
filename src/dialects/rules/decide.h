// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/dialect.h"
#include "dialects/rules/snapshot.h"

namespace baton::rules {

/// Decides what happens next in the flow. A reaction does its work once per entry into a stage. It
/// waits until its conditions hold and, if it needs approval, until a person has approved it.
Decision decide(const View& view);

/// If the writer of a version cannot have seen what baton set, baton sets it again in that version.
Admission admit(const View& view, const Change& change);

/// `check` reports `rules/stage`, `rules/subject` and `rules/decision` in one document. With
/// `wall`, for `validate`, it also reports what blocks the flow: `rules/unknown_stage`,
/// `rules/no_stage`. `check_flow` reports `rules/subject` if two documents have the stage of one
/// subject.
Findings check(const std::string& path, const Accepted& accepted, const Json& options,
               std::optional<Time> wall);
std::map<std::string, Findings> check_flow(const FlowState& docs, const Json& options);

inline constexpr std::string_view kDecisions = "approve, approved, reject, rejected, true or false";
/// The decision that a file gives, as `approved` or `rejected`. Empty for values that are not in
/// kDecisions.
std::optional<Word> decision_of(const Value& value);

/// Reads the decisions of people from requests and files, and adds them to the memo. Adds the
/// replies, the notices and the moves of used files to `decision`.
void read_decisions(const View& view, const Snapshot& snapshot, Memo& memo, Decision& decision);

/// The hold of a reaction that waits for approval or was rejected. Empty if the reaction may go on.
std::optional<Hold> approval_hold(const View& view, const Snapshot& snapshot, const Memo& memo,
                                  const Reaction& reaction, const Subject& subject);

/// What the reactions of one subject came to.
enum class Due {
  no_reaction,  ///< none is about its stage
  open,         ///< something waits, is blocked or is started
  complete,     ///< all that was due is done
};

/// Collects how the subjects of a flow stand, and says how the flow stands: at its end, with
/// nothing due, without a reaction. Blocks subjects whose stage the rule does not know.
class Standings {
 public:
  /// The arguments must outlive the object.
  Standings(const View& view, const Snapshot& snapshot, Decision& decision);

  void take(const Subject& subject, const StageState& state, Due due);
  /// Takes a reaction over all subjects, which is no subject itself.
  void take_join(Due due) { open_ = open_ || due == Due::open; }
  /// Whether all subjects that were taken are at an end.
  bool all_at_ends() const;
  /// Counts a subject whose stage is disputed.
  void count() { ++subjects_; }
  /// Writes standing, progress and, if there is no stage at all, its hold. The decision must have
  /// its updates by then.
  void finish();

 private:
  Hold unknown(const Subject& subject, const Word& stage) const;

  const View& view_;
  const Rule& rule_;
  const Snapshot& snapshot_;
  Decision& decision_;
  std::vector<Word> known_;  ///< all stages that the rule names
  std::size_t subjects_ = 0;
  bool open_ = false;  ///< a subject at an end, or all of them, have a reaction that is not done
  /// Stages that no reaction is about, with their subjects.
  std::map<std::string, std::vector<std::string>> quiet_;
  std::string question_;            ///< what one of these stages was probably meant to be
  std::set<std::string> complete_;  ///< stages of which all reactions are done
};

/// `the stage is `review``; for other subjects than `main`, `A is in the stage `review``.
std::string stage_text(const Subject& subject, const Word& stage);

/// What to do about a rejected file.
std::string correct(const std::string& path);

/// The values of a rule's placeholders for one subject: the `values` of the rule and kPlaceholders.
/// A missing value is empty. Values that are not texts become JSON.
std::map<std::string, std::string> values_for(const View& view, const Snapshot& snapshot,
                                              const Memo& memo, const Subject& subject);

/// The value with its placeholders filled in. If a text is just one placeholder of the rule's
/// `values`, the result is that value, of any type.
Json filled(const Json& value, const Snapshot& snapshot, const Subject& subject,
            const std::map<std::string, std::string>& values);

/// Edits of one document. If the objects around a member are missing, `set` creates them.
class Edits {
 public:
  void set(const Value& root, const std::string& pointer, const std::string& text);
  const std::vector<json::Edit>& all() const { return all_; }

 private:
  std::vector<json::Edit> all_;
  std::set<std::string> set_;  ///< the pointers of `all_`
};

/// Collects what the reactions of one decision write: one update per file. The memo keeps each
/// written member with its value before, so that baton can repeat a lost write.
class Writes {
 public:
  Writes(const View& view, const Snapshot& snapshot, Memo& memo)
      : view_(view), snapshot_(snapshot), memo_(memo) {}

  /// Sets the members for the subject, once per entry into its stage. `key` names the reaction. If
  /// baton cannot write now, it sets nothing and returns a hold that says why.
  std::optional<Hold> set(const Subject& subject, const std::string& key,
                          const std::vector<Member>& members, const std::string& why);
  /// Whether the reaction has set its members for this entry.
  bool done(const Subject& subject, const std::string& key) const;
  std::vector<Update> updates() const;

 private:
  /// The hold that says why one of the members cannot be set now. Empty if all can be set.
  std::optional<Hold> unwritable(const Subject& subject, const std::vector<Member>& members) const;
  /// Whether all members have their new values already.
  bool stand(const Subject& subject, const std::vector<Member>& members) const;
  /// `pointer`: that of the member in the present version.
  void add(const Accepted& file, const std::string& path, Written member,
           const std::string& pointer);
  void begin(const Accepted& file, const std::string& path);

  struct File {
    Digest assumes;
    Edits edits;
    std::map<std::string, std::size_t> members;  ///< by pointer: index in the latest writing
    std::string why;
  };

  const View& view_;
  const Snapshot& snapshot_;
  Memo& memo_;
  std::map<std::string, File> files_;
};

/// Repeats baton's writes in a version whose writer cannot have seen them, one write after the
/// other. Sets each member that still has the value from before the write. Returns the new text, or
/// an empty one if it sets nothing. Finds the elements of lists by their keys in that version.
std::string with_own_writes(const Document& version, std::span<const Writing> writings,
                            const std::string& subject_key);

}  // namespace baton::rules
