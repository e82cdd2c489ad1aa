#include "dialects/coordination/admit.h"

#include <algorithm>
#include <set>
#include <utility>

#include "dialects/coordination/coordination.h"
#include "dialects/coordination/decide.h"

namespace baton::coordination {
namespace {

Finding broken(std::string_view rule, std::string pointer, std::string message) {
  Finding finding;
  finding.rule = "coordination/" + std::string(rule);
  finding.pointer = std::move(pointer);
  finding.message = std::move(message);
  return finding;
}

/// The history names the rule.
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

/// The groups of both versions, each once.
std::vector<std::string> group_ids(const Value& before, const Value& after) {
  std::vector<std::string> ids;
  for (const Value* const version : {&after, &before})
    for (const auto& member : version->GetObject())
      if (const std::string id(json::name(member.name));
          !metadata(id) && std::find(ids.begin(), ids.end(), id) == ids.end())
        ids.push_back(id);
  return ids;
}

/// What is to become of a new version of group_status.
struct Groups {
  std::vector<json::Edit> edits;
  Findings findings;
  std::string why;
  std::string refused_at;
  std::string refused;
  bool something_new = false;

  void judge(const Scene& scene, const std::string& id, const Value* old, const Value* now) {
    using Kind = EntryVerdict::Kind;
    const EntryVerdict verdict = judge_entry(scene, id, old, now);
    const std::string pointer = "/" + json::pointer_token(id);
    for (const EntryFault& fault : verdict.faults) {
      findings.push_back(broken(fault.rule, pointer + fault.member, fault.why));
      if (fault.rule != "T8")
        because(fault.why, fault.rule);
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
      because(verdict.why, "T4");
  }

 private:
  void because(const std::string& reason, std::string_view rule) {
    why += (why.empty() ? "" : "; ") + named(reason, rule);
  }
};

/// Each group by itself (T1, T2, T4): several agents overwrite the whole file from copies of their
/// own.
Admission admit_groups(const Scene& scene, const Change& change, const Value& before) {
  const Value& after = change.after.root();
  Groups groups;
  for (const std::string& id : group_ids(before, after))
    groups.judge(scene, id, json::child(before, id), json::child(after, id));
  // Of a first version there is nothing to go back to.
  if (!groups.refused_at.empty() && !groups.something_new && change.before != nullptr)
    return restore("T1", groups.refused_at, groups.refused);
  Admission admission;
  if (!groups.edits.empty())
    admission = merged(change.after, groups.edits, groups.why);
  admission.findings = std::move(groups.findings);
  return admission;
}

/// A message once sent stays as it is; only `read` may become true (T3).
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

/// Messages of a new version of a mailbox against those in force.
class Mail {
 public:
  Mail(const Scene& scene, const MailboxRow& box, const Value& before, const Value& after)
      : scene_(scene),
        box_(box),
        before_(items(before, "messages")),
        after_(items(after, "messages")) {
    for (const Value* const message : before_)
      ids_.insert(text_of(*message, "id"));
    for (const Value* const message : after_)
      keys_.push_back(message_key(*message));
    if (const Accepted* const archive = archive_of(scene.view.docs, box.kind); archive != nullptr)
      for (const Value* const message : items(archive->document->root(), "messages"))
        archived_.insert(message_key(*message));
  }

  Json settled() {
    for (const Value* const message : before_)
      keep(*message);
    for (std::size_t i = 0; i < after_.size(); ++i)
      if (!known_.contains(after_[i]))
        add(*after_[i], "/messages/" + std::to_string(i));
    return Json::array(all_);
  }
  Findings take_findings() { return std::move(findings_); }

 private:
  /// One that is missing is a stale copy's, which is nobody's fault.
  void keep(const Value& message) {
    const Value* const now = copy_of(message);
    Json kept = settled_message(message, now);
    // A copy in which it was not read yet is nobody's fault either.
    if (now != nullptr && !same_message(Json(*now), Json(message)))
      findings_.push_back(
          broken("T3", "/messages/" + std::to_string(all_.size()),
                 "message " + text_of(message, "id") + " was sent before and stays as it was"));
    known_.insert(now);
    all_.push_back(std::move(kept));
  }

  /// The new version's copy of a message: the one that says the same, else the one by the same key.
  const Value* copy_of(const Value& message) const {
    const std::string key = message_key(message);
    const Value* copy = nullptr;
    for (std::size_t i = 0; i < after_.size(); ++i) {
      const Value* const other = after_[i];
      if (keys_[i] != key || known_.contains(other))
        continue;
      if (same_message(Json(*other), Json(message)))
        return other;
      copy = copy == nullptr ? other : copy;
    }
    return copy;
  }

  /// A copy of an old version brings back what is in the archive; that stays there. Two agents may
  /// have come upon the same id: the later message gets another.
  void add(const Value& message, const std::string& place) {
    if (archived_.contains(message_key(message)) || there(message))
      return;
    if (std::string why = forged(message); !why.empty()) {
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
                                     "this one is `" +
                                     other + "` now"));
      added.set("id", other);
    }
    all_.push_back(std::move(added));
  }

  /// What it says that is not for anybody to say who can have written it; empty: nothing. Of a
  /// group that does not exist, and in words of which nothing follows, anybody may speak.
  std::string forged(const Value& message) const {
    const std::string group = text_of(message, "group_id");
    const std::string said(word_of(message, box_.result).value_or(""));
    if (said == "approved")
      return may_approve(scene_, group)
                 ? ""
                 : "approves " + group + "; " + who_may_approve(scene_.view.flow, group);
    if (!counts(box_.kind, said) || scene_.plan.find(group) == nullptr ||
        may_speak(scene_, box_.from, group))
      return {};
    return "says " + said + " of " + group + "; " + who_may_speak(box_.from, group);
  }

  /// It stands there already, perhaps under the other id it got.
  bool there(const Value& message) const {
    const std::string id = text_of(message, "id");
    return std::any_of(all_.begin(), all_.end(), [&](const Json& other) {
      if (!text_of(*other, "id").starts_with(id + "_"))
        return same_message(other, Json(message));
      Json first(other);
      return same_message(first.set("id", id), Json(message));
    });
  }

  const Scene& scene_;
  const MailboxRow& box_;
  std::vector<const Value*> before_;
  std::vector<const Value*> after_;
  std::vector<std::string> keys_;  ///< of `after_`
  std::set<std::string> archived_;
  std::set<std::string> ids_;
  std::set<const Value*> known_;  ///< of the new version: copies of what was there
  std::vector<Json> all_;
  Findings findings_;
};

Admission admit_messages(const Scene& scene, const Change& change, std::size_t box,
                         const Value& before) {
  Mail mail(scene, kMailboxes.at(box), before, change.after.root());
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

/// The project manager counts its runs; fewer than before is an old copy (T5). What was asked for
/// is not the agents' to change (T6).
Admission admit_plan(const Scene& scene, const Change& change) {
  const Value& before = change.before->root();
  const Value& after = change.after.root();
  const auto had = json::integer(before, "iteration").value_or(0);
  const auto has = json::integer(after, "iteration").value_or(0);
  if (has < had)
    return restore("T5", "/iteration",
                   "iteration went back from " + std::to_string(had) + " to " +
                       std::to_string(has) + ": an old copy of the plan");
  const std::string asked = text_of(before, "original_requirements");
  const bool agents = scene.written_by([](const Run&) { return true; });
  if (asked.empty() || !agents || asked == text_of(after, "original_requirements"))
    return {};
  const std::string pointer = "/original_requirements";
  const std::string why = "original_requirements are not the agents' to change";
  Admission admission =
      merged(change.after, {json::Edit{pointer, json::quote(asked)}}, named(why, "T6"));
  admission.findings.push_back(broken("T6", pointer, why));
  return admission;
}

/// baton writes orchestrator_state. Others may say that the session is completed, when it is, and
/// may add members of their own (T7).
Admission admit_orchestrator(const Scene& scene, const Change& change) {
  const Value& before = change.before->root();
  const Value& after = change.after.root();
  const bool agents = scene.written_by([](const Run&) { return true; });
  const auto status = json::text(after, "status");
  if (status != json::text(before, "status")) {
    if (status == "completed" && !scene.plan.all_complete())
      return restore("S17", "/status", "the session is not completed: not every group is complete");
    if (agents && status != "completed")
      return restore("T7", "/status", "the status of the session is baton's to write");
  }
  for (const std::string_view name :
       {"session_id", "iteration", "total_spawns", "active_agents", "decisions_log"}) {
    const Value* const old = json::child(before, name);
    const Value* const now = json::child(after, name);
    if ((old == nullptr) != (now == nullptr) || (old != nullptr && !json::equal(*old, *now)))
      return restore("T7", "/" + std::string(name),
                     "`" + std::string(name) + "` is baton's to write");
  }
  return {};
}

/// Whom a finding concerns: the group it is about, else whoever wrote it.
Subject concerned(const Scene& scene, const Change& change, const Finding& finding) {
  const std::string& pointer = finding.pointer;
  if (change.kind == "group_status")
    return pointer.substr(1, pointer.find('/', 1) - 1);
  if (const Value* const message = json::at(change.after.root(), pointer);
      message != nullptr && finding.rule.ends_with("/T2"))
    return text_of(*message, "group_id");
  for (const Run& run : scene.view.runs)
    if (!change.writer.empty() && run.id == change.writer)
      return run.key.subject;
  return {};
}

/// Remembers what was put back, so that the next agent hears of it.
void note_put_back(const Scene& scene, const Change& change, Admission& admission) {
  if (admission.findings.empty() || scene.memo.fresh)
    return;
  Memo memo = memo_of(scene.view.memo);
  for (const Finding& finding : admission.findings)
    remember(memo, PutBack{change.path,
                           finding.pointer,
                           finding.message,
                           concerned(scene, change, finding),
                           {},
                           finding.rule.ends_with("/T8")});
  admission.memo = json_of(memo);
}

/// The archive of messages is baton's to write.
Admission admit_archive(const Change& change) {
  const std::string why = "the archive of messages is baton's to write";
  if (change.before != nullptr)
    return restore("T3", "/messages", why);
  Admission admission = merged(change.after, {json::Edit{"/messages", "[]"}}, named(why, "T3"));
  admission.findings.push_back(broken("T3", "/messages", why));
  return admission;
}

/// What stands in a folder at first is taken as it is, unless agents are at work already: of
/// theirs is judged what there was nothing of before.
Admission judge_first(const Scene& scene, const Change& change) {
  if (!scene.written_by([](const Run&) { return true; }))
    return {};
  const Json nothing = Json::object();
  if (const auto box = mailbox(change.kind))
    return admit_messages(scene, change, *box, *nothing);
  if (change.kind == "archive")
    return admit_archive(change);
  if (change.kind == "group_status")
    return admit_groups(scene, change, *nothing);
  return {};
}

/// The rules of one document refuse it, and nothing here mends that: what would be said of it
/// against the version before means nothing.
bool hopeless(const Scene& scene, const Change& change) {
  const Value& root = change.after.root();
  if (change.kind == "pm_state")
    return has_error(check_plan(root));
  return change.kind == "group_status" && has_error(check_groups(root, scene.options.reviews));
}

Admission judge(const Scene& scene, const Change& change) {
  if (hopeless(scene, change))
    return {};
  if (change.before == nullptr)
    return judge_first(scene, change);
  if (const auto box = mailbox(change.kind))
    return admit_messages(scene, change, *box, change.before->root());
  if (change.kind == "archive")
    return admit_archive(change);
  if (change.kind == "group_status")
    return admit_groups(scene, change, change.before->root());
  if (change.kind == "pm_state")
    return admit_plan(scene, change);
  if (change.kind == "orchestrator_state")
    return admit_orchestrator(scene, change);
  return {};
}

}  // namespace

Admission admit(const View& view, const Change& change) {
  Scene scene(view);
  // It may have stood there for long, while a write of baton's own was still to be made: agents
  // that have ended meanwhile may have written it.
  if (change.unseen)
    for (auto& [id, run] : scene.memo.runs)
      run.over = false;
  Admission admission = judge(scene, change);
  note_put_back(scene, change, admission);
  return admission;
}

}  // namespace baton::coordination
