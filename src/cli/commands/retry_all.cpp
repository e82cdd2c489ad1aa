// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/retry_all.h"

#include "base/text.h"
#include "cli/submit_request.h"
#include "core/condition.h"
#include "engine/decide/status.h"
#include "workspace/environment.h"
#include "workspace/other_daemons.h"
#include "workspace/output.h"
#include "workspace/rehearsal.h"

namespace baton {
namespace {

/// Whether the flow stands still and a retry is what it needs.
bool wants_retry(const FlowStatus& status, const std::string& only) {
  const Condition condition = status.cause.condition;
  if (condition != Condition::blocked && condition != Condition::failed)
    return false;
  // Processes of its last run are still there; a person has to end them first.
  if (status.cause.reason == Reason::could_not_stop)
    return false;
  return (only.empty() || only == word(condition)) &&
         status.action.find("baton retry ") != std::string::npos;
}

}  // namespace

ExitCode retry_all(const Context& context, const std::string& only, bool wait) {
  const auto roots = rehearse(with_all_roots(context));
  if (!roots)
    return complain(roots.error());
  ExitCode code = ExitCode::fine;
  bool any = false;
  for (const RehearsedRoot& root : *roots)
    for (const FlowId& flow : root.rehearsal->flows()) {
      const FlowRecord* const record = root.rehearsal->record(flow);
      if (record == nullptr ||
          !wants_retry(status_of(*record, root.rehearsal->plan(), root.rehearsal->root_control()),
                       only))
        continue;
      any = true;
      print(printable(text(flow), 200) + ":\n");
      const Request request{.verb = "retry", .flow = flow, .arguments = Json::object()};
      code = graver(code, submit(root.context, request, wait));
    }
  if (!any)
    print(only == word(Condition::failed) ? "no failed flow waits for a retry\n"
                                          : "no flow waits for a retry\n");
  return finish(code);
}

}  // namespace baton
