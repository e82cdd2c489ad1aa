# SPDX-License-Identifier: Apache-2.0
"""A journal that cannot be used: every command says what is wrong and what to do, with 3, and none of them
changes it or starts anything. usage: journal_test.py BATON"""

import contextlib
import glob
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tarfile
import time

import world
from world import check, only_unchanged, wait_until, write

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


def answered_once(exe):
    """A start does not answer again what was answered already: a journal has the answers of a month."""
    with world.World(exe) as baton:
        baton.start()
        baton.ticket("a", "rest")
        for verb in ("pause", "resume"):
            baton.call(verb, "--all")
        folder, = glob.glob(baton.state + "/*/replies")
        check(len(os.listdir(folder)) == 2, os.listdir(folder))
        for name in os.listdir(folder):
            os.unlink(f"{folder}/{name}")
        # A request whose file is still there is answered again, and rightly so.
        requests = os.path.dirname(folder) + "/requests/*.json"
        wait_until(lambda: not glob.glob(requests), "the requests are removed:", lambda: glob.glob(requests))
        baton.daemon.kill()
        baton.daemon.wait()
        baton.start()
        baton.canary()
        check(not os.listdir(folder), os.listdir(folder))


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
        check(only_unchanged(baton.once()))
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
            # A daemon that systemd starts again and again does not make a newer journal fit.
            code = 2 if what in ("of a newer baton", "without permission") and words == ["run", "--once"] else 3
            check(done.returncode == code, f"is not {code}:", *says)
            check(not done.stdout, "prints something all the same:", *says)
            for word in (path, said, advice):
                check(word in done.stderr, "does not say", repr(word), *says)
            check(before is None or content(path) == before, "changed it:", *says)
            check(len(baton.starts()) == 1, "started an agent again:", *says)
        done = subprocess.run([baton.exe, "doctor", *baton.places()], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=world.PATIENCE, user=user)
        check(done.returncode == 1 and said in done.stdout, "doctor:", what, done.returncode, done.stdout, done.stderr)


def of_earlier_versions(exe):
    """A kept journal is brought up to date, after it was copied, and everything in it still counts: nothing is started
    again but what was at work. An older baton, which is what reads the copy, has all of it, too."""
    packed = sorted(glob.glob(os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + "/journals/*.tar.gz"))
    check(packed, "no journals are kept")
    for each in packed:
        with world.World(exe) as baton:
            check(baton.once().returncode == 0)
            path = journal_of(baton)
            state = os.path.dirname(path)
            shutil.rmtree(state)
            os.mkdir(state, 0o750)
            with tarfile.open(each) as kept:
                kept.extractall(state)
            for flow, status in (("a", "done"), ("b", "done"), ("fails", "ready"), ("long", "ready"), ("rests", "waiting")):
                baton.ticket(flow, status)

            def content(database):
                with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as journal:
                    tables = [row[0] for row in journal.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
                    return {table: sorted(journal.execute(f"SELECT * FROM {table}"), key=repr) for table in tables}
            before = content(path)
            version = dict(before["meta"])["schema_version"]
            said = baton.call("status", code=3).stderr
            check(f"has version {version}" in said and "`baton run` brings it up to date" in said, said)
            write(f"{state}/journal.db.v1", b"of an upgrade before")
            done = baton.once()
            check(f"from version {version} to " in done.stderr and f"it is in {path}.v{version}" in done.stderr, done)
            check(content(f"{path}.v{version}") == before, "the copy is another one")
            check(os.stat(f"{path}.v{version}").st_mode & 0o777 == 0o640, "others may read the copy")
            check(glob.glob(f"{path}.v*") == [f"{path}.v{version}"], glob.glob(f"{path}.v*"))
            check([start.flow for start in baton.starts()] == ["rules/t/long"], baton.starts())
            lines = {line["flow"]: (line["condition"], line["attempt"]) for line in baton.lines("status")}
            check(lines["rules/t/fails"] == ("failed", 3) and lines["rules/t/rests"][0] == "paused", lines)
            runs = baton.lines("agents")
            check(len(runs) == 7 and len([run for run in runs if run["flow"] == "rules/t/fails"]) == 3, runs)
            with contextlib.closing(sqlite3.connect(path)) as journal, journal:
                journal.execute("UPDATE meta SET value = 99 WHERE name = 'schema_version'")
            done = baton.once()
            check(done.returncode == 2 and "use that one (0.2.0 or later)" in done.stderr, done)


def copied_before_the_upgrade(exe):
    """Without a place for the copy, the journal stays as it is, and the daemon says why."""
    with world.World(exe) as baton:
        check(baton.once().returncode == 0)
        path = journal_of(baton)
        with contextlib.closing(sqlite3.connect(path)) as journal, journal:
            journal.execute("UPDATE meta SET value = 10 WHERE name = 'schema_version'")
            journal.execute("DROP TABLE logs")
        os.mkdir(path + ".v10.new")
        done = baton.once()
        check(done.returncode == 3 and "cannot copy the journal before the upgrade" in done.stderr, done)
        with contextlib.closing(sqlite3.connect(path)) as journal:
            check(journal.execute("SELECT value FROM meta WHERE name = 'schema_version'").fetchone() == (10,), "it was upgraded")
        os.rmdir(path + ".v10.new")
        check(baton.once().returncode == 0 and os.path.exists(path + ".v10"))


def begun_anew(exe):
    """What the messages advise works: the state folder is moved away."""
    with world.World(exe) as baton:
        baton.ticket("a", "ready")
        baton.once()
        path = glob.glob(baton.state + "/*/journal.db")[0]
        replaced(b"garbage")(path)
        check(baton.once().returncode == 3)
        shutil.move(os.path.dirname(path), baton.home + "/aside")
        check(only_unchanged(baton.once()))
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
        check(only_unchanged(baton.once()))
        flows = sorted(each.flow for each in baton.starts())
        check(flows == ["rules/t/canary1", "rules/t/x"], flows)


def looked_at_meanwhile(exe):
    """A run that begins while somebody looks is not taken for one that the journal has forgotten."""
    with world.World(exe, command=("true",)) as baton:
        baton.start()
        look = 'while [ -e "$0" ]; do "$@" >/dev/null || exit; echo; done'
        write(baton.home + "/looking", b"")
        looking = [subprocess.Popen(["sh", "-c", look, baton.home + "/looking", exe, "agents", "--running", *baton.places()],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        for number in range(800):
            baton.ticket(f"n{number}", "ready")
            time.sleep(0.004)
        os.unlink(baton.home + "/looking")
        for each in looking:
            looks, said = each.communicate(timeout=world.PATIENCE)
            check(each.returncode == 0 and not said and len(looks) > 3, len(looks), said)
        wait_until(lambda: len(baton.starts()) == 800, lambda: len(baton.starts()))


def flipped(path):
    """The beginning of what was written last."""
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))


# How what the journal's -wal held is lost.
LOSSES = {"removed": os.unlink, "cut": cut_to(5000), "emptied": cut_to(0), "flipped": flipped}


def journal_of(baton):
    return glob.glob(baton.state + "/*/journal.db")[0]


def refused(baton, words, runs, *more):
    """A journal that went back is refused by every command with what to do, and nothing is started."""
    starts = len(baton.starts())
    for each in commands(runs[0]):
        done = baton.call(*each, code=3)
        says = (each, done.stdout, done.stderr)
        check(not done.stdout, "prints something all the same:", *says)
        # Without a daemon this one is refused before the journal is looked at, as long as an agent runs.
        if each[0] == "prune" and "agents of it still run" in done.stderr:
            continue
        for word in ("an old copy", *runs[:3], "move the folders out of", "-wal", *more):
            check(word in done.stderr, "does not say", repr(word), *says)
    done = baton.call("doctor", code=1)
    check("an old copy" in done.stdout, done.stdout)
    check(len(baton.starts()) == starts, "started an agent again:", words, baton.starts())


def moved_away(baton, runs):
    """The way out that the message names."""
    folder = os.path.dirname(journal_of(baton)) + "/runs/"
    for run in runs:
        os.rename(folder + run, f"{baton.home}/aside-{run}")


def emptied_wal(path):
    """What stands in the -wal is brought into the journal itself."""
    journal = sqlite3.connect(path)
    wait_until(lambda: journal.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0, "nobody is at it")
    journal.close()


def wal_lost(exe, how):
    """The daemon was killed, and what it wrote last is lost, while its agent runs on."""
    with world.World(exe, command=("sleep", "1000")) as baton:
        daemon = baton.start()
        baton.canary()
        emptied_wal(journal_of(baton))  # so that the canary is known whatever becomes of the -wal
        baton.ticket("a", "ready")
        run = wait_until(lambda: baton.starts("rules/t/a"), "it starts")[0].run
        daemon.kill()
        daemon.wait()
        LOSSES[how](journal_of(baton) + "-wal")
        agent = set(world.processes_with(f"BATON_RUN_ID={run}"))
        check(agent, "the agent is gone")
        shim = [pid for pid in world.processes_with(run) if pid not in agent]
        check(len(shim) == 1, shim)
        refused(baton, how, [run], f"`kill {shim[0]}`")
        check(set(world.processes_with(f"BATON_RUN_ID={run}")) == agent, "the agent was ended")
        os.kill(shim[0], signal.SIGTERM)
        wait_until(lambda: not world.processes_with(run), "the agent ends with its shim")
        done = baton.call("status", code=3)
        check("`kill " not in done.stderr, done.stderr)
        moved_away(baton, [run])
        baton.start()
        wait_until(lambda: len(baton.starts("rules/t/a")) == 2, "what is due is started once more")
        check(len(baton.starts()) == 3, "what the journal knew was started again:", baton.starts())
        baton.call("stop", "--all")


def backup_restored(exe):
    """An older journal is brought back, also one that knows some of the runs."""
    with world.World(exe) as baton:
        baton.ticket("z", "ready")
        check(only_unchanged(baton.once()))
        path = journal_of(baton)
        shutil.copy2(path, baton.home + "/old.db")
        baton.ticket("a", "ready")
        check(only_unchanged(baton.once()))
        for beside in glob.glob(path + "-*"):
            os.unlink(beside)
        shutil.copy2(path, baton.home + "/new.db")
        shutil.copy2(baton.home + "/old.db", path)
        run = baton.starts("rules/t/a")[0].run
        refused(baton, "an older one", [run])
        os.unlink(path)
        shutil.copy2(baton.home + "/new.db", path)
        check(only_unchanged(baton.once()))
        check(len(baton.starts()) == 2, "the newest one is taken")
        shutil.copy2(baton.home + "/old.db", path)
        moved_away(baton, [run])
        check(only_unchanged(baton.once()))
        check(sorted(each.flow for each in baton.starts()) == ["rules/t/a", "rules/t/a", "rules/t/z"], baton.starts())


def forgotten_and_known(exe):
    """A forgotten flow is no sign that the journal went back."""
    with world.World(exe) as baton:
        baton.ticket("a", "ready")
        check(only_unchanged(baton.once()))
        os.unlink(baton.root + "/tickets/a.json")
        done = baton.once()
        check(only_unchanged(done, "gone: files"), done)
        baton.call("forget", "rules/t/a")
        check(baton.once().returncode == 0)
        check(not baton.lines("agents"))


def wal_removed_while_running(exe):
    """What was taken from beside the journal is noticed before anything more is started."""
    for part in ("-wal", "-shm"):
        with world.World(exe) as baton:
            daemon = baton.start()
            baton.canary()
            baton.idle()
            os.unlink(journal_of(baton) + part)
            baton.ticket("x", "ready")
            wait_until(lambda: daemon.poll() is not None, "it ends")
            check(daemon.returncode == 3, daemon.returncode)
            check(not baton.starts("rules/t/x"), "it went on without", part)
            check(only_unchanged(baton.once()))
            flows = sorted(each.flow for each in baton.starts())
            check(flows == ["rules/t/canary1", "rules/t/x"], part, flows)


def copied_state(exe):
    """What is pruned in a copy of the state folder, or in one that was moved, is pruned there only."""
    with world.World(exe) as baton:
        baton.ticket("a", "ready")
        check(only_unchanged(baton.once()))
        baton.ticket("a", "done")
        check(baton.once().returncode == 0)
        run = baton.starts()[0].run
        state = os.path.dirname(journal_of(baton))
        journal = sqlite3.connect(state + "/journal.db")
        with journal:
            journal.execute("UPDATE runs SET started = 1, ended = 2")
        journal.close()
        original, baton.state = baton.state, baton.home + "/copy"
        shutil.copytree(original, baton.state)
        check(os.path.exists(f"{os.path.dirname(journal_of(baton))}/runs/{run}"))
        baton.call("prune", "--older-than", "1h")
        check(not os.path.exists(f"{os.path.dirname(journal_of(baton))}/runs/{run}"), "was not pruned")
        check(os.path.exists(f"{state}/runs/{run}/exit.json"), "the original was pruned")


def just_made(exe):
    """A daemon in its first moments has made the journal's file, and nothing in it: there is no history yet."""
    with world.World(exe) as baton:
        baton.ticket("a", "done")
        check(baton.once().returncode == 0)
        journal = journal_of(baton)
        for path in glob.glob(journal + "*"):
            os.remove(path)
        open(journal, "w").close()
        check("there is no history yet" in baton.call("prune").stdout)


def by_a_daemon(baton, pruned):
    """It prunes when it has begun."""
    baton.start()
    wait_until(pruned, "the daemon has pruned")
    baton.call("drain")
    check(baton.daemon.wait(timeout=world.PATIENCE) == 0, baton.daemon.returncode)


def by_command(baton, _):
    baton.call("prune")


def kept_as_configured(exe):
    """A daemon removes what `retention:` says, and so does `baton prune`: runs by age and by number, events and
    replaced versions by age."""
    hour = 3_600_000
    for prune in (by_a_daemon, by_command):
        with world.World(exe) as baton:
            for name in "abc":
                baton.ticket(name, "ready")
                check(only_unchanged(baton.once()))
                baton.ticket(name, "done")
                check(baton.once().returncode == 0)
            ids = [each.run for each in baton.starts()]
            folder = os.path.dirname(journal_of(baton)) + "/runs"
            now = int(time.time() * 1000)
            journal = sqlite3.connect(journal_of(baton))
            with journal:
                for run, age in zip(ids, (5, 4, 3)):
                    journal.execute("UPDATE runs SET started = ?1, ended = ?1 WHERE id = ?2", (now - age * hour, run))
                for name, age in (("old", 7), ("young", 5)):
                    journal.execute("INSERT INTO replaced(path, time, bytes) VALUES(?1, ?2, x'')", (name, now - age * hour))
                    journal.execute("UPDATE events SET time = ?1, why = ?2 WHERE seq = (SELECT max(seq) FROM events "
                                    "WHERE why NOT IN ('old', 'young'))", (now - age * hour, name))

            def left():
                query = "SELECT {} FROM {} WHERE {} IN ('old', 'young') ORDER BY 1"
                return (["abc"[at] for at, run in enumerate(ids) if os.path.exists(f"{folder}/{run}")],
                        *([row[0] for row in journal.execute(query.format(name, table, name))]
                          for name, table in (("why", "events"), ("path", "replaced"))))

            steps = [({"runs": "270m"}, (["b", "c"], ["old", "young"], ["old", "young"])),
                     ({"max_runs": 1}, (["c"], ["old", "young"], ["old", "young"])),
                     ({"events": "6h"}, (["c"], ["young"], ["old", "young"])),
                     ({"replaced": "6h"}, (["c"], ["young"], ["young"]))]
            for retention, wanted in steps:
                baton.settings["retention"] = retention
                baton.configure()
                prune(baton, lambda: left() == wanted)
                check(left() == wanted, prune.__name__, retention, "left", left(), "and not", wanted)
            journal.close()


@contextlib.contextmanager
def left_alone(exe):
    """A world whose daemon has left its agent, and the agent's run; it ends once the root has a file `go`."""
    with world.World(exe, command=("sh", "-c", "while [ ! -e go ]; do sleep 0.05; done")) as baton:
        baton.start()
        baton.ticket("a", "ready")
        run = wait_until(baton.starts, "it starts")[0].run
        baton.daemon.terminate()
        baton.daemon.wait()
        yield baton, run


def moved_state(exe):
    """An agent that has ended while its state folder moved has ended as it did."""
    with left_alone(exe) as (baton, run):
        os.rename(baton.state, baton.home + "/moved")
        baton.state = baton.home + "/moved"
        world.write(baton.root + "/go", {})
        wait_until(lambda: not world.processes_with(run), "the agent ends")
        check(only_unchanged(baton.once()))
        check(len(baton.starts()) == 1, baton.starts())
        ends = [(each["run"], each["outcome"]) for each in baton.lines("agents")]
        check(ends == [(run, "succeeded")], ends)


def state_elsewhere(exe):
    """Beside an agent that a state folder knows nothing of none is started a second time."""
    with left_alone(exe) as (baton, run):
        first = baton.state
        baton.state = baton.home + "/another"
        os.mkdir(baton.state)
        done = baton.once()
        check(done.returncode == 3 and "baton starts nothing" in done.stderr and first in done.stderr,
              done.returncode, done.stderr)
        # What it names knows the agent.
        named = re.search("`--state-dir ([^`]+)`", done.stderr).group(1)
        listed = subprocess.run([baton.exe, "agents", "--json", "--root", baton.root, "--config", baton.config,
                                 "--state-dir", named], capture_output=True, text=True)
        check(run in listed.stdout and '"running"' in listed.stdout, listed)
        # Nor does a command make the journal that a daemon would then find.
        for words in (["pause", "rules/t/a"], ["stop", "--all"]):
            refused = baton.call(*words, code=None)
            check(refused.returncode != 0, words, "gave", refused.returncode, refused.stdout)
        done = baton.once()
        check("kill " in done.stderr and len(baton.starts()) == 1, done.stderr, baton.starts())
        world.write(baton.root + "/go", {})
        wait_until(lambda: not world.processes_with(run), "the agent ends")
        check(only_unchanged(baton.once()) and len(baton.starts()) == 2, baton.starts())


def root_renamed(exe):
    """The journal belongs to a root's path. Beside an agent that was started under another one none is started."""
    with left_alone(exe) as (baton, run):
        former = baton.root
        baton.root = baton.home + "/renamed"
        os.rename(former, baton.root)
        done = baton.once()
        check(done.returncode == 3 and "when this root was called " + former in done.stderr, done.returncode, done.stderr)
        check("kill " in done.stderr and len(baton.starts()) == 1, done.stderr, baton.starts())
        # As it says, the former name helps: the agent is known there.
        os.rename(baton.root, former)
        baton.root = former
        baton.start()
        check([each["state"] for each in baton.lines("agents")] == ["running"], baton.lines("agents"))
        world.write(baton.root + "/go", {})
        wait_until(lambda: not world.processes_with(run), "the agent ends")
        baton.idle()
        check(len(baton.starts()) == 1, baton.starts())


def read_by_group(exe):
    """Who is in the group of the state folder reads what the agents wrote."""
    root = os.geteuid() == 0
    others = [12345] if root else [each for each in os.getgroups() if each != os.getegid()]
    if not others:
        world.skip("there is no second group to give the state folder to")
        return
    with world.World(exe, command=("echo", "hello")) as baton:
        os.chown(baton.state, -1, others[0])
        os.chmod(baton.state, 0o2750)
        os.chmod(baton.home, 0o755)
        baton.ticket("a", "ready")
        check(only_unchanged(baton.once()))
        run = baton.starts()[0].run
        folder = f"{os.path.dirname(journal_of(baton))}/runs/{run}"
        for path in [folder, *glob.glob(folder + "/*")]:
            status = os.stat(path)
            check(status.st_gid == others[0] and status.st_mode & 0o040, path, status)
        if root:
            done = subprocess.run([baton.exe, "logs", run, *baton.places()], stdin=subprocess.DEVNULL, text=True,
                                  capture_output=True, user=NOBODY, group=others[0], extra_groups=[])
            check(done.returncode == 0 and "hello" in done.stdout, done)


def test(exe):
    for what in DAMAGE:
        damaged(exe, what)
        print(what, "passed", flush=True)
    for how in LOSSES:
        wal_lost(exe, how)
        print("wal_lost", how, "passed", flush=True)
    for part in (answered_once, of_earlier_versions, copied_before_the_upgrade, begun_anew, while_running, looked_at_meanwhile, backup_restored, forgotten_and_known, wal_removed_while_running,
                 copied_state, just_made, kept_as_configured, moved_state, state_elsewhere,
                 root_renamed, read_by_group):
        part(exe)
        print(part.__name__, "passed", flush=True)


if __name__ == "__main__":
    world.main(test)
