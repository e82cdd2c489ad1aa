# SPDX-License-Identifier: Apache-2.0
"""The acceptance list of seed 002 (state persistence and events), a test for each of its lines and in its order, with
the real program. usage: fsm_seed_test.py BATON [PART...]"""

import json
import os
import re

import world
from fsm_loop_test import Loops, SEED_STATE, SIMPLE
from world import check, wait_until

# Three states, each of which stays until it is let go.
STEPS = "".join(f"  s{i}: {{action: 'echo out{i}; until [ -e go{i} ]; do sleep 0.05; done', capture: c{i}, next: s{i + 1}}}\n"
                for i in range(3))
HELD = f"name: held\ninitial: s0\nstates:\n{STEPS}  s3: {{terminal: true}}\n"


def text_of(loops, name):
    with open(f"{loops.root}/.loops/.running/{name}") as file:
        return file.read()


def walked(exe, look):
    """A loop of three states; `look` is called while each of them is at work."""
    with Loops(exe) as loops:
        loops.define("held", HELD)
        loops.start()
        loops.begin("held")
        for i in range(3):
            # D-LL-12: it is exchanged as a whole, so whoever reads it at any moment can parse it.
            wait_until(lambda: loops.at("held").get("current_state") == f"s{i}"
                       and loops.words("held")[-1] == "action_start", f"s{i} is at work", lambda: loops.at("held"))
            look(loops, i)
            open(f"{loops.root}/go{i}", "w").close()
        loops.wait_end("held")
        look(loops, 3)


def running_directory_is_created_automatically(exe):
    with Loops(exe) as loops:
        loops.define("fix", SIMPLE)
        loops.start()
        check(not os.path.exists(loops.root + "/.loops/.running"), "nothing was made yet")
        loops.begin("fix")
        loops.wait_end("fix")
        check(os.path.isdir(loops.root + "/.loops/.running"))


def state_is_saved_after_each_transition(exe):
    def look(loops, i):
        state = loops.at("held")
        check(state["current_state"] == f"s{i}" and state["iteration"] == min(i + 1, 3), state)
        check(state["status"] == ("running" if i < 3 else "completed"), state)
        check(list(state["captured"]) == [f"c{each}" for each in range(i)], state["captured"])

    walked(exe, look)


def events_are_appended_as_they_occur(exe):
    def look(loops, i):
        events = loops.events("held")
        entered = [each["state"] for each in events if each["event"] == "state_enter"]
        check(entered == [f"s{each}" for each in range(min(i + 1, 3))], entered)
        check(events[-1]["event"] == ("action_start" if i < 3 else "loop_complete"), events[-1])

    walked(exe, look)


def load_of_a_missing_state_gives_nothing(exe):
    with Loops(exe) as loops:
        loops.define("fix", SIMPLE)
        loops.start()
        wait_until(lambda: any(each["flow"] == "fsm_loop/fix" for each in loops.lines("status")), "the loop is known")
        said = loops.call("resume", "fsm_loop/fix", code=1).stderr
        check("has not been started" in said, said)
        check(not os.path.exists(loops.root + "/.loops/.running"), "and makes none")


def resume_continues_and_keeps_the_iteration_count(exe):
    with Loops(exe) as loops:
        loops.define("fix", SIMPLE)
        world.write(loops.root + "/.loops/.running/fix.state.json", SEED_STATE)
        loops.start()
        wait_until(lambda: loops.lines("status"), "seen")
        check(loops.at("fix") == SEED_STATE, "another program's state is not written")
        loops.call("resume", "fsm_loop/fix")
        state = loops.wait_end("fix")
        check(state["iteration"] == SEED_STATE["iteration"] + 1, state)
        check(state["started_at"] == SEED_STATE["started_at"], state)
        check(state["captured"]["errors"]["output"] == "4", state)
        check(loops.words("fix")[0] == "loop_resume" and "loop_start" not in loops.words("fix"), loops.words("fix"))


def resume_of_completed_and_failed_loops_gives_nothing(exe):
    with Loops(exe) as loops:
        for status in ("completed", "failed"):
            loops.define(status, SIMPLE.replace("name: fix", "name: " + status))
            world.write(f"{loops.root}/.loops/.running/{status}.state.json",
                        {**SEED_STATE, "loop_name": status, "status": status})
        loops.define("fix", SIMPLE)
        loops.start()
        wait_until(lambda: len(loops.lines("status")) == 3, "seen")
        loops.begin("fix")
        loops.wait_end("fix")
        for name in ("completed", "failed", "fix"):
            before = text_of(loops, name + ".state.json")
            said = loops.call("resume", "fsm_loop/" + name, code=1).stderr
            check("it cannot be resumed" in said, said)
            check(text_of(loops, name + ".state.json") == before, "its state was changed")
        check(loops.ran() == ["ran"], loops.ran())


def all_running_loops_are_listed(exe):
    """And all others, with their status (D-LL-6); a damaged one hides none (D-LL-7)."""
    statuses = ["running", "completed", "failed", "interrupted", "awaiting_continuation", "timed_out", "user_stopped"]
    with Loops(exe) as loops:
        for status in statuses:
            state = {**SEED_STATE, "loop_name": status, "status": status}
            if status == "awaiting_continuation":
                state["continuation_prompt"] = "go on"
            world.write(f"{loops.root}/.loops/.running/{status}.state.json", state)
        world.write(loops.root + "/.loops/.running/bad.state.json", b"{torn")
        loops.define("held", HELD)
        loops.start()
        loops.begin("held")
        expected = {**{"fsm_loop/" + each: each for each in statuses}, "fsm_loop/held": "running"}
        wait_until(lambda: {each["flow"]: each["declared"] for each in loops.lines("status")
                            if each["flow"] in expected} == expected, "listed", lambda: loops.lines("status"))
        running = sorted(each["flow"] for each in loops.lines("status") if each["declared"] == "running")
        check(running == ["fsm_loop/held", "fsm_loop/running"], running)
        # What cannot be read is told as such and hides no other.
        found = loops.call("validate", loops.root + "/.loops", code=1).stdout
        check("bad.state.json" in found, found)


def history_returns_all_events_of_a_loop(exe):
    with Loops(exe) as loops:
        loops.define("fix", SIMPLE)
        loops.start()
        loops.begin("fix")
        loops.wait_end("fix")
        events = loops.events("fix")
        check([each["event"] for each in events] == ["loop_start", "state_enter", "action_start", "action_complete",
                                                     "evaluate", "route", "loop_complete"], events)
        check([each["seq"] for each in events] == list(range(1, 8)), events)
        check([each["ts"] for each in events] == sorted(each["ts"] for each in events), events)
        told = loops.lines("events", "--flow", "fsm_loop/fix")
        check([each["seq"] for each in told] == sorted(each["seq"] for each in told) and told, told)


def state_holds_what_the_list_asks_for(exe):
    with Loops(exe) as loops:
        loops.define("fix", SIMPLE)
        loops.start()
        loops.begin("fix")
        state = loops.wait_end("fix")
        for member, kind in (("loop_name", str), ("current_state", str), ("iteration", int), ("captured", dict),
                             ("started_at", str), ("status", str)):
            check(isinstance(state.get(member), kind), member, state)
        check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", state["started_at"]), state["started_at"])
        loops.call("validate", loops.root + "/.loops/.running/fix.state.json")


def events_are_append_only_lines(exe):
    seen = []

    def look(loops, _):
        text = text_of(loops, "held.events.jsonl")
        check(text.endswith("\n"), repr(text[-80:]))
        for line in text.splitlines():
            event = json.loads(line)
            check(event["event"] and event["ts"].endswith("Z"), event)
        check(not seen or text.startswith(seen[-1]) and len(text) > len(seen[-1]), "what stood there was changed")
        seen.append(text)
        loops.call("validate", loops.root + "/.loops/.running/held.events.jsonl")

    walked(exe, look)


def state_remains_and_is_cleared_by_a_new_run(exe):
    with Loops(exe) as loops:
        loops.define("fix", SIMPLE)
        loops.start()
        loops.begin("fix")
        loops.wait_end("fix")
        before, events = text_of(loops, "fix.state.json"), text_of(loops, "fix.events.jsonl")
        loops.daemon.kill()
        loops.daemon.wait()
        loops.start()
        check(text_of(loops, "fix.state.json") == before, "it remains")
        loops.begin("fix")
        wait_until(lambda: loops.at("fix").get("archived") and loops.at("fix")["status"] == "completed", "again")
        kept = loops.root + "/" + loops.at("fix")["archived"]
        for name, text in (("state.json", before), ("events.jsonl", events)):
            with open(f"{kept}/{name}") as file:
                check(file.read() == text, name, "is not what the run before left")
        check([each["seq"] for each in loops.events("fix")] == list(range(1, 8)), loops.events("fix"))


PARTS = [running_directory_is_created_automatically, state_is_saved_after_each_transition,
         events_are_appended_as_they_occur, load_of_a_missing_state_gives_nothing,
         resume_continues_and_keeps_the_iteration_count, resume_of_completed_and_failed_loops_gives_nothing,
         all_running_loops_are_listed, history_returns_all_events_of_a_loop, state_holds_what_the_list_asks_for,
         events_are_append_only_lines, state_remains_and_is_cleared_by_a_new_run]


if __name__ == "__main__":
    world.main_parts(PARTS)
