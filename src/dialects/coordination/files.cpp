// SPDX-License-Identifier: Apache-2.0
#include "dialects/coordination/files.h"

#include <algorithm>
#include <set>

#include "dialects/coordination/words.h"

namespace baton::coordination {
namespace {

constexpr std::int64_t kMostDays = 36'500;
constexpr std::int64_t kMostMinutes = kMostDays * 24 * 60;

/// Whether this kind of file has a lenient schema, which allows aliases.
bool has_aliases(std::string_view kind) {
  return kind == "orchestrator_state" || kind == "pm_state" || kind == "group_status" ||
         kind == "inbox" || mailbox(kind);
}

FileKind kind(const Options& options, std::string_view name, std::string_view file,
              bool essential) {
  const bool lenient = options.lenient && has_aliases(name);
  FileKind kind = file_kind(lenient ? "coordination/lenient" : "coordination", std::string(name),
                            options.path + "/" + std::string(file));
  kind.flow = options.path;
  kind.essential = essential;
  return kind;
}

}  // namespace

Options options_of(const Json& given_options) {
  Options options;
  const Value& given = *given_options;
  if (const auto path = json::text(given, "path"); path && !path->empty())
    options.path = *path;
  while (options.path.size() > 1 && options.path.ends_with('/'))
    options.path.pop_back();
  const auto most = static_cast<std::int64_t>(options.max_developers);
  if (const auto count = json::integer(given, "max_developers"); count && *count > 0)
    options.max_developers = static_cast<std::uint32_t>(std::min(*count, most));
  options.qa = json::boolean(given, "qa").value_or(true);
  options.reviews = json::boolean(given, "reviews").value_or(true);
  options.advance_by_manager = json::text(given, "phase_advance") == "pm";
  if (const auto word = json::text(given, "completion_word"); word && !word->empty())
    options.completion_word = *word;
  if (const auto cap = json::integer(given, "max_spawns"); cap && *cap > 0)
    options.max_spawns = static_cast<std::uint64_t>(*cap);
  if (const auto minutes = json::integer(given, "stall_minutes"); minutes && *minutes >= 0)
    options.stall = std::chrono::minutes(std::min(*minutes, kMostMinutes));
  if (const auto days = json::integer(given, "archive_days"); days && *days >= 0)
    options.archive_after = std::chrono::days(std::min<std::int64_t>(*days, kMostDays));
  options.lenient = json::boolean(given, "lenient").value_or(false);
  return options;
}

std::vector<FileKind> files(const Json& given_options) {
  const Options options = options_of(given_options);
  std::vector<FileKind> kinds = {
      kind(options, "pm_state", "pm_state.json", true),
      kind(options, "group_status", "group_status.json", true),
      kind(options, "orchestrator_state", "orchestrator_state.json", false),
  };
  for (const MailboxRow& row : kMailboxes)
    kinds.push_back(kind(options, row.kind, "messages/" + std::string(row.kind) + ".json", false));
  for (const MisnamedRow& row : kMisnamed) {
    FileKind misnamed;
    misnamed.kind = kMisnamedKind;
    misnamed.pattern = options.path + "/messages/" + std::string(row.name) + ".json";
    misnamed.flow = options.path;
    misnamed.essential = false;
    kinds.push_back(std::move(misnamed));
  }
  kinds.push_back(kind(options, "archive", "messages/archive/{part}.json", false));
  kinds.push_back(kind(options, "inbox", "inbox/{part}.json", false));
  return kinds;
}

std::string path_of(const Options& options, std::string_view kind) {
  const bool mail = mailbox(kind).has_value();
  return options.path + (mail ? "/messages/" : "/") + std::string(kind) + ".json";
}

const Accepted* find(const FlowState& docs, std::string_view kind, std::string_view part) {
  for (const auto& [path, accepted] : docs)
    if (accepted.kind == kind && (part.empty() || accepted.part == part) &&
        accepted.document != nullptr)
      return &accepted;
  return nullptr;
}

const Value& root(const FlowState& docs, std::string_view kind) {
  static const Value none;
  const Accepted* const accepted = find(docs, kind);
  return accepted == nullptr ? none : accepted->document->root();
}

std::vector<Create> rebuild(const View& view) {
  std::vector<Create> files;
  for (const auto& [path, accepted] : view.docs)
    if (accepted.kind != "inbox" && (!accepted.present || !accepted.rejected.empty()))
      files.push_back(Create{path, accepted.document->text(), "from the last accepted version"});
  return files;
}

bool is_metadata(std::string_view key) {
  return key.starts_with('_') || key.starts_with('$');
}

std::optional<std::string_view> word_of(const Value& object, std::string_view name) {
  const auto text = json::text(object, name);
  return text ? std::optional(canonical_word(name, *text)) : std::nullopt;
}

std::string message_key(const Value& message) {
  std::string key;
  for (const std::string_view name : {"id", "group_id", "from", "timestamp", "subject"})
    key += std::string(word_of(message, name).value_or("")) + '\n';
  return key;
}

std::string archive_path(const Options& options, std::string_view mailbox) {
  return options.path + "/messages/archive/" + std::string(mailbox) + ".json";
}

std::vector<Message> messages(const FlowState& docs, std::size_t mailbox, std::string_view group) {
  const std::string_view kind = kMailboxes.at(mailbox).kind;
  std::vector<Message> all;
  std::set<std::string> archived;
  if (const Accepted* const archive = find(docs, "archive", kind))
    for (const Value& item : items_in(archive->document->root(), "messages"))
      if (json::text(item, "group_id") == group && archived.insert(message_key(item)).second)
        all.push_back(Message{0, &item, true});
  std::size_t index = 0;
  for (const Value& item : items_in(root(docs, kind), "messages")) {
    if (json::text(item, "group_id") == group && !archived.contains(message_key(item)))
      all.push_back(Message{index, &item, false});
    ++index;
  }
  return all;
}

}  // namespace baton::coordination
