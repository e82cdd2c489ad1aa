# SPDX-License-Identifier: Apache-2.0
"""A provider's limit in the middle of the work, in every dialect: the flow waits, nothing is blamed, and the work is done
with the starts that it needs and the one that met the limit. usage: limits_park_test.py BATON [PART...]"""

import concurrent.futures
import json
import os
from collections import Counter

import world
from fake_clis import DONE, Fakes, Provided
from world import check, wait_until

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
EXAMPLES = TOP + "/examples"
SAID = "usage limit reached"

LOOP = """name: fix
initial: work
max_steps: 9
states:
  work:
    action: "/fix the next bug"
    evaluate: {type: exit_code}
    on_yes: check
    on_no: work
    on_error: work
  check:
    action: "/check it"
    evaluate: {type: exit_code}
    on_yes: done
    on_no: work
    on_error: work
  done: {terminal: true}
"""
WORKFLOW = """name: plain
steps:
  - {id: plan, agent: architect, prompt: p.md}
  - {id: write, agent: developer, prompt: p.md, needs: [plan]}
  - {id: review, agent: reviewer, prompt: p.md, needs: [write], loop_back_to: write}
  - {id: release, agent: developer, prompt: p.md, needs: [review]}
"""


class Dialect:
    """How a flow of a dialect is begun, and when it is done."""

    def __init__(self, name, roles, work, begin, done, options=None, untouched=None):
        self.name, self.roles, self.work, self.begin, self.done = name, roles, work, begin, done
        self.options, self.untouched = options, untouched


def read(baton, path):
    try:
        with open(f"{baton.root}/{path}") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def begin_rules(baton):
    for name in "abc":
        baton.ticket(name, "ready")


def begin_workflow(baton):
    world.write(baton.root + "/p.md", b"Do your step of {run_id}.\n")
    world.write(baton.root + "/wf.yaml", WORKFLOW.encode())
    baton.call("start", baton.root + "/wf.yaml", "--run-id", "r")


def begin_loop(baton):
    world.write(baton.root + "/.loops/fix.yaml", LOOP.encode())
    baton.call("start", "fix")


def begin_ccw(baton):
    loop = baton.call("create", "--title", "Add login").stdout.split()[-1].split("/")[1]
    baton.call("start", loop)


def done_ccw(baton):
    folder = baton.root + "/.workflow/.loop"
    return any(read(baton, f".workflow/.loop/{name}").get("status") == "completed"
               for name in os.listdir(folder) if name.endswith(".json"))


def pending(baton):
    """The step is as before its start, as after `baton stop --all`."""
    steps = read(baton, ".agents/runs/r/run_state.json")["steps"].values()
    begun = [step for step in steps if step["status"] not in ("COMPLETED", "PENDING")]
    check(not begun, steps)
    check([step.get("attempts", 0) for step in steps if step["status"] == "PENDING"] == [0, 0, 0], steps)
    check(not any(step.get("last_error") for step in steps), steps)


def same_state(baton):
    state = read(baton, ".loops/.running/fix.state.json")
    check(state["status"] == "running" and state["current_state"] == "check" and state["iteration"] == 2
          and not state.get("rate_limit_retries") and not state.get("retry_counts"), state)


def no_blame(baton):
    groups = read(baton, "coordination/group_status.json")
    check(not any(group.get("blockers") for group in groups.values() if isinstance(group, dict)), groups)


def sh(script):
    return f'exec "{EXAMPLES}/{script}"'


ALL = [
    Dialect("rules", ["worker"], DONE, begin_rules,
            lambda baton: all(read(baton, f"tickets/{name}.json").get("status") == "done" for name in "abc")),
    Dialect("coordination", ["project_manager", "developer", "qa_expert", "tech_lead"], f'exec "{EXAMPLES}/agents/$BATON_ROLE.sh"',
            lambda baton: baton.call("start", "coordination", "--requirements", "three programs"),
            lambda baton: read(baton, "coordination/orchestrator_state.json").get("status") == "completed", untouched=no_blame),
    Dialect("agent_run", ["architect", "developer", "reviewer"], sh("agent_run/agent.sh"), begin_workflow,
            lambda baton: read(baton, ".agents/runs/r/run_state.json").get("status") == "COMPLETED", untouched=pending),
    Dialect("fsm_loop", ["agent"], "true", begin_loop,
            lambda baton: any(name.startswith("fix") or "fix" in name for name in finished_loops(baton)), untouched=same_state),
    Dialect("ccw_loop", ["executor"], sh("agents/executor.sh"), begin_ccw, done_ccw, {"granularity": "action"}),
    Dialect("ml_workflow", ["planner", "validator", "programmer"], sh("ml_workflow/agent.sh"),
            lambda baton: baton.call("start", "wf", "--dialect", "ml_workflow", "--requirements", "Derive churn features."),
            lambda baton: read(baton, "workflow_states/wf/state.json").get("status") == "completed", {"approvals": []}),
]


def finished_loops(baton):
    return [line["flow"] for line in baton.lines("status") if line["flow"].startswith("fsm_loop/") and line["condition"] == "done"]


class Work(Provided):
    """A world with one dialect, whose agents are all the fake of claude."""

    def __init__(self, exe, dialect, script, stand_in=False):
        super().__init__(exe, limits={"backoff": "300ms", "max_backoff": "1s", "max_attempts": 2})
        self.dialect = dialect
        self.fakes = Fakes(self.home + "/fakes", script, dialect.work)
        more = {"fallback": ["stand_in"]} if stand_in else {}
        self.settings["agents"] = {role: self.fakes.agent("claude", **more) for role in dialect.roles}
        if stand_in:
            self.settings["agents"]["stand_in"] = self.fakes.agent("codex")
        if dialect.name != "rules":
            del self.settings["rules"]
            self.settings["dialects"] = {dialect.name: dialect.options or {}}
        self.configure()

    def done(self):
        wait_until(lambda: self.dialect.done(self), self.dialect.name, "is done",
                   lambda: self.call("status", code=None).stdout, lambda: self.call("events", code=None).stdout[-4000:])
        self.idle()

    def runs(self):
        """Those that ran, in the order of their starts."""
        runs = [run for run in self.lines("agents") if run["role"] != "shell" and run["outcome"] != "voided"]
        return sorted(runs, key=lambda run: run["started"])

    def work_done(self):
        """How often each piece of work was done by a run that was not kept from it. A run whose work is written already may
        be stopped before it has ended."""
        runs = self.runs()
        check(all(run["outcome"] in ("succeeded", "stopped", "limited", "transient") for run in runs),
              [(run["role"], run["subject"], run["purpose"], run["outcome"], run["reason"], run["error"]) for run in runs])
        return Counter((run["role"], run["subject"], run["purpose"]) for run in runs if run["outcome"] in ("succeeded", "stopped"))

    def check_limit(self, needed):
        runs = self.runs()
        limited = [run for run in runs if run["outcome"] == "limited"]
        check(len(limited) == 1, self.dialect.name, "limited", runs)
        check(self.work_done() == needed, self.dialect.name, self.work_done(), "needed", needed)
        check(len(self.fakes.starts()) == sum(needed.values()) + 1, "starts", self.fakes.starts())
        check(all(run["attempt"] == 1 for run in runs), "an attempt was counted", runs)
        check(len(self.events_of("provider_limit")) == 1, self.events_of("provider_limit"))
        for kind in ("failed", "blocked", "login_refused"):
            check(not self.events_of(kind), self.events_of(kind))
        for folder, _, files in os.walk(self.root):
            # The output of an agent, which a workflow keeps beside its files, is what it is.
            for name in [name for name in files if not name.endswith(".log")]:
                with open(f"{folder}/{name}", errors="replace") as file:
                    check(SAID not in file.read(), f"{folder}/{name} tells of the limit")
        if self.dialect.name == "coordination":  # what was written at the start is taken back
            state = read(self, "coordination/orchestrator_state.json")
            check(state["total_spawns"] == sum(needed.values()), state["total_spawns"], needed)
            decisions = [entry["decision"] for entry in state["decisions_log"]]
            check(not any("escalat" in each for each in decisions), decisions)
        return limited[0]

    def waits(self):
        """The provider is parked, and a flow says that it waits for it. Returns the row."""
        wait_until(self.parked, "it is parked", lambda: self.call("status", code=None).stdout)
        row = self.parked()["anthropic"]
        check(SAID in row["why"], row)
        return row


def limit(seconds):
    return {"do": "fail", "text": f"Claude AI {SAID}|@+{seconds}@"}


def each_dialect(test):
    """All dialects at once: what takes time here is waiting."""
    with concurrent.futures.ThreadPoolExecutor(len(ALL)) as pool:
        faults = []
        for dialect, done in [(each, pool.submit(test, each)) for each in ALL]:
            try:
                done.result()
            except Exception as fault:  # noqa: all are told at the end
                faults.append(f"{dialect.name}: {type(fault).__name__}: {fault}")
        check(not faults, "\n".join(faults))


NEEDED = {}


def needed_by(exe, dialect):
    """What the work needs without any limit."""
    if dialect.name not in NEEDED:
        with Work(exe, dialect, {"claude": ["ok"]}) as work:
            work.start()
            dialect.begin(work)
            work.done()
            NEEDED[dialect.name] = work.work_done()
    return NEEDED[dialect.name]


def waited_for(exe):
    """The second start meets a limit of three seconds."""
    def test(dialect):
        needed = needed_by(exe, dialect)
        with Work(exe, dialect, {"claude": ["ok", limit(3), "ok"]}) as work:
            work.start()
            dialect.begin(work)
            work.done()
            limited = work.check_limit(needed)
            # The same session goes on, and its agent hears what happened.
            starts = work.fakes.starts()
            again = [each for each in starts if each["env"].get("BATON_PREVIOUS_RUN") == limited["run"]]
            check(len(again) == 1 and again[0]["resumed"] and again[0]["session"] == limited["session"], dialect.name,
                  "was not continued", limited, again)
            check(again[0]["env"]["BATON_PREVIOUS_OUTCOME"] == "limited", again[0]["env"])
            if again[0]["prompt"]:
                check("What happened before" in again[0]["prompt"] and SAID in again[0]["prompt"], again[0]["prompt"][-500:])
            check(not work.parked(), work.parked())
    each_dialect(test)


def stood_in_for(exe):
    """A limit of an hour: another program does the rest."""
    def test(dialect):
        needed = needed_by(exe, dialect)
        with Work(exe, dialect, {"claude": ["ok", limit(3600), "ok"]}, stand_in=True) as work:
            work.start()
            dialect.begin(work)
            work.done()
            limited = work.check_limit(needed)
            again = [each for each in work.fakes.starts() if each["env"].get("BATON_PREVIOUS_RUN") == limited["run"]]
            check([(each["program"], each["resumed"]) for each in again] == [("codex", False)], dialect.name, again)
            check([run["agent"] for run in work.runs() if run["run"] == again[0]["env"]["BATON_RUN_ID"]] == ["stand_in"], work.runs())
            check(list(work.parked()) == ["anthropic"], work.parked())
    each_dialect(test)


def waited_for_by_two_daemons(exe):
    """The daemon is killed while the provider is parked."""
    def test(dialect):
        needed = needed_by(exe, dialect)
        with Work(exe, dialect, {"claude": ["ok", limit(8), "ok"]}) as work:
            work.start()
            dialect.begin(work)
            before = work.waits()
            work.idle()
            if dialect.untouched:
                dialect.untouched(work)
            started = len(work.fakes.starts())
            work.fresh()
            after = work.parked().get("anthropic")
            if after:  # else the time is over already
                check(after == before, before, after)
                now = len(work.fakes.starts())
                check(now == started or not work.parked(), "it was started while parked")
            work.done()
            work.check_limit(needed)
    each_dialect(test)


def one_limit_for_all(exe):
    """Five agents at work meet one limit: it counts once, and is told once."""
    with Work(exe, ALL[0], {"claude": [limit(6)] * 5 + ["ok"]}) as work:
        for name in "abcde":
            work.ticket(name, "ready")
        work.start()
        wait_until(lambda: all(read(work, f"tickets/{name}.json").get("status") == "done" for name in "abcde"), "all are done",
                   lambda: work.call("status", code=None).stdout)
        check(len(work.events_of("provider_limit")) == 1, work.events_of("provider_limit"))
        check(len(work.fakes.starts()) == 10, work.fakes.starts())


def known_to_other_roots(exe):
    """The daemon of another root does not start agents of the account either."""
    with Work(exe, ALL[0], {"claude": [limit(3600), "ok"]}) as work, Work(exe, ALL[0], {"claude": ["ok"]}) as other:
        other.state = work.state
        work.start()
        other.start()
        work.ticket("a", "ready")
        work.waits()
        other.ticket("b", "ready")
        wait_until(lambda: [line["reason"] for line in other.lines("status")] == ["provider_limit"], "it waits",
                   lambda: other.call("status", code=None).stdout)
        check(not other.fakes.starts() and not other.events_of("provider_limit"), other.fakes.starts())
        work.call("limits", "--clear", "anthropic")
        wait_until(lambda: read(other, "tickets/b.json").get("status") == "done", "it is done",
                   lambda: other.call("status", code=None).stdout)


def cleared(exe):
    """`baton limits --clear` and `baton resume --provider` try at once."""
    with Work(exe, ALL[0], {"claude": [limit(3600), limit(3600), "ok"]}) as work:
        work.start()
        work.ticket("a", "ready")
        work.waits()
        work.call("limits", "--clear", "anthropic")
        wait_until(lambda: len(work.fakes.starts()) == 2, "it tries again", lambda: work.call("status", code=None).stdout)
        work.waits()
        work.call("resume", "--provider", "anthropic")
        wait_until(lambda: read(work, "tickets/a.json").get("status") == "done", "it is done")
        work.call("limits", "--clear", "anthropic", code=1)


def logged_in_again(exe):
    """A refused login blocks the agent until a person resumes it, whatever comes meanwhile."""
    with Work(exe, ALL[0], {"claude": [{"do": "fail", "text": "Not logged in \u00b7 Please run /login"}, "ok"]}) as work:
        work.start()
        work.ticket("a", "ready")
        wait_until(work.parked, "it is blocked")
        work.ticket("b", "ready")
        work.fresh()
        wait_until(lambda: len([line for line in work.lines("status") if line["reason"] == "login_refused"]) == 2, "both wait",
                   lambda: work.call("status", code=None).stdout)
        check(len(work.fakes.starts()) == 1 and len(work.events_of("login_refused")) == 1, work.events_of("login_refused"))
        work.call("resume", "--agent", "worker")
        wait_until(lambda: all(read(work, f"tickets/{name}.json")["status"] == "done" for name in "ab"), "both are done")
        check(len(work.fakes.starts()) == 3, work.fakes.starts())


def storms_in_each_dialect(exe):
    """Overload is repeated, and after `max_transient` times it is a failure."""
    def test(dialect):
        needed = needed_by(exe, dialect)
        with Work(exe, dialect, {"claude": ["ok", "storm", "storm", "storm", "ok"]}) as work:
            work.start()
            dialect.begin(work)
            work.done()
            runs = work.runs()
            check([run["outcome"] for run in runs].count("transient") == 3, dialect.name, runs)
            check(work.work_done() == needed, dialect.name, work.work_done(), needed)
            check(all(run["attempt"] == 1 for run in runs), dialect.name, runs)
    each_dialect(test)


def storms_end(exe):
    """The same without an end."""
    def test(dialect):
        if dialect.name in ("coordination", "ml_workflow"):
            return  # they ask other agents about a failure
        with Work(exe, dialect, {"claude": ["storm"]}) as work:
            for agent in work.settings["agents"].values():
                agent["max_transient"] = 3
            work.configure()
            work.start()
            dialect.begin(work)
            wait_until(lambda: any(run["outcome"] == "failed" for run in work.runs()), dialect.name, "fails at last",
                       lambda: work.call("status", code=None).stdout)
            check([run["outcome"] for run in work.runs()][:3].count("transient") >= 2 or dialect.name == "rules", work.runs())
    each_dialect(test)


if __name__ == "__main__":
    world.main_parts([waited_for, stood_in_for, waited_for_by_two_daemons, one_limit_for_all, known_to_other_roots, cleared,
                      logged_in_again, storms_in_each_dialect, storms_end], 4)
