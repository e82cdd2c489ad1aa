# SPDX-License-Identifier: Apache-2.0
"""A thousand starts leave no zombie and no descriptor, and no child but the one shim that is held ready for
the next start. usage: thousand_test.py BATON"""

import os

import world
from world import check, wait_until

STARTS = 1000 if world.COMPLETE else 200  # a sample outside of scripts/prove


def children(pid):
    """State of each child: pid → letter."""
    found = {}
    for each in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{each}/stat") as stat:
                state, parent = stat.read().rsplit(")", 1)[1].split()[:2]
        except OSError:
            continue
        if int(parent) == pid:
            found[int(each)] = state
    return found


def descriptors(pid):
    return sorted(os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd"))


def settled(pid):
    left = children(pid)
    return len(left) == 1 and "Z" not in left.values()


def test(exe):
    with world.World(exe) as baton:
        pid = baton.start().pid
        baton.canary()
        baton.idle()
        wait_until(lambda: settled(pid), lambda: children(pid))
        before = descriptors(pid)
        for number in range(STARTS):
            baton.ticket(f"n{number}", "ready")
        wait_until(lambda: len(baton.starts()) >= STARTS + 1, lambda: len(baton.starts()), "started")
        baton.idle()
        wait_until(lambda: settled(pid), lambda: children(pid), "are left of the children")
        wait_until(lambda: len(descriptors(pid)) <= len(before),
                   lambda: set(descriptors(pid)) - set(before), "are left open")
        baton.canary()
        flows = [each.flow for each in baton.starts()]
        check(len(flows) == len(set(flows)) == STARTS + 2, "started:", len(flows))


if __name__ == "__main__":
    world.main(test)
