# SPDX-License-Identifier: Apache-2.0
"""TAB completes flows, runs, roles, dialects, stages and more in real shells, and runs no program that a file, the
journal or the line names. usage: completions_test.py BATON [PART...]"""

import os
import pty
import select
import shutil
import signal
import sqlite3
import subprocess

import world
from world import check, skip, wait_until, write

HOSTILE = ["$(touch PWNED)", "`touch PWNED`", "a;touch PWNED", "x$(touch${IFS}PWNED)", "${BASH_SOURCE:+}$(touch PWNED)",
           "a b", "*", "~root", "{a,b}", "'quote", 'double"', "a\\b", "!!", "a|b", "a>b", "a=b", "a&b", "ä ö", "#x"]
# No terminal can show these.
HIDDEN = ["a\x1b[31mx", "zero\u200bwidth", "a\nb", "a\tb"]
PLAIN = ["one", "two-2", "v1.2"]
# With a beginning of its own, each name is the only one that fits.
STAGES = {f"s{number:02}": f"s{number:02}{name}" for number, name in enumerate(HOSTILE)}
UNSEEN = {f"h{number:02}": f"h{number:02}{name}" for number, name in enumerate(HIDDEN)}
RULES = [world.World.TICKETS,
         {"name": "parts", "files": "parts/{flow}.json", "stage": "/{subject}/status", "react": [{"to": "ready", "run": "developer"}],
          "stages": ["idle", "ready", "review:2", *STAGES.values(), *UNSEEN.values()]}]
WORKFLOW = "version: 1\nsteps:\n  - { id: plan, agent: planner, prompt: p.md }\n  - { id: review, agent: critic, prompt: p.md }\n"

# Stands for baton once the line is complete: keeps the words.
STAND_IN = """#!/bin/sh
case $1 in
  __complete|completions) exec '%s' "$@" ;;
esac
printf '%%s\\0' "$@" >'%s.new' && mv '%s.new' '%s'
"""


def project(exe):
    """A root that has been served: flows, a run, subjects, and all of it with hostile names, too."""
    baton = world.World(os.path.realpath(exe), rules=RULES)
    baton.settings["agents"]["developer"] = baton.settings["agents"]["worker"]
    baton.settings["dialects"] = {"fsm_loop": {}}
    baton.configure()
    for name in PLAIN + HOSTILE + HIDDEN:
        baton.ticket(name.replace("/", "_"), "idle")
    baton.ticket("started", "ready")
    write(baton.root + "/parts/all.json", {name: {"status": "idle"} for name in ["lone", *STAGES.values(), *UNSEEN.values()]})
    done = baton.once()
    check(world.only_unchanged(done), done.returncode, done.stderr)
    shutil.copy(baton.config, baton.root + "/baton.yaml")
    write(baton.root + "/wf.yaml", WORKFLOW.encode())
    path = next(os.path.join(at, "journal.db") for at, _, names in os.walk(baton.state) if "journal.db" in names)
    with sqlite3.connect(path) as rows:
        for name in HOSTILE + HIDDEN:
            rows.execute("INSERT INTO controls VALUES('rules',?,'pause','paused','x',1,0,1)", ("t/" + name,))
    return baton


def environment(baton):
    """Nothing of the user's own settings; `baton` is the stand-in."""
    folder = baton.home + "/bin"
    os.makedirs(folder, exist_ok=True)
    out = baton.home + "/words"
    write(folder + "/baton", (STAND_IN % (baton.exe, out, out, out)).encode())
    os.chmod(folder + "/baton", 0o755)
    keep = {key: value for key, value in os.environ.items() if not key.startswith(("BATON_", "XDG_", "fish"))}
    return {**keep, "PATH": folder + ":" + os.environ["PATH"], "BATON_STATE_DIR": baton.state, "HOME": baton.home, "TERM": "xterm",
            "ZDOTDIR": baton.home, "XDG_CONFIG_HOME": baton.home + "/.config", "XDG_DATA_HOME": baton.home + "/.local/share",
            "INPUTRC": "/dev/null", "LC_ALL": "C.UTF-8"}


def set_up(shell, baton, env):
    """Installs the completions where each shell looks for them. Returns the command of the shell."""
    text = subprocess.run([baton.exe, "completions", shell], check=True, capture_output=True).stdout
    if shell == "bash":
        write(baton.home + "/rc", b"PS1='READY> '\nHISTFILE=\nset +o history\n" + text)
        return ["bash", "--noprofile", "--rcfile", baton.home + "/rc", "-i"]
    if shell == "zsh":
        write(baton.home + "/functions/_baton", text)
        write(baton.home + "/.zshrc", b"PS1='READY> '\nunsetopt zle_bracketed_paste prompt_sp 2>/dev/null\n"
              b"fpath=(~/functions $fpath)\nautoload -Uz compinit\ncompinit -u -D\n")
        return ["zsh", "-d", "-i"]
    write(env["XDG_CONFIG_HOME"] + "/fish/completions/baton.fish", text)
    write(env["XDG_CONFIG_HOME"] + "/fish/config.fish", b"set -g fish_greeting\nfunction fish_prompt; printf 'READY> '; end\n")
    return ["fish", "-i"]


class Terminal:
    """A shell in a terminal of its own, in the root of the project."""

    def __init__(self, shell, baton):
        self.baton = baton
        self.words = baton.home + "/words"
        env = environment(baton)
        command = set_up(shell, baton, env)
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            os.chdir(baton.root)
            os.execvpe(command[0], command, env)
        self.said = b""
        wait_until(lambda: b"READY> " in self.read(), shell, "shows no prompt", lambda: self.said)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.end)

    def read(self):
        while select.select([self.end], [], [], 0)[0]:
            try:
                self.said += os.read(self.end, 65536)
            except OSError:
                break
        return self.said

    def becomes(self, line):
        """The words that baton gets after the line was typed (with TAB and all) and sent."""
        self.said = b""
        os.write(self.end, line.encode() + b"\r")

        def come():
            self.read()
            return os.path.exists(self.words)
        wait_until(come, repr(line), "was not carried out:", lambda: self.said)
        with open(self.words, "rb") as file:
            words = file.read().decode().split("\0")[:-1]
        os.unlink(self.words)
        check(not os.path.lexists(self.baton.root + "/PWNED"), "TAB ran a program after", repr(line))
        return words

    def lists(self, line, text):
        """What is shown after a line that several words may follow."""
        self.said = b""
        os.write(self.end, line.encode())
        wait_until(lambda: text in self.read(), text, "is not listed:", lambda: self.said)
        listed, self.said = self.said, b""
        os.write(self.end, b"\x03")
        wait_until(lambda: b"READY> " in self.read(), "no new prompt:", lambda: self.said)
        check(self.becomes("baton version") == ["version"], self.said)
        return listed

    def says(self, line, text):
        """What is shown until the text comes, after a line is typed and sent."""
        self.said = b""
        os.write(self.end, line.encode() + b"\r")
        wait_until(lambda: text in self.read(), text, "is not shown:", lambda: self.said)
        return self.said

    def wants(self, line, *words):
        got = self.becomes("baton " + line)
        check(got == list(words), repr(line), "became", got, "not", list(words), self.said)


def complete_in(shell, exe):
    if shutil.which(shell) is None:
        skip("there is no", shell)
    with project(exe) as baton, Terminal(shell, baton) as terminal:
        run = baton.call("agents", "--names").stdout.split()[0]
        wants = terminal.wants
        wants("valid\t", "validate")
        wants("events --foll\t", "events", "--follow")
        # Flows, runs, roles, dialects, stages and conditions, subjects, steps.
        wants("pause rules/t/tw\t", "pause", "rules/t/two-2")
        wants("events --flow rules/t/tw\t", "events", "--flow", "rules/t/two-2")
        wants("run --once --flow rules/t/v\t", "run", "--once", "--flow", "rules/t/v1.2")
        wants(f"logs {run[:6]}\t", "logs", run)
        wants("events --role dev\t", "events", "--role", "developer")
        wants("events --role=dev\t", "events", "--role=developer")
        wants("resume --agent wo\t", "resume", "--agent", "worker")
        wants("status --dialect fsm\t", "status", "--dialect", "fsm_loop")
        wants("status --only blocked,fai\t", "status", "--only", "blocked,failed")
        wants("retry --all --only fai\t", "retry", "--all", "--only", "failed")
        wants("wait rules/t/one --until rea\t", "wait", "rules/t/one", "--until", "ready")
        wants("wait rules/t/one --until condition:fai\t", "wait", "rules/t/one", "--until", "condition:failed")
        wants("wait rules/parts/all --until stage:rev\t", "wait", "rules/parts/all", "--until", "stage:review:2")
        wants("retry rules/parts/all lo\t", "retry", "rules/parts/all", "lone")
        wants("start wf.yaml --start-at-step rev\t", "start", "wf.yaml", "--start-at-step", "review")
        wants("resume --raise cost_per_d\t5", "resume", "--raise", "cost_per_day=5")
        # Words that are fixed, and files.
        wants("hook ins\t", "hook", "install")
        wants("costs --by prov\t", "costs", "--by", "provider")
        wants("schema adapter goo\t", "schema", "adapter", "goose")
        wants("validate --as part\t", "validate", "--as", "parts")
        wants("validate wf\t", "validate", "wf.yaml")
        wants("start wf\t", "start", "wf.yaml")
        wants("explain rules/t/tw\t", "explain", "rules/t/two-2")
        wants("status --root par\t", "status", "--root", "parts" if shell == "zsh" else "parts/")
        # Names with special characters arrive as they are.
        for begin, name in STAGES.items():
            if ":" not in name:
                wants(f"wait rules/parts/all --until {begin}\t", "wait", "rules/parts/all", "--until", name)
            wants(f"retry rules/parts/all {begin}\t", "retry", "rules/parts/all", name)
            if shell == "bash" and not set('!"') & set(name):
                wants(f'retry rules/parts/all "{begin}\t', "retry", "rules/parts/all", name)
            if shell == "bash" and "'" not in name:
                wants(f"retry rules/parts/all '{begin}\t", "retry", "rules/parts/all", name)
        wants("events --role $\t", "events", "--role", "$") if shell == "bash" else None
        # A name that no terminal can show is not offered.
        for begin in UNSEEN:
            wants(f"retry rules/parts/all {begin}\t", "retry", "rules/parts/all", begin)
        # All names are listed.
        listed = terminal.lists("baton retry rules/parts/all " + ("\t\t" if shell == "bash" else "\t"), b"s18")
        check(b"\x1b[31mx" not in listed and b"h00" not in listed, listed)
        # Without a configuration that can be used there is nothing to offer, and nothing is said.
        write(baton.root + "/baton.yaml", b"version: [\n")
        wants("events --role dev\t", "events", "--role", "dev")
        check(b"baton:" not in terminal.said and b"error" not in terminal.said, terminal.said)
        # So it is when baton itself is gone.
        os.unlink(baton.home + "/bin/baton")
        said = terminal.says("baton status \t\x15printf 'it is %s' over", b"it is over")
        check(b"ommand" not in said and b"such" not in said, said)


def bash(exe):
    complete_in("bash", exe)


def zsh(exe):
    complete_in("zsh", exe)


def fish(exe):
    complete_in("fish", exe)


def ask(baton, *words, folder=None, env=None):
    """What baton answers the scripts, after the line that says who adds files."""
    done = subprocess.run([baton.exe, "__complete", *words], cwd=folder or baton.root, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=600, env={**os.environ, "BATON_STATE_DIR": baton.state, **(env or {})})
    check(done.returncode == 0 and not done.stderr, done)
    return [line.split("\t")[0] for line in done.stdout.split("\n")[1:-1]]


def offered(baton, *words):
    return ask(baton, "zsh", "baton", *words)


def every_command(exe):
    """Each command offers its options, and a flow, a run or a role wherever its help has one."""
    with project(exe) as baton:
        names = baton.call("status", "--names").stdout.split("\n")[:-1]
        check("rules/t/two-2" in names, names)
        flows = offered(baton, "status", "")
        check(set(names) <= set(flows), set(names) - set(flows))
        # The shell hands over what was typed.
        home, name = os.path.split(baton.root)
        for typed in ("~/", "$HOME/", "${HOME}/"):
            found = ask(baton, "zsh", "baton", "status", "--root", typed + name, "rules/", folder="/", env={"HOME": home})
            check("rules/t/two-2" in found, typed, found)
        run = baton.call("agents", "--names").stdout.split()
        commands = offered(baton, "")
        check("validate" in commands and "__complete" not in commands, commands)
        for command in commands:
            text = subprocess.run([baton.exe, command, "--help"], check=True, capture_output=True, text=True).stdout
            check("--help" in offered(baton, command, "--"), command, "offers no options")
            usage = next(line for line in text.split("\n") if line.startswith("Usage"))
            if "FLOW" in usage:
                check("rules/t/two-2" in offered(baton, command, ""), command, "offers no flows")
            if "SUBJECT" in usage:
                check("lone" in offered(baton, command, "rules/parts/all", ""), command, "offers no subjects")
            if "RUN" in usage:
                check(offered(baton, command, "") == run, command, "offers no runs")
            for option, what in (("--flow FLOW", "rules/t/two-2"), ("--role ROLE", "developer"), ("--dialect ", "fsm_loop"), ("--adapter ", "claude")):
                if option in text:
                    check(what in offered(baton, command, option.split()[0], ""), command, option, "offers nothing")
        # No terminal can show some names.
        subjects = offered(baton, "retry", "rules/parts/all", "")
        check(set(STAGES.values()) <= set(subjects), subjects)
        check(not [each for each in subjects if each.startswith(tuple(UNSEEN))], subjects)
        # A flow without files is offered where it can be looked at or forgotten.
        os.unlink(baton.root + "/tickets/started.json")
        check("rules/t/started" in offered(baton, "forget", "") and "rules/t/started" not in offered(baton, "pause", ""), "gone")
        # Beside a daemon, its configuration counts while the file is broken.
        baton.start()
        check("rules/t/two-2" in offered(baton, "pause", "--config", baton.config, ""), "no flows beside a daemon")
        write(baton.config, b"version: [\n")
        check("rules/t/two-2" in offered(baton, "pause", "--config", baton.config, ""), "no flows of the daemon's configuration")


def always_silent(exe):
    """Nothing is said and nothing fails, whatever is typed and whatever is broken."""
    with project(exe) as baton:
        breaks = " \t\n\"'@><=;|&(:"
        for typed in HOSTILE + HIDDEN + ["", "-", "--", "--x=", "'", "\\", "a" * 100000]:
            for command in ("status", "logs", "schema", "wait --until", "retry rules/parts/all", "$(touch PWNED)", ""):
                ask(baton, "bash", f"baton {command} {typed}", breaks)
                ask(baton, "fish", "baton", *command.split(), typed)
        for words in ((), ("bash",), ("zsh",), ("tcsh", "baton", "status", "")):
            ask(baton, *words)
        check(not os.path.lexists(baton.root + "/PWNED"), "something was run")
        for each in HOSTILE + HIDDEN:
            check(f"t/{each}" not in ask(baton, "bash", "baton forget ", breaks) or each.isalnum(), each)
        # Where there is nothing.
        empty = baton.home + "/empty"
        os.mkdir(empty)
        check(not ask(baton, "zsh", "baton", "status", "", folder=empty), "flows of nowhere")
        check(not ask(baton, "zsh", "baton", "logs", "", folder=empty, env={"BATON_STATE_DIR": "/proc/none"}), "runs of nowhere")
        check(not offered(baton, "status", "--root", baton.home + "/none", ""), "flows of a root that is not there")
        for at, _, names in os.walk(baton.state):
            for name in names:
                if name.startswith("journal.db"):
                    write(os.path.join(at, name), b"no database" * 1000)
        check(not offered(baton, "logs", ""), "runs of a damaged journal")
        # A reader that is gone, and a full disk.
        for end in ("| true", ">/dev/full", ">&-"):
            done = subprocess.run(["bash", "-c", f'"$1" __complete zsh baton status "" {end}', "-", baton.exe], cwd=baton.root, capture_output=True)
            check(not done.stdout and not done.stderr, done)


if __name__ == "__main__":
    world.main_parts([every_command, always_silent, bash, zsh, fish])
