# SPDX-License-Identifier: Apache-2.0
"""A40: a root on a FUSE mount gives no events for what happens on the other side: it is polled, status says
so, and what is written there is acted upon, once. And an agent whose working directory lies on a mount that
does not answer is ended when its time is over. usage: fuse_test.py BATON"""

import contextlib
import os
import shutil
import signal
import subprocess

import world
from world import check, skip, wait_until, write


@contextlib.contextmanager
def mounted(other_side, place):
    """Gives the process that answers for it; it goes on in the end."""
    if not os.path.exists("/dev/fuse"):
        skip("there is no /dev/fuse")
    if shutil.which("bindfs") is None:
        skip("there is no bindfs (scripts/install-deps brings it)")
    made = subprocess.Popen(["bindfs", "-f", other_side, place], stderr=subprocess.PIPE, text=True)
    world.wait_until(lambda: os.path.ismount(place) or made.poll() is not None, "the mount")
    if made.poll() is not None:
        skip("FUSE may not be mounted here: " + made.stderr.read().strip())
    try:
        yield made
    finally:
        made.send_signal(signal.SIGCONT)
        subprocess.run(["umount", "-l", place], check=False)
        made.wait()


def polled(exe):
    with world.World(exe) as baton:
        other_side = baton.home + "/real"
        os.mkdir(other_side)
        with mounted(other_side, baton.root):
            try:
                act_on_the_other_side(baton, other_side)
            finally:
                if baton.daemon is not None:
                    baton.daemon.kill()
                    baton.daemon.wait()


def act_on_the_other_side(baton, other_side):
    write(other_side + "/tickets/before.json", {"status": "ready"})
    baton.start()
    wait_until(lambda: baton.starts("rules/t/before"), "the first scan")
    says = baton.lines("status")[0]["watching"]
    check("poll" in says and "fuse" in says, "status says", says)
    check("poll" in baton.call("status").stdout)
    for number in range(20):
        write(f"{other_side}/tickets/n{number}.json", {"status": "ready"})
    for number in range(20):
        wait_until(lambda: baton.starts(f"rules/t/n{number}"), number, "was not seen")
    # Changed in place, as long as before: only its time says so.
    write(other_side + "/tickets/same.json", {"status": "wait."})
    wait_until(lambda: any(each["flow"] == "rules/t/same" for each in baton.lines("status")))
    with open(other_side + "/tickets/same.json", "r+") as file:
        file.write('{"status": "ready"}')
    wait_until(lambda: baton.starts("rules/t/same"), "was not seen")
    write(other_side + "/deeper/not/ours.json", {"status": "ready"})
    os.unlink(other_side + "/tickets/n0.json")
    wait_until(lambda: any(each["event"] == "gone" and each["flow"] == "rules/t/n0"
                           for each in baton.lines("events")), "is gone")
    baton.idle()
    flows = [each.flow for each in baton.starts()]
    check(len(flows) == len(set(flows)) == 22, "twice:", flows)
    check(baton.daemon.poll() is None, "the daemon ended")


def stuck(exe):
    with world.World(exe) as baton:
        other_side, place = baton.home + "/real", baton.home + "/place"
        os.makedirs(other_side + "/rules/t/one")
        os.mkdir(place)
        baton.settings["agents"]["worker"]["cwd"] = place + "/${flow}"
        baton.settings["limits"].update(timeout="1s", kill_grace="1s", max_attempts=1)
        baton.configure()
        with mounted(other_side, place) as answers:
            baton.start()
            answers.send_signal(signal.SIGSTOP)
            write(baton.root + "/tickets/one.json", {"status": "ready"})
            wait_until(lambda: any(each["event"] == "ended" and "timed_out" in each["why"]
                                   for each in baton.lines("events")), "the agent is ended")


if __name__ == "__main__":
    world.main_parts([polled, stuck])
