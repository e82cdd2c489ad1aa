# SPDX-License-Identifier: Apache-2.0
"""Whole coordination sessions on the real binary: developers who overwrite the shared file from stale copies, a
daemon that is killed at twenty moments, a group that is split while another one is worked on.
usage: session_test.py BATON"""

import itertools
import json
import os
import random
import re
import signal
import subprocess
import time
from collections import Counter

import world
from world import check, wait_until, World

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
NOW = "2026-01-22T09:00:00Z"


class Session(World):
    """A root with a coordination folder. `agents` by role: a command behind the counting one."""

    def __init__(self, baton, agents, **options):
        super().__init__(baton, agents={"nobody": {"command": ["/bin/true"]}}, rules=None)
        del self.settings["rules"]
        self.settings["dialects"] = {"coordination": options}
        self.settings["agents"] = {role: self.counting(*command) for role, command in agents.items()}
        self.configure()

    def path(self, kind):
        return f"{self.root}/coordination/{kind}.json"

    def doc(self, kind):
        with open(self.path(kind)) as file:
            return json.load(file)

    def plan(self, groups, **more):
        world.write(self.path("pm_state"), {
            "session_id": "v4_1", "mode": "parallel", "original_requirements": "Build it.", "task_groups": groups,
            "iteration": 1, "last_update": NOW, **more})

    def statuses(self):
        return {name: group["status"] for name, group in self.doc("group_status").items()}

    def said(self):
        """Everything there is to know when something never came true."""
        return "\n".join([json.dumps(self.doc("group_status"), indent=1), self.call("status", code=None).stdout,
                          self.call("events", code=None).stdout[-6000:]])

    def looked(self):
        """How often the shared file was accepted so far."""
        return sum(event["event"] == "accepted" and "group_status" in event["why"] for event in self.lines("events"))

    def completed(self):
        wait_until(lambda: self.doc("orchestrator_state")["status"] == "completed", "the session ends", self.said)

    def every_agent_once(self):
        """Each start of the agents' log is another run, and the orchestrator has counted each."""
        runs = [start.run for start in self.starts()]
        check(len(runs) == len(set(runs)), "a run was entered twice", self.starts())
        state = self.doc("orchestrator_state")
        check(state["total_spawns"] == len(runs), state["total_spawns"], "counted, started", self.starts())
        logged = 0
        for entry in state["decisions_log"]:
            if entry["decision"] == "undo_spawn":
                logged -= 1
                check(entry["iteration"] == logged, "a start taken back", state["decisions_log"])
            if not entry["decision"].startswith("spawn_"):
                continue
            check(entry["iteration"] == logged + 1, "numbers of the log", state["decisions_log"])
            several = re.fullmatch("spawn_([0-9]+)_developers_parallel", entry["decision"])
            logged += int(several.group(1)) if several else 1
        check(logged == len(runs), logged, "logged, started", state["decisions_log"], self.starts())
        check(state["active_agents"] == [], "agents that are gone", state["active_agents"])


# --- stale copies -------------------------------------------------------------------------------------


def overwrite_from_stale_copies(exe, order):
    """Two developers have read the same version; each writes the whole file twice from its own copy."""
    waits = ["/bin/sh", "-c", 'until [ -e "$BATON_ROOT/done" ]; do sleep 0.05; done']
    with Session(exe, {"developer": waits}) as box:
        world.write(box.path("group_status"), {})
        box.plan([{"id": "A"}, {"id": "B"}])
        box.start()
        wait_until(lambda: len(box.starts()) == 2, "both developers work", box.said)
        wait_until(lambda: box.statuses() == {"A": "dev_working", "B": "dev_working"}, "it says so", box.said)
        copies = {name: box.doc("group_status") for name in "AB"}
        done = {"A": [], "B": []}
        for name in order:
            entry = copies[name][name]
            done[name].append(f"{name}{len(done[name]) + 1}")
            entry["commits"] = list(done[name])
            if len(done[name]) == 2:
                entry.update(status="waiting_qa", current_agent="none")
            seen = box.looked()
            world.write(box.path("group_status"), copies[name])
            # What baton has never seen it cannot keep; what it has, is kept.
            wait_until(lambda: box.looked() > seen, "it is looked at", box.said)
            wait_until(lambda: {k: v for k, v in box.doc("group_status").items()
                                if v.get("commits", []) != done[k]} == {}, "order", order, name, "is lost", box.said)
        wait_until(lambda: box.statuses() == {"A": "waiting_qa", "B": "waiting_qa"}, order, box.said)
        # Nothing comes later either.
        open(box.root + "/done", "w").close()
        wait_until(lambda: all(run["state"] == "ended" for run in box.lines("agents")), "they end")
        check(box.statuses() == {"A": "waiting_qa", "B": "waiting_qa"}, order, box.said())
        check(len(box.starts()) == 2, "a developer was started again", box.starts())
        box.every_agent_once()


# --- kill -9 --------------------------------------------------------------------------------------------

DEMO = Counter({("*session", "planning"): 1, ("*session", "final_check"): 1,
                ("A", "implement"): 1, ("A", "test"): 1, ("A", "review"): 1,
                ("B", "implement"): 1, ("B", "test"): 2, ("B", "fix_tests"): 1, ("B", "review"): 1,
                ("C", "implement"): 1, ("C", "test"): 2, ("C", "review"): 2, ("C", "revise"): 1})


def killed(exe, moments, seed):
    """The session of the demo; the daemon is killed when so many agents have been started, and a little later."""
    rng = random.Random(seed)
    agents = {role: [f"{TOP}/examples/agents/{role}.sh"]
              for role in ("project_manager", "developer", "qa_expert", "tech_lead")}
    with Session(exe, agents) as box:
        box.call("start", "coordination", "--requirements", "three programs")
        box.start()
        for moment in moments:
            wait_until(lambda m=moment: len(box.starts()) >= m, "start", moment, box.said)
            time.sleep(rng.uniform(0, 0.12))  # any moment will do
            box.daemon.send_signal(signal.SIGKILL)
            box.daemon.wait()
            box.start()
        box.completed()
        box.idle()
        check(Counter((start.subject, start.purpose) for start in box.starts()) == DEMO, "agents", box.starts(),
              box.said())
        box.every_agent_once()


# --- the end ----------------------------------------------------------------------------------------------


def completed_stays_so(exe):
    """A session that is over keeps no daemon with --once, nor does a mailbox in it that is wrong."""
    agents = {role: [f"{TOP}/examples/agents/{role}.sh"]
              for role in ("project_manager", "developer", "qa_expert", "tech_lead")}
    with Session(exe, agents) as box:
        def once():
            done = box.once()
            check(done.returncode == 0, done.returncode, done.stdout, done.stderr, box.said())

        box.call("start", "coordination", "--requirements", "three programs")
        once()
        check(Counter((start.subject, start.purpose) for start in box.starts()) == DEMO, box.starts(), box.said())
        before = {kind: box.doc(kind) for kind in ("pm_state", "group_status", "orchestrator_state")}
        check(before["orchestrator_state"]["status"] == "completed", before)
        once()
        once()
        mailbox = f"{box.root}/coordination/messages/dev_to_qa.json"
        world.write(mailbox, {"messages": [{"id": "m1"}]})
        once()
        after = {kind: box.doc(kind) for kind in before}
        check(after == before, "a session that is over was written to", before, after)
        [status] = box.lines("status")
        check(status["condition"] == "done" and status["declared"] == "completed", status)
        check("; coordination/messages/dev_to_qa.json:1:15 /messages/0 is rejected: " in status["why"], status)
        check(len(box.starts()) == sum(DEMO.values()), box.starts())


# --- a plan that changes ---------------------------------------------------------------------------------

AGENT = """import json, os, subprocess, sys
root, group, purpose = os.environ["BATON_ROOT"], os.environ["BATON_SUBJECT"], os.environ["BATON_PURPOSE"]
exe, file, role = os.environ["BATON_EXE"], os.environ["BATON_STATE_FILE"], os.environ["BATON_ROLE"]
prompt = sys.stdin.read()
def change(path, **members):
    subprocess.run([exe, "set", path] + [f"/{k.replace('__', '/')}={json.dumps(v)}" for k, v in members.items()],
                   check=True)
if role == "project_manager":
    if purpose == "stuck":
        assert "makes no progress" in prompt and f"Group {group}" in prompt, prompt
        plan = json.load(open(file))
        groups = [each for each in plan["task_groups"] if each["id"] != group]
        groups += [{"id": group + "1"}, {"id": group + "2", "depends_on": [group + "1"]}]
        change(file, task_groups=groups, iteration=plan["iteration"] + 1)
        path = os.path.dirname(file) + "/group_status.json"
        status = json.load(open(path))
        del status[group]
        with open(path + ".new", "w") as out:
            json.dump(status, out)
        os.rename(path + ".new", path)
    elif purpose == "final_check":
        print("BAZINGA")
elif role == "developer":
    if group == "B":
        while not os.path.exists(root + "/let_b_go"):
            subprocess.run(["sleep", "0.05"])
    change(file, **{group + "__status": "waiting_review", group + "__current_agent": "none"})
else:
    change(file, **{group + "__status": "complete", group + "__current_agent": "none",
                    group + "__tech_lead_feedback": [{"iteration": 1, "decision": "approved", "timestamp": "%s"}]})
""" % NOW


def split_of_a_stuck_group(exe):
    with Session(exe, {}) as box:
        agent = box.home + "/agent.py"
        with open(agent, "w") as file:
            file.write(AGENT)
        box.settings["agents"] = {"default": box.counting("/usr/bin/env", "python3", agent)}
        box.configure()
        world.write(box.path("group_status"), {
            "A": {"status": "qa_failed", "current_agent": "none", "iterations": {"developer": 6, "qa": 1, "tech_lead": 0}},
            "B": {"status": "pending"}})
        box.plan([{"id": "A"}, {"id": "B"}])
        box.start()
        wait_until(lambda: box.statuses().get("A2") == "complete", "the halves are done", box.said)
        check("A" not in box.statuses(), "the group that was split is there again", box.said())
        check(box.statuses()["B"] == "dev_working", "the other group has lost its developer", box.said())
        open(box.root + "/let_b_go", "w").close()
        box.completed()
        box.idle()
        wanted = Counter({("A", "stuck"): 1, ("*session", "final_check"): 1})
        for group in ("A1", "A2", "B"):
            wanted.update({(group, "implement"): 1, (group, "review"): 1})
        check(Counter((start.subject, start.purpose) for start in box.starts()) == wanted, box.starts(), box.said())
        box.every_agent_once()


# --- where agents work -----------------------------------------------------------------------------------

BESIDE = """#!/bin/sh
cd / || exit 1
[ "$BATON_PURPOSE" != planning ] || {
  "$BATON_EXE" set "$BATON_STATE_FILE" '/mode="hybrid"' 2>/dev/null && exit 7
  "$BATON_EXE" set "$BATON_STATE_FILE" '/mode="simple"' '/task_groups=[{"id": "main"}]' /iteration=1 || exit 8
}
[ "$BATON_ROLE" != developer ] ||
  "$BATON_EXE" send dev_to_qa --root "$BATON_ROOT" '{"group_id": "main", "status": "READY_FOR_QA"}'
"""


def configured_elsewhere(exe):
    """The configuration lies outside of the root, the folder has another name, the agent works in `/`: its commands
    know the files all the same, and check them."""
    with Session(exe, {}, path="bazinga") as box:
        with open(box.home + "/beside.sh", "w") as file:
            file.write(BESIDE)
        box.settings["agents"] = {"default": box.counting("/bin/sh", box.home + "/beside.sh")}
        box.configure()
        box.call("start", "bazinga", "--requirements", "one thing")
        box.start()
        wait_until(lambda: [each for each in box.starts() if each.purpose == "test"], "the QA expert is started",
                   lambda: box.call("events", code=None).stdout)
        check(os.listdir(box.root) == ["bazinga"], "files were made elsewhere", os.listdir(box.root))
        with open(box.root + "/bazinga/messages/dev_to_qa.json") as file:
            check([each["group_id"] for each in json.load(file)["messages"]] == ["main"], "the message is not there")


IN_TREE = """#!/bin/sh
set -e
[ "$(git rev-parse --show-toplevel)" = "$(pwd)" ]
git branch --show-current >branch.txt
git add branch.txt
git -c user.name=n -c user.email=n@localhost commit -q --allow-empty -m "work on $BATON_SUBJECT"
"$BATON_EXE" set "$BATON_STATE_FILE" "/$BATON_SUBJECT/status=\\"waiting_review\\"" \\
  "/$BATON_SUBJECT/commits=[\\"$(git rev-parse HEAD)\\"]"
"""


def worktree_per_group(exe):
    """`before` makes a git worktree for each group, once; developers of two groups commit side by side."""
    git = ["git", "-c", "user.name=n", "-c", "user.email=n@localhost"]
    with Session(exe, {}) as box:
        with open(box.home + "/in_tree.sh", "w") as file:
            file.write(IN_TREE)
        subprocess.run([*git, "init", "-q", box.root], check=True)
        subprocess.run([*git, "-C", box.root, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
        box.settings["agents"] = {
            "developer": {**box.counting("/bin/sh", box.home + "/in_tree.sh"), "cwd": box.home + "/worktrees/${group}",
                          "before": {"command": [f"{TOP}/examples/agents/worktree.sh", box.home + "/worktrees",
                                                 "${group}", "${branch}"]}},
            "tech_lead": box.counting("/bin/sh", "-c", '"$BATON_EXE" set "$BATON_STATE_FILE" '
                                      '"/$BATON_SUBJECT/status=\\"changes_requested\\""'),
            "nobody": {"command": ["/bin/true"]}}
        box.configure()
        world.write(box.path("group_status"), {})
        box.plan([{"id": "A", "branch_name": "feature/a"}, {"id": "B"}])
        box.start()
        # The second round finds its worktree there.
        wait_until(lambda: all(len(box.doc("group_status").get(group, {}).get("commits", [])) >= 1 and
                               sum(each.subject == group and each.purpose == "revise" for each in box.starts()) >= 1
                               for group in "AB"), "both groups are revised", box.said)
        box.daemon.terminate()
        box.daemon.wait()
        for group, branch in (("A", "feature/a"), ("B", "group/B")):
            # As committed: an agent may be at work still, and writes the file in its worktree anew.
            seen = subprocess.run([*git, "-C", box.root, "show", f"{branch}:branch.txt"], check=True,
                                  capture_output=True, text=True).stdout
            check(seen.strip() == branch, group, "is on another branch")
            log = subprocess.run([*git, "-C", box.root, "log", "--format=%s", branch], check=True, capture_output=True,
                                 text=True).stdout.split("\n")
            check(log[0] == f"work on {group}" and "first" in log, group, log)


# --- prompts beside the configuration ---------------------------------------------------------------------

class Prompts(Session):
    """All roles are played by `default`; `put` makes a file in the place of a prompt."""

    def __init__(self, exe):
        super().__init__(exe, {})
        self.settings["agents"] = {"default": self.counting("/bin/sleep", "600")}
        self.configure()
        self.folder = self.home + "/prompts/coordination"
        os.makedirs(self.folder)

    def put(self, name, text):
        world.write(f"{self.folder}/{name}", text)
        os.chmod(f"{self.folder}/{name}", 0o600)

    def faults(self):
        """What doctor says of agents: errors and warnings."""
        found = json.loads(self.call("doctor", "--json", code=None).stdout)["findings"]
        return [each["message"] for each in found if each["check"] == "agent" and each["level"] != "fine"
                and "the user its agents run as" not in each["message"]]

    def prompt_of(self, subject, purpose):
        run = wait_until(lambda: [each.run for each in self.starts() if (each.subject, each.purpose) == (subject, purpose)],
                         subject, purpose, "is started", self.said)[-1]
        return self.call("prompt", run).stdout


def unusable_prompt_files(exe):
    """Each kind of file that cannot be a prompt is named, with its line where it has one, and what to do."""
    with Prompts(exe) as box:
        path = box.folder + "/developer.md"

        def link(target, mode=None):
            world.write(box.home + "/elsewhere.md", b"Do ${job}\n")
            if mode:
                os.chmod(box.home + "/elsewhere.md", mode)
            os.symlink(target, path)

        def of_another(_):
            box.put("developer.md", b"Do ${job}\n")
            os.chown(path, 12345, -1)

        def open_to_all(_):
            box.put("developer.md", b"Do ${job}\n")
            os.chmod(path, 0o666)

        rows = [(lambda _: box.put("developer.md", b" \n"), "developer.md: it is empty"),
                (lambda _: box.put("developer.md", b"a\0b"), "developer.md: it has a NUL in it"),
                (lambda _: box.put("developer.md", b"caf\xe9"), "developer.md: it is not UTF-8 (at byte 4)"),
                (lambda _: box.put("developer.md", b"x" * (1 << 20) + b"x"), "has more than 1048576 bytes"),
                (lambda _: box.put("developer.md", b"a\n\nDo ${jop}\n"),
                 "developer.md:3: unknown placeholder `${jop}`; did you mean `${job}`?"),
                (lambda _: box.put("developer.md", b"a ${job\n"), "developer.md:1: `${job` has no `}`"),
                (lambda _: box.put("developer.md", b"a ${run_id}\n"), "developer.md:1: unknown placeholder"),
                (os.mkdir, "is not a regular file"), (os.mkfifo, "is not a regular file"),
                (lambda _: link(box.home + "/nowhere.md"), "No such file"),
                (lambda _: link(box.home + "/elsewhere.md", 0o666), "can be written by"),
                (open_to_all, "run `chmod go-w` on it, or")]
        if os.geteuid() == 0:
            rows.append((of_another, "belongs to user 12345"))
        for make, fault in rows:
            make(path)
            told = box.faults()
            check(len(told) == 1 and "the agent `developer` cannot be started: " in told[0] and fault in told[0]
                  and path in told[0] and "remove it to use the built-in prompt" in told[0], fault, "is not told:", told)
            os.rmdir(path) if os.path.isdir(path) else os.unlink(path)
        link(box.home + "/elsewhere.md", 0o600)
        check(not box.faults(), "a link to a good file cannot be used", box.faults())
        os.unlink(path)
        # A name that is no prompt's; an agent's own prompt may lie there.
        box.settings["agents"]["default"]["prompt"] = "prompts/coordination/own.md"
        box.configure()
        box.put("own.md", b"Do your job\n")
        box.put("develper.md", b"Do your job\n")
        told = box.faults()
        check(len(told) == 1 and "develper.md is not used" in told[0] and "did you mean developer.md?" in told[0], told)
        check(told[0] in box.call("reload").stderr, "reload does not tell")
        os.mkdir(box.home + "/prompts/cordination")
        check(any("prompts/cordination is not used" in each and "did you mean coordination?" in each
                  for each in box.faults()), "a folder typed wrong is passed over", box.faults())
        os.rmdir(box.home + "/prompts/cordination")
        # Without `${brief}` an agent with a prompt of its own is not given the other.
        box.put("developer.md", b"${jop}\n")
        check(len(box.faults()) == 1, box.faults())
        box.put("own.md", b"${brief}\n")
        check(len(box.faults()) == 2, box.faults())


def prompts_beside_the_configuration(exe):
    """A file takes the place of a prompt; one that cannot be used holds the agents of its role alone. A reload
    brings another one."""
    with Prompts(exe) as box:
        world.write(box.path("group_status"), {"B": {"status": "waiting_review"}})
        box.plan([{"id": "A"}, {"id": "B"}])
        box.put("developer.implement.md", b"Make ${gruop} work.\n")
        box.put("tech_lead.review.md", b"Look at ${group} as ${role}.\n")
        box.start()
        prompt = box.prompt_of("B", "review")
        check("## Your job: review\n\nLook at B as tech_lead.\n\n## Why" in prompt, prompt)
        hold = wait_until(lambda: [each for each in box.explain("coordination/coordination")["holds"]
                                   if each["reason"] == "agent_unusable"], "the developer is held", box.said)[0]
        check(hold["role"] == "developer" and "developer.implement.md:1: unknown placeholder `${gruop}`" in hold["why"], hold)
        box.put("developer.implement.md", b"Make ${group} work.\n")
        box.call("reload")
        prompt = box.prompt_of("A", "implement")
        check("## Your job: implement\n\nMake A work.\n\n## Why" in prompt and "## How to end\n" in prompt, prompt)
        box.put("developer.md", b"## Only\n\n${job}\n\n## Never\n\n${answer}\n")
        box.call("reload")
        box.plan([{"id": "A"}, {"id": "B"}, {"id": "C"}], iteration=2)
        check(box.prompt_of("C", "implement") == "## Only\n\nMake C work.\n", box.prompt_of("C", "implement"))


def test(exe):
    unusable_prompt_files(exe)
    prompts_beside_the_configuration(exe)
    for order in sorted(set(itertools.permutations("AABB"))):
        overwrite_from_stale_copies(exe, "".join(order))
    killed(exe, range(1, 17, 2), 1)
    killed(exe, range(2, 17, 2), 2)
    killed(exe, (1, 6, 11, 16), 3)
    split_of_a_stuck_group(exe)
    completed_stays_so(exe)
    configured_elsewhere(exe)
    worktree_per_group(exe)


if __name__ == "__main__":
    world.main(test)
