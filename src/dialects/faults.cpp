#include "dialects/faults.h"

#include <algorithm>
#include <utility>

namespace baton {

void Faults::error(std::string_view id, std::string pointer, std::string message,
                   const Value* found, std::string expected) {
  add(Severity::error, id, std::move(pointer), std::move(message), found, std::move(expected));
}

void Faults::warning(std::string_view id, std::string pointer, std::string message,
                     const Value* found, std::string expected) {
  add(Severity::warning, id, std::move(pointer), std::move(message), found, std::move(expected));
}

void Faults::add(Severity severity, std::string_view id, std::string&& pointer,
                 std::string&& message, const Value* found, std::string&& expected) {
  Finding finding;
  finding.severity = severity;
  finding.rule = dialect_ + "/" + std::string(id);
  finding.pointer = std::move(pointer);
  finding.message = std::move(message);
  if (found != nullptr)
    finding.found = shown(*found);
  finding.expected = std::move(expected);
  findings_.push_back(std::move(finding));
}

bool lists(const Value* list, std::string_view word) {
  return list != nullptr && list->IsArray() &&
         std::any_of(list->Begin(), list->End(),
                     [&](const Value& item) { return json::text(item) == word; });
}

}  // namespace baton
