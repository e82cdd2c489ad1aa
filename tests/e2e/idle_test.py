"""An idle daemon with one root takes less than 15 MiB and makes no system call but for its timers.
usage: idle_test.py BATON"""

import collections
import re
import subprocess
import time

import world
from world import check, skip, wait_until

LOOK = 10  # seconds: longer than any timer but the rescan's could be


def resident_kib(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+) kB", status.read()).group(1))


def test(exe):
    try:
        subprocess.run(["strace", "-o", "/dev/null", "/bin/true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        skip("strace cannot trace here")
    with world.World(exe) as baton:
        pid = baton.start().pid
        for number in range(20):
            baton.ticket(f"n{number}", "ready")
        wait_until(lambda: len(baton.starts()) == 20)
        baton.idle()
        # What still settles after the last agent (old versions of files, for a second) is over when it
        # makes no call any more; that has to come about.
        calls = wait_until(lambda: quiet(pid))
        kib = resident_kib(pid)
        check(kib < 15 * 1024, "resident memory:", kib, "KiB")
        print(f"resident {kib} KiB; calls within {LOOK} s: {dict(calls) or 'none'}")


def quiet(pid):
    """The calls within a while, if they are those of one timer."""
    trace = subprocess.Popen(["strace", "-f", "-qq", "-p", str(pid)], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(LOOK)
    trace.terminate()
    calls = collections.Counter(re.findall(r"^(?:\[pid +\d+\] )?(\w+)\(", trace.communicate()[1], re.M))
    # The call it sits in shows up as interrupted by strace itself.
    allowed = {"epoll_wait", "epoll_pwait", "restart_syscall", "timerfd_settime", "read", "clock_gettime"}
    return calls + collections.Counter({"looked": 1}) if set(calls) <= allowed and calls.total() <= 4 else None


if __name__ == "__main__":
    world.main(test)
