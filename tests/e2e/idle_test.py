# SPDX-License-Identifier: Apache-2.0
"""An idle daemon with one root takes less than 15 MiB and makes no system call but for its timers: that of the full
look, which comes within a minute, and that of a service manager's watchdog. usage: idle_test.py BATON"""

import collections
import concurrent.futures
import glob
import mmap
import os
import re
import socket
import subprocess
import threading
import time

import world
from world import can_trace, check, skip, wait_until

LOOK = 10  # seconds: longer than any timer but the rescan's
TIMER = {"epoll_wait", "epoll_pwait", "restart_syscall", "timerfd_settime", "read", "clock_gettime"}
WATCHDOG = {"socket", "sendto", "close"}
RESCAN = 60  # seconds


def resident_kib(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+) kB", status.read()).group(1))


def next_timer(pid):
    """Seconds until the daemon's next timer, as it is set."""
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        with open(path) as file:
            value = re.search(r"^it_value: \((\d+), (\d+)\)", file.read(), re.M)
        if value:
            return int(value[1]) + int(value[2]) / 1e9
    raise AssertionError("the daemon has no timer")


def calls_within_a_look(pid):
    """Number of each system call."""
    trace = subprocess.Popen(["strace", "-f", "-qq", "-p", str(pid)], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(LOOK)
    trace.terminate()
    return collections.Counter(re.findall(r"^(?:\[pid +\d+\] )?(\w+)\(", trace.communicate()[1], re.M))


def idle(baton, beats=False):
    """Looks at a daemon that has nothing to do any more."""
    pid = baton.daemon.pid
    for number in range(20):
        baton.ticket(f"n{number}", "ready")
    wait_until(lambda: len(baton.starts()) == 20)
    baton.idle()
    # What still settles after the last agent has to come to an end, and the rescan comes only once a
    # minute: so a look in which nothing happens but at most one timer has to come, beside the watchdog's.
    looks = []

    def quiet():
        calls = calls_within_a_look(pid)
        looks.append(calls)
        alive = calls["sendto"]
        return (set(calls) <= (TIMER | WATCHDOG if beats else TIMER) and calls.total() <= 4 + 8 * alive
                and all(calls[name] == alive for name in WATCHDOG) and (alive > 0) == beats)

    wait_until(quiet, lambda: looks[-1])
    kib = resident_kib(pid)
    check(kib < 15 * 1024, "resident memory:", kib, "KiB")
    print(f"resident {kib} KiB; calls within {LOOK} s: {dict(looks[-1])}")


def alone(exe):
    with world.World(exe) as baton:
        pid = baton.start().pid
        # Of a daemon that has started nothing this is the next full look. What else it does later comes nearer
        # with time, so the first one counts.
        wait_until(lambda: next_timer(pid) > 0)
        first = next_timer(pid)
        check(RESCAN - 20 < first <= RESCAN, "the next full look, in seconds:", first)
        idle(baton)


def with_a_watchdog(exe):
    with world.World(exe) as baton, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(baton.home + "/notify")
        said = []

        def listen():
            while said[-1:] != [b"over"]:
                said.append(manager.recv(4096))

        listening = threading.Thread(target=listen, daemon=True)
        listening.start()
        baton.start(env={"NOTIFY_SOCKET": baton.home + "/notify", "WATCHDOG_USEC": "4000000"})
        idle(baton, beats=True)
        manager.sendto(b"over", baton.home + "/notify")
        listening.join()
        check(b"WATCHDOG=1" in said, said)


def unheard(exe):
    """A change of which the system says nothing is seen by the full look, within a minute."""
    with world.World(exe) as baton:
        baton.start()
        baton.ticket("a", "wait_")
        wait_until(lambda: any(each["event"] == "stage" for each in baton.lines("events")))
        with open(baton.root + "/tickets/a.json", "r+b") as file:
            mapped = mmap.mmap(file.fileno(), 0)
        time.sleep(1)  # what its closing leads to
        mapped[mapped.find(b"wait_"):mapped.find(b"wait_") + 5] = b"ready"
        mapped.flush()
        wait_until(lambda: baton.starts("rules/t/a"), "it is seen")
        mapped.close()


def litter(exe):
    """What a killed daemon was writing, and is older than a minute, goes when the next one starts."""
    with world.World(exe) as baton:
        baton.ticket("a", "new")
        left = f"{baton.root}/tickets/.a.json.0123456789abcdef.tmp"
        world.write(left, b"half")
        time.sleep(RESCAN + 2)
        check(baton.once().returncode == 0 and not os.path.exists(left), os.listdir(baton.root + "/tickets"))


def unread(exe):
    """A manager that reads nothing any more holds nothing up."""
    with world.World(exe) as baton, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, \
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
        manager.bind(baton.home + "/notify")
        other.setblocking(False)
        try:
            while True:
                other.sendto(b"STATUS=", baton.home + "/notify")
        except BlockingIOError:
            pass
        baton.start(env={"NOTIFY_SOCKET": baton.home + "/notify", "WATCHDOG_USEC": "400000"})
        for name in "ab":
            baton.ticket(name, "ready")
            wait_until(lambda: baton.starts(f"rules/t/{name}"), "it is started")


def test(exe):
    traced = [alone, with_a_watchdog] if can_trace() else []
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for part in [pool.submit(each, exe) for each in (*traced, unheard, litter, unread)]:
            part.result()
    if not traced:
        skip("of this test only, that it sleeps: strace cannot trace here")


if __name__ == "__main__":
    world.main(test)
