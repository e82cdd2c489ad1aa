# SPDX-License-Identifier: Apache-2.0
"""Loops that other programs run, with the real program and real processes: who owns them, what status says of them,
runs that are named by themselves, scopes behind links; and names that nothing has. usage: fsm_observe_test.py
BATON [PART...]"""

import os
import subprocess

import world
from fsm_loop_test import Loops
from world import check, wait_until

TWO = """name: %s
initial: a
scope: [%s]
states:
  a: {action: 'echo a >>ran', next: b}
  b: {action: 'echo "b ${context.word:default=none}" >>ran', next: done}
  done: {terminal: true}
"""


def state_of(name, **members):
    return {"loop_name": name, "current_state": "b", "iteration": 3, "captured": {}, "prev_result": None,
            "last_result": None, "started_at": "2026-01-15T10:30:00.123456+00:00", "updated_at": "",
            "status": "running", **members}


def running(loops, name):
    return f"{loops.root}/.loops/.running/{name}"


def why(loops, name):
    return next(each["why"] for each in loops.lines("status") if each["flow"] == f"fsm_loop/{name}")


def told(loops, name):
    """What status says of the loop: condition, reason and what to do."""
    return next((each["condition"], each["reason"], each["do"]) for each in loops.lines("status")
                if each["flow"] == f"fsm_loop/{name}")


def dead_pid():
    with subprocess.Popen(["true"]) as process:
        process.wait()
        return process.pid


def owner_by_pid_file(exe):
    """A living owner keeps its loop, a dead one is followed; until then nothing of it is written."""
    with Loops(exe) as loops, subprocess.Popen(["sleep", "1000"]) as owner:
        try:
            loops.define("x", TWO % ("x", "x"))
            world.write(running(loops, "x.state.json"), state_of("x", pid=dead_pid()))
            world.write(running(loops, "x.pid"), str(owner.pid).encode())
            loops.start()
            # Right after its start the daemon has not yet looked at anything, which status says.
            wait_until(lambda: f"(process {owner.pid}) runs it" in why(loops, "x"), lambda: why(loops, "x"))
            for verb in ("resume", "start"):
                refused = loops.call(verb, "fsm_loop/x", code=1)
                check("another program is running the loop" in refused.stderr, refused.stderr)
            check(loops.at("x") == {**state_of("x"), "pid": loops.at("x")["pid"]}, loops.at("x"))
        finally:
            owner.kill()
        owner.wait()
        wait_until(lambda: "is not running any more" in why(loops, "x"), lambda: why(loops, "x"))
        check(told(loops, "x") == ("blocked", "interrupted", "baton resume fsm_loop/x"), loops.lines("status"))
        loops.call("resume", "fsm_loop/x", "--set", "word=it's")
        state = loops.wait_end("x")
        check(loops.ran() == ["b it's"], loops.ran())
        check(state["iteration"] == 4 and state["started_at"] == state_of("x")["started_at"], state)
        check("pid" not in state and not os.path.exists(running(loops, "x.pid")), state)
        refused = loops.call("resume", "fsm_loop/x", "--redo", code=1)
        check("it cannot be resumed" in refused.stderr, refused.stderr)


def runs_named_by_themselves(exe):
    with Loops(exe) as loops:
        name = "x-20260115T103000"
        loops.define("x", TWO % ("x", "x"))
        world.write(running(loops, name + ".state.json"), state_of("x", status="interrupted"))
        loops.start()
        ended = f"another program has ended it (interrupted); `baton resume fsm_loop/{name}` lets baton go on"
        wait_until(lambda: why(loops, name) == ended, lambda: why(loops, name))
        check(told(loops, name) == ("idle", "other_program", None), told(loops, name))
        loops.call("resume", "fsm_loop/" + name)
        loops.wait_end(name)
        check(loops.ran() == ["b none"], loops.ran())
        loops.begin("x")
        loops.wait_end("x")
        check(loops.ran() == ["b none", "a", "b none"], loops.ran())
        check(loops.at(name)["iteration"] == 4, loops.at(name))


def scopes_behind_links(exe):
    """Two loops that claim one folder by two names do not run at once."""
    with Loops(exe) as loops:
        os.makedirs(loops.root + "/src/lib")
        os.symlink("src", loops.root + "/link")
        wait = "name: %s\ninitial: a\nscope: [%s]\nstates:\n" \
               "  a: {action: 'echo %s >>ran; until [ -e go ]; do sleep 0.05; done', next: done}\n" \
               "  done: {terminal: true}\n"
        loops.define("x", wait % ("x", "src/lib", "x"))
        loops.define("y", wait % ("y", "link/lib/deeper", "y"))
        loops.start()
        loops.begin("x")
        wait_until(lambda: loops.ran() == ["x"], loops.ran)
        loops.begin("y")
        wait_until(lambda: "src/lib/deeper` is taken" in why(loops, "y"), lambda: why(loops, "y"))
        check(loops.ran() == ["x"], loops.ran())
        open(loops.root + "/go", "w").close()
        loops.wait_end("x")
        loops.wait_end("y")
        check(loops.ran() == ["x", "y"], loops.ran())


def names_that_nothing_has(exe):
    """A slip is told at once and by name, also where no daemon runs; nothing is recorded."""
    with Loops(exe) as loops:
        loops.define("fix-types", TWO % ("fix-types", "x"))
        for beside_a_daemon in (False, True):
            if beside_a_daemon:
                loops.start()
            for slip, meant in (("fix-typs", "fix-types"), ("fsm_loop/fix-typse", "fsm_loop/fix-types")):
                refused = loops.call("start", slip, code=2)
                check(f"there is no flow {slip} to start; did you mean {meant}?" in refused.stderr, refused.stderr)
            refused = loops.call("start", "nothing-like-it", code=2)
            check("there is no flow nothing-like-it" in refused.stderr and "did you mean" not in refused.stderr,
                  refused.stderr)
        check(not os.path.exists(loops.root + "/.loops/.running"), "nothing was begun")
        # A definition that is there and wrong says what is wrong with it.
        loops.define("bad", "name: bad\ninitial: a\nstates:\n  a: {action: x, on_sucess: a}\n  b: {terminal: true}\n")
        refused = loops.call("start", "bad", code=1)
        check(".loops/bad.yaml:4:29: the key \"on_sucess\" is nearly \"on_success\"" in refused.stderr, refused.stderr)


def why_it_ended(exe):
    with Loops(exe) as loops:
        loops.define("f", "name: f\ninitial: a\nstates:\n  a: {action: 'echo FATAL_ERROR: no disk', next: b}\n"
                          "  b: {terminal: true}\n")
        loops.define("i", "name: i\ninitial: a\nmax_iterations: 1\nscope: [i]\nstates:\n"
                          "  a: {action: 'true', next: b}\n  b: {action: 'true', next: c}\n  c: {terminal: true}\n")
        loops.start()
        loops.begin("f")
        loops.wait_end("f", "failed")
        check('ended by an error in the state "a": no disk' in why(loops, "f"), why(loops, "f"))
        check(told(loops, "f") == ("failed", "loop_error", "baton start fsm_loop/f"), told(loops, "f"))
        loops.begin("i")
        loops.wait_end("i", "interrupted")
        check("used up its 1 step (" in why(loops, "i"), why(loops, "i"))
        check(told(loops, "i") == ("failed", "max_steps", "baton resume fsm_loop/i --max-steps 2"), told(loops, "i"))


if __name__ == "__main__":
    world.main_parts([owner_by_pid_file, runs_named_by_themselves, scopes_behind_links, names_that_nothing_has,
                      why_it_ended])
