#pragma once

#include <cstddef>
#include <string_view>

#include "base/json/parse.h"

namespace baton {

/// What the parser stumbled over, as far as RapidJSON's error code says it.
enum class SyntaxKind { value, name, colon, object_end, array_end, number, string, after_end };

/// Says in words what is wrong at `offset`, and whether the text is only not finished yet.
ParseFault syntax_fault(std::string_view text, SyntaxKind kind, std::size_t offset);

}  // namespace baton
