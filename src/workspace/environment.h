#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace baton {

/// So many characters of a run id are shown where a person has to tell runs apart.
inline constexpr std::size_t kShortRunId = 8;

/// A variable of this process; "" when it is not set.
std::string variable(const std::string& name);
/// All of them.
std::vector<std::pair<std::string, std::string>> variables();

/// Has an agent's commands find the state of its root, in the variables it is given.
void tell_place(const std::string& state_folder, std::map<std::string, std::string>& variables);

/// The absolute path of the running binary.
std::string own_path();

/// The shim lies beside the running binary, or where an installation puts it. Errc::not_found.
Result<std::string> find_shim(const std::string& executable);

/// Who runs this command, for the history: `name`, or `name (run ab12cd34)` from inside an agent.
std::string asked_by();

}  // namespace baton
