#include <algorithm>

#include "base/text.h"
#include "dialects/ccw_loop/ccw_loop.h"
#include "dialects/ccw_loop/next_action.h"

namespace baton::ccw_loop {

namespace {

/// One request after the other, on the loop as the files have it.
class Desk {
 public:
  Desk(Scene& scene, Writes& writes, Decision& decision)
      : scene_(scene), writes_(writes), decision_(decision) {}

  void deal(const Request& request) {
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
    scene_.memo.dealt.insert(request.id);
  }

  std::string declared() const { return std::string(word(scene_.loop.status)); }
  std::string name() const { return text(scene_.view.flow); }

  void move(const Request& request, Status status, const std::string& message,
            const std::string& failure_reason = "") {
    const bool beside_executor = status == Status::running && scene_.live() != nullptr;
    scene_.memo.resumed_over = beside_executor ? Word(word(scene_.loop.status)) : Word();
    writes_.status(scene_, status, failure_reason);
    writes_.because(request.verb + (request.by.empty() ? "" : " by " + printable(request.by, 80)));
    scene_.memo.hold.clear();
    scene_.memo.hold_why.clear();
    scene_.memo.idle = 0;
    scene_.memo.pause_asked = status == Status::paused;
    scene_.memo.hurry = false;
    reply(request, true, message + beside());
  }

  /// What counts may not be what stands in the file: then the answer says so.
  std::string beside() const {
    const auto refused = scene_.view.rejected.find(scene_.loop.path);
    if (refused == scene_.view.rejected.end())
      return "";
    const auto findings = parse_json(refused->second);
    const Value* const first = findings ? json::at(**findings, "/0") : nullptr;
    const std::string why = first == nullptr ? "" : text_of(*first, "message");
    return "; " + refused->first + " does not say so: what stands there was refused" +
           (why.empty() ? "" : " (" + printable(why, 300) + ")");
  }

  /// A word that is in force already is written once more where something else was left standing in
  /// the file: when an executor has left nobody else puts that right.
  void confirm(const Request& request) {
    if (scene_.live() != nullptr || !scene_.view.rejected.contains(scene_.loop.path))
      return;
    writes_.set("status", declared());
    writes_.because(request.verb + " once more");
  }

  std::string running_again() const {
    return scene_.live() == nullptr ? "running" : "running; the executor that is at work goes on";
  }

  /// Given may be `mode`, and `force`, which begins again what has ended.
  void start(const Request& request, const Value& given) {
    if (const auto fit = check_request(request); !fit)
      return reply(request, false, fit.error().message);
    const std::string mode = text_of(given, "mode");
    if (!mode.empty())
      scene_.memo.mode = mode;
    const bool force = json::boolean(given, "force").value_or(false);
    switch (scene_.loop.status) {
      case Status::created:
      case Status::paused:
      case Status::user_exit:
        move(request, Status::running, running_again());
        break;
      case Status::running:
        reply(request, true, "it is running already" + beside());
        break;
      case Status::completed:
      case Status::failed:
        if (force)
          move(request, Status::running, running_again());
        else
          reply(request, false,
                "the loop is " + declared() + ended_why() + "; `baton start " + name() +
                    " --set force=true` begins it again");
        break;
    }
  }

  std::string ended_why() const {
    const std::string reason = scene_.loop.text("failure_reason");
    return reason.empty() ? "" : " (" + printable(reason, 200) + ")";
  }

  void resume(const Request& request) {
    switch (scene_.loop.status) {
      case Status::paused:
      case Status::user_exit:
        move(request, Status::running, running_again());
        break;
      case Status::running:
        reply(request, true, "it is running" + beside());
        break;
      case Status::created:
      case Status::completed:
      case Status::failed:
        reply(request, false,
              "the loop is " + declared() + ended_why() + ", not paused; see `baton start`");
        break;
    }
  }

  void pause(const Request& request) {
    if (scene_.loop.status == Status::running)
      move(request, Status::paused,
           scene_.live() == nullptr ? "paused"
                                    : "paused; the executor is ended if it has not left within " +
                                          duration_text(scene_.options.pause_grace));
    else if (scene_.loop.status == Status::paused)
      keep_paused(request);
    else
      reply(request, false, "the loop is " + declared() + ", not running");
  }

  void keep_paused(const Request& request) {
    scene_.memo.pause_asked = true;
    confirm(request);
    reply(request, true, "it is paused" + beside());
  }

  void stop(const Request& request) {
    switch (scene_.loop.status) {
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
        scene_.memo.hurry = scene_.live() != nullptr;
        reply(request, true,
              "the loop is " + declared() +
                  (scene_.memo.hurry ? "; the executor that has not left yet is ended"
                                     : " and no executor runs") +
                  beside());
        break;
    }
  }

  /// A loop that has failed begins anew; attempts of one that runs are the engine's to forgive.
  void retry(const Request& request) {
    if (scene_.loop.broken())
      move(request, Status::running, "running again");
    else if (scene_.loop.status == Status::failed)
      reply(request, false,
            "the loop was stopped; `baton start " + name() + " --set force=true` begins it again");
    else if (scene_.job.failures == 0 &&
             std::none_of(scene_.view.runs.begin(), scene_.view.runs.end(), left_something))
      reply(request, false,
            "no attempt has failed at what is to be done now; the loop is " + declared());
  }

  /// Puts the loop's files away; without files it is the engine's to forget. An executor that lives
  /// is in the way, which the engine says, and so is a file that was refused: then all stays.
  void forget(const Request& request) {
    if (scene_.loop.status == Status::running)
      return reply(request, false,
                   "the loop is running; `baton stop " + name() + "` or pause it first");
    if (!scene_.view.rejected.empty())
      return reply(request, false,
                   printable(scene_.view.rejected.begin()->first, 200) +
                       " was refused as it stands; mend or remove it first");
    if (scene_.live() != nullptr)
      return;
    const std::string& folder = scene_.options.path;
    for (const auto& [path, accepted] : scene_.view.docs)
      if (accepted.present && accepted.document != nullptr && path.starts_with(folder + "/"))
        decision_.updates.emplace_back(
            Move{path, accepted.document->digest(),
                 folder + "/" + std::string(kForgotten) + "/" + compact(stamp(scene_.view.wall)) +
                     path.substr(folder.size()),
                 "forgotten" + (request.by.empty() ? "" : " by " + printable(request.by, 80))});
  }

  /// The menu of an interactive loop.
  void choose(const Request& request) {
    const std::string said = text_of(*request.arguments, "comment");
    const auto space = said.find_first_of(" :\n");
    const std::string chosen = lower_case(said.substr(0, space));
    if (!scene_.interactive()) {
      reply(request, false, "the loop does not ask: its mode is auto");
    } else if (scene_.loop.status != Status::running) {
      reply(request, false, "the loop is " + declared() + ", not running");
    } else if (chosen == "status") {
      reply(request, true, declared() + ", " + scene_.loop.summary());
    } else if (scene_.live() != nullptr) {
      reply(request, false, "an executor is at work; it asks again when it has ended");
    } else if (chosen == "exit") {
      move(request, Status::user_exit, "put aside; `baton resume` goes on");
    } else if (chosen.empty()) {
      reply(request, false,
            "what is to be done next? `--comment` says it: develop, debug, validate, status, "
            "complete or exit; what stands behind it is told to the executor");
    } else if (const auto action = parse_action(chosen); !action || *action == Action::init) {
      reply(request, false,
            "`" + printable(chosen, 40) +
                "` is no choice: develop, debug, validate, status, complete, exit; "
                "what stands behind it is told to the executor");
    } else if (const std::string why = obstacle(scene_.loop, *action); !why.empty()) {
      reply(request, false, why);
    } else {
      scene_.memo.choice = chosen;
      scene_.memo.choice_key = scene_.job.key();
      scene_.memo.answer = space == std::string::npos ? "" : said.substr(space + 1);
      reply(request, true, "chosen: " + chosen);
    }
  }

  Scene& scene_;
  Writes& writes_;
  Decision& decision_;
};

}  // namespace

void answer(Scene& scene, Writes& writes, Decision& decision) {
  std::erase_if(scene.memo.dealt, [&](const std::string& id) {
    return std::none_of(scene.view.requests.begin(), scene.view.requests.end(),
                        [&](const Request& request) { return request.id == id; });
  });
  Desk desk(scene, writes, decision);
  for (const Request& request : scene.view.requests) {
    const bool ours =
        std::find(kVerbs.begin(), kVerbs.end(), std::string_view(request.verb)) != kVerbs.end();
    if (!ours || request.flow != scene.view.flow || scene.memo.dealt.contains(request.id))
      continue;
    desk.deal(request);
    // Its word is written first; what comes next is asked again on that ground.
    if (!writes.updates(scene).empty())
      return;
  }
}

}  // namespace baton::ccw_loop
