// SPDX-License-Identifier: Apache-2.0
#include "dialects/ccw_loop/progress.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>

#include "base/text.h"
#include "dialects/ccw_loop/loop.h"
#include "dialects/timestamps.h"

namespace baton::ccw_loop {

namespace {

/// One line of the notes.
struct Line {
  std::string_view text;
  std::size_t level = 0;  ///< of a heading; 0 for other lines
  std::string title;      ///< of a heading
  /// Of `**Name**: value`, `- Name: value`, `- **Name**: value` and `| Name | value |`.
  std::string name;
  std::string value;
};

std::string without(std::string_view text, char c) {
  std::string left(trimmed(text));
  std::erase(left, c);
  return left;
}

Line parse_line(std::string_view text) {
  Line line;
  line.text = trimmed(text);
  std::string_view left = line.text;
  if (const auto level = left.find_first_not_of('#');
      level != 0 && level != std::string_view::npos && left[level] == ' ') {
    line.level = level;
    line.title = trimmed(left.substr(level));
    return line;
  }
  const bool row = left.starts_with("|");
  const bool bullet = left.starts_with("- ");
  if (row || bullet)
    left = trimmed(left.substr(row ? 1 : 2));
  const bool bold = left.starts_with("**");
  if (!row && !bullet && !bold)
    return line;
  const std::string_view between = row ? "|" : bold ? "**:" : ":";
  const auto end = left.find(between);
  if (end == std::string_view::npos)
    return line;
  line.name = without(left.substr(0, end), '*');
  left.remove_prefix(end + between.size());
  line.value = trimmed(row ? left.substr(0, left.find('|')) : left);
  return line;
}

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.push_back(parse_line(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// The first number in a text; 0 without one.
std::int64_t whole(std::string_view text) {
  std::int64_t value = 0;
  const auto digits = text.find_first_of("0123456789");
  if (digits != std::string_view::npos)
    (void)std::from_chars(text.data() + digits, text.data() + text.size(), value);
  return value;
}

/// `Iteration N - what (when)`.
struct Iteration {
  std::int64_t number = 0;
  std::string what;
  std::string when;
};
std::optional<Iteration> iteration(std::string_view title) {
  const auto dash = title.find(" - ");
  if (!title.starts_with("Iteration ") || dash == std::string_view::npos)
    return std::nullopt;
  Iteration found;
  found.number = whole(title.substr(0, dash));
  title = title.substr(dash + 3);
  // The time is in the last brackets, because the description may have brackets too.
  if (const auto open = title.rfind(" ("); open != std::string_view::npos && title.ends_with(')')) {
    found.when = std::string(title.substr(open + 2, title.size() - open - 3));
    title = title.substr(0, open);
  }
  found.what = std::string(trimmed(title));
  return found;
}

/// `1. [ ] description`, checked or not.
std::optional<std::string> listed(std::string_view line) {
  const auto box = line.find(". [");
  if (box == std::string_view::npos || !all_digits(line.substr(0, box)) || line.size() < box + 5 ||
      line[box + 4] != ']')
    return std::nullopt;
  return std::string(trimmed(line.substr(box + 5)));
}

void read_entry(const Line& line, std::string_view section, DevelopEntry& entry) {
  if (line.title.starts_with("Status: COMPLETED"))
    entry.completed = true;
  if (section == "Files Changed" && line.text.starts_with("- `"))
    entry.files.push_back(without(line.text.substr(2), '`'));
  if (section != "Task Details")
    return;
  if (line.name == "ID")
    entry.id = line.value;
  else if (line.name == "Tool")
    entry.tool = line.value;
  else if (line.name == "Mode")
    entry.mode = line.value;
}

/// The hypothesis with this id; adds one if there is none.
Json& hypothesis(std::vector<Json>& all, const std::string& id) {
  const auto known = std::find_if(all.begin(), all.end(),
                                  [&](const Json& each) { return text_of(*each, "id") == id; });
  if (known != all.end())
    return *known;
  return all.emplace_back(Json::object({{"id", id},
                                        {"description", ""},
                                        {"status", "pending"},
                                        {"evidence", Json()},
                                        {"verdict_reason", Json()}}));
}

void judge(const Line& line, Json& hypothesis) {
  for (const std::string_view verdict : {"CONFIRMED", "REJECTED", "INCONCLUSIVE"})
    if (line.value == verdict) {
      hypothesis.set("status", lower(verdict));
      return;
    }
  if (text_of(*hypothesis, "description").empty())
    hypothesis.set("description", line.value);
}

void read_detail(const Line& line, Json& hypothesis) {
  if (line.name == "Testable condition")
    hypothesis.set("testable_condition", line.value);
  else if (line.name == "Logging point")
    hypothesis.set("logging_point", without(line.value, '`'));
  else if (line.name == "Likelihood" && whole(line.value) > 0)
    hypothesis.set("likelihood", Json(whole(line.value)));
  else if (line.name == "Reasoning")
    hypothesis.set("verdict_reason", line.value);
  else if (line.name == "Evidence")
    if (const auto parsed = parse_json(without(line.value, '`')))
      hypothesis.set("evidence", *parsed);
}

}  // namespace

// from_chars accepts `NaN` and `inf`, JSON does not.
Json rate(std::string text) {
  std::erase_if(text, [](char c) { return c == '*' || c == '%' || c == ' '; });
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = error == std::errc() && end == text.data() + text.size();
  return good && value >= 0 && value <= 100 ? Json(value) : Json();
}

Json moment(const std::string& text) {
  return parse_timestamp(text) ? Json(text) : Json();
}

DevelopProgress read_develop(std::string_view text) {
  DevelopProgress progress;
  std::string section;
  for (const Line& line : lines_of(text)) {
    if (line.level > 0)
      section = line.title;
    if (const auto found = iteration(line.title); line.level == 3 && found) {
      progress.entries.emplace_back();
      progress.entries.back().description = found->what;
      progress.entries.back().timestamp = found->when;
    } else if (!progress.entries.empty()) {
      read_entry(line, section, progress.entries.back());
    } else if (line.name == "Task") {
      progress.task = line.value;
    } else if (line.name == "Started") {
      progress.started = line.value;
    } else if (const auto item = listed(line.text); item && section == "Task List") {
      progress.list.push_back(*item);
    }
  }
  return progress;
}

Json read_debug(std::string_view text) {
  Json bug;
  Json confirmed;
  Iteration newest;
  std::vector<Json> hypotheses;
  std::string section;
  std::string current;  // the id of the hypothesis that details are about
  for (const Line& line : lines_of(text)) {
    if (line.level > 0)
      section = line.title;
    if (const auto found = iteration(line.title); found && found->number >= newest.number)
      newest = *found;
    if (line.name == "Bug Description") {
      bug = Json(line.value);
    } else if (line.text.starts_with("**H") && !line.name.empty()) {
      if (section == "Root Cause Identified") {
        confirmed = Json(line.name);
        continue;
      }
      current = line.name;
      judge(line, hypothesis(hypotheses, current));
    } else if (!current.empty()) {
      read_detail(line, hypothesis(hypotheses, current));
    }
  }
  return Json::object({{"active_bug", bug},
                       {"hypotheses_count", static_cast<std::uint64_t>(hypotheses.size())},
                       {"hypotheses", Json::array(hypotheses)},
                       {"confirmed_hypothesis", confirmed},
                       {"iteration", Json(newest.number)},
                       {"last_analysis_at", moment(newest.when)}});
}

Json read_validate(std::string_view text) {
  std::map<std::string, std::string> values;
  Json failed = Json::array();
  std::string test;  // headings of level 4 are failed tests, with the reason below
  for (const Line& line : lines_of(text)) {
    if (line.level > 0)
      test = line.level == 4 ? line.title : "";
    else if (!line.name.empty())
      values[line.name] = line.value;
    if (!test.empty() && (line.name == "Suite" || line.name == "Error"))
      failed.push(std::exchange(test, ""));
  }
  const Json at = moment(values["Validated"]);
  const Json pass_rate = rate(values["Pass Rate"]);
  Json results = Json::array();
  if (whole(values["Total Tests"]) > 0 && !at.is_null())
    results.push(Json::object(
        {{"timestamp", at},
         {"summary", Json::object({{"total", Json(whole(values["Total Tests"]))},
                                   {"passed", Json(whole(values["Passed"]))},
                                   {"failed", Json(whole(values["Failed"]))},
                                   {"skipped", Json(whole(values["Skipped"]))},
                                   {"pass_rate", pass_rate},
                                   {"duration_ms", Json(whole(values["Duration"]))}})}}));
  return Json::object({{"pass_rate", pass_rate},
                       {"coverage", rate(values["Overall Coverage"])},
                       {"test_results", results},
                       {"passed", values["Result"].ends_with("PASS")},
                       {"failed_tests", failed},
                       {"last_run_at", at}});
}

std::string task_in_validate(std::string_view text) {
  for (const Line& line : lines_of(text))
    if (line.name == "Task")
      return line.value;
  return {};
}

std::string_view progress_text(const FlowState& docs,
                               std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts)
    for (const auto& [path, accepted] : docs)
      if (accepted.kind == "progress" && accepted.part == part && accepted.present &&
          accepted.document != nullptr)
        return accepted.document->text();
  return {};
}

namespace {

/// The places of task lists, in the order of the search: a kind and how its paths end. Some texts
/// of the origin call the list `tasks.json` (C-28).
struct Place {
  std::string_view kind;
  std::string_view end;
};
constexpr std::string_view kInProgress = ".progress/tasks.json";
constexpr Place kPlaces[] = {{"tasks", "/tasks.jsonl"},
                             {"tasks", ".tasks.jsonl"},
                             {"task", ""},
                             {"tasks_alias", "/tasks.json"},
                             {"tasks_alias", ".tasks.json"},
                             {"tasks_alias", kInProgress},
                             {"tasks_backup", ""}};

bool is_at(const Place& place, const std::string& path, const Accepted& accepted) {
  return accepted.present && accepted.document != nullptr && accepted.kind == place.kind &&
         path.ends_with(place.end) && path.ends_with(kInProgress) == (place.end == kInProgress);
}

std::string id_of(const Value& task) {
  std::string id = text_of(task, "task_id");
  return id.empty() ? text_of(task, "id") : id;
}

void add(const Value& task, std::vector<const Value*>& tasks) {
  if (id_of(task).empty())
    return;
  std::erase_if(tasks, [&](const Value* other) { return id_of(*other) == id_of(task); });
  tasks.push_back(&task);
}

std::int64_t order_of(const Value* task) {
  return json::integer(*task, "order").value_or(std::numeric_limits<std::int64_t>::max());
}

}  // namespace

TaskList task_list(const FlowState& docs, bool spare) {
  TaskList found;
  for (const Place& place : kPlaces) {
    if (!found.paths.empty() || (place.kind == "tasks_backup" && !spare))
      break;
    for (const auto& [path, accepted] : docs) {
      if (!is_at(place, path, accepted))
        continue;
      found.paths.push_back(path);
      const Value& whole = accepted.document->root();
      // In a `tasks.json` the list may be inside an object.
      const Value& root = member(whole, "tasks").IsArray() ? member(whole, "tasks") : whole;
      for (const Value& task : items_in(&root))
        add(task, found.tasks);
      if (!root.IsArray())
        add(root, found.tasks);
    }
  }
  std::stable_sort(found.tasks.begin(), found.tasks.end(),
                   [](const Value* a, const Value* b) { return order_of(a) < order_of(b); });
  return found;
}

Json develop_tasks(const TaskList& list) {
  Json all = Json::array();
  for (const Value* const task : list.tasks) {
    const std::string description = text_of(*task, "description");
    Json mapped = Json::object(
        {{"id", id_of(*task)},
         {"description", description.empty() ? text_of(*task, "title") : description}});
    const auto copy = [&](std::string_view name) {
      if (const std::string text = text_of(*task, name); !text.empty())
        mapped.set(name, name == "mode" && text == "review" ? "analysis" : text);
    };
    copy("tool");
    copy("mode");
    mapped.set("status", "pending").set("files_changed", Json::array());
    copy("created_at");
    mapped.set("completed_at", Json());
    for (const std::string_view extra : {"prompt_template", "command", "on_error", "order"})
      if (const Value* const value = json::child(*task, extra))
        mapped.set(extra, *value);
    all.push(mapped);
  }
  return all;
}

}  // namespace baton::ccw_loop
