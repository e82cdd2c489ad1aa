# SPDX-License-Identifier: Apache-2.0
"""How runs of the known programs are judged, with a fake of each: outcome, error text, cost, attempts, notices.
usage: clis_test.py BATON [PART...]"""

import os

import world
from fake_clis import Fakes, Provided
from world import carries, check, wait_until

LIMIT = "Claude AI usage limit reached|@+3600@"


class Case:
    """One agent with one ticket. `steps`: of the fake. `runs`: outcome and reason of each run, in order. `ends`: condition
    and reason of the flow, `error`: a part of the last run's error text."""

    def __init__(self, name, program, steps, runs, ends, error="", cost=None, tokens=None, notices=(), attempts=None, **agent):
        self.name, self.program, self.ends, self.error = name, program, ends, error
        self.steps = steps if isinstance(steps, list) else [steps]
        self.runs = [each if isinstance(each, tuple) else (each, None) for each in runs]
        self.cost, self.tokens, self.notices, self.agent = cost, tokens, list(notices), agent
        self.attempts = attempts or list(range(1, len(runs) + 1))


GOOD = ("succeeded", "")
WELL = ("idle", "no_reaction")
HELD = ("blocked", "no_change")
SPENT = ("failed", "attempts_exhausted")
PARKED = ("waiting", "provider_limit")
REFUSED = ("blocked", "login_refused")
MET = ["provider_limit"]
SHUT = ["login_refused"]


def text(do, said, **more):
    return {"do": do, "text": said, **more}


def failed(reason, times=2):
    return [("failed", reason)] * times


CASES = [
    # --- claude ---
    Case("claude", "claude", "ok", [GOOD], WELL, cost=0.25, tokens=120),
    Case("claude_silent", "claude", "silent", [GOOD], WELL, cost=0.25, tokens=120),
    Case("claude_array", "claude", "array", [GOOD], WELL, cost=0.25, tokens=120),
    Case("claude_pretty", "claude", "pretty", [GOOD], WELL, cost=0.25, tokens=120),
    Case("claude_huge", "claude", "huge", [GOOD], WELL, cost=0.25, tokens=120),
    Case("claude_two_results", "claude", "two_results", [GOOD], WELL, cost=0.75, tokens=120),
    Case("claude_prose", "claude", "prose", [GOOD], WELL, cost=0.25),
    Case("claude_warned", "claude", "warned", [GOOD], WELL, cost=0.25),
    Case("claude_is_error", "claude", {"do": "fail", "code": 0, "text": "API Error: 400 no such tool"},
         failed("agent_error"), SPENT, "API Error: 400 no such tool", cost=0.01),
    Case("claude_nothing", "claude", "nothing", failed("no_result"), SPENT),
    Case("claude_truncated", "claude", "truncated", failed("no_result"), SPENT),
    Case("claude_echo", "claude", "echo", failed("no_result"), SPENT),
    Case("claude_inconsistent", "claude", "inconsistent", failed("inconsistent"), SPENT, "exit status 3", cost=0.25),
    Case("claude_max_turns", "claude", "max_turns", failed("max_turns"), SPENT, "Reached maximum number of turns (40)", cost=1.4),
    Case("claude_context", "claude", text("fail", "Prompt is too long"), failed("context_too_long"), SPENT, "Prompt is too long"),
    Case("claude_refusal", "claude", text("fail", "API Error: sonnet can't help with this. Start a new session to continue."),
         failed("refused"), SPENT, "can't help with this"),
    Case("claude_root", "claude", text("stderr", "--dangerously-skip-permissions cannot be used with root/sudo privileges for "
                                       "security reasons"), failed("agent_error"), SPENT, "root/sudo"),
    Case("claude_idle", "claude", "idle", [GOOD], HELD, cost=0.25),
    Case("claude_denied", "claude", "denied", [GOOD] * 2, SPENT, "not allowed"),
    Case("claude_empty", "claude", "empty", [GOOD] * 2, SPENT, "its answer is empty"),
    Case("claude_limit", "claude", text("fail", LIMIT), [("limited", "provider_limit")], PARKED, "usage limit reached",
         notices=MET),
    Case("claude_limit_exit_0", "claude", text("fail", "You've hit your session limit \u00b7 resets 3:45pm", code=0),
         ["limited"], PARKED, "You've hit your session limit", notices=MET),
    Case("claude_limit_event", "claude", {"do": "limit_event", "resets": "@+3600@"}, ["limited"], PARKED,
         "You've hit your session limit", notices=MET),
    Case("claude_spend", "claude", text("fail", "You have reached your specified API usage limits. You will regain access on "
                                        "2099-08-01 at 00:00 UTC.", status=400), ["limited"], PARKED, notices=MET),
    Case("claude_login", "claude", text("fail", "Not logged in \u00b7 Please run /login"), ["auth"], REFUSED, "Not logged in",
         notices=SHUT),
    Case("claude_credit", "claude", text("fail", "Credit balance is too low"), ["auth"], REFUSED, "Credit balance", notices=SHUT),
    Case("claude_storm", "claude", ["storm", "storm", "ok"], ["transient", "transient", GOOD], WELL, cost=0.25,
         attempts=[1, 1, 1]),
    Case("claude_storm_stays", "claude", "storm", ["transient", "transient", "failed"] + ["transient", "transient", "failed"], SPENT,
         "529", attempts=[1, 1, 1, 2, 2, 2]),
    Case("claude_session_gone", "claude", ["hang", "not_found", "ok"],
         ["timed_out", ("failed", "agent_error"), GOOD], WELL, timeout="15s", attempts=[1, 2, 3], max_attempts=4),
    Case("claude_session_used", "claude", ["in_use", "ok"], [("failed", "agent_error"), GOOD], WELL),
    Case("claude_exit_0_after_term", "claude", "exit0", ["timed_out"] * 2, SPENT, timeout="5s"),
    Case("claude_launcher", "claude", "launcher", ["timed_out"] * 2, SPENT, timeout="5s"),
    Case("claude_outlived", "claude", "outlived", [GOOD], WELL, cost=0.25),
    # --- codex ---
    Case("codex", "codex", "ok", [GOOD], WELL, tokens=120),
    Case("codex_prose", "codex", "prose", [GOOD], WELL),
    Case("codex_reconnecting", "codex", "reconnecting", [GOOD], WELL),
    Case("codex_interrupted", "codex", "interrupted", failed("no_result"), SPENT),
    Case("codex_limit", "codex", text("fail", "You\u2019ve hit your usage limit. Upgrade to Pro or try again in 2 hours 5 minutes."),
         ["limited"], PARKED, "usage limit", notices=MET),
    Case("codex_credit", "codex", text("fail", "Your workspace is out of credits. Ask its owner."), ["auth"], REFUSED, notices=SHUT),
    Case("codex_login", "codex", text("fail", "unexpected status 401 Unauthorized: Missing bearer or basic authentication in "
                                      "header, url: https://x"), ["auth"], REFUSED, "401", notices=SHUT),
    Case("codex_capacity", "codex", [text("fail", "Selected model is at capacity. Please try a different model."), "ok"],
         ["transient", GOOD], WELL, attempts=[1, 1]),
    Case("codex_untrusted", "codex", text("stderr", "Not inside a trusted directory and --skip-git-repo-check was not specified."),
         failed("agent_error"), SPENT, "trusted directory"),
    Case("codex_resumed", "codex", [{"do": "fail"}, "ok"], [("failed", "agent_error"), GOOD], WELL, tokens=240),
    Case("codex_resumed_twice", "codex", [{"do": "ok", "idle": True}, "ok"], [GOOD, GOOD], WELL, tokens=120,
         on_no_change="nudge", attempts=[1, 2]),
    # --- gemini ---
    Case("gemini", "gemini", "ok", [GOOD], WELL, tokens=120),
    Case("gemini_prose", "gemini", "prose", [GOOD], WELL),
    Case("gemini_filtered", "gemini", "filtered", failed("agent_error"), SPENT),
    Case("gemini_limit", "gemini", text("fail", "You have exhausted your capacity on this model. Your quota will reset after 1h2m3s."),
         ["limited"], PARKED, "quota will reset", notices=MET),
    Case("gemini_turns", "gemini", text("stderr", "Reached max session turns for this session. Increase it.", code=53),
         failed("max_turns"), SPENT, "max session turns"),
    Case("gemini_login", "gemini", text("stderr", "Please set an Auth method in your settings.json", code=41), ["auth"], REFUSED,
         "Auth method", notices=SHUT),
    Case("gemini_429", "gemini", [text("stderr", "too many", code=173), "ok"], ["transient", GOOD], WELL, attempts=[1, 1]),
    # --- the others ---
    Case("opencode", "opencode", "ok", [GOOD], WELL, cost=0.25, tokens=120),
    Case("opencode_prose", "opencode", "prose", [GOOD], WELL, cost=0.3, tokens=135),
    Case("opencode_exit_0", "opencode", text("fail", "Model not found", code=0), failed("agent_error"), SPENT, "Model not found"),
    Case("opencode_limit", "opencode", text("fail", "Rate limit exceeded: free-models-per-day. Add 10 credits", status=429),
         ["limited"], PARKED, notices=MET),
    Case("opencode_429", "opencode", [text("fail", "Rate limit exceeded", status=429), "ok"], ["transient", GOOD], WELL,
         attempts=[1, 1]),
    Case("aider", "aider", "ok", [GOOD], WELL),
    Case("aider_login", "aider", text("fail", "The API provider is not able to authenticate you. Check your API key.", code=0),
         ["auth"], REFUSED, notices=SHUT),
    Case("aider_idle", "aider", "idle", [GOOD], HELD),
    Case("goose", "goose", "ok", [GOOD], WELL, tokens=120),
    Case("goose_limit", "goose", text("fail", "Rate limit exceeded: free-models-per-day. Add 10 credits", code=0), ["limited"], PARKED,
         notices=MET),
    Case("goose_fails", "goose", text("fail", "no such model", code=0), failed("agent_error"), SPENT, "no such model"),
    Case("qwen", "qwen", "ok", [GOOD], WELL, tokens=120),
    Case("qwen_array", "qwen", "array", [GOOD], WELL, tokens=120),
    Case("qwen_limit", "qwen", text("fail", "Throttling.AllocationQuota"), ["limited"], PARKED, notices=MET),
    Case("qwen_turns", "qwen", text("stderr", "Reached max session turns", code=53), failed("max_turns"), SPENT),
    Case("kimi", "kimi", "ok", [GOOD], WELL),
    Case("kimi_limit", "kimi", text("fail", "provider.auth_error: 403 You've reached your usage limit for this billing cycle."),
         ["limited"], PARKED, "billing cycle", notices=MET),
    Case("kimi_429", "kimi", [text("fail", "provider.rate_limit: slow down"), "ok"], ["transient", GOOD], WELL, attempts=[1, 1]),
    Case("kimi_login", "kimi", text("fail", "provider.auth_error: 401"), ["auth"], REFUSED, notices=SHUT),
    Case("kimi_no_result", "kimi", "nothing", failed("no_result"), SPENT),
    Case("amp", "amp", "ok", [GOOD], WELL),
    Case("cursor", "cursor-agent", "ok", [GOOD], WELL),
    Case("cursor_limit", "cursor-agent", text("fail", "Error: You've hit your usage limit. It will reset when your monthly cycle "
                                              "ends on 11/17/2099."), ["limited"], PARKED, notices=MET),
    Case("copilot", "copilot", "ok", [GOOD], WELL),
    Case("copilot_quota", "copilot", text("fail", "You have exceeded your monthly quota",
                                          data={"errorType": "quota", "statusCode": 402, "errorCode": "quota_exceeded"}),
         ["limited"], PARKED, notices=MET),
    Case("crush", "crush", "ok", [GOOD], WELL),
    Case("crush_fails", "crush", text("fail", "no model"), failed("exit_1"), SPENT, "no model"),
]


def compare(case, fakes, runs, told):
    runs = sorted((run for run in runs if run["role"] == case.name), key=lambda run: (run["attempt"], run["started"]))
    flow = f"rules/{case.name}/a"
    says = (case.name, runs)
    found = [run["outcome"] for run in runs]
    check(found == [outcome for outcome, _ in case.runs], "outcomes", found, *says)
    for run, (_, reason) in zip(runs, case.runs):
        check(reason is None or run["reason"] == reason, "reason", run["reason"], "not", reason, *says)
    check([run["attempt"] for run in runs] == case.attempts, "attempts", *says)
    check(case.error in runs[-1]["error"], "error", runs[-1]["error"], *says)
    check(case.cost is None or abs((runs[-1]["cost"] or 0) - case.cost) < 1e-9, "cost", *says)
    check(case.tokens is None or runs[-1]["tokens"] == case.tokens, "tokens", *says)
    notices = [each["event"] for each in told if each["flow"] == flow and each["event"] in MET + SHUT]
    check(notices == case.notices, "notices", notices, *says)
    check(len(fakes.starts()) == len(runs), "starts", fakes.starts(), *says)
    if os.path.exists(fakes.folder + "/child.pid"):
        with open(fakes.folder + "/child.pid") as file:
            check(not carries(int(file.read()), fakes.folder), "a child lives on", *says)


def ends(baton):
    """Condition and reason of each case."""
    return {line["flow"].split("/")[1]: (line["condition"], line["reason"]) for line in baton.lines("status")}


def judged(exe):
    """All cases in one world: each has its own agent, provider and ticket."""
    limits = {"backoff": "50ms", "max_backoff": "100ms", "max_attempts": 2, "max_transient": 3, "max_running": 12}
    rules = [{"name": case.name, "files": case.name + "/{flow}.json", "stage": "/status",
              "react": [{"to": "ready", "run": case.name}]} for case in CASES]
    with Provided(exe, rules=rules, limits=limits) as baton:
        fakes = {case.name: Fakes(f"{baton.home}/{case.name}", {case.program: case.steps}) for case in CASES}
        baton.settings["agents"] = {case.name: fakes[case.name].agent(case.program, provider=case.name, **case.agent)
                                    for case in CASES}
        baton.configure()
        for case in CASES:
            world.write(f"{baton.root}/{case.name}/a.json", {"status": "ready"})
        baton.start()
        # All have been started, and none runs or is due.
        wait_until(lambda: not any(end in (("running", ""), ("waiting", "free_place"), ("waiting", "back_off"),
                                           ("waiting", "transient")) or end[0] == "running" for end in ends(baton).values())
                   and all(fake.starts() for fake in fakes.values()), "all end", lambda: baton.call("status").stdout)
        baton.idle()
        faults, found, runs, told = [], ends(baton), baton.lines("agents"), baton.lines("events")
        for case in CASES:
            try:
                check(found[case.name] == case.ends, "ends as", found[case.name], "not", case.ends)
                compare(case, fakes[case.name], runs, told)
            except AssertionError as fault:
                faults.append(f"{case.name}: {fault}")
        check(not faults, "\n" + "\n".join(faults))


LOOP = """name: fix
initial: look
states:
  look:
    action: "/look at it, and say ALL GOOD if nothing is left to do"
    evaluate: {type: output_contains, pattern: "ALL GOOD"}
    on_yes: done
    on_no: stopped
    on_error: stopped
  stopped: {terminal: true, failure: true}
  done: {terminal: true}
"""


def heard(exe):
    """What an agent says in the events of its program counts as its output, and what it was told does not."""
    for program, said, state in (("claude", "I have looked. ALL GOOD", "done"), ("gemini", "two things are left", "stopped"),
                                 ("codex", "ALL GOOD", "done"), ("kimi", "no", "stopped")):
        with Provided(exe) as baton:
            fakes = Fakes(baton.home + "/fakes", {program: [text("ok", said)]}, None)
            baton.settings["agents"] = {"agent": fakes.agent(program)}
            baton.settings["dialects"] = {"fsm_loop": {}}
            del baton.settings["rules"]
            baton.configure()
            world.write(baton.root + "/.loops/fix.yaml", LOOP.encode())
            baton.start()
            baton.call("start", "fix")
            wait_until(lambda: baton.lines("status")[0]["condition"] in ("done", "failed"), program, "ends",
                       lambda: baton.call("status").stdout)
            told = baton.lines("status")[0]
            check((told["condition"] == "done") == (state == "done"), program, said, told)


def prompts(exe):
    """A prompt reaches its program whole and as a prompt, or nothing is started."""
    cases = {"claude": (300000, "idle"), "kimi": (100000, "idle"), "cursor-agent": (1000, "idle"), "aider": (300000, "idle"),
             "amp": (130000, "failed"), "copilot": (130000, "failed")}
    rules = [{"name": name, "files": name + "/{flow}.json", "stage": "/status", "react": [{"to": "ready", "run": name}]}
             for name in cases]
    with Provided(exe, rules=rules) as baton:
        fakes = {name: Fakes(f"{baton.home}/{name}", {}) for name in cases}
        texts = {}
        for name, (size, _) in cases.items():
            texts[name] = "--yes is no option here.\n" + "Do it well. " * (size // 12) + "The end."
            world.write(f"{baton.home}/{name}.md", texts[name].encode())
        baton.settings["agents"] = {name: fakes[name].agent(name, prompt=f"{baton.home}/{name}.md") for name in cases}
        baton.configure()
        for name in cases:
            world.write(f"{baton.root}/{name}/a.json", {"status": "ready"})
        baton.start()
        wait_until(lambda: {name: end[0] for name, end in ends(baton).items()} == {name: end for name, (_, end) in cases.items()},
                   "all end", lambda: baton.call("status").stdout)
        for name, (_, end) in cases.items():
            starts = fakes[name].starts()
            if end == "failed":
                told = next(line for line in baton.lines("status") if line["flow"] == f"rules/{name}/a")
                check(not starts and "takes at most" in told["why"], name, starts, told)
            else:
                check([each["prompt"].strip() for each in starts] == [texts[name]], name, len(starts[0]["prompt"]))


if __name__ == "__main__":
    world.main_parts([judged, heard, prompts])
