#pragma once

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

/// One document of a rule's flows. In the list form of `files` they have no name.
struct Kind {
  std::string name;
  std::string pattern;
  std::string schema;
  bool optional = false;
  /// Named, and `{part}` in its pattern: each such file is about the subject called like that.
  bool per_subject = false;
};

/// A member and what it is set to; texts may hold placeholders.
struct Member {
  Place place;
  Json value;
};

/// What a person decides before a reaction does its work.
struct Approval {
  std::optional<Place> decision;  ///< where a file may say it; nothing: by command only
  std::vector<Member> rejected;   ///< set when the answer is no
};

struct Reaction {
  /// Made of when it is for and of what it sets, so that it is the same one wherever it stands in
  /// the rule; empty where it sets nothing.
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
  std::string prompt;        ///< a template; empty: the role's
  std::string prompt_fault;  ///< not empty: its template cannot be used, and why
  std::vector<Word> next;    ///< where the agent may leave the subject; empty: anywhere
  std::uint64_t max_entries = 0;
};

/// One entry of `rules:`, as config/config_rules has normalised it.
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
/// The rule of that name; nothing when it is not configured.
std::optional<Rule> rule_named(const Json& options, std::string_view name);
/// The rule a flow belongs to: it is called `rule` or `rule/{flow}`.
std::optional<Rule> rule_of(const FlowId& flow, const Json& options);
Rule read_rule(const Value& value);

/// Whether its subjects are members of one document, out of which an old copy may leave some. A
/// file for each, and a log, say by themselves that one is there anew.
bool remembers(const Rule& rule);

/// Whether an entry into `stage` from `previous` is one the reaction is about.
bool is_about(const Reaction& reaction, const Word& previous, const Word& stage);

/// For each stage in which a reaction never starts its agent, the number of the one that always
/// does so instead: a role is started once for an entry, by the first reaction that fits.
std::map<Word, std::size_t> outrun(const Rule& rule, std::size_t reaction);

/// The placeholders every rule has, besides those of engine/perform/start_command.h: of its
/// subject's stage, of the last decision of a person, and the time.
inline constexpr std::string_view kPlaceholders[] = {"comment", "decided_by", "decision", "entry",
                                                     "now",     "previous",   "stage"};

}  // namespace baton::rules
