#include <algorithm>
#include <vector>

#include "base/text.h"
#include "dialects/fsm_loop/definition.h"
#include "dialects/fsm_loop/fsm_loop.h"
#include "dialects/fsm_loop/loop.h"
#include "dialects/fsm_loop/values.h"

namespace baton::fsm_loop {

namespace {

constexpr std::string_view kWhy = "who runs the loop, and what it claims";

Claim path_claim(const std::string& path) {
  return Claim{"path:" + path, 1};
}

/// No two loops of one name that both say so.
Claim singleton_claim(std::string_view loop_name) {
  return Claim{"loop:" + std::string(loop_name), 1};
}

/// Two spellings of one place are one claim.
std::string real(const Environment& env, const std::string& path) {
  return env.real_path && path != env.root ? env.real_path(path) : path;
}

/// What a path of the scope cannot be filled in with claims the whole project: rather too much.
std::vector<std::string> paths_of(Scene& scene, const Loop& loop) {
  const Frame& frame = scene.memo.frames.front();
  const Json context = merged(*loop.context, *frame.record.context);
  Values values;
  values.context = &*context;
  values.loop = frame.record.loop_name;
  std::vector<std::string> paths;
  for (const std::string& each : loop.scope) {
    const auto filled = interpolate(each, values);
    paths.push_back(real(scene.view.env,
                         absolute_scope(scene.view.env.root, filled ? *filled : std::string())));
  }
  if (paths.empty())
    paths.push_back(absolute_scope(scene.view.env.root, ""));
  return paths;
}

void write_lock(Scene& scene, const std::vector<std::string>& paths, bool singleton,
                Decision& decision) {
  const std::string path = scene.places.lock();
  const std::int64_t pid = std::max<std::int64_t>(1, scene.view.env.pid);
  const auto found = scene.view.docs.find(path);
  const bool there = found != scene.view.docs.end() && found->second.present;
  if (there && found->second.writer == "baton" &&
      json::integer(found->second.document->root(), "pid") == pid)
    return;
  if (scene.view.rejected.contains(path))
    return;  // somebody's, and damaged: it blocks nobody, and is left as it is
  Json scope = Json::array();
  for (const std::string& each : paths)
    scope.push(each);
  Json lock = Json::object({{"loop_name", scene.record().loop_name},
                            {"scope", scope},
                            {"pid", pid},
                            {"started_at", scene.record().started_at}});
  if (singleton)
    lock.set("singleton", true);
  if (there)
    decision.updates.emplace_back(
        Replace{path, found->second.document->digest(), lock.pretty(), std::string(kWhy)});
  else
    decision.updates.emplace_back(Create{path, lock.pretty(), std::string(kWhy)});
}

/// Moves a file of the loop into the history of its run.
void put_away(Scene& scene, const std::string& path, std::string_view name, std::string_view end,
              const std::string& why, Decision& decision) {
  const Record& record = scene.record();
  // Not only by the state: a copy of it that is taken over once more counts from where it was.
  const std::int64_t resumes = std::max(record.resume_count, scene.memo.resumes);
  const std::string count = resumes > 0 ? "." + std::to_string(resumes) : std::string();
  decision.updates.emplace_back(Move{path, scene.view.docs.at(path).document->digest(),
                                     scene.places.archive(record.started_at, record.archived) +
                                         "/" + std::string(name) + count + std::string(end),
                                     why});
}

void put_lock_away(Scene& scene, Decision& decision) {
  const auto found = scene.view.docs.find(scene.places.lock());
  if (found != scene.view.docs.end() && found->second.present && found->second.writer == "baton")
    put_away(scene, found->first, "lock", ".json", "the loop has ended", decision);
}

/// What a program left that ran the loop before: others would take the loop for an orphan by it.
void put_pid_away(Scene& scene, Decision& decision) {
  const auto found = scene.view.docs.find(scene.places.pid());
  if (found != scene.view.docs.end() && found->second.present && owner_of(scene) == Owner::dead)
    put_away(scene, found->first, "pid", "", "the program it names is dead", decision);
}

}  // namespace

void claim(Scene& scene, Decision& decision) {
  Memo& memo = scene.memo;
  if (scene.record().status != Status::running) {
    if (memo.scoped)
      put_lock_away(scene, decision);
    memo.scoped = false;
    memo.scope.clear();
    return;
  }
  put_pid_away(scene, decision);
  const Loop loop = loop_of(*memo.frames.front().definition);
  // A link that is turned meanwhile must not change what is held.
  if (memo.scope.empty())
    memo.scope = paths_of(scene, loop);
  const std::vector<std::string>& paths = memo.scope;
  std::vector<Claim> claims;
  claims.reserve(paths.size() + 1);
  for (const std::string& path : paths)
    claims.push_back(path_claim(path));
  if (loop.singleton)
    claims.push_back(singleton_claim(scene.record().loop_name));
  memo.scoped = memo.scoped ||
                std::any_of(scene.view.runs.begin(), scene.view.runs.end(), [](const Run& run) {
                  return run.live() && run.key.subject == kSubject;
                });
  if (!memo.scoped) {
    for (Desired& wanted : decision.desired)
      wanted.claims = claims;
    return;
  }
  decision.claims = std::move(claims);
  decision.locks = {scene.places.lock()};
  write_lock(scene, paths, loop.singleton, decision);
}

std::vector<Claim> claims_of_another(const Scene& scene) {
  if (!lock_of_another(scene))
    return {};
  const Value& lock = scene.view.docs.at(scene.places.lock()).document->root();
  const std::string& root = scene.view.env.root;
  const Value* const scope = json::child(lock, "scope");
  std::vector<Claim> claims;
  const auto add = [&](const Value& path) {
    if (const auto text = json::text(path))
      claims.push_back(path_claim(real(scene.view.env, absolute_scope(root, *text))));
  };
  if (scope != nullptr && scope->IsArray())
    for (const Value& path : scope->GetArray())
      add(path);
  else if (scope != nullptr)
    add(*scope);
  if (claims.empty())
    claims.push_back(path_claim(absolute_scope(root, "")));
  if (json::boolean(lock, "singleton") == true)
    claims.push_back(singleton_claim(json::text(lock, "loop_name").value_or("")));
  return claims;
}

std::string absolute_scope(std::string_view root, std::string_view path) {
  std::string whole =
      path.starts_with('/') ? std::string(path) : std::string(root) + "/" + std::string(path);
  std::vector<std::string> parts;
  for (std::string& part : split(whole, '/')) {
    if (part.empty() || part == ".")
      continue;
    if (part != "..")
      parts.push_back(std::move(part));
    else if (!parts.empty())
      parts.pop_back();
  }
  return "/" + join(parts, "/");
}

}  // namespace baton::fsm_loop
