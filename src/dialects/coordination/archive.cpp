#include "dialects/coordination/archive.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "dialects/coordination/folder.h"
#include "dialects/coordination/words.h"

namespace baton::coordination {
namespace {

/// Between the write of the archive and the one of the mailbox.
constexpr std::int64_t kSettleMs = 1000;

std::int64_t now_ms(const Scene& scene) {
  return scene.view.now.time_since_epoch().count();
}

/// When each message was first seen as read; of messages that are gone nothing is kept.
void note_read(const Scene& scene, const std::vector<const Value*>& all,
               std::map<std::string, std::int64_t>& since) {
  std::map<std::string, std::int64_t> now;
  for (const Value* const message : all)
    if (json::boolean(*message, "read").value_or(false)) {
      const auto known = since.find(message_key(*message));
      now[message_key(*message)] = known == since.end() ? now_ms(scene) : known->second;
    }
  since = std::move(now);
}

/// Indices of those that are due, oldest first. The next time one becomes due is a wake.
std::vector<std::size_t> due(const Scene& scene, const std::vector<const Value*>& all,
                             const std::map<std::string, std::int64_t>& since, Decision& decision) {
  std::vector<std::size_t> due;
  std::set<std::string> stays;  // groups of which something older stays
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string group = text_of(*all[i], "group_id");
    const auto read = since.find(message_key(*all[i]));
    if (read == since.end() || stays.contains(group)) {
      stays.insert(group);
      continue;
    }
    const Time at = Time(Millis(read->second)) + scene.options.archive_after;
    if (at <= scene.view.now) {
      due.push_back(i);
      continue;
    }
    stays.insert(group);
    decision.tidy = std::min(decision.tidy.value_or(at), at);
  }
  return due;
}

Update archived(const Scene& scene, std::string_view kind, const Accepted* archive,
                const std::vector<const Value*>& fresh) {
  const std::string path = archive_path(scene.options, kind);
  constexpr const char* kWhy = "messages that were read long ago";
  std::vector<json::Edit> edits;
  edits.reserve(fresh.size());
  for (const Value* const message : fresh)
    edits.push_back(json::Edit{"/messages/-", json::dump(*message)});
  if (archive != nullptr)
    return SetMembers{path, archive->document->digest(), std::move(edits), kWhy};
  auto text = json::splice("{\n  \"messages\": []\n}\n", edits);
  return Create{path, text ? *std::move(text) : std::string(), kWhy};
}

/// One mailbox.
std::vector<Update> rotate(Scene& scene, std::string_view kind, Decision& decision) {
  const Accepted* const file = find(scene.view.docs, kind);
  if (file == nullptr || !file->present || !file->rejected.empty())
    return {};
  MailMemo& memo = scene.memo.mail[std::string(kind)];
  const auto all = items(file->document->root(), "messages");
  note_read(scene, all, memo.read_ms);
  if (scene.options.archive_after == Millis(0))
    return {};
  const std::vector<std::size_t> old = due(scene, all, memo.read_ms, decision);
  const Accepted* const archive = archive_of(scene.view.docs, kind);
  if (old.empty() || (archive != nullptr && (!archive->present || !archive->rejected.empty())))
    return {};
  std::set<std::string> there;
  if (archive != nullptr)
    for (const Value* const message : items(archive->document->root(), "messages"))
      there.insert(message_key(*message));
  std::vector<const Value*> fresh;
  std::vector<json::Edit> gone;  // the last one first, so that the others keep their places
  for (const std::size_t i : old)
    if (!there.contains(message_key(*all[i])))
      fresh.push_back(all[i]);
    else
      gone.insert(gone.begin(), json::Edit{"/messages/" + std::to_string(i), ""});
  if (!fresh.empty()) {
    memo.archived_ms = now_ms(scene);
    return {archived(scene, kind, archive, fresh)};
  }
  const std::int64_t settled = memo.archived_ms + kSettleMs;
  if (now_ms(scene) < settled) {
    const Time at{Millis(settled)};
    decision.tidy = std::min(decision.tidy.value_or(at), at);
    return {};
  }
  return {SetMembers{path_of(scene.options, kind), file->document->digest(), std::move(gone),
                     "messages that were read long ago are in the archive"}};
}

}  // namespace

std::vector<Update> rotate(Scene& scene, Decision& decision) {
  std::vector<Update> updates;
  for (const MailboxRow& row : kMailboxes)
    for (Update& update : rotate(scene, row.kind, decision))
      updates.push_back(std::move(update));
  return updates;
}

}  // namespace baton::coordination
