// SPDX-License-Identifier: Apache-2.0
#pragma once

// A rule of the configuration as a struct: its documents, its stage and its reactions.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "core/dialect.h"
#include "dialects/rules/condition.h"

namespace baton::rules {

/// A document of a rule. It has no name if the rule lists it under `files`.
struct Kind {
  std::string name;
  std::string pattern;
  std::string schema;
  bool optional = false;
  /// The document has a name, and its pattern has `{part}`: one file for each subject, named by
  /// `{part}`.
  bool per_subject = false;
};

/// A member and its new value; texts may contain placeholders.
struct Member {
  Place place;
  Json value;
};

/// The approval that a reaction needs.
struct Approval {
  std::optional<Place> decision;  ///< where a file may give the decision; empty: only commands can
  std::vector<Member> rejected;   ///< what baton sets after a rejection
};

/// How often a subject may enter a stage.
struct EntryLimit {
  std::uint64_t count = 20;  ///< 0: no limit
  Millis per{0};             ///< the span; 0: since the subject was last at an end
};

struct Reaction {
  /// A digest of the conditions and of what the reaction sets. It stays the same if the reaction
  /// moves within the rule. Empty if the reaction sets nothing.
  std::string key;
  std::vector<Word> from;  ///< empty: any
  std::vector<Word> to;
  std::vector<Condition> when;  ///< all of them must hold
  /// Only for a reaction that tests all subjects or parts: the name under which the flow's stages
  /// keep whether it holds. It says `to` and `when`, so it stays the same if the reaction moves
  /// within the rule. Empty: the reaction belongs to one subject.
  Subject join;
  std::optional<Approval> approval;
  Role run;
  Role stop;
  bool notify = false;
  std::vector<Member> set;
  Word purpose;
  std::string prompt;        ///< a template; empty: the prompt of the role
  std::string prompt_file;   ///< path of the template as the configuration has it
  std::string prompt_fault;  ///< why the template cannot be used; empty: it can
  std::vector<Word> next;    ///< stages in which the agent may leave the subject; empty: any
  EntryLimit max_entries;
};

/// One entry of `rules:`, normalised by config/config_rules.
struct Rule {
  std::string name;
  std::vector<Kind> kinds;
  Place stage;
  /// `subject_key:`: the member by which elements of lists are known. Empty: see key_member.
  std::string subject_key;
  /// `order:` and `needs:`. With `{subject}` in `stage`, they lead into the subject's element.
  std::optional<Place> order;
  std::optional<Place> needs;
  std::map<std::string, Place> values;  ///< further placeholders
  std::vector<Reaction> react;
  /// `stages:`, else the `enum` of the schema at the place of the stage (config/schema_stages.h).
  /// Empty: the rule does not say which stages there are.
  std::vector<Word> stages;
  std::vector<Word> done;  ///< `done:`: the stages that are ends
  Json limits;
  IgnoredNames ignored;
  std::uint32_t breaker_changes = 240;
  Millis breaker_window{60'000};
};

std::vector<Rule> rules_in(const Json& options);
/// The rule of that name. Empty if there is none.
std::optional<Rule> rule_named(const Json& options, std::string_view name);
/// The rule of a flow. The name of such a flow is `rule` or `rule/{flow}`.
std::optional<Rule> rule_of(const FlowId& flow, const Json& options);
Rule read_rule(const Value& value);

/// Whether an old copy of a file may lack subjects, because all subjects are members of one
/// document (Dialect::remembers). False if each subject has its own file, and for logs.
bool remembers(const Rule& rule);

/// Whether a flow of the rule may have other subjects than `main`.
bool has_many_subjects(const Rule& rule);

/// Whether the pointer of this place is about one subject or part, not about the whole flow.
bool is_of_one_subject(const Rule& rule, const Place& place);

/// The stages of a reaction over all subjects, which the flow keeps under Reaction::join.
inline constexpr std::string_view kMet = "met";
inline constexpr std::string_view kUnmet = "unmet";

/// Whether a reaction over all subjects waits for subjects in this stage.
bool is_awaited(const Rule& rule, const Word& stage);

/// What the agent of the reaction is for: `purpose`, else the stage.
Word purpose_of(const Reaction& reaction, const StageState& state);

/// Whether the reaction is about entering `stage` from `previous`.
bool is_about(const Reaction& reaction, const Word& previous, const Word& stage);

/// Whether the stage is an end by `done:`.
bool is_end(const Rule& rule, const Word& stage);

/// The stages in which the reaction never starts its agent, because another reaction matches first
/// and starts the same role. Each with the index of that reaction. A role starts once per entry, by
/// the first matching reaction.
std::map<Word, std::size_t> outrun(const Rule& rule, std::size_t reaction);

/// Placeholders of every rule, besides those of engine/perform/start_command.h: the subject's
/// stage, the last decision of a person, and the time.
inline constexpr std::string_view kPlaceholders[] = {"comment", "decided_by", "decision", "entry",
                                                     "now",     "previous",   "stage"};

}  // namespace baton::rules
