# SPDX-License-Identifier: Apache-2.0
"""Locks on a root by somebody who could not serve it: they are told and ignored, two daemons never serve one root, and
where the holder is unknown the daemon ends with 3, which the units try again. usage: foreign_lock_test.py BATON
[PART...]"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import world
from world import check, skip, wait_until, write

# Users that need not exist. The first runs the daemon and owns the root, the second may read it.
OWNER, EVIL, GROUP = 54001, 54002, 54003
LOCK = ".baton.lock"

# Locks the file or folder as MODE says and prints a line; then does what HOW says.
LOCKER = """
import ctypes, fcntl, os, sys, time
path, mode, how, user, group, *groups = sys.argv[1:]
groups = [int(each) for each in groups if each != "run"]
os.setgroups(groups)
os.setresgid(*3 * [int(group)])
os.setresuid(*3 * [int(user)])
fd = os.open(path, os.O_RDONLY)
os.set_inheritable(fd, True)
fcntl.flock(fd, fcntl.LOCK_SH if mode == "shared" else fcntl.LOCK_EX)
if how == "child" and os.fork():
    print("locked", flush=True)
    os._exit(0)
if how == "child":
    time.sleep(1000)
print("locked", flush=True)
if how.startswith("exec"):
    os.execv(how.split("=")[1], [how.split("=")[1], "1000"])
time.sleep(1000)
"""


class Root:
    def __init__(self, exe):
        if os.geteuid() != 0:
            skip("only root can act as several users")
        self.exe = exe
        self.home = tempfile.mkdtemp(prefix="baton-e2e-")
        os.chmod(self.home, 0o755)
        self.root, self.ran = self.home + "/root", self.home + "/ran"
        for folder in (self.root + "/t", self.ran, self.home + "/state", self.home + "/other"):
            os.makedirs(folder)
        self.config = self.home + "/baton.yaml"
        write(self.config, {"version": 1, "agents": {"a": {"command": ["/bin/sh", "-c", 'echo 1 >>"$BATON_ROOT/../ran/$(basename "$BATON_FLOW")"']}},
                            "rules": [{"name": "t", "files": "t/{flow}.json", "stage": "/status", "react": [{"to": "a", "run": "a"}]}]})
        os.chmod(self.config, 0o644)
        subprocess.run(["chown", "-R", f"{OWNER}:{GROUP}", self.home], check=True)
        self.children = []

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            for name in os.listdir(self.home):
                if name.endswith(".log"):
                    with open(f"{self.home}/{name}", errors="replace") as log:
                        print("---", name, log.read()[-3000:])
        for child in self.children:
            if child.poll() is None:
                child.kill()
            child.wait()
        for pid in world.processes_with(self.home):
            if pid != os.getpid():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.home, ignore_errors=True)

    def by(self, user):
        return {"user": user, "group": user, "extra_groups": [], "cwd": "/", "stdin": subprocess.DEVNULL}

    def lock(self, user=EVIL, mode="exclusive", how="stay", path=None, groups=()):
        """A process of the user that holds the lock."""
        group = groups[0] if groups else user
        locker = subprocess.Popen([sys.executable, "-c", LOCKER, path or self.root, mode, how, *map(str, (user, group, *groups))],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        check(locker.stdout.readline() == "locked\n", "no lock")
        self.children.append(locker)
        return locker

    def command(self, *arguments, state="state"):
        return [self.exe, *arguments, "--root", self.root, "--config", self.config, "--state-dir", f"{self.home}/{state}"]

    def start(self, state="state", log=None):
        """A daemon that serves the root, or has ended."""
        log = f"{self.home}/{log or state}.log"
        with open(log, "ab") as file:
            daemon = subprocess.Popen(self.command("run", "--act-on-existing", state=state), stdout=file, stderr=file, **self.by(OWNER))
        self.children.append(daemon)
        wait_until(lambda: daemon.poll() is not None or "serving " in open(log).read())
        return daemon

    def log(self, state="state"):
        with open(f"{self.home}/{state}.log") as log:
            return log.read()

    def refused(self, code, *says, state="state"):
        with open(f"{self.home}/{state}.log", "wb"):
            pass
        daemon = self.start(state=state)
        check(daemon.poll() == code, "the daemon ended with", daemon.poll(), self.log(state))
        for word in says:
            check(word in self.log(state), word, "is not in", self.log(state))

    def starts(self, name):
        write(f"{self.root}/t/{name}.json", {"status": "a"})
        os.chown(f"{self.root}/t/{name}.json", OWNER, GROUP)
        wait_until(lambda: os.path.exists(f"{self.ran}/{name}"), "no agent started")

    def starts_once(self, name):
        """One agent for one event, however many daemons there might be."""
        self.starts(name)
        time.sleep(2)
        with open(f"{self.ran}/{name}") as file:
            check(len(file.read().splitlines()) == 1, "it was started twice")

    def locks_folder(self, process):
        inode = f":{os.stat(self.root).st_ino} "
        with open("/proc/locks") as file:
            return any("FLOCK" in line and f" {process.pid} " in line and inode in line for line in file)

    def end(self, daemon):
        daemon.send_signal(signal.SIGTERM)
        check(daemon.wait(world.PATIENCE) == 0, "it ended with", daemon.returncode)

    def has_file(self):
        return os.path.lexists(f"{self.root}/{LOCK}")


def ignored(exe):
    """An exclusive, a shared lock, and one behind a set-user-id program: told and ignored."""
    for mode in ("exclusive", "shared"):
        with Root(exe) as root:
            evil = root.lock(mode=mode)
            daemon = root.start()
            check(f"process {evil.pid} of user {EVIL}" in root.log(), root.log())
            info = os.lstat(f"{root.root}/{LOCK}")
            check((info.st_mode & 0o7777, info.st_uid) == (0o600, OWNER), info)
            root.starts("1")
            root.end(daemon)
            check(not root.has_file(), "it was left behind")
            # Without the stranger there is no such file.
            evil.kill()
            evil.wait()
            daemon = root.start(log="again")
            root.starts("2")
            check(not root.has_file())
            root.end(daemon)
    with Root(exe) as root:
        program = root.home + "/sleep"
        shutil.copy(shutil.which("sleep"), program)
        os.chmod(program, 0o4755)
        evil = root.lock(how="exec=" + program)
        wait_until(lambda: open(f"/proc/{evil.pid}/comm").read() == "sleep\n")
        root.start()
        root.starts("1")


def two_daemons(exe):
    """While a stranger locks the root, and after: never two daemons, whichever came first."""
    with Root(exe) as root:
        evil = root.lock()
        first = root.start()
        root.starts("1")
        root.refused(75, f"process {first.pid} of user {OWNER}", state="other")
        # A command without a daemon of its own state is no second writer either.
        done = subprocess.run(root.command("pause", "--all", state="other"), capture_output=True, text=True, **root.by(OWNER))
        check(done.returncode != 0, done)
        root.starts("2")
        # Killed, it leaves its file, which the next one takes over.
        first.kill()
        first.wait()
        check(root.has_file())
        next_one = root.start(state="other", log="next")
        check("serving" in open(root.home + "/next.log").read(), open(root.home + "/next.log").read())
        root.refused(75, f"process {next_one.pid} of user {OWNER}", state="state")
        # The lock of the root is free, and its daemon has not taken it yet.
        next_one.send_signal(signal.SIGSTOP)
        evil.kill()
        evil.wait()
        root.refused(75, f"{LOCK}: another daemon serves this root, which is locked by process {next_one.pid}", state="state")
        next_one.send_signal(signal.SIGCONT)
        root.end(next_one)
        check(not root.has_file())


def removed(exe):
    """`git clean` removes the file: its daemon makes it again, and whoever starts meanwhile finds it."""
    with Root(exe) as root:
        root.lock()
        first = root.start()
        root.starts("1")
        os.remove(f"{root.root}/{LOCK}")
        root.refused(75, f"process {first.pid} of user {OWNER}", state="other")
        root.starts("2")
        root.starts_once("3")
        check("was removed and is made again" in root.log(), root.log())
        # What cannot be locked keeps no daemon from its work, and lets no other in.
        os.remove(f"{root.root}/{LOCK}")
        os.mkdir(f"{root.root}/{LOCK}")
        wait_until(lambda: "is not a regular file" in root.log(), root.log)
        root.refused(3, "is not a regular file", state="other")
        root.starts("4")
        os.rmdir(f"{root.root}/{LOCK}")
        wait_until(root.has_file, "it is made again")
        root.refused(75, f"process {first.pid} of user {OWNER}", state="other")
        root.end(first)
        check(not root.has_file())


def removed_and_taken(exe):
    """The file is removed while its daemon has no turn, and another one makes it: the first comes back before it."""
    with Root(exe) as root:
        root.lock()
        first = root.start()
        root.starts("1")
        first.send_signal(signal.SIGSTOP)
        os.remove(f"{root.root}/{LOCK}")
        with open(f"{root.home}/other.log", "wb") as log:
            second = subprocess.Popen(root.command("run", state="other"), stdout=log, stderr=log, **root.by(OWNER))
        root.children.append(second)
        wait_until(root.has_file, "the second one makes it")
        first.send_signal(signal.SIGCONT)
        check(second.wait(20) == 75, root.log("other"))
        check(f"process {first.pid} of user {OWNER}" in root.log("other"), root.log("other"))
        root.starts_once("2")
        root.end(first)


def freed(exe):
    """The stranger goes: the daemon takes the root's own lock, which no `git clean` can remove."""
    with Root(exe) as root:
        evil = root.lock()
        first = root.start()
        root.starts("1")
        evil.kill()
        evil.wait()
        wait_until(lambda: not root.has_file(), "the file is not needed any more")
        root.refused(75, f"process {first.pid}", state="other")
        root.starts_once("2")
        # A second file is nothing to it then.
        write(f"{root.root}/{LOCK}", b"")
        root.starts("3")
        root.end(first)
        os.remove(f"{root.root}/{LOCK}")
        # Both at once: the file was removed, and the lock of the root is free.
        evil = root.lock()
        first = root.start(log="again")
        root.starts("4")
        os.remove(f"{root.root}/{LOCK}")
        evil.kill()
        evil.wait()
        wait_until(lambda: root.locks_folder(first), "it locks the root")
        root.refused(75, f"process {first.pid}", state="other")
        root.end(first)


def taken_over(exe):
    """A daemon that slept while its file was removed, and another took its place, ends before it starts anything."""
    with Root(exe) as root:
        root.lock()
        first = root.start()
        root.starts("1")
        first.send_signal(signal.SIGSTOP)
        os.remove(f"{root.root}/{LOCK}")
        second = root.start(state="other")
        check(second.poll() is None, root.log("other"))
        root.starts_once("2")
        write(f"{root.root}/t/3.json", {"status": "a"})
        first.send_signal(signal.SIGCONT)
        check(first.wait(world.PATIENCE) == 75, first.returncode)
        for word in ("another daemon serves this root now", LOCK, f"process {second.pid} of user {OWNER}"):
            check(word in root.log(), word, "is not in", root.log())
        root.starts_once("4")
        root.end(second)


def together(exe):
    """Of daemons that start together, one serves."""
    with Root(exe) as root:
        root.lock()
        states = ("state", "other", "third")
        os.makedirs(root.home + "/third")
        os.chown(root.home + "/third", OWNER, GROUP)
        logs = [open(f"{root.home}/{state}.log", "wb") for state in states]
        daemons = [subprocess.Popen(root.command("run", state=state), stdout=log, stderr=log, **root.by(OWNER))
                   for state, log in zip(states, logs)]
        root.children.extend(daemons)
        wait_until(lambda: sum(each.poll() is not None for each in daemons) == 2, "two of them end")
        check(sorted(each.poll() or 0 for each in daemons) == [0, 75, 75], [root.log(state) for state in states])
        root.starts_once("1")


def who_could_serve(exe):
    """The lock of root, of the owner, of our own user, and of a group that can write the root: 75, as ever."""
    with Root(exe) as root:
        for user, groups in ((0, ()), (OWNER, ())):
            holder = root.lock(user=user)
            root.refused(75, "is locked by process " + str(holder.pid))
            holder.kill()
            holder.wait()
        os.chmod(root.root, 0o775)
        holder = root.lock(groups=(GROUP,))
        root.refused(75, "is locked by process " + str(holder.pid))
        os.chmod(root.root, 0o755)
        root.start(log="now")  # the same process can write no more
        check("serving" in open(root.home + "/now.log").read())
    with Root(exe) as root:
        evil, owner = root.lock(mode="shared"), root.lock(user=OWNER, mode="shared")
        root.refused(75)
        owner.kill()
        owner.wait()
        root.start(log="now")
        check("serving" in open(root.home + "/now.log").read())
        check(evil.poll() is None)


def unknown_holder(exe):
    """Its process has ended and a child has the lock; or it is hidden, or in another container: 3."""
    with Root(exe) as root:
        evil = root.lock(how="child")
        wait_until(lambda: world.state_of(evil.pid) == "Z")
        root.refused(3, "not known whether another daemon serves it")
        evil.wait()
        root.refused(3, "not known whether another daemon serves it")
        for pid in world.processes_with(root.root):
            with open(f"/proc/{pid}/cmdline") as words:
                if "fcntl" in words.read():
                    os.kill(pid, signal.SIGKILL)
        root.start(log="now")
        check("serving" in open(root.home + "/now.log").read())


def another_container(exe):
    """From within a PID namespace the holder outside cannot be seen."""
    with Root(exe) as root:
        if subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"], capture_output=True).returncode != 0:
            skip("no PID namespace may be made here")
        root.lock()
        script = f"setpriv --reuid {OWNER} --regid {OWNER} --clear-groups " + " ".join(root.command("run", "--once"))
        done = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", script], capture_output=True, text=True,
                              timeout=world.PATIENCE)
        check(done.returncode == 3 and "not known whether" in done.stderr, done)


def made_before(exe):
    """What an attacker put there as .baton.lock: a link, a file of its own, one that others can open. Nothing is written
    through it, and the daemon says what is in its way."""
    with Root(exe) as root:
        path, target = f"{root.root}/{LOCK}", root.home + "/target"
        root.lock()

        def a_link():
            write(target, {"precious": 1})
            os.chown(target, OWNER, GROUP)
            os.symlink(target, path)

        def a_file_of(user, mode, content=b"x"):
            write(path, content)
            os.chmod(path, mode)
            os.chown(path, user, GROUP)

        def a_hard_link():
            a_file_of(OWNER, 0o600)
            os.link(path, root.home + "/second")
        for make, says in ((a_link, "is not a regular file"), (lambda: a_file_of(EVIL, 0o600), f"belongs to user {EVIL}"),
                           (a_hard_link, "has a second name"),
                           (lambda: os.mkfifo(path), "is not a regular file"), (lambda: os.mkdir(path), "is not a regular file")):
            make()
            root.refused(3, says, f"rm {path}", "the root itself is locked by process")
            if os.path.isdir(path):
                os.rmdir(path)
            else:
                os.remove(path)
        check(json.loads(open(target).read()) == {"precious": 1}, "it was written through the link")
        # One of our own that is locked by a stranger, who opened it while others could.
        a_file_of(OWNER, 0o644)
        evil = root.lock(path=path)
        root.refused(3, f"is locked by process {evil.pid} of user {EVIL}")
        evil.kill()
        evil.wait()
        # What git checks out after somebody committed it is used, and nobody else can open it from then on.
        os.chmod(path, 0o664)
        daemon = root.start(log="now")
        root.starts("1")
        check(os.lstat(path).st_mode & 0o7777 == 0o600, os.lstat(path))
        root.end(daemon)
    # Without a lock on the root none of this matters.
    with Root(exe) as root:
        os.symlink("/etc/passwd", f"{root.root}/{LOCK}")
        root.start()
        root.starts("1")


def a_pretender(exe):
    """A stranger that looks like a daemon does not keep commands from working."""
    with Root(exe) as root:
        daemon = root.start()
        root.starts("1")
        root.end(daemon)
        pretend = LOCKER.replace("fcntl.flock", "ctypes.CDLL(None).prctl(15, b'baton'); fcntl.flock", 1)
        evil = subprocess.Popen([sys.executable, "-c", pretend, root.root, "exclusive", "stay", str(EVIL), str(EVIL), "run"],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        root.children.append(evil)
        check(evil.stdout.readline() == "locked\n")
        check(open(f"/proc/{evil.pid}/comm").read() == "baton\n")
        done = subprocess.run(root.command("pause", "--all"), capture_output=True, text=True, **root.by(OWNER))
        check(done.returncode == 0, done)
        check(not root.has_file())


def a_state_file(exe):
    """`baton set` says who keeps the lock of a state file when it gives up."""
    with Root(exe) as root:
        daemon = root.start()
        root.starts("1")
        root.end(daemon)
        path = root.root + "/t/1.json"
        evil = root.lock(path=path, mode="shared")
        done = subprocess.run(root.command("set", path, "/x=1"), capture_output=True, text=True, **root.by(OWNER))
        check(done.returncode == 3 and f"process {evil.pid} of user {EVIL}" in done.stderr, done)
        check("x" not in json.loads(open(path).read()))


world.main_parts([ignored, two_daemons, removed, removed_and_taken, freed, taken_over, together, who_could_serve, unknown_holder, another_container, made_before, a_pretender, a_state_file])
