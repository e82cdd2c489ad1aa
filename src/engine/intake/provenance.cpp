// SPDX-License-Identifier: Apache-2.0
#include "engine/intake/provenance.h"

#include <algorithm>

namespace baton {
namespace {

/// How much of two logs is compared, from their ends.
constexpr std::size_t kComparedEnd = 64U << 10U;

bool is_known(const Catalog::Match& match, const std::string& path, const Draft& draft) {
  const FlowRecord* const record = draft.find(match.flow);
  return record != nullptr && record->accepted.contains(path);
}

}  // namespace

Result<bool> Provenance::is_copy(const Catalog::Match& match, const std::string& path,
                                 const Digest& digest, const Draft& draft) {
  if (!match.copy || is_known(match, path, draft))
    return false;
  const std::string& beside = match.copy->beside;
  const auto original = disk_.read(beside, match.copy->while_equal ? max_bytes_ : 0);
  if (!original && original.error().code == Errc::not_found)
    return false;
  if (!match.copy->while_equal || (original && original->digest == digest))
    return true;
  return documents_.was_accepted(beside, digest);
}

Result<bool> Provenance::is_copy_of_log(const Catalog::Match& match, const std::string& path,
                                        const FileBytes& there, const Draft& draft) {
  if (!match.copy || is_known(match, path, draft))
    return false;
  const std::uint64_t bytes = std::min<std::uint64_t>(there.size_bytes, kComparedEnd);
  const std::uint64_t from = there.size_bytes - bytes;
  const auto original = disk_.read_from(match.copy->beside, from, bytes);
  if (!original)
    return !match.copy->while_equal && original.error().code != Errc::not_found;
  if (!match.copy->while_equal)
    return true;
  const auto own = disk_.read_from(path, from, bytes);
  if (!own)
    return false;
  // The log may have gone on since, or have been trimmed.
  if (own->digest == original->digest)
    return true;
  std::string_view last = trimmed(own->bytes);
  last.remove_prefix(last.rfind('\n') + 1);
  return documents_.was_accepted(match.copy->beside, digest_of(last));
}

/// A version is reverted if git itself put an earlier one in place. That git was at work at about
/// the same time proves nothing, because agents commit all the time.
Result<Reverted> Provenance::reverted(const Catalog::Match& match, const std::string& path,
                                      const Digest& digest, const Draft& draft, bool may_wait) {
  // A log says what was asked, not what is.
  if (act_on_reverted_ || !is_known(match, path, draft) || match.kind->format == Format::jsonl)
    return Reverted::no;
  const auto& marks = draft.find(match.flow)->notified.reverted;
  if (const auto mark = marks.find(path); mark != marks.end() && mark->second == digest)
    return Reverted::undone;
  auto known = documents_.was_accepted(path, digest);
  if (!known)
    return pass_on(known);
  if (!*known)
    return Reverted::no;
  const VersionSource source = disk_.source(path, digest, may_wait);
  if (source == VersionSource::under_way)
    return Reverted::wait;
  return source == VersionSource::by_git ? Reverted::yes : Reverted::no;
}

void Provenance::note_reverted(const FlowId& flow, const std::string& path, Reverted reverted,
                               Draft& draft) {
  const FlowRecord* const known = draft.find(flow);
  if (reverted == Reverted::yes) {
    FlowRecord& record = draft.touch(flow);
    record.notified.reverted.try_emplace(path, record.accepted.at(path).digest);
    draft.event("reverted", flow, "git put back an earlier version of " + path);
  } else if (known != nullptr && known->notified.reverted.contains(path)) {
    draft.touch(flow).notified.reverted.erase(path);
  }
}

}  // namespace baton
