"""One daemon serves several roots: each is watched, locked and journalled by itself, limits are summed, and a
second daemon on any of them is refused. usage: roots_test.py BATON"""

import os
import subprocess

import world
from world import check, wait_until, write


def ticket(root, name, status):
    write(f"{root}/tickets/{name}.json", {"status": status})


def serve(baton, *more):
    return [baton.exe, "run", "--config", baton.config, "--state-dir", baton.state, *more]


def two_roots(exe):
    with world.World(exe, command=("sleep", "1"), limits={"max_running": 1}) as baton:
        roots = [baton.home + "/one", baton.home + "/two"]
        for root in roots:
            os.mkdir(root)
        baton.settings["roots"] = roots
        baton.configure()
        for root in roots:
            ticket(root, "a", "ready")
        with open(baton.home + "/daemon.log", "ab") as log:
            baton.daemon = subprocess.Popen(serve(baton), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(lambda: len(baton.starts("rules/t/a")) == 2, "both roots start their agent")
        check(len({each.run for each in baton.starts()}) == 2, "one run for two roots")
        # Each root by itself, as a command in its folder sees it.
        for root in roots:
            done = subprocess.run([exe, "status", "--json", "--root", root, "--config", baton.config,
                                   "--state-dir", baton.state], capture_output=True, text=True, check=True)
            check("rules/t/a" in done.stdout, root, "is not served:", done.stdout)
        second = subprocess.run(serve(baton, "--root", roots[1]), stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=60)
        check(second.returncode == 75, "a second daemon on the second root gave", second.returncode)
        check(str(baton.daemon.pid) in second.stderr, "the first one's pid is not named:", second.stderr)
        # A change in either root is noticed while the other one's agent holds the only place.
        ticket(roots[0], "b", "ready")
        ticket(roots[1], "c", "ready")
        wait_until(lambda: {"rules/t/b", "rules/t/c"} <= {each.flow for each in baton.starts()},
                   "later tickets of both roots")
        baton.daemon.terminate()
        check(baton.daemon.wait(timeout=30) == 0, "the daemon did not end in good order")


def once(exe):
    with world.World(exe) as baton:
        roots = [baton.home + "/one", baton.home + "/two"]
        for root in roots:
            os.mkdir(root)
            ticket(root, "a", "ready")
        baton.settings["roots"] = roots
        baton.configure()
        done = subprocess.run(serve(baton, "--once"), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60)
        check(done.returncode == 0, "--once gave", done.returncode, done.stderr)
        check(len(baton.starts("rules/t/a")) == 2, "one start for each root")


def test(exe):
    once(exe)
    two_roots(exe)


if __name__ == "__main__":
    world.main(test)
