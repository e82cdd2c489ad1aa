// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shared by the sources that read `baton.yaml` (config.cpp, config_rules.cpp,
// config_reactions.cpp, config_joins.cpp). The document they read already fits the schema.
// `Fields` reads members and collects the faults that the schema cannot see. Each fault gets the
// place of its member.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/size.h"
#include "base/time.h"
#include "core/flow.h"
#include "dialects/rules/layout.h"

namespace baton {

/// One object of a configuration that fits the schema. A missing or wrong member gives no value; a
/// wrong one also adds a finding. Document and findings must outlive the object.
class Fields {
 public:
  Fields(const Document& document, Findings& findings);

  /// A member that is an object; an empty one when it is missing.
  Fields child(std::string_view name) const;
  /// The members of this object or the items of this list, each with its place.
  std::vector<std::pair<std::string, Fields>> children() const;

  const Value* value() const { return value_; }
  const Value* value(std::string_view name) const;
  bool has(std::string_view name) const { return value(name) != nullptr; }

  std::optional<std::string> text(std::string_view name) const;
  std::optional<std::uint32_t> count(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;
  std::optional<bool> flag(std::string_view name) const;
  std::optional<Millis> duration(std::string_view name) const;
  std::optional<std::uint64_t> size(std::string_view name) const;
  /// A list of texts; a single text counts as a list of one.
  std::vector<std::string> texts(std::string_view name) const;

  /// Adds a finding for this value, or for its member `name`.
  void error(std::string_view rule, std::string message, std::string_view name = {}) const;
  void warning(std::string_view rule, std::string message, std::string_view name = {}) const;

 private:
  Fields(const Fields& parent, const Value* value, std::string pointer);
  void report(Severity severity, std::string_view rule, std::string message,
              std::string_view name) const;

  const Document* document_;
  Findings* findings_;
  const Value* value_;
  std::string pointer_;
};

/// Warns if the first wait after a failure is longer than the longest wait, because the longest
/// wait then applies to every failure. `backoff` and `most` are the values in force; `limits` sets
/// at least one of them.
void check_backoff(const Fields& limits, Millis backoff, Millis most);

/// What is wrong with a pattern of `files:`; empty if nothing is. A pattern is a relative path
/// without `.` and `..`, in which `{flow}` and `{part}` stand for a name.
std::string pattern_fault(std::string_view pattern);

/// Reads `max_entries:` in the form that the dialect `rules` reads: a number, or `{count, per_ms}`.
/// Nothing: there is none, or a fault was added to the findings.
std::optional<Json> entries_of(const Fields& fields);

/// Copies `ignore:` to the options, in the form that the catalog reads (core/catalog.h).
void read_ignored(const Fields& fields, Json& options);

/// What is wrong with a `stage:`; empty if nothing is. A stage is a JSON pointer, in which one
/// token may be `{subject}`. The name of a document may stand before it.
std::string stage_fault(std::string_view pointer);

/// Reads the list `rules:` into the form that the dialect `rules` reads (see Config::dialects).
/// Adds faults to the findings. Limits that a rule does not set come from the common ones.
Json read_rules(const Fields& rules, const RunLimits& run, const RetryLimits& retry);

/// What the reactions of a rule may refer to.
struct RuleNames {
  rules::Place stage;
  std::vector<rules::Kind> kinds;  ///< without names when `files` is not a map
  std::vector<std::string> values;
};

/// Checks a place (a pointer into a document). Adds a finding if the place is invalid or names an
/// unknown document.
void check_place(const Fields& fields, std::string_view name, std::string_view text,
                 const RuleNames& names);

/// A member that is one stage or a list of stages, as a list of words.
Json stages_of(const Fields& fields, std::string_view name);

/// Reads `react:` into the form that the dialect `rules` reads. Adds faults to the findings.
Json read_reactions(const Fields& react, const RuleNames& names);

/// Checks the reactions over all subjects or parts of a flow (`all`, `any`, `none`), and that
/// nothing else of a rule with the one subject `main` is about one part. `out` is the rule as the
/// dialect reads it.
void check_joins(const Fields& rule, const Json& out);

}  // namespace baton