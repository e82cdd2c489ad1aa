# SPDX-License-Identifier: Apache-2.0
"""The example with a prd.json: all stories of the list are worked off, one after the other, in the order of what they
need and of their priority, and pass in the end.
usage: prd_test.py BATON"""

import json
import os
import shutil
import subprocess

import world
from world import check

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/prd")


def test(exe):
    with world.World(exe) as baton:
        folder = baton.home + "/prd"
        shutil.copytree(EXAMPLE, folder)
        os.replace(folder + "/demo.yaml", folder + "/baton.yaml")
        with open(folder + "/prd.json") as file:
            before = file.read()

        def call(*words, code=0):
            done = subprocess.run([exe, *words, "--state-dir", baton.state], cwd=folder, text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=world.PATIENCE)
            check(done.returncode == code, words, done)
            return done.stdout + done.stderr

        # A list with a key that is there twice is refused with its place, and starts nothing.
        stories = json.loads(before)
        stories["userStories"][1]["id"] = "US-003"
        with open(folder + "/prd.json", "w") as file:
            json.dump(stories, file, indent=2)
        said = call("validate", code=1)
        check("`US-003` is the `id` of /userStories/0 too" in said, said)
        said = call("run", "--once", code=1)
        check("rules/stories is blocked: file_rejected" in said, said)
        check(not os.path.exists(folder + "/progress.txt"), "it was started")
        with open(folder + "/prd.json", "w") as file:
            file.write(before)

        call("validate")
        said = call("run", "--once")
        check("1 flow: 1 done" in said, said)
        with open(folder + "/prd.json") as file:
            after = file.read()
        check(after == before.replace('"passes": false', '"passes": true'), "more was changed:", after)
        with open(folder + "/progress.txt") as file:
            worked = file.read().split()
        # US-001 is needed by the others, and US-002 has the smaller number of the two.
        check(worked == ["US-001", "US-002", "US-003"], worked)
        said = call("status", "rules/stories")
        check("all 3 subjects are at an end of the rule stories" in said, said)


if __name__ == "__main__":
    world.main(test)
