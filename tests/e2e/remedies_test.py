"""Each `do` that `baton status` gives helps: it is run as it stands, or the edit that it names is made, and then the
condition or the reason of the flow is another one. A row of ROWS is one reason.
usage: remedies_test.py BATON [PART...]"""

import json
import os
import re
import subprocess

import world
from world import check, wait_until, write

HOURS = ("sleep", "1000")
RUN = r"\brun [0-9a-f]{8}\b"
DONE = {"name": "t", "files": "tickets/{flow}.json", "stage": "/status", "done": ["done"],
        "react": [{"to": "ready", "run": "worker"}]}


class Case(world.World):
    """A world whose ticket `a` stands in one condition."""

    def stands(self, condition, reason, flow="rules/t/a"):
        def line():
            found = [each for each in self.lines("status") if each["flow"] == flow]
            return found[0] if found and (found[0]["condition"], found[0]["reason"]) == (condition, reason) else None
        return wait_until(line, flow, "is", condition, reason, lambda: self.lines("status"))

    def seen(self, status):
        """Writes the status of the ticket `a`, and waits until the daemon has seen it."""
        before = len(self.stages())
        self.ticket("a", status)
        wait_until(lambda: len(self.stages()) > before, status, "is seen")

    def stages(self):
        return [each for each in self.lines("events") if each["event"] == "stage" and each["flow"] == "rules/t/a"]

    def remedy(self, condition, reason, flow="rules/t/a", says=()):
        """The `do` of the flow; it names the flow, or what is to be edited. `says`: patterns that `why` has."""
        status = self.stands(condition, reason, flow)
        check(status["do"] and status["why"], status)
        check("\n" not in status["why"] and not status["why"].endswith("."), "`why` is no sentence:", status)
        check(all(re.search(each, status["why"]) for each in says), status, "has not", says)
        check("baton status" not in status["do"] and "baton explain" not in status["do"], status)
        return status["do"]

    def paste(self, remedy):
        """Runs the command as a person pastes it into a shell in the root."""
        check(remedy.startswith("baton "), remedy, "is no command")
        done = subprocess.run(["sh", "-c", remedy + " " + " ".join(self.places())], cwd=self.root, text=True,
                              env={**os.environ, "PATH": self.home + "/bin:" + os.environ["PATH"]},
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=world.PATIENCE)
        check(done.returncode == 0, remedy, "gave", done.returncode, done.stdout, done.stderr)

    def changed(self, condition, reason, flow="rules/t/a"):
        def other():
            found = [each for each in self.lines("status") if each["flow"] == flow]
            return not found or (found[0]["condition"], found[0]["reason"]) != (condition, reason)
        wait_until(other, flow, "is still", condition, reason)

    def helps(self, condition, reason, flow="rules/t/a", meanwhile=None, says=()):
        """The whole of it, for a `do` that is a command. `meanwhile` mends what the command alone does not."""
        remedy = self.remedy(condition, reason, flow, says)
        if meanwhile:
            meanwhile()
        self.paste(remedy)
        self.changed(condition, reason, flow)


def case(exe, **more):
    made = Case(exe, **more)
    os.mkdir(made.home + "/bin")
    os.symlink(made.exe, made.home + "/bin/baton")
    return made


def busy(baton):
    """From now on agents work for hours."""
    baton.settings["agents"]["worker"] = baton.counting(*HOURS)
    baton.configure()
    baton.call("reload")


def no_change(exe):
    with case(exe) as baton:
        baton.start()
        baton.ticket("a", "ready")
        baton.helps("blocked", "no_change", meanwhile=lambda: busy(baton))


def attempts_exhausted(exe):
    with case(exe, command=("false",)) as baton:
        baton.start()
        baton.ticket("a", "ready")
        baton.helps("failed", "attempts_exhausted", meanwhile=lambda: busy(baton))


def orders(exe):
    with case(exe, command=HOURS) as baton:
        baton.start()
        for verb, condition in (("pause", "paused"), ("stop", "stopped")):
            baton.call(verb, "--all")
            baton.ticket("a", "ready")
            remedy = baton.remedy(condition, "operator")
            check("--all" in remedy, remedy)
            baton.paste(remedy)
            baton.changed(condition, "operator")
            baton.call(verb, "t/a")
            if verb == "pause":
                baton.call("stop", "t/a")
            baton.helps("stopped", "operator")


def cap_reached(exe):
    with case(exe, limits={"spawns_per_hour": 1}) as baton:
        baton.start()
        baton.ticket("a", "ready")
        wait_until(lambda: len(baton.starts()) == 1, "the first start")
        baton.idle()
        baton.seen("rest")
        baton.seen("ready")
        baton.helps("blocked", "cap_reached")


def max_entries(exe):
    rule = {**DONE, "max_entries": 1}
    with case(exe, rules=[rule]) as baton:
        baton.start()
        for status in ("ready", "rest", "ready"):
            baton.seen(status)
        baton.helps("blocked", "max_entries")


def approval_wanted(exe):
    rule = {**DONE, "react": [{"to": "ready", "run": "worker", "approval": True}]}
    with case(exe, rules=[rule]) as baton:
        baton.start()
        baton.ticket("a", "ready")
        baton.helps("blocked", "approval_wanted")


def file_rejected(exe):
    with case(exe, command=HOURS) as baton:
        baton.start()
        write(baton.root + "/tickets/a.json", b'{"status": "ready",}\n')
        remedy = baton.remedy("blocked", "file_rejected")
        check("tickets/a.json" in remedy and "baton validate" in remedy, remedy)
        check("a.json:1:" in baton.stands("blocked", "file_rejected")["why"], "no line and column")
        baton.ticket("a", "ready")
        baton.changed("blocked", "file_rejected")


def unknown_stage(exe):
    with case(exe, rules=[{**DONE, "stages": ["draft"]}], command=HOURS) as baton:
        baton.start()
        baton.ticket("a", "reddy")
        remedy = baton.remedy("blocked", "unknown_stage")
        check("tickets/a.json" in remedy, remedy)
        check("did you mean `ready`?" in baton.stands("blocked", "unknown_stage")["why"], "no nearest word")
        baton.ticket("a", "ready")
        baton.changed("blocked", "unknown_stage")


def no_stage(exe):
    with case(exe, command=HOURS) as baton:
        baton.start()
        write(baton.root + "/tickets/a.json", {"state": "ready"})
        remedy = baton.remedy("blocked", "no_stage")
        check("/status" in remedy or "tickets/a.json" in remedy, remedy)
        baton.ticket("a", "ready")
        baton.changed("blocked", "no_stage")


def role_missing(exe):
    with case(exe, agents={"other": {"command": ["true"]}}) as baton:
        baton.start()
        baton.ticket("a", "ready")
        remedy = baton.remedy("blocked", "role_missing")
        check("worker" in remedy and "baton reload" in remedy, remedy)
        baton.settings["agents"]["worker"] = baton.counting(*HOURS)
        baton.configure()
        baton.call("reload")
        baton.changed("blocked", "role_missing")


def agent_unusable(exe):
    with case(exe, agents={"worker": {"command": ["./bin/there", "x"]}}) as baton:
        baton.start()
        baton.ticket("a", "ready")
        remedy = baton.remedy("blocked", "agent_unusable")
        check("baton doctor" in remedy, remedy)
        check("there" in baton.stands("blocked", "agent_unusable")["why"], "the program is not named")
        write(baton.home + "/bin/there", b"#!/bin/sh\nsleep 1000\n")
        os.chmod(baton.home + "/bin/there", 0o755)
        baton.changed("blocked", "agent_unusable")


def gone(exe):
    with case(exe, command=("false",)) as baton:
        baton.start()
        baton.ticket("a", "ready")
        baton.stands("failed", "attempts_exhausted")
        os.remove(baton.root + "/tickets/a.json")
        remedy = baton.remedy("gone", "files")
        check("baton forget rules/t/a" in remedy, remedy)
        baton.call("forget", "rules/t/a")
        baton.changed("gone", "files")


PARTS = (no_change, attempts_exhausted, orders, cap_reached, max_entries, approval_wanted, file_rejected, unknown_stage,
         no_stage, role_missing, agent_unusable, gone)

if __name__ == "__main__":
    world.main_parts(PARTS)
