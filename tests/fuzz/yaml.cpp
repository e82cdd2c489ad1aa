// SPDX-License-Identifier: Apache-2.0

// YAML: what was loaded is JSON, which loads again and is the same.

#include <string>

#include "base/json/document.h"
#include "base/json/json.h"
#include "fuzz/target.h"

namespace baton {

void fuzz::fuzz_yaml(std::string_view bytes) {
  const std::string text(bytes);
  const auto document = load_document(text, Format::yaml);
  if (!document) {
    for (const Finding& finding : document.error().findings)
      fuzz::demand(finding.span.begin.offset <= text.size());
    return;
  }
  const auto again = load_document(json::dump((*document)->root()), Format::json);
  fuzz::demand(again.has_value());
  fuzz::demand(json::equal((*again)->root(), (*document)->root()));
  fuzz::demand((*document)->locate("").end.offset <= text.size());
}

}  // namespace baton
