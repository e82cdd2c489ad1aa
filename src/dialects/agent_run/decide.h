// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of one decision about a run, in order: answer people, bring the record up to date
// (advance), apply the cost limit, choose the steps that may start. All of them change the record
// and the memo of the snapshot. The caller writes the result.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "dialects/agent_run/snapshot.h"

namespace baton::agent_run {

// Reads the reports of agents and finds the report of an ended start. Some agents print the report
// instead of writing the file; then it comes from their output.

/// The content of a report.
struct Report {
  bool completed = false;
  bool gate_failure = false;
  std::string ended_at;
  Json artifacts = Json::array();  ///< relative to the repository if they are inside it
  Json metrics = Json::object();
  Json logs = Json::array();
  Json memory_updates;               ///< null: none
  std::vector<std::string> outside;  ///< artifacts outside the repository
};
/// The document must have passed its schema.
Report report_of(const Snapshot& snapshot, const Value& root);

/// The first and the last lines of the logs, for messages.
std::string first_line(const Report& report);
std::string last_lines(const Report& report);

/// The report of an ended start, or the reason why there is none.
struct FoundReport {
  enum class Kind {
    none,     ///< no report, and none will come
    waiting,  ///< it may still arrive: look again at `look_again`
    written,  ///< the agent printed it; `file` writes it to its place
    invalid,  ///< see `why`
    valid,    ///< see `report`
  };
  Kind kind = Kind::none;
  std::string why;
  Time look_again{};
  std::optional<Update> file;
  Report report;
};
/// The RUNNING steps whose agents have ended. baton reads their reports even if no event arrived.
std::vector<std::string> steps_wanting_reports(const Snapshot& snapshot);
FoundReport find_report(const Snapshot& snapshot, const Step& step, const Run& run);

/// The report of a running agent. Empty unless it is valid and belongs to this start.
std::optional<Report> early_report(const Snapshot& snapshot, const Step& step, const Run& run);

/// The text between the last lines `<<<RUN_REPORT_JSON` and `RUN_REPORT_JSON>>>` of the output, or
/// of the texts in its events.
std::optional<std::string> report_in_output(std::string_view output);

/// What a person decided about a waiting step. The comment may be empty.
struct Verdict {
  bool approved = false;
  std::string comment;
  bool operator==(const Verdict&) const = default;
};

/// Reads a manual input. Empty if it decides nothing or contradicts itself.
std::optional<Verdict> verdict_of(const Value& input);

/// Reads one word of a decision, in upper or lower case: true approves, false rejects. Empty for
/// other words.
std::optional<bool> decision_word(std::string_view word);

/// Updates the record: agents that began or ended, decisions of people, gate failures that send
/// work back. Adds notices, moves of files and the next wake-up to the decision.
void advance(Snapshot& snapshot, Decision& decision);

/// Applies the decision of a person to a waiting step.
void apply_verdict(Snapshot& snapshot, const Step& step, const Verdict& verdict,
                   Decision& decision);

/// Puts the step back to PENDING and clears the traces of its last start.
void make_pending(StepRecord& record);

void fail_for_good(Snapshot& snapshot, const Step& step, std::string_view code,
                   const std::string& text, Decision& decision);

/// Handles a failed attempt: schedules the next one, or fails the step.
void fail_attempt(Snapshot& snapshot, const Step& step, std::string_view code,
                  const std::string& text, Decision& decision);

// A parallel loop. Its items are planned as steps of their own, `ID.1`, `ID.2` ..., each with its
// record, its attempts and its report. The step itself is RUNNING meanwhile, and starts no agent.

/// Begins the items of a parallel loop anew. They have been read.
void begin_items(Snapshot& snapshot, const Step& step);
/// Ends a RUNNING step when all its items are done, or one of them has failed.
void advance_items(Snapshot& snapshot, const Step& step, Decision& decision);
/// Leaves out the items of parallel loops that are not under way any more.
void leave_out_items(Snapshot& snapshot);
/// Whether one more item of the same loop may begin.
bool has_place(const Snapshot& snapshot, const Step& item, const Decision& decision);
/// Lets a failed parallel loop go on with what it has not done: items that failed have their
/// attempts again. With an item, only that one.
void resume_items(Snapshot& snapshot, const Step& step);

/// Completes a step, or lets it wait for a person.
void finish(Snapshot& snapshot, const Step& step, const Report& report, Decision& decision);
/// Handles a failed gate: sends the work back, or fails the step after the last loop-back.
void fail_gate(Snapshot& snapshot, const Step& step, const std::string& why, Decision& decision);

/// Chooses the steps that may start, says what holds the others, and sets the status of the run.
/// `items_read`: the steps whose items baton read before this round.
void plan_next_steps(Snapshot& snapshot, const std::vector<std::string>& items_read,
                     Decision& decision);

/// Says how the run stands by its record: done, failed, cancelled, or under way. The holds of the
/// decision must be complete.
void take_standing(const Snapshot& snapshot, Decision& decision);

/// The steps whose items baton must read from a file.
std::vector<std::string> steps_wanting_items(const Snapshot& snapshot);

/// Carries out approve, reject, answer, skip or retry. Empty if the engine must answer: a `retry`
/// without a failed step.
std::optional<Reply> answer_request(Snapshot& snapshot, const Request& request, Decision& decision);

/// Adds the cost and tokens in a report to the day and to the run. They are `cost_usd` (a number or
/// a text), and `total_tokens` or else `input_tokens` and `output_tokens`.
void add_cost(Snapshot& snapshot, const Run& run, const Report& report, Decision& decision);

/// The path of the daily statistics that agents of the original keep, relative to the root.
std::string daily_stats(const Snapshot& snapshot);

/// Why no agent may start today. Empty below the limit. The cost is that of the run's reports or
/// that of the daily statistics, whichever is larger.
std::string over_budget(const Snapshot& snapshot);

/// Applies the cost limit. True if nothing may start.
bool apply_cost_limit(Snapshot& snapshot, Decision& decision);

/// The text of the prompt file, and the environment variables of the original (format page).
Brief brief(const View& view, const Desired& desired);

}  // namespace baton::agent_run
