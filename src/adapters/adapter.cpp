// SPDX-License-Identifier: Apache-2.0
#include "adapters/adapter.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <set>

#include "base/embedded.h"
#include "base/json/document.h"
#include "base/text.h"

namespace baton {
namespace {

constexpr std::string_view kFolder = "adapters/";
constexpr std::string_view kEnding = ".yaml";
/// Judges commands without an adapter. It is no program of its own.
constexpr std::string_view kGeneric = "generic";

constexpr std::array<std::string_view, 14> kClasses = {
    "limit",   "model_limit", "spend",  "credit",     "auth",   "throttle",  "context",
    "refusal", "max_turns",   "budget", "permission", "config", "transient", "permanent"};
static_assert(kClasses.size() == static_cast<std::size_t>(ErrorClass::permanent) + 1);

constexpr std::array<std::string_view, 5> kChannels = {"result", "event", "stderr", "stdout",
                                                       "stdout_always"};

std::vector<std::string> texts(const Value& object, std::string_view name) {
  std::vector<std::string> all;
  const Value* const value = json::child(object, name);
  if (value == nullptr)
    return all;
  if (value->IsString())
    return {std::string(json::name(*value))};
  if (value->IsArray())
    for (const Value& each : value->GetArray())
      all.emplace_back(json::text(each).value_or(""));
  return all;
}

std::string text_or_empty(const Value& object, std::string_view name) {
  return std::string(json::text(object, name).value_or(""));
}

Match match_of(const Value& object, std::string_view name) {
  Match match;
  if (const Value* const value = json::child(object, name); value != nullptr && value->IsObject())
    for (const auto& member : value->GetObject())
      match.emplace_back(json::name(member.name), Json(member.value));
  return match;
}

ErrorClass class_of(const Value& value) {
  return parse_error_class(json::text(value).value_or("")).value_or(ErrorClass::permanent);
}

FinalRow final_of(const Value& row) {
  FinalRow final;
  final.match = match_of(row, "match");
  final.unless = match_of(row, "unless");
  final.ok = json::boolean(row, "ok");
  if (!final.ok)
    final.ok_if = match_of(row, "ok");
  final.failed_if = match_of(row, "failed");
  final.error = texts(row, "error");
  return final;
}

UsageRow usage_of(const Value& row) {
  UsageRow usage;
  const std::string of = text_or_empty(row, "of");
  usage.of = of == "each"     ? UsageRow::Of::each
             : of == "thread" ? UsageRow::Of::thread
                              : UsageRow::Of::run;
  usage.match = match_of(row, "match");
  usage.cost = texts(row, "cost");
  usage.tokens = texts(row, "tokens");
  return usage;
}

/// An embedded file, read. nullptr: there is none.
std::shared_ptr<const Document> embedded_text(std::string_view name) {
  const std::string_view text = adapter_text(name);
  if (text.empty())
    return nullptr;
  auto document = load_document(std::string(text), Format::yaml);
  assert(document && "a test reads all embedded adapters");
  return *std::move(document);
}

/// A pattern for folded texts.
Result<Pattern> pattern_of(const std::string& text, bool begins_line = false) {
  // Before a text that begins a line, programs write what they write before any error.
  constexpr std::string_view kBefore = R"(^(?:error: |\[?api error: )*(?:)";
  return Pattern::compile(begins_line ? std::string(kBefore) + text + ")" : text);
}

Result<OutputEvent> event_of(const Value& row) {
  OutputEvent event;
  event.match = match_of(row, "match");
  if (const Value* const error = json::child(row, "class"))
    event.error = class_of(*error);
  event.text = texts(row, "text");
  if (const std::string like = text_or_empty(row, "like"); !like.empty()) {
    auto pattern = pattern_of(like);
    if (!pattern)
      return pass_on(pattern);
    event.like = *std::move(pattern);
  }
  event.fails = json::boolean(row, "fails").value_or(false);
  event.until = text_or_empty(row, "until");
  return event;
}

/// The error rows of a file, then those of the adapters that `include` names. `included`: those
/// that are there already.
Result<void> add_errors(const Value& file, bool mixed, std::vector<ErrorRow>& errors,
                        std::set<std::string>& included) {
  if (const Value* const rows = json::child(file, "errors"))
    for (const Value& row : rows->GetArray()) {
      std::vector<std::string> channels = texts(row, "in");
      if (channels.empty())
        channels = {"result", "event", "stderr", "stdout"};
      for (const std::string& text : texts(row, "like")) {
        auto anywhere = pattern_of(text);
        auto in_front = pattern_of(text, true);
        if (!anywhere || !in_front)
          return pass_on(anywhere ? in_front : anywhere);
        for (const std::string& each : channels) {
          auto channel = static_cast<Channel>(std::find(kChannels.begin(), kChannels.end(), each) -
                                              kChannels.begin());
          // A script that ends well has coped with what its programs said.
          if (mixed && channel == Channel::stdout_always)
            channel = Channel::stdout_text;
          const bool begins_line = channel >= (mixed ? Channel::stderr_text : Channel::stdout_text);
          errors.push_back(
              {class_of(*json::child(row, "class")), channel, begins_line ? *in_front : *anywhere});
        }
      }
    }
  for (const std::string& name : texts(file, "include")) {
    if (!included.insert(name).second)
      continue;
    auto text = embedded_text(name);
    if (!text)
      return fail(Errc::schema, "`include` names `" + name + "`, which is no adapter of baton");
    if (auto added = add_errors(text->root(), mixed, errors, included); !added)
      return added;
  }
  return {};
}

Result<SessionRules> session_of(const Value& file) {
  SessionRules rules;
  const Value* const session = json::child(file, "session");
  if (session == nullptr)
    return rules;
  rules.begin = texts(*session, "begin");
  rules.resume = texts(*session, "resume");
  rules.id = texts(*session, "id");
  if (const std::string unusable = text_or_empty(*session, "unusable"); !unusable.empty()) {
    auto pattern = pattern_of(unusable);
    if (!pattern)
      return pass_on(pattern);
    rules.unusable = *std::move(pattern);
  }
  return rules;
}

void read_start(const Value& file, Adapter& adapter) {
  adapter.argv = texts(file, "command");
  adapter.model = texts(file, "model");
  if (const Value* const prompt = json::child(file, "prompt")) {
    const std::string by = text_or_empty(*prompt, "by");
    adapter.prompt = by == "argument" ? PromptBy::argument
                     : by == "file"   ? PromptBy::file
                                      : PromptBy::standard_input;
    adapter.prompt_max_bytes =
        static_cast<std::size_t>(json::integer(*prompt, "max_bytes").value_or(0));
  }
  if (const Value* const env = json::child(file, "env")) {
    adapter.env_pass = texts(*env, "pass");
    adapter.env_unset = texts(*env, "unset");
    if (const Value* const set = json::child(*env, "set"))
      for (const auto& member : set->GetObject())
        adapter.env_set.emplace(json::name(member.name), json::text(member.value).value_or(""));
  }
  adapter.account = texts(file, "account");
  adapter.login_variables = texts(file, "login_variables");
  adapter.login_files = texts(file, "login_files");
  if (const Value* const folders = json::child(file, "login_folders"))
    for (const auto& member : folders->GetObject())
      adapter.login_folders.emplace(json::name(member.name), json::text(member.value).value_or(""));
  adapter.edit_args = texts(file, "edit_args");
  adapter.git_unless = text_or_empty(file, "git_unless");
  if (const Value* const root = json::child(file, "not_as_root")) {
    adapter.not_as_root = text_or_empty(*root, "argument");
    adapter.not_as_root_unless = text_or_empty(*root, "unless");
  }
  adapter.silent = json::boolean(file, "silent").value_or(false);
}

Result<void> read_output(const Value& file, Adapter& adapter) {
  const Value* const output = json::child(file, "output");
  if (output == nullptr)
    return {};
  adapter.mixed = json::boolean(*output, "mixed").value_or(false);
  adapter.needs_final = json::boolean(*output, "needs_final").value_or(false);
  if (const Value* const rows = json::child(*output, "final"))
    for (const Value& row : rows->GetArray())
      adapter.finals.push_back(final_of(row));
  if (const Value* const rows = json::child(*output, "events"))
    for (const Value& row : rows->GetArray()) {
      auto event = event_of(row);
      if (!event)
        return pass_on(event);
      adapter.events.push_back(*std::move(event));
    }
  if (const Value* const rows = json::child(*output, "usage"))
    for (const Value& row : rows->GetArray())
      adapter.usage.push_back(usage_of(row));
  adapter.answer = texts(*output, "answer");
  adapter.denials = texts(*output, "denials");
  adapter.status = texts(*output, "status");
  adapter.resets = texts(*output, "resets");
  return {};
}

/// Limits, then credit and login, then the rest in the order of `ErrorClass`. Within one of these
/// groups the order of the files counts.
int rank(const ErrorRow& row) {
  return row.error <= ErrorClass::spend  ? 0
         : row.error <= ErrorClass::auth ? 1
                                         : static_cast<int>(row.error);
}

}  // namespace

std::string_view word(ErrorClass error) {
  return kClasses.at(static_cast<std::size_t>(error));
}

std::optional<ErrorClass> parse_error_class(std::string_view word) {
  const auto* const found = std::find(kClasses.begin(), kClasses.end(), word);
  return found == kClasses.end() ? std::nullopt
                                 : std::optional(static_cast<ErrorClass>(found - kClasses.begin()));
}

bool matches(const Match& match, const Value& object) {
  return std::all_of(match.begin(), match.end(), [&](const auto& row) {
    const Value* const value = json::at(object, row.first);
    return value != nullptr &&
           (row.second.is_null() ? !value->IsNull() : json::equal(*value, *row.second));
  });
}

bool is_session_id(std::string_view text) {
  constexpr std::size_t kMost = 200;
  return !text.empty() && text.size() <= kMost &&
         (is_letter(text.front()) || is_digit(text.front())) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.';
         });
}

std::vector<std::string> adapter_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_files())
    if (file.path.starts_with(kFolder) && file.path.ends_with(kEnding)) {
      std::string name(
          file.path.substr(kFolder.size(), file.path.size() - kFolder.size() - kEnding.size()));
      if (name != kGeneric)
        names.push_back(std::move(name));
    }
  return names;
}

std::string_view adapter_text(std::string_view name) {
  const auto* const text =
      embedded_file(std::string(kFolder) + std::string(name) + std::string(kEnding));
  return text == nullptr ? std::string_view() : *text;
}

Result<Adapter> parse_adapter(const Value& file) {
  Adapter adapter;
  adapter.name = text_or_empty(file, "name");
  adapter.provider = json::text(file, "provider").value_or(adapter.name);
  if (adapter.tested = texts(file, "tested"); adapter.tested == std::vector<std::string>{"none"})
    adapter.tested.clear();
  adapter.version_argv = texts(file, "version");
  read_start(file, adapter);
  auto session = session_of(file);
  if (!session)
    return pass_on(session);
  adapter.session = *std::move(session);
  if (auto read = read_output(file, adapter); !read)
    return pass_on(read);
  if (const Value* const exits = json::child(file, "exits"))
    for (const auto& member : exits->GetObject())
      adapter.exits.emplace(std::stoi(std::string(json::name(member.name))),
                            class_of(member.value));
  std::set<std::string> included;
  if (auto added = add_errors(file, adapter.mixed, adapter.errors, included); !added)
    return pass_on(added);
  std::stable_sort(
      adapter.errors.begin(), adapter.errors.end(),
      [](const ErrorRow& left, const ErrorRow& right) { return rank(left) < rank(right); });
  return adapter;
}

const Adapter& embedded_adapter(std::string_view name) {
  static std::map<std::string, Adapter, std::less<>> read;
  if (const auto found = read.find(name); found != read.end())
    return found->second;
  const auto text = embedded_text(name);
  assert(text);
  auto adapter = parse_adapter(text->root());
  assert(adapter && "a test reads all embedded adapters");
  return read.emplace(name, *std::move(adapter)).first->second;
}

}  // namespace baton
