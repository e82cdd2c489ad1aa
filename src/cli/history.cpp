#include "cli/history.h"

#include <set>
#include <vector>

#include "cli/rehearsal.h"

namespace baton {

Result<std::unique_ptr<JournalReader>> history_of(const Context& context) {
  auto folder = context.state_folder();
  if (!folder)
    return pass_on(folder);
  return read_journal(*folder);
}

Result<FlowId> flow_in(JournalReader& journal, const std::string& name) {
  auto ledger = journal.ledger();
  if (!ledger)
    return pass_on(ledger);
  std::set<FlowId> known;
  for (const auto& [flow, book] : books_of(*ledger))
    if (flow != FlowId{})
      known.insert(flow);
  return choose_flow(name, {known.begin(), known.end()});
}

}  // namespace baton
