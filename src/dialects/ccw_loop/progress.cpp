#include "dialects/ccw_loop/progress.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "base/text.h"
#include "dialects/ccw_loop/loop.h"

namespace baton::ccw_loop {

namespace {

/// Splits a text into trimmed lines.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  std::optional<std::string_view> next() {
    if (rest_.empty())
      return std::nullopt;
    const auto end = rest_.find('\n');
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    return trimmed(line);
  }

 private:
  std::string_view rest_;
};

/// Level and text of a heading; 0 for other lines.
std::pair<std::size_t, std::string_view> heading(std::string_view line) {
  const auto level = line.find_first_not_of('#');
  if (level == 0 || level == std::string_view::npos || line[level] != ' ')
    return {0, {}};
  return {level, trimmed(line.substr(level))};
}

/// The value of `**Name**: value`, with or without a bullet.
std::optional<std::string> labelled(std::string_view line, std::string_view name) {
  if (line.starts_with("- "))
    line = trimmed(line.substr(2));
  if (!line.starts_with("**"))
    return std::nullopt;
  line.remove_prefix(2);
  if (!line.starts_with(name) || !line.substr(name.size()).starts_with("**:"))
    return std::nullopt;
  return std::string(trimmed(line.substr(name.size() + 3)));
}

/// `- Name: value` or `- **Name**: value`.
std::optional<std::string> bullet(std::string_view line, std::string_view name) {
  if (!line.starts_with("- "))
    return std::nullopt;
  if (auto bold = labelled(line, name))
    return bold;
  line = trimmed(line.substr(2));
  if (!line.starts_with(name) || !line.substr(name.size()).starts_with(":"))
    return std::nullopt;
  return std::string(trimmed(line.substr(name.size() + 1)));
}

std::string without(std::string text, char c) {
  std::erase(text, c);
  return text;
}

std::optional<double> number(std::string text) {
  std::erase_if(text, [](char c) { return c == '*' || c == '%' || c == ' '; });
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // from_chars accepts `NaN` and `inf`, JSON does not.
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= 100))
    return std::nullopt;
  return value;
}

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
  constexpr std::string_view kWord = "Iteration ";
  if (!title.starts_with(kWord))
    return std::nullopt;
  title.remove_prefix(kWord.size());
  Iteration found;
  const auto [end, error] =
      std::from_chars(title.data(), title.data() + title.size(), found.number);
  if (error != std::errc())
    return std::nullopt;
  title.remove_prefix(static_cast<std::size_t>(end - title.data()));
  if (!title.starts_with(" - "))
    return std::nullopt;
  title.remove_prefix(3);
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
  const auto digits = line.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos || !line.substr(digits).starts_with(". ["))
    return std::nullopt;
  line = line.substr(digits + 3);
  if (line.size() < 2 || line[1] != ']')
    return std::nullopt;
  return std::string(trimmed(line.substr(2)));
}

class DevelopReader {
 public:
  DevelopProgress progress() { return std::move(progress_); }

  void take(std::string_view line) {
    if (const auto [level, title] = heading(line); level > 0)
      return begin(level, title);
    if (progress_.entries.empty()) {
      if (auto task = labelled(line, "Task"))
        progress_.task = *task;
      else if (auto started = labelled(line, "Started"))
        progress_.started = *started;
      else if (auto item = listed(line); item && section_ == "Task List")
        progress_.list.push_back(*item);
      return;
    }
    in_entry(line, progress_.entries.back());
  }

 private:
  void begin(std::size_t level, std::string_view title) {
    section_ = std::string(title);
    if (const auto found = iteration(title); level == 3 && found) {
      DevelopEntry entry;
      entry.description = found->what;
      entry.timestamp = found->when;
      progress_.entries.push_back(std::move(entry));
    } else if (title.starts_with("Status: COMPLETED") && !progress_.entries.empty()) {
      progress_.entries.back().completed = true;
    }
  }

  void in_entry(std::string_view line, DevelopEntry& entry) const {
    if (section_ == "Task Details") {
      if (auto id = bullet(line, "ID"))
        entry.id = *id;
      else if (auto tool = bullet(line, "Tool"))
        entry.tool = *tool;
      else if (auto mode = bullet(line, "Mode"))
        entry.mode = *mode;
    } else if (section_ == "Files Changed" && line.starts_with("- `")) {
      entry.files.push_back(without(std::string(trimmed(line.substr(2))), '`'));
    }
  }

  DevelopProgress progress_;
  std::string section_;
};

class DebugReader {
 public:
  DebugProgress progress() { return std::move(progress_); }

  void take(std::string_view line) {
    if (const auto [level, title] = heading(line); level > 0) {
      section_ = std::string(title);
      if (const auto found = iteration(title); found && found->number >= progress_.iteration) {
        progress_.iteration = found->number;
        progress_.analysed = found->when;
      }
      return;
    }
    if (auto bug = labelled(line, "Bug Description"))
      progress_.bug = *bug;
    else if (line.starts_with("**H"))
      hypothesis(line);
    else if (current_ < progress_.hypotheses.size())
      detail(line, progress_.hypotheses[current_]);
  }

 private:
  void hypothesis(std::string_view line) {
    const auto end = line.find("**:", 2);
    if (end == std::string_view::npos)
      return;
    const std::string id(line.substr(2, end - 2));
    std::string said(trimmed(line.substr(end + 3)));
    if (section_ == "Root Cause Identified") {
      progress_.confirmed = id;
      return;
    }
    const auto known = std::find_if(progress_.hypotheses.begin(), progress_.hypotheses.end(),
                                    [&](const HypothesisNote& note) { return note.id == id; });
    current_ = static_cast<std::size_t>(known - progress_.hypotheses.begin());
    if (known == progress_.hypotheses.end()) {
      progress_.hypotheses.emplace_back();
      progress_.hypotheses.back().id = id;
    }
    HypothesisNote& note = progress_.hypotheses[current_];
    for (const auto& [word, status] :
         {std::pair("CONFIRMED", "confirmed"), std::pair("REJECTED", "rejected"),
          std::pair("INCONCLUSIVE", "inconclusive")})
      if (said == word) {
        note.status = status;
        return;
      }
    if (note.description.empty())
      note.description = std::move(said);
  }

  static void detail(std::string_view line, HypothesisNote& note) {
    if (auto condition = bullet(line, "Testable condition"))
      note.condition = *condition;
    else if (auto point = bullet(line, "Logging point"))
      note.logging_point = without(*point, '`');
    else if (auto likelihood = bullet(line, "Likelihood"))
      note.likelihood = whole(*likelihood);
    else if (auto reason = bullet(line, "Reasoning"))
      note.reason = *reason;
    else if (auto evidence = bullet(line, "Evidence"))
      if (auto parsed = parse_json(without(*evidence, '`')))
        note.evidence = *std::move(parsed);
  }

  DebugProgress progress_;
  std::string section_;
  std::size_t current_ = 0;
};

class ValidateReader {
 public:
  ValidateProgress progress() { return std::move(progress_); }

  void take(std::string_view line) {
    if (const auto [level, title] = heading(line); level > 0) {
      // Headings of level 4 are failed tests, with the reason below.
      if (level == 4)
        failed_test_ = std::string(title);
      else
        failed_test_.clear();
      return;
    }
    if (!failed_test_.empty() && (bullet(line, "Suite") || bullet(line, "Error"))) {
      progress_.failed_tests.push_back(failed_test_);
      failed_test_.clear();
    }
    if (auto task = labelled(line, "Task"))
      progress_.task = *task;
    else if (auto when = labelled(line, "Validated"))
      progress_.validated = *when;
    else if (auto coverage = labelled(line, "Overall Coverage"))
      progress_.coverage = rate(*coverage);
    else if (auto result = labelled(line, "Result"))
      progress_.result = result->ends_with("PASS");
    else if (line.starts_with("|"))
      row(line);
  }

 private:
  static Json rate(const std::string& text) {
    const auto value = number(text);
    return value ? Json(*value) : Json();
  }

  void row(std::string_view line) {
    line.remove_prefix(1);
    const auto bar = line.find('|');
    if (bar == std::string_view::npos)
      return;
    const std::string name = without(std::string(trimmed(line.substr(0, bar))), '*');
    const std::string value(trimmed(line.substr(bar + 1, line.find('|', bar + 1) - bar - 1)));
    if (name == "Total Tests")
      progress_.total = whole(value);
    else if (name == "Passed")
      progress_.passed = whole(value);
    else if (name == "Failed")
      progress_.failed = whole(value);
    else if (name == "Skipped")
      progress_.skipped = whole(value);
    else if (name == "Duration")
      progress_.duration_ms = whole(value);
    else if (name == "Pass Rate")
      progress_.pass_rate = rate(value);
  }

  ValidateProgress progress_;
  std::string failed_test_;
};

/// Gives each line of the text to a reader.
template <class Reader>
auto read_by(std::string_view text) {
  Reader reader;
  Lines lines(text);
  while (const auto line = lines.next())
    reader.take(*line);
  auto progress = reader.progress();
  progress.found = !text.empty();
  return progress;
}

}  // namespace

DevelopProgress read_develop(std::string_view text) {
  return read_by<DevelopReader>(text);
}

DebugProgress read_debug(std::string_view text) {
  return read_by<DebugReader>(text);
}

ValidateProgress read_validate(std::string_view text) {
  return read_by<ValidateReader>(text);
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

/// The places of task lists, in the order of the search.
enum class Place {
  none,
  in_folder,
  beside,
  one_by_one,
  alias_in_folder,
  alias_beside,
  alias_in_progress,
  spare
};
constexpr std::array kPlaces = {Place::in_folder,    Place::beside,
                                Place::one_by_one,   Place::alias_in_folder,
                                Place::alias_beside, Place::alias_in_progress,
                                Place::spare};

/// Some texts of the origin call the task list `tasks.json` (C-28).
Place alias_of(const std::string& path) {
  if (path.ends_with(".progress/tasks.json"))
    return Place::alias_in_progress;
  return path.ends_with("/tasks.json") ? Place::alias_in_folder : Place::alias_beside;
}

Place place_of(const std::string& path, const Accepted& accepted) {
  if (!accepted.present || accepted.document == nullptr)
    return Place::none;
  if (accepted.kind == "task")
    return Place::one_by_one;
  if (accepted.kind == "tasks_backup")
    return Place::spare;
  if (accepted.kind == "tasks_alias")
    return alias_of(path);
  if (accepted.kind != "tasks")
    return Place::none;
  return path.ends_with("/tasks.jsonl") ? Place::in_folder : Place::beside;
}

std::string id_of(const Value& task) {
  std::string id = text_of(task, "task_id");
  return id.empty() ? text_of(task, "id") : id;
}

void add(const Value& task, std::vector<const Value*>& tasks) {
  if (!task.IsObject() || id_of(task).empty())
    return;
  const auto earlier = std::find_if(
      tasks.begin(), tasks.end(), [&](const Value* other) { return id_of(*other) == id_of(task); });
  if (earlier != tasks.end())
    tasks.erase(earlier);
  tasks.push_back(&task);
}

std::int64_t order_of(const Value* task) {
  return json::integer(*task, "order").value_or(std::numeric_limits<std::int64_t>::max());
}

}  // namespace

TaskList task_list(const FlowState& docs, bool spare) {
  TaskList found;
  for (const Place place : kPlaces) {
    if (place == Place::spare && !spare)
      continue;
    for (const auto& [path, accepted] : docs) {
      if (place_of(path, accepted) != place)
        continue;
      found.paths.push_back(path);
      const Value& whole = accepted.document->root();
      // In a `tasks.json` the list may be inside an object.
      const Value& root = member(whole, "tasks").IsArray() ? member(whole, "tasks") : whole;
      if (root.IsArray())
        for (const Value& task : root.GetArray())
          add(task, found.tasks);
      else
        add(root, found.tasks);
    }
    if (!found.paths.empty())
      break;
  }
  std::stable_sort(found.tasks.begin(), found.tasks.end(),
                   [](const Value* a, const Value* b) { return order_of(a) < order_of(b); });
  return found;
}

Json develop_tasks(const TaskList& list) {
  Json all = Json::array();
  for (const Value* const task : list.tasks) {
    const std::string mode = text_of(*task, "mode");
    std::string description = text_of(*task, "description");
    if (description.empty())
      description = text_of(*task, "title");
    Json mapped = Json::object({{"id", id_of(*task)}, {"description", description}});
    if (const std::string tool = text_of(*task, "tool"); !tool.empty())
      mapped.set("tool", tool);
    if (!mode.empty())
      mapped.set("mode", mode == "review" ? "analysis" : mode);
    mapped.set("status", "pending").set("files_changed", Json::array());
    if (const std::string made = text_of(*task, "created_at"); !made.empty())
      mapped.set("created_at", made);
    mapped.set("completed_at", Json());
    for (const std::string_view extra : {"prompt_template", "command", "on_error", "order"})
      if (const Value* const value = json::child(*task, extra))
        mapped.set(extra, *value);
    all.push(mapped);
  }
  return all;
}

}  // namespace baton::ccw_loop
