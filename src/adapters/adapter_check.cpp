// SPDX-License-Identifier: Apache-2.0
#include "adapters/adapter_check.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "adapters/adapter.h"
#include "base/text.h"

namespace baton {
namespace {

/// baton puts other arguments in the place of these, so each has to be an argument of its own.
constexpr std::array<std::string_view, 4> kWhole = {"${model}", "${args}", "${session}",
                                                    "${prompt}"};

class Check {
 public:
  explicit Check(const Value& file) : file_(file), adapter_(parse_adapter(file)) {}

  Findings findings() {
    check_includes();
    if (!adapter_ && found_.empty())
      fault("include", "", adapter_.error().message, "");
    if (!adapter_)
      return std::move(found_);
    check_command();
    check_sessions();
    check_prompt();
    return std::move(found_);
  }

 private:
  /// The message ends with what is allowed, because not every report shows `expected`.
  void fault(std::string rule, std::string pointer, std::string message, std::string expected) {
    if (!expected.empty())
      message += "; it has to be " + expected;
    found_.push_back({.severity = Severity::error,
                      .rule = "adapter/" + std::move(rule),
                      .pointer = std::move(pointer),
                      .message = std::move(message),
                      .expected = std::move(expected)});
  }

  bool in_command(std::string_view word) const {
    return std::find(adapter_->argv.begin(), adapter_->argv.end(), word) != adapter_->argv.end();
  }

  void check_includes() {
    const Value* const names = json::child(file_, "include");
    if (names == nullptr)
      return;
    const std::vector<std::string> known = adapter_names();
    std::size_t place = 0;
    for (const Value& each : names->GetArray()) {
      const std::string pointer = "/include/" + std::to_string(place++);
      const std::string name(json::text(each).value_or(""));
      if (!adapter_text(name).empty())
        continue;
      fault("include", pointer, "baton has no adapter of this name", "one of " + join(known, ", "));
      found_.back().found = printable(name, 80);
      found_.back().suggestion = nearest(name, known).value_or("");
    }
  }

  void check_command() {
    if (!adapter_->argv.empty() && adapter_->argv.front().find("${") != std::string::npos)
      fault("command", "/command/0", "the program has to be named, not put in", "a program");
    for (std::size_t i = 0; i < adapter_->argv.size(); ++i)
      for (const std::string_view word : kWhole)
        if (const std::string& text = adapter_->argv[i];
            text != word && text.find(word) != std::string::npos)
          fault("placeholder", "/command/" + std::to_string(i),
                "nobody fills in `" + std::string(word) + "` inside of another text",
                "`" + std::string(word) + "` as an argument of its own");
    const bool has_model = json::child(file_, "model") != nullptr;
    if (in_command("${model}") && !has_model)
      fault("placeholder", "/command", "nobody fills in `${model}`, because there is no `model`",
            "given by the key `model`, for example [--model, \"${model}\"]");
    if (has_model && !in_command("${model}"))
      fault("placeholder", "/model", "these arguments have no place in `command`",
            "`${model}` there");
  }

  void check_sessions() {
    const bool any = !adapter_->session.begin.empty() || !adapter_->session.resume.empty();
    if (any && !in_command("${session}"))
      fault("placeholder", "/session", "these arguments have no place in `command`",
            "`${session}` there");
    // Without the id the program would continue its latest session, which may be another one.
    const bool known = !adapter_->session.begin.empty() || !adapter_->session.id.empty();
    for (const auto& [key, words] : {std::pair{"begin", &adapter_->session.begin},
                                     std::pair{"resume", &adapter_->session.resume}})
      if (known && !words->empty() &&
          std::none_of(words->begin(), words->end(), [](const std::string& text) {
            return text.find("${session}") != std::string::npos;
          }))
        fault("placeholder", std::string("/session/") + key,
              "these arguments do not name the session", "named by `${session}`");
    if (!any && in_command("${session}"))
      fault("placeholder", "/command",
            "nobody fills in `${session}`, because there is no `session` with `begin` or `resume`",
            "given by the key `session`");
  }

  /// The prompt has to get to the program, and in one way only.
  void check_prompt() {
    const bool as_argument = adapter_->prompt == PromptBy::argument;
    if (in_command("${prompt}") != as_argument)
      fault("prompt", "/command",
            as_argument ? "the prompt is to be an argument, and `command` has no `${prompt}`"
                        : "`${prompt}` is only for a prompt that is an argument",
            as_argument ? "an argument of its own" : "prompt: { by: argument }");
    const bool names_file = std::any_of(
        adapter_->argv.begin(), adapter_->argv.end(),
        [](const std::string& text) { return text.find("${prompt_file}") != std::string::npos; });
    if (adapter_->prompt == PromptBy::file && !names_file)
      fault("prompt", "/command", "the prompt is to be a file, and `command` does not name it",
            "named by `${prompt_file}`");
  }

  const Value& file_;
  Result<Adapter> adapter_;
  Findings found_;
};

}  // namespace

Findings adapter_findings(const Value& file) {
  return Check(file).findings();
}

}  // namespace baton
