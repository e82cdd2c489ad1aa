// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/placeholders.h"
#include "base/text.h"
#include "dialects/kinds.h"
#include "dialects/rules/conditions.h"
#include "dialects/rules/decide.h"

namespace baton::rules {

namespace {

std::string shown(const Value* value) {
  if (value == nullptr)
    return {};
  const auto text = json::text(*value);
  return text ? std::string(*text) : json::dump(*value);
}

std::string json_text(const Value* value) {
  return value == nullptr ? "" : json::dump(*value);
}

bool same(const Value* value, const std::string& text) {
  if (value == nullptr || text.empty())
    return value == nullptr && text.empty();
  const auto other = parse_json(text);
  return other && json::equal(*value, **other);
}

}  // namespace

std::map<std::string, std::string> values_for(const View& view, const Snapshot& snapshot,
                                              const Memo& memo, const Subject& subject) {
  std::map<std::string, std::string> values;
  for (const auto& [name, place] : snapshot.rule().values)
    values[name] = shown(snapshot.value(place, subject));
  const auto stage = view.stages.find(subject);
  const StageState state = stage == view.stages.end() ? StageState{} : stage->second;
  const auto said = memo.said.find(subject);
  const PersonDecision last = said == memo.said.end() ? PersonDecision{} : said->second;
  values["flow_name"] = view.flow.name;
  values["subject"] = subject;
  values["stage"] = state.stage;
  values["previous"] = state.previous;
  values["entry"] = std::to_string(state.entries);
  values["now"] = iso_time(view.wall);
  values["decision"] = last.decision;
  values["decided_by"] = last.by;
  values["comment"] = last.comment;
  return values;
}

Json filled(const Json& value, const Snapshot& snapshot, const Subject& subject,
            const std::map<std::string, std::string>& values) {
  const auto text = json::text(*value);
  if (!text)
    return value;
  for (const auto& [name, place] : snapshot.rule().values)
    if (*text == "${" + name + "}") {
      const Value* const found = snapshot.value(place, subject);
      return found == nullptr ? Json() : Json(*found);
    }
  const auto done = fill(*text, values);
  return done ? Json(*done) : value;
}

void Edits::set(const Value& root, const std::string& pointer, const std::string& text) {
  for (auto slash = pointer.find('/', 1); slash != std::string::npos;
       slash = pointer.find('/', slash + 1)) {
    const std::string around = pointer.substr(0, slash);
    const Value* const there = json::at(root, around);
    if ((there == nullptr || there->IsNull()) && set_.insert(around).second)
      all_.push_back({around, "{}"});
  }
  set_.insert(pointer);
  all_.push_back({pointer, text});
}

bool Writes::done(const Subject& subject, const std::string& key) const {
  const Entry& entry = memo_.entry(subject, view_.stages.at(subject).generation);
  const auto written = entry.written.find(key);
  if (written == entry.written.end())
    return false;
  // A file that still has its digest from before was not written: the write was refused, or
  // somebody has restored that version.
  return std::none_of(written->second.begin(), written->second.end(), [&](const auto& row) {
    const auto file = view_.docs.find(row.first);
    return file != view_.docs.end() && hex(file->second.document->digest()) == row.second;
  });
}

bool Writes::stand(const Subject& subject, const std::vector<Member>& members) const {
  const auto values = values_for(view_, snapshot_, memo_, subject);
  return std::all_of(members.begin(), members.end(), [&](const Member& member) {
    const Value* const there = snapshot_.value(member.place, subject);
    return there != nullptr &&
           json::equal(*there, *filled(member.value, snapshot_, subject, values));
  });
}

std::optional<Hold> Writes::unwritable(const Subject& subject,
                                       const std::vector<Member>& members) const {
  for (const Member& member : members) {
    const Accepted* const file = snapshot_.file(member.place, subject);
    const std::string path = snapshot_.path(member.place, subject);
    if (path.empty())
      return Hold{
          "", subject, cause_of(Situation::file_missing),
          "no file can be called by this name, so that " + text(member.place) + " cannot be set",
          "rename the subject, then `baton validate " + shell_word(snapshot_.holder(subject)) +
              "`"};
    if (file == nullptr && view_.rejected.contains(path))
      return Hold{"", subject, cause_of(Situation::file_rejected),
                  path + " was rejected, so that " + text(member.place) +
                      " cannot be set: " + first_error(path, view_.rejected.at(path)),
                  correct(path)};
    if (file == nullptr || !file->present)
      return Hold{"", subject, cause_of(Situation::file_missing),
                  path + " is not there, so that " + text(member.place) + " cannot be set",
                  "write " + path + ", then `baton validate " + shell_word(path) + "`"};
    if (!snapshot_.pointer(member.place, subject))
      return Hold{
          "", subject, cause_of(Situation::file_missing),
          "the list in " + path + " has no element for " + printable(subject, 80) + ", so that " +
              text(member.place) + " cannot be set",
          "add the element to " + path + ", then `baton validate " + shell_word(path) + "`"};
    if (!file->rejected.empty())
      return Hold{"", subject, cause_of(Situation::file_rejected),
                  path + " has a version that was rejected, which is not written over: " +
                      first_error(path, file->rejected),
                  correct(path)};
  }
  return std::nullopt;
}

std::optional<Hold> Writes::set(const Subject& subject, const std::string& key,
                                const std::vector<Member>& members, const std::string& why) {
  Entry& entry = memo_.entry(subject, view_.stages.at(subject).generation);
  if (done(subject, key))
    return std::nullopt;
  if (view_.control != Control::run && !stand(subject, members))
    return Hold{"", subject,
                cause_of(view_.control == Control::idle   ? Situation::existing
                         : view_.control == Control::stop ? Situation::stopped
                                                          : Situation::paused),
                stage_text(subject, view_.stages.at(subject).stage) +
                    "; nothing is set before the flow is resumed",
                command("resume", view_.flow)};
  if (auto hold = unwritable(subject, members))
    return hold;
  const auto values = values_for(view_, snapshot_, memo_, subject);
  auto& before = entry.written[key];
  before.clear();
  for (const Member& member : members) {
    const std::string path = snapshot_.path(member.place, subject);
    const Accepted& file = *snapshot_.file(member.place, subject);
    const std::string pointer = *snapshot_.pointer(member.place, subject);
    const Json value = filled(member.value, snapshot_, subject, values);
    const Value* const there = json::at(file.document->root(), pointer);
    if (there != nullptr && json::equal(*there, *value))
      continue;
    before[path] = hex(file.document->digest());
    add(file, path, Written{member.place.pointer, subject, "", value.dump()}, pointer);
    std::string& reason = files_.at(path).why;
    if (reason.find(why) == std::string::npos)
      reason += (reason.empty() ? "" : "; ") + why;
  }
  return std::nullopt;
}

void Writes::begin(const Accepted& file, const std::string& path) {
  constexpr std::size_t kMost = 32;
  std::vector<Writing>& all = memo_.files[path];
  const std::string over = hex(file.document->digest());
  // Somebody else has written since baton's last write. A writer of an older version has not seen
  // that change, and baton cannot repeat it. So the earlier writes are of no use.
  if (file.writer != "baton")
    all.clear();
  // If baton writes from the same version again, the earlier write did not happen.
  all.erase(
      std::find_if(all.begin(), all.end(), [&](const Writing& each) { return each.over == over; }),
      all.end());
  if (all.size() == kMost)
    all.erase(all.begin());
  all.push_back(Writing{over, {}});
}

void Writes::add(const Accepted& file, const std::string& path, Written member,
                 const std::string& pointer) {
  auto [found, fresh] = files_.try_emplace(path);
  File& target = found->second;
  if (fresh) {
    target.assumes = file.document->digest();
    begin(file, path);
  }
  target.edits.set(file.document->root(), pointer, member.after);
  Writing& writing = memo_.files[path].back();
  const auto [known, first] = target.members.try_emplace(pointer, writing.members.size());
  if (!first) {
    writing.members[known->second].after = std::move(member.after);
    return;
  }
  member.before = json_text(json::at(file.document->root(), pointer));
  writing.members.push_back(std::move(member));
}

std::vector<Update> Writes::updates() const {
  std::vector<Update> updates;
  for (const auto& [path, file] : files_)
    updates.emplace_back(SetMembers{path, file.assumes, file.edits.all(), file.why});
  return updates;
}

std::string with_own_writes(const Document& version, std::span<const Writing> writings,
                            const std::string& subject_key) {
  std::string merged = version.text();
  bool any = false;
  for (const Writing& writing : writings) {
    const auto before = parse_json(merged);
    if (!before)
      return {};
    const SubjectPlaces places(subject_key);
    for (const Written& member : writing.members) {
      const auto pointer = places.pointer(**before, member.pointer, member.subject);
      if (!pointer)
        continue;  // the list has lost this element
      const Value* const there = json::at(**before, *pointer);
      if (!same(there, member.before) || same(there, member.after))
        continue;
      const auto now = parse_json(merged);
      if (!now)
        return {};
      Edits edits;
      edits.set(**now, *pointer, member.after);
      // If the object for the member is gone, baton leaves out only this member.
      if (auto text = json::splice(merged, edits.all())) {
        merged = *std::move(text);
        any = true;
      }
    }
  }
  return any ? merged : std::string();
}

}  // namespace baton::rules
