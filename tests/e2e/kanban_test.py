# SPDX-License-Identifier: Apache-2.0
"""The example with a Kanban board: each card is one file, whose name may be anything people write. All cards that are to
be done are done in the end, in order, each as often as it was asked for; one card waits in the backlog.
usage: kanban_test.py BATON"""

import json
import os
import shutil
import subprocess

import world
from world import check

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/kanban")


def test(exe):
    with world.World(exe) as baton:
        folder = baton.home + "/kanban"
        shutil.copytree(EXAMPLE, folder)
        os.replace(folder + "/demo.yaml", folder + "/baton.yaml")

        def call(*words, code=0):
            done = subprocess.run([exe, *words, "--state-dir", baton.state], cwd=folder, text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=world.PATIENCE)
            check(done.returncode == code, words, done)
            return done.stdout + done.stderr

        call("validate")
        call("run", "--once", "--act-on-existing")
        with open(folder + "/work.log") as file:
            worked = file.read().splitlines()
        crash, login, transfer = "[P1] crash on empty name", "Login page", "Überweisung #12"
        # Sent back once, so worked on twice. What needs another card comes after it.
        for card, times in ((crash, 1), (login, 2), (transfer, 1)):
            for role in ("developer", "reviewer"):
                check(worked.count(f"{role}: {card}") == times, card, worked)
        check(worked[0] == "developer: " + crash or worked[1] == "developer: " + crash, worked)
        check(worked.index("developer: " + transfer) > max(
            at for at, line in enumerate(worked) if line == "reviewer: " + login), worked)
        for card, column in ((crash, "done"), (login, "done"), (transfer, "done"), ("dark mode", "backlog")):
            with open(f"{folder}/cards/{card}.json") as file:
                check(json.load(file)["column"] == column, card)
        # A second run finds nothing to do.
        call("run", "--once", "--act-on-existing")
        with open(folder + "/work.log") as file:
            check(file.read().splitlines() == worked, "worked again")
        # A card that needs one that is not there is named before it is too late.
        with open(folder + "/cards/new.json", "w") as file:
            json.dump({"column": "todo", "depends_on": ["Login pag"]}, file)
        said = call("validate")
        check("Login pag" in said, said)


if __name__ == "__main__":
    world.main(test)
