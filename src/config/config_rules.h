#pragma once

#include <string>
#include <string_view>

#include "base/json/json.h"
#include "config/config_fields.h"
#include "core/flow.h"

namespace baton {

/// What is wrong with a pattern of `files:`; empty when nothing is. Patterns are relative paths
/// without `.` and `..`, in which `{flow}` and `{part}` stand for a name.
std::string pattern_fault(std::string_view pattern);

/// What is wrong with a `stage:`: a JSON pointer in which one token may be `{subject}`, and in
/// front of it may stand the name of a document.
std::string stage_fault(std::string_view pointer);

/// The list `rules:` in the form the dialect reads (config/config.h). Faults go into the findings.
/// What a rule's limits leave out is taken from the common ones.
Json read_rules(const Fields& rules, const RunLimits& run, const RetryLimits& retry);

}  // namespace baton
