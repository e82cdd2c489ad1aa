# SPDX-License-Identifier: Apache-2.0
"""A root on a network file system gives no events for what happens on other machines: it is polled, status says so,
and what is written there is acted upon, once. usage: network_root_test.py BATON ON_NFS"""

import os
import subprocess

import world
from world import check, wait_until


def test(exe, on_nfs):
    with world.World(exe) as baton:
        baton.ticket("before", "ready")
        baton.start(env={"LD_PRELOAD": on_nfs})
        wait_until(lambda: baton.starts("rules/t/before"), "the first scan")
        says = baton.lines("status")[0]["watching"]
        check("polled every" in says and "the root is on nfs" in says, "status says", says)
        check("polled every" in baton.call("status").stdout)
        # A lock there may be anybody's, or nobody's. One elsewhere keeps a second daemon away.
        with open("/proc/locks") as locks:
            check(f":{os.stat(baton.root).st_ino} " not in locks.read(), "the root is locked")
        check(subprocess.run(baton.run_command(), capture_output=True).returncode == 75, "a second daemon")
        for number in range(20):
            baton.ticket(f"n{number}", "ready")
        for number in range(20):
            wait_until(lambda: baton.starts(f"rules/t/n{number}"), number, "was not seen")
        baton.idle()
        flows = [each.flow for each in baton.starts()]
        check(len(flows) == len(set(flows)) == 21, "twice:", flows)
        check(baton.daemon.poll() is None, "the daemon ended")
    # The journal relies on locks and syncs.
    with world.World(exe) as baton:
        refused = subprocess.run(baton.run_command(), capture_output=True, text=True,
                                 env={**os.environ, "LD_PRELOAD": on_nfs, "ON_NFS": "all"})
        check(refused.returncode == 2 and "the journal cannot lie on nfs" in refused.stderr, refused)


if __name__ == "__main__":
    world.main(test)
