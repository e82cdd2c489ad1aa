#include "app/ending.h"

#include <algorithm>
#include <utility>

#include "app/status.h"

namespace baton {
namespace {

constexpr Millis kFirstPause{5000};
constexpr Millis kLongestPause{60'000};

bool past_timeout(const Run& run, Time now) {
  return run.limits.timeout != Millis(0) && now - run.started > run.limits.timeout;
}

}  // namespace

void Ending::ask(const Run& run, Time now) {
  const auto asked = agents_.stop(run);
  if (asked) {
    failed_.erase(run.id);
    return;
  }
  Failed& failed = failed_[run.id];
  failed.pause =
      failed.pause == Millis(0) ? kFirstPause : std::min(failed.pause * 2, kLongestPause);
  failed.again = now + failed.pause;
  failed.error = describe(asked.error());
}

void Ending::ask(Books& books, const std::vector<Stop>& stops, Time now) {
  for (const Stop& stop : stops)
    for (auto& [flow, book] : books)
      if (const auto run = book.run(stop.run); run != book.runs.end() && run->live())
        ask(*run, now);
}

void Ending::ask_unjournalled(Books& books, const std::vector<Stop>& stops, Time now) {
  for (const Stop& stop : stops)
    unjournalled_.insert(stop.run);
  ask(books, stops, now);
}

void Ending::ask_again(Books& books, Time now) {
  std::vector<RunId> due;
  for (const auto& [id, failed] : failed_)
    if (failed.again <= now)
      due.push_back(id);
  for (const RunId& id : due) {
    const auto book = std::find_if(books.begin(), books.end(), [&](auto& row) {
      return row.second.run(id) != row.second.runs.end();
    });
    // A stop that was never committed may no longer be wanted.
    if (book == books.end() || book->second.run(id)->state != RunState::stopping)
      failed_.erase(id);
    else
      ask(*book->second.run(id), now);
  }
}

std::optional<Time> Ending::wake() const {
  std::optional<Time> wake;
  for (const auto& [id, failed] : failed_)
    if (!wake || failed.again < *wake)
      wake = failed.again;
  return wake;
}

void Ending::tell(Draft& draft, const Books& books) const {
  for (const auto& [flow, book] : books)
    for (const Run& run : book.runs)
      if (const auto failed = failed_.find(run.id);
          failed != failed_.end() && failed->second.error != failed->second.told)
        draft.event("could_not_stop", flow,
                    failed->second.error + "; tried again until it has ended", run.key.subject,
                    run.key.role, run.id);
}

bool Ending::untold() const {
  return std::any_of(failed_.begin(), failed_.end(),
                     [](const auto& row) { return row.second.error != row.second.told; });
}

void Ending::committed() {
  unjournalled_.clear();
  for (auto& [id, failed] : failed_)
    failed.told = failed.error;
}

Run ended_run(Run run, RunEnd end, Time now) {
  // Beyond its timeout it counts as an attempt, whoever has ended it.
  const bool late = end.outcome == Outcome::stopped && past_timeout(run, now);
  run.state = RunState::ended;
  run.outcome = late ? Outcome::timed_out : end.outcome;
  run.exit_code = end.exit_code;
  run.signal = end.signal;
  run.reason = std::move(end.reason);
  run.output = std::move(end.output);
  run.errors = std::move(end.errors);
  run.duration = end.duration;
  run.ended = now;
  return run;
}

void Ending::enter(Draft& next, const Books& books, RunEnd ended) {
  failed_.erase(ended.run);
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
    run = ended_run(std::move(run), std::move(ended), next.now);
    next.put(book, run);
    next.decide.insert(flow);
    book.last_activity = next.now;
    next.event("ended", flow, ending_text(run), run.key.subject, run.key.role, run.id);
    return;
  }
}

}  // namespace baton
