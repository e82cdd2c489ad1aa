# SPDX-License-Identifier: Apache-2.0
"""Bad input changes nothing: the last good state stays in force, nothing is started, the file is left as it
is, and somebody is told. So are a missing program, a second daemon, a full disk. usage: bad_input_test.py BATON [PART...]"""

import contextlib
import fcntl
import glob
import itertools
import json
import os
import resource
import signal
import sqlite3
import stat
import subprocess
import time

import world
from world import check, only_unchanged, skip, wait_until, write

GOOD = b'{"status": "idle"}\n'
BAD_BYTES = {
    "torn": b'{"status": "rea',
    "empty": b"",
    "blank": b" \n\n",
    "huge": b'{"status": "ready", "pad": "' + b"x" * (70 << 20) + b'"}',
    "deep": b'{"status": "ready", "n": ' + b"[" * 200000 + b"]" * 200000 + b"}",
    "not_utf8": b'{"status": "ready", "name": "\xff\xfe"}',
    "surrogate": b'{"status": "ready", "name": "\xed\xa0\x80"}',
    "duplicate_key": b'{"status": "idle", "status": "ready"}',
    "two_values": b'{"status": "ready"}{"status": "ready"}',
    "comment": b'{"status": "ready"} // done',
    "nan": b'{"status": "ready", "n": NaN}',
    "array": b'["ready"]',
    "wrong_type": b'{"status": "ready", "n": "many"}',
    "unknown_word": b'{"status": "redy"}',
    "null": b"null",
    "nul_byte": b'{"status": "ready"}\0',
    "utf16": '{"status": "ready"}'.encode("utf-16"),
}
SCHEMA = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "required": ["status"],
          "properties": {"status": {"enum": ["idle", "ready", "done"]}, "n": {"type": "integer"}}}


def seen(path):
    """What must not change about a file."""
    there = os.lstat(path)
    content = None
    if stat.S_ISREG(there.st_mode):
        with open(path, "rb") as file:
            content = file.read()
    return there.st_mode, there.st_ino, there.st_mtime_ns, content

NOBODY = 65534


class Checked(world.World):
    def __init__(self, exe, suffix="json", **more):
        self.suffix = suffix
        rule = dict(self.TICKETS, files=f"tickets/{{flow}}.{suffix}", schema="ticket.schema.json")
        super().__init__(exe, rules=[rule], **more)
        write(self.home + "/ticket.schema.json", SCHEMA)

    def path(self, name):
        return f"{self.root}/tickets/{name}.{self.suffix}"

    def said(self, word, name):
        """What the daemon said about the file."""
        return [each for each in self.lines("events")
                if each["event"] == word and each["flow"] == f"rules/t/{name}"]


def bad_files(exe, suffix="json"):
    with Checked(exe, suffix) as baton:
        for name in BAD_BYTES:
            write(baton.path(name), GOOD)
        baton.start()
        baton.canary()
        before = {}
        for name, content in BAD_BYTES.items():
            write(baton.path(name), content)
            before[name] = seen(baton.path(name))
        for name in BAD_BYTES:
            wait_until(lambda: baton.said("rejected", name), name, "is not reported")
            check(seen(baton.path(name)) == before[name], name, "was changed on disk")
            done = baton.call("validate", "--json", baton.path(name), code=None)
            check(done.returncode in (1, 3), name, "validate gave", done.returncode, done.stdout, done.stderr)
            for finding in json.loads(done.stdout)["findings"] or [{}]:
                # What is too large was not read, so that nobody can say where in it.
                placed = all(finding.get(key, 0) >= 1 for key in ("line", "column")) or name == "huge"
                check(finding.get("path", "").endswith(f"{name}.{suffix}") and placed, name, finding)
            explained = baton.explain(f"rules/t/{name}")["documents"]
            check([each["verdict"] for each in explained] == ["rejected"], name, explained)
            check(explained[0]["findings"], name, "is not explained")
        baton.canary()
        for name in BAD_BYTES:
            check(len(baton.said("rejected", name)) == 1, name, "is reported more than once")
        check(not [each for each in baton.starts() if "canary" not in each.flow], baton.starts())
        # The last good version stayed in force: a good one is a change from it, and works at once.
        for name in BAD_BYTES:
            baton.ticket(name, "ready")
        for name in BAD_BYTES:
            wait_until(lambda: baton.starts(f"rules/t/{name}"), name, "does not recover")
        check(baton.daemon.poll() is None, "the daemon ended")


def bad_yaml_files(exe):
    bad_files(exe, "yaml")


def bad_logs(exe):
    """Of a log a line that cannot be read or is wrong is passed over, also if it is the only one that is left. What the
    log said before stays in force."""
    # A line may hold several values, and those in front of what cannot be read count.
    kinds = {name: content for name, content in BAD_BYTES.items() if name not in ("two_values", "comment")}
    logs = {**{name + "_appended": GOOD + content + b"\n" for name, content in kinds.items()},
            **{name + "_alone": content + b"\n" for name, content in kinds.items()}}
    with Checked(exe, "jsonl") as baton:
        for name in logs:
            write(baton.path(name), GOOD)
        baton.start()
        baton.canary()
        before = {}
        for name, content in logs.items():
            write(baton.path(name), content)
            before[name] = seen(baton.path(name))
        for name in logs:
            kind, how = name.rsplit("_", 1)
            if kind in ("empty", "blank"):
                continue
            if how == "alone":
                wait_until(lambda: baton.said("rejected", name), name, "is not reported")
            else:
                found = json.loads(baton.call("validate", "--json", baton.path(name), code=None).stdout)["findings"]
                check([each.get("line") for each in found] == [2] or kind == "huge", name, found)
            check(seen(baton.path(name)) == before[name], name, "was changed on disk")
        baton.canary()
        check(not [each for each in baton.starts() if "canary" not in each.flow], baton.starts())
        check(baton.daemon.poll() is None, "the daemon ended")
        for name in logs:
            write(baton.path(name), GOOD + b'{"status": "ready"}\n')
        for name in logs:
            wait_until(lambda: baton.starts(f"rules/t/{name}"), name, "does not recover")


def no_regular_files(exe):
    def link(path):
        write(baton.home + "/elsewhere.json", {"status": "ready"})
        os.symlink(baton.home + "/elsewhere.json", path)

    def full_folder(path):
        os.mkdir(path)
        write(path + "/inside.json", {"status": "ready"})

    makers = {"link": link, "full_folder": full_folder, "fifo": os.mkfifo, "folder": os.mkdir,
              "device": lambda path: os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5))}
    missed = []
    with Checked(exe) as baton:
        for name in makers:
            write(baton.path(name), GOOD)
        baton.start()
        baton.canary()
        for name, make in makers.items():
            os.unlink(baton.path(name))
            try:
                make(baton.path(name))
            except PermissionError:
                missed.append(name)
                continue
            before = seen(baton.path(name))
            wait_until(lambda: baton.said("rejected", name), name, "is not reported")
            check(f"tickets/{name}.json" in baton.said("rejected", name)[0]["why"], baton.said("rejected", name))
            check(seen(baton.path(name))[:3] == before[:3], name, "was changed on disk")
            for what in ([], [baton.root], [baton.root + "/tickets"]):
                done = baton.call("validate", *what, code=None)
                check(done.returncode != 0 and f"tickets/{name}.json" in done.stdout + done.stderr,
                      name, "is called valid:", what, done.stdout, done.stderr)
            explained = baton.explain(f"rules/t/{name}")["documents"]
            check([each["verdict"] for each in explained] == ["rejected"] and explained[0]["findings"], name, explained)
        # A folder that was there before any file of that name, seen at a start and by an event.
        os.mkdir(baton.path("early"))
        wait_until(lambda: baton.said("rejected", "early"), "a folder where no file was is not reported")
        baton.daemon.kill()
        baton.daemon.wait()
        os.mkdir(baton.path("meanwhile"))
        baton.start()
        wait_until(lambda: baton.said("rejected", "meanwhile"), "a folder made while it was down is not reported")
        baton.canary()
        for name in (*makers, "early"):
            check(len(baton.said("rejected", name)) <= 1, name, "is reported more than once")
        check(not [each for each in baton.starts() if "canary" not in each.flow], baton.starts())
        # What is put right works at once.
        for name in ("folder", "early", "meanwhile"):
            os.rmdir(baton.path(name))
            baton.ticket(name, "ready")
            wait_until(lambda: baton.starts(f"rules/t/{name}"), name, "does not recover")
        check(baton.daemon.poll() is None, "the daemon ended")
    if missed:
        skip("no right to make", *missed, "here")


def long_names(exe):
    """A name as long as a file system allows is a flow like any other."""
    with Checked(exe) as baton:
        name = "n" * 230  # room for what the temporary file adds
        baton.ticket(name, "ready")
        baton.start()
        baton.canary()
        baton.ticket("m" * 230, "ready")
        for each in (name, "m" * 230):
            wait_until(lambda: len(baton.starts(f"rules/t/{each}")) == 1, each)
        check("0 warnings" in baton.call("validate").stdout)
        baton.daemon.terminate()
        check(baton.daemon.wait() == 0)
        baton.start()
        baton.canary()
        check(len(baton.starts()) == 4, baton.starts())


def names_not_utf8(exe):
    """A name that is no text is told once, and keeps neither a restart nor a command from working."""
    with Checked(exe) as baton:
        baton.settings["agents"]["default"] = baton.counting()
        baton.settings["dialects"] = {name: {} for name in ("coordination", "fsm_loop", "ccw_loop", "agent_run",
                                                            "ml_workflow")}
        baton.settings["rules"].append({"name": "n", "files": "n/{flow}/x.json", "stage": "/s",
                                          "react": [{"to": "go", "run": "worker"}]})
        baton.configure()
        for name in (b"tickets/\xff.json", b"n/\xff/x.json", b".loops/\xff.yaml", b".loops/.running/\xff.state.json",
                     b".workflow/.loop/\xff.json", b".agents/runs/\xff/run_state.json", b"workflow_states/\xff/state.json",
                     b"coordination/messages/\xff.json", b"tickets/\xe2\x82.json"):
            write(f"{baton.root}/{os.fsdecode(name)}", b'{"status": "ready", "s": "ready"}\n')
        told = []
        for turn in range(2):
            baton.start()
            baton.canary()
            for command in (["status", "--json"], ["status"], ["events", "--json"], ["agents", "--json"],
                            ["explain", "rules/t/canary1", "--json"], ["doctor", "--json"]):
                baton.call(*command, code=None if command[0] == "doctor" else 0)
            told.append([each["why"] for each in baton.lines("events") if each["event"] == "ignored"])
            check(any("tickets/\\xff.json" in why for why in told[turn]), told)
            check(any("n/\\xff" in why for why in told[turn]), told)
            baton.daemon.terminate()
            check(baton.daemon.wait() == 0, "the daemon ended with", baton.daemon.returncode)
            baton.call("status", "--json")
        check(told[0] == told[1], "told again:", told)
        check(len(baton.starts()) == 2, baton.starts())


def json_is_utf8(exe):
    """What is shortened in a message is cut between characters."""
    rule = dict(Checked.TICKETS, react=[{"to": "ready", "run": "worker", "when": [{"pointer": "/v", "equals": 1}]}])
    with world.World(exe, rules=[rule]) as baton:
        write(f"{baton.root}/tickets/a.json", b'{"status": "ready", "v": "%s"}' % ("\u20ac" * 60).encode())
        check(baton.once().returncode == 0)
        for command in (["status", "--json"], ["explain", "rules/t/a", "--json"], ["status"], ["explain", "rules/t/a"]):
            done = subprocess.run([exe, *command, *baton.places()], stdin=subprocess.DEVNULL, capture_output=True)
            check(done.returncode == 0 and done.stdout.decode().count("\u20ac") > 10, command, done)


def long_decision(exe):
    """What a decision's file says has no bound; what is told of it, and kept, has."""
    rule = {"name": "t", "stage": "job:/s",
            "files": {"job": "q/{flow}.json", "decision": {"path": "decisions/{flow}.json", "optional": True}},
            "react": [{"to": "built", "approval": {"decision": "decision:/decision"}, "run": "worker"}]}
    with world.World(exe, rules=[rule]) as baton:
        decision = baton.root + "/decisions/a.json"
        write(baton.root + "/q/a.json", {"s": "built"})
        write(decision, {"decision": ["perhaps"] * 100_000})
        found = json.loads(baton.call("validate", "--json", code=1).stdout)["findings"]
        check(len(found) == 1 and found[0]["rule"] == "rules/decision", found)
        check(len(found[0]["message"]) < 200, len(found[0]["message"]))
        os.unlink(decision)
        baton.start()
        # What `status` foresees is not enough: a decision counts that comes after the daemon began to wait for it.
        wait_until(lambda: [each for each in baton.lines("events") if each["event"] == "stage"], "it waits")
        write(decision, {"decision": "approve", "by": "a" * 500_000, "comment": "\u20ac" * 500_000})
        wait_until(lambda: baton.starts("rules/t/a"), "it is approved")
        with contextlib.closing(sqlite3.connect(glob.glob(baton.state + "/*/journal.db")[0])) as journal:
            sizes = journal.execute("SELECT length(memo) FROM memos").fetchall()
        check(sizes and max(sizes)[0] < 50_000, sizes)


def requests_not_utf8(exe):
    """A request that no file can hold is refused before it is made."""
    with Checked(exe) as baton:
        baton.ticket("z", "idle")
        baton.once()
        for serve in (False, True):
            if serve:
                baton.start()
            for words in ([b"reject", b"t/z", b"--comment", b"no\xff"], [b"retry", b"t/z", b"no\xff"]):
                done = subprocess.run([os.fsencode(exe), *words, *map(os.fsencode, baton.places())],
                                      stdin=subprocess.DEVNULL, capture_output=True, timeout=world.PATIENCE)
                check(done.returncode == 2 and b"is not UTF-8" in done.stderr and b"\\xff" in done.stderr, words, done)


def said_at_start(exe):
    """What cannot be started is said by name at once; the rest goes on."""
    agents = {"worker": {"command": ["./no-such-program"]}, "reader": {"command": ["/bin/true"], "prompt": "no-such-prompt.md"}}
    prompts = {"fifo": os.mkfifo, "folder": os.mkdir, "huge": lambda path: write(path, b"x" * (2 << 20)),
               "empty": lambda path: write(path, b"\n"), "latin": lambda path: write(path, b"caf\xe9")}
    for name in prompts:
        agents[name] = {"command": ["/bin/true"], "prompt": name + ".prompt"}
    # Only a dialect that is not served here has these.
    agents["foreign"] = {"command": ["/bin/true", "${mode}"]}
    rules = [world.World.TICKETS,
             {"name": "u", "files": "unknown/{flow}.json", "stage": "/status", "react": [{"to": "ready", "run": "nobody"}]},
             {"name": "ok", "files": "fine/{flow}.json", "stage": "/status", "react": [{"to": "ready", "run": "fine"}]}]
    with world.World(exe, rules=rules, agents=agents) as baton:
        baton.settings["agents"]["fine"] = baton.counting()
        baton.configure()
        for name, make in prompts.items():
            make(f"{baton.home}/{name}.prompt")
        # Before anything is due.
        baton.start()
        with open(baton.home + "/daemon.log") as log:
            said = log.read()
        for name in ("no-such-program", "no-such-prompt.md", "nobody", "`foreign`", *(each + ".prompt" for each in prompts)):
            check(name in said, name, "is not said at start:", said)
        baton.ticket("x", "ready")
        write(baton.root + "/unknown/x.json", {"status": "ready"})
        write(baton.root + "/fine/x.json", {"status": "ready"})
        wait_until(lambda: baton.starts("rules/ok/x"), "what can be started is")
        for flow in ("rules/t/x", "rules/u/x"):
            wait_until(lambda: baton.explain(flow)["holds"], flow, "does not say why it waits")


def bad_configuration(exe):
    """A configuration or a schema that is no file, or too large, is refused by its name, and nothing waits for it."""
    makers = {"fifo": os.mkfifo, "folder": os.mkdir, "huge": lambda path: write(path, b"#" * (20 << 20)),
              "not_utf8": lambda path: write(path, b"\xff\xfe{}"), "empty": lambda path: write(path, b"")}
    for name, make in makers.items():
        with Checked(exe) as baton:
            os.unlink(baton.config)
            make(baton.config)
            done = baton.call("run", "--once", code=None)
            check(done.returncode in (2, 3) and "baton.yaml" in done.stderr, name, done)
        with Checked(exe) as baton:
            os.unlink(baton.home + "/ticket.schema.json")
            make(baton.home + "/ticket.schema.json")
            done = baton.call("run", "--once", code=None)
            check(done.returncode in (2, 3) and "ticket.schema.json" in done.stderr, name, done)


def second_daemon(exe):
    with world.World(exe) as baton:
        first = baton.start()
        baton.canary()
        done = subprocess.run(baton.run_command(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=world.PATIENCE)
        check(done.returncode == 75 and str(first.pid) in done.stderr, done.returncode, done.stderr)


def leave_small_disk(baton, place):
    """A shim that cannot write down how its agent ended waits for room, on a disk that is gone for ever."""
    runs = {each.run for each in baton.starts()}
    # Only their folders: any other name there ("fill") may be a word in the life of a process of somebody else.
    runs.update(os.path.basename(each[:-1])
                for each in glob.glob(baton.state + "/*/runs/*/") + glob.glob(baton.state + "/*/runs/.spare/*/"))
    if os.path.exists(place + "/fill"):
        os.unlink(place + "/fill")
    baton.daemon.kill()
    baton.daemon.wait()

    def left():
        for run in runs:
            for agent in world.processes_with("BATON_RUN_ID=" + run):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(agent, signal.SIGKILL)
        return [pid for run in runs for pid in world.processes_with(run)]

    try:
        wait_until(lambda: not left(), "the shims leave:", left)
    finally:
        subprocess.run(["umount", "-l", place], check=False)


def locked_files(exe):
    """Who holds a hundred files locked keeps baton from writing these, and from nothing else."""
    with world.World(exe) as baton:
        baton.settings["rules"].append({"name": "s", "files": "s/{flow}.json", "stage": "/s",
                                        "react": [{"to": "go", "set": {"/s": "done"}}]})
        baton.configure()
        folder = baton.root + "/s"
        os.mkdir(folder)
        paths = [f"{folder}/f{number}.json" for number in range(140)]
        for path in paths:
            write(path, {"s": "new"})
        baton.start()
        with contextlib.ExitStack() as stack:
            for path in paths:
                fcntl.flock(stack.enter_context(open(path, "rb")), fcntl.LOCK_EX)
                with open(path, "r+b") as file:
                    file.write(b'{"s":"go"} ')
                    file.truncate()
            baton.call("pause", "rules/s/f1")
            baton.ticket("x", "ready")
            wait_until(lambda: baton.starts("rules/t/x"))
            baton.call("resume", "rules/s/f1")
            check("is locked by process" in baton.call("explain", "rules/s/f1").stdout, baton.call("explain", "rules/s/f1"))
        wait_until(lambda: all('"done"' in open(path).read() for path in paths))


def full_disk(exe):
    """No new start while the state's disk is full; agents go on, and nothing is lost once there is room."""
    with world.World(exe, command=("sh", "-c", "while ! [ -e go ]; do sleep 0.1; done")) as baton:
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,mode=750", "tmpfs", baton.state],
                              capture_output=True, text=True)
        if made.returncode != 0:
            skip("cannot mount a small tmpfs:", made.stderr.strip())
        try:
            baton.start()
            baton.ticket("before", "ready")
            before = wait_until(lambda: baton.starts("rules/t/before"))[0].run
            with open(baton.state + "/fill", "wb", buffering=0) as fill:
                try:
                    while True:
                        fill.write(bytes(4096))
                except OSError:
                    pass
            for number in range(10):
                baton.ticket(f"f{number}", "ready", pad="x" * 50000)
            wait_until(lambda: "full" in open(baton.home + "/daemon.log").read(), "it says that the disk is full")
            check(baton.daemon.poll() is None, "the daemon ended")
            wait_until(lambda: json.load(open(glob.glob(baton.state + "/*/daemon.json")[0]))["disk_full"],
                       "it leaves word")
            wait_until(lambda: "its disk is full" in baton.call("status").stdout, "status says so")

            def waiting():
                return {each["flow"]: each["reason"] for each in baton.lines("status")}
            # Some may have been started while there still was room for them.
            wait_until(lambda: len(waiting()) == 11 and set(waiting().values()) == {"agent", "disk_full"}, waiting)
            held = {flow for flow, what in waiting().items() if what == "disk_full"}
            check(not held & {each.flow for each in baton.starts()}, "started on a full disk:", held, baton.starts())
            write(baton.root + "/go", b"")
            os.unlink(baton.state + "/fill")
            for number in range(10):
                wait_until(lambda: baton.starts(f"rules/t/f{number}"), number, "was lost")
            baton.idle()
            flows = [each.flow for each in baton.starts()]
            check(len(flows) == len(set(flows)), "twice:", flows)
            check(all(run["outcome"] == "succeeded" for run in baton.lines("agents") if run["outcome"] != "voided"),
                  baton.lines("agents"))
        finally:
            leave_small_disk(baton, baton.state)


def size_limit(exe):
    """Where no file may become as large as the journal, that is said; nobody is killed by it without a word."""
    with world.World(exe) as baton:
        baton.ticket("a", "ready")
        done = subprocess.run(baton.run_command("--once"), capture_output=True, text=True, timeout=world.PATIENCE,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40960, 40960)))
        check(done.returncode == 3 and "journal" in done.stderr, done)
        check(not baton.starts(), baton.starts())


def on_small_disk(place, block_bytes=4096, options=""):
    """Small blocks are what mkfs chooses for a small disk: a file can have holes within a page there."""
    os.makedirs(place, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", "size=8m,mode=750" + options, "tmpfs", place]
    if block_bytes != 4096:
        image = place + ".image"
        with open(image, "wb") as file:
            file.truncate(16 << 20)
        made = subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", "-b", str(block_bytes), image],
                              capture_output=True, text=True)
        check(made.returncode == 0, made.stderr)
        command = ["mount", "-o", "loop", image, place]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode != 0:
        skip("cannot mount a small disk: " + made.stderr.strip())


def fill(place):
    """To the last block, which some file systems give only after what was promised is written."""
    with open(place + "/fill", "ab", buffering=0) as file:
        for chunk in (4096, 512, 512):
            with contextlib.suppress(OSError):
                while True:
                    file.write(bytes(chunk))
            subprocess.run(["sync", "-f", place], check=True)


def stopped_on_full_disk(exe, reserve=True):
    """A request finds room on a full disk, is answered, and agents end."""
    with world.World(exe, command=("sleep", "1000")) as baton:
        on_small_disk(baton.state)
        try:
            baton.start()
            baton.ticket("before", "ready")
            before = wait_until(lambda: baton.starts("rules/t/before"))[0].run
            fill(baton.state)
            if not reserve:
                # Only now, or the daemon would make it anew.
                os.unlink(glob.glob(baton.state + "/*/requests/.reserve")[0])
                fill(baton.state)
            if reserve:
                baton.ticket("other", "new")
                # Each takes no more room than the one before it.
                for number in range(20):
                    baton.call("resume" if number % 2 else "pause", "--all")
            done = baton.call("stop", "--all", code=0 if reserve else None)
            if not reserve:
                check(done.returncode == 3, done.returncode, done.stdout, done.stderr)
                return
            check(glob.glob(baton.state + "/*/replies/*.json"), "there is no reply")
            wait_until(lambda: not world.processes_with("BATON_RUN_ID=" + before), "the agent ends")
        finally:
            leave_small_disk(baton, baton.state)


def no_more_files(exe):
    """Where the state's disk has room, but not for one file more, commands are answered, one after the other."""
    with world.World(exe, command=("sleep", "1000")) as baton:
        def use_up():
            with contextlib.suppress(OSError):
                for number in itertools.count():
                    write(f"{baton.state}/fill{number}", b"")
            check(os.statvfs(baton.state).f_favail == 0, os.statvfs(baton.state))

        def give_back():
            for name in glob.glob(baton.state + "/fill*"):
                os.unlink(name)

        on_small_disk(baton.state, options=",nr_inodes=300")
        try:
            baton.start()
            baton.ticket("before", "ready")
            before = wait_until(lambda: baton.starts("rules/t/before"))[0].run
            check("files left" in baton.call("doctor", code=0).stdout, baton.call("doctor", code=None).stdout)
            time.sleep(1)  # a spare shim is made
            for command in (["pause", "--all"], ["resume", "--all"], ["stop", "--all"]):
                use_up()
                baton.call(*command)
            wait_until(lambda: not world.processes_with("BATON_RUN_ID=" + before), "the agent ends")
            check("has only 0 files left" in baton.call("doctor", code=1).stdout, baton.call("doctor", code=1).stdout)
            baton.ticket("late", "ready")
            time.sleep(2)
            check(len(baton.starts()) == 1, baton.starts())
            give_back()
            baton.call("resume", "--all")
            wait_until(lambda: baton.starts("rules/t/late"), "late was lost", lambda: baton.call("status").stdout)
        finally:
            give_back()
            leave_small_disk(baton, baton.state)


def once_on_full_disk(exe):
    """Who is to work off all does not wait for room for ever, starts nothing, and says it."""
    with world.World(exe) as baton:
        on_small_disk(baton.state)
        try:
            check(baton.once().returncode == 0, "an empty root")
            fill(baton.state)
            baton.ticket("late", "ready")
            done = baton.once()
            check(done.returncode == 3 and "there is no room on the state's disk" in done.stderr, done)
            check(not baton.starts(), baton.starts())
            os.unlink(baton.state + "/fill")
            check(only_unchanged(baton.once()) and len(baton.starts()) == 1, baton.starts())
        finally:
            if os.path.exists(baton.state + "/fill"):
                os.unlink(baton.state + "/fill")
            subprocess.run(["umount", "-l", baton.state], check=False)


def without_a_reserve_it_is_not(exe):
    """What the test before shows is owed to the reserve."""
    stopped_on_full_disk(exe, reserve=False)


def started_on_full_disk(exe, block_bytes=4096):
    """A daemon comes up on a full disk, holds all starts and says why, supervises, answers, and goes on by
    itself when there is room."""
    with world.World(exe, command=("sleep", "1000")) as baton:
        on_small_disk(baton.state, block_bytes)
        try:
            baton.start()
            baton.ticket("before", "ready")
            before = wait_until(lambda: baton.starts("rules/t/before"))[0].run
            baton.daemon.terminate()
            baton.daemon.wait()
            fill(baton.state)
            check("rules/t/before" in baton.call("status").stdout, "status has nothing to say")
            baton.start()
            fill(baton.state)  # what it tidied up when it came up
            baton.ticket("late", "ready")
            wait_until(lambda: any(each["flow"] == "rules/t/late" and each["reason"] == "disk_full"
                                   for each in baton.lines("status")), "late is held")
            check(len(baton.starts()) == 1, baton.starts())
            check(baton.daemon.poll() is None, "the daemon ended")
            baton.call("stop", "rules/t/before")
            wait_until(lambda: not world.processes_with("BATON_RUN_ID=" + before), "the agent ends")
            os.unlink(baton.state + "/fill")
            wait_until(lambda: baton.starts("rules/t/late"), "late was lost")
            check(len(baton.starts()) == 2, baton.starts())
        finally:
            leave_small_disk(baton, baton.state)


def said_by_the_daemon(exe):
    """What only the daemon knows is what status and explain say."""
    rule = {**world.World.TICKETS, "breaker": {"changes": 3, "per": "1h"}}
    with world.World(exe, rules=[rule], command=("sleep", "1000")) as baton:
        def says(name, word):
            flow = next((each for each in baton.lines("status") if each["flow"] == "rules/t/" + name), {})
            return flow.get("reason") == word

        baton.start()
        for number in range(8):
            baton.ticket("busy", "no", number=number)
            wait_until(lambda: baton.call("events", code=None).stdout.count("busy.json") > number)
        baton.ticket("busy", "ready")
        wait_until(lambda: says("busy", "rate_breaker"), baton.lines("status"))
        check("changes too often" in baton.call("explain", "rules/t/busy").stdout)
        baton.ticket("runs", "ready")
        wait_until(lambda: baton.starts("rules/t/runs"))
        baton.call("drain")
        baton.ticket("late", "ready")
        wait_until(lambda: says("late", "draining"), baton.lines("status"))
        # Where the configuration cannot be read the daemon goes on with what it has read, and so does status.
        write(baton.config, b"rules: [")
        check(says("late", "draining"), baton.lines("status"))


def cannot_start_is_said(exe):
    """No room for the agents' folders only: status says what the daemon says."""
    with world.World(exe, command=("sleep", "1000")) as baton:
        baton.start()
        baton.ticket("before", "ready")
        wait_until(lambda: baton.starts("rules/t/before"))
        runs = glob.glob(baton.state + "/*/runs")[0]
        on_small_disk(runs)
        try:
            fill(runs)
            baton.ticket("late", "ready")
            wait_until(lambda: any(each["flow"] == "rules/t/late" and each["reason"] == "cannot_start"
                                   for each in baton.lines("status")), "cannot_start")
        finally:
            leave_small_disk(baton, runs)


def no_descriptors(exe):
    """An agent may lower the daemon's limit of open files. The daemon raises it again. Where it may not, it ends, to be
    started again, and no good file is rejected."""
    with world.World(exe) as baton:
        baton.ticket("a", "idle")
        baton.start()
        baton.canary()
        begin = resource.prlimit(baton.daemon.pid, resource.RLIMIT_NOFILE)
        baton.daemon.send_signal(signal.SIGSTOP)
        resource.prlimit(baton.daemon.pid, resource.RLIMIT_NOFILE, (4, begin[1]))
        check("open files for the daemon is low" in baton.call("doctor", code=None).stdout, "doctor looks at itself")
        baton.daemon.send_signal(signal.SIGCONT)
        baton.ticket("a", "ready")
        wait_until(lambda: baton.starts("rules/t/a"), "it goes on")
        check(resource.prlimit(baton.daemon.pid, resource.RLIMIT_NOFILE) == begin, "it was raised again")
        with open(baton.home + "/daemon.log") as log:
            check("to 4 (an agent of the same user can do that with `prlimit`); it was raised again" in log.read())
        if os.geteuid() != 0:
            world.skip("of this test only, a limit that cannot be raised: that needs root, for another user")
        baton.idle()
        baton.daemon.terminate()
        baton.daemon.wait()
        for top, folders, files in os.walk(baton.home):
            for path in (top, *(os.path.join(top, name) for name in files)):
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        exe, baton.exe = baton.exe, baton.home + "/as-nobody"
        with open(baton.exe, "w") as file:
            file.write(f'#!/bin/sh\nexec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups {exe} "$@"\n')
        os.chmod(baton.exe, 0o755)
        baton.start()
        baton.canary()
        baton.idle()
        subprocess.run(["prlimit", f"--pid={baton.daemon.pid}", "--nofile=4:4"], check=True, user=NOBODY, group=NOBODY,
                       extra_groups=[])
        baton.ticket("b", "ready")
        check(baton.daemon.wait(world.PATIENCE) == 3, "the daemon ended with", baton.daemon.returncode)
        with open(baton.home + "/daemon.log") as log:
            check("no file can be opened any more" in log.read())
        check(not baton.starts("rules/t/b"), baton.starts())
        baton.start()
        wait_until(lambda: baton.starts("rules/t/b"), "the next one goes on")
        told = [each for each in baton.lines("events") if each["event"] == "rejected"]
        check(not told, "a good file was rejected:", told)


def write_waits(exe):
    """A write of baton's own that cannot be made yet is said with its reason, and made when it can be."""
    rule = dict(world.World.TICKETS, react=[{"to": "go", "set": {"/status": "ready"}}, {"to": "ready", "run": "worker"}])
    with world.World(exe, rules=[rule]) as baton:
        baton.ticket("a", "idle")
        baton.start()
        baton.canary()
        with open(f"{baton.root}/tickets/a.json", "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)

            def put(text):
                file.seek(0)
                file.truncate()
                file.write(text)
                file.flush()
                # Its last descriptor is not closed here: that is what tells baton of it.
                with open(file.name, "r+b"):
                    pass
            put(b'{"status": "go"}  ')

            def told():
                return [each for each in baton.lines("events") if each["flow"] == "rules/t/a"
                        and each["event"] == "blocked" and "tickets/a.json is locked by " in each["why"]]

            def shown():
                return [each for each in baton.lines("status") if each["flow"] == "rules/t/a"
                        and (each["condition"], each["reason"]) == ("waiting", "pending_write")
                        and "tickets/a.json is locked by " in each["why"]]
            wait_until(shown, "status says what the write waits for", lambda: baton.call("status").stdout)
            check(not baton.starts("rules/t/a"), baton.starts())
            check("tickets/a.json is locked by " in baton.call("explain", "rules/t/a").stdout)
            # Nobody has written yet what the start would follow from.
            put(b"")
            baton.canary()
            check(not baton.starts("rules/t/a"), baton.starts())
            put(b'{"status": "go"}  ')
        wait_until(lambda: baton.starts("rules/t/a"), "it is made when the lock is let go")
        # Nobody has to act, so it is no event.
        check(not told(), told())


def merge_is_refused(exe):
    """A version that is good by itself, and not with what baton had set meanwhile: that is said wherever it is asked,
    also by the next daemon, and what was set is there when it goes with it."""
    rule = {"name": "t", "files": "tickets/{flow}.json", "stage": "/status",
            "react": [{"to": "go", "set": {"/owner": "ops"}}, {"to": "ready", "run": "worker"}]}
    with world.World(exe, rules=[rule]) as baton:
        rule["schema"] = baton.root + "/ticket.json"
        write(rule["schema"], {"if": {"required": ["owner", "n"]}, "then": {"required": ["title"]}})
        baton.settings["rules"] = [rule]
        baton.configure()
        path = baton.root + "/tickets/a.json"
        baton.ticket("a", "idle")
        baton.start()
        baton.canary()
        with open(path, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(b'{"status": "go"}  ')
            file.truncate()
            file.flush()
            with open(path, "r+b"):
                pass
            wait_until(lambda: "is locked by " in baton.call("status").stdout, "the write waits")
            file.seek(0)
            file.write(b'{"status": "go", "n": 1}')
        for _ in range(2):
            wait_until(lambda: "of it with what baton had written" in baton.call("explain", path).stdout,
                       lambda: baton.call("explain", path).stdout)
            # The daemon leaves word after it has committed.
            wait_until(lambda: "blocked: file_rejected: a write of baton's own gave way to another version of" in baton.call("explain", "rules/t/a").stdout,
                       lambda: baton.call("explain", "rules/t/a").stdout)
            said = baton.call("explain", "rules/t/a").stdout
            check("tickets/a.json (t): rejected" in said and "blocked: file_rejected: a write of baton's own gave way to another version of" in said, said)
            baton.daemon.terminate()
            check(baton.daemon.wait(timeout=world.PATIENCE) == 0, "the daemon's end")
            said = baton.call("explain", "rules/t/a").stdout
            check("tickets/a.json (t): rejected" in said and "gave way to another version of" in said, said)
            baton.start()
        write(path, {"status": "go", "n": 1, "title": "x"})

        def made():
            with open(path) as ticket:
                return json.load(ticket) == {"status": "go", "n": 1, "title": "x", "owner": "ops"}
        wait_until(made, lambda: baton.call("explain", "rules/t/a").stdout)


def may_not_write(exe):
    """A folder that the user of the daemon may not write: the write waits and says why, once, and is made when he
    may. All else goes on."""
    user = 65534 if os.geteuid() == 0 else os.geteuid()
    rules = [{"name": "t", "files": "tickets/{flow}.json", "stage": "/status",
              "react": [{"to": "ready", "set": {"/owner": "ops"}}, {"to": "ready", "run": "worker"}]},
             {"name": "o", "files": "other/{flow}.json", "stage": "/status", "react": [{"to": "ready", "run": "worker"}]}]
    with world.World(exe, rules=rules) as baton:
        baton.ticket("a", "ready")
        for path in (baton.home, baton.state, baton.log):
            os.chown(path, user, -1)
        os.chmod(baton.root + "/tickets", 0o555)

        def begin():
            with open(baton.home + "/daemon.log", "ab") as log:
                baton.daemon = subprocess.Popen(baton.run_command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                user=user)

        begin()

        def lines(*arguments):
            done = subprocess.run([exe, *arguments, "--json", *baton.places()], capture_output=True, text=True,
                                  timeout=world.PATIENCE, user=user)
            return [json.loads(line) for line in done.stdout.splitlines()]

        def held():
            return [each["why"] for each in lines("status") if each["flow"] == "rules/t/a"
                    and (each["condition"], each["reason"]) == ("blocked", "write_refused")]
        why = wait_until(held, "it is held", lambda: lines("status"))[0]
        check("tickets/a.json cannot be " in why and "Permission denied" in why, why)
        for number in range(3):
            write(f"{baton.root}/other/o{number}.json", {"status": "ready"})
            wait_until(lambda: baton.starts(f"rules/o/o{number}"), "the others go on")
        events = [each["event"] for each in lines("events") if each["flow"] == "rules/t/a"]
        check([events.count(each) for each in ("accepted", "blocked", "merged")] == [1, 1, 0], events)
        # What is left to be done is told without a daemon, too.
        baton.daemon.terminate()
        check(baton.daemon.wait(timeout=world.PATIENCE) == 0, "the daemon's end")
        why = [each["why"] for each in lines("status") if each["flow"] == "rules/t/a"][0]
        check("is still to be made: tickets/a.json" in why, why)
        # Nor is working off what is there a success without it.
        once = subprocess.run([*baton.run_command(), "--once"], capture_output=True, text=True, user=user,
                              timeout=world.PATIENCE)
        check(only_unchanged(once, "blocked: write_refused", "blocked: no_change"), once)
        begin()
        os.chmod(baton.root + "/tickets", 0o777)
        wait_until(lambda: baton.starts("rules/t/a"), "it goes on when it may")
        with open(baton.root + "/tickets/a.json") as ticket:
            check(json.load(ticket) == {"status": "ready", "owner": "ops"}, "it is not set")
        check(not held(), held())


def not_put_aside(exe):
    """A decision that was there before, and a file in the place of the folder it is to be put into: it counts neither
    now nor later, and status sees it as the daemon does, which may have ended."""
    rules = [{"name": "t", "files": {"job": "tickets/{flow}.json", "say": {"path": "say/{flow}.json", "optional": True}},
              "stage": "job:/status",
              "react": [{"to": "built", "approval": {"decision": "say:/decision"}, "set": {"job:/status": "ready"}},
                        {"to": "ready", "run": "worker"}]}]
    with world.World(exe, rules=rules) as baton:
        baton.ticket("a", "open")
        write(baton.root + "/say/a.json", {"decision": "approve"})
        write(baton.root + "/say/.decided", b"")
        baton.start()
        wait_until(lambda: sum(each["event"] == "accepted" for each in baton.lines("events")) == 2, "both are seen")
        baton.ticket("a", "built")

        def line():
            return next(each for each in baton.lines("status") if each["flow"] == "rules/t/a")
        wait_until(lambda: "say/.decided cannot be " in line()["why"], "it is held", line)
        check(line()["declared"] == "built", line())
        baton.daemon.kill()
        baton.daemon.wait()
        check(line()["declared"] == "built" and line()["reason"] == "approval_wanted", line())
        os.unlink(baton.root + "/say/.decided")
        baton.start()
        wait_until(lambda: not os.path.exists(baton.root + "/say/a.json"), "it is put aside")
        wait_until(lambda: line()["reason"] == "approval_wanted", "a person is waited for", line)
        check("approved" not in [each["event"] for each in baton.lines("events")], baton.call("events").stdout)


def litter_of_a_crash(exe):
    """What a daemon was writing when it was killed goes while the next one serves, though it is young at its start."""
    with world.World(exe) as baton:
        baton.ticket("a", "new")
        baton.start()
        baton.daemon.kill()
        baton.daemon.wait()
        litter = f"{baton.root}/tickets/.a.json.0123456789abcdef.tmp"
        write(litter, b"half")
        baton.start()
        wait_until(lambda: not os.path.exists(litter), "it is swept")


def rejected_behind_its_agent(exe):
    """An agent that leaves a torn file and ends well: not its stage is what to look at. Also while it still runs."""
    with Checked(exe) as baton:
        leave = baton.home + "/leave"
        waits = f"while [ ! -e {leave} ]; do sleep 0.1; done"
        baton.settings["agents"] = {"worker": baton.counting("/bin/sh", "-c", waits)}
        baton.configure()
        write(baton.path("a"), {"status": "ready"})
        baton.start()
        wait_until(lambda: baton.starts("rules/t/a"), "it starts")
        write(baton.path("a"), b'{"status": "do')

        def line():
            return next(each for each in baton.lines("status") if each["flow"] == "rules/t/a")
        wait_until(lambda: "tickets/a.json:1:15 is rejected" in line()["why"], "status says so while the agent runs", line)
        check(line()["condition"] == "running", line())
        write(leave, b"")
        wait_until(lambda: line()["condition"] == "blocked", "it has ended", line)
        check(line()["reason"] == "file_rejected" and line()["why"].startswith("tickets/a.json:1:15 is rejected"), line())


def started_on_full_disk_of_small_blocks(exe):
    """There the memory that SQLite shares with readers has holes, and a hole on a full disk is a SIGBUS."""
    started_on_full_disk(exe, 1024)


if __name__ == "__main__":
    world.main_parts((bad_files, bad_yaml_files, bad_logs, no_regular_files, long_names, names_not_utf8, json_is_utf8, long_decision,
                      requests_not_utf8, said_at_start, bad_configuration, second_daemon, locked_files, full_disk, stopped_on_full_disk,
                      without_a_reserve_it_is_not, no_more_files, once_on_full_disk, started_on_full_disk, started_on_full_disk_of_small_blocks,
                      said_by_the_daemon, cannot_start_is_said, no_descriptors, write_waits, merge_is_refused,
                      may_not_write, not_put_aside, litter_of_a_crash, rejected_behind_its_agent, size_limit), 9)
