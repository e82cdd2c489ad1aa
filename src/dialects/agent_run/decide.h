#pragma once

// The parts of one decision about a run, in order: answer people, bring the record up to date
// (advance), apply the cost limit, choose the steps that may start. All change the snapshot's
// record and memo; the caller writes the result.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "dialects/agent_run/reports.h"
#include "dialects/agent_run/snapshot.h"

namespace baton::agent_run {

/// What a person decided about a waiting step. The comment may be empty.
struct Verdict {
  bool approved = false;
  std::string comment;
  bool operator==(const Verdict&) const = default;
};

/// Reads a manual input. Nothing when it decides nothing or contradicts itself.
std::optional<Verdict> verdict_of(const Value& input);

/// One word of a decision, in any case: true approves, false rejects.
std::optional<bool> decision_word(std::string_view word);

/// Updates the record: agents that began or ended, decisions of people, gate failures that send
/// work back. Adds notices, moves of files and the next wake-up to the decision.
void advance(Snapshot& snapshot, Decision& decision);

/// Applies the decision of a person to a waiting step.
void apply_verdict(Snapshot& snapshot, const Step& step, const Verdict& verdict,
                   Decision& decision);

/// Back to PENDING; the traces of the last start are cleared.
void make_pending(StepRecord& record);

void fail_for_good(Snapshot& snapshot, const Step& step, std::string_view code,
                   const std::string& text, Decision& decision);

/// An attempt has failed: schedule the next one, or fail the step.
void fail_attempt(Snapshot& snapshot, const Step& step, std::string_view code,
                  const std::string& text, Decision& decision);

/// Chooses the steps that may start, says what holds the others, and sets the status of the run.
/// `items_read`: steps whose items were read before this round.
void plan_next_steps(Snapshot& snapshot, const std::vector<std::string>& items_read,
                     Decision& decision);

/// The steps whose items must be read from a file.
std::vector<std::string> steps_wanting_items(const Snapshot& snapshot);

/// Carries out approve, reject, answer, skip or retry. Nothing when the engine must answer: `retry`
/// without a failed step.
std::optional<Reply> answer_request(Snapshot& snapshot, const Request& request, Decision& decision);

/// Adds the cost and tokens of a report to the day and to the run: `cost_usd` (number or text),
/// `total_tokens` or else `input_tokens` and `output_tokens`.
void add_cost(Snapshot& snapshot, const Run& run, const Report& report, Decision& decision);

/// Path of the daily statistics that agents of the original keep, relative to the root.
std::string daily_stats(const Snapshot& snapshot);

/// Why no agent may start today; empty below the limit. The larger of the run's reports and the
/// daily statistics counts.
std::string over_budget(const Snapshot& snapshot);

/// Applies the cost limit. True: nothing may start.
bool apply_cost_limit(Snapshot& snapshot, Decision& decision);

/// The prompt file's text, and the environment of the original (format page).
Brief brief(const View& view, const Desired& desired);

}  // namespace baton::agent_run
