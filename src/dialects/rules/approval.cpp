// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "dialects/kinds.h"
#include "dialects/rules/conditions.h"
#include "dialects/rules/decide.h"

namespace baton::rules {
namespace {

constexpr std::array kWords = {
    std::pair{std::string_view("approve"), std::string_view("approved")},
    std::pair{std::string_view("approved"), std::string_view("approved")},
    std::pair{std::string_view("reject"), std::string_view("rejected")},
    std::pair{std::string_view("rejected"), std::string_view("rejected")},
};

std::optional<Word> word_for(std::string_view text) {
  const auto* const row = std::find_if(kWords.begin(), kWords.end(),
                                       [&](const auto& each) { return each.first == text; });
  return row == kWords.end() ? std::nullopt : std::optional<Word>(Word(row->second));
}

/// Limits for the texts of a decision. The memo holds them, and baton writes the memo with each
/// step.
constexpr std::size_t kMostBy = 200;
constexpr std::size_t kMostComment = 16'384;

std::string cut(std::string text, std::size_t most) {
  if (text.size() <= most)
    return text;
  constexpr unsigned char kKind = 0xC0;
  constexpr unsigned char kWithin = 0x80;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & kKind) == kWithin)
    --most;
  return text.substr(0, most) + "...";
}

/// A reaction that needs a decision of a person for this subject.
struct Wait {
  Subject subject;
  const StageState* state;
  const Reaction* reaction;
};

class ApprovalRequests {
 public:
  ApprovalRequests(const View& view, const Snapshot& snapshot, Memo& memo, Decision& decision)
      : view_(view), snapshot_(snapshot), memo_(memo), decision_(decision) {
    for (const auto& [subject, state] : view.stages)
      for (const Reaction& reaction : snapshot.rule().react)
        if (!state.stage.empty() && reaction.approval &&
            snapshot.concerns(reaction, subject, state) && !snapshot.disputed(subject) &&
            snapshot.unmet(reaction, subject) == nullptr)
          waits_.push_back({subject, &state, &reaction});
    // Forgets the waits that are over. A later wait then begins with the file of that time, so a
    // decision from before does not count.
    std::set<std::pair<Subject, std::string>> waited_for;
    for (const Wait& wait : waits_)
      if (const auto& place = wait.reaction->approval->decision)
        waited_for.emplace(wait.subject, snapshot.path(*place, wait.subject));
    for (auto& [subject, entry] : memo.entries)
      std::erase_if(entry.waits, [&, &name = subject](const auto& row) {
        return !waited_for.contains({name, row.first});
      });
  }

  void by_request() {
    std::map<std::string, Answer> answered;
    for (const Request& request : view_.requests) {
      if (request.flow != view_.flow || !word_for(request.verb))
        continue;
      const auto known = memo_.heard.find(request.id);
      const Answer reply = known == memo_.heard.end() ? answer(request) : known->second;
      answered.emplace(request.id, reply);
      decision_.replies.push_back(Reply{request.id, reply.accepted, reply.message});
    }
    memo_.heard = std::move(answered);
  }

  void by_file() {
    for (const Wait& wait : waits_)
      if (wait.reaction->approval->decision)
        look(wait, *wait.reaction->approval->decision);
  }

 private:
  Entry& entry(const Wait& wait) { return memo_.entry(wait.subject, wait.state->generation); }

  Answer answer(const Request& request) {
    std::set<Subject> all;
    std::vector<std::string> open;
    for (const Wait& wait : waits_)
      if (all.insert(wait.subject).second && entry(wait).said.decision.empty())
        open.push_back(wait.subject);
    const auto refused = [&](std::string why) { return Answer{false, std::move(why)}; };
    Subject subject = request.subject;
    if (subject.empty() && open.size() == 1)
      subject = open.front();
    else if (subject.empty() && all.size() == 1)
      subject = *all.begin();
    const auto wait = std::find_if(waits_.begin(), waits_.end(),
                                   [&](const Wait& each) { return each.subject == subject; });
    const std::string others =
        open.empty() ? "; nothing waits for approval" : "; waiting: " + join(open, ", ");
    if (all.empty())
      return refused("nothing of this flow waits for approval");
    if (subject.empty())
      return refused("name a subject" + others);
    if (wait == waits_.end())
      return refused(quoted(subject) + " does not wait for approval" + others);
    if (const PersonDecision& said = entry(*wait).said; !said.decision.empty())
      return refused(quoted(subject) + " was already " + said.decision + " by " +
                     printable(said.by, 80) + "; a new decision is possible at its next stage");
    PersonDecision said{*word_for(request.verb), request.by.empty() ? "somebody" : request.by,
                        text_of(*request.arguments, "comment")};
    const std::string done = subject + " is " + said.decision;
    enter(*wait, std::move(said));
    return Answer{true, done};
  }

  void look(const Wait& wait, const Place& place) {
    Entry& entry = this->entry(wait);
    const Accepted* const file = snapshot_.file(place, wait.subject);
    const Value* const value = snapshot_.value(place, wait.subject);
    const auto word = value == nullptr ? std::nullopt : decision_of(*value);
    const std::string path = snapshot_.path(place, wait.subject);
    const Arrival since =
        entry.waits.emplace(path, file == nullptr ? 0 : file->arrival).first->second;
    if (file == nullptr || !file->present || !word)
      return;
    if (!entry.said.decision.empty())
      return put_aside(path, *file, wait.subject, "the decision was already made");
    if (file->arrival <= since)
      return put_aside(path, *file, wait.subject,
                       "the file is older than the wait for approval, so it does not count");
    const auto text = [&](std::string_view name) {
      const Value* const record = record_of(*file->document);
      return std::string(record == nullptr ? "" : json::text(*record, name).value_or(""));
    };
    const std::string by = text("by");
    enter(wait, PersonDecision{*word, by.empty() ? path : by, text("comment")});
    move(path, *file, wait.subject + " is " + *word);
  }

  void enter(const Wait& wait, PersonDecision said) {
    said.by = cut(std::move(said.by), kMostBy);
    said.comment = cut(std::move(said.comment), kMostComment);
    decision_.notices.push_back(
        Notice{said.decision, wait.subject,
               "by " + printable(said.by, 80) +
                   (said.comment.empty() ? "" : ": " + printable(said.comment, 400)) + " (#" +
                   std::to_string(wait.state->generation) + ")"});
    memo_.said[wait.subject] = said;
    entry(wait).said = std::move(said);
  }

  void put_aside(const std::string& path, const Accepted& file, const Subject& subject,
                 const std::string& why) {
    if (!move(path, file, why))
      return;
    decision_.notices.push_back(Notice{"put_aside", subject, path + ": " + why});
  }

  /// Moves a used file away, so that a person can write the same decision again.
  bool move(const std::string& path, const Accepted& file, const std::string& why) {
    if (!moved_.insert(path).second)
      return false;
    const auto slash = path.rfind('/');
    const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
    const auto dot = path.rfind('.');
    const std::size_t end = dot == std::string::npos || dot < name ? path.size() : dot;
    decision_.updates.emplace_back(Move{path, file.document->digest(),
                                        path.substr(0, name) + ".decided/" +
                                            path.substr(name, end - name) + "." +
                                            std::to_string(file.arrival) + path.substr(end),
                                        why});
    return true;
  }

  static std::string quoted(const Subject& subject) { return "`" + printable(subject, 80) + "`"; }

  const View& view_;
  const Snapshot& snapshot_;
  Memo& memo_;
  Decision& decision_;
  std::vector<Wait> waits_;
  std::set<std::string> moved_;
};

}  // namespace

std::optional<Word> decision_of(const Value& value) {
  if (const auto flag = json::boolean(value))
    return Word(*flag ? "approved" : "rejected");
  return word_for(json::text(value).value_or(""));
}

void read_decisions(const View& view, const Snapshot& snapshot, Memo& memo, Decision& decision) {
  ApprovalRequests people(view, snapshot, memo, decision);
  people.by_request();
  people.by_file();
}

std::optional<Hold> approval_hold(const View& view, const Snapshot& snapshot, const Memo& memo,
                                  const Reaction& reaction, const Subject& subject) {
  const auto state = view.stages.find(subject);
  const std::string stage =
      snapshot.is_join(subject)
          ? "`" + subject + "`"
          : "the stage `" +
                printable(state == view.stages.end() ? Word() : state->second.stage, 60) + "`" +
                (subject == "main" ? "" : " of " + printable(subject, 60));
  const auto entry = memo.entries.find(subject);
  const PersonDecision said = entry == memo.entries.end() ? PersonDecision{} : entry->second.said;
  if (said.decision == "approved")
    return std::nullopt;
  if (said.decision == "rejected") {
    const std::string path = snapshot.holder(subject);
    const std::string said_so = stage + " was rejected by " + printable(said.by, 80) +
                                (said.comment.empty() ? "" : ": " + printable(said.comment, 400));
    return Hold{reaction.run, subject, cause_of(Situation::rejected_by_person), said_so,
                snapshot.is_join(subject)
                    ? "it is asked again when this was not so and is so again"
                    : "write another stage at " +
                          snapshot.pointer(snapshot.rule().stage, subject)
                              .value_or(pointer_for(snapshot.rule().stage, subject)) +
                          " of " + path + ", then `baton validate " + shell_word(path) + "`"};
  }
  const auto& decision = reaction.approval->decision;
  return Hold{reaction.run, subject, cause_of(Situation::approval_wanted),
              "a person has to approve or reject " + stage +
                  (decision ? "; the decision may also stand at " + decision->pointer + " of " +
                                  snapshot.path(*decision, subject)
                            : ""),
              command("approve", view.flow, subject)};
}

}  // namespace baton::rules
