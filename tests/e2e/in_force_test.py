# SPDX-License-Identifier: Apache-2.0
"""What commands say is what happens: by the configuration the daemon goes by while its file was changed or
broken, by the one that names the root, and by what is recorded for the next daemon.
usage: in_force_test.py BATON [PART...]"""

import contextlib
import fcntl
import glob
import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

import world
from world import check, wait_until, write

SCHEMA = {"type": "object", "properties": {"status": {"enum": ["new", "ready", "Ready", "fail", "done"]}}}
RULE = {**world.World.TICKETS, "schema": "ticket.schema.json"}


def make(exe, **more):
    baton = world.World(exe, rules=[RULE], **more)
    write(baton.home + "/ticket.schema.json", SCHEMA)
    return baton


def flow(baton, name, *places):
    every = [json.loads(line) for line in plain(baton, "status", "--json", *places).stdout.splitlines()]
    return next((each for each in every if each["flow"] == name), None)


def plain(baton, *arguments, code=0, folder=None):
    """A command that is told no places but where state lies."""
    done = subprocess.run([baton.exe, *arguments, "--state-dir", baton.state], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=world.PATIENCE, cwd=folder or baton.root,
                          env={**os.environ, "HOME": baton.home})
    check(code is None or done.returncode == code, "baton", *arguments, "gave", done.returncode, done.stdout,
          done.stderr)
    return done


def status(baton, name):
    return next((each for each in baton.lines("status") if each["flow"] == name), None)


def log_of(baton):
    with open(baton.home + "/daemon.log") as file:
        return file.read()


@contextlib.contextmanager
def copies_lost(baton, lose=None):
    """As if the daemon's copies of its configuration were those of another one; `lose` does something else to them."""
    copies = {}
    for path in glob.glob(baton.state + "/*/configuration.json"):
        with open(path, "rb") as file:
            copies[path] = file.read()
        if lose:
            lose(path)
        else:
            write(path, {**json.loads(copies[path]), "digest": "0" * 64})
    check(copies, "no daemon has left a copy")
    yield
    for path, copy in copies.items():
        write(path, copy)


def copy_of(baton):
    """Where the daemon's copy lies; it serves when it has its lock, then it writes the copy, then daemon.json."""
    wait_until(lambda: glob.glob(baton.state + "/*/daemon.json"), "there is no status")
    return glob.glob(baton.state + "/*/configuration.json")[0]


SPELLINGS = """
        PLAIN: s3cret-plain
        SINGLE: 's3cret-single'
        DOUBLE: "s3cret-d\\x6fuble"
        LONG: "s3cret-\\
          long"
        BLOCK: |
          s3cret-block
        FOLDED: >-
          s3cret-folded
          s3cret-folded
        ANCHOR: &token s3cret-anchor
        ALIAS: *token
        "QUOTED": !!str s3cret-quoted
        # s3cret-comment
"""


def secret_configuration(baton, command, more=""):
    """With secrets in the agent's environment, in every way that YAML has to write them."""
    settings = {name: value for name, value in baton.settings.items() if name != "agents"}
    text = "".join(f"{name}: {json.dumps(value)}\n" for name, value in settings.items())
    text += "agents:\n  worker:\n    env:\n      set:" + SPELLINGS
    text += f"    command: [{', '.join(map(json.dumps, command))}{more}]\n"
    text += "  other: {command: [/bin/true], env: {allow: [HOME], set: {FLOW: s3cret-flow}}}\n"
    write(baton.config, text.encode())


def no_secret_is_copied(exe):
    """The daemon's copy of its configuration is for its user alone and holds no value of `env: set:`."""
    with make(exe) as baton:
        names = re.findall(r"^ *\"?([A-Z]+)\"?:", SPELLINGS, re.MULTILINE)
        got = baton.home + "/got"
        shell = "; ".join(f'echo "{name}=${name}" >>{got}' for name in names)
        secret_configuration(baton, [*baton.counting("/bin/sh", "-c", shell)["command"]])
        baton.start()
        path = copy_of(baton)
        check(os.stat(path).st_mode & 0o7777 == 0o600, oct(os.stat(path).st_mode))
        for each in (path, path.replace("configuration.json", "daemon.json")):
            with open(each) as file:
                check("s3cret" not in file.read(), each)
        with open(path) as file:
            copy = json.load(file)["configuration"]["agents"]
        check(copy["worker"]["env"]["set"] == dict.fromkeys(names, ""), copy)
        check(copy["other"]["env"] == {"allow": ["HOME"], "set": {"FLOW": ""}}, copy)
        # The agent gets what the file says.
        baton.ticket("a", "ready")
        wait_until(lambda: os.path.exists(got) and "QUOTED=" in open(got).read())
        check(len(re.findall("=s3cret-", open(got).read())) == len(names), open(got).read())
        # Where a secret cannot be told from the rest no copy is made, and an older one counts for nothing.
        secret_configuration(baton, baton.counting()["command"], ", *token")
        baton.call("reload")
        with open(path) as file:
            check("s3cret" not in file.read())
        check("commands cannot see the configuration in use: a value of `env: set:`" in log_of(baton), log_of(baton))
        write(baton.config, b"rules: [")
        check("cannot be seen here" in baton.call("status").stderr)
        baton.call("set", baton.root + "/tickets/a.json", "/more=1", code=3)


def copy_lost(exe):
    """Without the daemon's copy commands that show say so, and commands that act refuse; but not while the file
    is what the daemon uses."""
    with make(exe) as baton:
        baton.ticket("a", "new")
        baton.start()
        path = copy_of(baton)
        ticket = baton.root + "/tickets/a.json"
        for number, lose in enumerate((None, os.unlink, lambda copy: write(copy, b"{"))):
            with copies_lost(baton, lose):
                said = baton.call("status")
                check("cannot be seen here" not in said.stderr, said)
                baton.call("set", ticket, f"/number={number}")
                doctor = baton.call("doctor", code=None).stdout
                check("the daemon's copy of its configuration cannot be used" in doctor, doctor)
                baton.settings["limits"]["max_running"] = 3 + number
                baton.configure()
                before = open(ticket).read()
                for command in (["status"], ["explain", "rules/t/a"], ["events"], ["agents"]):
                    said = baton.call(*command)
                    check("cannot be seen here" in said.stderr and "`baton reload`" in said.stderr, command, said)
                check("The output follows the file" in baton.call("status").stdout)
                for command in (["set", ticket, "/more=1"], ["send", "anyone", "{}"],
                                ["create", "--title", "b"], ["start", "rules/t/a"]):
                    said = baton.call(*command, code=3)
                    check("cannot be seen here" in said.stderr and "`baton reload`" in said.stderr, command, said)
                check(open(ticket).read() == before)
                baton.call("reload")
                check(json.load(open(path))["digest"] != "0" * 64)
                baton.call("set", ticket, f"/number={number + 1}")
                check("cannot be seen here" not in baton.call("status").stderr)
                check("copy of its configuration" not in baton.call("doctor", code=None).stdout)
                copy = open(path, "rb").read()
            write(path, copy)


def copy_is_not_read(exe):
    """What somebody writes into the copy the daemon never uses."""
    with make(exe) as baton:
        daemon = baton.start()
        path = copy_of(baton)
        ran = baton.home + "/ran"
        with open(path) as file:
            copy = json.load(file)
        copy["configuration"]["agents"]["worker"]["command"] = ["/bin/sh", "-c", f"touch {ran}"]
        write(path, copy)
        baton.canary()
        daemon.send_signal(signal.SIGHUP)
        baton.canary()
        wait_until(lambda: ran not in open(path).read(), "a reload writes the copy anew")
        write(path, copy)
        daemon.terminate()
        check(daemon.wait(timeout=60) == 0)
        baton.start()
        baton.canary()
        check(ran not in open(path).read(), "a start writes the copy anew")
        check(not os.path.exists(ran), "the copy was run")


def many_unusable(exe):
    """The daemon's word is left also where not all of it finds room: rather than one of them the reasons are cut."""
    for count in (150, 1500):
        with make(exe) as baton:
            roles = {f"role{number}" for number in range(count)}
            for role in roles:
                baton.settings["agents"][role] = {"command": [f"/nowhere/{'x' * 150}/{role}"]}
            baton.configure()
            baton.ticket("a", "new")
            baton.start()
            wait_until(lambda: glob.glob(baton.state + "/*/daemon.json"), "the word is left")
            with open(glob.glob(baton.state + "/*/daemon.json")[0]) as file:
                said = json.load(file).get("agents_unusable")
            check((set(said) == roles and all(said.values())) if count == 150 else said is None, count, said)


def not_looked_at_yet(exe):
    """What stands in a file that its writer keeps open the daemon does not know; and whoever asks is told."""
    rule = {**RULE, "react": [{"to": "ready", "run": "worker", "max_entries": 1}]}
    with make(exe) as baton:
        baton.settings["rules"] = [rule]
        baton.configure()
        baton.ticket("a", "new")
        baton.start()
        wait_until(lambda: any(each["event"] == "stage" for each in baton.lines("events")))
        with open(baton.root + "/tickets/a.json", "w") as file:
            file.write('{"status": "ready"}')
            file.flush()
            wait_until(lambda: status(baton, "rules/t/a")["reason"] == "settling", lambda: baton.lines("status"))
            said = baton.call("explain", "rules/t/a").stdout
            check("has not yet looked at tickets/a.json" in said and "would be started" not in said, said)
            check(not baton.starts(), baton.starts())
        wait_until(baton.starts, "it starts")
        # What its own rules hold is in the plan of a daemon that begins, too.
        for word in ("new", "ready"):
            baton.ticket("a", word)
            wait_until(lambda: status(baton, "rules/t/a")["declared"] == word and
                       status(baton, "rules/t/a")["reason"] != "settling", lambda: baton.lines("status"))
        planned = baton.call("run", "--dry-run").stdout
        check("would not start worker for rules/t/a main: max_entries: " in planned, planned)


def half_written(exe):
    """While a document that an agent would read is being written in place, its flow says that it waits for that."""
    rule = {"name": "t", "stage": "job:/status", "react": [{"to": "ready", "run": "worker"}],
            "files": {"job": "tickets/{flow}.json", "part": {"path": "parts/{flow}.json", "optional": True}}}
    with world.World(exe, rules=[rule]) as baton:
        baton.ticket("a", "idle")
        baton.start()
        wait_until(lambda: any(each["event"] == "stage" for each in baton.lines("events")))
        os.mkdir(baton.root + "/parts")
        over = threading.Event()

        def scribble():
            for number in itertools.count():
                with open(baton.root + "/parts/a.json", "w") as file:
                    file.write('{"n": %d' % number)
                if over.wait(0.2):
                    break
            with open(baton.root + "/parts/a.json", "w") as file:
                file.write('{"n": 0}')

        writer = threading.Thread(target=scribble)
        writer.start()
        try:
            time.sleep(0.5)
            baton.ticket("a", "ready")
            wait_until(lambda: status(baton, "rules/t/a")["reason"] == "settling",
                       lambda: baton.lines("status"))
            said = baton.call("explain", "rules/t/a").stdout
            check("parts/a.json cannot be judged as it stands" in said and "would be started" not in said, said)
            check(not baton.starts(), baton.starts())
        finally:
            over.set()
            writer.join()
        wait_until(baton.starts, "it starts")


def changed_and_not_read(exe):
    with make(exe) as baton:
        baton.ticket("a", "new")
        baton.start()
        check(status(baton, "rules/t/a")["configuration"] is None, baton.lines("status"))
        baton.settings["rules"] = [{**RULE, "react": [{"to": ["ready", "Ready"], "run": "worker"}]}]
        baton.configure()
        baton.ticket("a", "Ready")
        baton.canary()
        wait_until(lambda: status(baton, "rules/t/a")["declared"] == "Ready")
        seen = status(baton, "rules/t/a")
        check((seen["condition"], seen["configuration"]) == ("idle", "changed"), seen)
        check("was changed after the daemon read it; `baton reload`" in baton.call("status").stdout)
        check(not baton.explain("rules/t/a")["desired"], baton.explain("rules/t/a"))
        check("`baton reload`" in baton.call("explain", "rules/t/a").stderr)
        doctor = json.loads(baton.call("doctor", "--json", code=None).stdout)["findings"]
        check([each for each in doctor if each["check"] == "configuration" and each["level"] == "warning"
               and "was changed after the daemon read it" in each["message"]], doctor)
        # A rehearsal of the next daemon is by the file, and says that this one goes by another.
        dry = baton.call("run", "--dry-run")
        check("would start worker for rules/t/a" in dry.stdout and "was changed" in dry.stderr, dry)
        check(not baton.starts("rules/t/a"), baton.starts())
        # Without the copy it is said what the words are worth.
        with copies_lost(baton):
            check("The output follows the file as it is now" in baton.call("status").stdout)
            check(status(baton, "rules/t/a")["condition"] == "waiting", "a copy that is another one counts")
        check(status(baton, "rules/t/a")["condition"] == "idle")
        # Whoever was told that it was read sees that it was, also who looks all the time.
        log = baton.home + "/watched"
        with open(log, "wb") as file:
            watching = subprocess.Popen([exe, "status", "rules/t/a", "--watch", "--json", *baton.places()],
                                        stdin=subprocess.DEVNULL, stdout=file, stderr=file)

        def last():
            with open(log) as file:
                return (file.read().splitlines() or [""])[-1]
        wait_until(lambda: '"configuration":"changed"' in last().replace(" ", ""), last)
        baton.call("reload")
        wait_until(lambda: '"configuration":null' in last().replace(" ", ""), last)
        watching.terminate()
        watching.wait()
        check(status(baton, "rules/t/a")["configuration"] is None, baton.lines("status"))
        check("`baton reload`" not in baton.call("status").stdout)
        wait_until(lambda: baton.starts("rules/t/a"), "it is started after the reload")


def hung_up(exe):
    """SIGHUP has the configuration read again, and one that cannot be used changes nothing."""
    with make(exe) as baton:
        daemon = baton.start()
        baton.ticket("a", "Ready")
        baton.canary()
        write(baton.config, b"rules: [")
        daemon.send_signal(signal.SIGHUP)
        wait_until(lambda: "baton.yaml:1:" in said(baton), "it says what is wrong", lambda: said(baton))
        baton.canary()
        check(not baton.starts("rules/t/a"), baton.starts())
        baton.settings["rules"] = [{**RULE, "react": [{"to": ["ready", "Ready"], "run": "worker"}]}]
        baton.configure()
        daemon.send_signal(signal.SIGHUP)
        wait_until(lambda: baton.starts("rules/t/a"), "it is started by what was read again")
        check(daemon.poll() is None, "the daemon ended")


def tells_the_service_manager(exe):
    """What `Type=notify-reload` of systemd waits for after a SIGHUP: the beginning with its time, and the end, also of a
    configuration that cannot be used."""
    with make(exe) as baton, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(baton.home + "/notify")
        manager.settimeout(world.PATIENCE)
        daemon = baton.start(env={"NOTIFY_SOCKET": baton.home + "/notify"})

        def next_of(*words):
            while True:
                lines = manager.recv(4096).decode().splitlines()
                if lines[0] in words:
                    return lines

        check(next_of("READY=1", "RELOADING=1") == ["READY=1"])
        for content in (b"rules: [", json.dumps(baton.settings).encode()):
            write(baton.config, content)
            before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
            daemon.send_signal(signal.SIGHUP)
            begins = next_of("READY=1", "RELOADING=1")
            check(begins[0] == "RELOADING=1" and len(begins) == 2, begins)
            name, _, number = begins[1].partition("=")
            check(name == "MONOTONIC_USEC" and int(number) >= before, begins, before)
            check(next_of("READY=1", "RELOADING=1") == ["READY=1"])
        check(daemon.poll() is None, "the daemon ended")


def asked_at_once(exe):
    """Several who ask for it in one moment are all answered."""
    with make(exe) as baton:
        daemon = baton.start()
        daemon.send_signal(signal.SIGSTOP)
        asking = [subprocess.Popen([exe, "reload", *baton.places()], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(3)]
        wait_until(lambda: len(glob.glob(baton.state + "/*/requests/*.json")) == 3, "they are recorded")
        daemon.send_signal(signal.SIGCONT)
        for each in asking:
            told = each.communicate(timeout=60)[0]
            check(each.returncode == 0 and "was read again" in told, told)


def said(baton):
    with open(baton.home + "/daemon.log", errors="replace") as file:
        return file.read()


def broken(exe):
    with make(exe, agents={"worker": {"command": ["/bin/sh", "-c", "exit 1"]}},
              limits={"max_attempts": 1}) as baton:
        baton.start()
        baton.ticket("bad", "ready")
        wait_until(lambda: (status(baton, "rules/t/bad") or {}).get("condition") == "failed")
        baton.ticket("idle", "new")
        wait_until(lambda: status(baton, "rules/t/idle"))
        with open(baton.config) as file:
            good = file.read()
        for text in (good.replace("max_attempts", "max_atempts"), "rules: ["):
            write(baton.config, text.encode())
            shown = baton.call("status")
            check("the daemon goes on with the last good one" in shown.stdout, shown.stdout)
            check("the daemon goes on with the last good one" in shown.stderr, shown.stderr)
            seen = status(baton, "rules/t/idle")
            check((seen["condition"], seen["declared"], seen["configuration"]) == ("idle", "new", "unusable"), seen)
            check(baton.call("wait", "rules/t/bad", "--until", "done", "--timeout", "60s", code=1))
            ticket = baton.root + "/tickets/idle.json"
            check(baton.explain(ticket)["documents"][0]["verdict"] == "accepted", baton.explain(ticket))
            check("enum" in baton.call("set", ticket, '/status="odd"', code=1).stderr)
            baton.call("set", ticket, '/status="new"', "/more=1")
            baton.call("start", "nothing", code=2)
            doctor = json.loads(baton.call("doctor", "--json", code=1).stdout)["findings"]
            fault = [each for each in doctor if each["check"] == "configuration" and each["level"] == "error"]
            check(fault and f"{baton.config}:" in fault[0]["message"], doctor)
            check({"root", "state", "daemon"} <= {each["check"] for each in doctor}, doctor)
            check(f"process {baton.daemon.pid} serves" in str(doctor), doctor)
        write(baton.config, good.replace("max_attempts", "max_atempts").encode())
        done = baton.call("reload", code=1)
        check(done.stderr.count("did you mean 'max_attempts'?") == 1, done.stderr)
        # Nobody goes by anything then: what is not known is said to be not known.
        baton.daemon.terminate()
        check(baton.daemon.wait(timeout=60) == 0)
        seen = status(baton, "rules/t/idle")
        check((seen["reason"], seen["configuration"]) == ("unconfigured", "unusable"), seen)
        check("the configuration cannot be used" in seen["why"], seen)
        before = open(ticket).read()
        refused = baton.call("set", ticket, "/status={}", code=2)
        check("nothing was changed" in refused.stderr and "max_atempts" in refused.stderr, refused.stderr)
        check(open(ticket).read() == before)
        check(baton.explain(ticket)["holds"][0]["reason"] == "unconfigured", baton.explain(ticket))
        write(baton.root + "/tickets/strange.json", {"status": "new"})
        strange = baton.call("explain", baton.root + "/tickets/strange.json", code=2)
        check("cannot be used; `baton doctor` says why" in strange.stderr, strange.stderr)
        os.unlink(baton.config)


def starting(exe):
    """A daemon that has its lock and has left no word yet goes by what it finds, as everybody does."""
    with make(exe) as baton:
        baton.ticket("a", "new")
        baton.once()
        folder, = glob.glob(baton.state + "/*/")
        if os.path.exists(folder + "daemon.json"):
            os.unlink(folder + "daemon.json")
        with open(folder + "lock", "r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.truncate()
            json.dump({"pid": os.getpid(), "role": "daemon", "root": baton.root}, lock)
            lock.flush()
            seen = status(baton, "rules/t/a")
            check((seen["declared"], seen["configuration"]) == ("new", None), seen)
            shown = baton.call("status")
            check("configuration" not in shown.stdout + shown.stderr, shown.stdout, shown.stderr)


def gone(exe):
    """The daemon goes by a configuration that is not there any more."""
    with make(exe) as baton:
        inside, away = baton.root + "/baton.yaml", baton.home + "/away.yaml"
        shutil.copy(baton.home + "/ticket.schema.json", baton.root)
        os.rename(baton.config, inside)
        with open(baton.home + "/daemon.log", "ab") as log:
            baton.daemon = subprocess.Popen([exe, "run", "--state-dir", baton.state], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, cwd=baton.root,
                                            env={**os.environ, "HOME": baton.home})
        baton.ticket("a", "new")
        wait_until(lambda: "accepted rules/t/a" in log_of(baton))
        os.rename(inside, away)
        words = f"the configuration {inside} is not there any more; the daemon goes on with what it read"
        seen = flow(baton, "rules/t/a")
        check((seen["condition"], seen["configuration"]) == ("idle", "unusable"), seen)
        check(words in plain(baton, "status").stdout)
        for command in ["explain", "rules/t/a"], ["run", "--dry-run"]:
            check(words in plain(baton, *command).stderr, plain(baton, *command))
        check(words in plain(baton, "doctor", code=None).stdout, plain(baton, "doctor", code=None).stdout)
        os.rename(away, inside)
        check(flow(baton, "rules/t/a")["configuration"] is None, flow(baton, "rules/t/a"))


def schema(exe):
    """The daemon takes up a schema that was changed, and goes on with the last good one."""
    with make(exe) as baton:
        rest = {**baton.TICKETS, "name": "rest", "files": "rest/{flow}.json"}
        baton.settings["rules"] = [RULE, rest]
        baton.configure()
        write(baton.root + "/rest/b.json", {"status": "new"})
        baton.ticket("a", "ready", more=1)
        place = baton.home + "/ticket.schema.json"
        write(place, {**SCHEMA, "additionalProperties": False})
        baton.start()
        wait_until(lambda: "rejected rules/t/a" in log_of(baton))

        def rescan():
            """What comes each minute comes at once when the root is replaced."""
            back = log_of(baton).count("served again")
            os.rename(baton.root, baton.home + "/aside")
            wait_until(lambda: "is waited for" in baton.call("status").stdout)
            os.rename(baton.home + "/aside", baton.root)
            wait_until(lambda: log_of(baton).count("served again") > back)

        write(place, SCHEMA)
        rescan()
        wait_until(lambda: baton.starts("rules/t/a"), "what the mended schema allows is started")
        write(place, b"broken{")
        baton.ticket("idle", "new")
        baton.canary()
        for name in "rules/t/idle", "rules/rest/b":
            seen = status(baton, name)
            check((seen["condition"], seen["reason"]) == ("idle", "no_reaction"), seen)
        shown = baton.call("status")
        check("ticket.schema.json" in shown.stderr
              and "the daemon goes on with what it read before" in shown.stderr, shown.stderr)
        rescan()
        rescan()
        check(log_of(baton).count("the one that was read before stays in force") == 1, log_of(baton))
        baton.canary()
        # Nobody has read it then, and nobody will begin with it.
        baton.daemon.terminate()
        check(baton.daemon.wait(timeout=60) == 0)
        check(status(baton, "rules/t/idle")["reason"] == "unconfigured", baton.lines("status"))
        check("going on without dialect rules" in baton.call("status").stderr)


def several_roots(exe):
    """Whoever is told to name a root with --root gets the answer that was meant."""
    with make(exe, command=("sleep", "1000")) as baton:
        shutil.copy(baton.home + "/ticket.schema.json", baton.root)
        roots = [baton.root + "/a", baton.root + "/b"]
        for root in roots:
            write(root + "/tickets/f.json", {"status": "ready"})
        baton.settings["roots"] = ["a", "b"]
        inside = baton.root + "/baton.yaml"
        write(inside, baton.settings)
        unsure = plain(baton, "status", "rules/t/f", code=2)
        check("name one with --root" in unsure.stderr and roots[0] in unsure.stderr, unsure.stderr)

        def answers():
            for root in roots:
                seen = flow(baton, "rules/t/f", "--root", root)
                check(seen["reason"] == "no_daemon" and seen["root"] == root, seen)
                check("would start worker for rules/t/f" in plain(baton, "run", "--dry-run", "--root", root).stdout)
                ticket = root + "/tickets/f.json"
                for places in (["--root", root], []):
                    check("enum" in plain(baton, "set", ticket, '/status="odd"', *places, code=1).stderr)
                # By name from elsewhere, too.
                check("enum" in plain(baton, "set", ticket, '/status="odd"', "--root", root, code=1,
                                      folder=baton.home).stderr)
        answers()
        # The folder of a configuration of roots elsewhere.
        away = baton.home + "/away"
        os.mkdir(away)
        os.rename(inside, away + "/baton.yaml")
        shutil.copy(baton.home + "/ticket.schema.json", away)
        baton.settings["roots"] = roots
        write(away + "/baton.yaml", baton.settings)
        seen = json.loads(plain(baton, "status", "--json", "--root", roots[0], folder=away).stdout)
        check(seen["reason"] == "no_daemon", seen)
        # One upwards that does not name the root is about something else.
        write(inside, {**baton.settings, "roots": ["b"]})
        check(not plain(baton, "status", "--json", "--root", roots[0]).stdout)
        check("there is no configuration" in plain(baton, "status", "--root", roots[0]).stdout)
        os.unlink(inside)
        # A daemon has left word of what it goes by.
        with open(baton.home + "/daemon.log", "ab") as log:
            baton.daemon = subprocess.Popen(
                [exe, "run", "--config", away + "/baton.yaml", "--state-dir", baton.state],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(lambda: len(baton.starts("rules/t/f")) == 2)
        for root in roots:
            wait_until(lambda: (flow(baton, "rules/t/f", "--root", root) or {}).get("condition") == "running")
            check("enum" in plain(baton, "set", root + "/tickets/f.json", '/status="odd"', "--root", root,
                                  code=1).stderr)
        with copies_lost(baton):
            for command in "status", "explain":
                done = plain(baton, command, *["rules/t/f"][:command == "explain"], "--root", roots[0])
                check(f"with --config {away}/baton.yaml" in done.stdout + done.stderr, done)
        plain(baton, "stop", "--all", "--root", roots[0])
        plain(baton, "stop", "--all", "--root", roots[1])


def recorded(exe):
    """What was recorded for the next daemon is what it will do, and is told beforehand."""
    with make(exe, command=("sleep", "1000")) as baton:
        baton.ticket("a", "ready")
        baton.call("stop", "--all")
        check(status(baton, "rules/t/a")["condition"] != "waiting", baton.lines("status"))
        check("would not start" in baton.call("run", "--dry-run").stdout)
        baton.call("resume", "--all")
        requests = glob.glob(baton.state + "/*/requests/*.json")
        check(len(requests) == 1, requests)
        dry = baton.call("run", "--dry-run", "--act-on-existing")
        check("would start worker for rules/t/a" in dry.stdout, dry)
        check("1 request is recorded for the next daemon: resume --all" in dry.stderr, dry.stderr)
        seen = status(baton, "rules/t/a")
        check((seen["reason"], seen["recorded"]) == ("no_daemon", ["resume"]), seen)
        check("recorded for the next daemon: resume --all" in baton.call("status").stdout)
        check("recorded for the next daemon: resume --all" in baton.call("explain", "rules/t/a").stderr)
        # Looking deals with nothing.
        check(glob.glob(baton.state + "/*/requests/*.json") == requests)
        check(not baton.starts())
        baton.start()
        wait_until(lambda: baton.starts("rules/t/a"))
        wait_until(lambda: status(baton, "rules/t/a")["recorded"] == [])
        check("recorded" not in baton.call("status").stdout)
        baton.call("stop", "--all")


def recorded_start(exe):
    with make(exe) as baton:
        root = baton.root
        role = {"command": [baton.agent, baton.log]}
        write(root + "/baton.yaml", {"version": 1, "agents": {"default": role},
                                     "dialects": {"coordination": {}}})
        wishes = baton.home + "/wishes.md"
        write(wishes, b"A tower.\n")
        subprocess.run([exe, "init", "--dialect", "coordination", root], check=True, capture_output=True)
        check("nothing would be started" in plain(baton, "run", "--dry-run").stdout)
        plain(baton, "start", "coordination", "--requirements", "@" + wishes)
        tree = sorted(glob.glob(root + "/**", recursive=True))
        dry = plain(baton, "run", "--dry-run")
        check("would start project_manager for coordination/coordination" in dry.stdout, dry)
        check("start coordination/coordination" in dry.stderr, dry.stderr)
        shown = plain(baton, "status", "coordination")
        check("original_requirements" not in shown.stdout and "no daemon" in shown.stdout, shown.stdout)
        check("1 request is recorded for the next daemon: start coordination/coordination" in shown.stdout)
        check(sorted(glob.glob(root + "/**", recursive=True)) == tree, "looking wrote something")


def recorded_workflow(exe):
    with make(exe) as baton:
        root = baton.root
        subprocess.run([exe, "init", "--dialect", "agent_run", root], check=True, capture_output=True)
        write(root + "/baton.yaml", {"version": 1, "agents": {"default": {"command": [baton.agent, baton.log]}},
                                     "dialects": {"agent_run": {}}})
        began = plain(baton, "start", "workflow.yaml", "--run-id", "first")
        check("recorded" in began.stdout, began.stdout)
        dry = plain(baton, "run", "--dry-run")
        check("would start architect for agent_run/first" in dry.stdout, dry)
        shown = plain(baton, "status", "first", "--json")
        check(json.loads(shown.stdout)["recorded"] == ["start"], shown.stdout)
        check("agent_run/first" in plain(baton, "explain", "first").stdout)
        # Another command that is about it finds it as well.
        plain(baton, "pause", "first")
        check(json.loads(plain(baton, "status", "first", "--json").stdout)["condition"] == "paused")


def once_says_what_is_held(exe):
    with make(exe, agents={"worker": {"command": ["./nowhere"]}}) as baton:
        baton.ticket("a", "ready")
        for _ in range(2):
            done = baton.once()
            check(done.returncode == 1, done)
            said = done.stderr.splitlines()
            check(said[-1].endswith(" info 1 flow: 1 blocked"), done.stderr)
            check(" warning rules/t/a is blocked: agent_unusable: " in said[-2] and "./nowhere" in said[-2], done.stderr)
            check("; do: " in said[-2] and "`baton doctor`" in said[-2], done.stderr)
        baton.ticket("a", "new")
        done = baton.once()
        check(done.returncode == 0, done)
        check(done.stderr.splitlines()[-1].endswith(" info 1 flow: 1 idle"), done.stderr)


if __name__ == "__main__":
    world.main_parts([no_secret_is_copied, copy_lost, copy_is_not_read, many_unusable, not_looked_at_yet, half_written, changed_and_not_read, hung_up, tells_the_service_manager, asked_at_once, broken, starting, gone, schema, several_roots, recorded, recorded_start, recorded_workflow,
                      once_says_what_is_held])
