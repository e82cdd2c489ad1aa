// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "dialects/fsm_loop/verdict.h"
#include "dialects/fsm_parts.h"

namespace baton::fsm_loop {

using baton::testing::loop_from;

namespace {

constexpr const char* kEnds =
    "  s1: {terminal: true}\n  s2: {terminal: true}\n  s3: {terminal: true}\n";

Loop loop_with(const std::string& state, const std::string& top = "max_steps: 50") {
  return loop_from("name: t\ninitial: a\n" + top + "\nstates:\n  a: {action: x, " + state + "}\n" +
                   kEnds);
}

Verdict verdict_named(std::string name) {
  Verdict verdict;
  verdict.name = std::move(name);
  verdict.details = Json::object();
  return verdict;
}

Transition transition_of(const Loop& loop, const Verdict& verdict, int exit_code = 0) {
  ActionResult action;
  action.exit_code = exit_code;
  const Json result = Json::object({{"verdict", verdict.name}, {"details", verdict.details}});
  Values values;
  values.result = &*result;
  return transition_for(loop, *loop.state("a"), verdict, &action, values);
}

}  // namespace

TEST_CASE("route: the word itself, then the words for the rest") {
  struct Case {
    const char* state;
    const char* verdict;
    const char* to;  ///< empty: there is no way
  };
  for (const Case& row : {
           Case{"route: {yes: s1, no: s2}", "yes", "s1"},
           Case{"route: {yes: s1, no: s2}", "no", "s2"},
           Case{"route: {yes: s1, no: s2}", "error", ""},
           Case{"route: {yes: s1, no: s2}", "blocked", ""},
           Case{"route: {success: s1, failure: s2}", "yes", "s1"},
           Case{"route: {success: s1, failure: s2}", "no", "s2"},
           Case{"route: {yes: s1, no: s2}", "success", "s1"},
           // Spelled exactly so goes first.
           Case{"route: {success: s1, yes: s2}", "yes", "s2"},
           Case{"route: {success: s1, yes: s2}", "success", "s1"},
           // _ and _error.
           Case{"route: {yes: s1, _: s2}", "no", "s2"},
           Case{"route: {yes: s1, _: s2}", "error", "s2"},
           Case{"route: {yes: s1, _error: s2}", "error", "s2"},
           Case{"route: {yes: s1, _error: s2}", "error_uncertain", "s2"},
           Case{"route: {yes: s1, _error: s2}", "no", "s2"},
           Case{"route: {yes: s1, _error: s2}", "blocked", ""},
           Case{"route: {yes: s1, _: s2, _error: s3}", "no", "s2"},
           Case{"route: {error: s1, _error: s2, _: s3}", "error", "s1"},
           Case{"route: {yes: s1, _else: s2}", "blocked", ""},
           // Own words.
           Case{"route: {ship: s1, yes_uncertain: s2, _: s3}", "ship", "s1"},
           Case{"route: {ship: s1, success_uncertain: s2, _: s3}", "yes_uncertain", "s2"},
           Case{"route: {ship: s1, _: s3}", "", "s3"},
           // Shorthand is never asked beside a route.
           Case{"route: {yes: s1}, on_no: s2, on_error: s3", "no", ""},
           Case{"route: {yes: s1}, on_error: s3", "error", ""},
           // Shorthand.
           Case{"on_yes: s1, on_no: s2, on_error: s3", "yes", "s1"},
           Case{"on_yes: s1, on_no: s2, on_error: s3", "failure", "s2"},
           Case{"on_success: s1, on_failure: s2", "no", "s2"},
           Case{"on_yes: s1, on_error: s3", "error", "s3"},
           Case{"on_yes: s1, on_error: s3", "no", "s3"},
           Case{"on_yes: s1, on_error: s3", "error_uncertain", "s3"},
           Case{"on_yes: s1, on_no: s2", "error", ""},
           Case{"on_yes: s1, on_partial: s2, on_blocked: s3", "partial", "s2"},
           Case{"on_yes: s1, on_partial: s2, on_blocked: s3", "blocked", "s3"},
           Case{"on_target: s1, on_progress: $current, on_stall: s2", "stall", "s2"},
           Case{"on_target: s1, on_progress: $current, on_stall: s2", "progress", "a"},
           Case{"on_anything: s1, on_yes: s2", "anything", "s1"},
           Case{"on_yes: s1, on_error: s3", "partial", ""},
           Case{"on_yes: s1, on_error: s3", "yes_uncertain", ""},
       }) {
    CAPTURE(row.state);
    CAPTURE(row.verdict);
    const Transition transition = transition_of(loop_with(row.state), verdict_named(row.verdict));
    CHECK((transition.kind == Transition::Kind::to) == (row.to[0] != '\0'));
    CHECK(transition.to == row.to);
    CHECK((transition.kind == Transition::Kind::to ||
           transition.why.starts_with("No valid transition")));
  }
}

TEST_CASE("D-LL-18: an error goes to _error, even beside _") {
  const Loop loop = loop_with("route: {yes: s1, _: s2, _error: s3}");
  CHECK(transition_of(loop, verdict_named("error")).to == "s3");
  CHECK(transition_of(loop, verdict_named("error_uncertain")).to == "s3");
}

TEST_CASE("D-LL-19: a missing way is an error, also of a maintained loop") {
  const Loop loop = loop_with("on_success: s1, on_maintain: a", "maintain: true");
  Verdict verdict = verdict_named("error");
  verdict.details.set("error", "the action exited with code 9");
  const Transition transition = transition_of(loop, verdict, 9);
  CHECK(transition.kind == Transition::Kind::error);
  CHECK(transition.why.find("code 9") != std::string::npos);
  CHECK(transition.why.find("\"success\"") != std::string::npos);
}

TEST_CASE("a target can be computed, also from the verdict itself") {
  const Loop loop =
      loop_with("route: {pick: '${result.details.next}', back: '${context.self}', _: s1}",
                "context: {self: $current}");
  Verdict verdict = verdict_named("pick");
  verdict.details.set("next", "s2");
  CHECK(transition_of(loop, verdict).to == "s2");

  verdict.details.set("next", "s22");
  const Transition unknown = transition_of(loop, verdict);
  CHECK(unknown.kind == Transition::Kind::error);
  CHECK(unknown.why.find("\"s22\", which does not exist") != std::string::npos);
  CHECK(unknown.why.find("did you mean \"s2\"") != std::string::npos);

  verdict.details.erase("next");
  const Transition missing = transition_of(loop, verdict);
  CHECK(missing.kind == Transition::Kind::error);
  CHECK(missing.why.find("details.next") != std::string::npos);

  Values values;
  values.context = &*loop.context;
  CHECK(transition_for(loop, *loop.state("a"), verdict_named("back"), nullptr, values).to == "a");
}

TEST_CASE("a state that vanished from an edited definition is an error that names it") {
  const Loop old = loop_with("on_yes: s3");
  Loop edited = old;
  edited.states.pop_back();
  const Transition transition = transition_of(edited, verdict_named("yes"));
  CHECK(transition.kind == Transition::Kind::error);
  CHECK(transition.why.find("\"s3\"") != std::string::npos);
}

TEST_CASE("cannot_judge: twice the same state again, then the way for errors, never that for no") {
  struct Case {
    const char* state;
    int undecided;
    const char* to;
  };
  for (const Case& row : {
           Case{"on_yes: s1, on_no: s2, on_error: s3", 1, "a"},
           Case{"on_yes: s1, on_no: s2, on_error: s3", 2, "a"},
           Case{"on_yes: s1, on_no: s2, on_error: s3", 3, "s3"},
           Case{"on_yes: s1, on_no: s2", 3, ""},
           Case{"route: {yes: s1, _: s2, _error: s3}", 3, "s3"},
           Case{"route: {yes: s1, _: s2}", 3, ""},
           Case{"on_yes: s1, on_cannot_judge: s2", 1, "s2"},
           Case{"route: {cannot_judge: s2, _: s1}", 1, "s2"},
       }) {
    CAPTURE(row.state);
    CAPTURE(row.undecided);
    Verdict verdict = verdict_named("cannot_judge");
    verdict.undecided = row.undecided;
    const Transition transition = transition_of(loop_with(row.state), verdict);
    CHECK(transition.to == row.to);
    CHECK((transition.kind == Transition::Kind::to) == (row.to[0] != '\0'));
  }
}

TEST_CASE("an exit code that is not worth a retry goes past it") {
  const std::string codes =
      "on_yes: s1, on_error: a, max_retries: 2, on_retry_exhausted: s2, retryable_exit_codes: [75]";
  const Loop loop = loop_with(codes);
  CHECK(transition_of(loop, verdict_named("error"), 75).to == "a");
  const Transition bypass = transition_of(loop, verdict_named("error"), 2);
  CHECK(bypass.to == "s2");
  CHECK(bypass.reason.empty());
  CHECK(transition_of(loop, verdict_named("error"), 0).to == "a");
  CHECK(transition_of(loop, verdict_named("yes"), 2).to == "s1");
  // Without another way the one for errors is left.
  CHECK(transition_of(loop_with("on_yes: s1, on_error: s3, retryable_exit_codes: [75]"),
                      verdict_named("error"), 2)
            .to == "s3");
}

TEST_CASE("next: the exit code counts only where there is a way for errors") {
  struct Case {
    const char* state;
    const char* top;
    int exit_code;
    Transition::Kind kind;
    const char* to;
  };
  for (const Case& row : {
           Case{"next: s1", "max_steps: 50", 0, Transition::Kind::to, "s1"},
           Case{"next: s1", "max_steps: 50", 2, Transition::Kind::to, "s1"},
           Case{"next: s1, on_error: s2", "max_steps: 50", 2, Transition::Kind::to, "s2"},
           Case{"next: s1, on_error: s2", "max_steps: 50", 1, Transition::Kind::to, "s2"},
           Case{"next: s1, on_error: s2", "max_steps: 50", 124, Transition::Kind::to, "s2"},
           Case{"next: s1, on_error: s2", "max_steps: 50", 0, Transition::Kind::to, "s1"},
           Case{"next: s1, on_error: s2", "max_steps: 50", -9, Transition::Kind::to, "s2"},
           Case{"next: s1", "max_steps: 50", -9, Transition::Kind::stop, ""},
           Case{"next: s1", "exit_code_aware: false", -9, Transition::Kind::to, "s1"},
           Case{"next: s1, on_error: s2", "exit_code_aware: false", 2, Transition::Kind::to, "s1"},
           Case{"next: $current", "max_steps: 50", 0, Transition::Kind::to, "a"},
           Case{"next: '${context.none}'", "max_steps: 50", 0, Transition::Kind::error, ""},
           Case{"next: s1, on_error: a, on_retry_exhausted: s3, retryable_exit_codes: [75]",
                "max_steps: 50", 1, Transition::Kind::to, "s3"},
       }) {
    CAPTURE(row.state);
    CAPTURE(row.exit_code);
    const Loop loop = loop_with(row.state, row.top);
    ActionResult action;
    action.exit_code = row.exit_code;
    const Transition transition = transition_by_next(loop, *loop.state("a"), &action, Values{});
    CHECK(transition.kind == row.kind);
    CHECK(transition.to == row.to);
  }
  const Loop loop = loop_with("next: s1");
  CHECK(transition_by_next(loop, *loop.state("a"), nullptr, Values{}).to == "s1");
}

TEST_CASE("a fault of the loop itself takes the way for errors and no other") {
  struct Case {
    const char* state;
    const char* to;
  };
  for (const Case& row : {Case{"on_yes: s1, on_error: s2", "s2"}, Case{"on_yes: s1, on_no: s2", ""},
                          Case{"route: {_: s1}", ""}, Case{"route: {_: s1, _error: s2}", "s2"},
                          Case{"route: {error: s2, _error: s1}", "s2"},
                          Case{"next: s1, on_error: s2", "s2"}, Case{"next: s1", ""}}) {
    CAPTURE(row.state);
    const Loop loop = loop_with(row.state);
    const Transition transition = transition_after_fault(
        loop, *loop.state("a"), "the placeholder cannot be filled in", Values{});
    CHECK(transition.to == row.to);
    CHECK(transition.kind == (row.to[0] == '\0' ? Transition::Kind::error : Transition::Kind::to));
    CHECK(transition.reason == (row.to[0] == '\0' ? "" : "action_error"));
    CHECK(transition.why == (row.to[0] == '\0' ? "the placeholder cannot be filled in" : ""));
  }
}

}  // namespace baton::fsm_loop
