"""What ends a runaway besides attempts: the hourly budget of starts and of money, told so by status; a clock that was
set back; a shim that does not fit. usage: limits_test.py BATON"""

import os
import shutil

import world
from world import check, wait_until


def status(baton, flow):
    return next(line for line in baton.lines("status") if line["flow"] == flow)


def cost(exe):
    """What agents report is shown, and at the cap the flow is paused until somebody resumes it."""
    says = 'echo at work; echo \'{"type":"result","total_cost_usd":1.5,"usage":{"input_tokens":7,"output_tokens":3}}\'; exit 1'
    with world.World(exe, command=("sh", "-c", says), limits={"max_attempts": 100, "cost_per_hour": 4}) as baton:
        baton.start()
        baton.ticket("a", "ready")
        wait_until(lambda: status(baton, "rules/t/a")["waiting_for"] == "cost_per_hour", "it is paused",
                   lambda: baton.call("status").stdout)
        check(len(baton.starts()) == 3, "the cap lets", len(baton.starts()), "start")
        told = status(baton, "rules/t/a")
        check(told["cost"] == 4.5 and told["process"] == "failed" and "4.00 USD" in told["why"], told)
        check("4.50" in baton.call("status").stdout, baton.call("status").stdout)
        check([(run["cost"], run["tokens"]) for run in baton.lines("agents")] == [(1.5, 10)] * 3, baton.lines("agents"))
        baton.call("resume", "rules/t/a")
        wait_until(lambda: len(baton.starts()) == 6 and status(baton, "rules/t/a")["waiting_for"] == "cost_per_hour",
                   "a resume gives a new budget", lambda: baton.call("status").stdout)


def starts_after_resume(exe):
    """Each resume gives as many starts as the budget has."""
    with world.World(exe, command=("sh", "-c", "exit 3"),
                     limits={"max_attempts": 100, "spawns_per_hour": 3, "backoff": "10ms", "max_backoff": "10ms"}) as baton:
        baton.start()
        baton.ticket("a", "ready")
        for most in (3, 6, 9):
            wait_until(lambda: len(baton.starts()) >= most
                       and status(baton, "rules/t/a")["waiting_for"] == "spawns_per_hour", "it is paused",
                       lambda: baton.call("status").stdout)
            check(len(baton.starts()) == most, "the budget of 3 lets", len(baton.starts()), "start in all, not", most)
            baton.call("resume", "rules/t/a")


def misfit_shim(exe):
    """A shim that does not understand the daemon: status, log and doctor say so."""
    with world.World(exe, limits={"backoff": "1m", "max_backoff": "1m"}) as baton:
        folder = baton.home + "/bin"
        os.mkdir(folder)
        baton.exe = shutil.copy2(exe, folder + "/baton")
        with open(folder + "/baton-shim", "w") as file:
            file.write("#!/bin/sh\n[ -e /proc/self/fd/5 ] && dd bs=1 count=1 <&5 2>/dev/null\nexit 112\n")
        os.chmod(folder + "/baton-shim", 0o755)
        check("does not fit this baton" in baton.call("doctor", code=1).stdout, "doctor finds it well")
        baton.start()
        baton.ticket("a", "ready")
        wait_until(lambda: "versions" in status(baton, "rules/t/a")["why"], "status says why",
                   lambda: baton.call("status").stdout)
        with open(baton.home + "/daemon.log") as log:
            check("shim_misfit" in log.read(), "the log does not say it")
        check(not baton.starts(), "something was started")
    with world.World(exe) as baton:
        check("does not fit" not in baton.call("doctor", code=None).stdout, baton.call("doctor", code=None).stdout)


def test(exe):
    cost(exe)
    starts_after_resume(exe)
    misfit_shim(exe)


if __name__ == "__main__":
    world.main(test)
