# SPDX-License-Identifier: Apache-2.0
"""Daemon and shim hide their memory, environment and descriptors from agents, which run as the same user. All that
baton itself has to know of the two works without them. Everything here is done as an ordinary user: root may look at
each process, so that as root nothing is hidden and nothing could be missing."""

import fcntl
import glob
import json
import os
import stat
import subprocess

import world
from world import check, wait_until

NOBODY = 65534
SECRET = "much-too-secret"


def as_ordinary_user(act):
    """What `act` returns, as JSON, when an ordinary user calls it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        os.write(writing, json.dumps(act()).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        text = file.read()
    os.waitpid(child, 0)
    return json.loads(text)


def open_parts(pid):
    """What somebody can see of a process beyond its name and its times."""
    found = []
    for what in ("environ", "mem", "maps", "auxv"):
        try:
            with open(f"/proc/{pid}/{what}", "rb") as file:
                if what == "mem" or file.read():
                    found.append(what)
        except OSError:
            pass
    for act, names in ((os.listdir, ("fd", "map_files")), (os.readlink, ("exe", "cwd", "root"))):
        for what in names:
            try:
                act(f"/proc/{pid}/{what}")
                found.append(what)
            except OSError:
                pass
    return found


class Ordinary(world.World):
    """A world whose daemon, commands and agents are an ordinary user's."""

    def __init__(self, exe, script, before=None):
        super().__init__(exe, command=("sh", "-c", script), limits={"max_attempts": 1})
        worker = self.settings["agents"]["worker"]
        worker["env"] = {"set": {"KEY": SECRET + "-set"}, "allow": ["HOME", "API_KEY"]}
        if before:
            worker["before"] = {"command": before}
        self.configure()
        with open(self.home + "/baton", "w") as file:
            file.write(f'#!/bin/sh\nexec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups {self.exe} "$@"\n')
        os.chmod(self.home + "/baton", 0o755)
        self.exe = self.home + "/baton"
        os.mkdir(self.root + "/tickets")
        self.give()

    def give(self):
        for top, _, files in os.walk(self.home):
            for path in (top, *(os.path.join(top, name) for name in files)):
                os.chown(path, NOBODY, NOBODY)

    def begin(self):
        self.start(env={"API_KEY": SECRET + "-inherited", "HOME": self.home, "LOGIN_DIR": self.home, "PATH": os.environ["PATH"]})


def parent_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rsplit(")", 1)[1].split()[1])


def agent_of(baton):
    path = baton.home + "/pid"
    wait_until(lambda: os.path.exists(path), "the agent runs")
    with open(path) as file:
        return int(file.read())


SLEEPS = 'echo $$ >"$BATON_ROOT/../pid.tmp"; mv "$BATON_ROOT/../pid.tmp" "$BATON_ROOT/../pid"; exec sleep 1000'


def hidden(exe):
    """Daemon, shims and the agent's process before its program are closed; the agent's program is open as usual."""
    with Ordinary(exe, SLEEPS) as baton:
        baton.begin()
        baton.ticket("x", "ready")
        agent = agent_of(baton)
        shim = parent_of(agent)
        spare = wait_until(lambda: [each for each in children_of(baton.daemon.pid) if each != shim])[0]
        waiting = wait_until(lambda: children_of(spare))[0]
        for name, pid in (("the daemon", baton.daemon.pid), ("the shim", shim), ("a shim kept ready", spare),
                          ("the process that becomes an agent", waiting)):
            seen = as_ordinary_user(lambda: open_parts(pid))
            check(not seen, "open to an agent in", name, ":", seen)
        seen = as_ordinary_user(lambda: open_parts(agent))
        check("environ" in seen and "fd" in seen, "the agent's program is open only in", seen)


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(each) for each in file.read().split()]


def sealed(exe):
    """What is handed over in memory cannot be changed, not even by root."""
    wait = 'touch "$BATON_ROOT/../waits"; while [ ! -e "$BATON_ROOT/../go" ]; do sleep 0.05; done'
    with Ordinary(exe, SLEEPS, before=["/bin/sh", "-c", wait]) as baton:
        baton.begin()
        baton.ticket("x", "ready")
        wait_until(lambda: os.path.exists(baton.home + "/waits"), "`before` runs")
        files = [path for pid in world.processes_with("\0enter\0") for path in glob.glob(f"/proc/{pid}/fd/*")
                 if "memfd:launch" in os.readlink(path)]
        check(len(files) == 1, "the launch is", files)
        with open(files[0], "r+b", buffering=0) as file:
            seals = fcntl.fcntl(file, fcntl.F_GET_SEALS)
            check(seals & 0xf == 0xf, "seals:", seals)
            check(SECRET.encode() in file.read())
            try:
                file.seek(0)
                file.write(b"x")
                raise AssertionError("it can be written")
            except PermissionError:
                pass
        world.write(baton.home + "/go", b"")
        agent_of(baton)


def environment_file(exe):
    """The environment of the daemon is a file that holds no secret."""
    with Ordinary(exe, SLEEPS) as baton:
        baton.begin()
        # The root is locked a moment before the file is written.
        path = world.wait_until(lambda: glob.glob(baton.state + "/*/environment.json"), "it is written")[0]
        check(stat.S_IMODE(os.stat(path).st_mode) == 0o600, oct(os.stat(path).st_mode))
        with open(path) as file:
            text = file.read()
        check(SECRET not in text, "a secret:", text)
        wrote = json.loads(text)
        check(wrote["pid"] == baton.daemon.pid and wrote["variables"]["PATH"] == os.environ["PATH"], wrote)
        check(wrote["variables"]["LOGIN_DIR"] == baton.home and wrote["variables"]["API_KEY"] is None, wrote)
        found = json.loads(baton.call("doctor", "--json").stdout)["findings"]
        said = [each for each in found if each["check"] in ("environment", "user")]
        check([each["level"] for each in said] == ["fine"] and "PATH of the daemon" in said[0]["message"], said)
        with open(path, "w") as file:
            file.write(text.replace(str(baton.daemon.pid), "1"))
        found = json.loads(baton.call("doctor", "--json").stdout)["findings"]
        check([each["level"] for each in found if each["check"] == "environment"] == ["warning"], found)


def another_user(exe):
    """Who is not the user of the daemon is told who that is, although /proc says root."""
    with Ordinary(exe, SLEEPS) as baton:
        baton.begin()
        # Root acts as the owner of the state, who is the user of the daemon.
        done = subprocess.run([os.environ["BATON_EXE"], "doctor", "--json", *baton.places()], capture_output=True, text=True)
        said = [each for each in json.loads(done.stdout)["findings"] if each["check"] in ("environment", "user")]
        check([each["check"] for each in said] == ["environment"] and said[0]["level"] == "fine", said)
        done = subprocess.run([os.environ["BATON_EXE"], "status", "--root", baton.root, "--state-dir", baton.home + "/none"],
                              capture_output=True, text=True)
        check(f"of user {NOBODY} " in done.stderr, done.stderr)


def at_work(exe):
    """Commands, adoption and stop need nothing that is hidden."""
    with Ordinary(exe, "(setsid sleep 1000 &); " + SLEEPS) as baton:
        baton.begin()
        baton.ticket("x", "ready")
        agent = agent_of(baton)
        run = baton.lines("agents")[0]["run"]
        baton.daemon.kill()
        baton.daemon.wait()
        baton.begin()
        check([each["state"] for each in baton.lines("agents")] == ["running"], baton.lines("agents"))
        os.kill(parent_of(agent), 9)
        wait_until(lambda: baton.lines("agents")[0]["state"] == "ended")
        check(baton.lines("agents")[0]["reason"] == "shim_killed", baton.lines("agents"))
        check(not world.processes_with("BATON_RUN_ID=" + run), "something is left")
        os.remove(baton.home + "/pid")
        baton.ticket("y", "ready")
        agent_of(baton)
        baton.call("stop", "--all")
        baton.idle()
        check(not world.processes_with("BATON_FLOW=rules/t/y"), "something is left")


def main(exe, *names):
    if os.geteuid() != 0:
        world.skip("only root can become another user")
    os.environ["BATON_EXE"] = os.path.abspath(exe)
    world.main_parts((hidden, sealed, environment_file, another_user, at_work))


if __name__ == "__main__":
    main(*world.sys.argv[1:])
