# SPDX-License-Identifier: Apache-2.0
"""Polled roots whose time stamps are whole seconds, as on old ext4, or every second one, as on FAT: no change is lost,
even of the same length within the same second; and half of a file does not count while its writer pauses.
usage: coarse_test.py BATON [PART...]
"""

import contextlib
import os
import random
import shutil
import subprocess
import time

import world
from fuse_test import mounted
from world import check, skip, wait_until, write

CLOSE = '"$BATON_EXE" set "$BATON_STATE_FILE" \'/status="done."\''
TICKETS, ROUNDS = (100, 10) if world.COMPLETE else (20, 2)
YAML = {"name": "y", "files": "plans/{flow}.yaml", "stage": "/status", "done": ["done."],
        "react": [{"to": "ready", "run": "reader"}]}
RULE = {"name": "t", "files": "tickets/{flow}.json", "stage": "/status", "done": ["done."], "max_entries": 1000,
        "react": [{"to": "ready", "run": "worker"}]}


@contextlib.contextmanager
def file_system(folder, *make):
    """A file system of its own in a file, on a loop device."""
    if shutil.which(make[0]) is None:
        skip("there is no " + make[0])
    image, place = folder + "/image", folder + "/disk"
    with open(image, "wb") as file:
        file.truncate(64 << 20)
    subprocess.run([*make, image], check=True, capture_output=True)
    os.mkdir(place)
    done = subprocess.run(["mount", "-o", "loop", image, place], capture_output=True, text=True)
    if done.returncode != 0:
        skip("no loop device can be mounted here: " + done.stderr.strip())
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=False)


@contextlib.contextmanager
def box_on(exe, *make):
    with world.World(exe, rules=[RULE, YAML], command=("sh", "-c", CLOSE), limits={"max_running": 8}) as box:
        # YAML is written anew and renamed.
        box.settings["agents"]["reader"] = box.counting(
            "sh", "-c", 'wc -l <"$BATON_STATE_FILE" >>"$0"; sed s/ready/done./ "$BATON_STATE_FILE" >"$BATON_STATE_FILE.x";'
            'mv "$BATON_STATE_FILE.x" "$BATON_STATE_FILE"', box.home + "/lines")
        box.settings["limits"]["spawns_per_hour"] = 0
        box.configure()
        with file_system(box.home, *make) as disk, mounted(disk, box.root):
            try:
                yield box, disk
            finally:
                if box.daemon is not None:
                    box.daemon.kill()
                    box.daemon.wait()


def same_length(exe, *make):
    chance = random.Random(world.DAY)
    names = [f"n{number}" for number in range(TICKETS)]
    with box_on(exe, *make) as (box, disk):
        os.mkdir(disk + "/tickets")
        for name in names:
            write(f"{disk}/tickets/{name}.json", {"status": "draft"})
        box.start()
        check("poll" in box.lines("status")[0]["watching"], box.lines("status")[0])
        for turn in range(1, ROUNDS + 1):
            for name in names:
                # In place and as long as before: only its time can say so, and that may be the same.
                for status in ("draft", "ready"):
                    with open(f"{disk}/tickets/{name}.json", "r+") as file:
                        file.write('{"status": "%s"}' % status)
                    time.sleep(chance.random() * 0.02)
            wait_until(lambda: len(box.starts()) == turn * len(names), turn, "lost:", lambda: sorted(
                set(names) - {each.flow.split("/")[2] for each in box.starts()[(turn - 1) * len(names):]}))
            wait_until(lambda: all(line["condition"] == "done" for line in box.lines("status")), "all are done")
        check(len(box.starts()) == ROUNDS * len(names), len(box.starts()))


def whole_seconds(exe):
    same_length(exe, "mkfs.ext4", "-q", "-I", "128", "-F")


def every_second_one(exe):
    same_length(exe, "mkfs.vfat")


def slow_writers(exe):
    """YAML parses at any line; JSON that is torn for longer than it is waited for elsewhere."""
    lines = ["status: ready\n", *(f"line{number}: x\n" for number in range(13))]
    with box_on(exe, "mkfs.ext4", "-q", "-I", "128", "-F") as (box, disk):
        os.mkdir(disk + "/tickets")
        os.mkdir(disk + "/plans")
        box.start()
        with open(disk + "/plans/slow.yaml", "w") as plan, open(disk + "/tickets/slow.json", "w") as ticket:
            ticket.write('{"status": "ready"')
            for number, line in enumerate(lines[:6 if not world.COMPLETE else None]):
                plan.write(line)
                plan.flush()
                ticket.write(f', "n{number}": 0')
                ticket.flush()
                time.sleep((1, 2, 4)[number % 3])
            ticket.write("}")
        wait_until(lambda: box.starts("rules/y/slow") and box.starts("rules/t/slow"), "both are worked on", box.starts)
        box.idle()
        with open(box.home + "/lines") as file:
            read = file.read().split()
        check(read == [str(6 if not world.COMPLETE else len(lines))], "half of it:", read)
        check(len(box.starts()) == 2, box.starts())
        check(not any(each["event"] == "rejected" for each in box.lines("events")), box.lines("events"))


if __name__ == "__main__":
    world.main_parts([whole_seconds, every_second_one, slow_writers])
