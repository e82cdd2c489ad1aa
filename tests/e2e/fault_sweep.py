# SPDX-License-Identifier: Apache-2.0
"""One system call of the daemon fails, at every place in turn: it goes on and every due agent runs once, or
it ends with 3 and says why, and the next daemon does the rest once.

The calls are made to fail by strace; the work is that of kill_sweep.py.
usage: fault_sweep.py BATON [--all | CALL...]     default: some of them, others each day (world.sample)
"""

import collections
import concurrent.futures
import re
import shutil
import subprocess

import world
from kill_sweep import Sweep
from world import check, only_unchanged, skip

# What each call may say on Linux, of what a server meets: no room, a broken disk, no descriptors, no
# processes, no memory, no watches, a signal in between. Not fcntl: nearly all of its calls give a lock back,
# which no kernel refuses.
FAULTS = {
    "openat": ("EMFILE", "EIO", "ENOSPC", "EINTR"),
    "openat2": ("EMFILE", "EIO", "EAGAIN", "EINTR"),
    "read": ("EIO", "EINTR", "EAGAIN"),
    "pread64": ("EIO", "EINTR"),
    "write": ("ENOSPC", "EIO", "EINTR", "EAGAIN"),
    "pwrite64": ("ENOSPC", "EIO", "EINTR"),
    "fsync": ("EIO", "ENOSPC"),
    "fdatasync": ("EIO", "ENOSPC"),
    "ftruncate": ("EIO", "ENOSPC"),
    "renameat": ("EIO", "ENOSPC"),
    "renameat2": ("EIO", "ENOSPC"),
    "mkdir": ("ENOSPC", "EIO"),
    "mkdirat": ("ENOSPC", "EIO"),
    "unlink": ("EIO",),
    "unlinkat": ("EIO",),
    "newfstatat": ("EIO", "ENOMEM"),
    "getdents64": ("EIO",),
    "fchmod": ("EIO",),
    "flock": ("EINTR", "ENOLCK"),
    "pipe2": ("EMFILE", "ENFILE"),
    "clone": ("EAGAIN", "ENOMEM"),
    "clone3": ("EAGAIN", "ENOMEM"),
    "vfork": ("EAGAIN", "ENOMEM"),
    "pidfd_open": ("EMFILE", "ENOMEM"),
    "waitid": ("EINTR",),
    "epoll_create1": ("EMFILE",),
    "epoll_ctl": ("ENOMEM", "ENOSPC"),
    "epoll_wait": ("EINTR",),
    "timerfd_create": ("EMFILE",),
    "eventfd2": ("EMFILE",),
    "inotify_init1": ("EMFILE",),
    "inotify_add_watch": ("ENOSPC", "ENOMEM"),
    "mmap": ("ENOMEM",),
    "getrandom": ("EINTR",),
}


def traced(sweep, out, *options):
    return subprocess.run(["strace", "-qqq", "-o", out, *options, *sweep.run_command("--once")],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=world.PATIENCE)


def calls(baton):
    """How often the daemon makes each call: before its own work begins, and in all."""
    before, total = collections.Counter(), collections.Counter()
    with Sweep(baton, None) as sweep:
        trace = sweep.home + "/trace"
        done = traced(sweep, trace)
        check(only_unchanged(done), "without a fault it gave", done.returncode, done.stderr)
        own = False
        with open(trace, errors="replace") as lines:
            for line in lines:
                name = re.match(r"(\w+)\(", line)
                if not name:
                    continue
                own = own or sweep.config in line
                (total if own else before)[name[1]] += 1
    return before, total


def durable_order(baton):
    """What baton writes into a state file is on the disk before it has its name, and the name before anything else."""
    with world.World(baton) as one:
        one.ticket("a", "new")
        folder = one.root + "/tickets"
        trace = one.home + "/trace"
        done = subprocess.run(["strace", "-f", "-y", "-qqq", "-o", trace, "-e", "trace=openat2,write,fsync,renameat,renameat2",
                               one.exe, "set", folder + "/a.json", '/status="ready"', *one.places()],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=world.PATIENCE)
        check(done.returncode == 0, done)
        with open(trace, errors="replace") as file:
            lines = file.read().splitlines()

        def first(*words, after=-1):
            found = [number for number, line in enumerate(lines) if number > after and all(word in line for word in words)]
            check(found, words, "does not come after", lines[after] if after >= 0 else "the beginning", lines)
            return found[0]
        made = first("openat2(", ".a.json.", "O_CREAT|O_EXCL")
        written = first("write(", "/.a.json.", after=made)
        synced = first("fsync(", "/.a.json.", after=written)
        named = first("renameat2(", ", \"a.json\"", after=synced)
        first(f"fsync(", f"<{folder}>", after=named)


def places(baton, wanted):
    before, total = calls(baton)
    found = []
    for call, errors in FAULTS.items():
        if wanted and call not in wanted:
            continue
        # A few more than were seen: no two runs make quite the same calls.
        last = before[call] + total[call] + (2 if total[call] else 0)
        found += [(call, error, number) for number in range(before[call] + 1, last + 1) for error in errors]
    return found


def fault(baton, call, error, number):
    """What went wrong; None when all is well, whether the daemon ended, and whether it served by then."""
    where = f"{call} number {number} gives {error}:"
    with Sweep(baton, None) as sweep:
        try:
            done = traced(sweep, "/dev/null", "-e", "signal=none", "-e", f"trace={call}",
                          "-e", f"inject={call}:error={error}:when={number}")
        except subprocess.TimeoutExpired as hangs:
            return f"{where} it hangs: {(hangs.stderr or b'').decode()[-600:]}", False, False
        # A write, a look or a read that fails is tried again within a minute; who is to work off all now is told.
        refused = done.returncode == 1 and ("a write of baton's own was refused" in done.stderr
                                            or "cannot be looked at" in done.stderr
                                            or re.search("cannot be (read|opened): Input/output error", done.stderr))
        # The line that names the reason could not be written. The last line still says how many flows are blocked.
        untold = (done.returncode == 1 and re.search(r"lines? (was|were) lost here", done.stderr)
                  and done.stderr.rstrip().endswith("1 flow: 1 blocked"))
        if done.returncode != 3 and not only_unchanged(done) and not refused and not untold:
            return f"{where} ended with {done.returncode}: {done.stderr[-600:]}", True, False
        if done.returncode == 3 and not re.search(r"error|critical|baton:", done.stderr):
            return f"{where} ended with 3 and said nothing: {done.stderr[-600:]}", True, False
        try:
            sweep.judge(where)
        except (AssertionError, subprocess.TimeoutExpired) as wrong:
            return f"{wrong}\n  after: {done.returncode} {done.stderr[-1500:]}", done.returncode == 3, False
        return None, done.returncode == 3, " critical " in done.stderr


def test(baton, *wanted):
    if shutil.which("strace") is None:
        skip("there is no strace (scripts/install-deps brings it)")
    if subprocess.run(["strace", "-qqq", "-o", "/dev/null", "true"], capture_output=True).returncode:
        skip("strace may not trace here")
    everything = places(baton, set(wanted) - {"--all"})
    chosen = everything if wanted else world.sample(everything, 40, 1200)
    durable_order(baton)
    wrong, ended, ends = [], 0, set()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for (call, error, _), (said, over, served) in zip(chosen, pool.map(lambda each: fault(baton, *each), chosen)):
            ended += over
            if over and served:
                ends.add((call, error))
            if said:
                wrong.append(said)
                print(said, flush=True)
    print(f"{len(chosen)} of {len(everything)} faults: went on {len(chosen) - ended}, ended with word {ended}, "
          f"wrong {len(wrong)}")
    check(not wrong, len(wrong), "faults were not survived")
    # After that nobody knows what is on the disk.
    if chosen == everything and "fdatasync" in {call for call, _, _ in chosen}:
        check(("fdatasync", "EIO") in ends, "a journal that cannot be synced ends no daemon:", sorted(ends))


if __name__ == "__main__":
    world.main(test)
