#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "core/catalog.h"

namespace baton {

/// A kind that was named on the command line, with what it belongs to.
class KindChoice {
 public:
  /// `dialect/kind`, or the name of a rule. Errc::usage with what there is.
  static Result<KindChoice> named(const Catalog& catalog, const std::string& name);
  /// A schema by itself; the format goes by the file's name.
  static KindChoice of_schema(const std::string& schema);

  /// How a file is to be judged. What the match points to lives as long as this object.
  Catalog::Match match(const std::string& path) const;
  const Catalog::Entry& entry() const { return *entry_; }
  const FileKind& kind() const { return entry_->kinds.front(); }

 private:
  explicit KindChoice(Catalog::Entry entry, bool by_name);
  std::unique_ptr<const Catalog::Entry> entry_;  ///< of a schema by itself: a kind per format
  bool format_by_name_ = false;
};

/// A path that fits the pattern. `{flow}` is what the file is called, or the folder it lies in
/// where the pattern names folders and the file lies like that; else `document`.
std::string path_in_pattern(const std::string& pattern, const std::string& file);

}  // namespace baton
