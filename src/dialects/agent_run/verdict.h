#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.h"

namespace baton::agent_run {

/// A person's word on a waiting step. The comment may be empty.
struct Verdict {
  bool approved = false;
  std::string comment;
  bool operator==(const Verdict&) const = default;
};

/// What a manual input says. Nothing when it says nothing or contradicts itself.
std::optional<Verdict> verdict_of(const Value& input);

/// What one word says, in any case: true approves, false rejects.
std::optional<bool> decision_word(std::string_view word);

}  // namespace baton::agent_run
