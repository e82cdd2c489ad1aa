# SPDX-License-Identifier: Apache-2.0
"""`notify:`: what people hear and what not, once, in arrays; no program of it outlives its limit or the daemon; and
the programs of the folder `notify`, against a server of our own. usage: notify_test.py BATON [PART ...]"""

import email
import email.policy
import glob
import json
import os
import signal
import subprocess
import threading

import world
from webhook import Webhook
from world import check, wait_until, write

PROGRAMS = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../notify"))
# Each call takes its array down; what it does besides is said by the file `how` beside it.
TOLD = """#!/bin/sh
here=$(dirname "$0")
cat >>"$here/told"
[ -e "$here/how" ] && . "$here/how"
exit 0
"""
RULES = [{"name": "t", "files": "tickets/{flow}.json", "stage": "/status",
          "react": [{"to": "ready", "run": "worker"}, {"to": "done", "notify": True}, {"to": "odd", "run": "nobody"}]},
         {"name": "two", "files": ["two/{flow}/a.json", "two/{flow}/b.json"], "stage": "/status",
          "react": [{"to": "done", "notify": True}]}]


class Told(world.World):
    def __init__(self, exe, **notify):
        super().__init__(exe, rules=RULES)
        self.program = self.home + "/notify.sh"
        write(self.program, TOLD.encode())
        os.chmod(self.program, 0o755)
        self.settings["notify"] = {"command": [self.program], **notify}
        self.configure()

    def how(self, script):
        write(self.home + "/how", script.encode())

    def calls(self):
        """The array of each call."""
        if not os.path.exists(self.home + "/told"):
            return []
        with open(self.home + "/told") as file:
            return [json.loads(line) for line in file.read().splitlines() if line.endswith("]")]

    def told(self, event=None, flow=None):
        return [each for call in self.calls() for each in call
                if event in (None, each["event"]) and flow in (None, each["flow"])]

    def said(self):
        """The log of the daemon."""
        with open(self.home + "/daemon.log", errors="replace") as log:
            return log.read()

    def end(self, how):
        self.daemon.send_signal(how)
        return self.daemon.wait(timeout=world.PATIENCE)


def told_once(exe):
    """Notices and conditions that stay true are told once, whatever ends the daemon."""
    with Told(exe) as baton:
        baton.ticket("a", "done")
        baton.ticket("b", "odd")
        baton.ticket("c", "nonsense", status2=1)
        write(baton.root + "/tickets/bad.json", b"[]")
        for name in "ab":
            write(f"{baton.root}/two/x/{name}.json", {"status": "rest"})
        baton.start()
        kinds = {("notice", "rules/t/a"), ("blocked", "rules/t/b"), ("blocked", "rules/t/bad"), ("blocked", "rules/two/x")}

        def counts(objects):
            all_kinds = [(each["event"], each["flow"]) for each in objects]
            return {kind: all_kinds.count(kind) for kind in kinds}

        once = {kind: 1 for kind in kinds}
        wait_until(lambda: counts(baton.told()) == once, "all is told", lambda: counts(baton.told()))
        check(counts(baton.lines("events")) == once, counts(baton.lines("events")))
        for how in (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM):
            baton.end(how)
            baton.start()
            baton.canary()
            baton.idle()
        # What is new is told, and behind it nothing can be that was told before.
        baton.ticket("new", "done")
        wait_until(lambda: baton.told("notice", "rules/t/new"), "the new one is told", baton.told)
        check(counts(baton.told()) == once, "told again:", counts(baton.told()))
        check(counts(baton.lines("events")) == once, "in the history again:", counts(baton.lines("events")))
        # True once more is new once more.
        baton.ticket("a", "rest")
        baton.ticket("canary", "ready")
        wait_until(lambda: baton.starts("rules/t/canary"))
        baton.ticket("a", "done")
        wait_until(lambda: len(baton.told("notice", "rules/t/a")) == 2, "told again", baton.told)


def ended_with_the_daemon(exe):
    """A program that ignores TERM and has left its group is ended with the daemon, however that ends."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        with Told(exe, timeout="10m") as baton:
            mark = f"60.{os.getpid()}{int(how)}"
            baton.how(f"trap '' TERM\nsetsid sleep {mark} &\n(setsid sh -c 'trap \"\" TERM; sleep {mark}0; : {mark}' &)\n"
                      f"while :; do sleep {mark}; done\n")
            baton.start()
            baton.ticket("a", "done")
            wait_until(lambda: len(world.processes_with(mark)) >= 3, "the program runs")
            code = baton.end(how)
            check(how == signal.SIGKILL or code == 0, "the daemon gave", code)
            if how == signal.SIGTERM:
                check(not world.processes_with(mark), "left behind:", world.processes_with(mark))
                check("not told through notify: 1 " in baton.said(), "what was not told is not said")
            wait_until(lambda: not world.processes_with(mark), "left behind")


def limited(exe):
    """A program that does not end is ended after `timeout`, and the next event is told."""
    with Told(exe, timeout="1s") as baton:
        mark = f"61.{os.getpid()}"
        baton.how(f"trap '' TERM\nsetsid sleep {mark} &\nsleep {mark}\nsleep {mark}\n")
        baton.start()
        baton.ticket("a", "done")
        wait_until(lambda: baton.told("notice", "rules/t/a"))
        os.unlink(baton.home + "/how")
        baton.ticket("b", "done")
        wait_until(lambda: baton.told("notice", "rules/t/b"), "the next one is told")
        check(not world.processes_with(mark), "left behind:", world.processes_with(mark))
        check(baton.daemon.poll() is None, "the daemon ended")


def last_words(exe):
    """A daemon that comes to its end by itself tells everything first; one that has nothing to tell does not wait."""
    with Told(exe) as baton:
        baton.how("sleep 0.2\n")
        for number in range(5):
            baton.ticket(f"n{number}", "done")
        done = baton.once()
        check(done.returncode == 0, done.returncode, done.stderr)
        check(len(baton.told("notice")) == 5, baton.told())
        check("not told" not in done.stderr, done.stderr)


def fits_schema(exe, array):
    done = subprocess.run([exe, "validate", "-", "--schema", "output/notify"], input=json.dumps(array),
                          capture_output=True, text=True)
    check(done.returncode == 0, array, done.stdout, done.stderr)


def as_described(exe):
    """Each object has its event in the history, names its root, and fits the schema."""
    with Told(exe) as baton:
        baton.start()
        baton.ticket("a", "done")
        baton.ticket("b", "odd")
        wait_until(lambda: baton.told("notice") and baton.told("blocked"), "both are told", baton.told)
        history = {(each["event"], each["flow"], each["time"]) for each in baton.lines("events")}
        for each in baton.told():
            check((each["event"], each["flow"], each["time"]) in history, each, "is not in the history")
            check(each["root"] == os.path.realpath(baton.root), each)
        for array in baton.calls():
            fits_schema(exe, array)
        blocked = baton.told("blocked", "rules/t/b")[0]
        check((blocked["condition"], blocked["reason"]) == ("blocked", "role_missing"), blocked)
        check("nobody" in blocked["why"] and blocked["do"], blocked)
        notice = baton.told("notice")[0]
        check("done" in notice["why"] and notice["condition"] == "idle" and notice["do"] is None, notice)


def three_attempts(exe):
    """A failed attempt is nobody's business; that all have failed is told with all that helps. What an agent has done
    is a notice, and nothing else is told of it."""
    agents = {"broken": {"command": ["/bin/sh", "-c", "seq 20 >&2; echo 'no such model' >&2; exit 1"]},
              "good": {"command": ["/bin/sh", "-c", f"echo '{{\"status\": \"done\"}}' >$BATON_ROOT/jobs/good.json"]}}
    rules = [{"name": "j", "files": "jobs/{flow}.json", "stage": "/status",
              "react": [{"to": "fail", "run": "broken"}, {"to": "work", "run": "good"}, {"to": "done", "notify": True}]}]
    with Told(exe) as baton:
        baton.settings.update(agents=agents, rules=rules)
        baton.configure()
        baton.start()
        write(baton.root + "/jobs/bad.json", {"status": "fail"})
        write(baton.root + "/jobs/good.json", {"status": "work"})
        wait_until(lambda: baton.told("failed") and baton.told("notice"), "both are told", baton.told)
        baton.idle()
        runs = [run for run in baton.lines("agents") if run["flow"] == "rules/j/bad"]
        check(len(runs) == 3, runs)
        failed = baton.told("failed")[0]
        check(failed["flow"] == "rules/j/bad" and failed["condition"] == "failed", failed)
        check(failed["reason"] == "attempts_exhausted" and failed["since"], failed)
        check(failed["stderr"] == "".join(f"{n}\n" for n in range(12, 21)) + "no such model", failed)
        check("no such model" in failed["why"], failed)
        check(any(run["run"][:8] in failed["why"] for run in runs), failed, runs)
        check(failed["do"].startswith("baton retry rules/j/bad"), failed)
        baton.end(signal.SIGTERM)
        check(sorted((each["event"], each["flow"]) for each in baton.told())
              == [("failed", "rules/j/bad"), ("notice", "rules/j/good")], baton.told())
        for array in baton.calls():
            fits_schema(exe, array)


def together(exe):
    """Many flows that stop for one cause are not as many calls."""
    with Told(exe) as baton:
        for number in range(250):
            baton.ticket(f"n{number}", "odd")
        baton.start()
        wait_until(lambda: len(baton.told("blocked")) == 250, "all are told", lambda: len(baton.told()))
        check(len(baton.calls()) < 25, len(baton.calls()), "calls")
        check(max(len(call) for call in baton.calls()) <= 100, "a call with more than 100")


def by_operator(exe):
    """What the operator of this machine asked for is no news for him."""
    with Told(exe) as baton:
        baton.start()
        baton.ticket("a", "ready")
        wait_until(lambda: baton.starts("rules/t/a"))
        baton.call("pause", "rules/t/a")
        baton.call("resume", "rules/t/a")
        baton.call("stop", "rules/t/a")
        baton.ticket("b", "done")
        wait_until(lambda: baton.told("notice"), "what comes behind it is told")
        check(not baton.told("paused") and not baton.told("stopped"), baton.told())


def by_agent(exe):
    """What an agent asks for is told, with the agent, also while that agent still runs."""
    with Told(exe) as baton:
        stop = 'baton stop rules/t/a --root "$BATON_ROOT" --no-wait'
        baton.settings["agents"] = {"worker": {"command": ["sh", "-c", stop.replace("baton", exe, 1)]}}
        baton.configure()
        baton.start()
        baton.ticket("a", "ready")
        told = wait_until(lambda: baton.told("stopped"), "the stop is told", lambda: baton.lines("events"))[0]
        run = baton.lines("agents")[0]["run"][:8]
        check((told["condition"], told["reason"], told["flow"]) == ("stopped", "agent", "rules/t/a"), told)
        check(told["why"].endswith(f"stopped by the agent worker (run {run})"), told)
        check(told["do"] == "baton resume rules/t/a", told)
        baton.idle()
        status = [each for each in baton.lines("status") if each["flow"] == "rules/t/a"][0]
        check((status["condition"], status["reason"]) == ("stopped", "agent") and run in status["why"], status)
        check(len(baton.told("stopped")) == 1, baton.told())


def root_gone(exe):
    """That a root is not there is told once, and files that are gone with their flow."""
    with Told(exe) as baton:
        for name in "ab":
            write(f"{baton.root}/two/x/{name}.json", {"status": "ready"})
        baton.ticket("a", "odd")
        baton.start()
        wait_until(lambda: baton.told("blocked", "rules/t/a"))
        for name in "ab":
            os.unlink(f"{baton.root}/two/x/{name}.json")
        os.rename(baton.root, baton.home + "/elsewhere")
        wait_until(lambda: baton.told("root_away"), "the root is told", baton.told)
        os.rename(baton.home + "/elsewhere", baton.root)
        baton.canary()
        baton.end(signal.SIGTERM)
        away = baton.told("root_away")
        check(len(away) == 1 and (away[0]["condition"], away[0]["reason"]) == ("waiting", "root_away"), away)
        check(away[0]["flow"] is None and away[0]["do"] is None, away)
        check(len(baton.told("gone")) <= 1, baton.told("gone"))


def files_gone(exe):
    """A file that a flow needs concerns a person when it is gone. One that no flow needs any more does not."""
    with Told(exe) as baton:
        baton.settings["rules"] = [{**RULES[0], "done": ["closed"]}]
        baton.configure()
        stages = {"idle": "rest", "over": "closed", "due": "odd"}
        for name, stage in stages.items():
            baton.ticket(name, stage)
        baton.start()
        wait_until(lambda: all(f"stage rules/t/{name} " in baton.said() for name in stages), "all are seen", baton.said)
        for name in stages:
            os.unlink(f"{baton.root}/tickets/{name}.json")
        wait_until(lambda: all(f" gone rules/t/{name}: " in baton.said() for name in stages), "all are gone", baton.said)
        baton.end(signal.SIGTERM)
        loud = {name for name in stages if f"Z warning gone rules/t/{name}: " in baton.said()}
        check(loud == {"due"}, loud, baton.said())
        check([each["flow"] for each in baton.told("gone")] == ["rules/t/due"], baton.told())


def failing(exe):
    """A program that fails is said once in the log, and once that it works again."""
    with Told(exe, timeout="1s") as baton:
        log = baton.said
        baton.how("exit 3\n")
        baton.start()
        baton.ticket("a", "done")
        wait_until(lambda: "did not exit with 0" in log(), "the failure is said", log)
        baton.ticket("b", "done")
        wait_until(lambda: baton.told("notice", "rules/t/b"), "the next one is tried")
        os.unlink(baton.home + "/how")
        baton.ticket("c", "done")
        wait_until(lambda: "works again" in log(), "the end of the failure is said", log)
        check(log().count("did not exit with 0") == 1, "said again:", log())
        baton.how("sleep 60\n")
        baton.ticket("d", "done")
        wait_until(lambda: "took longer than its `timeout`" in log(), "the late one is said", log)
        baton.settings["notify"] = {"command": [baton.home + "/gone.sh"]}
        write(baton.home + "/gone.sh", b"\x7fELF garbage")
        os.chmod(baton.home + "/gone.sh", 0o755)
        baton.configure()
        baton.call("reload")
        baton.ticket("e", "done")
        wait_until(lambda: log().count("did not exit with 0") == 2, "one that cannot be entered is said", log)


def reload_goes_on(exe):
    """Another command takes over what comes from now on; what waits is still told by the former one."""
    with Told(exe) as baton:
        baton.how('while [ ! -e "$here/go" ]; do sleep 0.05; done\n')
        baton.start()
        baton.ticket("a", "done")
        wait_until(lambda: len(baton.told()) == 1)
        for name in "bc":
            baton.ticket(name, "done")
        wait_until(lambda: len([each for each in baton.lines("events") if each["event"] == "notice"]) == 3)
        other = baton.home + "/other.sh"
        write(other, b'#!/bin/sh\ncat >>"$(dirname "$0")/other"\n')
        os.chmod(other, 0o755)
        baton.settings["notify"] = {"command": [other]}
        baton.configure()
        baton.call("reload")
        baton.ticket("d", "done")
        wait_until(lambda: os.path.exists(baton.home + "/other") and "rules/t/d" in open(baton.home + "/other").read())
        write(baton.home + "/go", b"")
        wait_until(lambda: len(baton.told("notice")) == 3, "the former command tells the rest", baton.told)


def reminded(exe):
    """A question is told once, as what blocks the flow, and again as often as the configuration says."""
    with Told(exe) as baton:
        example = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/ml_workflow")
        agent = {"command": [example + "/agent.sh"]}
        baton.settings["agents"] = {"planner": agent, "validator": agent, "programmer": agent}
        baton.settings["dialects"] = {"ml_workflow": {"approvals": ["plan"], "reminders": "1s"}}
        baton.configure()
        baton.start()
        check(baton.call("start", "churn", "--dialect", "ml_workflow", "--requirements", "x").returncode == 0)
        wait_until(lambda: len(baton.told("reminder")) >= 2, "two reminders", baton.told)
        blocked = baton.told("blocked")
        check(len(blocked) == 1 and blocked[0]["reason"] == "approval_wanted", blocked)
        check(blocked[0]["do"].startswith("baton approve ml_workflow/churn"), blocked)
        reminder = baton.told("reminder")[-1]
        check("(waiting for " in reminder["why"] and reminder["do"] == blocked[0]["do"], reminder)


def too_many(exe):
    """What is dropped because too much waits is counted with what is left untold."""
    with Told(exe) as baton:
        baton.how("sleep 1000\n")
        os.mkdir(baton.root + "/tickets")
        for number in range(1300):
            baton.ticket(f"n{number}", "done")
        baton.start()
        wait_until(lambda: baton.told("notice"), "the first ones are told")
        wait_until(lambda: len([each for each in baton.lines("events") if each["event"] == "notice"]) == 1300,
                   "all are seen")
        baton.end(signal.SIGTERM)
        check("not told through notify: 1300 events" in baton.said(), "the end does not say how many were told to nobody")


def busy_folder(exe):
    """Somebody who writes all the time does not put off what is to be told."""
    with Told(exe) as baton:
        baton.start()
        over = threading.Event()

        def write_on():
            while not over.wait(0.03):
                write(baton.root + "/tickets/other.txt", b"x")

        os.makedirs(baton.root + "/tickets", exist_ok=True)
        writer = threading.Thread(target=write_on)
        writer.start()
        try:
            for number in range(20):
                baton.ticket(f"t{number}", "done")
            wait_until(lambda: len(baton.told("notice")) == 20, "all are told beside the writer", baton.told)
        finally:
            over.set()
            writer.join()


def closed_streams(exe):
    """A daemon that was given no standard streams, and a narrow umask: what it opens does not take their numbers."""
    with Told(exe) as baton:
        os.makedirs(baton.root + "/tickets", exist_ok=True)
        baton.how("sleep 0.2; echo >>" + baton.home + "/whole")
        for closed in ("<&-", ">&- 2>&-", "<&- >&- 2>&-"):
            script = f'umask 077; exec "$@" {closed}'
            with open(baton.home + "/daemon.log", "ab") as log:
                baton.daemon = subprocess.Popen(["/bin/sh", "-c", script, "sh", *baton.run_command()],
                                                stdout=log, stderr=log)
            wait_until(baton.serves, "the daemon serves")
            before = len(baton.told("notice"))
            # More log lines than fit into a pipe.
            for number in range(500):
                baton.ticket(f"{len(closed)}_{number}_{'x' * 150}", "rest")
            baton.ticket(f"{len(closed)}", "done")
            wait_until(lambda: len(baton.told("notice")) == before + 1, closed, "is told", baton.told)
            baton.canary()
            baton.idle()
            check(baton.end(signal.SIGTERM) == 0, closed, "ends")
        with open(baton.home + "/whole") as file:
            check(file.read().count("\n") == len(baton.calls()), "no program of it was cut short")
        state = glob.glob(baton.state + "/root-*")[0]
        for name in ("", *os.listdir(state)):
            is_so, folder = os.stat(f"{state}/{name}").st_mode & 0o777, os.path.isdir(f"{state}/{name}")
            private = name in ("configuration.json", "environment.json")
            check(is_so == (0o750 if folder else 0o600 if private else 0o640), name, oct(is_so))


def finished(exe):
    """That a flow has come to its end, or has given up, is told, once, whatever ends the daemon."""
    with Told(exe) as baton:
        for name, script in (("well", "true"), ("badly", "echo 'FATAL_ERROR: no way'")):
            write(f"{baton.root}/.loops/{name}.yaml", f"name: {name}\ninitial: a\nstates:\n"
                  f"  a: {{action: \"{script}\", next: done}}\n  done: {{terminal: true}}\n".encode())
        baton.settings["dialects"] = {"fsm_loop": {}}
        baton.configure()
        baton.start()
        for name in ("well", "badly"):
            check(baton.call("start", name).returncode == 0)
        wait_until(lambda: baton.told("finished") and baton.told("failed"), "both are told", baton.told)
        baton.end(signal.SIGKILL)
        baton.start()
        baton.canary()
        baton.idle()
        told = {each["flow"]: each for each in baton.told() if each["event"] in ("finished", "failed")}
        check(len(baton.told("finished")) == len(baton.told("failed")) == 1, baton.told())
        well, badly = told["fsm_loop/well"], told["fsm_loop/badly"]
        check((well["event"], well["condition"], well["reason"], well["do"]) == ("finished", "done", None, None), well)
        check((badly["event"], badly["condition"], badly["reason"]) == ("failed", "failed", "loop_error"), badly)
        check("no way" in badly["why"] and badly["do"], badly)


# ---- the programs of the folder `notify`

def notification(**more):
    return {"schema": "baton/notify/v1", "event": "failed", "time": "2026-01-02T03:04:05.678Z", "root": "/srv/project",
            "flow": "rules/tickets/a", "subject": "main", "condition": "failed", "reason": "attempts_exhausted",
            "since": "2026-01-02T03:00:00Z", "why": "run 1a2b3c4d failed (exit_1): \"no such model\"",
            "do": "baton retry rules/tickets/a main", "stderr": "one\n\u001b[31mtwo\u001b[0m\nno such <model>\n",
            "cost": 0.25, **more}


FINISHED = notification(event="finished", flow="fsm_loop/well", condition="done", reason=None, why="reached done",
                        do=None, stderr=None)


def send(program, array, arguments=(), path=os.environ["PATH"], **env):
    """The program with nothing else in its environment, as the daemon calls it."""
    given = array if isinstance(array, bytes) else json.dumps(array).encode()
    return subprocess.run([os.path.join(PROGRAMS, program), *arguments], input=given, capture_output=True,
                          env={"PATH": path, **env}, timeout=world.PATIENCE, check=False)


def services(url):
    """Program → its environment, the path of its posts, the text in a body, the secret."""
    return {
        "ntfy": ({"NTFY_URL": url, "NTFY_TOPIC": "builds", "NTFY_TOKEN": "tk_secret"}, "/", "message", "tk_secret"),
        "slack": ({"SLACK_WEBHOOK_URL": url + "/services/T1/B2/s3cret"}, "/services/T1/B2/s3cret", "text", "s3cret"),
        "telegram": ({"TELEGRAM_URL": url, "TELEGRAM_TOKEN": "12:s3cret", "TELEGRAM_CHAT_ID": "-100"},
                     "/bot12:s3cret/sendMessage", "text", "s3cret"),
    }


def one_line_error(done, secret, *says):
    error = done.stderr.decode()
    check(error.endswith("\n") and error.count("\n") == 1, repr(error))
    check(all(each in error for each in says) and secret not in error, error)


def accepted(_):
    """One message for an array, with all that helps; a message that is too long is cut and says so."""
    for program in services(""):
        with Webhook() as hook:
            env, path, member, _ = services(hook.url)[program]
            done = send(program, [notification(), FINISHED], **env)
            check((done.returncode, done.stdout, done.stderr) == (0, b"", b""), program, done)
            check(len(hook.posts) == 1 and hook.posts[0][0] == path, hook.posts)
            headers, body = hook.posts[0][1:]
            text = body[member]
            for part in ("failed rules/tickets/a: run 1a2b3c4d", "do: baton retry rules/tickets/a main", "| two\n",
                         "finished fsm_loop/well: reached done", "root: /srv/project"):
                check(part in text, program, "lacks", part, text)
            check("\x1b" not in text and text.count("root:") == 1, text)
            check(("&lt;model&gt;" if program == "slack" else "<model>") in text, text)
            if program == "ntfy":
                check(body["title"] == "baton: 1 failed, 1 finished" and body["priority"] == 4, body)
                check(body["topic"] == "builds" and headers["authorization"] == "Bearer tk_secret", headers)
            if program == "telegram":
                check(body["chat_id"] == "-100", body)
            done = send(program, [notification(why="\u00e9" * 300, flow=f"rules/t/{n}", root=f"/r{n}") for n in range(100)],
                        **env)
            text = hook.posts[1][2][member]
            check(done.returncode == 0 and "more: baton status" in text, done, text)
            check(len(text.encode()) <= 4096 and "/r0: failed rules/t/0" in text, len(text.encode()), text)
            send(program, [notification(why="x" * 100_000, stderr="y" * 100_000)], **env)
            check(len(hook.posts[2][2][member].encode()) <= 4096, "too long")
            send(program, [FINISHED], **env)
            if program == "ntfy":
                check(hook.posts[3][2]["priority"] == 3 and hook.posts[3][2]["title"] == "baton: finished fsm_loop/well",
                      hook.posts[3])


def refused(_):
    """An answer but 2xx, none in time, another host, no host: 1, and a line that says it without the secret."""
    for program in services(""):
        with Webhook(500, 403) as hook:
            env, path, _, secret = services(hook.url)[program]
            host = hook.url.removeprefix("http://")
            one_line_error(send(program, [FINISHED], **env), secret, program + ": ", host + " answered 500", "this is what")
            done = send(program, [FINISHED], **env)
            check(done.returncode == 1 and len(hook.posts) == 2, done, hook.posts)
        with Webhook() as other, Webhook(other.url + "/" + path) as hook:
            done = send(program, [FINISHED], **services(hook.url)[program][0])
            check(done.returncode == 1 and len(hook.posts) == 1 and not other.posts, done, other.posts)
            one_line_error(done, secret, "answered 302", other.url.removeprefix("http://"), "not followed")
        with Webhook("hang") as hook:
            done = send(program, [FINISHED], NOTIFY_TIMEOUT="0.5", **services(hook.url)[program][0])
            check(done.returncode == 1, done)
            one_line_error(done, secret, "did not answer within 0.5 s")
        # Nobody listens there any more.
        done = send(program, [FINISHED], **services(hook.url)[program][0])
        check(done.returncode == 1, done)
        one_line_error(done, secret, "cannot be reached")


def wrongly_set(_):
    """What is wrong on our side is 2, and names the variable, the line or the input."""
    for program in services(""):
        done = send(program, [FINISHED])
        check(done.returncode == 2, done)
        one_line_error(done, "secret", " is not set")
        env = {name: "ftp" + value[4:] if value.startswith("http") else value
               for name, value in services("http://127.0.0.1:9")[program][0].items()}
        done = send(program, [FINISHED], **env)
        check(done.returncode == 2 and b"must begin with https://" in done.stderr, done)
    for given in (b"", b"[]", b"{}", b"[1]", b"[{", b"\xff"):
        done = send("ntfy", given, NTFY_TOPIC="x", NTFY_URL="http://127.0.0.1:9")
        check(done.returncode == 2 and done.stderr.count(b"\n") == 1, given, done)
    done = send("ntfy", [FINISHED], NTFY_TOPIC="x", NOTIFY_TIMEOUT="soon")
    check(done.returncode == 2 and b"NOTIFY_TIMEOUT" in done.stderr, done)
    done = send("ntfy", [FINISHED], arguments=["/nowhere"])
    check(done.returncode == 2 and b"/nowhere" in done.stderr, done)


def by_mail(_):
    """Mail goes through sendmail, with the addresses in the message."""
    with world.World("baton") as place:
        sendmail = place.home + "/bin/sendmail"
        path = place.home + "/bin:" + os.environ["PATH"]

        def stands_in(script):
            write(sendmail, f'#!/bin/sh\n{script}\n'.encode())
            os.chmod(sendmail, 0o755)

        stands_in(f'echo "$@" >{place.home}/arguments; cat >{place.home}/letter')
        long = "\n".join(str(number) for number in range(10))
        done = send("mail", [notification(stderr=long, why="caf\u00e9\nBcc: x@example.org"), FINISHED], path=path,
                    MAIL_TO="a@example.org, b@example.org", MAIL_FROM="baton@example.org")
        check((done.returncode, done.stdout, done.stderr) == (0, b"", b""), done)
        with open(place.home + "/arguments") as file:
            check(file.read() == "-i -t\n", "addresses on a command line")
        with open(place.home + "/letter", "rb") as file:
            letter = email.message_from_binary_file(file, policy=email.policy.default)
        check(letter["To"] == "a@example.org, b@example.org" and letter["From"] == "baton@example.org", letter)
        check(letter["Subject"] == "baton: 1 failed, 1 finished" and letter["Bcc"] is None, letter)
        text = letter.get_content()
        check("caf\u00e9" in text and "  | 0\n" in text and "  | 9\n" in text and "do: baton retry" in text, text)
        stands_in("cat >/dev/null; echo 'no such host' >&2; exit 75")
        done = send("mail", [FINISHED], path=path, MAIL_TO="a@example.org")
        check(done.returncode == 1, done)
        one_line_error(done, "secret", "ended with 75: no such host")
        stands_in("exec sleep 1000")
        done = send("mail", [FINISHED], path=path, MAIL_TO="a@example.org", NOTIFY_TIMEOUT="0.5")
        check(done.returncode == 1, done)
        one_line_error(done, "secret", "did not end within 0.5 s")
        done = send("mail", [FINISHED], path=path)
        check(done.returncode == 2 and b"MAIL_TO is not set" in done.stderr, done)
        done = send("mail", [FINISHED], path=path, MAIL_TO="a@example.org", MAIL_SENDMAIL="/nowhere/sendmail")
        check(done.returncode == 2 and b"/nowhere/sendmail" in done.stderr, done)


def shipped_program(exe):
    """A program of ours in `notify:`, with its settings in a file: the message arrives; that the server refuses is in
    the log, from the program and from the daemon."""
    with Told(exe) as baton, Webhook(200, 500) as hook:
        write(baton.home + "/ntfy", f"# where it goes\nNTFY_URL={hook.url}\nNTFY_TOPIC='builds'\n".encode())
        baton.settings["notify"] = {"command": [os.path.join(PROGRAMS, "ntfy"), baton.home + "/ntfy"]}
        baton.configure()
        baton.start()
        baton.ticket("b", "odd")
        wait_until(lambda: hook.posts, "the message arrives", baton.said)
        check("blocked rules/t/b" in hook.posts[0][2]["message"] and hook.posts[0][2]["topic"] == "builds", hook.posts)
        baton.ticket("c", "odd")
        wait_until(lambda: "did not exit with 0" in baton.said(), "the failure is said", baton.said)
        check("ntfy: 127.0.0.1:" in baton.said() and "answered 500" in baton.said(), baton.said())


if __name__ == "__main__":
    world.main_parts((told_once, ended_with_the_daemon, limited, last_words, as_described, three_attempts, together,
                      by_operator, by_agent, root_gone, files_gone, failing, reload_goes_on, reminded, too_many, busy_folder, closed_streams,
                      finished, accepted, refused, wrongly_set, by_mail, shipped_program))
