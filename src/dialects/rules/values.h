#pragma once

#include <map>
#include <string>

#include "dialects/rules/memo.h"
#include "dialects/rules/scene.h"

namespace baton::rules {

/// What the placeholders of a rule stand for, for one subject: its `values`, and kPlaceholders.
/// What is not there is the empty text; what is no text is JSON.
std::map<std::string, std::string> values_for(const View& view, const Scene& scene,
                                              const Memo& memo, const Subject& subject);

/// A value to be set with its placeholders filled in. A text that is nothing but one name of
/// `values` becomes what stands there, whatever its type.
Json filled(const Json& value, const Scene& scene, const Subject& subject,
            const std::map<std::string, std::string>& values);

}  // namespace baton::rules
