#include "app/ending.h"

#include <algorithm>
#include <utility>

#include "app/status.h"
#include "core/reported.h"

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

void Ending::ask(const Books& books, const Tally& tally, const std::vector<Stop>& stops, Time now) {
  for (const Stop& stop : stops)
    if (const FlowBook* const book = book_of(books, tally, stop.run); book != nullptr)
      ask(*book->run(stop.run), now);
}

void Ending::ask_unjournalled(const Books& books, const Tally& tally,
                              const std::vector<Stop>& stops, Time now) {
  for (const Stop& stop : stops)
    unjournalled_.insert(stop.run);
  ask(books, tally, stops, now);
}

void Ending::ask_again(const Books& books, const Tally& tally, Time now) {
  std::vector<RunId> due;
  for (const auto& [id, failed] : failed_)
    if (failed.again <= now)
      due.push_back(id);
  for (const RunId& id : due) {
    const FlowBook* const book = book_of(books, tally, id);
    // A stop that was never committed may no longer be wanted.
    if (book == nullptr || book->run(id)->state != RunState::stopping)
      failed_.erase(id);
    else
      ask(*book->run(id), now);
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
  if (!untold())
    return;
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
  // Where the dialect has read a report of the agent's already, that counts.
  if (!run.cost_usd && !run.tokens) {
    const Reported reported = reported_in(run.output);
    run.cost_usd = reported.cost_usd;
    run.tokens = reported.tokens;
  }
  run.ended = now;
  return run;
}

void Ending::enter(Draft& next, const Books& books, const Tally& tally, RunEnd ended) {
  failed_.erase(ended.run);
  const FlowBook* const known = book_of(books, tally, ended.run);
  if (known == nullptr)
    return;
  FlowBook& book = next.touch(known->id);
  Run run = *book.run(ended.run);
  if (!run.live())
    return;
  // Only what the journal holds as a stop is one, or would hold if it had room.
  if ((run.state == RunState::stopping || unjournalled_.contains(run.id)) &&
      ended.outcome == Outcome::interrupted)
    ended.outcome = Outcome::stopped;
  run = ended_run(std::move(run), std::move(ended), next.now);
  next.put(book, run);
  next.decide.insert(book.id);
  book.last_activity = next.now;
  next.event("ended", book.id, ending_text(run), run.key.subject, run.key.role, run.id);
}

}  // namespace baton
