# SPDX-License-Identifier: Apache-2.0
"""Loops of 20 instant steps each in one daemon: time, processor time, and the most memory it had, for growing
numbers of loops. Linear is what is wanted: the time of one step must not grow with the number of loops. On a busy
machine only the processor time says so.
usage: bench/loops.py BUILD_FOLDER [LOOPS...]   (default: 100 300 1000)"""

import glob
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../tests/e2e"))
import world  # noqa: E402

STEPS = 20


def definition(number):
    states = "".join(f"  s{i}: {{action: 'true', next: s{i + 1}}}\n" for i in range(STEPS))
    return (f"name: l{number}\nscope: [work/l{number}]\ninitial: s0\nstates:\n{states}"
            f"  s{STEPS}: {{terminal: true}}\n").encode()


def completed(root, count):
    done = 0
    for number in range(count):
        try:
            with open(f"{root}/.loops/.running/l{number}.state.json") as file:
                done += '"status": "completed"' in file.read()
        except FileNotFoundError:
            pass
    return done


def most_memory(pid):
    with open(f"/proc/{pid}/status") as file:
        return int(next(line for line in file if line.startswith("VmHWM")).split()[1]) / 1024


def processor_ms(pid):
    """Of the daemon itself; actions and their shims are not in it."""
    with open(f"/proc/{pid}/stat") as file:
        user, system = file.read().rsplit(")", 1)[1].split()[11:13]
    return 1000 * (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def ask_for(baton, count):
    """What `baton start` leaves where there is no daemon yet, for each loop. The command itself is run once only: it
    looks at all loops each time, which is not what is measured."""
    baton.call("start", "fsm_loop/l0")
    [first] = glob.glob(f"{baton.state}/*/requests/*.json")
    with open(first) as file:
        request = json.load(file)
    for number in range(1, count):
        request["id"] = os.path.basename(first)[:-len(".json")] + f"-{number}"
        request["flow"] = f"l{number}"
        world.write(f"{os.path.dirname(first)}/{request['id']}.json", request)


def measure(exe, count):
    with world.World(exe, agents={"worker": {"command": ["true"]}}) as baton:
        baton.settings["dialects"] = {"fsm_loop": {}}
        del baton.settings["rules"]
        baton.configure()
        for number in range(count):
            world.write(f"{baton.root}/.loops/l{number}.yaml", definition(number))
        ask_for(baton, count)
        begun = time.monotonic()
        baton.start()
        while completed(baton.root, count) < count:
            time.sleep(0.5)
        took = time.monotonic() - begun
        steps = count * STEPS
        print(f"{count:5} loops {steps:6} steps {took:8.1f} s {1000 * took / steps:7.2f} ms a step, "
              f"{processor_ms(baton.daemon.pid) / steps:6.2f} ms of the daemon's processor time "
              f"{most_memory(baton.daemon.pid):7.1f} MiB", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for count in [int(each) for each in sys.argv[2:]] or [100, 300, 1000]:
        measure(os.path.join(sys.argv[1], "baton"), count)
