# SPDX-License-Identifier: Apache-2.0
"""Loops end to end, with shell agents that read the whole state when they begin and write the whole of it
when they are done, as the executors of the origin do. usage: ccw_loop_test.py BATON"""

import glob
import json
import os
import re
import shutil
import subprocess
import time

import world
from world import check, wait_until

FOLDER = ".workflow/.loop"

# $1: the log, $2: a folder of switches. `hold.ACTION` keeps the agent at its work until it is gone,
# `mode` says how it works.
EXECUTOR = """#!/bin/sh
printf '%s\\n' "$BATON_RUN_ID $BATON_FLOW $BATON_SUBJECT $BATON_PURPOSE $BATON_ATTEMPT" >>"$1"
file=$BATON_STATE_FILE
copy=$2/copy.$BATON_RUN_ID
cp "$file" "$copy"
if [ -e "$2/hold.$CCW_LOOP_ACTION" ]; then
  : >"$2/held.$CCW_LOOP_ACTION"
  while [ -e "$2/hold.$CCW_LOOP_ACTION" ]; do sleep 0.05; done
fi
now=$(date -u +%Y-%m-%dT%H:%M:%S.%3NZ)
put() { sed "$1" "$copy" >"$copy.new" && mv "$copy.new" "$file"; }
case $(cat "$2/mode") in
  fail) exit 7 ;;
  idle) exit 0 ;;
  renew) while [ ! -e "$2/leave" ]; do  # a heartbeat out of its old copy, which never looks at what stands in the file
      put 's/"updated_at": *"[^"]*"/"updated_at": "'"$(date -u +%Y-%m-%dT%H:%M:%S.%3NZ)"'"/'
      sleep 0.2
    done
    exit 0 ;;
esac
case $CCW_LOOP_ACTION in
  init) "$BATON_EXE" set "$file" "/skill_state=$(cat "$2/skill.json")" >/dev/null || exit 1 ;;
  develop) put '0,/"status": *"pending"/s//"status": "completed"/
                s/"last_progress_at": *[^,}]*/"last_progress_at": "'"$now"'"/' ;;
  validate) "$BATON_EXE" set "$file" '/skill_state/validate/passed=true' '/skill_state/validate/pass_rate=100' \\
              '/skill_state/validate/failed_tests=[]' "/skill_state/validate/last_run_at=\\"$now\\"" >/dev/null ;;
  complete) put 's/^  "status": "running"/  "status": "completed",\\n  "completed_at": "'"$now"'"/
                 s/"last_action": *[^,}]*/"last_action": "COMPLETE"/' ;;
esac
echo "ACTION_RESULT:"
echo "- action: $CCW_LOOP_ACTION"
echo "- status: success"
echo "- state_updates: {\\"status\\": \\"completed\\"}"
echo "NEXT_ACTION_NEEDED: COMPLETE"
"""

SKILL = {"current_action": None, "last_action": None, "completed_actions": [], "mode": "auto",
         "develop": {"total": 2, "completed": 0, "current_task": None, "tasks": [
             {"id": "t1", "description": "form", "status": "pending"},
             {"id": "t2", "description": "check", "status": "pending"}], "last_progress_at": None},
         "debug": {"active_bug": None, "hypotheses_count": 0, "hypotheses": [], "confirmed_hypothesis": None,
                   "iteration": 0, "last_analysis_at": None},
         "validate": {"pass_rate": None, "coverage": 0, "test_results": [], "passed": False, "failed_tests": [],
                      "last_run_at": None},
         "errors": []}


class Loops(world.World):
    def __init__(self, exe, **options):
        super().__init__(exe)
        self.switches = self.home + "/switches"
        os.mkdir(self.switches)
        self.switch("mode", "work")
        self.switch("skill.json", json.dumps(SKILL))
        self.executor = self.home + "/executor.sh"
        with open(self.executor, "w") as file:
            file.write(EXECUTOR)
        os.chmod(self.executor, 0o755)
        self.settings["agents"]["executor"] = {"command": [self.executor, self.log, self.switches]}
        self.settings["dialects"] = {"ccw_loop": {"granularity": "action", **options}}
        self.configure()

    def switch(self, name, text=""):
        with open(f"{self.switches}/{name}", "w") as file:
            file.write(text)

    def off(self, name):
        os.unlink(f"{self.switches}/{name}")

    def up(self):
        """A daemon that has begun to serve."""
        self.start()
        self.canary()

    def begun(self, action, *more):
        """A new loop, its executor held at this action."""
        self.switch(f"hold.{action}")
        loop = self.create(*more)
        self.call("start", loop)
        self.held(action)
        return loop

    def let(self, action, mode="work"):
        """The executor that is held goes on; from now on executors work so."""
        self.switch("mode", mode)
        self.off(f"hold.{action}")
        self.off(f"held.{action}")

    def held(self, action):
        wait_until(lambda: os.path.exists(f"{self.switches}/held.{action}"), action, "begins")

    def create(self, *more):
        return self.call("create", "--title", "Add login", *more).stdout.split()[-1].split("/")[1]

    def path(self, loop):
        return f"{self.root}/{FOLDER}/{loop}.json"

    def read(self, loop):
        """The file may be in the middle of being exchanged."""
        return wait_until(lambda: self.parsed(loop), loop, "is there")

    def parsed(self, loop):
        try:
            with open(self.path(loop)) as file:
                return json.load(file)
        except (OSError, ValueError):
            return None

    def until(self, loop, status):
        wait_until(lambda: self.read(loop)["status"] == status, loop, "gets", status, "; it is",
                   lambda: self.read(loop))

    def purposes(self, loop):
        return [each.purpose for each in self.starts(f"ccw_loop/{loop}")]

    def settled(self, loop):
        """No agent runs and nothing more is begun: what happens next is answered, and it was not this."""
        self.idle()
        self.canary()
        self.idle()


def five_actions(exe):
    with Loops(exe) as it:
        it.up()
        it.switch("hold.develop")
        loop = it.create("--description", "Add login and logout")
        check(it.read(loop)["status"] == "created")
        it.canary()
        check(it.purposes(loop) == [], "a created loop waits")
        it.call("start", loop)
        it.held("develop")
        it.call("pause", loop)
        check(it.read(loop)["status"] == "paused")
        it.let("develop")
        it.idle()
        wait_until(lambda: it.read(loop)["skill_state"]["develop"]["tasks"][0]["status"] == "completed",
                   "the progress is kept")
        it.until(loop, "paused")
        it.settled(loop)
        check(it.read(loop)["status"] == "paused", "the pause holds")
        check(it.purposes(loop) == ["init", "develop"], it.purposes(loop))
        it.call("resume", loop)
        it.until(loop, "completed")
        it.settled(loop)
        check(it.purposes(loop) == ["init", "develop", "develop", "validate", "complete"], it.purposes(loop))
        state = it.read(loop)
        check(state["current_iteration"] == 3, "iterations are counted by baton:", state["current_iteration"])
        check(any(each["event"] == "merged" for each in it.lines("events")), "the repair is told about")
        done = it.call("start", loop, code=1)
        check("force=true" in done.stderr, done.stderr)


def stopped(exe):
    with Loops(exe) as it:
        it.up()
        loop = it.begun("develop")
        it.call("stop", loop)
        it.idle()
        state = it.read(loop)
        check(state["status"] == "failed" and state["failure_reason"] == "Manually stopped by user", state)
        it.daemon.kill()
        it.daemon.wait()
        it.up()
        it.settled(loop)
        check(it.purposes(loop) == ["init", "develop"], "a stopped loop is never started again:", it.purposes(loop))
        it.call("resume", loop, code=1)
        it.off("hold.develop")
        it.call("start", loop, "--set", "force=true")
        it.until(loop, "completed")
        check("failure_reason" not in it.read(loop), it.read(loop))


def stubborn(exe):
    """An executor that does not see the pause is ended after the grace, and another one resumes."""
    with Loops(exe, pause_grace="1s") as it:
        it.up()
        loop = it.begun("develop")
        it.call("pause", loop)
        it.idle()
        ends = [run["outcome"] for run in it.lines("agents") if run["purpose"] == "develop"]
        check(ends == ["stopped"] and it.read(loop)["status"] == "paused", ends, it.read(loop))
        check(it.read(loop)["skill_state"]["errors"] == [], "that was no failure", it.read(loop))
        it.off("hold.develop")
        it.call("resume", loop)
        it.until(loop, "completed")
        check(it.purposes(loop) == ["init", "develop", "develop", "develop", "validate", "complete"], it.purposes(loop))


def three_deaths(exe):
    with Loops(exe) as it:
        it.up()
        loop = it.begun("develop")
        it.let("develop", "fail")
        it.until(loop, "failed")
        it.settled(loop)
        state = it.read(loop)
        check(it.purposes(loop) == ["init"] + ["develop"] * 3, it.purposes(loop))
        check([each["action"] for each in state["skill_state"]["errors"]] == ["develop"] * 3, state)
        check("exit_7" in state["failure_reason"], state)
        check(state["current_iteration"] == 1, "attempts are one iteration", state)
        it.switch("mode", "work")
        it.call("retry", loop)
        it.until(loop, "completed")


def no_progress(exe):
    with Loops(exe) as it:
        it.up()
        loop = it.begun("develop")
        it.let("develop", "idle")
        it.until(loop, "paused")
        it.settled(loop)
        check(it.purposes(loop) == ["init", "develop", "develop"], it.purposes(loop))
        holds = it.explain(f"ccw_loop/{loop}")["holds"]
        check(any(hold["reason"] == "no_change" for hold in holds), holds)
        [status] = it.lines("status", loop)
        # baton itself has paused it, because a person has to look.
        check((status["condition"], status["declared"]) == ("blocked", "paused"), status)


def limited(exe):
    with Loops(exe) as it:
        it.up()
        loop = it.begun("complete", "--max-iterations", "1")
        it.let("complete", "idle")
        it.until(loop, "failed")
        check(it.read(loop)["failure_reason"] == "max_iterations (1) reached", it.read(loop))
        it.settled(loop)
        check(it.purposes(loop) == ["init", "develop", "complete"], it.purposes(loop))


def foreign_writer(exe):
    """A dashboard that changes the status by writing the whole file, in place, without any care."""
    with Loops(exe) as it:
        it.up()

        def overwrite(loop, **members):
            state = {**it.read(loop), **members, "updated_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
            with open(it.path(loop), "w") as file:
                json.dump(state, file, indent=2)

        loop = it.create()
        it.switch("hold.develop")
        overwrite(loop, status="running")
        it.held("develop")
        overwrite(loop, status="paused")
        wait_until(lambda: it.lines("status", loop)[0]["declared"] == "paused", "the dashboard is obeyed")
        it.let("develop")
        it.idle()
        it.until(loop, "paused")
        it.switch("hold.develop")
        overwrite(loop, status="running")
        it.held("develop")
        overwrite(loop, status="failed", failure_reason="Manually stopped by user")
        it.idle()
        overwrite(loop, status="running")
        it.until(loop, "failed")
        it.settled(loop)
        check(it.purposes(loop) == ["init", "develop", "develop"], it.purposes(loop))


def interactive(exe):
    with Loops(exe) as it:
        it.switch("skill.json", json.dumps({**SKILL, "mode": "interactive"}))
        it.up()
        loop = it.create()
        it.call("start", loop, "--set", 'mode="interactive"')
        waits = lambda: any(hold["reason"] == "answer_wanted" for hold in it.explain(f"ccw_loop/{loop}")["holds"])
        wait_until(waits, "it asks")
        it.settled(loop)
        check(it.purposes(loop) == ["init"], "nothing runs while it waits:", it.purposes(loop))
        it.call("answer", loop, "--comment", "validate", code=1)
        it.call("answer", loop, "--comment", "develop the form first")
        wait_until(lambda: it.purposes(loop) == ["init", "develop"] and waits(), "it asks again")
        run = [run for run in it.lines("agents") if run["purpose"] == "develop"][0]["run"]
        check("the form first" in it.call("prompt", run).stdout, "the executor is told")
        said = it.call("answer", loop, "--comment", "status").stdout
        check("1 of 2 tasks done" in said, said)
        it.call("answer", loop, "--comment", "exit")
        it.until(loop, "user_exit")


def recovered(exe):
    with Loops(exe) as it:
        loop = "loop-v2-20260122T100000-abcdef01"
        progress = f"{it.root}/{FOLDER}/{loop}.progress"
        os.makedirs(progress)
        with open(progress + "/develop.md", "w") as file:
            file.write("# Development Progress\n\n**Loop ID**: " + loop + "\n**Task**: Add login\n"
                       "**Started**: 2026-01-22T10:00:00Z\n\n---\n\n## Task List\n\n1. [ ] form\n2. [ ] check\n\n"
                       "## Progress Timeline\n\n### Iteration 1 - form (2026-01-22T10:05:00Z)\n\n"
                       "#### Task Details\n- **ID**: task-001\n- **Tool**: codex\n- **Mode**: write\n\n"
                       "#### Files Changed\n- `a.c`\n\n#### Status: COMPLETED\n")
        with open(progress + "/changes.log", "w") as file:
            file.write(json.dumps({"timestamp": "2026-01-22T10:06:00Z", "task_id": "task-001", "description": "form",
                                   "files_changed": ["a.c", "b.c"], "result": "success"}) + "\n")
        with open(progress + "/hypotheses.json", "w") as file:
            json.dump({"hypotheses": [{"id": "H1", "description": "salt", "status": "pending"}], "iteration": 1,
                       "timestamp": "2026-01-22T10:07:00Z", "bug_description": "fails"}, file)
        with open(progress + "/test-results.json", "w") as file:
            json.dump({"iteration": 1, "timestamp": "2026-01-22T10:04:00Z", "summary": {
                "total": 2, "passed": 1, "failed": 1, "skipped": 0, "pass_rate": "50.0", "duration_ms": 3},
                "failures": [{"test_name": "t_login"}]}, file)
        it.up()
        wait_until(lambda: [each for each in it.lines("status") if each["flow"] == f"ccw_loop/{loop}"],
                   "the loop is known by what is left of it")
        shown = it.call("recover", loop)
        check(not os.path.exists(it.path(loop)), "it is shown before it is written")
        written = it.call("recover", loop, "--write")
        state = it.read(loop)
        check(set(state) - {"updated_at"} == set(json.loads(shown.stdout)) - {"updated_at"}, written.stdout)
        expected = {
            "loop_id": loop, "title": "Add login", "description": "Add login", "max_iterations": 10,
            "status": "paused", "current_iteration": 1, "created_at": "2026-01-22T10:00:00Z"}
        for name, value in expected.items():
            check(state[name] == value, name, "is", state[name])
        skill = {
            "current_action": None, "last_action": "DEBUG", "completed_actions": ["INIT", "VALIDATE", "DEVELOP", "DEBUG"],
            "mode": "auto", "errors": [],
            "develop": {"total": 2, "completed": 1, "current_task": None, "last_progress_at": "2026-01-22T10:06:00Z",
                        "tasks": [{"id": "task-001", "description": "form", "status": "completed",
                                   "files_changed": ["a.c", "b.c"], "created_at": "2026-01-22T10:00:00Z",
                                   "completed_at": "2026-01-22T10:06:00Z", "tool": "codex", "mode": "write"},
                                  {"id": "task-002", "description": "check", "status": "pending", "files_changed": [],
                                   "created_at": "2026-01-22T10:00:00Z", "completed_at": None}]},
            "debug": {"active_bug": "fails", "hypotheses_count": 1,
                      "hypotheses": [{"id": "H1", "description": "salt", "status": "pending"}],
                      "confirmed_hypothesis": None, "iteration": 1, "last_analysis_at": "2026-01-22T10:07:00Z"},
            "validate": {"pass_rate": 50.0, "coverage": None, "passed": False, "failed_tests": ["t_login"],
                         "last_run_at": "2026-01-22T10:04:00Z"},
        }
        for part, value in skill.items():
            if not isinstance(value, dict):
                check(state["skill_state"][part] == value, part, "is", state["skill_state"][part])
                continue
            for name, member in value.items():
                check(state["skill_state"][part][name] == member, part, name, "is", state["skill_state"][part][name])
        it.settled(loop)
        check(it.purposes(loop) == [], "what was rebuilt does not run")
        # The daemon's own copy is better than all of this.
        it.call("resume", loop)
        wait_until(lambda: it.purposes(loop), "resumed")
        it.until(loop, "completed")
        it.idle()
        with open(it.path(loop), "w") as file:
            file.write('{"loop_id": "' + loop[:9])
        wait_until(lambda: any(each["event"] == "rejected" for each in it.lines("events")), "torn for good")
        it.call("recover", loop, "--write")
        it.until(loop, "completed")
        check(it.read(loop)["title"] == "Add login")


def killed(exe):
    """kill -9 of the daemon at twenty moments: each action of each loop is done once."""
    with Loops(exe) as it:
        it.settings["limits"]["max_running"] = 2
        it.configure()
        it.start()
        loops = [it.create() for _ in range(10)]
        for loop in loops:
            it.call("start", loop)

        def states():
            return [it.parsed(loop) for loop in loops]

        # Right after an agent has begun, after a state has changed, and while the next daemon recovers.
        looks = (lambda: len(it.starts()), states, None)
        for moment in range(20):
            look = looks[moment % 3]
            if look is not None:
                before = look()
                # Quick agents may be through before all kills are: then the rest falls upon a quiet daemon.
                wait_until(lambda: look() != before or all(it.read(loop)["status"] == "completed" for loop in loops),
                           "something happens before kill", moment)
            it.daemon.kill()
            it.daemon.wait()
            it.start()
        for loop in loops:
            it.until(loop, "completed")
        it.idle()
        for loop in loops:
            check(it.purposes(loop) == ["init", "develop", "develop", "validate", "complete"], loop, it.purposes(loop))
            check(it.read(loop)["current_iteration"] == 3, it.read(loop))
        began = [each.run for each in it.starts() if each.flow.startswith("ccw_loop/")]
        check(len(began) == len(set(began)) == 50, "agents are counted once:", len(began))
        known = [run["run"] for run in it.lines("agents") if run["flow"].startswith("ccw_loop/")
                 and run["outcome"] != "voided"]
        check(sorted(known) == sorted(began), "the journal knows", known, "and there were", began)


# Goes on by itself, as the origin's executors do: reads the file before each action, leaves when it does
# not say running, and counts its iterations itself.
RUNNER = """#!/usr/bin/python3
import json, os, sys, time
env, log, switches = os.environ, sys.argv[1], sys.argv[2]
with open(log, "a") as file:
    file.write(" ".join(env["BATON_" + name] for name in ("RUN_ID", "FLOW", "SUBJECT", "PURPOSE", "ATTEMPT")) + "\\n")
def now():
    return time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime()) + "%03dZ" % (time.time() % 1 * 1000)
action = env["CCW_LOOP_ACTION"]
while True:
    with open(env["BATON_STATE_FILE"]) as file:
        state = json.load(file)
    if state["status"] != "running":
        sys.exit(0)
    skill = state.get("skill_state")
    if skill is None:
        action = "init"
    elif any(task["status"] != "completed" for task in skill["develop"]["tasks"]):
        action = "develop"
    else:
        action = "complete" if skill["validate"]["passed"] else "validate"
    hold = switches + "/hold." + action
    if os.path.exists(hold):
        open(switches + "/held." + action, "w").close()
        while os.path.exists(hold):
            time.sleep(0.05)
    with open(switches + "/mode") as file:
        if file.read() == "fail":
            sys.exit(7)
    if action == "init":
        with open(switches + "/skill.json") as file:
            state["skill_state"] = json.load(file)
    elif action == "develop":
        task = next(task for task in skill["develop"]["tasks"] if task["status"] != "completed")
        task["status"] = "completed"
        skill["develop"]["last_progress_at"] = now()
    elif action == "validate":
        skill["validate"].update(passed=True, pass_rate=100, last_run_at=now())
    else:
        state.update(status="completed", completed_at=now())
    state["current_iteration"] += action in ("develop", "validate")
    state["updated_at"] = now()
    with open(env["BATON_STATE_FILE"], "w") as file:  # without any care, as they do
        json.dump(state, file, indent=2)
    if action == "complete":
        sys.exit(0)
    time.sleep(0.2)  # it thinks about the next one
"""


def by_itself(exe):
    """Granularity run: one executor goes on until it sees a pause; a resume starts the next one; one that
    fails is started again; a daemon that is killed meanwhile finds it at work."""
    with Loops(exe, granularity="run", pause_grace="20s") as it:
        world.write(it.executor, RUNNER.encode())
        os.chmod(it.executor, 0o755)
        tasks = [{"id": f"t{i}", "description": "form", "status": "pending"} for i in range(20)]
        it.switch("skill.json", json.dumps({**SKILL, "develop": {**SKILL["develop"], "total": 20, "tasks": tasks}}))
        it.switch("hold.validate")
        it.up()
        loop = it.begun("develop", "--max-iterations", "100")
        it.call("pause", loop)
        it.let("develop")
        it.idle()
        it.settled(loop)
        state = it.read(loop)
        # It has written what it had, perhaps more than once, until it saw the pause.
        done = [task["status"] for task in state["skill_state"]["develop"]["tasks"]].count("completed")
        check(state["status"] == "paused", "the pause holds:", state)
        check(done >= 1 and state["current_iteration"] == done, "its work is kept, and its count:", state)
        check(it.purposes(loop) == ["init"], it.purposes(loop))
        if os.path.exists(it.switches + "/held.validate"):
            it.off("held.validate")
        it.call("resume", loop)
        it.held("validate")
        check(len(it.purposes(loop)) == 2, "one executor for the rest:", it.purposes(loop))
        it.daemon.kill()
        it.daemon.wait()
        it.up()
        alive = [run for run in it.lines("agents") if run["state"] == "running" and run["flow"] == f"ccw_loop/{loop}"]
        check(len(alive) == 1, "it is adopted:", alive)
        it.let("validate", "fail")
        wait_until(lambda: len(it.purposes(loop)) > 2, "it is started again")
        it.switch("mode", "work")
        it.until(loop, "completed")
        it.idle()
        state = it.read(loop)
        check(state["current_iteration"] == 21, "counted by itself:", state)
        check(state["skill_state"]["errors"] and "exit_7" in state["skill_state"]["errors"][0]["message"], state)
        check(set(it.purposes(loop)[2:]) == {"validate"}, it.purposes(loop))


def old_copies(exe):
    """Which copy is old and which is a wish: an executor that writes its own and ends while no daemon runs
    undoes no pause; the bytes from before a pause, written when it has left, are a wish to go on."""
    with Loops(exe, granularity="run") as it:
        it.up()
        loop = it.begun("develop")
        with open(it.path(loop)) as file:
            running = file.read()
        it.call("pause", loop)
        it.daemon.kill()
        it.daemon.wait()
        it.switch("mode", "idle")
        with open(it.path(loop), "w") as file:
            file.write(running)
        it.let("develop", "idle")
        wait_until(lambda: not world.processes_with(it.executor), "the executor is gone")
        it.up()
        it.until(loop, "paused")
        it.settled(loop)
        check(it.purposes(loop) == ["init", "develop"], it.purposes(loop))
        with open(it.path(loop)) as file:
            paused = file.read()
        it.switch("mode", "work")
        it.switch("hold.develop")
        for text in (paused.replace('"paused"', '"running"'), paused, paused.replace('"paused"', '"running"')):
            with open(it.path(loop), "w") as file:
                file.write(text)
            if text == paused:
                wait_until(lambda: it.lines("status", loop)[0]["declared"] == "paused", "it is paused")
                it.let("develop", "idle")
                it.idle()
                it.switch("hold.develop")
            else:
                it.held("develop")
        it.let("develop")
        it.until(loop, "completed")


def forgotten(exe):
    with Loops(exe) as it:
        it.up()
        loop = it.begun("develop", "--task", "form")
        it.call("forget", loop, code=1)
        it.let("develop")
        it.until(loop, "completed")
        it.idle()
        progress = f"{it.root}/{FOLDER}/{loop}.progress"
        os.makedirs(progress)
        with open(progress + "/develop.md", "w") as file:
            file.write("# Development Progress\n")
        # A canary in another folder says nothing about this file.
        wait_until(lambda: any(each["event"] == "accepted" and "develop.md" in each["why"] for each in it.lines("events")),
                   "the progress is seen")
        it.call("forget", loop)
        for again in (False, True):
            left = [path for path in glob.glob(f"{it.root}/{FOLDER}/**", recursive=True) if os.path.isfile(path)]
            check(left == [], "nothing of it is left in its place:", left)
            kept = glob.glob(f"{it.root}/{FOLDER}/.forgotten/*/{loop}*")
            check(len(kept) == 3, "it was put away whole:", kept)
            check([each for each in it.lines("status") if each["flow"] == f"ccw_loop/{loop}"] == [], "it is unknown")
            if not again:
                it.daemon.kill()
                it.daemon.wait()
                it.up()


def from_nothing(exe):
    """What `init` writes works as soon as there is a program for the role."""
    with Loops(exe) as it:
        it.root = f"{it.home}/new"
        os.mkdir(it.root)
        done = subprocess.run([exe, "init", "--dialect", "ccw_loop", it.root], capture_output=True, text=True)
        check(done.returncode == 0 and "baton.yaml" in done.stdout, done.stdout, done.stderr)
        it.config = f"{it.root}/baton.yaml"
        with open(it.config) as file:
            text = file.read()
        check("\n  ccw_loop: " in text and "\n  executor:\n" in text, text)
        again = subprocess.run([exe, "init", "--dialect", "ccw_loop", it.root], capture_output=True, text=True)
        with open(it.config) as file:
            check(file.read() == text, "nothing is overwritten", again.stdout, again.stderr)
        # The one line to change is the program; `action` is how the shell agent of this test works.
        text = re.sub(r"adapter: claude\n +args: .*", "command: " + json.dumps([it.executor, it.log, it.switches]), text)
        text = text.replace("  ccw_loop: {}", "  ccw_loop: { granularity: action }")
        with open(it.config, "w") as file:
            file.write(text)
        loop = it.create("--task", "form", "--task", "check")
        it.call("validate")
        it.call("start", loop)
        once = it.once()
        check(once.returncode == 0 and it.read(loop)["status"] == "completed", once.stdout, once.stderr)


def renewed(exe):
    """An executor that renews the file from its old copy again and again undoes no pause; when it has left, the pause
    stands in the file."""
    with Loops(exe, pause_grace="30m") as it:
        it.up()
        loop = it.begun("develop")
        it.call("pause", loop)
        it.let("develop", "renew")

        def disputed():
            said = it.call("pause", loop).stdout
            return "still has a version that was not accepted" in said and "the loop is paused, not running" in said
        wait_until(disputed, "the answer says what stands in the file")
        status = it.lines("status", loop)[0]
        check(status["declared"] == "paused" and "was put back" in status["why"], status)
        it.switch("leave")
        wait_until(lambda: it.lines("status", loop)[0]["agents"] == 0, "the executor leaves")
        it.until(loop, "paused")
        it.settled(loop)
        [status] = it.lines("status", loop)
        check((status["condition"], status["reason"], status["do"]) ==
              ("blocked", "write_conflict", f"baton resume ccw_loop/{loop}") and "was put back" in status["why"], status)
        check(it.purposes(loop) == ["init", "develop"], it.purposes(loop))
        it.switch("mode", "work")
        it.call("resume", loop)
        it.until(loop, "completed")


def wrong_usage(exe):
    """What a command does not know is wrong usage (2), with and without a daemon, and makes nothing."""
    with Loops(exe) as it:
        known = it.create()
        before = sorted(os.listdir(f"{it.root}/{FOLDER}"))
        for daemon in (False, True):
            if daemon:
                it.up()
            for words, told in ((["create"], "--title"), (["create", "--title", " "], "--title"),
                                (["create", "--title", "t", "--max-iterations", "0"], "from 1"),
                                (["create", "--title", "t", "--max-iterations", "few"], "a number"),
                                (["create", "--title", "t", "--task", ""], "empty"),
                                (["start", known, "--set", "forse=true"], "did you mean `force`?"),
                                (["start", known, "--set", "mode=\"fast\""], "interactive"),
                                (["start", known, "--requirements", "x"], "requirements"),
                                (["start", "loop-v2-nobody"], "there is no flow loop-v2-nobody")):
                done = it.call(*words, code=2)
                check(told in done.stderr, words, done.stdout, done.stderr)
        check(it.read(known)["status"] == "created")
        check(sorted(os.listdir(f"{it.root}/{FOLDER}")) == before, "nothing was made", os.listdir(f"{it.root}/{FOLDER}"))
        done = it.call("stop", known)
        check("stopped" in done.stdout, done.stdout)
        done = it.call("stop", known)
        check("Manually stopped by user" in done.stdout, done.stdout)


def neighbours(exe):
    """Files of other tools in the same folder are known, told about once, and left alone."""
    with Loops(exe) as it:
        it.up()
        it.canary()
        for name in ("loop-b-20260122-abc.json", "loop-task-1-20260122.json"):
            world.write(f"{it.root}/{FOLDER}/{name}", {"mode": "parallel", "status": "running"})
        loop = it.create()
        elsewhere = f"{it.root}/.loop/loop-v2-old.json"
        world.write(elsewhere, {**it.read(loop), "loop_id": "loop-v2-old", "status": "running"})
        wait_until(lambda: any(".loop/loop-v2-old" in each["why"] for each in it.lines("events")),
                   "loops in the other folder are told about (C-31)")
        it.canary()
        flows = [each["flow"] for each in it.lines("status") if each["flow"].startswith("ccw_loop/")]
        check(flows == [f"ccw_loop/{loop}"], flows)
        ignored = [each["why"] for each in it.lines("events") if each["event"] == "ignored"]
        # Once for each process that has looked at the root.
        check(len(set(ignored)) == 3 and all("left alone" in why for why in ignored), ignored)
        check(len(glob.glob(f"{it.root}/{FOLDER}/loop-b-*")) == 1)
        check(re.fullmatch(r"loop-v2-\d{8}T\d{6}-[0-9a-f]{8}", loop), loop)


def alone(exe):
    """A lone file is explained as if it stood in its place."""
    with Loops(exe) as it:
        loop = "loop-v2-20260122T100000-abcdef01"
        state = {"loop_id": loop, "title": "t", "description": "", "max_iterations": 10, "status": "running",
                 "current_iteration": 0, "created_at": "2026-01-22T10:00:00Z",
                 "updated_at": "2026-01-22T10:00:00Z", "skill_state": SKILL}
        for name in (loop, "any_name"):
            path = f"{it.home}/{name}.json"
            for hours, warnings in ((3, 1), (0, 0)):
                at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + hours * 3600))
                world.write(path, {**state, "updated_at": at})
                told = json.loads(it.call("validate", path, "--as", "ccw_loop/state", "--json").stdout)
                ahead = [each for each in told["findings"] if each["rule"] == "ccw_loop/S12"]
                check(len(ahead) == warnings and all(each["line"] > 0 for each in ahead), hours, told)
            world.write(path, state)
            told = json.loads(it.call("explain", path, "--as", "ccw_loop/state", "--json").stdout)
            check([(each["role"], each["purpose"]) for each in told["desired"]] == [("executor", "develop")], told)


def example(exe):
    """The example of the documentation, as it tells to run it."""
    with Loops(exe) as it:
        top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
        for name in ("ccw_loop", "agents"):
            shutil.copytree(f"{top}/{name}", f"{it.home}/{name}")
        it.root = f"{it.home}/ccw_loop"
        it.config = f"{it.root}/baton.yaml"
        shutil.copy(f"{it.root}/demo.yaml", it.config)
        loop = it.create("--task", "login", "--task", "logout")
        done = it.call("start", loop)
        check("recorded" in done.stdout, done.stdout)
        once = it.once()
        check(once.returncode == 0, once.stdout, once.stderr)
        check(it.read(loop)["status"] == "completed", it.read(loop), once.stderr)
        with open(f"{it.root}/work.txt") as file:
            check(file.read() == "login\nlogout\n")


def test(exe, *only):
    for part in (five_actions, stopped, stubborn, three_deaths, no_progress, limited, foreign_writer, interactive,
                 recovered, by_itself, old_copies, renewed, forgotten, wrong_usage, from_nothing, neighbours, alone, example, killed):
        if not only or part.__name__ in only:
            part(exe)
            print(part.__name__, flush=True)


if __name__ == "__main__":
    world.main(test)
