// SPDX-License-Identifier: Apache-2.0

// The front-end: a schema and a document, with `---` between them. valijson and the walk that
// explains have to come to the same verdict.

#include "base/schema/schema.h"

#include <string>

#include "base/schema/schema_front.h"
#include "base/schema/schema_walk.h"
#include "fuzz/target.h"

namespace baton {

void fuzz::fuzz_schema(std::string_view bytes) {
  const auto [schema_text, text] = fuzz::halves(bytes);
  const SchemaFetch none = [](std::string_view) { return fail(Errc::not_found, "no such schema"); };
  const auto schema = compile_schema(schema_text, "fuzz.json", none);
  const auto document = load_document(std::string(text), Format::json);
  if (!schema) {
    fuzz::demand(!schema.error().message.empty());
    return;
  }
  if (!document)
    return;
  constexpr std::size_t kSteps = 200'000;
  const Findings findings = (*schema)->check(**document, {.max_steps = kSteps});
  for (const Finding& finding : findings)
    if (finding.rule == "schema/limit")
      return;
  const auto tree = build_schema_tree(schema_text, "fuzz.json", none, false);
  fuzz::demand(tree.has_value());
  try {
    fuzz::demand(SchemaWalk(**tree, kSteps).holds(0, (*document)->root()) == findings.empty());
  } catch (const SchemaExhausted&) {
    return;
  }
}

}  // namespace baton
