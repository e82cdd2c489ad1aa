# SPDX-License-Identifier: Apache-2.0
"""How long another flow waits while agents flood baton with work: from the rename of its file to the first instruction of
its agent. In turns with it the same change is measured on the idle daemon, and the floor (floor.cpp) under the same flood.
usage: floods.py BUILD [SAMPLES [FLOOD...]]"""

import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "e2e"))
import world  # noqa: E402
from reaction import change  # noqa: E402
from world import write  # noqa: E402

DELAY = 0.25  # seconds from the flood to the change: the daemon has begun to work on it
ENUM = {"properties": {"a": {"items": {"enum": ["y" * 49 + str(i) for i in range(20000)]}}}}
SLOW = {"properties": {"a": {"pattern": "^(a+)+$"}, "b": {"patternProperties": {f"(a+)+b{i}$": {} for i in range(200)}}}}
RULES = [
    {"name": "enum", "files": "enum/{flow}.json", "schema": "schemas/enum.json", "stage": "/status"},
    {"name": "slow", "files": "slow/{flow}.json", "schema": "schemas/slow.json", "stage": "/status"},
    {"name": "many", "files": "many/{flow}.json", "stage": "/status"},
    {"name": "yaml", "files": "yaml/{flow}.yaml", "stage": "/status"},
]


class Flood:
    """One kind of flood. `make` writes files for the round of that number into a folder beside the root; they are
    renamed into `folder` of the root at once; `new`: under names that no round had before. `loop` is a program that runs until it is killed."""

    def __init__(self, name, folder=None, make=None, loop=None, new=False):
        self.name, self.folder, self.make, self.loop, self.new = name, folder, make, loop, new


def hard_links(place, number):
    """One file, and 249 other names of it."""
    text = '{"status": "x", "n": %d, "a": [%s]}' % (number, ", ".join(['"' + "x" * 50 + '"'] * 268000))
    write(place + "/0.json", text.encode())
    for i in range(1, 250):
        os.link(place + "/0.json", f"{place}/{i}.json")


def files(count, text, ending="json"):
    def make(place, number):
        for i in range(count):
            with open(f"{place}/{i}.{ending}", "w") as file:
                file.write(text(number * count + i))
    return make


def numbers(i):
    return '{"status": "x", "n": %d, "a": [%s]}' % (i, ",".join(["1.5e3"] * 800000))


def enum(i):
    return json.dumps({"status": "x", "n": i, "a": ["x" * 50] * 20000})


def deep_json(i):
    return ("[" * 1000000, '{"a":' * 200000, '{"status": "x", "a": ' + "[" * 400 + "]" * 400 + "}")[i % 3] + " " * i


def deep_yaml(i):
    if i % 2:
        return f"# {i}\n" + "[" * 200000
    levels = "".join(f"{chr(98 + k)}: &{chr(98 + k)} [{','.join(['*' + chr(97 + k)] * 9)}]\n" for k in range(12))
    return f"# {i}\nstatus: x\na: &a [x,x,x,x,x,x,x,x,x]\n" + levels


def slow_pattern(i):
    return json.dumps({"status": "x", "n": i, "a": "a" * 40 + "!", "b": {"k" + "a" * 30 + str(k): 1 for k in range(1000)}})


REWRITE = """import os, sys
n = 0
while True:
    n += 1
    with open("many/x", "w") as file:
        file.write('{"status": "s%d"}' % n)
    os.rename("many/x", "many/1.json")
"""
FLOODS = [
    Flood("250 hard links of 14.5 MB, 20,000 enums", "enum", hard_links),
    Flood("60 files of 1.1 MB, 20,000 enums", "enum", files(60, enum)),
    Flood("60 files of 4.8 MB", "many", files(60, numbers)),
    Flood("5,000 new files", "many", files(5000, lambda i: '{"status": "s%d"}' % i), new=True),
    Flood("60 files, deep JSON", "many", files(60, deep_json)),
    Flood("60 files, deep YAML and aliases", "yaml", files(60, deep_yaml, "yaml")),
    Flood("60 files, slow patterns", "slow", files(60, slow_pattern)),
    Flood("one file rewritten without pause", loop=[sys.executable, "-c", REWRITE]),
    Flood("`baton pause x` in a loop", loop=["sh", "-c", 'while :; do "$@" >/dev/null 2>&1; done', "sh"]),
]


def processor(pid):
    """Seconds of the processor that the process has used."""
    with open(f"/proc/{pid}/stat") as file:
        user, system = file.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def until_idle(pid):
    before = -1.0
    while processor(pid) - before > 0.02:
        before = processor(pid)
        time.sleep(0.5)


class Bench:
    def __init__(self, build, baton):
        self.baton = baton
        self.agent = build + "/reaction_agent"
        self.log = baton.home + "/reaction.log"
        open(self.log, "w").close()
        baton.settings["agents"]["worker"] = {"command": [self.agent, self.log, "${flow}"]}
        baton.settings["rules"] = [world.World.TICKETS] + [
            {**rule, "react": [{"to": "never", "run": "worker"}]} for rule in RULES]
        write(baton.home + "/schemas/enum.json", ENUM)
        write(baton.home + "/schemas/slow.json", SLOW)
        baton.configure()
        self.folders = {"floor": baton.home + "/floor", "baton": baton.root + "/tickets"}
        for folder in [*self.folders.values(), *(f"{baton.root}/{rule['name']}" for rule in RULES)]:
            os.mkdir(folder)
        self.count = 0

    def answer(self, name):
        """Milliseconds from one change to its answer."""
        before = os.path.getsize(self.log)
        self.count += 1
        changed = change(self.folders[name], self.count)
        while os.path.getsize(self.log) == before:
            time.sleep(0.002)
        with open(self.log) as file:
            file.seek(before)
            return (int(file.read().split()[0]) - changed) / 1e6

    def put(self, flood, number):
        made = f"{self.baton.home}/made{number}"
        os.mkdir(made)
        flood.make(made, number)
        begin = processor(self.baton.daemon.pid)
        for name in os.listdir(made):
            os.rename(f"{made}/{name}", f"{self.baton.root}/{flood.folder}/{f'{number}-' if flood.new else ''}{name}")
        return begin

    def sample(self, flood, number):
        """Idle, floor and flooded, in ms, and the seconds of the processor that the daemon spent on the flood."""
        pid = self.baton.daemon.pid
        until_idle(pid)
        idle = self.answer("baton")
        loop = None
        if flood.loop:
            more = [self.baton.exe, "pause", "x", *self.baton.places()] if flood.loop[0] == "sh" else []
            begin = processor(pid)
            loop = subprocess.Popen([*flood.loop, *more], cwd=self.baton.root, start_new_session=True)
            time.sleep(4 * DELAY)
        else:
            begin = self.put(flood, number)
            time.sleep(DELAY)
        floor = self.answer("floor")
        flooded = self.answer("baton")
        spent = processor(pid) - begin
        if loop:
            os.killpg(loop.pid, signal.SIGKILL)
            loop.wait()
        else:
            until_idle(pid)
        return idle, floor, flooded, spent, processor(pid) - begin


def middle(values):
    return sorted(values)[len(values) // 2]


def measure(build, flood, samples):
    with world.World(build + "/baton", limits={"spawns_per_day": 1000000}) as baton:
        bench = Bench(build, baton)
        baton.start()
        floor = subprocess.Popen([build + "/reaction_floor", bench.folders["floor"], bench.agent, bench.log])
        try:
            bench.answer("baton")
            rows = [bench.sample(flood, number) for number in range(samples)]
        finally:
            floor.kill()
            floor.wait()
    idle, floor_ms, flooded, spent, whole = ([row[at] for row in rows] for at in range(5))
    print(f"| {flood.name} | {middle(flooded):.1f} | {max(flooded):.1f} | {middle(idle):.1f} | {max(idle):.1f} "
          f"| {middle(flooded) / middle(idle):.1f} | {middle(floor_ms):.2f} | {max(floor_ms):.1f} "
          f"| {middle(spent):.2f} of {middle(whole):.2f} | {os.getloadavg()[0]:.1f} |", flush=True)


def main(build, samples="7", *names):
    build = os.path.abspath(build)
    print("| flood | ms | most | idle, ms | most | ratio | floor, ms | most | processor, s | load |\n|" + "---|" * 10, flush=True)
    for flood in FLOODS:
        if not names or any(name in flood.name for name in names):
            measure(build, flood, int(samples))


if __name__ == "__main__":
    main(*sys.argv[1:])
