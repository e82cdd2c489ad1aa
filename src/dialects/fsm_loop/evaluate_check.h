#pragma once

#include <string>
#include <string_view>

#include "base/json/json.h"
#include "dialects/findings.h"

namespace baton::fsm_loop {

/// The rules of one `evaluate` block: its type, and what that type needs.
void check_evaluate(const Value& evaluate, const std::string& pointer, FindingList& findings);

/// Whether the evaluator itself can give the verdict, so that `on_<verdict>` is meant as it is
/// written. `evaluate` may be nullptr.
bool is_declared_verdict(const Value* evaluate, std::string_view verdict);

}  // namespace baton::fsm_loop
