# SPDX-License-Identifier: Apache-2.0
"""What takes long does not keep the rest waiting: judging many files, and a journal that another process locks.
usage: stall_test.py BATON"""

import os
import subprocess
import sys
import time

import world
from world import check, wait_until, write

MOST_FILES = 400
SECONDS = 6  # of judging, about
# Another process locks the journal, as an agent with the same user can.
LOCKER = """import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)
db.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


def heavy_world(exe):
    rules = [{"name": "heavy", "files": "heavy/{flow}.json", "schema": "schemas/s.json", "stage": "/status",
              "react": [{"to": "nothing", "run": "worker"}]}, world.World.TICKETS]
    baton = world.World(exe, rules=rules)
    write(f"{baton.home}/schemas/s.json",
          {"properties": {"a": {"items": {"enum": ["y" * 49 + str(i) for i in range(2000)]}}}})
    return baton


def heavy(baton):
    """Puts files into the project whose schema takes many steps for each of them, so many that judging them takes some
    seconds. No two have the same text, so each is judged by itself. Returns their number."""
    def text(i):
        return {"status": "x", "n": i, "a": ["x" * 50] * 2000}
    write(f"{baton.home}/made/0.json", text(0))
    begin = time.monotonic()
    subprocess.run([baton.exe, "validate", "--schema", f"{baton.home}/schemas/s.json", f"{baton.home}/made/0.json"],
                   capture_output=True, check=False)
    number = min(MOST_FILES, max(30, int(SECONDS / (time.monotonic() - begin))))
    for i in range(number):
        write(f"{baton.home}/made/{i}.json", text(i))
    os.makedirs(baton.root + "/heavy", exist_ok=True)
    for i in range(number):
        os.rename(f"{baton.home}/made/{i}.json", f"{baton.root}/heavy/{i}.json")
    return number


def judged(baton):
    return sum(line["event"] == "rejected" for line in baton.lines("events"))


def judging(exe):
    """While baton judges many files, another flow starts, and all flows are stopped."""
    with heavy_world(exe) as baton:
        baton.start()
        number = heavy(baton)
        baton.ticket("a", "ready")
        wait_until(lambda: baton.starts(), "the other flow starts", lambda: log_of(baton))
        baton.call("stop", "--all")
        check(judged(baton) < number, "all files had been judged before")
        wait_until(lambda: judged(baton) == number, "the rest is judged", lambda: log_of(baton))


def first_look(exe):
    """A daemon that starts on many files answers before it has judged them, says so, and starts nothing before."""
    with heavy_world(exe) as baton:
        number = heavy(baton)
        baton.ticket("a", "ready")
        with open(baton.home + "/daemon.log", "ab") as log:
            baton.daemon = subprocess.Popen(baton.run_command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(lambda: "serving " in log_of(baton), "it serves")
        status = next(f"{folder}/daemon.json" for folder, _, names in os.walk(baton.state) if "daemon.json" in names)
        with open(status) as file:
            told = file.read()
        check('"settling"' in told, told)
        baton.call("pause", "--all")
        check(judged(baton) < number, "all files had been judged before")
        check(not baton.starts(), "it started too early", baton.starts())
        wait_until(lambda: judged(baton) == number, "the rest is judged", lambda: log_of(baton))
        baton.call("resume", "--all")
        wait_until(lambda: baton.starts(), "it starts then", lambda: log_of(baton))


def journal_locked(exe):
    """While another process locks the journal, `status` names it, people are told once, and `stop --all` works."""
    with world.World(exe, command=("sleep", "600")) as baton:
        baton.start()
        baton.ticket("a", "ready")
        wait_until(lambda: baton.starts(), "the first one starts")
        journal = next(f"{folder}/journal.db" for folder, _, names in os.walk(baton.state) if "journal.db" in names)
        with subprocess.Popen([sys.executable, "-c", LOCKER, journal], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as locker:
            check(locker.stdout.readline() == "locked\n")
            baton.ticket("b", "ready")

            def told():
                return [line for line in baton.lines("status")
                        if line["reason"] == "journal_locked" and f"process {locker.pid} (" in line["why"]]
            wait_until(told, "status names the process", lambda: baton.call("status").stdout)
            wait_until(lambda: log_of(baton).count(f"locked by process {locker.pid} (") == 1, "the log has it")
            baton.call("stop", "--all", code=None)
            wait_until(lambda: not world.processes_with("sleep\0600"), "the agent is stopped")
            check(log_of(baton).count(f"locked by process {locker.pid} (") == 1, log_of(baton))
            locker.communicate("")
        wait_until(lambda: any(line["reason"] != "journal_locked" for line in baton.lines("status")), "it goes on")


def log_of(baton):
    with open(baton.home + "/daemon.log", errors="replace") as file:
        return file.read()


if __name__ == "__main__":
    world.main_parts((judging, first_look, journal_locked))
