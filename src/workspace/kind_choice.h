// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kind of file that the user names with --as or --schema. Normally the path of a file decides
// its kind (core/catalog.h); here the user decides, for files outside their usual place.

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/catalog.h"

namespace baton {

/// The name of the schema of adapters; see `of_schema`.
inline constexpr std::string_view kAdapterSchema = "adapter";

/// A kind named on the command line, with its dialect and options.
class KindChoice {
 public:
  /// The kind with this name: `dialect/kind`, or the name of a rule. Errc::usage lists all names.
  static Result<KindChoice> named(const Catalog& catalog, const std::string& name);
  /// A kind with this schema and no other rules, but for the built-in schema of adapters. The name
  /// of a file decides its format.
  static KindChoice of_schema(const std::string& schema);

  /// Matches any path. The result points into this object.
  Catalog::Match match(const std::string& path) const;
  const Catalog::Entry& entry() const { return *entry_; }
  const FileKind& kind() const { return entry_->kinds.front(); }

 private:
  explicit KindChoice(Catalog::Entry entry, bool by_name);
  std::unique_ptr<const Catalog::Entry> entry_;  ///< has one kind; with `of_schema` one per format
  bool format_by_name_ = false;
};

/// A path that matches the pattern, for a file outside its usual place. `{flow}` becomes the name
/// of the file, or that of its folder if the pattern has `{flow}` as a folder and the file lies in
/// the same way. If that does not fit, it becomes `document`.
std::string path_in_pattern(const std::string& pattern, const std::string& file);

}  // namespace baton
