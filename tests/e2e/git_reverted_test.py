# SPDX-License-Identifier: Apache-2.0
"""What real git puts back is no news: finished work is not done again, and nothing that is news is lost.
usage: git_reverted_test.py BATON [PART...]
"""

import os
import shutil
import subprocess

import world
from world import check, skip, wait_until

if shutil.which("git") is None:
    skip("git is not installed")

CLOSE = '"$BATON_EXE" set "$BATON_STATE_FILE" \'/status="done"\''
RULE = {"name": "t", "files": "tickets/{flow}.json", "stage": "/status", "done": ["done"],
        "react": [{"to": "ready", "run": "worker"}]}


class Repository(world.World):
    """Tickets in a repository: `a` was committed as ready, was worked on, and was committed as done."""

    def __init__(self, baton):
        super().__init__(baton, rules=[RULE], command=("sh", "-c", CLOSE))
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments, folder=None, code=0):
        settings = ["-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "core.hooksPath=/dev/null"]
        done = subprocess.run(["git", "-C", folder or self.root, *settings, *arguments], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, env={**os.environ, "GIT_EDITOR": "true"})
        check(code is None or done.returncode == code, "git", *arguments, done.stdout, done.stderr)
        return done.stdout

    def commit(self, text):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", text)

    def commit_in(self, folder):
        self.git("add", "-A", folder=folder)
        self.git("commit", "-q", "-m", "more", folder=folder)

    def work(self):
        self.ticket("a", "ready")
        self.commit("plan")
        self.start()
        self.is_now("done")
        self.idle()
        self.commit("work")
        check(len(self.starts()) == 1, self.starts())
        return self

    def line(self):
        return next(line for line in self.lines("status") if line["flow"] == "rules/t/a")

    def is_now(self, condition, reason=None):
        wait_until(lambda: (self.line()["condition"], self.line()["reason"]) == (condition, reason), condition, reason,
                   lambda: self.call("status").stdout)

    def started(self, number, *says):
        """So often and no more: what came before the canary has been seen."""
        self.canary()
        check(len(self.starts("rules/t/a")) == number, *says, self.starts())


def checkout(exe):
    with Repository(exe).work() as box:
        box.git("checkout", "-q", "HEAD~1")
        box.is_now("blocked", "reverted")
        check("baton resume rules/t/a" in box.line()["do"], box.line())
        box.git("checkout", "-q", "main")
        box.is_now("done")
        box.started(1, "after git checkout")
        box.git("checkout", "-q", "HEAD~1")
        box.is_now("blocked", "reverted")
        box.call("resume", "t/a")
        wait_until(lambda: len(box.starts("rules/t/a")) == 2, "resume acts on it")


def revert(exe):
    with Repository(exe).work() as box:
        box.git("revert", "--no-edit", "HEAD")
        box.is_now("blocked", "reverted")
        box.started(1, "after git revert")


def stash(exe):
    with Repository(exe) as box:
        box.ticket("a", "ready")
        box.commit("plan")
        box.start()
        box.is_now("done")
        box.idle()
        box.git("stash")
        box.is_now("blocked", "reverted")
        box.git("stash", "pop")
        box.is_now("done")
        box.started(1, "after git stash")


def while_down(exe):
    with Repository(exe).work() as box:
        box.daemon.terminate()
        box.daemon.wait()
        box.git("checkout", "-q", "HEAD~1")
        box.start()
        box.is_now("blocked", "reverted")
        box.started(1, "while no daemon ran")


def branches(exe):
    """Another branch has a ticket that was never seen, which is news, and an older version of one that was."""
    with Repository(exe).work() as box:
        box.git("switch", "-q", "-c", "other", "HEAD~1")
        box.is_now("blocked", "reverted")
        box.git("switch", "-q", "main")
        box.is_now("done")
        box.git("switch", "-q", "other")
        # An agent commits all the time; that makes nothing reverted.
        box.ticket("b", "ready", note="of this branch")
        wait_until(lambda: len(box.starts("rules/t/b")) == 1, "b is new")
        box.idle()
        box.commit("b")
        box.git("rebase", "-q", "main")
        box.is_now("done")
        box.git("switch", "-q", "main")
        box.git("merge", "-q", "other")
        box.is_now("done")
        box.started(1, "after branches")
        check(len(box.starts("rules/t/b")) == 1, box.starts())


def pull(exe):
    with Repository(exe).work() as box:
        other = box.home + "/other"
        box.git("clone", "-q", box.root, other)
        world.write(other + "/tickets/a.json", {"status": "ready", "note": "once more"})
        for name in "cde":
            world.write(f"{other}/tickets/{name}.json", {"status": "ready", "note": name})
        box.commit_in(other)
        box.git("pull", "-q", "--no-rebase", other, "main")
        wait_until(lambda: len(box.starts()) == 5, "what is new is worked on", box.starts)
        box.is_now("done")
        box.started(2, "after git pull")


def pull_many(exe):
    """One pull brings thousands of tickets. Each is worked once, and none of them again when git goes back and forth."""
    count = 5000 if world.COMPLETE and not world.sanitized(exe) else 150
    with Repository(exe).work() as box:
        other = box.home + "/other"
        box.git("clone", "-q", box.root, other)
        for number in range(count):
            world.write(f"{other}/tickets/n{number}.json", {"status": "ready", "n": number})
        box.commit_in(other)
        box.git("pull", "-q", "--no-rebase", other, "main")
        before = len(box.starts())
        while len(box.starts()) < count + 1:
            wait_until(lambda: len(box.starts()) > before, "tickets are worked:", len(box.starts()), "of", count)
            before = len(box.starts())
        box.idle()
        box.commit("work")
        box.git("checkout", "-q", "HEAD~1")
        box.git("checkout", "-q", "main")
        box.canary()
        flows = [each.flow for each in box.starts() if "canary" not in each.flow]
        check(len(flows) == len(set(flows)) == count + 1, len(flows), len(set(flows)))


def worktree(exe):
    """The root is a linked work tree, whose `.git` is a file."""
    with Repository(exe) as box:
        box.ticket("a", "ready")
        box.commit("plan")
        tree = box.home + "/tree"
        box.git("worktree", "add", "-q", "-b", "tree", tree)
        os.rename(box.root, box.home + "/main")
        box.git("worktree", "repair", tree, folder=box.home + "/main")
        box.root = tree
        box.start()
        box.is_now("done")
        box.idle()
        box.commit("work")
        box.git("checkout", "-q", "HEAD~1")
        box.is_now("blocked", "reverted")
        box.started(1, "in a work tree")


def by_a_program(exe):
    """A program that writes the bytes of an earlier version means it, also in a repository."""
    with Repository(exe).work() as box:
        box.ticket("a", "ready")
        wait_until(lambda: len(box.starts("rules/t/a")) == 2, "it is worked on again")
        box.is_now("done")
        box.settings["vcs"] = "act"
        box.configure()
        box.call("reload")
        box.git("checkout", "-q", "HEAD~1")
        wait_until(lambda: len(box.starts("rules/t/a")) == 3, "vcs: act")


def unreadable(exe):
    """A `.git` that is none, or cannot be read: then a version of git's counts like any other."""
    with Repository(exe).work() as box:
        shutil.rmtree(box.root + "/.git")
        for make in (lambda path: open(path, "w").write("gitdir: /nowhere\n"), lambda path: os.mkdir(path),
                     lambda path: os.mkfifo(path), lambda path: os.symlink("nowhere", path)):
            make(box.root + "/.git")
            count = len(box.starts("rules/t/a"))
            box.ticket("a", "ready")
            wait_until(lambda: len(box.starts("rules/t/a")) == count + 1, "it is worked on")
            box.is_now("done")
            box.idle()
            os.rmdir(box.root + "/.git") if os.path.isdir(box.root + "/.git") else os.unlink(box.root + "/.git")


if __name__ == "__main__":
    world.main_parts([checkout, revert, stash, while_down, branches, pull, pull_many, worktree, by_a_program, unreadable])
