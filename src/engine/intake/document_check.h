#pragma once

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
/// or whatever `fetch` knows: files below the configuration.
class Schemas {
 public:
  explicit Schemas(SchemaFetch fetch);
  /// Errc::not_found, Errc::schema.
  Result<std::shared_ptr<const Schema>> get(const std::string& name);
  /// The same for JSON Lines, where it is each record that has to fit.
  Result<std::shared_ptr<const Schema>> for_lines(const std::string& name);
  /// What the documents of a kind have to fit; null when there is nothing.
  Result<std::shared_ptr<const Schema>> of(const FileKind& kind);
  /// One of the texts that `fetch` gave for them and would not give again; nothing when all are as
  /// they were.
  std::optional<std::string> changed() const;

 private:
  Result<std::string> text_of(const std::string& name);
  Result<std::string> fetched(std::string_view uri);
  SchemaFetch fetch_;
  std::map<std::string, Digest, std::less<>> fetched_;  ///< of each URI
  std::map<std::string, std::shared_ptr<const Schema>> compiled_;
};

/// Whether a name stands for a schema of this binary.
bool is_embedded(const std::string& schema);

/// What one text is worth as a document of a kind.
struct DocumentCheck {
  std::shared_ptr<const Document> document;  ///< null when it could not be loaded
  Findings findings;                         ///< in document order; warnings among them
  bool definite = false;                     ///< no writer who is still at it explains it
  bool accepted() const { return document != nullptr && !has_error(findings); }
};

/// Parse, schema, single-document rules: the same for the daemon, `validate` and `explain`.
DocumentCheck check_document(const Catalog::Match& match, const std::string& path, std::string text,
                             Schemas& schemas, const LoadLimits& limits);
/// The same with the schema of the kind at hand, and with the rules about the time, if one is
/// given. Pure: any number of threads may be at it.
DocumentCheck check_document(const Catalog::Match& match, const std::string& path, std::string text,
                             const Result<std::shared_ptr<const Schema>>& schema,
                             const LoadLimits& limits, std::optional<Time> wall = std::nullopt);

/// JSON Lines of which what is in force cannot be had unless it is compared with what was.
/// `needs_line`: so it is where they have no line at all (FileKind).
bool has_lost_its_end(const Document& document, bool needs_line);

/// The verdict on a version that follows on another. JSON Lines whose end cannot be read are
/// refused where what can be is the beginning of what was there: the last line has been lost, and
/// the one in front of it must not take its place. So are such without any line left that need one.
DocumentCheck checked_after(DocumentCheck checked, const Document& before, bool needs_line);

/// A JSON array of findings, as `validate --json` prints them; `path` in each.
std::string findings_json(const std::string& path, const Findings& findings);

}  // namespace baton
