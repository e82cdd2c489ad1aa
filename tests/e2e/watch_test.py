"""Every final state is acted upon and none twice, whatever happens to the events: more changes than the
kernel's queue holds while the daemon is stopped, folders that appear together with their files, renamed
files and folders, a replaced root, torn writes. usage: watch_test.py BATON"""

import collections
import os
import random
import shutil
import signal

import world
from world import check, wait_until, write

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


def test(exe):
    with world.World(exe, rules=RULES) as baton:
        baton.start()
        for part in (overflow, new_folders, renamed_files, renamed_folders, recreated_folder, torn_writes,
                     replaced_root):
            part(baton)
            check(baton.daemon.poll() is None, "the daemon ended")
            print(part.__name__, "passed", flush=True)
        runs = [each.run for each in baton.starts()]
        check(len(runs) == len(set(runs)), "a run was started twice")


if __name__ == "__main__":
    world.main(test)
