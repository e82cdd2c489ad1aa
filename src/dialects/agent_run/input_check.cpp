#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "dialects/agent_run/check.h"
#include "dialects/agent_run/text.h"
#include "dialects/agent_run/words.h"
#include "dialects/findings.h"
#include "dialects/tables.h"

namespace baton::agent_run {
namespace {

template <std::size_t kSize>
std::optional<bool> said(const Value& root, std::string_view key,
                         const std::array<DecisionRow, kSize>& table, FindingList& findings) {
  const auto text = json::text(root, key);
  if (!text)
    return std::nullopt;
  const DecisionRow* const row = row_of(table, upper(*text));
  if (row != nullptr)
    return row->approved;
  const auto words = words_of(table);
  findings.error("S60", member_pointer("", key),
                 quoted_word(*text) + " decides nothing, so the step keeps waiting",
                 {.found = std::string(*text),
                  .expected = any_of_words(words) + ", in any case",
                  .suggestion = near_word(upper(*text), words)});
  return std::nullopt;
}

/// Others, such as `yes`, may be the text that a gate `X: yes` asks for.
bool is_truth_word(const std::string& word) {
  constexpr std::array<std::string_view, 4> kWords = {"TRUE", "FALSE", "", "NULL"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

}  // namespace

Findings check_manual_input(const Value& root) {
  FindingList findings("agent_run");
  const auto approved = json::boolean(root, "approved");
  const auto status = said(root, "status", kStatusDecision, findings);
  const auto decision = said(root, "decision", kDecision, findings);
  const auto contradicts = [](std::optional<bool> one, std::optional<bool> other) {
    return one && other && *one != *other;
  };
  if (contradicts(approved, status) || contradicts(status, decision))
    findings.error("S61", "/status", "status says the opposite of the rest, so nothing is decided",
                   {.found = std::string(*json::text(root, "status"))});
  else if (contradicts(approved, decision))
    findings.error("S61", "/decision",
                   "decision says the opposite of approved, so nothing is decided",
                   {.found = std::string(*json::text(root, "decision"))});
  return findings.take();
}

Findings check_gate_state(const Value& root) {
  FindingList findings("agent_run");
  for (const auto& member : root.GetObject())
    if (const auto text = json::text(member.value); text && is_truth_word(upper(*text)))
      findings.error("S70", member_pointer("", json::name(member.name)),
                     "a gate is opened by true, not by the text " + quoted_word(*text),
                     {.found = json::quote(*text), .expected = "true or false"});
  return findings.take();
}

}  // namespace baton::agent_run
