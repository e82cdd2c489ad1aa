# SPDX-License-Identifier: Apache-2.0
"""Eight processes change one file with `baton set` at the same time: no update is lost.
usage: set_test.py BATON [TIMES]"""

import fcntl
import json
import os
import subprocess
import time

import world
from world import check, write

WRITERS = 8
# A shell each: what the test itself takes of the machine, the writers do not have.
WRITER = """times=$1 baton=$2 path=$3 number=$4
shift 4
turn=0
while [ "$turn" -lt "$times" ]; do
  "$baton" set "$path" "/writer$number/n$turn=$turn" "$@" || exit
  turn=$((turn + 1))
done"""


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
            # What changes nothing, or is refused, waits for nobody.
            baton.call("set", path, '/status="idle"')
            baton.call("set", path, "/status/deeper=1", code=1)
        baton.call("set", path, '/status="ready"')


def busy(exe):
    """One that is exchanged all the time, and never without a lock on it, is waited for longer than one that is
    locked and stands still: its turn comes."""
    with world.World(exe) as baton:
        path = baton.root + "/tickets/busy.json"
        write(path, {"status": "idle"})
        held = open(path)
        fcntl.flock(held, fcntl.LOCK_EX)
        writer = subprocess.Popen([exe, "set", path, '/mine="yes"', *baton.places()], stdin=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + 13  # a file that stands still is given up after ten seconds
        while time.monotonic() < end and writer.poll() is None:
            with open(path + ".next", "w") as file:
                json.dump({"status": "idle", "at": time.monotonic()}, file)
            following = open(path + ".next")
            fcntl.flock(following, fcntl.LOCK_EX)
            os.rename(path + ".next", path)
            held.close()
            held = following
            time.sleep(0.3)
        check(writer.poll() is None, "it did not wait:", writer.poll())
        held.close()
        said = writer.communicate()[1]
        with open(path) as file:
            check(writer.returncode == 0 and json.load(file)["mine"] == "yes", writer.returncode, said)


def test(exe, times="1000" if world.COMPLETE else "100"):
    locked(exe)
    busy(exe)
    times = int(times)
    with world.World(exe) as baton:
        path = baton.root + "/tickets/shared.json"
        write(path, {"status": "idle", **{f"writer{number}": {} for number in range(WRITERS)}})

        writers = [subprocess.Popen(["sh", "-c", WRITER, "writer", str(times), exe, path, str(number), *baton.places()],
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                   for number in range(WRITERS)]
        for number, each in enumerate(writers):
            said = each.communicate()[1]
            check(each.returncode == 0, "writer", number, "gave", each.returncode, said)
        with open(path) as file:
            found = json.load(file)
        lost = [(number, turn) for number in range(WRITERS) for turn in range(times)
                if found[f"writer{number}"].get(f"n{turn}") != turn]
        check(not lost, len(lost), "updates were lost, the first:", lost[:3])
        print(WRITERS * times, "updates, none lost")


if __name__ == "__main__":
    world.main(test)
