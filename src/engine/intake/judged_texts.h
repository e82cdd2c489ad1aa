// SPDX-License-Identifier: Apache-2.0
#pragma once

// Remembers what parser and schema said of the texts that were judged last. So a text that stands
// in many files, by hard links or as copies, is judged once, and all of them share one document.
// It compares the whole text, because a digest alone can be forged. It keeps a bounded number of
// bytes, and the caller empties it when no file is left to look at.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/digest.h"
#include "base/json/document.h"
#include "base/schema/schema.h"
#include "engine/intake/document_check.h"

namespace baton {

/// The last results of `check_text`, by schema, format and text.
class JudgedTexts {
 public:
  /// Keeps texts of together at most `most_bytes`, but always the last one.
  explicit JudgedTexts(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// The result of `check_text`, which is called only for a text that is not known. `digest` is
  /// that of the text. The limits must be the same at each call.
  DocumentCheck check(std::string text, const Digest& digest, Format format,
                      const Result<std::shared_ptr<const Schema>>& schema,
                      const LoadLimits& limits);
  void clear();

 private:
  struct Key {
    std::shared_ptr<const Schema> schema;
    Format format = Format::json;
    Digest digest;
    auto operator<=>(const Key&) const = default;
  };
  struct Judged {
    DocumentCheck checked;
    std::string text;  ///< empty if the document has it
    std::uint64_t used = 0;
    const std::string& its_text() const {
      return checked.document ? checked.document->text() : text;
    }
  };
  const DocumentCheck* find(const Key& key, const std::string& text);
  void keep(const Key& key, std::string text, DocumentCheck checked);
  void drop_oldest();

  std::size_t most_bytes_;
  std::map<Key, Judged> known_;
  std::map<std::uint64_t, Key> by_use_;
  std::uint64_t clock_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace baton
