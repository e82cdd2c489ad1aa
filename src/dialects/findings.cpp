#include "dialects/findings.h"

#include <utility>
#include <vector>

#include "base/text.h"

namespace baton {

void FindingList::add(Severity severity, std::string_view rule, std::string pointer,
                      std::string message, Detail detail) {
  constexpr std::size_t kMaxShown = 200;
  Finding finding;
  finding.severity = severity;
  finding.rule = dialect_ + "/" + std::string(rule);
  finding.pointer = std::move(pointer);
  finding.message = std::move(message);
  finding.found = printable(detail.found, kMaxShown);
  finding.expected = std::move(detail.expected);
  finding.suggestion = printable(detail.suggestion, kMaxShown);
  findings_.push_back(std::move(finding));
}

void FindingList::error(std::string_view rule, std::string pointer, std::string message,
                        Detail detail) {
  add(Severity::error, rule, std::move(pointer), std::move(message), std::move(detail));
}

void FindingList::warning(std::string_view rule, std::string pointer, std::string message,
                          Detail detail) {
  add(Severity::warning, rule, std::move(pointer), std::move(message), std::move(detail));
}

Findings FindingList::take() {
  return std::exchange(findings_, {});
}

std::string quoted_word(std::string_view word) {
  constexpr std::size_t kMaxWord = 80;
  return "\"" + printable(word, kMaxWord) + "\"";
}

std::string any_of_words(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0)
      text += i + 1 == words.size() ? " or " : ", ";
    text += quoted_word(words[i]);
  }
  return text;
}

std::string near_word(std::string_view word, std::span<const std::string_view> words) {
  const std::vector<std::string> candidates(words.begin(), words.end());
  return nearest(word, candidates).value_or("");
}

std::string member_pointer(const std::string& pointer, std::string_view name) {
  return pointer + "/" + json::pointer_token(name);
}

std::string item_pointer(const std::string& pointer, std::size_t index) {
  return pointer + "/" + std::to_string(index);
}

std::string existing_pointer(const Value& root, std::string pointer) {
  while (!pointer.empty() && json::at(root, pointer) == nullptr)
    pointer.resize(pointer.rfind('/'));
  return pointer;
}

}  // namespace baton
