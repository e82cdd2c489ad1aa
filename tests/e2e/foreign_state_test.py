# SPDX-License-Identifier: Apache-2.0
"""Root does not work in what belongs to another user: state folders, their parents, checkouts.
usage: foreign_state_test.py BATON [PART...]"""

import contextlib
import glob
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

import world
from world import check, wait_until

OTHER = 12345  # has no name and no files
THIRD = 12346
CONFIG = """version: 1
agents: { dev: { command: [%s] } }
retention: { runs: 1s, max_runs: 1 }
rules: [ { name: t, files: "t/{flow}.json", stage: /status, react: [ { to: ready, run: dev } ] } ]
"""


class Place:
    """A folder of root's with the programs, a root of each user and state of each user."""

    def __init__(self, exe):
        self.home = tempfile.mkdtemp(prefix="baton-foreign-")
        os.chmod(self.home, 0o755)
        for program in ("baton", "baton-shim"):
            shutil.copy2(os.path.join(os.path.dirname(exe), program), self.home)
        self.exe = self.home + "/baton"
        self.daemons = []
        self.state = self.home + "/state"
        os.mkdir(self.state, 0o755)

    def folder(self, name, user, mode=0o755):
        path = f"{self.home}/{name}"
        os.makedirs(path)
        os.chmod(path, mode)
        os.chown(path, user, user)
        return path

    def root(self, name, user, command='/bin/true'):
        path = self.folder(name, user)
        self.folder(name + "/t", user)
        self.file(f"{name}/baton.yaml", user, CONFIG % command)
        self.file(f"{name}/t/1.json", user, '{"status": "ready"}\n')
        return path

    def file(self, name, user, text, mode=0o644):
        path = f"{self.home}/{name}"
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)
        os.chown(path, user, user)
        return path

    def baton(self, user, folder, *words, state=None, env=(), umask=0o022):
        return subprocess.run([self.exe, *words, *(["--state-dir", state] if state else [])], cwd=folder, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=world.PATIENCE, user=user,
                              group=user, extra_groups=[], umask=umask,
                              env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": self.home + "/none", **dict(env)})

    def daemon(self, user, folder, state):
        log = open(f"{self.home}/log.{user}", "ab")
        daemon = subprocess.Popen([self.exe, "run", "--act-on-existing", "--state-dir", state], cwd=folder, stdin=subprocess.DEVNULL,
                                  stdout=log, stderr=log, user=user, group=user, extra_groups=[],
                                  env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": self.home + "/none"})
        self.daemons.append(daemon)
        wait_until(lambda: glob.glob(state + "/*/daemon.json"), "the daemon begins")
        return daemon

    def state_of(self, parent):
        return os.path.dirname(glob.glob(parent + "/*/journal.db")[0])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for daemon in self.daemons:
            if daemon.poll() is None:
                daemon.terminate()
                daemon.wait()
        for agent in world.processes_with("BATON_ROOT=" + self.home):
            os.kill(agent, signal.SIGKILL)
        shutil.rmtree(self.home)


def tree(path):
    """Everything below a folder with its owner and, for files, its content."""
    found = {}
    for folder, folders, files in os.walk(path):
        for name in folders + files:
            each = f"{folder}/{name}"
            info = os.lstat(each)
            found[each] = (info.st_uid, open(each, "rb").read() if os.path.isfile(each) and name in files else b"")
    return found


def served(place, user, root, parent):
    """State that a daemon of the user leaves behind."""
    done = place.baton(user, root, "run", "--once", "--act-on-existing", state=parent)
    check("denied" not in done.stderr and glob.glob(parent + "/*/journal.db"), done)
    return place.state_of(parent)


def given_away(path, user):
    os.chown(path, user, user, follow_symlinks=False)
    for folder, folders, files in os.walk(path):
        for name in folders + files:
            os.chown(f"{folder}/{name}", user, user, follow_symlinks=False)


def with_intent(state, path):
    """A write in the journal that nobody has decided."""
    with contextlib.closing(sqlite3.connect(state + "/journal.db")) as db:
        db.execute("INSERT INTO intents VALUES(1,'append',?,?,?,?,'','rules','t/1','x',?)",
                   (path, "0" * 32, 1 << 62, "0" * 32, b"echo pwned\n"))
        db.execute("UPDATE meta SET value=1 WHERE name='intent'")
        db.commit()


def refuses(done, *says):
    # `run` ends with 2, so that a service manager does not start it again; a dry run only where it looks at owners first.
    codes = {"run": (2,), "--dry-run": (2, 3)}
    check(done.returncode in next((codes[word] for word in ("--dry-run", "run") if word in done.args), (3,)), done)
    for each in says:
        check(each in done.stderr, each, done)


def the_daemon(exe):
    """`run` as root: the state, or a folder above it, is another user's, or could be exchanged by one."""
    with Place(exe) as place:
        root = place.root("root", 0)
        script = place.file("root/deploy.sh", 0, "#!/bin/sh\n", 0o700)
        parent = place.folder("a/b", 0)
        os.chown(place.home + "/a", 0, 0)
        state = served(place, 0, root, parent)
        with_intent(state, "deploy.sh")

        def held(*says, words=("run", "--once"), given=parent):
            for command in (words, ("run",), ("run", "--dry-run")):
                refuses(place.baton(0, root, *command, state=given), *says)
            check(open(script).read() == "#!/bin/sh\n", "the write of the journal was made")

        # The state folder.
        given_away(state, OTHER)
        held(state, f"belongs to user {OTHER}", f"setpriv --reuid {OTHER} --regid {OTHER} --clear-groups {place.exe} run")
        # Named by the environment, which sudo does not pass on.
        done = place.baton(0, root, "run", "--once", env={"BATON_STATE_DIR": parent})
        refuses(done, f"belongs to user {OTHER}", f"{place.exe} run --once --state-dir {parent}")
        # One of the usual places.
        usual = place.folder("xdg/baton", 0)
        os.rename(state, usual + "/" + os.path.basename(state))
        done = place.baton(0, root, "run", "--once", env={"XDG_STATE_HOME": place.home + "/xdg"})
        refuses(done, f"belongs to user {OTHER}")
        os.rename(usual + "/" + os.path.basename(state), state)
        # A link to a folder of root's.
        given_away(state, 0)
        os.rename(state, state + ".real")
        os.symlink(state + ".real", state)
        os.chown(state, OTHER, OTHER, follow_symlinks=False)
        held(state, f"belongs to user {OTHER}")
        os.unlink(state)
        os.rename(state + ".real", state)
        # A folder above it.
        for above in (parent, place.home + "/a"):
            os.chown(above, OTHER, OTHER)
            held(above, f"belongs to user {OTHER}")
            os.chown(above, 0, 0)
        # A link above it.
        os.symlink(parent, place.home + "/a/link")
        os.chown(place.home + "/a/link", OTHER, OTHER, follow_symlinks=False)
        refuses(place.baton(0, root, "status", state=place.home + "/a/link"), f"belongs to user {OTHER}")
        # Modes.
        for above, mode, says in ((state, 0o777, "everybody"), (parent, 0o777, "everybody"), (place.home + "/a", 0o757, "everybody"),
                                  (state, 0o775, "its group"), (parent, 0o775, "its group"), (place.home + "/a", 0o775, "its group")):
            before = os.stat(above).st_mode & 0o7777
            os.chown(above, 0, THIRD)
            os.chmod(above, mode)
            held(above, f"can be written by {says}", f"chmod go-w {above}")
            os.chmod(above, before)
            os.chown(above, 0, 0)
        # The group of root has no other member.
        os.chmod(parent, 0o775)
        check(place.baton(0, root, "status", state=parent).returncode in (0, 1), "a group without members")
        os.chmod(parent, 0o755)
        # A parent of another user where this root has no state yet.
        theirs = place.folder("theirs", OTHER)
        refuses(place.baton(0, root, "run", "--once", state=theirs), theirs, f"belongs to user {OTHER}")
        check(os.listdir(theirs) == [], os.listdir(theirs))


def the_line_works(exe):
    """The command that the refusal names does what root wanted."""
    with Place(exe) as place:
        root = place.root("root", OTHER)
        parent = place.folder("varlib", OTHER)
        served(place, OTHER, root, parent)
        place.file("root/t/2.json", OTHER, '{"status": "new"}\n')
        done = place.baton(0, root, "run", "--once", state=parent)
        refuses(done, f"belongs to user {OTHER}")
        line = re.search("`(setpriv [^`]*)`", done.stderr)[1]
        done = subprocess.run(["sh", "-c", line], cwd=root, capture_output=True, text=True, timeout=world.PATIENCE,
                              env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/"})
        check(done.returncode in (0, 1) and "belongs to" not in done.stderr, line, done)
        check(all(user == OTHER for user, _ in tree(place.home + "/varlib").values()), tree(place.home + "/varlib"))


def commands(exe):
    """All other commands continue as the owner of the state: nothing of root's is left in it, with and without daemon."""
    with Place(exe) as place:
        root = place.root("root", OTHER, '/bin/sleep, "1000"')
        parent = place.folder("varlib", OTHER)
        place.daemon(OTHER, root, parent)
        runs = wait_until(lambda: glob.glob(place.state_of(parent) + "/runs/[0-9a-f]*"), "the agent begins")
        run = os.path.basename(runs[0])
        secret = place.file("secret", 0, "secret\n", 0o600)
        every = (["status"], ["explain", "t/1"], ["events"], ["agents"], ["logs", run], ["prompt", run], ["costs"], ["limits"],
                 ["doctor"], ["pause", "--all"], ["resume", "--all"], ["retry", "t/1"], ["reload"], ["set", root + "/t/1.json", "/n=1"],
                 ["prune"], ["forget", "--gone"], ["stop", "t/1"])
        for lives in (True, False):
            for words in every:
                done = place.baton(0, root, *words, state=parent)
                check(done.returncode in (0, 1, 124) and not re.search("belongs to|trusted|denied", done.stdout + done.stderr),
                      lives, words, done)
            check({user for user, _ in {**tree(parent), **tree(root)}.values()} == {OTHER}, tree(parent).keys())
            if lives:
                place.daemons[0].terminate()
                place.daemons[0].wait()
        check(not world.processes_with("BATON_RUN_ID=" + run), "an agent is left")
        # What root alone may read is not read for the other user.
        done = place.baton(0, root, "set", secret, "/n=1", state=parent)
        check(open(secret).read() == "secret\n", done)
        # The same by a usual place, and for a root that is gone.
        shutil.rmtree(root)
        done = place.baton(0, place.home, "stop", "--all", "--root", root, env={"BATON_STATE_DIR": parent})
        check({user for user, _ in tree(parent).values()} == {OTHER}, done)


def own_state_first(exe):
    """Another user cannot lead root's commands away from root's own state."""
    with Place(exe) as place:
        root = place.root("root", 0)
        mine = place.folder("xdg/baton", 0)
        state = served(place, 0, root, mine)
        bait = place.folder("bait", OTHER)
        shutil.copytree(state, bait + "/" + os.path.basename(state))
        given_away(bait, OTHER)
        env = {"XDG_STATE_HOME": place.home + "/xdg", "BATON_STATE_DIR": bait}
        before = tree(bait)
        for words in (["status"], ["pause", "--all"], ["events"], ["prune"]):
            done = place.baton(0, root, *words, env=env)
            check(tree(bait) == before, words, done)


def checking(exe):
    """`validate PATH` opens no state. `--staged` by root in a foreign checkout runs git as its owner."""
    with Place(exe) as place:
        root = place.root("root", OTHER)
        parent = place.folder("varlib", OTHER)
        state = served(place, OTHER, root, parent)
        os.chmod(state, 0)
        own = place.file("own.json", 0, "{}\n", 0o600)
        done = place.baton(0, place.home, "validate", own, "--schema", place.file("any.json", 0, "{}\n"), env={"BATON_STATE_DIR": parent})
        check(done.returncode == 0, done)
        os.chmod(state, 0o750)
        marker = place.folder("marks", 0, 0o777) + "/uid"
        monitor = place.file("monitor", OTHER, f"#!/bin/sh\nid -u >>{marker}\n", 0o755)
        git = lambda *words: subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, user=OTHER, group=OTHER,
                                            extra_groups=[], env={"PATH": os.environ["PATH"], "HOME": "/"})
        git("init", "-q")
        git("add", "t/1.json")
        git("config", "core.fsmonitor", monitor)
        os.unlink(root + "/baton.yaml")
        for env in ({}, {"SUDO_UID": str(OTHER)}, {"GIT_DIR": root + "/.git"}):
            for folder in (root, root + "/t"):
                done = place.baton(0, folder, "validate", "--staged", env=env)
                uids = open(marker).read().split() if os.path.exists(marker) else []
                check("0" not in uids, env, folder, uids, done)
                check(done.returncode in (0, 1), env, folder, done)
        # The same where only git's own folder is the other user's.
        os.chown(root, 0, 0)
        done = place.baton(0, root, "validate", "--staged", env={"SUDO_UID": str(OTHER)})
        check(not os.path.exists(marker) or "0" not in open(marker).read().split(), done)


def modes(exe):
    """Parents that baton makes are closed to others whatever the umask is."""
    with Place(exe) as place:
        root = place.root("root", OTHER)
        base = place.folder("base", OTHER)
        for umask in (0o000, 0o002, 0o077):
            done = place.baton(OTHER, root, "run", "--once", state=f"{base}/{umask}/deep", umask=umask)
            made = [f"{base}/{umask}", f"{base}/{umask}/deep"]
            check([os.stat(each).st_mode & 0o7777 for each in made] == [0o700, 0o700], umask, done)
            check(os.stat(place.state_of(made[1])).st_mode & 0o7777 == 0o750, umask, done)
        # What is open already is refused, also for an ordinary user.
        for path in (f"{base}/0", f"{base}/0/deep", place.state_of(f"{base}/0/deep")):
            before = os.stat(path).st_mode & 0o7777
            os.chmod(path, 0o777)
            refuses(place.baton(OTHER, root, "run", "--once", state=f"{base}/0/deep"), path, "can be written by everybody", "chmod go-w")
            os.chmod(path, before)


def links(exe):
    """Nothing is removed through a link in the state folder, neither by `prune` nor by a daemon."""
    with Place(exe) as place:
        root = place.root("root", OTHER)
        parent = place.folder("varlib", OTHER)
        state = served(place, OTHER, root, parent)
        strange = "0123456789abcdef" * 2
        for name in (strange, ".spare/x", "keep"):
            place.file(f"{os.path.relpath(place.folder('victim/' + name, OTHER), place.home)}/file", OTHER, "precious\n")
        os.utime(f"{place.home}/victim/{strange}", (0, 0))
        before = tree(place.home + "/victim")
        runs = state + "/runs"
        run = glob.glob(runs + "/[0-9a-f]*")[0]

        def holds(code, *says):
            for user in (0, OTHER):
                done = place.baton(user, root, "prune", "--older-than", "1s", state=parent)
                check(code is None or done.returncode == code and all(each in done.stderr for each in says), user, done)
            place.file("root/t/1.json", OTHER, '{"status": "new"}\n')
            place.file("root/t/1.json", OTHER, '{"status": "ready"}\n')
            done = place.baton(OTHER, root, "run", "--once", "--act-on-existing", state=parent)
            check(code is None or all(each in done.stderr for each in says), done)
            check(tree(place.home + "/victim") == before, "changed through a link", done)
        os.rename(runs, runs + ".real")
        os.symlink(place.home + "/victim", runs)
        holds(3, runs, "is a symbolic link")
        os.unlink(runs)
        os.rename(runs + ".real", runs)
        for name in (".spare", strange, os.path.basename(run)):
            if os.path.exists(f"{runs}/{name}"):
                os.rename(f"{runs}/{name}", f"{state}/{name}.real")
            os.symlink(place.home + "/victim", f"{runs}/{name}")
            os.utime(f"{runs}/{name}", (0, 0), follow_symlinks=False)
            holds(None)
            if os.path.islink(f"{runs}/{name}"):
                os.unlink(f"{runs}/{name}")


def forged_writes(exe):
    """A write in the journal is made only where a dialect or rule writes. The others are told and dropped."""
    with Place(exe) as place:
        root = place.root("root", OTHER)
        parent = place.folder("varlib", OTHER)
        place.file("root/deploy.sh", OTHER, "#!/bin/sh\n", 0o755)
        place.folder("root/.git", OTHER)
        place.file("root/.git/config", OTHER, "[core]\n")
        place.file("root/prompt.md", OTHER, "do it\n")
        state = served(place, OTHER, root, parent)
        strange = ("deploy.sh", "baton.yaml", ".git/config", "prompt.md", "t/../deploy.sh", "new.sh")
        before = tree(root)
        for path in strange:
            with_intent(state, path)
            done = place.baton(OTHER, root, "run", "--once", state=parent)
            check(tree(root) == before, path, done)
            said = place.baton(OTHER, root, "events", state=parent).stdout
            check("not_written" in said and f"{path} (x): the journal holds this write" in said, path, said)
            with contextlib.closing(sqlite3.connect(state + "/journal.db")) as db:
                check(db.execute("SELECT count(*) FROM intents").fetchone() == (0,), path, "is still in the journal")
        # A write of a state file is made.
        with_intent(state, "t/new.json")
        place.baton(OTHER, root, "run", "--once", state=parent)
        check(open(root + "/t/new.json").read() == "echo pwned\n", os.listdir(root + "/t"))


if __name__ == "__main__":
    if os.geteuid() != 0:
        world.skip("not root, so there are no other users to try")
    world.main_parts([the_daemon, the_line_works, commands, own_state_first, checking, modes, links, forged_writes])
