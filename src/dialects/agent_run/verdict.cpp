#include "dialects/agent_run/verdict.h"

#include "dialects/agent_run/check.h"
#include "dialects/agent_run/text.h"
#include "dialects/agent_run/words.h"
#include "dialects/tables.h"

namespace baton::agent_run {

std::optional<Verdict> verdict_of(const Value& input) {
  for (const Finding& finding : check_manual_input(input))
    if (finding.severity == Severity::error)
      return std::nullopt;
  std::optional<bool> approved = json::boolean(input, "approved");
  for (const char* const name : {"status", "decision"})
    if (const auto word = json::text(input, name))
      approved = decision_word(*word);
  if (!approved)
    return std::nullopt;
  Verdict verdict{*approved, {}};
  for (const char* const name : {"comments", "notes"})
    if (verdict.comment.empty())
      verdict.comment = json::text(input, name).value_or("");
  return verdict;
}

std::optional<bool> decision_word(std::string_view word) {
  const std::string said = upper(word);
  if (const DecisionRow* const row = row_of(kStatusDecision, said))
    return row->approved;
  if (const DecisionRow* const row = row_of(kDecision, said))
    return row->approved;
  return std::nullopt;
}

}  // namespace baton::agent_run
