// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/utf8.h"
#include "dialects/ccw_loop/ccw_loop.h"
#include "dialects/ccw_loop/progress.h"
#include "dialects/ccw_loop/snapshot.h"
#include "dialects/timestamps.h"

namespace baton::ccw_loop {

namespace {

constexpr std::size_t kTitleCharacters = 100;

std::optional<Time> time_of(const Value& text) {
  const auto parsed = parse_timestamp(json::text(text).value_or(""));
  return parsed ? std::optional(parsed->time) : std::nullopt;
}

const Value* document(const FlowState& docs, std::string_view kind) {
  for (const auto& [path, accepted] : docs)
    if (accepted.kind == kind && accepted.present && accepted.document != nullptr)
      return &accepted.document->root();
  return nullptr;
}

bool completed(const Json& task) {
  return text_of(*task, "status") == "completed";
}

/// The tasks of develop.md, or else of the prepared task list. The list in develop.md gives order
/// and description, the timeline gives progress. Files and times come from changes.log where it has
/// them.
class Tasks {
 public:
  Tasks(const DevelopProgress& progress, const FlowState& docs)
      : created_(moment(progress.started)) {
    for (const std::string& description : progress.list)
      add(description);
    const Json prepared = develop_tasks(task_list(docs, true));
    if (progress.list.empty() && progress.entries.empty())
      for (const Value& task : prepared->GetArray())
        tasks_.emplace_back(task);
    for (const DevelopEntry& entry : progress.entries)
      apply(entry);
    name_the_rest();
    for (const Value& record : items_in(document(docs, "changes")))
      apply(record);
  }

  Json json() const { return Json::array(tasks_); }
  std::int64_t count_completed() const {
    return std::count_if(tasks_.begin(), tasks_.end(), completed);
  }
  /// When each turn ended. Without a timeline, each completed task is one turn.
  std::vector<std::optional<Time>> turns() const {
    std::vector<std::optional<Time>> all;
    for (const auto& [task, ended] : entries_) {
      const auto at = time_of(member(*tasks_[task], "completed_at"));
      all.push_back(at ? at : ended);
    }
    for (const Json& task : tasks_)
      if (entries_.empty() && completed(task))
        all.push_back(time_of(member(*task, "completed_at")));
    return all;
  }
  /// When the last task was completed.
  Json newest() const {
    Json newest;
    for (const Json& task : tasks_)
      if (const Value& at = member(*task, "completed_at"); time_of(at) > time_of(*newest))
        newest = Json(at);
    return newest;
  }

 private:
  Json& add(const std::string& description) {
    tasks_.push_back(Json::object({{"id", ""},
                                   {"description", description},
                                   {"status", "pending"},
                                   {"files_changed", Json::array()}}));
    if (!created_.is_null())
      tasks_.back().set("created_at", created_);
    return tasks_.back().set("completed_at", Json());
  }

  Json* find(std::string_view id) {
    const auto found = std::find_if(tasks_.begin(), tasks_.end(), [&](const Json& task) {
      return !id.empty() && text_of(*task, "id") == id;
    });
    return found == tasks_.end() ? nullptr : &*found;
  }

  /// The task with this id, else a pending one with this description, else a new one.
  Json& take(const std::string& id, const std::string& description) {
    if (Json* const known = find(id))
      return *known;
    const auto open = std::find_if(tasks_.begin(), tasks_.end(), [&](const Json& task) {
      return text_of(*task, "description") == description && text_of(*task, "status") == "pending";
    });
    Json& task = open != tasks_.end() ? *open : add(description.empty() ? id : description);
    return id.empty() ? task : task.set("id", id);
  }

  void apply(const DevelopEntry& entry) {
    Json& task = take(entry.id, entry.description);
    if (!entry.tool.empty())
      task.set("tool", entry.tool);
    if (entry.mode == "analysis" || entry.mode == "write")
      task.set("mode", entry.mode);
    Json files = Json::array();
    for (const std::string& file : entry.files)
      files.push(file);
    task.set("files_changed", files);
    const Json at = moment(entry.timestamp);
    if (entry.completed)
      task.set("status", "completed").set("completed_at", at);
    entries_.emplace_back(static_cast<std::size_t>(&task - tasks_.data()), time_of(*at));
  }

  /// Tasks without an entry get an id from their position.
  void name_the_rest() {
    constexpr std::size_t kDigits = 3;
    for (std::size_t i = 0, number = 1; i < tasks_.size(); ++i, number = i + 1)
      while (text_of(*tasks_[i], "id").empty()) {
        std::string digits = std::to_string(number++);
        digits.insert(0, kDigits - std::min(kDigits, digits.size()), '0');
        if (find("task-" + digits) == nullptr)
          tasks_[i].set("id", "task-" + digits);
      }
  }

  /// A record of changes.log. There is one per file or per task (C-26). Adds a task that is in no
  /// list.
  void apply(const Value& record) {
    const std::string id = text_of(record, "task_id");
    const std::string result = text_of(record, "result");
    if (!result.empty() && result != "success")
      return;
    Json& task = take(id, text_of(record, "description"));
    task.set("status", "completed");
    if (const Json at = moment(text_of(record, "timestamp")); !at.is_null())
      task.set("completed_at", at);
    const auto changed = items_in(record, "files_changed");
    if (changed.Empty())
      return;
    Json files = logged_.insert(id).second ? Json::array() : Json(member(*task, "files_changed"));
    for (const Value& file : changed)
      if (std::find(files->Begin(), files->End(), file) == files->End())
        files.push(Json(file));
    task.set("files_changed", files);
  }

  std::vector<Json> tasks_;
  /// The entries of the timeline: position of the task, time.
  std::vector<std::pair<std::size_t, std::optional<Time>>> entries_;
  std::set<std::string> logged_;  ///< tasks whose files come from changes.log
  Json created_;
};

Json debug_of(const FlowState& docs) {
  Json debug = read_debug(progress_text(docs, {"debug", "understanding"}));
  const Value* const file = document(docs, "hypotheses");
  if (file == nullptr)
    return debug;
  const auto all = items_in(*file, "hypotheses");
  debug.set("hypotheses", member(*file, "hypotheses"))
      .set("hypotheses_count", static_cast<std::uint64_t>(all.Size()))
      .set("iteration",
           Json(std::max(count_of(*debug, "iteration"), count_of(*file, "iteration"))));
  if (member(*debug, "active_bug").IsNull())
    debug.set("active_bug", member(*file, "bug_description"));
  if (member(*debug, "last_analysis_at").IsNull())
    debug.set("last_analysis_at", moment(text_of(*file, "timestamp")));
  for (const Value& hypothesis : all)
    if (text_of(*debug, "confirmed_hypothesis").empty() &&
        text_of(hypothesis, "status") == "confirmed")
      debug.set("confirmed_hypothesis", text_of(hypothesis, "id"));
  return debug;
}

/// A percentage, also as text; else null.
Json percent(const Value& value) {
  return rate(value.IsString() ? std::string(json::name(value)) : json::dump(value));
}

Json failed_tests(const Value& run) {
  Json names = Json::array();
  const auto add = [&](const Value& test) {
    const std::string named = text_of(test, "test_name");
    const std::string name = named.empty() ? text_of(test, "name") : named;
    if (const auto text = json::text(test))
      names.push(*text);
    else if (!name.empty())
      names.push(name);
  };
  for (const Value& test : items_in(run, "failures"))
    add(test);
  if (!names->Empty())
    return names;
  for (const Value& test : items_in(run, "tests"))
    if (text_of(test, "status") == "failed")
      add(test);
  return names;
}

Json validate_of(const Value& run) {
  const Value& summary = member(run, "summary");
  const Json failed = failed_tests(run);
  const bool passed =
      count_of(summary, "total") > 0 && count_of(summary, "failed") == 0 && failed->Empty();
  const Value& coverage = member(run, "coverage");
  return Json::object(
      {{"pass_rate", percent(member(summary, "pass_rate"))},
       {"coverage", percent(coverage.IsObject() ? member(coverage, "overall") : coverage)},
       {"test_results", Json::array({Json(run)})},
       {"passed", passed},
       {"failed_tests", failed},
       {"last_run_at", moment(text_of(run, "timestamp"))}});
}

/// The first characters of a text.
std::string shortened(const std::string& text, std::size_t characters) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < characters && at < text.size(); ++i)
    at += std::max<std::size_t>(1, utf8_length(text, at));
  return text.substr(0, at);
}

std::string from_progress(const View& view, const Json& skill) {
  const DevelopProgress develop = read_develop(progress_text(view.docs, {"develop", "progress"}));
  const std::string task =
      !develop.task.empty()
          ? develop.task
          : task_in_validate(progress_text(view.docs, {"validate", "validation"}));
  const std::string title = shortened(task, kTitleCharacters);
  const std::string now = iso_time(view.wall, true);
  const Json started = moment(develop.started);
  const auto actions = items_in(*skill, "completed_actions");
  const std::int64_t turns = std::count(actions.begin(), actions.end(), Value("DEVELOP"));
  return Json::object({{"loop_id", view.flow.name},
                       {"title", title.empty() ? view.flow.name : title},
                       {"description", task},
                       {"max_iterations", 10},
                       {"status", word(Status::paused)},
                       {"current_iteration", Json(turns)},
                       {"created_at", started.is_null() ? Json(now) : started},
                       {"updated_at", now},
                       {"skill_state", skill}})
      .pretty();
}

/// The text of a master state, with `running` changed to `paused`. Nothing if the text is no master
/// state of this loop.
std::optional<std::string> halted(const std::string& text, const View& view) {
  auto parsed = parse_json(text);
  if (!parsed || json::text(**parsed, "loop_id") != view.flow.name)
    return std::nullopt;
  std::vector<json::Edit> edits = {{"/updated_at", json::quote(iso_time(view.wall, true))}};
  if (json::text(**parsed, "status") == word(Status::running))
    edits.push_back({"/status", json::quote(word(Status::paused))});
  auto edited = json::splice(text, edits);
  return edited ? std::optional(*std::move(edited)) : std::nullopt;
}

}  // namespace

Json rebuilt_skill(const FlowState& docs, bool interactive) {
  const std::string_view develop_text = progress_text(docs, {"develop", "progress"});
  const std::string_view validate_text = progress_text(docs, {"validate", "validation"});
  const Value* const run = document(docs, "test_results");
  const bool debugged = document(docs, "hypotheses") != nullptr ||
                        !progress_text(docs, {"debug", "understanding"}).empty();
  const bool validated = run != nullptr || !validate_text.empty();
  if (develop_text.empty() && !debugged && !validated && document(docs, "changes") == nullptr)
    return {};
  const Tasks tasks(read_develop(develop_text), docs);
  const Json list = tasks.json();
  const Json debug = debug_of(docs);
  const Json validate = run != nullptr ? validate_of(*run) : read_validate(validate_text);
  // The actions that were done, in the order of their times.
  std::vector<std::pair<std::optional<Time>, std::string>> done;
  for (const auto& at : tasks.turns())
    done.emplace_back(at, "DEVELOP");
  if (debugged)
    done.emplace_back(time_of(member(*debug, "last_analysis_at")), "DEBUG");
  if (validated)
    done.emplace_back(time_of(member(*validate, "last_run_at")), "VALIDATE");
  std::stable_sort(done.begin(), done.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Json actions = Json::array({Json("INIT")});
  for (const auto& [time, action] : done)
    actions.push(action);
  return Json::object(
      {{"current_action", Json()},
       {"last_action", done.empty() ? Json() : Json(done.back().second)},
       {"completed_actions", actions},
       {"mode", interactive ? "interactive" : "auto"},
       {"develop", Json::object({{"total", static_cast<std::uint64_t>(list->Size())},
                                 {"completed", Json(tasks.count_completed())},
                                 {"current_task", Json()},
                                 {"tasks", list},
                                 {"last_progress_at", tasks.newest()}})},
       {"debug", debug},
       {"validate", validate},
       {"errors", Json::array()}});
}

std::vector<Create> rebuild(const View& view) {
  const Options options = options_of(view.options);
  const std::string path = options.path + "/" + view.flow.name + ".json";
  std::vector<Create> all;
  if (const Loop loop = loop_of(view.docs); loop.root != nullptr)
    if (auto text = halted(loop.file->document->text(), view))
      all.push_back(Create{path, *std::move(text), "from the last version that was accepted"});
  for (const auto& [name, accepted] : view.docs)
    if (accepted.kind == "backup" && accepted.present && accepted.document != nullptr)
      if (auto text = halted(accepted.document->text(), view))
        all.push_back(Create{path, *std::move(text), "from " + name});
  if (const Json skill = rebuilt_skill(view.docs, options.interactive); !skill.is_null())
    all.push_back(Create{
        path, from_progress(view, skill),
        std::string("from the progress files; title, max_iterations and status are not known from "
                    "them") +
            (progress_text(view.docs, {"summary"}).empty()
                 ? ""
                 : "; there is a summary.md, so the loop was completed")});
  return all;
}

}  // namespace baton::ccw_loop
