# SPDX-License-Identifier: Apache-2.0
"""The example of a fan-out with one join works as its first lines say: 50 parts, one start for each, then one start for
all of them; a part that comes later gives one more; a daemon that is killed in between changes nothing.
usage: fan_out_test.py BATON"""

import glob
import json
import os
import shutil
import signal
import subprocess

import world
from world import check

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/fan_out")
PARTS = 50


def starts(exe, folder, state):
    """The starts of the job's agents: role and subject."""
    done = subprocess.run([exe, "agents", "--json", "--state-dir", state], cwd=folder, text=True, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=world.PATIENCE)
    check(done.returncode == 0, done)
    # A start that the kill took back never ran, and counts nowhere.
    return [(run["role"], run["subject"]) for run in map(json.loads, done.stdout.splitlines())
            if run["outcome"] != "voided"]


def is_any_done(parts):
    # Files on their way to a name have gone when they are opened.
    for path in glob.glob(parts + "/*.json"):
        with open(path) as file:
            if '"done"' in file.read():
                return True
    return False


def test(exe):
    with world.World(exe) as box:
        exe, folder, state = box.exe, box.home + "/demo", box.home + "/demo.state"
        shutil.copytree(EXAMPLE, folder)
        os.replace(folder + "/demo.yaml", folder + "/baton.yaml")
        command = [exe, "run", "--once", "--act-on-existing", "--state-dir", state]

        def run(code=0):
            done = subprocess.run(command, cwd=folder, text=True, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=world.PATIENCE)
            check(done.returncode == code, done)

        def result():
            with open(folder + "/jobs/words/result.txt") as file:
                return file.read().splitlines()

        # Killed while parts are at work.
        daemon = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        parts = folder + "/jobs/words/parts"
        world.wait_until(lambda: is_any_done(parts), "a part is done")
        daemon.send_signal(signal.SIGKILL)
        daemon.wait()
        run()
        check(result() == ["591 letters in 50 parts"], result())
        made = starts(exe, folder, state)
        check(len(made) == len(set(made)) == PARTS + 2, made)
        check([subject for role, subject in made if role == "joiner"] == ["stage work and all part:/status: done"], made)
        # Nothing more is due.
        run()
        check(len(starts(exe, folder, state)) == PARTS + 2)
        # One more part, and the job is at work again: the workers and the joiner have one more start each.
        with open(parts + "/late.json", "w") as file:
            file.write('{"status": "todo", "words": "late"}\n')
        subprocess.run([exe, "set", "jobs/words/plan.json", '/status="work"'], cwd=folder, check=True)
        run()
        check(result() == ["591 letters in 50 parts", "595 letters in 51 parts"], result())


if __name__ == "__main__":
    world.main(test)
