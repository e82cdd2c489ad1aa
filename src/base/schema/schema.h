// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compiles JSON Schemas and validates documents against them. Every fault has its place in the
// document. A schema never loads anything over the network, and no schema or document can stall
// baton.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/pinned.h"
#include "base/result.h"

namespace baton {

/// Returns the text of a schema document by its URI or path, for `$ref`. Errc::not_found when it is
/// unknown. Never uses the network.
using SchemaFetch = std::function<Result<std::string>(std::string_view uri)>;

/// Limits of one validation. Patterns and formats have their own limits; the number of steps grows
/// with the text.
struct SchemaLimits {
  std::size_t max_steps = 5'000'000;
  std::size_t max_steps_per_byte = 1;
  std::size_t max_findings = 100;
  std::size_t steps_for(std::size_t text_bytes) const {
    return max_steps + max_steps_per_byte * text_bytes;
  }
  bool operator==(const SchemaLimits&) const = default;
};

/// A compiled JSON Schema of draft-04, 06, 07, 2019-09 or 2020-12 by its `$schema`, else draft-07.
/// Immutable. A `$schema` may also name a meta-schema that `SchemaFetch` knows and that is itself
/// of one of these drafts; its `$vocabulary` counts.
class Schema : private Pinned {
 public:
  virtual ~Schema() = default;

  /// The faults of a document in document order, with places; none when it is valid. A validation
  /// that hits a limit gives a finding (`schema/limit`), never "valid".
  virtual Findings check(const Document& document, const SchemaLimits& limits = {}) const = 0;

  /// Warnings about the schema itself: unknown keywords and formats. Places are in the schema.
  virtual const Findings& lint() const = 0;
};

/// Compiles a schema. Errc::schema with `uri:line:column` in `where` for a bad schema: unknown
/// draft, wrong by its meta-schema, endless `$ref`s, a bad pattern, or a reference that leads
/// nowhere. `uri` names the schema in messages and is the base of its references.
Result<std::shared_ptr<const Schema>> compile_schema(std::string_view text, std::string_view uri,
                                                     const SchemaFetch& fetch);

}  // namespace baton
