# SPDX-License-Identifier: Apache-2.0
"""What commands say and do where the daemon's state lies elsewhere, or the daemon is another user's.
usage: elsewhere_test.py BATON [PART...]"""

import glob
import os
import shutil
import subprocess

import world
from world import check, only_unchanged, wait_until, write

NOBODY = 65534
# Has the group of the daemon's user, and so may read its state. Root would act as that user.
READER = 12345


def start_as_nobody(baton):
    """Everything there is belongs to the daemon's user, as below a service's home; who asks is root."""
    if os.geteuid() != 0:
        world.skip("not root, so nobody else can run the daemon")
    for program in ("baton", "baton-shim"):
        shutil.copy2(os.path.join(os.path.dirname(baton.exe), program), baton.home)
    for folder, _, files in os.walk(baton.home):
        for each in (folder, *(f"{folder}/{name}" for name in files)):
            os.chown(each, NOBODY, NOBODY)
    os.chmod(baton.home, 0o755)
    os.chmod(baton.config, 0o644)
    with open(baton.home + "/daemon.log", "ab") as log:
        baton.daemon = subprocess.Popen([baton.home + "/baton", *baton.run_command()[1:]], stdin=subprocess.DEVNULL,
                                        stdout=log, stderr=log, user=NOBODY, group=NOBODY, extra_groups=[])
    wait_until(lambda: glob.glob(baton.state + "/*/daemon.json"), "the daemon leaves word")


def stranger(baton, *arguments, uid=NOBODY, more=()):
    return subprocess.run([baton.home + "/baton", *arguments, *more], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=world.PATIENCE, cwd=baton.root, user=uid, group=uid, extra_groups=[],
                          env={"PATH": os.environ["PATH"], "HOME": "/"})


def reader(baton, *arguments):
    return subprocess.run([baton.home + "/baton", *arguments, *baton.places()], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=world.PATIENCE, cwd=baton.root, user=READER, group=NOBODY, extra_groups=[],
                          env={"PATH": os.environ["PATH"], "HOME": "/"})


def state_elsewhere(exe):
    """Whoever does not see the daemon's state is told that there is a daemon, by every command."""
    with world.World(exe) as baton:
        baton.settings["agents"]["worker"] = baton.counting(
            "/bin/sh", "-c", 'for each in "pause $BATON_FLOW" status; do "$BATON_EXE" $each --root "$BATON_ROOT"; done '
            f'>{baton.home}/said 2>&1')
        baton.configure()
        baton.start()
        baton.ticket("a", "ready")
        wait_until(lambda: baton.starts("rules/t/a"))
        baton.idle()
        # Its agents do see it.
        with open(baton.home + "/said") as file:
            said = file.read()
        check("paused; 1 agent may finish" in said and f"served by process {baton.daemon.pid}" in said, said)
        served = f"is served by process {baton.daemon.pid}"
        empty = baton.home + "/elsewhere"
        os.mkdir(empty)
        places = ["--root", baton.root, "--config", baton.config, "--state-dir", empty]
        for command in (["resume", "rules/t/a"], ["resume", "--all"], ["pause", "--all"], ["stop", "rules/t/a"],
                        ["retry", "rules/t/a"], ["drain"], ["reload"], ["agents"], ["events"], ["status"],
                        ["explain", "rules/t/a"], ["wait", "rules/t/a", "--until", "idle"], ["forget", "--gone"],
                        ["prune"]):
            done = subprocess.run([exe, *command, *places], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=world.PATIENCE)
            check(done.returncode == 3 and served in done.stderr and "--state-dir" in done.stderr, command, done)
        done = subprocess.run([exe, "doctor", *places], capture_output=True, text=True, timeout=world.PATIENCE)
        check(done.returncode == 1 and served in done.stdout, done)
        check(os.listdir(empty) == [], os.listdir(empty))
        # Once the daemon has ended there is nothing to be missed.
        baton.daemon.terminate()
        baton.daemon.wait()
        done = subprocess.run([exe, "agents", *places], capture_output=True, text=True, timeout=world.PATIENCE)
        check(done.returncode == 0, done)


def told_to_agents(exe):
    """What an agent is told of its daemon's state counts for its own root only, and follows no reload."""
    with world.World(exe) as baton, world.World(exe, command=("true",)) as other:
        other.ticket("a", "ready")
        own = {**os.environ, "HOME": other.home, "XDG_STATE_HOME": other.home}
        alone = [exe, "run", "--once", "--act-on-existing", "--root", other.root, "--config", other.config]
        once = subprocess.run(alone, capture_output=True, text=True, env=own)
        check(only_unchanged(once) and len(other.starts()) == 1, once, other.starts())
        line = " ".join(alone)
        baton.settings["agents"]["worker"] = {
            **baton.counting("/bin/sh", "-c", f'echo "$BATON_ROOT_STATE" >>{baton.home}/said; '
                             f'"$BATON_EXE" status --root "$BATON_ROOT" --json >>{baton.home}/said 2>&1; '
                             f'HOME={other.home} XDG_STATE_HOME={other.home} {line} >>{baton.home}/other 2>&1; '
                             # Its ticket is still blocked: the agent left the stage as it was.
                             '[ $? -eq 1 ]')}
        baton.settings["state_dir"] = baton.state
        baton.configure()
        with open(baton.home + "/daemon.log", "ab") as log:
            baton.daemon = subprocess.Popen([exe, "run", "--root", baton.root, "--config", baton.config, "--act-on-existing"],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(baton.serves, "the daemon serves")
        baton.ticket("a", "ready")
        wait_until(lambda: baton.starts("rules/t/a"))
        baton.idle()
        check(len(other.starts()) == 1, "started again by an agent's run:", other.starts())
        # Where the state of a root lies is settled when it is taken up.
        os.mkdir(baton.home + "/later", 0o750)
        baton.settings["state_dir"] = baton.home + "/later"
        baton.configure()
        check("stays in" in baton.call("reload").stdout, "reload does not say it")
        baton.ticket("b", "ready")
        wait_until(lambda: baton.starts("rules/t/b"))
        baton.idle()
        with open(baton.home + "/said") as file:
            said = file.read()
        check(said.count(baton.state + "\n") == 2 and "served by process" not in said and said.count('"rules/t/b"'), said)


def agents_of_two_roots(exe):
    """An agent's commands find all that its daemon serves. To pause everything is no agent's business."""
    with world.World(exe) as baton:
        roots = [baton.root, baton.home + "/second"]
        os.mkdir(roots[1])
        baton.settings["roots"] = roots
        baton.settings["agents"]["worker"] = baton.counting(
            "/bin/sh", "-c", f'"$BATON_EXE" pause --all --config {baton.config} >{baton.home}/said 2>&1')
        baton.configure()
        with open(baton.home + "/daemon.log", "ab") as log:
            baton.daemon = subprocess.Popen([exe, "run", "--config", baton.config, "--state-dir", baton.state],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(lambda: len(glob.glob(baton.state + "/*/daemon.json")) == 2)
        baton.ticket("a", "ready")
        wait_until(lambda: os.path.exists(baton.home + "/said") and baton.starts())
        wait_until(lambda: open(baton.home + "/said").read().count("refused: the agent") == 2,
                   lambda: open(baton.home + "/said").read())


def one_elsewhere(exe):
    """A root that another daemon serves with its state elsewhere hides no other root."""
    with world.World(exe, command=("sleep", "1000")) as baton, world.World(exe) as other:
        baton.start("--root", baton.root)
        other.start()
        other.ticket("b", "new")
        baton.ticket("a", "ready")
        run = wait_until(lambda: baton.starts("rules/t/a"))[0].run

        def both(*words, code=0):
            done = subprocess.run([exe, *words, "--config", baton.config, "--state-dir", baton.state], cwd=baton.home,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=world.PATIENCE)
            check(done.returncode == code and f"is served by process {other.daemon.pid}" in done.stderr, words, done)
            return done.stdout + done.stderr
        for roots in ([baton.root, other.root], [other.root, baton.root]):
            baton.settings["roots"] = roots
            baton.configure()
            baton.call("reload")
            for words in (["status"], ["agents"], ["events"], ["explain", "rules/t/a"]):
                check("rules/t/a" in both(*words), words)
            both("logs", run[:8])
            # It might be the one that is meant.
            both("stop", "rules/t/a", code=3)
            for words in (["status", "b"], ["agents", "b"], ["events", "--flow", "b"], ["explain", "rules/t/b"], ["logs", "0123"],
                          ["explain", "--replaced", "rules/t/b"], ["explain", other.root + "/tickets/b.json"]):
                check("there is no" in both(*words, code=2) or "belongs to no flow" in both(*words, code=2), words)
        baton.call("stop", "rules/t/a")
        wait_until(lambda: not world.processes_with("BATON_RUN_ID=" + run), "the agent ends")
        both("stop", "--all", code=3)


def another_user(exe):
    """Root acts as the user of the daemon, so it says what that user says."""
    with world.World(exe, limits={"max_running": 1}, command=("sleep", "1000")) as baton:
        start_as_nobody(baton)
        baton.ticket("a", "ready")
        wait_until(lambda: baton.starts("rules/t/a"))
        baton.ticket("b", "ready")
        places = baton.places()

        def seen(*arguments, by):
            done = subprocess.run([exe, *arguments, *places], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=world.PATIENCE) if by == 0 else stranger(baton, *arguments, more=places)
            return done.returncode, done.stdout, done.stderr
        wait_until(lambda: "1 of 1 places for agents are taken" in seen("status", by=0)[1], lambda: seen("status", by=0))
        for command in (["status", "--json"], ["explain", "rules/t/b"]):
            check(seen(*command, by=0) == seen(*command, by=NOBODY), command, seen(*command, by=0), seen(*command, by=NOBODY))
        for by in (0, NOBODY):
            found = seen("doctor", by=by)[1]
            for what in (baton.config, baton.agent):
                check(f"{what} can be written by the user that runs the agents" in found, by, what, found)
        code, _, said = seen("pause", "rules/t/b", by=0)
        check((code, said) == (0, ""), code, said)
        # What it cannot start is its user's to say.
        baton.settings["agents"]["worker"]["prompt"] = "prompt.md"
        baton.configure()
        os.chmod(baton.config, 0o644)
        write(baton.home + "/prompt.md", b"do it")
        os.chmod(baton.home + "/prompt.md", 0o600)
        check(seen("reload", by=0)[0] == 0, seen("reload", by=0))
        seen("resume", "rules/t/b", by=0)
        wait_until(lambda: "prompt" in seen("status", by=0)[1], lambda: seen("status", by=0))
        check(seen("explain", "rules/t/b", by=0) == seen("explain", "rules/t/b", by=NOBODY),
              seen("explain", "rules/t/b", by=0), seen("explain", "rules/t/b", by=NOBODY))


def unreadable_for_the_daemon(exe):
    """Who can read a file is told that the daemon could not."""
    with world.World(exe) as baton:
        os.mkdir(baton.root + "/tickets")
        start_as_nobody(baton)
        write(baton.home + "/a.json", {"status": "ready"})
        os.chmod(baton.home + "/a.json", 0o600)
        os.chown(baton.home + "/a.json", READER, READER)
        for each in (baton.home, baton.config):
            os.chown(each, 0, 0)
        os.rename(baton.home + "/a.json", baton.root + "/tickets/a.json")
        wait_until(lambda: any(each["event"] == "rejected" for each in baton.lines("events")))
        said = reader(baton, "status").stdout
        check("the daemon has rejected tickets/a.json when it looked last (" in said and "Permission denied" in said, said)


def nothing_of_theirs_is_run(exe):
    """Beside a daemon of another user nothing that its configuration names is run by who looks."""
    with world.World(exe) as baton:
        del baton.settings["rules"]
        ran = baton.home + "/ran"
        baton.settings["dialects"] = {"ml_workflow": {"backups": {
            "encrypt": ["/bin/cat"], "decrypt": ["/bin/sh", "-c", f"id -u >>{ran}; cat"]}}}
        baton.configure()
        folder = baton.root + "/workflow_states/wf"
        write(folder + "/state.json", b"junk")
        write(folder + "/backups/state_step1_20260504T093000.123Z.json.gz.enc", b"x")
        start_as_nobody(baton)
        wait_until(lambda: any(each["event"] == "rejected" for each in baton.lines("events")))
        for _ in range(2):
            done = reader(baton, "recover", "wf")
            check(done.returncode != 0 and not os.path.exists(ran), done)
            # Nor when the daemon goes by a text that the file holds no more.
            with open(baton.config, "a") as file:
                file.write("\n")
        # Root acts as the daemon's user.
        baton.call("recover", "wf", code=None)
        check(set(open(ran).read().split()) == {str(NOBODY)}, open(ran).read())


if __name__ == "__main__":
    world.main_parts([state_elsewhere, told_to_agents, agents_of_two_roots, one_elsewhere, another_user,
                      unreadable_for_the_daemon, nothing_of_theirs_is_run])
