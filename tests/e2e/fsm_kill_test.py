# SPDX-License-Identifier: Apache-2.0
"""The daemon is killed while a judge is asked, while a loop waits between two states, and while a loop inside a
state runs: after the restart the event file shows each action once. Its journal is lost, and the state is older
than the events: nothing runs again unasked. usage: fsm_kill_test.py BATON [PART...]"""

import contextlib
import os
import shutil
import signal

import world
from fsm_loop_test import Loops
from world import check, wait_until


def kill(loops):
    loops.daemon.kill()
    loops.daemon.wait()


def once_each(loops, name, actions):
    """Each action has begun and ended once, and no line is missing or said twice."""
    events = loops.events(name)
    for word in ("action_start", "action_complete"):
        got = [each for each in events if each["event"] == word]
        check(len(got) == actions, word, len(got), "times, not", actions, events)
    check([each["seq"] for each in events] == list(range(1, len(events) + 1)), "nothing lost, nothing twice", events)


JUDGED = """name: judged
initial: work
states:
  work: {action: 'echo work >>ran; echo the result', evaluate: {type: llm_structured, prompt: 'Good?'},
         on_success: after, on_failure: done, on_error: done}
  after: {action: 'echo after >>ran', next: done}
  done: {terminal: true}
"""
JUDGE = """cat >asked; echo judge >>ran; until [ -e go ]; do sleep 0.05; done
echo '{"verdict": "success", "confidence": 0.9, "reason": "it says so"}'"""


def judge(exe):
    with Loops(exe, agents={"judge": {"command": ["sh", "-c", JUDGE]}}) as loops:
        loops.define("judged", JUDGED)
        loops.start()
        loops.begin("judged")
        for _ in range(3):
            wait_until(lambda: loops.ran() == ["work", "judge"], "the judge is asked once", loops.ran)
            check(loops.at("judged")["phase"] == "action_done", loops.at("judged"))
            kill(loops)
            loops.start()
        kill(loops)
        # It answers while nobody looks.
        open(loops.root + "/go", "w").close()
        wait_until(lambda: not world.processes_with("until [ -e go ]"), "the judge ends")
        loops.start()
        loops.wait_end("judged")
        check(loops.ran() == ["work", "judge", "after"], loops.ran())
        once_each(loops, "judged", 2)
        verdicts = [each for each in loops.events("judged") if each["event"] == "evaluate"]
        check([each["verdict"] for each in verdicts] == ["success"], verdicts)


def backoff(exe):
    steps = 5
    states = "".join(f"  s{i}: {{action: 'echo s{i} >>ran', next: s{i + 1}}}\n" for i in range(steps))
    with Loops(exe) as loops:
        loops.define("slow", f"name: slow\ninitial: s0\nbackoff: 1.5\nstates:\n{states}  s{steps}: {{terminal: true}}\n")
        loops.start()
        loops.begin("slow")
        waits = 0
        while loops.at("slow")["status"] == "running":
            state = wait_until(lambda: (lambda at: (at.get("phase") == "routed" or at["status"] != "running") and at)(
                loops.at("slow")), "it waits between two states", lambda: loops.at("slow"))
            if state["status"] != "running":
                break
            kill(loops)
            waits += loops.at("slow") == state  # else it had gone on meanwhile
            loops.start()
            wait_until(lambda: loops.at("slow") != state, "it goes on", lambda: loops.at("slow"))
        loops.wait_end("slow")
        check(waits > 0, "never killed while it waited")
        check(loops.ran() == [f"s{i}" for i in range(steps)], loops.ran())
        once_each(loops, "slow", steps)


OUTER = """name: outer
initial: first
states:
  first: {action: 'echo first >>ran', next: inside}
  inside: {loop: inner, capture: got, on_yes: last, on_no: done, on_error: done}
  last: {action: 'echo last ${captured.got.captured.said.output:shell} >>ran', next: done}
  done: {terminal: true}
"""
INNER = """name: inner
initial: say
states:
  say: {action: 'echo say >>ran; until [ -e go ]; do sleep 0.05; done; echo hello', capture: said, next: more}
  more: {action: 'echo more >>ran; until [ -e go2 ]; do sleep 0.05; done', next: done}
  done: {terminal: true}
"""


def sub_loop(exe):
    with Loops(exe) as loops:
        loops.define("outer", OUTER)
        loops.define("inner", INNER)
        loops.start()
        loops.begin("outer")
        expected = ["first"]
        for word, fact in (("say", "go"), ("more", "go2")):
            expected.append(word)
            wait_until(lambda: loops.ran() == expected, expected, loops.ran)
            kill(loops)
            loops.start()
            check(loops.ran() == expected, loops.ran())
            kill(loops)
            open(f"{loops.root}/{fact}", "w").close()
            loops.start()
        loops.wait_end("outer")
        check(loops.ran() == ["first", "say", "more", "last hello"], loops.ran())
        once_each(loops, "outer", 4)
        inner = [each["event"] for each in loops.events("outer") if each.get("depth") == 1]
        check(inner == ["loop_start", *["state_enter", "action_start", "action_complete", "route"] * 2, "loop_complete"],
              inner)
        check(not os.path.exists(f"{loops.root}/.loops/.running/inner.state.json"), "it has no state of its own")


LOST = """name: lost
initial: a
states:
  a: {action: 'echo a >>ran; echo it is; echo "a''s"', capture: said, next: b}
  b: {action: 'echo b >>ran; until [ -e go ]; do sleep 0.05; done; echo "from b"; exit 1', capture: told,
      on_success: done, on_failure: c}
  c: {action: 'echo c ${captured.told.output:shell} ${prev.exit_code} ${captured.said.output:shell} >>ran;
      until [ -e on ]; do sleep 0.05; done', next: done}
  done: {terminal: true}
"""


def lose_journal(loops):
    """The daemon and all that it started are gone, and so is what it knew."""
    kill(loops)
    for pid in world.processes_with(loops.home):
        if pid != os.getpid():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    wait_until(lambda: set(world.processes_with(loops.home)) <= {os.getpid()}, "what ran is gone")
    shutil.rmtree(loops.state)
    os.mkdir(loops.state, 0o750)


def journal_lost(exe):
    with Loops(exe) as loops:
        state = f"{loops.root}/.loops/.running/lost.state.json"
        loops.define("lost", LOST)
        loops.start()
        loops.begin("lost")
        wait_until(lambda: loops.ran() == ["a", "b"], "b runs", loops.ran)
        with open(state, "rb") as file:
            before = file.read()
        open(loops.root + "/go", "w").close()
        wait_until(lambda: len(loops.ran()) > 2, "c runs", loops.ran)
        lose_journal(loops)
        # As if the end had come between the event file and the state.
        world.write(state, before)
        check(loops.at("lost")["current_state"] == "b", loops.at("lost"))
        loops.start()
        check(loops.at("lost")["status"] == "running" and len(loops.ran()) == 4, "nobody's until a person says so")
        loops.call("resume", "fsm_loop/lost", code=1)
        check(len(loops.ran()) == 4, "not unasked", loops.ran())
        loops.call("resume", "fsm_loop/lost", "--redo")
        open(loops.root + "/on", "w").close()
        ended = loops.wait_end("lost")
        check(loops.ran() == ["a", "b", "c from b 1 it is", "a's", "b", "c from b 1 it is", "a's"], loops.ran())
        check(ended["iteration"] == 4 and ended["started_at"] in before.decode(), ended)
        check(ended["captured"]["told"]["output"] == "from b", ended)
        check([each["seq"] for each in loops.events("lost")] == list(range(1, ended["seq"] + 1)), "in one sequence")


PARTS = [judge, backoff, sub_loop, journal_lost]


if __name__ == "__main__":
    world.main_parts(PARTS, 2)
