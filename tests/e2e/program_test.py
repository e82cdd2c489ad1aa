# SPDX-License-Identifier: Apache-2.0
"""A program that can no longer be started, or no longer be trusted, while the daemon runs: its start is held by
the name of the role, no attempt is burnt, and it happens by itself when all is well again.
usage: program_test.py BATON"""

import os
import re

import world
from world import check, wait_until


def held(baton, flow, *says):
    """Waits until status gives the reason; explain gives it too."""
    def told():
        return [line for line in baton.lines("status") if line["flow"] == flow and
                line["reason"] == "agent_unusable" and all(word in line["why"] for word in says)]
    wait_until(told, flow, "is held for", *says, lambda: baton.call("status").stdout)
    holds = baton.explain(flow)["holds"]
    check(any(hold["reason"] == "agent_unusable" and all(word in hold["why"] for word in says)
              for hold in holds), "explain says", holds)


def linked_for(loader):
    """A program for this machine as far as the kernel looks before it looks for the loader."""
    with open("/bin/true", "rb") as file:
        program = file.read()
    name = re.search(rb"/lib[0-9a-z/_.-]*/ld-[^\0]*", program).group()
    return program.replace(name + b"\0", loader.encode()[:len(name)].ljust(len(name) + 1, b"\0"), 1)


def never_entered(exe):
    """A program that passes all checks and still is none: stderr, the history and status say which and why."""
    spoilt = [("no_interpreter", b"#!HOME/no_loader.sh\n", "No such file or directory", "interpreter"),
              ("no_loader", linked_for("/no/such/loader"), "No such file or directory", "loader"),
              ("no_program", b"\x7fELF garbage", "Exec format error", "neither a program")]
    with world.World(exe, limits={"max_attempts": 1}) as baton:
        # An interpreter that is there, and cannot be run.
        with open(baton.home + "/no_loader.sh", "wb") as file:
            file.write(linked_for("/no/such/loader"))
        os.chmod(baton.home + "/no_loader.sh", 0o755)
        for name, content, error, guess in spoilt:
            program = f"{baton.home}/{name}.sh"
            with open(program, "wb") as file:
                file.write(content.replace(b"HOME", baton.home.encode()))
            os.chmod(program, 0o755)
            baton.settings["agents"] = {"worker": {"command": [program]}}
            baton.configure()
            baton.ticket(name, "ready")
            once = baton.once()
            check(once.returncode == 1, once)
            run, = (each for each in baton.lines("agents") if each["flow"] == "rules/t/" + name)
            check(run["outcome"] == "failed" and run["reason"] == "exec_failed", run)
            log = baton.call("logs", run["run"], "--stderr").stdout
            check(program in log and error in log and guess in log, "stderr says:", log)
            ended, = (each for each in baton.lines("events") if each["event"] == "ended" and each["run"] == run["run"])
            status, = (each for each in baton.lines("status") if each["flow"] == "rules/t/" + name)
            why = status["why"]
            for said in (ended["why"], why, once.stderr):
                check("exec_failed" in said and program in said and error in said, "is not said in", said)
            # The run by name, and the last line of its stderr.
            check(f"run {run['run'][:8]}, " in why and why.endswith(f': "{log.splitlines()[-1]}"'), why, log)
            do = f"correct {program}, or install what it needs, then `baton retry rules/t/{name}`"
            check((status["condition"], status["reason"], status["do"]) == ("failed", "attempts_exhausted", do), status)


def beside_the_root(exe):
    """`cwd` may begin with a placeholder that is a whole path."""
    with world.World(exe) as baton:
        os.mkdir(baton.root + "/inner")
        baton.settings["agents"] = {"worker": {**baton.counting("sh", "-c", "pwd >here"), "cwd": "${root}/inner"}}
        baton.configure()
        baton.ticket("a", "ready")
        baton.once()
        with open(baton.root + "/inner/here") as file:
            check(file.read() == os.path.realpath(baton.root) + "/inner\n", "it was started elsewhere")


def test(exe):
    never_entered(exe)
    beside_the_root(exe)
    with world.World(exe, limits={"max_attempts": 1}) as baton:
        program = baton.home + "/program.sh"
        os.rename(baton.agent, program)
        baton.settings["agents"] = {"worker": {"command": [program, baton.log]}, "other": {"command": ["/bin/true"]}}
        baton.configure()
        baton.start()
        baton.canary()
        aside = program + ".aside"

        def interpreter(name):
            with open(program) as file:
                text = file.read()
            world.write(program, ("#!" + name + "\n" + text.split("\n", 1)[1]).encode())
            os.chmod(program, 0o755)
        faults = [("no_x", lambda: os.chmod(program, 0o644), lambda: os.chmod(program, 0o755), "execut"),
                  ("open", lambda: os.chmod(program, 0o757), lambda: os.chmod(program, 0o755), "writ"),
                  ("gone", lambda: os.rename(program, aside), lambda: os.rename(aside, program), "program.sh"),
                  ("interpreter", lambda: interpreter("/no/such"), lambda: interpreter("/bin/sh"), "the interpreter /no/such")]
        for name, spoil, mend, says in faults:
            flow = "rules/t/" + name
            spoil()
            baton.ticket(name, "ready")
            held(baton, flow, "`worker`", says)
            wait_until(lambda: [each for each in baton.lines("events") if each["flow"] == flow and
                                each["event"] == "blocked" and says in each["why"]], "the daemon says so too")
            check(not baton.starts(flow), "it was started")
            mend()
            # Any look of the daemon will do; so it is not waited for the one that comes each minute.
            baton.canary()
            wait_until(lambda: len(baton.starts(flow)) == 1, flow, "starts by itself")
            baton.idle()
        check(all(each.attempt == "1" for each in baton.starts()), "attempts were burnt:", baton.starts())
        check(not [run for run in baton.lines("agents") if run["outcome"] != "succeeded"],
              "not all succeeded:", baton.call("agents").stdout)


if __name__ == "__main__":
    world.main(test)
