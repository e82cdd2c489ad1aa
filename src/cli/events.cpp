#include <chrono>

#include "app/status.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/history.h"
#include "cli/options.h"
#include "cli/output.h"
#include "io/clock.h"

namespace baton {
namespace {

constexpr std::chrono::milliseconds kEvery{200};

struct Arguments {
  Places places;
  std::string flow;
  std::string since;
  bool follow = false;
  bool json = false;
};

/// A moment, or so long ago.
std::optional<Time> parse_since(const std::string& text) {
  if (const auto time = parse_time(text))
    return time;
  if (const auto duration = parse_duration(text))
    return real_clock()->wall() - *duration;
  return std::nullopt;
}

void print_event(const Event& event, bool as_json) {
  if (as_json) {
    print_line(event_json(event));
    return;
  }
  std::string line = paint(Colour::grey, iso_time(event.time, true)) + "  ";
  std::string what = event.event;
  constexpr std::size_t kWidth = 10;
  what.resize(std::max(what.size(), kWidth), ' ');
  line += what + "  ";
  if (event.flow != FlowId{})
    line += printable(text(event.flow), 200) + "  ";
  if (!event.role.empty())
    line += printable(event.role, 80) + " ";
  if (!event.subject.empty() && event.subject != "main")
    line += printable(event.subject, 80) + " ";
  constexpr std::size_t kShort = 8;
  if (!event.run.empty())
    line += "(" + event.run.substr(0, kShort) + ") ";
  print(line + printable(event.why, 2000) + "\n");
}

/// Prints what is new. True: look again later.
bool look(const Arguments& arguments, JournalReader* journal, EventQuery& query, ExitCode& code) {
  for (std::size_t got = query.limit; journal != nullptr && got == query.limit;) {
    auto events = journal->events(query);
    if (!events) {
      code = complain(events.error());
      return false;
    }
    for (const Event& event : *events) {
      print_event(event, arguments.json);
      query.after = event.seq;
    }
    got = events->size();
  }
  code = finish();
  return arguments.follow && code == ExitCode::fine;
}

ExitCode show(const Arguments& arguments, const Context& context, EventQuery query) {
  std::unique_ptr<JournalReader> journal;
  ExitCode code = ExitCode::fine;
  for (;;) {
    if (journal == nullptr) {
      auto opened = history_of(context);
      if (!opened && opened.error().code != Errc::not_found)
        return complain(opened.error());
      if (opened)
        journal = *std::move(opened);
      if (journal != nullptr && !arguments.flow.empty()) {
        auto flow = flow_in(*journal, arguments.flow);
        if (!flow)
          return complain(flow.error());
        query.flow = *std::move(flow);
      }
    }
    if (!look(arguments, journal.get(), query, code))
      return code;
    if (!wait_while_read(kEvery))
      return ExitCode::fine;
  }
}

}  // namespace

ExitCode events_command(Words words) {
  Arguments arguments;
  Options options("events",
                  "Prints what happened on a root, oldest first, each with its reason: accepted,\n"
                  "rejected, stage, started, ended, held and so on. Works without a daemon.",
                  "  0  printed\n  2  wrong usage or configuration; no such flow\n"
                  "  3  the history cannot be read");
  options.flag("-f,--follow", arguments.follow, "Go on with what happens, until Ctrl-C");
  options.value("--flow", arguments.flow, "FLOW", "Only this flow");
  options.value("--since", arguments.since, "TIME",
                "Only from then on: 2026-01-22T10:00:00Z, or a while ago: 90s, 2h, 1d");
  options.flag("--json", arguments.json, "One JSON object per line");
  options.places(arguments.places);
  if (const auto over = options.parse(words))
    return *over;
  EventQuery query;
  if (!arguments.since.empty()) {
    query.since = parse_since(arguments.since);
    if (!query.since) {
      complain("--since is a time such as 2026-01-22T10:00:00Z or a while such as 2h, not " +
               printable(arguments.since, 60));
      return ExitCode::usage;
    }
  }
  const auto context = Context::open_anyway(arguments.places);
  if (!context)
    return complain(context.error());
  return show(arguments, *context, query);
}

}  // namespace baton
