// SPDX-License-Identifier: Apache-2.0

// `baton start`: starts a flow by its name, by the name of its dialect, or as a new flow.

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/commands/start_workflow.h"
#include "cli/submit_request.h"
#include "config/registry.h"
#include "io/files/disk.h"
#include "workspace/command.h"
#include "workspace/context.h"
#include "workspace/environment.h"
#include "workspace/options.h"
#include "workspace/output.h"
#include "workspace/rehearsal.h"

namespace baton {
namespace {

constexpr std::size_t kMaxText = 1U << 20U;
constexpr std::string_view kFsmLoop = "fsm_loop";

/// TEXT, or with `@` the text of a file, without line feeds at the end.
Result<std::string> text_or_file(const std::string& given) {
  auto text =
      given.starts_with('@') ? read_file(given.substr(1), kMaxText) : Result<std::string>(given);
  if (!text)
    return text;
  while (text->ends_with('\n') || text->ends_with('\r'))
    text->pop_back();
  if (text->empty() || bad_utf8(*text))
    return fail(Errc::usage, text->empty() ? "the text is empty" : "is not UTF-8 text",
                given.starts_with('@') ? given.substr(1) : "");
  return text;
}

struct Sought {
  std::string name;
  std::string dialect;  ///< empty: any dialect
};

/// Finds the flow that a name means, best first: a known flow, the only flow of a dialect with a
/// fixed place, a new flow.
class Choice {
 public:
  Choice(const Rehearsal& seen, const Sought& sought) : seen_(seen), sought_(sought) {
    for (const Catalog::Entry& entry : seen.catalog().entries()) {
      const std::string name(entry.dialect->name);
      if (entry.dialect->create == nullptr)
        continue;
      able_.push_back(name);
      if (sought.dialect.empty() || sought.dialect == name)
        entries_.push_back(&entry);
    }
  }

  Result<FlowId> flow() const {
    if (entries_.empty())
      return nothing();
    std::vector<FlowId> fits = known();
    if (fits.empty())
      fits = fixed();
    if (fits.empty())
      fits = fresh();
    if (fits.size() == 1)
      return fits.front();
    if (fits.empty() && nearest().empty() && takes_names() && !safe_name(fresh_name()))
      return fail(Errc::usage, "`" + printable(fresh_name(), 100) +
                                   "` cannot be the name of a new flow: use at most 200 letters, "
                                   "digits, `.`, `_` and `-`, beginning with a letter or a digit");
    if (fits.empty())
      return fail(Errc::usage, "there is no flow " + printable(sought_.name, 100) + " to start" +
                                   nearest() + "; `baton status` lists the known flows" +
                                   (makes_names() ? ", and `baton create` makes a loop" : ""));
    std::vector<std::string> names;
    names.reserve(fits.size());
    for (const FlowId& flow : fits)
      names.push_back(text(flow));
    return fail(Errc::usage, printable(sought_.name, 100) + " may be " + join(names, " or ") +
                                 "; name one of them");
  }

 private:
  /// A suggestion, in the form of the given name.
  std::string nearest() const {
    std::vector<std::string> names;
    for (const auto& [flow, record] : seen_.records())
      if (ours(flow))
        names.push_back(sought_.name.find('/') == std::string::npos ? flow.name : text(flow));
    const auto near = baton::nearest(sought_.name, names);
    return near ? "; did you mean " + printable(*near, 100) + "?" : "";
  }
  bool named(const FlowId& flow) const {
    return text(flow) == sought_.name || flow.name == sought_.name;
  }
  template <class Fits>
  bool any(const Fits& fits) const {
    return std::any_of(entries_.begin(), entries_.end(), fits);
  }
  bool makes_names() const {
    return any([](const auto* entry) { return entry->dialect->fresh_name != nullptr; });
  }
  bool ours(const FlowId& flow) const {
    return any([&](const auto* entry) { return entry->dialect->name == flow.dialect; });
  }
  std::vector<FlowId> known() const {
    std::vector<FlowId> fits;
    for (const auto& [flow, record] : seen_.records())
      if (ours(flow) && named(flow))
        fits.push_back(flow);
    return fits;
  }
  std::vector<FlowId> fixed() const {
    std::vector<FlowId> fits;
    for (const Catalog::Entry* const entry : entries_)
      for (const FileKind& kind : entry->kinds) {
        const FlowId flow{std::string(entry->dialect->name), kind.flow};
        if (kind.flow.find('{') == std::string::npos &&
            (named(flow) || flow.dialect == sought_.name) &&
            std::find(fits.begin(), fits.end(), flow) == fits.end())
          fits.push_back(flow);
      }
    return fits;
  }
  /// Whether a flow with any name can be started. Not for dialects whose flows get their names from
  /// `create` or from the file of their definition.
  static bool takes_name(const Catalog::Entry& entry) {
    return entry.dialect->fresh_name == nullptr && !entry.dialect->defined &&
           std::any_of(entry.kinds.begin(), entry.kinds.end(), [](const FileKind& kind) {
             return kind.flow.find("{flow}") != std::string::npos;
           });
  }
  bool takes_names() const {
    return any([](const auto* entry) { return takes_name(*entry); });
  }
  /// The name without the dialect in front.
  std::string name_in(const Catalog::Entry& entry) const {
    const std::string prefix = std::string(entry.dialect->name) + "/";
    return sought_.name.starts_with(prefix) ? sought_.name.substr(prefix.size()) : sought_.name;
  }
  std::string fresh_name() const {
    for (const Catalog::Entry* const entry : entries_)
      if (std::string name = name_in(*entry); name != sought_.name)
        return name;
    return sought_.name;
  }
  std::vector<FlowId> fresh() const {
    std::vector<FlowId> fits;
    for (const Catalog::Entry* const entry : entries_)
      if (const std::string name = name_in(*entry); takes_name(*entry) && safe_name(name))
        fits.push_back(FlowId{std::string(entry->dialect->name), name});
    return fits;
  }
  tl::unexpected<Error> nothing() const {
    if (!sought_.dialect.empty())
      return fail(Errc::usage, "there is no dialect " + printable(sought_.dialect, 60) +
                                   " with flows to start" +
                                   (able_.empty() ? "" : "; there are " + join(able_, ", ")) +
                                   " (baton looks below `dialects:` in baton.yaml)");
    return fail(Errc::usage,
                "the configuration lists no dialect with flows to start; add one, for example "
                "`dialects: { coordination: {} }` in baton.yaml");
  }

  const Rehearsal& seen_;
  const Sought& sought_;
  std::vector<const Catalog::Entry*> entries_;
  std::vector<std::string> able_;
};

struct Given {
  Places places;
  Sought sought;
  WorkflowWords workflow;
  std::string requirements;
  std::vector<std::string> set;
  std::string input;                ///< of a loop
  std::string max_steps;            ///< of a loop
  bool ignore_unsupported = false;  ///< of a loop
  bool no_wait = false;
  WaitWish wait;  ///< for the flow's end
};

Result<void> add_settings(const Given& given, bool texts, Request& request) {
  if (given.set.empty())
    return {};
  auto all = settings(given.set, texts);
  if (!all)
    return pass_on(all);
  request.arguments.set("set", *all);
  return {};
}

Result<void> add_loop_words(const Given& given, Request& request) {
  if (!given.input.empty()) {
    auto input = text_or_file(given.input);
    if (!input)
      return pass_on(input);
    request.arguments.set("input", *input);
  }
  if (given.ignore_unsupported)
    request.arguments.set("ignore_unsupported", true);
  return add_count("--max-steps", given.max_steps, request);
}

ExitCode hand_in(const Given& given, const Context& context, const Request& request) {
  const ExitCode code = submit(context, request, !given.no_wait);
  return given.wait.wait && code == ExitCode::fine
             ? await_end(given.places, context.root(), request.flow, given.wait.most)
             : code;
}

/// A workflow run belongs to the root of the command, unless `--root` is given.
ExitCode start_workflow(const Given& given, const Context& context, Request& request) {
  const auto seen = Rehearsal::of_root(context);
  if (!seen)
    return complain(seen.error());
  if (auto added = add_workflow(given.sought.name, given.workflow, context, **seen, request);
      !added)
    return complain(added.error());
  if (request.arguments->HasMember("workflow"))
    print("run " + request.flow.name + "\n");
  return hand_in(given, context, request);
}

/// If the file defines a loop of this root, returns the name of the loop.
std::optional<std::string> loop_in(const std::string& file, const Context& context) {
  namespace fs = std::filesystem;
  if (!names_workflow(file))
    return std::nullopt;
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(file, error);
  const auto seen = Rehearsal::of_root(context);
  if (error || !seen)
    return std::nullopt;
  const auto match = (*seen)->catalog().match(whole.lexically_relative(context.root()).string());
  return match && match->entry->dialect->name == kFsmLoop ? std::optional(text(match->flow))
                                                          : std::nullopt;
}

/// The flow to start, and its root.
struct Chosen {
  FlowId flow;
  const Context* on_root = nullptr;
};

/// Errc::usage when several roots or no root can have it.
Result<Chosen> choose(const Given& given, const std::vector<RehearsedRoot>& roots) {
  Chosen chosen;
  std::optional<Error> nowhere;
  for (const auto& [each, seen] : roots) {
    auto flow = Choice(*seen, given.sought).flow();
    if (!flow) {
      nowhere = std::move(flow.error());
      continue;
    }
    if (chosen.on_root != nullptr)
      return fail(Errc::usage, printable(given.sought.name, 100) + " may be on " +
                                   printable(chosen.on_root->root()) + " or on " +
                                   printable(each.root()) + "; choose one with --root");
    chosen = {*std::move(flow), &each};
  }
  if (chosen.on_root == nullptr)
    return tl::unexpected(*nowhere);
  return chosen;
}

ExitCode begin(const Given& given, const Context& on_root, Request& request) {
  const bool loop = request.flow.dialect == kFsmLoop;
  if (!loop && (!given.input.empty() || !given.max_steps.empty() || given.ignore_unsupported))
    return complain(Error{Errc::usage,
                          "INPUT, --max-steps and --ignore-unsupported are for loops only; " +
                              text(request.flow) + " is not a loop",
                          ""});
  // The values of a loop are put into its commands unchanged.
  if (auto added = add_settings(given, loop, request); !added)
    return complain(added.error());
  if (auto added = add_loop_words(given, request); !added)
    return complain(added.error());
  const Dialect* const known = dialect(request.flow.dialect);
  if (known != nullptr && known->check_request != nullptr)
    if (const auto fit = known->check_request(request); !fit)
      return complain(fit.error());
  return hand_in(given, on_root, request);
}

ExitCode start(Given given) {
  Request request{.verb = "start", .arguments = Json::object()};
  if (!given.requirements.empty()) {
    auto text = text_or_file(given.requirements);
    if (!text)
      return complain(text.error());
    request.arguments.set("requirements", *text);
  }
  Places places = given.places;
  if (places.root.empty() && !given.workflow.repo.empty())
    places.root = root_of_repository(given.workflow.repo);
  const auto context = Context::open_active(places);
  if (!context)
    return complain(context.error());
  if (auto loop = loop_in(given.sought.name, *context))
    given.sought.name = *std::move(loop);
  if (names_workflow(given.sought.name) || given.workflow.any()) {
    if (const std::string& only = given.sought.dialect; !only.empty() && only != kWorkflowDialect)
      return complain(Error{Errc::usage,
                            "a workflow file belongs to the dialect " +
                                std::string(kWorkflowDialect) + ", not to " + printable(only, 60),
                            ""});
    if (auto added = add_settings(given, true, request); !added)
      return complain(added.error());
    return start_workflow(given, *context, request);
  }
  const auto roots = rehearse(*context);
  if (!roots)
    return complain(roots.error());
  const auto chosen = choose(given, *roots);
  if (!chosen)
    return complain(chosen.error());
  request.flow = chosen->flow;
  return begin(given, *chosen->on_root, request);
}

}  // namespace

ExitCode start_command(Words words) {
  Given given;
  Options options(
      "start",
      "Starts a flow: writes its first files, unless they exist already. Starting it again\n"
      "changes nothing. Without a daemon, the request is recorded for the next daemon.\n"
      "\n"
      "  baton start coordination --requirements @wishes.md\n"
      "  baton start fix-types --set target=src/ --max-steps 20\n"
      "  baton start workflow.yaml --pause-for-human-input",
      submit_exits(true));
  options.word("NAME", given.sought.name,
               "A flow (dialect/name, or the name alone if it is unique), a dialect that has only "
               "one, or a workflow file (.yaml)");
  options.word("INPUT", given.input,
               "Loops: the input of the loop (TEXT or @FILE); its definition names the variable",
               false);
  options.value(
      "--max-steps", given.max_steps, "N",
      "Loops: maximum number of states to enter, instead of the number in the definition");
  options.flag("--ignore-unsupported", given.ignore_unsupported,
               "Loops: start although baton does not carry out all of the definition; a guard is "
               "not in force, and other such states fail when they are entered");
  options.value("--requirements", given.requirements, "TEXT|@FILE",
                "The requirements, or with @ the file that holds them");
  options.values("--set", given.set, "NAME=JSON",
                 "A setting of the dialect. Loops and workflows: a variable; a value that is not "
                 "JSON is taken as a string");
  options.value("--dialect", given.sought.dialect, "NAME", "Only flows of this dialect");
  WorkflowWords& run = given.workflow;
  options.value("--repo", run.repo, "DIR",
                "Workflows: the repository; it also decides the root, unless --root is given");
  options.value("--run-id", run.run_id, "ID", "Workflows: the name of the run (default: random)");
  options.value("--start-at-step", run.start_at_step, "STEP",
                "Workflows: repeat this step of a run and all steps after it; without --run-id, of "
                "the newest run");
  options.value("--max-attempts", run.max_attempts, "N",
                "Workflows: maximum starts of a step within one iteration (2)");
  options.value("--max-iterations", run.max_iterations, "N",
                "Workflows: maximum number of loop-backs (4)");
  options.value(
      "--gate-state-file", run.gate_state_file, "FILE",
      "Workflows: the file that says which gates are open (default: gate_state.json of the run)");
  options.value("--logs-dir", run.logs_dir, "DIR",
                "Workflows: folder for the output of the agents (default: logs of the run)");
  options.value("--issue-number", run.issue_number, "N",
                "Workflows: ISSUE_NUMBER for every agent; see ISSUE_MARKDOWN_PATH on the format "
                "page");
  options.flag("--pause-for-human-input", run.pause_for_human_input,
               "Workflows: steps with human_in_the_loop wait for a person");
  offer_wait(options, given.wait);
  options.flag("--no-wait", given.no_wait, "Do not wait for the daemon's answer");
  options.places(given.places);
  if (const auto over = options.parse(words))
    return *over;
  const auto most = time_limit(given.wait.timeout);
  if (!most)
    return complain(most.error());
  given.wait.most = *most;
  return start(std::move(given));
}

}  // namespace baton
