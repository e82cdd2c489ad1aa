// SPDX-License-Identifier: Apache-2.0

// The translator of patterns, and matching: a pattern and a text, with `---` between them.

#include "base/schema/pattern.h"

#include <string>

#include "base/text.h"
#include "base/utf8.h"
#include "fuzz/target.h"

namespace baton {

void fuzz::fuzz_pattern(std::string_view bytes) {
  const auto [source, text] = fuzz::halves(bytes);
  // Schemas and documents are valid UTF-8 by then.
  if (bad_utf8(source) || bad_utf8(text))
    return;
  const auto pattern = Pattern::compile(source);
  if (!pattern) {
    fuzz::demand(pattern.error().code == Errc::schema);
    return;
  }
  const auto first = pattern->search(text);
  const auto second = pattern->search(text);
  fuzz::demand(first.match == second.match && first.steps == second.steps);
}

}  // namespace baton
