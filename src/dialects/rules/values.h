#pragma once

#include <map>
#include <string>

#include "dialects/rules/memo.h"
#include "dialects/rules/scene.h"

namespace baton::rules {

/// The values of a rule's placeholders for one subject: its `values` and kPlaceholders. A missing
/// value is empty; values that are not texts become JSON.
std::map<std::string, std::string> values_for(const View& view, const Scene& scene,
                                              const Memo& memo, const Subject& subject);

/// The value with its placeholders filled in. A text that is only one placeholder of `values`
/// becomes that value, of any type.
Json filled(const Json& value, const Scene& scene, const Subject& subject,
            const std::map<std::string, std::string>& values);

}  // namespace baton::rules
