#pragma once

#include <set>
#include <vector>

#include "app/book.h"
#include "core/ports.h"
#include "core/reconcile.h"

namespace baton {

/// How runs end: has those end that are to, and enters the ends that came.
class Ending {
 public:
  explicit Ending(Agents& agents) : agents_(agents) {}

  /// Has a run end whose stop is committed.
  void ask(const Run& run);
  void ask(Books& books, const std::vector<Stop>& stops);
  /// The same while the journal has no room for it: ending agents must go on. Forgotten by
  /// `committed`.
  void ask_unjournalled(Books& books, const std::vector<Stop>& stops);
  void committed() { unjournalled_.clear(); }

  /// Enters the end of a live run; of any other nothing is to be said.
  void enter(Draft& draft, const Books& books, RunEnd ended) const;

 private:
  Agents& agents_;
  std::set<RunId> unjournalled_;
};

}  // namespace baton
