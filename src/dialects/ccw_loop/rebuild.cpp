#include <algorithm>
#include <charconv>
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

/// The text, if it is a time.
std::optional<std::string> moment_text(const std::string& text) {
  return parse_timestamp(text) ? std::optional(text) : std::nullopt;
}
Json moment_json(const std::string& text) {
  const auto moment = moment_text(text);
  return moment ? Json(*moment) : Json();
}
std::optional<Time> time_of(const Json& text) {
  const auto moment = parse_timestamp(json::text(*text).value_or(""));
  return moment ? std::optional(moment->time) : std::nullopt;
}

const Value* document(const FlowState& docs, std::string_view kind) {
  for (const auto& [path, accepted] : docs)
    if (accepted.kind == kind && accepted.present && accepted.document != nullptr)
      return &accepted.document->root();
  return nullptr;
}

std::string task_id(std::size_t position) {
  std::string number = std::to_string(position + 1);
  return "task-" + std::string(3 - std::min<std::size_t>(3, number.size()), '0') + number;
}

/// The tasks of develop.md, or else of the prepared task list. The list in develop.md gives order
/// and description, the timeline gives progress. Files and times come from changes.log where it has
/// them.
class Tasks {
 public:
  Tasks(const DevelopProgress& progress, const FlowState& docs) : started_(progress.started) {
    for (const std::string& description : progress.list)
      add(description);
    if (progress.list.empty() && progress.entries.empty())
      prepare(develop_tasks(task_list(docs, true)));
    for (const DevelopEntry& entry : progress.entries)
      entries_.emplace_back(apply(entry), moment_json(entry.timestamp));
    if (const Value* const log = document(docs, "changes"); log != nullptr && log->IsArray())
      for (const Value& record : log->GetArray())
        apply(record);
  }

  Json json() const {
    Json all = Json::array();
    for (const Json& task : tasks_)
      all.push(task);
    return all;
  }
  std::int64_t completed() const {
    return std::count_if(tasks_.begin(), tasks_.end(), [](const Json& task) {
      return json::text(*task, "status") == "completed";
    });
  }
  /// When each turn ended. Without a timeline, each completed task is one turn.
  std::vector<Json> turns() const {
    std::vector<Json> all;
    for (const auto& [task, timestamp] : entries_) {
      const Json at(member(*tasks_[task], "completed_at"));
      all.push_back(at.is_null() ? timestamp : at);
    }
    for (const Json& task : tasks_)
      if (entries_.empty() && json::text(*task, "status") == "completed")
        all.emplace_back(member(*task, "completed_at"));
    return all;
  }
  /// When the last task was completed.
  Json newest() const {
    Json newest;
    for (const Json& task : tasks_) {
      const Json at(member(*task, "completed_at"));
      if (time_of(at) > time_of(newest))
        newest = at;
    }
    return newest;
  }

 private:
  void prepare(const Json& list) {
    for (const Value& task : list->GetArray())
      tasks_.emplace_back(task);
  }

  Json& add(const std::string& description) {
    tasks_.push_back(Json::object({{"id", task_id(tasks_.size())},
                                   {"description", description},
                                   {"status", "pending"},
                                   {"files_changed", Json::array()}}));
    if (const auto started = moment_text(started_))
      tasks_.back().set("created_at", *started);
    tasks_.back().set("completed_at", Json());
    return tasks_.back();
  }

  Json* find(std::string_view name, std::string_view text) {
    if (text.empty())
      return nullptr;
    const auto found = std::find_if(tasks_.begin(), tasks_.end(), [&](const Json& task) {
      return json::text(*task, name) == text;
    });
    return found == tasks_.end() ? nullptr : &*found;
  }

  /// Sets the id. Another task that got this id from its position gets the next free one.
  void name(Json& task, const std::string& id) {
    if (id.empty() || json::text(*task, "id") == id)
      return;
    if (Json* const other = find("id", id); other != nullptr) {
      std::size_t position = tasks_.size();
      while (find("id", task_id(position)) != nullptr)
        ++position;
      other->set("id", task_id(position));
    }
    task.set("id", id);
  }

  /// A pending task with this description.
  Json* open(std::string_view description) {
    const auto found = std::find_if(tasks_.begin(), tasks_.end(), [&](const Json& task) {
      return json::text(*task, "description") == description &&
             json::text(*task, "status") == "pending";
    });
    return found == tasks_.end() ? nullptr : &*found;
  }

  /// The position of the entry's task.
  std::size_t apply(const DevelopEntry& entry) {
    Json* known = find("id", entry.id);
    // baton may have made this id from a position, so another description means another task.
    if (known == nullptr || json::text(**known, "description") != entry.description)
      known = open(entry.description);
    Json& task = known != nullptr ? *known : add(entry.description);
    name(task, entry.id);
    if (!entry.tool.empty())
      task.set("tool", entry.tool);
    if (entry.mode == "analysis" || entry.mode == "write")
      task.set("mode", entry.mode);
    Json files = Json::array();
    for (const std::string& file : entry.files)
      files.push(file);
    task.set("files_changed", files);
    if (entry.completed) {
      task.set("status", "completed");
      task.set("completed_at", moment_json(entry.timestamp));
    }
    return static_cast<std::size_t>(&task - tasks_.data());
  }

  /// A record of changes.log. There is one per file or per task (C-26). Adds a task that is in no
  /// list.
  void apply(const Value& record) {
    const std::string id = text_of(record, "task_id");
    const std::string result = text_of(record, "result");
    const std::string description = text_of(record, "description");
    if (!result.empty() && result != "success")
      return;
    Json* known = find("id", id);
    if (known == nullptr)
      known = open(description);
    Json& task = known != nullptr ? *known : add(description.empty() ? id : description);
    name(task, id);
    task.set("status", "completed");
    if (const auto at = moment_text(text_of(record, "timestamp")))
      task.set("completed_at", *at);
    const Value& changed = list(record, "files_changed");
    if (changed.Empty())
      return;
    Json files = logged_.insert(id).second ? Json::array() : Json(list(*task, "files_changed"));
    for (const Value& file : changed.GetArray())
      if (std::find(files->Begin(), files->End(), file) == files->End())
        files.push(Json(file));
    task.set("files_changed", files);
  }

  std::vector<Json> tasks_;
  /// The entries of the timeline: position of the task, time.
  std::vector<std::pair<std::size_t, Json>> entries_;
  std::set<std::string> logged_;  ///< tasks whose files come from changes.log
  std::string started_;
};

Json hypotheses_of(const DebugProgress& progress) {
  Json all = Json::array();
  for (const HypothesisNote& note : progress.hypotheses) {
    Json hypothesis = Json::object({{"id", note.id}, {"description", note.description}});
    if (!note.condition.empty())
      hypothesis.set("testable_condition", note.condition);
    if (!note.logging_point.empty())
      hypothesis.set("logging_point", note.logging_point);
    if (note.likelihood > 0)
      hypothesis.set("likelihood", Json(note.likelihood));
    hypothesis.set("status", note.status);
    hypothesis.set("evidence", note.evidence);
    hypothesis.set("verdict_reason", note.reason.empty() ? Json() : Json(note.reason));
    all.push(hypothesis);
  }
  return all;
}

Json debug_of(const FlowState& docs) {
  const DebugProgress notes = read_debug(progress_text(docs, {"debug", "understanding"}));
  Json hypotheses = hypotheses_of(notes);
  Json bug = notes.bug.empty() ? Json() : Json(notes.bug);
  std::int64_t iteration = notes.iteration;
  Json analysed = moment_json(notes.analysed);
  std::string confirmed = notes.confirmed;
  if (const Value* const file = document(docs, "hypotheses")) {
    const Value& all = list(*file, "hypotheses");
    hypotheses = Json(all);
    iteration = std::max(iteration, json::integer(*file, "iteration").value_or(0));
    if (bug.is_null())
      bug = Json(member(*file, "bug_description"));
    if (analysed.is_null())
      analysed = moment_json(text_of(*file, "timestamp"));
    for (const Value& hypothesis : all.GetArray())
      if (confirmed.empty() && json::text(hypothesis, "status") == "confirmed")
        confirmed = text_of(hypothesis, "id");
  }
  return Json::object({{"active_bug", bug},
                       {"hypotheses_count", static_cast<std::uint64_t>(hypotheses->Size())},
                       {"hypotheses", hypotheses},
                       {"confirmed_hypothesis", confirmed.empty() ? Json() : Json(confirmed)},
                       {"iteration", Json(iteration)},
                       {"last_analysis_at", analysed}});
}

/// A number from 0 to 100, also as text; else null.
Json percent(const Value& value) {
  std::optional<double> number = json::number(value);
  if (const auto text = json::text(value)) {
    double parsed = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), parsed);
    if (error == std::errc() && end == text->data() + text->size())
      number = parsed;
  }
  return number && *number >= 0 && *number <= 100 ? Json(*number) : Json();
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
  for (const Value& test : list(run, "failures").GetArray())
    add(test);
  if (!names->Empty())
    return names;
  for (const Value& test : list(run, "tests").GetArray())
    if (json::text(test, "status") == "failed")
      add(test);
  return names;
}

Json validate_of(const Value& run) {
  const Value& summary = member(run, "summary");
  const Json failed = failed_tests(run);
  const auto ran = json::integer(summary, "total").value_or(0);
  const bool passed =
      ran > 0 && json::integer(summary, "failed").value_or(0) == 0 && failed->Empty();
  const Value& coverage = member(run, "coverage");
  return Json::object(
      {{"pass_rate", percent(member(summary, "pass_rate"))},
       {"coverage", percent(coverage.IsObject() ? member(coverage, "overall") : coverage)},
       {"test_results", Json::array({Json(run)})},
       {"passed", passed},
       {"failed_tests", failed},
       {"last_run_at", moment_json(text_of(run, "timestamp"))}});
}

Json validate_of(const ValidateProgress& notes) {
  Json failed = Json::array();
  for (const std::string& name : notes.failed_tests)
    failed.push(name);
  Json results = Json::array();
  if (notes.total > 0)
    results.push(
        Json::object({{"timestamp", moment_json(notes.validated)},
                      {"summary", Json::object({{"total", Json(notes.total)},
                                                {"passed", Json(notes.passed)},
                                                {"failed", Json(notes.failed)},
                                                {"skipped", Json(notes.skipped)},
                                                {"pass_rate", notes.pass_rate},
                                                {"duration_ms", Json(notes.duration_ms)}})}}));
  if (!results->Empty() && moment_json(notes.validated).is_null())
    results = Json::array();
  return Json::object({{"pass_rate", notes.pass_rate},
                       {"coverage", notes.coverage},
                       {"test_results", results},
                       {"passed", notes.result},
                       {"failed_tests", failed},
                       {"last_run_at", moment_json(notes.validated)}});
}

/// The actions that were done, in the order of their times.
struct History {
  std::vector<std::pair<std::optional<Time>, std::string>> done;
  void add(const Json& at, const std::string& action) {
    const auto time = time_of(at);
    const auto place = std::find_if(done.rbegin(), done.rend(),
                                    [&](const auto& each) { return !(time < each.first); });
    done.emplace(place.base(), time, action);
  }
  Json completed_actions() const {
    Json all = Json::array({Json("INIT")});
    for (const auto& [time, action] : done)
      all.push(action);
    return all;
  }
  Json last_action() const { return done.empty() ? Json() : Json(done.back().second); }
};

/// The first characters of a text.
std::string shortened(const std::string& text, std::size_t characters) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < characters && at < text.size(); ++i)
    at += std::max<std::size_t>(1, utf8_length(text, at));
  return text.substr(0, at);
}

/// The number of iterations: one for each turn at a task.
std::uint64_t iterations(const Json& skill) {
  const Value& done = list(*skill, "completed_actions");
  return static_cast<std::uint64_t>(std::count_if(
      done.Begin(), done.End(), [](const Value& each) { return json::text(each) == "DEVELOP"; }));
}

std::string from_progress(const View& view, const Json& skill) {
  const DevelopProgress develop = read_develop(progress_text(view.docs, {"develop", "progress"}));
  const std::string task =
      !develop.task.empty()
          ? develop.task
          : read_validate(progress_text(view.docs, {"validate", "validation"})).task;
  const std::string title = shortened(task, kTitleCharacters);
  const std::string now = stamp(view.wall);
  return Json::object({{"loop_id", view.flow.name},
                       {"title", title.empty() ? view.flow.name : title},
                       {"description", task},
                       {"max_iterations", 10},
                       {"status", word(Status::paused)},
                       {"current_iteration", iterations(skill)},
                       {"created_at", moment_text(develop.started).value_or(now)},
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
  std::vector<json::Edit> edits = {{"/updated_at", json::quote(stamp(view.wall))}};
  if (json::text(**parsed, "status") == word(Status::running))
    edits.push_back({"/status", json::quote(word(Status::paused))});
  auto edited = json::splice(text, edits);
  return edited ? std::optional(*std::move(edited)) : std::nullopt;
}

}  // namespace

Json rebuilt_skill(const FlowState& docs, bool interactive) {
  const DevelopProgress develop = read_develop(progress_text(docs, {"develop", "progress"}));
  const std::string_view validate_text = progress_text(docs, {"validate", "validation"});
  const Value* const run = document(docs, "test_results");
  const bool debugged = document(docs, "hypotheses") != nullptr ||
                        !progress_text(docs, {"debug", "understanding"}).empty();
  const bool validated = run != nullptr || !validate_text.empty();
  if (!develop.found && !debugged && !validated && document(docs, "changes") == nullptr)
    return {};
  const Tasks tasks(develop, docs);
  const Json list = tasks.json();
  const Json debug = debug_of(docs);
  const Json validate =
      run != nullptr ? validate_of(*run) : validate_of(read_validate(validate_text));
  History history;
  for (const Json& at : tasks.turns())
    history.add(at, "DEVELOP");
  if (debugged)
    history.add(Json(member(*debug, "last_analysis_at")), "DEBUG");
  if (validated)
    history.add(Json(member(*validate, "last_run_at")), "VALIDATE");
  const Json actions = history.completed_actions();
  return Json::object(
      {{"current_action", Json()},
       {"last_action", history.last_action()},
       {"completed_actions", actions},
       {"mode", interactive ? "interactive" : "auto"},
       {"develop", Json::object({{"total", static_cast<std::uint64_t>(list->Size())},
                                 {"completed", Json(tasks.completed())},
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
