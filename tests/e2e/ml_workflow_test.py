# SPDX-License-Identifier: Apache-2.0
"""Workflows of seven steps end to end, with shell agents that read the whole state when they begin and write
the whole of it when they are done. usage: ml_workflow_test.py BATON [PART...]"""

import gzip
import json
import os
import shutil
import subprocess
import time

import world
from world import check, wait_until

# $1: the log, $2: a folder of switches. `hold.STEP` keeps the agent at its work until it is gone. Line N of
# `scores.STEP` are the scores of the Nth completed run of a step, line N of `mode.STEP` says how its Nth try
# goes; without one it goes well.
AGENT = """#!/bin/sh
printf '%s\\n' "$BATON_RUN_ID $BATON_FLOW $BATON_SUBJECT $BATON_PURPOSE $BATON_ATTEMPT" >>"$1"
file=$BATON_STATE_FILE
step=$ML_WORKFLOW_STEP
copy=$2/copy.$BATON_RUN_ID
cp "$file" "$copy"
if [ -e "$2/hold.$step" ]; then
  : >"$2/held.$step"
  while [ -e "$2/hold.$step" ]; do sleep 0.05; done
fi
line() { sed -n "$2p" "$1" 2>/dev/null; }
tries=$(grep -c "^[^ ]* $BATON_FLOW $step " "$1")
case $(line "$2/mode.$step" "$tries") in
  hang) exec sleep 600 ;;
  fail) exit 7 ;;
  missing) scores='{}' ;;
  high) scores='{"alignment_score": 11, "standardization_score": 9, "compatibility_score": 9}' ;;
  *) done=$(jq --arg t "$ML_WORKFLOW_TEMPLATE" --argjson s "${step%[ab]}" \\
       '[.step_history[] | select(.step_number == $s and .template == $t and .status == "completed")] | length' "$copy")
     set -- "$1" "$2" $(line "$2/scores.$step" $((done + 1)))
     scores="{\\"alignment_score\\": ${3:-9.5}, \\"standardization_score\\": ${4:-9}, \\"compatibility_score\\": ${5:-9}}" ;;
esac
case $step in 2|5?|7?) ;; *) scores=null ;; esac
mkdir -p "$ML_WORKFLOW_ARTIFACTS" && echo "$step" >"$ML_WORKFLOW_ARTIFACTS/made.$step"
if [ -e "$2/careful" ] || [ -e "$2/careful.$step" ]; then
  at=$(jq --arg t "$ML_WORKFLOW_TEMPLATE" '.step_history | map(.template == $t) | rindex(true)' "$copy")
  exec "$BATON_EXE" set "$file" "/step_history/$at/output={\\"made\\": \\"$step by $BATON_RUN_ID\\"}" \\
    "/step_history/$at/validation_scores=$scores" "/step_history/$at/status=\\"completed\\""
fi
jq --arg t "$ML_WORKFLOW_TEMPLATE" --arg o "$step by $BATON_RUN_ID" --argjson scores "$scores" \\
  '.step_history[.step_history | map(.template == $t) | rindex(true)] |=
     (.output = {"made": $o} | .validation_scores = $scores | .status = "completed")' "$copy" >"$copy.new"
mv "$copy.new" "$file"
"""

FOLDER = "workflow_states"


class Workflows(world.World):
    def __init__(self, exe, limits=None, **options):
        super().__init__(exe, limits=limits)
        self.switches = self.home + "/switches"
        os.mkdir(self.switches)
        script = self.home + "/step.sh"
        with open(script, "w") as file:
            file.write(AGENT)
        os.chmod(script, 0o755)
        for role in ("planner", "validator", "programmer"):
            self.settings["agents"][role] = {"command": [script, self.log, self.switches]}
        self.settings["dialects"] = {"ml_workflow": options}
        self.configure()

    def switch(self, name, *lines):
        with open(f"{self.switches}/{name}", "w") as file:
            file.write("".join(line + "\n" for line in lines))

    def off(self, name):
        for each in (name, name.replace("hold", "held")):
            if os.path.exists(f"{self.switches}/{each}"):
                os.unlink(f"{self.switches}/{each}")

    def held(self, step):
        wait_until(lambda: os.path.exists(f"{self.switches}/held.{step}"), step, "begins")

    def up(self, *more):
        self.start(*more)
        self.canary()

    def down(self):
        self.daemon.kill()
        self.daemon.wait()

    def begin(self, name="wf", *more):
        self.call("start", name, "--dialect", "ml_workflow", "--requirements", "Derive churn features.", *more)

    def path(self, name="wf"):
        return f"{self.root}/{FOLDER}/{name}/state.json"

    def read(self, name="wf"):
        """The file may be in the middle of being exchanged."""
        return wait_until(lambda: self.parsed(name), name, "is there")

    def parsed(self, name):
        try:
            with open(self.path(name)) as file:
                return json.load(file)
        except (OSError, ValueError):
            return None

    def subjects(self, name="wf"):
        return [each.subject for each in self.starts(f"ml_workflow/{name}")]

    def status(self, name="wf"):
        return [each for each in self.lines("status") if each["flow"] == f"ml_workflow/{name}"][0]

    def until(self, status, name="wf"):
        wait_until(lambda: self.read(name)["status"] == status, name, "gets", status, "; it is",
                   lambda: json.dumps(self.read(name), indent=1))

    def asked(self, approval, name="wf"):
        """The workflow waits for this approval, and no agent runs."""
        def waits():
            holds = self.explain(f"ml_workflow/{name}")["holds"]
            return [hold["subject"] for hold in holds if hold["reason"] == "approval_wanted"] == [approval]
        self.idle()
        wait_until(waits, name, "waits for the approval of", approval, "; it is", lambda: json.dumps(self.read(name), indent=1))
        self.idle()

    def settled(self):
        """No agent runs and nothing more is begun: what happens next is answered, and it was not this."""
        self.idle()
        self.canary()
        self.idle()

    def by_hand(self, change, name="wf"):
        """A person writes the whole file."""
        state = self.read(name)
        change(state)
        world.write(self.path(name), state)


def decision(approval, status, **more):
    return {"approval_type": approval, "status": status, "approver": "ann", "comments": "",
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "change_requests": [], **more}


def whole(exe):
    """One plan revision by the scores and one by a person, an approval of an older plan that does not count,
    approvals given across a restart, two refinements, 5a and 5b at once."""
    with Workflows(exe, validators="parallel") as it:
        it.switch("scores.2", "8.5 7.8 8.2")
        it.switch("scores.5b", "9.5 9 7.9")
        it.switch("scores.7a", "8.9 9 9")
        it.up()
        it.begin()
        it.asked("plan")
        check(it.subjects() == ["1", "2", "3", "2"], it.subjects())
        run = [run for run in it.lines("agents") if run["purpose"] == "revise_plan"][0]["run"]
        told = it.call("prompt", run).stdout
        check("alignment_score 8.5 < 9" in told and "standardization_score 7.8 < 8" in told, told)
        # A person wants another plan; the approval that comes while it is made is about the old one.
        it.switch("hold.2")
        it.call("revise", "wf", "plan", "--comment", "Say how missing values are treated.")
        it.held("2")
        check(it.subjects() == ["1", "2", "3", "2", "3", "2"], it.subjects())
        run = [run for run in it.lines("agents") if run["purpose"] == "revise_plan"][-1]["run"]
        check("missing values" in it.call("prompt", run).stdout, "the planner is told")
        early = it.call("approve", "wf", "plan", code=1)
        check("does not wait" in early.stderr, early.stderr)
        it.by_hand(lambda state: state["human_approvals"]["approval_history"].append(decision("plan", "approved")))
        it.canary()
        it.off("hold.2")
        it.asked("plan")
        it.settled()
        check(it.subjects()[-1] == "2", "an approval of the older plan starts nothing:", it.subjects())
        # Across a restart.
        it.down()
        it.switch("hold.5a")
        it.switch("hold.5b")
        # What one half writes over the other before baton has seen it is done again; not here.
        it.switch("careful.7a")
        it.switch("careful.7b")
        it.call("approve", "wf", "plan", "--comment", "Good.")
        it.up()
        it.held("5a")
        it.held("5b")
        # Both have the same copy and write it whole, one after the other.
        it.off("hold.5b")
        wait_until(lambda: it.read()["step_history"][-1]["status"] == "completed" or
                   it.read()["step_history"][-2]["status"] == "completed", "5b is done")
        it.off("hold.5a")
        it.asked("final")
        check(sorted(it.subjects()[6:]) == sorted(["4", "5a", "5b", "6", "7a", "7b", "6", "7a", "7b"]), it.subjects())
        it.down()
        it.up()
        it.settled()
        it.call("approve", "wf", "final")
        it.until("completed")
        it.settled()
        state = it.read()
        history = state["step_history"]
        check([entry["step_number"] for entry in history] == [1, 2, 3, 2, 3, 2, 4, 5, 5, 6, 7, 7, 6, 7, 7], history)
        check(all(entry["status"] == "completed" and entry["output"] for entry in history), history)
        check(len({entry["output"]["made"] for entry in history}) == len(history), "each run wrote its own")
        runs = {each.run for each in it.starts("ml_workflow/wf")}
        check({entry["output"]["made"].split()[-1] for entry in history} == runs, "and each agent once")
        rounds = state["convergence_status"]["convergence_history"]
        check([(r["phase"], r["attempt"], r["converged"]) for r in rounds] ==
              [("phase_1", 1, False), ("phase_1", 2, True), ("phase_1", 3, True), ("phase_2", 1, False),
               ("phase_2", 2, False), ("phase_2", 3, True)], rounds)
        check(rounds[3]["scores"] == {"alignment_score": 9.5, "standardization_score": 9, "compatibility_score": 7.9},
              "the lower score counts:", rounds[3])
        decisions = [(d["approval_type"], d["status"]) for d in state["human_approvals"]["approval_history"]]
        check(decisions == [("plan", "changes_requested"), ("plan", "approved"), ("final", "approved")], decisions)
        check(state["metrics"] == {"total_iterations": 9, "phase_1_iterations": 3, "phase_2_iterations": 3,
                                   "validation_failures": 3, "human_interventions": 3} | state["metrics"], state["metrics"])
        check([t["to_phase"] for t in state["phase_transitions"]] == ["phase_2"], state["phase_transitions"])
        check([t["to_step"] for t in state["step_transitions"]] == [1, 2, 3, 2, 3, 2, 4, 5, 6, 7, 6, 7],
              state["step_transitions"])
        check(not json.loads(it.call("validate", "--json").stdout)["findings"], it.call("validate").stdout)
        made = sorted(os.listdir(f"{it.root}/{FOLDER}/wf/artifacts"))
        check(made == [f"step_{n}" for n in range(1, 8)], made)


def by_hand(exe):
    """Decisions that people write into the file."""
    with Workflows(exe, approvals=["plan", "code", "final"]) as it:
        it.up()
        it.begin()
        it.asked("plan")
        it.switch("hold.2")
        it.switch("careful")
        it.by_hand(lambda s: s["human_approvals"]["approval_history"].append(
            decision("plan", "changes_requested", comments="Smaller.", change_requests=["fewer columns"])))
        it.held("2")
        # What baton finds together with the last write of an agent may be the agent's: it is put back, and said.
        it.down()
        earlier = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 60))
        it.by_hand(lambda s: s["human_approvals"]["approval_history"].append(
            decision("plan", "approved", timestamp=earlier)))
        it.off("hold.2")
        wait_until(lambda: it.read()["step_history"][-1]["status"] == "completed", "the validator writes")
        # A shim that nobody has reaped is still there.
        shims = [run["pid"] for run in it.lines("agents") if run["pid"]]
        wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in shims), "the validator ends")
        it.up()
        it.asked("plan")
        it.settled()
        check(it.subjects() == ["1", "2", "3", "2"], it.subjects())
        check(len(it.read()["human_approvals"]["approval_history"]) == 1, it.read()["human_approvals"])
        check(any("people decide with `baton approve`" in each["why"] for each in it.lines("events")), it.lines("events"))
        # One that was written before the new plan was judged is about the old one.
        it.by_hand(lambda s: s["human_approvals"]["approval_history"].append(
            decision("plan", "approved", timestamp=earlier)))
        it.canary()
        run = [run for run in it.lines("agents") if run["purpose"] == "revise_plan"][0]["run"]
        check("fewer columns" in it.call("prompt", run).stdout, "the planner is told")

        def flag(state):
            state["human_approvals"]["plan_approved"] = True
            state["human_approvals"]["plan_approver"] = "ann"

        it.by_hand(flag)
        it.asked("code")
        check(it.subjects() == ["1", "2", "3", "2", "4", "5a", "5b"], it.subjects())
        it.by_hand(lambda s: s["human_approvals"]["approval_history"].append(decision("code", "approved")))
        it.asked("final")
        it.by_hand(lambda s: s["human_approvals"]["approval_history"].append(decision("final", "rejected")))
        it.until("failed")
        it.settled()
        check(it.subjects()[-1] == "5b", it.subjects())


def timeouts(exe):
    """Twice the time, then another instance; the third time is asked about."""
    with Workflows(exe) as it:
        it.settings["agents"]["planner"]["timeout"] = "1s"
        it.configure()
        it.switch("mode.1", "hang", "hang")
        it.up()
        it.begin()
        it.asked("plan")
        check(it.subjects() == ["1", "1", "1", "2"], it.subjects())
        error = it.read()["step_history"][0]["error_info"]
        check(error["error_type"] == "agent_timeout" and error["recovery_attempts"] == 2, error)
        check([(s["strategy"], s["result"]) for s in error["recovery_strategies"]] ==
              [("retry_with_extended_timeout", "failed"), ("retry_with_different_agent_instance", "success")], error)
        # The second run had the extended limit of two seconds.
        check(error["error_details"]["timeout_duration"] == 2, error)
        check(it.read()["metrics"]["recovery_actions"] == 2, it.read()["metrics"])
        it.switch("mode.4", "fail", "fail", "fail")
        it.call("approve", "wf")
        it.until("paused")
        it.settled()
        check(it.subjects()[4:] == ["4", "4", "4"], it.subjects())
        status = it.status()
        # baton itself has paused it, because a person has to look.
        check((status["condition"], status["reason"], status["do"]) ==
              ("blocked", "answer_wanted", "baton answer ml_workflow/wf --comment TEXT"), status)
        it.call("answer", "wf", "--comment", "The compiler is there again.")
        it.asked("final")
        run = [run for run in it.lines("agents") if run["purpose"] == "implement"][-1]["run"]
        check("compiler is there" in it.call("prompt", run).stdout, "the programmer is told")
        it.call("approve", "wf", "final")
        it.until("completed")


def bad_input(exe):
    """Scores that are missing or out of range, half a file, two approvals at once, a lost entry."""
    with Workflows(exe) as it:
        it.switch("mode.2", "missing", "high")
        it.up()
        it.begin()
        it.asked("plan")
        check(it.subjects() == ["1", "2", "2", "2"], it.subjects())
        error = it.read()["step_history"][1]["error_info"]
        check(error["error_type"] == "validation_error", error)
        rejected = [each for each in it.lines("events") if each["event"] == "rejected"]
        check(any("11 is not at most 10" in each["why"] for each in rejected), rejected)
        run = [run for run in it.lines("agents") if run["purpose"] == "validate_plan"][-1]["run"]
        check("alignment_score" in it.call("prompt", run).stdout, "the validator is told what was wrong")
        before = it.read()
        # The file is wrong without it (S7), and still it comes back.
        it.by_hand(lambda s: s["step_history"].pop())
        wait_until(lambda: it.read()["step_history"] == before["step_history"], "the entry is put back")
        it.by_hand(lambda s: s.update(current_phase="phase_2", convergence_status={"phase_1_converged": False}))
        wait_until(lambda: any("belongs to phase_1" in each["why"] for each in it.lines("events")
                               if each["event"] == "rejected"), "phase_2 without convergence is refused")
        rules = [each["rule"] for each in json.loads(it.call("validate", "--json", code=1).stdout)["findings"]]
        check("ml_workflow/S2" in rules, "and named:", rules)
        it.settled()
        check(it.subjects() == ["1", "2", "2", "2"], "and starts nothing:", it.subjects())
        world.write(it.path(), before)
        it.asked("plan")
        both = [it.call(word, "wf", "plan", "--no-wait") for word in ("approve", "reject")]
        check(all(each.returncode == 0 for each in both))
        it.asked("final")
        check(it.subjects()[4:] == ["4", "5a", "5b"], it.subjects())
        decisions = it.read()["human_approvals"]["approval_history"]
        check([d["status"] for d in decisions] == ["approved"], decisions)


def backups(it, name="wf"):
    folder = f"{it.root}/{FOLDER}/{name}/backups"
    names = os.listdir(folder) if os.path.isdir(folder) else []
    # One that is being written has a name of its own.
    return sorted((f"{folder}/{each}" for each in names if not each.startswith(".")), key=lambda path: path.rsplit("_", 1)[1])


def restored(exe):
    """The journal is gone and the state file damaged: the newest good backup comes back, a damaged one is named."""
    with Workflows(exe) as it:
        it.up()
        it.begin()
        it.asked("plan")
        it.call("approve", "wf", "plan")
        it.asked("final")
        steps = [os.path.basename(each).split("_")[1] for each in backups(it)]
        check(steps == ["step1", "step2", "step4", "step5", "step5"], steps)
        newest = json.loads(gzip.open(backups(it)[-1]).read())
        check(newest["step_history"] == it.read()["step_history"], newest)
        it.down()
        # With the journal the last version that was accepted is the better one.
        with open(it.path(), "r+") as file:
            file.truncate(100)
        shown = it.call("recover", "wf")
        check("from the last accepted version" in shown.stderr, shown.stderr)
        check(json.loads(shown.stdout)["step_history"] == newest["step_history"], shown.stdout)
        shutil.rmtree(it.state)
        os.mkdir(it.state, 0o750)
        with open(backups(it)[-1], "r+b") as file:
            file.truncate(60)
        with open(backups(it)[-2], "r+b") as file:
            file.seek(40)
            file.write(b"\xff\xff")
        it.up()
        # Of a flow whose only file is half a file the daemon knows nothing for two seconds.
        wait_until(lambda: any(each["reason"] == "file_rejected" for each in it.lines("status")), "it is damaged")
        shown = it.call("recover", "wf")
        bad = [os.path.basename(each) for each in backups(it)[-2:]]
        check(all(f"{each} cannot be used" in shown.stderr for each in bad), shown.stderr)
        check("from the backup state_step4" in shown.stderr, shown.stderr)
        check(it.parsed("wf") is None, "it is shown before it is written")
        it.call("recover", "wf", "--write")
        state = it.read()
        check(state["status"] == "paused", state["status"])
        found = state["recovery_metadata"]
        check(found["state_integrity"] == "partial" and found["recovery_point"] == 4, found)
        check([each["success"] for each in found["recovery_actions"]] == [False, False, True], found)
        it.settled()
        check(len(it.subjects()) == 5, "what was restored does not run:", it.subjects())
        it.call("resume", "wf")
        it.asked("final")
        check(it.subjects()[5:] == ["5a", "5b"], it.subjects())
        check(len(backups(it)) == 8, backups(it))
        it.call("approve", "wf")
        it.until("completed")
        # Retention: old ones go, the newest never, and nothing that is no backup.
        folder = os.path.dirname(backups(it)[0])
        for old in ("state_step1_20200101T000000.000Z.json.gz", "mine_20200101.json.gz"):
            open(f"{folder}/{old}", "w").close()
        it.down()
        check("removed 1 backups" in it.call("prune").stdout)
        check(len(os.listdir(folder)) == 9 and os.path.exists(f"{folder}/mine_20200101.json.gz"), os.listdir(folder))
        time.sleep(1.1)  # so that all of them are older than the second they are kept now
        it.call("prune", "--older-than", "1s")
        check(len(os.listdir(folder)) == 2 and os.path.exists(f"{folder}/mine_20200101.json.gz"), os.listdir(folder))
        # The daemon does the same by itself.
        open(f"{folder}/state_step1_20200101T000000.000Z.json.gz", "w").close()
        it.up()
        wait_until(lambda: len(os.listdir(folder)) == 2, "old backups go:", lambda: os.listdir(folder))


def encrypted(exe):
    """Backups go through a program, and come back through another; one that fails stops nothing."""
    if shutil.which("openssl") is None:
        world.skip("there is no openssl")
    with Workflows(exe) as it:
        key = f"file:{it.home}/key"
        with open(it.home + "/key", "w") as file:
            file.write("a long secret")
        seal = ["openssl", "enc", "-aes-256-cbc", "-pbkdf2", "-pass", key]
        it.settings["dialects"]["ml_workflow"] = {"backups": {"encrypt": seal, "decrypt": [*seal, "-d"]}}
        it.configure()
        it.up()
        it.begin()
        it.asked("plan")
        wait_until(lambda: [os.path.basename(each)[-12:] for each in backups(it)] == [".json.gz.enc"] * 2,
                   "backups:", lambda: backups(it))
        for each in backups(it):
            with open(each, "rb") as file:
                content = file.read()
            check(content.startswith(b"Salted__") and b"workflow" not in content, content)
        it.down()
        before = it.read()
        shutil.rmtree(it.state)
        os.mkdir(it.state, 0o750)
        open(it.path(), "w").close()
        it.up()
        # Of a flow whose only file is half a file the daemon knows nothing for two seconds.
        wait_until(lambda: any(each["reason"] == "file_rejected" for each in it.lines("status")), "it is damaged")
        it.call("recover", "wf", "--write")
        check(it.read()["step_history"] == before["step_history"], it.read())
        it.settings["dialects"]["ml_workflow"]["backups"] = {"encrypt": ["no-such-program"]}
        it.configure()
        found = it.call("doctor", code=None).stdout
        check("no-such-program" in found and "`decrypt` is not" in found, found)
        it.settings["dialects"]["ml_workflow"]["backups"] = {"encrypt": ["false"]}
        it.configure()
        it.call("reload")
        it.call("resume", "wf")
        it.asked("plan")
        it.call("approve", "wf")
        it.asked("final")
        def told():
            return [each["why"] for each in it.lines("events") if each["event"] == "not_written"]
        wait_until(lambda: any("the backup after step 4" in why and "false ended with 1" in why for why in told()), told)
        check(not any(each.endswith(".gz") for each in backups(it)), "nothing is written in the clear:", backups(it))


# Hangs while there is a file `hang` in the folder $1, which each run tells of.
SEAL = """#!/bin/sh
[ -e "$1/slow" ] && sleep 1
[ -e "$1/hang" ] || exec gzip
: >"$1/at_work.$$"
exec sleep 600
"""


def slow(exe):
    """A program for backups that hangs keeps nobody waiting, and what it was to do is not lost with the daemon."""
    with Workflows(exe) as it:
        seal = it.home + "/seal.sh"
        world.write(seal, SEAL.encode())
        os.chmod(seal, 0o755)
        it.settings["dialects"]["ml_workflow"] = {"backups": {"encrypt": [seal, it.switches]}}
        it.configure()
        it.switch("hang")
        it.up()

        def hanging():
            return [each for each in os.listdir(it.switches) if each.startswith("at_work")]

        def beside(name):
            """An agent of another flow was started while the program for this one's backup hung."""
            before = len(hanging())
            it.begin(name)
            wait_until(lambda: len(hanging()) > before, name, "has a backup under way")
            it.canary()
            told = wait_until(lambda: [each for each in it.lines("events") if each["event"] == "not_written" and
                                       each["flow"] == f"ml_workflow/{name}"], "its program is ended")
            check("did not end within 10s" in told[0]["why"], told)
            started = [each["seq"] for each in it.lines("events") if each["event"] == "started" and
                       each["flow"] == f"rules/t/canary{it.canaries}"]
            return started[0] < told[0]["seq"]

        check(any(beside(f"slow{count}") for count in range(3)), "everything waits for the program")
        it.begin("wf")
        it.asked("plan")
        it.down()
        wait_until(lambda: not world.processes_with(seal), "the programs end with the daemon")
        check(not backups(it), backups(it))
        it.off("hang")
        it.up()
        wait_until(lambda: len(backups(it)) == 2, "what was cut off is done again:", lambda: backups(it))
        newest = gzip.decompress(gzip.open(backups(it)[-1]).read())
        check(json.loads(newest)["step_history"][1]["status"] == "completed", newest)
        # A daemon that drains waits for the copy of what its last agent has done.
        it.switch("slow")
        it.begin("late")
        wait_until(lambda: it.starts("ml_workflow/late"), "its first agent is at work")
        it.call("drain")
        check(it.daemon.wait(timeout=60) == 0, "a drain gave", it.daemon.returncode)
        newest = json.loads(gzip.decompress(gzip.open(backups(it, "late")[-1]).read()))
        check(newest["step_history"] == it.read("late")["step_history"], newest, it.read("late"))


def told(exe):
    """What `status --json` tells of a workflow; the overall score is computed for people only (K-21)."""
    with Workflows(exe) as it:
        it.switch("scores.5b", "9.5 8.5 8.25")
        # A file where the backups should be stops nothing.
        os.makedirs(f"{it.root}/{FOLDER}/wf")
        open(f"{it.root}/{FOLDER}/wf/backups", "w").close()
        it.up()
        it.begin()
        it.asked("plan")
        with open(it.home + "/daemon.log") as file:
            said = file.read()
        check(said.count("not_written") == 2 and "the backup after step 2" in said, said)
        details = it.status()["details"]
        check(details == {"workflow_id": "wf", "status": "running", "current_phase": "phase_1", "current_step": 2,
                          "progress_percentage": 28.6, "converged": {"phase_1": True, "phase_2": False},
                          "latest_scores": {"alignment_score": 9.5, "standardization_score": 9,
                                            "compatibility_score": 9, "overall_score": 9.2}}, details)
        it.call("approve", "wf")
        it.asked("final")
        details = it.status()["details"]
        check(details["progress_percentage"] == 57.1 and details["converged"]["phase_2"], details)
        check(details["latest_scores"]["compatibility_score"] == 8.25, details)
        it.call("approve", "wf")
        it.until("completed")
        wait_until(lambda: it.status()["details"]["progress_percentage"] == 100, it.status)
        # As the schema of the command says.
        checked = subprocess.run([it.exe, "validate", "-", "--schema", "output/status", "--json"],
                                 input=json.dumps(it.status()), capture_output=True, text=True, check=False)
        check(checked.returncode == 0, checked.stdout, checked.stderr)


def back(exe):
    """Back from phase 2 while the programmer is at work, across a restart: he is ended, and nothing is lost."""
    with Workflows(exe) as it:
        it.up()
        it.begin()
        it.asked("plan")
        it.switch("hold.4")
        it.call("approve", "wf", "plan")
        it.held("4")
        it.down()
        it.up()
        it.switch("hold.3")
        it.call("revise", "wf", "plan", "--comment", "Another table.")
        it.held("3")
        wait_until(lambda: not [run for run in it.lines("agents") if run["subject"] == "4" and run["pid"]], "4 is ended")
        state = it.read()
        check(state["current_phase"] == "phase_1" and state["step_history"][2]["status"] == "skipped", state)
        check(not json.loads(it.call("validate", "--json").stdout)["findings"], it.call("validate").stdout)
        run = [run for run in it.lines("agents") if run["purpose"] == "revise_plan"][-1]["run"]
        check("Another table." in it.call("prompt", run).stdout, "the planner is told")
        it.off("hold.3")
        it.off("hold.4")
        it.asked("plan")
        it.call("approve", "wf", "plan")
        it.asked("final")
        it.call("approve", "wf", "final")
        it.until("completed")
        it.settled()
        check(it.subjects() == ["1", "2", "4", "3", "2", "4", "5a", "5b"], it.subjects())
        check([t["to_phase"] for t in it.read()["phase_transitions"]] == ["phase_2", "phase_1", "phase_2"], it.read())
        check(not json.loads(it.call("validate", "--json").stdout)["findings"], it.call("validate").stdout)


def shipped(exe):
    """The example runs as its first lines say."""
    with Workflows(exe) as it:
        top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
        folder = it.home + "/demo"
        shutil.copytree(top + "/ml_workflow", folder)
        os.replace(folder + "/demo.yaml", folder + "/baton.yaml")
        with open(folder + "/baton.yaml") as file:
            lines = [line[1:].split("#")[0].split() for line in file if line.startswith("#   baton ")]
        check([line[1] for line in lines] == ["start", "run", "approve", "run", "approve"], lines)
        codes = []
        for line in [*lines, ["baton", "run", "--once"]]:
            done = subprocess.run([it.exe, *line[1:], "--state-dir", it.state], cwd=folder, text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=world.PATIENCE)
            codes.append((line[1], done.returncode))
        # A workflow that waits for an approval is blocked.
        check(codes == [("start", 0), ("run", 1), ("approve", 0), ("run", 1), ("approve", 0), ("run", 0)], codes, done)
        with open(folder + "/workflow_states/churn/state.json") as file:
            state = json.load(file)
        check(state["status"] == "completed", state)
        steps = [entry["step_number"] for entry in state["step_history"]]
        check(steps == [1, 2, 3, 2, 4, 5, 5, 6, 7, 7], steps)
        check(os.path.exists(folder + "/workflow_states/churn/artifacts/step_6/test.sql"), "the code is there")


def alone(exe):
    """A lone file is explained as if it stood in its place and no agent ran."""
    samples = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "samples", "ml_workflow")
    with open(samples + "/routing.json") as file:
        routing = json.load(file)
    with Workflows(exe) as it:
        for name, expected in routing.items():
            told = json.loads(it.call("explain", f"{samples}/{name}", "--as", "ml_workflow/state", "--json").stdout)
            check({each["subject"]: each["role"] for each in told["desired"]} == expected.get("start", {}), name, told)
            holds = {each["subject"]: each["reason"] for each in told["holds"] if each["reason"] == "approval_wanted"}
            check(holds == expected.get("hold", {}), name, told)
            check(all(expected.get("why", "") in each["why"] for each in told["desired"]), name, told)


def killed(exe):
    """kill -9 of the daemon at twenty moments: each run of each step is made once."""
    with Workflows(exe, validators="parallel", approvals=["final"]) as it:
        it.switch("scores.2", "8 8 8")
        it.switch("scores.5a", "8 8 8")
        # Who overwrites the whole file while no daemon looks, loses what others wrote: nobody can know.
        it.switch("careful")
        it.start()
        names = ["wf1", "wf2", "wf3"]
        for name in names:
            it.begin(name)
        for moment in range(20):
            time.sleep(0.017 * moment)  # which moment that is does not matter
            it.down()
            it.start()
        for name in names:
            it.asked("final", name)
            it.call("approve", name)
            it.until("completed", name)
        it.idle()
        for name in names:
            check(sorted(it.subjects(name)) == sorted(["1", "2", "3", "2", "4", "5a", "5b", "6", "7a", "7b"]), name,
                  it.subjects(name))
            history = it.read(name)["step_history"]
            check(len(history) == 10 and all(entry["status"] == "completed" for entry in history), history)
            check(len(it.read(name)["convergence_status"]["convergence_history"]) == 4, it.read(name))


if __name__ == "__main__":
    world.main_parts((whole, by_hand, timeouts, bad_input, restored, encrypted, slow, told, back, shipped, alone,
                      killed), 5)
