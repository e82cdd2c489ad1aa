// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files besides baton.yaml that decide what agents do: prompts, schemas, adapters, scripts
// among the arguments of programs. Another user who can write one of them decides what this user
// runs, so `baton run` refuses them as it refuses such a baton.yaml. What agents themselves can
// write works, and `baton doctor` says so.

#include <string>
#include <vector>

#include "base/result.h"
#include "config/setup.h"
#include "workspace/context.h"

namespace baton {

struct DecidingFile {
  std::string what;  ///< for people: "the prompt of the agent `a`"
  std::string path;  ///< absolute, with its links; a regular file was there
};
/// In a stable order, each file once. Files that are not there are left out: who needs them says
/// so.
std::vector<DecidingFile> deciding_files(const Context& context, const Setup& setup);

/// A file or folder that another user can write. `why` names it, its owner and the command that
/// ends it.
struct ForeignFile {
  std::string path;
  std::string why;
};
/// The shim and its folder count too if `shim` is not "", and the folders above the state folder if
/// `state` is not "".
std::vector<ForeignFile> foreign_files(const Context& context, const Setup& setup,
                                       const std::string& shim, const std::string& state);

/// Errc::config: see `foreign_files`.
Result<void> check_files(const Context& context, const Setup& setup, const std::string& shim,
                         const std::string& state);

}  // namespace baton
