# SPDX-License-Identifier: Apache-2.0
"""Agents of another user than the daemon's (`user:` of a role): what they are, what they cannot do, and that they are
ended like others. Each other program of the daemon gets none of its capabilities. Users are those that Debian always
has. usage: users_test.py BATON [PART...]"""

import contextlib
import grp
import json
import os
import pwd
import shutil
import signal
import subprocess
import tempfile

import world
from world import check, skip, wait_until, write

DAEMON, AGENT = "news", "games"
CAPABILITIES = "kill,setgid,setuid"

# Writes what it is and what it may do to the file that its first argument names.
PROBE = r"""#!/usr/bin/python3
import json, os, sys
def tried(what):
    try:
        return repr(what())
    except OSError as error:
        return error.strerror
with open("/proc/self/status") as status:
    lines = dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)
state = os.environ.get("BATON_ROOT_STATE", "")
parent = os.getppid()
said = {
    "uid": os.getresuid(), "gid": os.getresgid(), "groups": sorted(os.getgroups()),
    "home": os.environ.get("HOME"), "user": os.environ.get("USER"), "secret": os.environ.get("SECRET"),
    "capabilities": {name: lines[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")},
    "no_new_privs": lines["NoNewPrivs"],
    "setuid(0)": tried(lambda: os.setuid(0)),
    "setuid(daemon)": tried(lambda: os.setuid(DAEMON_UID)),
    "setgroups": tried(lambda: os.setgroups([0])),
    "kill parent": tried(lambda: os.kill(parent, 0)),
    "environ of the parent": tried(lambda: open(f"/proc/{parent}/environ", "rb").read()),
    "state": tried(lambda: os.listdir(state)) if state else "none",
    "cgroup": tried(lambda: open("CGROUP/cgroup.procs", "w").write(str(os.getpid()))),
    "files": sorted(os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")),
    "input": sys.stdin.read(),
}
name = f"{os.environ['BATON_ROOT']}/{sys.argv[1]}" if "BATON_ROOT" in os.environ else sys.argv[1]
with open(name + ".new", "w") as file:
    json.dump(said, file)
os.rename(name + ".new", name)
"""

# Leaves a process that has neither its session, nor its environment, nor its parent; then hangs.
HIDE = r"""#!/bin/sh
(setsid env -i sh -c 'echo $$ >"$0.new"; mv "$0.new" "$0"; exec sleep 1000' "$BATON_ROOT/$BATON_SUBJECT.${BATON_FLOW##*/}" </dev/null >/dev/null 2>&1 &)
exec sleep 1000
"""


def unified():
    """Where cgroups of version 2 are mounted."""
    for place in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
        if os.path.exists(place + "/cgroup.procs"):
            return place
    return skip("no cgroups of version 2 here")


@contextlib.contextmanager
def cgroup():
    """A cgroup that belongs to the daemon's user, as systemd delegates one."""
    place = tempfile.mkdtemp(prefix="baton-users-", dir=unified())
    owner = pwd.getpwnam(DAEMON)
    for name in ("", "/cgroup.procs", "/cgroup.subtree_control", "/cgroup.threads"):
        os.chown(place + name, owner.pw_uid, owner.pw_gid)
    try:
        yield place
    finally:
        with open(place + "/cgroup.kill", "w") as file:
            file.write("1")

        def removed():
            for folder, _, _ in os.walk(place, topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
            return not os.path.exists(place)
        wait_until(removed, place, "is removed")


class Users(world.World):
    def __init__(self, exe, place, rules, agents, capable=True, **settings):
        super().__init__(exe, rules=rules, agents=agents)
        self.place = place
        self.capable = capable
        self.settings.update(settings)
        self.settings["limits"]["max_attempts"] = 1
        self.configure()
        # The programs have to be where both users can execute them.
        os.mkdir(self.home + "/bin")
        for name in ("baton", "baton-shim"):
            shutil.copy(os.path.join(os.path.dirname(self.exe), name), self.home + "/bin/" + name)
        self.exe = self.home + "/bin/baton"
        self.program("probe", PROBE.replace("DAEMON_UID", str(pwd.getpwnam(DAEMON).pw_uid)).replace("CGROUP", place or "/nowhere"))
        self.program("hide", HIDE)
        os.chmod(self.home, 0o755)
        os.mkdir(self.root + "/tickets")
        owner, group = pwd.getpwnam(DAEMON), grp.getgrnam(AGENT)
        for path in (self.root, self.root + "/tickets"):
            os.chown(path, owner.pw_uid, group.gr_gid)
            os.chmod(path, 0o2770)
        os.chown(self.state, owner.pw_uid, owner.pw_gid)
        os.chmod(self.state, 0o700)
        os.chown(self.log, owner.pw_uid, owner.pw_gid)

    def program(self, name, text):
        path = self.home + "/" + name
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def as_daemon(self):
        capabilities = ",".join("+" + each for each in CAPABILITIES.split(",")) if self.capable else ""
        given = "-all" + ("," + capabilities if capabilities else "")
        return ["setpriv", "--reuid", DAEMON, "--regid", DAEMON, "--groups", f"{DAEMON},{AGENT}", f"--inh-caps={given}",
                f"--ambient-caps={given}", f"--bounding-set={given}"]

    def run_command(self, *more):
        joins = f'umask 007; {"echo $$ >" + self.place + "/cgroup.procs; " if self.place else ""}exec "$@"'
        return ["sh", "-c", joins, "sh", *self.as_daemon(), *super().run_command(*more)]

    def call(self, *arguments, code=0):
        done = subprocess.run(["setpriv", "--reuid", DAEMON, "--regid", DAEMON, "--groups", f"{DAEMON},{AGENT}", self.exe,
                               *arguments, *self.places()], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=world.PATIENCE)
        check(code is None or done.returncode == code, "baton", *arguments, "gave", done.returncode, done.stdout, done.stderr)
        return done

    def ticket(self, name, status, **more):
        path = f"{self.root}/tickets/{name}.json"
        write(path, {"status": status, **more})
        os.chown(path, pwd.getpwnam(DAEMON).pw_uid, grp.getgrnam(AGENT).gr_gid)
        os.chmod(path, 0o660)

    def said(self, name):
        def read():
            with contextlib.suppress(FileNotFoundError), open(f"{self.root}/{name}", encoding="utf-8") as file:
                return json.load(file)
            return None
        return wait_until(read, name, "is written", lambda: self.call("agents", code=None).stdout)


def rule(to, run):
    return {"to": to, "run": run}


def tickets(*react):
    return [{"name": "t", "files": "tickets/{flow}.json", "stage": "/status", "react": list(react)}]


def nothing_more(said, who, name):
    """The probe is that user, without any capability, and could do nothing that it tried."""
    ids = pwd.getpwnam(who)
    check(said["uid"] == [ids.pw_uid] * 3 and said["gid"] == [ids.pw_gid] * 3, name, said)
    check(set(said["capabilities"].values()) == {"0" * 16} and said["no_new_privs"] == "1", name, said)
    for each in ("setuid(0)", "setgroups"):
        check(said[each] == "Operation not permitted", name, each, said)


def what_they_are(exe):
    """The agent is its user with that user's groups, home and name. It cannot become another one, reach the daemon, its
    state, its shim or its cgroup. Other programs of the daemon get no capability either."""
    with cgroup() as place:
        home = "${root}/.."
        agents = {
            "other": {"command": [home + "/probe", "other"], "user": AGENT, "env": {"set": {"SECRET": "of other"}}},
            "prepared": {"command": [home + "/probe", "prepared"], "user": AGENT,
                         "before": {"command": [home + "/probe", "before"]}},
            "own": {"command": [home + "/probe", "own"]},
        }
        with Users(exe, place, tickets(rule("a", "other"), rule("b", "own"), rule("c", "prepared")), agents) as baton:
            for agent in baton.settings["agents"].values():
                agent["command"][0] = baton.home + "/probe"
            baton.settings["agents"]["prepared"]["before"]["command"][0] = baton.home + "/probe"
            baton.settings["notify"] = {"command": [baton.home + "/probe", baton.root + "/notified"]}
            baton.configure()
            for number, stage in enumerate("abc"):
                baton.ticket(str(number), stage)
            baton.start()
            other = baton.said("other")
            nothing_more(other, AGENT, "other")
            check(grp.getgrnam(DAEMON).gr_gid not in other["groups"], other)
            check((other["home"], other["user"]) == (pwd.getpwnam(AGENT).pw_dir, AGENT), other)
            check(other["secret"] == "of other" and "You are the agent `other`" in other["input"], other)
            for each in ("setuid(daemon)", "kill parent"):
                check(other[each] == "Operation not permitted", each, other)
            for each in ("environ of the parent", "state", "cgroup"):
                check(other[each] == "Permission denied", each, other)
            check(not [each for each in other["files"] if baton.state in each and not each.endswith("/prompt")], other["files"])
            for name in ("prepared", "before"):
                nothing_more(baton.said(name), AGENT, name)
            own = baton.said("own")
            nothing_more(own, DAEMON, "own")
            check(own["secret"] is None, own)
            # All three ended without changing their stages, which is told.
            nothing_more(baton.said("notified"), DAEMON, "notified")


# Reads the prompt by each name that it has, and tries to change it.
NAMES = r"""#!/usr/bin/python3
import json, os, subprocess, sys
def tried(what):
    try:
        return repr(what())
    except OSError as error:
        return error.strerror
name = os.environ["BATON_PROMPT_FILE"]
said = {"uid": os.getuid(), "input": sys.stdin.read(), "names": sys.argv[2:] + [name]}
said["texts"] = [open(each).read() for each in said["names"]]
said["child"] = subprocess.run(["cat", name], close_fds=False, stdout=subprocess.PIPE).stdout.decode()
def written():
    file = os.open(name, os.O_RDWR)
    os.write(file, b"other orders")
if os.path.dirname(name) == "/proc/self/fd":
    said["write"] = tried(written)
    said["empty"] = tried(lambda: os.close(os.open(name, os.O_WRONLY | os.O_TRUNC)))
    said["mode"] = tried(lambda: os.chmod(name, 0))
said["after"] = open(name).read()
place = f"{os.environ['BATON_ROOT']}/{sys.argv[1]}"
with open(place + ".new", "w") as file:
    json.dump(said, file)
os.rename(place + ".new", place)
"""


def prompt_by_name(exe):
    """The prompt has a name that such an agent can open, also in `before`. Nobody can change what it opens."""
    with cgroup() as place:
        with Users(exe, place, tickets(rule("a", "plain"), rule("b", "file"), rule("c", "own")), {}) as baton:
            baton.program("names", NAMES)
            names = baton.home + "/names"
            write(baton.home + "/mine.yaml", {"name": "mine", "tested": "none", "command": [names, "file", "${prompt_file}"],
                                              "prompt": {"by": "file"}})
            baton.settings["agents"] = {
                "plain": {"command": [names, "plain", "${prompt_file}"], "user": AGENT,
                          "before": {"command": [names, "before", "${prompt_file}"]}},
                "file": {"adapter": "./mine.yaml", "user": AGENT},
                "own": {"command": [names, "own", "${prompt_file}"]},
            }
            baton.configure()
            for number, stage in enumerate("abc"):
                baton.ticket(str(number), stage)
            baton.start()
            for name, role in (("before", "plain"), ("plain", "plain"), ("file", "file")):
                said = baton.said(name)
                orders = f"You are the agent `{role}`"
                check(said["uid"] == pwd.getpwnam(AGENT).pw_uid, said)
                check(said["names"] == ["/proc/self/fd/7"] * 2, said)
                check(all(orders in each for each in (*said["texts"], said["child"], said["after"])), name, said)
                check(said["after"] == said["texts"][0], name, said)
                check(said["write"] == said["empty"] == said["mode"] == "Operation not permitted", name, said)
            check(orders not in baton.said("file")["input"] and "You are" in baton.said("plain")["input"])
            own = baton.said("own")
            check(all(each.startswith(baton.state) and "You are" in text for each, text in zip(own["names"], own["texts"])), own)


def hands_over(exe):
    """Such an agent changes state files by `baton set`. It sees nothing of the daemon, so `validate` cannot know its file
    and says that it was not checked."""
    with cgroup() as place:
        script = """#!/bin/sh
for command in "validate $BATON_STATE_FILE" status "resume $BATON_FLOW" "stop --all"; do
  "$BATON_EXE" $command >"$BATON_ROOT/said.txt" 2>&1
  echo "$? $command: $(head -1 "$BATON_ROOT/said.txt")"
done >"$BATON_ROOT/commands"
"$BATON_EXE" set "$BATON_STATE_FILE" '/status="done"'
"""
        agents = {"other": {"command": ["/bin/true"], "user": AGENT}}
        with Users(exe, place, tickets(rule("a", "other")), agents) as baton:
            baton.program("agent", script)
            baton.settings["agents"]["other"]["command"] = [baton.home + "/agent"]
            baton.settings["rules"][0]["done"] = ["done"]
            baton.configure()
            baton.ticket("x", "a")
            baton.start()
            wait_until(lambda: [each["state"] for each in baton.lines("agents")] == ["ended"], "the agent ends")
            with open(baton.root + "/commands", encoding="utf-8") as file:
                codes = [line.split(" ", 1)[0] for line in file]
            check(codes[0] == "1" and "0" not in codes[2:4], "validate, resume and stop --all do nothing:", codes)
            with open(baton.root + "/commands", encoding="utf-8") as file:
                check("it was not checked" in file.read(), "validate says why")
            with open(baton.root + "/tickets/x.json", encoding="utf-8") as file:
                check(json.load(file)["status"] == "done")
            check(baton.lines("agents")[0]["outcome"] == "succeeded")


def ended(exe):
    """What such an agent hides is ended: by a stop, when its shim was killed, and by the next daemon."""
    with cgroup() as place:
        agents = {"other": {"command": ["/bin/true"], "user": AGENT}}
        with Users(exe, place, tickets(rule("a", "other")), agents) as baton:
            baton.settings["agents"]["other"]["command"] = [baton.home + "/hide"]
            baton.configure()

            def hidden(flow):
                def read():
                    with contextlib.suppress(FileNotFoundError), open(f"{baton.root}/main.{flow}", encoding="utf-8") as file:
                        return int(file.read())
                    return None
                pid = wait_until(read, flow, "has hidden a process", lambda: baton.call("agents", code=None).stdout)
                check(os.stat(f"/proc/{pid}").st_uid == pwd.getpwnam(AGENT).pw_uid, pid)
                return pid

            def is_gone(pid):
                return lambda: not os.path.exists(f"/proc/{pid}") or world.state_of(pid) == "Z"

            baton.ticket("stop", "a")
            baton.start()
            pid = hidden("stop")
            baton.call("stop", "rules/t/stop")
            wait_until(is_gone(pid), "the process that was hidden is ended by a stop")

            baton.ticket("sweep", "a")
            pid = hidden("sweep")
            run = next(each for each in baton.lines("agents") if each["flow"] == "rules/t/sweep")
            os.kill(run["pid"], signal.SIGKILL)
            wait_until(is_gone(pid), "it is ended when the shim was killed")
            wait_until(lambda: any(each["flow"] == "rules/t/sweep" and each["reason"] == "shim_killed" for each in baton.lines("agents")),
                       "shim_killed is told")

            baton.ticket("adopt", "a")
            pid = hidden("adopt")
            run = next(each for each in baton.lines("agents") if each["flow"] == "rules/t/adopt")
            baton.daemon.kill()
            baton.daemon.wait()
            os.kill(run["pid"], signal.SIGKILL)
            baton.start()
            wait_until(is_gone(pid), "it is ended by the next daemon")


def refused(exe):
    """Where the promise cannot be kept, the configuration is refused with the reason."""
    def run(place, user, capable=True):
        agents = {"other": {"command": ["/bin/true"], "user": user}}
        with Users(exe, place, tickets(rule("a", "other")), agents, capable=capable) as baton:
            done = baton.once()
            check(done.returncode == 2, done.returncode, done.stderr)
            check("the agent `other` cannot run as the user" in done.stderr and "remove `user:`" in done.stderr, done.stderr)
            return done.stderr
    with cgroup() as place:
        check("lacks CAP_KILL, CAP_SETGID, CAP_SETUID" in run(place, AGENT, capable=False))
        check("has no user `no-such-user`" in run(place, "no-such-user"))
        check("no agent runs as root" in run(place, "root"))
    check("no cgroup is delegated" in run(None, AGENT))


if __name__ == "__main__":
    if os.geteuid() != 0:
        skip("only root can start a daemon of another user")
    if shutil.which("setpriv") is None:
        skip("setpriv is not here")
    world.main_parts([what_they_are, prompt_by_name, hands_over, ended, refused])
