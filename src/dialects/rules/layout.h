#pragma once

// A rule of the configuration as values: its documents, its stage and its reactions.

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

/// A document of a rule. It has no name in the list form of `files`.
struct Kind {
  std::string name;
  std::string pattern;
  std::string schema;
  bool optional = false;
  /// Named, with `{part}` in its pattern: each file belongs to the subject of that name.
  bool per_subject = false;
};

/// A member and its new value; texts may contain placeholders.
struct Member {
  Place place;
  Json value;
};

/// The approval that a reaction needs.
struct Approval {
  std::optional<Place> decision;  ///< where a file may contain the decision; nothing: only commands
  std::vector<Member> rejected;   ///< set after a rejection
};

struct Reaction {
  /// Identifies the reaction by its conditions and what it sets, wherever it stands in the rule.
  /// Empty if it sets nothing.
  std::string key;
  std::vector<Word> from;  ///< empty: any
  std::vector<Word> to;
  std::vector<Condition> when;  ///< all of them
  std::optional<Approval> approval;
  Role run;
  Role stop;
  bool notify = false;
  std::vector<Member> set;
  Word purpose;
  std::string prompt;        ///< a template; empty: the prompt of the role
  std::string prompt_fault;  ///< why the template cannot be used; empty: it can
  std::vector<Word> next;    ///< stages in which the agent may leave the subject; empty: any
  std::uint64_t max_entries = 0;
};

/// One entry of `rules:`, normalised by config/config_rules.
struct Rule {
  std::string name;
  std::vector<Kind> kinds;
  Place stage;
  std::map<std::string, Place> values;  ///< further placeholders
  std::vector<Reaction> react;
  Json limits;
  std::uint32_t breaker_changes = 240;
  Millis breaker_window{60'000};
};

std::vector<Rule> rules_in(const Json& options);
/// The rule of that name; nothing without one.
std::optional<Rule> rule_named(const Json& options, std::string_view name);
/// The rule of a flow, which is named `rule` or `rule/{flow}`.
std::optional<Rule> rule_of(const FlowId& flow, const Json& options);
Rule read_rule(const Value& value);

/// Whether the subjects are members of one document, of which an old copy may lack some. Files per
/// subject and logs show a new subject by themselves.
bool remembers(const Rule& rule);

/// Whether the reaction is about entering `stage` from `previous`.
bool is_about(const Reaction& reaction, const Word& previous, const Word& stage);

/// Stages in which the reaction never starts its agent, with the number of the reaction that does
/// it first. A role starts once per entry, by the first matching reaction.
std::map<Word, std::size_t> outrun(const Rule& rule, std::size_t reaction);

/// Placeholders of every rule, besides those of engine/perform/start_command.h: the subject's
/// stage, the last decision of a person, and the time.
inline constexpr std::string_view kPlaceholders[] = {"comment", "decided_by", "decision", "entry",
                                                     "now",     "previous",   "stage"};

}  // namespace baton::rules
