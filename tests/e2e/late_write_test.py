# SPDX-License-Identifier: Apache-2.0
"""A writer holds a file open that baton replaces: what he writes after that is not lost, though baton writes nothing
more, ends meanwhile or is killed; and nothing stays beside the file. So it is with `baton set`.
usage: late_write_test.py BATON [PART...]"""

import json
import os
import subprocess

import world
from world import check, on_terminal, wait_until, write

RULE = {"name": "t", "files": "tickets/{flow}.json", "stage": "/status",
        "react": [{"to": "ready", "set": {"/owner": "ops"}}]}


class Replaced(world.World):
    def __init__(self, exe):
        super().__init__(exe, rules=[RULE])

    def path(self, name):
        return f"{self.root}/tickets/{name}.json"

    def load(self, name):
        with open(self.path(name)) as file:
            return json.load(file)

    def held(self, name):
        """A ticket, and somebody who has it open and is about to write."""
        self.ticket(name, "ready")
        return open(self.path(name), "r+")

    def replaced(self, name):
        wait_until(lambda: self.load(name).get("owner") == "ops", name, "is replaced")

    def merged(self, name):
        expected = {"status": "ready", "title": "late", "owner": "ops"}
        wait_until(lambda: self.load(name) == expected, name, "is merged, it is", lambda: self.load(name))

    def clean(self):
        wait_until(lambda: not self.beside(), "nothing stays beside the files:", self.beside)

    def beside(self):
        return [name for name in os.listdir(self.root + "/tickets") if name.startswith(".")]


def finish(held):
    """The whole of it is written anew, as `json.dump` does."""
    held.seek(0)
    held.truncate()
    held.write('{"status": "ready", "title": "late"}\n')
    held.close()


def without_another_write(exe):
    with Replaced(exe) as it:
        held = it.held("a")
        it.start()
        it.replaced("a")
        finish(held)
        it.merged("a")
        it.clean()
        events = [each["event"] for each in it.lines("events")]
        check(events.count("merged") == 1, events)


def nothing_stays(exe):
    with Replaced(exe) as it:
        for number in range(30):
            it.ticket(f"a{number}", "ready")
        it.start()
        for number in range(30):
            it.replaced(f"a{number}")
        it.clean()


def over_the_end(exe):
    """Written while no daemon is there: the next one takes it up, at its start."""
    for end in ("terminate", "kill"):
        with Replaced(exe) as it:
            held = it.held("a")
            it.start()
            it.replaced("a")
            getattr(it.daemon, end)()
            it.daemon.wait()
            finish(held)
            it.start()
            it.merged("a")
            it.clean()


def what_is_not_valid(exe):
    """It is told, kept in the journal and merged with nothing."""
    with Replaced(exe) as it:
        held = it.held("a")
        it.start()
        it.replaced("a")
        held.truncate(10)
        held.close()
        wait_until(lambda: [each for each in it.lines("events") if each["event"] == "late_write"], "it is told")
        it.clean()
        check(it.load("a") == {"status": "ready", "owner": "ops"}, it.load("a"))
        kept = it.call("explain", it.path("a"), "--replaced").stdout
        check('\n{"status":' in kept and ", 10 bytes\n" in kept, "what is kept is shown:", kept)
        check("no version" in it.call("explain", it.path("b"), "--replaced").stderr, "of another file there is none")
        check(it.call("explain", "rules/t/a", "--replaced").stdout == kept, "of a flow, what is kept of its files")
        os.mkdir(it.root + "/t")
        os.mkdir(it.root + "/t/a")
        check(it.call("explain", "t/a", "--replaced").stdout == kept, "also where a folder has its name")
        check("--replaced" not in it.call("explain", "nonsense", "--replaced", code=2).stdout, "neither file nor flow")


def what_steers_a_terminal(exe):
    """As it is where it goes into a file, and harmless where a person looks at it."""
    with Replaced(exe) as it:
        held = it.held("a")
        it.start()
        it.replaced("a")
        held.truncate(0)
        held.write('{"status":\t"\x1b[31m')
        held.close()
        wait_until(lambda: [each for each in it.lines("events") if each["event"] == "late_write"], "it is told")
        command = ("explain", it.path("a"), "--replaced")
        check('{"status":\t"\x1b[31m\n' in it.call(*command).stdout, it.call(*command).stdout)
        code, said = on_terminal([it.exe, *command, *it.places()])
        check(code == 0 and b'{"status":\t"\\x1b[31m' in said and b"\x1b" not in said, code, said)


def set_waits(exe):
    """`baton set` without a daemon: a writer who is about to finish has his say."""
    with Replaced(exe) as it:
        held = it.held("a")
        inode = os.stat(it.path("a")).st_ino
        command = subprocess.Popen([exe, "set", it.path("a"), '/owner="ops"', *it.places()], text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_until(lambda: os.stat(it.path("a")).st_ino != inode, "it is replaced")
        finish(held)
        said = command.communicate(timeout=world.PATIENCE)
        check(command.returncode == 0, command.returncode, *said)
        if "baton run" in said[1]:
            # The machine was so busy that it did not wait long enough: a daemon is to see to it.
            it.start()
            wait_until(lambda: [each for each in it.lines("events") if each["event"] == "late_write"], "it is told")
        else:
            it.merged("a")
        it.clean()


def set_leaves_it(exe):
    """One who holds it for longer is told of; what he writes then does not undo what was set, good or bad."""
    for late in ('{"status": "ready", "title": "late"}', "{"):
        set_left(exe, late)


def set_left(exe, late):
    with Replaced(exe) as it:
        held = it.held("a")
        done = it.call("set", it.path("a"), '/status="idle"')
        check("keeps the old version open" in done.stderr, done.stderr)
        check(len(it.beside()) == 1, it.beside())
        held.truncate(0)
        held.write(late)
        held.close()
        it.start()
        wait_until(lambda: [each for each in it.lines("events") if each["event"] == "late_write"], "it is told")
        it.clean()
        check(it.load("a") == {"status": "idle"}, it.load("a"))


if __name__ == "__main__":
    world.main_parts((without_another_write, nothing_stays, over_the_end, what_is_not_valid, what_steers_a_terminal,
                      set_waits, set_leaves_it), 3)
