// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "dialects/ccw_loop/ccw_loop.h"
#include "dialects/ccw_loop/next_action.h"

namespace baton::ccw_loop {

namespace {

/// Answers requests, one at a time.
class RequestHandler {
 public:
  RequestHandler(Snapshot& snapshot, Writes& writes, Decision& decision)
      : snapshot_(snapshot), writes_(writes), decision_(decision) {}

  void handle(const Request& request) {
    if (request.verb == "start")
      start(request, member(*request.arguments, "set"));
    else if (request.verb == "resume")
      resume(request);
    else if (request.verb == "pause")
      pause(request);
    else if (request.verb == "stop")
      stop(request);
    else if (request.verb == "retry")
      retry(request);
    else if (request.verb == "answer")
      choose(request);
    else if (request.verb == "forget")
      forget(request);
  }

 private:
  void reply(const Request& request, bool accepted, std::string message) {
    decision_.replies.push_back(Reply{request.id, accepted, std::move(message)});
    snapshot_.memo.dealt.insert(request.id);
  }

  std::string declared() const { return std::string(word(snapshot_.loop.status)); }
  std::string name() const { return text(snapshot_.view.flow); }

  void move(const Request& request, Status status, const std::string& message,
            const std::string& failure_reason = "") {
    const bool beside_executor = status == Status::running && snapshot_.live() != nullptr;
    snapshot_.memo.resumed_over = beside_executor ? Word(word(snapshot_.loop.status)) : Word();
    writes_.status(snapshot_, status, failure_reason);
    writes_.because(request.verb + (request.by.empty() ? "" : " by " + printable(request.by, 80)));
    snapshot_.memo.hold.clear();
    snapshot_.memo.hold_why.clear();
    snapshot_.memo.idle = 0;
    snapshot_.memo.pause_asked = status == Status::paused;
    snapshot_.memo.exit_asked = status == Status::user_exit;
    snapshot_.memo.asking_agent = request.agent;
    snapshot_.memo.hurry = false;
    reply(request, true, message + beside());
  }

  /// A note for replies if the file has a version that baton did not accept; else empty.
  std::string beside() const {
    const auto refused = snapshot_.view.rejected.find(snapshot_.loop.path);
    if (refused == snapshot_.view.rejected.end())
      return "";
    const auto findings = parse_json(refused->second);
    const Value* const first = findings ? json::at(**findings, "/0") : nullptr;
    const std::string why = first == nullptr ? "" : text_of(*first, "message");
    return "; " + refused->first + " still has a version that was not accepted" +
           (why.empty() ? "" : " (" + printable(why, 300) + ")");
  }

  /// Writes the accepted status once more if the file has a rejected version. While an executor
  /// lives, baton leaves the file to it.
  void confirm(const Request& request) {
    if (snapshot_.live() != nullptr || !snapshot_.view.rejected.contains(snapshot_.loop.path))
      return;
    writes_.set("status", declared());
    writes_.because(request.verb + " once more");
  }

  std::string running_again() const {
    return snapshot_.live() == nullptr ? "running" : "running; the running executor continues";
  }

  /// `set` may have `mode`, and `force`, which restarts a loop that has ended.
  void start(const Request& request, const Value& given) {
    if (const auto fit = check_request(request); !fit)
      return reply(request, false, fit.error().message);
    const std::string mode = text_of(given, "mode");
    if (!mode.empty())
      snapshot_.memo.mode = mode;
    const bool force = json::boolean(given, "force").value_or(false);
    switch (snapshot_.loop.status) {
      case Status::created:
      case Status::paused:
      case Status::user_exit:
        move(request, Status::running, running_again());
        break;
      case Status::running:
        reply(request, true, "the loop is running already" + beside());
        break;
      case Status::completed:
      case Status::failed:
        if (force)
          move(request, Status::running, running_again());
        else
          reply(request, false,
                "the loop is " + declared() + ended_why() + "; `baton start " + name() +
                    " --set force=true` starts it again");
        break;
    }
  }

  std::string ended_why() const {
    const std::string reason = snapshot_.loop.text("failure_reason");
    return reason.empty() ? "" : " (" + printable(reason, 200) + ")";
  }

  void resume(const Request& request) {
    switch (snapshot_.loop.status) {
      case Status::paused:
      case Status::user_exit:
        move(request, Status::running, running_again());
        break;
      case Status::running:
        reply(request, true, "it is running" + beside());
        break;
      case Status::created:
        reply(request, false,
              "the loop has not been started; `baton start " + name() + "` begins it");
        break;
      case Status::completed:
      case Status::failed:
        reply(request, false,
              "the loop is " + declared() + ended_why() + ", not paused; `baton start " + name() +
                  " --set force=true` starts it again");
        break;
    }
  }

  void pause(const Request& request) {
    if (snapshot_.loop.status == Status::running)
      move(request, Status::paused,
           snapshot_.live() == nullptr ? "paused"
                                       : "paused; the executor is ended unless it exits within " +
                                             duration_text(snapshot_.options.pause_grace));
    else if (snapshot_.loop.status == Status::paused)
      keep_paused(request);
    else
      reply(request, false, "the loop is " + declared() + ", not running");
  }

  void keep_paused(const Request& request) {
    snapshot_.memo.pause_asked = true;
    snapshot_.memo.asking_agent = request.agent;
    confirm(request);
    reply(request, true, "it is paused" + beside());
  }

  void stop(const Request& request) {
    switch (snapshot_.loop.status) {
      case Status::created:
      case Status::running:
      case Status::paused:
        move(request, Status::failed, "stopped", std::string(kStoppedByUser));
        break;
      case Status::failed:
        confirm(request);
        reply(request, true, "it has ended" + ended_why() + beside());
        break;
      case Status::completed:
      case Status::user_exit:
        snapshot_.memo.hurry = snapshot_.live() != nullptr;
        reply(request, true,
              "the loop is " + declared() +
                  (snapshot_.memo.hurry ? "; the executor that is still running is ended"
                                        : " and no executor runs") +
                  beside());
        break;
    }
  }

  /// Restarts a loop that has failed. The engine forgives failed attempts of a running one.
  void retry(const Request& request) {
    if (snapshot_.loop.broken())
      move(request, Status::running, "running again");
    else if (snapshot_.loop.status == Status::failed)
      reply(request, false,
            "the loop was stopped; `baton start " + name() + " --set force=true` starts it again");
    else if (snapshot_.job.failures == 0 &&
             std::none_of(snapshot_.view.runs.begin(), snapshot_.view.runs.end(), left_something))
      reply(request, false, "no attempt at the next action has failed; the loop is " + declared());
  }

  /// Moves the loop's files away. The engine then forgets the loop; it refuses while an executor is
  /// alive. If baton has rejected a file of the loop, it moves nothing.
  void forget(const Request& request) {
    if (snapshot_.loop.status == Status::running)
      return reply(request, false,
                   "the loop is running; `baton stop " + name() + "` or pause it first");
    if (!snapshot_.view.rejected.empty())
      return reply(request, false,
                   printable(snapshot_.view.rejected.begin()->first, 200) +
                       " was not accepted; correct or remove it first");
    if (snapshot_.live() != nullptr)
      return;
    const std::string& folder = snapshot_.options.path;
    for (const auto& [path, accepted] : snapshot_.view.docs)
      if (accepted.present && accepted.document != nullptr && path.starts_with(folder + "/"))
        decision_.updates.emplace_back(
            Move{path, accepted.document->digest(),
                 folder + "/" + std::string(kForgotten) + "/" +
                     compact(iso_time(snapshot_.view.wall, true)) + path.substr(folder.size()),
                 "forgotten" + (request.by.empty() ? "" : " by " + printable(request.by, 80))});
  }

  /// The choice of a person in an interactive loop.
  void choose(const Request& request) {
    const std::string said = text_of(*request.arguments, "comment");
    const auto space = said.find_first_of(" :\n");
    const std::string chosen = lower(said.substr(0, space));
    if (!snapshot_.interactive()) {
      reply(request, false, "the loop asks nothing, because its mode is auto");
    } else if (snapshot_.loop.status != Status::running) {
      reply(request, false, "the loop is " + declared() + ", not running");
    } else if (chosen == "status") {
      reply(request, true, declared() + ", " + snapshot_.loop.summary());
    } else if (snapshot_.live() != nullptr) {
      reply(request, false, "an executor is running; answer when it has ended");
    } else if (chosen == "exit") {
      move(request, Status::user_exit, "put aside; `baton resume` continues");
    } else if (chosen.empty()) {
      reply(request, false,
            "choose the next action with `--comment`: develop, debug, validate, status, complete "
            "or exit; the executor gets the text after it");
    } else if (const auto action = parse_action(chosen); !action || *action == Action::init) {
      reply(request, false,
            "`" + printable(chosen, 40) +
                "` is not possible; choose develop, debug, validate, status, complete or exit; the "
                "executor gets the text after it");
    } else if (const std::string why = obstacle(snapshot_.loop, *action); !why.empty()) {
      reply(request, false, why);
    } else {
      snapshot_.memo.choice = chosen;
      snapshot_.memo.choice_key = snapshot_.job.key();
      snapshot_.memo.answer = space == std::string::npos ? "" : said.substr(space + 1);
      reply(request, true, "chosen: " + chosen);
    }
  }

  Snapshot& snapshot_;
  Writes& writes_;
  Decision& decision_;
};

}  // namespace

void answer(Snapshot& snapshot, Writes& writes, Decision& decision) {
  std::erase_if(snapshot.memo.dealt, [&](const std::string& id) {
    return std::none_of(snapshot.view.requests.begin(), snapshot.view.requests.end(),
                        [&](const Request& request) { return request.id == id; });
  });
  RequestHandler handler(snapshot, writes, decision);
  for (const Request& request : snapshot.view.requests) {
    const bool ours =
        std::find(kVerbs.begin(), kVerbs.end(), std::string_view(request.verb)) != kVerbs.end();
    if (!ours || request.flow != snapshot.view.flow || snapshot.memo.dealt.contains(request.id))
      continue;
    handler.handle(request);
    // baton writes the new status first. The next decision answers the other requests.
    if (!writes.updates(snapshot).empty())
      return;
  }
}

}  // namespace baton::ccw_loop
