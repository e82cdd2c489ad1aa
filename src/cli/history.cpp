#include "cli/history.h"

#include <utility>

#include "app/book.h"
#include "cli/rehearsal.h"

namespace baton {

Result<std::vector<History>> histories_of(const Context& context) {
  std::vector<History> all;
  for (const Context& one : context.each()) {
    auto folder = one.state_folder();
    if (!folder && folder.error().code == Errc::not_found)
      continue;
    if (!folder)
      return pass_on(folder);
    auto journal = read_journal(*folder);
    if (journal)
      all.push_back({one.root(), *std::move(journal)});
    else if (journal.error().code != Errc::not_found)
      return pass_on(journal);
  }
  return all;
}

Result<FlowId> choose_history(std::vector<History>& all, const std::string& name) {
  std::vector<KnownFlows> known;
  for (const History& each : all) {
    auto ledger = each.journal->ledger();
    if (!ledger)
      return pass_on(ledger);
    KnownFlows& one = known.emplace_back(KnownFlows{each.root, {}});
    for (const auto& [flow, book] : books_of(*ledger))
      if (flow != FlowId{})
        one.flows.push_back(flow);
  }
  auto place = choose_flow(name, known);
  if (!place)
    return pass_on(place);
  History chosen = std::move(all[place->root]);
  all.clear();
  all.push_back(std::move(chosen));
  return place->flow;
}

}  // namespace baton
