"""`notify:`: what is still true after a restart is not told again, and no program of it outlives its limit or the
daemon. usage: notify_test.py BATON"""

import json
import os
import signal
import subprocess
import threading

import world
from world import check, wait_until, write

# Each call takes its object down; what it does besides is said by the file `how` beside it.
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

    def told(self, event=None, flow=None):
        if not os.path.exists(self.home + "/told"):
            return []
        with open(self.home + "/told") as file:
            objects = [json.loads(line) for line in file.read().splitlines() if line.endswith("}")]
        return [each for each in objects
                if event in (None, each["event"]) and flow in (None, each["flow"])]

    def end(self, how):
        self.daemon.send_signal(how)
        return self.daemon.wait(timeout=world.PATIENCE)


def told_once(exe):
    """Notices, holds and conflicts that stay true are told once, whatever ends the daemon."""
    with Told(exe) as baton:
        baton.ticket("a", "done")
        baton.ticket("b", "odd")
        baton.ticket("c", "nonsense", status2=1)
        write(baton.root + "/tickets/bad.json", b"[]")
        for name in "ab":
            write(f"{baton.root}/two/x/{name}.json", {"status": "rest"})
        baton.start()
        kinds = {("notice", "rules/t/a"), ("held", "rules/t/b"), ("rejected", "rules/t/bad"), ("conflict", "rules/two/x")}

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
                with open(baton.home + "/daemon.log") as log:
                    check("not told through notify: 1 " in log.read(), "what was not told is not said")
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


def as_described(exe):
    """Each object is the line of the history with the same number, of the root it names, and fits its schema."""
    with Told(exe) as baton:
        baton.start()
        baton.ticket("a", "done")
        baton.ticket("b", "odd")
        wait_until(lambda: baton.told("notice") and baton.told("held"), "both are told", baton.told)
        history = {each["seq"]: each for each in baton.lines("events")}
        for each in baton.told():
            check(each == history.get(each["seq"]), each, "is not line", each["seq"], "of the history")
            check(each["root"] == os.path.realpath(baton.root), each)
            done = subprocess.run([exe, "validate", "-", "--schema", "output/notify"], input=json.dumps(each),
                                  capture_output=True, text=True)
            check(done.returncode == 0, each, done.stdout, done.stderr)


def failing(exe):
    """A program that fails is said once in the log, and once that it works again."""
    with Told(exe, timeout="1s") as baton:
        def log():
            with open(baton.home + "/daemon.log") as file:
                return file.read()
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
        write(baton.home + "/gone.sh", b"#!/nowhere\n")
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
        for name in "abc":
            baton.ticket(name, "done")
        wait_until(lambda: len([each for each in baton.lines("events") if each["event"] == "notice"]) == 3)
        wait_until(lambda: len(baton.told()) == 1)
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
    """Whoever is asked is told so, and again as often as the configuration says."""
    with Told(exe) as baton:
        example = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/ml_workflow")
        agent = {"command": [example + "/agent.sh"]}
        baton.settings["agents"] = {"planner": agent, "validator": agent, "programmer": agent}
        baton.settings["dialects"] = {"ml_workflow": {"approvals": ["plan"], "reminders": "1s"}}
        baton.configure()
        baton.start()
        check(baton.call("start", "churn", "--dialect", "ml_workflow", "--requirements", "x").returncode == 0)
        wait_until(lambda: len(baton.told("approval_wanted")) == 3, "the question and two reminders", baton.told)
        check("(waiting for " in baton.told("approval_wanted")[-1]["why"], baton.told)


def too_many(exe):
    """What is dropped because too much waits is counted with what is left untold."""
    with Told(exe) as baton:
        baton.how("sleep 1000\n")
        os.mkdir(baton.root + "/tickets")
        for number in range(1300):
            write(f"{baton.root}/tickets/bad{number}.json", b"[]")
        baton.start()
        wait_until(lambda: baton.told("rejected"), "the first one is told")
        wait_until(lambda: len([each for each in baton.lines("events") if each["event"] == "rejected"]) == 1300,
                   "all are seen")
        baton.end(signal.SIGTERM)
        with open(baton.home + "/daemon.log") as log:
            check("not told through notify: 1300 events" in log.read(), "the end does not say how many were told to nobody")


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
            check(file.read().count("\n") == len(baton.told()), "no program of it was cut short")
        state = f"{baton.state}/{os.listdir(baton.state)[0]}"
        for name in ("", *os.listdir(state)):
            is_so, folder = os.stat(f"{state}/{name}").st_mode & 0o777, os.path.isdir(f"{state}/{name}")
            private = name == "configuration.json"
            check(is_so == (0o750 if folder else 0o600 if private else 0o640), name, oct(is_so))


def finished(exe):
    """That a flow has come to its end is told, once, whatever ends the daemon."""
    with Told(exe) as baton:
        for name, script in (("well", "true"), ("badly", "echo 'FATAL_ERROR: no way'")):
            write(f"{baton.root}/.loops/{name}.yaml", f"name: {name}\ninitial: a\nstates:\n"
                  f"  a: {{action: \"{script}\", next: done}}\n  done: {{terminal: true}}\n".encode())
        baton.settings["dialects"] = {"fsm_loop": {}}
        baton.configure()
        baton.start()
        for name in ("well", "badly"):
            check(baton.call("start", name).returncode == 0)
        wait_until(lambda: len(baton.told("finished")) == 2, "both are told", baton.told)
        baton.end(signal.SIGKILL)
        baton.start()
        baton.canary()
        baton.idle()
        told = {each["flow"]: each["why"] for each in baton.told("finished")}
        check(len(baton.told("finished")) == 2 and told["fsm_loop/well"] == "completed", baton.told("finished"))
        check(told["fsm_loop/badly"].startswith("failed: ") and "no way" in told["fsm_loop/badly"], told)


def test(exe):
    for part in (told_once, ended_with_the_daemon, limited, last_words, as_described, failing, reload_goes_on, reminded,
                 too_many, busy_folder, closed_streams, finished):
        part(exe)
        print(part.__name__, "passed", flush=True)


if __name__ == "__main__":
    world.main(test)
