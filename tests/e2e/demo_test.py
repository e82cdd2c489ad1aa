# SPDX-License-Identifier: Apache-2.0
"""What scripts/demo shows: events as they come, the story of the three groups in them, and the status at the end.
usage: demo_test.py BATON"""

import os
import re
import subprocess

import world
from world import check

DEMO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "demo")
STORY = {"A": ["developer", "qa_expert", "tech_lead"],
         "B": ["developer", "qa_expert", "developer", "qa_expert", "tech_lead"],  # fails QA once
         "C": ["developer", "qa_expert", "tech_lead", "developer", "qa_expert", "tech_lead"]}  # a change is requested


def test(exe):
    done = subprocess.run([DEMO, os.path.abspath(exe)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=world.PATIENCE, env={**os.environ, "NO_COLOR": "1"})
    check(done.returncode == 0, done.stdout)
    _, events, table, _, status = re.split(r"^\$ baton (?:run --once|agents|validate|status)$", done.stdout, flags=re.M)
    for group, roles in STORY.items():
        rows = re.findall(rf"(\w+) +{group} +\w+ +\d+ +\S+ +\S+ +succeeded$", table, re.M)
        check(rows == roles, group, rows, table)
        started = re.findall(rf" started coordination/coordination \[{group}\] (\w+) run", events)
        check(len(started) >= len(roles) and set(started) == set(roles), group, started, events)
    for word in (r"stage \S+ \[B\]: qa -> dev$", r"stage \S+ \[C\]: review -> dev$", r"ended \S+ \[A\] developer run"):
        check(re.search(word, events, re.M), word, events)
    check(re.search(r"^FLOW +CONDITION +REASON +DECLARED +AGENTS +ACTIVITY +COST +WHY$", status, re.M) and
          re.search(r"^coordination/coordination +done +- +completed +0 ", status, re.M), status)


if __name__ == "__main__":
    world.main(test)
