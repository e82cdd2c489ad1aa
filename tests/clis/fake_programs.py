# SPDX-License-Identifier: Apache-2.0
"""The agent programs that are faked: how each reads its session, and what it prints. See fake_cli.py and README.md."""

import json
import sys
import time
import uuid

from fake_cli import OK_COST, Cli, complain, filled, say


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
