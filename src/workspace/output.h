// SPDX-License-Identifier: Apache-2.0
#pragma once

// The output of commands: results go to stdout, messages to stderr. `finish` notices whether stdout
// took everything.

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/result.h"
#include "base/time.h"
#include "core/exit_code.h"
#include "workspace/table.h"

namespace baton {

/// Writes the text to stdout unchanged.
void print(std::string_view text);
/// Writes text for people to stdout. In a job of GitHub Actions no line of it is a command.
void print_text(const std::string& text);
/// Bytes of others as a terminal may get them: line feeds and tabs stay, other control characters
/// are escaped.
std::string for_terminal(std::string_view bytes);
/// Writes one line of JSON to stdout.
void print_line(const Json& value);
/// Writes `baton: ` and the message to stderr. Make text from files `printable` first, because it
/// may contain control sequences.
void complain(std::string_view message);
/// Writes each message only once, because `wait` and `status --watch` look again and again.
void complain_once(const std::string& message);
void warn_once(const std::string& message);
/// Writes an error to stderr and returns its exit code.
ExitCode complain(const Error& error);
/// Flushes stdout. Returns `code`, or 3 if a pipe or disk did not take the whole output.
ExitCode finish(ExitCode code = ExitCode::fine);
/// Sends out what is printed so far, for commands that go on printing.
void flush();

/// Waits that long, for commands that go on printing. False, at once: the reader of stdout is gone.
bool wait_while_read(std::chrono::milliseconds time);

/// Whether the text can be given to a shell as it is: letters, digits, `.`, `_`, `/`, `-`, `@`,
/// `:`,
/// `+`, `,`, `=`, `%` and visible characters that are not ASCII. `--names` prints only such names,
/// because completions and scripts take them for words.
bool is_plain_word(std::string_view text);

bool on_terminal();
/// Text for people, with lines that fit the terminal.
void print_fitted(const std::string& text);

/// `path:line:column: error: message [rule]`, then what was found and what was expected.
std::string finding_text(const std::string& path, const Finding& finding);

/// How long it is from `then` to `now`: "12s", "3m".
std::string span_text(Time then, Time now);
/// "12s ago", "3m ago"; "" if `then` is not set.
std::string ago(Time then, Time now);

}  // namespace baton
