// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a process of baton knows about itself: its environment variables, its binary, its shim and
// its user.

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace baton {

/// How many characters of a run id commands show to people.
inline constexpr std::size_t kShortRunId = 8;

/// An environment variable of this process; "" if it is not set.
std::string variable(const std::string& name);
/// All environment variables of this process.
std::vector<std::pair<std::string, std::string>> variables();

/// Adds the variable by which commands of an agent find the state folder of their root.
void set_place_variables(const std::string& state_folder,
                         std::map<std::string, std::string>& variables);

/// The absolute path of the running binary.
std::string own_path();

/// Finds baton-shim beside the binary `executable`, or where an installation puts it.
/// Errc::not_found.
Result<std::string> find_shim(const std::string& executable);

/// Who runs this command, for the history: `name`, or `name (run ab12cd34)` if an agent runs it.
std::string asked_by();

}  // namespace baton
