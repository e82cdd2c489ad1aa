# SPDX-License-Identifier: Apache-2.0
"""The grown-up parts of `rules` with the real program: what is refused when the configuration is read and what
doctor names, approvals by command and by file over restarts, templates, several documents, stop on a condition, and
SIGKILL at every stop of a daemon that writes a member and starts the agent behind it: written once, started once.
usage: rules_test.py BATON [KILLAT [STEP [FIRST]]]
Without KILLAT nothing is killed stop by stop. Every STEPth stop from FIRST on; default: some, others each day
(world.sample).
"""

import concurrent.futures
import json
import os
import signal
import subprocess

import world
from world import check, only_unchanged, wait_until

DOCUMENTS = {"job": "queue/{flow}.json",
             "result": {"path": "results/{flow}.json", "optional": True},
             "release": {"path": "releases/{flow}.json", "optional": True}}
QUEUE = {"name": "q", "files": DOCUMENTS, "stage": "job:/state", "values": {"target": "/target", "code": "result:/code"},
         "react": [
             {"to": "new", "set": {"/state": "queued", "/count": "${entry}"}},
             {"to": "queued", "run": "worker", "purpose": "build", "prompt": "build.md"},
             {"to": "queued", "when": [{"pointer": "result:/code", "equals": 0}],
              "set": {"/state": "built", "result:/code": None}},
             {"to": "built", "approval": {"decision": "release:/decision", "rejected": {"/state": "withdrawn"}},
              "set": {"/state": "released"}}]}


def load(path):
    try:
        with open(path) as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


class Queue(world.World):
    def __init__(self, baton, rule=None, *command):
        super().__init__(baton, rules=[rule or QUEUE])
        world.write(self.home + "/build.md", b"Build ${target} for ${flow}.\n")
        self.settings["agents"] = {"worker": self.counting(*command)}
        self.configure()

    def job(self, name, **members):
        world.write(f"{self.root}/queue/{name}.json", members)

    def stage(self, name):
        return load(f"{self.root}/queue/{name}.json").get("state")

    def until(self, name, state):
        wait_until(lambda: self.stage(name) == state, name, "is", lambda: load(f"{self.root}/queue/{name}.json"),
                   "instead of", state)


def refusals(exe):
    """What cannot be right is refused with its place, its name and what was probably meant."""
    one = {"to": "a", "run": "worker"}
    rows = [
        ({"react": [{"to": "a", "set": {"/state": "b"}}, {"to": "b", "set": {"/state": "a"}}]},
         "the `set` reactions of the rule 'q' form an endless cycle: a -> (react 1) b -> (react 2) a"),
        ({"stage": "jbo:/state"}, "the rule has no document 'jbo'; did you mean 'job'?"),
        ({"stage": "state"}, "a stage must be a JSON pointer"),
        ({"react": [{**one, "when": [{"pointer": "reslt:/x", "equals": 1}]}]}, "did you mean 'result'?"),
        ({"react": [{**one, "when": [{"pointer": "x", "equals": 1}]}]}, "'x' is not a pointer"),
        ({"react": [{**one, "when": [{"pointer": "/x"}]}]}, "exactly one of equals"),
        ({"react": [{**one, "when": [{"pointer": "/x", "equal": 1}]}]}, "did you mean 'equals'?"),
        ({"react": [{"to": "a", "set": {"state": "b"}}]}, "'state' is not a pointer to a member"),
        ({"react": [{"to": "a", "set": {"/state": "${target}"}}]}, "a stage must be set to a fixed word"),
        ({"react": [{"to": "a", "set": {"/x": "${targt}"}}]}, "did you mean '${target}'?"),
        ({"react": [{"to": "a", "set": {"/x": 1}, "run": "worker"}]}, "exactly one of run, stop, notify and set"),
        ({"react": [{**one, "approval": {"decision": "job:/ok"}}]}, "needs its own document"),
        ({"react": [{**one, "approval": {"decision": "result:ok"}}]}, "is not a pointer"),
        ({"files": {"job": "queue/{flow}.json", "plan": "plan.json"}}, "never belong to one flow"),
        ({"files": {"job": "queue/{flow}.json", "plan": "{flow}/{part}.json"}}, "has only the subject main"),
        ({"files": {"job": "queue/{flow}.yaml"}, "react": [{"to": "a", "set": {"/x": 1}}]}, "JSON files only"),
        ({"values": {"stage": "/state"}}, "is a reserved name"),
    ]
    with Queue(exe) as w:
        for change, says in rows:
            w.settings["rules"] = [{**QUEUE, "react": [one], **change}]
            w.configure()
            done = w.call("run", "--once", code=2)
            check(says in done.stderr, "not said:", says, "but:", done.stderr)
        # A bad configuration keeps the old one in force.
        w.settings["rules"] = [QUEUE]
        w.configure()
        w.start()
        w.job("a", state="queued", target="x")
        wait_until(lambda: len(w.starts()) == 1, "the first agent")
        w.settings["rules"] = [{**QUEUE, **rows[0][0]}]
        w.configure()
        refused = w.call("reload", code=None)
        check(refused.returncode != 0, "a cycle was taken:", refused.stdout, refused.stderr)
        check("form an endless cycle" in refused.stdout + refused.stderr, "who asks is not told:", refused.stderr)
        with open(w.home + "/daemon.log") as log:
            said = [line for line in log if "form an endless cycle" in line]
        check(said and all(line[:2] == "20" and "Z error " in line for line in said), "not a line of the log:", said)
        w.job("b", state="queued", target="x")
        wait_until(lambda: len(w.starts()) == 2, "the second agent, by the old rules")


def unusable_prompts(exe):
    """A prompt that cannot be used keeps its own reaction back, as one of an agent does; all else goes on."""
    bad = {"nowhere.md": (None, "No such file"), "nul.md": (b"a\0b", "it has a NUL in it"),
           "empty.md": (b" \n", "it is empty"), "latin.md": (b"caf\xe9", "it is not UTF-8 (at byte 4)"),
           "large.md": (b"x" * (1 << 20) + b"x", "has more than 1048576 bytes"),
           "name.md": (b"Build ${taget}\n", "did you mean `${target}`?")}
    names = [name.removesuffix(".md") for name in bad]
    with Queue(exe, {**QUEUE, "react": [{"to": "queued", "run": "worker"}] + [
            {"to": name.removesuffix(".md"), "run": "worker", "purpose": "blocked", "prompt": name} for name in bad]}) as w:
        for name, (text, _) in bad.items():
            if text is not None:
                world.write(w.home + "/" + name, text)
        for stage in ["queued", *names]:
            w.job("in-" + stage, state=stage, target="x")
        says = {f"the prompt {name} of the rule `q`, react {index}, cannot be used: ": fault
                for index, (name, (_, fault)) in enumerate(bad.items(), 2)}

        def told(texts):
            return [any(begin in each and fault in each for each in texts) for begin, fault in says.items()]

        dry = w.call("run", "--dry-run", "--act-on-existing")
        check(all(told(dry.stdout.splitlines())), dry.stdout, dry.stderr)
        found = json.loads(w.call("doctor", "--json", code=None).stdout)["findings"]
        check(all(told([each["message"] for each in found if each["level"] == "error"])), found)
        alone = w.call("reload")
        check(all(told(alone.stderr.splitlines())) and "is good" not in alone.stdout, alone.stdout, alone.stderr)
        done = w.once()
        check(only_unchanged(done, "blocked: agent_unusable", "blocked: no_change"), done.returncode, done.stderr)
        # Each is told when the daemon begins, when it is wanted, and at the end.
        lines = done.stderr.splitlines()
        for said in ([line for line in lines if " blocked " not in line and " is blocked: " not in line],
                     [line for line in lines if " blocked rules/q/" in line],
                     [line for line in lines if " is blocked: agent_unusable: " in line]):
            check(all(told(said)), done.stderr)
        check([each.flow for each in w.starts()] == ["rules/q/in-queued"], w.starts())

        def held():
            return [f"{each['why']} ({each['do']})" for each in w.lines("status") if each["reason"] == "agent_unusable"]

        check(all(told(held())), held())
        w.start()
        # Mended, it counts from the next reload on; one that breaks is taken as it is then.
        world.write(w.home + "/nowhere.md", b"Now ${target}\n")
        wait_until(lambda: all(told(held())), "what the daemon waits for is told", held)
        check("baton reload" in held()[0], held())

        def doctors():
            return [(each["level"], each["message"], each["advice"])
                    for each in json.loads(w.call("doctor", "--json", code=None).stdout)["findings"]
                    if "nowhere.md" in each["message"]]

        check([level for level, *_ in doctors()] == ["warning"] and doctors()[0][2] == "`baton reload`", doctors())
        check("and 2 more" in w.call("reload").stdout, "what of it cannot be used is told who has it read")
        wait_until(lambda: [each.purpose for each in w.starts()] == ["queued", "blocked"], "the mended one is started")
        check(w.starts()[1].flow == "rules/q/in-nowhere", w.starts())
        check(w.call("prompt", w.starts()[1].run).stdout == "Now x\n", "another prompt")
        os.unlink(w.home + "/nowhere.md")
        check(len(doctors()) == 1 and "uses the prompt it read before" in doctors()[0][2], doctors())
        check("and 3 more" in w.call("reload").stdout, "it is not told")
        w.job("again", state="nowhere", target="x")
        wait_until(lambda: told(held())[0], "held again", held)
        w.job("other", state="queued", target="x")
        wait_until(lambda: len(w.starts()) == 3, "the rest goes on")
        check(w.starts()[2].flow == "rules/q/other", w.starts())


def unusable_schema(exe):
    """Without a daemon, `status` and `explain` say of a rule whose schema cannot be used that it is for that."""
    with Queue(exe, {**QUEUE, "files": {**DOCUMENTS, "job": {"path": "queue/{flow}.json", "schema": "job.json"}}}) as w:
        world.write(w.home + "/job.json", b"not a schema")
        says = "no files are looked for, since the configuration cannot be used"
        check(says in w.call("status").stdout, w.call("status").stdout)
        world.write(w.root + "/notes.json", {})
        told = w.call("explain", w.root + "/notes.json", code=None)
        check(says in told.stdout + told.stderr, told.stdout, told.stderr)
        world.write(w.home + "/job.json", b"{}")
        w.job("a", state="queued", target="x")
        w.once()
        world.write(w.home + "/job.json", b"not a schema")
        why, = (each["why"] for each in w.lines("status"))
        check("the dialect `rules` cannot be used" in why and "job.json" in why, why)


def doctor(exe):
    """Rounds of agents, roles nobody plays, pointers no schema knows."""
    review = [{"to": "open", "run": "worker"}, {"to": "review", "run": "reviewer"}]
    with Queue(exe) as w:
        world.write(w.home + "/job.schema.json", {"properties": {"state": {}, "target": {}}})
        os.makedirs(w.root + "/t")
        w.settings["rules"] = [{"name": "t", "files": "t/{flow}.json", "schema": "job.schema.json", "stage": "/stat",
                                "react": [*review, {"to": "x", "stop": "builder"}]}]
        w.configure()
        found = json.loads(w.call("doctor", "--json", code=None).stdout)["findings"]
        said = [each["message"] for each in found if each["level"] == "warning"]
        for says in ("rule t: agents may start each other in a cycle: open -(worker)-> review -(reviewer)-> open",
                     "there is no agent 'reviewer'", "no reaction of the rule runs 'builder'",
                     "rule t, stage: the schema has no member 'stat' for the pointer /stat; did you mean 'state'?",
                     "the rule t has neither `done:` nor `stages:`"):
            check(any(says in each for each in said), "doctor does not say:", says, "but:", said)
        w.settings["notify"] = {"command": ["/nowhere/tell"]}
        w.configure()
        alone = w.call("reload")
        check("notify cannot be used" in alone.stderr and "is good" not in alone.stdout, alone.stdout, alone.stderr)
        del w.settings["notify"]
        w.settings["rules"][0]["stage"] = "/state"
        w.settings["rules"][0]["react"] = [{**review[0], "next": "review"}, {**review[1], "next": ["done", "review"]}]
        w.settings["rules"][0].update(done=["done"], stages=["open", "review"])
        w.configure()
        found = json.loads(w.call("doctor", "--json", code=None).stdout)["findings"]
        check({"fine"} == {each["level"] for each in found if each["check"] == "rules"}, found)


def whole(exe):
    """new -> queued by baton, built by an agent's result, released by a person: by file, then by command, with the
    daemon killed while it waits; nobody but the person goes on."""
    build = 'cat >"$BATON_RUN_DIR/../../prompt"; echo "{\\"code\\": 0}" >"$BATON_FILE_RESULT"'
    with Queue(exe, None, "sh", "-c", build) as w:
        os.makedirs(w.root + "/results")
        w.start()
        w.job("a", state="new", target="app")
        w.until("a", "built")
        check(load(w.root + "/queue/a.json") == {"state": "built", "target": "app", "count": "1"},
              load(w.root + "/queue/a.json"))
        prompt = w.call("prompt", w.lines("agents")[0]["run"]).stdout
        check(prompt == "Build app for rules/q/a.\n", prompt)
        check(load(w.root + "/results/a.json") == {"code": None}, load(w.root + "/results/a.json"))
        wait_until(lambda: "a person has to approve" in json.dumps(w.lines("status", "rules/q/a")), "status asks")
        w.daemon.send_signal(signal.SIGKILL)
        w.daemon.wait()
        world.write(w.root + "/releases/a.json", {"decision": "no idea"})
        w.start()
        wait_until(lambda: any("the decision is" in each["why"] for each in w.lines("events")), "the wrong word is named")
        check(w.stage("a") == "built", "a wrong word counts as one")
        world.write(w.root + "/releases/a.json", {"decision": "reject", "by": "ann", "comment": "too soon"})
        w.until("a", "withdrawn")
        wait_until(lambda: os.listdir(w.root + "/releases/.decided"), "the file is put away")
        check(not os.path.exists(w.root + "/releases/a.json"), "the file is still there")
        w.job("a", state="built", target="app")
        wait_until(lambda: "a person has to approve" in json.dumps(w.lines("status", "rules/q/a")), "status asks again")
        w.call("approve", "rules/q/b", code=None)
        check(w.stage("a") == "built", "approved by nobody")
        check("approved" in w.call("approve", "rules/q/a", "--comment", "go").stdout, "not approved")
        w.until("a", "released")
        twice = w.call("approve", "rules/q/a", code=1)
        check("nothing of this flow waits" in twice.stdout + twice.stderr, twice.stdout, twice.stderr)
        check(len(w.starts()) == 1, w.starts())


def stopped(exe):
    """A condition on the way ends the agent of this very entry."""
    rule = {**QUEUE, "react": [{"to": "queued", "run": "worker"},
                               {"to": "queued", "when": [{"pointer": "/cancelled", "equals": True}], "stop": "worker"}]}
    with Queue(exe, rule, "sleep", "1000") as w:
        w.start()
        w.job("a", state="queued")
        wait_until(lambda: len(w.starts()) == 1, "the agent")
        w.job("a", state="queued", cancelled=True)
        wait_until(lambda: all(run["state"] == "ended" for run in w.lines("agents")), "the agent is ended")
        check([run["outcome"] for run in w.lines("agents")] == ["stopped"], w.lines("agents"))
        w.job("a", state="queued", cancelled=False)
        wait_until(lambda: len(w.starts()) == 2, "a further one")


def groups(exe):
    """A coordination folder as it is found: one file, a subject for each group, and who goes on with each."""
    next_one = {"pending": "developer", "waiting_qa": "qa_expert", "waiting_review": "tech_lead",
                "changes_requested": "developer", "qa_failed": "developer"}
    rule = {"name": "groups", "files": "coordination/group_status.json", "stage": "/{subject}/status",
            "react": [{"to": status, "run": role} for status, role in next_one.items()]}
    with world.World(exe, rules=[rule]) as w:
        w.settings["agents"] = {role: w.counting("sh", "-c", f'echo "$BATON_SUBJECT $BATON_ROLE" >>{w.home}/who')
                                for role in ("developer", "qa_expert", "tech_lead")}
        w.configure()
        world.write(w.root + "/coordination/group_status.json",
                    {status: {"status": status, "percentage": 40} for status in (*next_one, "in_progress", "complete")})
        done = w.once()
        check(only_unchanged(done), done)
        with open(w.home + "/who") as file:
            check(sorted(file.read().splitlines()) == sorted(f"{status} {role}" for status, role in next_one.items()), done)


def busy_writer(exe):
    """Somebody rewrites other members of the file all the time; what baton sets is never lost for good."""
    rule = {**QUEUE, "react": [{"to": "new", "set": {"/state": "queued", "/seen": True}}]}
    with Queue(exe, rule) as w:
        w.start()
        for number in range(30):
            # A careless writer: the second version may be stale against baton's write.
            w.job(f"a{number}", state="new", n=0)
            w.job(f"a{number}", state="new", n=1)
        for number in range(30):
            w.until(f"a{number}", "queued")
            left = load(f"{w.root}/queue/a{number}.json")
            check(left == {"state": "queued", "n": 1, "seen": True}, left)


def sweep(exe, killat, step, first):
    """Killed at each stop in turn; the run after that ends it. One write, one agent, nothing lost of the file."""
    def place(stop):
        with Queue(exe) as w:
            world.write(w.root + "/queue/a.json", b'{"state":  "new", "target": "x", "n": 1.50}\n')
            done = subprocess.run([killat, str(stop), *w.run_command("--once")], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=world.PATIENCE)
            check(done.returncode in (0, 1), "killat:", done.returncode, done.stderr)
            after = w.once()
            check(only_unchanged(after), "stop", stop, "the next run gave", after.returncode, after.stderr)
            with open(w.root + "/queue/a.json") as file:
                text = file.read()
            check('{"state":  "queued", "target": "x", "n": 1.50' in text and json.loads(text)["count"] == "1",
                  "stop", stop, "left", text)
            starts = w.starts()
            check([(each.purpose, each.attempt) for each in starts] == [("build", "1")], "stop", stop, starts)
            # A daemon killed inside the exchange leaves its hidden temporary file; nobody reads that.
            left = [name for name in os.listdir(w.root + "/queue") if name != "a.json" and not name.endswith((".tmp", ".was"))]
            check(not left, "stop", stop, "left", left)
            stages = [each for each in w.lines("events") if each["event"] == "stage"]
            check([each["why"] for each in stages] == ["new", "new -> queued"], "stop", stop, stages)
            return done
    done = place(10 ** 9)
    stops = int(done.stdout.split()[-1])
    check(stops > 100, "only", stops, "stops")
    places = range(first, stops + 1, int(step)) if step else world.sample(range(1, stops + 1), 20, 500)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for _ in pool.map(place, places):
            pass
    print("killed at", len(places), "of", stops, "stops: each set made once, each agent started once")


def test(exe, killat=None, step=None, first="1"):
    refusals(exe)
    unusable_prompts(exe)
    unusable_schema(exe)
    doctor(exe)
    whole(exe)
    stopped(exe)
    groups(exe)
    busy_writer(exe)
    if killat is not None:
        sweep(exe, os.path.abspath(killat), step, int(first))


if __name__ == "__main__":
    world.main(test)
