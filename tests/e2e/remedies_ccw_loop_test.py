# SPDX-License-Identifier: Apache-2.0
"""ccw_loop: in each condition in which a person has to act or may begin, the `do` of `baton status` helps. It is run as
it stands, or the edit that it names is made, and then the condition or the reason of the loop is another one.
usage: remedies_ccw_loop_test.py BATON [PART...]"""

import json
import os
import re

import remedies_test
import world
from ccw_loop_test import FOLDER, SKILL
from remedies_test import case
from world import check, wait_until, write

LAST = "no such table: orders"
FAILS = f"echo '{LAST}' >&2; exit 7"
STANDS_STILL = f"echo '{LAST}' >&2; exit 0"
WORKS = "exec sleep 1000"
# One hypothesis without evidence: debugging goes on.
DEBUGS = r"""now=$(date -u +%Y-%m-%dT%H:%M:%S.%3NZ)
"$BATON_EXE" set "$BATON_STATE_FILE" "/skill_state/debug/last_analysis_at=\"$now\"" >&2
echo 'no such table: orders' >&2"""
# Writes its old copy again and again, and never looks at what stands in the file.
RENEWS = r"""cp "$BATON_STATE_FILE" "$0.copy"
while [ ! -e "$0.leave" ]; do
  now=$(date -u +%Y-%m-%dT%H:%M:%S.%3NZ)
  sed 's/"updated_at": *"[^"]*"/"updated_at": "'"$now"'"/' "$0.copy" >"$0.new" && mv "$0.new" "$BATON_STATE_FILE"
  sleep 0.2
done"""
EARLIER, LATER = "2026-01-22T10:00:00Z", "2026-01-22T11:00:00Z"


def skill(**members):
    """A task list that is done, with other members of its parts."""
    made = json.loads(json.dumps(SKILL))
    for task in made["develop"]["tasks"]:
        task["status"] = "completed"
    made["develop"].update(completed=2, last_progress_at=EARLIER)
    for part, values in members.items():
        made[part] = {**made[part], **values} if isinstance(values, dict) else values
    return made


# A validation that ran no test.
UNTESTED = skill(validate={"last_run_at": LATER})
FAILED_TESTS = skill(validate={"last_run_at": LATER, "pass_rate": 50, "failed_tests": ["t"]})


class Loop(remedies_test.Case):
    """A loop whose executor does what `act` says."""

    def __init__(self, exe, act=WORKS, **options):
        super().__init__(exe)
        self.act(act)
        self.settings["rules"] = []
        self.settings["agents"] = {"executor": self.counting("/bin/sh", self.home + "/act.sh")}
        self.settings["dialects"] = {"ccw_loop": {"granularity": "action", "pause_grace": "1s", **options}}
        self.configure()

    def act(self, script):
        write(self.home + "/act.sh", (script + "\n").encode())

    def begun(self, skill_state=None, *more):
        """A running loop; with a state of the work, if one is given."""
        self.start()
        made = self.created(*more)
        if skill_state is not None:
            self.edit(**{"skill_state": skill_state})
        self.call("start", made)
        return made

    def created(self, *more):
        self.flow = "ccw_loop/" + self.call("create", "--title", "Add login", *more).stdout.split()[-1].split("/")[1]
        self.file = f"{FOLDER}/{self.flow.split('/')[1]}.json"
        return self.flow

    def edit(self, **members):
        self.call("set", f"{self.root}/{self.file}", *(f"/{name}={json.dumps(value)}" for name, value in members.items()))

    def works(self):
        self.act(WORKS)

    def pasted(self, condition, reason):
        """The `do` is a command that names the loop."""
        remedy = self.remedy(condition, reason, self.flow)
        check(self.flow in remedy, remedy)
        self.works()
        self.paste(remedy)
        self.changed(condition, reason, self.flow)


def created(exe):
    with case(exe, kind=Loop) as baton:
        baton.start()
        baton.created()
        baton.pasted("idle", "not_started")


def paused(exe):
    with case(exe, kind=Loop) as baton:
        baton.begun()
        baton.call("pause", baton.flow)
        baton.pasted("paused", "operator")
        baton.edit(status="paused")
        baton.pasted("paused", "files")


def write_conflict(exe):
    """An executor undoes a pause again and again. When it has left, the pause stands."""
    with case(exe, kind=Loop, act=RENEWS, pause_grace="30m") as baton:
        baton.begun()
        wait_until(lambda: os.path.exists(baton.home + "/act.sh.copy"), "it has its copy")
        baton.call("pause", baton.flow)
        wait_until(lambda: "was put back" in baton.lines("status", baton.flow)[0]["why"], "the pause is put back")
        write(baton.home + "/act.sh.leave", b"")
        baton.pasted("blocked", "write_conflict")


def no_progress(exe):
    with case(exe, kind=Loop, act=STANDS_STILL) as baton:
        baton.begun()
        baton.stands("blocked", "no_change", baton.flow)
        baton.quotes("blocked", "no_change", LAST, baton.flow)
        baton.pasted("blocked", "no_change")


def debugging_stuck(exe):
    with case(exe, kind=Loop, act=DEBUGS, max_debug=1) as baton:
        baton.begun(FAILED_TESTS)
        baton.quotes("blocked", "answer_wanted", LAST, baton.flow)
        check("confirmed no hypothesis" in baton.stands("blocked", "answer_wanted", baton.flow)["why"], "another one")
        baton.pasted("blocked", "answer_wanted")


def no_tests(exe):
    with case(exe, kind=Loop) as baton:
        baton.begun(UNTESTED)
        check("ran no test" in baton.stands("blocked", "answer_wanted", baton.flow)["why"], "another one")
        baton.pasted("blocked", "answer_wanted")


def limits(exe):
    """At the limit of iterations the loop is paused, or fails. The edit and then the command help."""
    for choice, (condition, reason) in {"pause": ("blocked", "cap_reached"), "fail": ("failed", "max_steps")}.items():
        with case(exe, kind=Loop, on_max_iterations=choice) as baton:
            baton.start()
            baton.created("--max-iterations", "1")
            baton.edit(skill_state=SKILL, current_iteration=1)
            baton.call("start", baton.flow)
            remedy = baton.remedy(condition, reason, baton.flow)
            check("`max_iterations`" in remedy and baton.file in remedy, remedy)
            baton.edit(max_iterations=9)
            commands = re.findall("`(baton [^`]*)`", remedy)
            check(len(commands) == 2 and commands[0] == "baton validate " + baton.file, commands)
            for command in commands:
                baton.paste(command)
            baton.changed(condition, reason, baton.flow)


def awaiting_choice(exe):
    with case(exe, kind=Loop) as baton:
        baton.start()
        baton.created()
        baton.edit(skill_state={**SKILL, "mode": "interactive"})
        baton.call("start", baton.flow, "--set", 'mode="interactive"')
        baton.pasted("blocked", "answer_wanted")
        baton.call("pause", baton.flow)
        baton.stands("paused", "operator", baton.flow)
        baton.call("resume", baton.flow)
        baton.stands("blocked", "answer_wanted", baton.flow)
        baton.call("answer", baton.flow, "--comment", "exit")
        baton.pasted("stopped", "operator")


def errors(exe):
    with case(exe, kind=Loop, act=FAILS) as baton:
        baton.begun()
        baton.quotes("failed", "attempts_exhausted", LAST, baton.flow)
        baton.pasted("failed", "attempts_exhausted")


def declared(exe):
    """By a validation without tests, and by another program."""
    with case(exe, kind=Loop, no_tests="fail") as baton:
        baton.begun(UNTESTED)
        check("ran no test" in baton.stands("failed", "declared", baton.flow)["why"], "another one")
        baton.pasted("failed", "declared")
        # Who retries says that there are tests now. So the loop validates again, and does not fail at once.
        wait_until(lambda: [each.purpose for each in baton.starts(baton.flow)] == ["validate"], "it validates again")
    with case(exe, kind=Loop) as baton:
        baton.begun()
        baton.edit(status="failed", failure_reason="no more budget")
        check("no more budget" in baton.stands("failed", "declared", baton.flow)["why"], "not the reason of the file")
        baton.pasted("failed", "declared")


def stopped(exe):
    with case(exe, kind=Loop) as baton:
        baton.begun()
        baton.call("stop", baton.flow)
        baton.pasted("stopped", "operator")
        baton.edit(status="failed")
        baton.pasted("stopped", "files")
        baton.edit(status="user_exit")
        baton.pasted("stopped", "agent")


def state_rejected(exe):
    """A master state that has never been valid, and one that is not valid any more."""
    with case(exe, kind=Loop) as baton:
        baton.start()
        baton.created()
        good = open(f"{baton.root}/{baton.file}", "rb").read()
        other = FOLDER + "/loop-v2-20260122T100000-abcdef01.json"
        for path, bad in ((other, b'{"loop_id": "loop-v2-20260122T100000-abcdef01",}'), (baton.file, b'{"title": 5}')):
            write(f"{baton.root}/{path}", bad)
            flow = "ccw_loop/" + os.path.basename(path).removesuffix(".json")
            remedy = baton.remedy("blocked", "file_rejected", flow)
            command, = re.findall("`(baton validate [^`]*)`", remedy)
            check(path in command, remedy)
            check(f"{path}:1:" in baton.stands("blocked", "file_rejected", flow)["why"], "no line and column")
            made = json.loads(good)
            made["loop_id"] = flow.split("/")[1]
            write(f"{baton.root}/{path}", made)
            baton.paste(command)
            baton.changed("blocked", "file_rejected", flow)


def state_gone(exe):
    """A loop that has lost its master state, and one of which only the notes are there."""
    with case(exe, kind=Loop) as baton:
        baton.begun()
        baton.call("pause", baton.flow)
        baton.stands("paused", "operator", baton.flow)
        os.remove(f"{baton.root}/{baton.file}")
        check(f"or `baton forget {baton.flow}`" in baton.remedy("gone", "files", baton.flow), "no command")
        baton.paste(f"baton forget {baton.flow}")
        baton.changed("gone", "files", baton.flow)
        write(f"{baton.root}/{FOLDER}/loop-v2-20260122T100000-abcdef01.progress/develop.md", b"# Development\n\n## Task\n")
        baton.flow = "ccw_loop/loop-v2-20260122T100000-abcdef01"
        baton.pasted("gone", "files")


PARTS = (created, paused, write_conflict, no_progress, debugging_stuck, no_tests, limits, awaiting_choice, errors, declared,
         stopped, state_rejected, state_gone)

if __name__ == "__main__":
    world.main_parts(PARTS)
