# SPDX-License-Identifier: Apache-2.0
"""Loops as state machines with the real program: a type check that fails twice and then passes, its event file
line by line; a convergence; a capture of awkward text; the daemon killed and ended while actions run; stop
and resume. What the seed's own list asks for is in fsm_seed_test.py. usage: fsm_loop_test.py BATON [PART...]"""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time

import world
from world import check, wait_until

FIX = """name: fix-types
initial: check
max_iterations: 20
states:
  check:
    action: 'echo check >>ran; n=$(grep -c fix ran); echo "$((2 - n)) errors"; [ "$n" -ge 2 ]'
    capture: errors
    on_success: done
    on_failure: fix
  fix:
    action: 'echo fix >>ran; echo fixing ${captured.errors.output:shell}'
    next: check
  done:
    terminal: true
"""

# What the event file has to hold for FIX: event and the payload that does not change.
FIX_EVENTS = [
    ("loop_start", {"loop": "fix-types"}),
    *[line for n in range(2) for line in (
        ("state_enter", {"state": "check", "iteration": 1 + 2 * n}),
        ("action_start", {"is_prompt": False}),
        ("action_complete", {"exit_code": 1, "output_preview": f"{2 - n} errors\n"}),
        ("evaluate", {"type": "exit_code", "default": True, "verdict": "failure", "exit_code": 1}),
        ("route", {"from": "check", "to": "fix", "verdict": "failure"}),
        ("state_enter", {"state": "fix", "iteration": 2 + 2 * n}),
        ("action_start", {"action": f"echo fix >>ran; echo fixing '{2 - n} errors'"}),
        ("action_complete", {"exit_code": 0, "output_preview": f"fixing {2 - n} errors\n"}),
        ("route", {"from": "fix", "to": "check"}))],
    ("state_enter", {"state": "check", "iteration": 5}),
    ("action_start", {}),
    ("action_complete", {"exit_code": 0, "output_preview": "0 errors\n", "stderr_preview": None}),
    ("evaluate", {"type": "exit_code", "default": True, "verdict": "success", "exit_code": 0}),
    ("route", {"from": "check", "to": "done", "verdict": "success"}),
    ("loop_complete", {"final_state": "done", "iterations": 5, "terminated_by": "terminal"}),
]


class Loops(world.World):
    def __init__(self, exe, agents=None, **more):
        super().__init__(exe, agents=agents or {"worker": {"command": ["true"]}}, **more)
        self.settings["dialects"] = {"fsm_loop": {}}
        del self.settings["rules"]
        self.configure()

    def define(self, name, text):
        world.write(f"{self.root}/.loops/{name}.yaml", text.encode())

    def at(self, name):
        try:
            with open(f"{self.root}/.loops/.running/{name}.state.json") as file:
                return json.load(file)
        except FileNotFoundError:
            return {"status": None}

    def events(self, name, path=None):
        with open(path or f"{self.root}/.loops/.running/{name}.events.jsonl") as file:
            return [json.loads(line) for line in file]

    def words(self, name):
        return [each["event"] for each in self.events(name)]

    def begin(self, name, *more, code=0):
        # The daemon has to have seen the definition.
        return self.call("start", f"fsm_loop/{name}", *more, code=code)

    def wait_end(self, name, status="completed"):
        return wait_until(lambda: self.at(name)["status"] == status and self.at(name), name, "becomes",
                          status, lambda: self.at(name), lambda: self.words(name))

    def ran(self, file="ran"):
        try:
            with open(f"{self.root}/{file}") as opened:
                return opened.read().splitlines()
        except FileNotFoundError:
            return []

    def fact(self, name):
        return os.path.exists(f"{self.root}/{name}")


def check_events(events, expected):
    for i, (got, (word, payload)) in enumerate(zip(events, expected)):
        check(got["event"] == word, "line", i + 1, "is", got, "not", word)
        for key, value in payload.items():
            check(key in got and got[key] == value, "line", i + 1, got, "has not", key, value)
    check(len(events) == len(expected), "lines", len(events), "not", len(expected), events)
    check([each["seq"] for each in events] == list(range(1, len(events) + 1)), "seq", events)


def fix_loop(exe):
    with Loops(exe) as loops:
        loops.define("fix-types", FIX)
        loops.start()
        loops.begin("fix-types")
        state = loops.wait_end("fix-types")
        check_events(loops.events("fix-types"), FIX_EVENTS)
        check(loops.ran() == ["check", "fix", "check", "fix", "check"], loops.ran())
        check(state["iteration"] == 5 and state["current_state"] == "done", state)
        check(state["captured"]["errors"]["output"] == "0 errors", state["captured"])
        check(state["captured"]["errors"]["stderr"] == "" and state["captured"]["errors"]["exit_code"] == 0, state)
        check(state["prev_result"] == {"output": "0 errors\n", "exit_code": 0, "state": "check"}, state)
        check(state["last_result"]["verdict"] == "success", state)
        check(state["cycle"] == 3, state)
        loops.call("validate", loops.root + "/.loops", code=0)


def converges(exe):
    with Loops(exe) as loops:
        loops.define("shrink", "paradigm: convergence\nname: shrink\ncheck: cat size\ntoward: 0\n"
                               "using: 'echo $(($(cat size) - 3)) >size'\ntolerance: 1\n")
        with open(loops.root + "/size", "w") as file:
            file.write("10\n")
        loops.start()
        loops.begin("shrink")
        loops.wait_end("shrink")
        verdicts = [each["verdict"] for each in loops.events("shrink") if each["event"] == "evaluate"]
        check(verdicts == ["progress", "progress", "progress", "target"], verdicts)


AWKWARD = "it's \"quoted\" $(touch pwned) `touch pwned` \\ * ; & |\n  second line\n\ttab ünïcödé ✓ 日本 $HOME ${x} %s\n"


def awkward(exe):
    with Loops(exe) as loops:
        with open(loops.root + "/given", "w") as file:
            file.write(AWKWARD)
        loops.define("awkward", """name: awkward
initial: take
states:
  take: {action: 'cat given; echo problem >&2; exit 0', capture: text, next: give}
  give: {action: 'printf %s ${captured.text.output:shell} >copy; printf %s ${captured.text.stderr:shell} >copy2', next: raw}
  raw: {action: 'printf %s ${context.said:shell} >copy3', next: done}
  done: {terminal: true}
""")
        loops.start()
        loops.begin("awkward", "--set", "said=" + AWKWARD)
        state = loops.wait_end("awkward")
        check(state["captured"]["text"]["output"] == AWKWARD.rstrip("\r\n"), state["captured"])
        for name, text in (("copy", AWKWARD.rstrip("\n")), ("copy2", "problem\n"), ("copy3", AWKWARD)):
            with open(f"{loops.root}/{name}") as file:
                got = file.read()
            check(got == text, name, repr(got))
        check(not loops.fact("pwned"), "a value was executed")
        preview = [e for e in loops.events("awkward") if e["event"] == "action_complete"][0]["output_preview"]
        check(preview == AWKWARD, "the event keeps what was printed, byte for byte", repr(preview))


def too_long(exe):
    """A command that no shell can be passed is an error that says so, not a riddle."""
    with Loops(exe) as loops:
        loops.define("long", "name: long\ninitial: a\nstates:\n"
                             "  a: {action: 'head -c 200000 /dev/zero | tr \"\\0\" x', capture: c, next: b}\n"
                             "  b: {action: 'echo ${captured.c.output:shell}', on_success: done, on_failure: done, on_error: e}\n"
                             "  e: {action: 'echo ${last.details.error:shell} >why', next: done}\n"
                             "  done: {terminal: true}\n")
        loops.start()
        loops.begin("long")
        loops.wait_end("long")
        faults = [each for each in loops.events("long") if each["event"] == "action_error"]
        check([(each["state"], each["route"]) for each in faults] == [("b", "on_error")], faults)
        check("200005 bytes" in loops.ran("why")[0] and "put large texts into a file" in loops.ran("why")[0], loops.ran("why"))


def killed(exe):
    """kill -9 of the daemon, over and over, at every turn of a loop: each action runs once."""
    steps = 24
    states = "".join(
        f"  s{i}: {{action: 'echo s{i} >>ran; sleep 0.0{i % 4}; echo out{i}', capture: c{i}, next: s{i + 1}}}\n"
        for i in range(steps))
    text = f"name: steps\ninitial: s0\nstates:\n{states}  s{steps}: {{terminal: true}}\n"
    with Loops(exe) as loops:
        loops.define("steps", text)
        loops.start()
        loops.begin("steps")
        started = loops.at("steps")["started_at"]
        kills = 0
        while loops.at("steps")["status"] == "running" and kills < 60:
            time.sleep(0.03 * (kills % 7))
            loops.daemon.kill()
            loops.daemon.wait()
            kills += 1
            loops.start()
            if kills % 3 == 0:
                before = loops.at("steps")["iteration"]
                wait_until(lambda: loops.at("steps")["iteration"] > before
                           or loops.at("steps")["status"] != "running", "goes on")
        state = loops.wait_end("steps")
        check(kills > 3, "killed only", kills)
        expected = [f"s{i}" for i in range(steps)]
        check(loops.ran() == expected, "each action once, in order:", loops.ran())
        events = loops.events("steps")
        for word in ("action_start", "action_complete", "state_enter"):
            got = [e for e in events if e["event"] == word]
            check(len(got) == steps, word, len(got), events)
        check([e["seq"] for e in events] == list(range(1, len(events) + 1)), "nothing lost, nothing twice", events)
        check(state["started_at"] == started and state["iteration"] == steps, state)
        check(all(state["captured"][f"c{i}"]["output"] == f"out{i}" for i in range(steps)), state["captured"])
        print("killed", kills, "times")


HELD = """name: held
initial: work
states:
  work: {action: 'echo work >>ran; echo begun >&2; until [ -e go ]; do sleep 0.05; done; echo result; exit 3', capture: got,
         route: {success: done, failure: done, error: after, _: done}}
  after: {action: 'echo after ${captured.got.output:shell} ${captured.got.exit_code} >>ran', next: done}
  done: {terminal: true}
"""


def adopted(exe):
    for how in (signal.SIGTERM, signal.SIGKILL):
        with Loops(exe) as loops:
            loops.define("held", HELD)
            loops.start()
            loops.begin("held")
            wait_until(lambda: loops.ran() == ["work"], "the action runs")
            loops.daemon.send_signal(how)
            loops.daemon.wait()
            if how == signal.SIGTERM:
                check(loops.daemon.returncode == 0, loops.daemon.returncode)
                open(loops.root + "/go", "w").close()
            loops.start()
            open(loops.root + "/go", "w").close()
            state = loops.wait_end("held")
            check(loops.ran() == ["work", "after result 3"], loops.ran())
            check(state["captured"]["got"]["stderr"] == "begun\n", state["captured"])
            done = [e for e in loops.events("held") if e["event"] == "action_complete"]
            check([e["exit_code"] for e in done] == [3, 0], done)


def stopped(exe):
    with Loops(exe) as loops:
        loops.define("held", HELD)
        loops.start()
        loops.begin("held")
        wait_until(lambda: loops.ran() == ["work"], "the action runs")
        first = loops.at("held")
        check(loops.begin("held").stdout.count("already"), "asking again changes nothing")
        loops.call("stop", "fsm_loop/held")
        wait_until(lambda: not world.processes_with("until [ -e go ]"), "the action is ended")
        state = loops.wait_end("held", "user_stopped")
        check(state["terminated_by"] == "user_stopped" and state["phase"] == "entered", state)
        loops.daemon.kill()
        loops.daemon.wait()
        loops.start()
        check(loops.at("held")["status"] == "user_stopped", "stays stopped")
        loops.call("resume", "fsm_loop/held")
        wait_until(lambda: loops.ran() == ["work", "work"], "runs again")
        open(loops.root + "/go", "w").close()
        state = loops.wait_end("held")
        check(state["started_at"] == first["started_at"] and state["resume_count"] == 1, state)
        check(state["iteration"] == 3, "work, work again, after", state)
        words = loops.words("held")
        check(words.count("loop_start") == 1 and words.count("loop_resume") == 1, words)
        resumed = [e for e in loops.events("held") if e["event"] == "loop_resume"][0]
        check(resumed["from_state"] == "work" and resumed["iteration"] == 1, resumed)


def once(exe):
    """Without a daemon: recorded, then `run --once` takes it to its end."""
    with Loops(exe) as loops:
        loops.define("fix-types", FIX)
        said = loops.call("start", loops.root + "/.loops/fix-types.yaml").stdout
        check("recorded" in said, said)
        done = loops.once()
        check(done.returncode == 0, done.stderr)
        check(loops.at("fix-types")["status"] == "completed", loops.at("fix-types"))


SEED_STATE = {
    "loop_name": "fix", "current_state": "check", "iteration": 3, "captured": {"errors": {"output": "4"}},
    "prev_result": None, "last_result": None, "started_at": "2024-01-15T10:30:00Z", "updated_at": "",
    "status": "interrupted"}
SIMPLE = "name: fix\ninitial: check\nstates:\n  check: {action: 'echo ran >>ran', on_success: done, on_failure: check}\n  done: {terminal: true}\n"


def owners(exe):
    """A running loop of a living program is left alone; one whose owner is dead may be taken over."""
    with Loops(exe, agents={"nurse": {"command": ["sh", "-c", "echo $BATON_FLOW $BATON_PURPOSE >>called"]}}) as loops:
        loops.settings["dialects"]["fsm_loop"]["when_interrupted"] = "nurse"
        loops.configure()
        owner = subprocess.Popen(["sleep", "600"])
        try:
            loops.define("fix", SIMPLE)
            world.write(loops.root + "/.loops/.running/fix.state.json",
                        {**SEED_STATE, "status": "running", "pid": owner.pid})
            loops.start()
            wait_until(lambda: loops.lines("status"), "seen")
            check("another program is running" in loops.call("resume", "fsm_loop/fix", code=1).stderr, "alive")
            check("another program" in loops.begin("fix", code=1).stderr, "alive")
            check(not loops.ran("called"), loops.ran("called"))
        finally:
            owner.kill()
            owner.wait()
        loops.call("reload")
        wait_until(lambda: loops.ran("called") == ["fsm_loop/fix interrupted"], "the agent is called",
                   lambda: loops.ran("called"))
        loops.call("resume", "fsm_loop/fix")
        loops.wait_end("fix")
        check(loops.ran() == ["ran"], loops.ran())


def locked(exe):
    """The lock of a running loop is held by the kernel, and let go by the end of the loop or the daemon."""
    def taken(path):
        with open(path) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return False
            except BlockingIOError:
                return True

    with Loops(exe) as loops:
        loops.define("held", HELD)
        loops.define("fix", SIMPLE)
        path = loops.root + "/.loops/.running/held.lock"
        loops.start()
        loops.begin("held")
        wait_until(lambda: loops.ran() == ["work"] and os.path.exists(path) and taken(path), "is held")
        with open(path) as file:
            lock = json.load(file)
        check(lock["pid"] == loops.daemon.pid and lock["scope"] == [os.path.realpath(loops.root)], lock)
        loops.begin("fix")
        wait_until(lambda: any(h["reason"] == "claimed" for h in loops.explain("fsm_loop/fix")["holds"]),
                   "the other loop waits")
        loops.daemon.kill()
        loops.daemon.wait()
        check(not taken(path), "the kernel let it go")
        loops.start()
        wait_until(lambda: taken(path), "held again")

        def holder():
            with open(path) as file:
                return json.loads(file.read() or "{}").get("pid")

        # It is locked a moment before it says by whom.
        wait_until(lambda: holder() == loops.daemon.pid, "by this daemon")
        # Somebody writes over it. It is put right, though its file is locked by the daemon itself.
        with open(path, "w") as file:
            json.dump({**lock, "pid": os.getpid()}, file)
        wait_until(lambda: holder() == loops.daemon.pid and taken(path), "put right")
        open(loops.root + "/go", "w").close()
        loops.wait_end("held")
        check(not os.path.exists(path), "put away")
        loops.wait_end("fix")


def torn_events(exe):
    """The last line that another program left without an end swallows none of baton's; and --max-steps raises
    what ended it."""
    left = '{"event": "loop_start", "ts": "2024-01-15T10:30:00Z", "loop": "fix"}\n{"event": "state_en'
    with Loops(exe) as loops:
        loops.define("fix", SIMPLE.replace("initial", "max_iterations: 3\ninitial"))
        world.write(loops.root + "/.loops/.running/fix.state.json", SEED_STATE)
        world.write(loops.root + "/.loops/.running/fix.events.jsonl", left.encode())
        loops.start()
        wait_until(lambda: loops.lines("status"), "seen")
        check("--max-steps" in loops.call("resume", "fsm_loop/fix", code=1).stderr)
        loops.call("resume", "--all", "--max-steps", "9", code=2)
        loops.call("resume", "fsm_loop/fix", "--max-steps", "some", code=2)
        loops.call("resume", "fsm_loop/fix", "--max-steps", "9")
        loops.wait_end("fix")
        with open(loops.root + "/.loops/.running/fix.events.jsonl") as file:
            text = file.read()
        check(text.startswith(left + "\n"), text)
        words = [json.loads(line)["event"] for line in text[len(left) + 1:].splitlines()]
        check(words == ["loop_resume", "state_enter", "action_start", "action_complete", "evaluate", "route",
                        "loop_complete"], words)


def kept_clear(exe):
    """What the lock of another program claims is left alone for as long as it lives."""
    with Loops(exe) as loops:
        owner = subprocess.Popen(["sleep", "600"])
        try:
            loops.define("fix", SIMPLE)
            world.write(loops.root + "/.loops/.running/other.lock",
                        {"loop_name": "other", "scope": [os.path.realpath(loops.root) + "/src"], "pid": owner.pid,
                         "started_at": "2024-01-15T10:30:00Z"})
            loops.start()
            loops.begin("fix")
            wait_until(lambda: any(each["reason"] == "claimed" for each in loops.explain("fsm_loop/fix")["holds"]),
                       "it waits", lambda: loops.explain("fsm_loop/fix"))
            check(not loops.ran(), loops.ran())
        finally:
            owner.kill()
            owner.wait()
        loops.call("reload")
        loops.wait_end("fix")
        check(loops.ran() == ["ran"] and loops.fact(".loops/.running/other.lock"), "the other one's lock is not touched")


def once_ends(exe):
    """`run --once` does not wait for another program. What waits for an agent of its own starts before the end."""
    with Loops(exe, agents={"worker": {"command": ["false"]}}, limits={"backoff": "1h", "max_backoff": "2h"}) as loops:
        owner = subprocess.Popen(["sleep", "600"])
        try:
            loops.define("fix", SIMPLE)
            loops.define("other", SIMPLE.replace("fix", "other"))
            world.write(loops.root + "/.loops/.running/other.state.json",
                        {**SEED_STATE, "loop_name": "other", "status": "running", "pid": owner.pid})
            world.write(loops.root + "/.loops/.running/other.lock",
                        {"loop_name": "other", "scope": [], "pid": owner.pid, "started_at": "2024-01-15T10:30:00Z"})
            loops.call("start", "fix")
            done = loops.once()
            check(done.returncode == 0 and not loops.ran(), done.returncode, done.stderr)
            check("fsm_loop/fix is waiting: claimed: " in done.stderr and "fsm_loop/other" in done.stderr, done.stderr)
            # Nor does the look at the other program count as a start where a start is due later.
            loops.settings["rules"] = [loops.TICKETS]
            loops.configure()
            loops.ticket("a", "ready")
            done = loops.once()
            check(done.returncode == 1 and "rules/t/a is waiting: back_off until " in done.stderr, done.returncode, done.stderr)
        finally:
            owner.kill()
            owner.wait()
        loops.define("later", SIMPLE.replace("fix", "later"))
        loops.call("start", "later")
        done = loops.once()
        check(loops.ran() == ["ran", "ran"], loops.ran(), done.stderr)
        check(loops.at("fix")["status"] == loops.at("later")["status"] == "completed", done.stderr)


def broken(exe):
    """What is wrong is said with its place, and starts nothing."""
    with Loops(exe) as loops:
        loops.define("bad", "name: bad\ninitial: chek\nstates:\n  check: {action: 'true', on_success: done}\n  done: {terminal: true}\n")
        loops.define("mistake", "name: m\ninitial: a\nstates:\n  a: {action: 'echo ${captured.nothing.output} >>ran', next: d}\n  d: {terminal: true}\n")
        loops.start()
        said = loops.begin("bad", code=1)
        check("bad" in said.stderr, said.stderr)
        said = loops.call("validate", loops.root + "/.loops/bad.yaml", code=1).stdout
        check("bad.yaml:2:" in said and "check" in said, said)
        loops.begin("mistake")
        state = loops.wait_end("mistake", "failed")
        check("captured.nothing" in state["error"], state["error"])
        check(loops.events("mistake")[-1]["error"] == state["error"], loops.events("mistake"))
        check(not loops.ran(), "ran")


def libraries(exe):
    """What is wrong with a library is said with its place; nothing starts half."""
    with Loops(exe) as loops:
        library = loops.home + "/library"
        shared = lambda name, text: world.write(f"{library}/{name}.yaml", text.encode())
        loops.settings["dialects"]["fsm_loop"]["library"] = [library]
        loops.configure()
        said = loops.call("validate", code=2)
        check(library in said.stderr and "baton.yaml:" in said.stderr, said)
        shared("own", "name: own\ninitial: a\nstates: {a: {action: echo theirs >>ran, next: d}, d: {terminal: true}}\n")
        shared("base1", "name: base1\nfrom: base2\n")
        shared("base2", "name: base2\nfrom: base1\n")
        shared("first", "import: [second.yaml]\nfragments: {f: {action: 'echo old >>ran'}}\n")
        shared("second", "import: [first.yaml]\nfragments: {wait: {action: 'while [ ! -e go ]; do sleep 0.1; done'}}\n")
        # A loop of the same name: that of the project goes first.
        loops.define("own", "name: own\ninitial: a\nstates: {a: {action: echo ours >>ran, next: d}, d: {terminal: true}}\n")
        loops.define("around", "name: around\nfrom: base1\n")
        loops.define("changed", "name: changed\ninitial: a\nimport: [first.yaml, second.yaml]\nstates:\n  a: {fragment: wait, next: b}\n"
                                "  b: {fragment: f, next: d}\n  d: {terminal: true}\n")
        loops.define("nobody", "name: nobody\ninitial: a\nstates: {a: {action: 'echo ${context.issue} >>ran', next: d}, d: {terminal: true}}\n")
        loops.define("kept", "name: kept\ninitial: a\nstates: {a: {action: 'echo ${context.run_dir} >>ran', next: d}, d: {terminal: true}}\n")
        said = loops.call("validate", code=1).stdout
        check("base2.yaml:2:" in said and "in a circle" in said, said)
        check("nobody.yaml:3:" in said and "issue" in said, said)
        # Both say that an import is a link: the check, and the start.
        os.symlink("second.yaml", library + "/third.yaml")
        loops.define("linked", "name: linked\ninitial: a\nimport: [third.yaml]\nstates: {a: {fragment: wait, next: d}, d: {terminal: true}}\n")
        said = loops.call("validate", code=1).stdout
        check("third.yaml:1:" in said and "symbolic link" in said, said)
        loops.start()
        for name, word in (("around", "in a circle"), ("nobody", '"issue"'), ("linked", "third.yaml; baton follows no link")):
            said = loops.begin(name, code=1)
            check(word in said.stderr and loops.at(name)["status"] is None, name, said)
        loops.begin("own")
        loops.wait_end("own")
        check(loops.ran() == ["ours"], loops.ran())
        # A run keeps the fragments that it began with.
        loops.begin("changed")
        wait_until(lambda: loops.at("changed")["current_state"] == "a", "it waits")
        shared("first", "fragments: {f: {action: 'echo new >>ran'}}\n")
        world.write(loops.root + "/go", b"")
        loops.wait_end("changed")
        check(loops.ran() == ["ours", "old"], loops.ran())
        # The folder of the run cannot be made, so the action that needs it waits.
        world.write(loops.root + "/.loops/runs", b"")
        loops.begin("kept")
        said = wait_until(lambda: [row for row in loops.lines("status") if row["reason"] == "write_refused"], "it is blocked")
        check(".loops/runs" in said[0]["why"] and len(loops.ran()) == 2, said)
        os.remove(loops.root + "/.loops/runs")
        loops.call("retry", "kept", code=None)
        loops.wait_end("kept")
        check(os.path.isdir(loops.ran()[-1]), loops.ran())


def worktree(exe):
    """A loop inside works on a branch in a worktree of its own. What it has not committed is kept when the folder goes."""
    with Loops(exe) as loops:
        git = lambda *words: subprocess.run(["git", "-C", loops.root, "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True,
                                            capture_output=True, text=True).stdout
        git("init", "-q", "-b", "main")
        git("commit", "-q", "--allow-empty", "-m", "begin")
        git("branch", "topic")
        world.write(loops.root + "/.env", b"KEY=1")
        world.write(loops.root + "/.claude/settings.json", b"{}")
        loops.define("x", "name: x\ninitial: a\nstates:\n  a: {loop: y, worktree: topic, on_yes: d, on_no: bad}\n"
                          "  bad: {terminal: true, failure: true}\n  d: {terminal: true}\n")
        loops.define("y", "name: y\ninitial: a\nstates:\n  a:\n    action: 'cat .env .claude/settings.json >new; pwd >>${context.run_dir}/../places;"
                          " while [ ! -e ${context.run_dir}/../go ]; do sleep 0.1; done'\n    next: d\n  d: {terminal: true}\n")
        loops.start()
        loops.begin("x")
        places = loops.root + "/.loops/runs/places"
        seen = lambda count: wait_until(lambda: os.path.exists(places) and len(open(places).read().split()) == count, f"it works {count}")
        seen(1)
        loops.daemon.kill()
        loops.daemon.wait()
        loops.start()
        with open(loops.home + "/daemon.log", errors="replace") as file:
            check("takes up 1 run that was at work" in file.read(), "the log does not say it")
        loops.call("stop", "x")
        loops.wait_end("x", "user_stopped")
        loops.call("resume", "x")
        seen(2)
        with open(places) as file:
            folders = set(file.read().split())
        folder = folders.pop()
        check(not folders and folder.startswith(loops.root + "/.worktrees/") and "-subloop-topic-" in folder, folder, folders)
        world.write(loops.root + "/.loops/runs/go", b"")
        loops.wait_end("x")
        check(not os.path.exists(folder) and git("worktree", "list").count("\n") == 1, folder)
        kept = git("for-each-ref", "--format=%(refname)", "refs/baton").split()
        check(kept == ["refs/baton/worktrees/" + os.path.basename(folder)], kept)
        check(git("show", kept[0] + ":new") == "KEY=1{}", kept)
        check(git("ls-tree", "--name-only", kept[0]).split() == ["new"], "files of the project are in the commit")
        check(git("log", "--format=%s", "topic") == "begin\n", "the branch was changed")
        # A repository inside of the worktree would be lost, so the folder stays. A commit without a branch is kept.
        loops.define("y", "name: y\ninitial: a\nstates:\n  a: {action: 'git checkout -q --detach; git -c user.name=a -c user.email=a@b commit -q"
                          " --allow-empty -m alone', next: d}\n  d: {terminal: true}\n")
        loops.begin("x")
        loops.wait_end("x")
        kept = git("for-each-ref", "--format=%(subject)", "refs/baton").split("\n")
        check("alone" in kept and len(kept) == 3, kept)
        loops.define("y", "name: y\ninitial: a\nstates:\n  a: {action: git init -q sub; git -C sub -c user.name=a -c user.email=a@b commit -q"
                          " --allow-empty -m sub, next: d}\n  d: {terminal: true}\n")
        loops.begin("x")
        loops.wait_end("x")
        said = [each for each in loops.events("x") if each["event"] == "sub_loop_worktree_error"]
        check("another repository" in said[0]["error"] and os.path.isdir(said[0]["path"] + "/sub/.git"), said)


def from_nothing(exe):
    """What `init` writes is valid, works as it stands, lies where `path` says, and is never written over."""
    with Loops(exe) as loops:
        for folder, place in (("new", ".loops"), ("named", "ci/loops")):
            loops.root = f"{loops.home}/{folder}"
            loops.config = loops.root + "/baton.yaml"
            if folder == "named":
                world.write(loops.config, b"version: 1\ndialects:\n  fsm_loop: { path: ci/loops }\n")
            init = [exe, "init", "--dialect", "fsm_loop", loops.root]
            subprocess.run(init, check=True, stdout=subprocess.DEVNULL)
            with open(f"{loops.root}/{place}/example.yaml") as file:
                text = file.read()
            again = subprocess.run(init, check=True, capture_output=True, text=True)
            check("example.yaml exists and is left as it is" in again.stderr, again.stderr)
            with open(f"{loops.root}/{place}/example.yaml") as file:
                check(file.read() == text, "it is written over")
            loops.call("validate")
            loops.call("start", "example")
            once = loops.once()
            check(once.returncode == 0, once.stdout, once.stderr)
            with open(f"{loops.root}/{place}/.running/example.state.json") as file:
                check(json.load(file)["status"] == "completed", "the example does not end")
            check(os.path.exists(loops.root + "/hello.txt"), "the example did nothing")


PARTS = [fix_loop, converges, awkward, too_long, killed, adopted, stopped, once, owners, locked, torn_events, kept_clear, once_ends,
         broken, libraries, worktree, from_nothing]


if __name__ == "__main__":
    world.main_parts(PARTS)
