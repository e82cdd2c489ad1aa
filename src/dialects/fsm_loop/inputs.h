#pragma once

#include <string_view>

#include "base/json/json.h"
#include "base/result.h"
#include "dialects/fsm_loop/loop.h"

namespace baton::fsm_loop {

/// Puts the defaults of parameters that were not given into the context. Errc::usage when one that
/// is required is missing, or a value is not of its type.
Result<void> fill_parameters(const Loop& loop, Json& context);

/// The positional input of a start: a JSON object whose members are all known to the context or the
/// parameters is unpacked; else the text is put where `input_key` says.
void unpack_input(const Loop& loop, std::string_view input, Json& context);

/// Errc::usage for a required input that is missing or empty.
Result<void> check_required(const Loop& loop, const Value& context);

}  // namespace baton::fsm_loop
