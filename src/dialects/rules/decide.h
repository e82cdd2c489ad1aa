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

/// The dialect's decision. A reaction does its work once per entry into a stage, as soon as its
/// conditions hold and, where it needs one, a person has approved it.
Decision decide(const View& view);

/// A version whose writer cannot have seen what baton set gets that set again.
Admission admit(const View& view, const Change& change);

/// `rules/stage` and `rules/decision` of single documents, `rules/subject` across them.
Findings check(const std::string& path, const Accepted& accepted, const Json& options,
               std::optional<Time> wall);
std::map<std::string, Findings> check_flow(const FlowState& docs, const Json& options);

inline constexpr std::string_view kDecisions = "approve, approved, reject, rejected, true or false";
/// The decision in a file: `approve`, `approved` or true; `reject`, `rejected` or false.
std::optional<Word> decision_of(const Value& value);

/// Takes decisions of people, from requests and files. Adds them to the memo, and replies and moves
/// of used files to the decision.
void read_decisions(const View& view, const Snapshot& snapshot, Memo& memo, Decision& decision);

/// The hold of a reaction that waits for approval or was rejected; nothing when it may go on.
std::optional<Hold> approval_hold(const View& view, const Snapshot& snapshot, const Memo& memo,
                                  const Reaction& reaction, const Subject& subject);

/// The values of a rule's placeholders for one subject: its `values` and kPlaceholders. A missing
/// value is empty; values that are not texts become JSON.
std::map<std::string, std::string> values_for(const View& view, const Snapshot& snapshot,
                                              const Memo& memo, const Subject& subject);

/// The value with its placeholders filled in. A text that is only one placeholder of `values`
/// becomes that value, of any type.
Json filled(const Json& value, const Snapshot& snapshot, const Subject& subject,
            const std::map<std::string, std::string>& values);

/// Edits of one document. The objects a member lies in are made where they are missing.
class Edits {
 public:
  void set(const Value& root, const std::string& pointer, const std::string& text);
  const std::vector<json::Edit>& all() const { return all_; }

 private:
  std::vector<json::Edit> all_;
  std::set<std::string> set_;  ///< their pointers
};

/// What the reactions of one deciding write: one update per file, remembered in the memo with what
/// was there before.
class Writes {
 public:
  Writes(const View& view, const Snapshot& snapshot, Memo& memo)
      : view_(view), snapshot_(snapshot), memo_(memo) {}

  /// Sets the members for the subject, once per entry into its stage; `key` names the reaction. A
  /// file that cannot be written now gives the hold that says so, and nothing is set.
  std::optional<Hold> set(const Subject& subject, const std::string& key,
                          const std::vector<Member>& members, const std::string& why);
  /// That reaction has set them for this entry.
  bool done(const Subject& subject, const std::string& key) const;
  std::vector<Update> updates() const;

 private:
  /// Why one of them cannot be set now.
  std::optional<Hold> unwritable(const Subject& subject, const std::vector<Member>& members) const;
  /// Nothing would be changed by setting them.
  bool stand(const Subject& subject, const std::vector<Member>& members) const;
  void add(const Accepted& file, const std::string& path, const std::string& pointer,
           const Json& value);
  void begin(const Accepted& file, const std::string& path);

  struct File {
    Digest assumes;
    Edits edits;
    std::map<std::string, std::size_t> members;  ///< by pointer, of its last writing
    std::string why;
  };

  const View& view_;
  const Snapshot& snapshot_;
  Memo& memo_;
  std::map<std::string, File> files_;
};

/// The text of a new version whose writer cannot have seen what baton wrote last, with that set in
/// it, one write after the other: each member that still is as it was before. Empty when there is
/// none.
std::string with_own_writes(const Document& version, std::span<const Writing> writings);

}  // namespace baton::rules
