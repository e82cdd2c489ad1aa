# SPDX-License-Identifier: Apache-2.0
"""Each `do` that `baton status` gives for a loop helps, as remedies_test.py has it for rules. A part is one state of
src/dialects/fsm_loop/conditions.h.
usage: remedies_fsm_loop_test.py BATON [PART...]"""

import json
import os
import subprocess

import world
from remedies_test import RUN, case
from world import check, wait_until, write

LOOP = "fsm_loop/fix"
STATE = ".loops/.running/fix.state.json"
DEFINITION = ".loops/fix.yaml"
# The first state does what a part gives. As soon as the file `cured` is there, it works for hours instead.
WORK = """name: fix
initial: work
{more}states:
  work:
    action: 'if [ -e cured ]; then sleep 1000; fi; {action}'
    {ways}
  broken: {{terminal: true, {broken}}}
  done: {{terminal: true}}
"""


def define(baton, action="true", ways="next: done", more="", broken="failure: true"):
    write(f"{baton.root}/{DEFINITION}", WORK.format(action=action, ways=ways, more=more, broken=broken).encode())


def world_of(exe, **definition):
    baton = case(exe)
    baton.settings["dialects"] = {"fsm_loop": {}}
    del baton.settings["rules"]
    baton.configure()
    define(baton, **definition)
    return baton


def cure(baton):
    write(baton.root + "/cured", b"")


def state_of(baton):
    with open(f"{baton.root}/{STATE}") as file:
        return json.load(file)


def ended(exe, condition, reason, *says, **definition):
    """A loop that is started and ends in that way."""
    with world_of(exe, **definition) as baton:
        baton.start()
        baton.call("start", LOOP)
        baton.helps(condition, reason, LOOP, meanwhile=lambda: cure(baton), says=says)


def foreign(exe, status, **more):
    """A world with the state file of another program."""
    baton = world_of(exe, action="echo ran >>ran; sleep 1000")
    write(f"{baton.root}/{STATE}", {
        "loop_name": "fix", "current_state": "work", "iteration": 1, "captured": {}, "prev_result": None,
        "last_result": None, "started_at": "2024-01-15T10:30:00Z", "updated_at": "", "status": status, **more})
    return baton


def dead():
    """The id of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def not_started(exe):
    with world_of(exe) as baton:
        cure(baton)
        baton.start()
        baton.helps("idle", "not_started", LOOP)


def not_started_with_inputs(exe):
    with world_of(exe, more="required_inputs: [file]\n") as baton:
        cure(baton)
        baton.start()
        check("--set file=" in baton.remedy("idle", "not_started", LOOP), "the input is not named")
        baton.helps("idle", "not_started", LOOP)


def owner_dead(exe):
    with foreign(exe, "running", pid=dead()) as baton:
        baton.start()
        baton.helps("blocked", "interrupted", LOOP)


def owner_dead_in_between(exe):
    """The event file is newer than the state: only a person can say that the action runs again."""
    with foreign(exe, "running", pid=dead()) as baton:
        events = [{"event": "state_enter", "ts": "2024-01-15T10:30:01Z", "state": "work", "iteration": 1},
                  {"event": "action_complete", "ts": "2024-01-15T10:30:02Z", "exit_code": 0}]
        write(f"{baton.root}/.loops/.running/fix.events.jsonl",
              "".join(json.dumps(each) + "\n" for each in events).encode())
        baton.start()
        baton.helps("blocked", "interrupted", LOOP)


def awaiting_continuation(exe):
    ended(exe, "blocked", "continue_wanted", RUN, "the rest of it", action="echo CONTEXT_HANDOFF: the rest of it")


def failure_terminal(exe):
    ended(exe, "failed", "declared", RUN, '"no network"', action="echo no network >&2; exit 1",
          ways="on_success: done\n    on_failure: broken")


def stopped_by_files(exe):
    with foreign(exe, "interrupted") as baton:
        baton.start()
        baton.call("resume", LOOP)
        baton.stands("running", "agent", LOOP)
        write(f"{baton.root}/{STATE}", {**state_of(baton), "status": "user_stopped"})
        baton.helps("stopped", "files", LOOP)


def error(exe):
    with world_of(exe, action="echo no network >&2; exit 3", ways="on_success: done") as baton:
        baton.start()
        baton.call("start", LOOP)
        remedy = baton.remedy("failed", "loop_error", LOOP, says=(RUN, '"no network"'))
        edit, command = remedy.split(", then ")
        check(edit == f"correct {DEFINITION}", remedy)
        cure(baton)
        define(baton)
        baton.paste(command.strip("`"))
        baton.changed("failed", "loop_error", LOOP)


def cycle_detected(exe):
    ended(exe, "failed", "loop_error", RUN, "work->work", action="false", more="max_edge_revisits: 1\n",
          ways="on_success: done\n    on_failure: work")


def handoff_terminated(exe):
    ended(exe, "failed", "loop_error", RUN, more="on_handoff: terminate\n",
          action="echo CONTEXT_HANDOFF: the rest of it")


def max_steps(exe):
    ended(exe, "failed", "max_steps", "2 steps", more="max_steps: 2\n", ways="next: work")


def max_iterations(exe):
    ended(exe, "failed", "max_steps", "2 steps", more="max_iterations: 2\n", ways="next: work")


def timed_out(exe):
    with world_of(exe, more="timeout: 1\n", action="sleep 1.2", ways="next: work") as baton:
        baton.start()
        baton.call("start", LOOP)
        remedy = baton.remedy("failed", "timed_out", LOOP)
        edit, command = remedy.split(", then ")
        check("`timeout`" in edit and DEFINITION in edit, remedy)
        check(f"baton validate {DEFINITION}" in edit, remedy)
        cure(baton)
        define(baton, more="timeout: 1000\n", ways="next: work")
        baton.paste(command.strip("`"))
        baton.changed("failed", "timed_out", LOOP)


def last_pass(exe):
    ended(exe, "stopped", "limit", "last pass of 2", more="maintain: true\nmax_steps: 50\nmax_iterations: 2\n")


def maintained_to_max_steps(exe):
    ended(exe, "stopped", "limit", "2 steps", more="maintain: true\nmax_steps: 2\n")


def stopped_by_agent(exe):
    ended(exe, "stopped", "agent", RUN, "enough", action="echo LOOP_STOP: enough")


def stopped_by_signal(exe):
    ended(exe, "stopped", "signal", RUN, action="kill -9 $$")


def stopped_by_operator(exe):
    with world_of(exe) as baton:
        cure(baton)
        baton.start()
        baton.call("start", LOOP)
        baton.stands("running", "agent", LOOP)
        baton.call("stop", LOOP)
        baton.helps("stopped", "operator", LOOP)


def definition_rejected(exe):
    with world_of(exe, ways="next: dome") as baton:
        baton.start()
        remedy = baton.remedy("blocked", "file_rejected", LOOP, says=[DEFINITION + ":[0-9]+:"])
        check(DEFINITION in remedy and f"baton validate {DEFINITION}" in remedy, remedy)
        define(baton)
        baton.changed("blocked", "file_rejected", LOOP)


def definition_gone(exe):
    """A loop that is to go on, and its definition is gone: first the file, then the command."""
    with world_of(exe) as baton:
        cure(baton)
        baton.start()
        baton.call("start", LOOP)
        baton.call("stop", LOOP)
        baton.stands("stopped", "operator", LOOP)
        os.remove(f"{baton.root}/{DEFINITION}")
        wait_until(lambda: ", then " in baton.remedy("stopped", "operator", LOOP), "the file is named")
        edit, command = baton.remedy("stopped", "operator", LOOP).split(", then ")
        check(DEFINITION in edit and f"`baton validate {DEFINITION}`" in edit, edit)
        define(baton)
        baton.paste(command.strip("`"))
        baton.changed("stopped", "operator", LOOP)


def stopped_at_the_limit(exe):
    """The last step that is allowed is stopped: going on takes a higher limit."""
    with world_of(exe, more="max_steps: 1\n") as baton:
        cure(baton)
        baton.start()
        baton.call("start", LOOP)
        baton.stands("running", "agent", LOOP)
        baton.call("stop", LOOP)
        baton.helps("stopped", "operator", LOOP)


def state_rejected(exe):
    with foreign(exe, "runing") as baton:
        baton.start()
        remedy = baton.remedy("blocked", "file_rejected", LOOP, says=[STATE + ":[0-9]+:"])
        check(STATE in remedy and f"baton validate {STATE}" in remedy, remedy)
        write(f"{baton.root}/{STATE}", {**state_of(baton), "status": "interrupted"})
        baton.changed("blocked", "file_rejected", LOOP)


def own_state_rejected(exe):
    with world_of(exe) as baton:
        cure(baton)
        baton.start()
        baton.call("start", LOOP)
        baton.call("stop", LOOP)
        baton.stands("stopped", "operator", LOOP)
        good = state_of(baton)
        write(f"{baton.root}/{STATE}", b'{"status": "user_stopped",}\n')
        remedy = baton.remedy("blocked", "file_rejected", LOOP, says=[STATE + ":1:"])
        check(STATE in remedy and f"baton validate {STATE}" in remedy, remedy)
        write(f"{baton.root}/{STATE}", good)
        baton.changed("blocked", "file_rejected", LOOP)


def state_gone(exe):
    with world_of(exe) as baton:
        cure(baton)
        baton.start()
        baton.call("start", LOOP)
        baton.call("stop", LOOP)
        baton.stands("stopped", "operator", LOOP)
        os.remove(f"{baton.root}/{STATE}")
        baton.helps("gone", "files", LOOP)


PARTS = (not_started, not_started_with_inputs, owner_dead, owner_dead_in_between, awaiting_continuation,
         failure_terminal, stopped_by_files, error, cycle_detected, handoff_terminated, max_steps, max_iterations,
         timed_out, last_pass, maintained_to_max_steps, stopped_by_agent, stopped_by_signal, stopped_by_operator,
         definition_rejected, definition_gone, stopped_at_the_limit, state_rejected, own_state_rejected, state_gone)

if __name__ == "__main__":
    world.main_parts(PARTS)
