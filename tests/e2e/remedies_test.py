# SPDX-License-Identifier: Apache-2.0
"""Each `do` that `baton status` gives helps: it is run as it stands, or the edit that it names is made, and then the
condition or the reason of the flow is another one. A part is one reason or a few.
usage: remedies_test.py BATON [PART...]"""

import json
import os
import re
import shutil
import signal
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

    def quotes(self, condition, reason, last, flow="rules/t/a"):
        """`why` names a run of the flow by its short id, and has this last line of its error output."""
        why = self.stands(condition, reason, flow)["why"]
        names = [f"run {run['run'][:8]}" for run in self.lines("agents") if run["flow"] == flow]
        check(any(name in why for name in names) and last in why and "\n" not in why, why, names)

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


def case(exe, kind=Case, **more):
    """A world of that class, in whose root a person may type `baton`."""
    made = kind(exe, **more)
    os.mkdir(made.home + "/bin")
    os.symlink(made.exe, made.home + "/bin/baton")
    return made


def busy(baton):
    """From now on agents work for hours."""
    baton.settings["agents"]["worker"] = baton.counting(*HOURS)
    baton.configure()
    baton.call("reload")


def script(path, text):
    write(path, text.encode())
    os.chmod(path, 0o755)


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
        check("./bin/there" in remedy and "`baton reload`" in remedy and "`baton doctor`" in remedy, remedy)
        check("there" in baton.stands("blocked", "agent_unusable")["why"], "the program is not named")
        script(baton.home + "/bin/there", "#!/bin/sh\nsleep 1000\n")
        baton.paste("baton reload")
        baton.changed("blocked", "agent_unusable")


def exec_failed(exe):
    """A program that passes all checks and cannot be run: `do` names it, and then the command."""
    with case(exe, limits={"max_attempts": 1}) as baton:
        program = baton.home + "/bin/there"
        script(program, "\x7fELF garbage")
        baton.settings["agents"]["worker"] = {"command": [program]}
        baton.configure()
        baton.start()
        baton.ticket("a", "ready")
        baton.quotes("failed", "attempts_exhausted", "neither a program")
        remedy = baton.remedy("failed", "attempts_exhausted")
        check(program in remedy and "`baton retry rules/t/a`" in remedy, remedy)
        script(program, "#!/bin/sh\nsleep 1000\n")
        baton.paste("baton retry rules/t/a")
        baton.changed("failed", "attempts_exhausted")


def prompts(exe):
    """The prompt of an agent, and the one of a reaction."""
    for of_agent in (True, False):
        prompt = {"prompt": "nowhere.md"}
        react = {"to": "ready", "run": "worker", **({} if of_agent else prompt)}
        with case(exe, rules=[{**DONE, "react": [react]}], command=HOURS) as baton:
            baton.settings["agents"]["worker"].update(prompt if of_agent else {})
            baton.configure()
            baton.start()
            baton.ticket("a", "ready")
            remedy = baton.remedy("blocked", "agent_unusable")
            check("nowhere.md" in remedy and "`baton reload`" in remedy and "`baton doctor`" in remedy, remedy)
            write(baton.home + "/nowhere.md", b"Do it.\n")
            baton.paste("baton reload")
            baton.changed("blocked", "agent_unusable")


def folder(exe):
    with case(exe, command=HOURS) as baton:
        baton.settings["agents"]["worker"]["cwd"] = baton.home + "/place"
        baton.configure()
        baton.start()
        baton.ticket("a", "ready")
        remedy = baton.remedy("blocked", "agent_unusable")
        check(baton.home + "/place" in remedy and "`baton doctor`" in remedy, remedy)
        os.mkdir(baton.home + "/place")
        baton.paste("baton reload")
        baton.changed("blocked", "agent_unusable")


def cannot_launch(exe):
    """A name that the agent's program would take for an option."""
    with case(exe) as baton:
        baton.settings["agents"]["worker"] = baton.counting(*HOURS, "${subject}")
        baton.settings["rules"] = [{**DONE, "files": "tickets.json", "stage": "/all/{subject}"}]
        baton.configure()
        baton.start()
        write(baton.root + "/tickets.json", {"all": {"-x": "ready"}})
        remedy = baton.remedy("failed", "cannot_launch", "rules/t")
        check("`command:`" in remedy and "`worker`" in remedy and "`baton reload`" in remedy, remedy)
        busy(baton)
        baton.changed("failed", "cannot_launch", "rules/t")


def rejected(exe):
    rule = {**DONE, "react": [{"to": "ready", "run": "worker", "approval": True}]}
    with case(exe, rules=[rule]) as baton:
        baton.start()
        baton.ticket("a", "ready")
        baton.stands("blocked", "approval_wanted")
        baton.call("reject", "t/a")
        remedy = baton.remedy("stopped", "operator")
        check("/status of tickets/a.json" in remedy, remedy)
        baton.ticket("a", "draft")
        baton.changed("stopped", "operator")


def by_agent(exe):
    """An agent has paused its flow, and another one has stopped it."""
    for verb, condition in (("pause", "paused"), ("stop", "stopped")):
        with case(exe, command=("/bin/sh", "-c", f'exec "$BATON_EXE" {verb} "$BATON_FLOW" --root "$BATON_ROOT"')) as baton:
            baton.start()
            baton.ticket("a", "ready")
            baton.helps(condition, "agent", meanwhile=lambda: busy(baton))


def interrupted(exe):
    """Another program has ended an agent."""
    for choice, condition in (("hold", "blocked"), ("fail", "failed")):
        with case(exe, command=HOURS) as baton:
            baton.settings["on_interrupted"] = choice
            baton.configure()
            baton.start()
            baton.ticket("a", "ready")
            wait_until(baton.starts, "the agent")
            for run in baton.lines("agents"):
                os.kill(run["pid"], signal.SIGTERM)
            baton.quotes(condition, "interrupted", "")
            baton.helps(condition, "interrupted")


class Existing(Case):
    def run_command(self, *more):
        return [each for each in super().run_command(*more) if each != "--act-on-existing"]


def existing(exe):
    with case(exe, kind=Existing, command=HOURS) as baton:
        for number in range(30):
            baton.ticket(f"old{number}", "ready")
        baton.ticket("a", "ready")
        baton.start()
        baton.helps("blocked", "existing")


def reverted(exe):
    """git puts back a version whose stage would start an agent."""
    if shutil.which("git") is None:
        world.skip("git is not installed")
    with case(exe, command=HOURS) as baton:
        git = ["git", "-C", baton.root, "-c", "user.name=n", "-c", "user.email=n@example.org"]

        def commit():
            subprocess.run([*git, "add", "-A"], check=True)
            subprocess.run([*git, "commit", "-q", "-m", "x"], check=True)
        subprocess.run([*git, "init", "-q"], check=True)
        baton.start()
        baton.seen("ready")
        commit()
        baton.seen("done")
        commit()
        wait_until(baton.starts, "the agent")
        baton.call("stop", "t/a")
        baton.call("resume", "t/a")
        baton.stands("idle", "no_reaction")
        subprocess.run([*git, "checkout", "-q", "HEAD~1"], check=True)
        baton.helps("blocked", "reverted")


def log_changed(exe):
    """The last line of a log was removed, and another one was appended."""
    with case(exe, command=HOURS) as baton:
        baton.settings["rules"] = [{**DONE, "files": "tickets/{flow}.jsonl"}]
        baton.configure()
        path = baton.root + "/tickets/a.jsonl"
        write(path, b'{"status": "done"}\n')
        baton.start()
        with open(path, "a") as log:
            log.write('{"status": "open"}\n')
        baton.stands("idle", "no_reaction")
        write(path, b'{"status": "done"}\n{"status": "ready"}\n')
        baton.helps("blocked", "log_changed", says=(r"tickets/a\.jsonl",))
        wait_until(baton.starts, "the last line is worked")


def moved(exe):
    """The files of a flow go to another rule, and the former one is not configured any more."""
    with case(exe, command=HOURS) as baton:
        baton.start()
        baton.ticket("a", "ready")
        baton.stands("running", "agent")
        baton.settings["rules"] = [{**DONE, "name": "other"}]
        baton.configure()
        baton.call("reload")
        wait_until(baton.starts, "the agent")
        baton.helps("blocked", "moved", "rules/other/a")


def unconfigured(exe):
    """A flow whose rule is gone: `do` names both ways out."""
    for forgets in (False, True):
        with case(exe) as baton:
            former = {**DONE, "name": "former", "files": "former/{flow}.json"}
            baton.settings["rules"] = [former, DONE]
            baton.configure()
            baton.start()
            write(baton.root + "/former/a.json", {"status": "ready"})
            flow = "rules/former/a"
            baton.stands("blocked", "no_change", flow)
            baton.settings["rules"] = [DONE]
            baton.configure()
            baton.call("reload")
            remedy = baton.remedy("blocked", "unconfigured", flow)
            check("`baton reload`" in remedy and remedy.endswith(f"`baton forget {flow}`"), remedy)
            if forgets:
                baton.paste(f"baton forget {flow}")
            else:
                baton.settings["rules"] = [former, DONE]
                baton.configure()
                baton.paste("baton reload")
            baton.changed("blocked", "unconfigured", flow)


def file_missing(exe):
    rule = {**DONE, "files": {"ticket": "tickets/{flow}.json", "note": {"path": "notes/{flow}.json", "optional": True}},
            "stage": "ticket:/status", "react": [{"to": "ready", "set": {"note:/seen": True}}]}
    with case(exe, rules=[rule]) as baton:
        baton.start()
        baton.ticket("a", "ready")
        remedy = baton.remedy("blocked", "file_missing")
        check("write notes/a.json" in remedy and "baton validate" in remedy, remedy)
        write(baton.root + "/notes/a.json", {})
        baton.changed("blocked", "file_missing")


def conflict(exe):
    """Two files of one flow have a stage for the same subject."""
    rule = {**DONE, "files": {"one": "{flow}/one.json", "two": {"path": "{flow}/two.json", "optional": True}},
            "stage": "/all/{subject}"}
    with case(exe, rules=[rule], command=HOURS) as baton:
        baton.start()
        for name in ("one", "two"):
            # No agent is for this stage: it could start before the second file is seen.
            write(f"{baton.root}/a/{name}.json", {"all": {"x": "draft"}})
        remedy = baton.remedy("blocked", "conflict")
        check("baton validate" in remedy, remedy)
        write(baton.root + "/a/two.json", {"all": {}})
        baton.changed("blocked", "conflict")


def write_refused(exe):
    """A rule sets what the schema of its files forbids."""
    rule = {**DONE, "schema": "ticket.json", "react": [{"to": "ready", "set": {"/count": "many"}}]}
    with case(exe, rules=[rule]) as baton:
        write(baton.home + "/ticket.json", {"properties": {"count": {"type": "number"}}})
        baton.start()
        baton.ticket("a", "ready")
        remedy = baton.remedy("blocked", "write_refused")
        check("tickets/a.json" in remedy and "`baton reload`" in remedy, remedy)
        rule["react"] = [{"to": "ready", "set": {"/count": 5}}]
        baton.configure()
        baton.paste("baton reload")
        baton.changed("blocked", "write_refused")


def folder_unreadable(exe):
    """A folder of a rule is a link."""
    with case(exe) as baton:
        os.symlink("elsewhere", baton.root + "/tickets")
        baton.start()
        remedy = baton.remedy("blocked", "folder_unreadable", "")
        check("baton doctor" in remedy and "tickets" in remedy, remedy)
        os.unlink(baton.root + "/tickets")
        os.mkdir(baton.root + "/tickets")
        baton.changed("blocked", "folder_unreadable", "")


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
         no_stage, role_missing, agent_unusable, exec_failed, prompts, folder, cannot_launch, rejected, by_agent,
         interrupted, existing, reverted, log_changed, moved, unconfigured, file_missing, conflict, write_refused, folder_unreadable, gone)

if __name__ == "__main__":
    world.main_parts(PARTS, 14)
