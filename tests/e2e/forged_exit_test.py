# SPDX-License-Identifier: Apache-2.0
"""An agent that writes down its own end and kills its shim is not believed: its tree is ended, and the run is
`unknown (shim_killed)`. Parts run by themselves, and some of them again as an ordinary user, who sees less of /proc."""

import glob
import os
import subprocess
import sys
import tempfile

import world
from world import check, wait_until

NOBODY = 65534
WELL = '"cause":"exit","exit_code":0,"signal":null'
FORGE = """#!/bin/bash
body='%s'
[ -z "$body" ] || printf '{"version":1,"run_id":"%%s",%%s}' "$BATON_RUN_ID" "$body" >"$BATON_RUN_DIR/exit.json"
echo $$ >"$BATON_ROOT/../pid.tmp" && mv "$BATON_ROOT/../pid.tmp" "$BATON_ROOT/../pid"
%s
"""
GO_ON = "kill -9 $PPID; while :; do sleep 0.1; done"
# It loses the variables by which its processes are known, and leads a session.
CHANGED = "kill -9 $PPID; exec env -i sleep 1000"
# Nothing but a cgroup finds it: own session, no variables, no parent.
GONE = ("(setsid env -i bash -c 'echo $$ >\"$0.tmp\"; mv \"$0.tmp\" \"$0\"; exec sleep 1000' \"$BATON_ROOT/../gone\" "
        "</dev/null >/dev/null 2>&1 &); while [ ! -e \"$BATON_ROOT/../gone\" ]; do sleep 0.05; done; kill -9 $PPID; exit 0")
# It is asked for by a file.
LATER = "while [ ! -e \"$BATON_ROOT/../go\" ]; do sleep 0.05; done; " + GO_ON
WAITS = "while [ ! -e \"$BATON_ROOT/../go\" ]; do sleep 0.05; done; exit 0"

# What an agent writes about its end, and what it does then.
ROWS = (
    ("no record", "", GO_ON),
    ("ended well", WELL, GO_ON),
    ("ended well, without its variables", WELL, CHANGED),
    ("failed", '"cause":"exit","exit_code":3,"signal":null', GO_ON),
    ("ended by a stop", '"cause":"term","exit_code":null,"signal":15', GO_ON),
    ("out of time", '"cause":"wall_limit","exit_code":null,"signal":9', CHANGED),
    ("something could not be ended", WELL + ',"survivors":1', GO_ON),
    ("damaged", '"cause":', CHANGED),
)


def alive(pid):
    try:
        return world.state_of(pid) not in "ZX"
    except OSError:
        return False


def parent_of(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return int(stat.read().rsplit(")", 1)[1].split()[1])


class Forger(world.World):
    """One ticket, whose agent does that once it has written down that end."""

    before = ()
    user = None  # that daemon and commands have instead of the test's

    def __init__(self, exe, record, then):
        super().__init__(exe, limits={"max_attempts": 1, "max_running": 1})
        with open(self.home + "/forge.sh", "w") as file:
            file.write(FORGE % (record, then))
        os.chmod(self.home + "/forge.sh", 0o755)
        self.settings["agents"]["worker"] = {"command": [self.home + "/forge.sh"], "timeout": "60s"}
        self.configure()
        self.ticket("x", "ready")
        if self.user is not None:
            self.become()

    def become(self):
        with open(self.home + "/baton", "w") as file:
            file.write(f'#!/bin/sh\nexec setpriv --reuid {self.user} --regid {self.user} --clear-groups {self.exe} "$@"\n')
        os.chmod(self.home + "/baton", 0o755)
        self.exe = self.home + "/baton"
        for top, _, files in os.walk(self.home):
            for path in (top, *(os.path.join(top, name) for name in files)):
                os.chown(path, self.user, self.user)

    def run_command(self, *more):
        return [*self.before, *super().run_command(*more)]

    def pid_in(self, name):
        path = f"{self.home}/{name}"
        wait_until(lambda: os.path.exists(path), name, "is written")
        with open(path) as file:
            return int(file.read())

    def ended(self):
        run = wait_until(lambda: [each for each in self.lines("agents") if each["state"] == "ended"],
                         lambda: self.lines("agents"))[0]
        left = world.processes_with(f"BATON_RUN_ID={run['run']}")
        check(not left, "are left:", left, run)
        return run


def not_believed(exe):
    """A record does not save an agent, whatever it says."""
    for name, record, then in ROWS:
        with Forger(exe, record, then) as forger:
            forger.start()
            pid = forger.pid_in("pid")
            run = forger.ended()
            check((run["outcome"], run["reason"]) == ("unknown", "shim_killed"), name, run)
            check(not alive(pid), name, "the agent lives on")
            check("may still run" in run["error"], "nothing says that a process may be left:", run)
            why = forger.lines("status")[0]["why"]
            check("shim_killed" in why and "may still run" in why, why)


def adopted(exe):
    """A daemon that comes back does not believe a record either while something of the run lives."""
    with Forger(exe, WELL, LATER) as forger:
        forger.start()
        pid = forger.pid_in("pid")
        forger.daemon.kill()
        forger.daemon.wait()
        forger.start()
        world.write(forger.home + "/go", b"")
        run = forger.ended()
        check((run["outcome"], run["reason"]) == ("unknown", "shim_killed") and not alive(pid), run)


def while_away(exe):
    """The same while no daemon is there."""
    with Forger(exe, WELL, LATER) as forger:
        forger.start()
        pid = forger.pid_in("pid")
        shim = parent_of(pid)
        forger.daemon.kill()
        forger.daemon.wait()
        world.write(forger.home + "/go", b"")
        wait_until(lambda: not alive(shim), "the shim is killed")
        check(alive(pid), "the agent lives")
        forger.start()
        run = forger.ended()
        check((run["outcome"], run["reason"]) == ("unknown", "shim_killed") and not alive(pid), run)


def ended_while_away(exe):
    """A run that ended well while no daemon was there is judged by what its shim wrote."""
    with Forger(exe, "", WAITS) as forger:
        forger.start()
        pid = forger.pid_in("pid")
        forger.daemon.kill()
        forger.daemon.wait()
        world.write(forger.home + "/go", b"")
        wait_until(lambda: not alive(pid) and glob.glob(forger.state + "/*/runs/*/exit.json"))
        forger.start()
        run = forger.ended()
        check(run["outcome"] == "succeeded", run)


def in_a_cgroup(exe):
    """In a cgroup of its own also a process without variables, session and parent is ended, and nothing is said to be
    left. Where it leaves that for the unit's own, it is told, and ended with everything. The hierarchy is mounted for
    this part alone."""
    if os.geteuid() != 0:
        world.skip("only root can mount a cgroup hierarchy")
    with tempfile.TemporaryDirectory(prefix="baton-e2e-") as mount:
        for part in (stays_in_its_cgroup, leaves_its_cgroup):
            done = subprocess.run(["unshare", "-m", "sh", "-c", 'mount -t cgroup2 none "$0" || exit 77; exec "$@"', mount,
                                   sys.executable, __file__, exe, part.__name__, mount])
            if done.returncode == 77:
                world.skip("no cgroup v2 hierarchy can be mounted here")
            check(done.returncode == 0, "see above")


class Unit(Forger):
    """As a service of systemd with a delegated cgroup."""

    def __init__(self, exe, mount, then):
        super().__init__(exe, WELL, then)
        self.cgroup = f"{mount}/baton-test-{os.getpid()}"
        os.mkdir(self.cgroup)
        os.setxattr(self.cgroup, "trusted.delegate", b"1")
        self.settings["agents"]["worker"]["env"] = {"set": {"CGROUP": self.cgroup}}
        self.configure()
        self.before = ["sh", "-c", 'echo $$ >"$0/cgroup.procs"; SYSTEMD_EXEC_PID=$$ exec "$@"', self.cgroup]

    def __exit__(self, *error):
        super().__exit__(*error)
        for folder in sorted(glob.glob(self.cgroup + "/**/", recursive=True), reverse=True):
            wait_until(lambda: removed(folder), folder, "is removed")


def stays_in_its_cgroup(exe, mount):
    with Unit(exe, mount, GONE) as unit:
        unit.start()
        gone = unit.pid_in("gone")
        run = unit.ended()
        check((run["outcome"], run["reason"]) == ("unknown", "shim_killed"), run)
        check(not alive(gone), "it has left and lives")
        check(not run["error"], run)
        check(not glob.glob(unit.cgroup + "/run-*"), "the cgroup of the run is removed")
        check("of no run" not in unit.call("status").stdout, unit.call("status").stdout)


def leaves_its_cgroup(exe, mount):
    leaves = GONE.replace("(setsid", '(echo 0 >"$CGROUP/cgroup.procs"; setsid', 1)
    with Unit(exe, mount, leaves) as unit, subprocess.Popen(["sleep", "1000"]) as older:
        try:
            with open(unit.cgroup + "/cgroup.procs", "w") as file:
                file.write(str(older.pid))
            unit.start()
            gone = unit.pid_in("gone")
            unit.ended()
            check(alive(gone), "it was found without its cgroup")
            for pid in (gone, older.pid):
                wait_until(lambda: f"{pid} (sleep)" in unit.call("status").stdout, "status tells of", pid)
            with open(unit.home + "/daemon.log") as file:
                check("warning foreign_processes: 2 processes of no run" in file.read(), "the log tells of them")
            unit.call("stop", "--all")
            wait_until(lambda: not alive(gone), "it is ended")
            check(alive(older.pid), "what is older than the daemon is ended")
            wait_until(lambda: f"{gone} (sleep)" not in unit.call("status").stdout, "nothing is told of it any more")
        finally:
            older.kill()


def removed(folder):
    try:
        os.rmdir(folder)
    except OSError:
        return not os.path.exists(folder)
    return True


PARTS = (not_believed, adopted, while_away, ended_while_away)


def as_ordinary_user(exe):
    """All of it again for a user who may not look at what belongs to root in /proc."""
    if os.geteuid() != 0:
        world.skip("this is an ordinary user already")
    Forger.user = NOBODY
    try:
        for part in PARTS:
            part(exe)
    finally:
        Forger.user = None


if __name__ == "__main__":
    inner = {part.__name__: part for part in (stays_in_its_cgroup, leaves_its_cgroup)}
    if len(sys.argv) > 3 and sys.argv[2] in inner:
        world.main(lambda exe, name, mount: inner[name](exe, mount))
    else:
        world.main_parts((*PARTS, in_a_cgroup, as_ordinary_user))
