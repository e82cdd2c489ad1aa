# SPDX-License-Identifier: Apache-2.0
"""A power cut at many moments of starts: nothing that may have run is silently repeated, and what never was
released is started.

Root and state lie on an ext4 of their own; each boot is a set of namespaces with a boot id of its own. The
file system is shut down by ioctl, so what was not synced is lost, then every process is gone at once.
Agents count themselves in a log outside. After the next boot `on_interrupted` decides. A daemon that does not
sync is caught.
usage: power_cut_test.py BATON KILLAT MUTED [STEP]     every STEPth stop of the daemon; default: every 31st, in
scripts/test every 997th, others each day
"""

import array
import collections
import fcntl
import os
import shutil
import signal
import subprocess
import uuid

import world
from world import check, only_unchanged, skip, wait_until

RULE = {"name": "g", "files": "coordination/groups.json", "stage": "/{subject}/status",
        "react": [{"to": "open", "set": {"/{subject}/status": "pending"}}, {"to": "pending", "run": "worker"}]}
SUBJECTS = ("A", "B", "C")
FLOW = "rules/g"
POLICIES = ("hold", "retry", "fail")
SHUT_DOWN = 0x8004587D  # _IOR('X', 125, uint32_t)
WITHOUT_LOG = 2
# $1: the device, $2: where it is mounted, $3: a file with the boot id, $4: made when it is up.
BOOT = """mount "$1" "$2" && mount --bind "$3" /proc/sys/kernel/random/boot_id && : >"$4" && exec sleep infinity"""


class Machine(world.World):
    """Its disk is a file. Everything but the disk, the configuration and the agents' log ends with a boot."""

    def __init__(self, baton, policy, command=()):
        super().__init__(baton, rules=[RULE], command=command)
        self.settings["on_interrupted"] = policy
        self.configure()
        self.disk = self.home + "/disk"
        os.mkdir(self.disk)
        self.root, self.state = self.disk + "/root", self.disk + "/state"
        with open(self.home + "/image", "wb") as image:
            image.truncate(24 << 20)
        self.system = None
        self.device = None
        subprocess.run(["mkfs.ext4", "-q", "-F", self.home + "/image"], check=True, capture_output=True)
        self.device = subprocess.run(["losetup", "-f", "--show", self.home + "/image"], check=True,
                                     capture_output=True, text=True).stdout.strip()

    def __exit__(self, *exception):
        if self.system is not None:
            self.power_off()
        subprocess.run(["losetup", "-d", self.device], check=True)
        super().__exit__(*exception)

    def boot(self):
        up = self.home + "/up"
        world.write(self.home + "/boot_id", f"{uuid.uuid4()}\n".encode())
        self.system = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", BOOT, "sh",
             self.device, self.disk, self.home + "/boot_id", up], stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        wait_until(lambda: os.path.exists(up) or self.system.poll() is not None, "it boots")
        check(self.system.poll() is None, "cannot boot")
        os.unlink(up)
        with open(f"/proc/{self.system.pid}/task/{self.system.pid}/children") as children:
            self.first = int(children.read())

    def inside(self, *command, **more):
        return subprocess.run(["nsenter", "-t", str(self.first), "-m", "-p", *command], text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=world.PATIENCE, **more)

    def call(self, *arguments, code=0):
        done = self.inside(self.exe, *arguments, *self.places())
        check(code is None or done.returncode == code, "baton", *arguments, "gave", done.returncode,
              done.stdout, done.stderr)
        return done

    def once(self):
        return self.inside(*self.run_command("--once"))

    def cut(self):
        folder = os.open(f"/proc/{self.first}/root{self.disk}", os.O_RDONLY)
        fcntl.ioctl(folder, SHUT_DOWN, array.array("I", [WITHOUT_LOG]))
        os.close(folder)

    def power_off(self):
        """Ends every process at once, and the mount with them."""
        os.kill(self.first, signal.SIGKILL)
        self.system.wait()
        self.system = None
        mounted = "/sys/fs/ext4/" + os.path.basename(self.device)
        wait_until(lambda: not os.path.exists(mounted), "the file system goes away")

    def furnish(self):
        """What stands on the disk, synced."""
        self.boot()
        here = f"/proc/{self.first}/root"
        os.makedirs(here + self.state, 0o750)
        world.write(here + self.root + "/coordination/groups.json",
                    {subject: {"status": "open" if subject == "C" else "pending"} for subject in SUBJECTS})
        os.sync()

    def interrupted(self):
        return {run["subject"] for run in self.lines("agents") if run["outcome"] == "interrupted"}


def judge(machine, policy, where):
    """The first boot is over. Returns which subjects were interrupted."""
    before = {each.subject for each in machine.starts()}
    machine.boot()
    done = machine.once()
    starts = machine.starts()
    numbers = collections.Counter(each.subject for each in starts)
    interrupted = machine.interrupted()
    says = (where, policy, "interrupted:", sorted(interrupted), starts, done.stderr)
    check(done.returncode in (0, 1), "the next boot gave", done.returncode, *says)
    once = {(each.subject, each.attempt) for each in starts}
    check(len(once) == len(starts), "an attempt ran twice:", *says)
    check(before <= set(numbers), *says)
    for subject in SUBJECTS:
        if subject not in interrupted:
            check(numbers[subject] == 1, subject, "did not run once:", *says)
        elif policy == "retry":
            check(f"{subject} 2" in [f"{each.subject} {each.attempt}" for each in starts],
                  subject, "was not tried again:", *says)
        else:
            check(numbers[subject] == (1 if subject in before else 0), subject, "was repeated:", *says)
    status = machine.lines("status")[0]
    if interrupted and policy != "retry":
        check(status["condition"] == ("failed" if policy == "fail" else "blocked"), status, *says)
        check("interrupted" in status["why"], status, *says)
        check(("on_interrupted: fail" in status["why"]) == (policy == "fail"), status, *says)
    if policy == "fail":
        check(only_unchanged(done, "failed: interrupted" if interrupted else "blocked: no_change"), "exit code",
              done.returncode, status, *says)
    return interrupted


def at_rest(baton, policy, *before):
    """The power goes while all agents work: each of them may have done its work. `before` is what the daemon is
    called by."""
    with Machine(baton, policy, ("sh", "-c", 'test -e "$0" || exec sleep 1000', "/dev/shm/none")) as machine:
        # In the next boot agents end at once.
        go = machine.home + "/go"
        machine.settings["agents"]["worker"]["command"][-1] = go
        machine.configure()
        machine.furnish()
        with open(machine.home + "/daemon.log", "ab") as log:
            daemon = subprocess.Popen(["nsenter", "-t", str(machine.first), "-m", "-p", *before,
                                       *machine.run_command()], stdin=subprocess.DEVNULL,
                                      stdout=log, stderr=log)
        wait_until(lambda: len(machine.starts()) == len(SUBJECTS), "agents start")
        machine.cut()
        machine.power_off()
        daemon.wait()
        world.write(go, b"")
        interrupted = judge(machine, policy, "at rest:")
        check(interrupted == set(SUBJECTS), "who may have run was not interrupted:", interrupted)
        if policy != "retry":
            machine.call("retry", FLOW, code=None)
            done = machine.once()
            check(only_unchanged(done), "after retry:", done.returncode, done.stderr)
            check(len(machine.starts()) == 2 * len(SUBJECTS), "after retry:", machine.starts())


def no_sync(baton, muted):
    """The mutant of this test: it starts again what it has forgotten."""
    try:
        at_rest(baton, "hold", muted, "fsync,fdatasync")
    except AssertionError as wrong:
        check("an attempt ran twice" in str(wrong), "no sync is caught by something else:", wrong)
    else:
        raise AssertionError("no sync: not noticed")


def sweep(baton, killat, step):
    places, stop, hit, kept = 0, 1 + world.DAY % step, collections.Counter(), 0
    while True:
        policy = POLICIES[places % len(POLICIES)]
        with Machine(baton, policy) as machine:
            machine.furnish()
            done = machine.inside(killat, "-c", machine.disk, str(stop), *machine.run_command("--once"))
            check(done.returncode in (0, 1), "killat:", done.returncode, done.stderr)
            if done.returncode == 1:
                break
            machine.power_off()
            interrupted = judge(machine, policy, f"cut at stop {stop}:")
            hit[policy] += len(interrupted)
            kept += len(SUBJECTS) - len(interrupted)
        places += 1
        stop += step
    print(f"power cut at {places} of about {stop} stops: interrupted {dict(hit)}, else run once {kept}")
    # A dozen cuts may all meet a moment without a run; hundreds cannot.
    if places > 100:
        check(sum(hit.values()), "no cut met a run")
        check(kept, "every run was interrupted")


def test(baton, killat, muted, step="31" if world.COMPLETE else "997"):
    if os.geteuid() != 0:
        skip("a file system of its own needs root")
    for command in ("mkfs.ext4", "losetup", "unshare", "nsenter"):
        if shutil.which(command) is None:
            skip(f"there is no {command}")
    image = subprocess.run(["losetup", "-f"], capture_output=True, text=True)
    if image.returncode != 0:
        skip("no loop device may be had here: " + image.stderr.strip())
    if subprocess.run(["unshare", "--mount", "--pid", "--fork", "--mount-proc", "true"], capture_output=True).returncode:
        skip("no namespaces may be made here")
    if subprocess.run(["grep", "-qw", "ext4", "/proc/filesystems"]).returncode:
        skip("this kernel has no ext4")
    for policy in world.sample(POLICIES, 1):
        at_rest(baton, policy)
        print("at rest,", policy, "passed", flush=True)
    no_sync(baton, os.path.abspath(muted))
    print("no sync is caught", flush=True)
    sweep(baton, os.path.abspath(killat), int(step))


if __name__ == "__main__":
    world.main(test)
