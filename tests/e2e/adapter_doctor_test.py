# SPDX-License-Identifier: Apache-2.0
"""What `baton doctor` says of the programs of adapters. Small programs stand in for the real ones.
usage: adapter_doctor_test.py BATON"""

import json
import os
import subprocess

import world
from world import check, write


class Box(world.World):
    """Agents with adapters, and programs of these names in a folder on PATH."""

    def __init__(self, exe, **agents):
        super().__init__(exe, agents=agents)
        os.mkdir(self.home + "/bin")
        os.mkdir(self.home + "/me")

    def program(self, name, text):
        write(f"{self.home}/bin/{name}", f"#!/bin/sh\n{text}\n".encode())
        os.chmod(f"{self.home}/bin/{name}", 0o755)

    def environment(self, more):
        return {"HOME": self.home + "/me", "PATH": self.home + "/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", **more}

    def doctor(self, code=0, **more):
        """The findings about adapters, by level."""
        done = subprocess.run([self.exe, "doctor", "--json", *self.places()], env=self.environment(more), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=world.PATIENCE)
        check(done.returncode == code, done.returncode, done.stdout, done.stderr)
        found = {"fine": "", "warning": "", "error": ""}
        for each in json.loads(done.stdout)["findings"]:
            if each["check"] == "adapter":
                check(each["level"] == "fine" or each["advice"], each)
                found[each["level"]] += each["message"] + " -> " + each["advice"] + "\n"
        return found


VERSIONS = [
    ("echo '2.1.293 (Claude Code)'", "fine", "claude 2.1.293, a tested version"),
    ("echo '2.1.293.4'", "fine", "a tested version"),
    ("echo '2.1.2934'", "warning", "claude 2.1.2934 is not a tested version; tested: 2.1.293"),
    ("echo 'v3.0.0'", "warning", "claude 3.0.0 is not a tested version"),
    ("echo hello", "warning", "printed no version: hello"),
    ("echo 'no such library' >&2; exit 127", "warning", "ended with exit status 127: no such library"),
    ("sleep 1000", "warning", "did not end within 10s"),
    # The service's environment: what the adapter sets, without what it removes.
    ('echo "$DISABLE_AUTOUPDATER.${CLAUDECODE-7}"', "warning", "claude 1.7 is not a tested version"),
]


def versions(exe):
    for text, level, says in VERSIONS:
        with Box(exe, worker={"adapter": "claude"}) as box:
            box.program("claude", text)
            found = box.doctor(CLAUDECODE="1")
            check("worker: " in found[level] and says in found[level], text, "gave", found)
    with Box(exe, worker={"adapter": "goose"}, other={"adapter": "goose"}) as box:
        box.program("goose", "echo 1.2")
        found = box.doctor()["warning"]
        check("other, worker: goose 1.2" in found and "tested with no version" in found, found)


def logins(exe):
    with Box(exe, worker={"adapter": "claude"}) as box:
        box.program("claude", "echo 2.1.293")
        found = box.doctor()["warning"]
        check(all(each in found for each in ("no login here", "$ANTHROPIC_API_KEY", box.home + "/me/.claude/.credentials.json")), found)
        found = box.doctor(ANTHROPIC_API_KEY="x")
        check("the login is in ANTHROPIC_API_KEY" in found["fine"] and "login" not in found["warning"], found)
        write(box.home + "/other/.credentials.json", {})
        found = box.doctor(CLAUDE_CONFIG_DIR=box.home + "/other")["fine"]
        check("the login is in " + box.home + "/other/.credentials.json" in found, found)
        write(box.home + "/me/.claude/.credentials.json", {})
        check("/me/.claude/.credentials.json" in box.doctor()["fine"])
        # A daemon has an environment of its own.
        box.start(env={**os.environ, **box.environment({"CLAUDE_CODE_OAUTH_TOKEN": "x"})})
        found = box.doctor()["fine"]
        check("the login is in CLAUDE_CODE_OAUTH_TOKEN" in found, found)


def refusals(exe):
    with Box(exe, worker={"adapter": "codex"}) as box:
        box.program("codex", "echo codex-cli 0.155.1")
        found = box.doctor()
        check("0.155.1, a tested version" in found["fine"] and "git init" in found["warning"], found)
        os.mkdir(box.root + "/.git")
        check("git" not in box.doctor()["warning"])
        os.rmdir(box.root + "/.git")
        box.settings["agents"]["worker"]["args"] = ["--skip-git-repo-check"]
        box.configure()
        check("git" not in box.doctor()["warning"])
    with Box(exe, worker={"adapter": "claude", "args": ["--dangerously-skip-permissions"]}) as box:
        box.program("claude", "echo 2.1.293")
        if os.geteuid() != 0:
            world.skip("what root may not do: this is not root")
        found = box.doctor(code=1)["error"]
        check("claude refuses --dangerously-skip-permissions as root" in found and "IS_SANDBOX" in found, found)
        check(not box.doctor(IS_SANDBOX="1")["error"])


class Clone(Box):
    """A repository that somebody else has written. Each program and each script in it leaves a mark."""

    def __init__(self, exe, **agent):
        super().__init__(exe, worker=agent)
        os.mkdir(self.root + "/.git")
        self.mark = self.home + "/mark"
        for name in ("own", "claude", "sh", "evil.sh"):
            write(f"{self.root}/bin/{name}", f"#!/bin/sh\necho $0 >>{self.mark}\necho 1.2\n".encode())
            os.chmod(f"{self.root}/bin/{name}", 0o755)
        write(self.root + "/mine.yaml", {"name": "mine", "tested": "none", "command": ["./bin/own"], "version": ["./bin/own", "--version"]})
        write(self.root + "/clause.yaml", {"name": "claude", "tested": "none", "command": ["claude"], "version": ["./bin/own", "--version"]})
        self.config = self.root + "/baton.yaml"
        self.configure()
        self.path = ""

    def environment(self, more):
        all = super().environment(more)
        return {**all, "PATH": self.path + all["PATH"]}

    def executed(self):
        return os.path.exists(self.mark)


def nothing_executed(box, **more):
    found = box.doctor(**more)
    check(not box.executed(), open(box.mark).read() if box.executed() else "", found)
    return found


NOT_YET = "baton has not run here with this configuration yet"


def cloned_adapters(exe):
    """doctor executes nothing that an adapter of a cloned repository names."""
    for adapter in ("./mine.yaml", "./clause.yaml"):
        with Clone(exe, adapter=adapter) as box:
            box.program("claude", "echo 2.1.293")
            found = nothing_executed(box)["fine"]
            check("worker: version not asked: its adapter is a file, and " + NOT_YET in found, found)


def cloned_environments(exe):
    """A program of an adapter of baton's is asked, but the configuration sets nothing in its environment."""
    for sets in ({"PATH": "ROOT/bin"}, {"BASH_ENV": "ROOT/bin/evil.sh", "PATH": "ROOT/bin:/usr/bin:/bin"}):
        with Clone(exe, adapter="claude") as box:
            box.settings["agents"]["worker"]["env"] = {"set": {key: value.replace("ROOT", box.root) for key, value in sets.items()}}
            box.configure()
            write(box.home + "/bin/claude", b"#!/usr/bin/env bash\nsh -c 'pwd >&2; echo 2.1.293'\n")
            os.chmod(box.home + "/bin/claude", 0o755)
            check("2.1.293, a tested version" in nothing_executed(box)["fine"])


def cloned_programs(exe):
    """A program that is found in the repository is not asked: by PATH, or by a link from outside."""
    with Clone(exe, adapter="claude") as box:
        box.path = box.root + "/bin:"
        found = nothing_executed(box)["fine"]
        check(f"version not asked: {box.root}/bin/claude lies in {box.root}, and {NOT_YET}" in found, found)
    with Clone(exe, adapter="claude") as box:
        os.symlink(box.root + "/bin/claude", box.home + "/bin/claude")
        check("version not asked: " in nothing_executed(box)["fine"])
    # An installed script whose interpreter would be found in the repository.
    with Clone(exe, adapter="claude") as box:
        box.path = f"{box.home}/bin:{box.root}/bin:"
        for path, text in ((box.home + "/bin/claude", "#!/usr/bin/env node\n"), (box.root + "/bin/node", f"#!/bin/sh\ntouch {box.mark}\n")):
            write(path, text.encode())
            os.chmod(path, 0o755)
        nothing_executed(box)


def cloned_state(exe):
    """A state folder of the repository proves nothing, nor does the state of a root of another configuration."""
    with Clone(exe, adapter="./mine.yaml") as box:
        served, other = box.root + "/served", box.home + "/other"
        os.mkdir(served)
        os.mkdir(other)
        box.settings["roots"] = [served]
        box.configure()
        box.state = box.root + "/state"
        box.places = lambda: ["--config", box.config, "--state-dir", box.state]
        box.once()
        check(os.listdir(box.state), "there is a state folder")
        check(NOT_YET in nothing_executed(box)["fine"])
        box.state = box.home + "/state"
        write(box.home + "/mine.yaml", {"version": 1, "roots": [other], "agents": {}, "rules": []})
        own, box.config = box.config, box.home + "/mine.yaml"
        box.once()
        check(os.listdir(box.state), "there is a state folder")
        box.config = own
        box.settings["roots"] = [other]
        box.configure()
        check(NOT_YET in nothing_executed(box)["fine"])


def known(exe):
    """Where the daemon has run, doctor asks what the configuration names, in the environment of its agents."""
    with Clone(exe, adapter="./mine.yaml", env={"set": {"SAID": "1.2.3"}}) as box:
        write(box.root + "/bin/own", f"#!/bin/sh\ntouch {box.mark}\necho $SAID\n".encode())
        os.chmod(box.root + "/bin/own", 0o755)
        nothing_executed(box)
        box.start()
        check("mine 1.2.3" in box.doctor()["warning"] and box.executed())
        box.daemon.terminate()
        box.daemon.wait()
        check("mine 1.2.3" in box.doctor()["warning"])


if __name__ == "__main__":
    world.main_parts([versions, logins, refusals, cloned_adapters, cloned_environments, cloned_programs, cloned_state, known])
