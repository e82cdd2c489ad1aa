#!/bin/sh
# For `before` of developers: a git worktree of its own for each group. Made once, and found there by every later
# run; the branch is the planned one, else group/GROUP.
# usage: worktree.sh FOLDER GROUP [BRANCH]
set -eu
tree=$1/$2
branch=${3:-group/$2}
[ -e "$tree/.git" ] && exit
mkdir -p "$1"
if git show-ref --quiet --verify "refs/heads/$branch"; then
  git worktree add --quiet "$tree" "$branch"
else
  git worktree add --quiet -b "$branch" "$tree"
fi
