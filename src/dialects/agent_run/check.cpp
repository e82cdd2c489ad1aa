// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "dialects/agent_run/agent_run.h"
#include "dialects/agent_run/files.h"
#include "dialects/agent_run/record.h"
#include "dialects/findings.h"
#include "dialects/kinds.h"
#include "dialects/tables.h"

namespace baton::agent_run {
namespace {

std::optional<bool> decision_in(const Value& root, std::string_view key, FindingList& findings) {
  const auto text = json::text(root, key);
  if (!text)
    return std::nullopt;
  if (const DecisionRow* const row = row_of(kDecision, upper(*text)))
    return row->approved;
  const auto words = words_of(kDecision);
  findings.error("S60", member_pointer("", key),
                 quoted_word(*text) + " is not a decision, so the step keeps waiting",
                 {.found = std::string(*text),
                  .expected = any_of_words(words) + ", in any case",
                  .suggestion = near_word(upper(*text), words)});
  return std::nullopt;
}

/// Whether the word stands for a truth value or for nothing. Other words, such as `yes`, may be
/// what a gate `X: yes` asks for.
bool is_truth_word(const std::string& word) {
  constexpr std::array<std::string_view, 4> kWords = {"TRUE", "FALSE", "", "NULL"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

/// Phrases that several templates have in common and that agents must replace, in upper case.
constexpr std::array<std::string_view, 6> kArtifactPhrases = {
    "LIST OF CREATED FILE PATHS",         "REPLACE WITH ACTUAL ARTIFACT",
    "RELATIVE PATH TO EACH CREATED FILE", "RELATIVE PATH TO THE ARTIFACT YOU PRODUCED",
    "RELATIVE PATH FOR EACH ARTIFACT",    "RELATIVE PATH TO EACH ARTIFACT",
};
constexpr std::array<std::string_view, 6> kLogPhrases = {
    "SUMMARY OF WHAT YOU ACCOMPLISHED",  "REPLACE WITH ACTUAL LOG ENTRY",
    "CONCISE SUMMARY OF WORK PERFORMED", "CONCISE BULLET SUMMARIZING WORK",
    "REPLACE WITH A CONCISE SUMMARY",    "REPLACE WITH A SHORT SUMMARY",
};
constexpr std::array<std::string_view, 2> kStampPhrases = {
    "REPLACE WITH UTC TIMESTAMP WHEN YOU FINISH",
    "INSERT COMPLETION TIMESTAMP",
};

template <std::size_t kSize>
bool holds(std::string_view text, const std::array<std::string_view, kSize>& phrases) {
  const std::string whole = upper(text);
  return std::any_of(phrases.begin(), phrases.end(), [&](std::string_view phrase) {
    return whole.find(phrase) != std::string::npos;
  });
}

class ReportCheck {
 public:
  ReportCheck(const Value& root, const RunFile& run_file) : root_(root), run_file_(run_file) {}

  Findings run() {
    schema();
    names();
    status();
    stamps();
    collections();
    artifacts();
    logs();
    memory();
    return findings_.take();
  }

 private:
  std::string text(std::string_view key) const { return text_of(root_, key); }

  void schema() {
    if (text("schema") != "run_report@v0" && text("schema") != "run_report_v1")
      findings_.warning("S41", "/schema", "the schema is named " + quoted_word(text("schema")),
                        {.found = text("schema"), .expected = "run_report@v0"});
  }

  /// Checks run and step of a report. A report of another step must not count for this one.
  void names() {
    expect("run_id", text("run_id"), run_file_.run);
    expect("step_id", file_part(text("step_id")), run_file_.step);
  }

  void expect(std::string_view key, const std::string& found, const std::string& expected) {
    if (!expected.empty() && found != expected)
      findings_.error("S42", member_pointer("", key),
                      std::string(key) + " is " + quoted_word(text(key)) +
                          ", but the file name belongs to " + quoted_word(expected),
                      {.found = text(key), .expected = expected});
  }

  void status() {
    const std::string word = upper(text("status"));
    const auto words = words_of(kReport);
    if (row_of(kReport, word) == nullptr)
      findings_.error("S40", "/status",
                      "the status " + quoted_word(text("status")) + " is not a result of a step",
                      {.found = text("status"),
                       .expected = any_of_words(words) + ", in any case",
                       .suggestion = near_word(word, words)});
  }

  void stamps() {
    for (const char* const key : {"started_at", "ended_at"}) {
      if (holds(text(key), kStampPhrases))
        left_in(member_pointer("", key), text(key));
      else if (!parse_time(text(key)))
        findings_.warning("S44", member_pointer("", key),
                          std::string(key) + " is not a date and time with a time zone",
                          {.found = text(key), .expected = "2026-01-15T14:51:02Z"});
    }
    check_order(root_, "", "started_at", "ended_at", "S44", findings_);
  }

  void left_in(const std::string& pointer, const std::string& found) {
    findings_.warning("S43", pointer, "placeholder text of the template was not replaced",
                      {.found = found});
  }

  void collections() {
    for (const char* const key :
         {"artifacts", "metrics", "logs", "next_suggested_steps", "memory_updates"})
      if (const Value* const value = json::child(root_, key); value != nullptr && value->IsNull())
        findings_.warning("S46", member_pointer("", key),
                          std::string(key) + " is null; it is read as empty", {.found = "null"});
  }

  void artifacts() {
    const std::vector<std::string> paths = texts_of(root_, "artifacts");
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const std::string& path = paths[i];
      const std::string pointer = item_pointer("/artifacts", i);
      if (holds(path, kArtifactPhrases))
        left_in(pointer, path);
      else if (leaves_folder(path))
        findings_.warning("S47", pointer, "an artifact must be a path inside the repository",
                          {.found = path, .expected = "a relative path without .."});
    }
  }

  void logs() {
    const Value* const list = json::child(root_, "logs");
    if (list == nullptr || !list->IsArray())
      return;
    if (list->Empty())
      findings_.warning("S43", "/logs", "the logs are empty", {.expected = "at least one line"});
    const std::vector<std::string> lines = texts_of(list);
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (holds(lines[i], kLogPhrases))
        left_in(item_pointer("/logs", i), lines[i]);
  }

  /// Checks the scope of notes. They belong to the repository, so their scope must lie in it.
  void memory() {
    std::size_t i = 0;
    for (const Value& note : items_in(root_, "memory_updates")) {
      const std::string scope = text_of(note, "scope");
      if (leaves_folder(scope))
        findings_.error("S45", item_pointer("/memory_updates", i) + "/scope",
                        "the scope " + quoted_word(scope) + " is outside the repository",
                        {.found = scope, .expected = "a folder of the repository"});
      ++i;
    }
  }

  const Value& root_;
  const RunFile& run_file_;
  FindingList findings_{"agent_run"};
};

class RunStateCheck {
 public:
  RunStateCheck(const Value& root, const RunFile& run_file) : root_(root), run_file_(run_file) {}

  Findings run() {
    const auto run = json::text(root_, "run_id").value_or("");
    if (!run_file_.run.empty() && run != run_file_.run)
      findings_.warning(
          "S26", "/run_id",
          "run_id is " + quoted_word(run) + ", but the folder is " + quoted_word(run_file_.run),
          {.found = std::string(run), .expected = run_file_.run});
    path(root_, "", "reports_dir");
    path(root_, "", "manual_inputs_dir");
    check_order(root_, "", "created_at", "updated_at", "S25", findings_);
    for (const auto& member : members_in(root_, "steps"))
      ids_.push_back(json::name(member.name));
    for (const auto& member : members_in(root_, "steps"))
      step(std::string(json::name(member.name)), member.value);
    return findings_.take();
  }

 private:
  void step(const std::string& id, const Value& step) {
    const std::string pointer = member_pointer("/steps", id);
    if (const std::string fault = id_fault(id); !fault.empty())
      findings_.error(
          "S3", pointer, "the id " + quoted_word(id) + " cannot be part of a file name: " + fault,
          {.found = id, .expected = "letters, digits, _ . - and blanks, at most 100 bytes"});
    began(id, step, pointer);
    waiting(id, step, pointer);
    items(id, step, pointer);
    path(step, pointer, "report_path");
    path(step, pointer, "manual_input_path");
    check_order(step, pointer, "started_at", "ended_at", "S25", findings_);
  }

  /// Checks that a started step has attempts and a start time. Exceptions: a completed loop, which
  /// counts its items, and a step that the cost limit failed before it started.
  void began(const std::string& id, const Value& step, const std::string& pointer) {
    const auto status = json::text(step, "status").value_or("");
    const StatusRow* const row = row_of(kStatus, status);
    const Value* const items = json::child(step, "loop_items");
    const bool looped =
        json::boolean(step, "loop_completed") == true || (items != nullptr && items->IsArray());
    const bool unpaid = row != nullptr && row->status == Status::failed &&
                        json::text(step, "last_error_code").value_or("") == "cost_limit";
    if (row == nullptr || !row->began || unpaid || (row->status == Status::completed && looped))
      return;
    const auto attempts = json::integer(step, "attempts").value_or(0);
    if (attempts < 1)
      findings_.error("S20", pointer + "/attempts",
                      "the step " + quoted_word(id) + " is " + std::string(status) +
                          ", but attempts is below 1",
                      {.found = std::to_string(attempts), .expected = "at least 1"});
    if (!json::text(step, "started_at"))
      findings_.error(
          "S20", present(step, pointer, "started_at"),
          "the step " + quoted_word(id) + " is " + std::string(status) + ", but has no started_at",
          {.found = "null", .expected = "date and time"});
  }

  static std::string present(const Value& step, const std::string& pointer, std::string_view key) {
    return json::child(step, key) == nullptr ? pointer : member_pointer(pointer, key);
  }

  void waiting(const std::string& id, const Value& step, const std::string& pointer) {
    if (json::text(step, "status") == "WAITING_ON_HUMAN" && !json::text(step, "manual_input_path"))
      findings_.error(
          "S21", present(step, pointer, "manual_input_path"),
          "the step " + quoted_word(id) + " waits for a person, but has no manual_input_path",
          {.found = "null", .expected = "the path of the manual input"});
    const auto blocker = json::text(step, "blocked_by_loop");
    if (blocker && std::find(ids_.begin(), ids_.end(), *blocker) == ids_.end())
      findings_.error(
          "S22", pointer + "/blocked_by_loop",
          "blocked_by_loop names the step " + quoted_word(*blocker) + ", which does not exist",
          none_of_words(*blocker, ids_));
  }

  void items(const std::string& id, const Value& step, const std::string& pointer) {
    const auto index = json::integer(step, "loop_index");
    const Value* const items = json::child(step, "loop_items");
    if (index && items != nullptr && items->IsArray() && *index > std::int64_t{items->Size()})
      findings_.error("S24", pointer + "/loop_index",
                      "the step " + quoted_word(id) + " is at item " + std::to_string(*index) +
                          " of " + std::to_string(items->Size()),
                      {.found = std::to_string(*index),
                       .expected = "at most " + std::to_string(items->Size())});
  }

  /// Checks a path. baton reads and writes these paths, so they must belong to the run.
  void path(const Value& object, const std::string& pointer, std::string_view key) {
    const auto path = json::text(object, key);
    // `repo_dir` may end with a slash.
    const std::string repository(json::text(root_, "repo_dir").value_or(""));
    const std::string folder = normalized(repository + "/.agents");
    // The option `path` may put the runs outside `.agents`.
    const std::string runs =
        run_file_.runs.empty() ? folder : normalized(repository + "/" + run_file_.runs);
    if (path && !within(*path, folder) && !within(*path, runs))
      findings_.error("S23", member_pointer(pointer, key),
                      std::string(key) + " is outside the .agents folder of the repository",
                      {.found = std::string(*path), .expected = "a path below " + folder});
  }

  const Value& root_;
  const RunFile& run_file_;
  std::vector<std::string_view> ids_;
  FindingList findings_{"agent_run"};
};

}  // namespace

Findings check_manual_input(const Value& root) {
  FindingList findings("agent_run");
  const auto approved = json::boolean(root, "approved");
  const auto status = decision_in(root, "status", findings);
  const auto decision = decision_in(root, "decision", findings);
  const auto contradicts = [](std::optional<bool> one, std::optional<bool> other) {
    return one && other && *one != *other;
  };
  if (contradicts(approved, status) || contradicts(status, decision))
    findings.error("S61", "/status", "status contradicts the other members, so nothing is decided",
                   {.found = std::string(*json::text(root, "status"))});
  else if (contradicts(approved, decision))
    findings.error("S61", "/decision", "decision contradicts approved, so nothing is decided",
                   {.found = std::string(*json::text(root, "decision"))});
  return findings.take();
}

Findings check_gate_state(const Value& root) {
  FindingList findings("agent_run");
  for (const auto& member : root.GetObject())
    if (const auto text = json::text(member.value); text && is_truth_word(upper(*text)))
      findings.error("S70", member_pointer("", json::name(member.name)),
                     "only true opens a gate, not the text " + quoted_word(*text),
                     {.found = json::quote(*text), .expected = "true or false"});
  return findings.take();
}

Findings check_report(const Value& root, const RunFile& run_file) {
  return ReportCheck(root, run_file).run();
}

Findings check_run_state(const Value& root, const RunFile& run_file) {
  return RunStateCheck(root, run_file).run();
}

}  // namespace baton::agent_run
