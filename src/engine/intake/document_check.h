// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks one text as a document of a kind: parse, schema, rules of one document. The daemon,
// `validate` and `explain` share this code, so they agree.
// Rules across documents are not here: see engine/decide/flow_decider.h. Nothing here reads files,
// except that `Schemas` fetches schema files.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "base/json/document.h"
#include "base/result.h"
#include "base/schema/schema.h"
#include "base/time.h"
#include "core/catalog.h"

namespace baton {

/// Schemas by name, compiled once. A name is the path of an embedded file
/// (`schemas/coordination/group_status.schema.json`), its short form (`coordination/group_status`),
/// or anything that `fetch` knows, such as a file below the configuration.
class Schemas {
 public:
  explicit Schemas(SchemaFetch fetch);
  /// Errc::not_found, Errc::schema.
  Result<std::shared_ptr<const Schema>> get(const std::string& name);
  /// The same for JSON Lines: each line has to fit.
  Result<std::shared_ptr<const Schema>> for_lines(const std::string& name);
  /// The schema for documents of a kind; null if the kind has none.
  Result<std::shared_ptr<const Schema>> of(const FileKind& kind);
  /// A schema whose text has changed since `fetch` gave it; nothing if all are as they were.
  std::optional<std::string> changed() const;

 private:
  Result<std::string> text_of(const std::string& name);
  Result<std::string> fetched(std::string_view uri);
  SchemaFetch fetch_;
  std::map<std::string, Digest, std::less<>> fetched_;  ///< digest of each fetched text, by URI
  std::map<std::string, std::shared_ptr<const Schema>> compiled_;
};

/// Whether the name is that of a schema embedded in baton.
bool is_embedded(const std::string& schema);

/// The result of checking one text as a document of a kind.
struct DocumentCheck {
  std::shared_ptr<const Document> document;  ///< null when it could not be loaded
  Findings findings;                         ///< in document order; warnings among them
  bool definite = false;                     ///< wrong for good: more bytes cannot mend the text
  bool accepted() const { return document != nullptr && !has_error(findings); }
};

/// The first two checks, syntax and schema. The result depends on nothing but text, format and
/// schema, so it is the same for all files with this text (judged_texts.h).
DocumentCheck check_text(std::string text, Format format,
                         const Result<std::shared_ptr<const Schema>>& schema,
                         const LoadLimits& limits);
/// The third check: adds what the dialect's rules for one document say. Does nothing after an
/// error.
void check_rules(DocumentCheck& checked, const Catalog::Match& match, const std::string& path,
                 std::optional<Time> wall = std::nullopt);

/// Lines of a log that baton skips because of their length.
Findings long_lines(std::string_view text);

/// Checks syntax, schema and the rules of one document. Stops at the first of these with an error.
DocumentCheck check_document(const Catalog::Match& match, const std::string& path, std::string text,
                             Schemas& schemas, const LoadLimits& limits);
/// The same with a given schema, and with the rules about time if `wall` is set. It is pure, so
/// several threads may call it at the same time.
DocumentCheck check_document(const Catalog::Match& match, const std::string& path, std::string text,
                             const Result<std::shared_ptr<const Schema>>& schema,
                             const LoadLimits& limits, std::optional<Time> wall = std::nullopt);

/// Whether JSON Lines may have lost their last line: baton could not read it, or there is no line
/// although the kind needs one (`needs_line`, see FileKind). Only `checked_after` can tell.
bool has_lost_its_end(const Document& document, bool needs_line);

/// The verdict on a version that follows the accepted version `before`. It refuses JSON Lines that
/// may have lost their last line if the lines left are just the beginning of `before`. Otherwise an
/// earlier line would take the place of the lost one and change the state of the flow.
DocumentCheck checked_after(DocumentCheck checked, const Document& before, bool needs_line);

/// A JSON array of findings as `validate --json` prints them, each with `path`.
std::string findings_json(const std::string& path, const Findings& findings);

/// Whether a document has three quarters of the size that it may have.
bool is_almost_too_large(std::size_t bytes, const LoadLimits& limits);
/// What people are told then.
std::string almost_too_large(std::size_t bytes, const LoadLimits& limits);

}  // namespace baton
