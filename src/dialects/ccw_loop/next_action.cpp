// SPDX-License-Identifier: Apache-2.0
#include "dialects/ccw_loop/next_action.h"

#include <algorithm>

#include "base/text.h"

namespace baton::ccw_loop {

namespace {

NextAction act(Action action, std::string why) {
  return NextAction{NextAction::Kind::act, action, std::move(why)};
}

std::string tasks(std::int64_t count, const char* what) {
  return std::to_string(count) + (count == 1 ? " task is " : " tasks are ") + what;
}

/// Whether this kind of work was done after the others. Work without a time is the oldest. Of two
/// equal times, the time of the last action is the later one.
bool later(const std::optional<Time>& time, const std::optional<Time>& others, Action action,
           const RunHistory& history) {
  if (time && time == others && history.done == action)
    return true;
  return history.newest ? time && history.newest == action : time > others;
}

/// A6: the last work was a validation that has not passed.
NextAction after_failed_validation(const Loop& loop, const Options& options) {
  if (!loop.work.no_tests)
    return act(Action::debug, "the last validation has not passed");
  const std::string why = "the last validation ran no test";
  if (options.no_tests == NoTests::pass)
    return act(Action::complete, why + ", which counts as passed (no_tests: pass)");
  return NextAction{NextAction::Kind::no_tests, Action::validate, why};
}

NextAction debug_again(const Options& options, std::uint32_t debugged_in_a_row) {
  if (debugged_in_a_row >= options.max_debug)
    return NextAction{NextAction::Kind::stuck, Action::debug,
                      std::to_string(debugged_in_a_row) +
                          " debugging actions in a row have confirmed no hypothesis"};
  return act(Action::debug, "no hypothesis with evidence is left");
}

/// Whether a proposal may replace rows A5 to A8. An executor cannot propose the end of the loop.
bool acceptable(const Loop& loop, const Options& options, std::uint32_t debugged_in_a_row,
                Action proposal) {
  if (proposal == Action::init || proposal == Action::complete)
    return false;
  if (proposal == Action::debug && debugged_in_a_row >= options.max_debug)
    return false;
  return obstacle(loop, proposal).empty();
}

}  // namespace

NextAction next_action(const Loop& loop, const Options& options, const RunHistory& history) {
  const Work& work = loop.work;
  if (loop.skill == nullptr)
    return act(Action::init, "the loop has no skill_state yet");
  const bool validated_last =
      later(work.validated, std::max(work.developed, work.debugged), Action::validate, history);
  if (work.passed && validated_last && work.open() == 0)
    return act(Action::complete, "the validation has passed and no task is open");
  if (options.on_max_iterations != AtLimit::ignore &&
      static_cast<double>(loop.iteration) >= loop.max_iterations)
    return NextAction{
        NextAction::Kind::limit, Action::complete,
        "max_iterations (" + json::dump(member(*loop.root, "max_iterations")) + ") reached"};
  if (history.proposed && acceptable(loop, options, history.debugged_in_a_row, *history.proposed))
    return act(*history.proposed, "the last executor proposed it (NEXT_ACTION_NEEDED)");
  if (work.pending > 0)
    return act(Action::develop, tasks(work.pending, "pending"));
  if (work.in_progress > 0)
    return act(Action::develop, tasks(work.in_progress, "in progress without a running executor"));
  if (validated_last)
    return after_failed_validation(loop, options);
  if (later(work.debugged, std::max(work.developed, work.validated), Action::debug, history)) {
    if (work.confirmed)
      return act(Action::validate, "a hypothesis is confirmed");
    if (work.undecided)
      return debug_again(options, history.debugged_in_a_row);
  }
  return act(Action::validate, "the last work is not validated");
}

std::string obstacle(const Loop& loop, Action action) {
  const bool begun = loop.skill != nullptr;
  switch (action) {
    case Action::init:
      return begun ? "the loop has its skill_state already" : "";
    case Action::develop:
      return loop.work.open() > 0 ? "" : "no task is pending";
    case Action::debug:
    case Action::complete:
      return begun ? "" : "the loop has no skill_state yet";
    case Action::validate:
      return loop.work.completed > 0 || loop.work.confirmed
                 ? ""
                 : "no task is completed and no hypothesis confirmed";
  }
  return "";
}

namespace {

/// Spaces and Markdown that executors put around words.
constexpr std::string_view kDecoration = " \t\r*`";

constexpr std::string_view kHead = "ACTION_RESULT:";
constexpr std::string_view kNext = "NEXT_ACTION_NEEDED:";

/// Reads a bullet such as `- status: success`.
void read_bullet(std::string_view line, ResultBlock& block) {
  if (!line.starts_with("- "))
    return;
  line.remove_prefix(2);
  const auto colon = line.find(':');
  if (colon == std::string_view::npos)
    return;
  const std::string_view name = trimmed(line.substr(0, colon), kDecoration);
  const std::string value(trimmed(line.substr(colon + 1), kDecoration));
  if (name == "action")
    block.action = value;
  else if (name == "status")
    block.status = value;
  else if (name == "message")
    block.message = value;
}

}  // namespace

ResultBlock result_block(std::string_view output) {
  ResultBlock block;
  while (!output.empty()) {
    const auto end = output.find('\n');
    const std::string_view line = trimmed(output.substr(0, end), kDecoration);
    output.remove_prefix(end == std::string_view::npos ? output.size() : end + 1);
    if (line.starts_with(kHead)) {
      block = ResultBlock{};
      block.found = true;
      block.next = "NONE";
    } else if (block.found && line.starts_with(kNext)) {
      block.next = trimmed(line.substr(kNext.size()), kDecoration);
    } else if (block.found) {
      read_bullet(line, block);
    }
  }
  return block;
}

std::optional<Action> proposed(const ResultBlock& block) {
  const std::string& word = block.next;
  const bool upper =
      std::all_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  return upper ? parse_action(lower(word)) : std::nullopt;
}

}  // namespace baton::ccw_loop
