// SPDX-License-Identifier: Apache-2.0
#include "engine/intake/renamed_files.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "core/caps.h"
#include "core/flow_plan.h"

namespace baton {
namespace {

constexpr std::size_t kMostSeen = 10'000;

/// Whether the name leads to the file with this identity now.
bool has_file(const Draft& draft, const FlowFile& name, FileIdentity identity) {
  const FlowRecord* const record = draft.find(name.flow);
  if (record == nullptr)
    return false;
  const auto accepted = record->accepted.find(name.path);
  const auto file = record->origin.files.find(name.path);
  return accepted != record->accepted.end() && accepted->second.present &&
         file != record->origin.files.end() && file->second == identity;
}

/// The attempts of one role that have failed in the present stage of the subject.
std::uint32_t failures_of(const FlowRecord& record, const Subject& subject, const Role& role) {
  const StageState& stage = record.stages.at(subject);
  std::uint32_t turn = 0;
  std::uint32_t failures = 0;
  for (const Run& run : record.runs) {
    if (run.key.subject != subject || run.key.role != role ||
        run.key.generation != stage.generation)
      continue;
    if (run.key.turn > turn)
      failures = 0;
    turn = std::max(turn, run.key.turn);
    failures += is_failed_attempt(run) ? 1U : 0U;
  }
  for (const FormerAttempts& former : record.origin.attempts)
    if (former.subject == subject && former.role == role && former.stage == stage.stage &&
        stage.since <= former.at)
      failures += former.failures;
  return failures;
}

/// Entries and attempts mean the same only within one rule.
void take_counts(const FlowRecord& former, FlowRecord& record, Time now) {
  for (const auto* all : {&former.entries, &former.origin.entries})
    for (const auto& [subject, stages] : *all)
      for (const auto& [stage, count] : stages) {
        std::uint64_t& known = record.origin.entries[subject][stage];
        known = std::max(known, count);
      }
  std::set<std::pair<Subject, Role>> worked;
  for (const Run& run : former.runs)
    if (former.stages.contains(run.key.subject))
      worked.emplace(run.key.subject, run.key.role);
  for (const FormerAttempts& earlier : former.origin.attempts)
    if (former.stages.contains(earlier.subject))
      worked.emplace(earlier.subject, earlier.role);
  for (const auto& [subject, role] : worked) {
    const std::uint32_t failures = failures_of(former, subject, role);
    if (failures == 0)
      continue;
    std::erase_if(record.origin.attempts, [&, &its = subject, &who = role](const auto& one) {
      return one.subject == its && one.role == who;
    });
    record.origin.attempts.push_back(
        {former.id, role, subject, former.stages.at(subject).stage, failures, now});
  }
}

}  // namespace

void SeenRenames::add(const std::string& from, const std::string& to) {
  std::set<std::string> names;
  if (const auto known = former_.find(from); known != former_.end()) {
    names = std::move(known->second);
    former_.erase(known);
  }
  names.insert(from);
  if (former_.size() >= kMostSeen)
    former_.clear();
  former_[to] = std::move(names);
}

void SeenRenames::keep_known(const Catalog& catalog) {
  for (auto row = former_.begin(); row != former_.end();) {
    std::erase_if(row->second, [&](const std::string& path) { return !catalog.match(path); });
    const bool known = !row->second.empty() && catalog.match(row->first);
    row = known ? std::next(row) : former_.erase(row);
  }
}

void SeenRenames::committed(const std::set<std::string>& accepted) {
  std::erase_if(former_, [&](const auto& row) { return accepted.contains(row.first); });
}

void take_along(const Catalog& catalog, const FlowId& from, const FlowId& to, Draft& draft) {
  const FlowRecord* const former = draft.find(from);
  if (from == to || former == nullptr ||
      (former->stages.empty() && former->runs.empty() && former->origin.renames.empty()))
    return;
  FlowRecord& record = draft.touch(to);
  add_rename(record.origin, former->origin,
             {from, to, draft.now, former->control.resumed_at, record.control.resumed_at});
  if (const std::string rule = rule_of(from); !rule.empty() && rule == rule_of(to)) {
    take_counts(*former, record, draft.now);
    const Catalog::Entry* const entry = catalog.entry(to.dialect);
    // A name with a memo of its own keeps its own counts.
    if (entry != nullptr && entry->dialect->inherits != nullptr && record.memo.is_null())
      draft.memo(record, entry->dialect->inherits(former->memo));
  }
  draft.decide.insert(to);
  draft.event(
      "renamed", to,
      "its file was one of " + text(from) + "; what that has started and spent counts here");
}

void take_along(const Catalog& catalog, const FlowIndex& flow_index, const SeenRenames& seen,
                Draft& draft) {
  std::set<std::pair<FlowId, FlowId>> pairs;
  std::vector<FlowFile> left;
  const auto renamed = [&](const FlowFile& from, const FlowId& to) {
    if (from.flow != to && pairs.emplace(from.flow, to).second)
      take_along(catalog, from.flow, to, draft);
    left.push_back(from);
  };
  std::map<FileIdentity, std::set<FlowFile>> found;
  for (const FlowFile& name : draft.identified)
    found[draft.find(name.flow)->origin.files.at(name.path)].insert(name);
  // All names that the file has, or had last.
  const auto with = [&](FileIdentity identity) {
    std::set<FlowFile> names = found[identity];
    if (const auto known = flow_index.files.find(identity); known != flow_index.files.end())
      names.insert(known->second.begin(), known->second.end());
    return names;
  };
  for (const FlowFile& name : draft.identified) {
    const FileIdentity identity = draft.find(name.flow)->origin.files.at(name.path);
    for (const FlowFile& before : with(identity))
      if (before != name)
        renamed(before, name.flow);
  }
  // The first of two names may have counted on until it went.
  for (const auto& [name, identity] : draft.let_go)
    if (!has_file(draft, name, identity))
      for (const FlowFile& other : with(identity))
        if (other != name && has_file(draft, other, identity))
          renamed(name, other.flow);
  for (const auto& [path, names] : seen.all()) {
    const auto match = catalog.match(path);
    const FlowRecord* const record = match ? draft.find(match->flow) : nullptr;
    if (record == nullptr || !record->accepted.contains(path) || !record->accepted.at(path).present)
      continue;
    draft.renamed.insert(path);
    for (const std::string& from : names)
      if (const auto former = catalog.match(from))
        renamed({former->flow, from}, match->flow);
  }
  // A name that is gone has no file, and one that is there has its own.
  for (const FlowFile& name : left)
    if (const FlowRecord* const record = draft.find(name.flow);
        record != nullptr && record->accepted.contains(name.path) &&
        !record->accepted.at(name.path).present && record->origin.files.contains(name.path))
      draft.touch(name.flow).origin.files.erase(name.path);
}

}  // namespace baton
