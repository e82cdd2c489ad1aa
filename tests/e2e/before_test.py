# SPDX-License-Identifier: Apache-2.0
"""`before` of an agent: it has to succeed before the agent is entered, it belongs to the run, and it is part of
"started once". usage: before_test.py BATON"""

import os
import signal

import world
from world import check, only_unchanged, wait_until, World

HOOK = """#!/bin/sh
# usage: hook LOG KIND SUBJECT
printf '%s\\n' "$BATON_RUN_ID $3 $BATON_ATTEMPT $(pwd)" >>"$1"
echo "the hook speaks"
case $2 in
  fails) exit 7 ;;
  hangs) sleep 600 ;;
  waits) while ! [ -e "$1.go" ]; do sleep 0.1; done ;;
  makes) mkdir -p "trees/$3" ;;
esac
"""


def lines(path):
    with open(path) as file:
        return [line.split() for line in file.read().splitlines()]


class Hooked(World):
    def __init__(self, baton, kind, **before):
        super().__init__(baton, limits={"max_attempts": 2})
        self.hook = self.home + "/hook.sh"
        self.hooks = self.home + "/hooks.log"
        open(self.hooks, "w").close()
        with open(self.hook, "w") as file:
            file.write(HOOK)
        os.chmod(self.hook, 0o755)
        worker = self.counting("/bin/sh", "-c", "echo worked; pwd")
        worker["before"] = {"command": [self.hook, self.hooks, kind, "${flow_name}"], **before}
        if kind == "makes":
            worker["cwd"] = self.root + "/trees/${flow_name}"
        self.settings["agents"] = {"worker": worker}
        self.configure()

    def reasons(self):
        return [(run["outcome"], run.get("reason")) for run in self.lines("agents")]


def prepares(exe):
    with Hooked(exe, "makes") as box:
        box.ticket("one", "ready")
        once = box.once()
        check(only_unchanged(once), once)
        check(len(box.starts()) == 1 and len(lines(box.hooks)) == 1, box.starts(), lines(box.hooks))
        check(lines(box.hooks)[0][0] == box.starts()[0].run, "another run")
        check(lines(box.hooks)[0][3] == os.path.realpath(box.root), "the hook ran in", lines(box.hooks)[0][3])
        out = box.call("logs", box.starts()[0].run, "--stdout").stdout
        check("worked" in out and "/trees/t/one" in out and "the hook" not in out, out)
        check("the hook speaks" in box.call("logs", box.starts()[0].run, "--stderr").stdout)


def fails(exe):
    with Hooked(exe, "fails") as box:
        box.ticket("one", "ready")
        box.once()
        check(not box.starts(), "the agent was entered", box.starts())
        check([each[2] for each in lines(box.hooks)] == ["1", "2"], lines(box.hooks))
        check(box.reasons() == [("failed", "before_failed")] * 2, box.reasons())


def takes_too_long(exe):
    with Hooked(exe, "hangs", timeout="200ms") as box:
        box.ticket("one", "ready")
        box.once()
        check(not box.starts(), "the agent was entered", box.starts())
        check(box.reasons() == [("failed", "before_timeout")] * 2, box.reasons())
        check(not world.processes_with(box.hook), "the hook was left behind")


def is_stopped_and_adopted(exe):
    with Hooked(exe, "hangs", timeout="0s") as box:
        box.start()
        box.ticket("one", "ready")
        wait_until(lambda: lines(box.hooks), "the hook runs")
        box.daemon.send_signal(signal.SIGKILL)
        box.daemon.wait()
        box.start()
        wait_until(lambda: box.lines("agents"), "the daemon is back")
        check(box.reasons()[0][0] in (None, "none", ""), "it was not adopted", box.reasons())
        box.call("stop", "--all")
        wait_until(lambda: box.reasons() and box.reasons()[0][0] == "stopped", "it ends", box.reasons)
        check(not world.processes_with(box.hook), "the hook was left behind")
        check(len(lines(box.hooks)) == 1 and not box.starts(), "it was run again", lines(box.hooks))


def kill_shim(box):
    """Its shim alone; the agent's process, which waits for the hook, looks just like it."""
    run = wait_until(lambda: box.lines("agents"), "the run is known")[0]
    os.kill(run["pid"], signal.SIGKILL)
    return run["run"]


def its_shim_is_killed(exe):
    """The daemon sees that no shim lives any more, ends the tree, and goes on to the next attempt."""
    with Hooked(exe, "waits") as box:
        box.start()
        box.ticket("one", "ready")
        wait_until(lambda: lines(box.hooks), "the hook runs")
        run = kill_shim(box)
        wait_until(lambda: len(lines(box.hooks)) == 2, "the next attempt", lambda: box.lines("agents"))
        check(("unknown", "shim_killed") in box.reasons(), box.reasons())
        left = world.processes_with("BATON_RUN_ID=" + run)
        check(not left, "something of the killed one is left", left)
        world.write(box.hooks + ".go", b"")
        wait_until(lambda: box.starts(), "the second attempt is had")
        box.idle()
        check([each.attempt for each in box.starts()] == ["2"], box.starts())


def nobody_is_left(exe):
    """Shim and daemon are killed: the agent is not entered, though its hook ends well, and `stop` can end it."""
    with Hooked(exe, "waits") as box:
        box.start()
        box.ticket("one", "ready")
        wait_until(lambda: lines(box.hooks), "the hook runs")
        box.daemon.kill()
        box.daemon.wait()
        run = kill_shim(box)
        world.write(box.hooks + ".go", b"")
        wait_until(lambda: not world.processes_with(run), "the hook ends")
        check(not box.starts(), "the agent was entered", box.starts())
        box.call("stop", "rules/t/one")
        check([outcome for outcome, _ in box.reasons()] == ["stopped"], box.reasons())


def test(exe):
    prepares(exe)
    fails(exe)
    takes_too_long(exe)
    is_stopped_and_adopted(exe)
    its_shim_is_killed(exe)
    nobody_is_left(exe)


if __name__ == "__main__":
    world.main(test)
