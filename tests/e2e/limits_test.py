# SPDX-License-Identifier: Apache-2.0
"""What ends a runaway besides attempts: the hourly budget of starts and of money, told so by status; a clock that was
set back; a shim that does not fit. usage: limits_test.py BATON"""

import glob
import os
import resource
import shutil
import sqlite3
import subprocess
import sys

import world
from world import check, wait_until


def status(baton, flow):
    return next(line for line in baton.lines("status") if line["flow"] == flow)


def capped(baton, cap):
    """Whether the flow is blocked by that cap, and nothing but a person helps."""
    told = status(baton, "rules/t/a")
    return ((told["condition"], told["reason"], told["do"]) == ("blocked", "cap_reached", "baton resume rules/t/a")
            and f"({cap})" in told["why"])


def cost(exe):
    """What agents report is shown, and at the cap the flow is paused until somebody resumes it."""
    says = 'echo at work; echo \'{"type":"result","total_cost_usd":1.5,"usage":{"input_tokens":7,"output_tokens":3}}\'; exit 1'
    with world.World(exe, command=("sh", "-c", says), limits={"max_attempts": 100, "cost_per_hour": 4}) as baton:
        baton.start()
        baton.ticket("a", "ready")
        wait_until(lambda: capped(baton, "cost_per_hour"), "it is paused",
                   lambda: baton.call("status").stdout)
        check(len(baton.starts()) == 3, "the cap lets", len(baton.starts()), "start")
        told = status(baton, "rules/t/a")
        check(told["cost"] == 4.5 and told["condition"] == "blocked" and "4.00 USD" in told["why"], told)
        check("4.50" in baton.call("status").stdout, baton.call("status").stdout)
        check([(run["cost"], run["tokens"]) for run in baton.lines("agents")] == [(1.5, 10)] * 3, baton.lines("agents"))
        baton.call("resume", "rules/t/a")
        wait_until(lambda: len(baton.starts()) == 6 and capped(baton, "cost_per_hour"),
                   "a resume gives a new budget", lambda: baton.call("status").stdout)


def starts_after_resume(exe):
    """Each resume gives as many starts as the budget has."""
    with world.World(exe, command=("sh", "-c", "exit 3"),
                     limits={"max_attempts": 100, "spawns_per_hour": 3, "backoff": "10ms", "max_backoff": "10ms"}) as baton:
        baton.start()
        baton.ticket("a", "ready")
        for most in (3, 6, 9):
            wait_until(lambda: len(baton.starts()) >= most
                       and capped(baton, "spawns_per_hour"), "it is paused",
                       lambda: baton.call("status").stdout)
            check(len(baton.starts()) == most, "the budget of 3 lets", len(baton.starts()), "start in all, not", most)
            baton.call("resume", "rules/t/a")


def busy_writer(exe):
    """Who writes a file again and again, faster than baton can set anything in it, keeps it from nothing else."""
    rules = [world.World.TICKETS, {"name": "b", "files": "busy/{flow}.json", "stage": "/status",
                                   "react": [{"to": "ready", "set": {"/seen": "yes"}}]}]
    with world.World(exe, rules=rules) as baton:
        os.mkdir(baton.root + "/busy")
        baton.start(env={"LSAN_OPTIONS": "detect_leaks=0"})  # it cannot look for leaks while it is traced
        writes = subprocess.Popen([sys.executable, "-c", """
import itertools, os, time
for count in itertools.count():
    with open("new", "w") as file:
        file.write('{"status": "ready", "count": %d}' % count)
    os.rename("new", "busy/x.json")
    time.sleep(0.002)
"""], cwd=baton.root)
        slow = subprocess.Popen(["strace", "-qqq", "-o", "/dev/null", "-p", str(baton.daemon.pid), "-e", "trace=fsync,fdatasync",
                                 "-e", "inject=fsync,fdatasync:delay_exit=10ms"]) if world.can_trace() else None
        try:
            wait_until(lambda: baton.lines("status"), "it is seen")
            for count in range(3):
                baton.ticket(f"t{count}", "ready")
                baton.call("pause", "--all")
                baton.call("resume", "--all")
                wait_until(lambda: baton.starts(f"rules/t/t{count}"), "another one is started")
            baton.daemon.terminate()
            check(baton.daemon.wait(timeout=world.PATIENCE) == 0, "it does not end")
        finally:
            for each in (writes, slow):
                if each is not None:
                    each.kill()
                    each.wait()
        if slow is None:
            world.skip("strace cannot trace here, so the disk was not slow")


def file_size(exe):
    """A limit of file sizes is a full disk: nothing is started, nobody is ended, and what waits goes on with room."""
    with world.World(exe, command=("sh", "-c", "sleep 1; ulimit -f")) as baton:
        daemon = baton.start()
        baton.ticket("a", "ready")
        wait_until(lambda: len(baton.starts()) == 1, "the first is started")
        former = resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        baton.ticket("b", "ready")
        wait_until(lambda: "disk is full" in baton.call("status").stdout, "status says why", lambda: baton.call("status").stdout)
        check(daemon.poll() is None and len(baton.starts()) == 1, "the limit ended the daemon, or started one", baton.starts())
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, former)
        wait_until(lambda: len(baton.starts()) == 2, "the second is started when there is room")


def clock_ahead(exe):
    """Starts of an hour count over restarts, also beside one that was made by a clock that was ahead."""
    month = 30 * 86_400_000
    with world.World(exe, limits={"spawns_per_hour": 3}) as baton:
        def next_entry():
            baton.ticket("a", "ready")
            baton.once()
            baton.ticket("a", "done")
            baton.once()
        next_entry()
        next_entry()
        journal = sqlite3.connect(glob.glob(baton.state + "/*/journal.db")[0])
        with journal:
            journal.execute("UPDATE runs SET started = started + ?1, ended = ended + ?1 WHERE id = ?2",
                            (month, baton.starts()[1].run))
        journal.close()
        next_entry()
        check(len(baton.starts()) == 3, baton.starts())
        baton.ticket("a", "ready")
        baton.once()
        check(len(baton.starts()) == 3, baton.starts())
        check(capped(baton, "spawns_per_hour"), baton.call("status").stdout)


def misfit_shim(exe):
    """A shim that does not understand the daemon: status, log and doctor say so."""
    with world.World(exe, limits={"backoff": "1m", "max_backoff": "1m"}) as baton:
        folder = baton.home + "/bin"
        os.mkdir(folder)
        baton.exe = shutil.copy2(exe, folder + "/baton")
        with open(folder + "/baton-shim", "w") as file:
            file.write("#!/bin/sh\n[ -e /proc/self/fd/5 ] && dd bs=1 count=1 <&5 2>/dev/null\nexit 112\n")
        os.chmod(folder + "/baton-shim", 0o755)
        check("has another version than this baton" in baton.call("doctor", code=1).stdout, "doctor finds it well")
        baton.start()
        baton.ticket("a", "ready")
        wait_until(lambda: "versions" in status(baton, "rules/t/a")["why"], "status says why",
                   lambda: baton.call("status").stdout)
        with open(baton.home + "/daemon.log") as log:
            check("shim_misfit" in log.read(), "the log does not say it")
        check(not baton.starts(), "something was started")
    with world.World(exe) as baton:
        check("has another version" not in baton.call("doctor", code=None).stdout, baton.call("doctor", code=None).stdout)


if __name__ == "__main__":
    world.main_parts((cost, starts_after_resume, busy_writer, file_size, clock_ahead, misfit_shim))
