// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/commands/flow_page.h"
#include "engine/decide/status.h"
#include "io/system/clock.h"
#include "workspace/command.h"
#include "workspace/environment.h"
#include "workspace/history.h"
#include "workspace/list_options.h"
#include "workspace/options.h"
#include "workspace/output.h"

namespace baton {
namespace {

constexpr std::chrono::milliseconds kEvery{200};

struct Arguments {
  Places places;
  std::string flow;
  std::string since;
  std::string event;
  std::string role;
  std::string limit;
  std::size_t most = 0;  ///< only the last of those that are there already; 0: all
  bool follow = false;
  bool json = false;
};

void print_event(const Event& event, const std::string& root, bool several_roots, bool as_json) {
  if (as_json) {
    Json json = event_json(event);
    json.set("root", Json(root));
    print_line(json);
    return;
  }
  const std::string line = event_text(event, several_roots ? root : "");
  const std::size_t time = line.find(' ');
  print_text(paint(Colour::grey, line.substr(0, time)) + line.substr(time) + "\n");
}

/// Which events the user wants to see.
class Wanted {
 public:
  explicit Wanted(const Arguments& arguments)
      : words_(arguments.event.empty() ? std::vector<std::string>() : split(arguments.event, ',')),
        role_(arguments.role) {}

  bool operator()(const Event& event) {
    seen_.insert(event.event);
    const bool word =
        words_.empty() || std::find(words_.begin(), words_.end(), event.event) != words_.end();
    const bool shown = word && (role_.empty() || event.role == role_);
    any_ = any_ || shown;
    return shown;
  }

  /// Says which events there are if none is one of the words.
  void complain_of_none() const {
    const bool known = std::any_of(words_.begin(), words_.end(),
                                   [&](const std::string& word) { return seen_.contains(word); });
    if (!any_ && !words_.empty() && !known && !seen_.empty())
      complain_once("there is no such event; there are " +
                    join(std::vector<std::string>(seen_.begin(), seen_.end()), ", "));
  }

 private:
  std::vector<std::string> words_;
  std::string role_;
  std::set<std::string> seen_;
  bool any_ = false;
};

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

/// Prints what is new on all roots, in the order of time; of more than `most` the last ones.
Result<void> print_new(std::vector<Stream>& streams, const Arguments& arguments, std::size_t most,
                       Wanted& wanted) {
  std::deque<std::pair<Event, std::string>> last;
  std::size_t left_out = 0;
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
      break;
    if (wanted(*event) && most == 0)
      print_event(*event, first->root(), streams.size() > 1, arguments.json);
    else if (most > 0 && wanted(*event))
      last.emplace_back(*event, first->root());
    first->pop();
    if (most > 0 && last.size() > most) {
      last.pop_front();
      ++left_out;
    }
  }
  if (left_out > 0 && !arguments.json)
    print_fitted(std::to_string(left_out) +
                 " earlier events; --limit N or --since TIME shows more\n");
  for (const auto& [each, root] : last)
    print_event(each, root, streams.size() > 1, arguments.json);
  return {};
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
  const std::size_t roots = arguments.flow.empty() ? context.roots().size() : 1;
  Wanted wanted(arguments);
  std::size_t most = arguments.most;
  for (;;) {
    if (streams.size() < roots)
      if (auto opened = open_new(arguments, context, query, streams); !opened)
        return complain(opened.error());
    if (auto printed = print_new(streams, arguments, most, wanted); !printed)
      return complain(printed.error());
    wanted.complain_of_none();
    // What comes from now on is shown as it comes.
    most = 0;
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
                  "rejected, stage, started, ended, blocked and so on; the last 50, or all with\n"
                  "--since and as JSON. Works without a daemon.",
                  {{ExitCode::fine, "printed"},
                   {ExitCode::usage, "wrong usage or configuration; no such flow"},
                   {ExitCode::unreachable, "the history cannot be read"}});
  options.flag("-f,--follow", arguments.follow, "Keep printing new events until Ctrl-C");
  options.value("--flow", arguments.flow, "FLOW", "Only this flow");
  options.value("--since", arguments.since, "TIME",
                "Only events since a time (2026-01-22T10:00:00Z) or a duration ago (90s, 2h, 1d)");
  options.value("--event", arguments.event, "WORDS", "Only these events, as in started,ended");
  options.value("--role", arguments.role, "ROLE", "Only events about agents of this role");
  options.value("--limit", arguments.limit, "N", "The last N events");
  options.flag("--json", arguments.json, "One JSON object per line");
  options.places(arguments.places);
  if (const auto over = options.parse(words))
    return *over;
  EventQuery query;
  auto since = since_of(arguments.since, real_clock()->wall());
  if (!since)
    return complain(since.error());
  query.since = *since;
  auto limit = limit_of(arguments.limit);
  if (!limit)
    return complain(limit.error());
  arguments.most = *limit > 0 ? *limit : arguments.json || *since ? 0 : kUsualLimit;
  const auto context = Context::open_anyway(arguments.places);
  if (!context)
    return complain(context.error());
  return show(arguments, *context, query);
}

}  // namespace baton
