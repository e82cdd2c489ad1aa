#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/result.h"

namespace baton {

/// Gives the text of a schema document by its URI or path, for `$ref`. Errc::not_found when it is
/// not registered. There is no way to the network behind it.
using SchemaFetch = std::function<Result<std::string>(std::string_view uri)>;

/// Patterns and formats are the only parts of a schema that stall; both are bounded, and so is the
/// number of steps of one validation. It grows with the text.
struct SchemaLimits {
  std::size_t max_steps = 5'000'000;
  std::size_t max_steps_per_byte = 1;
  std::size_t max_findings = 100;
  std::size_t steps_for(std::size_t text_bytes) const {
    return max_steps + max_steps_per_byte * text_bytes;
  }
  bool operator==(const SchemaLimits&) const = default;
};

/// A compiled JSON Schema (draft-04, 06, 07 by its `$schema`; without one draft-07). Immutable.
class Schema {
 public:
  virtual ~Schema() = default;
  Schema() = default;
  Schema(const Schema&) = delete;
  Schema& operator=(const Schema&) = delete;
  Schema(Schema&&) = delete;
  Schema& operator=(Schema&&) = delete;

  /// The faults of a document, in document order, with places; none when it is valid. A step or
  /// pattern limit that was hit is a finding (`schema/limit`), never "valid".
  virtual Findings check(const Document& document, const SchemaLimits& limits = {}) const = 0;

  /// What the schema itself lets one doubt: unknown keywords, unknown formats. Places are in the
  /// schema.
  virtual const Findings& lint() const = 0;
};

/// Compiles a schema. A bad one (unknown draft, meta-schema, loop of `$ref`s, pattern that does not
/// compile) is Errc::schema with `uri:line:column` in `where`; a reference that leads nowhere too.
/// `uri` names the schema in messages and is the base of its references.
Result<std::shared_ptr<const Schema>> compile_schema(std::string_view text, std::string_view uri,
                                                     const SchemaFetch& fetch);

}  // namespace baton
