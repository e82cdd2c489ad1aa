// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/text.h"
#include "dialects/ccw_loop/ccw_loop.h"
#include "dialects/ccw_loop/snapshot.h"

namespace baton::ccw_loop {

namespace {

constexpr int kMaxIterations = 10;

/// tasks.jsonl: one line per text.
std::string task_lines(const Value& texts, Time wall) {
  std::string lines;
  std::int64_t order = 0;
  for (const Value& text : texts.GetArray()) {
    const std::string description(json::text(text).value_or(""));
    const std::string millis = std::to_string(wall.time_since_epoch().count());
    const std::string tail = hex(digest_of(std::to_string(order) + description)).substr(0, 8);
    lines += Json::object({{"task_id", "task-" + millis + "-" + tail},
                           {"description", description},
                           {"tool", "codex"},
                           {"mode", "write"},
                           {"prompt_template", ""},
                           {"order", Json(order)},
                           {"created_at", iso_time(wall, true)},
                           {"updated_at", iso_time(wall, true)}})
                 .dump() +
             "\n";
    ++order;
  }
  return lines;
}

/// The first unknown member of the object, with a suggestion.
std::optional<std::string> stranger(const Value& object, const std::vector<std::string>& known) {
  if (!object.IsObject())
    return std::nullopt;
  for (const auto& given : object.GetObject()) {
    const std::string name(json::text(given.name).value_or(""));
    if (std::find(known.begin(), known.end(), name) != known.end())
      continue;
    const auto near = nearest(name, known);
    return "`" + printable(name, 80) + "`" + (near ? "; did you mean `" + *near + "`?" : "");
  }
  return std::nullopt;
}

Result<void> check_create(const Value& arguments) {
  if (const auto other = stranger(arguments, {"title", "description", "max_iterations", "tasks"}))
    return fail(
        Errc::usage,
        "a loop is created with title, description, max_iterations and tasks, not with " + *other);
  if (trimmed(text_of(arguments, "title")).empty())
    return fail(Errc::usage, "a loop needs a title: `--title TEXT`");
  const Value& most = member(arguments, "max_iterations");
  if (!most.IsNull() && json::number(most).value_or(0) < 1)
    return fail(Errc::usage, "max_iterations is a number from 1, not " + json::dump(most));
  const Value& tasks = member(arguments, "tasks");
  if (!tasks.IsNull() &&
      (!tasks.IsArray() || std::any_of(tasks.Begin(), tasks.End(), [](const Value& task) {
        return trimmed(json::text(task).value_or("")).empty();
      })))
    return fail(Errc::usage, "tasks is a list of texts, none of them empty");
  return {};
}

Result<void> check_start(const Value& arguments) {
  if (const auto other = stranger(arguments, {"set"}))
    return fail(Errc::usage, "a loop is started with nothing but `--set`, not with " + *other);
  const Value& set = member(arguments, "set");
  if (const auto other = stranger(set, {"mode", "force"}))
    return fail(Errc::usage, "`--set` of a loop knows mode and force, not " + *other);
  const std::string mode = text_of(set, "mode");
  if (const Value& given = member(set, "mode");
      !given.IsNull() && mode != "auto" && mode != "interactive")
    return fail(Errc::usage,
                "`mode` is \"auto\" or \"interactive\", not " + printable(json::dump(given), 80));
  if (const Value& given = member(set, "force"); !given.IsNull() && !given.IsBool())
    return fail(Errc::usage, "`force` is true or false, not " + printable(json::dump(given), 80));
  return {};
}

}  // namespace

Result<void> check_request(const Request& request) {
  if (request.verb == "create")
    return check_create(*request.arguments);
  if (request.verb == "start")
    return check_start(*request.arguments);
  return {};
}

std::string fresh_id(Time wall, std::string_view seed) {
  return "loop-v2-" + compact(iso_time(wall)) + "-" + hex(digest_of(seed)).substr(0, 8);
}

Result<std::vector<Update>> create(const Request& request, const View& view) {
  const std::string& id = view.flow.name;
  const std::string folder = options_of(view.options).path;
  const std::string path = folder + "/" + id + ".json";
  if (request.verb == "start")
    return fail(Errc::usage, "there is no loop " + printable(id, 100) +
                                 "; `baton create --title TITLE` makes one");
  if (loop_of_name(path) != id)
    return fail(
        Errc::usage,
        "`" + printable(id, 100) +
            "` is not the id of a loop; write loop-v2-, then letters, digits, `.`, `_` and `-`");
  if (loop_of(view.docs).root != nullptr)
    return fail(Errc::usage, "there is a loop " + id + " already");
  const Value& arguments = *request.arguments;
  if (auto checked = check_create(arguments); !checked)
    return pass_on(checked);
  const Value& most = member(arguments, "max_iterations");
  const std::string now = iso_time(view.wall, true);
  std::vector<Update> updates;
  if (const Value& tasks = member(arguments, "tasks"); tasks.IsArray() && !tasks.Empty())
    updates.emplace_back(Create{folder + "/" + id + ".tasks.jsonl", task_lines(tasks, view.wall),
                                "the tasks of a new loop"});
  updates.emplace_back(
      Create{path,
             Json::object({{"loop_id", id},
                           {"title", trimmed(text_of(arguments, "title"))},
                           {"description", text_of(arguments, "description")},
                           {"max_iterations", most.IsNull() ? Json(kMaxIterations) : Json(most)},
                           {"status", word(Status::created)},
                           {"current_iteration", 0},
                           {"created_at", now},
                           {"updated_at", now}})
                 .pretty(),
             "a loop was created"});
  return updates;
}

}  // namespace baton::ccw_loop
