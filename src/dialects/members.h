#pragma once

// Members of documents that may be there or not, for reading what is known to fit its schema.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"

namespace baton {

/// A text member, "" when there is none.
std::string text_of(const Value& object, std::string_view name);
/// An integer member, 0 when there is none.
std::int64_t count_of(const Value& object, std::string_view name);

// For prompts.

/// The value as JSON in lines; "" for none and for null.
std::string pretty_text(const Value* value);
/// `- item`, one a line.
std::string list_lines(const std::vector<std::string>& items);

}  // namespace baton
