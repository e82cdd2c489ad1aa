#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "engine/decide/status.h"
#include "io/system/clock.h"
#include "workspace/command.h"
#include "workspace/environment.h"
#include "workspace/history.h"
#include "workspace/options.h"
#include "workspace/output.h"

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

/// Parses a time, or a duration before now.
std::optional<Time> parse_since(const std::string& text) {
  if (const auto time = parse_time(text))
    return time;
  if (const auto duration = parse_duration(text))
    return real_clock()->wall() - *duration;
  return std::nullopt;
}

void print_event(const Event& event, const std::string& root, bool several_roots, bool as_json) {
  if (as_json) {
    Json json = event_json(event);
    json.set("root", Json(root));
    print_line(json);
    return;
  }
  std::string line = paint(Colour::grey, iso_time(event.time, true)) + "  ";
  if (several_roots)
    line += printable(root, 200) + "  ";
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
  if (!event.run.empty())
    line += "(" + event.run.substr(0, kShortRunId) + ") ";
  print_text(line + printable(event.why, 2000) + "\n");
}

/// The history of one root, read page by page.
class Stream {
 public:
  Stream(History history, EventQuery query)
      : history_(std::move(history)), query_(std::move(query)) {}

  const std::string& root() const { return history_.root; }
  /// The next event; nothing if there is none yet.
  Result<std::optional<Event>> peek() {
    if (page_.empty()) {
      auto events = history_.journal->events(query_);
      if (!events)
        return pass_on(events);
      page_.assign(events->begin(), events->end());
    }
    return page_.empty() ? std::optional<Event>() : page_.front();
  }
  void pop() {
    query_.after = page_.front().seq;
    page_.pop_front();
  }

 private:
  History history_;
  EventQuery query_;
  std::deque<Event> page_;
};

/// Prints what is new on all roots, in the order of time.
Result<void> print_new(std::vector<Stream>& streams, const Arguments& arguments) {
  for (;;) {
    Stream* first = nullptr;
    std::optional<Event> event;
    for (Stream& each : streams) {
      auto next = each.peek();
      if (!next)
        return pass_on(next);
      if (*next && (!event || (*next)->time < event->time)) {
        first = &each;
        event = *std::move(next);
      }
    }
    if (first == nullptr)
      return {};
    print_event(*event, first->root(), streams.size() > 1, arguments.json);
    first->pop();
  }
}

/// Opens the histories of roots that no daemon had served at the last call.
Result<void> open_new(const Arguments& arguments, const Context& context, EventQuery query,
                      std::vector<Stream>& streams) {
  auto histories = histories_of(context);
  if (!histories)
    return pass_on(histories);
  if (!arguments.flow.empty() && !histories->empty()) {
    auto flow = choose_history(*histories, arguments.flow);
    if (!flow)
      return pass_on(flow);
    query.flow = *std::move(flow);
  }
  for (History& each : *histories)
    if (std::none_of(streams.begin(), streams.end(),
                     [&](const Stream& known) { return known.root() == each.root; }))
      streams.emplace_back(std::move(each), query);
  return {};
}

ExitCode show(const Arguments& arguments, const Context& context, const EventQuery& query) {
  std::vector<Stream> streams;
  const std::size_t most = arguments.flow.empty() ? context.roots().size() : 1;
  for (;;) {
    if (streams.size() < most)
      if (auto opened = open_new(arguments, context, query, streams); !opened)
        return complain(opened.error());
    if (auto printed = print_new(streams, arguments); !printed)
      return complain(printed.error());
    const ExitCode code = finish();
    if (!arguments.follow || code != ExitCode::fine)
      return code;
    if (!wait_while_read(kEvery))
      return ExitCode::fine;
  }
}

}  // namespace

ExitCode events_command(Words words) {
  Arguments arguments;
  Options options("events",
                  "Prints the events of all roots, oldest first, each with its reason: accepted,\n"
                  "rejected, stage, started, ended, blocked and so on. Works without a daemon.",
                  {{ExitCode::fine, "printed"},
                   {ExitCode::usage, "wrong usage or configuration; no such flow"},
                   {ExitCode::unreachable, "the history cannot be read"}});
  options.flag("-f,--follow", arguments.follow, "Keep printing new events until Ctrl-C");
  options.value("--flow", arguments.flow, "FLOW", "Only this flow");
  options.value("--since", arguments.since, "TIME",
                "Only events since a time (2026-01-22T10:00:00Z) or a duration ago (90s, 2h, 1d)");
  options.flag("--json", arguments.json, "One JSON object per line");
  options.places(arguments.places);
  if (const auto over = options.parse(words))
    return *over;
  EventQuery query;
  if (!arguments.since.empty()) {
    query.since = parse_since(arguments.since);
    if (!query.since) {
      complain("--since takes a time such as 2026-01-22T10:00:00Z or a duration such as 2h, not " +
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
