#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "base/text.h"
#include "dialects/fsm_loop/check.h"
#include "dialects/fsm_loop/definition.h"
#include "dialects/fsm_loop/graph.h"
#include "dialects/fsm_loop/interpolation.h"
#include "dialects/fsm_loop/keys.h"
#include "dialects/fsm_loop/state_check.h"

namespace baton::fsm_loop {
namespace {

/// What YAML 1.1 readers, the original's among them, take for something other than text.
constexpr std::array<std::string_view, 7> kYamlWords = {"yes",  "no",    "on",  "off",
                                                        "true", "false", "null"};

class DefinitionCheck {
 public:
  DefinitionCheck(const Value& raw, const std::vector<const Document*>& sources)
      : raw_(raw),
        sources_(sources),
        definition_(resolve(raw_, findings_)),
        root_(*definition_.root) {
    for (const State& state : definition_.states)
      names_.push_back(state.name);
  }

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
    for (const State& state : definition_.states) {
      check_state_body(root_, state, findings_);
      for (const Reference& reference : references(state)) {
        known(reference.pointer, reference.key, reference.target, "S3");
        yaml_words(reference);
      }
    }
    if (definition_.open)
      return;
    terminal();
    limit();
    ways();
  }

  /// The name becomes a part of file names.
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
    const Value* const all = json::child(root_, "parameters");
    if (all == nullptr)
      return;
    for (const auto& member : all->GetObject())
      if (json::boolean(member.value, "required") == true &&
          json::child(member.value, "default") != nullptr)
        findings_.error("S7", member_pointer("/parameters", member.name.GetString()),
                        "a parameter that is required has no use for a default");
  }

  /// Values of the context are not looked into again.
  void context() {
    const Value* const all = json::child(root_, "context");
    if (all == nullptr || !all->IsObject())
      return;
    for (const auto& member : all->GetObject())
      if (const auto text = json::text(member.value); text && computed(*text))
        findings_.warning("S32", member_pointer("/context", member.name.GetString()),
                          "a placeholder in a context value is not filled in; it stays as it is",
                          {.found = std::string(*text)});
  }

  void known(const std::string& pointer, std::string_view key, std::string_view target,
             std::string_view rule) {
    if (definition_.open || definition_.state(target) != nullptr)
      return;
    if (rule != "S1" && (target == "$current" || computed(target)))
      return;
    const std::vector<std::string_view> words(names_.begin(), names_.end());
    findings_.error(
        rule, pointer,
        std::string(key) + " names the state " + quoted_word(target) + ", which does not exist",
        {.found = std::string(target),
         .expected = any_of_words(words),
         .suggestion = near_word(target, words)});
  }

  /// Nothing is known of what does not stand in a file as it is.
  bool quoted(const std::string& pointer, bool key) const {
    for (const Document* const source : sources_) {
      if (json::at(source->root(), pointer) == nullptr)
        continue;
      const std::size_t at = source->locate(pointer, key).begin.offset;
      return at >= source->text().size() || source->text()[at] == '"' || source->text()[at] == '\'';
    }
    return true;
  }

  /// `route: {yes: a}` is a text here and a truth value elsewhere.
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
                      "no state is terminal, so the loop never ends",
                      {.expected = "at least one state with `terminal: true`"});
  }

  /// max_iterations counts states, not rounds.
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
    // Where an imported fragment leads, only the whole shows.
    const bool open = std::any_of(definition_.states.begin(), definition_.states.end(),
                                  [](const State& state) { return state.open; });
    for (std::size_t i = 0; i < reachable.size(); ++i) {
      const State& state = definition_.states[i];
      if (!reachable[i] && !open)
        findings_.warning(
            "S21", state.pointer,
            "the state " + quoted_word(state.name) + " cannot be reached from the initial one");
    }
    for (const Graph::Kept& kept : graph.captured_before())
      check_captured(*kept.state, kept.names, kept.state->name == *initial, findings_);
  }

  const Value& raw_;
  const std::vector<const Document*>& sources_;
  FindingList findings_{"fsm_loop"};
  Definition definition_;
  const Value& root_;  ///< of a short form the long one
  std::vector<std::string> names_;
};

}  // namespace

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
