# SPDX-License-Identifier: Apache-2.0
"""Layouts of people who have read docs/rules.md only, with agents that know nothing of each other, while the
daemon is killed again and again: files that are moved from folder to folder, a log of lines, YAML with a map of
subjects, stages that are numbers and truth values beside a busy writer, several documents with conditions across
them and a person's decision, jobs that others claim. Each entry is worked off once.
usage: layouts_test.py BATON [PART...]"""

import collections
import json
import os
import random
import signal
import subprocess
import threading
import time

import world
from world import check, wait_until, write

SEED = int(os.environ.get("BATON_SEED", "1"))
MOST_KILLS = 40


def load(path):
    """A careful reader: what is being written is read again. {} when there is nothing."""
    def read():
        try:
            with open(path) as file:
                return [json.load(file)]
        except FileNotFoundError:
            return [{}]
        except ValueError:
            return None
    return wait_until(read, path, "is never whole")[0]


class Layout(world.World):
    """Rules, and a script for each role."""

    def __init__(self, baton, rules, scripts):
        super().__init__(baton, rules=rules, agents={"nobody": {"command": ["false"]}})
        self.settings["agents"] = {}
        for role, script in scripts.items():
            path = f"{self.home}/{role}.sh"
            with open(path, "w") as file:
                file.write("#!/bin/sh\nsleep 0.1\n" + script)
            os.chmod(path, 0o755)
            self.settings["agents"][role] = self.counting(path)
        self.configure()

    def path(self, *names):
        return os.path.join(self.root, *names)

    def killed_until(self, claim):
        """Kills the daemon again and again until the claim is true, or often enough."""
        chance, kills = random.Random(SEED), 0
        while not claim():
            if kills == MOST_KILLS:
                wait_until(claim, lambda: self.call("status").stdout)
                break
            time.sleep(chance.uniform(0.005, 0.2))
            self.daemon.send_signal(signal.SIGKILL)
            self.daemon.wait()
            kills += 1
            with open(self.home + "/daemon.log", "ab") as log:
                self.daemon = subprocess.Popen(self.run_command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        print("killed", kills, "times")

    def check_starts(self, expected):
        """{(flow, subject, purpose): how often}, all of them first attempts."""
        wait_until(self.serves, "the last daemon serves")
        self.idle()
        found = collections.Counter((each.flow, each.subject, each.purpose) for each in self.starts())
        check(found == expected, "too many:", found - expected, "too few:", expected - found)
        check({each.attempt for each in self.starts()} <= {"1"}, "a second attempt:", self.starts())


def counted(flows, subjects, purposes, times=1):
    return collections.Counter({(flow, subject, purpose): times
                                for flow in flows for subject in subjects for purpose in purposes})


def board(exe):
    """Where a card stands is the folder it lies in; each goes round twice, the second time under the old name."""
    def column(name, role):
        return {"name": name, "files": {"card": {"path": f"board/{name} it/{{flow}}.json", "optional": True}},
                "stage": "card:/type", "react": [{"to": "card", "run": role, "purpose": name}]}
    scripts = {"dev": 'mv "$BATON_STATE_FILE" "$BATON_ROOT/board/review it/"\n',
               "rev": """b="$BATON_ROOT/board" f="$BATON_STATE_FILE"
grep -q once "$f" && exec mv "$f" "$b/done/"
sed -i 's/card"/card", "seen": "once"/' "$f"
mv "$f" "$b/do it/"
"""}
    with Layout(exe, [column("do", "dev"), column("review", "rev")], scripts) as w:
        for folder in ("do it", "review it", "done"):
            os.makedirs(w.path("board", folder))
        w.start()
        cards = [f"card{number}" for number in range(8)]
        for card in cards:
            write(w.path("board/do it", card + ".json"), {"type": "card"})
        w.killed_until(lambda: len(os.listdir(w.path("board/done"))) == len(cards))
        w.check_starts(counted([f"rules/do/{card}" for card in cards], ["main"], ["do"], 2) +
                       counted([f"rules/review/{card}" for card in cards], ["main"], ["review"], 2))


def lines(exe):
    """The last line of a log says where the work stands; whoever writes it does so in two halves."""
    rule = {"name": "log", "files": "log/{flow}.jsonl", "stage": "/state",
            "react": [{"to": "ping", "run": "ping"}, {"to": "pong", "run": "pong"}]}
    count = 'f=$BATON_STATE_FILE; n=$(grep -c . "$f")\n'
    scripts = {"ping": count + """printf '{"state": "po' >>"$f"; sleep 0.1; printf 'ng", "n": %s}\\n' "$n" >>"$f"\n""",
               "pong": count + """s=ping; [ "$n" -lt 10 ] || s=over; printf '{"state": "%s"}\\n' "$s" >>"$f"\n"""}
    with Layout(exe, [rule], scripts) as w:
        os.makedirs(w.path("log"))
        w.start()
        names = ["a", "b", "c", "d"]
        for name in names:
            write(w.path("log", name + ".jsonl"), b'{"state": "ping"}\n')
        w.killed_until(lambda: all(b"over" in open(w.path("log", name + ".jsonl"), "rb").read() for name in names))
        w.check_starts(counted([f"rules/log/{name}" for name in names], ["main"], ["ping", "pong"], 5))


def yaml(exe):
    """A map of subjects in YAML with comments; a torn version stands there for a moment each time."""
    rule = {"name": "pipe", "files": "pipes/{flow}/state.yaml", "stage": "/stages/{subject}/state",
            "react": [{"to": "todo", "run": "build"}, {"to": "built", "run": "test"}]}

    def edit(old, new):
        return f"""exec 9>"$BATON_ROOT/lock"; flock 9
f=$BATON_STATE_FILE
awk -v s="$BATON_SUBJECT" '$1 == s ":" {{ here = 1 }} here && /state:/ {{ sub(/{old}/, "{new}"); here = 0 }} {{ print }}' \\
  "$f" >"$f.new"
head -c 40 "$f.new" >"$f.half"; mv "$f.half" "$f"; sleep 0.05
mv "$f.new" "$f"
"""
    with Layout(exe, [rule], {"build": edit("todo", "built"), "test": edit("built", "done")}) as w:
        w.start()
        parts = [f"part{number}" for number in range(4)]
        for name in ("a", "b"):
            text = "# by hand\nstages:\n" + "".join(f"  {part}:\n    note: 'x'\n    state: todo  # here\n" for part in parts)
            write(w.path("pipes", name, "state.yaml"), text.encode())

        def over(name):
            with open(w.path("pipes", name, "state.yaml")) as file:
                return file.read().count("state: done  # here") == len(parts)
        w.killed_until(lambda: over("a") and over("b"))
        w.check_starts(counted(["rules/pipe/a", "rules/pipe/b"], parts, ["todo", "built"]))


def numbers(exe):
    """Stages that are numbers and truth values, two levels down, while somebody else changes the same file."""
    rule = {"name": "team", "files": "teams/{flow}.json", "stage": "/units/{subject}/level/now",
            "react": [{"to": 1, "run": "one"}, {"to": [2.0], "from": 1, "run": "two"}, {"to": False, "run": "no"}]}

    def leave(stage):
        return f'exec "$BATON_EXE" set "$BATON_STATE_FILE" "/units/$BATON_SUBJECT/level/now={stage}"\n'
    with Layout(exe, [rule], {"one": leave("2"), "two": leave("false"), "no": leave("true")}) as w:
        w.start()
        units, ended = [f"u{number}" for number in range(6)], threading.Event()
        write(w.path("teams/a.json"), {"noise": 0, "units": {"comment": "none", **{
            unit: {"level": {"now": 1.0}} for unit in units}}})

        def noise():
            number = 0
            while not ended.is_set():
                number += 1
                w.call("set", w.path("teams/a.json"), f"/noise={number}", code=None)
        writer = threading.Thread(target=noise)
        writer.start()
        try:
            w.killed_until(lambda: all(load(w.path("teams/a.json"))["units"][unit]["level"]["now"] is True
                                       for unit in units))
        finally:
            ended.set()
            writer.join()
        w.check_starts(counted(["rules/team/a"], units, ["1", "2", "false"]))


def orders(exe):
    """Conditions across three documents, a chain of `set` between agents, and a person's word in a fourth one."""
    rule = {"name": "o", "stage": "order:/status", "values": {"count": "/count"},
            "files": {"order": "orders/{flow}/order.json", "stock": "orders/{flow}/stock.json",
                      "paid": {"path": "orders/{flow}/paid.json", "optional": True},
                      "word": {"path": "orders/{flow}/word.json", "optional": True}},
            "react": [
                {"to": "new", "set": {"/status": "checked", "/seen/at": "${now}"}},
                {"to": "checked", "when": [{"pointer": "stock:/have", "at_least": "/count"}],
                 "set": {"/status": "reserved", "/price": "${count}", "stock:/reserved": "${count}"}},
                {"to": "checked", "when": [{"pointer": "stock:/have", "below": "/count"}], "run": "buyer"},
                {"to": "reserved", "when": [{"pointer": "paid:/paid", "equals": True}],
                 "approval": {"decision": "word:/decision", "rejected": {"/status": "cancelled"}},
                 "set": {"/status": "packing"}},
                {"to": "packing", "run": "packer", "next": "shipped"},
                {"to": "shipped", "set": {"/status": "closed", "paid:/paid": None}}]}
    scripts = {"buyer": 'exec "$BATON_EXE" set "$BATON_FILE_STOCK" /have=10\n',
               "packer": """exec "$BATON_EXE" set "$BATON_STATE_FILE" '/status="shipped"'\n"""}
    with Layout(exe, [rule], scripts) as w:
        w.start()
        names = ["short1", "short2", "plenty", "never"]
        for name in names:
            write(w.path("orders", name, "stock.json"), {"have": 1 if "short" in name else 10})
            write(w.path("orders", name, "order.json"), {"status": "new", "count": 5})

        def stand(status):
            return lambda: all(load(w.path("orders", name, "order.json"))["status"] == status(name) for name in names)
        w.killed_until(stand(lambda name: "reserved"))
        for name in names:
            with open(w.path("orders", name, "paid.json"), "w") as file:
                file.write('{"pa')
                file.flush()
                time.sleep(0.02)
                file.write('id": true}')
        # Whoever decides has been asked: by the daemon, not only by a command that looks at the files.
        wait_until(lambda: all("a person has to approve" in w.call("events", "--flow", f"rules/o/{name}").stdout
                               for name in names), "the daemon asks")
        for name in names:
            write(w.path("orders", name, "word.json"), {"decision": "reject" if name == "never" else "approve"})
        w.killed_until(stand(lambda name: "cancelled" if name == "never" else "closed"))
        for name in names:
            order, stock = load(w.path("orders", name, "order.json")), load(w.path("orders", name, "stock.json"))
            check(order["price"] == 5 and stock["reserved"] == 5 and order["seen"]["at"].startswith("20"), order, stock)
        w.check_starts(counted(["rules/o/short1", "rules/o/short2"], ["main"], ["checked"]) +
                       counted([f"rules/o/{name}" for name in names if name != "never"], ["main"], ["packing"]))


def claims(exe):
    """A file says that somebody else has taken the job; while it is there no agent is started."""
    rule = {"name": "jobs", "stage": "job:/state",
            "files": {"job": "jobs/{flow}.json", "claim": {"path": "claims/{flow}.json", "optional": True},
                      "result": {"path": "results/{flow}.json", "optional": True}},
            "react": [{"to": "open", "when": [{"pointer": "claim:/owner", "exists": False}], "run": "worker"},
                      {"to": "open", "when": [{"pointer": "result:/code", "in": [0, 1]}],
                       "set": {"/state": "done", "result:/code": None}}]}
    worker = """mkdir -p "$(dirname "$BATON_FILE_RESULT")"
printf '{"co' >"$BATON_FILE_RESULT"; sleep 0.05; printf '{"code": 0}' >"$BATON_FILE_RESULT"
"""
    with Layout(exe, [rule], {"worker": worker}) as w:
        os.makedirs(w.path("claims"))
        w.start()
        free, freed, taken = ([f"{what}{number}" for number in range(3)] for what in ("free", "freed", "taken"))
        for name in freed + taken:
            write(w.path("claims", name + ".json"), {"owner": "ann"})
        for name in free + freed + taken:
            write(w.path("jobs", name + ".json"), {"state": "open"})

        def state(name):
            return load(w.path("jobs", name + ".json"))["state"]
        w.killed_until(lambda: all(state(name) == "done" for name in free))
        check({state(name) for name in freed + taken} == {"open"} and len(w.starts()) == len(free), w.starts())
        for name in freed:
            os.unlink(w.path("claims", name + ".json"))
        for name in taken:
            write(w.path("results", name + ".json"), {"code": 1})
        w.killed_until(lambda: all(state(name) == "done" for name in freed + taken))
        w.check_starts(counted([f"rules/jobs/{name}" for name in free + freed], ["main"], ["open"]))


def mail(exe):
    """A file per message; what a clerk has drafted is sent when somebody says so, in a file beside it or by command,
    and where both speak at once the first one counts."""
    rule = {"name": "mail", "stage": "message:/read", "values": {"text": "/text"},
            "files": {"message": "mail/{flow}/{part}.json", "reply": "replies/{flow}/{part}.json",
                      "word": "words/{flow}/{part}.json"},
            "react": [{"to": False, "when": [{"pointer": "reply:/text", "exists": False}], "run": "clerk"},
                      {"to": False, "when": [{"pointer": "reply:/text", "exists": True}],
                       "approval": {"decision": "word:/ok", "rejected": {"/read": "refused"}},
                       "set": {"/read": True, "reply:/sent": "${text}"}},
                      {"to": True, "run": "sender", "purpose": "send"}]}
    clerk = """mkdir -p "$(dirname "$BATON_FILE_REPLY")"
printf '{"text": "draft"}' >"$BATON_FILE_REPLY"
"""
    with Layout(exe, [rule], {"clerk": clerk, "sender": ""}) as w:
        w.start()
        boxes, letters = ["ann", "bob"], [f"m{number}" for number in range(4)]
        everything = [(box, letter) for box in boxes for letter in letters]
        for box, letter in everything:
            write(w.path("mail", box, letter + ".json"), {"read": False, "text": letter})
        w.killed_until(lambda: all(load(w.path("replies", box, letter + ".json")).get("text") == "draft"
                                   for box, letter in everything))
        wait_until(lambda: all(w.call("events", "--flow", f"rules/mail/{box}").stdout.count("a person has to approve")
                               >= len(letters) for box in boxes), "the daemon asks for each")
        for box, letter in everything:
            say = threading.Thread(target=w.call, args=("approve", f"rules/mail/{box}", letter), kwargs={"code": None})
            say.start()
            write(w.path("words", box, letter + ".json"), {"ok": letter != "m0", "by": "ann"})
            say.join()

        def ends(box, letter):
            return load(w.path("mail", box, letter + ".json"))["read"] in (True, "refused")
        w.killed_until(lambda: all(ends(box, letter) for box, letter in everything))
        w.idle()
        sent = 0
        for box, letter in everything:
            read = load(w.path("mail", box, letter + ".json"))["read"]
            check(letter == "m0" or read is True, "refused by nobody:", box, letter)
            check(load(w.path("replies", box, letter + ".json")).get("sent") == (letter if read is True else None), box)
            said = [each for each in w.lines("events", "--flow", f"rules/mail/{box}")
                    if each["event"] in ("approved", "rejected") and each["subject"] == letter]
            check([each["event"] for each in said] == ["approved" if read is True else "rejected"], said)
            sent += read is True
        check(sent >= 6, "only", sent, "were sent")
        purposes = collections.Counter(each.purpose for each in w.starts())
        check(purposes == {"false": len(everything), "send": sent}, purposes)


if __name__ == "__main__":
    world.main_parts([board, lines, yaml, numbers, orders, claims, mail])
