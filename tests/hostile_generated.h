// SPDX-License-Identifier: Apache-2.0
#pragma once

// Hostile inputs that nobody thought of: a seed gives a schema and a document, each made of parts
// that are dear to process, repeated, nested and now and then cut.

#include <cstdint>
#include <string>

#include "base/json/document.h"

namespace baton::testing {

struct HostileInput {
  std::string schema;
  std::string text;
  Format format = Format::json;
};

/// The same seed gives the same everywhere.
HostileInput generated(std::uint64_t seed);

}  // namespace baton::testing
