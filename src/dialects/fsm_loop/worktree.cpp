// SPDX-License-Identifier: Apache-2.0

// The part of the machine that runs a loop inside in a git worktree of its own. An existing branch
// is checked out before that loop begins, and the folder is removed after it has ended.

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/digest.h"
#include "base/text.h"
#include "dialects/fsm_loop/machine.h"

namespace baton::fsm_loop {

namespace {

/// Makes the folder $1, absolute, with the branch $2, and prints where the loop works below it.
/// Copies files that git does not have and agents need. Repeating the command does no harm; after
/// an error nothing is left.
constexpr std::string_view kAttach = R"sh(set -e
trap '[ $? = 0 ] || { git worktree remove --force "$1" || true; } >/dev/null 2>&1' EXIT
git rev-parse --quiet --verify "refs/heads/$2^{commit}" >/dev/null ||
  { echo "there is no branch $2" >&2; exit 1; }
[ -e "$1/.git" ] || git worktree add -- "$1" "$2" >&2
prefix=$(git rev-parse --show-prefix)
folder=$1/$prefix
mkdir -p "$folder"
for file in .claude .env .ll/ll.local.md; do
  [ -e "$file" ] || continue
  mkdir -p "$(dirname "$folder/$file")"
  cp -R -n "$file" "$(dirname "$folder/$file")/"
done
printf %s "$prefix"
)sh";

/// Removes the folder $1. First it keeps what would be lost, as a commit below `refs/baton`:
/// changes that nobody has committed, and commits that no branch has. The folder is renamed before
/// it is removed, so a repetition never looks at half of it.
constexpr std::string_view kDetach = R"sh(set -e
rest() { rm -rf "$1.removed"; git worktree prune; }
[ -e "$1" ] || { rest "$1"; exit 0; }
[ "$(git -C "$1" rev-parse --show-toplevel 2>/dev/null)" = "$(realpath "$1")" ] ||
  { echo "$1 is no git worktree any more" >&2; exit 1; }
folder=$1/$(git rev-parse --show-prefix)
git -C "$folder" ls-files -z --others -- .claude .env .ll/ll.local.md |
  while IFS= read -r -d '' file; do
    ! cmp -s "$file" "$folder/$file" || rm -f "$folder/$file"
  done
keep=
if [ -n "$(git -C "$1" status --porcelain --untracked-files=all)" ]; then
  git -C "$1" -c advice.addEmbeddedRepo=false add --all
  ! git -C "$1" diff --cached --raw HEAD | grep -q '^:[0-7]* 160000' ||
    { echo "another repository lies in $1" >&2; exit 1; }
  keep=$(git -C "$1" -c user.name=baton -c user.email=baton@localhost commit-tree -p HEAD \
    -m "Changes that a loop left in its worktree" "$(git -C "$1" write-tree)")
elif [ -z "$(git for-each-ref --count=1 --contains "$(git -C "$1" rev-parse HEAD)")" ]; then
  keep=$(git -C "$1" rev-parse HEAD)
fi
if [ -n "$keep" ]; then
  ref=refs/baton/worktrees/$(basename "$1")
  n=
  while git rev-parse --quiet --verify "$ref$n" >/dev/null; do n=$((${n:-0} + 1)); done
  git update-ref "$ref$n" "$keep"
fi
mv "$1" "$1.removed"
rest "$1"
)sh";

/// `.worktrees/20260817-213501-subloop-epic-1-3fa0c2`, much as the original names it. The digits at
/// the end are other ones for each entry of a state of any loop.
std::string folder_of(const Snapshot& snapshot, std::string_view branch) {
  std::string name = iso_time(snapshot.view.wall).substr(0, 19);
  name.erase(std::remove_if(name.begin(), name.end(), [](char c) { return c == '-' || c == ':'; }),
             name.end());
  std::replace(name.begin(), name.end(), 'T', '-');
  name += "-subloop-";
  for (const char c : branch)
    name += is_letter(c) || is_digit(c) ? c : '-';
  constexpr std::size_t kDigits = 6;
  const Record& record = snapshot.memo.frames.front().record;
  const Digest digest = digest_of(text(snapshot.view.flow) + " " + record.started_at + " " +
                                  std::to_string(record.seq));
  return snapshot.view.env.root + "/.worktrees/" + name + "-" + hex(digest).substr(0, kDigits);
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
    if (const std::string& folder = memo.frames[around - 1].work.folder; !folder.empty())
      return folder;
  return {};
}

/// Whether the loop inside can begin: it has its worktree, or it needs none. If not, the machine
/// has something else to do first.
bool Machine::has_worktree(Frame& frame, const LoopState& state) {
  if (state.worktree.empty() || !frame.work.folder.empty())
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
      {"/bin/bash", "-c", std::string(script), "worktree", work.worktree, work.branch}, "", false};
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
    // The root may be a folder of the repository.
    const std::string_view prefix = trimmed(result->output, "/\n");
    frame.work.folder = frame.work.worktree;
    if (!prefix.empty())
      frame.work.folder += "/" + std::string(prefix);
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
  around.work.folder.clear();
  join_child(frame.work.end);
  return true;
}

}  // namespace baton::fsm_loop
