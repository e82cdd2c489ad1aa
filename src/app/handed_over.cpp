#include "app/handed_over.h"

namespace baton {
namespace {

void add(const FlowId& flow, Draft& draft, const HandedOver::Which& which,
         std::vector<FlowBook*>& books) {
  const FlowBook* const known = draft.find(flow);
  if (known == nullptr || !which(*known))
    return;
  books.push_back(&draft.touch(flow));
  draft.decide.insert(flow);
}

}  // namespace

void HandedOver::begin_with(const Books& books) {
  const auto note = [&](const FlowId& flow, const std::string& path) {
    const auto match = catalog_.match(path);
    if (!match || match->flow != flow)
      former_[path].insert(flow);
  };
  for (const auto& [flow, book] : books) {
    // The root's own rows are of folders.
    if (flow == FlowId{})
      continue;
    for (const auto& [path, row] : book.accepted)
      note(flow, path);
    for (const auto& [path, row] : book.rejected)
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

std::vector<FlowBook*> HandedOver::former_books(const std::string& path, Draft& draft,
                                                const Which& which) const {
  std::vector<FlowBook*> books;
  for (const FlowId& flow : former_flows(path))
    add(flow, draft, which, books);
  return books;
}

std::vector<FlowBook*> HandedOver::all_books(const FlowId& now, const std::string& path,
                                             Draft& draft, const Which& which) const {
  std::vector<FlowBook*> books = former_books(path, draft, which);
  add(now, draft, which, books);
  return books;
}

}  // namespace baton
