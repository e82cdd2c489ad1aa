# SPDX-License-Identifier: Apache-2.0
"""A healthy run of each dialect is no noise: `notify:` hears `finished` once, and before it only the approvals that the
run asks of a person. The agents are those of the examples, and do their work well. usage: finished_test.py BATON [PART ...]"""

import json
import os
import shutil
import signal
import subprocess

import world
from world import check, wait_until, write

EXAMPLES = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples"))
NOTIFY = """#!/bin/sh
cat >>"$(dirname "$0")/told"
"""


class Healthy(world.World):
    """A daemon that serves a copy of the example of the dialect. A role without an agent of its own has `default`."""

    def __init__(self, exe, dialect, options=None, agents=None):
        super().__init__(exe, agents=agents or {"default": self.example(dialect, "agent.sh")})
        if dialect != "rules":
            del self.settings["rules"]
            self.settings["dialects"] = {dialect: options or {}}
            shutil.copytree(f"{EXAMPLES}/{dialect}", self.root, dirs_exist_ok=True)
            os.remove(self.root + "/baton.yaml")
        write(self.home + "/notify.sh", NOTIFY.encode())
        os.chmod(self.home + "/notify.sh", 0o755)
        self.settings["notify"] = {"command": [self.home + "/notify.sh"]}
        self.configure()

    @staticmethod
    def example(folder, name):
        return {"command": [f"{EXAMPLES}/{folder}/{name}"]}

    def told(self):
        """Event and reason of each object, in the order in which the program got them."""
        if not os.path.exists(self.home + "/told"):
            return []
        with open(self.home + "/told") as file:
            arrays = [json.loads(line) for line in file.read().splitlines() if line.endswith("]")]
        return [(each["event"], each["reason"]) for array in arrays for each in array]

    def asked(self, number, *answer):
        """Waits until a person is asked for the time of that number, and answers."""
        wait_until(lambda: len(self.told()) >= number, "a person is asked", lambda: (self.told(), self.call("status").stdout))
        self.call(*answer)

    def hears(self, *expected):
        """Waits until the flow is done, and ends the daemon, which first tells what it has to tell."""
        wait_until(lambda: ("finished", None) in self.told(), "it is told that the flow is done",
                   lambda: (self.told(), self.call("status").stdout))
        self.idle()
        [flow] = self.lines("status")
        check(flow["condition"] == "done", flow)
        self.daemon.send_signal(signal.SIGTERM)
        self.daemon.wait(timeout=world.PATIENCE)
        check(self.told() == [*expected, ("finished", None)], self.told())
        # Nor does the log warn of anything else.
        with open(self.home + "/daemon.log", errors="replace") as log:
            loud = [line for line in log if "Z warning " in line]
        check(len(loud) == len(expected) and all("Z warning blocked " in line for line in loud), loud)


def rules(exe):
    """Two subjects in one file, each of them handed from one agent to the next. The last agents still run when they have
    written the end: what is told says `done` all the same."""
    rule = {"name": "t", "files": "tickets/{flow}.json", "stage": "/{subject}/status", "done": ["closed"],
            "react": [{"to": "ready", "run": "worker"}, {"to": "review", "run": "reviewer"}]}
    sets = '"$BATON_EXE" set "$BATON_STATE_FILE" "/$BATON_SUBJECT/status=\\"%s\\""'
    with Healthy(exe, "rules", agents={"worker": {"command": ["sh", "-c", sets % "review"]}}) as baton:
        stays = f"; until grep -q finished {baton.home}/told; do sleep 0.05; done"
        baton.settings["agents"]["reviewer"] = {"command": ["sh", "-c", sets % "closed" + stays]}
        baton.settings["rules"] = [rule]
        baton.configure()
        baton.start()
        write(baton.root + "/tickets/a.json", {"A": {"status": "ready"}, "B": {"status": "ready"}})
        baton.hears()


def by_a_command(exe):
    """A command without a daemon takes the last step and tells nobody: the next daemon does."""
    rule = {"name": "t", "files": "tickets/{flow}.json", "stage": "/status", "done": ["closed"],
            "react": [{"to": "built", "approval": True, "set": {"/status": "closed"}}]}
    with Healthy(exe, "rules", agents={"worker": {"command": ["true"]}}) as baton:
        baton.settings["rules"] = [rule]
        baton.configure()
        baton.ticket("a", "built")
        baton.once()
        baton.call("approve", "t/a")
        check(baton.told() == [("blocked", "approval_wanted")], baton.told())
        for _ in range(2):
            done = baton.once()
            check(done.returncode == 0, done)
            check(baton.told() == [("blocked", "approval_wanted"), ("finished", None)], baton.told())


def coordination(exe):
    """The session of the demo: three groups, of which one fails its test and one is sent back by its review."""
    roles = ("project_manager", "developer", "qa_expert", "tech_lead")
    agents = {role: Healthy.example("agents", role + ".sh") for role in roles}
    with Healthy(exe, "coordination", agents=agents) as baton:
        subprocess.run([exe, "init", "--dialect", "coordination", baton.root], check=True, capture_output=True)
        baton.start()
        baton.call("start", "coordination", "--requirements", "@" + baton.root + "/requirements.md")
        baton.hears()


def agent_run(exe):
    """A review sends the work back once, and a person lets the last step begin."""
    with Healthy(exe, "agent_run") as baton:
        baton.start()
        baton.call("start", baton.root + "/workflow.yaml", "--run-id", "demo", "--pause-for-human-input")
        baton.asked(1, "approve", "demo", "release")
        baton.hears(("blocked", "approval_wanted"))


def fsm_loop(exe):
    with Healthy(exe, "fsm_loop", agents={"default": {"command": ["true"]}}) as baton:
        os.mkdir(baton.root + "/.loops")
        os.rename(baton.root + "/example.yaml", baton.root + "/.loops/example.yaml")
        baton.start()
        baton.call("start", "example")
        baton.hears()


def ccw_loop(exe):
    """One process for each action."""
    with Healthy(exe, "ccw_loop", {"granularity": "action"}, {"executor": Healthy.example("agents", "executor.sh")}) as baton:
        baton.start()
        baton.call("create", "--title", "Login and logout")
        [flow] = [each["flow"] for each in baton.lines("status")]
        baton.call("start", flow)
        baton.hears()


def ml_workflow(exe):
    """A plan that is revised, code that is refined, and a person who approves the plan and the end."""
    agents = {role: Healthy.example("ml_workflow", "agent.sh") for role in ("planner", "validator", "programmer")}
    with Healthy(exe, "ml_workflow", {"approvals": ["plan", "final"], "reminders": "4h"}, agents) as baton:
        baton.start()
        baton.call("start", "churn", "--dialect", "ml_workflow", "--requirements", "@" + baton.root + "/requirements.md")
        baton.asked(1, "approve", "churn", "plan")
        baton.asked(2, "approve", "churn", "final")
        baton.hears(("blocked", "approval_wanted"), ("blocked", "approval_wanted"))


PARTS = (rules, by_a_command, coordination, agent_run, fsm_loop, ccw_loop, ml_workflow)

if __name__ == "__main__":
    world.main_parts(PARTS)
