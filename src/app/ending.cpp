#include "app/ending.h"

#include <algorithm>

namespace baton {

void Ending::ask(const Run& run) {
  (void)agents_.stop(run);
}

void Ending::ask(Books& books, const std::vector<Stop>& stops) {
  for (const Stop& stop : stops)
    for (auto& [flow, book] : books)
      if (const auto run = book.run(stop.run); run != book.runs.end() && run->live())
        ask(*run);
}

void Ending::ask_unjournalled(Books& books, const std::vector<Stop>& stops) {
  for (const Stop& stop : stops)
    unjournalled_.insert(stop.run);
  ask(books, stops);
}

void Ending::enter(Draft& next, const Books& books, RunEnd ended) const {
  for (const auto& [flow, known] : books) {
    const bool here = std::any_of(known.runs.begin(), known.runs.end(), [&](const Run& run) {
      return run.id == ended.run && run.live();
    });
    if (!here)
      continue;
    FlowBook& book = next.touch(flow);
    Run run = *book.run(ended.run);
    if (!run.live())
      return;
    // Only what the journal holds as a stop is one, or would hold if it had room.
    if ((run.state == RunState::stopping || unjournalled_.contains(run.id)) &&
        ended.outcome == Outcome::interrupted)
      ended.outcome = Outcome::stopped;
    run.state = RunState::ended;
    run.outcome = ended.outcome;
    run.exit_code = ended.exit_code;
    run.signal = ended.signal;
    run.reason = ended.reason;
    run.ended = next.now;
    next.put(book, run);
    next.decide.insert(flow);
    book.last_activity = next.now;
    next.event("ended", flow,
               std::string(word(run.outcome)) + (run.reason.empty() ? "" : " (" + run.reason + ")"),
               run.key.subject, run.key.role, run.id);
    return;
  }
}

}  // namespace baton
