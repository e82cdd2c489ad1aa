# SPDX-License-Identifier: Apache-2.0
"""Each `do` that `baton status` gives for a workflow run helps, as remedies_test.py has it for rules. A part is one
state of src/dialects/agent_run/conditions.h.
usage: remedies_agent_run_test.py BATON [PART...]"""

import os
import re

import world
from agent_run_test import Runs
from remedies_test import RUN, case
from world import check, write

FLOW = "agent_run/r"
ONE = "name: one\nsteps:\n  - {id: a, agent: worker, prompt: p.md}\n"
WORKFLOW = ".agents/runs/r/workflow.yaml"
STATE = ".agents/runs/r/run_state.json"
HOURS = "sleep 1000"


def begun(exe, acts, text=ONE, *more, options=None, limits=None):
    """A world whose daemon has begun the run `r`."""
    runs = Runs(exe, acts, case(exe, limits=limits))
    runs.baton.settings["dialects"] = {"agent_run": options or {}}
    runs.baton.configure()
    runs.baton.start()
    runs.begin(runs.workflow(text), "r", *more)
    return runs


def works_for_hours(runs):
    runs.act("a", HOURS)
    runs.act("b", HOURS)


def helps(runs, condition, reason, *says):
    runs.baton.helps(condition, reason, FLOW, meanwhile=lambda: works_for_hours(runs), says=says)


def cancelled(exe):
    with begun(exe, {"a": HOURS}) as runs:
        runs.baton.stands("running", "agent", FLOW)
        runs.baton.call("stop", FLOW)
        runs.baton.helps("stopped", "operator", FLOW)


def cancelled_before(exe):
    """It was stopped when its first step had ended and the next one had not begun."""
    two = ONE + "  - {id: b, agent: worker, prompt: p.md, needs: [a]}\n"
    with begun(exe, {"a": "until_there go; report COMPLETED", "b": HOURS}, two) as runs:
        runs.baton.call("pause", FLOW)
        write(runs.acts + "/go", b"")
        runs.wait_for("r", "a", "COMPLETED")
        runs.baton.call("stop", FLOW)
        runs.wait_end("r", "CANCELLED")
        runs.baton.helps("stopped", "operator", FLOW)


def attempts_used_up(exe):
    with begun(exe, {"a": "echo no network >&2; exit 4"}, ONE, "--max-attempts", "1") as runs:
        helps(runs, "failed", "attempts_exhausted", RUN, "exit 4", "no network")


def attempts_used_up_by_report(exe):
    with begun(exe, {"a": """report FAILED ',"logs":["no network"]'"""}, ONE, "--max-attempts", "1") as runs:
        helps(runs, "failed", "attempts_exhausted", RUN, "exit 0", "no network")


def attempts_used_up_without_report(exe):
    with begun(exe, {"a": "echo all is well"}, ONE, "--max-attempts", "1") as runs:
        helps(runs, "failed", "attempts_exhausted", RUN, "exit 0", "report", "all is well")


def attempts_used_up_by_two(exe):
    """Both fail: the first agent ends when the second one works."""
    two = ONE + "  - {id: b, agent: worker, prompt: p.md}\n"
    acts = {"a": "until_there b_works; exit 1", "b": "touch $acts/b_works; exit 1"}
    with begun(exe, acts, two, "--max-attempts", "1", options={"on_failure": "drain"}) as runs:
        runs.wait_for("r", "a", "FAILED")
        runs.wait_for("r", "b", "FAILED")
        helps(runs, "failed", "attempts_exhausted", RUN)


def never_launched(exe):
    """The program of the agent is not there: first it is installed, then the command helps."""
    with Runs(exe, {}, case(exe)) as runs:
        runs.baton.settings["agents"]["default"] = {"command": ["./bin/there"]}
        runs.baton.configure()
        runs.baton.start()
        runs.begin(runs.workflow(ONE), "r", "--max-attempts", "1")
        remedy = runs.baton.remedy("failed", "attempts_exhausted", FLOW, says=["bin/there"])
        check("baton doctor" in remedy, remedy)
        write(runs.baton.home + "/bin/there", b"#!/bin/sh\nsleep 1000\n")
        os.chmod(runs.baton.home + "/bin/there", 0o755)
        runs.baton.paste(re.findall("`(baton retry [^`]*)`", remedy)[0])
        runs.baton.changed("failed", "attempts_exhausted", FLOW)


def gate_limit(exe):
    back = ONE + "  - {id: b, agent: worker, prompt: p.md, needs: [a], loop_back_to: a}\n"
    with begun(exe, {"a": "report COMPLETED", "b": """report COMPLETED ',"gate_failure":true,"logs":["a hole"]'"""},
               back, "--max-iterations", "1") as runs:
        helps(runs, "failed", "max_steps", RUN, "a hole", "max_iterations is 1")


def rejected_by_person(exe):
    asks = "name: one\nsteps:\n  - {id: a, agent: worker, prompt: p.md, human_in_the_loop: true}\n"
    with begun(exe, {"a": "report COMPLETED"}, asks, "--pause-for-human-input") as runs:
        runs.baton.stands("blocked", "approval_wanted", FLOW)
        runs.baton.call("reject", FLOW, "a", "--comment", "no tests")
        helps(runs, "stopped", "operator", "rejected", "no tests")


def approval_wanted(exe):
    asks = "name: two\nsteps:\n" + "".join(
        "  - {id: %s, agent: worker, prompt: p.md, human_in_the_loop: true}\n" % step for step in "ab")
    with begun(exe, {"a": "report COMPLETED", "b": """report COMPLETED ',"gate_failure":true,"logs":["a hole"]'"""},
               back, "--max-iterations", "1") as runs:
        helps(runs, "failed", "max_steps", RUN, "a hole", "max_iterations is 1")


def rejected_by_person(exe):
    asks = "name: one\nsteps:\n  - {id: a, agent: worker, prompt: p.md, human_in_the_loop: true}\n"
    with begun(exe, {"a": "report COMPLETED"}, asks, "--pause-for-human-input") as runs:
        runs.baton.stands("blocked", "approval_wanted", FLOW)
        runs.baton.call("reject", FLOW, "a", "--comment", "no tests")
        helps(runs, "stopped", "operator", "rejected", "no tests")


def approval_wanted(exe):
    asks = ("name: one\nsteps:\n  - {id: a, agent: worker, prompt: p.md, human_in_the_loop: true}\n"
            "  - {id: b c, agent: worker, prompt: p.md, human_in_the_loop: true}\n").replace("b c", "b")
    with begun(exe, {"a": "report COMPLETED", "b": "report COMPLETED"}, asks, "--pause-for-human-input") as runs:
        runs.wait_for("r", "a", "WAITING_ON_HUMAN")
        runs.wait_for("r", "b", "WAITING_ON_HUMAN")
        for _ in range(2):
            runs.baton.paste(runs.baton.remedy("blocked", "approval_wanted", FLOW))
        runs.baton.changed("blocked", "approval_wanted", FLOW)


def costly(exe, action):
    two = ONE + "  - {id: b, agent: worker, prompt: p.md, needs: [a]}\n"
    acts = {"a": """report COMPLETED ',"logs":["did"],"metrics":{"cost_usd":2}'""", "b": HOURS}
    return begun(exe, acts, two, options={"daily_cost_limit": 1, **action})


def raised(baton, remedy):
    """Does what the remedy says first: raises the limit. Gives the commands that follow."""
    check("`daily_cost_limit`" in remedy, remedy)
    baton.settings["dialects"]["agent_run"]["daily_cost_limit"] = 100
    baton.configure()
    return re.findall("`(baton [^`]*)`", remedy)


def cost_limit(exe):
    with costly(exe, {}) as runs:
        for command in raised(runs.baton, runs.baton.remedy("blocked", "cap_reached", FLOW)):
            check(command in ("baton reload", "baton doctor"), command)
        check(runs.baton.stands("blocked", "cap_reached", FLOW)["until"], "when does it end?")
        runs.baton.call("reload")
        runs.baton.changed("blocked", "cap_reached", FLOW)


def cost_limit_failed(exe):
    with costly(exe, {"cost_limit_action": "fail"}) as runs:
        reload, retry = raised(runs.baton, runs.baton.remedy("failed", "cap_reached", FLOW))
        check(reload == "baton reload", reload)
        runs.baton.call("reload")
        runs.baton.paste(retry)
        runs.baton.changed("failed", "cap_reached", FLOW)


def spoiled(exe, condition, reason, spoil, *says):
    """A run that waits for its second attempt while a file of it is spoiled. Gives its world and the remedy."""
    runs = begun(exe, {"a": "exit 1"}, ONE, "--max-attempts", "5", limits={"backoff": "1h", "max_backoff": "1h"})
    runs.baton.stands("waiting", "back_off", FLOW)
    spoil(runs)
    return runs, runs.baton.remedy(condition, reason, FLOW, says=says)


def state_rejected(exe):
    def spoil(runs):
        write(f"{runs.baton.root}/{STATE}", b'{"status": 1,}\n')

    runs, remedy = spoiled(exe, "blocked", "file_rejected", spoil, STATE + ":1:")
    with runs:
        runs.baton.paste(remedy)
        runs.baton.changed("blocked", "file_rejected", FLOW)


def state_gone(exe):
    runs, remedy = spoiled(exe, "gone", "files", lambda runs: os.remove(f"{runs.baton.root}/{STATE}"), STATE)
    with runs:
        runs.baton.paste(remedy)
        runs.baton.changed("gone", "files", FLOW)


def workflow_rejected(exe):
    def spoil(runs):
        write(f"{runs.baton.root}/{WORKFLOW}", b"steps: 1\n")

    runs, remedy = spoiled(exe, "blocked", "file_rejected", spoil, WORKFLOW + ":1:")
    with runs:
        check(WORKFLOW in remedy and "baton validate" in remedy, remedy)
        write(f"{runs.baton.root}/{WORKFLOW}", ONE.encode())
        runs.baton.changed("blocked", "file_rejected", FLOW)


PARTS = (cancelled, cancelled_before, attempts_used_up, attempts_used_up_by_report, attempts_used_up_without_report,
         attempts_used_up_by_two, never_launched, gate_limit, rejected_by_person, approval_wanted, cost_limit,
         cost_limit_failed, state_rejected, state_gone, workflow_rejected)

if __name__ == "__main__":
    world.main_parts(PARTS, 10)
