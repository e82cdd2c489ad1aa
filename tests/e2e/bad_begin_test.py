# SPDX-License-Identifier: Apache-2.0
"""What keeps a daemon from beginning, or could: each is one clear line, the exit status of the page, and after it is mended
the daemon serves. The units leave a daemon alone after a fault that only a person can mend. usage: bad_begin_test.py BATON"""

import contextlib
import glob
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys

import world
from world import check, skip, wait_until, write

NOBODY, OTHER = 65534, 1
UNITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../systemd")
CASES = []


def case(code, says, needs_root=False):
    """A generator that spoils a place, yields the environment of the daemon, and mends what it has spoilt. `code` is None if
    the daemon serves all the same; `says` is None if it has nothing to say."""
    def keep(make):
        CASES.append((make, code, says, needs_root))
        return make
    return keep


class Place(world.World):
    """The daemon runs as nobody if this is root, whom nothing is closed to."""

    def __init__(self, exe):
        super().__init__(exe, rules=[{**self.TICKETS, "done": ["done"]}])
        self.user = NOBODY if os.geteuid() == 0 else None
        os.chmod(self.home, 0o755)
        if self.user is not None:
            for name in ("baton", "baton-shim"):
                shutil.copy(os.path.join(os.path.dirname(exe), name), f"{self.home}/{name}")
            self.exe = self.home + "/baton"
            for path in (self.root, self.state, self.log):
                os.chown(path, NOBODY, NOBODY)

    def daemon_of(self, env):
        """The process, and the file of what it says."""
        said = self.home + "/daemon.log"
        with open(said, "wb") as file:
            self.daemon = subprocess.Popen([self.exe, "run", *self.places()], stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                                           env=world.asked_for_leaks(env), cwd="/", user=self.user, group=self.user,
                                           extra_groups=None if self.user is None else [])
        return self.daemon, lambda: [re.sub(r"^\S+Z (\w+) ", "", line) for line in open(said, errors="replace").read().splitlines()]

    def serves_with(self, env, says):
        daemon, said = self.daemon_of(env)
        wait_until(lambda: daemon.poll() is not None or any(line.startswith("serving ") for line in said()), said)
        check(daemon.poll() is None, "it does not serve:", said())
        if says:
            wait_until(lambda: any(re.search(says, line) for line in said()), said)
        daemon.terminate()
        check(daemon.wait(world.PATIENCE) == 0, said())
        lines = [line for line in said() if not line.startswith(("serving ", "ending; "))]
        check(len(lines) == (1 if says else 0), "more than one line:", lines)


@contextlib.contextmanager
def mounted(path, options):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"uid={NOBODY},mode=750," + options, "tmpfs", path], capture_output=True).returncode:
        skip("nothing can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", path], check=True)


# --- the configuration ---

@case(2, r"/baton\.yaml: there is no such configuration$")
def configuration_missing(place):
    os.rename(place.config, place.config + ".away")
    yield {}
    os.rename(place.config + ".away", place.config)


@case(2, r"/baton\.yaml: cannot be opened: Permission denied$")
def configuration_unreadable(place):
    os.chmod(place.config, 0o000)
    yield {}
    os.chmod(place.config, 0o644)


@case(2, r"/baton\.yaml: .*not to be trusted: can be written by everybody")
def configuration_of_all(place):
    os.chmod(place.config, 0o666)
    yield {}
    os.chmod(place.config, 0o644)


@case(2, r"/baton\.yaml: .*not to be trusted: .*belongs to user", needs_root=True)
def configuration_of_another(place):
    os.chown(place.config, OTHER, OTHER)
    yield {}
    os.chown(place.config, 0, 0)


@case(2, r"/baton\.yaml: .*is not a regular file$")
def configuration_folder(place):
    os.unlink(place.config)
    os.mkdir(place.config)
    yield {}
    os.rmdir(place.config)
    place.configure()


# --- the state ---

@case(2, r"/state: belongs to user 1 ", needs_root=True)
def state_of_another(place):
    os.chown(place.state, OTHER, OTHER)
    yield {}
    os.chown(place.state, NOBODY, NOBODY)


@case(2, r"/state: can be written by everybody")
def state_of_all(place):
    os.chmod(place.state, 0o777)
    yield {}
    os.chmod(place.state, 0o750)


@case(2, r"/state/\S+: folder cannot be made: Permission denied$")
def state_closed(place):
    os.chmod(place.state, 0o500)
    yield {}
    os.chmod(place.state, 0o750)


@case(2, r"/state/\S+: folder cannot be made: Read-only file system$", needs_root=True)
def state_read_only(place):
    with mounted(place.state, "ro"):
        yield {}


@case(3, r"/state/\S+: .*No space left on device; free some room and try again$", needs_root=True)
def state_full(place):
    with mounted(place.state, "size=64k"):
        with contextlib.suppress(OSError), open(place.state + "/filler", "wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        yield {}


@case(2, r"/journal\.db: the journal has version 99, .* newer baton; use that one \(1\.2\.3 or later\)$")
def journal_of_a_newer_baton(place):
    place.serves_with({}, None)
    path, = glob.glob(place.state + "/*/journal.db")
    for version, needs in ((99, 10203), (None, None)):
        with contextlib.closing(sqlite3.connect(path)) as journal, journal:
            if version:
                before = journal.execute("SELECT value FROM meta WHERE name = 'schema_version'").fetchone()[0]
            journal.execute("UPDATE meta SET value = ? WHERE name = 'schema_version'", (version or before,))
            if needs:
                journal.execute("UPDATE meta SET value = ? WHERE name = 'needs_baton'", (needs,))
        for beside in glob.glob(path + "-*"):
            os.chown(beside, *os.stat(path)[4:6])
        if version:
            yield {}


# --- the root ---

@case(3, r"/root: there is no such folder$")
def root_missing(place):
    os.rename(place.root, place.root + ".away")
    yield {}
    os.rename(place.root + ".away", place.root)


@case(2, r"/closed/root: cannot be resolved: Permission denied$")
def root_closed(place):
    root, place.root = place.root, place.home + "/closed/root"
    os.mkdir(place.home + "/closed")
    os.rename(root, place.root)
    os.chmod(place.home + "/closed", 0o000)
    yield {}
    os.chmod(place.home + "/closed", 0o755)


@case(2, r"baton\.yaml: names no `roots:`, so the root is /, and ", needs_root=True)
def roots_not_named(place):
    places = place.places
    place.places = lambda: ["--config", place.config, "--state-dir", place.state]
    yield {}
    place.places = places


# --- no systemd ---

@case(None, None)
def no_service_manager(place):
    yield {}


@case(None, r"^NOTIFY_SOCKET=/nowhere/notify: cannot be reached: No such file or directory; going on without a service manager$")
def socket_missing(place):
    yield {"NOTIFY_SOCKET": "/nowhere/notify"}


@case(None, r"^NOTIFY_SOCKET=\S+/nobody: cannot be reached: Connection refused; ")
def socket_of_nobody(place):
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).bind(place.home + "/nobody")
    os.chmod(place.home + "/nobody", 0o666)
    yield {"NOTIFY_SOCKET": place.home + "/nobody"}


@case(None, r"^NOTIFY_SOCKET=notify: is no address of a socket; ")
def socket_relative(place):
    yield {"NOTIFY_SOCKET": "notify"}


@case(None, r"^NOTIFY_SOCKET=/n+: is no address of a socket; ")
def socket_too_long(place):
    yield {"NOTIFY_SOCKET": "/" + "n" * 200}


@case(None, None)
def watchdog_of_nobody(place):
    yield {"WATCHDOG_USEC": "many", "WATCHDOG_PID": "1"}


def left_alone():
    """The exit statuses after which the units do not start a daemon again, which have to be the same for all."""
    found = set()
    for unit in ("baton.service", "baton@.service", "user/baton.service"):
        with open(f"{UNITS}/{unit}") as file:
            found.add(re.search(r"^RestartPreventExitStatus=(.*)$", file.read(), re.M)[1])
    check(len(found) == 1, found)
    return {int(code) for code in found.pop().split()}


def test(exe):
    check(left_alone() == {2, 75}, left_alone())
    missed = []
    for make, code, says, needs_root in CASES:
        if needs_root and os.geteuid() != 0:
            missed.append(make.__name__)
            continue
        with Place(exe) as place:
            running = make(place)
            env = next(running)
            if code is None:
                place.serves_with(env, says)
            else:
                daemon, said = place.daemon_of(env)
                check(daemon.wait(world.PATIENCE) == code, make.__name__, "ended with", daemon.returncode, said())
                check(len(said()) == 1 and re.search(says, said()[0]), make.__name__, "said", said())
                check(not os.path.isdir(place.root) or not os.listdir(place.root), make.__name__, "wrote into the root")
            check(next(running, None) is None)
            place.serves_with({}, None)
        print(make.__name__, flush=True)
    if missed:
        skip("of this test only, for which root is needed:", *missed)


if __name__ == "__main__":
    world.main(test)
