#pragma once

// Errors and warnings of one document, under the rule ids of a dialect, and the small texts that
// their messages are made of. The caller adds file, line and column.

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
  /// The same with the value that was found and what is allowed.
  void error(std::string_view rule, std::string pointer, const std::string& message,
             const Value* found, std::string expected = "");
  void warning(std::string_view rule, std::string pointer, const std::string& message,
               const Value* found, std::string expected = "");
  /// Whether further findings of this severity are only counted.
  bool full(Severity severity) const;
  /// Takes the findings; the list is empty then.
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
/// Whether a list of texts contains a word; false for anything but a list.
bool lists(const Value* list, std::string_view word);
/// `"a", "b" or "c"`; only the first ones of many.
std::string any_of_words(std::span<const std::string_view> words);
/// The most similar word, or empty. Empty also for a very long word or very many candidates.
std::string near_word(std::string_view word, std::span<const std::string_view> words);
/// For a word that is none of the known ones: the found, the expected and the nearest.
Detail none_of_words(std::string_view word, std::span<const std::string_view> words);
/// The pointer to a member: `/steps/a~1b`.
std::string member_pointer(const std::string& pointer, std::string_view name);
std::string item_pointer(const std::string& pointer, std::size_t index);
/// The longest part of the pointer that exists in the document.
std::string existing_pointer(const Value& root, std::string pointer);

}  // namespace baton
