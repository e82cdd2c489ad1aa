#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "dialects/agent_run/reports.h"
#include "dialects/agent_run/snapshot.h"

namespace baton::agent_run {

/// A person's word on a waiting step. The comment may be empty.
struct Verdict {
  bool approved = false;
  std::string comment;
  bool operator==(const Verdict&) const = default;
};

/// What a manual input says. Nothing when it says nothing or contradicts itself.
std::optional<Verdict> verdict_of(const Value& input);

/// What one word says, in any case: true approves, false rejects.
std::optional<bool> decision_word(std::string_view word);

/// Brings the record of a run up to what has happened: agents that began or ended, decisions of
/// people, gate failures that send the work back. Changes the scene's record and memo; adds files
/// to be moved, what is to be said, and when to look again to the decision.
void progress(Scene& scene, Decision& decision);

/// A person's word on a waiting step.
void settle(Scene& scene, const Step& step, const Verdict& verdict, Decision& decision);

/// The step is to be started anew: what its last start has left is not this start's.
void again(StepRecord& record);

void fail_for_good(Scene& scene, const Step& step, std::string_view code, const std::string& text,
                   Decision& decision);

/// An attempt has come to nothing: the next one, or the step has failed.
void fail_attempt(Scene& scene, const Step& step, std::string_view code, const std::string& text,
                  Decision& decision);

/// Which steps may begin, and what keeps the others; sets the status of the run as a whole.
/// `asked`: the steps whose items were looked for before this deciding.
void route(Scene& scene, const std::vector<std::string>& asked, Decision& decision);

/// The steps whose items have to be looked for.
std::vector<std::string> wanting_items(const Scene& scene);

/// Does what a person says by command: approve, reject, answer, skip, retry. Nothing when it is the
/// engine's to deal with: `retry` where no step has failed.
std::optional<Reply> heard(Scene& scene, const Request& request, Decision& decision);

/// What a report says of its start: `cost_usd` of its metrics, a number or one written as a text,
/// goes to the day's cost, and with `total_tokens` (else `input_tokens` and `output_tokens`) to the
/// run.
void add_cost(Scene& scene, const Run& run, const Report& report, Decision& decision);

/// The day's statistics that the original's agents keep, relative to the root.
std::string daily_stats(const Scene& scene);

/// Why nothing more may be started today; empty while the limit is not reached. What the run's own
/// reports say counts, or the day's statistics where they say more.
std::string over_budget(const Scene& scene);

/// Deals with a run that has reached the limit. True: nothing is to be started.
bool settle_cost(Scene& scene, Decision& decision);

}  // namespace baton::agent_run
