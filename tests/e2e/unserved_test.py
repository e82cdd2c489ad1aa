# SPDX-License-Identifier: Apache-2.0
"""While no daemon is there, reading commands say how agents have ended meanwhile; the next daemon records the same.
usage: unserved_test.py BATON"""

import contextlib
import os
import signal

import world
from world import check, wait_until, write


def runs(baton):
    return {run["flow"]: run for run in baton.lines("agents")}


def status(baton):
    return {flow["flow"]: flow for flow in baton.lines("status")}


def test(exe):
    with world.World(exe, command=("sh", "-c", "echo said; while ! [ -e go ]; do sleep 0.1; done")) as baton:
        baton.start()
        for name in ("ends", "killed"):
            baton.ticket(name, "ready")
            wait_until(lambda: baton.starts("rules/t/" + name))  # noqa: B023
        baton.daemon.kill()
        baton.daemon.wait()
        check(all(run["state"] == "running" for run in runs(baton).values()), runs(baton))
        check(status(baton)["rules/t/ends"]["condition"] == "running", status(baton))

        # A shim that is killed leaves no word, and its agent without anybody.
        killed = runs(baton)["rules/t/killed"]
        for pid in [killed["pid"], *world.processes_with("BATON_RUN_ID=" + killed["run"])]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: runs(baton)["rules/t/killed"]["outcome"] == "unknown", "the killed one")
        check(runs(baton)["rules/t/ends"]["state"] == "running", runs(baton))
        write(baton.root + "/go", b"")
        wait_until(lambda: runs(baton)["rules/t/ends"]["outcome"] == "succeeded", "the end is seen")
        check(status(baton)["rules/t/ends"]["agents"] == 0, status(baton))
        check("said" in baton.call("logs", "-f", runs(baton)["rules/t/ends"]["run"]).stdout, "logs -f")
        before = {flow: (run["outcome"], run["reason"]) for flow, run in runs(baton).items()}

        baton.ticket("killed", "no")
        baton.start()
        wait_until(lambda: all(run["state"] == "ended" for run in runs(baton).values()), "they are recorded")
        after = {flow: (run["outcome"], run["reason"]) for flow, run in runs(baton).items()}
        check(before == after, before, after)
        check(len(baton.starts("rules/t/ends")) == 1, baton.starts())


if __name__ == "__main__":
    world.main(test)
