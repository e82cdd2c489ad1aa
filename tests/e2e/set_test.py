"""Eight processes change one file with `baton set` at the same time: no update is lost.
usage: set_test.py BATON [TIMES]"""

import concurrent.futures
import fcntl
import json
import os
import subprocess

import world
from world import check, write

WRITERS = 8


def locked(exe):
    """A file that somebody keeps locked ends the command, which may itself be what that somebody waits for."""
    with world.World(exe) as baton:
        path = baton.root + "/tickets/locked.json"
        write(path, {"status": "idle"})
        with open(path) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            done = baton.call("set", path, '/status="ready"', code=3)
            check(f"is locked by process {os.getpid()}" in done.stderr and path in done.stderr, done.stderr)
            check(json.load(file) == {"status": "idle"}, "it was changed")
        baton.call("set", path, '/status="ready"')


def test(exe, times="1000"):
    locked(exe)
    times = int(times)
    with world.World(exe) as baton:
        path = baton.root + "/tickets/shared.json"
        write(path, {"status": "idle", **{f"writer{number}": {} for number in range(WRITERS)}})

        def writer(number):
            for turn in range(times):
                done = subprocess.run(
                    [exe, "set", path, f"/writer{number}/n{turn}={turn}", *baton.places()],
                    stdin=subprocess.DEVNULL, capture_output=True, text=True)
                check(done.returncode == 0, "writer", number, "turn", turn, ":", done.stderr)

        with concurrent.futures.ThreadPoolExecutor(WRITERS) as pool:
            for result in [pool.submit(writer, number) for number in range(WRITERS)]:
                result.result()
        with open(path) as file:
            found = json.load(file)
        lost = [(number, turn) for number in range(WRITERS) for turn in range(times)
                if found[f"writer{number}"].get(f"n{turn}") != turn]
        check(not lost, len(lost), "updates were lost, the first:", lost[:3])
        print(WRITERS * times, "updates, none lost")


if __name__ == "__main__":
    world.main(test)
