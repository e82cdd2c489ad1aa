// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "base/digest.h"
#include "dialects/coordination/admit.h"
#include "dialects/coordination/decide.h"
#include "dialects/coordination/files.h"
#include "dialects/coordination/words.h"

namespace baton::coordination {
namespace {

/// A message that hands a group on, and the status that follows from it.
struct Hint {
  std::string_view kind;
  std::string_view word;
  Status status;
};
constexpr std::array kHints = {
    Hint{"dev_to_qa", "READY_FOR_QA", Status::waiting_qa},
    Hint{"dev_to_qa", "READY_FOR_REVIEW", Status::waiting_review},
    Hint{"qa_to_techlead", "PASS", Status::waiting_review},
    Hint{"qa_to_techlead", "FAIL", Status::qa_failed},
    Hint{"techlead_to_dev", "approved", Status::complete},
    Hint{"techlead_to_dev", "changes_requested", Status::changes_requested},
};

const Hint* hint_of(std::string_view kind, std::string_view result) {
  const auto* const hint = std::find_if(kHints.begin(), kHints.end(), [&](const Hint& each) {
    return each.kind == kind && each.word == result;
  });
  return hint == kHints.end() ? nullptr : hint;
}

Json feedback_of(const Snapshot& snapshot, const Group& group, const Value& message) {
  Json all(member(*group.entry, "tech_lead_feedback"));
  const std::string sent = text_of(message, "timestamp");
  all.push(Json::object({{"iteration", Json(group.counters.tech_lead)},
                         {"decision", word_of(message, "decision").value_or("")},
                         {"feedback", text_of(message, "feedback")},
                         {"timestamp", sent.empty() ? iso_time(snapshot.view.wall) : sent}}));
  return all;
}

void take_over(const Snapshot& snapshot, const Group& group, const Hint& hint, const Value& message,
               Writes& writes) {
  std::vector<std::pair<std::string_view, Json>> members = {{"status", word(hint.status)},
                                                            {"current_agent", "none"}};
  if (hint.kind == "techlead_to_dev")
    members.emplace_back("tech_lead_feedback", feedback_of(snapshot, group, message));
  if (hint.status == Status::complete)
    members.emplace_back("end_time", iso_time(snapshot.view.wall));
  writes.set(snapshot, group, members);
  writes.add_reason(group.id + ": " + std::string(hint.kind) + " says " + std::string(hint.word));
}

/// The run that has ended without writing its result into the status; nullptr: none.
const Run* writer_of(const Snapshot& snapshot, const Group& group) {
  const std::string_view role = status_row(group.status).awaited;
  if (role.empty() || snapshot.present(group.id) != nullptr)
    return nullptr;
  const Run* const last = snapshot.job(role, group.id).last;
  return last == nullptr || last->live() ? nullptr : last;
}

/// Moves a handled file to the archive, so that an agent can report the same content again. The
/// time keeps the name unique even if the journal, and so the arrival number, begins anew.
Move archive_inbox_file(const Snapshot& snapshot, const std::string& path, const Accepted& file) {
  std::string time = iso_time(snapshot.view.wall, true);
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  return Move{path, file.document->digest(),
              snapshot.options.path + "/inbox/archive/" + file.part + "_" + time + "_" +
                  std::to_string(file.arrival) + ".json",
              "it was handled"};
}

/// The snapshot as of the arrival of the file. A run that had not ended by then may have written
/// the file, even if the file has waited long.
Snapshot snapshot_at_arrival(const Snapshot& snapshot, const Accepted& file) {
  Snapshot then = snapshot;
  for (auto& [id, run] : then.memo.runs)
    run.over = run.over && run.arrival < file.arrival;
  return then;
}

void merge_inbox_file(Snapshot& snapshot, const std::string& path, const Accepted& file,
                      const Group& group, Writes& writes, Decision& decision) {
  const EntryVerdict verdict = judge_entry(snapshot_at_arrival(snapshot, file), group.id,
                                           group.entry, &file.document->root(), Origin::own_file);
  for (const EntryFault& fault : verdict.faults) {
    // A file about one group may leave members out.
    if (fault.rule == "T4")
      continue;
    const bool stays = fault.rule == "T8";
    remember(snapshot.memo, PutBack{path, fault.member, fault.why, group.id, {}, stays});
    if (!stays)
      decision.notices.push_back(Notice{"refused", group.id, path + ": " + fault.why});
  }
  if (verdict.kind != EntryVerdict::Kind::taken)
    return;
  writes.put(group.id, verdict.entry);
  writes.add_reason(path + " is merged");
}

/// The pause between adding messages to the archive and removing them from the mailbox.
constexpr std::int64_t kSettleMs = 1000;

std::int64_t now_ms(const Snapshot& snapshot) {
  return snapshot.view.now.time_since_epoch().count();
}

/// Notes when baton first saw each message as read. Forgets messages that are gone.
void note_read(const Snapshot& snapshot, Value::ConstArray all,
               std::map<std::string, std::int64_t>& since) {
  std::map<std::string, std::int64_t> now;
  for (const Value& message : all)
    if (flag_of(message, "read")) {
      const auto known = since.find(message_key(message));
      now[message_key(message)] = known == since.end() ? now_ms(snapshot) : known->second;
    }
  since = std::move(now);
}

/// Indices of the messages that are due, oldest first. Sets when to look again for the next one.
std::vector<unsigned> due(const Snapshot& snapshot, Value::ConstArray all,
                          const std::map<std::string, std::int64_t>& since, Decision& decision) {
  std::vector<unsigned> due;
  std::set<std::string> stays;  // groups with an older message that stays
  for (unsigned i = 0; i < all.Size(); ++i) {
    const std::string group = text_of(all[i], "group_id");
    const auto read = since.find(message_key(all[i]));
    if (read == since.end() || stays.contains(group)) {
      stays.insert(group);
      continue;
    }
    const Time at = Time(Millis(read->second)) + snapshot.options.archive_after;
    if (at <= snapshot.view.now) {
      due.push_back(i);
      continue;
    }
    stays.insert(group);
    decision.tidy = std::min(decision.tidy.value_or(at), at);
  }
  return due;
}

Update archived(const Snapshot& snapshot, std::string_view kind, const Accepted* archive,
                const std::vector<const Value*>& fresh) {
  const std::string path = archive_path(snapshot.options, kind);
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

/// Archives the messages of one mailbox.
std::vector<Update> archive_messages(Snapshot& snapshot, std::string_view kind,
                                     Decision& decision) {
  const Accepted* const file = find(snapshot.view.docs, kind);
  if (file == nullptr || !file->present || !file->rejected.empty())
    return {};
  MailMemo& memo = snapshot.memo.mail[std::string(kind)];
  const auto all = items_in(file->document->root(), "messages");
  note_read(snapshot, all, memo.read_ms);
  if (snapshot.options.archive_after == Millis(0))
    return {};
  const std::vector<unsigned> old = due(snapshot, all, memo.read_ms, decision);
  const Accepted* const archive = find(snapshot.view.docs, "archive", kind);
  if (old.empty() || (archive != nullptr && (!archive->present || !archive->rejected.empty())))
    return {};
  std::set<std::string> there;
  if (archive != nullptr)
    for (const Value& message : items_in(archive->document->root(), "messages"))
      there.insert(message_key(message));
  std::vector<const Value*> fresh;
  std::vector<json::Edit> gone;  // last one first, so that the indices stay valid
  for (const unsigned i : old)
    if (!there.contains(message_key(all[i])))
      fresh.push_back(&all[i]);
    else
      gone.insert(gone.begin(), json::Edit{"/messages/" + std::to_string(i), ""});
  if (!fresh.empty()) {
    memo.archived_ms = now_ms(snapshot);
    return {archived(snapshot, kind, archive, fresh)};
  }
  const std::int64_t settled = memo.archived_ms + kSettleMs;
  if (now_ms(snapshot) < settled) {
    const Time at{Millis(settled)};
    decision.tidy = std::min(decision.tidy.value_or(at), at);
    return {};
  }
  return {SetMembers{path_of(snapshot.options, kind), file->document->digest(), std::move(gone),
                     "messages that were read long ago are in the archive"}};
}

}  // namespace

bool counts(std::string_view kind, std::string_view result) {
  return (kind == "techlead_to_dev" && result == "unblocked") || hint_of(kind, result) != nullptr;
}

void apply_messages(Snapshot& snapshot, Writes& writes) {
  for (const Group& group : snapshot.plan.groups) {
    // If this round writes the group, the next round handles its messages.
    if (group.entry == nullptr || writes.touched(group.id))
      continue;
    const Run* const run = writer_of(snapshot, group);
    if (run == nullptr)
      continue;
    const std::size_t box = outbox(run->key.role).value_or(0);
    const auto sent = messages(snapshot.view.docs, box, group.id);
    const auto memo = snapshot.memo.runs.find(run->id);
    if (memo == snapshot.memo.runs.end() || sent.size() <= memo->second.mail.at(box))
      continue;
    const Value& newest = *sent.back().value;
    const auto result = word_of(newest, kMailboxes.at(box).result);
    const Hint* const hint = hint_of(kMailboxes.at(box).kind, result.value_or(""));
    if (hint != nullptr && hint->status != group.status)
      take_over(snapshot, group, *hint, newest, writes);
  }
}

std::vector<Update> apply_inbox(Snapshot& snapshot, Writes& writes, Decision& decision) {
  std::vector<Update> moves;
  for (const auto& [path, accepted] : snapshot.view.docs) {
    if (accepted.kind != "inbox" || accepted.part.empty() || !accepted.present)
      continue;
    // The file waits if its group does not exist yet. If this round writes the group, the next
    // round handles the file.
    const Group* const group = snapshot.plan.find(accepted.part);
    if (group == nullptr || writes.touched(group->id))
      continue;
    moves.emplace_back(archive_inbox_file(snapshot, path, accepted));
    merge_inbox_file(snapshot, path, accepted, *group, writes, decision);
  }
  return moves;
}

std::vector<Update> mark_read(const Snapshot& snapshot) {
  std::array<std::vector<json::Edit>, kMailboxes.size()> edits;
  for (const Run& run : snapshot.view.runs) {
    const auto box = inbox(run.key.role);
    const auto memo = snapshot.memo.runs.find(run.id);
    const auto stage = snapshot.view.stages.find(run.key.subject);
    if (!box || memo == snapshot.memo.runs.end() || run.outcome != Outcome::succeeded ||
        stage == snapshot.view.stages.end() || stage->second.generation <= run.key.generation)
      continue;
    const auto given = messages(snapshot.view.docs, *box, run.key.subject);
    const std::size_t count = std::min<std::size_t>(given.size(), memo->second.mail.at(*box));
    for (std::size_t i = 0; i < count; ++i) {
      json::Edit edit{"/messages/" + std::to_string(given[i].index) + "/read", "true"};
      auto& list = edits.at(*box);
      if (!given[i].archived && !json::boolean(*given[i].value, "read").value_or(false) &&
          std::find(list.begin(), list.end(), edit) == list.end())
        list.push_back(std::move(edit));
    }
  }
  std::vector<Update> updates;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const Accepted* const file = find(snapshot.view.docs, kMailboxes.at(i).kind);
    if (edits.at(i).empty() || file == nullptr || !file->present)
      continue;
    updates.emplace_back(SetMembers{path_of(snapshot.options, kMailboxes.at(i).kind),
                                    file->document->digest(), edits.at(i),
                                    "handled messages are marked as read"});
  }
  return updates;
}

std::vector<Update> archive_messages(Snapshot& snapshot, Decision& decision) {
  std::vector<Update> updates;
  for (const MailboxRow& row : kMailboxes)
    for (Update& update : archive_messages(snapshot, row.kind, decision))
      updates.push_back(std::move(update));
  return updates;
}

}  // namespace baton::coordination
