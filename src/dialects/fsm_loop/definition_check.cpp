// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "base/text.h"
#include "dialects/fsm_loop/check.h"
#include "dialects/fsm_loop/definition.h"
#include "dialects/fsm_loop/loop.h"
#include "dialects/fsm_loop/values.h"
#include "dialects/fsm_loop/verdict.h"
#include "dialects/fsm_loop/words.h"
#include "dialects/kinds.h"
#include "dialects/tables.h"

namespace baton::fsm_loop {

namespace {

constexpr std::array<std::string_view, 4> kMcpVerdicts = {"success", "tool_error", "not_found",
                                                          "timeout"};

/// Checks the placeholders in members of the evaluator.
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
                     "the pattern is searched for as plain text: " + compiled.error().message,
                     {.found = std::string(*text), .expected = "a regular expression"});
}

/// Checks the schema for the judge's answers.
void answers(const Value& evaluate, const std::string& pointer, FindingList& findings) {
  const Value* const schema = json::child(evaluate, "schema");
  if (schema == nullptr || !schema->IsObject())
    return;
  const std::string place = member_pointer(pointer, "schema");
  if (const auto compiled = answer_schema(Json(*schema)); !compiled)
    findings.error(
        "S5", place,
        "this schema cannot be used for the judge's answers: " + compiled.error().message);
  else if (const Value* const properties = json::child(*schema, "properties");
           properties != nullptr && json::child(*properties, "verdict") == nullptr)
    findings.error("S5", place, "the schema of the judge's answers has no `verdict`",
                   {.expected = "properties: {verdict: ...}"});
}

/// Checks the target: a number, or a text with a placeholder. (baton treats an unreadable
/// `tolerance` or `previous` as absent.)
void target(const Value& evaluate, const std::string& pointer, FindingList& findings) {
  const Value* const value = json::child(evaluate, "target");
  const auto text = value == nullptr ? std::nullopt : json::text(*value);
  if (value == nullptr || value->IsNull() || value->IsNumber() ||
      (text && (computed(*text) || decimal(*text))))
    return;
  findings.error("S5", member_pointer(pointer, "target"),
                 "the target is neither a number nor a text with a placeholder", value,
                 "a number, or ${...}");
}

/// Words that YAML 1.1 readers, such as the original's, do not read as text.
constexpr std::array<std::string_view, 7> kYamlWords = {"yes",  "no",    "on",  "off",
                                                        "true", "false", "null"};

class DefinitionCheck {
 public:
  DefinitionCheck(const Value& raw, const std::vector<const Document*>& sources)
      : raw_(raw),
        sources_(sources),
        definition_(resolve(raw_, findings_)),
        root_(*definition_.root) {}

  Judged run() {
    check_top_keys(raw_, findings_);
    name();
    parameters();
    context();
    states();
    return {std::move(definition_), findings_.take()};
  }

 private:
  void states() {
    for (const char* const key : {"initial", "on_max_steps", "on_max_iterations"})
      if (const auto target = json::text(root_, key))
        known(member_pointer("", key), key, *target,
              key == std::string_view("initial") ? "S1" : "S3");
    circuit();
    for (const State& state : definition_.states) {
      check_state_body(root_, state, findings_);
      for (const Reference& reference : references(state)) {
        known(reference.pointer, reference.key, reference.target, "S3");
        yaml_words(reference);
      }
    }
    if (definition_.open)
      return;
    given();
    terminal();
    limit();
    ways();
  }

  void circuit() {
    const Value* const failure = repeated_failure_in(root_);
    if (failure == nullptr)
      return;
    const std::string pointer = "/circuit/repeated_failure";
    if (const auto target = json::text(*failure, "on_repeated_failure");
        target && *target != "abort")
      known(pointer + "/on_repeated_failure", "on_repeated_failure", *target, "S3");
    if (!items_in(*failure, "progress_paths").Empty())
      findings_.warning(
          "S8", pointer + "/progress_paths",
          "baton does not look for progress in these files" + std::string(kRefusedStart));
  }

  /// Checks the name, because it becomes part of file names.
  void name() {
    const auto name = json::text(root_, "name");
    constexpr std::size_t kMaxBytes = 200;
    if (!name)
      return;
    const bool control = std::any_of(name->begin(), name->end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
    if (control || name->starts_with('.') || name->size() > kMaxBytes ||
        name->find_first_of("/\\") != std::string_view::npos)
      findings_.error(
          "S12", "/name", "the name " + quoted_word(*name) + " cannot become a file's name",
          {.found = std::string(*name),
           .expected = "at most 200 bytes, no / \\ or control characters, no leading dot"});
  }

  void parameters() {
    for (const auto& member : members_in(root_, "parameters")) {
      if (json::text(member.value, "type") == "enum" && items_in(member.value, "values").Empty())
        findings_.error("S7", member_pointer("/parameters", member.name.GetString()),
                        "a parameter of the type enum needs its `values`");
      if (json::boolean(member.value, "required") == true &&
          json::child(member.value, "default") != nullptr)
        findings_.error("S7", member_pointer("/parameters", member.name.GetString()),
                        "a required parameter cannot have a default");
    }
  }

  /// Warns about placeholders in the context, because baton does not fill them in.
  void context() {
    for (const auto& member : members_in(root_, "context"))
      if (const auto text = json::text(member.value); text && computed(*text))
        findings_.warning("S32", member_pointer("/context", member.name.GetString()),
                          "a placeholder in a context value is not filled in; it stays as it is",
                          {.found = std::string(*text)});
  }

  /// Warns once about each value of the context that only the start can give.
  void given() {
    std::vector<std::string> known = texts_of(root_, "required_inputs");
    known.emplace_back(json::text(root_, "input_key").value_or("input"));
    known.insert(known.end(), kRunValues.begin(), kRunValues.end());
    for (const char* const key : {"context", "parameters"})
      for (const auto& member : members_in(root_, key))
        known.emplace_back(json::name(member.name));
    for (const NeededValue& each : needed_values(loop_of(*long_form(definition_))))
      if (std::find(known.begin(), known.end(), each.name) == known.end())
        findings_.warning("S37", definition_.state(each.state)->pointer,
                          "nobody gives the value " + quoted_word(each.name) + " that the state " +
                              quoted_word(each.state) + " needs; the start has to, with `--set " +
                              printable(each.name, 80) +
                              "=VALUE`, or the `with` of a loop around this one");
  }

  void known(const std::string& pointer, std::string_view key, std::string_view target,
             std::string_view rule) {
    if (definition_.open || definition_.state(target) != nullptr)
      return;
    if (rule != "S1" && (target == "$current" || computed(target)))
      return;
    std::vector<std::string_view> names;
    for (const State& state : definition_.states)
      names.emplace_back(state.name);
    findings_.error(
        rule, pointer,
        std::string(key) + " names the state " + quoted_word(target) + ", which does not exist",
        none_of_words(target, names));
  }

  /// Whether the text at the pointer has quotes. Also true if no file has this pointer.
  bool quoted(const std::string& pointer, bool key) const {
    for (const Document* const source : sources_) {
      if (json::at(source->root(), pointer) == nullptr)
        continue;
      const std::size_t at = source->locate(pointer, key).begin.offset;
      return at >= source->text().size() || source->text()[at] == '"' || source->text()[at] == '\'';
    }
    return true;
  }

  /// In `route: {yes: a}` baton reads `yes` as text, and YAML 1.1 reads it as a truth value.
  void yaml_words(const Reference& reference) {
    const auto trap = [&](std::string_view word, bool key) {
      if (std::find(kYamlWords.begin(), kYamlWords.end(), lower(word)) == kYamlWords.end() ||
          quoted(reference.pointer, key))
        return;
      findings_.warning(
          "S24", reference.pointer,
          "without quotes " + quoted_word(word) + " is a truth value to older YAML readers",
          {.found = std::string(word), .expected = quoted_word(word)});
    };
    trap(reference.target, false);
    trap(reference.key, true);
  }

  void terminal() {
    const bool any = std::any_of(definition_.states.begin(), definition_.states.end(),
                                 [](const State& state) { return state.terminal() || state.open; });
    if (!any)
      findings_.error("S2", json::child(root_, "flow") != nullptr ? "/flow" : "/states",
                      "no state is terminal, so the loop would never end",
                      {.expected = "at least one state with `terminal: true`"});
  }

  /// Warns about a low max_iterations, because it counts entries of states, not rounds.
  void limit() {
    const auto most = json::integer(root_, "max_iterations");
    const auto working = std::count_if(definition_.states.begin(), definition_.states.end(),
                                       [](const State& state) { return !state.terminal(); });
    if (most && json::child(root_, "max_steps") == nullptr && *most < 2 * working)
      findings_.warning("S28", "/max_iterations",
                        "max_iterations counts entries of states: " + std::to_string(*most) +
                            " of them are less than two rounds through " + std::to_string(working) +
                            " states",
                        {.found = std::to_string(*most)});
  }

  void ways() {
    const auto initial = json::text(root_, "initial");
    if (!initial || definition_.state(*initial) == nullptr)
      return;
    const Graph graph(definition_, root_);
    const std::vector<bool> reachable = graph.reachable();
    // A fragment from another file may lead to the unreachable state.
    const bool open = std::any_of(definition_.states.begin(), definition_.states.end(),
                                  [](const State& state) { return state.open; });
    for (std::size_t i = 0; i < reachable.size(); ++i) {
      const State& state = definition_.states[i];
      if (!reachable[i] && !open)
        findings_.warning(
            "S21", state.pointer,
            "the state " + quoted_word(state.name) + " cannot be reached from the initial one");
    }
    // With more states the search would take too long.
    constexpr std::size_t kMaxStates = 128;
    for (std::size_t i = 0; i < reachable.size() && reachable.size() <= kMaxStates; ++i)
      if (reachable[i])
        check_captured(definition_, i, graph, findings_);
  }

  const Value& raw_;
  const std::vector<const Document*>& sources_;
  FindingList findings_{"fsm_loop"};
  Definition definition_;
  const Value& root_;  ///< the long form of a short form
};

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
  if (row == nullptr)
    return findings.error("S5", member_pointer(pointer, "type"),
                          "there is no evaluator " + quoted_word(*type),
                          none_of_words(*type, words_of(kEvaluators)));
  needs(*row, evaluate, pointer, findings);
  if (row->evaluator == Evaluator::output_contains)
    pattern(evaluate, pointer, findings);
  if (row->evaluator == Evaluator::llm_structured)
    answers(evaluate, pointer, findings);
  if (row->evaluator == Evaluator::output_numeric || row->evaluator == Evaluator::convergence)
    target(evaluate, pointer, findings);
  if (!row->supported)
    findings.warning("S31", member_pointer(pointer, "type"),
                     "baton does not carry out the evaluator " + quoted_word(*type) +
                         std::string(kRefusedStart));
}

bool is_declared_verdict(const Value* evaluate, std::string_view verdict) {
  if (evaluate == nullptr)
    return false;
  const auto type = json::text(*evaluate, "type");
  if (type == "classify")
    return true;
  if (type == "mcp_result")
    return std::find(kMcpVerdicts.begin(), kMcpVerdicts.end(), verdict) != kMcpVerdicts.end();
  return lists(json::at(*evaluate, "/schema/properties/verdict/enum"), verdict);
}

Judged judge_definition(const Value& root, const std::vector<const Document*>& sources) {
  return DefinitionCheck(root, sources).run();
}

Findings check_definition(const Document& document) {
  Findings all = judge_definition(document.root(), {&document}).findings;
  for (Finding& finding : all)
    finding.pointer = existing_pointer(document.root(), std::move(finding.pointer));
  return all;
}

}  // namespace baton::fsm_loop
