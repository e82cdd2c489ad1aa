// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds JSON in what a program printed: an object or array on one or several lines, JSON lines,
// with other text before, between and after them.

#include <functional>
#include <string>
#include <string_view>

#include "base/json/json.h"

namespace baton {

/// Calls `visit` for each object in the output, in order; of an array, for each of its objects.
/// Text that is no JSON is passed over, also on the line of an object. An object behind a quote or
/// a backtick is a quotation and does not count. Half a surrogate pair becomes U+FFFD, and a number
/// that is none (`NaN`) or is too large (`1e400`) becomes its text. The time is linear in the
/// length of the output.
void for_each_object(std::string_view output, const std::function<void(const Value&)>& visit);

/// The output without the first copy of the prompt, if the prompt stands there as consecutive whole
/// lines. Prompts of less than 40 characters stay, because they may be an answer by chance.
std::string without_echo(std::string output, std::string_view prompt);

/// Takes the first line from a text. The answer is without blanks at its end.
std::string_view take_line(std::string_view& text);

/// The text at the end of the output, at most `lines` lines.
std::string_view last_lines(std::string_view output, std::size_t lines);

}  // namespace baton
