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


if __name__ == "__main__":
    world.main_parts([versions, logins, refusals])
