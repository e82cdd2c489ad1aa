// The part of the machine that runs a loop inside in a git worktree of its own. An existing branch
// is checked out before that loop begins, and the folder is removed after it has ended.

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "dialects/fsm_loop/machine.h"

namespace baton::fsm_loop {

namespace {

/// $1: the folder, absolute; $2: the branch. An agent also needs the files that git does not have.
/// Repeating the command does no harm.
constexpr std::string_view kAttach = R"sh(set -e
[ -e "$1/.git" ] || git worktree add -- "$1" "$2" >&2
if [ -d .claude ]; then
  rm -rf "$1/.claude"
  cp -R .claude "$1/.claude"
fi
for file in .env .ll/ll.local.md; do
  [ -f "$file" ] || continue
  mkdir -p "$(dirname "$1/$file")"
  cp -p "$file" "$1/$file"
done
)sh";

/// Removes the folder $1. What nobody has committed is kept as a commit, below `refs/baton`.
constexpr std::string_view kDetach = R"sh(set -e
[ -e "$1" ] || { git worktree prune; exit 0; }
ours() { git -C "$1" "$2" "$3" -- . ':(exclude).claude' ':(exclude).env' ':(exclude).ll'; }
changes=$(ours "$1" status --porcelain)
if [ -n "$changes" ]; then
  ours "$1" add --all
  tree=$(git -C "$1" write-tree)
  commit=$(git -C "$1" -c user.name=baton -c user.email=baton@localhost commit-tree "$tree" \
    -p HEAD -m "Changes that a loop left in its worktree")
  git update-ref "refs/baton/worktrees/$(basename "$1")" "$commit"
fi
git worktree remove --force "$1" >&2
)sh";

/// `.worktrees/20260817-213501-subloop-epic-1`, as the original names it.
std::string folder_of(const Snapshot& snapshot, std::string_view branch) {
  std::string name = iso_time(snapshot.view.wall).substr(0, 19);
  name.erase(std::remove_if(name.begin(), name.end(), [](char c) { return c == '-' || c == ':'; }),
             name.end());
  std::replace(name.begin(), name.end(), 'T', '-');
  name += "-subloop-";
  for (const char c : branch)
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  return snapshot.view.env.root + "/.worktrees/" + name;
}

Json event_of(const Work& work) {
  return Json::object({{"branch", work.branch}, {"path", work.worktree}});
}

}  // namespace

std::string worktree_of(const Memo& memo) {
  std::size_t around = memo.frames.empty() ? 0 : memo.frames.size() - 1;
  // The command that removes a worktree does not run in it.
  if (around > 0 && memo.frames.back().work.step == Step::detach)
    --around;
  for (; around > 0; --around)
    if (const std::string& folder = memo.frames[around - 1].work.worktree; !folder.empty())
      return folder;
  return {};
}

/// Whether the loop inside can begin: it has its worktree, or it needs none. If not, the machine
/// has something else to do first.
bool Machine::has_worktree(Frame& frame, const LoopState& state) {
  if (state.worktree.empty() || !frame.work.worktree.empty())
    return true;
  const auto filled = interpolate(state.worktree, values(frame));
  if (!filled) {
    fault(frame, filled.error().message);
    return false;
  }
  const std::string branch(trimmed(*filled));
  if (branch.empty())
    return true;
  if (branch.find('\0') != std::string::npos) {
    fault(frame, "the name of the branch contains a NUL character");
    return false;
  }
  frame.work.branch = branch;
  frame.work.worktree = folder_of(snapshot_, branch);
  frame.work.step = Step::attach;
  stage(frame, "attach");
  return false;
}

std::optional<ActionResult> Machine::run_git(Frame& frame, std::string_view script,
                                             const Work& work) {
  constexpr Millis kTime{300'000};
  Desired wanted;
  wanted.subject = kSubject;
  wanted.role = kActionRole;
  wanted.purpose = "worktree";
  wanted.why = "a loop inside works in a git worktree";
  wanted.action = Action{
      {"/bin/sh", "-c", std::string(script), "worktree", work.worktree, work.branch}, "", false};
  RunLimits limits = snapshot_.view.env.limits;
  limits.timeout = kTime;
  wanted.limits = limits;
  return desired(frame, std::move(wanted));
}

bool Machine::attach_worktree(Frame& frame) {
  const LoopState& state = *state_of(frame);
  const auto result = run_git(frame, kAttach, frame.work);
  if (!result)
    return false;
  if (result->not_run.empty() && result->exit_code == 0) {
    events_.add("sub_loop_worktree_attached", event_of(frame.work));
    begin_child(frame, state);
    return true;
  }
  const std::string why =
      "the worktree cannot be made: " +
      (result->not_run.empty() ? mended_utf8(trimmed(result->error_output)) : result->not_run);
  events_.add("sub_loop_worktree_error",
              Json::object({{"branch", frame.work.branch}, {"error", why}}));
  frame.work.worktree.clear();
  if (!add_capture(frame, state.name, Json::object({{"error", why}})))
    return true;
  Transition way = transition_after_fault(loop_, state, why, values(frame));
  for (const Row& row : state.shorthand)
    if (way.kind != Transition::Kind::to && row.verdict == native_verdict(loop_.generation, "no"))
      way = resolve_target(loop_, state, row.target, values(frame));
  way.reason.clear();  // as in the original
  apply(frame, way, {});
  return true;
}

/// Runs in the frame of the loop that has ended. Its result counts even if the folder stays.
bool Machine::detach_worktree(Frame& frame) {
  Frame& around = *std::prev(snapshot_.memo.frames.end(), 2);
  const auto result = run_git(frame, kDetach, around.work);
  if (!result)
    return false;
  Json payload = event_of(around.work);
  const bool removed = result->not_run.empty() && result->exit_code == 0;
  if (!removed)
    payload.set("error", "the worktree cannot be removed: " +
                             (result->not_run.empty() ? mended_utf8(trimmed(result->error_output))
                                                      : result->not_run));
  events_.add(removed ? "sub_loop_worktree_detached" : "sub_loop_worktree_error", payload,
              snapshot_.memo.frames.size() - 2);
  around.work.worktree.clear();
  join_child(frame.work.end);
  return true;
}

}  // namespace baton::fsm_loop
