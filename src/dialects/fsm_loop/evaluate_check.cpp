#include "dialects/fsm_loop/evaluate_check.h"

#include <algorithm>
#include <array>

#include "dialects/fsm_loop/comparison.h"
#include "dialects/fsm_loop/evaluators.h"
#include "dialects/fsm_loop/interpolation.h"
#include "dialects/fsm_loop/keys.h"
#include "dialects/fsm_loop/words.h"
#include "dialects/tables.h"

namespace baton::fsm_loop {
namespace {

constexpr std::array<std::string_view, 4> kMcpVerdicts = {"success", "tool_error", "not_found",
                                                          "timeout"};

/// Texts among the needs of an evaluator are filled in at run time.
void placeholders_of(const Value& evaluate, const std::string& pointer, FindingList& findings) {
  for (const char* const key : {"source", "previous", "target", "tolerance", "prompt"})
    if (const auto text = json::text(evaluate, key))
      for (const Placeholder& each : placeholders(*text))
        if (!each.fault.empty())
          findings.error("S9", member_pointer(pointer, key),
                         "the placeholder " +
                             quoted_word(text->substr(each.begin, each.end - each.begin)) +
                             " cannot be filled in: " + each.fault,
                         {.suggestion = each.meant});
}

void needs(const EvaluatorRow& row, const Value& evaluate, const std::string& pointer,
           FindingList& findings) {
  for (const std::string_view key : row.needs) {
    if (key.empty())
      continue;
    const Value* const value = json::child(evaluate, key);
    if (value == nullptr || value->IsNull())
      findings.error("S5", pointer,
                     "the evaluator " + quoted_word(row.word) + " needs `" + std::string(key) + "`",
                     {.expected = std::string(key)});
  }
}

void pattern(const Value& evaluate, const std::string& pointer, FindingList& findings) {
  const auto text = json::text(evaluate, "pattern");
  if (!text)
    return;
  const auto compiled = compile_pattern(*text);
  if (!compiled && compiled.error().code == Errc::usage)
    findings.error("S5", member_pointer(pointer, "pattern"), compiled.error().message,
                   {.found = std::string(*text)});
  else if (!compiled)
    findings.warning("S34", member_pointer(pointer, "pattern"),
                     "the pattern is looked for as plain text: " + compiled.error().message,
                     {.found = std::string(*text), .expected = "a regular expression"});
}

/// The schema of the judge's answers.
void answers(const Value& evaluate, const std::string& pointer, FindingList& findings) {
  const Value* const schema = json::child(evaluate, "schema");
  if (schema == nullptr || !schema->IsObject())
    return;
  const std::string place = member_pointer(pointer, "schema");
  if (const auto compiled = answer_schema(Json(*schema)); !compiled)
    findings.error("S5", place,
                   "no answer of a judge can fit this schema: " + compiled.error().message);
  else if (const Value* const properties = json::child(*schema, "properties");
           properties != nullptr && json::child(*properties, "verdict") == nullptr)
    findings.error("S5", place, "the schema of the judge's answers has no `verdict`",
                   {.expected = "properties: {verdict: ...}"});
}

/// A number, or a text that may become one. Tolerance and previous may be anything: what cannot be
/// read counts as absent.
void target(const Value& evaluate, const std::string& pointer, FindingList& findings) {
  const Value* const value = json::child(evaluate, "target");
  const auto text = value == nullptr ? std::nullopt : json::text(*value);
  if (value == nullptr || value->IsNull() || value->IsNumber() ||
      (text && (computed(*text) || decimal(*text))))
    return;
  findings.error("S5", member_pointer(pointer, "target"),
                 "the target is no number and no text with a placeholder", value,
                 "a number, or ${...}");
}

}  // namespace

void check_evaluate(const Value& evaluate, const std::string& pointer, FindingList& findings) {
  check_evaluate_keys(evaluate, pointer, findings);
  placeholders_of(evaluate, pointer, findings);
  const auto type = json::text(evaluate, "type");
  if (!type) {
    findings.error("S5", pointer, "the evaluator has no type",
                   {.expected = any_of_words(words_of(kEvaluators))});
    return;
  }
  const EvaluatorRow* const row = row_of(kEvaluators, *type);
  if (row == nullptr) {
    const auto words = words_of(kEvaluators);
    findings.error("S5", member_pointer(pointer, "type"),
                   "there is no evaluator " + quoted_word(*type),
                   {.found = std::string(*type),
                    .expected = any_of_words(words),
                    .suggestion = near_word(*type, words)});
    return;
  }
  needs(*row, evaluate, pointer, findings);
  if (row->evaluator == Evaluator::output_contains)
    pattern(evaluate, pointer, findings);
  if (row->evaluator == Evaluator::llm_structured)
    answers(evaluate, pointer, findings);
  if (row->evaluator == Evaluator::output_numeric || row->evaluator == Evaluator::convergence)
    target(evaluate, pointer, findings);
  if (!row->driven)
    findings.warning("S31", member_pointer(pointer, "type"),
                     "baton does not have the evaluator " + quoted_word(*type) +
                         "; it will not start this loop");
}

bool is_declared_verdict(const Value* evaluate, std::string_view verdict) {
  if (evaluate == nullptr)
    return false;
  const auto type = json::text(*evaluate, "type");
  if (type == "classify")
    return true;
  if (type == "mcp_result")
    return std::find(kMcpVerdicts.begin(), kMcpVerdicts.end(), verdict) != kMcpVerdicts.end();
  const Value* const words = json::at(*evaluate, "/schema/properties/verdict/enum");
  if (words == nullptr || !words->IsArray())
    return false;
  return std::any_of(words->Begin(), words->End(),
                     [&](const Value& word) { return json::text(word) == verdict; });
}

}  // namespace baton::fsm_loop
