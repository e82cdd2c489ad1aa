# SPDX-License-Identifier: Apache-2.0
"""From the rename of a state file to the first instruction of the agent: baton beside the floor, in one run.

The two are measured in turns, so that whatever else the machine does falls on both; figures of different
runs cannot be compared, their ratio can. usage: reaction.py BUILD [ROUNDS [CHANGES]]"""

import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "e2e"))
import world  # noqa: E402

SPACING = 0.02  # seconds between changes: each is answered before the next


def change(folder, number):
    """Returns the time right before the rename."""
    with open(f"{folder}/.tmp", "w") as file:
        file.write('{"status": "ready"}\n')
    before = time.monotonic_ns()
    os.rename(f"{folder}/.tmp", f"{folder}/n{number}.json")
    return before


def measure(folder, log, first, count):
    """Microseconds from each change to its answer."""
    open(log, "w").close()
    changes = []
    for number in range(first, first + count):
        changes.append(change(folder, number))
        time.sleep(SPACING)

    def answers():
        with open(log) as file:
            times = sorted(int(line.split()[0]) for line in file)
        return times if len(times) >= count else None

    times = world.wait_until(answers, "every change is answered")
    world.check(len(times) == count, len(times), "answers to", count, "changes")
    return [(answer - change) / 1000 for change, answer in zip(changes, times)]


def main(build, rounds="5", count="100"):
    rounds, count = int(rounds), int(count)
    build = os.path.abspath(build)
    agent = build + "/reaction_agent"
    took = {"floor": [], "baton": []}
    with world.World(build + "/baton") as baton:
        log = baton.home + "/reaction.log"
        open(log, "w").close()
        baton.settings["agents"]["worker"] = {"command": [agent, log, "${flow}"]}
        baton.configure()
        folders = {"floor": baton.home + "/floor", "baton": baton.root + "/tickets"}
        for folder in folders.values():
            os.mkdir(folder)
        baton.start()
        floor = subprocess.Popen([build + "/reaction_floor", folders["floor"], agent, log])
        try:
            change(folders["baton"], "warm")
            world.wait_until(lambda: os.path.getsize(log))
            for turn in range(rounds):
                for name, folder in folders.items():
                    took[name] += measure(folder, log, turn * count, count)
        finally:
            floor.kill()
            floor.wait()

    def at(name, percent):
        return sorted(took[name])[round(percent / 100 * (len(took[name]) - 1))]

    percents = (50, 90, 99)
    print(f"{rounds} rounds of {count} changes, load {os.getloadavg()[0]:.1f}")
    print("        " + "".join(f"{f'p{percent} us':>10}" for percent in percents))
    for name in took:
        print(f"{name:8}" + "".join(f"{at(name, percent):10.0f}" for percent in percents))
    print("ratio   " + "".join(f"{at('baton', each) / at('floor', each):10.1f}" for each in percents))


if __name__ == "__main__":
    main(*sys.argv[1:])
