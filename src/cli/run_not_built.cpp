// Stands in until the service loop is there.

#include "cli/context.h"
#include "cli/output.h"
#include "cli/run.h"

namespace baton {

int run_command(const RunArguments& /*arguments*/, Context& /*context*/) {
  complain("the daemon is not built in");
  return static_cast<int>(ExitCode::unreachable);
}

}  // namespace baton
