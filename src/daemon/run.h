#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace baton {

class Context;

struct RunArguments {
  std::vector<std::string>
      roots;  ///< as given; empty: those of the configuration, else the context's
  bool once = false;
  bool dry_run = false;
  bool as_json = false;  ///< of the dry run
  bool act_on_existing = false;
};

/// The roots as they were named, without links, each once.
Result<std::vector<std::string>> real_roots(const std::vector<std::string>& named);

/// The daemon, in the foreground. Returns the exit code.
int run_command(RunArguments arguments, const Context& context);

}  // namespace baton
