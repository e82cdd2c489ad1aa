#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/schema/schema_words.h"

namespace baton {

/// What a finding says besides its message.
struct Detail {
  std::string found;
  std::string expected;
  std::string suggestion;
};

/// Collects the findings of one document under the rule ids of one dialect (`fsm_loop/S1`). Keeps
/// 100 of each severity and counts the others, so that a file of nothing but faults stays cheap.
class FindingList {
 public:
  explicit FindingList(std::string_view dialect) : dialect_(dialect) {}

  void error(std::string_view rule, std::string pointer, const std::string& message,
             const Detail& detail = {});
  void warning(std::string_view rule, std::string pointer, const std::string& message,
               const Detail& detail = {});
  /// The same with the value that stands there, if it helps to show it, and what is allowed.
  void error(std::string_view rule, std::string pointer, const std::string& message,
             const Value* found, std::string expected = "");
  void warning(std::string_view rule, std::string pointer, const std::string& message,
               const Value* found, std::string expected = "");
  /// Further ones of this severity are only counted.
  bool full(Severity severity) const;
  /// The document's findings; the list is empty then.
  Findings take();

 private:
  void add(Severity severity, std::string_view rule, std::string pointer,
           const std::string& message, const Detail& detail);
  std::string dialect_;
  Findings findings_;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
};

/// A word out of a file, quoted, short and printable: for messages.
std::string quoted_word(std::string_view word);
/// `"text"`, shortened and printable; for values see base/schema/schema_words.h.
inline std::string shown(std::string_view text) {
  return shown_name(text);
}
/// Whether a list of texts has a word. Nothing but a list has any.
bool lists(const Value* list, std::string_view word);
/// `"a", "b" or "c"`; of many only the first ones.
std::string any_of_words(std::span<const std::string_view> words);
/// The nearest of the words, or nothing to suggest; nor is there among very many or for a very
/// long word.
std::string near_word(std::string_view word, std::span<const std::string_view> words);
/// The pointer to a member: `/steps/a~1b`.
std::string member_pointer(const std::string& pointer, std::string_view name);
std::string item_pointer(const std::string& pointer, std::size_t index);
/// The longest part of the pointer that leads to something in the document.
std::string existing_pointer(const Value& root, std::string pointer);

}  // namespace baton
