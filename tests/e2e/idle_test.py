"""An idle daemon with one root takes less than 15 MiB and makes no system call but for its timers.
usage: idle_test.py BATON"""

import collections
import re
import subprocess
import time

import world
from world import check, skip, wait_until

LOOK = 10  # seconds: longer than any timer but the rescan's
TIMER = {"epoll_wait", "epoll_pwait", "restart_syscall", "timerfd_settime", "read", "clock_gettime"}


def resident_kib(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+) kB", status.read()).group(1))


def calls_within_a_look(pid):
    """Number of each system call."""
    trace = subprocess.Popen(["strace", "-f", "-qq", "-p", str(pid)], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(LOOK)
    trace.terminate()
    return collections.Counter(re.findall(r"^(?:\[pid +\d+\] )?(\w+)\(", trace.communicate()[1], re.M))


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
        # What still settles after the last agent has to come to an end, and the rescan comes only once a
        # minute: so a look in which nothing happens but at most one timer has to come.
        looks = []

        def idle():
            looks.append(calls_within_a_look(pid))
            return set(looks[-1]) <= TIMER and looks[-1].total() <= 4

        wait_until(idle, lambda: looks[-1])
        kib = resident_kib(pid)
        check(kib < 15 * 1024, "resident memory:", kib, "KiB")
        print(f"resident {kib} KiB; calls within {LOOK} s: {dict(looks[-1])}")


if __name__ == "__main__":
    world.main(test)
