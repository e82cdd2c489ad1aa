#pragma once

#include <string>
#include <vector>

namespace baton {

class Context;

struct RunArguments {
  std::vector<std::string>
      roots;  ///< as given; empty: those of the configuration, else the context's
  bool once = false;
  bool dry_run = false;
  bool act_on_existing = false;
};

/// The daemon, in the foreground. Returns the exit code.
int run_command(const RunArguments& arguments, Context& context);

}  // namespace baton
