#include "app/tally.h"

#include <algorithm>

namespace baton {
namespace {

bool breaker_open(const FlowBook& book) {
  return book.held && book.held->reason == "rate_breaker";
}

bool waits_for_place(const FlowBook& book) {
  return std::any_of(book.holds.begin(), book.holds.end(),
                     [](const Hold& hold) { return hold.reason == "no_place"; });
}

/// As `baton status` has it: a file that is wrong holds a flow in which nothing else is.
bool is_held(const FlowBook& book) {
  return !book.holds.empty() || (!book.rejected.empty() && book.decision.declared != kCompleted);
}

}  // namespace

void Tally::add(const FlowBook& book) {
  for (const Run& run : book.runs)
    if (run.live())
      live.emplace(run.id, book.id);
  for (const auto& again : {book.decision.wake, book.decision.tidy})
    if (again)
      wakes.emplace(*again, book.id);
  if (breaker_open(book))
    breakers.emplace(book.calm_at, book.id);
  for (const std::string& path : book.decision.locks)
    ++locks[path];
  awaiting += book.decision.wake ? 1U : 0U;
  failed += book.failed ? 1U : 0U;
  held += is_held(book) ? 1U : 0U;
  no_place += waits_for_place(book) ? 1U : 0U;
}

void Tally::remove(const FlowBook& book) {
  for (const Run& run : book.runs)
    live.erase(run.id);
  for (const auto& again : {book.decision.wake, book.decision.tidy})
    if (again)
      wakes.erase({*again, book.id});
  if (breaker_open(book))
    breakers.erase({book.calm_at, book.id});
  for (const std::string& path : book.decision.locks)
    if (--locks[path] == 0)
      locks.erase(path);
  awaiting -= book.decision.wake ? 1U : 0U;
  failed -= book.failed ? 1U : 0U;
  held -= is_held(book) ? 1U : 0U;
  no_place -= waits_for_place(book) ? 1U : 0U;
}

Tally tally_of(const Books& books) {
  Tally tally;
  for (const auto& [flow, book] : books)
    tally.add(book);
  return tally;
}

const FlowBook* book_of(const Books& books, const Tally& tally, const RunId& run) {
  const auto flow = tally.live.find(run);
  const auto book = flow == tally.live.end() ? books.end() : books.find(flow->second);
  return book == books.end() ? nullptr : &book->second;
}

}  // namespace baton
