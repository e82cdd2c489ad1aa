# SPDX-License-Identifier: Apache-2.0
"""One daemon serves several roots: each is watched, locked and journalled by itself, limits are summed, and a
second daemon on any of them is refused. usage: roots_test.py BATON"""

import fcntl
import glob
import json
import os
import subprocess

import world
from world import check, only_unchanged, wait_until, write


def ticket(root, name, status):
    write(f"{root}/tickets/{name}.json", {"status": status})


def serve(baton, *more):
    return [baton.exe, "run", "--config", baton.config, "--state-dir", baton.state, *more]


def two_roots(exe):
    with world.World(exe, command=("sleep", "1"), limits={"max_running": 1}) as baton:
        roots = [baton.home + "/tree/one", baton.home + "/two"]
        for root in roots:
            os.makedirs(root)
        baton.settings["roots"] = roots
        baton.configure()
        for root in roots:
            ticket(root, "a", "ready")
        with open(baton.home + "/daemon.log", "ab") as log:
            baton.daemon = subprocess.Popen(serve(baton), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(lambda: len(baton.starts("rules/t/a")) == 2, "both roots start their agent")
        check(len({each.run for each in baton.starts()}) == 2, "one run for two roots")
        # Each root by itself, as a command in its folder sees it.
        for root in roots:
            done = subprocess.run([exe, "status", "--json", "--root", root, "--config", baton.config,
                                   "--state-dir", baton.state], capture_output=True, text=True, check=True)
            check("rules/t/a" in done.stdout, root, "is not served:", done.stdout)
        second = subprocess.run(serve(baton, "--root", roots[1]), stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=60)
        check(second.returncode == 75, "a second daemon on the second root gave", second.returncode)
        check(str(baton.daemon.pid) in second.stderr, "the first one's pid is not named:", second.stderr)
        os.mkdir(roots[0] + "/inner")
        for nested in (roots[0] + "/inner", baton.home + "/tree"):
            second = subprocess.run([exe, "run", "--root", nested, "--state-dir", baton.state, "--config", baton.config],
                                    stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
            check(second.returncode == 75 and f"(pid {baton.daemon.pid})" in second.stderr, "a daemon on", nested,
                  "gave", second.returncode, second.stderr)
        # A change in either root is noticed while the other one's agent holds the only place.
        ticket(roots[0], "b", "ready")
        ticket(roots[1], "c", "ready")
        wait_until(lambda: {"rules/t/b", "rules/t/c"} <= {each.flow for each in baton.starts()},
                   "later tickets of both roots")
        baton.daemon.terminate()
        check(baton.daemon.wait(timeout=30) == 0, "the daemon did not end in good order")
        with open(baton.home + "/daemon.log") as log:
            told = [line for line in log if "started rules/t/a" in line]
        check(sorted(line.split()[2] for line in told) == sorted(root + ":" for root in roots),
              "the log does not say on which root:", told)


def command(baton, *arguments, root=None, code=0):
    """With the roots of the configuration, unless one is named."""
    places = ["--config", baton.config, "--state-dir", baton.state] + (["--root", root] if root else [])
    done = subprocess.run([baton.exe, *arguments, *places], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=60, cwd=baton.home)
    check(code is None or done.returncode == code, "baton", *arguments, "gave", done.returncode, done.stdout,
          done.stderr)
    return done


def begin(baton):
    with open(baton.home + "/daemon.log", "ab") as log:
        baton.daemon = subprocess.Popen(serve(baton), stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def start(baton, roots):
    """A daemon on these roots, each with a ticket that was worked off."""
    for root in roots:
        os.makedirs(root + "/tickets", exist_ok=True)
        ticket(root, "first", "ready")
    baton.settings["roots"] = roots
    baton.configure()
    begin(baton)
    wait_until(lambda: len(baton.starts("rules/t/first")) == len(roots), "every root starts its agent")


def reload_changes_roots(exe):
    """Roots are taken up and given up by a reload; an agent of one that is given up is waited for."""
    with world.World(exe) as baton:
        one, two, three = (f"{baton.home}/{name}" for name in ("one", "two", "three"))
        goes_on = baton.home + "/goes_on"
        open(goes_on, "w").close()
        baton.settings["agents"]["waiter"] = baton.counting("sh", "-c", f"while [ -e {goes_on} ]; do sleep 0.05; done")
        baton.settings["rules"][0] = {**baton.TICKETS, "react": [*baton.TICKETS["react"], {"to": "long", "run": "waiter"}]}
        start(baton, [one, two])
        ticket(two, "long", "long")
        wait_until(lambda: baton.starts("rules/t/long"), "the long one runs")
        os.makedirs(three + "/tickets")
        ticket(three, "third", "ready")
        baton.settings["roots"] = [one, three]
        baton.configure()
        done = command(baton, "reload", root=one)
        check(three + " is served now" in done.stdout and two + " is given up" in done.stdout, done.stdout)
        wait_until(lambda: baton.starts("rules/t/third"), "the new root is served")
        # The one that is given up starts nothing, and says so.
        ticket(two, "late", "ready")
        for root in (None, two):  # also of those who do not name it
            wait_until(lambda: any((each["condition"], each["reason"]) == ("stopped", "operator")
                                   and "the configuration names this root no more" in each["why"]
                                   for each in map(json.loads, command(baton, "status", "--json", root=root).stdout.splitlines())
                                   if each["flow"] == "rules/t/late"), "it says so")
            shown = command(baton, "status", root=root).stdout
            check("drain" not in shown and "changed after" not in shown and "rules/t/long" in shown, shown)
            check("rules/t/long" in command(baton, "agents", "--running", root=root).stdout, "agents leaves it out")
        check("running" in command(baton, "explain", "rules/t/long").stdout, "explain")
        # Read once more, all is of that version, what is given up as well.
        baton.settings["limits"] = {"max_running": 3}
        baton.configure()
        done = command(baton, "reload", root=three)
        check("is served now" not in done.stdout and "is given up" not in done.stdout, done.stdout)
        for root in (None, two):
            shown = command(baton, "status", root=root).stdout
            check("changed after" not in shown and "rules/t/long" in shown, shown)
        baton.settings["roots"] = [one, two, three]
        baton.configure()
        check("last agent" in command(baton, "reload", root=one, code=1).stderr, "it is back before it was gone")
        os.unlink(goes_on)
        wait_until(lambda: "no daemon serves" in command(baton, "status", root=two).stdout, "it is given up")
        check(not baton.starts("rules/t/late"), "it was started by a root that was given up")
        check("served now" in command(baton, "reload", root=one).stdout, "it is taken up again")
        wait_until(lambda: baton.starts("rules/t/late"), "what waited in it is started")
        check(len(baton.starts("rules/t/long")) == 1, "it was started twice")
        check(baton.daemon.poll() is None, "the daemon has ended")


def reload_is_all_or_nothing(exe):
    """A fault at any root leaves the old configuration in force on all of them."""
    with world.World(exe) as baton, world.World(exe) as other:
        one, two = (f"{baton.home}/{name}" for name in ("one", "two"))
        start(baton, [one, two])
        other.start()
        other.canary()
        # Its state lies elsewhere, so it is the lock on the root that says it.
        old = baton.settings["rules"]
        new = [{**baton.TICKETS, "react": [{"to": "new", "run": "worker"}]}]
        faults = [("another daemon", {"roots": [one, two, other.root]}),
                  ("no such folder", {"roots": [one, two, baton.home + "/nowhere"]}),
                  ("inside another", {"roots": [one, two, two + "/tickets"]}),
                  ("cannot be used", {"rules": [{**new[0], "schema": "no.schema.json"}]})]
        for number, (says, change) in enumerate(faults):
            before = dict(baton.settings)
            baton.settings.update({"rules": new, **change})
            baton.configure()
            done = command(baton, "reload", root=one, code=1)
            check("stays" in done.stderr and says in done.stderr, says, "is not said:", done.stderr)
            for root in (one, two):
                ticket(root, f"wrong{number}", "new")
                ticket(root, f"right{number}", "ready")
            wait_until(lambda: len(baton.starts(f"rules/t/right{number}")) == 2, "the old rules are in force")
            check(not baton.starts(f"rules/t/wrong{number}"), "the new rules are in force")
            baton.settings = before
        check(baton.settings["rules"] == old, "the test has lost its rules")
        baton.settings["rules"] = new
        baton.configure()
        command(baton, "reload", root=two)
        wait_until(lambda: len(baton.starts("rules/t/wrong0")) == 2, "good rules are taken by both roots")


def commands_cover_all_roots(exe):
    """Reading commands and --all are about all roots; a FLOW is found wherever it is."""
    with world.World(exe, limits={"max_running": 8}) as baton:
        roots = one, two = [f"{baton.home}/{name}" for name in ("one", "two")]
        start(baton, roots)
        ticket(two, "only", "ready")
        wait_until(lambda: baton.starts("rules/t/only"), "it is started")
        wait_until(lambda: all(json.loads(line)["state"] == "ended"
                               for line in command(baton, "agents", "--json").stdout.splitlines()), "all end")
        for reads, many in (["status"], 3), (["agents"], 3):
            lines = [json.loads(line) for line in command(baton, *reads, "--json").stdout.splitlines()]
            check({line["root"] for line in lines} == set(roots) and len(lines) == many, reads, lines)
        times = [json.loads(line)["time"] for line in command(baton, "events", "--json").stdout.splitlines()]
        check(times == sorted(times), "events are not in the order of time:", times)
        check(all(root in command(baton, "status").stdout for root in roots), "status does not name the roots")
        check(len(command(baton, "status", "--json", root=one).stdout.splitlines()) == 1, "--root names one")
        # What only one root has is found there.
        check(json.loads(command(baton, "status", "t/only", "--json").stdout)["root"] == two, "status of a flow")
        check("tickets/only.json" in command(baton, "explain", "t/only").stdout, "explain of a flow")
        check("rules/t/only" in command(baton, "explain", two + "/tickets/only.json").stdout, "explain of a file")
        run = [json.loads(line) for line in command(baton, "agents", "t/only", "--json").stdout.splitlines()]
        check(len(run) == 1 and run[0]["root"] == two, run)
        command(baton, "logs", run[0]["run"])
        check("paused" in command(baton, "pause", "t/only").stdout, "pause of a flow")
        check("resumed" in command(baton, "resume", "t/only").stdout, "resume of a flow")
        # What both have has to be said more clearly, and is not touched.
        for asks in ["pause", "t/first"], ["status", "rules/t/first"], ["explain", "t/first"], \
                ["wait", "t/first", "--until", "idle"], ["agents", "t/first"], ["events", "--flow", "t/first"]:
            done = command(baton, *asks, code=2)
            check("--root" in done.stderr and one in done.stderr and two in done.stderr, asks, done.stderr)
        command(baton, "pause", "t/first", root=two)
        words = {json.loads(line)["root"]: json.loads(line)["condition"]
                 for line in command(baton, "status", "--json").stdout.splitlines() if "t/first" in line}
        check(words[two] == "paused" and words[one] != "paused", words)
        # Everything, on all roots, or on one.
        command(baton, "pause", "--all")
        for root in roots:
            ticket(root, "waits", "ready")
        wait_until(lambda: command(baton, "status", "--json").stdout.count('"condition":"paused"') >= 5, "all is paused")
        command(baton, "resume", "--all", root=one)
        wait_until(lambda: len(baton.starts("rules/t/waits")) == 1, "the one root goes on")
        command(baton, "resume", "--all")
        wait_until(lambda: len(baton.starts("rules/t/waits")) == 2, "and the other one")
        check("now" not in command(baton, "reload").stdout, "nothing has changed")
        command(baton, "drain")
        check(baton.daemon.wait(timeout=60) == 0, "the daemon does not end by a drain of all its roots")
        check(command(baton, "stop", "--all").stdout.count("everything is stopped; no agent runs") == 2,
              "stop without a daemon")


def drain_is_the_daemons(exe):
    """Whichever root it is asked of, and whichever are taken up later."""
    with world.World(exe) as baton:
        one, two, three, late = (f"{baton.home}/{name}" for name in ("one", "two", "three", "late"))
        goes_on = baton.home + "/goes_on"
        world.write(goes_on, b"")
        baton.settings["agents"] = {"worker": baton.counting(
            "sh", "-c", f"[ $BATON_FLOW != rules/t/long ] || while [ -e '{goes_on}' ]; do sleep 0.05; done")}
        for root in (one, two):
            os.makedirs(root + "/tickets")
        ticket(two, "long", "ready")
        baton.settings["roots"] = [one, two, late]
        baton.configure()
        with open(baton.home + "/daemon.log", "ab") as log:
            baton.daemon = subprocess.Popen(serve(baton, "--act-on-existing"), stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log)
        wait_until(lambda: baton.starts("rules/t/long"), "the long one is at work")
        command(baton, "drain", root=one)
        os.makedirs(three + "/tickets")
        ticket(three, "new", "ready")
        ticket(two, "new", "ready")
        baton.settings["roots"] = [one, two, three, late]
        baton.configure()
        command(baton, "reload")
        ticket(late, "new", "ready")
        wait_until(lambda: command(baton, "status", "--json").stdout.count('"draining"') >= 3, "all say why they wait",
                   lambda: command(baton, "status", "--json").stdout)
        check(baton.daemon.poll() is None, "it has ended beside its agent")
        os.unlink(goes_on)
        check(baton.daemon.wait(timeout=60) == 0, "the daemon does not end")
        check(not baton.starts("rules/t/new"), "something was started by a daemon that drains")


def control_reaches_what_runs(exe):
    """What the daemon serves is stopped, also where the configuration names it no more or its folder was moved."""
    def alive():
        return [pid for pid in world.processes_with("BATON_RUN_ID=") if world.processes_with(baton.home).count(pid)]

    with world.World(exe, command=("sleep", "1000"), limits={"max_running": 8}) as baton:
        one, two, three = (f"{baton.home}/{name}" for name in ("one", "two", "three"))
        start(baton, [one, two])
        os.makedirs(three)
        baton.settings["roots"] = [three]
        baton.configure()
        done = command(baton, "pause", "--all")
        check(all(root + ": everything is paused" in done.stdout for root in (one, two)), done.stdout)
        command(baton, "resume", "--all")
        os.rename(two, two + ".away")
        done = command(baton, "stop", "--all")
        check(done.stdout.count("stopping 1 agent") == 2, done.stdout)
        wait_until(lambda: not alive(), "the agents end:", alive)
        command(baton, "resume", "--all")
        wait_until(lambda: len(baton.starts("rules/t/first")) == 3, "the one that is there goes on")
        # By the name it had: where nobody serves it, it is a slip of the hand. That its agent has ended counts when
        # the root is back.
        check("stopping 1 agent" in command(baton, "stop", "--all", root=two).stdout)
        check("no such folder" in command(baton, "stop", "--all", root=two + ".never", code=3).stderr)
        check("is served now" in command(baton, "reload").stdout, "reload finds the daemon")
        command(baton, "stop", "--all", root=one)
        command(baton, "drain")
        check(baton.daemon.wait(timeout=60) == 0, "a drain does not reach the daemon")


def left_behind(exe):
    """A root that is taken out of the configuration while no daemon lives keeps its agents: the next daemon says so,
    and who stops all stops them."""
    with world.World(exe, command=("sleep", "1000"), limits={"max_running": 8}) as baton:
        one, two = (f"{baton.home}/{name}" for name in ("one", "two"))

        def log():
            with open(baton.home + "/daemon.log") as file:
                return file.read()

        start(baton, [one, two])
        check("no longer names" not in log(), log())
        baton.daemon.kill()
        baton.daemon.wait()
        baton.settings["roots"] = [one]
        baton.configure()
        begin(baton)
        wait_until(lambda: "serving" in log().split("no longer names")[-1] and "no longer names" in log(), log)
        check(f"on {two}, which" in log(), log())
        done = command(baton, "stop", "--all")
        check(done.stdout.count("stopping 1 agent") == 2, done.stdout)
        wait_until(lambda: not world.processes_with(f"BATON_ROOT={two}"), "the agents end")
        baton.daemon.kill()
        baton.daemon.wait()
        said = log()
        begin(baton)
        wait_until(lambda: "serving" in log()[len(said):], "it serves again")
        check("no longer names" not in log()[len(said):], log())


def gone_roots_are_shown(exe):
    """Of a root that is gone under its daemon the journal knows what runs."""
    with world.World(exe, command=("sleep", "1000"), limits={"max_running": 8}) as baton:
        one, two = (f"{baton.home}/{name}" for name in ("one", "two"))
        start(baton, [one, two])
        os.rename(two, two + ".away")
        wait_until(lambda: "waited for: folder cannot be opened" in command(baton, "status", root=two).stdout,
                   lambda: command(baton, "status", root=two).stdout)
        for root in (None, two):
            done = command(baton, "status", "--json", root=root)
            check(two + ": there is no such folder; what is known of it is in the journal" in done.stderr, done.stderr)
            shown = [json.loads(line) for line in done.stdout.splitlines()]
            check([each["agents"] for each in shown if each["root"] == two and each["flow"]] == [1], shown)
            check(two in command(baton, "agents", "--json", "--running", root=root).stdout, "agents leaves it out")
        check("rules/t/first" in command(baton, "explain", "rules/t/first", root=two).stdout, "explain")
        check(command(baton, "wait", "rules/t/first", "--until", "idle", "--timeout", "1s", root=two,
                      code=124).stderr != "", "wait")
        # Of files below a root that is away nobody knows that they are gone.
        for root in (None, two):
            refused = command(baton, "forget", "--gone", root=root, code=3).stderr
            check(two + ": does not exist" in refused and "Nothing was forgotten" in refused, refused)
        check("does not exist" in command(baton, "forget", "rules/t/first", root=two, code=3).stderr, "forget by name")
        # Nor below what may be a mount point without its volume.
        os.mkdir(two)
        refused = command(baton, "forget", "--gone", root=two, code=3).stderr
        check(two + ": is an empty folder" in refused and "Nothing was forgotten" in refused, refused)
        os.rmdir(two)
        os.rename(two + ".away", two)
        wait_until(lambda: "waited for" not in command(baton, "status").stdout, "it is back")
        check("no such folder" not in command(baton, "status").stderr, "it is still missed")
        command(baton, "stop", "--all")
        check(baton.daemon.poll() is None, "the daemon has ended")


def gone_without_a_daemon(exe):
    """Nor does an agent go out of sight, or out of reach, when its daemon is gone and its root, too."""
    with world.World(exe, command=("sleep", "1000")) as baton:
        one, other = baton.home + "/one", baton.home + "/other"
        os.mkdir(other)
        start(baton, [one])
        baton.daemon.kill()
        baton.daemon.wait()
        os.rename(one, one + ".away")

        def from_elsewhere(*arguments, code=0):
            done = subprocess.run([baton.exe, *arguments, "--config", baton.config, "--state-dir", baton.state],
                                  cwd=other, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
            check(done.returncode == code, arguments, "gave", done.returncode, done.stdout, done.stderr)
            check(one + ": there is no such folder" in done.stderr or "--root" in arguments, arguments, done.stderr)
            return done.stdout + done.stderr

        for named in ((), ("--root", one)):
            shown = [json.loads(line) for line in from_elsewhere("status", "--json", *named).splitlines()
                     if line.startswith("{")]
            check([each["agents"] for each in shown if each["flow"] == "rules/t/first"] == [1], shown)
            check("rules/t/first" in from_elsewhere("agents", "--running", *named), "agents leaves it out")
            check(": running: agent, declared ready" in from_elsewhere("explain", "rules/t/first", *named), from_elsewhere("explain", "rules/t/first", *named))
        check("stopping 1 agent" in from_elsewhere("stop", "rules/t/first"), "stop")
        check(not world.processes_with(baton.starts()[0].run), "the agent lives on")
        check("rules/t/first" not in from_elsewhere("agents", "--running"), "it is still called running")
        from_elsewhere("resume", "rules/t/first")
        # Where there is neither a root nor anything that is known of it, nothing is said of another folder.
        baton.settings["roots"] = [baton.home + "/never"]
        baton.configure()
        done = subprocess.run([baton.exe, "status", "--config", baton.config, "--state-dir", baton.state], cwd=other,
                              capture_output=True, text=True, timeout=60)
        check(done.returncode == 3 and "/never" in done.stderr and other not in done.stdout + done.stderr, done)
        baton.settings["roots"] = [one]
        baton.configure()
        os.rename(one + ".away", one)
        begin(baton)
        wait_until(lambda: command(baton, "agents").stdout.count("stopped") == 1, lambda: command(baton, "agents").stdout)


def unreadable_configuration(exe):
    """A configuration that is named and cannot be read says of no root that nothing runs there."""
    with world.World(exe, command=("sleep", "1000")) as baton:
        one = baton.home + "/one"
        state = baton.home + "/elsewhere"
        os.mkdir(state, 0o750)
        os.unlink(baton.config)
        baton.config = baton.home + "/cfg.yaml"  # which no command finds by itself
        baton.settings["state_dir"] = state
        baton.settings["roots"] = [one]
        baton.configure()
        os.makedirs(one)
        ticket(one, "first", "ready")
        with open(baton.home + "/daemon.log", "ab") as log:
            baton.daemon = subprocess.Popen([exe, "run", "--act-on-existing", "--config", baton.config],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(baton.starts, "it begins")
        with open(baton.config) as file:
            good = file.read()

        def with_bad(*arguments, code, folder=baton.home):
            said = ""
            # Named by hand, or by the environment.
            for named, more in (({}, ["--config", baton.config]), ({"BATON_CONFIG": baton.config}, [])):
                done = subprocess.run([exe, *arguments, *more], cwd=folder, stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True, timeout=60, env={**os.environ, **named})
                check(done.returncode == code, arguments, done)
                said += done.stdout + done.stderr
            return said

        for bad in ("version: 1\nagents: [", ""):
            with open(baton.config, "w") as file:
                file.write(bad)
            for what in (["status"], ["agents"], ["stop", "--all"], ["explain", "rules/t/first"], ["wait", "rules/t/first", "--until", "idle"]):
                said = with_bad(*what, code=3)
                check(said.count("it is not known which roots it is for") == 2, what, said)
            for what in (["status"], ["agents"]):
                check("rules/t/first" in with_bad(*what, "--state-dir", state, code=0), what, "with the state's folder")
            # In the root itself what the daemon goes by is known, and that the file is another one by now.
            done = subprocess.run([exe, "status", "--state-dir", state], cwd=one, capture_output=True, text=True, timeout=60)
            check("rules/t/first" in done.stdout and "was changed after the daemon read it" in done.stdout, done)
        # Nor is it for the root one stands in, which another configuration is for.
        two = baton.home + "/two"
        os.makedirs(two + "/tickets")
        write(two + "/baton.yaml", {**baton.settings, "roots": [], "state_dir": baton.home + "/state2"})
        os.mkdir(baton.home + "/state2", 0o750)
        with open(baton.home + "/daemon2.log", "ab") as log:
            other = subprocess.Popen([exe, "run"], cwd=two, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        there = lambda: subprocess.run([exe, "status"], cwd=two, capture_output=True, text=True, timeout=60)
        wait_until(lambda: "no daemon" not in there().stdout + there().stderr, "the other one serves its root")
        said = with_bad("pause", "--all", code=3, folder=two)
        check(said.count("it is not known which roots it is for") == 2, said)
        with open(baton.config, "w") as file:
            file.write(good)
        check(two not in with_bad("pause", "--all", code=0, folder=two), "another one is not paused")
        check("paused" not in there().stdout, there())
        other.terminate()
        check(other.wait(30) == 0, "the other one ends in good order")
        check("stopping 1 agent" in with_bad("stop", "--all", code=0), "stop")
        # Of a name that leads nowhere nothing is recorded.
        never = baton.home + "/never.yaml"
        write(never, {"version": 1, "roots": [baton.home + "/never"], "state_dir": baton.home + "/no-state"})
        done = subprocess.run([exe, "stop", "--all", "--config", never], cwd=baton.home, capture_output=True, text=True,
                              timeout=60)
        check(done.returncode == 3 and not os.path.exists(baton.home + "/no-state"), done)


def comes_later(exe):
    """A root that is not there when the daemon begins keeps none of the others from being served, and is taken up
    when it comes; a name that a reload brings and that leads nowhere is a slip."""
    with world.World(exe) as baton:
        one, two, three = (f"{baton.home}/{name}" for name in ("one", "two", "three"))
        baton.settings["roots"] = [one, two, three]
        baton.configure()
        refused = command(baton, "run", code=3)
        check("no such folder" in refused.stderr, "without any root:", refused.stderr)
        os.mkdir(one)
        ticket(one, "a", "ready")
        for how in (["--once"], ["--dry-run"]):
            check(two + ": there is no such folder" in command(baton, "run", *how, code=3).stderr, how)
        check("no such folder" in command(baton, "validate", code=3).stderr, "validate")
        check(not baton.starts(), baton.starts())
        begin(baton)
        wait_until(lambda: len(baton.starts("rules/t/a")) == 1, "the root that is there is served")

        def told(root):
            with open(baton.home + "/daemon.log") as log:
                return log.read().count(root + ": there is no such folder; the root is waited for")
        wait_until(lambda: told(two) == 1 and told(three) == 1, "they are told")
        check(two + ": there is no such folder" in command(baton, "status").stderr, "status does not miss it")
        shown = json.loads(command(baton, "doctor", "--json", code=None).stdout)["findings"]
        check([each["level"] for each in shown if two in each["message"]] == ["warning"], shown)
        # A reload for another reason waits on; a new name that leads nowhere is refused.
        command(baton, "reload", root=one)
        baton.settings["roots"] = [one, two, three, baton.home + "/slip"]
        baton.configure()
        refused = command(baton, "reload", root=one, code=1)
        check("/slip" in refused.stderr and "no such folder" in refused.stderr, "a slip is taken:", refused.stderr)
        baton.settings["roots"] = [one, two]
        baton.configure()
        command(baton, "reload", root=one)
        # As a mount brings it: everything is in it already.
        for root in (two, three):
            os.mkdir(root + ".new")
            ticket(root + ".new", "b", "ready")
            os.rename(root + ".new", root)
        wait_until(lambda: len(baton.starts("rules/t/b")) == 1, "the root that came is served")
        ticket(two, "c", "ready")
        wait_until(lambda: len(baton.starts("rules/t/c")) == 1, "and watched")
        check("waited for" not in command(baton, "status").stdout, "it is still waited for")
        baton.daemon.kill()
        baton.daemon.wait()
        begin(baton)
        ticket(one, "d", "ready")
        wait_until(lambda: len(baton.starts("rules/t/d")) == 1, "the next daemon serves")
        check(len(baton.starts()) == 4 and told(two) == told(three) == 1, baton.starts())


def one_is_broken(exe):
    """What cannot be had at the start keeps none of the others from being served, and is taken up once it is mended.
    Where it is the only one, or somebody waits for the end, it is an error."""
    with world.World(exe) as baton:
        one, two = (f"{baton.home}/{name}" for name in ("one", "two"))
        start(baton, [one, two])
        baton.daemon.terminate()
        baton.daemon.wait()
        (state,) = glob.glob(baton.state + "/two-*")
        os.rename(state + "/journal.db", baton.home + "/sound.db")
        with open(state + "/journal.db", "wb") as journal:
            journal.write(b"no database\n" * 5000)
        for root in (one, two):
            ticket(root, "second", "ready")
        for arguments in (["--once"], ["--root", two]):
            refused = subprocess.run(serve(baton, *arguments), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                     timeout=60, cwd=baton.home)
            check(refused.returncode == 3 and "damaged" in refused.stderr, arguments, refused)
        served = len(baton.starts("rules/t/second"))
        begin(baton)

        def told():
            with open(baton.home + "/daemon.log") as log:
                return sum("damaged" in line and "the root is waited for" in line for line in log)
        wait_until(lambda: len(baton.starts("rules/t/second")) == 1 and told(), "the sound root is served")
        check(served <= 1 and told() == 1, served, told())
        baton.settings["limits"] = {"max_running": 3}
        baton.configure()
        command(baton, "reload", root=one)
        # A configuration without any root that can be had changes nothing.
        baton.settings["roots"] = [two]
        baton.configure()
        check("damaged" in command(baton, "reload", "--root", one, code=1).stderr, "it took a root that is broken")
        baton.settings["roots"] = [one, two]
        baton.configure()
        os.rename(baton.home + "/sound.db", state + "/journal.db")
        wait_until(lambda: len(baton.starts("rules/t/second")) == 2, "the root that was mended is served")
        command(baton, "reload", root=two)
        check(len(baton.starts("rules/t/first")) == 2 and told() == 1, baton.starts(), told())


def limits_count_all_roots(exe):
    """status, explain and --dry-run count the agents of the other roots, as the daemon does."""
    with world.World(exe, command=("sleep", "1000"), limits={"max_running": 1}) as baton:
        one, two = (f"{baton.home}/{name}" for name in ("one", "two"))
        for root in (one, two):
            ticket(root, "a", "ready")
        baton.settings["roots"] = [one, two]
        baton.configure()
        done = command(baton, "run", "--dry-run")
        check(done.stdout.count("would start ") == 1 and "free_place" in done.stdout, done.stdout)
        with open(baton.home + "/daemon.log", "ab") as log:
            baton.daemon = subprocess.Popen(serve(baton), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(lambda: baton.starts("rules/t/a"), "one is started")
        full = [json.loads(line)["root"] for line in command(baton, "agents", "--json").stdout.splitlines()]
        check(len(full) == 1, "the limit is not kept:", full)
        for waits in {one, two} - set(full):
            for places in ({}, {"root": waits}):
                lines = [json.loads(line) for line in command(baton, "status", "--json", **places).stdout.splitlines()]
                check([each["reason"] for each in lines if each["root"] == waits] == ["free_place"], lines)
            check("1 of 1" in command(baton, "explain", "rules/t/a", root=waits).stdout, "explain counts one root")
            # The folder has no configuration of its own: the daemon's counts.
            for asks in ["explain", "rules/t/a"], ["status"]:
                done = subprocess.run([baton.exe, *asks, "--root", waits, "--state-dir", baton.state], cwd=baton.home,
                                      capture_output=True, text=True, timeout=60,
                                      env={**os.environ, "XDG_CONFIG_HOME": baton.home, "HOME": baton.home})
                check("1 of 1" in done.stdout, asks, done.stdout, done.stderr)
        command(baton, "stop", "--all")


def once_shares_places(exe):
    """`run --once` works off all roots, though there is one place for them, whatever has the limit."""
    for keys in ({"limits": {"max_running": 1}}, {"agent": {"limits": {"max_running": 1}}},
                 {"rule": {"limits": {"max_running": 1}}}):
        with world.World(exe) as baton:
            one, two = (f"{baton.home}/{name}" for name in ("one", "two"))
            for root in (one, two):
                for name in "abc":
                    ticket(root, name, "ready")
            baton.settings["roots"] = [one, two]
            baton.settings.update({key: keys[key] for key in keys if key == "limits"})
            baton.settings["agents"]["worker"].update(keys.get("agent", {}))
            baton.settings["rules"][0] = {**baton.settings["rules"][0], **keys.get("rule", {})}
            baton.configure()
            done = subprocess.run(serve(baton, "--once"), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
            check(len(baton.starts()) == 6, keys, baton.starts(), done.stderr)


def stop_all_starts_none(exe):
    """What a stop makes free on one root is for no other that is to stop as well."""
    with world.World(exe, command=("sleep", "1000"), limits={"max_running": 1}) as baton:
        roots = [f"{baton.home}/r{number}" for number in range(6)]
        for root in roots:
            ticket(root, "a", "ready")
        baton.settings["roots"] = roots
        baton.configure()
        begin(baton)
        wait_until(lambda: len(baton.starts()) == 1, "one has the only place")
        # All the others wait, and have been looked at.
        wait_until(lambda: [json.loads(line)["reason"] for line in command(baton, "status", "--json").stdout.splitlines()]
                   .count("free_place") == 5, "the others wait for it")
        done = command(baton, "stop", "--all")
        check(done.stdout.count("stopping 1 agent") == 1 and done.stdout.count("no agent runs") == 5, done.stdout)
        wait_until(lambda: not world.processes_with(f"BATON_ROOT={baton.home}"), "the agent ends")
        for root in roots:
            wait_until(lambda: '"stopped"' in command(baton, "status", "--json", root=root).stdout, root, "is stopped")
        check(len(baton.starts()) == 1, "a stop has started agents:", baton.starts())


def busy_root_starves_none(exe):
    """With one place for all, a root that always has work does not keep it from the others."""
    with world.World(exe, limits={"max_running": 1}) as baton:
        one, two = (f"{baton.home}/{name}" for name in ("one", "two"))
        for number in range(20):
            ticket(one, f"many{number}", "ready")
        ticket(two, "single", "ready")
        baton.settings["roots"] = [one, two]
        baton.configure()
        with open(baton.home + "/daemon.log", "ab") as log:
            baton.daemon = subprocess.Popen(serve(baton), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(lambda: len({each.flow for each in baton.starts()}) == 21, "everything is started")
        order = list(dict.fromkeys(each.flow for each in baton.starts()))
        check("rules/t/single" in order[:3], "the other root had to wait for all of the first:", order)


def nested(exe):
    with world.World(exe) as baton:
        os.makedirs(baton.root + "/inner")
        baton.settings["roots"] = [baton.root, baton.root + "/inner"]
        baton.configure()
        done = command(baton, "run", "--once", code=2)
        check("inside another" in done.stderr and baton.root + "/inner" in done.stderr, done.stderr)
        check("inside another" in command(baton, "doctor", code=1).stdout, "doctor does not say it")
        done = subprocess.run([exe, "run", "--once", "--root", baton.root, "--root", baton.root + "/inner",
                               "--state-dir", baton.state], capture_output=True, text=True, timeout=60)
        check(done.returncode == 2 and "inside another" in done.stderr, done.returncode, done.stderr)


def mounted_twice(exe):
    """A root that a second path leads to, too, is no second one."""
    with world.World(exe) as baton:
        other = baton.home + "/other"
        os.mkdir(other)
        made = subprocess.run(["mount", "--bind", baton.root, other], capture_output=True, text=True)
        if made.returncode != 0:
            world.skip("cannot mount: " + made.stderr.strip())
        try:
            baton.settings["roots"] = [baton.root, other]
            baton.configure()
            done = command(baton, "run", "--once", code=2)
            check(f"{other}: is the same folder as {baton.root}" in done.stderr, done.stderr)
            check("is the same folder" in command(baton, "doctor", code=1).stdout, "doctor does not say it")
        finally:
            subprocess.run(["umount", other], check=True)


def at_once(exe):
    """As after a boot: daemons on roots that lie apart start together, with one folder for their state."""
    with world.World(exe) as baton:
        roots = [f"{baton.home}/root{number}" for number in range(5)]
        for root in roots:
            ticket(root, "a", "ready")
        baton.configure()
        with open(baton.home + "/daemon.log", "ab") as log:
            daemons = [subprocess.Popen(serve(baton, "--root", root), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
                       for root in roots]
        try:
            wait_until(lambda: len(baton.starts("rules/t/a")) == len(roots) or
                       any(each.poll() is not None for each in daemons), "every root is served")
            check([each.poll() for each in daemons] == [None] * len(roots), "some daemon has left",
                  open(baton.home + "/daemon.log").read())
        finally:
            for each in daemons:
                each.terminate()
        check([each.wait(timeout=30) for each in daemons] == [0] * len(roots), "they did not end in good order")


def starting_daemon(exe):
    """One that has its lock and has not left word yet, which takes long where its journal is large."""
    with world.World(exe) as baton:
        ticket(baton.root, "a", "ready")
        baton.configure()
        os.makedirs(baton.state + "/other")
        with open(baton.state + "/other/lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for root, code in ((baton.home + "/elsewhere", 1), (None, 1), (baton.home, 75),
                               (baton.root + "/tickets", 75)):
                lock.seek(0)
                lock.truncate()
                json.dump({"pid": os.getpid(), "role": "daemon"} | ({"root": root} if root else {}), lock)
                lock.flush()
                done = subprocess.run(serve(baton, "--once", "--root", baton.root), stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True, timeout=60)
                check(done.returncode == code and (code == 75 or only_unchanged(done)), "beside a daemon that starts on",
                      root, "it gave", done.returncode, done.stderr)
                if code == 75:
                    check(root in done.stderr and f"(pid {os.getpid()})" in done.stderr, done.stderr)


def dropped(exe):
    """Without `roots:` the root is that of the command; a daemon that began with others is restarted."""
    with world.World(exe, command=("sleep", "0.1")) as baton:
        home, other = baton.home + "/project", baton.home + "/other"
        for root in (home, other):
            os.makedirs(root + "/tickets")
        places = ["--state-dir", baton.state]
        write(home + "/baton.yaml", {**baton.settings, "roots": [other]})
        with open(baton.home + "/daemon.log", "ab") as log:
            baton.daemon = subprocess.Popen([baton.exe, "run", *places], cwd=home, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log)

        def say(*words):
            return subprocess.run([baton.exe, *words, *places], cwd=home, capture_output=True, text=True, timeout=60)

        # Answered by an agent, so that it has told by what it goes.
        ticket(other, "first", "ready")
        wait_until(lambda: baton.starts("rules/t/first"), "the root of the file is served")
        write(home + "/baton.yaml", baton.settings)
        done = say("reload")
        check(done.returncode == 0 and "is given up when what runs there has ended" in done.stdout, done)
        baton.daemon.terminate()
        check(baton.daemon.wait(timeout=60) == 0, "the daemon did not end in good order")
        with open(baton.home + "/daemon.log", "ab") as log:
            baton.daemon = subprocess.Popen([baton.exe, "run", "--act-on-existing", *places], cwd=home,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        ticket(other, "late", "ready")
        ticket(home, "own", "ready")
        wait_until(lambda: baton.starts("rules/t/own"), "the own root is served")
        check("served by process" in say("status").stdout, say("status").stdout)
        ticket(home, "own2", "ready")
        wait_until(lambda: baton.starts("rules/t/own2"))
        check(not baton.starts("rules/t/late"), "an agent was started on a root that is named no more")


def begun_in_a_folder_that_goes(exe):
    with world.World(exe) as baton:
        os.makedirs(baton.root + "/sub")
        with open(baton.home + "/daemon.log", "ab") as log:
            baton.daemon = subprocess.Popen([baton.exe, "run", "--root", "..", "--config", baton.config, "--state-dir",
                                             baton.state], cwd=baton.root + "/sub", stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)
        wait_until(baton.serves, "the daemon serves")
        os.rmdir(baton.root + "/sub")
        baton.call("reload")
        baton.canary()


def once_without_its_root(exe):
    """Who was to work off all says so when the root is not there any more."""
    with world.World(exe, command=("sh", "-c", "sleep 0.5")) as baton:
        baton.ticket("a", "ready")
        box = subprocess.Popen([*baton.run_command(), "--once"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True)
        wait_until(lambda: baton.starts("rules/t/a"))
        os.rename(baton.root, baton.root + ".away")
        said = box.communicate(timeout=world.PATIENCE)[1]
        check(box.returncode == 3 and "not there any more" in said, box.returncode, said)
        os.rename(baton.root + ".away", baton.root)


def send_to_one(exe):
    """A message goes to the root of the agent that sends it, or in which somebody stands; else nobody knows."""
    with world.World(exe) as baton:
        roots = [baton.home + "/one", baton.home + "/two"]
        for root in roots:
            os.mkdir(root)
        baton.settings.update(roots=roots, dialects={"coordination": {}})
        baton.configure()

        def send(where, environment, *more):
            done = subprocess.run([exe, "send", "dev_to_qa", '{"group_id": "A"}', "--config", baton.config, *more],
                                  cwd=where, env={**os.environ, **environment}, capture_output=True, text=True)
            made = [root for root in roots if os.path.exists(root + "/coordination/messages/dev_to_qa.json")]
            for root in made:
                os.unlink(root + "/coordination/messages/dev_to_qa.json")
            return done.returncode, made, done.stderr

        refused = send(baton.home, {})
        check(refused[:2] == (2, []) and "choose one with --root" in refused[2], refused)
        for root in roots:
            check(send(baton.home, {"BATON_ROOT": root})[:2] == (0, [root]), "an agent of", root)
            check(send(root, {})[:2] == (0, [root]), "within", root)
            check(send(baton.home, {}, "--root", root)[:2] == (0, [root]), "--root", root)


def once(exe):
    with world.World(exe) as baton:
        roots = [baton.home + "/one", baton.home + "/two"]
        for root in roots:
            os.mkdir(root)
            ticket(root, "a", "ready")
        baton.settings["roots"] = roots
        baton.configure()
        done = subprocess.run(serve(baton, "--once"), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60)
        check(only_unchanged(done), "--once gave", done.returncode, done.stderr)
        check(len(baton.starts("rules/t/a")) == 2, "one start for each root")


if __name__ == "__main__":
    world.main_parts((once, send_to_one, once_without_its_root, dropped, begun_in_a_folder_that_goes, two_roots, busy_root_starves_none, stop_all_starts_none, once_shares_places,
                      commands_cover_all_roots, drain_is_the_daemons, control_reaches_what_runs, left_behind,
                      gone_roots_are_shown, gone_without_a_daemon, unreadable_configuration, comes_later, one_is_broken,
                      limits_count_all_roots, reload_changes_roots,
                      reload_is_all_or_nothing, nested, mounted_twice, at_once, starting_daemon), 8)
