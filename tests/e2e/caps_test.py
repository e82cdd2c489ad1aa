# SPDX-License-Identifier: Apache-2.0
"""Caps of many flows: what agents cost counts together in daemon.db, over roots and restarts; a person raises a cap; costs
shows what was spent. usage: caps_test.py BATON"""

import glob
import json
import os
import sqlite3
import subprocess
import time

import world
from world import check, wait_until

SAYS = 'echo \'{"type":"result","total_cost_usd":9,"usage":{"input_tokens":7,"output_tokens":3}}\''


def status(baton, flow):
    return next(line for line in baton.lines("status") if line["flow"] == flow)


def capped(baton, flow):
    told = status(baton, flow)
    return (told["condition"], told["reason"]) == ("blocked", "cap_reached") and told


def rows(baton):
    """None before the daemon has made the file and its tables."""
    try:
        db = sqlite3.connect(f"file:{baton.state}/daemon.db?mode=ro", uri=True)
        found = db.execute("SELECT run, root, agent, ended, cost, tokens FROM runs ORDER BY started").fetchall()
        db.close()
        return found
    except sqlite3.OperationalError:
        return []


def notices(path):
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return [each for line in file if line.strip() for each in json.loads(line)]


def cost_of_a_day(exe):
    """Four tickets of $9 and a cap of $20 a day: the third passes it, and the fourth waits until it is raised."""
    with world.World(exe, command=("sh", "-c", SAYS), limits={"cost_per_day": 20, "max_running": 1}) as baton:
        told = baton.home + "/told"
        baton.settings["notify"] = {"command": ["sh", "-c", f"cat >>{told}; echo >>{told}"]}
        baton.configure()
        baton.start()
        for name in "abcdef":
            baton.ticket(name, "ready")
        wait_until(lambda: sum(bool(capped(baton, f"rules/t/{name}")) for name in "abcdef") == 3,
                   "three flows wait at the cap", lambda: baton.call("status").stdout)
        check(len(baton.starts()) == 3, baton.starts())
        flow = next(f"rules/t/{name}" for name in "abcdef" if capped(baton, f"rules/t/{name}"))
        one = capped(baton, flow)
        check("$27.00 of $20.00 in the last 24 hours (cost_per_day of the whole daemon)" in one["why"], one)
        check(one["until"] and one["do"] == "baton resume --all --raise cost_per_day=20.00", one)
        check(sum(row[4] for row in rows(baton)) == 27, rows(baton))
        # Many flows, one line and one message.
        wait_until(lambda: any(each["event"] == "cap_reached" for each in notices(told)), "people hear of it")
        time.sleep(2)
        words = [each["event"] for each in notices(told)]
        check(words.count("cap_reached") == 1 and "blocked" not in
              [each["event"] for each in notices(told) if each["reason"] == "cap_reached"], notices(told))
        check([line["event"] for line in baton.lines("events")].count("cap_reached") == 1, baton.lines("events"))
        # It cannot be lifted without a raise, and the answer says how.
        answer = baton.call("resume", flow, code=None)
        check(answer.returncode == 1 and one["do"] in answer.stderr, answer)
        answer = baton.call("resume", "--all")
        check(one["do"] in answer.stdout, answer)
        check(len(baton.starts()) == 3, "something was started", baton.starts())
        for wrong in ("cost_per_day", "cost_per_day=", "cost_per_day=-1", "cost_per_day=nan", "cost_per_day=inf", "cost_per_day=1e400",
                      "cost_per_week=1", "tokens_per_day=1"):
            baton.call("resume", "--all", "--raise", wrong, code=2)
        check("higher until" in baton.call("resume", flow, "--raise", "cost_per_day=8").stdout, "it is raised")
        wait_until(lambda: any(line["event"] == "cap_raised" for line in baton.lines("events")), "the raise is an event")
        raised = [line for line in baton.lines("events") if line["event"] == "cap_raised"]
        check(len(raised) == 1 and "cost_per_day of the whole daemon is raised by $8.00 until" in raised[0]["why"], raised)
        answer = baton.call("resume", "--all", "--raise", "max_running=2", code=2)
        check("baton reload" in answer.stderr, answer)
        baton.call("resume", "--all", "--raise", "spawns_per_day=1.5", code=2)
        wait_until(lambda: len(baton.starts()) == 4, "one more starts", lambda: baton.call("status").stdout)
        wait_until(lambda: len([1 for row in rows(baton) if row[3]]) == 4, "it has ended")
        time.sleep(1)
        check(len(baton.starts()) == 4, "more were started than the raise allows", baton.starts())
        check("$36.00 of $28.00" in next(capped(baton, f"rules/t/{name}")["why"] for name in "abcdef" if capped(baton, f"rules/t/{name}")),
              baton.call("status").stdout)
        costs = baton.lines("costs", "--by", "agent")
        check([(row["name"], row["runs"], row["cost"], row["tokens"], row["without_cost"]) for row in costs] ==
              [("worker", 4, 36, 40, 0)], costs)
        fits = subprocess.run([exe, "validate", "-", "--schema", "output/costs"], input=json.dumps(costs[0]), text=True, capture_output=True)
        check(fits.returncode == 0, fits)
        check(len(baton.lines("costs")) == 4 and len(baton.lines("costs", "--by", "day")) in (1, 2), baton.lines("costs"))
        check("36.00 USD" in baton.call("costs", "--since", "1h", "--by", "provider").stdout, baton.call("costs").stdout)
        baton.call("costs", "--by", "colour", code=2)


def kept_by_kill(exe):
    """A daemon that is killed loses no row, and the next one settles those of runs that nobody began."""
    with world.World(exe, command=("sh", "-c", SAYS), limits={"cost_per_day": 15, "max_running": 1}) as baton:
        daemon = baton.start()
        baton.ticket("a", "ready")
        baton.ticket("b", "ready")
        wait_until(lambda: len([1 for row in rows(baton) if row[3]]) == 2, "both have ended")
        daemon.kill()
        daemon.wait()
        folder = rows(baton)[0][1]
        with sqlite3.connect(baton.state + "/daemon.db") as db:
            # One that never began, and one whose end was not written.
            db.execute("INSERT INTO runs SELECT 'ffffffffffffffffffffffffffffffff', root, flow, configuration, role, agent, rule, dialect, "
                       "provider, shell, started, NULL, NULL, NULL FROM runs LIMIT 1")
            db.execute("UPDATE runs SET ended = NULL, cost = NULL, tokens = NULL WHERE run = ?", (rows(baton)[0][0],))
        check(folder in glob.glob(baton.state + "/*"), folder)
        baton.start()
        wait_until(lambda: [row[4] for row in rows(baton)] == [9, 9], "the rows are settled", lambda: rows(baton))
        baton.ticket("c", "ready")
        wait_until(lambda: capped(baton, "rules/t/c"), "the cap still counts them", lambda: baton.call("status").stdout)


def locked(exe):
    """While another process has daemon.db, nothing starts; then all of it does."""
    with world.World(exe, command=("sh", "-c", SAYS)) as baton:
        baton.start()
        baton.ticket("a", "ready")
        wait_until(lambda: len(baton.starts()) == 1, "the first one starts")
        db = sqlite3.connect(baton.state + "/daemon.db", isolation_level=None)
        db.execute("BEGIN IMMEDIATE")
        baton.ticket("b", "ready")
        wait_until(lambda: any(line["flow"] == "rules/t/b" for line in baton.lines("status")), "it is seen")
        time.sleep(2)
        check(len(baton.starts()) == 1, "something was started", baton.starts())
        db.execute("COMMIT")
        db.close()
        wait_until(lambda: len(baton.starts()) == 2, "it starts then", lambda: baton.call("status").stdout)


def once(exe):
    """`run --once` ends with 1 at a cap of a day, and says until when."""
    with world.World(exe, command=("sh", "-c", SAYS), limits={"spawns_per_day": 1}) as baton:
        baton.ticket("a", "ready")
        baton.once()
        baton.ticket("b", "ready")
        done = baton.once()
        check(done.returncode == 1 and "cap_reached" in done.stdout + done.stderr, done)
        check(len(baton.starts()) == 1, baton.starts())


def lost(exe):
    """An emptied daemon.db stops all starts. A removed one is made again, with the runs of the last day in it."""
    with world.World(exe, command=("sh", "-c", SAYS), limits={"cost_per_day": 15, "max_running": 1}) as baton:
        baton.start()
        for name in "abc":
            baton.ticket(name, "ready")
        wait_until(lambda: sum(bool(capped(baton, f"rules/t/{name}")) for name in "abc") == 1, "the cap is reached",
                   lambda: baton.call("status").stdout)
        file = baton.state + "/daemon.db"
        with open(file, "r+b") as emptied:
            emptied.truncate(0)
        baton.ticket("d", "ready")
        wait_until(lambda: any(line["reason"] == "cannot_start" for line in baton.lines("status")), "nothing may start",
                   lambda: baton.call("status").stdout)
        time.sleep(2)
        one = status(baton, "rules/t/d")
        check("daemon.db is damaged" in one["why"] and one["do"] == f"mv {file} {file}.damaged", one)
        check(one["condition"] == "blocked", one)
        with open(baton.home + "/daemon.log") as log:
            said = [line for line in log if f"mv {file} {file}.damaged" in line]
        check(len(said) == 1 and " warning " in said[0], said)
        check(len(baton.starts()) == 2, "something was started", baton.starts())
        os.rename(file, file + ".damaged")
        wait_until(lambda: capped(baton, "rules/t/d"), "the runs count again", lambda: baton.call("status").stdout)
        check(len(baton.starts()) == 2 and [row[4] for row in rows(baton)] == [9, 9], baton.starts(), rows(baton))
        check([line["event"] for line in baton.lines("events")].count("runs_counted_again") == 1, baton.lines("events"))


def once_damaged(exe):
    """`run --once` gives up when daemon.db is damaged, and waits no longer than it may when it is locked."""
    with world.World(exe, command=("sh", "-c", SAYS)) as baton:
        baton.ticket("a", "ready")
        world.write(baton.state + "/daemon.db", b"x" * 8192)
        done = subprocess.run(baton.run_command("--once"), capture_output=True, text=True, timeout=world.PATIENCE)
        check(done.returncode == 3 and "nothing can start" in done.stderr and "move it away" in done.stderr, done)
        os.remove(baton.state + "/daemon.db")
        baton.once()
        baton.ticket("b", "ready")
        db = sqlite3.connect(baton.state + "/daemon.db", isolation_level=None)
        db.execute("BEGIN EXCLUSIVE")
        done = subprocess.run(baton.run_command("--once", "--max-wait", "3s"), capture_output=True, text=True,
                              timeout=world.PATIENCE)
        db.close()
        check(done.returncode == 3 and "nothing can start" in done.stderr, done)
        check(len(baton.starts()) == 1, baton.starts())


def unusable_cost(exe):
    """A run whose cost cannot be used counts with the average of its agent, so that the cap still holds."""
    with world.World(exe, limits={"cost_per_day": 30, "max_running": 1}) as baton:
        cost = baton.home + "/cost"
        baton.settings["agents"]["worker"] = baton.counting(
            "sh", "-c", f'echo "{{\\"type\\":\\"result\\",\\"total_cost_usd\\":$(cat {cost})}}"')
        baton.configure()
        for name, says in (("a", "9"), ("b", "-5"), ("c", "-5"), ("d", "-5"), ("e", "-5"), ("f", "-5")):
            world.write(cost, says.encode())
            baton.ticket(name, "ready")
            done = baton.once()
        check(len(baton.starts()) == 4 and "$36.00 of $30.00" in done.stdout + done.stderr, baton.starts(), done)


if __name__ == "__main__":
    world.main_parts((cost_of_a_day, kept_by_kill, locked, once, lost, once_damaged, unusable_cost))
