# SPDX-License-Identifier: Apache-2.0
"""Each `do` that `baton status` gives for a coordination session helps, as remedies_test.py has it for rules. A part is
one state of src/dialects/coordination/conditions.h.
usage: remedies_coordination_test.py BATON [PART...]"""

import os
import re

import world
from remedies_test import RUN, case
from world import check, wait_until, write

FLOW = "coordination"
NOW = "2026-01-22T09:00:00Z"
APPROVED = [{"iteration": 1, "decision": "approved", "timestamp": NOW}]
# Each role does what its file says.
AGENT = '#!/bin/sh\n[ ! -e "$1/$BATON_ROLE" ] || . "$1/$BATON_ROLE"\n'
HOURS = "sleep 1000"
LATER = {"backoff": "1h", "max_backoff": "1h"}


class Session:
    """A world with the dialect, and a piece of shell for each role."""

    def __init__(self, exe, acts, limits=None, **options):
        self.baton = case(exe, limits=limits)
        self.acts = self.baton.home + "/acts"
        os.mkdir(self.acts)
        for role, text in acts.items():
            self.act(role, text)
        agent = self.baton.home + "/role.sh"
        write(agent, AGENT.encode())
        os.chmod(agent, 0o755)
        self.baton.settings["agents"] = {"default": self.baton.counting(agent, self.acts)}
        self.baton.settings["dialects"] = {"coordination": options}
        del self.baton.settings["rules"]
        self.baton.configure()
        self.flow = "coordination/coordination"

    def __enter__(self):
        self.baton.__enter__()
        return self

    def __exit__(self, *why):
        self.baton.__exit__(*why)

    def act(self, role, text):
        write(f"{self.acts}/{role}", text.encode())

    def path(self, kind):
        return f"{self.baton.root}/coordination/{kind}.json"

    def plan(self, groups, **more):
        write(self.path("pm_state"), {
            "session_id": "v4_1", "mode": "parallel", "original_requirements": "Build it.", "task_groups": groups,
            "iteration": 1, "last_update": NOW, **more})

    def groups(self, **groups):
        write(self.path("group_status"), groups)

    def all_work(self):
        """From now on agents work for hours."""
        for role in ("project_manager", "developer", "qa_expert", "tech_lead"):
            self.act(role, HOURS)

    def helps(self, condition, reason, *says):
        self.baton.helps(condition, reason, self.flow, meanwhile=self.all_work, says=says)

    def remedy(self, condition, reason, *says):
        return self.baton.remedy(condition, reason, self.flow, says=says)


def plan_missing(exe):
    with Session(exe, {}) as session:
        session.groups(A={"status": "pending"})
        session.baton.start()
        session.helps("blocked", "file_missing", "pm_state.json")


def plan_rejected(exe):
    with Session(exe, {}) as session:
        session.all_work()
        session.plan([{"id": "A", "depends_on": ["B"]}])
        session.baton.start()
        remedy = session.remedy("blocked", "file_rejected", r"pm_state\.json:1:")
        check("coordination/pm_state.json" in remedy and "baton validate" in remedy, remedy)
        session.plan([{"id": "A"}])
        session.baton.changed("blocked", "file_rejected", session.flow)


def no_requirements(exe):
    with Session(exe, {}) as session:
        session.plan([], mode=None, iteration=0, original_requirements="")
        session.baton.start()
        session.helps("idle", "not_started")


def not_begun(exe):
    """The files that `baton init` writes."""
    with Session(exe, {}) as session:
        session.baton.call("start", FLOW)
        session.baton.start()
        session.helps("idle", "not_started")


def rejected(exe):
    """A file that baton writes itself; and the last good version comes back by the command."""
    for kind in ("group_status", "orchestrator_state"):
        with Session(exe, {"developer": "exit 1"}) as session:
            session.groups(A={"status": "pending"})
            session.plan([{"id": "A"}])
            session.baton.start()
            wait_until(lambda: os.path.exists(session.path("orchestrator_state")), "it is there")
            wait_until(lambda: len(session.baton.starts()) > 0, "a developer was started")
            write(session.path(kind), b'{"A": 1,}\n')
            remedy = session.remedy("blocked", "file_rejected", kind + r"\.json:1:")
            check(f"coordination/{kind}.json" in remedy and "baton validate" in remedy, remedy)
            session.all_work()
            session.baton.paste(re.findall("`(baton recover [^`]*)`", remedy)[0])
            session.baton.changed("blocked", "file_rejected", session.flow)


def max_spawns(exe):
    with Session(exe, {}, max_spawns=1) as session:
        session.plan([])
        session.baton.start()
        remedy = session.remedy("blocked", "cap_reached", "1 agents?")
        check("`max_spawns`" in remedy and "`baton reload`" in remedy, remedy)
        session.all_work()
        session.baton.settings["dialects"]["coordination"]["max_spawns"] = 50
        session.baton.configure()
        session.baton.call("reload")
        session.baton.changed("blocked", "cap_reached", session.flow)


def planning_failed(exe):
    with Session(exe, {"project_manager": "echo I have no idea"}) as session:
        session.plan([])
        session.baton.start()
        session.helps("blocked", "answer_wanted", RUN, "I have no idea")


def manager_fails(exe):
    with Session(exe, {"project_manager": "echo no network >&2; exit 1"}) as session:
        session.plan([])
        session.baton.start()
        session.helps("failed", "attempts_exhausted", RUN, "no network")


def bad_plan(exe):
    """Neither the project manager mends the plan, nor does a developer work meanwhile."""
    with Session(exe, {"project_manager": "echo I have no idea", "developer": "exit 1"}, limits=LATER) as session:
        session.plan([{"id": "A"}])
        session.baton.start()
        session.baton.stands("waiting", "back_off", session.flow)
        session.plan([{"id": "A"}, {"id": "B", "depends_on": ["C"]}], iteration=2)
        session.helps("blocked", "answer_wanted", RUN, "I have no idea", r"pm_state\.json:1:", "there is no group `C`")


def no_completion_word(exe):
    with Session(exe, {"project_manager": "echo I have no idea"}) as session:
        session.groups(A={"status": "complete", "tech_lead_feedback": APPROVED})
        session.plan([{"id": "A"}])
        session.baton.start()
        session.helps("blocked", "answer_wanted", RUN, "I have no idea", "completion word")


def complete_without_approval(exe):
    with Session(exe, {"project_manager": "echo BAZINGA"}) as session:
        session.groups(A={"status": "complete"})
        session.plan([{"id": "A"}])
        session.baton.start()
        remedy = session.remedy("blocked", "answer_wanted", RUN, "A is complete, but no review")
        check("baton approve" in remedy, remedy)
        session.helps("blocked", "answer_wanted")


def stuck(exe):
    with Session(exe, {"developer": "echo no network >&2; exit 1", "tech_lead": "true"}) as session:
        session.groups(A={"status": "pending"})
        session.plan([{"id": "A"}])
        session.baton.start()
        session.helps("blocked", "answer_wanted", RUN)


def not_planned(exe):
    with Session(exe, {"developer": "exit 1"}, limits=LATER) as session:
        session.groups(A={"status": "pending"}, B={"status": "pending"})
        session.plan([{"id": "A"}])
        session.baton.start()
        session.helps("blocked", "answer_wanted", "B is not in the plan")


def not_planned_at_the_end(exe):
    with Session(exe, {"project_manager": "echo BAZINGA"}) as session:
        session.groups(A={"status": "complete", "tech_lead_feedback": APPROVED}, B={"status": "pending"})
        session.plan([{"id": "A"}])
        session.baton.start()
        session.helps("blocked", "answer_wanted", RUN, "B is pending and not in the plan")


PARTS = (plan_missing, plan_rejected, no_requirements, not_begun, rejected, max_spawns, planning_failed, manager_fails,
         bad_plan, no_completion_word, complete_without_approval, stuck, not_planned,
         not_planned_at_the_end)

if __name__ == "__main__":
    world.main_parts(PARTS)
