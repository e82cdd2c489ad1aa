#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/book.h"
#include "app/judge.h"
#include "app/setup.h"
#include "core/catalog.h"
#include "core/dialect.h"

namespace baton {

/// What a dialect writes: in memory at once, as its next decision sees it, and in the draft as
/// intents, for the journal and then the disk.
class Updating {
 public:
  Updating(Schemas& schemas, const Catalog& catalog, const Setup& setup)
      : schemas_(schemas), catalog_(catalog), setup_(setup) {}

  /// What came of the updates of one decision.
  struct Applied {
    std::size_t made = 0;
    std::optional<Error> refused;  ///< the first that was not made
  };
  /// All of them, as far as each can be. Errc::changed: one assumes something else than what is
  /// accepted; Errc::schema: it would make the document invalid.
  Applied apply(FlowBook& book, FlowState& docs, const std::vector<Update>& updates, Draft& draft);
  /// What `apply` would come to; nothing is changed.
  Applied tried(const FlowBook& book, const FlowState& docs, const std::vector<Update>& updates,
                const Draft& draft);
  static std::string describe_refusal(const Error& refused);

 private:
  Result<void> apply_one(FlowBook& book, FlowState& docs, const Update& update, Draft& draft);
  Result<void> put(FlowBook& book, FlowState& docs, const std::string& path, std::string text,
                   Draft& draft);
  Result<void> set(FlowBook& book, FlowState& docs, const SetMembers& update, Draft& draft);
  Result<void> replace(FlowBook& book, FlowState& docs, const Replace& update, Draft& draft);
  Result<void> append(FlowBook& book, FlowState& docs, const Append& update, Draft& draft);
  Result<void> create(FlowBook& book, FlowState& docs, const Create& update, Draft& draft);
  Result<void> move(FlowBook& book, FlowState& docs, const Move& update, Draft& draft);
  void back_up(const FlowBook& book, const Backup& update, Draft& draft) const;

  Schemas& schemas_;
  const Catalog& catalog_;
  const Setup& setup_;
};

}  // namespace baton
