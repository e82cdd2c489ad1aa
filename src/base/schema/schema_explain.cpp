// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/schema/schema_walk.h"
#include "base/schema/schema_words.h"

namespace baton {

Finding exhausted_finding(const SchemaExhausted& exhausted) {
  return {.rule = "schema/limit", .message = exhausted.why};
}

Findings explain(const SchemaTree& tree, const Document& document, const SchemaLimits& limits) {
  Findings findings;
  SchemaWalk walk(tree, limits.steps_for(document.text().size()));
  bool all = false;
  try {
    walk.reasons(0, document.root(), findings);
    all = true;
  } catch (const SchemaExhausted& exhausted) {
    // Keep the findings so far; add the one about the value that took too long.
    if (exhausted.at_value || findings.empty())
      findings.push_back(exhausted_finding(exhausted));
    if (exhausted.at_value)
      findings.back().pointer = walk.pointer();
  }
  // Looking up places costs time, so only the first findings are located.
  const std::size_t located = std::min(findings.size(), 4 * limits.max_findings + 1);
  const std::size_t total = findings.size();
  findings.resize(located);
  std::vector<Document::Wanted> wanted;
  for (const Finding& finding : findings)
    wanted.push_back({finding.pointer, finding.rule == "schema/additionalProperties" ||
                                           finding.rule == "schema/unevaluatedProperties" ||
                                           finding.rule == "schema/propertyNames"});
  const std::vector<Span> spans = document.locate(wanted);
  for (Finding& finding : findings) {
    finding.span = spans[static_cast<std::size_t>(&finding - findings.data())];
    if (finding.rule == "schema/required" || finding.rule == "schema/dependencies" ||
        finding.rule == "schema/dependentRequired") {
      finding.span.end = finding.span.begin;
      ++finding.span.end.column;
      ++finding.span.end.offset;
    }
  }
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& one, const Finding& other) {
    return one.span.begin.offset < other.span.begin.offset;
  });
  if (total > limits.max_findings) {
    findings.resize(limits.max_findings);
    const std::string more = count_words(total - limits.max_findings, "more fault", "more faults");
    findings.push_back({.rule = "schema/limit",
                        .message = all ? more : "at least " + more,
                        .span = findings.empty() ? Span{} : findings.back().span});
  }
  return findings;
}

}  // namespace baton
