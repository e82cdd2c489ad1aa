// The commands that change what happens: pause, resume, stop, retry, approve, reject, answer, skip,
// forget, drain, reload.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "cli/commands/wait.h"
#include "cli/submit_request.h"
#include "engine/engine.h"
#include "io/files/lock.h"
#include "workspace/command.h"
#include "workspace/config_warnings.h"
#include "workspace/context.h"
#include "workspace/environment.h"
#include "workspace/options.h"
#include "workspace/other_daemons.h"
#include "workspace/output.h"
#include "workspace/rehearsal.h"

namespace baton {
namespace {

struct ControlWish {
  Places places;
  Word verb;
  std::string flow;
  Subject subject;
  Json arguments = Json::object();
  bool all = false;
  bool no_wait = false;
  bool wait = false;             ///< for the flow's end
  std::string max_steps;         ///< of a loop
  std::vector<std::string> set;  ///< of a loop
  bool redo = false;             ///< of a loop

  bool for_a_loop() const { return !max_steps.empty() || !set.empty() || redo; }
};

Result<void> add_loop_words(const ControlWish& wish, Request& request) {
  if (!wish.set.empty()) {
    auto all = settings(wish.set, true);
    if (!all)
      return pass_on(all);
    request.arguments.set("set", *all);
  }
  if (wish.redo)
    request.arguments.set("redo", true);
  return add_max_steps(wish.max_steps, request);
}

Request request_of(const ControlWish& wish, const FlowId& flow) {
  Request request;
  request.verb = wish.verb;
  request.flow = flow;
  request.subject = wish.subject;
  request.arguments = wish.arguments;
  request.by = asked_by();
  return request;
}

ExitCode control(const ControlWish& wish, const Context& context, const FlowId& flow) {
  Request request = request_of(wish, flow);
  if (wish.for_a_loop() && flow.dialect != "fsm_loop")
    return complain(Error{Errc::usage,
                          "--max-steps, --set and --redo are for loops; " + text(flow) + " is none",
                          ""});
  if (auto added = add_loop_words(wish, request); !added)
    return complain(added.error());
  const ExitCode code = submit(context, request, !wish.no_wait);
  return wish.wait && code == ExitCode::fine ? await_end(wish.places, context.root(), flow) : code;
}

/// Where the root itself is away, nobody knows which of its files are gone: when it is back, what
/// was forgotten would be started anew.
Result<void> can_forget(const ControlWish& wish, const Context& context) {
  std::error_code error;
  if (wish.verb != "forget")
    return {};
  const bool there = std::filesystem::is_directory(context.root(), error);
  if (there && !std::filesystem::is_empty(context.root(), error))
    return {};
  if (there)
    return fail(
        Errc::io,
        "is an empty folder, as a mount point without its volume is; nothing was forgotten. "
        "If all of it is really gone, put any file there and say it again",
        context.root());
  return fail(Errc::io,
              "is not there, so nobody can say which of its files are gone; nothing was forgotten, "
              "say it again when it is back",
              context.root());
}

ExitCode control_roots(const ControlWish& wish, const Context& asked) {
  const Context context = with_all_roots(asked);
  ExitCode code = ExitCode::fine;
  std::vector<Context> each = context.each();
  std::erase_if(each, [&](const Context& on_root) {
    const auto can = can_forget(wish, on_root);
    if (!can)
      code = graver(code, complain(can.error()));
    return !can;
  });
  code = graver(code, submit(each, request_of(wish, FlowId{}), !wish.no_wait));
  for (const std::string& root : asked.missing_roots())
    if (std::find(context.roots().begin(), context.roots().end(), root) == context.roots().end())
      code =
          graver(code, complain(Error{Errc::io, "is not there, and nothing was done to it", root}));
  return code;
}

ExitCode control(const ControlWish& wish) {
  // One typo must not take away the way to stop what runs.
  const auto context = Context::open_anyway(wish.places);
  if (!context)
    return complain(context.error());
  if (wish.flow.empty())
    return control_roots(wish, *context);
  const auto roots = rehearse(*context);
  if (!roots)
    return complain(roots.error());
  const auto place = choose_flow(wish.flow, *roots);
  if (!place)
    return complain(place.error());
  const Context& on_root = (*roots)[place->root].context;
  if (const auto can = can_forget(wish, on_root); !can)
    return complain(can.error());
  return control(wish, on_root, place->flow);
}

/// Asks each daemon once what is meant for all its roots. Nothing when there is no daemon.
std::optional<ExitCode> ask_daemons(const ControlWish& wish, const Context& context) {
  std::set<std::int64_t> asked;
  ExitCode code = ExitCode::fine;
  for (const Context& on_root : with_all_roots(context).each()) {
    const auto state = on_root.state_folder();
    if (!state && state.error().code != Errc::not_found)
      code = graver(code, complain(state.error()));
    else if (state && daemon_lives(*state) && asked.insert(lock_holder(*state).pid).second)
      code = graver(code, control(wish, on_root, FlowId{}));
  }
  return asked.empty() && code == ExitCode::fine ? std::nullopt : std::optional(code);
}

ExitCode drain(const ControlWish& wish) {
  const auto context = Context::open_anyway(wish.places);
  if (!context)
    return complain(context.error());
  if (const auto code = ask_daemons(wish, *context))
    return *code;
  print("no daemon serves this root: there is nothing to drain\n");
  return finish();
}

ExitCode reload(const ControlWish& wish) {
  // A daemon says itself what is wrong with the file.
  auto context = Context::open_to_examine(wish.places);
  if (!context)
    context = Context::open_anyway(wish.places);
  if (!context)
    return complain(context.error());
  if (const auto code = ask_daemons(wish, *context))
    return *code;
  // Nobody reads it now; but who changed it wants to know whether it is good.
  for (const std::string& fault : context->faults())
    complain(fault);
  if (!context->broken_configuration().empty())
    return ExitCode::usage;
  std::size_t remarks = 0;
  for (const Context& on_root : context->each()) {
    if (const auto rehearsal = Rehearsal::of_root(on_root, {.as_daemon = true}); !rehearsal)
      return complain(rehearsal.error());
    const auto setup = on_root.setup(on_root.root());
    if (!setup)
      return complain(setup.error());
    for (const std::string& remark : config_warnings(on_root, *setup)) {
      warn_once(remark);
      ++remarks;
    }
  }
  print(std::string("no daemon serves this root: there is nothing to reload; the configuration ") +
        (remarks == 0 ? "is good\n" : "can be used but for that\n"));
  return finish();
}

void common(Options& options, ControlWish& wish) {
  options.flag("--no-wait", wish.no_wait, "Do not wait for the daemon's answer");
  options.places(wish.places);
}

/// Of those after which a flow goes on.
void waiting(Options& options, ControlWish& wish) {
  options.flag("--wait", wish.wait, kWaitHelp);
}

/// `--wait` needs one flow, and an answer first.
bool contradicts_itself(const ControlWish& wish) {
  if (!wish.wait || (!wish.all && !wish.no_wait))
    return false;
  complain(wish.all ? "--wait is for one flow, not for --all"
                    : "--wait and --no-wait exclude each other");
  return true;
}

/// pause, resume, stop: of a flow, or of all roots.
ExitCode flow_or_all(Words words, const Word& verb, const std::string& description) {
  ControlWish wish;
  wish.verb = verb;
  Options options(verb, description, kSubmitExits);
  options.word("FLOW", wish.flow, "dialect/name, or a unique name", false);
  options.flag("--all", wish.all, "All roots of the configuration, or the one --root names");
  if (verb == "resume") {
    options.value("--max-steps", wish.max_steps, "N",
                  "Loops: how many states may be entered in all, from now on");
    options.values("--set", wish.set, "NAME=JSON",
                   "Loops: another value of a variable, where what is no JSON is a text");
    options.flag("--redo", wish.redo,
                 "Loops: carry out an action again whose end is known, and whose verdict is not");
    waiting(options, wish);
  }
  common(options, wish);
  if (const auto over = options.parse(words))
    return *over;
  if (contradicts_itself(wish))
    return ExitCode::usage;
  if (wish.all && wish.for_a_loop()) {
    complain("--max-steps, --set and --redo are for one loop, not for --all");
    return ExitCode::usage;
  }
  if (wish.all == !wish.flow.empty()) {
    complain(wish.all ? "a FLOW and --all exclude each other"
                      : "which flow? name one, or say --all");
    return ExitCode::usage;
  }
  return control(wish);
}

/// Whether the run that calls is of a role whose word counts as a person's.
bool agent_may_decide(const Places& places) {
  const auto context = Context::open_anyway(places);
  const AgentConfig* const agent =
      context ? agent_for(context->config(), variable("BATON_ROLE")) : nullptr;
  return agent != nullptr && agent->may_decide;
}

/// A person's word: approve, reject, answer.
ExitCode decision(Words words, const Word& verb, const std::string& description) {
  ControlWish wish;
  wish.verb = verb;
  std::string comment;
  Options options(verb, description, kSubmitExits);
  options.word("FLOW", wish.flow, "dialect/name, or a unique name");
  options.word("SUBJECT", wish.subject, "Only this part of it: a group, a step", false);
  options.value("--comment", comment, "TEXT", "What the next agent is told");
  waiting(options, wish);
  common(options, wish);
  if (const auto over = options.parse(words))
    return *over;
  if (contradicts_itself(wish))
    return ExitCode::usage;
  if (!variable("BATON_RUN_ID").empty() && !agent_may_decide(wish.places)) {
    complain(
        "an agent cannot answer for a person (BATON_RUN_ID is set), unless `may_decide: true` "
        "stands "
        "with its role in baton.yaml");
    return ExitCode::failed;
  }
  if (!comment.empty())
    wish.arguments.set("comment", Json(comment));
  return control(wish);
}

}  // namespace

ExitCode pause_command(Words words) {
  return flow_or_all(
      words, "pause",
      "Starts nothing more for a flow, or for the root; agents that run may finish.\n"
      "Holds until `baton resume`, also over restarts.");
}

ExitCode resume_command(Words words) {
  return flow_or_all(words, "resume",
                     "Goes on with a flow, or with the root, after a pause, a stop, a limit or a\n"
                     "failure. Without a daemon it is recorded for the next one.");
}

ExitCode stop_command(Words words) {
  return flow_or_all(words, "stop",
                     "Ends the agents of a flow, or of the root, with their whole process trees:\n"
                     "TERM, a grace, KILL. Nothing is started until `baton resume`. Without a\n"
                     "daemon it waits until they have ended.");
}

ExitCode retry_command(Words words) {
  ControlWish wish;
  wish.verb = "retry";
  Options options("retry",
                  "Forgets the ended attempts of a flow in its present stages, so that they are\n"
                  "made again: after failures, an interruption, or an agent that left the stage\n"
                  "as it was.",
                  kSubmitExits);
  options.word("FLOW", wish.flow, "dialect/name, or a unique name");
  options.word("SUBJECT", wish.subject, "Only this part of it", false);
  waiting(options, wish);
  common(options, wish);
  if (const auto over = options.parse(words))
    return *over;
  if (contradicts_itself(wish))
    return ExitCode::usage;
  return control(wish);
}

ExitCode answer_command(Words words) {
  return decision(words, "answer",
                  "Answers what a flow asks a person; `baton status` says what it waits for. Its\n"
                  "next agent is told the comment. Not for agents: refused inside a run.");
}

ExitCode approve_command(Words words) {
  return decision(
      words, "approve",
      "Lets a flow go on that waits for a person's approval; `baton status` says which\n"
      "does. Not for agents: refused inside a run.");
}

ExitCode reject_command(Words words) {
  return decision(words, "reject",
                  "Refuses what a flow waits to have approved: the work goes back, or has failed.\n"
                  "The next agent is told the comment. Not for agents: refused inside a run.");
}

ExitCode revise_command(Words words) {
  return decision(words, "revise",
                  "Asks for changes to what a flow waits to have approved. The next agent is told\n"
                  "the comment. Not for agents: refused inside a run.");
}

ExitCode skip_command(Words words) {
  return decision(
      words, "skip",
      "Leaves out a step of a workflow that has not begun or has failed; what needs it\n"
      "may begin. Not for agents: refused inside a run.");
}

ExitCode forget_command(Words words) {
  ControlWish wish;
  wish.verb = "forget";
  Options options("forget",
                  "Drops everything that is known of a flow: stages, runs, history of decisions.\n"
                  "Refused while its files are there or its agents run; but the files of a loop\n"
                  "(ccw_loop) that is not running are put away first, below `.forgotten` in its\n"
                  "folder.",
                  kSubmitExits);
  bool gone = false;
  options.word("FLOW", wish.flow, "dialect/name, or a unique name", false);
  options.flag("--gone", gone, "Every flow all of whose files are gone; on all roots");
  common(options, wish);
  if (const auto over = options.parse(words))
    return *over;
  if (gone == !wish.flow.empty()) {
    complain(gone ? "a FLOW and --gone exclude each other"
                  : "which flow? name one, or say --gone for those whose files are gone");
    return ExitCode::usage;
  }
  return control(wish);
}

ExitCode drain_command(Words words) {
  ControlWish wish;
  wish.verb = "drain";
  Options options(
      "drain",
      "Tells the daemon to start nothing more on any of its roots and to end, with exit\n"
      "code 0, when its last agent has. A daemon that starts after that knows nothing of it.",
      kSubmitExits);
  common(options, wish);
  if (const auto over = options.parse(words))
    return *over;
  return drain(wish);
}

ExitCode reload_command(Words words) {
  ControlWish wish;
  wish.verb = "reload";
  Options options(
      "reload",
      "Tells the daemon to read its configuration again, for all its roots. A bad one\n"
      "is refused, and the old one stays in force. Of a good one it says which programs,\n"
      "prompts and roles cannot be used. Without a daemon it is checked.",
      kSubmitExits);
  common(options, wish);
  if (const auto over = options.parse(words))
    return *over;
  return reload(wish);
}

}  // namespace baton
