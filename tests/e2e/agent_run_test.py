# SPDX-License-Identifier: Apache-2.0
"""Workflow runs with the real program and shell agents: a diamond with a gate that fails twice, a flaky step,
loops over items, also two at once, a step approved by command and one rejected by file; the daemon killed whenever an
agent begins; going on at a step; two runs at once; the state files of the seed.
usage: agent_run_test.py BATON"""

import json
import os
import shutil
import subprocess
import sys

import world
from world import check, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "../../schemas/agent_run/examples/valid")

# $1 the log, $2 the folder with a piece of shell per step. `report STATUS [MEMBERS]` writes the report,
# `first NAME` is true once, `until NAME` waits for a file.
AGENT = r"""#!/bin/sh
log=$1 acts=$2
printf '%s\n' "$RUN_ID $STEP_ID $STEP_ATTEMPT $LOOP_INDEX $LOOP_ITEM" >>"$log"
now() { date -u +%Y-%m-%dT%H:%M:%SZ; }
began=$(now)
report() {
  printf '{"schema":"run_report@v0","run_id":"%s","step_id":"%s","agent":"%s","status":"%s","started_at":"%s","ended_at":"%s"%s}\n' \
    "$RUN_ID" "$STEP_ID" "$AGENT_ID" "$1" "$began" "$(now)" "${2:-,\"logs\":[\"did $STEP_ID\"]}" >"$REPORT_PATH"
}
first() { mkdir "$acts/once.$RUN_ID.$1" 2>/dev/null; }
until_there() { while [ ! -e "$acts/$1" ]; do sleep 0.05; done; }
if [ -f "$acts/$STEP_ID" ]; then . "$acts/$STEP_ID"; else report COMPLETED; fi
"""

SIX = """name: six
steps:
  - {id: build, agent: worker, prompt: p.md}
  - {id: unit, agent: worker, prompt: p.md, needs: [build]}
  - {id: security, agent: worker, prompt: p.md, needs: [build], loop_back_to: build}
  - {id: docs, agent: worker, prompt: p.md, needs: [unit, security], loop: {items: [a, b, c]}}
  - {id: sign_off, agent: worker, prompt: p.md, needs: [docs], human_in_the_loop: true}
  - {id: publish, agent: worker, prompt: p.md, needs: [sign_off], human_in_the_loop: true, loop_back_to: publish}
"""
SIX_ACTS = {
    "unit": "if first flaky; then report FAILED; exit 1; fi; report COMPLETED",
    "security": """if first one || first two; then report COMPLETED ',"gate_failure":true,"logs":["a hole"]'
                   else report COMPLETED; fi""",
    "publish": """[ -z "$LOOP_BACK_REASON" ] || printf '%s' "$LOOP_BACK_REASON" >"$ARTIFACTS_DIR/reason"
                  report COMPLETED""",
}


class Runs:
    """A world with the dialect and one agent for all steps."""

    def __init__(self, exe, acts, baton=None):
        self.baton = baton or world.World(exe)
        home = self.baton.home
        self.acts = home + "/acts"
        os.mkdir(self.acts)
        for step, text in acts.items():
            self.act(step, text)
        agent = home + "/flow_agent.sh"
        with open(agent, "w") as file:
            file.write(AGENT)
        os.chmod(agent, 0o755)
        self.baton.settings["agents"] = {
            name: {"command": [agent, self.baton.log, self.acts]} for name in ("default",)}
        self.baton.settings["dialects"] = {"agent_run": {}}
        del self.baton.settings["rules"]
        self.baton.configure()
        with open(self.baton.root + "/p.md", "w") as file:
            file.write("Do your step of {run_id}.\n")

    def __enter__(self):
        self.baton.__enter__()
        return self

    def __exit__(self, *why):
        if why[0] is not None:
            for folder, _, files in os.walk(self.baton.root + "/.agents/runs"):
                if "run_state.json" in files:
                    with open(folder + "/run_state.json", errors="replace") as file:
                        print("--- run", folder, file.read())
        self.baton.__exit__(*why)

    def act(self, step, text):
        world.write(f"{self.acts}/{step}", text.encode())

    def workflow(self, text, name="workflow.yaml"):
        path = f"{self.baton.root}/{name}"
        world.write(path, text.encode())
        return path

    def begin(self, workflow, run, *more, code=0):
        return self.baton.call("start", workflow, "--run-id", run, *more, code=code)

    def folder(self, run):
        return f"{self.baton.root}/.agents/runs/{run}"

    def state(self, run):
        try:
            with open(self.folder(run) + "/run_state.json") as file:
                text = file.read()
        except FileNotFoundError:
            return {"status": None, "steps": {}}
        state = json.loads(text)
        # Two blanks per level, as the seed has it, however often the file was changed.
        check(text == json.dumps(state, indent=2, ensure_ascii=False) + "\n", "the layout of", text[:1000])
        return state

    def step(self, run, step):
        return self.state(run)["steps"].get(step, {"status": None})

    def wait_for(self, run, step, status):
        wait_until(lambda: self.step(run, step)["status"] == status, step, "becomes", status)

    def wait_end(self, run, status="COMPLETED"):
        wait_until(lambda: self.state(run)["status"] == status, run, "becomes", status,
                   lambda: self.state(run))

    def starts(self, run):
        with open(self.baton.log) as file:
            return [line.split(" ", 4)[1:] for line in file.read().splitlines() if line.split()[0] == run]

    def count(self, run, step):
        return sum(each[0] == step for each in self.starts(run))

    def decide(self, run, step, decision):
        world.write(f"{self.folder(run)}/manual_inputs/{run}__{step}.json", decision)


def asked(once, run, step):
    """A run that waits for a person's approval is blocked, and says how to give it."""
    check(once.returncode == 1 and f"agent_run/{run} is blocked: approval_wanted: " in once.stderr
          and f"; do: baton approve agent_run/{run} {step}\n" in once.stderr, once)


def check_six(runs, run):
    steps = runs.state(run)["steps"]
    check(all(step["status"] == "COMPLETED" for step in steps.values()), steps)
    for step, iterations, starts in (("build", 2, 3), ("security", 2, 3), ("docs", 2, 3), ("sign_off", 2, 1),
                                     ("publish", 3, 2)):
        check(steps[step]["iteration_count"] == iterations, step, steps[step])
        check(steps[step]["executions"] == starts, step, steps[step])
        check(runs.count(run, step) == starts, step, runs.starts(run))
    items = [each[3] for each in runs.starts(run) if each[0] == "docs"]
    check(items == ['"a"', '"b"', '"c"'], items)
    check(steps["unit"]["executions"] >= 2, steps["unit"])
    check(steps["publish"]["last_gate_failure"] == "Gate failure: not yet", steps["publish"])
    with open(runs.folder(run) + "/artifacts/reason") as file:
        check(file.read() == "not yet")
    check(steps["security"]["last_gate_failure"] == "Gate failure: a hole", steps["security"])
    kept = os.listdir(runs.folder(run) + "/manual_inputs/archive")
    check(len(kept) == 3, kept)


def decide_six(runs, run, between=lambda: None):
    runs.wait_for(run, "sign_off", "WAITING_ON_HUMAN")
    between()
    runs.baton.call("approve", run, "sign_off")
    runs.wait_for(run, "publish", "WAITING_ON_HUMAN")
    between()
    runs.decide(run, "publish", {"approved": False, "comments": "not yet"})
    wait_until(lambda: runs.step(run, "publish").get("iteration_count") == 3, "publish comes back")
    runs.wait_for(run, "publish", "WAITING_ON_HUMAN")
    runs.decide(run, "publish", {"status": "approved"})
    runs.wait_end(run)


def six_steps(exe):
    with Runs(exe, SIX_ACTS) as runs:
        workflow = runs.workflow(SIX)
        runs.baton.start()
        runs.begin(workflow, "one", "--pause-for-human-input")
        runs.begin(workflow, "two", "--pause-for-human-input")
        runs.wait_for("one", "sign_off", "WAITING_ON_HUMAN")
        # Only where people are asked. who_asks_test.py has what agents may.
        runs.baton.call("approve", "one", "build", code=1)
        decide_six(runs, "one")
        decide_six(runs, "two")
        check_six(runs, "one")
        check_six(runs, "two")


def killed(exe):
    """The daemon dies whenever an agent has begun, and whenever a person is asked."""
    acts = {step: "sleep 0.2; " + SIX_ACTS.get(step, "report COMPLETED")
            for step in ("build", "unit", "security", "docs", "sign_off", "publish")}
    with Runs(exe, acts) as runs:
        workflow = runs.workflow(SIX)
        runs.baton.start()
        runs.begin(workflow, "k", "--pause-for-human-input")

        def again():
            runs.baton.daemon.kill()
            runs.baton.daemon.wait()
            runs.baton.start()

        seen = 0
        while runs.step("k", "sign_off")["status"] != "WAITING_ON_HUMAN":
            wait_until(lambda: len(runs.starts("k")) > seen or
                       runs.step("k", "sign_off")["status"] == "WAITING_ON_HUMAN", "the run goes on",
                       lambda: runs.state("k"))
            if len(runs.starts("k")) > seen:
                seen = len(runs.starts("k"))
                again()
        decide_six(runs, "k", again)
        check_six(runs, "k")


def items_at_once(exe):
    """A parallel loop: two of its items are at work at the same time, and the daemon dies meanwhile."""
    act = """touch "$acts/began.{0}"; until_there began.{1}; until_there go
             report COMPLETED ',"artifacts":["{0}.txt"]'"""
    acts = {f"a.{number}": act.format(number, other) for number, other in ((1, 2), (2, 1), (3, 3), (4, 4))}
    text = """name: many
steps:
  - {{id: a, agent: worker, prompt: p.md, loop: {{items: [w, x, y, z], parallel: {}}}}}
  - {{id: b, agent: worker, prompt: p.md, needs: [a]}}
"""
    with Runs(exe, acts) as runs:
        for wrong in (0, "two", 101, 1.5):
            done = runs.begin(runs.workflow(text.format(wrong)), "r", code=None)
            check(done.returncode == 2 and "workflow.yaml:3:80: " in done.stderr, done)
        check(runs.state("r")["status"] is None)
        runs.baton.start()
        runs.begin(runs.workflow(text.format(2)), "r")
        wait_until(lambda: len(runs.starts("r")) == 2, "two items begin", lambda: runs.state("r"))
        runs.baton.daemon.kill()
        runs.baton.daemon.wait()
        runs.baton.start()
        runs.act("go", "")
        runs.wait_end("r")
        state = runs.state("r")
        check(state["steps"]["a"]["artifacts"] == ["1.txt", "2.txt", "3.txt", "4.txt"], state)
        check(sorted(each[0] + each[3] for each in runs.starts("r")) == ['a.1"w"', 'a.2"x"', 'a.3"y"', 'a.4"z"', "b"],
              runs.starts("r"))
        reports = os.listdir(runs.folder("r") + "/reports")
        check(all(f"r__a.{number}.json" in reports for number in (1, 2, 3, 4)) and "r__a.json" not in reports, reports)


def at_step(exe):
    with Runs(exe, {"b": "if first b; then report FAILED; else report COMPLETED; fi",
                    "a": """report COMPLETED ',"artifacts":["a.txt"],"logs":["done"]'"""}) as runs:
        workflow = runs.workflow("name: three\nsteps:\n" + "".join(
            "  - {id: %s, agent: worker, prompt: p.md, needs: [%s]}\n" % pair
            for pair in (("a", ""), ("b", "a"), ("c", "b"))))
        runs.begin(workflow, "r", "--max-attempts", "1")
        once = runs.baton.once()
        check(once.returncode == 1, once)
        check(runs.state("r")["status"] == "FAILED")
        # D-AO-14: without a run id the newest run of this workflow goes on, whatever else has begun since.
        other = runs.workflow("name: other\nsteps:\n  - {id: a, agent: worker, prompt: p.md}\n", "other.yaml")
        runs.begin(other, "newer")
        once = runs.baton.once()
        # What has failed before and did not move does not count; it is listed all the same.
        check(once.returncode == 0 and "agent_run/r is failed: attempts_exhausted" in once.stderr, once)
        runs.baton.call("start", workflow, "--start-at-step", "b")
        once = runs.baton.once()
        check(once.returncode == 0, once)
        state = runs.state("r")
        check(state["status"] == "COMPLETED", state)
        check(state["steps"]["a"]["artifacts"] == ["a.txt"], state["steps"]["a"])
        check([runs.count("r", step) for step in "abc"] == [1, 2, 1], runs.starts("r"))


def refused(exe):
    """What is wrong with a workflow is told with its place, and nothing is begun."""
    with Runs(exe, {}) as runs:
        os.makedirs(runs.baton.root + "/.agents/runs")
        bad = runs.workflow("steps:\n  - {id: a, agent: x, prompt: p.md, needs: [b]}\n")
        done = runs.begin(bad, "r", code=2)
        check("workflow.yaml:2:" in done.stderr and 'the step "b"' in done.stderr, done.stderr)
        lost = runs.workflow("steps:\n  - {id: a, agent: x, prompt: no.md}\n")
        done = runs.begin(lost, "r", code=3)
        check("/.agents/prompts/no.md" in done.stderr, done.stderr)
        fine = runs.workflow("steps:\n  - {id: a, agent: x, prompt: p.md}\n")
        for more in (("--max-attempts", "0"), ("--repo", "/"), ("--set", "A")):
            runs.begin(fine, "r", *more, code=2)
        runs.begin(fine, "../r", code=2)
        runs.baton.call("start", fine, "--start-at-step", "a", code=2)
        check(os.listdir(runs.baton.root + "/.agents/runs") == [])


def printed(exe):
    """A report that is printed between the markers counts as one that is written."""
    with Runs(exe, {"a": """printf 'thinking\\n<<<RUN_REPORT_JSON\\n'
                            REPORT_PATH=/dev/stdout report DONE ',"logs":["said"]'
                            printf 'RUN_REPORT_JSON>>>\\nbye\\n'"""}) as runs:
        runs.begin(runs.workflow("steps:\n  - {id: a, agent: x, prompt: p.md}\n"), "r")
        check(runs.baton.once().returncode == 0)
        check(runs.step("r", "a")["logs"] == ["said"], runs.state("r"))
        done = runs.baton.call("validate")
        check("0 errors, 0 warnings" in done.stdout + done.stderr, done)


STREAM = r"""say() { # the report as a stream of events has it: escaped, in one line
  told=$(REPORT_PATH=/dev/stdout report DONE ',"logs":["said"]' | sed 's/"/\\"/g')
  printf '{"type":"system","subtype":"init"}\n{"type":"%s","result":"done\\n<<<RUN_REPORT_JSON\\n%s\\nRUN_REPORT_JSON>>>\\n"}\n' "$1" "$told"
}
noise() { head -c "$1" /dev/zero | tr '\0' x | fold -w 100; echo; }
"""


def streamed(exe):
    """A report within a stream of JSON counts too, when it lies in the last 256 KiB; what the agent was told does not."""
    with Runs(exe, {"a": STREAM + "noise 400000; say result", "b": STREAM + "say result; noise 240000",
                    "c": STREAM + "say result; noise 300000", "d": STREAM + "say user"}) as runs:
        runs.baton.settings["dialects"] = {"agent_run": {"on_failure": "drain"}}
        runs.baton.configure()
        runs.begin(runs.workflow("steps:\n" + "".join(
            "  - {id: %s, agent: x, prompt: p.md, max_attempts: 1}\n" % step for step in "abcd")), "r")
        check(runs.baton.once().returncode == 1)
        for step in "ab":
            check(runs.step("r", step)["logs"] == ["said"], runs.step("r", step))
        for step in "cd":
            check(runs.step("r", step)["last_error_code"] == "no_report", runs.step("r", step))


def variables(exe):
    """The environment of the original, besides what baton gives to every agent."""
    with Runs(exe, {"make-it": """report COMPLETED ',"artifacts":["./x//one.md","gh_issue_7.md"],"logs":["m"]'""",
                    "use": 'env | sort >"$ARTIFACTS_DIR/env"; cat >"$ARTIFACTS_DIR/stdin"; report DONE'}) as runs:
        runs.baton.settings["agents"]["fetcher"] = {
            **runs.baton.settings["agents"]["default"], "env": {"set": {"ISSUE_NUMBER": "9"}}}
        runs.baton.configure()
        runs.act("fetch", 'env >"$ARTIFACTS_DIR/fetch"; report DONE')
        runs.act("plain", 'env >"$ARTIFACTS_DIR/plain"; report DONE')
        runs.begin(runs.workflow("""steps:
  - {id: fetch, agent: fetcher, prompt: p.md}
  - {id: plain, agent: x, prompt: p.md}
  - {id: make-it, agent: maker, prompt: p.md}
  - {id: prüfen 1, agent: maker, prompt: p.md}
  - {id: use, agent: user, prompt: p.md, needs: [make-it, prüfen 1], model: big, timeout: 100, human_in_the_loop: true}
"""), "r", "--set", "COLOUR=\"red\"", "--set", "SIZE=3", "--set", "WORDS=as they are")
        check(runs.baton.once().returncode == 0)
        root, folder = runs.baton.root, runs.folder("r")
        with open(folder + "/artifacts/env") as file:
            env = dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)
        with open(folder + "/artifacts/stdin") as file:
            check(file.read() == "Do your step of r.\n")
        for name, value in {
                "RUN_ID": "r", "STEP_ID": "use", "AGENT_ID": "user", "REPO_DIR": root,
                "PROMPT_PATH": folder + "/prompts/use.md", "REPORT_PATH": folder + "/reports/r__use.json",
                "MANUAL_RESULT_PATH": "", "STEP_ATTEMPT": "1", "ARTIFACTS_DIR": folder + "/artifacts",
                "STEP_MODEL": "big", "COLOUR": "red", "SIZE": "3", "WORDS": "as they are", "DEP_MAKE_IT_ARTIFACT_0": root + "/x/one.md",
                "DEP_MAKE_IT_ARTIFACTS": f"{root}/x/one.md,{root}/gh_issue_7.md",
                "DEP_PR_FEN_1_ARTIFACTS": "",
                "ISSUE_MARKDOWN_PATH": root + "/gh_issue_7.md", "ISSUE_MARKDOWN_DIR": root,
                "ISSUE_MARKDOWN_FILENAME": "gh_issue_7.md", "BATON_ROOT": root, "BATON_FLOW": "agent_run/r",
                "BATON_STATE_FILE": folder + "/run_state.json"}.items():
            check(env.get(name) == value, name, env.get(name), "is not", value)
        # Who has a number, and needs nobody who has fetched the issue, is told where it belongs.
        artifacts = folder + "/artifacts"
        check(issue(artifacts + "/fetch") == ["9", artifacts + "/gh_issue_9.md", artifacts, "gh_issue_9.md"],
              issue(artifacts + "/fetch"))
        check(issue(artifacts + "/plain") == [None] * 4, issue(artifacts + "/plain"))
        runs.act("plain", 'env >"$ARTIFACTS_DIR/plain"; report DONE')
        alone = runs.workflow("steps:\n  - {id: plain, agent: x, prompt: p.md}\n")
        runs.begin(alone, "s", "--issue-number", "12", "--set", "ISSUE_MARKDOWN_DIR=elsewhere")
        runs.begin(alone, "t", "--set", "ISSUE_NUMBER=13")
        runs.begin(alone, "u", "--issue-number", "../1", code=2)
        check(runs.baton.once().returncode == 0)
        artifacts = runs.folder("s") + "/artifacts"
        check(issue(artifacts + "/plain") == ["12", artifacts + "/gh_issue_12.md", "elsewhere", "gh_issue_12.md"],
              issue(artifacts + "/plain"))
        check(issue(runs.folder("t") + "/artifacts/plain")[3] == "gh_issue_13.md")


def issue(path):
    with open(path) as file:
        env = dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)
    return [env.get(name) for name in
            ("ISSUE_NUMBER", "ISSUE_MARKDOWN_PATH", "ISSUE_MARKDOWN_DIR", "ISSUE_MARKDOWN_FILENAME")]


def shipped(exe):
    """The example runs as its first lines say, and `init` writes its workflow."""
    with Runs(exe, {}) as runs:
        folder = runs.baton.home + "/demo"
        shutil.copytree(os.path.join(HERE, "../../examples/agent_run"), folder)
        os.replace(folder + "/demo.yaml", folder + "/baton.yaml")

        def call(*words, code=0):
            done = subprocess.run([runs.baton.exe, *words, "--state-dir", runs.baton.state], cwd=folder, text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=world.PATIENCE)
            check(done.returncode == code, words, done)
            return done

        call("start", "workflow.yaml", "--run-id", "demo", "--pause-for-human-input")
        # Until a person is asked.
        asked(call("run", "--once", code=1), "demo", "release")
        with open(folder + "/.agents/runs/demo/run_state.json") as file:
            state = json.load(file)
        check(state["status"] == "WAITING" and state["steps"]["review"]["iteration_count"] == 1, state)
        call("approve", "demo", "release")
        call("run", "--once")
        with open(folder + "/.agents/runs/demo/run_state.json") as file:
            check(json.load(file)["status"] == "COMPLETED")
        made = runs.baton.home + "/made"
        subprocess.run([exe, "init", "--dialect", "agent_run", made], check=True, stdout=subprocess.DEVNULL)
        done = subprocess.run([exe, "validate", "--as", "agent_run/workflow", made + "/workflow.yaml"])
        check(done.returncode == 0)
        with open(made + "/baton.yaml") as file:
            check("agent_run: {}" in file.read())


def no_program(exe):
    """A program that cannot be entered counts as an attempt, and nothing hangs."""
    with Runs(exe, {}) as runs:
        bad = runs.baton.home + "/bad.sh"
        world.write(bad, b"\x7fELF garbage")
        os.chmod(bad, 0o755)
        runs.baton.settings["agents"] = {"default": {"command": [bad]}}
        runs.baton.configure()
        runs.begin(runs.workflow("steps:\n  - {id: a, agent: x, prompt: p.md}\n"), "r")
        check(runs.baton.once().returncode == 1)
        step = runs.step("r", "a")
        check((step["status"], step["attempts"], step["last_error_code"]) == ("FAILED", 2, "launch_failed"), step)
    # One that is not there is said by name at the start; what it has nothing to do with goes on.
    with Runs(exe, {}) as runs:
        gone = runs.baton.home + "/gone.sh"
        runs.baton.settings["agents"]["nobody"] = {"command": [gone]}
        runs.baton.settings["dialects"] = {"agent_run": {"on_failure": "drain"}}
        runs.baton.configure()
        workflow = runs.workflow("steps:\n  - {id: a, agent: nobody, prompt: p.md}\n"
                                 "  - {id: b, agent: x, prompt: p.md}\n")
        runs.begin(workflow, "r")
        once = runs.baton.once()
        check(once.returncode == 1 and "`nobody`" in once.stderr and gone in once.stderr, once)
        step = runs.step("r", "a")
        check((step["status"], step["attempts"], step["last_error_code"]) == ("FAILED", 2, "launch_failed"), step)
        check(gone in step["last_error"], step)
        check(runs.step("r", "b")["status"] == "COMPLETED", runs.state("r"))
        shutil.copy(runs.baton.home + "/flow_agent.sh", gone)
        runs.baton.settings["agents"]["nobody"] = {"command": [gone, runs.baton.log, runs.acts]}
        runs.baton.configure()
        runs.baton.call("retry", "r")
        check(runs.baton.once().returncode == 0)
        check(runs.state("r")["status"] == "COMPLETED" and runs.step("r", "a")["attempts"] == 1, runs.state("r"))


def logs_kept(exe):
    """Both streams of every start in a file of its own, whatever else is there."""
    acts = {"a": """echo "out $STEP_ATTEMPT"; echo "err $STEP_ATTEMPT" >&2
                    if first a; then report FAILED; exit 1; fi; report COMPLETED""",
            "b": """echo "item $LOOP_ITEM"; report COMPLETED""",
            "c": "head -c 300000 /dev/zero | tr '\\0' x; report COMPLETED"}
    with Runs(exe, acts) as runs:
        runs.baton.settings["limits"]["log_cap"] = "100KiB"
        runs.baton.configure()
        workflow = runs.workflow("""steps:
  - {id: a, agent: x, prompt: p.md}
  - {id: b, agent: x, prompt: p.md, needs: [a], loop: {items: [1, 2]}}
  - {id: c, agent: x, prompt: p.md, needs: [b]}
""")
        runs.begin(workflow, "r")
        check(runs.baton.once().returncode == 0)

        def log(name, folder=runs.folder("r") + "/logs"):
            with open(f"{folder}/{name}") as file:
                return file.read()

        check(log("r__a__i0__attempt1.log").split() == ["out", "1", "err", "1"], log("r__a__i0__attempt1.log"))
        check(sorted(log("r__a__i0__attempt2.log").split()) == ["2", "2", "err", "out"])
        check(log("r__b__i0__attempt1.log") == "item 1\n" and log("r__b__i0__attempt1__x2.log") == "item 2\n")
        check("log cap of 102400 bytes reached" in log("r__c__i0__attempt1.log")[102400:])
        # Somewhere else, and not through a link of any kind that lies in the way, nor into a pipe.
        other = runs.baton.home + "/other"
        os.mkdir(other)
        world.write(runs.baton.home + "/precious", b"precious")
        os.symlink(runs.baton.home + "/precious", other + "/s__a__i0__attempt1.log")
        os.link(runs.baton.home + "/precious", other + "/s__a__i0__attempt2.log")
        os.mkfifo(other + "/s__c__i0__attempt1.log")
        runs.begin(workflow, "s", "--logs-dir", other)
        check(runs.baton.once().returncode == 0)
        check(log("s__b__i0__attempt1.log", other) == "item 1\n")
        check(log("precious", runs.baton.home) == "precious")
        refused = runs.begin(workflow, "u", "--logs-dir", runs.baton.home + "/precious/logs", code=2)
        check("cannot create a folder for the logs there" in refused.stderr, refused.stderr)
        deep = runs.baton.home + "/deep/er/logs"
        os.symlink(other, runs.baton.home + "/deep")
        runs.begin(workflow, "t", "--logs-dir", deep)
        check(runs.baton.once().returncode == 0)
        check(log("t__b__i0__attempt1.log", other + "/er/logs") == "item 1\n")
        # What an agent makes a link of is left alone, with all that lies behind it.
        world.write(runs.baton.home + "/precious", b"precious")
        os.rename(other + "/er", other + "/err")
        os.symlink(runs.baton.home + "/elsewhere/er", other + "/er")
        os.makedirs(runs.baton.home + "/elsewhere/er/logs")
        world.write(runs.baton.home + "/elsewhere/er/logs/t__b__i0__attempt1.log", b"precious")
        runs.begin(workflow, "t", "--start-at-step", "b")
        check(runs.baton.once().returncode == 0)
        check(log("t__b__i0__attempt1.log", runs.baton.home + "/elsewhere/er/logs") == "precious")
        check(os.listdir(runs.baton.home + "/elsewhere/er/logs") == ["t__b__i0__attempt1.log"])


def placeholders(exe):
    """Each stays one argument, whatever blanks are in it."""
    with Runs(exe, {}) as runs:
        script = runs.baton.home + "/args.sh"
        world.write(script, b"""#!/bin/sh
printf '%s\\n' "$@" >"$ARTIFACTS_DIR/args"
printf '{"schema":"run_report@v0","run_id":"%s","step_id":"%s","agent":"a","status":"DONE","started_at":"%s","ended_at":"%s","logs":["l"]}' \
  "$RUN_ID" "$STEP_ID" "$(date -u +%FT%TZ)" "$(date -u +%FT%TZ)" >"$3"
""")
        os.chmod(script, 0o755)
        names = ("step_id", "agent", "report", "repo", "prompt", "manual_input", "model", "step_attempt", "flow_name")
        runs.baton.settings["agents"] = {"default": {"command": [script, *("${%s}" % name for name in names),
                                                                 "--at=${repo}/x y"]}}
        runs.baton.configure()
        runs.begin(runs.workflow("""steps:
  - {id: a, agent: big one, prompt: p.md, model: m 1, human_in_the_loop: true}
"""), "r", "--pause-for-human-input")
        asked(runs.baton.once(), "r", "a")
        folder = runs.folder("r")
        with open(folder + "/artifacts/args") as file:
            got = file.read().splitlines()
        check(got == ["a", "big one", folder + "/reports/r__a.json", runs.baton.root, folder + "/prompts/a.md",
                      folder + "/manual_inputs/r__a.json", "m 1", "1", "r", f"--at={runs.baton.root}/x y"], got)


def elsewhere(exe):
    """A repository below the root, named from another folder; its agents work in it, and nobody sets what is
    baton's to set."""
    with Runs(exe, {"a": 'pwd >"$ARTIFACTS_DIR/pwd"; report COMPLETED'}) as runs:
        project = runs.baton.home + "/project"
        repository = project + "/sub/repo"
        os.makedirs(repository)
        runs.baton.settings["dialects"] = {"agent_run": {"path": "sub/repo/.agents/runs"}}
        world.write(project + "/baton.yaml", runs.baton.settings)
        world.write(repository + "/w.yaml", b"steps:\n  - {id: a, agent: x, prompt: p.md}\n")
        world.write(repository + "/p.md", b"Work.\n")

        def call(*words, code=0, cwd=runs.baton.home):
            done = subprocess.run([runs.baton.exe, *words, "--state-dir", runs.baton.state], cwd=cwd, text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=world.PATIENCE)
            check(done.returncode == code, words, done)
            return done

        for name in ("BATON_FLOW", "LD_PRELOAD", "PATH"):
            refused = call("start", "project/sub/repo/w.yaml", "--repo", "project/sub/repo", "--run-id", "r", "--set", f'{name}="other"', code=1)
            check(f"--set {name}=" in refused.stderr, refused)
        call("start", "project/sub/repo/w.yaml", "--repo", "project/sub/repo", "--run-id", "r", "--set", 'RUN_ID="other"')
        check("sub/repo" in call("start", "project/sub/repo/w.yaml", "--repo", "project", code=2).stderr)
        call("start", "project/sub/repo/w.yaml", "--repo", "nowhere", code=3)
        call("run", "--once", "--root", project)
        with open(repository + "/.agents/runs/r/run_state.json") as file:
            state = json.load(file)
        check(state["status"] == "COMPLETED" and state["repo_dir"] == repository, state)
        with open(repository + "/.agents/runs/r/artifacts/pwd") as file:
            check(file.read() == repository + "\n")


def exit_codes(exe):
    """D-AO-15: programs that call baton can tell what came of a run."""
    with Runs(exe, {"bad": "report FAILED; exit 1", "slow": "until_there go; report DONE"}) as runs:
        text = "name: %s\nsteps:\n  - {id: %s, agent: x, prompt: p.md%s}\n"
        good, bad, asks, slow = (runs.workflow(text % (step, step, more), step + ".yaml") for step, more in (
            ("good", ""), ("bad", ""), ("asks", ", human_in_the_loop: true"), ("slow", "")))
        runs.begin(good, "good")
        check(runs.baton.once().returncode == 0)
        runs.begin(asks, "asks", "--pause-for-human-input")
        asked(runs.baton.once(), "asks", "asks")
        check(runs.state("asks")["status"] == "WAITING")
        runs.begin(bad, "bad", "--max-attempts", "1")
        check(runs.baton.once().returncode == 1 and runs.state("bad")["status"] == "FAILED")
        runs.begin(runs.workflow("steps: []\n", "empty.yaml"), "no", code=2)
        runs.begin(runs.baton.root + "/nothing.yaml", "no", code=3)
        runs.baton.call("start", good, "--state-file", "x", code=2)
        runs.baton.start()
        runs.begin(slow, "slow")
        runs.baton.call("wait", "good", "--until", "COMPLETED")
        runs.baton.call("wait", "asks", "--until", "WAITING")
        runs.baton.call("wait", "bad", "--until", "COMPLETED", code=1)
        runs.baton.call("wait", "slow", "--until", "COMPLETED", "--timeout", "1s", code=124)
        runs.baton.call("stop", "slow")
        runs.baton.call("wait", "slow", "--until", "COMPLETED", code=1)


def branches(exe):
    """D-AO-27: work on a branch that nobody has merged outlives its run, and everything that is dropped of it."""
    check(shutil.which("git") is not None, "there is no git; scripts/install-deps installs it")
    with Runs(exe, {"a": """git worktree add -q -b agents/run-$RUN_ID .agents/worktrees/$RUN_ID &&
                            cd .agents/worktrees/$RUN_ID && echo new >new && git add new &&
                            git commit -qm "Work of $RUN_ID" && report COMPLETED"""}) as runs:
        who = {"set": {f"GIT_{role}_{part}": "a@example.org" for role in ("AUTHOR", "COMMITTER")
                       for part in ("NAME", "EMAIL")}}
        runs.baton.settings["agents"]["default"]["env"] = who
        runs.baton.configure()

        def git(*words):
            return subprocess.run(["git", "-C", runs.baton.root, *words], check=True, capture_output=True, text=True,
                                  env={**os.environ, **who["set"]}).stdout

        git("init", "-q")
        git("commit", "-q", "--allow-empty", "-m", "Begin")
        runs.begin(runs.workflow("steps:\n  - {id: a, agent: x, prompt: p.md}\n"), "r")
        check(runs.baton.once().returncode == 0)
        before = git("for-each-ref"), git("worktree", "list")
        check("agents/run-r" in before[0] and "worktrees/r" in before[1], before)
        runs.baton.call("forget", "r", code=None)
        runs.baton.call("prune", "--older-than", "0s", code=None)
        check(runs.baton.once().returncode == 0)
        check((git("for-each-ref"), git("worktree", "list")) == before)
        check(git("show", "agents/run-r:new") == "new\n")


def put_right(exe):
    """A prompt that is mended counts when the run goes on at the step; a step can be left out; a run state that
    is torn is put back."""
    with Runs(exe, {"a": 'cat >"$ARTIFACTS_DIR/told"; if first a; then report FAILED; else report DONE; fi',
                    "b": "report FAILED", "c": "report DONE"}) as runs:
        workflow = runs.workflow("""name: three
steps:
  - {id: a, agent: x, prompt: p.md}
  - {id: b, agent: x, prompt: p.md, needs: [a]}
  - {id: c, agent: x, prompt: p.md, needs: [b]}
""")
        runs.begin(workflow, "r", "--max-attempts", "1")
        check(runs.baton.once().returncode == 1)
        world.write(runs.baton.root + "/p.md", b"Do it better.\n")
        runs.baton.call("start", workflow, "--start-at-step", "a")
        check(runs.baton.once().returncode == 1)
        with open(runs.folder("r") + "/artifacts/told") as file:
            check(file.read() == "Do it better.\n")
        check(runs.step("r", "b")["status"] == "FAILED")
        path = runs.folder("r") + "/run_state.json"
        with open(path) as file:
            whole = file.read()
        world.write(path, whole[:len(whole) // 2].encode())
        runs.baton.once()
        runs.baton.call("recover", "r")
        with open(path) as file:
            check(file.read() == whole[:len(whole) // 2], "recover writes only with --write")
        runs.baton.call("recover", "r", "--write")
        with open(path) as file:
            check(file.read() == whole)
        runs.baton.call("skip", "r", "b", "--comment", "not needed")
        check(runs.baton.once().returncode == 0)
        state = runs.state("r")
        check(state["status"] == "COMPLETED" and state["steps"]["b"]["status"] == "SKIPPED", state)


def agents_die(exe):
    """kill -9 of an agent at work, in a plain step, an item, a step with a gate and one that asks a person: one
    attempt is gone, and the next does it."""
    kinds = {"plain": "", "item": ", loop: {items: [x]}", "gate": ", loop_back_to: gate",
             "person": ", human_in_the_loop: true"}
    with Runs(exe, {step: 'if first $STEP_ID; then kill -9 $$; fi; report DONE' for step in kinds}) as runs:
        workflow = runs.workflow("steps:\n" + "".join(
            "  - {id: %s, agent: x, prompt: p.md%s}\n" % each for each in kinds.items()))
        runs.baton.start()
        runs.begin(workflow, "r", "--pause-for-human-input")
        runs.wait_for("r", "person", "WAITING_ON_HUMAN")
        runs.baton.call("approve", "r")
        runs.wait_end("r")
        for step in kinds:
            check(runs.count("r", step) == 2, step, runs.starts("r"))
            check(runs.step("r", step)["attempts"] == 2, runs.step("r", step))
        events = [each["why"] for each in runs.baton.lines("events") if each["event"] == "attempt_failed"]
        check(len(events) == 4 and all("signal" in each or "killed" in each for each in events), events)


def stopped(exe):
    """Stop by name ends the agents and cancels, resume goes on; pause keeps them."""
    with Runs(exe, {"a": "until_there go; report DONE"}) as runs:
        workflow = runs.workflow("""steps:
  - {id: a, agent: x, prompt: p.md}
  - {id: b, agent: x, prompt: p.md, needs: [a]}
""")
        runs.baton.start()
        runs.begin(workflow, "r")
        wait_until(lambda: runs.count("r", "a") == 1, "a begins")
        runs.baton.call("stop", "r")
        wait_until(lambda: runs.step("r", "a")["status"] == "SKIPPED", "a is left out", lambda: runs.state("r"))
        check(runs.state("r")["status"] == "CANCELLED")
        runs.baton.call("resume", "r")
        wait_until(lambda: runs.count("r", "a") == 2, "a begins again")
        runs.baton.call("pause", "r")
        check(runs.state("r")["status"] == "PAUSED")
        runs.act("go", "")
        runs.wait_for("r", "a", "COMPLETED")
        runs.baton.call("resume", "r")
        runs.wait_end("r")
        check(runs.step("r", "a")["attempts"] == 1, runs.step("r", "a"))


def observed(exe):
    """A run of another program, which truncates its state and writes it in place all the time: looked at and left
    alone, until it is taken over."""
    with Runs(exe, {}) as runs:
        state = json.loads(json.dumps(example(runs, "in_progress")).replace("f8c1a491", "theirs"))
        folder = runs.folder("theirs")
        os.makedirs(folder + "/reports")
        writer = subprocess.Popen([sys.executable, "-c", IN_PLACE, folder + "/run_state.json", json.dumps(state)])
        try:
            runs.baton.start()
            wait_until(lambda: {each["subject"]: each["stage"] for each in runs.baton.explain("theirs")["subjects"]}
                       == {"planning": "completed", "coding": "running", "code_review": "pending"}
                       if os.path.exists(folder + "/run_state.json") and runs.baton.lines("status") else False,
                       "the steps are seen")
            for words in (("approve", "theirs", "coding"), ("retry", "theirs"), ("start", "theirs")):
                said = runs.baton.call(*words, code=1).stderr
                check("another program" in said)
            check("to take it over, name its workflow: `baton start WORKFLOW.yaml --run-id theirs`" in said, said)
            (shown,) = runs.baton.lines("status")
            check((shown["condition"], shown["reason"], shown["do"], shown["why"]) == (
                "idle", "other_program", None, "another program runs this workflow; baton only shows it"), shown)
        finally:
            writer.kill()
            writer.wait()
        check(sorted(os.listdir(folder)) == ["reports", "run_state.json"], os.listdir(folder))
        check(runs.starts("theirs") == [])
        world.write(folder + "/run_state.json", json.dumps(state, indent=2).encode() + b"\n")
        runs.begin(seed_workflow(runs, state), "theirs")
        runs.wait_end("theirs")
        check([each[0] for each in runs.starts("theirs")] == ["coding", "code_review"], runs.starts("theirs"))
        kept = runs.step("theirs", "planning")
        check(kept["logs"] == state["steps"]["planning"]["logs"] and kept["attempts"] == 1, kept)


IN_PLACE = """
import sys, time
while True:
    with open(sys.argv[1], "w") as file:
        for at in range(0, len(sys.argv[2]), 400):
            file.write(sys.argv[2][at:at + 400])
            file.flush()
    time.sleep(0.05)
"""


# --- the state files of the seed ---

TIMES = {"created_at", "updated_at", "started_at", "ended_at"}


def same(expected, got, where=""):
    """Everything the example says, times aside; whether a time is there counts."""
    if isinstance(expected, dict):
        for name, value in expected.items():
            if name in TIMES:
                check((value is None) == (got[name] is None), where + "/" + name, got[name])
            else:
                same(value, got[name], where + "/" + name)
    else:
        check(expected == got, where, "is", got, "instead of", expected)


def example(runs, name):
    with open(f"{EXAMPLES}/run_state__seed_{name}.json") as file:
        state = json.load(file)
    return json.loads(json.dumps(state).replace(state["repo_dir"], runs.baton.root))


def seed_workflow(runs, state, **more):
    lines, before = "name: %s\nsteps:\n" % state["workflow_name"], ""
    for step in state["steps"]:
        lines += "  - {id: %s, agent: worker, prompt: p.md, needs: [%s]%s}\n" % (step, before, more.get(step, ""))
        before = step
    return runs.workflow(lines)


def says(state, step, status="COMPLETED", **more):
    """The piece of shell that reports what the example has of a step."""
    record = state["steps"][step]
    members = {name: record[name] for name in ("artifacts", "metrics", "logs")}
    members.update(more)
    return "report %s ',%s'\n" % (status, json.dumps(members)[1:-1])


def reached(exe, name, acts, *options, **more):
    """Runs a workflow until its state is that of the example; returns when it is."""
    with Runs(exe, {}) as runs:
        state = example(runs, name)
        for step, text in acts(state).items():
            runs.act(step, text)
        runs.baton.start()
        runs.begin(seed_workflow(runs, state, **more), state["run_id"], *options)

        def there():
            try:
                same(state, runs.state(state["run_id"]))
                return True
            except (AssertionError, KeyError):
                return False

        wait_until(there, name, "is reached:", lambda: runs.state(state["run_id"]))
        jq(runs, state["run_id"])
        runs.act("go_on", "")


JQ = (
    (".", lambda state: state),
    (".steps.coding", lambda state: state["steps"].get("coding")),
    ('.steps | to_entries | map(select(.value.status == "FAILED"))',
     lambda state: [{"key": key, "value": value} for key, value in state["steps"].items()
                    if value["status"] == "FAILED"]),
    (".steps | to_entries | map({key: .key, iterations: .value.iteration_count})",
     lambda state: [{"key": key, "iterations": value["iteration_count"]}
                    for key, value in state["steps"].items()]),
)


def jq(runs, run):
    """The seed's lines for troubleshooting."""
    check(shutil.which("jq") is not None, "there is no jq; scripts/install-deps installs it")
    for line, answer in JQ:
        done = subprocess.run(["jq", line, runs.folder(run) + "/run_state.json"], capture_output=True, text=True)
        check(done.returncode == 0 and json.loads(done.stdout) == answer(runs.state(run)), line, done)


def seed_states(exe):
    reached(exe, "in_progress", lambda state: {"planning": says(state, "planning"),
                                               "coding": "until_there go_on; report COMPLETED"})
    reached(exe, "loop_back_iteration",
            lambda state: {"coding": says(state, "coding"),
                           "code_review": "if first one || first two; then " +
                           says(state, "code_review", gate_failure=True, logs=["found P0 issues"]).strip() +
                           "; else report COMPLETED; until_there go_on; fi"},
            code_review=", loop_back_to: coding")
    reached(exe, "failed_step", lambda state: {
        "planning": says(state, "planning"),
        "coding": says(state, "coding", "FAILED") + "echo SyntaxError in generated code; exit 1"})
    reached(exe, "waiting_on_human", lambda state: {"code_review": says(state, "code_review")},
            "--pause-for-human-input", manual_approval=", human_in_the_loop: true")


def test(exe, *only):
    for part in (six_steps, killed, items_at_once, at_step, refused, printed, streamed, variables, shipped, no_program,
                 logs_kept, placeholders, elsewhere, exit_codes, branches, put_right, agents_die, stopped, observed, seed_states):
        if not only or part.__name__ in only:
            part(exe)
            print(part.__name__, "holds")


if __name__ == "__main__":
    world.main(test)
