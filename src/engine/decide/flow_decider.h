// SPDX-License-Identifier: Apache-2.0
#pragma once

// Steps 5 to 7 of the one path (src/README.md), for one flow: rules across documents, generations,
// and the dialect's decision. The updates of a decision are applied in memory, and the dialect is
// asked again, at most eight times.
// Nothing is written or started here. Writes go into the draft, and limits across flows are in
// core/reconcile.h.

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

/// Decides one flow at a time. It is a part of the configuration in force (configured_parts.h).
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

  /// Sets decision, hold and stages in the flow record, and plans the writes in the draft.
  /// Errc::io: the journal cannot be read.
  /// `only_look`: the dialect sees Control::idle, so it writes nothing yet because of old files.
  Result<void> decide(const FlowId& flow, Draft& draft, const std::vector<Request>& requests,
                      bool only_look = false);

  /// The error if the root was unavailable when a decision had to read a file. The former decision
  /// stays, and everything has to be decided again when the root is back. The call clears the
  /// error.
  std::optional<Error> away() { return std::exchange(away_, {}); }

  /// Answers a request `start` or `create` for a flow whose dialect has `create`. A refused request
  /// leaves the flow as it was. Errc::io: the journal cannot be read.
  Result<Reply> begin(const Request& request, Draft& draft, const std::vector<Request>& requests);

 private:
  void check(FlowRecord& record, const Catalog::Entry& entry, const FlowState& docs, Draft& draft);
  static bool advance(FlowRecord& record, const Catalog::Entry& entry, const Stages& stages,
                      Draft& draft);
  /// The flow stands still because git put back a file. False: the stages are as they were, so
  /// nothing keeps the flow from going on.
  bool stand_reverted(const View& view, const Dialect& dialect, FlowRecord& record,
                      FlowState& docs);
  std::optional<Hold> update(FlowRecord& record, FlowState& docs, Draft& draft);
  std::optional<Hold> settle(View& view, const Catalog::Entry& entry, FlowRecord& record,
                             FlowState& docs, Draft& draft);
  /// Reads the further files that the dialect names. False: the root is unavailable, so nothing can
  /// be decided.
  bool read_more(const View& view, const Dialect& dialect, FlowState& docs);
  /// Errc::away: the root is unavailable. False: the file cannot be used.
  Result<FileBytes> read_library(const std::string& path);
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
