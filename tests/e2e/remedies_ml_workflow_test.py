# SPDX-License-Identifier: Apache-2.0
"""ml_workflow: in each condition in which a person has to act, the `do` of `baton status` helps. It is run as it stands,
or the edit that it names is made, and then the condition or the reason of the workflow is another one.
usage: remedies_ml_workflow_test.py BATON [PART...]"""

import json
import os
import re

import remedies_test
import world
from ml_workflow_test import decision
from remedies_test import case
from world import check, wait_until, write

FLOW = "ml_workflow/wf"
FILE = "workflow_states/wf/state.json"
LAST = "no such table: orders"
WORKS = "exec sleep 1000"
# Ends its entry of the history. `$1`: scores, `$2`: status, `$3`: error_info.
ENDS = r"""
at=/step_history/$(($(grep -o '"step_number"' "$BATON_STATE_FILE" | wc -l) - 1))
ends() {
  "$BATON_EXE" set "$BATON_STATE_FILE" "$at/output={\"made\": 1}" "$at/validation_scores=$1" "$at/error_info=$3" \
    "$at/status=\"$2\"" >&2
  echo 'no such table: orders' >&2
}
case $ML_WORKFLOW_STEP in
  [136]|4) scores=null ;;
  *) scores='{"alignment_score": SCORE, "standardization_score": 9, "compatibility_score": 9}' ;;
esac
"""
PASSES = ENDS.replace("SCORE", "9.5") + 'ends "$scores" completed null'
FALLS_SHORT = ENDS.replace("SCORE", "1") + 'ends "$scores" completed null'
CRITICAL = ENDS + """ends null failed '{"error_type": "critical_error", "error_message": "no such project"}'"""
FAILS = f"echo '{LAST}' >&2; exit 7"


class Workflow(remedies_test.Case):
    """A workflow whose agents do what `act` says."""

    def __init__(self, exe, act=WORKS, **options):
        super().__init__(exe)
        self.act(act)
        self.settings["rules"] = []
        self.settings["agents"] = {"default": self.counting("/bin/sh", self.home + "/act.sh")}
        self.settings["dialects"] = {"ml_workflow": options}
        self.configure()

    def act(self, script):
        write(self.home + "/act.sh", (script + "\n").encode())

    def begun(self):
        self.start()
        self.call("start", "wf", "--dialect", "ml_workflow", "--requirements", "Derive churn features.")

    def read(self):
        with open(f"{self.root}/{FILE}") as file:
            return json.load(file)

    def edit(self, *assignments):
        self.call("set", f"{self.root}/{FILE}", *assignments)

    def why(self, condition, reason):
        return self.stands(condition, reason, FLOW)["why"]

    def pasted(self, condition, reason):
        """The `do` is a command that names the workflow. From then on agents work."""
        remedy = self.remedy(condition, reason, FLOW)
        check(FLOW in remedy, remedy)
        self.act(WORKS)
        self.paste(remedy)
        self.changed(condition, reason, FLOW)


def approval(exe):
    with case(exe, kind=Workflow, act=PASSES) as baton:
        baton.begun()
        check("approve the plan" in baton.why("blocked", "approval_wanted"), "another one")
        baton.pasted("blocked", "approval_wanted")


def approval_overdue(exe):
    with case(exe, kind=Workflow, act=PASSES, approval_patience="1s") as baton:
        baton.begun()
        wait_until(lambda: "was not decided within 1s" in baton.why("blocked", "approval_wanted"), "baton pauses it")
        baton.pasted("blocked", "approval_wanted")


def approval_decided(exe):
    with case(exe, kind=Workflow, act=PASSES, approval_patience="1s") as baton:
        baton.begun()
        wait_until(lambda: "was not decided within 1s" in baton.why("blocked", "approval_wanted"), "baton pauses it")
        state = baton.read()
        state["human_approvals"]["approval_history"].append(decision("plan", "approved"))
        write(f"{baton.root}/{FILE}", state)
        baton.pasted("blocked", "continue_wanted")


def limits(exe):
    """Too many plans, and too many steps."""
    for options, told in (({"plan_attempts": 1}, "1 plans did not pass"), ({"max_steps": 1}, "max_steps")):
        with case(exe, kind=Workflow, act=FALLS_SHORT, **options) as baton:
            baton.begun()
            check(told in baton.why("blocked", "answer_wanted"), baton.why("blocked", "answer_wanted"))
            baton.pasted("blocked", "answer_wanted")


def step_failed(exe):
    """By its own word, and because its agent dies again and again."""
    for act, told in ((CRITICAL, "no such project"), (FAILS, "step 1 failed")):
        with case(exe, kind=Workflow, act=act) as baton:
            baton.begun()
            check(told in baton.why("blocked", "answer_wanted"), baton.why("blocked", "answer_wanted"))
            baton.quotes("blocked", "answer_wanted", LAST, FLOW)
            baton.pasted("blocked", "answer_wanted")


def rejected(exe):
    """A state file that was good, one that is bad from the beginning, and both ways that `do` names."""
    with case(exe, kind=Workflow, act=PASSES) as baton:
        baton.begun()
        baton.stands("blocked", "approval_wanted", FLOW)
        good = baton.read()
        for recovers in (False, True):
            write(f"{baton.root}/{FILE}", b'{"status": "running",}\n')
            remedy = baton.remedy("blocked", "file_rejected", FLOW)
            check(f"{FILE}:1:" in baton.why("blocked", "file_rejected"), "no line and column")
            commands = re.findall("`(baton [^`]*)`", remedy)
            check(len(commands) == 2 and FILE in commands[0] and FLOW in commands[1], remedy)
            if recovers:
                baton.paste(commands[1])
            else:
                write(f"{baton.root}/{FILE}", good)
                baton.paste(commands[0])
            baton.changed("blocked", "file_rejected", FLOW)
        path = "workflow_states/other/state.json"
        write(f"{baton.root}/{path}", b"{}")
        remedy = baton.remedy("blocked", "file_rejected", "ml_workflow/other")
        check(path in remedy and "baton validate" in remedy, remedy)
        write(f"{baton.root}/{path}", {**good, "workflow_id": "other"})
        baton.changed("blocked", "file_rejected", "ml_workflow/other")


def by_the_file(exe):
    """What another program writes into the file."""
    for status, (condition, reason) in {"paused": ("paused", "files"), "failed": ("failed", "declared"),
                                        "cancelled": ("stopped", "files")}.items():
        with case(exe, kind=Workflow, act=PASSES) as baton:
            baton.begun()
            baton.stands("blocked", "approval_wanted", FLOW)
            baton.edit(f'/status="{status}"')
            check(f"says {status}" in baton.why(condition, reason), baton.why(condition, reason))
            baton.pasted(condition, reason)


def rejected_by_person(exe):
    with case(exe, kind=Workflow, act=PASSES) as baton:
        baton.begun()
        baton.stands("blocked", "approval_wanted", FLOW)
        baton.call("reject", FLOW, "plan", "--comment", "too large")
        baton.pasted("stopped", "operator")


def orders(exe):
    with case(exe, kind=Workflow, act=PASSES) as baton:
        baton.begun()
        for verb, condition in (("pause", "paused"), ("stop", "stopped")):
            baton.stands("blocked", "approval_wanted", FLOW)
            baton.call(verb, FLOW)
            baton.pasted(condition, "operator")


def gone(exe):
    with case(exe, kind=Workflow, act=PASSES) as baton:
        baton.begun()
        baton.stands("blocked", "approval_wanted", FLOW)
        os.remove(f"{baton.root}/{FILE}")
        check(f"{FILE} is gone" in baton.why("gone", "files"), baton.why("gone", "files"))
        baton.pasted("gone", "files")


PARTS = (approval, approval_overdue, approval_decided, limits, step_failed, rejected, by_the_file, rejected_by_person,
         orders, gone)

if __name__ == "__main__":
    world.main_parts(PARTS)
