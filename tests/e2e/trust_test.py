# SPDX-License-Identifier: Apache-2.0
"""Files that decide what agents do and that other users can write: `run` and `reload` refuse them, with the owner and
the command that mends it. What agents themselves can write is one warning of doctor. usage: trust_test.py BATON
[PART...]"""

import grp
import json
import os
import pwd
import shutil
import subprocess
import tempfile

import world
from world import check, skip, wait_until, write

# Users that need not exist. OWNER runs the daemon.
OWNER, OTHER, GROUP = 54001, 54002, 54003


class Project:
    """The configuration, prompts, schemas and scripts of one user, in the root itself. Agents show their prompt."""

    def __init__(self, exe, in_root=True, program=None):
        if os.geteuid() != 0:
            skip("only root can act as several users")
        self.home = tempfile.mkdtemp(prefix="baton-e2e-")
        os.chmod(self.home, 0o755)
        self.exe = exe
        if program:
            os.mkdir(self.home + "/bin")
            for name in (exe, os.path.dirname(exe) + "/baton-shim"):
                shutil.copy(name, self.home + "/bin/" + os.path.basename(name))
            self.exe = self.home + "/bin/" + os.path.basename(exe)
        self.root, self.state, self.seen = self.home + "/root", self.home + "/state", self.home + "/seen"
        self.folder = self.root if in_root else self.home + "/configuration"
        for folder in (self.state, self.seen, self.root + "/t", self.folder + "/prompts", self.folder + "/schemas"):
            os.makedirs(folder, exist_ok=True)
        os.chmod(self.state, 0o750)
        self.script = self.folder + "/script.sh"
        script = self.script if not in_root else "script.sh"
        self.put("prompts/p.md", b"say ${subject}\n")
        self.put("prompts/r.md", b"react\n")
        self.put("schemas/s.json", {"type": "object", "properties": {"status": {"$ref": "part.json"}}})
        self.put("schemas/part.json", {"type": "string"})
        self.put("script.sh", b"cat >$BATON_ROOT/../seen/$(basename $BATON_FLOW)\n")
        self.settings = {
            "version": 1,
            "agents": {"a": {"command": ["/bin/sh", script], "prompt": "prompts/p.md"}},
            "rules": [{"name": "t", "files": "t/{flow}.json", "schema": "schemas/s.json", "stage": "/status",
                       "react": [{"to": "a", "run": "a"}, {"to": "b", "run": "a", "prompt": "prompts/r.md"}]}]}
        self.put("baton.yaml", self.settings)
        subprocess.run(["chown", "-R", f"{OWNER}:{GROUP}", self.home], check=True)
        self.daemon = None

    def put(self, name, content):
        write(f"{self.folder}/{name}", content)
        os.chmod(f"{self.folder}/{name}", 0o644)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.daemon is not None:
            self.daemon.kill()
            self.daemon.wait()
            if kind is not None:
                with open(self.home + "/daemon.log") as log:
                    print(log.read())
        for pid in world.processes_with(self.home):
            if pid != os.getpid():
                os.kill(pid, 9)
        shutil.rmtree(self.home, ignore_errors=True)

    def command(self, *arguments):
        return [self.exe, *arguments, "--root", self.root, "--config", self.folder + "/baton.yaml", "--state-dir", self.state]

    def call(self, *arguments, by=OWNER):
        return subprocess.run(self.command(*arguments), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=world.PATIENCE, user=by, group=by, extra_groups=[], cwd="/",
                              env={"PATH": "/usr/bin:/bin", "HOME": "/nowhere"})

    def ticket(self, name, status):
        write(f"{self.root}/t/{name}.json", {"status": status})
        os.chown(f"{self.root}/t/{name}.json", OWNER, GROUP)

    def doctor(self, level):
        done = self.call("doctor", "--json")
        return [each for each in json.loads(done.stdout)["findings"] if each["level"] == level]

    def works(self, name):
        self.ticket(name, "a")
        done = self.call("run", "--once", "--act-on-existing")
        check(os.path.exists(f"{self.seen}/{name}"), "no agent started", done.stderr)
        return done

    def refused(self, path, *says, code=2):
        """`run` starts nothing, and names the path, its owner and the remedy; so does doctor."""
        self.ticket("refused", "a")
        done = self.call("run", "--once", "--act-on-existing")
        check(done.returncode == code, "run gave", done.returncode, done.stderr)
        for word in (path, *says):
            check(word in done.stderr, "run does not say", word, "but", done.stderr)
        found = [each["message"] for each in self.doctor("error")]
        check(any(path in each and all(word in each for word in says) for each in found), "doctor:", path, says, found)
        check(not os.path.exists(self.seen + "/refused"), "an agent started")


def rights(exe):
    """Each file that decides what an agent does, made writable for everybody or for a group."""
    with Project(exe) as project:
        project.works("before")
        for name in ("prompts/p.md", "prompts/r.md", "schemas/s.json", "schemas/part.json", "script.sh", "prompts", "schemas"):
            path = f"{project.root}/{name}"
            was = os.stat(path).st_mode & 0o7777
            for mode, by in ((0o002, "everybody"), (0o020, "its group")):
                os.chmod(path, was | mode)
                project.refused(path, f"can be written by {by}", f"user {OWNER}", f"`chmod go-w {path}`")
            os.chmod(path, was)
        project.works("after")


def owners(exe):
    """A file of another user, or behind a link of another user."""
    with Project(exe) as project:
        prompt = project.root + "/prompts/p.md"
        os.chown(prompt, OTHER, OTHER)
        project.refused(prompt, f"belongs to user {OTHER}", f"`chown {OWNER} {prompt}`")
        os.chown(prompt, OWNER, GROUP)
        os.mkdir(project.home + "/other")
        os.chown(project.home + "/other", OTHER, OTHER)
        write(project.home + "/other/p.md", b"hostile\n")
        os.remove(prompt)
        os.symlink(project.home + "/other/p.md", prompt)
        os.lchown(prompt, OWNER, GROUP)
        project.refused(prompt, f"belongs to user {OTHER}")


def a_reload(exe):
    """The configuration in force stays when a file of the next one is not to be trusted."""
    with Project(exe) as project:
        with open(project.home + "/daemon.log", "wb") as log:
            project.daemon = subprocess.Popen(project.command("run", "--act-on-existing"), stdin=subprocess.DEVNULL,
                                              stdout=log, stderr=log, user=OWNER, group=OWNER, extra_groups=[], cwd="/")
        wait_until(lambda: "served by process" in project.call("status").stdout)
        prompt = project.root + "/prompts/p.md"
        write(prompt, b"hostile\n")
        os.chmod(prompt, 0o666)
        done = project.call("reload")
        check(done.returncode == 1 and prompt in done.stderr + done.stdout, done)
        project.ticket("kept", "a")
        wait_until(lambda: os.path.exists(project.seen + "/kept"))
        wait_until(lambda: open(project.seen + "/kept").read())
        check("hostile" not in open(project.seen + "/kept").read(), "the prompt was used")


def the_shim(exe):
    with Project(exe, program=True) as project:
        project.works("before")
        shim = project.home + "/bin/baton-shim"
        os.chmod(shim, 0o777)
        project.refused(shim, "can be written by everybody", f"`chmod go-w {shim}`")
        os.chmod(shim, 0o755)
        os.chmod(project.home + "/bin", 0o777)
        project.refused(shim, "can be written by everybody", f"`chmod go-w {project.home}/bin`")


def the_state(exe):
    """Who can write the folder above a state folder can exchange it."""
    with Project(exe) as project:
        project.works("before")
        os.chmod(project.state, 0o777)
        project.refused(project.state, "can be written by everybody", f"`chmod go-w {project.state}`")


def alone(exe):
    """One user's project: one warning at most, with umask 002 and a group of one's own too."""
    with Project(exe) as project:
        warned = [each for each in project.doctor("warning") if "user that runs the agents" in each["message"]]
        check(len(warned) == 1, warned)
        check("baton.yaml" in warned[0]["message"] and "/etc/baton/instances/" in warned[0]["advice"], warned)
        check("another user" not in warned[0]["advice"], warned)
    for name in ("games", "news"):  # groups without members that Debian always has
        try:
            user, group = pwd.getpwnam(name), grp.getgrnam(name)
        except KeyError:
            continue
        if group.gr_mem or any(each.pw_gid == group.gr_gid for each in pwd.getpwall() if each.pw_uid != user.pw_uid):
            continue
        with Project(exe) as project:
            for folder, _, files in os.walk(project.home):
                for each in (folder, *(f"{folder}/{file}" for file in files)):
                    os.chown(each, OWNER, group.gr_gid)
                    os.chmod(each, os.stat(each).st_mode | 0o020)
            # The group has a member, and it is not the owner.
            project.refused(project.home, "can be written by its group", f"`chmod go-w {project.home}`")
            for folder, _, files in os.walk(project.home):
                for each in (folder, *(f"{folder}/{file}" for file in files)):
                    os.chown(each, user.pw_uid, group.gr_gid)
            project.ticket("private", "a")
            os.chown(project.root + "/t/private.json", user.pw_uid, group.gr_gid)
            done = project.call("run", "--once", "--act-on-existing", by=user.pw_uid)
            check(os.path.exists(project.seen + "/private"), done.stderr)
            return
    skip("no user with a group of its own")


def exchanged_by_agents(exe):
    """root's baton.yaml in a folder that agents can write: doctor says that they can exchange it."""
    with Project(exe) as project:
        subprocess.run(["chown", "root:root", project.root + "/baton.yaml"], check=True)
        warned = [each for each in project.doctor("warning") if "baton.yaml can be exchanged" in each["message"]]
        check(len(warned) == 1 and f"who can write {project.root}" in warned[0]["message"], warned, project.doctor("warning"))
        # Another user is no better owner.
        os.chown(project.root + "/baton.yaml", OTHER, OTHER)
        done = project.call("run", "--once")
        check(done.returncode == 2 and f"belongs to user {OTHER}" in done.stderr, done)
    with Project(exe, in_root=False) as project:
        subprocess.run(["chown", "-R", "root:root", project.folder], check=True)
        os.chown(project.home, 0, 0)
        project.works("apart")
        check(not [each for each in project.doctor("warning") if "user that runs the agents" in each["message"]],
              project.doctor("warning"))


def open_to_everybody(exe):
    """A root, a folder and a state file that everybody can write."""
    with Project(exe) as project:
        project.works("x")

        def warned():
            return [each["message"] for each in project.doctor("warning") if "written by everybody" in each["message"]]
        check(not warned(), warned())
        for path in (project.root, project.root + "/t", project.root + "/t/x.json"):
            was = os.stat(path).st_mode & 0o7777
            os.chmod(path, was | 0o002)
            if path == project.root:  # then baton.yaml is not to be trusted either
                check(project.call("run", "--once").returncode == 2)
            else:
                check(len(warned()) == 1 and path in warned()[0], path, warned())
            os.chmod(path, was)


def roots_own_place(exe):
    """Commands in a root without a baton.yaml use root's configuration for it, by the name that systemd makes of it."""
    names = ("plain", "my-app", ".hidden", "a b", "ünì", "x.y_z:1", "--", "back\\slash")
    if not shutil.which("systemd-escape"):
        skip("there is no systemd-escape")
    with Project(exe) as project:
        os.chmod(project.home, 0o755)
        os.makedirs("/etc/baton/instances", exist_ok=True)
        os.remove(project.root + "/baton.yaml")
        for name in names:
            root = f"{project.home}/{name}"
            os.makedirs(root + "/sub/t", exist_ok=True)
            escaped = subprocess.run(["systemd-escape", "--path", root], capture_output=True, text=True, check=True).stdout.strip()
            path = f"/etc/baton/instances/{escaped}.yaml"
            settings = {"version": 1, "agents": {"a": {"command": ["/bin/true"]}}, "rules": [
                {"name": "t", "files": "t/{flow}.json", "stage": "/status", "stages": ["a"], "react": [{"to": "a", "run": "a"}]}]}
            write(path, settings)
            os.chmod(path, 0o644)

            def call(*arguments, where):
                return subprocess.run([exe, *arguments, "--state-dir", project.state], stdin=subprocess.DEVNULL, cwd=where,
                                      capture_output=True, text=True, timeout=world.PATIENCE, user=OWNER, group=OWNER,
                                      extra_groups=[], env={"PATH": "/usr/bin:/bin", "HOME": "/nowhere"})
            try:
                for where in (root, root + "/sub"):
                    done = call("doctor", where=where)
                    check(f"configuration: {path}" in done.stdout, name, done.stdout)
                write(root + "/t/1.json", {"status": "wrong"})
                done = call("validate", "t/1.json", where=root)
                check(done.returncode == 1 and "wrong" in done.stdout + done.stderr, name, done)
                # A nearer baton.yaml comes first.
                write(root + "/sub/baton.yaml", settings)
                os.chmod(root + "/sub/baton.yaml", 0o644)
                os.chown(root + "/sub/baton.yaml", OWNER, GROUP)
                subprocess.run(["chown", f"{OWNER}:{GROUP}", root + "/sub", root], check=True)
                done = call("doctor", where=root + "/sub")
                check(f"configuration: {root}/sub/baton.yaml" in done.stdout, name, done.stdout)
            finally:
                os.remove(path)
        for folder in ("/etc/baton/instances", "/etc/baton"):
            if not os.listdir(folder):
                os.rmdir(folder)


def the_hook(exe):
    """The hook of a root without a baton.yaml checks by root's configuration, also where the root is not the top."""
    if not (shutil.which("git") and shutil.which("systemd-escape")):
        skip("there is no git or no systemd-escape")
    with Project(exe) as project:
        os.remove(project.root + "/baton.yaml")
        escaped = subprocess.run(["systemd-escape", "--path", project.root], capture_output=True, text=True, check=True).stdout.strip()
        path = f"/etc/baton/instances/{escaped}.yaml"
        os.makedirs("/etc/baton/instances", exist_ok=True)
        write(path, {"version": 1, "agents": {"a": {"command": ["/bin/true"]}}, "rules": [
            {"name": "t", "files": "t/{flow}.json", "stage": "/status", "stages": ["a"], "react": [{"to": "a", "run": "a"}]}]})
        os.chmod(path, 0o644)

        def call(*command):
            return subprocess.run(command, stdin=subprocess.DEVNULL, cwd=project.root, capture_output=True, text=True,
                                  timeout=world.PATIENCE, user=OWNER, group=OWNER, extra_groups=[],
                                  env={"PATH": "/usr/bin:/bin", "HOME": project.home, "GIT_AUTHOR_NAME": "a",
                                       "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"})
        try:
            check(call("git", "init", "-q", project.home).returncode == 0)
            done = call(exe, "hook", "install", "--state-dir", project.state)
            done = done if done.returncode != 2 else call(exe, "hook", "install")
            check(done.returncode == 0, done)
            project.ticket("1", "wrong")
            call("git", "add", "t")
            done = call("git", "commit", "-m", "wrong")
            check(done.returncode != 0 and "wrong" in done.stdout + done.stderr, done)
            project.ticket("1", "a")
            call("git", "add", "t")
            done = call("git", "commit", "-m", "right")
            check(done.returncode == 0, done)
        finally:
            os.remove(path)
        for folder in ("/etc/baton/instances", "/etc/baton"):
            if not os.listdir(folder):
                os.rmdir(folder)


world.main_parts([roots_own_place, the_hook, rights, owners, a_reload, the_shim, the_state, alone, exchanged_by_agents, open_to_everybody])
