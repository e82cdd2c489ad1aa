# SPDX-License-Identifier: Apache-2.0
"""Every final state is acted upon and none twice, whatever happens to the events: more changes than the
kernel's queue holds while the daemon is stopped, folders that appear together with their files, renamed
files and folders, torn writes, a root that is replaced, comes and goes, is locked or unreadable, and no watch
left. usage: watch_test.py BATON"""

import collections
import fcntl
import os
import random
import shutil
import signal
import subprocess
import time

import world
from world import check, skip, wait_until, write

FILES, CHANGES = 200, 200  # 40,000 changes
FOLDERS = 200
RULES = [
    {"name": "t", "files": "tickets/{flow}.json", "stage": "/status",
     "react": [{"to": ["ready", "final"], "run": "worker"}]},
    {"name": "a", "files": "areas/{flow}/state.json", "stage": "/status",
     "react": [{"to": "ready", "run": "worker"}]},
]


def once_each(baton, flows, purpose):
    """Every flow got exactly one agent for that purpose."""
    flows = set(flows)

    def counted():
        return collections.Counter(each.flow for each in baton.starts() if each.purpose == purpose)

    wait_until(lambda: flows <= set(counted()), lambda: sorted(flows - set(counted()))[:5], "were lost")
    baton.canary()
    baton.idle()
    twice = {flow: number for flow, number in counted().items() if flow in flows and number != 1}
    check(not twice, "started more than once:", twice)


def overflow(baton):
    for number in range(FILES):
        baton.ticket(f"o{number}", "idle")
    baton.canary()
    baton.daemon.send_signal(signal.SIGSTOP)
    dice = random.Random(1)
    for change in range(CHANGES):
        for number in range(FILES):
            last = change == CHANGES - 1
            baton.ticket(f"o{number}", "final" if last else dice.choice(("idle", "busy", "ready")), n=change)
    baton.daemon.send_signal(signal.SIGCONT)
    once_each(baton, (f"rules/t/o{number}" for number in range(FILES)), "final")


def new_folders(baton):
    for number in range(FOLDERS):
        folder = f"{baton.root}/areas/n{number}"
        os.makedirs(folder)
        with open(folder + "/state.json", "w") as file:
            file.write('{"status": "ready"}')
    once_each(baton, (f"rules/a/n{number}" for number in range(FOLDERS)), "ready")


def renamed_files(baton):
    names = [f"r{number}" for number in range(10)]
    for name in names:
        baton.ticket(name, "idle")
    path = (baton.root + "/tickets/{}.json").format
    for turn in range(100):
        for name in names:
            here, there = (name, name + "x") if turn % 2 == 0 else (name + "x", name)
            os.rename(path(here), path(there))
    for name in names:
        baton.ticket(name, "final")
    once_each(baton, (f"rules/t/{name}" for name in names), "final")


def renamed_folders(baton):
    names = [f"m{number}" for number in range(10)]
    area = baton.root + "/areas/"
    for name in names:
        write(f"{area}{name}/state.json", {"status": "idle"})
    for turn in range(50):
        for name in names:
            here, there = (name, name + "x") if turn % 2 == 0 else (name + "x", name)
            os.rename(area + here, area + there)
    for name in names:
        write(f"{area}{name}/state.json", {"status": "ready"})
    once_each(baton, (f"rules/a/{name}" for name in names), "ready")


def recreated_folder(baton):
    shutil.rmtree(baton.root + "/areas")
    write(baton.root + "/areas/again/state.json", {"status": "ready"})
    once_each(baton, ["rules/a/again"], "ready")


def torn_writes(baton):
    """A file written byte by byte, closed after each, starts nothing before it is whole."""
    baton.ticket("torn", "idle")
    path = baton.root + "/tickets/torn.json"
    whole = b'{"status": "ready", "n": [1]}'
    open(path, "w").close()
    for byte in whole[:-1]:
        with open(path, "ab") as file:
            file.write(bytes([byte]))
        # The canary's answer proves that the torn file was looked at.
        baton.canary()
        check(not baton.starts("rules/t/torn"), "started by a torn file")
    with open(path, "ab") as file:
        file.write(whole[-1:])
    once_each(baton, ["rules/t/torn"], "ready")


def replaced_root(baton):
    before = len(baton.starts())
    shutil.copytree(baton.root, baton.root + ".new", copy_function=shutil.copy2)
    write(baton.root + ".new/tickets/fresh.json", {"status": "ready"})
    os.rename(baton.root, baton.root + ".old")
    os.rename(baton.root + ".new", baton.root)
    once_each(baton, ["rules/t/fresh"], "ready")
    baton.ticket("later", "ready")
    once_each(baton, ["rules/t/later"], "ready")
    new = [each for each in baton.starts()[before:] if "canary" not in each.flow]
    check(len(new) == 2, "the copied files are what they were, yet were started:", new)


def log_of(baton):
    with open(baton.home + "/daemon.log", errors="replace") as file:
        return file.read()


def fleeting_root(baton):
    """Another folder takes the root's name for moments, so that each look may find another one or none."""
    dice = random.Random(2)
    away = baton.root + ".away"
    for _ in range(200):
        os.rename(baton.root, away)
        os.makedirs(baton.root + "/tickets")
        time.sleep(dice.random() * 0.01)
        shutil.rmtree(baton.root)
        time.sleep(dice.random() * 0.002)
        os.rename(away, baton.root)
        check(baton.daemon.poll() is None, "the daemon ended")
    baton.ticket("fleeting", "ready")
    once_each(baton, ["rules/t/fleeting"], "ready")


def returning_root(baton):
    """The same folder is away and back, and seen so each time."""
    away = baton.root + ".away"
    for count in range(3):
        os.rename(baton.root, away)
        wait_until(lambda: "cannot be opened" in baton.call("status", code=None).stdout, "status says it is away",
                   lambda: baton.call("status", code=None))
        os.rename(away, baton.root)
        baton.ticket(f"returned{count}", "ready")
        once_each(baton, [f"rules/t/returned{count}"], "ready")


def locked_root(baton):
    """The new folder is locked by somebody: nothing in it is read, and nothing else waits for that."""
    away, new = baton.root + ".away", baton.root + ".new"
    shutil.copytree(baton.root, new, copy_function=shutil.copy2)
    write(new + "/tickets/locked.json", {"status": "ready"})
    before = log_of(baton).count("is locked by process")
    folder = os.open(new, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    os.rename(baton.root, away)
    os.rename(new, baton.root)
    wait_until(lambda: f"is locked by process {os.getpid()}" in baton.call("status").stdout, "status says so")
    for name in ("one", "two", "three"):
        baton.ticket(name, "idle")
        baton.call("pause", "--all")
        baton.call("resume", "--all")
    check(not baton.starts("rules/t/locked"), "it was read before it was locked")
    check(log_of(baton).count("is locked by process") == before + 1, "it is said once:", log_of(baton)[-2000:])
    os.close(folder)
    baton.ticket("four", "idle")
    once_each(baton, ["rules/t/locked"], "ready")
    check("is locked" not in baton.call("status").stdout, "status still says so")
    shutil.rmtree(away)


def on_one_root(exe):
    with world.World(exe, rules=RULES) as baton:
        baton.start()
        for part in (overflow, new_folders, renamed_files, renamed_folders, recreated_folder, torn_writes,
                     replaced_root, fleeting_root, returning_root, locked_root):
            part(baton)
            check(baton.daemon.poll() is None, "the daemon ended")
            print(part.__name__, "passed", flush=True)
        runs = [each.run for each in baton.starts()]
        check(len(runs) == len(set(runs)), "a run was started twice")


def away_and_back(exe):
    """Nothing in a root that is away counts as gone: what is back as it was is not entered anew."""
    with world.World(exe) as baton:
        baton.settings["rules"] = [{"name": "p", "files": {"s": "p/{flow}/{part}.json"},
                                    "stage": "s:/state", "react": [{"to": "ship", "run": "worker"}]}]
        baton.configure()
        baton.start()
        part = baton.root + "/p/f/x.json"
        os.makedirs(os.path.dirname(part))
        world.write(part, {"state": "ship"})
        wait_until(lambda: baton.starts("rules/p/f"))
        baton.idle()
        for empty in (False, True):
            os.rename(baton.root, baton.root + ".away")
            if empty:
                os.mkdir(baton.root)
            wait_until(lambda: "waits for the root" in baton.call("explain", "rules/p/f").stdout + baton.call("status").stdout,
                       lambda: baton.call("status").stdout)
            check([each["declared"] for each in baton.lines("status") if each["flow"] == "rules/p/f"] == ["x: ship"],
                  baton.lines("status"))
            if empty:
                os.rmdir(baton.root)
            os.rename(baton.root + ".away", baton.root)
            wait_until(lambda: "waits for the root" not in baton.call("status").stdout, lambda: baton.call("status").stdout)
            time.sleep(1.5)
            check(len(baton.starts()) == 1, baton.starts())
        check(not [each for each in baton.lines("events") if each["event"] in ("gone", "back") and each["flow"]],
              baton.lines("events"))


def away_at_a_start(exe):
    """A root that is renamed and back within a moment, while agents are started, costs no attempt; nor is what was
    to be written into it forgotten."""
    with world.World(exe, limits={"max_attempts": 1, "max_running": 8, "spawns_per_hour": 1000}) as baton:
        baton.start()
        for number in range(20):
            baton.ticket(f"t{number}", "ready")
            time.sleep(number % 5 * 0.001)
            os.rename(baton.root, baton.root + ".away")
            time.sleep(0.02)
            os.rename(baton.root + ".away", baton.root)
            time.sleep(0.05)
        baton.idle()
        wait_until(lambda: len(baton.lines("agents")) == 20, lambda: baton.lines("agents"))
        baton.idle()
        check({each["outcome"] for each in baton.lines("agents")} == {"succeeded"}, baton.lines("agents"))
    with world.World(exe) as baton:
        del baton.settings["rules"]
        baton.settings["dialects"] = {"coordination": {}}
        baton.settings["agents"] = {role: baton.counting("sleep", "1000")
                                    for role in ("project_manager", "developer", "qa_expert", "tech_lead")}
        baton.configure()
        baton.start()
        baton.call("pause", "--all")  # answered, so that no step of the daemon is under way
        baton.call("resume", "--all")
        time.sleep(0.5)
        baton.daemon.send_signal(signal.SIGSTOP)
        baton.call("start", "coordination", "--requirements", "three programs", "--no-wait")
        os.rename(baton.root, baton.root + ".away")
        baton.daemon.send_signal(signal.SIGCONT)
        wait_until(lambda: "is waited for: " in log_of(baton), "it says so")
        wait_until(lambda: "waits for the root" in baton.call("events", code=None).stdout,
                   lambda: baton.call("events", code=None).stdout)
        check(not baton.starts(), baton.starts())
        # Nor does it belong into what may be a mount point without its volume.
        os.mkdir(baton.root)
        wait_until(lambda: "was replaced; the new folder is served" in log_of(baton), "it says so")
        time.sleep(2)
        check(os.listdir(baton.root) == [] and not baton.starts(), os.listdir(baton.root), baton.starts())
        # A server that comes up without the volume begins there.
        baton.daemon.kill()
        baton.daemon.wait()
        baton.start()
        time.sleep(2)
        check(os.listdir(baton.root) == [] and not baton.starts(), os.listdir(baton.root), baton.starts())
        os.rmdir(baton.root)
        os.rename(baton.root + ".away", baton.root)
        wait_until(baton.starts, "the session begins", lambda: baton.call("status").stdout)
        check(os.path.exists(baton.root + "/coordination/orchestrator_state.json"), "nothing was written")
        # What is gone is not begun a second time beside what is known of it.
        shutil.rmtree(baton.root + "/coordination")
        baton.call("stop", "--all")
        wait_until(lambda: "gone" in baton.call("status").stdout, lambda: baton.call("status").stdout)
        said = baton.call("start", "coordination", "--requirements", "three programs", code=1)
        check("are gone" in said.stdout + said.stderr and "baton forget coordination/coordination" in
              said.stdout + said.stderr, said)
        baton.call("resume", "--all")
        write(baton.root + "/requirements.md", b"three programs")
        baton.call("forget", "coordination/coordination")
        baton.call("start", "coordination", "--requirements", "three programs")
        wait_until(lambda: len(baton.starts()) == 2, lambda: baton.call("status").stdout)


def mounted_over(exe):
    """A volume that is mounted where its mount point was served is watched, and not only looked at each minute."""
    with world.World(exe) as baton:
        volume = baton.home + "/volume"
        os.mkdir(volume)
        baton.ticket("a", "idle")
        baton.start()
        baton.canary()
        baton.daemon.terminate()
        baton.daemon.wait()
        os.rename(baton.root, volume + "/root")
        os.mkdir(baton.root)
        baton.start()
        wait_until(lambda: "is empty" in log_of(baton), "it says so")
        made = subprocess.run(["mount", "--bind", volume + "/root", baton.root], capture_output=True, text=True)
        if made.returncode != 0:
            skip("cannot mount:", made.stderr.strip())
        try:
            wait_until(lambda: "there is something in" in log_of(baton), "it is served")
            watched = wait_until(lambda: next(iter(baton.lines("status")), None))["watching"]
            check(watched.startswith("inotify, 2 folders"), watched)
            baton.ticket("a", "ready")
            began = time.monotonic()
            wait_until(lambda: baton.starts("rules/t/a"), "the change is seen")
            # A rescan comes each minute, and one has just been made.
            check(time.monotonic() - began < 45, "the change was seen by a rescan only")
            baton.daemon.terminate()
            baton.daemon.wait()
        finally:
            subprocess.run(["umount", "-l", baton.root], check=False)


def unreadable_root(exe):
    """A new root that the daemon may not read is not there yet. Nobody stands for the daemon's user where the
    test is root, who may read everything."""
    nobody = 65534 if os.geteuid() == 0 else os.geteuid()
    with world.World(exe) as baton:
        if nobody != os.geteuid():
            for program in ("baton", "baton-shim"):
                shutil.copy2(os.path.join(os.path.dirname(baton.exe), program), baton.home)
            baton.exe = baton.home + "/as_nobody"
            with open(baton.exe, "w") as file:
                file.write(f'#!/bin/sh\nexec setpriv --reuid={nobody} --regid={nobody} --clear-groups '
                           f'{baton.home}/baton "$@"\n')
            os.chmod(baton.exe, 0o755)
            for folder, _, files in os.walk(baton.home):
                for each in (folder, *(f"{folder}/{name}" for name in files)):
                    os.chown(each, nobody, nobody)
        baton.start()
        baton.ticket("first", "ready")
        once_each(baton, ["rules/t/first"], "ready")
        new = baton.home + "/new"
        shutil.copytree(baton.root, new)
        write(new + "/tickets/second.json", {"status": "ready"})
        os.chmod(new, 0)
        os.rename(baton.root, baton.root + ".away")
        os.rename(new, baton.root)
        # A folder that may not be read cannot be watched either; the next full look, within a minute, finds it, too.
        baton.call("reload", code=None)
        wait_until(lambda: "is waited for: folder cannot be opened: Permission denied" in log_of(baton), "it says so")
        check("everything is stopped" in baton.call("stop", "--all").stdout, "commands are not answered")
        baton.call("resume", "--all")
        check(not baton.starts("rules/t/second"), "it was read")
        os.chmod(baton.root, 0o755)
        baton.call("reload")  # or the next full look, within a minute
        once_each(baton, ["rules/t/second"], "ready")
        check(baton.daemon.poll() is None, "the daemon ended")


LIMITED = """#!/bin/sh
[ "$1" = run ] || exec {exe} "$@"
exec unshare --user --map-root-user sh -c 'echo {number} >/proc/sys/user/{limit} && exec {exe} "$@"' sh "$@"
"""


def few_watches(exe):
    """Folders for which the kernel has no watch left are polled, status says so, and what happens there is acted
    upon. A user's limits are those of the daemon's own namespace here."""
    limited = "echo 1 >/proc/sys/user/max_inotify_watches"
    if subprocess.run(["unshare", "--user", "--map-root-user", "sh", "-c", limited], capture_output=True).returncode:
        world.skip("no namespace of users with its own limits may be made here")
    for limit, number, says in (("max_inotify_watches", 2, "no watches are left"),
                                ("max_inotify_instances", 0, "no inotify instance is left")):
        with world.World(exe) as baton:
            baton.exe = baton.home + "/limited"
            with open(baton.exe, "w") as file:
                file.write(LIMITED.format(exe=os.path.abspath(exe), limit=limit, number=number))
            os.chmod(baton.exe, 0o755)
            baton.ticket("first", "ready")
            baton.start()
            once_each(baton, ["rules/t/first"], "ready")
            watching = baton.lines("status")[0]["watching"]
            check("polled every " in watching and says in watching, watching)
            check(watching in baton.call("status").stdout, baton.call("status").stdout)
            baton.ticket("first", "wait")
            baton.ticket("second", "ready")
            once_each(baton, ["rules/t/second"], "ready")


if __name__ == "__main__":
    world.main_parts((on_one_root, away_at_a_start, away_and_back, mounted_over, unreadable_root, few_watches), 3)
