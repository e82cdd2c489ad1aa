#include "app/status.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/history.h"
#include "cli/options.h"
#include "cli/output.h"
#include "io/clock.h"

namespace baton {
namespace {

constexpr std::size_t kShort = 8;

std::string end_of(const Run& run) {
  if (run.live())
    return std::string(word(run.state));
  std::string text(word(run.outcome));
  if (!run.reason.empty())
    text += " (" + run.reason + ")";
  return text;
}

Colour colour_of(const Run& run) {
  if (run.live())
    return Colour::green;
  return run.outcome == Outcome::succeeded ? Colour::grey : Colour::red;
}

void print_table(const std::vector<Run>& runs) {
  const Time now = real_clock()->wall();
  Table table({"RUN", "FLOW", "ROLE", "SUBJECT", "PURPOSE", "ATTEMPT", "STARTED", "TOOK", "STATE"});
  for (const Run& run : runs) {
    const Time end = run.live() ? now : run.ended;
    table.row({run.id.substr(0, kShort), text(run.key.flow), run.key.role, run.key.subject,
               run.purpose, std::to_string(run.attempt), iso_time(run.started),
               duration_text(std::chrono::duration_cast<std::chrono::seconds>(
                   std::max(end - run.started, Millis(0)))),
               end_of(run)});
    table.colour(8, colour_of(run));
  }
  print(table.empty() ? "no agent was started\n" : table.text());
}

}  // namespace

ExitCode agents_command(Words words) {
  Places places;
  std::string flow;
  bool as_json = false;
  bool names = false;
  bool live = false;
  Options options("agents", "Lists the runs of agents, the oldest first. Works without a daemon.",
                  "  0  listed\n  2  wrong usage or configuration; no such flow\n"
                  "  3  the history cannot be read");
  options.word("FLOW", flow, "Only those of this flow", false);
  options.flag("--running", live, "Only those that run");
  options.flag("--json", as_json, "One JSON object per line");
  options.flag("--names", names, "Only the ids, one per line");
  options.places(places);
  if (const auto over = options.parse(words))
    return *over;
  const auto context = Context::open_anyway(places);
  if (!context)
    return complain(context.error());
  std::vector<Run> runs;
  auto journal = history_of(*context);
  if (journal) {
    RunQuery query;
    if (!flow.empty()) {
      auto id = flow_in(**journal, flow);
      if (!id)
        return complain(id.error());
      query.flow = *id;
    }
    auto found = (*journal)->runs(query);
    if (!found)
      return complain(found.error());
    runs = *std::move(found);
  } else if (journal.error().code != Errc::not_found) {
    return complain(journal.error());
  }
  if (live)
    std::erase_if(runs, [](const Run& run) { return !run.live(); });
  if (names || as_json) {
    for (const Run& run : runs)
      as_json ? print_line(agent_json(run)) : print(run.id + "\n");
  } else {
    print_table(runs);
  }
  return finish();
}

}  // namespace baton
