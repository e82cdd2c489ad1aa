# SPDX-License-Identifier: Apache-2.0
"""The exit status of `run --once`, of `start --wait`, and what is said: work that was due and is not done is never 0.
usage: once_test.py BATON [PART...]"""

import json
import os
import subprocess

import world
from world import check, write

DONE = {"name": "t", "files": "tickets/{flow}.json", "stage": "/status", "done": ["done"],
        "react": [{"to": "ready", "run": "worker"}]}
FINISH = ["sh", "-c", '"$BATON_EXE" set "$BATON_STATE_FILE" \'/status="done"\'']


def agent(*command):
    return {"worker": {"command": list(command)}}


def once(baton, *more):
    done = subprocess.run(baton.run_command("--once", *more), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=world.PATIENCE, cwd=baton.root)
    return done.returncode, done.stderr


def gives(baton, code, *says, more=()):
    got, said = once(baton, *more)
    check(got == code, "run --once gave", got, "and not", code, said)
    for each in says:
        check(each in said, each, "is not in", said)
    return said


def done_and_idle(exe):
    """A flow that reached a declared end, and one that has nothing due."""
    with world.World(exe, rules=[DONE], agents=agent(*FINISH)) as baton:
        baton.ticket("a", "ready")
        baton.ticket("b", "draft")
        said = gives(baton, 0, "2 flows: 1 done, 1 idle")
        check("rules/t/a is" not in said, "a flow that is done has a line", said)


def nothing_done(exe):
    """The four ways in which an agent does not do its work."""
    with world.World(exe, rules=[DONE], agents=agent("true")) as baton:
        baton.ticket("a", "ready")
        gives(baton, 1, "rules/t/a is blocked: no_change", "do: baton retry rules/t/a", "1 flow: 1 blocked")
    with world.World(exe, rules=[DONE], agents=agent("./no-such-program")) as baton:
        baton.ticket("a", "ready")
        gives(baton, 1, "rules/t/a is blocked: agent_unusable", "no-such-program")
    with world.World(exe, rules=[DONE], agents={"other": {"command": ["true"]}}) as baton:
        baton.ticket("a", "ready")
        gives(baton, 1, "rules/t/a is blocked: role_missing")
    with world.World(exe, rules=[DONE], agents=agent(*FINISH)) as baton:
        write(baton.root + "/tickets/a.json", b'{"status":"ready",}\n')
        gives(baton, 1, "rules/t/a is blocked: file_rejected", "tickets/a.json:1:")


def old_failures(exe):
    """What had failed before this call, and did not move, is no news."""
    with world.World(exe, rules=[DONE], agents=agent("false"),
                     limits={"backoff": "10ms", "max_backoff": "20ms"}) as baton:
        baton.ticket("a", "ready")
        gives(baton, 1, "rules/t/a is failed: attempts_exhausted")
        baton.settings["agents"] = agent(*FINISH)
        baton.configure()
        baton.ticket("b", "ready")
        gives(baton, 0, "rules/t/a is failed: attempts_exhausted", "2 flows: 1 failed, 1 done")


def narrowed(exe):
    """--flow and paths say whose end counts; --max-wait how long a pause may be."""
    with world.World(exe, rules=[DONE], agents=agent(*FINISH)) as baton:
        baton.ticket("a", "ready")
        write(baton.root + "/tickets/b.json", b'{"status":"ready",}\n')
        gives(baton, 1, "rules/t/b is blocked")
        gives(baton, 0, "1 flow: 1 done", more=("--flow", "t/a"))
        gives(baton, 0, "1 flow: 1 done", more=("tickets/a.json",))
        gives(baton, 1, "rules/t/b is blocked", more=("tickets",))
        write(baton.root + "/notes.txt", b"")
        for dry in (), ("--dry-run",):
            gives(baton, 2, "there is no flow t/c", more=("--flow", "t/c", *dry))
            gives(baton, 2, "there is no such file or folder; did you mean", more=("tickets/aa.json", *dry))
            gives(baton, 2, "notes.txt: belongs to no flow", more=("notes.txt", *dry))
    with world.World(exe, rules=[DONE], agents=agent("false"), limits={"backoff": "1h", "max_backoff": "2h"}) as baton:
        baton.ticket("a", "ready")
        gives(baton, 1, "rules/t/a is waiting: back_off until 20", more=("--max-wait", "5s"))
    with world.World(exe) as baton:
        got, said = once(baton, "--max-wait", "soon")
        check(got == 2 and "--max-wait takes a duration" in said, got, said)
        done = subprocess.run([baton.exe, "run", *baton.places(), "--flow", "x"], capture_output=True, text=True)
        check(done.returncode == 2 and "need --once" in done.stderr, done)


def own_condition(exe):
    """A flow whose own condition is not met had nothing due: it is listed and counts as 0."""
    rule = {**DONE, "react": [{"to": "ready", "when": [{"pointer": "/free", "equals": True}], "run": "worker"}]}
    with world.World(exe, rules=[rule], agents=agent(*FINISH)) as baton:
        baton.ticket("a", "ready", free=False)
        gives(baton, 0, "rules/t/a is waiting: condition", "1 flow: 1 waiting")


def paused(exe):
    with world.World(exe, rules=[DONE], agents=agent(*FINISH)) as baton:
        baton.ticket("a", "draft")
        gives(baton, 0)
        baton.call("pause", "t/a")
        baton.ticket("a", "ready")
        gives(baton, 1, "rules/t/a is paused: operator", "do: baton resume rules/t/a")


def without_configuration(exe):
    with world.World(exe) as baton:
        os.remove(baton.config)
        for dry in (), ("--dry-run",):
            done = subprocess.run([baton.exe, "run", "--once", *dry, "--state-dir", baton.state], cwd=baton.root, text=True,
                                  capture_output=True,
                                  env={**os.environ, "HOME": baton.home, "XDG_CONFIG_HOME": baton.home})
            check(done.returncode == 2 and "baton init" in done.stderr, done)


def loops(exe):
    """A loop that gives up or is stopped is no success, whoever waits for it."""
    loop = ("name: fix\ninitial: check\nmax_steps: 2\nstates:\n  check:\n    action: \"%s\"\n    on_yes: done\n"
            "    on_no: check\n  done:\n    terminal: true\n")
    with world.World(exe, rules=[]) as baton:
        baton.settings = {**baton.settings, "dialects": {"fsm_loop": {}}}
        del baton.settings["rules"]
        baton.configure()
        write(baton.root + "/.loops/fix.yaml", (loop % "false").encode())
        write(baton.root + "/.loops/long.yaml", (loop % "sleep 100").replace("fix", "long").encode())
        write(baton.root + "/.loops/well.yaml", (loop % "true").replace("fix", "well").encode())
        baton.start()
        done = baton.call("start", "fix", "--wait", code=1)
        check("failed (max_steps)" in done.stderr, done)
        baton.call("start", "well", "--wait", code=0)
        waits = subprocess.Popen([baton.exe, "start", "long", "--wait", *baton.places()], stdin=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True)
        world.wait_until(lambda: any(each["condition"] == "running" for each in baton.lines("status")), "it runs")
        baton.call("stop", "long")
        _, said = waits.communicate(timeout=world.PATIENCE)
        check(waits.returncode == 1 and "stopped (operator)" in said, waits.returncode, said)
        check({json.loads(line)["flow"]: json.loads(line)["condition"]
               for line in baton.call("status", "--json").stdout.splitlines()} ==
              {"fsm_loop/fix": "failed", "fsm_loop/long": "stopped", "fsm_loop/well": "done"}, baton.lines("status"))


PARTS = (done_and_idle, nothing_done, old_failures, narrowed, own_condition, paused, without_configuration, loops)

if __name__ == "__main__":
    world.main_parts(PARTS)
