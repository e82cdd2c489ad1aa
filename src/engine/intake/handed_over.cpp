#include "engine/intake/handed_over.h"

namespace baton {
namespace {

void add(const FlowId& flow, Draft& draft, const HandedOver::Which& which,
         std::vector<FlowRecord*>& records) {
  const FlowRecord* const known = draft.find(flow);
  if (known == nullptr || !which(*known))
    return;
  records.push_back(&draft.touch(flow));
  draft.decide.insert(flow);
}

}  // namespace

void HandedOver::begin_with(const FlowRecords& records) {
  const auto note = [&](const FlowId& flow, const std::string& path) {
    const auto match = catalog_.match(path);
    if (!match || match->flow != flow)
      former_[path].insert(flow);
  };
  for (const auto& [flow, record] : records) {
    // The root's own rows are of folders.
    if (flow == FlowId{})
      continue;
    for (const auto& [path, row] : record.accepted)
      note(flow, path);
    for (const auto& [path, row] : record.rejected)
      note(flow, path);
  }
}

std::optional<FlowId> HandedOver::now_of(const std::string& path, const FlowId& flow) const {
  const auto former = former_.find(path);
  if (former == former_.end() || !former->second.contains(flow))
    return std::nullopt;
  const auto match = catalog_.match(path);
  return match ? match->flow : FlowId{};
}

std::set<FlowId> HandedOver::former_flows(const std::string& path) const {
  const auto former = former_.find(path);
  return former == former_.end() ? std::set<FlowId>() : former->second;
}

std::vector<FlowRecord*> HandedOver::former_records(const std::string& path, Draft& draft,
                                                    const Which& which) const {
  std::vector<FlowRecord*> records;
  for (const FlowId& flow : former_flows(path))
    add(flow, draft, which, records);
  return records;
}

std::vector<FlowRecord*> HandedOver::all_records(const FlowId& now, const std::string& path,
                                                 Draft& draft, const Which& which) const {
  std::vector<FlowRecord*> records = former_records(path, draft, which);
  add(now, draft, which, records);
  return records;
}

}  // namespace baton
