// SPDX-License-Identifier: Apache-2.0
#pragma once

// Applies what a dialect wants to write: in memory at once, so that its next decision sees it, and
// in the draft as planned writes. The journal gets the writes first, then the disk
// (perform/pending_writes.h).
// An update is checked like any new version of the file. An update that assumes another version is
// refused, and the dialect decides again.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "config/setup.h"
#include "core/catalog.h"
#include "core/dialect.h"
#include "engine/intake/document_check.h"
#include "engine/state/flow_record.h"

namespace baton {

/// Applies updates to one flow record and its documents.
class UpdateBuilder {
 public:
  UpdateBuilder(Schemas& schemas, const Catalog& catalog, const Setup& setup)
      : schemas_(schemas), catalog_(catalog), setup_(setup) {}

  /// The result of the updates of one decision.
  struct Applied {
    std::size_t made = 0;
    std::optional<Error> refused;  ///< the first that was not made
  };
  /// Makes every update that can be made. Errc::changed: an update assumes another version than the
  /// accepted one. Errc::schema: it would make the document invalid. Errc::config: the file no
  /// longer belongs to the flow.
  Applied apply(FlowRecord& record, FlowState& docs, const std::vector<Update>& updates,
                Draft& draft);
  /// The result that `apply` would have; changes nothing.
  Applied tried(const FlowRecord& record, const FlowState& docs, const std::vector<Update>& updates,
                const Draft& draft);
  static std::string describe_refusal(const Error& refused);

 private:
  Result<void> apply_one(FlowRecord& record, FlowState& docs, const Update& update, Draft& draft);
  Result<void> put(FlowRecord& record, FlowState& docs, const std::string& path, std::string text,
                   Draft& draft);
  Result<void> set(FlowRecord& record, FlowState& docs, const SetMembers& update, Draft& draft);
  Result<void> replace(FlowRecord& record, FlowState& docs, const Replace& update, Draft& draft);
  Result<void> append(FlowRecord& record, FlowState& docs, const Append& update, Draft& draft);
  Result<void> create(FlowRecord& record, FlowState& docs, const Create& update, Draft& draft);
  Result<void> move(FlowRecord& record, FlowState& docs, const Move& update, Draft& draft);
  void back_up(const FlowRecord& record, const Backup& update, Draft& draft) const;

  Schemas& schemas_;
  const Catalog& catalog_;
  const Setup& setup_;
};

}  // namespace baton
