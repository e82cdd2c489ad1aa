// The translator of patterns, and matching: a pattern and a text, with `---` between them.

#include "base/schema/pattern.h"

#include <string>

#include "base/text.h"
#include "base/utf8.h"
#include "fuzz/target.h"

namespace baton {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto [source, text] = fuzz::halves(fuzz::text_of(data, size));
  // Schemas and documents are valid UTF-8 by then.
  if (bad_utf8(source) || bad_utf8(text))
    return 0;
  const auto pattern = Pattern::compile(source);
  if (!pattern) {
    fuzz::demand(pattern.error().code == Errc::schema);
    return 0;
  }
  const auto first = pattern->search(text);
  const auto second = pattern->search(text);
  fuzz::demand(first.match == second.match && first.steps == second.steps);
  return 0;
}

}  // namespace baton
