// SPDX-License-Identifier: Apache-2.0
#pragma once

// Collects the errors and warnings of one document under the rule ids of a dialect, and builds the
// short texts in their messages. The caller adds file, line and column.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/schema/schema_words.h"

namespace baton {

/// Optional parts of a finding.
struct Detail {
  std::string found;
  std::string expected;
  std::string suggestion;
};

/// Collects the findings of one document under rule ids such as `fsm_loop/S1`. Keeps 100 of each
/// severity and counts the rest, so that a broken file stays cheap.
class FindingList {
 public:
  explicit FindingList(std::string_view dialect) : dialect_(dialect) {}

  void error(std::string_view rule, std::string pointer, const std::string& message,
             const Detail& detail = {});
  void warning(std::string_view rule, std::string pointer, const std::string& message,
               const Detail& detail = {});
  /// The same, with the value that was found and a text that says what is allowed.
  void error(std::string_view rule, std::string pointer, const std::string& message,
             const Value* found, std::string expected = "");
  void warning(std::string_view rule, std::string pointer, const std::string& message,
               const Value* found, std::string expected = "");
  /// Whether further findings of this severity are only counted.
  bool full(Severity severity) const;
  /// Returns the findings and empties the list.
  Findings take();

 private:
  void add(Severity severity, std::string_view rule, std::string pointer,
           const std::string& message, const Detail& detail);
  std::string dialect_;
  Findings findings_;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
};

/// A word of a file, quoted, shortened and printable.
std::string quoted_word(std::string_view word);
/// `"text"`, shortened and printable. For other values see base/schema/schema_words.h.
inline std::string shown(std::string_view text) {
  return shown_name(text);
}
/// Whether a list of texts contains a word. False if the value is not a list.
bool lists(const Value* list, std::string_view word);
/// `"a", "b" or "c"`. Of many words, only the first ones.
std::string any_of_words(std::span<const std::string_view> words);
/// The most similar word. Empty if none is similar, if the word is very long, or if there are very
/// many candidates.
std::string near_word(std::string_view word, std::span<const std::string_view> words);
/// The details for an unknown word: the word itself, the known words, and the most similar of them.
Detail none_of_words(std::string_view word, std::span<const std::string_view> words);
/// The pointer to a member: `/steps/a~1b`.
std::string member_pointer(const std::string& pointer, std::string_view name);
std::string item_pointer(const std::string& pointer, std::size_t index);
/// The longest part of the pointer that exists in the document.
std::string existing_pointer(const Value& root, std::string pointer);

}  // namespace baton
