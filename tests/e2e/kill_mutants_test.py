# SPDX-License-Identifier: Apache-2.0
"""The kill sweeps notice when a piece of "started once" is missing: daemons and shims that lack it run well as long
as nobody is killed, and are caught by the judges of the sweeps. Nobody writes such programs: `muted` has system
calls answer without being made, and a script stands in for the shim.

release before commit: the first byte, which comes before the transaction, is taken for the second one as well.
no claim: renameat2 is not made, so that a claim leaves no trace. A daemon that is killed does not show
  it, for a lock that is held or an exit.json answers before the claim is looked at: the shims have to be killed.
no lock: flock is not made. A shim that lives is known by its process number first; so the shims of this sweep are
  children of those that the daemon knows and that are killed together with it, and only the lock is left to answer.
  (That of two daemons on one root the second is refused is asserted by bad_input_test.py.)
no sync: fsync is not made. That takes a power cut: power_cut_test.py.
usage: kill_mutants_test.py BATON KILLAT MUTED"""

import contextlib
import os
import re
import signal

import world
from kill_sweep import Sweep
from killed_shim_test import KilledShim, Programs
from world import check

EAGER = """#!/bin/sh
if [ "$2" = run ]; then
  [ "$(head -c 1 <&5 | wc -c)" = 1 ] || exit 111
  printf '\\1\\1' >"$0.$$" && exec 5<"$0.$$" && rm "$0.$$"
fi
exec {shim} "$@"
"""
DISTANT = """#!/bin/sh
[ "$2" = run ] || exec {shim} "$@"
{shim} "$@"
exit
"""
NEVER = 10**9


class Mutant(Sweep):
    """The daemon is called by `before`, and that script stands before its shims."""

    def __init__(self, programs, killat, script, before=()):
        super().__init__(programs.exe, killat, looks=100)
        self.exe = programs.link(self.home + "/bin", script.format(shim=programs.shim))
        self.before = before

    def kill_scripts(self):
        """A script that has become a shim since it was found is not killed: its attempt would rightly be made again."""
        marker = self.home + "/bin/baton-shim"
        for pid in world.processes_with(marker):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGSTOP)
                world.wait_until(lambda: world.state_of(pid) in "TZ")
                os.kill(pid, signal.SIGKILL if world.carries(pid, marker) else signal.SIGCONT)

    def ended_at(self, stop):
        """Returns how many stops there were, if it was not killed."""
        said = self.killed(stop).stdout
        self.kill_scripts()
        self.judge(f"killed at stop {stop}:")
        return int(said.split()[-1]) if said else None


def caught(what, says, judged, first, step):
    """`judged` judges a sweep at one place. The places are gone through until one shows it."""
    try:
        stops = judged(NEVER)
    except AssertionError as wrong:
        # A start that is taken back, because its file was written in that very moment, is enough for some.
        check(re.search(says, str(wrong)), what, "is caught by something else:", wrong)
        print(f"{what}: caught without a kill", flush=True)
        return
    places = range(first(stops), stops, step)
    for count, stop in enumerate(places, 1):
        try:
            judged(stop)
        except AssertionError as wrong:
            check(re.search(says, str(wrong)), what, "is caught by something else:", wrong)
            print(f"{what}: caught at stop {stop} of {stops}, the {count}. place", flush=True)
            return
    raise AssertionError(f"{what}: not noticed at {len(places)} places")


def first_commit(stops):
    """A stop not long before it."""
    return stops * 2 // 5


def release_before_commit(programs, killat, _):
    def judged(stop):
        with Mutant(programs, killat, EAGER) as sweep:
            return sweep.ended_at(stop)
    caught("release before commit", r"does not know (?:a run|\d+ runs)|#(\w) pending attempt 1 .*#\1 pending attempt 1", judged,
           first_commit, 25)


def no_lock(programs, killat, muted):
    def judged(stop, *before):
        with Mutant(programs, killat, DISTANT, before) as sweep:
            return sweep.ended_at(stop)
    stops = judged(NEVER)
    for stop in range(first_commit(stops), stops, stops // 10):
        judged(stop)  # with its lock it is right at all of them
    caught("no lock", " attempt 2 ", lambda stop: judged(stop, muted, "flock"), first_commit, 25)


def no_claim(programs, killat, muted):
    shim = f"{muted} renameat2 {programs.shim}"

    def judged(stop):
        with KilledShim(programs, killat, stop, shim) as killed:
            killed.judge(f"its shim was killed at stop {stop}:")
            return killed.stops()
    caught("no claim", "ran twice|void has run", judged, lambda stops: stops // 2, 20)


def test(baton, killat, muted):
    with Programs(baton) as programs:
        for mutant in world.sample((release_before_commit, no_lock, no_claim), 1):
            mutant(programs, os.path.abspath(killat), os.path.abspath(muted))


if __name__ == "__main__":
    world.main(test)
