// SPDX-License-Identifier: Apache-2.0
#include "engine/intake/moved_files.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/intake/renamed_files.h"

namespace baton {
namespace {

/// The match of a path that now belongs to another flow than `flow`.
std::optional<Catalog::Match> new_owner(const Catalog& catalog, const FlowId& flow,
                                        const std::string& path) {
  auto match = catalog.match(path);
  return match && match->flow != flow ? match : std::nullopt;
}

/// Holds the new flow until a person resumes it. A pause or stop of the former flow is kept.
void hold(FlowRecord& record, const FlowRecord& former, const std::string& path, Draft& draft) {
  const ControlRow& said = former.control;
  if (record.control.reason == kLeft)
    record.control = ControlRow{record.id};
  if (record.control.control == Control::pause || record.control.control == Control::stop)
    return;
  if (said.control == Control::pause || said.control == Control::stop)
    return draft.control(record, said.control, said.reason, said.why);
  draft.control(record, Control::idle, std::string(kMoved),
                path + " was a file of " + text(former.id) + " before the configuration changed");
}

/// Gives a rejected version to the new flow. Without its digest baton checks the file again,
/// because the file may be valid for the new flow.
void reject(RejectedRow row, const FlowId& flow, Draft& draft) {
  row.flow = flow;
  row.digest = {};
  draft.touch(flow).rejected[row.path] = row;
  draft.commit.rejected.push_back(std::move(row));
}

/// Gives an accepted version to the new flow. A version that is not valid there counts as rejected,
/// and the journal keeps it among the replaced versions.
Result<void> hand_over(const FlowRecord& former, const AcceptedRow& row,
                       const Catalog::Match& match, DocumentStore& documents, Schemas& schemas,
                       const LoadLimits& limits, Draft& draft) {
  auto document = documents.document(former, row, *match.entry, draft.documents);
  if (!document && document.error().code != Errc::parse)
    return pass_on(document);
  draft.move_away(draft.touch(former.id), row.path);
  if (!document) {
    reject({row.path, {}, {}, "[]", draft.wall}, match.flow, draft);
    return {};
  }
  const std::string& bytes = (*document)->text();
  const DocumentCheck checked = check_document(match, row.path, bytes, schemas, limits);
  if (!checked.accepted()) {
    draft.commit.replaced.emplace_back(row.path, bytes);
    reject({row.path, {}, {}, findings_json(row.path, checked.findings), draft.wall}, match.flow,
           draft);
    return {};
  }
  AcceptedRow moved = row;
  moved.flow = match.flow;
  moved.kind = match.kind->kind;
  moved.part = match.part;
  draft.accept(draft.touch(match.flow), moved, *document);
  return {};
}

}  // namespace

Result<void> hand_over(const FlowRecords& records, const Catalog& catalog, DocumentStore& documents,
                       Schemas& schemas, const LoadLimits& limits, Draft& draft) {
  std::set<FlowId> losers;
  for (const auto& entry : records) {
    const FlowId& flow = entry.first;
    const FlowRecord& record = entry.second;
    // The rows of the root's own record are of folders.
    if (flow == FlowId{})
      continue;
    const auto take = [&](const std::string& path) {
      auto match = new_owner(catalog, flow, path);
      if (!match)
        return match;
      losers.insert(flow);
      draft.decide.insert(flow);
      hold(draft.touch(match->flow), record, path, draft);
      return match;
    };
    for (const auto& [path, row] : record.accepted)
      if (const auto match = take(path)) {
        draft.event("moved", match->flow, path + " was a file of " + text(flow));
        take_along(catalog, flow, match->flow, draft);
        if (const auto file = record.origin.files.find(path); file != record.origin.files.end()) {
          draft.touch(flow).origin.files.erase(path);
          draft.touch(match->flow).origin.files.insert(*file);
        }
        if (const auto log = record.logs.files.find(path); log != record.logs.files.end()) {
          draft.touch(flow).logs.files.erase(path);
          draft.touch(match->flow).logs.files.insert(*log);
        }
        if (auto done = hand_over(record, row, *match, documents, schemas, limits, draft); !done)
          return done;
      }
    for (const auto& [path, row] : record.rejected)
      if (const auto match = take(path)) {
        draft.touch(flow).rejected.erase(path);
        reject(row, match->flow, draft);
      }
  }
  for (const FlowId& flow : losers)
    if (FlowRecord& record = draft.touch(flow); has_no_file(record))
      draft.control(record, Control::idle, std::string(kLeft),
                    "all its files are other flows' since the configuration changed");
  return {};
}

std::vector<AgentElsewhere> agents_elsewhere(const FlowRecords& records, const Catalog& catalog) {
  std::vector<AgentElsewhere> all;
  for (const auto& [flow, record] : records)
    for (const Run& run : record.runs)
      for (const DocRef& began_with : run.live() ? run.base : DocSet{})
        if (const auto match = new_owner(catalog, flow, began_with.path))
          all.push_back({run.id, flow, match->flow, began_with.path});
  return all;
}

bool stage_change_resumes(const FlowRecord& record, const Draft& draft) {
  return record.control.reason == kMoved && record.stages.size() == 1 &&
         std::none_of(draft.gave_way.begin(), draft.gave_way.end(), [&](const auto& given_up) {
           return record.accepted.contains(given_up.first);
         });
}

}  // namespace baton
