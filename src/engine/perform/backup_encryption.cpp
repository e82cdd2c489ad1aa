// SPDX-License-Identifier: Apache-2.0
#include "engine/perform/backup_encryption.h"

#include <algorithm>
#include <utility>

namespace baton {
namespace {

constexpr std::size_t kAtOnce = 4;
constexpr Millis kLookAtSealAgain{50};

/// The program for backups of a flow; empty if the configuration has none any more.
std::vector<std::string> program_for(const FlowId& flow, const Catalog& catalog) {
  const Catalog::Entry* const entry = catalog.entry(flow.dialect);
  if (entry == nullptr || entry->dialect->backups == nullptr)
    return {};
  return entry->dialect->backups(entry->options).filter;
}

}  // namespace

std::vector<Intent> BackupEncryption::without_its_own(const std::vector<Intent>& writes) {
  std::vector<Intent> others;
  for (const Intent& write : writes)
    if (write.kind == Intent::Kind::backup)
      waiting_.push_back(write);
    else
      others.push_back(write);
  return others;
}

void BackupEncryption::tend(const Setup& setup, const Catalog& catalog) {
  std::erase_if(running_, [this](const Running& each) {
    auto bytes = each.program(false);
    if (!bytes)
      return false;
    finish(each.copy, *std::move(bytes));
    return true;
  });
  while (running_.size() < kAtOnce && !waiting_.empty()) {
    Intent copy = std::move(waiting_.front());
    waiting_.pop_front();
    const auto program = program_for(copy.flow, catalog);
    if (program.empty() || !setup.filter)
      finish(copy, fail(Errc::config, "the program of `encrypt` cannot be run here"));
    else
      running_.push_back({copy, setup.filter(program, copy.bytes)});
  }
}

void BackupEncryption::finish(const Intent& copy, Result<std::string> bytes) {
  const auto written = bytes ? disk_.create(copy.path, *bytes) : Result<void>(pass_on(bytes));
  done_.push_back(copy.id);
  // If the backup is there already, the last daemon wrote it right before it ended.
  if (!written && written.error().code != Errc::changed)
    failed_.emplace_back(copy.flow,
                         copy.path + " (" + copy.why + "): " + describe(written.error()));
}

void BackupEncryption::tell(Draft& next) const {
  for (const auto& [flow, why] : failed_)
    next.event("not_written", flow, why);
}

std::optional<Time> BackupEncryption::wake(Time now) const {
  return busy() ? std::optional(now + kLookAtSealAgain) : std::nullopt;
}

void BackupEncryption::noted() {
  done_.clear();
  failed_.clear();
}

}  // namespace baton
