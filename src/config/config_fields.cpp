// SPDX-License-Identifier: Apache-2.0
#include "config/config_fields.h"

#include <limits>
#include <utility>

#include "base/text.h"

namespace baton {
namespace {

constexpr Millis kLongest = std::chrono::hours(100 * 365 * 24);
constexpr std::size_t kShownBytes = 80;

std::string quoted(std::string_view text) {
  return "'" + printable(text, kShownBytes) + "'";
}

}  // namespace

Fields::Fields(const Document& document, Findings& findings)
    : document_(&document), findings_(&findings), value_(&document.root()) {}

Fields::Fields(const Fields& parent, const Value* value, std::string pointer)
    : document_(parent.document_),
      findings_(parent.findings_),
      value_(value),
      pointer_(std::move(pointer)) {}

Fields Fields::child(std::string_view name) const {
  return {*this, value(name), pointer_ + "/" + json::pointer_token(name)};
}

std::vector<std::pair<std::string, Fields>> Fields::children() const {
  std::vector<std::pair<std::string, Fields>> children;
  if (value_ == nullptr)
    return children;
  if (value_->IsObject()) {
    for (const auto& member : value_->GetObject()) {
      const std::string name(json::text(member.name).value_or(""));
      children.emplace_back(
          name, Fields(*this, &member.value, pointer_ + "/" + json::pointer_token(name)));
    }
  }
  if (value_->IsArray()) {
    for (const auto& item : value_->GetArray()) {
      const std::string name = std::to_string(children.size());
      children.emplace_back(name, Fields(*this, &item, pointer_ + "/" + name));
    }
  }
  return children;
}

const Value* Fields::value(std::string_view name) const {
  return value_ == nullptr ? nullptr : json::child(*value_, name);
}

std::optional<std::string> Fields::text(std::string_view name) const {
  const Value* const member = value(name);
  const auto found = member == nullptr ? std::nullopt : json::text(*member);
  return found ? std::optional<std::string>(*found) : std::nullopt;
}

std::optional<std::uint32_t> Fields::count(std::string_view name) const {
  const Value* const member = value(name);
  const auto found = member == nullptr ? std::nullopt : json::integer(*member);
  if (!found)
    return std::nullopt;
  if (*found < 0 || *found > std::numeric_limits<std::int32_t>::max()) {
    error("number", std::to_string(*found) + " is out of range", name);
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(*found);
}

std::optional<double> Fields::number(std::string_view name) const {
  const Value* const member = value(name);
  return member == nullptr || !member->IsNumber() ? std::nullopt
                                                  : std::optional(member->GetDouble());
}

std::optional<bool> Fields::flag(std::string_view name) const {
  const Value* const member = value(name);
  return member == nullptr ? std::nullopt : json::boolean(*member);
}

std::optional<Millis> Fields::duration(std::string_view name) const {
  const auto found = text(name);
  if (!found)
    return std::nullopt;
  const auto parsed = parse_duration(*found);
  if (!parsed || *parsed > kLongest) {
    error("duration",
          quoted(*found) + " is not a duration; write it as 500ms, 90s, 5m, 1h30m or 2d", name);
    return std::nullopt;
  }
  return parsed;
}

std::optional<std::uint64_t> Fields::size(std::string_view name) const {
  const auto found = text(name);
  if (!found)
    return std::nullopt;
  const auto parsed = parse_size(*found);
  if (!parsed)
    error("size", quoted(*found) + " is not a size; write it as 512KiB, 10MiB or 1GiB", name);
  return parsed;
}

std::vector<std::string> Fields::texts(std::string_view name) const {
  std::vector<std::string> texts;
  const Value* const member = value(name);
  if (member == nullptr)
    return texts;
  if (const auto single = json::text(*member))
    texts.emplace_back(*single);
  if (member->IsArray()) {
    for (const auto& item : member->GetArray())
      texts.emplace_back(json::text(item).value_or(""));
  }
  return texts;
}

void Fields::error(std::string_view rule, std::string message, std::string_view name) const {
  report(Severity::error, rule, std::move(message), name);
}

void Fields::warning(std::string_view rule, std::string message, std::string_view name) const {
  report(Severity::warning, rule, std::move(message), name);
}

void Fields::report(Severity severity, std::string_view rule, std::string message,
                    std::string_view name) const {
  Finding finding;
  finding.severity = severity;
  finding.rule = "config/" + std::string(rule);
  finding.pointer = name.empty() ? pointer_ : pointer_ + "/" + json::pointer_token(name);
  finding.message = std::move(message);
  finding.span = document_->locate(finding.pointer);
  findings_->push_back(std::move(finding));
}

void check_backoff(const Fields& limits, Millis backoff, Millis most) {
  const bool here = limits.has("backoff");
  if (backoff <= most || (!here && !limits.has("max_backoff")))
    return;
  limits.warning("limits",
                 "'backoff' is " + duration_text(backoff) + " and 'max_backoff' is " +
                     duration_text(most) + ": every wait will be " + duration_text(most),
                 here ? "backoff" : "max_backoff");
}

}  // namespace baton
