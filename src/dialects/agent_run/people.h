#pragma once

#include <optional>

#include "dialects/agent_run/scene.h"

namespace baton::agent_run {

/// Does what a person says by command: approve, reject, answer, skip, retry. Nothing when it is the
/// engine's to deal with: `retry` where no step has failed.
std::optional<Reply> heard(Scene& scene, const Request& request, Decision& decision);

}  // namespace baton::agent_run
