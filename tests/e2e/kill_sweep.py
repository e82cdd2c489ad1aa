"""SIGKILL at every system call of the daemon in turn, then a new daemon: nothing lost, nothing twice.

Three subjects in one file want an agent each; agents count themselves in a log outside. Then the second
sweep: the daemon that recovers is killed as well, at every of its calls in turn.
usage: kill_sweep.py BATON KILLAT [STEP]     STEP 1: every stop; 3, the default: every third
"""

import os
import subprocess

import world

RULE = {"name": "g", "files": "coordination/groups.json", "stage": "/{subject}/status",
        "react": [{"to": "pending", "run": "worker"}]}
SUBJECTS = ("A", "B", "C")


class Sweep(world.World):
    def __init__(self, baton, killat):
        super().__init__(baton, rules=[RULE])
        self.killat = killat
        world.write(self.root + "/coordination/groups.json",
                    {subject: {"status": "pending"} for subject in SUBJECTS})

    def killed_at(self, stop):
        """False: it was done before that stop."""
        done = subprocess.run([self.killat, str(stop), *self.run_command("--once")],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=world.PATIENCE)
        world.check(done.returncode in (0, 1), "killat:", done.returncode, done.stderr)
        return done.returncode == 0

    def judge(self, where):
        """After a last, undisturbed run every subject has had its one agent, as attempt 1."""
        done = self.once()
        world.check(done.returncode == 0, where, "the last run gave", done.returncode, done.stderr)
        starts = self.starts()
        world.check(sorted(each.subject for each in starts) == sorted(SUBJECTS), where, starts)
        world.check(all(each.attempt == "1" for each in starts), where, starts)
        outcomes = [run["outcome"] for run in self.lines("agents") if run["outcome"] != "voided"]
        world.check(outcomes == ["succeeded"] * len(SUBJECTS), where, outcomes)


def first(baton, killat, step):
    """Returns how many stops the daemon makes."""
    stop = 1
    while True:
        with Sweep(baton, killat) as sweep:
            if not sweep.killed_at(stop):
                return stop
            sweep.judge(f"killed at stop {stop}:")
        stop += step


def second(baton, killat, first_stop, step):
    """Returns how many stops the recovering daemon makes."""
    stop = 1
    while True:
        with Sweep(baton, killat) as sweep:
            sweep.killed_at(first_stop)
            if not sweep.killed_at(stop):
                return stop
            sweep.judge(f"killed at stop {first_stop}, then at {stop}:")
        stop += step


def test(baton, killat, step="3"):
    step = int(step)
    killat = os.path.abspath(killat)
    stops = first(baton, killat, step)
    print(f"one crash: {-(-stops // step)} of about {stops} places, lost 0, double 0")
    # The first kills of the second sweep are spread over the part in which starts are committed.
    kills = range(stops // 3, stops, max(1, stops // 6)) if step > 1 else range(1, stops, 7)
    places = 0
    for first_stop in kills:
        places += -(-second(baton, killat, first_stop, 11 * step if step > 1 else 1) // (11 * step))
    print(f"two crashes: {places} places, lost 0, double 0")


if __name__ == "__main__":
    world.main(test)
