// SPDX-License-Identifier: Apache-2.0
#include "engine/intake/size_ceiling.h"

#include "base/size.h"

namespace baton {
namespace {

std::string sentence(std::uint64_t size_bytes, const char* whose, std::uint64_t limit_bytes,
                     const char* key, const char* action) {
  return "this version has " + size_text(size_bytes) + ", and with it the files of " + whose +
         " would have more than " + size_text(limit_bytes) + " (limits: " + key +
         "), so baton does not take it; " + action + ", or raise " + key + " and `baton reload`";
}

}  // namespace

SizeCeiling::Room SizeCeiling::room(const FlowRecord* record, const std::string& path,
                                    std::uint64_t size_bytes, std::uint64_t root_bytes) const {
  std::uint64_t in_force = 0;
  if (record != nullptr)
    if (const auto row = record->accepted.find(path); row != record->accepted.end())
      in_force = row->second.size_bytes;
  if (size_bytes <= in_force)
    return Room::enough;
  const std::uint64_t more = size_bytes - in_force;
  const std::uint64_t flow_bytes = record == nullptr ? 0 : record->accepted_bytes;
  if (limits_.flow_bytes > 0 && flow_bytes + more > limits_.flow_bytes)
    return Room::none_in_flow;
  if (limits_.root_bytes > 0 && size_bytes > kSmallFileBytes &&
      root_bytes + more > limits_.root_bytes)
    return Room::none_in_root;
  return Room::enough;
}

std::string SizeCeiling::left_out(const FlowId& flow, const std::string& path,
                                  std::uint64_t size_bytes, const Draft& draft) {
  switch (room(draft.find(flow), path, size_bytes, draft.accepted_bytes)) {
    case Room::enough:
      left_out_.erase(path);
      return {};
    case Room::none_in_flow:
      left_out_[path] = {flow, size_bytes};
      return sentence(size_bytes, "its flow", limits_.flow_bytes, "max_flow_size",
                      "make its files smaller");
    case Room::none_in_root:
      left_out_[path] = {flow, size_bytes};
      return sentence(size_bytes, "all flows", limits_.root_bytes, "max_root_size",
                      "make files smaller, `baton forget` flows whose files are gone");
  }
  return {};
}

std::set<std::string> SizeCeiling::fitting(const FlowRecords& records,
                                           std::uint64_t root_bytes) const {
  std::set<std::string> paths;
  for (const auto& [path, file] : left_out_) {
    const auto record = records.find(file.flow);
    if (room(record == records.end() ? nullptr : &record->second, path, file.size_bytes,
             root_bytes) == Room::enough)
      paths.insert(path);
  }
  return paths;
}

}  // namespace baton
