// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "dialects/fsm_loop/definition.h"
#include "dialects/fsm_loop/fsm_loop.h"
#include "dialects/fsm_loop/loop.h"
#include "dialects/fsm_loop/values.h"
#include "dialects/kinds.h"

namespace baton::fsm_loop {

namespace {

constexpr std::string_view kWhy = "the owner of the loop and its scope";

Claim path_claim(const std::string& path) {
  return Claim{"path:" + path, 1};
}

/// Of all loops with this name and `singleton`, only one may run at a time.
Claim singleton_claim(std::string_view loop_name) {
  return Claim{"loop:" + std::string(loop_name), 1};
}

/// Resolves links, so that two spellings of one path are one claim.
std::string real_path_of(const Environment& env, const std::string& path) {
  return env.real_path && path != env.root ? env.real_path(path) : path;
}

/// The paths that the loop claims. A path whose placeholder has no value claims the whole project,
/// which is the safe side.
std::vector<std::string> scope_paths(Snapshot& snapshot, const Loop& loop) {
  const Frame& frame = snapshot.memo.frames.front();
  const Json context = merged(*loop.context, *frame.record.context);
  Values values;
  values.context = &*context;
  values.loop = frame.record.loop_name;
  std::vector<std::string> paths;
  for (const std::string& each : loop.scope) {
    const auto filled = interpolate(each, values);
    paths.push_back(
        real_path_of(snapshot.view.env,
                     absolute_scope(snapshot.view.env.root, filled ? *filled : std::string())));
  }
  if (paths.empty())
    paths.push_back(absolute_scope(snapshot.view.env.root, ""));
  return paths;
}

void write_lock(Snapshot& snapshot, const std::vector<std::string>& paths, bool singleton,
                Decision& decision) {
  const std::string path = snapshot.paths.lock();
  const std::int64_t pid = std::max<std::int64_t>(1, snapshot.view.env.pid);
  const Accepted* const there = snapshot.present(path);
  if (there != nullptr && there->writer == "baton" &&
      json::integer(there->document->root(), "pid") == pid)
    return;
  if (snapshot.view.rejected.contains(path))
    return;  // a damaged lock of another program: it claims nothing, and baton leaves it as it is
  Json scope = Json::array();
  for (const std::string& each : paths)
    scope.push(each);
  Json lock = Json::object({{"loop_name", snapshot.record().loop_name},
                            {"scope", scope},
                            {"pid", pid},
                            {"started_at", snapshot.record().started_at}});
  if (singleton)
    lock.set("singleton", true);
  if (there != nullptr)
    decision.updates.emplace_back(
        Replace{path, there->document->digest(), lock.pretty(), std::string(kWhy)});
  else
    decision.updates.emplace_back(Create{path, lock.pretty(), std::string(kWhy)});
}

/// Moves a file of the loop to the history of its run.
void archive_file(Snapshot& snapshot, const std::string& path, std::string_view name,
                  std::string_view end, const std::string& why, Decision& decision) {
  const Record& record = snapshot.record();
  // If baton takes over an old copy of the state, the count in that copy is lower.
  const std::int64_t resumes = std::max(record.resume_count, snapshot.memo.resumes);
  const std::string count = resumes > 0 ? "." + std::to_string(resumes) : std::string();
  decision.updates.emplace_back(Move{path, snapshot.view.docs.at(path).document->digest(),
                                     snapshot.paths.archive(record.started_at, record.archived) +
                                         "/" + std::string(name) + count + std::string(end),
                                     why});
}

void archive_lock(Snapshot& snapshot, Decision& decision) {
  const Accepted* const lock = snapshot.present(snapshot.paths.lock());
  if (lock != nullptr && lock->writer == "baton")
    archive_file(snapshot, snapshot.paths.lock(), "lock", ".json", "the loop has ended", decision);
}

/// Archives the .pid file of a dead program. Other programs would conclude from it that nobody runs
/// the loop.
void archive_pid_file(Snapshot& snapshot, Decision& decision) {
  if (snapshot.present(snapshot.paths.pid()) != nullptr && owner_of(snapshot) == Owner::dead)
    archive_file(snapshot, snapshot.paths.pid(), "pid", "",
                 "the program that it names is not running any more", decision);
}

}  // namespace

void claim(Snapshot& snapshot, Decision& decision) {
  Memo& memo = snapshot.memo;
  if (snapshot.record().status != Status::running) {
    if (memo.scope_claimed)
      archive_lock(snapshot, decision);
    memo.scope_claimed = false;
    memo.scope.clear();
    return;
  }
  archive_pid_file(snapshot, decision);
  const Loop loop = loop_of(*memo.frames.front().definition);
  // The claim must stay the same if a link changes while the loop runs.
  if (memo.scope.empty())
    memo.scope = scope_paths(snapshot, loop);
  const std::vector<std::string>& paths = memo.scope;
  std::vector<Claim> claims;
  claims.reserve(paths.size() + 1);
  for (const std::string& path : paths)
    claims.push_back(path_claim(path));
  if (loop.singleton)
    claims.push_back(singleton_claim(snapshot.record().loop_name));
  memo.scope_claimed =
      memo.scope_claimed ||
      std::any_of(snapshot.view.runs.begin(), snapshot.view.runs.end(),
                  [](const Run& run) { return run.live() && run.key.subject == kSubject; });
  if (!memo.scope_claimed) {
    for (Desired& wanted : decision.desired)
      wanted.claims = claims;
    return;
  }
  decision.claims = std::move(claims);
  decision.locks = {snapshot.paths.lock()};
  write_lock(snapshot, paths, loop.singleton, decision);
}

std::vector<Claim> claims_of_other_program(const Snapshot& snapshot) {
  if (!other_program_holds_lock(snapshot))
    return {};
  const Value& lock = snapshot.view.docs.at(snapshot.paths.lock()).document->root();
  const std::string& root = snapshot.view.env.root;
  std::vector<Claim> claims;
  for (const std::string& path : texts_of(lock, "scope"))
    claims.push_back(path_claim(real_path_of(snapshot.view.env, absolute_scope(root, path))));
  if (claims.empty())
    claims.push_back(path_claim(absolute_scope(root, "")));
  if (json::boolean(lock, "singleton") == true)
    claims.push_back(singleton_claim(json::text(lock, "loop_name").value_or("")));
  return claims;
}

std::string absolute_scope(std::string_view root, std::string_view path) {
  return normalized(path.starts_with('/') ? std::string(path)
                                          : std::string(root) + "/" + std::string(path));
}

}  // namespace baton::fsm_loop
