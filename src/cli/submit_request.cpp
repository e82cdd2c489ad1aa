// SPDX-License-Identifier: Apache-2.0
#include "cli/submit_request.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <utility>

#include "base/json/document.h"
#include "base/text.h"
#include "cli/who_asks.h"
#include "io/files/lock.h"
#include "io/system/requests.h"
#include "workspace/offline_request.h"
#include "workspace/other_daemons.h"
#include "workspace/output.h"
#include "workspace/rehearsal.h"

namespace baton {
namespace {

constexpr Millis kAnswerPatience{10'000};
constexpr Millis kLook{500};
/// With --no-wait: long enough for the daemon to see who asks.
constexpr Millis kSeen{2'000};

/// The prefix of messages that names the root, if the command has several roots.
std::string whose(const Context& context) {
  return context.roots().size() > 1 ? printable(context.root()) + ": " : "";
}

ExitCode tell(const Context& context, const Reply& reply) {
  if (reply.accepted) {
    print(whose(context) + printable(reply.message) + "\n");
    return finish();
  }
  complain(whose(context) + "refused: " + printable(reply.message));
  return ExitCode::failed;
}

/// Waits for the answer to a posted request and prints it.
ExitCode answered(const Context& context, const std::string& state, Result<PostedRequest> posted,
                  bool wait) {
  if (!posted && posted.error().code == Errc::denied)
    posted.error().message += "; only the user of the daemon can control it";
  if (!posted)
    return complain(posted.error());
  if (!wait) {
    (void)await_reply(state, posted->id, kSeen);
    print(whose(context) + "recorded\n");
    return finish();
  }
  std::optional<Reply> reply;
  bool lives = true;
  const auto until = std::chrono::steady_clock::now() + kAnswerPatience;
  while (!reply && lives && std::chrono::steady_clock::now() < until) {
    lives = daemon_lives(state);
    reply = await_reply(state, posted->id, kLook);
  }
  if (reply)
    return tell(context, *reply);
  if (!lives) {
    complain(whose(context) +
             "the daemon ended before it answered; the request stays recorded for the next daemon");
    return ExitCode::unreachable;
  }
  const auto daemon = daemon_status(state);
  complain(whose(context) + "the daemon has not answered within " + duration_text(kAnswerPatience) +
           (daemon && daemon->disk_full ? ", because its disk is full" : "") +
           "; the request stays recorded");
  return ExitCode::unreachable;
}

ExitCode ask_daemon(const Context& context, const std::string& state, const Request& request,
                    bool wait) {
  return answered(context, state, post_request(state, request), wait);
}

/// Leaves the request for the next daemon, which cannot see any more who asked. What that daemon
/// would refuse is refused at once.
ExitCode record(const Context& context, const Request& request) {
  if (const auto code = refused_to_agent(context, request.verb))
    return *code;
  const auto seen = Rehearsal::of_root(context, {.as_daemon = true, .asked = request});
  if (!seen)
    return complain(seen.error());
  if (const auto reply = (*seen)->reply(); reply && !reply->accepted)
    return tell(context, *reply);
  const auto state = context.make_state_folder(context.root());
  if (!state)
    return complain(state.error());
  if (const auto id = post_request(*state, request); !id)
    return complain(id.error());
  print(whose(context) + "recorded; no daemon serves this root: run `baton run`\n");
  return finish();
}

ExitCode act(const Context& context, const Request& request) {
  const auto reply =
      act_offline(context, request, request.verb == "stop" ? Until::agents_ended : Until::answered);
  if (reply)
    return tell(context, *reply);
  // A daemon has started in the meantime.
  if (reply.error().code == Errc::served)
    if (const auto state = context.state_folder(); state && daemon_lives(*state))
      return ask_daemon(context, *state, request, true);
  return complain(reply.error());
}

/// The first text of the request that is not UTF-8, made printable; "" if all are. The file of a
/// request is JSON and cannot hold such bytes.
std::string not_utf8(const Request& request) {
  for (const std::string* const each : {&request.flow.name, &request.subject})
    if (bad_utf8(*each))
      return printable(*each, 200);
  if (json::is_utf8(*request.arguments))
    return {};
  for (const auto& member : request.arguments->GetObject())
    if (const auto text = json::text(member.value); text && bad_utf8(*text))
      return printable(*text, 200);
  return printable(request.arguments.dump(), 200);
}

}  // namespace

ExitLines submit_exits(bool waits) {
  if (!waits)
    return {{ExitCode::fine, "done, or recorded"},
            {ExitCode::failed, "refused; the message says why and what to do"},
            {ExitCode::usage, "wrong usage or configuration; no such flow"},
            {ExitCode::unreachable,
             "the root or its state cannot be reached, or the daemon does not answer"}};
  return {{ExitCode::fine, "done, or recorded; with --wait: the flow is done or idle"},
          {ExitCode::failed,
           "refused; the message says why and what to do. With --wait: the flow is blocked, "
           "failed, stopped or gone"},
          {ExitCode::usage, "wrong usage or configuration; no such flow"},
          {ExitCode::unreachable,
           "the root or its state cannot be reached, or the daemon does not answer; with --wait: "
           "no daemon serves the root"},
          {ExitCode::timed_out, "with --wait: the time of --timeout is over"}};
}

ExitCode submit(const Context& context, const Request& request, bool wait) {
  if (const std::string bad = not_utf8(request); !bad.empty()) {
    complain("the request has text that is not UTF-8: " + bad + "; nothing was requested");
    return ExitCode::usage;
  }
  const auto state = context.state_folder();
  if (state && daemon_lives(*state))
    return ask_daemon(context, *state, request, wait);
  if (!state && state.error().code != Errc::not_found)
    return complain(state.error());
  if (request.verb != "stop")
    if (const auto code = refused_beside_agents(context))
      return *code;
  if (request.verb == "resume" || request.verb == "start")
    return record(context, request);
  if (request.verb == "drain") {
    print(whose(context) + "no daemon serves this root: there is nothing to drain\n");
    return finish();
  }
  return act(context, request);
}

ExitCode submit(const std::vector<Context>& roots, const Request& request, bool wait) {
  struct Asked {
    std::string state;
    std::uint32_t running = 0;
    std::size_t nth = 0;  ///< index of the root
  };
  std::vector<Asked> served;
  for (std::size_t nth = 0; nth < roots.size(); ++nth)
    if (const auto state = roots[nth].state_folder(); state && daemon_lives(*state))
      served.push_back({*state, running_on(roots[nth]), nth});
  std::stable_sort(served.begin(), served.end(),
                   [](const Asked& a, const Asked& b) { return a.running < b.running; });
  std::vector<std::string> folders;
  folders.reserve(served.size());
  for (const Asked& each : served)
    folders.push_back(each.state);
  auto posted = post_requests(folders, request);
  ExitCode code = ExitCode::fine;
  for (std::size_t nth = 0; nth < roots.size(); ++nth) {
    const auto asked = std::find_if(served.begin(), served.end(),
                                    [&](const Asked& each) { return each.nth == nth; });
    code = graver(
        code,
        asked == served.end()
            ? submit(roots[nth], request, wait)
            : answered(roots[nth], asked->state,
                       std::move(posted[static_cast<std::size_t>(asked - served.begin())]), wait));
  }
  return code;
}

Result<void> add_count(const std::string& option, const std::string& given, Request& request) {
  if (given.empty())
    return {};
  int count = 0;
  const char* const end = given.data() + given.size();
  const auto read = std::from_chars(given.data(), end, count);
  if (read.ec != std::errc() || read.ptr != end || count < 1)
    return fail(Errc::usage, option + " must be a whole number of 1 or more, not `" +
                                 printable(given, 40) + "`");
  std::string member = option.substr(2);
  std::replace(member.begin(), member.end(), '-', '_');
  request.arguments.set(member, count);
  return {};
}

Result<Json> settings(const std::vector<std::string>& words, bool texts) {
  Json all = Json::object();
  for (const std::string& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(Errc::usage, "`" + printable(word, 200) + "` is not NAME=JSON");
    auto value = parse_json(word.substr(equals + 1));
    if (!value && texts && !bad_utf8(word))
      value = Json(word.substr(equals + 1));
    if (!value)
      return fail(Errc::usage,
                  "`" + printable(word, 200) +
                      "`: the value is not JSON: " + value.error().message +
                      "; a string needs double quotes, and the shell a second pair of quotes");
    all.set(word.substr(0, equals), *value);
  }
  return all;
}

}  // namespace baton
