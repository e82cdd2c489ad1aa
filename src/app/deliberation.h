#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "app/book.h"
#include "app/intake.h"
#include "app/library.h"
#include "app/setup.h"
#include "app/updating.h"
#include "core/dialect.h"
#include "core/ports.h"

namespace baton {

/// Steps 5 to 7 of the one path for one flow: rules across documents, generations, the dialect's
/// decision, its updates applied in memory and everything asked again, at most eight times.
class Deliberation {
 public:
  Deliberation(Disk& disk, Library& library, Schemas& schemas, const Catalog& catalog,
               const Intake& intake, const Setup& setup)
      : disk_(disk),
        library_(library),
        intake_(intake),
        catalog_(catalog),
        setup_(setup),
        updating_(schemas, catalog, setup) {}

  /// Leaves decision, holds and stages in the flow's book and the writes in the draft. Errc::io
  /// when the journal's copies cannot be read. `only_look`: nothing is written yet because of what
  /// stands in the files (View::control is idle).
  Result<void> decide(const FlowId& flow, Draft& draft, const std::vector<Request>& requests,
                      bool only_look = false);

  /// The root was away when something was to be read for a decision: what was decided before holds
  /// on, and all is to be decided when it is back. Said once.
  std::optional<Error> away() { return std::exchange(away_, {}); }

  /// Answers a request `start` or `create` of a flow whose dialect has `create`. When it is
  /// refused, the flow is as it was. Errc::io when the journal's copies cannot be read.
  Result<Reply> begin(const Request& request, Draft& draft, const std::vector<Request>& requests);

 private:
  void check(FlowBook& book, const Catalog::Entry& entry, const FlowState& docs, Draft& draft);
  static bool advance(FlowBook& book, const Catalog::Entry& entry, const Stages& stages,
                      Draft& draft);
  std::string update(FlowBook& book, FlowState& docs, Draft& draft);
  std::string settle(View& view, const Catalog::Entry& entry, FlowBook& book, FlowState& docs,
                     Draft& draft);
  /// False: the root is away, and nothing can be decided.
  bool read_more(const View& view, const Dialect& dialect, FlowState& docs);
  /// Errc::away; of a file that cannot be used false.
  Result<bool> read_one(const std::string& path, FlowState& docs);
  static void hold(FlowBook& book, const Catalog::Entry& entry, Time now);

  Disk& disk_;
  Library& library_;
  const Intake& intake_;
  const Catalog& catalog_;
  const Setup& setup_;
  Updating updating_;
  std::optional<Error> away_;
};

}  // namespace baton
