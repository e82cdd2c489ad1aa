# SPDX-License-Identifier: Apache-2.0
"""What an agent may ask for, and how baton finds out that an agent asks: verbs inside a run, with every way to hide
that a program knows. usage: who_asks_test.py BATON"""

import glob
import json
import os
import subprocess
import time

import world
from world import check, wait_until

RULES = [{"name": "t", "files": "t/{flow}.json", "stage": "/status", "react": [{"to": "s", "run": "a"}]},
         {"name": "w", "files": "w/{flow}.json", "stage": "/status", "react": [{"to": "w", "run": "other", "approval": True}]}]

# Does one line of the file `asks` after the other, writes its exit code and output to `answers`, and waits for more.
AGENT = """#!/bin/bash
cd "$1"
BATON="$2"
export BATON
touch answers
n=0
while [ ! -e enough ]; do
  next=$(sed -n "$((n + 1))p" asks 2>/dev/null)
  if [ -z "$next" ]; then sleep 0.05; continue; fi
  n=$((n + 1))
  timeout 60 bash -c "$next" >said 2>&1 </dev/null
  code=$?
  printf '%s\\t%s\\n' "$code" "$(tr '\\n' ' ' <said)" >>answers
done
"""


class Inside:
    """An agent of the flow rules/t/1 that does what it is told."""

    def __init__(self, exe, may=None, default=False):
        self.baton = world.World(exe, rules=RULES, agents={"a": {"command": ["/bin/true"]}, "other": {"command": ["/bin/true"]},
                                                           "boss": {"command": ["/bin/true"], "may": ["approve"]},
                                                           "default": {"command": ["/bin/true"]}})
        self.baton.settings["dialects"] = {"ccw_loop": {}}
        program = self.baton.home + "/agent.sh"
        with open(program, "w") as file:
            file.write(AGENT)
        role = {"command": [program, self.baton.home, exe], "env": {"allow": ["PATH"]}}
        agents = self.baton.settings["agents"]
        agents["a"] = {**role, **({"may": may} if may else {})}
        if default:
            agents["default"] = agents.pop("a")
        self.baton.configure()
        self.asked = 0

    def __enter__(self):
        self.baton.start()
        for name in ("1", "2"):
            world.write(f"{self.baton.root}/w/{name}.json", {"status": "w"})
        world.write(f"{self.baton.root}/t/1.json", {"status": "s"})
        wait_until(lambda: os.path.exists(self.baton.home + "/answers"), "the agent runs")
        return self

    def __exit__(self, *why):
        open(self.baton.home + "/enough", "w").close()
        return self.baton.__exit__(*why)

    def does(self, line):
        """Exit code and output of a line of bash inside of the run. $PLACES and $BATON are filled in."""
        line = line.replace("$PLACES", " ".join(self.baton.places()))
        with open(self.baton.home + "/asks", "a") as file:
            file.write(line + "\n")
        self.asked += 1

        def answers():
            with open(self.baton.home + "/answers") as file:
                lines = file.read().splitlines()
            return len(lines) >= self.asked and lines
        code, said = wait_until(answers, line, "is done")[self.asked - 1].split("\t", 1)
        return int(code), said

    def asks(self, words):
        return self.does(f'cd {self.baton.root}; "$BATON" {words} $PLACES')

    def events(self, word):
        return [line for line in self.baton.lines("events") if line["event"] == word]


# verb and words: whether it is carried out inside a run. Of the flow of the agent, unless it says otherwise.
VERBS = [("status", True), ("explain rules/t/1", True), ("events", True), ("agents", True), ("costs", True), ("limits", True),
         ("validate t/1.json", True), ("doctor", None),
         ("pause rules/t/1", True), ("resume rules/t/1", False), ("retry rules/t/1", False), ("forget rules/t/1", False),
         ("forget --gone", False), ("create --title x", False), ("pause rules/w/1", False), ("stop rules/w/1", False),
         ("pause --all", False), ("stop --all", False), ("resume --all", False), ("retry --all", None), ("reload", False),
         ("approve rules/w/1", False), ("reject rules/w/1", False), ("revise rules/w/1", False), ("answer rules/w/1", False),
         ("skip rules/w/1", False), ("prune", False), ("limits --clear x", False), ("resume --agent a", False),
         ("resume --all --raise cost_per_day=1", False), ("hook install", False), ("drain", False)]


def table(exe):
    with Inside(exe) as run:
        for words, carried_out in VERBS:
            code, said = run.asks(words)
            refused = code == 1 and "may not use" in said and "Ask a person" in said
            check(carried_out is None or refused != carried_out, words, code, said)
            check(not carried_out or code == 0, words, code, said)
            told = run.baton.call(words.split()[0], "--help").stdout
            check(f"\n  {code}    " in told.split("Exit codes:")[1], words, "ended with", code, "which its help does not name", told)
        code, said = run.does(f"cd {run.baton.root} && \"$BATON\" set t/1.json /n=1 $PLACES")
        check(code == 0, "set", said)
        # What was done names the agent, and what was refused is in the history.
        check(any("by the agent a (run " in line["why"] for line in run.events("paused")), run.events("paused"))
        check(any(line["why"].startswith("resume by the agent a (run ") for line in run.events("refused")), run.events("refused"))
        check(run.baton.call("status").returncode == 0, "the daemon still serves")
        # A person may.
        run.baton.call("resume", "rules/t/1")
        # Its own flow may be stopped, and it ends.
        run.asked += 1
        with open(run.baton.home + "/asks", "a") as file:
            file.write(f'"$BATON" stop rules/t/1 {" ".join(run.baton.places())}\n')
        wait_until(lambda: next(line for line in run.baton.lines("status") if line["flow"] == "rules/t/1")["condition"] == "stopped",
                   "it is stopped")


def disguises(exe):
    """Nothing that a program does to itself makes a person of it."""
    with Inside(exe) as run:
        ways = {"env": 'env -u BATON_RUN_ID "$BATON" {} $PLACES', "empty": 'env -i "$BATON" {} $PLACES',
                "setsid": 'env -u BATON_RUN_ID setsid -w "$BATON" {} $PLACES',
                "role": 'BATON_ROLE=boss "$BATON" {} $PLACES',
                "another run": 'BATON_RUN_ID=0123456789abcdef0123456789abcdef "$BATON" {} $PLACES',
                "a copy of the shim": 'cp /bin/sh ./baton-shim; env -u BATON_RUN_ID ./baton-shim -c "\\"$BATON\\" {} $PLACES; exit \\$?"'}
        for name, way in ways.items():
            code, said = run.does(way.format("approve rules/w/1"))
            check(code == 1 and "the agent a (run " in said, name, code, said)
        # A double fork whose parents are gone: the shim adopts it.
        run.does('rm -f orphan; (setsid bash -c \'sleep 0.3; env -u BATON_RUN_ID "$BATON" approve rules/w/1 $PLACES >orphan.part 2>&1; '
                 'echo "rc $?" >>orphan.part; mv orphan.part orphan\' </dev/null &>/dev/null &)')
        wait_until(lambda: os.path.exists(run.baton.home + "/orphan"), "the orphan has its answer")
        with open(run.baton.home + "/orphan") as file:
            said = file.read()
        check("rc 1" in said and "the agent a (run " in said, said)
        # A request by hand: nobody holds it. What it says of itself counts for nothing.
        requests = glob.glob(run.baton.state + "/*/requests")[0]
        for name, verb, flow in (("x1", "approve", "w/1"), ("x2", "resume", "t/1")):
            text = json.dumps({"id": name, "verb": verb, "dialect": "rules", "flow": flow, "subject": "", "arguments": {},
                               "by": "alice the boss", "agent": "", "made": "2026-01-01T00:00:00Z"})
            run.does(f"echo '{text}' >{requests}/.{name}; mv {requests}/.{name} {requests}/{name}.json")
            answer = wait_until(lambda name=name: glob.glob(f"{requests}/../replies/{name}.json"), name, "is answered")[0]
            with open(answer) as file:
                reply = json.load(file)
            check(not reply["accepted"] and "has ended or cannot be seen" in reply["message"], reply)
        # Nor does a pause that nobody holds wait: a person's session may end.
        text = json.dumps({"id": "x3", "verb": "pause", "dialect": "rules", "flow": "w/2", "subject": "", "arguments": {}})
        world.write(f"{requests}/x3.json", text.encode())
        answer = wait_until(lambda: glob.glob(f"{requests}/../replies/x3.json"), "x3 is answered")[0]
        with open(answer) as file:
            check(json.load(file)["accepted"], "the pause is carried out")
        check(not any("alice" in json.dumps(line) for line in run.baton.lines("events")), "a name was believed")
        # A person's word is carried out, also without waiting, and has the name of the user.
        run.baton.call("resume", "rules/w/2", "--no-wait")
        wait_until(lambda: [line for line in run.events("request") if line["why"].startswith("resume by ")], "it is carried out")
        check(not any("agent" in line["why"] for line in run.events("request") if line["why"].startswith("resume")), "as a person's")


def variables(exe):
    """A shell of a person may have the variables of a run: they make no agent of it, with and without a daemon."""
    def asks(run, *words):
        return subprocess.run([exe, *words, *run.baton.places()], capture_output=True, text=True, cwd=run.baton.root,
                              env={**os.environ, "BATON_RUN_ID": "0" * 32, "BATON_ROLE": "a", "BATON_FLOW": "rules/t/1"})
    with Inside(exe) as run:
        run.baton.call("pause", "rules/w/1")
        done = asks(run, "resume", "rules/w/1")
        check(done.returncode == 0, done)
        check([line["why"] for line in run.events("request") if "resume" in line["why"]], run.events("request"))
        check("(run " not in json.dumps(run.events("request")), run.events("request"))
        # Agents of another root are found by their shim.
        with world.World(exe, rules=RULES, agents={"a": {"command": ["/bin/true"]}, "other": {"command": ["/bin/true"]}}) as second:
            second.start()
            world.write(f"{second.root}/w/1.json", {"status": "w"})
            places = " ".join(second.places())
            code, said = run.does(f'cd {second.root}; env -i "$BATON" pause rules/w/1 {places}')
            check(code == 1 and "none of this root's runs" in said, said)
            second.daemon.kill()
            second.daemon.wait()
            code, said = run.does(f'cd {second.root}; env -i "$BATON" pause rules/w/1 {places}')
            check(code == 1 and "none of this root's runs" in said, said)
            done = subprocess.run([exe, "pause", "rules/w/1", *second.places()], capture_output=True, text=True, cwd=second.root,
                                  env={**os.environ, "BATON_RUN_ID": "0" * 32})
            check(done.returncode == 0, done)


def by_default(exe):
    """The refusal names the key that configures the role, here `default`."""
    with Inside(exe, default=True) as run:
        for words in ("resume", "retry"):  # the daemon says so
            code, said = run.asks(words + " rules/t/1")
            check(code == 1 and f"`agents: {{ default: {{ may: [{words}] }} }}`" in said, said)
        code, said = run.asks("prune")  # the command says so
        check(code == 1 and "`agents: { default: { may: [prune] } }`" in said, said)


def without_its_shim(exe):
    """What is left of a run whose shim was killed is an agent for as long as it lives."""
    run = Inside(exe)
    run.baton.settings["limits"]["kill_grace"] = "60s"
    run.baton.configure()
    with run:
        line = ("[ -e once ] && exit; touch once; above() { awk '{ print $4 }' /proc/$1/stat; }; trap '' TERM; "
                "kill -9 $(above $(above $PPID)); "  # `timeout` is the parent, then come the agent and its shim
                'env -u BATON_RUN_ID "$BATON" approve rules/w/1 $PLACES >late.part 2>&1; echo "rc $?" >>late.part; mv late.part late')
        with open(run.baton.home + "/asks", "a") as file:
            file.write(line.replace("$PLACES", " ".join(run.baton.places())) + "\n")
        wait_until(lambda: os.path.exists(run.baton.home + "/late"), "it has its answer")
        with open(run.baton.home + "/late") as file:
            said = file.read()
        check("rc 1" in said and "the agent a (run " in said, said)


def allowed(exe):
    with Inside(exe, may=["resume", "limits"]) as run:
        check(run.asks("pause rules/t/1")[0] == 0, "its own flow")
        code, said = run.asks("resume rules/t/1")
        check(code == 0, said)
        code, said = run.asks("retry rules/t/1")
        check(code == 1 and "may: [retry]" in said, said)
        code, said = run.asks("limits --clear x")
        check(code == 1 and "knows of no limit" in said, said)
        code, said = run.asks("prune")
        check(code == 1 and "may: [prune]" in said, said)


def without_daemon(exe):
    """Nobody sees who asks then: while an agent runs, baton looks and stops only."""
    with Inside(exe) as run:
        run.baton.daemon.kill()
        run.baton.daemon.wait()
        for words in (["resume", "rules/t/1"], ["pause", "rules/t/1"], ["retry", "rules/t/1"], ["approve", "rules/w/1"],
                      ["create", "--title", "x"], ["prune"], ["limits", "--clear", "x"]):
            done = run.baton.call(*words, code=3)
            check("no daemon serves this root, and agents of it still run" in done.stderr, words, done)
            code, said = run.asks(" ".join(words))
            check(code in (1, 3), words, code, said)
        run.baton.call("status")
        run.baton.call("stop", "rules/t/1")
        run.baton.call("resume", "rules/t/1")


def starts(exe, words, limit, seconds=4, refused=True):
    """How often the agent starts that lifts its own limit with these words, and how often it may."""
    # The configuration lies in a folder above the root, so a command would take that folder for the root.
    agent = f'"$BATON_EXE" {words} --root "$BATON_ROOT" >>"$0" 2>&1; "$BATON_EXE" set "$BATON_STATE_FILE" \'/status="other"\' /n=$RANDOM >/dev/null; ' \
            f'"$BATON_EXE" set "$BATON_STATE_FILE" \'/status="ready"\' >/dev/null; exit 0'
    with world.World(exe, limits={"spawns_per_hour": limit, "max_running": 2}) as baton:
        baton.settings["agents"]["worker"] = baton.counting("bash", "-c", agent, baton.home + "/said")
        baton.settings["agents"]["worker"]["env"] = {"allow": ["PATH"]}
        baton.configure()
        baton.start()
        baton.ticket("1", "ready")
        wait_until(lambda: next((line for line in baton.lines("status") if line["condition"] in ("blocked", "paused")), None),
                   "the limit holds it", lambda: baton.call("status", code=None).stdout)
        time.sleep(seconds)  # what it tried has no effect later either
        with open(baton.home + "/said") as file:
            said = file.read()
        check("may not use `" in said or not refused, words, "was not refused", said)
        return len(baton.starts())


def limits(exe):
    for words in ('resume "$BATON_FLOW"', 'retry "$BATON_FLOW"', 'forget "$BATON_FLOW"', "reload", "resume --all"):
        count = starts(exe, words, 5, 1)
        check(0 < count <= 5, words, "lifted a limit:", count, "starts")
    # The same from a program that has left the session and the environment of its run, and asks when that has ended.
    for words in ('resume "$0"', 'retry "$0"'):
        later = f"""nohup setsid env -u BATON_RUN_ID bash -c 'for i in 1 2 3; do sleep 0.5; "$1" {words} --root "$2"; done' "$BATON_FLOW" "$BATON_EXE" "$BATON_ROOT" </dev/null &"""
        # The end of its run ends it before it asks, or it is refused.
        count = starts(exe, f"status; {later} true", 5, 4, refused=False)
        check(0 < count <= 5, words, "lifted a limit later:", count, "starts")


if __name__ == "__main__":
    world.main_parts((table, disguises, variables, by_default, without_its_shim, allowed, without_daemon, limits))
