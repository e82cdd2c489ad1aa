# SPDX-License-Identifier: Apache-2.0
"""Whether loops go the same way with baton as with the original. Each row of cases.jsonl is a definition of ours with a
name. traces.jsonl has what the original did with it: facts only, such as the names of events, their order and values.
With BATON_ORIGIN=PATH, a copy of the original's repository, the original runs beside baton, and also the shipped loops
that need no network go through both. usage: conformance_test.py BATON [CASE... | --record]"""

import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/../e2e")
import world  # noqa: E402
from world import check, write  # noqa: E402

ORIGIN = os.environ.get("BATON_ORIGIN", "")
PYTHON = os.environ.get("BATON_ORIGIN_PYTHON", "/usr/bin/python3")
LIBRARY = "scripts/little_loops/loops"

# What is compared of an event. Not `type` of evaluate: the original writes `default` for an evaluator that is not named.
EVENTS = {
    "loop_start": ["loop"], "loop_resume": ["loop", "from_state", "iteration"], "state_enter": ["state", "iteration"],
    "action_start": ["action", "is_prompt"], "action_output": ["line"], "action_complete": ["exit_code"],
    "evaluate": ["verdict", "value", "target", "operator", "path", "matched", "stall_count", "rounds", "best", "token"],
    "route": ["from", "to", "reason"], "retry_exhausted": ["state", "retries", "next"],
    "throttle_warn": ["state", "count", "hard_max"], "throttle_hard": ["state", "count", "hard_max", "next"],
    "throttle_stop": ["state", "count", "hard_max"],
    "stall_detected": ["state", "exit_code", "verdict", "consecutive", "recurrent", "action"],
    "cycle_detected": ["edge", "from", "to", "count", "max"], "action_error": ["state", "route"],
    "max_steps_summary": ["summary_state", "iterations"], "max_iterations_reached_summary": ["summary_state", "iteration_count"],
    "sub_loop_worktree_attached": ["branch"], "sub_loop_worktree_detached": ["branch"], "sub_loop_worktree_error": ["branch"],
    "messages_append": ["message", "state"], "handoff_detected": ["state", "iteration", "continuation"],
    "loop_complete": ["final_state", "iterations", "terminated_by", "failure_terminal"],
}
STATE = ["loop_name", "current_state", "iteration", "status", "continuation_prompt"]

DEMONSTRATED = ["docs-sync", "apply-research", "issue-discovery-triage"]

# Where baton goes another way on purpose: the case, and the row of "Differences" in the format page.
DECLARED = {
    "numbers, truth and lists of the context": "O1",
    "action_stall": "O2",
    "the first generation": "O3",
    "a limit of the first generation": "O3",
    "LOOP_STOP interrupts, a resume goes on behind it": "O5",
    "a handoff waits, a resume goes on": "O5",
    "a handoff that ends the loop": "O6",
    "the time limit of the loop": "O7",
    "a missing value goes to on_error": "O24",
}


def fact(value, root):
    """A value without what differs from run to run: the folder, the name of the run."""
    text = json.dumps(value, ensure_ascii=False).replace(root, "ROOT").replace("/bin/bash: line", "bash: line")
    text = re.sub(r"\b1[78]\d{8}\b", "SECONDS", text)
    text = re.sub(r"\.worktrees/\d{8}-\d{6}-([a-z0-9-]+?)(-[0-9a-f]{6})?(?=\")", r".worktrees/STAMP-\1", text)
    return json.loads(re.sub(r"/runs/([a-z0-9-]+)-\d{8}T\d+", r"/runs/\1-RUN", text))


def timeless(capture):
    """Captures without how long they took, and without the words of errors."""
    if not isinstance(capture, dict):
        return capture
    return {key: timeless(value) for key, value in capture.items() if key not in ("duration_ms", "error")}


def number(value):
    return int(value) if isinstance(value, float) and value == int(value) else value


def trace_of(events, state, codes, root):
    """What a run has done: [events, state, exit statuses]. Unknown events count, too, with no members."""
    lines = []
    for line in events:
        each = json.loads(line)
        name = each["event"]
        members = {key: number(each[key]) for key in EVENTS.get(name, []) if each.get(key) is not None}
        if name == "evaluate" and members.get("verdict") == "error":
            members = {"verdict": "error"}
        if name == "action_complete" and each.get("not_run"):
            members["not_run"] = True
        lines.append([name, {**members, **({"depth": each["depth"]} if each.get("depth") else {})}])
    kept = {key: state.get(key) for key in STATE if state.get(key)}
    kept["captured"] = timeless(state.get("captured", {}))
    before = state.get("prev_result") or {}
    kept["prev_result"] = {key: before.get(key) for key in ("output", "exit_code", "state")}
    kept["verdict"] = (state.get("last_result") or {}).get("verdict")
    return fact({"events": lines, "state": kept, "exit": codes}, root)


def as_baton_says(trace):
    """The trace with the exit statuses of baton (O4): 0 if the loop is done, else 1."""
    done = int(trace["state"]["status"] != "completed")
    return {**trace, "exit": [1] * (len(trace["exit"]) - 1) + [done]}


def project(case, home):
    root = home + "/root"
    os.makedirs(root + "/.loops")
    subprocess.run(["git", "init", "-q", root], check=True)
    with open(f"{root}/.loops/{case.get('name', 'x')}.yaml", "w") as file:
        file.write(case["loop"])
    for path, text in case.get("files", {}).items():
        with open(f"{root}/{path}", "w") as file:
            file.write(text)
    return root


def inputs(case):
    return [case["input"]] if "input" in case else []


def of_origin(case):
    """Runs the case with the original."""
    with tempfile.TemporaryDirectory(prefix="baton-origin-") as home:
        root = project(case, home)
        os.mkdir(home + "/bin")
        os.symlink(HERE + "/agent.py", home + "/bin/claude")
        script = "import sys; from little_loops.cli.loop import main_loop; sys.exit(main_loop())"
        env = {"PATH": home + "/bin:/usr/bin:/bin", "HOME": home, "PYTHONPATH": ORIGIN + "/scripts", "LC_ALL": "C.UTF-8"}

        def call(*words):
            return subprocess.run([PYTHON, "-c", script, *words], cwd=root, env=env, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=300)
        given = [word for pair in case.get("set", {}).items() for word in ("--context", "=".join(pair))]
        done = call("run", case.get("name", "x"), *inputs(case), *given, *case.get("limit", []))
        codes = [done.returncode]
        if case.get("resume"):
            codes.append(call("resume", "x").returncode)
        files = sorted(glob.glob(root + "/.loops/.history/*/events.jsonl") + glob.glob(root + "/.loops/.running/*.events.jsonl"))
        check(files, "the original wrote no events", case["case"], done.stdout, done.stderr)
        with open(files[-1]) as file:
            events = file.read().splitlines()
        with open(files[-1].replace("events.jsonl", "state.json")) as file:
            return trace_of(events, json.load(file), codes, root)


def of_baton(exe, case, library=""):
    """Runs the case with baton."""
    agents = {"default": {"command": [HERE + "/agent.py"]}, "judge": {"command": [HERE + "/agent.py", "judge"]}}
    with world.World(exe, rules=[], agents=agents) as baton:
        shutil.rmtree(baton.root)
        baton.root = project(case, baton.home)
        del baton.settings["rules"]
        baton.settings["dialects"] = {"fsm_loop": {"library": [library] if library else [], "shell": {"env": ["PYTHONPATH"]}}}
        baton.configure()
        baton.start(env={**os.environ, "PATH": "/usr/bin:/bin", **({"PYTHONPATH": ORIGIN + "/scripts"} if library else {})})
        name = case.get("name", "x")
        given = [word for pair in case.get("set", {}).items() for word in ("--set", "=".join(pair))]
        done = baton.call("start", name, *inputs(case), *given, *case.get("limit", []), "--wait", code=None)
        codes = [done.returncode]
        if case.get("resume"):
            codes.append(baton.call("resume", "x", code=None).returncode)
            world.wait_until(lambda: baton.call("status", "--check", "x", code=None).returncode == 0, "it goes on")
        running = f"{baton.root}/.loops/.running/{name}."
        if not os.path.exists(running + "events.jsonl"):
            return {"events": [], "state": done.stderr.strip(), "exit": codes}
        with open(running + "events.jsonl") as file:
            events = file.read().splitlines()
        with open(running + "state.json") as file:
            return trace_of(events, json.load(file), codes, baton.root)


def differences(expected, found):
    if expected == found:
        return ""
    said = []
    for part in ("state", "exit"):
        if expected[part] != found[part]:
            said.append(f"{part}: original {json.dumps(expected[part])}\n{part}: baton    {json.dumps(found[part])}")
    for i in range(max(len(expected["events"]), len(found["events"]))):
        rows = [trace["events"][i] if i < len(trace["events"]) else None for trace in (expected, found)]
        if rows[0] != rows[1]:
            said.append(f"event {i + 1}: original {json.dumps(rows[0])}\nevent {i + 1}: baton    {json.dumps(rows[1])}")
            break
    return "\n".join(said)


def rows_of(name):
    with open(f"{HERE}/{name}") as file:
        return [json.loads(line) for line in file]


def record():
    check(ORIGIN, "set BATON_ORIGIN to a copy of the original")
    cases = rows_of("cases.jsonl")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        traces = list(pool.map(of_origin, cases))
    with open(HERE + "/traces.jsonl", "w") as file:
        for case, trace in zip(cases, traces):
            file.write(json.dumps({"case": case["case"], **trace}, ensure_ascii=False) + "\n")


def shipped(exe, names):
    """The loops that the original ships, as they are, each with an input and at most 12 steps. shipped.json says which go
    another way, by the row of the format page, and which are not run."""
    library = os.path.join(ORIGIN, LIBRARY)
    with open(HERE + "/shipped.json") as file:
        table = json.load(file)
    loops = [os.path.basename(path)[:-len(".yaml")] for path in sorted(glob.glob(library + "/*.yaml"))]
    loops = [name for name in loops if not names or name in names]

    def compare(name):
        if name in table["not_run"]:
            return None
        with open(f"{library}/{name}.yaml") as file:
            case = {"case": name, "name": name, "loop": file.read(), "input": "P1", "limit": ["--max-steps", "12"],
                    "set": table["set"].get(name, {})}
        try:
            return differences(as_baton_says(of_origin(case)), of_baton(exe, case, library))
        except AssertionError as fault:
            return f"cannot be run: {fault}"
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return report("shipped loops", dict(zip(loops, pool.map(compare, loops))), table["declared"])


def from_init(exe):
    """Three shipped loops, from `baton init` to their ends."""
    with world.World(exe) as baton, tempfile.TemporaryDirectory() as folder:
        subprocess.run([exe, "init", "--dialect", "fsm_loop", folder], check=True, stdout=subprocess.DEVNULL)
        baton.root, baton.config = folder, folder + "/baton.yaml"
        write(baton.config, {"version": 1, "agents": {"default": {"command": [HERE + "/agent.py"]},
                                                      "judge": {"command": [HERE + "/agent.py", "judge"]}},
                             "dialects": {"fsm_loop": {"library": [os.path.join(ORIGIN, LIBRARY)]}}})
        subprocess.run(["git", "init", "-q", folder], check=True)
        for name in DEMONSTRATED:
            shutil.copy(f"{ORIGIN}/{LIBRARY}/{name}.yaml", folder + "/.loops")
        baton.call("validate")
        for name in DEMONSTRATED:
            baton.call("start", name, "P1")
        done = baton.once()
        check(done.returncode == 0, done.stdout, done.stderr)
        said = baton.call("status", "--all").stdout
        for name in DEMONSTRATED:
            check(re.search(rf"fsm_loop/{name} +done ", said), name, said)
    print("three shipped loops ran from `baton init` to their ends:", ", ".join(DEMONSTRATED))


def report(what, said, declared):
    """Prints one line about all, and returns the faults."""
    faults = [f"{name}\n{text}" for name, text in said.items() if text and name not in declared]
    faults += [f"{name}: declared as different ({declared[name]}), but it is the same" for name, text in said.items()
               if text == "" and name in declared]
    for name, text in said.items():
        if text is None:
            print("not run:", name)
    print(f"{what}: {len(said)}, identical {sum(text == '' for text in said.values())}, "
          f"declared differences {sum(bool(text) and name in declared for name, text in said.items())}, "
          f"not run {sum(text is None for text in said.values())}, undeclared {sum(bool(text) and name not in declared for name, text in said.items())}")
    return faults


def main(exe, *names):
    if names == ("--record",):
        return record()
    traces = {row.pop("case"): row for row in rows_of("traces.jsonl")}
    cases = [case for case in rows_of("cases.jsonl") if not names or case["case"] in names]
    faults = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        if ORIGIN:
            for case, trace in zip(cases, pool.map(of_origin, cases)):
                said = differences(traces[case["case"]], trace)
                check(not said, case["case"], "the original does something else than recorded; --record keeps it\n" + said)
        else:
            print("BATON_ORIGIN names no copy of the original, so its recorded traces stand in")
        found = pool.map(lambda case: of_baton(exe, case), cases)
        said = {case["case"]: differences(as_baton_says(traces[case["case"]]), trace) for case, trace in zip(cases, found)}
    faults += report("definitions", said, DECLARED)
    if ORIGIN:
        faults += shipped(exe, names)
        from_init(os.path.abspath(exe))
    check(not faults, "\n\n".join(faults))


if __name__ == "__main__":
    world.main(main)
