# SPDX-License-Identifier: Apache-2.0
"""Many files are judged on several cores, and nobody sees it: what is printed, in which order, and the exit
code are those of one core. usage: parallel_test.py BATON"""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import world  # noqa: E402

COUNT = 900


def text(number):
    if number % 50 == 7:
        return '{"A": {"status": '  # torn
    status = "nonsense" if number % 10 == 3 else "pending"
    return json.dumps({f"G{each}": {"group_id": f"G{each}", "status": status} for each in range(number % 40)})


def main(baton):
    cores = os.sched_getaffinity(0)
    if len(cores) < 2:
        world.skip("there is one core only")
    with world.World(baton) as here:
        paths = []
        for number in range(COUNT):
            paths.append(f"{here.home}/many/{number}.json")
            world.write(paths[-1], text(number).encode())
        paths.insert(COUNT // 2, f"{here.home}/many/none.json")

        def run(on, *words):
            return subprocess.run([baton, "validate", *words], capture_output=True, text=True,
                                  preexec_fn=lambda: os.sched_setaffinity(0, on))

        kind = ("--as", "coordination/group_status")
        for words, code in ((kind + tuple(paths), 3), (kind + (f"{here.home}/many",), 1),
                            (("--json",) + kind + tuple(paths), 3)):
            one, all_of_them = run({min(cores)}, *words), run(cores, *words)
            world.check(one.returncode == code, one.returncode, one.stderr)
            world.check(one.stdout.count("nonsense") >= COUNT / 10, "too few findings")
            world.check(all_of_them.returncode == one.returncode, "exit", all_of_them.returncode, "not", one.returncode)
            world.check(all_of_them.stdout == one.stdout, "another output on several cores")
            world.check(all_of_them.stderr == one.stderr, "another complaint on several cores")
        print(COUNT, "files judged the same on 1 and on", len(cores), "cores")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
