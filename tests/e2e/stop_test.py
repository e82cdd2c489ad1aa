# SPDX-License-Identifier: Apache-2.0
"""Stop means the whole tree: an agent that forks twice, opens sessions of its own and ignores TERM leaves
nothing behind. A killed shim's tree is ended too, and its attempt counted and tried again. A stop without a
daemon is waited for by whoever comes beside it.
usage: stop_test.py BATON [PART...]"""

import contextlib
import glob
import json
import os
import random
import signal
import subprocess
import time

import world
from world import check, processes_with, wait_until, write

# Each process of the tree carries the run id in its environment, as everything an agent starts does.
STUBBORN = """
trap '' TERM HUP INT
( setsid sh -c "trap '' TERM; ( setsid sh -c 'trap \\"\\" TERM; while :; do sleep 1; done' & ) ; while :; do sleep 1; done" & )
while :; do sleep 1; done
"""
PATIENT = "setsid sleep 1000 & sleep 1000"


def stubborn(exe):
    with world.World(exe, command=("sh", "-c", STUBBORN)) as baton:
        baton.start()
        baton.ticket("s", "ready")
        run = wait_until(lambda: baton.starts("rules/t/s"))[0].run
        wait_until(lambda: len(processes_with("BATON_RUN_ID=" + run)) >= 3, "the tree grows")
        baton.call("stop", "rules/t/s")
        wait_until(lambda: not processes_with(run), lambda: processes_with(run), "are left")
        wait_until(lambda: [each["outcome"] for each in baton.lines("agents")] == ["stopped"],
                   lambda: baton.lines("agents"))
        baton.canary()
        check(len(baton.starts("rules/t/s")) == 1, "a stopped flow was started again")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as pids:
        return [int(each) for each in pids.read().split()]


def process_namespace():
    inside = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run(inside + ["true"], capture_output=True).returncode:
        world.skip("no process namespace may be made here")
    return inside


def zombies(parent):
    """Children of a process that have ended and were not taken in."""
    ended = []
    for child in children(parent):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if world.state_of(child) == "Z":
                ended.append(child)
    return ended


def container(exe):
    """A daemon that is PID 1 takes its agents along when it is told to end: they hear TERM and may end in
    order, and the next container neither takes that for a failure nor starts them when they are to be held."""
    inside = process_namespace()
    with world.World(exe) as baton:
        agent = f"trap 'echo heard >{baton.home}/heard; exit 1' TERM; while :; do sleep 0.1; done"
        baton.settings["agents"]["worker"] = baton.counting("sh", "-c", agent)
        baton.settings["on_interrupted"] = "hold"
        baton.configure()
        with open(baton.home + "/daemon.log", "ab") as log:
            for turn in (1, 2):
                box = subprocess.Popen(inside + baton.run_command(), stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=log)
                # Before it listens, PID 1 hears no signal.
                wait_until(lambda: log_of(baton).count(" serving ") == turn)
                if turn == 1:
                    baton.ticket("c", "ready")
                    wait_until(lambda: baton.starts("rules/t/c"))
                    # Who loses its parent there is a child of PID 1, which takes it in when it has ended.
                    init = children(box.pid)[0]
                    orphan = ["sh", "-c", "(sleep 0.3 &)"]
                    subprocess.run(["nsenter", "--pid", "--target", str(init), *orphan], check=True)
                    time.sleep(1)
                    wait_until(lambda: not zombies(init), lambda: zombies(init))
                else:
                    wait_until(lambda: baton.lines("status")[0]["condition"] == "blocked", lambda: baton.lines("status"))
                os.kill(children(box.pid)[0], signal.SIGTERM)
                check(box.wait(timeout=60) == 0, "PID 1 ended with", box.returncode)
        check(os.path.exists(baton.home + "/heard"), "the agent was not told to end")
        ended = [(each["outcome"], each["state"]) for each in baton.lines("agents")]
        check(ended == [("interrupted", "ended")], ended)
        check(len(baton.starts("rules/t/c")) == 1, "an interrupted agent that is to be held was started")


def another_container(exe):
    """The daemon of another process namespace on the same folders sees none of the processes, and that the agents'
    locks are held: it waits for their ends, and starts nothing a second time."""
    inside = process_namespace()
    with world.World(exe) as baton:
        agent = f"while [ ! -e {baton.home}/go ]; do sleep 0.1; done; exit 0"
        baton.settings["agents"]["worker"] = baton.counting("sh", "-c", agent)
        baton.configure()
        boxes = []
        with open(baton.home + "/daemon.log", "ab") as log:
            def box(*command):
                boxes.append(subprocess.Popen([*inside, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log))
                return boxes[-1]
            try:
                # Its init lives longer than its daemon.
                box("sh", "-c", '"$@" & wait; sleep 1000', "sh", *baton.run_command())
                wait_until(lambda: log_of(baton).count(" serving ") == 1)
                baton.ticket("c", "ready")
                wait_until(lambda: baton.starts("rules/t/c"))
                os.kill(children(children(boxes[0].pid)[0])[0], signal.SIGKILL)
                box(*baton.run_command())
                wait_until(lambda: log_of(baton).count(" serving ") == 2)
                baton.canary()
                time.sleep(2)
                check([each["state"] for each in baton.lines("agents") if each["flow"] == "rules/t/c"] == ["running"],
                      baton.lines("agents"))
                write(baton.home + "/go", b"")
                wait_until(lambda: [(each["outcome"], each["attempt"]) for each in baton.lines("agents")
                                    if each["flow"] == "rules/t/c"] == [("succeeded", 1)], lambda: baton.lines("agents"))
            finally:
                for each in boxes:
                    each.kill()
                    each.wait()
        check(len(baton.starts("rules/t/c")) == 1, baton.starts())


def killed_shims(exe):
    """At random moments of an agent's life its shim is killed."""
    dice = random.Random(7)
    turns = 12
    with world.World(exe, command=("sh", "-c", PATIENT), limits={"max_attempts": turns + 2}) as baton:
        baton.start()
        baton.ticket("k", "ready")
        for turn in range(1, turns + 1):
            starts = wait_until(lambda: len(baton.starts("rules/t/k")) >= turn and baton.starts("rules/t/k"),
                                "attempt", turn)
            run = starts[-1].run
            time.sleep(dice.random() * 0.05)  # anywhere in its beginning
            shim = next(each["pid"] for each in baton.lines("agents") if each["run"] == run)
            os.kill(shim, signal.SIGKILL)
            wait_until(lambda: not processes_with(run), "the tree of a killed shim is left:",
                       lambda: processes_with(run))
        wait_until(lambda: len(baton.starts("rules/t/k")) == turns + 1)
        starts = baton.starts("rules/t/k")
        check([each.attempt for each in starts] == [str(n) for n in range(1, turns + 2)], starts)
        ended = [each["outcome"] for each in baton.lines("agents") if each["state"] == "ended"]
        check(ended == ["unknown"] * turns, ended)


def stop_all(exe):
    with world.World(exe, command=("sleep", "1000")) as baton:
        baton.start()
        for number in range(5):
            baton.ticket(f"a{number}", "ready")
        wait_until(lambda: len(baton.starts()) == 5)
        baton.call("stop", "--all")
        wait_until(lambda: not any(processes_with(each.run) for each in baton.starts()), "agents end")


def beside_a_command(exe):
    with world.World(exe, command=("sh", "-c", STUBBORN), limits={"kill_grace": "10s"}) as baton:
        def role():
            with open(glob.glob(baton.state + "/*/lock")[0]) as file:
                text = file.read()
            return json.loads(text)["role"] if text else None

        def start_waiting():
            with open(baton.home + "/daemon.log", "wb") as log:
                baton.daemon = subprocess.Popen(baton.run_command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            wait_until(lambda: f"process {stop.pid}; waiting for its end" in open(baton.home + "/daemon.log").read()
                       or baton.daemon.poll() is not None)
            check(baton.daemon.poll() is None, "the daemon has ended with", baton.daemon.poll())

        baton.start()
        baton.ticket("s", "ready")
        wait_until(lambda: baton.starts("rules/t/s"))
        baton.daemon.kill()
        baton.daemon.wait()
        stop = subprocess.Popen([exe, "stop", "--all", *baton.places()], stdin=subprocess.DEVNULL)
        wait_until(lambda: role() == "command" or stop.poll() is not None)

        def halted():
            """It stays where it is, however long the others take; but not in a moment in which it locks the journal."""
            stop.send_signal(signal.SIGSTOP)
            if "database is locked" not in baton.call("status", code=None).stderr:
                return True
            stop.send_signal(signal.SIGCONT)
            return False
        wait_until(halted)
        check(stop.poll() is None, "the stop has ended before anything could be tried beside it")
        check("no daemon serves" in baton.call("status").stdout, "a command is taken for a daemon")
        refused = baton.call("stop", "--all", code=3).stderr
        check(f"command that works without a daemon, process {stop.pid}" in refused, refused)
        start_waiting()
        baton.daemon.terminate()
        check(baton.daemon.wait() == 0, "a daemon that waits is not ended by TERM")
        start_waiting()
        stop.send_signal(signal.SIGCONT)
        check(stop.wait() == 0, "the stop gave", stop.returncode)
        wait_until(baton.serves)
        check(baton.daemon.poll() is None, "the daemon has ended")
        check(not processes_with(baton.starts("rules/t/s")[0].run), "the agent was not stopped")


def log_of(baton):
    with open(baton.home + "/daemon.log", errors="replace") as file:
        return file.read()


def interrupted(exe):
    """The first Ctrl-C drains, the second one ends what runs, and the exit code tells which it came to."""
    for interrupts, expected in ((1, 0), (2, 130)):
        with world.World(exe) as baton:
            baton.settings["agents"] = {"worker": baton.counting(
                "sh", "-c", f"until [ -e '{baton.home}/go' ]; do sleep 0.05; done")}
            baton.configure()
            baton.start()
            baton.ticket("i", "ready")
            wait_until(lambda: baton.starts("rules/t/i"))
            for count in range(interrupts):
                baton.daemon.send_signal(signal.SIGINT)
                says = ("no new starts", "ending 1 agent")[count]
                wait_until(lambda: says in log_of(baton), "it says", says)
            if interrupts == 1:
                baton.ticket("later", "ready")
                check(baton.daemon.poll() is None, "it has ended beside its agent")
                check("; it drains: it starts nothing" in baton.call("status").stdout, baton.call("status").stdout)
                world.write(baton.home + "/go", b"")
            check(baton.daemon.wait(timeout=60) == expected, interrupts, "interrupts gave", baton.daemon.returncode)
            check(not processes_with(baton.starts("rules/t/i")[0].run), "the agent is there")
            check(not baton.starts("rules/t/later"), "something was started by a daemon that drains")


def left_alone(exe):
    """The third Ctrl-C leaves an agent that does not end."""
    with world.World(exe, command=("sh", "-c", STUBBORN), limits={"kill_grace": "1h"}) as baton:
        baton.start()
        baton.ticket("l", "ready")
        run = wait_until(lambda: baton.starts("rules/t/l"))[0].run
        for says in ("no new starts", "ending 1 agent"):
            baton.daemon.send_signal(signal.SIGINT)
            wait_until(lambda: says in log_of(baton), "it says", says)
        check(baton.daemon.poll() is None, "it has ended beside its agent")
        baton.daemon.send_signal(signal.SIGINT)
        check(baton.daemon.wait(timeout=60) == 130, "it ended with", baton.daemon.returncode)
        check(processes_with(run), "the agent was ended")


def interrupted_once(exe):
    """Who asked for all to be worked off is told that it was not."""
    with world.World(exe, limits={"max_running": 1}) as baton:
        baton.settings["agents"] = {"worker": baton.counting(
            "sh", "-c", f"until [ -e '{baton.home}/go' ]; do sleep 0.05; done")}
        baton.configure()
        for name in "ab":
            baton.ticket(name, "ready")
        baton.start("--once")
        wait_until(baton.starts)
        baton.daemon.send_signal(signal.SIGINT)
        wait_until(lambda: "no new starts" in log_of(baton))
        world.write(baton.home + "/go", b"")
        check(baton.daemon.wait(timeout=60) == 130, "it gave", baton.daemon.returncode)
        check(len(baton.starts()) == 1, baton.starts())


if __name__ == "__main__":
    world.main_parts((stubborn, stop_all, killed_shims, beside_a_command, interrupted, interrupted_once, left_alone,
                      container, another_container), 4)
