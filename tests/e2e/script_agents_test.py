# SPDX-License-Identifier: Apache-2.0
"""Scripts around agent programs (`command:` without an adapter): their results, limits and echoes are judged as those of the
programs themselves. usage: script_agents_test.py BATON [PART...]"""

import json
import os

import world
from world import check, only_unchanged, wait_until, World

REPORT = """Do the step {step}. At the end print:
<<<RUN_REPORT_JSON
{{"schema": "run_report@v0", "run_id": "{{run_id}}", "step_id": "{step}", "agent": "dev", "status": "COMPLETED",
 "started_at": "<ISO timestamp>", "ended_at": "<ISO timestamp>"}}
RUN_REPORT_JSON>>>
"""


def script(baton, name, text):
    path = f"{baton.home}/{name}"
    with open(path, "w") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return path


def lines_of(path):
    try:
        with open(path) as file:
            return file.read().splitlines()
    except FileNotFoundError:
        return []


def flow(baton, name):
    return next(line for line in baton.lines("status") if line["flow"] == name)


def echoed_template(exe):
    """A program that prints its prompt, with the template of the report in it, has done nothing."""
    for strict in (True, False):
        with World(exe, limits={"max_attempts": 2}) as baton:
            echo = script(baton, "echo.sh", 'echo "user instructions:"; cat; echo "stream error"\n')
            baton.settings["agents"] = {"default": {"command": [echo]}}
            baton.settings["dialects"] = {"agent_run": {"strict_reports": strict}}
            del baton.settings["rules"]
            baton.configure()
            for step in ("implement", "deploy"):
                world.write(f"{baton.root}/{step}.md", REPORT.format(step=step).encode())
            world.write(baton.root + "/wf.yaml", b"name: demo\nsteps:\n  - { id: implement, agent: dev, prompt: implement.md }\n"
                        b"  - { id: deploy, agent: dev, prompt: deploy.md, needs: [implement] }\n")
            baton.call("start", baton.root + "/wf.yaml", "--run-id", "r")
            done = baton.once()
            with open(baton.root + "/.agents/runs/r/run_state.json") as file:
                steps = json.load(file)["steps"]
            check(steps["implement"]["status"] == "FAILED" and steps["deploy"]["status"] == "PENDING", strict, steps, done.stderr)
            check(not steps["deploy"].get("attempts"), steps)


def costs_of_every_form(exe):
    """A cap on cost holds whatever form the result has."""
    forms = {
        "object": """echo '{"type":"result","total_cost_usd":9.0,"result":"ok"}'""",
        "array": """echo '[{"type":"system","subtype":"init"},{"type":"result","total_cost_usd":9.0,"result":"ok"}]'""",
        "pretty": r"""printf 'begin\n[\n {"type":"system"},\n {"type":"result",\n  "is_error":false,"total_cost_usd":9.0}\n]\nend\n'""",
        "long": """printf '{"type":"result","total_cost_usd":9.0,"result":"%s"}\\n' "$(head -c 300000 /dev/zero | tr '\\0' x)" """,
        "before_text": """echo '{"type":"result","is_error":false,"total_cost_usd":9.0,"result":"ok"}'; seq 1 40""",
        "twice": """echo '{"type":"result","is_error":false,"total_cost_usd":4.0}'; echo '{"type":"result","is_error":false,"total_cost_usd":5.0}'""",
    }
    rules = [{"name": "t", "files": "tickets/{flow}.json", "stage": "/status",
              "react": [{"to": ["s1", "s2", "s3", "s4"], "run": name}]} for name in forms]
    for rule, name in zip(rules, forms):
        rule["name"], rule["files"] = name, name + "/{flow}.json"
    with World(exe, rules=rules, limits={"cost_per_hour": 5}) as baton:
        step = ('cat >/dev/null; n=$(sed \'s/.*"s\\([0-9]\\)".*/\\1/\' "$BATON_STATE_FILE")\n'
                '"$BATON_EXE" set "$BATON_STATE_FILE" "/status=\\"s$((n + 1))\\"" >/dev/null\n')
        baton.settings["agents"] = {name: {"command": [script(baton, name + ".sh", step + form + "\n")]}
                                    for name, form in forms.items()}
        baton.configure()
        for name in forms:
            world.write(f"{baton.root}/{name}/a.json", {"status": "s1"})
        baton.once()
        for name in forms:
            told = flow(baton, f"rules/{name}/a")
            runs = [run for run in baton.lines("agents") if run["role"] == name]
            check(told["reason"] == "cap_reached" and abs(told["cost"] - 9) < 1e-9 and len(runs) == 1, name, told, runs)


def error_with_exit_0(exe):
    """A result that says `is_error` is no success, in a rule and in a loop."""
    says = ('cat >/dev/null; echo x >>"$BATON_ROOT/starts"\n'
            'echo \'{"type":"result","subtype":"error_during_execution","is_error":true,"result":"%s","total_cost_usd":0.12}\'\n')
    with World(exe, limits={"max_attempts": 2}) as baton:
        fails = script(baton, "fails.sh", says % "the tool is broken")
        baton.settings["agents"] = {"worker": {"command": [fails]}, "agent": {"command": [fails]}}
        baton.settings["dialects"] = {"fsm_loop": {}}
        baton.configure()
        baton.ticket("a", "ready")
        world.write(baton.root + "/.loops/fix.yaml", b"""name: fix
initial: work
states:
  work: { action: "/fix it", evaluate: { type: exit_code }, on_yes: done, on_no: bad, on_error: bad }
  bad: { terminal: true, failure: true }
  done: { terminal: true }
""")
        baton.start()
        baton.call("start", "fix")
        wait_until(lambda: flow(baton, "rules/t/a")["condition"] == "failed", "the rule fails", lambda: baton.call("status").stdout)
        told = flow(baton, "rules/t/a")
        check("the tool is broken" in told["why"] and abs(told["cost"] - 0.24) < 1e-9, told)
        check([run["reason"] for run in baton.lines("agents") if run["role"] == "worker"] == ["agent_error"] * 2, baton.lines("agents"))
        wait_until(lambda: flow(baton, "fsm_loop/fix")["condition"] == "failed", "the loop takes the way of a failure",
                   lambda: baton.call("status").stdout)


def overload_with_exit_0(exe):
    """An overload is repeated, and no attempt is counted."""
    says = ('cat >/dev/null; echo x >>"$BATON_ROOT/starts"\n'
            'if [ $(wc -l <"$BATON_ROOT/starts") -lt 4 ]; then\n'
            '  echo \'{"type":"result","is_error":true,"result":"API Error: 529 overloaded"}\'; exit 0; fi\n'
            '"$BATON_EXE" set "$BATON_STATE_FILE" \'/status="done"\'\n')
    with World(exe) as baton:
        baton.settings["agents"] = {"worker": {"command": [script(baton, "busy.sh", says)], "max_attempts": 1}}
        baton.configure()
        baton.ticket("a", "ready")
        done = baton.once()
        runs = baton.lines("agents")
        check(sorted(run["outcome"] for run in runs) == ["succeeded"] + ["transient"] * 3, runs, done.stderr)
        check(all(run["attempt"] == 1 for run in runs), runs)


def limit_in_a_loop(exe):
    """A limit gives no verdict, whatever keys the state has; a failed agent that writes about limits gets one."""
    loop = """name: fix
initial: work
max_steps: 3
states:
  work:
    action: "/fix the next bug"
    evaluate: { type: exit_code }
    on_yes: done
    on_no: work
    on_error: work
    rate_limit_backoff_base_seconds: 1
    max_rate_limit_retries: 2
    on_rate_limit_exhausted: done
  done: { terminal: true }
"""
    for said, condition, starts in (("You\\'ve hit your session limit \u00b7 resets 10:20pm (America/Edmonton)", "waiting", 1),
                                    ("Claude AI usage limit reached|$(date -d '+2 hours' +%s)", "waiting", 1),
                                    ("I have refactored the rate limit middleware; two tests are red", "failed", 3)):
        with World(exe) as baton:
            says = script(baton, "says.sh", f'cat >/dev/null; echo x >>"$BATON_ROOT/starts"; echo "{said}"; exit 1\n'.replace("\\'", "'"))
            baton.settings["agents"] = {"agent": {"command": [says]}}
            baton.settings["dialects"] = {"fsm_loop": {}}
            del baton.settings["rules"]
            baton.configure()
            world.write(baton.root + "/.loops/fix.yaml", loop.encode())
            baton.start()
            baton.call("start", "fix")
            wait_until(lambda: flow(baton, "fsm_loop/fix")["condition"] == condition, said, condition,
                       lambda: baton.call("status").stdout)
            baton.idle()
            check(len(lines_of(baton.root + "/starts")) == starts, said, lines_of(baton.root + "/starts"))
            if condition == "waiting":
                told = flow(baton, "fsm_loop/fix")
                check(told["reason"] == "provider_limit" and told["until"], told)


def left_as_it_was(exe):
    """An agent that leaves the stage as it was waits for a person; the next start hears what happened."""
    asks = ('cat >"$BATON_ROOT/prompt.$BATON_ATTEMPT"; env >"$BATON_ROOT/env.$BATON_ATTEMPT"\n'
            'echo "First half is done. Shall I go on?"\n')
    with World(exe) as baton:
        baton.settings["agents"] = {"worker": {"command": [script(baton, "asks.sh", asks)]}}
        baton.configure()
        baton.ticket("a", "ready")
        check(only_unchanged(baton.once()), "it is held")
        told = flow(baton, "rules/t/a")
        check(told["reason"] == "no_change" and "Shall I go on?" in told["why"] and "retry" in told["do"], told)
        baton.call("retry", "rules/t/a")
        check(only_unchanged(baton.once()), "it is held again")
        prompts = [name for name in os.listdir(baton.root) if name.startswith("prompt.")]
        check(len(baton.lines("agents")) == 2, prompts, baton.lines("agents"))
        with open(baton.root + "/prompt.1") as file:
            prompt = file.read()
        check("What happened before" in prompt and "First half is done. Shall I go on?" in prompt, prompt[-600:])


def told_before(exe):
    """A second attempt hears of the first: in its prompt and by variables."""
    hangs = ('cat >"$BATON_ROOT/prompt.$BATON_ATTEMPT"; env >"$BATON_ROOT/env.$BATON_ATTEMPT"\n'
             'if [ "$BATON_ATTEMPT" = 1 ]; then echo "half of it"; exec sleep 60; fi\n'
             '"$BATON_EXE" set "$BATON_STATE_FILE" \'/status="done"\'\n')
    with World(exe) as baton:
        baton.settings["agents"] = {"worker": {"command": [script(baton, "hangs.sh", hangs)], "timeout": "3s"}}
        baton.configure()
        baton.ticket("a", "ready")
        baton.once()
        runs = sorted(baton.lines("agents"), key=lambda run: run["attempt"])
        check([run["outcome"] for run in runs] == ["timed_out", "succeeded"], runs)
        with open(baton.root + "/prompt.2") as file:
            prompt = file.read()
        check("What happened before" in prompt and "timed_out" in prompt and "half of it" in prompt, prompt[-600:])
        env = dict(line.split("=", 1) for line in lines_of(baton.root + "/env.2") if line.startswith("BATON_PREVIOUS_"))
        check(env["BATON_PREVIOUS_RUN"] == runs[0]["run"] and env["BATON_PREVIOUS_OUTCOME"] == "timed_out", env)
        check(lines_of(env["BATON_PREVIOUS_OUTPUT"]) == ["half of it"], env)
        check(not any(line.startswith("BATON_PREVIOUS_") for line in lines_of(baton.root + "/env.1")), "the first has none")


if __name__ == "__main__":
    world.main_parts([echoed_template, costs_of_every_form, error_with_exit_0, overload_with_exit_0, limit_in_a_loop,
                      left_as_it_was, told_before])
