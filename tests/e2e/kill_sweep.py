# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at every system call of the daemon in turn, then a new daemon: nothing lost, nothing twice.

Two subjects in one file want an agent each, one of them after a write of baton's own; the other one's hands it on to
a further agent, which takes up the shim held ready meanwhile. Agents count themselves in a log outside. Then the second sweep: the daemon that
recovers is killed as well, at every of its calls in turn. The third: a workflow run with items, an attempt that
fails, a loop-back and a person's file; fewer places, for it takes many more calls. The last: a log that was rotated. killed_shim_test.py does the
same to shims, and kill_mutants_test.py shows that both notice what is missing.
usage: kill_sweep.py BATON KILLAT [STEP [FIRST]]     every STEPth stop from FIRST on, of the second kill every stop if STEP
is 1; without STEP some of them, others each day (world.sample)
"""

import concurrent.futures
import os
import re
import subprocess

import agent_run_test
import world

RULE = {"name": "g", "files": "coordination/groups.json", "stage": "/{subject}/status",
        "react": [{"to": "open", "set": {"/{subject}/status": "pending"}},
                  {"to": "pending", "run": "worker"}, {"to": "waiting_qa", "run": "qa"}]}
STARTS = [("A", "pending"), ("A", "waiting_qa"), ("B", "pending")]
# The one for A waits a moment for a shim held ready, notes those there are, and hands A on. It starts no program to
# look: that would be most of the work of the whole sweep.
HAND_ON = """
[ "$BATON_SUBJECT" = A ] || exit 0
spares() { for spare in "$1"/*; do [ ! -e "$spare" ] || echo "$spare"; done; }
looks=0
until spares "$1" >"$3" && [ -s "$3" ] || [ "$looks" -ge "$2" ]; do looks=$((looks + 1)); sleep 0.02; done
printf '{"A": {"status": "waiting_qa"}, "B": {"status": "pending"}}\\n' >"$3.json"
mv "$3.json" "$4"
"""


class Sweep(world.World):
    before = ()  # what the killed daemon is called by

    def __init__(self, baton, killat, looks=10):
        super().__init__(baton, rules=[RULE])
        self.killat = killat
        self.spares = self.home + "/spares"
        groups = self.root + "/coordination/groups.json"
        self.settings["agents"] = {
            "worker": self.counting("sh", "-c", HAND_ON, "worker", "${run_dir}/../.spare", str(looks), self.spares,
                                    groups),
            "qa": self.counting()}
        self.configure()
        world.write(groups, {"A": {"status": "pending"}, "B": {"status": "open"}})

    def killed(self, stop):
        done = subprocess.run([self.killat, str(stop), *self.before, *self.run_command("--once")], text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=world.PATIENCE)
        world.check(done.returncode in (0, 1), "killat:", done.returncode, done.stderr)
        return done

    def killed_at(self, stop):
        """False: it was done before that stop."""
        return self.killed(stop).returncode == 0

    def judge(self, where):
        """After a last, undisturbed run every stage has had its one agent, as attempt 1."""
        done = self.once()
        world.check(world.only_unchanged(done), where, "the last run gave", done.returncode, done.stderr)
        starts = self.starts()
        world.check(sorted((each.subject, each.purpose) for each in starts) == STARTS, where, starts)
        world.check(all(each.attempt == "1" for each in starts), where, starts)
        outcomes = [run["outcome"] for run in self.lines("agents") if run["outcome"] != "voided"]
        world.check(outcomes == ["succeeded"] * len(STARTS), where, outcomes)


def undisturbed(baton):
    """Shows that the sweeps pass the way by which a later start goes."""
    with Sweep(baton, None, looks=5000) as sweep:
        sweep.judge("undisturbed:")
        with open(sweep.spares) as file:
            spares = [os.path.basename(spare) for spare in file.read().split()]
        later = next(each.run for each in sweep.starts() if each.purpose == "waiting_qa")
        world.check(later in spares, "the later start did not take up the shim held ready:", later, spares)


WORKFLOW = """name: sweep
steps:
  - {id: make, agent: x, prompt: p.md, loop: {items: [1, 2]}}
  - {id: look, agent: x, prompt: p.md, needs: [make], loop_back_to: make}
  - {id: sign, agent: x, prompt: p.md, needs: [look], human_in_the_loop: true, max_attempts: 2}
"""
ACTS = {"look": "if first gate; then report DONE ',\"gate_failure\":true,\"logs\":[\"thin\"]'; else report DONE; fi",
        "sign": "if first try; then report FAILED; else report DONE; fi"}
RUN_STARTS = {"make": 4, "look": 2, "sign": 2}


class RunSweep(agent_run_test.Runs):
    """A workflow run under the same knife."""

    def __init__(self, baton, killat):
        super().__init__(baton, ACTS)
        self.killat = killat
        self.begin(self.workflow(WORKFLOW), "r", "--pause-for-human-input")

    def killed(self, stop):
        done = subprocess.run([self.killat, str(stop), *self.baton.run_command("--once")], text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=world.PATIENCE)
        world.check(done.returncode in (0, 1), "killat:", done.returncode, done.stderr)
        return done

    def judge(self, where):
        """After undisturbed runs every step has had its starts and its counters, whatever was killed before."""
        done = self.baton.once()
        world.check(world.only_unchanged(done, "blocked: approval_wanted"), where, "the run gave", done.returncode, done.stderr)
        world.check(self.step("r", "sign")["status"] == "WAITING_ON_HUMAN", where, self.state("r"))
        self.decide("r", "sign", {"approved": True})
        done = self.baton.once()
        world.check(done.returncode == 0 and self.state("r")["status"] == "COMPLETED", where, self.state("r"))
        for step, record in self.state("r")["steps"].items():
            counted = (self.count("r", step), record["executions"], record["iteration_count"], record["attempts"])
            world.check(counted == (RUN_STARTS[step], RUN_STARTS[step], 1, 2 if step == "sign" else 1),
                        where, step, counted, record)


def sweep_run(baton, killat, few, step):
    """Returns how many places there were."""
    with RunSweep(baton, killat) as sweep:
        stops = int(sweep.killed(10**9).stdout.split()[-1])
        sweep.judge("undisturbed:")

    def place(stop):
        with RunSweep(baton, killat) as sweep:
            sweep.killed(stop)
            sweep.judge(f"killed at stop {stop}:")

    places = few(range(1, stops, step), 3)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(place, stop) for stop in places]:
            done.result()
    return len(places)


LOG_RULE = {"name": "l", "files": "logs/{flow}.jsonl", "stage": "/s", "values": {"n": "/n"},
            "react": [{"to": "go", "run": "worker", "prompt": "n.md"}]}


class LogSweep(world.World):
    """A log with lines that wait, rotated while some of them are unread."""

    def __init__(self, baton, killat):
        super().__init__(baton, rules=[LOG_RULE])
        self.killat = killat
        self.worked = self.home + "/worked"
        self.settings["agents"] = {"worker": {"command": ["sh", "-c", 'cat >>"$0"', self.worked]}}
        world.write(self.home + "/n.md", b"${n}\n")
        self.configure()
        log = self.root + "/logs/a.jsonl"
        begin = b'{"s":"rest"}\n'
        world.write(log, begin)
        world.check(self.once().returncode == 0, "the first look")
        with open(log, "ab") as file:
            file.write(b'{"s":"go","n":1}\n{"s":"rest"}\n{"s":"go","n":2}\n{"s":"re')
        os.rename(log, log + ".1")
        world.write(log, begin + b'{"s":"go","n":3}\n{"s":"rest"}\n')

    def killed(self, stop):
        done = subprocess.run([self.killat, str(stop), *self.run_command("--once")], text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=world.PATIENCE)
        world.check(done.returncode in (0, 1), "killat:", done.returncode, done.stderr)
        return done

    def judge(self, where):
        """Each line was worked once, in its order."""
        done = self.once()
        world.check(done.returncode == 0, where, "the last run gave", done.returncode, done.stderr)
        with open(self.worked) as file:
            worked = file.read().split()
        world.check(worked == ["1", "2", "3"], where, worked)


def sweep_log(baton, killat, few, step):
    """Returns how many places there were."""
    with LogSweep(baton, killat) as sweep:
        stops = int(sweep.killed(10**9).stdout.split()[-1])
        sweep.judge("undisturbed:")

    def one(stop):
        with LogSweep(baton, killat) as sweep:
            sweep.killed(stop)
            sweep.judge(f"killed at stop {stop}:")

    places = few(range(1, stops, step), 5, 200)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(one, stop) for stop in places]:
            done.result()
    return len(places)


def stops_of(baton, killat, *kills):
    """How many stops the daemon makes after those kills."""
    with Sweep(baton, killat) as sweep:
        for stop in kills:
            sweep.killed_at(stop)
        done = sweep.killed(10**9)
        return int(done.stdout.split()[-1])


def place(baton, killat, stops):
    """Kills one daemon after the other; False: the last one had done its work before."""
    with Sweep(baton, killat) as sweep:
        reached = [sweep.killed_at(stop) for stop in stops][-1]
        sweep.judge(f"killed at stops {stops}:")
        return reached


def sweep_places(baton, killat, places):
    """Returns how many there were. Most of the time of one is waiting for the disk."""
    pool = concurrent.futures.ThreadPoolExecutor(4)
    try:
        return sum(pool.map(lambda stops: place(baton, killat, stops), places))
    finally:
        pool.shutdown(cancel_futures=True)


def test(baton, killat, step=None, begin="1"):
    few = world.sample if step is None else lambda places, *_: places
    every, begin = int(step or "1"), int(begin)
    killat = os.path.abspath(killat)
    undisturbed(baton)
    # No two runs make quite the same calls.
    stops = stops_of(baton, killat)
    chosen = few(range(begin, stops + stops // 20, every), 40, 2000)
    places = sweep_places(baton, killat, [(stop,) for stop in chosen])
    world.check(places > len(chosen) // 2, "hardly any daemon was killed:", places)
    print(f"one crash: {places} of about {stops} places from {begin} on, lost 0, double 0", flush=True)
    # The first kills of the second sweep are spread over the part in which starts are committed; the second ones
    # are few, and others after each first one.
    thorough = step == "1"
    kills = range(1, stops, 7) if thorough else few(range(stops // 3 + begin, stops, max(1, stops // 12)), 2)
    seconds = few([(kill, stop) for count, kill in enumerate(kills)
                   for stop in range(begin + count, stops_of(baton, killat, kill), 1 if thorough else 30 * every)], 8)
    places = sweep_places(baton, killat, seconds)
    # Near the end of its work a daemon may be done before its stop; of a handful that can be many.
    world.check(places > len(seconds) // (2 if len(seconds) > 50 else 4), "hardly any second daemon was killed:", places,
                len(seconds))
    print(f"two crashes: {places} places, lost 0, double 0", flush=True)
    places = sweep_run(baton, killat, few, 50 * every + 1)
    world.check(places > 0, "no daemon was killed in a workflow run")
    print(f"a workflow run: {places} places, lost 0, double 0", flush=True)
    places = sweep_log(baton, killat, few, 11 * every)
    world.check(places > 0, "no daemon was killed while it read a log")
    print(f"a log: {places} places, lost 0, double 0")


if __name__ == "__main__":
    world.main(test)
