# SPDX-License-Identifier: Apache-2.0
"""How long `baton status` takes with many flows, beside the floor: `cat` of the same files. status also reads the
journal, checks each file and decides what would be started. In turns in one run.
usage: bench/overview.py BUILD_FOLDER [FLOWS...]   (default: 1000 5000)"""

import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../tests/e2e"))
import world  # noqa: E402

ROUNDS = 15


def took_ms(command):
    begin = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return 1000 * (time.monotonic() - begin)


def measure(exe, flows):
    rules = [{"name": "t", "files": "tickets/{flow}.json", "stage": "/status", "done": ["done"], "react": [{"to": "ready", "run": "worker"}]}]
    with world.World(exe, rules=rules, agents={"worker": {"command": ["true"]}}) as baton:
        for number in range(flows):
            baton.ticket(f"ticket-{number}", "done" if number % 2 else "draft")
        baton.once()
        floor = ["find", baton.root + "/tickets", "-type", "f", "-exec", "cat", "{}", "+"]
        rounds = [(took_ms([exe, "status", *baton.places()]), took_ms(floor)) for _ in range(ROUNDS)]
    mine, least = (statistics.median(each) for each in zip(*rounds))
    print(f"{flows} flows: baton status {mine:.0f} ms, floor {least:.0f} ms, ratio {mine / least:.1f}", flush=True)


def main(build, *counts):
    for count in counts or ("1000", "5000"):
        measure(os.path.abspath(build) + "/baton", int(count))


if __name__ == "__main__":
    main(*sys.argv[1:])
