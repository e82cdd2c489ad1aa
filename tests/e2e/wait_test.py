# SPDX-License-Identifier: Apache-2.0
"""`--wait`, `baton wait` and `status --check`: what ends them, with which exit code, and what they say.
usage: wait_test.py BATON [PART...]
"""

import glob
import json
import os
import subprocess
import time

import world
from world import check, wait_until

RULE = {"name": "t", "files": "tickets/{flow}.json", "stage": "/status", "limits": {"max_attempts": 1},
        "react": [{"to": "ready", "run": "closer"}, {"to": "dull", "run": "silent"},
                  {"to": "hopeless", "run": "failing"}, {"to": "long", "run": "slow"}]}
CLOSE = '"$BATON_EXE" set "$BATON_STATE_FILE" \'/status="closed"\''


class Tickets(world.World):
    def __init__(self, baton):
        super().__init__(baton, rules=[RULE])
        self.settings["agents"] = {
            "closer": self.counting("sh", "-c", CLOSE),
            "silent": self.counting("true"),
            "failing": self.counting("sh", "-c", "echo no luck >&2; exit 1"),
            "slow": self.counting("sh", "-c", f"until [ -e '{self.home}/go' ]; do sleep 0.05; done; {CLOSE}")}
        self.configure()

    def paused(self, **tickets):
        """Tickets that wait for their `resume`, and a daemon."""
        for name, status in tickets.items():
            self.ticket(name, status)
            self.call("pause", "rules/t/" + name)
        self.start()

    def background(self, *arguments):
        return subprocess.Popen([self.exe, *arguments, *self.places()], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def health(self, *arguments, code):
        said = self.call("status", "--check", *arguments, code=code).stdout
        check(said.count("\n") == 1, "one line, not", said)
        return said.rstrip("\n")


def ends(exe):
    """0 when nothing is left to do, 1 when it has failed or a person has to do something."""
    with Tickets(exe) as baton:
        baton.paused(good="ready", dull="dull", hopeless="hopeless")
        baton.call("resume", "t/good", "--wait")
        check(json.load(open(baton.root + "/tickets/good.json"))["status"] == "closed", "not waited for")
        said = baton.call("resume", "t/dull", "--wait", code=1).stderr
        check(said.count("rules/t/dull is blocked (no_change): ") == 1, said)
        check("\ndo: baton retry rules/t/dull" in said, said)
        said = baton.call("resume", "t/hopeless", "--wait", code=1).stderr
        check("rules/t/hopeless is failed (attempts_exhausted): " in said and "no luck" in said, said)


def after_the_request(exe):
    """What stood before the request does not count: each retry is judged by the run that it starts."""
    with Tickets(exe) as baton:
        baton.paused(dull="dull")
        baton.call("resume", "t/dull", "--wait", code=1)
        for starts in (2, 3, 4):
            baton.call("retry", "t/dull", "--wait", code=1)
            check(len(baton.starts("rules/t/dull")) == starts, baton.starts(), "instead of", starts)
        # What is refused has no end to be waited for.
        baton.call("approve", "t/dull", "--wait", "--timeout", "1s", code=1)


def time_is_over(exe):
    with Tickets(exe) as baton:
        baton.paused(slow="long")
        said = baton.call("resume", "t/slow", "--wait", "--timeout", "1s", code=124).stderr
        check("is not done within 1s" in said, said)
        baton.call("wait", "t/slow", "--until", "running")
        said = baton.call("wait", "t/slow", "--until", "closed", "--timeout", "1s", code=124).stderr
        check("is not closed within 1s; it is running (agent): " in said, said)
        # Whether this word ever comes, nothing says.
        check("waiting for the stage or word `closed` of rules/t/slow, which is running (agent) now" in said, said)
        waits = baton.background("wait", "t/slow", "--until", "closed")
        open(baton.home + "/go", "w").close()
        check(waits.wait(world.PATIENCE) == 0, waits.communicate())


def no_daemon(exe):
    """3 when the daemon has ended while the command waits, and when there was none."""
    with Tickets(exe) as baton:
        baton.paused(slow="long")
        waits = baton.background("resume", "t/slow", "--wait")
        wait_until(lambda: baton.starts("rules/t/slow"), "the agent runs")
        baton.daemon.kill()
        baton.daemon.wait()
        out, err = waits.communicate(timeout=world.PATIENCE)
        # The daemon may have died before it answered.
        check(waits.returncode == 3 and ("no daemon serves this root" in err or "before it answered" in err),
              waits.returncode, out, err)
        baton.call("resume", "t/slow", "--wait", code=3)
        baton.call("wait", "t/slow", "--until", "closed", code=3)


def pauses(exe):
    """A pause ends no wait; the command says so once."""
    with Tickets(exe) as baton:
        baton.paused(good="ready")
        baton.call("pause", "--all")
        waits = baton.background("resume", "t/good", "--wait")
        wait_until(lambda: "rules/t/good is paused (operator): " in waits.stderr.readline(), "the pause is told")
        check(waits.poll() is None, "a pause has ended the wait")
        baton.call("resume", "--all")
        check(waits.wait(world.PATIENCE) == 0 and "paused" not in waits.stderr.read(), waits.returncode)


def words(exe):
    """--until takes a condition, a declared word or a stage, and says which one where it is both."""
    with Tickets(exe) as baton:
        baton.ticket("finished", "done")
        baton.paused(slow="long")
        for until in "done", "stage:done", "idle", "condition:idle":
            baton.call("wait", "t/finished", "--until", until)
        # Its stage is called `done`, but no rule says that this is an end.
        for until in "condition:done", "stage:idle", "open":
            baton.call("wait", "t/finished", "--until", until, "--timeout", "1s", code=124)
        baton.call("wait", "t/slow", "--until", "paused")
        baton.call("resume", "t/slow")
        baton.call("wait", "t/slow", "--until", "condition:running")
        baton.call("stop", "t/slow")
        # The awaited condition is no failure, even if it would end another wait with 1.
        baton.call("wait", "t/slow", "--until", "stopped")
        baton.call("wait", "t/slow", "--until", "stage:long")
        said = baton.call("wait", "t/slow", "--until", "closed", code=1).stderr
        check("rules/t/slow is stopped (operator): " in said, said)
        said = baton.call("wait", "t/slow", "--until", "condition:stoped", code=2).stderr
        check("did you mean condition:stopped?" in said, said)
        baton.call("wait", "t/slow", code=2)


def never(exe):
    """A word to which the flow can never come is wrong usage, where the words are known."""
    with Tickets(exe) as baton:
        baton.settings["rules"].append({"name": "c", "files": "closed/{flow}.json", "stage": "/status",
                                        "stages": ["ready", "closed"], "done": ["closed"],
                                        "react": [{"to": "ready", "run": "slow"}]})
        baton.configure()
        baton.ticket("open", "rest")
        os.makedirs(baton.root + "/closed")
        world.write(baton.root + "/closed/a.json", {"status": "ready"})
        baton.start()
        baton.call("wait", "c/a", "--until", "running")
        for until, says in (("doen", "did you mean `done`?"), ("Closed", "did you mean `closed`?"),
                            ("bogus", "it has ready, closed"), ("stage:done", "it has ready, closed"),
                            ("foo:bar", "--until takes WORD, condition:WORD or stage:WORD")):
            said = baton.call("wait", "c/a", "--until", until, "--timeout", "9s", code=2).stderr
            check(says in said, until, said)
        baton.call("wait", "c/a", "--until", "ready")
        baton.call("wait", "t/open", "--until", "doen", "--timeout", "1s", code=124)


def vanished(exe):
    """A flow without a file has left the list, and there is nothing to wait for."""
    with Tickets(exe) as baton:
        baton.start()
        # Nothing tells when the command has seen the flow: on a busy machine it may come too late.
        for moment in 0.5, 2, 8:
            baton.ticket("a", "rest")
            wait_until(lambda: any(line["flow"] == "rules/t/a" for line in baton.lines("status")), "it is there")
            waits = baton.background("wait", "t/a", "--until", "gone")
            time.sleep(moment)
            os.remove(baton.root + "/tickets/a.json")
            _, said = waits.communicate(timeout=world.PATIENCE)
            if waits.returncode != 2:
                break
        check(waits.returncode == 1 and "t/a is not there any more" in said, waits.returncode, said)


def monitors(exe):
    """`status --check`: one line, and an exit code for cron and Nagios."""
    with Tickets(exe) as baton:
        baton.ticket("good", "closed")
        check(baton.health(code=3) == "UNKNOWN - no daemon serves " + baton.root, baton.health(code=3))
        baton.start()
        check(baton.health(code=0) == "OK - 1 flow: 1 idle", baton.health(code=0))
        baton.ticket("dull", "dull")
        wait_until(lambda: baton.starts("rules/t/dull"), "the agent runs")
        baton.call("wait", "t/dull", "--until", "blocked")
        said = baton.health(code=1)
        check(said.startswith("CRITICAL - rules/t/dull is blocked (no_change): ") and "more)" not in said, said)
        baton.ticket("hopeless", "hopeless")
        wait_until(lambda: baton.starts("rules/t/hopeless"), "the agent runs")
        baton.call("wait", "t/hopeless", "--until", "failed")
        check(baton.health(code=1).endswith(" (and 1 more)"), baton.health(code=1))
        check(baton.health("t/good", code=0) == "OK - 1 flow: 1 idle", baton.health("t/good", code=0))
        check("rules/t/hopeless is failed" in baton.health("t/hopeless", code=1))
        # Who wants it so needs no person.
        baton.ticket("slow", "long")
        wait_until(lambda: baton.starts("rules/t/slow"), "the agent runs")
        baton.call("wait", "t/slow", "--until", "running")
        baton.call("stop", "t/slow")
        baton.call("wait", "t/slow", "--until", "stopped")
        check(baton.health("t/slow", code=0) == "OK - 1 flow: 1 stopped", baton.health("t/slow", code=0))
        check(baton.health("t/nothing", code=2).startswith("UNKNOWN - "), baton.health("t/nothing", code=2))
        baton.call("status", "--check", "--json", code=2)


def five_minutes(exe):
    """What keeps a whole root from working counts after five minutes, whatever the flows say."""
    with Tickets(exe) as baton:
        baton.ticket("good", "closed")
        baton.start()
        [path] = wait_until(lambda: glob.glob(baton.state + "/*/daemon.json"), "the daemon leaves word")
        for since, code in ("2026-01-22T10:00:00.000Z", 1), ("2999-01-01T00:00:00.000Z", 0):
            def told():
                # Its own status may follow at the start, so it is changed until the change is seen.
                with open(path) as file:
                    status = json.load(file)
                status["trouble"] = {"reason": "disk_full", "why": "it is full", "since": since}
                world.write(path, status)
                done = baton.call("status", "--check", code=None)
                return done if done.returncode == code else None
            said = wait_until(told, since).stdout.rstrip("\n")
            check(code == 0 or said == f"CRITICAL - {baton.root} is waiting (disk_full) since 2026-01-22T10:00:00Z: "
                                       "it is full", said)
        # A root that is away is trouble from now on, and none yet.
        os.rename(baton.root, baton.root + ".away")
        wait_until(lambda: (json.load(open(path)).get("trouble") or {}).get("reason") == "root_away", "it is away")
        baton.health(code=0)
        os.rename(baton.root + ".away", baton.root)
        wait_until(lambda: json.load(open(path))["trouble"] is None, "it is back")


if __name__ == "__main__":
    world.main_parts([ends, after_the_request, time_is_over, no_daemon, pauses, words, never, vanished, monitors, five_minutes])
