#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "config/setup.h"
#include "core/dialect.h"
#include "core/ports.h"
#include "engine/decide/update_builder.h"
#include "engine/intake/document_store.h"
#include "engine/intake/intake.h"
#include "engine/state/flow_record.h"

namespace baton {

/// Steps 5 to 7 of the one path for one flow: rules across documents, generations, the dialect's
/// decision, its updates applied in memory and everything asked again, at most eight times.
class FlowDecider {
 public:
  FlowDecider(Disk& disk, DocumentStore& documents, Schemas& schemas, const Catalog& catalog,
              const Intake& intake, const Setup& setup)
      : disk_(disk),
        documents_(documents),
        intake_(intake),
        catalog_(catalog),
        setup_(setup),
        update_builder_(schemas, catalog, setup) {}

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
  void check(FlowRecord& record, const Catalog::Entry& entry, const FlowState& docs, Draft& draft);
  static bool advance(FlowRecord& record, const Catalog::Entry& entry, const Stages& stages,
                      Draft& draft);
  std::string update(FlowRecord& record, FlowState& docs, Draft& draft);
  std::string settle(View& view, const Catalog::Entry& entry, FlowRecord& record, FlowState& docs,
                     Draft& draft);
  /// False: the root is away, and nothing can be decided.
  bool read_more(const View& view, const Dialect& dialect, FlowState& docs);
  /// Errc::away; of a file that cannot be used false.
  Result<bool> read_one(const std::string& path, FlowState& docs);
  static void hold(FlowRecord& record, const Catalog::Entry& entry, Time now);

  Disk& disk_;
  DocumentStore& documents_;
  const Intake& intake_;
  const Catalog& catalog_;
  const Setup& setup_;
  UpdateBuilder update_builder_;
  std::optional<Error> away_;
};

}  // namespace baton
