"""Fake agent programs for the tests. Each behaves like the real command line as far as baton can see it: arguments,
prompt, sessions, output, error texts, exit codes and signals. README.md has the list of tricks and where the facts come
from. A program is one entry (`claude`, `codex`, ...) that calls `main` with its own class.

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
import uuid

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
    turns_code = 1

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
        # These two look at their session before anything else.
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


class Claude(Cli):
    name = "claude"
    version = "2.1.293 (Claude Code)"

    def choose_session(self):
        self.resumed = "--resume" in self.argv
        self.session = self.value_of("--resume") or self.value_of("--session-id") or str(uuid.uuid4())

    def session_problem(self):
        if self.resumed and (not self.knows(self.session) or self.step["do"] == "not_found"):
            say({"type": "result", "subtype": "error_during_execution", "is_error": True, "num_turns": 0,
                 "errors": ["No conversation found with session ID: " + self.session]})
            return 1
        if not self.resumed and (self.knows(self.session) or self.step["do"] == "in_use"):
            complain(f"Error: Session ID {self.session} is already in use.")
            return 1
        return None

    def begin(self):
        if not self.step.get("array"):
            say({"type": "system", "subtype": "init", "session_id": self.session, "model": "sonnet"})

    def tool_output(self, text):
        say({"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "content": text}]}})

    def result(self, **more):
        return {"type": "result", "subtype": "success", "is_error": False, "num_turns": 2, "session_id": self.session,
                "total_cost_usd": self.cost, "usage": {"input_tokens": 1, "output_tokens": 1},
                "modelUsage": {"sonnet": {"inputTokens": self.tokens[0], "outputTokens": self.tokens[1]}},
                "permission_denials": [], "terminal_reason": "completed", **more}

    def answer(self, text):
        said = {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}}
        say(said, self.result(result=text))

    def error(self, text):
        said = {"type": "assistant", "message": {"model": "<synthetic>", "content": [{"type": "text", "text": text}]},
                "error": self.step.get("error", "unknown")}
        say(said, self.result(is_error=True, terminal_reason="api_error", result=text, total_cost_usd=0.01,
                              api_error_status=self.step.get("status"), **self.step.get("result", {})))

    def do_array(self):
        """`--output-format json --verbose`: one array at the end."""
        self.step["array"] = True
        self.work()
        say(json.dumps([{"type": "system", "subtype": "init", "session_id": self.session}, self.result(result="done")]))
        return 0

    def do_pretty(self):
        """The array over many lines, behind text of a wrapper and in front of more of it."""
        self.work()
        say("wrapper: starting", json.dumps([{"type": "system"}, self.result(result="done")], indent=2), "wrapper: bye")
        return 0

    def do_two_results(self):
        """A background task reports after the result; the cost is that of the process so far."""
        self.begin()
        self.work()
        say(self.result(result="done"),
            self.result(result="The task has ended", total_cost_usd=9.0, is_error=True, origin={"kind": "task-notification"}),
            self.result(result="done, and looked at the task", total_cost_usd=0.75))
        return 0

    def do_limit_event(self):
        """A limit with its time as a number only."""
        self.begin()
        say({"type": "rate_limit_event", "session_id": self.session,
             "rate_limit_info": {"status": "rejected", "resetsAt": int(filled(self.step.get("resets", "@+3@"))),
                                 "rateLimitType": "five_hour"}})
        self.step["error"] = "rate_limit"
        self.error("You've hit your session limit")
        return 1

    def do_warned(self):
        """A subscription says in every good run how much of it is used."""
        self.begin()
        say({"type": "rate_limit_event", "session_id": self.session,
             "rate_limit_info": {"status": "allowed_warning", "resetsAt": int(time.time()) + 9000, "rateLimitType": "five_hour"}})
        self.work()
        self.answer("done")
        return 0

    def do_storm(self):
        """529 until it gives up."""
        self.begin()
        for attempt in (1, 2, 3):
            say({"type": "system", "subtype": "api_retry", "attempt": attempt, "max_retries": 10, "retry_delay_ms": 5,
                 "error_status": 529, "error": "overloaded"})
        self.step["error"] = "server_error"
        self.error("API Error: Repeated 529 Overloaded errors. The API is at capacity.")
        return 1

    def do_max_turns(self):
        self.begin()
        say({"type": "result", "subtype": "error_max_turns", "is_error": True, "num_turns": 41, "total_cost_usd": 1.4,
             "session_id": self.session, "errors": ["Reached maximum number of turns (40)"]})
        return 1

    def do_denied(self):
        """Was not allowed to write, and says so in prose."""
        self.begin()
        say(self.result(result="I need your permission.", permission_denials=[{"tool_name": "Write"}]))
        return 0

    def do_empty(self):
        self.begin()
        say(self.result(result=""))
        return 0

    def do_not_found(self):
        return self.do_ok()

    do_in_use = do_not_found


class Codex(Cli):
    name = "codex"
    version = "codex-cli 0.155.1"

    def choose_session(self):
        self.resumed = "resume" in self.argv
        self.session = self.value_of("resume") or "019a" + uuid.uuid4().hex[4:]

    def session_problem(self):
        if self.resumed and not self.knows(self.session):
            complain("Error: thread/resume: thread/resume failed: no rollout found for thread id " + self.session)
            return 1
        return None

    def begin(self):
        say({"type": "thread.started", "thread_id": self.session}, {"type": "turn.started"})

    def tool_output(self, text):
        say({"type": "item.completed", "item": {"id": "item_0", "type": "command_execution", "aggregated_output": text}})

    def answer(self, text):
        turns = self.turns(self.session)  # the numbers are those of the thread
        say({"type": "item.completed", "item": {"id": "item_1", "type": "agent_message", "text": text}},
            {"type": "turn.completed", "usage": {"input_tokens": 100 * turns, "cached_input_tokens": 10 * turns,
                                                 "output_tokens": 20 * turns, "reasoning_output_tokens": 0}})

    def error(self, text):
        say({"type": "error", "message": text}, {"type": "turn.failed", "error": {"message": text}})

    def do_reconnecting(self):
        """Loses its connection twice and goes on."""
        self.begin()
        for attempt in (1, 2):
            say({"type": "error", "message": f"Reconnecting... {attempt}/5 (unexpected status 401 Unauthorized: )"})
        say({"type": "item.completed", "item": {"id": "item_0", "type": "error", "message": "Model metadata not found."}})
        self.work()
        self.answer("done")
        return 0

    def do_interrupted(self):
        """A turn that was interrupted prints no end."""
        self.begin()
        return 0


class Gemini(Cli):
    name = "gemini"
    version = "0.56.0"
    turns_code = 53

    def choose_session(self):
        self.resumed = "--resume" in self.argv
        self.session = self.value_of("--resume") or self.value_of("--session-id") or str(uuid.uuid4())

    def session_problem(self):
        if self.resumed and not self.knows(self.session):
            complain(f"Error resuming session: Invalid session identifier \"{self.session}\".")
            return 42
        return None

    def begin(self):
        say({"type": "init", "session_id": self.session, "model": "gemini"},
            {"type": "message", "role": "user", "content": self.prompt})

    def tool_output(self, text):
        say({"type": "tool_result", "tool_id": "1", "status": "success", "output": text})

    def answer(self, text):
        say({"type": "message", "role": "assistant", "content": text, "delta": True},
            {"type": "result", "status": "success",
             "stats": {"total_tokens": 120, "input_tokens": 100, "output_tokens": 20, "cached": 0, "models": {}}})

    def error(self, text):
        say({"type": "result", "status": "error", "error": {"type": "unknown", "message": f"[API Error: {text}]"}, "stats": {}})

    def do_filtered(self):
        """An answer that the provider has filtered: no error object, and exit 0."""
        self.begin()
        say({"type": "result", "status": "error", "stats": {}})
        return 0


class Opencode(Cli):
    name = "opencode"
    version = "1.14.25"

    def choose_session(self):
        self.resumed = "--session" in self.argv
        self.session = self.value_of("--session") or "ses_" + uuid.uuid4().hex

    def session_problem(self):
        if self.resumed and not self.knows(self.session):
            complain("Error: Session not found")
            return 1
        return None

    def line(self, kind, **more):
        say({"type": kind, "timestamp": int(time.time() * 1000), "sessionID": self.session, **more})

    def begin(self):
        self.line("step_start", part={})

    def tool_output(self, text):
        self.line("tool_use", part={"state": {"output": text}})
        self.line("step_finish", part={"reason": "tool-calls", "cost": 0.05, "tokens": {"input": 10, "output": 5}})

    def answer(self, text):
        self.line("text", part={"text": text})
        self.line("step_finish", part={"reason": "stop", "cost": OK_COST, "tokens": {"input": 100, "output": 20, "reasoning": 0}})

    def error(self, text):
        self.line("error", error={"name": "APIError", "data": {"message": text, "statusCode": self.step.get("status", 400),
                                                             "isRetryable": False}})


class Aider(Cli):
    """Prints everything on stdout and ends with 0."""

    name = "aider"
    version = "aider 0.86.0"
    prompt_by = "file"

    def answer(self, text):
        say("Aider v0.86.0", text, "Tokens: 1k sent, 20 received. Cost: $0.01 message, $0.01 session.")

    def error(self, text):
        say("Aider v0.86.0", text)

    def tool_output(self, text):
        say("> the test printed: " + text)


class Goose(Cli):
    name = "goose"
    version = "1.9.0"

    def choose_session(self):
        self.resumed = "--resume" in self.argv
        self.session = self.value_of("--name")

    def begin(self):
        say({"type": "notification", "extension_id": "x"})

    def message(self, text):
        say({"type": "message", "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}})

    def answer(self, text):
        self.message(text)
        say({"type": "complete", "total_tokens": 120})

    def error(self, text):
        self.answer("Ran into this error: " + text
                    + "\n\nPlease retry if you think this is a transient or recoverable error.")


class Qwen(Cli):
    name = "qwen"
    version = "0.3.0"
    turns_code = 53

    def choose_session(self):
        self.resumed = "--resume" in self.argv
        self.session = self.value_of("--resume") or str(uuid.uuid4())

    def session_problem(self):
        if self.resumed and not self.knows(self.session):
            complain("No saved session found with ID " + self.session)
            return 1
        return None

    def begin(self):
        say({"type": "system", "subtype": "init", "session_id": self.session})

    def answer(self, text):
        say({"type": "result", "subtype": "success", "is_error": False, "result": text, "session_id": self.session,
             "usage": {"input_tokens": 100, "output_tokens": 20}})

    def error(self, text):
        say({"type": "result", "subtype": "error_during_execution", "is_error": True, "session_id": self.session,
             "error": {"message": f"[API Error: {text}]"}})

    def do_array(self):
        self.work()
        say(json.dumps([{"type": "system", "subtype": "init", "session_id": self.session},
                        {"type": "result", "subtype": "success", "is_error": False, "result": "done",
                         "usage": {"input_tokens": 100, "output_tokens": 20}}]))
        return 0


class Kimi(Cli):
    """Has no result object: only a run that ended well prints how to resume its session."""

    name = "kimi"
    version = "kimi, version 0.38"
    prompt_by = "argument"

    def choose_session(self):
        self.resumed = "--session" in self.argv
        self.session = self.value_of("--session") or uuid.uuid4().hex

    def session_problem(self):
        if self.resumed and not self.knows(self.session):
            complain(f"error: Session \"{self.session}\" not found")
            return 1
        return None

    def answer(self, text):
        say({"role": "assistant", "content": text},
            {"role": "meta", "type": "session.resume_hint", "session_id": self.session})

    def error(self, text):
        complain("error: failed to run prompt: " + text)
        complain("See log: /nowhere/kimi.log")


class Amp(Claude):
    name = "amp"
    version = "0.0.1"
    prompt_by = "argument"

    def read_prompt(self):
        return self.value_of("-x")

    def choose_session(self):
        self.resumed = "continue" in self.argv
        self.session = self.value_of("continue") or "T-" + str(uuid.uuid4())


class Cursor(Claude):
    """After a failure it prints no result, only text on stderr."""

    name = "cursor-agent"
    version = "2026.08"
    prompt_by = "argument"

    def read_prompt(self):
        return self.argv[-1]

    def choose_session(self):
        self.resumed = "--resume" in self.argv
        self.session = self.value_of("--resume") or str(uuid.uuid4())

    def begin(self):
        super().begin()
        say({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": self.prompt}]}})

    def error(self, text):
        complain(text)


class Copilot(Cli):
    name = "copilot"
    version = "1.0.78"
    prompt_by = "argument"

    def choose_session(self):
        resumes = [each for each in self.argv if each.startswith("--resume=")]
        self.resumed = bool(resumes)
        self.session = resumes[0].split("=", 1)[1] if resumes else self.value_of("--session-id")

    def answer(self, text):
        say({"type": "assistant.message", "data": {"content": text, "outputTokens": 7}},
            {"type": "result", "sessionId": self.session, "exitCode": 0, "usage": {"premiumRequests": 1}})

    def error(self, text):
        say({"type": "session.error", "data": {"message": text, **self.step.get("data", {})}},
            {"type": "result", "sessionId": self.session, "exitCode": 1, "usage": {"premiumRequests": 0}})


class Crush(Cli):
    name = "crush"
    version = "crush 0.9"

    def answer(self, text):
        say(text)

    def error(self, text):
        complain("ERROR " + text)


PROGRAMS = {each.name: each for each in (Claude, Codex, Gemini, Opencode, Aider, Goose, Qwen, Kimi, Amp, Cursor, Copilot, Crush)}


def main(name):
    code = PROGRAMS[name](sys.argv[1:]).run()
    sys.stdout.flush()
    sys.exit(code)
