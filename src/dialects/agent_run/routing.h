#pragma once

#include <string>
#include <vector>

#include "dialects/agent_run/scene.h"

namespace baton::agent_run {

/// Which steps may begin, and what keeps the others; sets the status of the run as a whole.
/// `asked`: the steps whose items were looked for before this deciding.
void route(Scene& scene, const std::vector<std::string>& asked, Decision& decision);

/// The prompt file's text, and the environment of the original (format page).
Brief brief(const View& view, const Desired& desired);

/// The steps whose items have to be looked for.
std::vector<std::string> wanting_items(const Scene& scene);

}  // namespace baton::agent_run
