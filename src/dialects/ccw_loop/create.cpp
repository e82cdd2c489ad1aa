#include "dialects/ccw_loop/create.h"

#include <algorithm>
#include <array>

#include "base/digest.h"
#include "base/text.h"
#include "dialects/ccw_loop/files.h"
#include "dialects/ccw_loop/scene.h"

namespace baton::ccw_loop {
namespace {

constexpr std::array<std::string_view, 4> kKnown = {"title", "description", "max_iterations",
                                                    "tasks"};
constexpr int kMaxIterations = 10;

std::string trimmed(const std::string& text) {
  constexpr const char* kBlank = " \t\r\n";
  const auto first = text.find_first_not_of(kBlank);
  return first == std::string::npos ? ""
                                    : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// One line of tasks.jsonl per text.
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
                           {"created_at", stamp(wall)},
                           {"updated_at", stamp(wall)}})
                 .dump() +
             "\n";
    ++order;
  }
  return lines;
}

Result<void> check(const Value& arguments) {
  if (arguments.IsObject())
    for (const auto& given : arguments.GetObject())
      if (const auto name = json::text(given.name).value_or("");
          std::find(kKnown.begin(), kKnown.end(), name) == kKnown.end())
        return fail(Errc::usage,
                    "a loop is created with title, description, max_iterations and "
                    "tasks, not with `" +
                        printable(name, 80) + "`");
  if (trimmed(text_of(arguments, "title")).empty())
    return fail(Errc::usage, "a loop needs a title");
  const Value& most = member(arguments, "max_iterations");
  if (!most.IsNull() && json::number(most).value_or(0) < 1)
    return fail(Errc::usage, "max_iterations is a number from 1, not " + json::dump(most));
  const Value& tasks = member(arguments, "tasks");
  if (!tasks.IsNull() &&
      (!tasks.IsArray() || std::any_of(tasks.Begin(), tasks.End(), [](const Value& task) {
        return trimmed(std::string(json::text(task).value_or(""))).empty();
      })))
    return fail(Errc::usage, "tasks is a list of texts");
  return {};
}

}  // namespace

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
    return fail(Errc::usage, "`" + printable(id, 100) +
                                 "` is no id of a loop: loop-v2-, then letters, digits, "
                                 "`.`, `_` and `-`");
  if (loop_of(view.docs).root != nullptr)
    return fail(Errc::usage, "there is a loop " + id + " already");
  const Value& arguments = *request.arguments;
  if (auto checked = check(arguments); !checked)
    return pass_on(checked);
  const Value& most = member(arguments, "max_iterations");
  const std::string now = stamp(view.wall);
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
