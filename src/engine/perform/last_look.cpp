// SPDX-License-Identifier: Apache-2.0
#include "engine/perform/last_look.h"

#include <utility>

namespace baton {
namespace {

/// Whether the subject stands in another stage by these documents.
bool has_left(const Start& start, const FlowState& docs, const FlowRecord& record,
              const Catalog::Entry& entry, const Environment& environment, Time now, Time wall) {
  const View view{record.id, docs,          record.stages, record.runs, record.memo,
                  {},        entry.options, environment,   now,         wall};
  const Stages stages = entry.dialect->stages(view);
  const auto before = record.stages.find(start.key.subject);
  if (before == record.stages.end())
    return false;
  const auto after = stages.find(start.key.subject);
  return after == stages.end() || after->second != before->second.stage;
}

/// The present versions of files that differ from what is in force, as documents; a file that has
/// gone has none.
std::map<std::string, std::shared_ptr<const Document>> differing(const LastLookPorts& ports,
                                                                 const FlowRecord& record,
                                                                 const Catalog::Entry& entry) {
  std::map<std::string, std::shared_ptr<const Document>> found;
  for (const auto& [path, row] : record.accepted) {
    const FileKind* const kind = kind_now(entry, record, row).kind;
    // A log says what was asked, not what is.
    if (!row.present || kind == nullptr || kind->format == Format::jsonl)
      continue;
    auto there = ports.disk.read(path, ports.setup.load.max_bytes);
    if (!there && there.error().code == Errc::not_found)
      found.emplace(path, nullptr);
    if (!there || there->digest == row.digest)
      continue;
    // What was judged already and is no part of the state says nothing new.
    const auto rejected = record.rejected.find(path);
    const auto match = ports.catalog.match(path);
    if ((rejected != record.rejected.end() && rejected->second.digest == there->digest) || !match ||
        match->flow != record.id)
      continue;
    const DocumentCheck checked =
        check_document(*match, path, std::move(there->bytes), ports.schemas, ports.setup.load);
    if (checked.accepted())
      found.emplace(path, checked.document);
  }
  return found;
}

}  // namespace

LastLook last_look(const LastLookPorts& ports, const FlowRecords& records, const Prepares& prepared,
                   Time now, Time wall) {
  LastLook look;
  for (const auto& [start, run] : prepared) {
    const FlowId& flow = start.key.flow;
    const FlowRecord& record = records.at(flow);
    const Catalog::Entry* const entry = ports.catalog.entry(flow.dialect);
    if (entry == nullptr || look.withdrawn.contains(flow))
      continue;
    auto documents = differing(ports, record, *entry);
    if (documents.empty())
      continue;
    bool gone = false;
    std::set<std::string> changed;
    auto docs = ports.documents.open(record, *entry, {});
    for (auto& [path, document] : documents) {
      gone = gone || document == nullptr;
      changed.insert(path);
      if (docs && document != nullptr)
        (*docs)[path].document = std::move(document);
    }
    if (!gone && (!docs || entry->dialect->stages == nullptr ||
                  !has_left(start, *docs, record, *entry, ports.setup.environment, now, wall)))
      continue;
    look.withdrawn.insert(flow);
    look.changed.merge(changed);
  }
  return look;
}

}  // namespace baton
