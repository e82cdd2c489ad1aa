#pragma once

// Members of documents that may be there or not, for reading what is known to fit its schema.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json/json.h"

namespace baton {

/// A text member, "" when there is none.
std::string text_of(const Value& object, std::string_view name);
/// An integer member, 0 when there is none.
std::int64_t count_of(const Value& object, std::string_view name);

}  // namespace baton
