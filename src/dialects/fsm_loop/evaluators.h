#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/schema/pattern.h"
#include "base/schema/schema.h"
#include "dialects/fsm_loop/verdict.h"

namespace baton::fsm_loop {

// The evaluators one by one, for verdict.cpp. `text` is what is judged. Verdicts are in the words
// of the later generation (yes, no); `evaluate` translates.

Verdict by_exit_code(int exit_code);
Verdict by_number(const Judging& judging, std::string_view text);
Verdict by_json(const Judging& judging, std::string_view text);
Verdict by_pattern(const Judging& judging, std::string_view text);
Verdict by_convergence(const Judging& judging, std::string_view text);
Verdict by_token(const Judging& judging, std::string_view text);
Verdict by_mcp_envelope(const Judging& judging, std::string_view text);
Verdict by_score(const Judging& judging, std::string_view text);

/// Whether what the state changes is still changing: `git diff --stat`, as its command gave it.
Verdict by_diff(const Judging& judging);
/// Whether what the state does is still something new.
Verdict by_repetition(const Judging& judging);

/// The judge's answer, as its command gave it.
Verdict by_answer(const Judging& judging, std::string_view text);
/// What the judge is asked; Errc::usage or not_found for a question that cannot be filled in.
Result<SideCommand> question(const Judging& judging, std::string_view text);

/// A pattern of `output_contains`: a regular expression as JSON Schema has them, but `$` also
/// matches before a line feed at the very end, and only a line feed ends a line. Errc::usage for a
/// spelling that only Python has; the message names the right one. Errc::schema for everything else
/// that does not compile; such a pattern is searched for as plain text (S34).
Result<Pattern> compile_pattern(std::string_view text);

/// The schema that an answer of the judge has to fit; it cannot refer to others. Errc::schema.
Result<std::shared_ptr<const Schema>> answer_schema(const Json& schema);

/// A verdict with its details; they become an object.
Verdict said(std::string name, Json details);
Verdict failed(const std::string& why, Json details = Json::object());

/// A text of the evaluator with its placeholders filled in; a value that is no text, as text.
/// Errc::not_found when there is no such member.
Result<std::string> setting(const Judging& judging, std::string_view key);

}  // namespace baton::fsm_loop
