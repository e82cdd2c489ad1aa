#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/catalog.h"
#include "engine/state/flow_record.h"

namespace baton {

/// Files of which books hold versions and that are other flows' by the configuration as it is now,
/// as where a rule was renamed, or nobody's. Of a path the journal has one version: it leaves their
/// books when it enters its own.
class HandedOver {
 public:
  /// The catalog outlives it.
  explicit HandedOver(const Catalog& catalog) : catalog_(catalog) {}

  /// What these books hold; a new configuration begins anew.
  void begin_with(const FlowRecords& records);

  /// Accepted::now_of.
  std::optional<FlowId> now_of(const std::string& path, const FlowId& flow) const;
  /// The flows whose books held the path.
  std::set<FlowId> former_flows(const std::string& path) const;

  using Which = std::function<bool(const FlowRecord&)>;
  /// Those of their books of which that is true, to be changed and decided anew.
  std::vector<FlowRecord*> former_records(const std::string& path, Draft& draft,
                                          const Which& which) const;
  /// The same with the book of the flow that has it now.
  std::vector<FlowRecord*> all_records(const FlowId& now, const std::string& path, Draft& draft,
                                       const Which& which) const;

 private:
  const Catalog& catalog_;
  std::map<std::string, std::set<FlowId>> former_;  ///< by path
};

}  // namespace baton
