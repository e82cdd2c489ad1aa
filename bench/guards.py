# SPDX-License-Identifier: Apache-2.0
"""What one build costs beside another: the start of an agent, `validate` of 1,000 files, and `status`, in turns.
usage: guards.py OTHER_BUILD BUILD [ROUNDS]"""

import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import reaction  # noqa: E402  (puts tests/e2e on the path)
import world  # noqa: E402

FILES = 1000
STARTS = 25  # in each round


def starts(folder, log, first, count):
    """Milliseconds from each change to its answer; each is answered before the next."""
    took = []
    for number in range(first, first + count):
        before = os.path.getsize(log)
        changed = reaction.change(folder, number)
        while os.path.getsize(log) == before:
            time.sleep(0.002)
        with open(log) as file:
            file.seek(before)
            took.append((int(file.read().split()[0]) - changed) / 1e6)
    return took


def timed(command):
    begin = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return 1000 * (time.monotonic() - begin)


def main(*builds_and_rounds):
    builds = [os.path.abspath(build) for build in builds_and_rounds[:2]]
    rounds = int(builds_and_rounds[2]) if len(builds_and_rounds) > 2 else 9
    took = {what: ([], []) for what in ("start of an agent", f"validate {FILES:,} files", "status")}
    with world.World(builds[0] + "/baton") as one, world.World(builds[1] + "/baton") as other:
        for baton, build in zip((one, other), builds):
            baton.build_log = baton.home + "/reaction.log"
            open(baton.build_log, "w").close()
            baton.settings["agents"]["worker"] = {"command": [build + "/reaction_agent", baton.build_log, "${flow}"]}
            baton.configure()
            os.mkdir(baton.root + "/tickets")
            baton.start()
            for number in range(FILES):
                world.write(f"{baton.home}/many/{number}.json", {"status": "x", "n": number, "a": ["text"] * 400})
        for turn in range(rounds):
            for at, baton in enumerate((one, other)):
                took["start of an agent"][at].extend(
                    starts(baton.root + "/tickets", baton.build_log, turn * STARTS, STARTS))
                took[f"validate {FILES:,} files"][at].append(
                    timed([baton.exe, "validate", *(f"{baton.home}/many/{number}.json" for number in range(FILES))]))
                took["status"][at].append(timed([baton.exe, "status", *baton.places()]))

    def at(values, percent):
        return sorted(values)[round(percent / 100 * (len(values) - 1))]

    print(f"{rounds} rounds, load {os.getloadavg()[0]:.1f}; ms")
    for what, (before, after) in took.items():
        for percent in (50, 99) if len(before) >= 100 else (50,):
            print(f"{what:22} p{percent} {at(before, percent):9.2f} {at(after, percent):9.2f} "
                  f"{at(after, percent) / at(before, percent):6.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
