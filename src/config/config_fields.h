#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/time.h"

namespace baton {

/// Parses `10MiB`, `512KiB`, `2GB`, `100B`; a bare number is refused, for it has no unit.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// One object of a configuration that fits the schema. Reads members and collects what the schema
/// could not see. Reading a member that is missing gives nothing; so does one that is wrong, which
/// is then among the findings. Document and findings must outlive it.
class Fields {
 public:
  Fields(const Document& document, Findings& findings);

  /// A member that is an object; an empty one when it is missing.
  Fields child(std::string_view name) const;
  /// The members of this object, or the items of this list, each with its place.
  std::vector<std::pair<std::string, Fields>> children() const;

  const Value* value() const { return value_; }
  const Value* value(std::string_view name) const;
  bool has(std::string_view name) const { return value(name) != nullptr; }

  std::optional<std::string> text(std::string_view name) const;
  std::optional<std::uint32_t> count(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;
  std::optional<bool> flag(std::string_view name) const;
  std::optional<Millis> duration(std::string_view name) const;
  std::optional<std::uint64_t> size(std::string_view name) const;
  /// A list of texts; a single text is a list of one.
  std::vector<std::string> texts(std::string_view name) const;

  /// Reports a fault of this value, or of the member of that name.
  void error(std::string_view rule, std::string message, std::string_view name = {}) const;
  void warning(std::string_view rule, std::string message, std::string_view name = {}) const;

 private:
  Fields(const Fields& parent, const Value* value, std::string pointer);
  void report(Severity severity, std::string_view rule, std::string message,
              std::string_view name) const;

  const Document* document_;
  Findings* findings_;
  const Value* value_;
  std::string pointer_;
};

/// Warns where the first wait after a failure is above the longest one, which then cuts it short:
/// `limits` says one of the two, and both are what holds for its runs.
void check_backoff(const Fields& limits, Millis backoff, Millis most);

}  // namespace baton
