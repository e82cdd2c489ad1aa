# SPDX-License-Identifier: Apache-2.0
"""When agents start: a job that comes back night after night, entries within a span of time, and hours.
usage: hours_test.py BATON [PART...]"""

import datetime
import json
import os

import world
from world import check, wait_until

NIGHTS = 23  # more than `max_entries`
DONE = {"name": "t", "files": "tickets/{flow}.json", "stage": "/status", "done": ["idle"],
        "react": [{"to": "ready", "run": "worker"}]}
AGENT = """#!/bin/sh
echo "$BATON_FLOW" >>starts
exec "$BATON_EXE" set "$BATON_STATE_FILE" '/status="idle"'
"""


def nightly(exe, **rule):
    baton = world.World(exe, rules=[{**DONE, **rule}])
    baton.settings["agents"] = {"worker": {"command": ["./worker.sh"]}}
    world.write(baton.home + "/worker.sh", AGENT.encode())
    os.chmod(baton.home + "/worker.sh", 0o755)
    baton.configure()
    return baton


def runs(baton):
    return sum(run["outcome"] == "succeeded" for run in baton.lines("agents"))


def status(baton, name):
    return next(line for line in baton.lines("status") if line["flow"] == f"rules/t/{name}")


def night(baton, number):
    baton.call("set", f"{baton.root}/tickets/job.json", '/status="ready"')
    wait_until(lambda: runs(baton) == number and status(baton, "job")["condition"] == "done", "night", number)


def nights(exe):
    """A job whose stage is set each night, as cron does, runs each night, also over a restart."""
    with nightly(exe) as baton:
        baton.ticket("job", "idle")
        baton.start()
        wait_until(lambda: status(baton, "job")["condition"] == "done", "the job is there")
        for number in range(1, NIGHTS + 1):
            night(baton, number)
            if number == 10:
                baton.daemon.kill()
                baton.daemon.wait()
                baton.start()


def span(exe):
    """Entries within a span: the next one waits until a named time, and a person lets it go on at once."""
    with nightly(exe, max_entries={"count": 2, "per": "1d"}) as baton:
        baton.ticket("job", "idle")
        baton.start()
        for number in 1, 2:
            night(baton, number)
        baton.daemon.kill()
        baton.daemon.wait()
        baton.start()
        baton.call("set", f"{baton.root}/tickets/job.json", '/status="ready"')
        wait_until(lambda: status(baton, "job")["condition"] == "waiting" and status(baton, "job")["reason"] == "max_entries",
                   "it waits", lambda: status(baton, "job"))
        now = status(baton, "job")
        check("3 times within 1d (max_entries is 2 per 1d)" in now["why"] and now["until"], now)
        check(now["do"] == "baton resume rules/t/job", now)
        baton.call("resume", "rules/t/job")
        wait_until(lambda: runs(baton) == 3, "it goes on")


def around(minutes):
    """A span of two hours, so many minutes from now, in UTC."""
    begin = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=minutes)
    return f"{begin:%H:%M}-{begin + datetime.timedelta(hours=2):%H:%M} UTC", begin.replace(second=0, microsecond=0)


def hours(exe):
    """Outside the hours a flow waits until they begin; inside them it starts. A reload changes them."""
    later, begin = around(180)
    with nightly(exe) as baton:
        baton.settings["hours"] = later
        baton.configure()
        baton.ticket("job", "ready")
        baton.start()
        wait_until(lambda: status(baton, "job")["reason"] == "hours", "it waits", lambda: status(baton, "job"))
        now = status(baton, "job")
        check(now["condition"] == "waiting" and now["until"] == f"{begin:%Y-%m-%dT%H:%M:%SZ}", now, begin)
        check(later in now["why"], now)
        check('"reason": "hours"' in json.dumps(baton.explain("rules/t/job")), baton.explain("rules/t/job"))
        done = baton.call("run", "--once", "--max-wait", "1s", code=None)
        check(runs(baton) == 0, done.stdout)
        baton.settings["hours"] = [later, around(-60)[0]]
        baton.configure()
        baton.call("reload")
        wait_until(lambda: runs(baton) == 1, "it starts")


def unknown(exe):
    """A zone that nobody knows is an error with its place, before anything starts."""
    with nightly(exe) as baton:
        for where in ("top", "agent", "rule"):
            settings = json.loads(json.dumps(baton.settings))
            at = {"top": settings, "agent": settings["agents"]["worker"], "rule": settings["rules"][0]}[where]
            at["hours"] = "22:00-06:00 Europe/Berln"
            world.write(baton.config, settings)
            done = baton.call("doctor", code=None)
            said = done.stdout + done.stderr
            check("baton.yaml:1:" in said and "does not know the time zone 'Europe/Berln'" in said, where, said)
            check(baton.call("run", "--once", code=2).returncode == 2)
        check(not baton.lines("agents"), baton.lines("agents"))


if __name__ == "__main__":
    world.main_parts((nights, span, hours, unknown))
