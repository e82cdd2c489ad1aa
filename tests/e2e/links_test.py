# SPDX-License-Identifier: Apache-2.0
"""`baton set` writes below the folder that was named, and nowhere else, while another user exchanges the file and its
folders for links. A log of agents is no second name of another file. usage: links_test.py BATON"""

import ctypes
import os
import subprocess
import sys
import tempfile
import threading

from world import check, write

ROUNDS = 300
AT_FDCWD = -100
RENAME_EXCHANGE = 2


def swap(libc, one, other):
    libc.renameat2(AT_FDCWD, one.encode(), AT_FDCWD, other.encode(), RENAME_EXCHANGE)


def race(exe, home, root, what, link, target):
    """Exchanges `what` and a link all the time while `baton set` changes the file."""
    outside = home + "/outside"
    libc = ctypes.CDLL(None, use_errno=True)
    os.symlink(target, link)
    over = threading.Event()

    def exchange():
        while not over.is_set():
            swap(libc, what, link)

    swapper = threading.Thread(target=exchange)
    swapper.start()
    codes = set()
    try:
        for number in range(ROUNDS):
            done = subprocess.run((exe, "set", root + "/t/x.json", f"/n={number}"), capture_output=True, text=True, cwd=home,
                                  timeout=600)
            codes.add(done.returncode)
            check(done.returncode in (0, 1, 3), done)
            for path in (outside + "/x.json", outside + "/t/x.json"):
                with open(path) as file:
                    check(file.read() == '{"n": -1}\n', path, "was changed by", done)
    finally:
        over.set()
        swapper.join()
    check(0 in codes, "no change went through", codes)
    left = sorted(os.listdir(outside) + os.listdir(outside + "/t"))
    check(left == ["t", "x.json", "x.json"], "something was left outside:", left)
    print(os.path.relpath(what, home), "was exchanged: exit codes", sorted(codes), flush=True)


def common_log(exe):
    """The name of the log that agent_run makes is known before. A file with a second name is not emptied."""
    with tempfile.TemporaryDirectory(prefix="baton-links-") as home:
        home = os.path.realpath(home)
        root = home + "/root"
        write(root + "/a.sh", b"#!/bin/sh\ncat >/dev/null; echo OUT\n")
        os.chmod(root + "/a.sh", 0o755)
        write(root + "/baton.yaml", b"version: 1\nagents: { default: { command: [./a.sh] } }\ndialects: { agent_run: {} }\n")
        write(root + "/w.yaml", b"name: w\nsteps: [ { id: s1, agent: a, prompt: p.md, max_attempts: 1 } ]\n")
        write(root + "/p.md", b"p\n")
        write(root + "/precious", b"precious\n")
        log = root + "/.agents/runs/{}/logs/{}__s1__i0__attempt1.log"
        os.makedirs(os.path.dirname(log.format("r", "r")))
        os.link(root + "/precious", log.format("r", "r"))
        env = {**os.environ, "BATON_STATE_DIR": home + "/state"}
        for run in ("r", "other"):
            subprocess.run((exe, "start", "w.yaml", "--run-id", run), cwd=root, env=env, check=True, timeout=600)
        subprocess.run((exe, "run", "--once"), cwd=root, env=env, capture_output=True, timeout=600)
        with open(root + "/precious") as file:
            check(file.read() == "precious\n", "a file was emptied by its second name")
        with open(log.format("other", "other")) as file:
            check(file.read() == "OUT\n", "the log was not written")


def main():
    exe = os.path.realpath(sys.argv[1])
    common_log(exe)
    for part in ("/root/t/x.json", "/root/t"):
        # Outside every root a link to a folder is the user's own way, and is followed.
        for configured in (True, False) if part.endswith("x.json") else (True,):
            with tempfile.TemporaryDirectory(prefix="baton-set-links-") as home:
                home = os.path.realpath(home)
                root = home + "/root"
                for path in (root + "/t/x.json", home + "/outside/x.json", home + "/outside/t/x.json"):
                    write(path, b'{"n": -1}\n')
                if configured:
                    write(root + "/baton.yaml", b"version: 1\n")
                race(exe, home, root, home + part, root + "/link",
                     home + "/outside" + ("/x.json" if part.endswith("x.json") else ""))


if __name__ == "__main__":
    main()
