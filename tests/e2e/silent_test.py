# SPDX-License-Identifier: Apache-2.0
"""Agents that print nothing before their end: those that work are left alone, those that do nothing are ended. Also
the limits of memory and of processes. usage: silent_test.py BATON [PART ...]"""

import json
import os
import sys

import world
from world import check, skip, wait_until

IDLE = "2s"
# How long a working agent goes on: several times the limit.
WORK = 9

# The script gets python3's standard modules; its working folder is the root.
HEAD = f"""
import os, shutil, subprocess, sys, time
end = time.monotonic() + {WORK}
"""
DONE = """
subprocess.run([os.environ["BATON_EXE"], "set", os.environ["BATON_STATE_FILE"], '/status="done"'], check=True,
               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
"""


def outcome(exe, script, prepare=lambda root: None, limits=None, agent=None, look=lambda baton: None):
    """The one run of an agent that runs the script; `look` is called while it runs."""
    with world.World(exe, limits={"idle_timeout": IDLE, "timeout": "60s", "max_attempts": 1, **(limits or {})}) as baton:
        program = baton.home + "/work.py"
        with open(program, "w") as file:
            file.write(HEAD + script)
        baton.settings["agents"]["worker"] = {"command": [sys.executable, "-S", program], **(agent or {})}
        baton.configure()
        prepare(baton.root)
        baton.start()
        baton.ticket("a", "ready")
        wait_until(lambda: baton.lines("agents"), "it is started", lambda: baton.call("status").stdout)
        look(baton)
        baton.idle()
        runs = baton.lines("agents")
        check(len(runs) == 1, runs)
        return runs[0]


def check_works(exe, script, prepare=lambda root: None):
    run = outcome(exe, script + DONE, prepare)
    check(run["outcome"] == "succeeded", "a silent agent that works was ended:", run)


def check_stalls(exe, script, prepare=lambda root: None):
    run = outcome(exe, script, prepare)
    check((run["outcome"], run["reason"]) == ("stalled", "idle_timeout"), "an agent that hangs goes on:", run)


def burns_cpu(exe):
    check_works(exe, "while time.monotonic() < end: pass\n")


def child_burns_cpu(exe):
    """Also a child that has left its session."""
    check_works(exe, """
child = subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"], start_new_session=True)
time.sleep(end - time.monotonic())
child.kill()
child.wait()
""")


def edits(exe):
    """The kind of agent that this is for: it edits, prints nothing, and prints its result at the end."""
    check_works(exe, """
os.makedirs("src/deep")
while time.monotonic() < end:
    time.sleep(0.5)
    with open("src/deep/app.py", "a") as file:
        file.write("edit\\n")
""")


def copies_old_times(exe):
    """As `cp -p` does: the modification time is old, and only the change time is new."""
    check_works(exe, """
with open("old", "w") as file:
    file.write("x")
os.utime("old", (1000000000, 1000000000))
os.makedirs("src")
while time.monotonic() < end:
    time.sleep(0.5)
    shutil.copy2("old", "src/copy")
""")


def commits(exe):
    """Of `.git`, the index counts."""
    check_works(exe, """
os.mkdir(".git")
while time.monotonic() < end:
    time.sleep(0.5)
    with open(".git/index", "a") as file:
        file.write("x")
""")


def large_tree(exe):
    """What was not looked at is no proof."""
    def prepare(root):
        for folder in range(51):
            os.mkdir(f"{root}/d{folder}")
            for file in range(1000):
                os.mknod(f"{root}/d{folder}/{file}")
    check_works(exe, "time.sleep(end - time.monotonic())\n", prepare)


def sleeps(exe):
    check_stalls(exe, "time.sleep(1000)\n")


def touches_what_is_left_out(exe):
    """Package managers and build tools touch these without an agent."""
    check_stalls(exe, """
names = ["node_modules", ".venv", "target", "__pycache__", ".git/objects"]
for name in names:
    os.makedirs(name)
while True:
    time.sleep(0.5)
    for name in names:
        with open(name + "/x", "a") as file:
            file.write("x")
""")


def sets_future_times(exe):
    """A file of tomorrow is no sign of life."""
    check_stalls(exe, """
with open("later", "w") as file:
    file.write("x")
os.utime("later", (4000000000, 4000000000))
time.sleep(1000)
""")


def timeout_ends_all(exe):
    run = outcome(exe, "while True: pass\n", limits={"timeout": "6s"})
    check(run["outcome"] == "timed_out", run)


def told_by_status(exe):
    """`status` and `agents` say since when a running agent is silent, once that is for a minute."""
    def look(baton):
        check(baton.lines("status")[0]["silent_since"] is None, baton.lines("status"))
        since = wait_until(lambda: baton.lines("status")[0]["silent_since"], lambda: baton.call("status").stdout)
        run = baton.lines("agents")[0]
        check(run["silent_since"] == since and run["started"] <= since, run)
        for command in ("status", "agents"):
            check("; silent for 1m" in (said := baton.call(command).stdout) or ", silent for 1m" in said, said)
    run = outcome(exe, "time.sleep(64)\n" + DONE, limits={"idle_timeout": "0s", "timeout": "0s"}, look=look)
    check(run["outcome"] == "succeeded" and run["silent_since"] is None, run)


def warnings(baton):
    found = json.loads(baton.call("doctor", "--json", code=None).stdout)["findings"]
    return [each["message"] for each in found if (each["check"], each["level"]) == ("agent", "warning")]


def memory(exe):
    """An agent over its limit is out of memory, and its error names the most that it used."""
    told = []
    run = outcome(exe, "held = b'x' * (200 << 20)\ntime.sleep(1000)\n", agent={"memory_max": "64MiB"},
                  look=lambda baton: told.extend(warnings(baton)))
    unenforced = [each for each in told if each.startswith("worker: `memory_max` is not enforced: ")]
    if unenforced:
        check(run["reason"] == "idle_timeout", "a limit that is not enforced ended it:", run)
        skip(unenforced[0])
    check((run["outcome"], run["reason"]) == ("failed", "out_of_memory"), run)
    check("it had used up to 6" in run["error"] and " MiB" in run["error"], run)


def tasks(exe):
    """At `tasks_max` an agent starts no further process."""
    told = []
    run = outcome(exe, """
children = []
try:
    for _ in range(50):
        children.append(subprocess.Popen(["sleep", "1000"]))
except OSError:
    sys.exit(7)
""", agent={"tasks_max": 20}, look=lambda baton: told.extend(warnings(baton)))
    unenforced = [each for each in told if each.startswith("worker: `tasks_max` is not enforced: ")]
    if unenforced:
        skip(unenforced[0])
    check(run["exit"] == 7, run)


def warned_by_doctor(exe):
    """doctor says which limits end an agent too early, or never."""
    with world.World(exe, limits={"timeout": "0s"}) as baton:
        with open(baton.home + "/mine.yaml", "w") as file:
            file.write("name: mine\ntested: none\ncommand: ['true']\nsilent: true\n")
        baton.settings["agents"] = {
            "worker": {"command": ["true"]},
            "other": {"adapter": baton.home + "/mine.yaml", "idle_timeout": "5m", "timeout": "1h"}}
        baton.configure()
        told = warnings(baton)
        check(any("other: mine prints nothing before its end, and `idle_timeout` is 5m." in each for each in told), told)
        check(any("worker: `timeout` is 0s, and other agents may work in its folder" in each for each in told), told)
        baton.settings["agents"]["worker"]["timeout"] = "2h"
        baton.settings["agents"]["other"]["idle_timeout"] = "15m"
        baton.configure()
        told = [each for each in warnings(baton) if "timeout" in each]
        check(not told, told)


if __name__ == "__main__":
    world.main_parts([burns_cpu, child_burns_cpu, edits, copies_old_times, commits, large_tree, sleeps,
                      touches_what_is_left_out, sets_future_times, timeout_ends_all, told_by_status, memory, tasks, warned_by_doctor], 6)
