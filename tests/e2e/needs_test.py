# SPDX-License-Identifier: Apache-2.0
"""What `baton validate` and `baton status` say of `needs`: circles with their way, names that are not there, and who is
waited for; and what is done in which order.
usage: needs_test.py BATON [PART...]"""

import json
import subprocess

import world
from world import check, write

RULE = {"name": "t", "files": "tickets/{flow}.json", "stage": "/status", "done": ["done"], "needs": "/depends_on",
        "order": "/priority", "limits": {"max_running": 1}, "react": [{"to": "ready", "run": "worker"}]}
FINISH = ["sh", "-c", 'echo "$BATON_FLOW" >>"$BATON_ROOT/order.txt"; '
                      '"$BATON_EXE" set "$BATON_STATE_FILE" \'/status="done"\'']


def flows(exe, rule=None):
    return world.World(exe, rules=[rule or RULE], agents={"worker": {"command": FINISH}})


def order(exe):
    """Needs come before the order, and the order before the time."""
    with flows(exe) as baton:
        baton.ticket("a", "ready", priority=1, depends_on=["c"])
        baton.ticket("b", "ready", priority=2)
        baton.ticket("c", "ready")
        baton.ticket("d", "ready", depends_on="rules/t/a")
        said = baton.call("status", "rules/t/a").stdout
        check("waits until rules/t/c is in a stage of `done:`" in said, said)
        done = subprocess.run(baton.run_command("--once"), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=world.PATIENCE, cwd=baton.root)
        check(done.returncode == 0, done)
        with open(baton.root + "/order.txt") as file:
            check(file.read().split() == ["rules/t/b", "rules/t/c", "rules/t/a", "rules/t/d"], file)


def circles(exe):
    """A circle is an error of each of its files, with its way; a name that is not there is a warning."""
    with flows(exe) as baton:
        baton.ticket("a", "ready", depends_on=["b"])
        baton.ticket("b", "ready", depends_on=["c", "nobody"])
        baton.ticket("c", "ready", depends_on="a")
        baton.ticket("d", "ready", depends_on="a")
        said = baton.call("validate", code=1).stdout
        for way in ("a -> b -> c -> a", "b -> c -> a -> b", "c -> a -> b -> c", "there is no flow `nobody`"):
            check(way in said, way, "is not in", said)
        check("d.json" not in said, "who only waits for a circle is blamed for it", said)
        done = subprocess.run(baton.run_command("--once"), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=world.PATIENCE, cwd=baton.root)
        check(done.returncode == 1 and "rules/t/a is blocked: conflict" in done.stderr, done)
        said = json.loads(baton.call("status", "rules/t/a", "--json").stdout)
        check("rules/t/a -> rules/t/b -> rules/t/c -> rules/t/a" in json.dumps(said), said)


def subjects(exe):
    """The same for the elements of a list."""
    rule = {**RULE, "files": "list.json", "stage": "/items/{subject}/status"}
    with flows(exe, rule) as baton:
        items = [{"id": "A", "status": "ready", "depends_on": ["B"]}, {"id": "B", "status": "done", "depends_on": "A"},
                 {"id": "C", "status": "ready", "depends_on": "X"}]
        write(baton.root + "/list.json", {"items": items})
        said = baton.call("validate", code=1).stdout
        for text in ("A -> B -> A", "B -> A -> B", "there is no subject `X`"):
            check(text in said, text, "is not in", said)
        del items[1]["depends_on"], items[2]["depends_on"]
        write(baton.root + "/list.json", {"items": items})
        baton.call("validate")
        items[0]["depends_on"] = [True]
        write(baton.root + "/list.json", {"items": items})
        check("`needs` is a name or a list of names" in baton.call("validate", code=1).stdout)


def refused(exe):
    """A rule whose `needs` nothing could fulfil is refused, with its line."""
    with flows(exe) as baton:
        for change, says in (({"done": None}, "but the rule has no `done`"),
                             ({"files": "one.json"}, "only one flow with one subject"),
                             ({"needs": "depends_on"}, "is not a pointer"),
                             ({"order": "priority"}, "is not a pointer"),
                             ({"subject_key": "x"}, "`subject_key` needs a list of subjects")):
            rule = {key: value for key, value in {**RULE, **change}.items() if value is not None}
            baton.settings["rules"] = [rule]
            baton.configure()
            done = subprocess.run([exe, "doctor", *baton.places()], stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, cwd=baton.root)
            check(done.returncode != 0 and says in done.stdout + done.stderr, change, done)


if __name__ == "__main__":
    world.main_parts([order, circles, subjects, refused])
