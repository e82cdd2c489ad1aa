# SPDX-License-Identifier: Apache-2.0
"""A login that was refused is tried again by itself when a login file or the configuration has changed, once for each
change, and at `baton resume --agent`. usage: adapter_login_test.py BATON"""

import os
import subprocess

import world
from world import check, wait_until, write

# Works once the login says so.
CLAUDE = """#!/bin/sh
[ "$1" != --version ] || exec echo 2.1.293
echo "$BATON_RUN_ID $BATON_FLOW $BATON_SUBJECT $BATON_PURPOSE $BATON_ATTEMPT" >>LOG
cat >/dev/null
if grep -q good "$HOME/.claude/.credentials.json"; then
  "$BATON_EXE" set "$BATON_STATE_FILE" '/status="done"' >/dev/null
  echo '{"type":"result","subtype":"success","is_error":false,"result":"done"}'
else
  echo '{"type":"result","subtype":"success","is_error":true,"result":"Not logged in · Please run /login"}'
  exit 1
fi
"""


class Box(world.World):
    def __init__(self, exe):
        rule = {**self.TICKETS, "done": ["done"]}
        super().__init__(exe, rules=[rule], agents={"worker": {"adapter": "claude"}})
        write(self.home + "/bin/claude", CLAUDE.replace("LOG", self.log).encode())
        os.chmod(self.home + "/bin/claude", 0o755)
        self.log_in("bad")
        self.start(env={**os.environ, "HOME": self.home + "/me", "PATH": self.home + "/bin:" + os.environ["PATH"]})
        self.ticket("a", "ready")
        self.refused(1)

    def log_in(self, how):
        write(self.home + "/me/.claude/.credentials.json", {"token": how})

    def refused(self, starts):
        """Waits until the program was started so many times in all, and its login is refused."""
        def line():
            # In this order: a status from before the start would show the refusal before.
            return len(self.starts()) == starts and self.lines("status")[0]["reason"] == "login_refused"
        wait_until(line, starts, "starts", self.starts, lambda: self.lines("status"))

    def done(self):
        wait_until(lambda: self.lines("status")[0]["condition"] == "done", lambda: self.lines("status"))


def by_file(exe):
    with Box(exe) as box:
        # The same refusal again: one start for one change.
        box.log_in("still bad")
        box.refused(2)
        box.log_in("good")
        box.done()
        check(len(box.starts()) == 3, box.starts())


def by_configuration(exe):
    with Box(exe) as box:
        box.settings["limits"]["max_running"] = 7
        box.configure()
        box.call("reload")
        box.refused(2)
        box.log_in("good")
        box.done()


def by_command(exe):
    with Box(exe) as box:
        lines = box.call("limits", "--json").stdout
        told = subprocess.run([exe, "validate", "-", "--schema", "output/limits"], input=lines, capture_output=True, text=True)
        check("login_refused" in lines and told.returncode == 0, lines, told.stdout, told.stderr)
        box.call("resume", "--agent", "worker")
        box.refused(2)
        box.call("resume", "--provider", "anthropic")
        box.refused(3)


if __name__ == "__main__":
    world.main_parts([by_file, by_configuration, by_command])
