# SPDX-License-Identifier: Apache-2.0
"""Worlds whose agents are the fake programs of tests/clis. What each start does stands in a script of its agent."""

import json
import os

import world

CLIS = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../clis"))
# The programs are found on the daemon's PATH, as the real ones are.
PATH = CLIS + ":" + os.environ.get("PATH", "/usr/bin:/bin")
DONE = '"$BATON_EXE" set "$BATON_STATE_FILE" \'/status="done"\''


class Fakes:
    """The folder of the fakes of one agent or of several."""

    def __init__(self, folder, script, work=DONE):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self.script(script)
        if work is not None:
            self.work(work)

    def script(self, script):
        world.write(self.folder + "/script.json", script)

    def work(self, text):
        world.write(self.folder + "/work.sh", (text + "\n").encode())

    def starts(self, program=None):
        try:
            with open(self.folder + "/starts.jsonl") as file:
                all_starts = [json.loads(line) for line in file]
        except FileNotFoundError:
            return []
        return [each for each in all_starts if program in (None, each["program"])]

    def agent(self, program, **more):
        """The configuration of an agent that is this program."""
        env = {"FAKE_CLI": self.folder, **more.pop("env", {})}
        return {"adapter": program, "env": {"set": env}, **more}


class Provided(world.World):
    """A world whose daemon finds the fakes."""

    def start(self, *more, env=None):
        return super().start(*more, env={"PATH": PATH, **(env or {})})

    def parked(self):
        """`baton limits`, by provider."""
        return {row["provider"]: row for row in self.lines("limits")}

    def events_of(self, kind, flow=None):
        return [each for each in self.lines("events") if each["event"] == kind and flow in (None, each["flow"])]

    def fresh(self):
        """The daemon is killed, and another one begins."""
        self.daemon.kill()
        self.daemon.wait()
        self.start()
