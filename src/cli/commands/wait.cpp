// SPDX-License-Identifier: Apache-2.0

// `baton wait`, and `--wait` of the commands after which a flow goes on.
//
// Problem: a script wants to know how a flow ends, or when it has come to a stage.
// Way: look at the root four times a second, as `baton status` does. The table of conditions
// (core/condition.h) says which conditions end a wait, and how.
// Limits: a look reads files and journal by itself, so it may be a moment ahead of the daemon, or
// read an old daemon.json beside a new journal. Therefore two looks in a row must show the same
// end. An awaited word counts at once, because it may be gone at the next look.

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/submit_request.h"
#include "core/catalog.h"
#include "core/condition.h"
#include "engine/decide/status.h"
#include "io/files/lock.h"
#include "workspace/command.h"
#include "workspace/options.h"
#include "workspace/output.h"
#include "workspace/rehearsal.h"

namespace baton {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kWaitEvery{250};
constexpr std::string_view kAsCondition = "condition:";
constexpr std::string_view kAsStage = "stage:";

/// The word of `--until`, and what it may be.
struct Awaited {
  std::string word;
  std::optional<Condition> condition;
  bool stage = true;        ///< also a declared word
  bool only_stage = false;  ///< given with `stage:`
};

std::vector<std::string> condition_words() {
  std::vector<std::string> words;
  for (const ConditionRow& row : kConditions)
    words.emplace_back(row.word);
  return words;
}

/// Errc::usage: `condition:` with a word that is no condition, or another word before a colon.
Result<Awaited> awaited(const std::string& given) {
  if (given.starts_with(kAsStage))
    return Awaited{given.substr(kAsStage.size()), std::nullopt, true, true};
  const bool only = given.starts_with(kAsCondition);
  if (!only && given.find(':') != std::string::npos)
    return fail(Errc::usage, "--until takes WORD, condition:WORD or stage:WORD, not " +
                                 printable(given, 60) +
                                 "; a stage with a colon is stage:" + printable(given, 60));
  const std::string word = only ? given.substr(kAsCondition.size()) : given;
  const auto condition = parse_condition(word);
  if (!only || condition)
    return Awaited{word, condition, !only};
  const std::vector<std::string> words = condition_words();
  const auto near = nearest(word, words);
  return fail(Errc::usage, "--until: " + printable(word, 60) + " is no condition" +
                               (near ? "; did you mean condition:" + *near + "?"
                                     : "; the conditions are " + join(words, ", ")));
}

bool has_digit(const std::string& word) {
  return word.find_first_of("0123456789") != std::string::npos;
}

/// The words that the flow can have, if they are known.
std::vector<Word> words_of(const FlowId& flow, const Catalog& catalog) {
  const Catalog::Entry* const entry = catalog.entry(flow.dialect);
  return entry == nullptr || entry->dialect->words == nullptr
             ? std::vector<Word>()
             : entry->dialect->words(flow, entry->options);
}

/// Errc::usage: the flow can never come there.
Result<void> can_come(const Awaited& goal, const FlowId& flow, std::vector<Word> words) {
  if (goal.condition || words.empty() ||
      std::find(words.begin(), words.end(), goal.word) != words.end())
    return {};
  // The list has no stages that count, such as `work#2`.
  if (has_digit(goal.word) && std::none_of(words.begin(), words.end(), has_digit))
    return {};
  std::string message = "--until: " + printable(text(flow), 200) + " has no stage or word `" +
                        printable(goal.word, 60) + "`";
  const std::string has = "; it has " + printable(join(words, ", "), 1000);
  if (!goal.only_stage) {
    message += ", and there is no such condition";
    for (std::string& condition : condition_words())
      if (std::find(words.begin(), words.end(), condition) == words.end())
        words.push_back(std::move(condition));
  }
  const auto near = nearest(goal.word, words);
  return fail(Errc::usage,
              message + (near ? "; did you mean `" + printable(*near, 60) + "`?" : has));
}

/// Whether the flow stands there: by its condition, its declared word, or the stage of all its
/// subjects.
bool has_come(const Awaited& goal, const FlowStatus& status, const FlowRecord& record) {
  if (goal.condition == status.cause.condition)
    return true;
  if (!goal.stage)
    return false;
  if (goal.word == status.declared)
    return true;
  bool any = false;
  for (const auto& [subject, state] : record.stages) {
    if (state.stage.empty())
      continue;
    any = true;
    if (state.stage != goal.word)
      return false;
  }
  return any;
}

/// One wait for one flow.
class Wait {
 public:
  /// `until` nothing: the flow's end.
  Wait(std::string flow, std::optional<Awaited> until, std::optional<Millis> most)
      : flow_(std::move(flow)), until_(std::move(until)), most_(most) {}

  /// Looks once. Nothing: go on waiting.
  std::optional<ExitCode> look(const Context& context);
  /// Reports that the time is over; nothing if it is not. `what` was waited for.
  std::optional<ExitCode> over(const std::string& what) const;

 private:
  std::optional<ExitCode> judge(const FlowStatus& status, bool served);
  void tell_pause(const FlowStatus& status);
  void tell_goal(const FlowStatus& status);
  ExitCode is_gone() const;

  std::string flow_;
  std::optional<Awaited> until_;
  std::optional<Millis> most_;
  Steady::time_point began_ = Steady::now();
  bool known_ = false;                 ///< a look has found the flow
  bool absent_ = false;                ///< the last look found none of its files
  std::optional<Cause> last_;          ///< how the flow stood at the last look
  std::string stands_;                 ///< the same for people
  bool told_goal_ = false;             ///< it was reported what is waited for
  std::optional<Condition> notified_;  ///< the pause that was reported
};

/// What the condition says: `fine` and `failed` end the wait.
Outlook outlook_of(const FlowStatus& status) {
  const Outlook waited = row_of(status.cause.condition).waited;
  if (waited != Outlook::by_until)
    return waited;
  return status.until ? Outlook::goes_on : Outlook::failed;
}

/// `blocked (no_change)`.
std::string cause_text(const FlowStatus& status) {
  const std::string_view reason = word(status.cause.reason);
  return std::string(word(status.cause.condition)) +
         (reason.empty() ? "" : " (" + std::string(reason) + ")");
}

std::string why_text(const FlowStatus& status) {
  return status.why.empty() ? "" : ": " + printable(status.why);
}

/// Also says what to do, because the command ends or waits for a person.
std::string told(const FlowStatus& status) {
  return condition_text(status) + why_text(status) +
         (status.action.empty() ? "" : "\ndo: " + printable(status.action));
}

/// A pause, or a cap that ends by itself, may last for long.
void Wait::tell_pause(const FlowStatus& status) {
  const Condition now = status.cause.condition;
  const bool lasts = now == Condition::paused || now == Condition::blocked;
  if (lasts && notified_ != now)
    complain(told(status));
  notified_ = lasts ? std::optional(now) : std::nullopt;
}

/// A word that nothing lists may be mistyped, and the wait for it has no end.
void Wait::tell_goal(const FlowStatus& status) {
  if (until_->condition || std::exchange(told_goal_, true))
    return;
  complain("waiting for the stage or word `" + printable(until_->word, 60) + "` of " +
           printable(text(status.flow), 200) + ", which is " + cause_text(status) + " now");
}

ExitCode Wait::is_gone() const {
  complain(printable(flow_, 200) + " is not there any more");
  return ExitCode::failed;
}

std::optional<ExitCode> Wait::judge(const FlowStatus& status, bool served) {
  const Outlook outlook = outlook_of(status);
  const bool again = std::exchange(last_, status.cause) == status.cause;
  // Without a daemon, nothing can change before the next look.
  const bool sure = again || !served;
  const bool absent = std::exchange(absent_, status.absent) && status.absent;
  if (outlook == Outlook::failed && sure) {
    complain(told(status));
    return ExitCode::failed;
  }
  if (outlook == Outlook::fine && sure && !until_)
    return ExitCode::fine;
  if (absent && until_)
    return is_gone();
  if (!served) {
    complain(condition_text(status) + ", and no daemon serves this root: run `baton run`");
    return ExitCode::unreachable;
  }
  // A failure is told when it is sure.
  if (!until_ && outlook != Outlook::failed)
    tell_pause(status);
  return std::nullopt;
}

std::optional<ExitCode> Wait::look(const Context& context) {
  const auto roots = rehearse(context);
  if (!roots)
    return complain(roots.error());
  const auto place = choose_flow(flow_, *roots);
  if (!place)
    return known_ ? is_gone() : complain(place.error());
  const auto& rehearsal = (*roots)[place->root].rehearsal;
  const FlowRecord& record = rehearsal->records().at(place->flow);
  const FlowStatus status = status_of(record, rehearsal->plan(), rehearsal->root_control());
  known_ = true;
  stands_ = cause_text(status) + why_text(status);
  if (!until_)
    return judge(status, rehearsal->daemon().has_value());
  if (has_come(*until_, status, record))
    return ExitCode::fine;
  const std::vector<Word> words = words_of(place->flow, rehearsal->catalog());
  if (const auto may = can_come(*until_, place->flow, words); !may)
    return complain(may.error());
  const auto code = judge(status, rehearsal->daemon().has_value());
  if (!code && words.empty())
    tell_goal(status);
  return code;
}

std::optional<ExitCode> Wait::over(const std::string& what) const {
  if (!most_ || Steady::now() - began_ < *most_)
    return std::nullopt;
  complain(printable(flow_, 200) + " is not " + printable(what, 60) + " within " +
           duration_text(*most_) + (stands_.empty() ? "" : "; it is " + stands_));
  return ExitCode::timed_out;
}

}  // namespace

std::string condition_text(const FlowStatus& status) {
  return printable(text(status.flow), 200) + " is " + cause_text(status);
}

Result<std::optional<Millis>> time_limit(const std::string& given) {
  if (given.empty())
    return std::nullopt;
  const auto most = parse_duration(given);
  if (!most)
    return fail(Errc::usage, "--timeout takes a duration such as 90s or 10m, not `" +
                                 printable(given, 60) + "`");
  return most;
}

void offer_wait(Options& options, WaitWish& wish) {
  options.flag("--wait", wish.wait,
               "Wait until the flow ends, or until a person has to do something");
  options.value("--timeout", wish.timeout, "TIME",
                "With --wait: give up after this time, such as 90s or 10m (default: never)");
  options.exclude("--wait", {"--no-wait"});
  options.need("--timeout", "--wait");
}

ExitCode await_end(Places places, const std::string& root, const FlowId& flow,
                   std::optional<Millis> most) {
  places.root = root;
  Wait wait(text(flow), std::nullopt, most);
  for (bool first = true;; first = false) {
    const auto context = Context::open_anyway(places);
    if (!context)
      return complain(context.error());
    const auto state = context->state_folder();
    if (!state && state.error().code != Errc::not_found)
      return complain(state.error());
    // A request that is only recorded has changed nothing yet, so there is nothing to judge.
    if (first && (!state || !daemon_lives(*state))) {
      complain("no daemon serves this root, so the flow will not change: run `baton run`");
      return ExitCode::unreachable;
    }
    // The daemon has answered after it committed what it decided and wrote its files
    // (engine/engine.cpp). So this look already sees the result of the request.
    if (const auto code = wait.look(*context))
      return *code;
    if (const auto code = wait.over("done"))
      return *code;
    std::this_thread::sleep_for(kWaitEvery);
  }
}

ExitCode wait_command(Words words) {
  Places places;
  std::string flow;
  std::string until;
  std::string timeout;
  Options options(
      "wait",
      "Waits until a flow is at WORD: a condition (running, waiting, blocked, failed,\n"
      "stopped, paused, done, idle, gone), the status in its files, or the stage of all its\n"
      "subjects. `condition:done` and `stage:done` say which one is meant.",
      {{ExitCode::fine, "the flow is there"},
       {ExitCode::failed,
        "the flow has failed, was stopped or is gone, or a person has to do something first"},
       {ExitCode::usage, "wrong usage or configuration; no such flow, or it never gets there"},
       {ExitCode::unreachable, "no daemon serves the root, so the flow will not get there"},
       {ExitCode::timed_out, "the time of --timeout is over"}});
  options.word("FLOW", flow, "dialect/name, or the name alone if it is unique");
  options.value("--until", until, "WORD", "What to wait for");
  options.value("--timeout", timeout, "TIME",
                "Give up after this time, such as 90s or 10m (default: never)");
  options.places(places);
  if (const auto left = options.parse(words))
    return *left;
  if (until.empty()) {
    complain("--until WORD is missing, for example --until done");
    return ExitCode::usage;
  }
  auto goal = awaited(until);
  if (!goal)
    return complain(goal.error());
  const auto most = time_limit(timeout);
  if (!most)
    return complain(most.error());
  Wait wait(flow, *std::move(goal), *most);
  for (;;) {
    // Open it each time: the configuration may have changed and been reloaded.
    const auto context = Context::open_anyway(places);
    if (!context)
      return complain(context.error());
    if (const auto code = wait.look(*context))
      return *code;
    if (const auto code = wait.over(until))
      return *code;
    std::this_thread::sleep_for(kWaitEvery);
  }
}

}  // namespace baton
