"""A journal that cannot be used: every command says what is wrong and what to do, with 3, and none of them
changes it or starts anything. usage: journal_test.py BATON"""

import glob
import os
import shutil
import sqlite3
import subprocess

import world
from world import check, wait_until

NOBODY = 65534


def cut_to(size):
    return lambda path: os.truncate(path, size)


def replaced(content):
    def replace(path):
        with open(path, "wb") as file:
            file.write(content)
    return replace


def newer(path):
    journal = sqlite3.connect(path)
    with journal:
        journal.execute("UPDATE meta SET value = 99 WHERE name = 'schema_version'")
    journal.close()


def folder(path):
    os.unlink(path)
    os.mkdir(path)


# What was done to it; what is said, and what to do about it.
MOVE = "move the state folder away"
DAMAGE = {
    "cut in the middle": (cut_to(9000), "damaged", MOVE),
    "cut in its header": (cut_to(20), "damaged", MOVE),
    "emptied": (cut_to(0), "empty", MOVE),
    "removed": (os.unlink, "gone", MOVE),
    "garbage": (replaced(b"no database\n" * 5000), "damaged", MOVE),
    "nul bytes": (replaced(bytes(8192)), "damaged", MOVE),
    "a folder": (folder, "not a regular file", MOVE),
    "of a newer baton": (newer, "newer baton", "use that one"),
    "without permission": (lambda path: os.chmod(path, 0), "for this user", "act as the user"),
}


def commands(run):
    flow = "rules/t/a"
    return [["status"], ["status", "--json"], ["explain", flow], ["events"], ["agents"], ["logs", run], ["prompt", run],
            ["wait", flow, "--until", "idle", "--timeout", "1s"], ["pause", flow], ["resume", flow],
            ["retry", flow], ["stop", "--all"], ["forget", flow], ["prune"], ["run", "--once", "--dry-run"],
            ["run", "--once"]]


def content(path):
    if not os.path.isfile(path):
        return os.path.isdir(path)
    with open(path, "rb") as file:
        return file.read()


def damaged(exe, what):
    damage, said, advice = DAMAGE[what]
    with world.World(exe) as baton:
        baton.ticket("a", "ready")
        check(baton.once().returncode == 0)
        run = baton.starts()[0].run
        state = os.path.dirname(glob.glob(baton.state + "/*/journal.db")[0])
        path = state + "/journal.db"
        user = None
        if os.geteuid() == 0:  # for whom permissions mean nothing
            user = NOBODY
            for top, folders, files in os.walk(baton.home):
                for each in [top, *(os.path.join(top, name) for name in folders + files)]:
                    os.chown(each, NOBODY, NOBODY, follow_symlinks=False)
        # A copy of the main file alone, as somebody would bring it back.
        for beside in glob.glob(path + "-*"):
            os.unlink(beside)
        damage(path)
        before = None if damage is DAMAGE["without permission"][0] and not user else content(path)
        for words in commands(run):
            done = subprocess.run([baton.exe, *words, *baton.places()], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=world.PATIENCE, user=user)
            says = (what, words, done.returncode, done.stdout, done.stderr)
            check(done.returncode == 3, "is not 3:", *says)
            check(not done.stdout, "prints something all the same:", *says)
            for word in (path, said, advice):
                check(word in done.stderr, "does not say", repr(word), *says)
            check(before is None or content(path) == before, "changed it:", *says)
            check(len(baton.starts()) == 1, "started an agent again:", *says)
        done = subprocess.run([baton.exe, "doctor", *baton.places()], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=world.PATIENCE, user=user)
        check(done.returncode == 1 and said in done.stdout, "doctor:", what, done.returncode, done.stdout, done.stderr)


def begun_anew(exe):
    """What the messages advise works: the state folder is moved away."""
    with world.World(exe) as baton:
        baton.ticket("a", "ready")
        baton.once()
        path = glob.glob(baton.state + "/*/journal.db")[0]
        replaced(b"garbage")(path)
        check(baton.once().returncode == 3)
        shutil.move(os.path.dirname(path), baton.home + "/aside")
        check(baton.once().returncode == 0)
        check(len(baton.starts()) == 2, baton.starts())


def while_running(exe):
    """The journal taken from under a living daemon ends it with word, and nothing is started twice."""
    with world.World(exe) as baton:
        daemon = baton.start()
        baton.canary()
        path = glob.glob(baton.state + "/*/journal.db")[0]
        os.rename(path, path + ".away")
        baton.ticket("x", "ready")
        wait_until(lambda: daemon.poll() is not None, "it ends")
        check(daemon.returncode == 3, daemon.returncode)
        check(not baton.starts("rules/t/x"), "it went on without a journal")
        done = baton.once()
        check(done.returncode == 3 and "gone" in done.stderr, done.returncode, done.stderr)
        os.rename(path + ".away", path)
        check(baton.once().returncode == 0)
        flows = sorted(each.flow for each in baton.starts())
        check(flows == ["rules/t/canary1", "rules/t/x"], flows)


def test(exe):
    for what in DAMAGE:
        damaged(exe, what)
        print(what, "passed", flush=True)
    for part in (begun_anew, while_running):
        part(exe)
        print(part.__name__, "passed", flush=True)


if __name__ == "__main__":
    world.main(test)
