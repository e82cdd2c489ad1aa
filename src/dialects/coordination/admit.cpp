// SPDX-License-Identifier: Apache-2.0
#include "dialects/coordination/admit.h"

#include <algorithm>
#include <set>
#include <utility>

#include "dialects/coordination/coordination.h"
#include "dialects/coordination/decide.h"
#include "dialects/findings.h"

namespace baton::coordination {
namespace {

Finding broken(std::string_view rule, std::string pointer, std::string message) {
  return finding(Severity::error, std::string(rule), std::move(pointer), std::move(message));
}

/// The reason with its rule, for the history.
std::string named(const std::string& why, std::string_view rule) {
  return why + " (coordination/" + std::string(rule) + ")";
}

Admission restore(std::string_view rule, std::string pointer, const std::string& why) {
  Admission admission;
  admission.verdict = Admission::Verdict::restore;
  admission.why = named(why, rule);
  admission.findings.push_back(broken(rule, std::move(pointer), why));
  return admission;
}

Admission merged(const Document& after, const std::vector<json::Edit>& edits, std::string why) {
  Admission admission;
  auto text = json::splice(after.text(), edits);
  if (!text)
    return admission;
  admission.verdict = Admission::Verdict::merged;
  admission.text = std::move(*text);
  admission.why = std::move(why);
  return admission;
}

/// The groups of both versions.
std::vector<std::string> group_ids(const Value& before, const Value& after) {
  std::vector<std::string> ids;
  for (const Value* const version : {&after, &before})
    for (const auto& member : version->GetObject())
      if (const std::string id(json::name(member.name));
          !is_metadata(id) && std::find(ids.begin(), ids.end(), id) == ids.end())
        ids.push_back(id);
  return ids;
}

/// Collects the result for a new version of group_status.
struct Groups {
  std::vector<json::Edit> edits;
  Findings findings;
  std::string why;
  std::string refused_at;
  std::string refused;
  bool something_new = false;

  void judge(const Snapshot& snapshot, const std::string& id, const Value* old, const Value* now) {
    using Kind = EntryVerdict::Kind;
    const EntryVerdict verdict = judge_entry(snapshot, id, old, now);
    const std::string pointer = "/" + json::pointer_token(id);
    for (const EntryFault& fault : verdict.faults) {
      findings.push_back(broken(fault.rule, pointer + fault.member, fault.why));
      if (fault.rule != "T8")
        add_reason(fault.why, fault.rule);
      if (verdict.kind == Kind::refused) {
        refused_at = pointer + fault.member;
        refused += (refused.empty() ? "" : "; ") + fault.why;
      }
    }
    const Json given = now == nullptr ? Json() : Json(*now);
    something_new = something_new ||
                    (verdict.kind == Kind::taken && (old == nullptr || !json::equal(*old, *given)));
    if (verdict.entry == given)
      return;
    edits.push_back(json::Edit{pointer, verdict.entry.is_null() ? "" : verdict.entry.dump()});
    if (verdict.kind == Kind::stale)
      add_reason(verdict.why, "T4");
  }

 private:
  void add_reason(const std::string& reason, std::string_view rule) {
    why += (why.empty() ? "" : "; ") + named(reason, rule);
  }
};

/// Judges each group by itself (T1, T2, T4), because agents overwrite the whole file from copies.
Admission admit_groups(const Snapshot& snapshot, const Change& change, const Value& before) {
  const Value& after = change.after.root();
  Groups groups;
  for (const std::string& id : group_ids(before, after))
    groups.judge(snapshot, id, json::child(before, id), json::child(after, id));
  // A first version has nothing to go back to.
  if (!groups.refused_at.empty() && !groups.something_new && change.before != nullptr)
    return restore("T1", groups.refused_at, groups.refused);
  Admission admission;
  if (!groups.edits.empty())
    admission = merged(change.after, groups.edits, groups.why);
  admission.findings = std::move(groups.findings);
  return admission;
}

/// A sent message does not change; only `read` may become true (T3).
Json settled_message(const Value& before, const Value* after) {
  Json message(before);
  if (after != nullptr && json::boolean(*after, "read").value_or(false))
    message.set("read", true);
  return message;
}

bool same_message(const Json& a, const Json& b) {
  Json left(a);
  Json right(b);
  return left.set("read", true) == right.set("read", true);
}

/// Compares the messages of a new mailbox with the accepted ones.
class Mail {
 public:
  Mail(const Snapshot& snapshot, const MailboxRow& box, const Value& before, const Value& after)
      : snapshot_(snapshot),
        box_(box),
        before_(items_in(before, "messages")),
        after_(items_in(after, "messages")) {
    for (const Value& message : before_)
      ids_.insert(text_of(message, "id"));
    for (const Value& message : after_)
      keys_.push_back(message_key(message));
    if (const Accepted* const archive = find(snapshot.view.docs, "archive", box.kind))
      for (const Value& message : items_in(archive->document->root(), "messages"))
        archived_.insert(message_key(message));
  }

  Json settled() {
    for (const Value& message : before_)
      keep(message);
    std::size_t index = 0;
    for (const Value& message : after_)
      if (const std::string place = item_pointer("/messages", index++); !known_.contains(&message))
        add(message, place);
    return Json::array(all_);
  }
  Findings take_findings() { return std::move(findings_); }

 private:
  /// Keeps an accepted message. If the new version lacks it, the version is an old copy, which is
  /// no fault.
  void keep(const Value& message) {
    const Value* const now = copy_of(message);
    Json kept = settled_message(message, now);
    // An old copy without `read` is not a fault either.
    if (now != nullptr && !same_message(Json(*now), Json(message)))
      findings_.push_back(
          broken("T3", "/messages/" + std::to_string(all_.size()),
                 "message " + text_of(message, "id") + " was sent before and stays as it was"));
    known_.insert(now);
    all_.push_back(std::move(kept));
  }

  /// The copy of a message in the new version: an equal one, else one with the same key; nullptr:
  /// none.
  const Value* copy_of(const Value& message) const {
    const std::string key = message_key(message);
    const Value* copy = nullptr;
    std::size_t index = 0;
    for (const Value& other : after_) {
      if (keys_[index++] != key || known_.contains(&other))
        continue;
      if (same_message(Json(other), Json(message)))
        return &other;
      copy = copy == nullptr ? &other : copy;
    }
    return copy;
  }

  /// Adds a new message. An old copy may bring back archived messages; baton does not add them. If
  /// two agents use the same id, the later message gets another one.
  void add(const Value& message, const std::string& place) {
    if (archived_.contains(message_key(message)) || is_present(message))
      return;
    if (std::string why = unauthorized(message); !why.empty()) {
      findings_.push_back(
          broken("T2", place, "message " + text_of(message, "id") + " " + std::move(why)));
      return;
    }
    Json added(message);
    const std::string id = text_of(message, "id");
    if (!ids_.insert(id).second) {
      std::string other;
      for (std::size_t n = 2; other.empty() || !ids_.insert(other).second; ++n)
        other = id + "_" + std::to_string(n);
      findings_.push_back(broken("S12", place,
                                 "`" + id +
                                     "` is the id of an earlier message; "
                                     "this one gets `" +
                                     other + "`"));
      added.set("id", other);
    }
    all_.push_back(std::move(added));
  }

  /// What is wrong if none of the possible writers may say this; empty: nothing. Words without
  /// effect and unknown groups are allowed.
  std::string unauthorized(const Value& message) const {
    const std::string group = text_of(message, "group_id");
    const std::string result(word_of(message, box_.result).value_or(""));
    if (result == "approved")
      return may_approve(snapshot_, group)
                 ? ""
                 : "approves " + group + "; " + who_may_approve(snapshot_.view.flow, group);
    if (!counts(box_.kind, result) || snapshot_.plan.find(group) == nullptr ||
        may_report(snapshot_, box_.from, group))
      return {};
    return "says " + result + " of " + group + "; " + who_may_report(box_.from, group);
  }

  /// Whether the message exists already, perhaps under its replaced id.
  bool is_present(const Value& message) const {
    const std::string id = text_of(message, "id");
    return std::any_of(all_.begin(), all_.end(), [&](const Json& other) {
      if (!text_of(*other, "id").starts_with(id + "_"))
        return same_message(other, Json(message));
      Json first(other);
      return same_message(first.set("id", id), Json(message));
    });
  }

  const Snapshot& snapshot_;
  const MailboxRow& box_;
  Value::ConstArray before_;
  Value::ConstArray after_;
  std::vector<std::string> keys_;  ///< of `after_`
  std::set<std::string> archived_;
  std::set<std::string> ids_;
  std::set<const Value*> known_;  ///< copies of accepted messages in the new version
  std::vector<Json> all_;
  Findings findings_;
};

Admission admit_messages(const Snapshot& snapshot, const Change& change, std::size_t box,
                         const Value& before) {
  Mail mail(snapshot, kMailboxes.at(box), before, change.after.root());
  const Json settled = mail.settled();
  const Value* const list = json::child(change.after.root(), "messages");
  if (list != nullptr && json::equal(*list, *settled))
    return {};
  const Findings findings = mail.take_findings();
  std::string why;
  for (const Finding& finding : findings)
    why += (why.empty() ? "" : "; ") + finding.message + " (" + finding.rule + ")";
  if (why.empty())
    why = named("it was a copy of an earlier version", "T3");
  Admission admission =
      merged(change.after, {json::Edit{"/messages", settled.dump()}}, std::move(why));
  admission.findings = findings;
  return admission;
}

/// A lower iteration is an old copy (T5). Agents may not change the requirements (T6).
Admission admit_plan(const Snapshot& snapshot, const Change& change) {
  const Value& before = change.before->root();
  const Value& after = change.after.root();
  const auto had = json::integer(before, "iteration").value_or(0);
  const auto has = json::integer(after, "iteration").value_or(0);
  if (has < had)
    return restore("T5", "/iteration",
                   "iteration went back from " + std::to_string(had) + " to " +
                       std::to_string(has) + ", so it is an old copy of the plan");
  const std::string requirements = text_of(before, "original_requirements");
  const bool agents = snapshot.written_by([](const Run&) { return true; });
  if (requirements.empty() || !agents || requirements == text_of(after, "original_requirements"))
    return {};
  const std::string pointer = "/original_requirements";
  const std::string why = "agents must not change original_requirements";
  Admission admission =
      merged(change.after, {json::Edit{pointer, json::quote(requirements)}}, named(why, "T6"));
  admission.findings.push_back(broken("T6", pointer, why));
  return admission;
}

/// Only baton writes orchestrator_state. Others may set `completed` when all groups are complete,
/// and they may add members (T7).
Admission admit_orchestrator(const Snapshot& snapshot, const Change& change) {
  const Value& before = change.before->root();
  const Value& after = change.after.root();
  const bool agents = snapshot.written_by([](const Run&) { return true; });
  const auto status = json::text(after, "status");
  if (status != json::text(before, "status")) {
    if (status == "completed" && !snapshot.plan.all_complete())
      return restore("S17", "/status",
                     "the session is not completed: some groups are not complete");
    if (agents && status != "completed")
      return restore("T7", "/status", "only baton writes the status of the session");
  }
  for (const std::string_view name :
       {"session_id", "iteration", "total_spawns", "active_agents", "decisions_log"}) {
    const Value* const old = json::child(before, name);
    const Value* const now = json::child(after, name);
    if ((old == nullptr) != (now == nullptr) || (old != nullptr && !json::equal(*old, *now)))
      return restore("T7", "/" + std::string(name),
                     "only baton writes `" + std::string(name) + "`");
  }
  return {};
}

/// The group that a finding is about, else the subject of the run that wrote the file; empty:
/// unknown.
Subject concerned(const Snapshot& snapshot, const Change& change, const Finding& finding) {
  const std::string& pointer = finding.pointer;
  if (change.kind == "group_status")
    return pointer.substr(1, pointer.find('/', 1) - 1);
  if (const Value* const message = json::at(change.after.root(), pointer);
      message != nullptr && finding.rule.ends_with("/T2"))
    return text_of(*message, "group_id");
  for (const Run& run : snapshot.view.runs)
    if (!change.writer.empty() && run.id == change.writer)
      return run.key.subject;
  return {};
}

/// Remembers what baton puts back, so that the next agents learn of it.
void note_put_back(const Snapshot& snapshot, const Change& change, Admission& admission) {
  if (admission.findings.empty() || snapshot.memo.fresh)
    return;
  Memo memo = memo_of(snapshot.view.memo);
  for (const Finding& finding : admission.findings)
    remember(memo, PutBack{change.path,
                           finding.pointer,
                           finding.message,
                           concerned(snapshot, change, finding),
                           {},
                           finding.rule.ends_with("/T8")});
  admission.memo = json_of(memo);
}

/// Only baton writes the archive of messages.
Admission admit_archive(const Change& change) {
  const std::string why = "only baton writes the archive of messages";
  if (change.before != nullptr)
    return restore("T3", "/messages", why);
  Admission admission = merged(change.after, {json::Edit{"/messages", "[]"}}, named(why, "T3"));
  admission.findings.push_back(broken("T3", "/messages", why));
  return admission;
}

/// Whether the check refuses the document anyway, so that comparing it is pointless.
bool is_unfixable(const Snapshot& snapshot, const Change& change) {
  const Value& root = change.after.root();
  if (change.kind == "pm_state")
    return has_error(check_plan(root));
  return change.kind == "group_status" && has_error(check_groups(root, snapshot.options.reviews));
}

Admission judge(const Snapshot& snapshot, const Change& change) {
  if (is_unfixable(snapshot, change))
    return {};
  // baton accepts the first version as it is, unless an agent may have written it.
  const bool first = change.before == nullptr;
  if (first && !snapshot.written_by([](const Run&) { return true; }))
    return {};
  const Json nothing = Json::object();
  const Value& before = first ? *nothing : change.before->root();
  if (const auto box = mailbox(change.kind))
    return admit_messages(snapshot, change, *box, before);
  if (change.kind == "archive")
    return admit_archive(change);
  if (change.kind == "group_status")
    return admit_groups(snapshot, change, before);
  if (first)
    return {};
  if (change.kind == "pm_state")
    return admit_plan(snapshot, change);
  if (change.kind == "orchestrator_state")
    return admit_orchestrator(snapshot, change);
  return {};
}

}  // namespace

Admission admit(const View& view, const Change& change) {
  Snapshot snapshot(view);
  // The file may have waited for a write of baton. So agents that have ended since may have written
  // it.
  if (change.unseen)
    for (auto& [id, run] : snapshot.memo.runs)
      run.over = false;
  Admission admission = judge(snapshot, change);
  note_put_back(snapshot, change, admission);
  return admission;
}

}  // namespace baton::coordination
