# SPDX-License-Identifier: Apache-2.0
"""Files that real tools make beside or in place of a state file: each ticket is worked on exactly once.
usage: real_tools_test.py BATON [PART...]
"""

import os
import subprocess
import time

import world
from world import check, wait_until

CLOSE = '"$BATON_EXE" set "$BATON_STATE_FILE" \'/status="done"\''
RULE = {"name": "t", "files": "tickets/{flow}.json", "stage": "/status", "done": ["done"],
        "react": [{"to": "ready", "run": "worker"}]}
NAMES = [f"t{number}" for number in range(20)]


class Tickets(world.World):
    def __init__(self, baton):
        super().__init__(baton, rules=[RULE], command=("sh", "-c", CLOSE), limits={"max_running": 30})
        os.mkdir(self.root + "/tickets")

    def drafts(self):
        for name in NAMES:
            self.ticket(name, "draft")
        self.start()

    def shell(self, command):
        done = subprocess.run(["sh", "-ec", command], cwd=self.root + "/tickets", stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        check(done.returncode == 0, command, done.stdout, done.stderr)

    def once_each(self, *names):
        """These tickets were worked on once each, and nothing else was."""
        names = names or NAMES
        wait_until(lambda: {each.flow for each in self.starts()} >= {"rules/t/" + name for name in names},
                   "each is worked on", self.starts)
        self.canary()
        flows = sorted(each.flow for each in self.starts() if "canary" not in each.flow)
        check(flows == sorted("rules/t/" + name for name in names), flows)


def jq(exe):
    with Tickets(exe) as box:
        box.drafts()
        for name in NAMES:
            box.shell(f"jq '.status=\"ready\"' {name}.json > {name}.tmp.json && mv {name}.tmp.json {name}.json")
        box.once_each()


def copies(exe):
    with Tickets(exe) as box:
        box.drafts()
        for name in NAMES:
            box.shell(f"sed -i s/draft/ready/ {name}.json")
            # cp gives up when the agent replaces the file meanwhile.
            box.shell(f"for to in .bak.json .orig.json ' copy.json' -copy.json ' (copy 2).json'; do "
                      f"cp {name}.json \"{name}$to\" || cp {name}.json \"{name}$to\"; done")
        box.once_each()
        said = box.call("explain", box.root + "/tickets/t0-copy.json", code=2).stderr
        check("is a copy of tickets/t0.json: baton ignores it" in said, said)
        said = box.call("doctor", code=None).stdout
        # Five files beside each ticket, of which five are named.
        check("ignored for their names: " in said and f"and {5 * len(NAMES) - 5} more" in said, said)


def editors(exe):
    """What vim, emacs, nano and kate leave beside a file while it is edited, and how they write it."""
    with Tickets(exe) as box:
        box.drafts()
        for name in NAMES:
            # vim: a swap file, a test name, a backup by rename, the file made anew.
            box.shell(f"cp {name}.json .{name}.json.swp; : > 4913; rm 4913; mv {name}.json {name}.json~;"
                      f"echo '{{\"status\": \"ready\"}}' > {name}.json; rm {name}.json~ .{name}.json.swp;"
                      # emacs: auto-save and lock; nano: a lock
                      f"cp {name}.json '#{name}.json#'; ln -s me@here.1 '.#{name}.json'; cp {name}.json .{name}.json.swp")
        box.once_each()


def sync(exe):
    """rsync writes under a temporary name, or in place; syncthing keeps both sides of a conflict."""
    with Tickets(exe) as box:
        box.drafts()
        for name in NAMES:
            box.shell(f"echo '{{\"status\": \"ready\"}}' > .{name}.json.aB3xYz; mv .{name}.json.aB3xYz {name}.json;"
                      f"cp {name}.json {name}.sync-conflict-20261127-101112-ABCDEFG.json;"
                      f"cp {name}.json '{name} (conflicted copy 2026-11-27).json'; cp {name}.json ~syncthing~{name}.json.tmp")
        box.once_each()


def moments(exe):
    """New names that live for a moment count as little as their names say."""
    with Tickets(exe) as box:
        box.start()
        for name in NAMES:
            path = f"{box.root}/tickets/{name}.json"
            with open(f"{box.root}/tickets/sed{name}X.json", "w") as file:
                file.write('{"status": "ready"}')
            os.rename(f"{box.root}/tickets/sed{name}X.json", path)
            with open(f"{box.root}/tickets/passing{name}.json", "w") as file:
                file.write('{"status": "ready"}')
            os.unlink(f"{box.root}/tickets/passing{name}.json")
        box.once_each()


def in_place(exe):
    """A writer that takes its time with a new file, and one that truncates and writes a known one."""
    with Tickets(exe) as box:
        box.drafts()
        for name in NAMES:
            with open(f"{box.root}/tickets/{name}.json", "w") as file:
                for piece in '{"status":', ' "rea', 'dy"}':
                    file.write(piece)
                    file.flush()
                    time.sleep(0.01)
        box.once_each()


if __name__ == "__main__":
    world.main_parts([jq, copies, editors, sync, moments, in_place])
