// SPDX-License-Identifier: Apache-2.0
#include "dialects/findings.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"

namespace baton {
namespace {

constexpr std::size_t kMaxFindings = 100;

Detail detail_of(const Value* found, std::string expected) {
  return {.found = found == nullptr ? "" : shown(*found), .expected = std::move(expected)};
}

}  // namespace

void FindingList::add(Severity severity, std::string_view rule, std::string pointer,
                      const std::string& message, const Detail& detail) {
  constexpr std::size_t kMaxShown = 200;
  const bool kept = !full(severity);
  ++(severity == Severity::error ? errors_ : warnings_);
  if (!kept)
    return;
  Finding finding;
  finding.severity = severity;
  finding.rule = dialect_ + "/" + std::string(rule);
  finding.pointer = std::move(pointer);
  finding.message = printable(message, 4 * kMaxShown);
  finding.found = printable(detail.found, kMaxShown);
  finding.expected = printable(detail.expected, 4 * kMaxShown);
  finding.suggestion = printable(detail.suggestion, kMaxShown);
  findings_.push_back(std::move(finding));
}

void FindingList::error(std::string_view rule, std::string pointer, const std::string& message,
                        const Detail& detail) {
  add(Severity::error, rule, std::move(pointer), message, detail);
}

void FindingList::warning(std::string_view rule, std::string pointer, const std::string& message,
                          const Detail& detail) {
  add(Severity::warning, rule, std::move(pointer), message, detail);
}

void FindingList::error(std::string_view rule, std::string pointer, const std::string& message,
                        const Value* found, std::string expected) {
  add(Severity::error, rule, std::move(pointer), message, detail_of(found, std::move(expected)));
}

void FindingList::warning(std::string_view rule, std::string pointer, const std::string& message,
                          const Value* found, std::string expected) {
  add(Severity::warning, rule, std::move(pointer), message, detail_of(found, std::move(expected)));
}

bool FindingList::full(Severity severity) const {
  return (severity == Severity::error ? errors_ : warnings_) >= kMaxFindings;
}

Findings FindingList::take() {
  if (const std::size_t more = errors_ + warnings_ - findings_.size(); more > 0)
    findings_.push_back({.severity = Severity::warning,
                         .rule = dialect_ + "/more",
                         .message = "and " + std::to_string(more) + " more findings"});
  errors_ = warnings_ = 0;
  return std::exchange(findings_, {});
}

std::string quoted_word(std::string_view word) {
  constexpr std::size_t kMaxWord = 80;
  return "\"" + printable(word, kMaxWord) + "\"";
}

bool lists(const Value* list, std::string_view word) {
  return list != nullptr && list->IsArray() &&
         std::any_of(list->Begin(), list->End(),
                     [&](const Value& item) { return json::text(item) == word; });
}

std::string any_of_words(std::span<const std::string_view> words) {
  constexpr std::size_t kMaxWords = 20;
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i == kMaxWords)
      return text + " ...";
    if (i > 0)
      text += i + 1 == words.size() ? " or " : ", ";
    text += quoted_word(words[i]);
  }
  return text;
}

std::string near_word(std::string_view word, std::span<const std::string_view> words) {
  constexpr std::size_t kMaxWord = 60;
  constexpr std::size_t kMaxCandidates = 500;
  if (word.size() > kMaxWord || words.size() > kMaxCandidates)
    return {};
  const std::vector<std::string> candidates(words.begin(), words.end());
  return nearest(word, candidates).value_or("");
}

Detail none_of_words(std::string_view word, std::span<const std::string_view> words) {
  return {.found = std::string(word),
          .expected = any_of_words(words),
          .suggestion = near_word(word, words)};
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
