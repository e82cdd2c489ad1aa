# SPDX-License-Identifier: Apache-2.0
"""A shim is killed at its system calls in turn, and the daemon lives: what never was claimed is had again as the
same attempt, what was claimed is a failed attempt whose tree is ended, and no attempt runs twice.
usage: killed_shim_test.py BATON KILLAT [STEP]     every STEPth stop, fewer in the middle; default: each, or a sample
(world.sample)
"""

import collections
import concurrent.futures
import fcntl
import os
import shutil
import subprocess
import tempfile

import world
from world import check, only_unchanged

# What it leaves behind has to be ended by its shim, or by whoever finds that killed.
AGENT = "setsid sleep 1000 &"
# The first one that is called for a run is traced and killed.
SHIM = """#!/bin/sh
if [ "$2" = run ] && mkdir '{home}/first' 2>/dev/null; then exec '{killat}' -e {stop} {shim} "$@" >'{home}/stops'; fi
exec {shim} "$@"
"""


class Programs:
    """A copy of baton, for links in folders in which something else stands in for its shim."""

    def __init__(self, baton):
        self.home = tempfile.mkdtemp(prefix="baton-e2e-")
        self.exe = self.home + "/baton"
        self.shim = os.path.join(os.path.dirname(os.path.abspath(baton)), "baton-shim")
        shutil.copy2(baton, self.exe)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.home)

    def link(self, folder, shim):
        """A program `baton` there with that script as its shim."""
        os.mkdir(folder)
        os.link(self.exe, folder + "/baton")
        with open(folder + "/baton-shim", "w") as file:
            file.write(shim)
        os.chmod(folder + "/baton-shim", 0o755)
        return folder + "/baton"


class KilledShim(world.World):
    """One ticket; its first shim is killed at that stop. `shim` is how a shim is called."""

    def __init__(self, programs, killat, stop, shim=None):
        super().__init__(programs.exe, command=("sh", "-c", AGENT))
        self.exe = programs.link(self.home + "/bin", SHIM.format(home=self.home, killat=os.path.abspath(killat),
                                                                 stop=stop, shim=shim or programs.shim))
        self.ticket("k", "ready")

    def stops(self):
        """None: it was killed."""
        with open(self.home + "/stops") as file:
            text = file.read()
            return int(text) if text else None

    def judge(self, where):
        """Returns the outcomes."""
        done = self.once()
        starts = self.starts()
        runs = self.lines("agents")
        outcomes = {run["run"]: run["outcome"] for run in runs}
        says = (where, "ended with", done.returncode, starts, outcomes, done.stderr)
        check(only_unchanged(done), *says)
        claimed = [run for run in runs if run["outcome"] != "voided"]
        check([run["attempt"] for run in claimed] == [1, 2][:len(claimed)], "attempts are missing:", *says)
        check([run["outcome"] for run in claimed] in (["succeeded"], ["unknown", "succeeded"]), *says)
        check(len({each.attempt for each in starts}) == len(starts), "an attempt ran twice:", *says)
        check(all(outcomes[each.run] != "voided" for each in starts), "what is void has run:", *says)
        check(claimed[-1]["run"] in [each.run for each in starts], "did not run:", *says)
        left = [pid for run in outcomes for pid in world.processes_with(f"BATON_RUN_ID={run}")]
        check(not left, "are left:", left, *says)
        return list(outcomes.values())


def places_of(stops, step):
    """All of what comes before the agent's program is in the first ones. In the middle it looks through the
    processes, again and again; then it writes down how it ended."""
    first, last = min(300, stops), min(80, stops)
    middle = range(first, stops - last, max(1, (stops - last - first) // (100 // step)))
    return sorted({*range(1, first, step), *middle, *range(stops - last, stops, step)})


def blind_sweeper(baton):
    """A sweeper that cannot look at the processes for want of descriptors writes down no end: it is final."""
    if not world.can_trace():
        world.skip("of this test only, a blind sweeper: strace cannot trace here")
    shim = os.path.join(os.path.dirname(os.path.abspath(baton)), "baton-shim")
    run = "ab" * 16
    with tempfile.TemporaryDirectory(prefix="baton-e2e-") as folder, \
            subprocess.Popen(["sleep", "1000"], env={"BATON_RUN_ID": run}, start_new_session=True) as agent:
        directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        lock = os.open(folder + "/lock", os.O_RDWR | os.O_CREAT)

        def sweep(*how):
            def place():
                for number, file in ((3, fcntl.fcntl(directory, fcntl.F_DUPFD, 20)),
                                     (4, fcntl.fcntl(lock, fcntl.F_DUPFD, 20))):
                    os.dup2(file, number)
            return subprocess.run(["strace", "-qqq", "-o", "/dev/null", *how, shim, "5", "sweep", run, "100", ""],
                                  preexec_fn=place, close_fds=False, timeout=world.PATIENCE).returncode
        try:
            check(sweep("-e", "inject=openat:error=ENFILE:when=3+") == 114, "an end was recorded by who sees nothing")
            check(agent.poll() is None and not os.path.exists(folder + "/exit.json"))
            check(sweep() == 0 and os.path.exists(folder + "/exit.json"), "the next one sees")
            check(agent.wait(world.PATIENCE) != 0)
        finally:
            agent.kill()
            os.close(directory)
            os.close(lock)


def test(baton, killat, step=None):
    blind_sweeper(baton)
    with Programs(baton) as programs:
        with KilledShim(programs, killat, 10**9) as alone:
            check(alone.judge("undisturbed:") == ["succeeded"])
            stops = alone.stops()

        def place(stop):
            with KilledShim(programs, killat, stop) as killed:
                return killed.judge(f"its shim was killed at stop {stop}:")

        places = places_of(stops, int(step)) if step else world.sample(places_of(stops, 1), 40)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            ends = collections.Counter(tuple(done) for done in pool.map(place, places))
    print(f"{ends.total()} of {stops} places: " + "; ".join(f"{' '.join(end)} {ends[end]}" for end in sorted(ends)))
    check({("voided", "succeeded"), ("unknown", "succeeded")} <= set(ends), "no place before or behind the claim:", ends)


if __name__ == "__main__":
    world.main(test)
