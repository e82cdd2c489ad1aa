// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "dialects/coordination/coordination.h"
#include "dialects/coordination/decide.h"

namespace baton::coordination {
namespace {

/// A time as `20260122_100000`.
std::string stamp(Time time) {
  std::string digits;
  for (const char c : iso_time(time)) {
    if (c == 'T')
      digits += '_';
    else if (c >= '0' && c <= '9')
      digits += c;
  }
  return digits;
}

std::string fresh_plan(const std::string& session, const std::string& requirements, Time wall) {
  return Json::object({{"session_id", session},
                       {"mode", Json()},
                       {"original_requirements", requirements},
                       {"task_groups", Json::array()},
                       {"completed_groups", Json::array()},
                       {"in_progress_groups", Json::array()},
                       {"pending_groups", Json::array()},
                       {"iteration", 0},
                       {"last_update", iso_time(wall)}})
      .pretty();
}

/// The id of the existing session, or a new one.
std::string session_of(const View& view) {
  for (const std::string_view kind : {"pm_state", "orchestrator_state"})
    if (std::string id = text_of(root(view.docs, kind), "session_id"); !id.empty())
      return id;
  return "v4_" + stamp(view.wall);
}

Result<std::vector<Update>> request_session(const Accepted& pm, const std::string& path,
                                            const std::string& requirements, Time wall) {
  const std::string given = text_of(pm.document->root(), "original_requirements");
  if (given == requirements)
    return std::vector<Update>{};
  if (!given.empty())
    return fail(Errc::usage,
                "the session has other requirements (`" + printable(given, 60) +
                    "`); move the folder away to begin a new session",
                path + "#/original_requirements");
  return std::vector<Update>{SetMembers{path,
                                        pm.document->digest(),
                                        {{"/original_requirements", json::quote(requirements)},
                                         {"/last_update", json::quote(iso_time(wall))}},
                                        "a session was asked for"}};
}

bool known_id(const Value& mailbox, const std::string& id) {
  const auto all = items_in(mailbox, "messages");
  return std::any_of(all.begin(), all.end(),
                     [&](const Value& message) { return json::text(message, "id") == id; });
}

}  // namespace

Result<std::vector<Update>> create(const Request& request, const View& view) {
  const Options options = options_of(view.options);
  if (view.flow.name != options.path)
    return fail(Errc::usage, "the session lies in `" + options.path +
                                 "` (`path` of the dialect), not in `" +
                                 printable(view.flow.name, 80) + "`");
  if (request.arguments->IsObject())
    for (const auto& member : request.arguments->GetObject())
      if (const auto name = json::text(member.name); name != "requirements")
        return fail(Errc::usage, "a session is begun with --requirements only, not with `" +
                                     printable(name.value_or(""), 80) + "`");
  const std::string requirements = text_of(*request.arguments, "requirements");
  const std::string session = session_of(view);
  std::vector<Update> updates;
  const auto add = [&](std::string_view kind, const std::string& text) {
    if (find(view.docs, kind) == nullptr)
      updates.emplace_back(Create{path_of(options, kind), text, "a session was asked for"});
  };
  add("group_status", "{}\n");
  add("orchestrator_state", fresh_orchestrator(session, view.wall));
  for (const MailboxRow& row : kMailboxes)
    add(row.kind, "{\n  \"messages\": []\n}\n");
  const Accepted* const pm = find(view.docs, "pm_state");
  if (pm == nullptr || requirements.empty()) {
    // Last, because without pm_state baton starts nothing: until then all other files are there.
    add("pm_state", fresh_plan(session, requirements, view.wall));
    return updates;
  }
  auto requested = request_session(*pm, path_of(options, "pm_state"), requirements, view.wall);
  if (!requested)
    return requested;
  for (Update& update : *requested)
    updates.push_back(std::move(update));
  return updates;
}

namespace {

/// Checks that the message is an object with a group, and that it names no other sender or reader
/// than the mailbox has.
Result<void> fits(const Value& given, std::string_view kind, const MailboxRow& row) {
  if (!given.IsObject() || text_of(given, "group_id").empty())
    return fail(Errc::usage, "a message is an object with a group_id");
  for (const auto& [name, must] :
       {std::pair(std::string_view("from"), row.from), std::pair(std::string_view("to"), row.to)})
    if (const auto given_word = word_of(given, name); given_word && *given_word != must)
      return fail(Errc::usage, "`" + std::string(name) + "` of " + std::string(kind) + " is " +
                                   std::string(must) + ", not `" + printable(*given_word, 60) +
                                   "`");
  return {};
}

/// The given id, or a new one made from the time. A number makes the ids of two messages in one
/// second differ.
Result<std::string> id_of(const Value& given, const Value& mailbox, Time wall) {
  if (std::string id = text_of(given, "id"); !id.empty()) {
    if (known_id(mailbox, id))
      return fail(Errc::usage, "there is a message `" + printable(id, 80) + "` already");
    return id;
  }
  const std::string base = "msg_" + stamp(wall);
  std::string id = base;
  for (std::size_t n = 2; known_id(mailbox, id); ++n)
    id = base + "_" + std::to_string(n);
  return id;
}

}  // namespace

Result<std::string> with_message(const Document& document, std::string_view kind,
                                 const Value& given, Time wall) {
  const auto box = mailbox(kind);
  if (!box)
    return fail(Errc::usage, "there is no mailbox `" + printable(kind, 60) +
                                 "`; there are dev_to_qa, qa_to_techlead and techlead_to_dev");
  const MailboxRow& row = kMailboxes.at(*box);
  if (auto checked = fits(given, kind, row); !checked)
    return pass_on(checked);
  const Value& mailbox = document.root();
  std::vector<json::Edit> edits;
  if (mailbox.IsObject() && mailbox.ObjectEmpty())
    edits.push_back({"/messages", "[]"});
  else if (const Value* const list = json::child(mailbox, "messages");
           list == nullptr || !list->IsArray())
    return fail(Errc::schema, "the mailbox has no list `messages`");
  auto id = id_of(given, mailbox, wall);
  if (!id)
    return id;
  Json message = Json::object({{"id", *id},
                               {"group_id", text_of(given, "group_id")},
                               {"from", row.from},
                               {"to", row.to},
                               {"timestamp", iso_time(wall)}});
  for (const auto& member : given.GetObject())
    message.set(json::name(member.name), member.value);
  // The file gets the words of this dialect instead of aliases.
  for (const std::string_view name : {"from", "to", "decision"})
    if (const auto given_word = word_of(given, name))
      message.set(name, Json(*given_word));
  message.set("read", false);
  edits.push_back({"/messages/-", message.dump()});
  return json::splice(document.text(), edits);
}

}  // namespace baton::coordination
