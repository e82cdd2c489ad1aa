"""A40: a root on a FUSE mount gives no events for what happens on the other side: it is polled, status says
so, and what is written there is acted upon, once. usage: fuse_test.py BATON"""

import os
import shutil
import subprocess

import world
from world import check, skip, wait_until, write


def test(exe):
    if not os.path.exists("/dev/fuse"):
        skip("there is no /dev/fuse")
    if shutil.which("bindfs") is None:
        skip("there is no bindfs (scripts/install-deps brings it)")
    with world.World(exe) as baton:
        other_side = baton.home + "/real"
        os.mkdir(other_side)
        made = subprocess.run(["bindfs", other_side, baton.root], capture_output=True, text=True)
        if made.returncode != 0:
            skip("FUSE may not be mounted here: " + made.stderr.strip())
        try:
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
        finally:
            if baton.daemon is not None:
                baton.daemon.kill()
                baton.daemon.wait()
            subprocess.run(["umount", "-l", baton.root], check=False)


if __name__ == "__main__":
    world.main(test)
