# SPDX-License-Identifier: Apache-2.0
"""`baton validate --staged` and `baton hook` in real git repositories, and real pre-commit. A commit is judged
by what it holds, not by what lies in the work tree. usage: git_test.py BATON [PART...]"""

import json
import os
import re
import shutil
import subprocess
import tempfile

import world
from world import check, skip, write

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

GOOD = b'{"status": "ready"}\n'
BAD = b'{\n  "status": "redy"\n}\n'
CONFIG = """version: 1
rules:
  - name: tickets
    files: "tickets/{flow}.json"
    schema: ticket.schema.json
    stage: /status
    react: [{ to: ready, notify: true }]
"""
SCHEMA = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "required": ["status"],
          "properties": {"status": {"enum": ["ready", "done"]}}}


class Repository:
    """A project under git in a temporary folder, which sees nothing of the user's own settings."""

    def __init__(self, exe, folder=""):
        self.exe = exe
        self.home = os.path.realpath(tempfile.mkdtemp(prefix="baton-git-"))
        self.env = {key: value for key, value in os.environ.items()
                    if not key.startswith(("GIT_", "BATON_", "PRE_COMMIT"))}
        self.env.update(HOME=self.home, XDG_CONFIG_HOME=self.home + "/config", GIT_CONFIG_NOSYSTEM="1",
                        GIT_CONFIG_GLOBAL=self.home + "/gitconfig", NO_COLOR="1", LC_ALL="C.UTF-8",
                        BATON_STATE_DIR=self.home + "/state", PRE_COMMIT_HOME=self.home + "/pre-commit",
                        # Whoever asks for the network gets none.
                        http_proxy="http://127.0.0.1:9", https_proxy="http://127.0.0.1:9", PIP_NO_INDEX="1")
        write(self.home + "/gitconfig", b"[user]\nname = T\nemail = t@example.org\n[init]\ndefaultBranch = main\n")
        self.top = self.home + "/top"
        self.root = os.path.normpath(os.path.join(self.top, folder))
        os.makedirs(self.root + "/tickets")
        write(self.root + "/baton.yaml", CONFIG.encode())
        write(self.root + "/ticket.schema.json", SCHEMA)
        self.git("init", "-q")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.home)

    def run(self, *words, code=0, cwd=None, env=None):
        done = subprocess.run(words, cwd=cwd or self.top, env={**self.env, **(env or {})}, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=600)
        done.out = (done.stdout + done.stderr).decode(errors="replace")
        check(code is None or done.returncode == code, words, "ended with", done.returncode, "not", code, done.out)
        return done

    def git(self, *words, **more):
        return self.run("git", *words, **more)

    def baton(self, *words, **more):
        return self.run(self.exe, *words, **more)

    def ticket(self, name, content):
        path = os.path.join(os.fsencode(self.root), b"tickets", os.fsencode(name))
        with open(path, "wb") as file:
            file.write(content)

    def findings(self, *words, code=1, **more):
        done = self.baton("validate", "--staged", "--json", *words, code=code, **more)
        return [each["path"] for each in json.loads(done.stdout)["findings"]]

    def commits(self):
        done = self.git("rev-list", "--count", "--all", code=None)
        return int(done.stdout or 0)


def staged(exe):
    with Repository(exe) as repo:
        # Before the first commit there is no HEAD.
        check(repo.findings(code=0) == [], "an empty index has no findings")
        check(repo.findings(".", "nosuch", code=3) == ["nosuch"], "typed wrong without HEAD")
        repo.ticket("a.json", BAD)
        check(repo.findings(code=0) == [], "what is not staged does not count")
        repo.git("add", "tickets/a.json")
        check(repo.findings() == ["tickets/a.json"], "without HEAD")
        # Mended in the work tree alone, then in the index alone.
        repo.ticket("a.json", GOOD)
        check(repo.findings() == ["tickets/a.json"], "the index counts, not the work tree")
        repo.git("add", "-A")
        repo.ticket("a.json", BAD)
        check(repo.findings(code=0) == [], "the work tree does not count")
        repo.git("commit", "-qm", "one")
        check(repo.findings(code=0) == [], "what is committed already does not count")
        done = repo.baton("validate", "--staged", code=0)
        check("0 files checked:" in done.out, done.out)
        # Files of no known kind are counted, so that a hook that checks nothing says so; they are no fault.
        write(repo.top + "/README", b"text\n")
        repo.git("add", "README")
        done = repo.baton("validate", "--staged", code=0)
        check("0 files checked, 1 of no known kind skipped:" in done.out, done.out)
        # Who names one wants it checked, from wherever it is named.
        none = [("README", repo.top), ("../README", repo.root + "/tickets"), ("./tickets/../README", repo.top),
                (repo.top + "/README", repo.home + "/way/tickets")]
        os.symlink("top", repo.home + "/way")
        for name, folder in none:
            check(repo.findings(name, code=1, cwd=folder) == [os.path.relpath(repo.top + "/README", os.path.realpath(folder))],
                  "named", name)
            check("1 of no known kind skipped:" in repo.baton("validate", "--staged", "--skip-unknown", name, cwd=folder).out, name)
        check(repo.findings(".", code=0) == [], "a folder that holds it is not its name")
        # A named file is known by its content, as it is in the index.
        write(repo.top + "/loop.yaml", b"name: x\ninitial: b\nstates: {a: {action: 'true', next: d}, d: {terminal: true}}\n")
        repo.git("add", "loop.yaml")
        write(repo.top + "/loop.yaml", b"words")
        check("fsm_loop/S1" in repo.baton("validate", "--staged", "loop.yaml", code=1).out, "a loop by its content")
        repo.git("rm", "-qf", "loop.yaml")
        # A kind of one's own is for a file of any name that is named.
        write(repo.top + "/state", BAD)
        repo.git("add", "state")
        check(repo.findings("--as", "tickets", code=0) == [], "not JSON by its name")
        check(repo.findings("--as", "tickets", "state") == ["state"], "but by somebody's word")
        repo.git("reset", "-q", "README", "state")
        # Names of every kind.
        names = ["with blank.json", "-dash.json"]
        for name in names:
            repo.ticket(name, BAD)
        repo.git("add", "tickets")
        # Names that no rule takes for a flow are not looked at, a schema of one's own looks at all.
        check(repo.findings() == ["tickets/a.json", "tickets/with blank.json"], repo.findings())
        odd = ["new\nline.json", 'quo"te\t.json', b"not-utf8-\xff.json", "äöü.json", "a,b:c.json"]
        for name in odd:
            repo.ticket(name, BAD)
        repo.git("add", "tickets")
        found = repo.findings("--schema", "ticket.schema.json")
        wanted = {"tickets/a.json", "tickets/with blank.json", "tickets/-dash.json", "tickets/new\nline.json",
                  'tickets/quo"te\t.json', "tickets/not-utf8-\\xff.json", "tickets/äöü.json", "tickets/a,b:c.json"}
        check(wanted <= set(found), wanted - set(found))
        text = repo.baton("validate", "--staged", "--schema", "ticket.schema.json", code=1)
        check(b"tickets/new\\x0aline.json:2:13: error" in text.stdout, text.out)
        check(b"tickets/not-utf8-\\xff.json:2:13: error" in text.stdout, text.out)
        # Only some of them.
        check(repo.findings("--schema", "ticket.schema.json", "--", "tickets/with blank.json")
              == ["tickets/with blank.json"], "a path chooses")
        check(repo.findings("--schema", "ticket.schema.json", "tickets/*.json", code=3) == ["tickets/*.json"], "no path is a pattern")
        repo.git("reset", "-q")
        repo.git("clean", "-fdq")
        # Renamed, removed, made a link, another repository.
        repo.ticket("a.json", GOOD)
        repo.ticket("b.json", GOOD)
        repo.git("add", "-A")
        repo.git("commit", "-qam", "two")
        repo.git("mv", "tickets/a.json", "tickets/renamed.json")
        repo.git("rm", "-q", "tickets/b.json")
        check("1 file checked" in repo.baton("validate", "--staged").out, "renamed and removed")
        repo.ticket("renamed.json", BAD)
        repo.git("add", "-A")
        check(repo.findings() == ["tickets/renamed.json"], "renamed and changed")
        repo.git("reset", "-q", "--hard")
        os.remove(repo.root + "/tickets/a.json")
        os.symlink("/etc/passwd", repo.root + "/tickets/a.json")
        repo.git("add", "-A")
        check(repo.findings(code=3) == ["tickets/a.json"], "a link is not followed")
        repo.git("reset", "-q", "--hard")
        # From a folder below, and named as it is seen from there.
        repo.ticket("a.json", BAD)
        repo.git("add", "-A")
        check(repo.findings(cwd=repo.root + "/tickets") == ["a.json"], "seen from below")
        check(repo.findings("a.json", cwd=repo.root + "/tickets") == ["a.json"], "chosen from below")
        # Too large is wrong; the other one is still checked.
        repo.ticket("big.json", b" " * 5000)
        repo.git("add", "-A")
        check(sorted(repo.findings("--max-size", "1KiB")) == ["tickets/a.json", "tickets/big.json"], "too large")
        repo.git("reset", "-q", "--hard")
        # What was named and is not in the index was not checked, and is not passed over in silence.
        check(repo.findings("tickets/nosuch.json", "README", code=3) == ["tickets/nosuch.json", "README"], "typed wrong")
        done = repo.baton("validate", "--staged", "nosuch", code=3)
        check("nosuch:1:1: error: does not exist, and is not in the index [file]" in done.out, done.out)
        repo.ticket("fresh.json", BAD)
        done = repo.baton("validate", "--staged", "tickets/fresh.json", "tickets/a.json", code=3)
        check("tickets/fresh.json:1:1: error: is not in the index; `git add` it first [file]" in done.out, done.out)
        # What is as it was, was removed, or is a folder of nothing, is known.
        repo.git("rm", "-q", "tickets/b.json")
        os.makedirs(repo.top + "/empty")
        check(repo.findings("tickets/a.json", "tickets/b.json", "empty", "tickets", ".", code=0) == [], "known")
        repo.git("reset", "-q", "--hard")
        os.remove(repo.root + "/tickets/fresh.json")
        # Staged as to be added later holds nothing yet.
        repo.git("reset", "-q", "--hard")
        repo.ticket("later.json", BAD)
        repo.git("add", "-N", "tickets/later.json")
        check(repo.findings(code=0) == [], "an intention has no content")
        # Another index, as `git commit FILE` and hooks have it.
        other = {"GIT_INDEX_FILE": repo.home + "/index", "GIT_DIR": ".git"}
        repo.git("read-tree", "HEAD", env=other)
        repo.git("add", "tickets/later.json", env=other)
        check(repo.findings(env=other) == ["tickets/later.json"], "the index that is named counts")
    with Repository(exe) as repo:
        # Of what has a conflict there is no version to check.
        repo.ticket("a.json", GOOD)
        repo.git("add", "-A")
        repo.git("commit", "-qm", "one")
        repo.git("checkout", "-qb", "other")
        repo.ticket("a.json", b'{"status": "done"}\n')
        repo.git("commit", "-qam", "two")
        repo.git("checkout", "-q", "main")
        repo.ticket("a.json", b'{"status":   "ready"}\n')
        repo.git("commit", "-qam", "three")
        repo.git("merge", "-q", "other", code=1)
        repo.ticket("b.json", BAD)
        repo.git("add", "tickets/b.json")
        done = repo.baton("validate", "--staged", code=3)
        check("tickets/a.json:1:1: error: has a merge conflict" in done.out, done.out)
        check("tickets/b.json:2:13: error: " in done.out, "the others are checked", done.out)
        repo.ticket("b.json", GOOD)
        repo.git("add", "-A")
        check(repo.findings() == ["tickets/a.json"], "marks of a conflict are no JSON")
    with Repository(exe) as repo:
        # Without a configuration the top of the repository is the root, wherever the call comes from.
        os.remove(repo.root + "/baton.yaml")
        write(repo.top + "/coordination/pm_state.json", b"{}")
        write(repo.top + "/sub/coordination/pm_state.json", b"{}")
        repo.git("add", "-A")
        check(set(repo.findings()) == {"coordination/pm_state.json"}, "from the top", repo.findings())
        found = repo.findings(cwd=repo.top + "/sub")
        check(set(found) == {"../coordination/pm_state.json"}, "from a folder below", found)
        # Nor does a configuration from elsewhere make the current folder the root; --root does.
        write(repo.home + "/elsewhere.yaml", b"version: 1\n")
        found = repo.findings("--config", "../../elsewhere.yaml", cwd=repo.top + "/sub")
        check(set(found) == {"../coordination/pm_state.json"}, "configured from elsewhere", found)
        found = repo.findings("--root", ".", cwd=repo.top + "/sub")
        check(set(found) == {"coordination/pm_state.json"}, "a root that is named", found)
        # A configuration on the way up is the root still, and so are the roots one lists.
        write(repo.top + "/sub/baton.yaml", b"version: 1\n")
        found = repo.findings(cwd=repo.top + "/sub/coordination")
        check(set(found) == {"pm_state.json"}, "the nearest configuration", found)
        os.remove(repo.top + "/sub/baton.yaml")
        write(repo.home + "/elsewhere.yaml", b"version: 1\nroots: [top/sub]\n")
        found = repo.findings("--config", repo.home + "/elsewhere.yaml", cwd=repo.top + "/sub")
        check(set(found) == {"coordination/pm_state.json"}, "roots that are listed", found)
    with Repository(exe) as repo:
        # No repository, and a repository that has nothing to do with the root.
        outside = repo.home + "/outside"
        os.makedirs(outside)
        done = repo.baton("validate", "--staged", cwd=outside, code=3)
        check("not a git repository" in done.out, done.out)
        done = repo.baton("validate", "--staged", "--root", outside, code=2)
        check("does not belong to the repository" in done.out, done.out)
        done = repo.baton("validate", "--staged", env={"PATH": "/nonexistent"}, code=3)
        check("no git in PATH" in done.out, done.out)


def many(exe):
    with Repository(exe) as repo:
        for number in range(300):
            repo.ticket(f"t{number}.json", BAD if number % 100 == 0 else GOOD)
        repo.ticket("large.json", b'{"status": "ready", "pad": "' + b"x" * (40 << 20) + b'"}')
        repo.git("add", "-A")
        check(repo.findings() == ["tickets/large.json", "tickets/t0.json", "tickets/t100.json", "tickets/t200.json"],
              repo.findings())


LINE = re.compile(r"^tickets/a\.json:2:13: error: .*redy", re.M)


def plain_hook(exe):
    with Repository(exe) as repo:
        repo.baton("hook", "install")
        hook = repo.top + "/.git/hooks/pre-commit"
        check(os.access(hook, os.X_OK), "the hook is not executable")
        with open(hook, "rb") as file:
            check(file.read().count(b"\n") == 5, "the hook has five lines")
        repo.ticket("a.json", BAD)
        repo.git("add", "-A")
        repo.ticket("a.json", GOOD)  # not staged
        done = repo.git("commit", "-qm", "bad", code=1)
        check(LINE.search(done.out), "no line to click on", done.out)
        check(repo.commits() == 0, "a bad file was committed")
        repo.git("add", "-A")
        repo.ticket("a.json", BAD)  # not staged
        repo.git("commit", "-qm", "good")
        check(repo.commits() == 1, "a good file was not committed")
        # `git commit -a` and `git commit FILE` come with an index of their own.
        check(repo.git("commit", "-qam", "bad", code=1) and repo.commits() == 1, "-a")
        check(repo.git("commit", "-qm", "bad", "tickets/a.json", code=1) and repo.commits() == 1, "by name")
        check(repo.git("commit", "-qam", "bad", cwd=repo.root + "/tickets", code=1), "from below")
        # A linked work tree has its own index and the same hooks.
        linked = repo.home + "/linked"
        repo.git("worktree", "add", "-q", linked)
        write(linked + "/tickets/w.json", BAD)
        repo.git("add", "-A", cwd=linked)
        done = repo.git("commit", "-qm", "bad", cwd=linked, code=1)
        check("tickets/w.json:2:13: error" in done.out, done.out)
        write(linked + "/tickets/w.json", GOOD)
        repo.git("add", "-A", cwd=linked)
        repo.git("commit", "-qm", "good", cwd=linked)
        # Twice is once; gone is gone.
        with open(hook, "rb") as file:
            before = file.read()
        repo.baton("hook", "install", cwd=linked)
        with open(hook, "rb") as file:
            check(file.read() == before, "installed twice")
        # One that cannot run is mended, and one of a former version is replaced.
        os.chmod(hook, 0o644)
        repo.baton("hook", "install")
        check(os.access(hook, os.X_OK), "the hook is not executable again")
        head = b"".join(before.splitlines(True)[:2])
        write(hook, head + b"# >>> baton >>> `baton hook uninstall` takes this part out\ntrue || exit 1\n# <<< baton <<<\n")
        repo.baton("hook", "install", cwd=linked)
        with open(hook, "rb") as file:
            check(file.read() == before, "the hook of a former version")
        repo.baton("hook", "uninstall")
        check(not os.path.exists(hook), "a hook of ours was left behind")
        repo.baton("hook", "uninstall")
        repo.git("commit", "-qam", "bad")


def hook_of_others(exe):
    with Repository(exe) as repo:
        # core.hooksPath, relative as most have it, installed from a folder below.
        repo.git("config", "core.hooksPath", ".githooks")
        hook = repo.top + "/.githooks/pre-commit"
        repo.baton("hook", "install", cwd=repo.root + "/tickets")
        check(os.path.exists(hook), "core.hooksPath is not honoured")
        repo.baton("hook", "uninstall")
        # Another hook is left as it is, and the line to add is printed.
        others = [b"#!/bin/sh\n# mine\ntouch ran\nexit 0\n", b"#!/usr/bin/env python3\nprint()\n", b"\x7fELF\0\1", b""]
        for original in others:
            write(hook, original)
            os.chmod(hook, 0o750)
            for action in ("install", "uninstall"):
                said = repo.baton("hook", action, code=1 if action == "install" else 0).out
                with open(hook, "rb") as file:
                    check(file.read() == original, "another hook was touched", action)
                check(os.stat(hook).st_mode & 0o7777 == 0o750, "its mode changed", action)
                check(action == "uninstall" or ".githooks/pre-commit is another hook" in said, said)
        # The line does what the message says.
        line = repo.baton("hook", "install", code=1).out.rsplit(": ", 1)[1].strip()
        check(line.startswith("baton validate --staged"), line)
        write(hook, b"#!/bin/sh\nPATH=\"" + os.path.dirname(exe).encode() + b":$PATH\"\n" + line.encode() + b"\ntouch ran\n")
        os.chmod(hook, 0o755)
        repo.ticket("a.json", BAD)
        repo.git("add", "-A")
        check(LINE.search(repo.git("commit", "-qm", "bad", code=1).out), "the line that was added")
        check(not os.path.exists(repo.top + "/ran"), "the other part ran though the check failed")
        repo.ticket("a.json", GOOD)
        repo.git("add", "-A")
        repo.git("commit", "-qm", "good")
        check(os.path.exists(repo.top + "/ran"), "the other part did not run")
        # Only a person takes the line out again.
        said = repo.baton("hook", "uninstall", code=1).out
        check("Remove the line that calls `baton validate --staged`" in said, said)
        # What somebody added to a hook of baton's stays.
        os.remove(hook)
        repo.baton("hook", "install")
        with open(hook, "ab") as file:
            file.write(b"echo more\n")
        repo.baton("hook", "install", code=1)
        repo.baton("hook", "uninstall", code=1)
        with open(hook, "rb") as file:
            check(file.read().endswith(b"echo more\n"), "what was added is gone")
        os.remove(hook)
        os.symlink("elsewhere", hook)
        repo.baton("hook", "install", code=1)
        check(os.readlink(hook) == "elsewhere", "a link was replaced")
        repo.baton("hook", "put", code=2)
        repo.baton("hook", "install", cwd=repo.home, code=3)
    # The project is a folder of the repository.
    with Repository(exe, folder="some where/it's") as repo:
        repo.baton("hook", "install", cwd=repo.root)
        repo.ticket("a.json", BAD)
        repo.git("add", "-A")
        done = repo.git("commit", "-qm", "bad", code=1)
        check("some where/it's/tickets/a.json:2:13: error" in done.out, done.out)
        repo.ticket("a.json", GOOD)
        repo.git("add", "-A")
        repo.git("commit", "-qm", "good")


def without_baton():
    """PATH without the folders that have a baton."""
    return ":".join(each for each in os.environ["PATH"].split(":") if not os.path.lexists(each + "/baton"))


def at_commit(repo, env):
    """pre-commit as git calls it: a bad file keeps a commit back, and a good one does not."""
    before = repo.commits()
    repo.run("pre-commit", "install", env=env)
    repo.ticket("a.json", BAD)
    repo.git("add", "-A")
    repo.ticket("a.json", GOOD)  # not staged; pre-commit puts it aside
    done = repo.git("commit", "-qm", "bad", code=1, env=env)
    check(LINE.search(done.out), "no line to click on", done.out)
    check(repo.commits() == before, "a bad file was committed")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "good", env=env)
    check(repo.commits() == before + 1, "a good file was not committed")
    # The names of files are no options.
    write(repo.top + "/any.json", b"{}")
    for name in ("--schema=any.json", "-x.json", "--"):
        write(f"{repo.top}/{name}" + ("" if name.endswith(".json") else ".json"), b"{}")
    repo.ticket("b.json", BAD)
    repo.git("add", "-A")
    done = repo.git("commit", "-qm", "bad", code=1, env=env)
    check("tickets/b.json:2:13: error" in done.out, "names of files were options", done.out)
    repo.ticket("b.json", GOOD)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "names of files", env=env)


def hooks_as_shipped(repo):
    """A repository with the hooks, as a project names it."""
    folder = repo.home + "/baton"
    os.mkdir(folder)
    shutil.copy(os.path.join(TOP, ".pre-commit-hooks.yaml"), folder)
    repo.git("init", "-q", cwd=folder)
    repo.git("add", "-A", cwd=folder)
    repo.git("commit", "-qm", "hooks", cwd=folder)
    revision = repo.git("rev-parse", "HEAD", cwd=folder).out.strip()
    return f"repos:\n  - repo: {folder}\n    rev: {revision}\n    hooks:\n      - id: baton-validate\n".encode()


def pre_commit(exe):
    if shutil.which("pre-commit") is None:
        skip("there is no pre-commit")
    if not all(shutil.which(each, path=without_baton()) for each in ("git", "pre-commit", "sh")):
        skip("baton is installed beside git or pre-commit, so its absence cannot be tried")
    with Repository(exe) as repo:
        os.mkdir(repo.home + "/bin")
        os.symlink(exe, repo.home + "/bin/baton")
        installed = {"PATH": repo.home + "/bin:" + os.environ["PATH"]}
        write(repo.top + "/.pre-commit-config.yaml", hooks_as_shipped(repo))
        at_commit(repo, installed)
        # Without baton nothing is committed, and one line says what to do, however many files there are.
        for number in range(40):
            repo.ticket(f"more {number}.json", GOOD)
        repo.git("add", "-A")
        before = repo.commits()
        done = repo.git("commit", "-qm", "unchecked", code=1, env={"PATH": without_baton()})
        check(done.out.count("baton is not in PATH. To install it") == 1 and "apt-get install" in done.out, done.out)
        check(repo.commits() == before, "an unchecked file was committed")
        repo.git("commit", "-qm", "checked", env=installed)
        # pre-commit's own hook is another hook.
        with open(repo.top + "/.git/hooks/pre-commit", "rb") as file:
            before = file.read()
        repo.baton("hook", "install", code=1)
        repo.baton("hook", "uninstall")
        with open(repo.top + "/.git/hooks/pre-commit", "rb") as file:
            check(file.read() == before, "pre-commit's hook was touched")
    # What the page says for a repository that cannot be reached.
    with open(os.path.join(TOP, "docs", "validate.md"), encoding="utf-8") as file:
        page = re.search(r"^```yaml\n(repos:\n  - repo: local\n.*?)^```$", file.read(), re.M | re.S)[1]
    with Repository(exe) as repo:
        os.mkdir(repo.home + "/bin")
        os.symlink(exe, repo.home + "/bin/baton")
        write(repo.top + "/.pre-commit-config.yaml", page.encode())
        at_commit(repo, {"PATH": repo.home + "/bin:" + os.environ["PATH"]})


if __name__ == "__main__":
    world.main_parts([staged, many, plain_hook, hook_of_others, pre_commit])
