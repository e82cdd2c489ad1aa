// SPDX-License-Identifier: Apache-2.0

// The commands that change what happens: pause, resume, stop, retry, approve, reject, answer, skip,
// forget, drain, reload.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>

#include "base/text.h"
#include "cli/commands/cap_raise.h"
#include "cli/commands/provider_release.h"
#include "cli/commands/retry_all.h"
#include "cli/submit_request.h"
#include "cli/who_asks.h"
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
  std::string only;      ///< retry: flows of this condition
  std::string agent;     ///< resume what waits for the provider of this agent
  std::string provider;  ///< the same for all agents of a provider
  std::string rule;      ///< with `raise`: whose cap
  std::string dialect;   ///< the same
  std::string raise;     ///< KEY=N: resume what waits at this cap
  bool no_wait = false;
  WaitWish wait;                    ///< for the flow's end
  std::string max_steps;            ///< of a loop
  std::vector<std::string> set;     ///< of a loop
  bool redo = false;                ///< of a loop
  bool ignore_unsupported = false;  ///< of a loop

  bool for_a_loop() const {
    return !max_steps.empty() || !set.empty() || redo || ignore_unsupported;
  }
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
  if (wish.ignore_unsupported)
    request.arguments.set("ignore_unsupported", true);
  return add_count("--max-steps", wish.max_steps, request);
}

Request request_of(const ControlWish& wish, const FlowId& flow) {
  return {.verb = wish.verb, .flow = flow, .subject = wish.subject, .arguments = wish.arguments};
}

ExitCode control(const ControlWish& wish, const Context& context, const FlowId& flow) {
  Request request = request_of(wish, flow);
  if (wish.for_a_loop() && flow.dialect != "fsm_loop")
    return complain(
        Error{Errc::usage,
              "--max-steps, --set, --redo and --ignore-unsupported are for loops only; " +
                  text(flow) + " is not a loop",
              ""});
  if (auto added = add_loop_words(wish, request); !added)
    return complain(added.error());
  const ExitCode code = submit(context, request, !wish.no_wait);
  return wish.wait.wait && code == ExitCode::fine
             ? await_end(wish.places, context.root(), flow, wish.wait.most)
             : code;
}

/// While the root does not exist, its files are unknown, not gone: forgotten flows would start
/// again when it is back.
Result<void> can_forget(const ControlWish& wish, const Context& context) {
  std::error_code error;
  if (wish.verb != "forget")
    return {};
  const bool there = std::filesystem::is_directory(context.root(), error);
  if (there && !std::filesystem::is_empty(context.root(), error))
    return {};
  if (there)
    return fail(Errc::io,
                "is an empty folder; perhaps its volume is not mounted. Nothing was forgotten. If "
                "its files are really gone, put any file into the folder and repeat the command",
                context.root());
  return fail(Errc::io,
              "does not exist, so baton cannot tell which of its files are gone. Nothing was "
              "forgotten; repeat the command when the folder is back",
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
          graver(code, complain(Error{Errc::io, "does not exist; nothing was done there", root}));
  return code;
}

ExitCode control(const ControlWish& wish) {
  // A mistake in the configuration must not make it impossible to stop agents.
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

/// Asks each daemon once, for all its roots. Nothing when there is no daemon.
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
  // A daemon reports faults of the file itself.
  auto context = Context::open_to_examine(wish.places);
  if (!context)
    context = Context::open_anyway(wish.places);
  if (!context)
    return complain(context.error());
  if (const auto code = ask_daemons(wish, *context))
    return *code;
  // No daemon reads it now, but the user wants to know whether it is good.
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
        (remarks == 0 ? "is good\n" : "can be used, apart from these warnings\n"));
  return finish();
}

constexpr const char* kFlowHelp = "dialect/name, or the name alone if it is unique";

/// Adds what all commands take, and parses.
std::optional<ExitCode> parse(Options& options, ControlWish& wish, Words words) {
  options.flag("--no-wait", wish.no_wait, "Do not wait for the daemon's answer");
  options.places(wish.places);
  if (const auto over = options.parse(words))
    return over;
  const auto most = time_limit(wish.wait.timeout);
  if (!most)
    return complain(most.error());
  wish.wait.most = *most;
  return std::nullopt;
}

/// pause, resume, stop: of a flow, or of all roots.
/// `resume --agent` and `resume --provider`.
ExitCode resume_providers(const ControlWish& wish) {
  const auto context = Context::open_anyway(wish.places);
  if (!context)
    return complain(context.error());
  if (const auto code = refused_to_command(*context, "limits"))
    return *code;
  ProviderAccount whose{wish.provider, {}, {}};
  if (!wish.agent.empty()) {
    const auto setup = context->setup(context->root());
    if (!setup)
      return complain(setup.error());
    const auto agent = setup->agents.find(wish.agent);
    if (agent == setup->agents.end()) {
      complain("the configuration has no agent `" + printable(wish.agent, 80) + "`");
      return ExitCode::usage;
    }
    whose = {agent->second.provider, agent->second.account, agent->second.model};
  }
  const auto released = release_providers(*context, [&](const Parked& row) {
    return row.whose.provider == whose.provider &&
           (wish.agent.empty() || (row.whose.account == whose.account &&
                                   (row.whose.model.empty() || row.whose.model == whose.model)));
  });
  if (!released)
    return complain(released.error());
  if (*released == 0) {
    const auto caps =
        caps_reached(*context, wish.agent.empty() ? CapPlace{CapScope::provider, wish.provider}
                                                  : CapPlace{CapScope::agent, wish.agent});
    if (!caps)
      return complain(caps.error());
    if (!caps->empty()) {
      complain(*caps);
      return ExitCode::failed;
    }
    complain("nothing waits for the provider `" + printable(whose.provider, 80) +
             "`; `baton limits` lists what baton knows of");
    return ExitCode::failed;
  }
  print("the agents of " + printable(whose.provider, 80) + " may start again\n");
  return finish(ExitCode::fine);
}

/// `resume --raise`, and `resume --rule|--dialect`, which need it.
ExitCode resume_at_cap(const ControlWish& wish) {
  const auto context = Context::open_anyway(wish.places);
  if (!context)
    return complain(context.error());
  if (!wish.flow.empty()) {
    const auto roots = rehearse(*context);
    if (!roots)
      return complain(roots.error());
    const auto place = choose_flow(wish.flow, *roots);
    return place ? raise_cap_of((*roots)[place->root].context, place->flow, wish.raise)
                 : complain(place.error());
  }
  const CapPlace place = !wish.agent.empty()      ? CapPlace{CapScope::agent, wish.agent}
                         : !wish.provider.empty() ? CapPlace{CapScope::provider, wish.provider}
                         : !wish.rule.empty()     ? CapPlace{CapScope::rule, wish.rule}
                         : !wish.dialect.empty()  ? CapPlace{CapScope::dialect, wish.dialect}
                                                  : CapPlace{};
  if (!wish.raise.empty())
    return raise_cap(*context, place, wish.raise);
  const auto caps = caps_reached(*context, place);
  if (!caps)
    return complain(caps.error());
  complain(caps->empty() ? "no cap of " + text(place) + " is reached" : *caps);
  return ExitCode::failed;
}

ExitCode flow_or_all(Words words, const Word& verb, const std::string& description) {
  ControlWish wish;
  wish.verb = verb;
  Options options(verb, description, submit_exits(verb == "resume"));
  options.word("FLOW", wish.flow, kFlowHelp, false);
  options.flag("--all", wish.all, "All roots of the configuration, or the root given with --root");
  options.exclude("--all", {"FLOW"});
  if (verb == "resume") {
    options.value("--max-steps", wish.max_steps, "N",
                  "Loops: new limit for the total number of states entered");
    options.values(
        "--set", wish.set, "NAME=JSON",
        "Loops: a new value of a variable; a value that is not JSON is taken as a string");
    options.flag("--redo", wish.redo, "Loops: repeat an action that ended without a known verdict");
    options.flag("--ignore-unsupported", wish.ignore_unsupported,
                 "Loops: go on although baton does not carry out all of the definition");
    offer_wait(options, wish.wait);
    options.value("--agent", wish.agent, "NAME",
                  "Try again what waits for the login or the limit of this agent's provider");
    options.value("--provider", wish.provider, "NAME", "The same for all agents of a provider");
    const std::vector<std::string> loops_only = {"--max-steps", "--set", "--redo",
                                                 "--ignore-unsupported", "--wait"};
    options.exclude("--all", loops_only);
    options.value("--rule", wish.rule, "NAME", "With --raise: what waits at a cap of this rule");
    options.value("--dialect", wish.dialect, "NAME", "The same for a dialect");
    options.value("--raise", wish.raise, "KEY=N",
                  "Go on at a cap of many flows: add N to it for an hour or a day");
    options.exclude("--agent", {"FLOW", "--all", "--provider", "--rule", "--dialect", "--wait"});
    options.exclude("--provider", {"FLOW", "--all", "--rule", "--dialect", "--wait"});
    options.exclude("--rule", {"FLOW", "--all", "--dialect", "--wait"});
    options.exclude("--dialect", {"FLOW", "--all", "--wait"});
    options.exclude("--raise", loops_only);
  }
  if (const auto over = parse(options, wish, words))
    return *over;
  const bool at_cap = !wish.raise.empty() || !wish.rule.empty() || !wish.dialect.empty();
  if (!at_cap && (!wish.agent.empty() || !wish.provider.empty()))
    return resume_providers(wish);
  const bool placed =
      !wish.agent.empty() || !wish.provider.empty() || !wish.rule.empty() || !wish.dialect.empty();
  if (!wish.all && wish.flow.empty() && !placed) {
    complain("name a flow, or use --all");
    return ExitCode::usage;
  }
  return at_cap ? resume_at_cap(wish) : control(wish);
}

/// What is wrong with the words of `retry`; empty: nothing.
std::string fault_of_retry(const ControlWish& wish) {
  if (!wish.only.empty() && !wish.all)
    return "--only is for --all";
  if (!wish.only.empty() && wish.only != "failed" && wish.only != "blocked")
    return "--only takes failed or blocked, not " + printable(wish.only, 60);
  return wish.all || !wish.flow.empty() ? "" : "name a flow, or use --all";
}

/// `retry --all`.
ExitCode retry_flows(const ControlWish& wish) {
  const auto context = Context::open_anyway(wish.places);
  return context ? retry_all(*context, wish.only, !wish.no_wait) : complain(context.error());
}

/// retry, and the decisions of a person: approve, reject, answer and others.
ExitCode one_flow(Words words, const Word& verb, const std::string& description) {
  const bool decides = verb != "retry";
  ControlWish wish;
  wish.verb = verb;
  std::string comment;
  Options options(verb, description, submit_exits(true));
  options.word("FLOW", wish.flow, kFlowHelp, decides);
  options.word("SUBJECT", wish.subject, "Only this part of the flow, such as a group or a step",
               false);
  if (decides)
    options.value("--comment", comment, "TEXT", "Text for the next agent");
  offer_wait(options, wish.wait);
  if (!decides) {
    options.flag("--all", wish.all, "Every flow that is blocked or failed and waits for a retry");
    options.value("--only", wish.only, "CONDITION", "With --all: `failed` or `blocked` flows only");
    options.exclude("--all", {"FLOW", "--wait"});
  }
  if (const auto over = parse(options, wish, words))
    return *over;
  if (const std::string fault = decides ? "" : fault_of_retry(wish); !fault.empty()) {
    complain(fault);
    return ExitCode::usage;
  }
  if (wish.all)
    return retry_flows(wish);
  if (!comment.empty())
    wish.arguments.set("comment", Json(comment));
  return control(wish);
}

}  // namespace

ExitCode pause_command(Words words) {
  return flow_or_all(
      words, "pause",
      "Starts no new agents for a flow, or for all roots with --all. Running agents may\n"
      "finish. The pause lasts until `baton resume`, also over restarts of the daemon.");
}

ExitCode resume_command(Words words) {
  return flow_or_all(
      words, "resume",
      "Continues a flow, or all roots with --all, after a pause, a stop, a limit or a\n"
      "failure. Without a daemon, the request is recorded for the next daemon.");
}

ExitCode stop_command(Words words) {
  return flow_or_all(
      words, "stop",
      "Ends the agents of a flow, or of all roots with --all, with all their processes:\n"
      "SIGTERM, a grace period, SIGKILL. Starts no new agents until `baton resume`.\n"
      "Without a daemon, the command waits until the agents have ended.");
}

ExitCode retry_command(Words words) {
  return one_flow(
      words, "retry",
      "Forgets the ended attempts of a flow in its current stages, so that baton starts\n"
      "them again: after a failure, an interruption, or an agent that did not change\n"
      "the stage. With --all: every flow that waits for this, on all roots.");
}

ExitCode answer_command(Words words) {
  return one_flow(
      words, "answer",
      "Answers a question that a flow asks a person; `baton status` shows the question.\n"
      "The next agent gets the comment. Agents need `may` for this in a run.");
}

ExitCode approve_command(Words words) {
  return one_flow(
      words, "approve",
      "Approves what a flow waits for, so that it continues; `baton status` shows which\n"
      "flows wait. Agents need `may` for this in a run.");
}

ExitCode reject_command(Words words) {
  return one_flow(words, "reject",
                  "Rejects what a flow wants approved: the work goes back, or counts as failed.\n"
                  "The next agent gets the comment. Agents need `may` for this in a run.");
}

ExitCode revise_command(Words words) {
  return one_flow(
      words, "revise",
      "Asks for changes to what a flow wants approved. The next agent gets the comment.\n"
      "Agents need `may` for this in a run.");
}

ExitCode skip_command(Words words) {
  return one_flow(
      words, "skip",
      "Skips a step of a workflow that has not begun or has failed; steps that need it\n"
      "may begin. Agents need `may` for this in a run.");
}

ExitCode forget_command(Words words) {
  ControlWish wish;
  wish.verb = "forget";
  Options options("forget",
                  "Forgets everything about a flow: stages, runs, history of decisions. Refused\n"
                  "while its files exist or its agents run. For a loop of ccw_loop that is not\n"
                  "running, baton first moves the files below `.forgotten` in its folder.",
                  submit_exits());
  bool gone = false;
  options.word("FLOW", wish.flow, kFlowHelp, false);
  options.flag("--gone", gone, "Every flow whose files are all gone, on all roots");
  options.exclude("--gone", {"FLOW"});
  if (const auto over = parse(options, wish, words))
    return *over;
  if (!gone && wish.flow.empty()) {
    complain("name a flow, or use --gone for the flows whose files are gone");
    return ExitCode::usage;
  }
  return control(wish);
}

ExitCode drain_command(Words words) {
  ControlWish wish;
  wish.verb = "drain";
  Options options(
      "drain",
      "Tells the daemon to start no new agents on any of its roots, and to exit with\n"
      "code 0 when its last agent has ended. A daemon that you start later is not drained.",
      {{ExitCode::fine, "the daemon drains, or there is none"},
       {ExitCode::failed, "refused, because an agent asks that may not"},
       {ExitCode::usage, "wrong usage or configuration"},
       {ExitCode::unreachable,
        "the root or its state cannot be reached, or the daemon does not answer"}});
  if (const auto over = parse(options, wish, words))
    return *over;
  return drain(wish);
}

ExitCode reload_command(Words words) {
  ControlWish wish;
  wish.verb = "reload";
  Options options(
      "reload",
      "Tells the daemon to read its configuration again, for all its roots. If the new\n"
      "configuration is wrong, the daemon refuses it and keeps the old one. It also\n"
      "reports programs, prompts and roles that cannot be used. Without a daemon, the\n"
      "command only checks the configuration.",
      {{ExitCode::fine, "read again; without a daemon: the configuration can be used"},
       {ExitCode::failed,
        "the daemon has refused the new configuration and keeps the old one; or an agent asks "
        "that may not"},
       {ExitCode::usage, "wrong usage; without a daemon: the configuration cannot be used"},
       {ExitCode::unreachable,
        "the root or its state cannot be reached, or the daemon does not answer"}});
  if (const auto over = parse(options, wish, words))
    return *over;
  return reload(wish);
}

}  // namespace baton
