# SPDX-License-Identifier: Apache-2.0
"""Fake agent programs for the tests. Each behaves like the real command line as far as baton can see it: arguments,
prompt, sessions, output, error texts, exit codes and signals. README.md has the list of tricks and where the facts come
from. The programs themselves are in fake_programs.py.

The variable FAKE_CLI names a folder of the test:
  script.json  what each start does: {"claude": [STEP, ...]}; the last step repeats; without a list: ["ok"]
  work.sh      the work of an agent, run by every step that works; may be missing
  starts.jsonl one line for each start, written by the program
  sessions/    the sessions that exist
A step is the name of a trick, or an object {"do": TRICK, ...} with values of its own.
"""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time

OK_COST = 0.25
HUGE = 300 * 1024


def say(*objects):
    for each in objects:
        sys.stdout.write((each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)) + "\n")
    sys.stdout.flush()


def complain(text):
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def filled(value):
    """`@+3@` in a text is the time in three seconds, in seconds since 1970; `@ms+3@` the same in milliseconds."""
    if isinstance(value, str):
        for form, factor in (("@+", 1), ("@ms+", 1000)):
            while form in value:
                before, rest = value.split(form, 1)
                wait, after = rest.split("@", 1)
                # Up: a time that has passed a little would be no wait.
                value = before + str(int((time.time() + float(wait)) * factor) + 1) + after
    return value


class Cli:
    """What the programs have in common. `text`: of an error or an answer."""

    name = ""
    version = "1.0.0"
    prompt_by = "stdin"  # or argument, file

    def __init__(self, argv):
        self.argv = argv
        self.folder = os.environ["FAKE_CLI"]
        self.session = None
        self.resumed = False
        self.step = {}
        self.prompt = ""
        self.cost = OK_COST
        self.tokens = (100, 20)

    # --- the start ---

    def value_of(self, option):
        return self.argv[self.argv.index(option) + 1] if option in self.argv else None

    def read_prompt(self):
        if self.prompt_by == "stdin":
            # A prompt that never ends would hang the real programs as well.
            return sys.stdin.read()
        if self.prompt_by == "file":
            with open(self.value_of("--message-file")) as file:
                return file.read()
        return self.value_of("-p") or self.argv[-1]

    def take_step(self):
        """Which step this start is, and notes the start."""
        with open(self.folder + "/starts.jsonl", "a+") as log:
            fcntl.flock(log, fcntl.LOCK_EX)
            log.seek(0)
            before = sum(json.loads(line)["program"] == self.name for line in log)
            steps = self.script().get(self.name, ["ok"])
            step = steps[min(before, len(steps) - 1)]
            self.step = step if isinstance(step, dict) else {"do": step}
            env = {name: value for name, value in os.environ.items()
                   if name.startswith("BATON_") or name in ("TZ", "NO_COLOR", "CLAUDECODE")}
            log.write(json.dumps({"program": self.name, "do": self.step["do"], "argv": self.argv, "prompt": self.prompt,
                                  "session": self.session, "resumed": self.resumed, "env": env,
                                  "time": time.time()}) + "\n")

    def script(self):
        try:
            with open(self.folder + "/script.json") as file:
                return json.load(file)
        except FileNotFoundError:
            return {}

    def session_file(self, session):
        return f"{self.folder}/sessions/{self.name}.{session}"

    def know(self, session):
        os.makedirs(self.folder + "/sessions", exist_ok=True)
        with open(self.session_file(session), "a") as file:
            file.write("turn\n")

    def knows(self, session):
        return os.path.exists(self.session_file(session))

    def turns(self, session):
        """How many turns the session had before."""
        if not self.knows(session):
            return 0
        with open(self.session_file(session)) as file:
            return len(file.readlines())

    def run(self):
        if "--version" in self.argv:
            say(self.version)
            return 0
        self.choose_session()
        self.prompt = self.read_prompt()
        self.take_step()
        problem = self.session_problem()
        if problem is not None:
            return problem
        if self.session:
            self.know(self.session)
        return getattr(self, "do_" + self.step["do"])()

    def choose_session(self):
        pass

    def session_problem(self):
        """The exit code if the session cannot be used."""
        return None

    # --- the work ---

    def work(self):
        script = self.folder + "/work.sh"
        if os.path.exists(script) and not self.step.get("idle"):
            done = subprocess.run(["/bin/sh", script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True)
            if done.returncode != 0:
                complain("work.sh: " + done.stderr)

    def text(self, usual):
        return filled(self.step.get("text", usual))

    # --- tricks of every program; a class says how its program prints them ---

    def do_ok(self):
        self.begin()
        self.work()
        self.answer(self.text("done"))
        return 0

    def do_silent(self):
        """Nothing before the end."""
        time.sleep(self.step.get("seconds", 2))
        self.work()
        self.begin()
        self.answer("done")
        return 0

    def do_huge(self):
        """The result is one line of 300 KB."""
        self.begin()
        self.work()
        self.answer("x" * HUGE)
        return 0

    def do_echo(self):
        """Prints what it was told, and does nothing."""
        say("user instructions:", *self.prompt.split("\n"), "stream error")
        return 0

    def do_nothing(self):
        """Ends well, without a word."""
        return 0

    def do_truncated(self):
        """Is cut off in the middle of its result."""
        self.begin()
        sys.stdout.write('{"type":"result","subtype":"success","is_error":false,"total_cost_usd":9.0,"result":"do')
        sys.stdout.flush()
        return 0

    def do_idle(self):
        """Says that it is done, and has done nothing."""
        self.begin()
        self.answer(self.text("First half is done. Shall I go on?"))
        return 0

    def do_inconsistent(self):
        self.begin()
        self.answer("done")
        return 3

    def do_fail(self):
        """An error of the program's own kind. `code`: the exit code."""
        self.begin()
        self.error(self.text("API Error: 400 something is wrong"))
        return self.step.get("code", 1)

    def do_prose(self):
        """Works, and quotes limits in its answer and in the output of a tool."""
        self.begin()
        self.tool_output("You've hit your session limit \u00b7 resets 3:45pm")
        self.work()
        self.answer("I refactored the rate limit middleware: it prints `You've hit your usage limit` and 429 now.")
        return 0

    def do_stderr(self):
        """Only a text on stderr, and an exit code."""
        complain(self.text("Error: something is wrong"))
        return self.step.get("code", 1)

    def do_hang(self):
        """Works until it is ended."""
        self.begin()
        while True:
            time.sleep(1)

    def do_exit0(self):
        """Ends with 0 when it is told to end, and calls that a success."""
        def end(*_):
            self.answer("done")
            os._exit(0)
        signal.signal(signal.SIGTERM, end)
        return self.do_hang()

    def do_launcher(self):
        """A launcher that does not pass SIGTERM on: its child goes on working."""
        self.begin()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with open(self.folder + "/child.pid", "w") as file:
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=False)
            file.write(str(child.pid))
        child.wait()
        return 0

    def do_outlived(self):
        """A child lives on after the result."""
        self.begin()
        child = subprocess.Popen(["/bin/sleep", "600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        with open(self.folder + "/child.pid", "w") as file:
            file.write(str(child.pid))
        self.work()
        self.answer("done")
        return 0

    # --- what a program prints ---

    def begin(self):
        pass

    def tool_output(self, text):
        pass

    def answer(self, text):
        raise NotImplementedError

    def error(self, text):
        raise NotImplementedError
