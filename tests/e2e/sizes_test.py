# SPDX-License-Identifier: Apache-2.0
"""How large files may be: documents up to `max_file`, logs of any size for `validate`, and the events of a loop.
usage: sizes_test.py BATON [PART...]"""

import json
import os

import world
from world import check, wait_until

MOST = 64 << 10


def status(baton, name):
    return next((line for line in baton.lines("status") if line["flow"] == f"rules/t/{name}"), {})


def document(status_word, size):
    text = json.dumps({"status": status_word, "note": ""})
    return (text[:-2] + "x" * (size - len(text)) + '"}').encode()


def documents(exe):
    """A document above the limit is refused by the name of the key; from three quarters on there is one warning."""
    with world.World(exe, limits={"max_file": f"{MOST}B"}) as baton:
        path = f"{baton.root}/tickets/large.json"
        baton.start()
        for size in (MOST * 7 // 10, MOST * 8 // 10, MOST * 9 // 10):
            world.write(path, document("x", size))
            wait_until(lambda: any(line["flow"] == "rules/t/large" for line in baton.lines("status")), "it is there")
            wait_until(lambda: baton.explain("rules/t/large")["documents"][0]["verdict"] == "accepted", "accepted", size)
            baton.canary()
        told = [line for line in baton.lines("events") if line["event"] == "warning"]
        check(len(told) == 1 and "max_file" in told[0]["why"] and "large.json" in told[0]["why"], told)
        done = baton.call("validate", path)
        check("warning" in done.stdout and "max_file" in done.stdout, done.stdout)
        world.write(path, document("ready", MOST + 1))
        wait_until(lambda: status(baton, "large").get("reason") == "file_rejected", "rejected", lambda: status(baton, "large"))
        why = status(baton, "large")["why"]
        check("max_file" in why and str(MOST + 1) in why and str(MOST) in why and "reload" in why, why)
        done = baton.call("validate", path, code=1)
        check("limits: max_file" in done.stdout, done.stdout)
        check(baton.call("validate", "--max-size", "1MiB", path).returncode == 0)
        check(not baton.starts("rules/t/large"), baton.starts())
        # What the message says helps.
        baton.settings["limits"]["max_file"] = "1MiB"
        baton.configure()
        baton.call("reload")
        wait_until(lambda: baton.starts("rules/t/large"), "started")


def logs(exe):
    """`validate` reads a log of any size line by line, and says on which line a fault is."""
    rule = {**world.World.TICKETS, "files": "tickets/{flow}.jsonl", "stages": ["x"]}
    with world.World(exe, rules=[rule], limits={"max_file": f"{MOST}B"}) as baton:
        path = f"{baton.root}/tickets/log.jsonl"
        os.makedirs(os.path.dirname(path))
        line = '{"status": "x", "note": "' + "y" * 1000 + '"}\n'
        with open(path, "w") as file:
            file.write(line * 1000)
        check(os.path.getsize(path) > 10 * MOST)
        done = baton.call("validate")
        check("max_file" not in done.stdout, done.stdout)
        with open(path, "a") as file:
            file.write('{"status": \n' + line * 300)
        done = baton.call("validate", code=None)
        check("log.jsonl:1001:" in done.stdout, done.stdout)
        with open(path, "a") as file:
            file.write('{"status": "y"}\n')
        done = baton.call("validate", path, code=1)
        check("`y` is no stage" in done.stdout, done.stdout)
        with open(path, "a") as file:
            file.write('{"status": "' + "z" * 2 * MOST + '"}\n')
        done = baton.call("validate", path, code=None)
        check(done.returncode != 0 and "has a line of more than" in done.stdout + done.stderr, done.stdout, done.stderr)


LOOP = """name: spin
initial: work
max_iterations: 50
states:
  work:
    action: 'echo x >>ran; [ "$(wc -l <ran)" -ge 16 ]'
    on_success: done
    on_failure: rest
  rest:
    action: "true"
    next: work
  done:
    terminal: true
"""


def events(exe):
    """The events of a loop begin a new file when one has its size, and the one before stays."""
    with world.World(exe, limits={"max_file": f"{MOST}B"}) as baton:
        baton.settings["dialects"] = {"fsm_loop": {"max_events_file": "4KiB"}}
        baton.configure()
        world.write(f"{baton.root}/.loops/spin.yaml", LOOP.encode())
        baton.start()
        wait_until(lambda: baton.call("start", "fsm_loop/spin", code=None).returncode == 0, "begun")
        running = f"{baton.root}/.loops/.running/spin.events.jsonl"

        def ended():
            with open(f"{baton.root}/.loops/.running/spin.state.json") as file:
                return json.load(file)["status"] != "running"
        wait_until(ended, "the loop ends")
        for name in (running, running + ".1"):
            check(0 < os.path.getsize(name) <= 4096, name, os.path.getsize(name))
        lines = []
        for name in (running + ".1", running):
            with open(name) as file:
                lines += [json.loads(line) for line in file]
        check(lines[-1]["event"] == "loop_complete", lines[-1])
        check([line["ts"] for line in lines] == sorted(line["ts"] for line in lines), lines)
        baton.call("validate")
        # A new run puts both aside.
        wait_until(lambda: baton.call("start", "fsm_loop/spin", code=None).returncode == 0, "begun again")
        def kept():
            return {name for _, _, names in os.walk(f"{baton.root}/.loops/.history") for name in names}
        wait_until(lambda: {"events.jsonl", "events.jsonl.1", "state.json"} <= kept(), "both are kept", kept)


if __name__ == "__main__":
    world.main_parts((documents, logs, events))
