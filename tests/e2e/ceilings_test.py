# SPDX-License-Identifier: Apache-2.0
"""What agents write into files fills neither memory nor disk: many large files, and a file that is rewritten all the time.
usage: ceilings_test.py BATON"""

import os
import re
import time

import world
from world import check, wait_until, write

FILES = 60
NUMBERS = 800_000  # in each of them: 4.8 MB of text, which take some 20 MB when they are parsed
LIMIT = 40 << 20
SECONDS = 5


def log_of(baton):
    with open(baton.home + "/daemon.log", errors="replace") as file:
        return file.read()


def events_of(baton, flow, word):
    return sum(line["event"] == word and line["flow"] == flow for line in baton.lines("events"))


def most_memory(baton):
    with open(f"/proc/{baton.daemon.pid}/status") as status:
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read()).group(1)) << 10


def bytes_below(folder):
    return sum(os.path.getsize(f"{where}/{name}") for where, _, names in os.walk(folder) for name in names)


def large_files(exe):
    """Many large files: those above the limit are left out, other flows go on, and room that is made is used."""
    rules = [{"name": "big", "files": "big/{flow}.json", "stage": "/status", "react": [{"to": "ready", "run": "worker"}]},
             world.World.TICKETS]
    with world.World(exe, rules=rules, limits={"max_root_size": f"{LIMIT}B"}) as baton:
        numbers = ",".join(["1.5e3"] * NUMBERS)
        for i in range(FILES):
            write(f"{baton.home}/made/{i}.json", f'{{"status": "x", "n": [{i},{numbers}]}}'.encode())
        size = os.path.getsize(f"{baton.home}/made/0.json")
        baton.start()
        os.mkdir(baton.root + "/big")
        for i in range(FILES):
            os.rename(f"{baton.home}/made/{i}.json", f"{baton.root}/big/{i}.json")

        def left_out():
            return [line for line in baton.lines("status") if line["reason"] == "file_rejected"]
        most = LIMIT // size
        wait_until(lambda: len(left_out()) == FILES - most, "the rest is left out", lambda: log_of(baton))
        check("max_root_size" in left_out()[0]["why"], left_out()[0])
        baton.canary()
        check(most_memory(baton) < 700 << 20, most_memory(baton), "bytes of memory")
        check(bytes_below(baton.state) < LIMIT + (64 << 20), bytes_below(baton.state), "bytes of state")
        # Two of those that were taken in become small: two others are taken in, and nobody has touched them.
        held = {line["flow"] for line in left_out()}
        taken = [i for i in range(FILES) if f"rules/big/{i}" not in held]
        for i in taken[:2]:
            write(f"{baton.root}/big/{i}.json", {"status": "x"})
        wait_until(lambda: len(left_out()) == FILES - most - 2, "two others have room", lambda: log_of(baton))


def rewritten(exe):
    """A file that is rewritten at full speed leaves few lines in history and log, and its last version counts."""
    with world.World(exe, limits={"events_per_hour": 50}) as baton:
        baton.start()
        baton.ticket("other", "x")
        end = time.monotonic() + SECONDS
        number = 0
        while time.monotonic() < end:
            number += 1
            baton.ticket("busy", f"s{number}")
        baton.ticket("last", "ready")
        baton.ticket("busy", "done")
        wait_until(lambda: any(line["flow"] == "rules/t/busy" and line["declared"] == "done"
                               for line in baton.lines("status")), "the last version counts", lambda: log_of(baton))
        baton.canary()
        said = [line for line in baton.lines("events") if line["flow"] == "rules/t/busy"]
        limited = [line for line in said if line["event"] == "history_limited"]
        check(len(limited) == 1 and "events_per_hour" in limited[0]["why"], said[-5:])
        check(len(said) < 100, len(said), "lines of history for", number, "writes")
        lines = [line for line in log_of(baton).splitlines() if "rules/t/busy" in line]
        check(len(lines) < 100, len(lines), "lines of log for", number, "writes")
        # Of other flows everything is there.
        for flow in "rules/t/other", "rules/t/last":
            check(events_of(baton, flow, "accepted") == 1 and events_of(baton, flow, "stage") == 1, baton.lines("events"))
        check(events_of(baton, "rules/t/last", "started") == 1, baton.lines("events"))


if __name__ == "__main__":
    world.main_parts((large_files, rewritten))
