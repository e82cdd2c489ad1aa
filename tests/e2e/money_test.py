# SPDX-License-Identifier: Apache-2.0
"""Limits that an agent cannot leave by making flows, subjects or names: each part is one way in which an agent made
starts or cost without end. usage: money_test.py BATON"""

import os
import time

import world
from world import check, wait_until

CAP = 5
PAID = """file=$BATON_STATE_FILE
folder=${file%/*}
name=${file##*/}
name=${name%.json}
next=$((name + 1))
put() { echo "$2" >"$folder/.$1"; mv "$folder/.$1" "$folder/$1.json"; }
"""


class Paid(world.World):
    """The agent is a shell script; `$file` is its ticket, `$name` its name, `$folder` where tickets are."""

    def __init__(self, baton, script, limits, rules=None, **more):
        limits = {"max_running": 2, "spawns_per_hour": CAP, "cost_per_hour": 0, **limits}
        super().__init__(baton, rules=rules, limits=limits, **more)
        with open(self.home + "/paid.sh", "w") as file:
            file.write(PAID + script)
        self.settings["agents"] = {"worker": self.counting("sh", self.home + "/paid.sh")}
        self.configure()

    def capped(self):
        return [line for line in self.lines("status") if line["reason"] == "cap_reached"]

    def stops_at(self, most, ready=None):
        """The agent works until a cap is reached, and then never again."""
        self.start()
        self.ticket("1", "ready") if ready is None else world.write(self.root + "/tickets/1.json", ready)
        wait_until(self.capped, "a cap is reached", lambda: self.call("status").stdout)
        time.sleep(3)
        check(0 < len(self.starts()) <= most, len(self.starts()), "starts, allowed are", most, self.call("status").stdout)
        return self.capped()


def tickets(exe):
    """One agent writes 300 tickets."""
    script = ("[ \"$name\" = 1 ] && for i in $(seq 2 301); do put $i '{\"status\": \"ready\"}'; done\n"
              "put $name '{\"status\": \"done\"}'")
    with Paid(exe, script, {"spawns_per_day": 20}) as baton:
        held = baton.stops_at(20)
        check(len(baton.starts()) == 20, baton.starts())
        check("20 of 20 starts in the last 24 hours (spawns_per_day of the whole daemon)" in held[0]["why"], held[0])


def flows(exe):
    """The same, with a cap on flows."""
    script = ("[ \"$name\" = 1 ] && for i in $(seq 2 301); do put $i '{\"status\": \"ready\"}'; done\n"
              "put $name '{\"status\": \"done\"}'")
    with Paid(exe, script, {"max_flows": 7}) as baton:
        held = baton.stops_at(7)
        check("flows (max_flows of the whole daemon)" in held[0]["why"], held[0])
        check([line["event"] for line in baton.lines("events")].count("cap_reached") == 1, baton.lines("events"))


def subjects(exe):
    """One file gets 300 subjects."""
    script = ("[ \"$BATON_SUBJECT\" = a ] || exit 0\n"
              "all='{\"a\": {\"status\": \"ready\"}'; for i in $(seq 300); do all=\"$all, \\\"s$i\\\": {\\\"status\\\": \\\"ready\\\"}\"; done\n"
              "put $name \"$all}\"")
    rules = [{**world.World.TICKETS, "stage": "/{subject}/status"}]
    with Paid(exe, script, {}, rules) as baton:
        baton.stops_at(CAP, {"a": {"status": "ready"}})


def recreate(exe):
    """The agent removes its file and makes it again."""
    script = ("rm \"$file\"; sleep 0.3; put $name '{\"status\": \"other\"}'; sleep 0.3\n"
              "rm \"$file\"; sleep 0.3; put $name \"{\\\"status\\\": \\\"ready\\\", \\\"n\\\": $$}\"")
    with Paid(exe, script, {}) as baton:
        baton.stops_at(CAP)


def forgotten(exe):
    """The same, and the agent has baton forget the flow in between. It is refused, and the counts stay."""
    script = ("rm \"$file\"; sleep 0.3; for i in 1 2 3; do \"$BATON_EXE\" forget \"$BATON_FLOW\" --root \"$BATON_ROOT\" >>\"$folder/../../said\" 2>&1; done\n"
              "put $name '{\"status\": \"other\"}'; sleep 0.3; put $name \"{\\\"status\\\": \\\"ready\\\", \\\"n\\\": $$}\"")
    with Paid(exe, script, {}) as baton:
        baton.stops_at(CAP)
        with open(baton.home + "/said") as file:
            said = file.read()
        check("may not use `forget`" in said and "Ask a person" in said, said)
        check(all(line["why"].startswith("forget by the agent ") for line in baton.lines("events") if line["event"] == "refused"),
              baton.lines("events"))
        # A person may.
        os.remove(baton.root + "/tickets/1.json")
        wait_until(lambda: [line for line in baton.lines("status", "--all") if line["condition"] in ("gone", "idle")], "its file is gone",
                   lambda: baton.call("status", "--all").stdout)
        baton.call("forget", "rules/t/1")


def loop(exe):
    """The agent leaves the stage and enters it again."""
    script = "put $name '{\"status\": \"other\"}'; sleep 0.3; put $name \"{\\\"status\\\": \\\"ready\\\", \\\"n\\\": $$}\""
    with Paid(exe, script, {}) as baton:
        baton.stops_at(CAP)


def rename(exe):
    """The agent renames its own ticket."""
    with Paid(exe, "mv \"$file\" \"$folder/$next.json\"", {}) as baton:
        held = baton.stops_at(CAP)
        check("as its file was named before" in held[0]["why"], held[0])


def rename_anew(exe):
    """The agent replaces its ticket and renames it at once, so that nobody has seen that file under its first name."""
    script = "put $name \"{\\\"status\\\": \\\"ready\\\", \\\"n\\\": $$}\"; mv \"$file\" \"$folder/$next.json\""
    with Paid(exe, script, {}) as baton:
        baton.stops_at(CAP)


def rename_at_rest(exe):
    """A file is renamed while no daemon runs."""
    with Paid(exe, "true", {"spawns_per_hour": 1}) as baton:
        daemon = baton.start()
        baton.ticket("1", "ready")
        wait_until(lambda: len(baton.starts()) == 1, "it starts")
        baton.idle()
        daemon.kill()
        daemon.wait()
        os.rename(baton.root + "/tickets/1.json", baton.root + "/tickets/2.json")
        baton.start()
        wait_until(baton.capped, "the new name has the count", lambda: baton.call("status").stdout)
        check(len(baton.starts()) == 1, baton.starts())


def link(exe):
    """The agent gives its ticket a second name and removes the first one."""
    with Paid(exe, "ln \"$file\" \"$folder/$next.json\"; rm \"$file\"", {}) as baton:
        baton.stops_at(CAP)


def cost(exe):
    """Tickets that cost $40 each, and a cap of $100 a day; two may be at work when it is reached."""
    script = ("[ \"$name\" = 1 ] && for i in $(seq 2 60); do put $i '{\"status\": \"ready\"}'; done\n"
              "put $name '{\"status\": \"done\"}'; echo '{\"total_cost_usd\": 40}'")
    with Paid(exe, script, {"cost_per_day": 100}) as baton:
        baton.stops_at(4)


def cost_renamed(exe):
    """An agent that costs $40 renames its ticket, with a cap of $50 an hour for each flow."""
    script = "echo '{\"type\": \"result\", \"total_cost_usd\": 40}'; sleep 0.5; mv \"$file\" \"$folder/$next.json\"; sleep 0.5"
    with Paid(exe, script, {"cost_per_hour": 50, "spawns_per_hour": 100, "max_running": 1}) as baton:
        baton.stops_at(2)


if __name__ == "__main__":
    world.main_parts((tickets, flows, subjects, recreate, forgotten, loop, rename, rename_anew, rename_at_rest, link, cost, cost_renamed))
