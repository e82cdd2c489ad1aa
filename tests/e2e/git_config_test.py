# SPDX-License-Identifier: Apache-2.0
"""The configuration of a git repository names programs: monitors, hooks, filters, transports. Nothing that baton asks git
starts one of them. usage: git_config_test.py BATON"""

import os
import shutil
import stat
import subprocess
import sys
import tempfile

from world import check, skip, write

CONFIG = """version: 1
agents: { dev: { command: [/bin/true] } }
dialects: { fsm_loop: {} }
rules: [ { name: t, files: "t/{flow}.json", stage: /status, react: [ { to: ready, run: dev } ] } ]
"""
LOOP = """name: x
initial: a
states:
  a: {action: 'true', evaluate: {type: diff_stall, max_stall: 1}, route: {"yes": done, "no": done, error: bad}}
  done: {terminal: true}
  bad: {terminal: true}
"""
REMOTE = [("core.repositoryformatversion", "1"), ("extensions.partialClone", "evil"), ("remote.evil.promisor", "true")]

# What the configuration says ({}: a program that leaves a mark), and what is broken for it.
CASES = {
    "fsmonitor": [("core.fsmonitor", "{}")],
    "hooksPath": [("core.hooksPath", "{hooks}")],
    "clean": [("filter.foo.clean", "{}"), ("filter.foo.required", "true")],
    "smudge": [("filter.foo.smudge", "{}")],
    "process": [("filter.foo.process", "{}"), ("filter.foo.required", "true")],
    "external diff": [("diff.external", "{}"), ("diff.foo.command", "{}")],
    "textconv": [("diff.foo.textconv", "{}")],
    "alias": [("alias.diff", "!{}"), ("alias.cat-file", "!{}"), ("alias.rev-parse", "!{}"), ("alias.config", "!{}")],
    "pager": [("core.pager", "{}"), ("pager.diff", "{}"), ("core.editor", "{}")],
    "ask": [("core.askPass", "{}"), ("credential.helper", "!{}"), ("gpg.program", "{}"), ("core.alternateRefsCommand", "{}")],
    "promisor: uploadpack": [*REMOTE, ("remote.evil.url", "{bare}"), ("remote.evil.uploadpack", "{}")],
    "promisor: ssh": [*REMOTE, ("remote.evil.url", "ssh://localhost/y"), ("core.sshCommand", "{}")],
    "promisor: ext": [*REMOTE, ("remote.evil.url", "ext::{}"), ("protocol.ext.allow", "always")],
    "promisor: proxy": [*REMOTE, ("remote.evil.url", "git://localhost/y"), ("core.gitProxy", "{}")],
}
HOOKS = ("post-index-change", "fsmonitor-watchman", "reference-transaction", "pre-commit", "post-checkout", "pre-auto-gc")


class Repository:
    def __init__(self, exe):
        self.exe = exe
        self.home = os.path.realpath(tempfile.mkdtemp(prefix="baton-git-config-"))
        self.top = self.home + "/top"
        self.marker = self.home + "/started"
        self.program = self.home + "/program"
        self.env = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "BATON_"))}
        self.env.update(HOME=self.home, GIT_CONFIG_NOSYSTEM="1", NO_COLOR="1", BATON_STATE_DIR=self.home + "/state")
        for hook in HOOKS:
            self.make_program(f"{self.home}/hooks/{hook}")
        self.make_program(self.program)
        write(self.top + "/baton.yaml", CONFIG.encode())
        write(self.top + "/.loops/x.yaml", LOOP.encode())
        write(self.top + "/t/1.json", b'{"status": "ready"}\n')
        self.git("init", "-q")
        self.git("init", "-q", "--bare", self.home + "/bare")
        self.git("config", "user.email", "t@example.org")
        self.git("config", "user.name", "T")
        self.git("add", "-A")
        self.git("commit", "-qm", "first")
        write(self.top + "/t/1.json", b'{"status": "other"}\n')
        self.git("add", "-A")
        write(self.top + "/.git/info/attributes", b"* diff=foo filter=foo\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.home)

    def make_program(self, path):
        write(path, f'#!/bin/sh\necho "$0" >>{self.marker}\nexit 1\n'.encode())
        os.chmod(path, stat.S_IRWXU)

    def git(self, *words):
        return subprocess.run(("git", *words), cwd=self.top, env=self.env, check=True, capture_output=True, text=True,
                              timeout=600).stdout

    def set(self, settings):
        for key, value in settings:
            self.git("config", key, value.format(self.program, hooks=self.home + "/hooks", bare=self.home + "/bare"))

    def lose_blob(self):
        """The repository says that a promisor has the object."""
        blob = self.git("ls-files", "-s", "t/1.json").split()[1]
        os.remove(f"{self.top}/.git/objects/{blob[:2]}/{blob[2:]}")

    def started(self):
        try:
            with open(self.marker) as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def look(self, case, *words, folder=None):
        """Runs a command after the work tree was touched, so that git has a reason to compare it."""
        os.utime(self.top + "/t/1.json", (1, 1))
        os.utime(self.top + "/baton.yaml", (1, 1))
        done = subprocess.run((self.exe, *words), cwd=folder or self.top, env=self.env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=600)
        check(not self.started(), case, words, "started", self.started())
        return done


def commands_that_look(exe):
    for case, settings in CASES.items():
        with Repository(exe) as repo:
            missing = case.startswith("promisor")
            if missing:
                repo.lose_blob()
            repo.set(settings)
            done = repo.look(case, "validate", "--staged")
            check(("is not in the repository" in done.stdout) == missing, case, done)
            check(missing or done.returncode == 0, case, done)
            done = repo.look(case, "validate", "--staged", "t/1.json", "t/nope.json")
            check("t/nope.json" in done.stdout + done.stderr, case, done)
            for words in (("validate",), ("status",), ("doctor",), ("hook", "install"), ("hook", "uninstall")):
                repo.look(case, *words)


def a_loop_that_asks_git(exe):
    """`diff_stall` compares the work tree, which git does through filters."""
    for case, settings in CASES.items():
        with Repository(exe) as repo:
            if case.startswith("promisor"):
                repo.lose_blob()
            repo.set(settings)
            repo.look(case, "start", "fsm_loop/x")
            done = repo.look(case, "run", "--once")
            said = repo.look(case, "events", "--json").stdout
            with open(repo.top + "/.loops/.running/x.events.jsonl") as file:
                told = file.read()
            verdict = '"type": "diff_stall"' in told or '"type":"diff_stall"' in told
            check(verdict, case, done, said, told)
            check(case.startswith("promisor") or '"error"' not in told, case, told)


def the_marks_work(exe):
    """Plain git does start the programs, so the test sees what it looks for."""
    seen = []
    for case, settings in CASES.items():
        with Repository(exe) as repo:
            if case.startswith("promisor"):
                repo.lose_blob()
            repo.set(settings)
            os.utime(repo.top + "/t/1.json", (1, 1))
            for words in (("status",), ("diff", "--stat"), ("diff", "--cached"), ("show", ":t/1.json")):
                subprocess.run(("git", *words), cwd=repo.top, env=repo.env, capture_output=True, stdin=subprocess.DEVNULL,
                               timeout=600)
            if repo.started():
                seen.append(case)
    needed = {"fsmonitor", "clean", "process", "external diff", "textconv", "promisor: uploadpack", "promisor: ssh",
              "promisor: ext"}
    check(needed <= set(seen), "git itself started only", seen)
    print("git itself starts:", ", ".join(seen))


def main():
    exe = os.path.realpath(sys.argv[1])
    if shutil.which("git") is None:
        skip("there is no git")
    for each in (the_marks_work, commands_that_look, a_loop_that_asks_git):
        if len(sys.argv) < 3 or each.__name__ in sys.argv[2:]:
            each(exe)
            print(each.__name__, "ok", flush=True)


if __name__ == "__main__":
    main()
