#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/document.h"
#include "base/schema_words.h"

namespace baton {

/// Collects what the rules of one dialect find in one document.
class Faults {
 public:
  explicit Faults(std::string_view dialect) : dialect_(dialect) {}

  /// `id` is the rule's, without the dialect. `pointer` must lead to a value of the document.
  /// `found` is what stands there, if it helps to show it.
  void error(std::string_view id, std::string pointer, std::string message,
             const Value* found = nullptr, std::string expected = "");
  void warning(std::string_view id, std::string pointer, std::string message,
               const Value* found = nullptr, std::string expected = "");

  Findings take() { return std::move(findings_); }

 private:
  void add(Severity severity, std::string_view id, std::string&& pointer, std::string&& message,
           const Value* found, std::string&& expected);

  std::string dialect_;
  Findings findings_;
};

/// `"text"`, shortened and printable; for values see base/schema_words.h.
inline std::string shown(std::string_view text) {
  return shown_name(text);
}

/// Whether a list of texts has a word. Nothing but a list has any.
bool lists(const Value* list, std::string_view word);

}  // namespace baton
