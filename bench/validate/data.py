# SPDX-License-Identifier: Apache-2.0
"""State files to be measured with: group_status.json of three groups, about 4 KB with ten times in each,
and one of 100 KB. The seed is fixed. usage: data.py FOLDER COUNT"""

import json
import os
import random
import sys

WORDS = "adds checks for the empty list and the wrong order of arguments reads settings twice when idle".split()


def moment(dice):
    return f"2026-01-{dice.randint(1, 28):02}T{dice.randint(0, 23):02}:{dice.randint(0, 59):02}:00Z"


def text(dice, words):
    return " ".join(dice.choice(WORDS) for _ in range(words))


def group(dice, name, times):
    """Two times of the group itself, the others in its feedback."""
    tests = {kind: {"total": 40, "passed": dice.randint(30, 40), "failed": dice.randint(0, 3)}
             for kind in ("unit_tests", "integration_tests", "contract_tests")}
    return {
        "group_id": name,
        "group_name": text(dice, 4),
        "status": dice.choice(["pending", "dev_working", "waiting_qa", "complete"]),
        "current_agent": dice.choice(["developer", "qa_expert", "tech_lead", "none"]),
        "iterations": {"developer": dice.randint(0, 4), "qa": 1, "tech_lead": 1},
        "start_time": moment(dice),
        "end_time": moment(dice),
        "duration_minutes": dice.randint(1, 900) / 4,
        "branch_name": f"feature/group-{name.lower()}",
        "files_modified": [f"src/{dice.choice(WORDS)}/{dice.choice(WORDS)}.py" for _ in range(6)],
        "commits": [f"{dice.getrandbits(160):040x}" for _ in range(3)],
        "test_results": tests,
        "tech_lead_feedback": [{"iteration": 1 + each, "decision": "changes_requested",
                                "feedback": text(dice, 16), "timestamp": moment(dice)}
                               for each in range(times - 2)],
        "blockers": [],
    }


def document(dice, groups):
    """Of each three groups, one has four times and two have three."""
    return json.dumps({f"G{each}": group(dice, f"G{each}", 4 if each % 3 == 0 else 3)
                       for each in range(groups)}, indent=2) + "\n"


def write(folder, count, groups=3):
    """Writes `count` files called 0.json and so on; returns their paths."""
    os.makedirs(folder, exist_ok=True)
    dice = random.Random(4)
    paths = [f"{folder}/{each}.json" for each in range(count)]
    for path in paths:
        with open(path, "w", encoding="utf-8") as file:
            file.write(document(dice, groups))
    return paths


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]))
