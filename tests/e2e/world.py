# SPDX-License-Identifier: Apache-2.0
"""What the tests of the whole program share: a project in a temporary folder, its daemon, and agents that
count themselves in a log outside of it. Nothing here asserts a time: waiting is asking again until the
answer is there, and the limit only ends a test that has failed anyway."""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE = int(os.environ.get("BATON_PATIENCE", "120"))  # seconds
# scripts/prove goes through everything; scripts/test takes a sample of what would take long, another one each day.
COMPLETE = os.environ.get("BATON_COMPLETE") == "1"
# Days since 1970. Set in the environment, it repeats the sample of another day.
DAY = int(os.environ.get("BATON_DAY") or time.time() // 86400)

# Agents append one line in one write, so lines of many agents never mix.
AGENT = """#!/bin/sh
printf '%s\\n' "$BATON_RUN_ID $BATON_FLOW $BATON_SUBJECT $BATON_PURPOSE $BATON_ATTEMPT" >>"$1"
shift
[ $# -eq 0 ] || exec "$@"
"""


class Start:
    """One line of the agents' log."""

    def __init__(self, line):
        self.run, self.flow, self.subject, self.purpose, self.attempt = line.split()

    def __repr__(self):
        return f"{self.flow}#{self.subject} {self.purpose} attempt {self.attempt} ({self.run})"


def can_trace():
    try:
        subprocess.run(["strace", "-o", "/dev/null", "/bin/true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def skip(*why):
    print("skipped:", *why)
    sys.exit(77)


def check(claim, *says):
    if not claim:
        raise AssertionError(" ".join(str(each) for each in says) or "see the line above")


def only_unchanged(done, *reasons):
    """Whether `run --once` ended with 1 for nothing but flows whose agents ended well and left the stage as it was. With
    reasons: for these, each of them."""
    left = re.findall(r"Z warning (?:\S+: )?\S+ is (\w+: \w+)", done.stderr)
    return done.returncode == 1 and set(left) == set(reasons or ["blocked: no_change"])


def sample(items, number, most=None):
    """At most that many, evenly spread, others each day. In scripts/prove at most `most`, or all of them."""
    items = list(items)
    number = (most or len(items)) if COMPLETE else number
    if len(items) <= number:
        return items
    step = -(-len(items) // number)
    chosen = items[DAY % step::step]
    print(f"a sample of day {DAY}: {len(chosen)} of {len(items)}, each {step}th from number {DAY % step} on", flush=True)
    return chosen


def sanitized(exe):
    """Whether the program was built with the address sanitizer: it needs much more time and memory."""
    with open(exe, "rb") as program:
        return b"__asan_init" in program.read()


def wait_until(claim, *says):
    """Asks until the answer is true, and returns it: seldom where it takes long, for most of what is asked is a
    command, and the processor is wanted by what is waited for."""
    begin = time.monotonic()
    while True:
        answer = claim()
        if answer:
            return answer
        waited = time.monotonic() - begin
        if waited > PATIENCE:
            says = [each() if callable(each) else each for each in says]
            raise AssertionError("never came true: " + " ".join(str(each) for each in says))
        time.sleep(min(max(0.02, waited / 8), 0.25))


def write(path, content):
    """Replaces a file as a whole, as a careful agent does."""
    data = content if isinstance(content, bytes) else (json.dumps(content) + "\n").encode()
    folder, name = os.path.split(path)
    os.makedirs(folder, exist_ok=True)
    temporary = f"{folder}/.{name}.{os.getpid()}.tmp"
    with open(temporary, "wb") as file:
        file.write(data)
    os.rename(temporary, path)


def on_terminal(command, folder=None, no_colour="1"):
    """Exit code and what a terminal gets."""
    above, below = pty.openpty()
    done = subprocess.Popen(command, cwd=folder, stdout=below, stderr=below, stdin=subprocess.DEVNULL,
                            env={**os.environ, "NO_COLOR": no_colour})
    os.close(below)
    said = b""
    while True:
        try:
            piece = os.read(above, 65536)
        except OSError:
            break
        if not piece:
            break
        said += piece
    os.close(above)
    return done.wait(600), said


def state_of(pid):
    """The letter of /proc; OSError: it is gone."""
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0]


def carries(pid, marker):
    """Whether a living process has the text in its environment or command line."""
    def has(name):
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return marker.encode() in file.read()
    try:
        return state_of(pid) != "Z" and (has("environ") or has("cmdline"))
    except OSError:
        return False  # it has ended meanwhile


def processes_with(marker):
    """Pids of living processes that carry the text."""
    return [int(pid) for pid in filter(str.isdigit, os.listdir("/proc")) if carries(pid, marker)]


def asked_for_leaks(more=None):
    """The environment of a daemon. Commands are not asked for leaks (CMakeLists.txt), daemons are."""
    return {name: value for name, value in {**os.environ, **(more or {})}.items() if name != "ASAN_OPTIONS"}


class World:
    """Use as a context manager: at the end every process of it is ended and the folder removed."""

    suffix = "json"
    TICKETS = {"name": "t", "files": "tickets/{flow}.json", "stage": "/status",
               "react": [{"to": "ready", "run": "worker"}]}

    def __init__(self, baton, rules=None, agents=None, limits=None, command=()):
        self.exe = os.path.abspath(baton)
        self.home = tempfile.mkdtemp(prefix="baton-e2e-")
        self.root = self.home + "/root"
        self.state = self.home + "/state"
        self.log = self.home + "/agents.log"
        self.config = self.home + "/baton.yaml"
        self.agent = self.home + "/agent.sh"
        os.mkdir(self.root)
        os.mkdir(self.state, 0o750)
        open(self.log, "w").close()
        with open(self.agent, "w") as file:
            file.write(AGENT)
        os.chmod(self.agent, 0o755)
        self.settings = {
            "version": 1,
            "agents": agents or {"worker": self.counting(*command)},
            "limits": {"max_running": 8, "spawns_per_hour": 100000, "backoff": "100ms",
                       "max_backoff": "1s", "kill_grace": "1s", **(limits or {})},
            "rules": rules or [self.TICKETS],
        }
        self.configure()
        self.daemon = None
        self.canaries = 0

    def configure(self):
        """YAML takes JSON as it is."""
        write(self.config, self.settings)

    def counting(self, *command):
        return {"command": [self.agent, self.log, *command]}

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is not None and self.daemon is not None:
            self.complain()
        if self.daemon is not None and self.daemon.poll() is None:
            self.daemon.send_signal(signal.SIGCONT)
            self.daemon.kill()
            self.daemon.wait()
        for _ in range(100):
            left = [pid for pid in processes_with(self.home) if pid != os.getpid()]
            if not left:
                break
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.05)
        shutil.rmtree(self.home, ignore_errors=True)

    def complain(self):
        print("--- the daemon said:")
        with open(self.home + "/daemon.log", errors="replace") as file:
            print("".join(file.readlines()[-40:]))

    # --- the program ---

    def places(self):
        return ["--root", self.root, "--config", self.config, "--state-dir", self.state]

    def run_command(self, *more):
        return [self.exe, "run", *self.places(), "--act-on-existing", *more]

    def start(self, *more, env=None):
        """Starts the daemon and waits until it serves the root, or has ended: a command that comes before would
        be told that there is no daemon."""
        with open(self.home + "/daemon.log", "ab") as log:
            self.daemon = subprocess.Popen(self.run_command(*more), stdin=subprocess.DEVNULL, stdout=log,
                                           stderr=log, env=asked_for_leaks(env))
        wait_until(self.serves, "the daemon serves")
        return self.daemon

    def serves(self):
        """Whether the daemon that was started answers for the root and has written how it watches (before that,
        commands know its lock only); true, too, when it has ended."""
        return (self.daemon.poll() is not None
                or re.search(rf"served by process {self.daemon.pid} since \S+ \(", self.call("status", code=None).stdout))

    def once(self):
        """`baton run --once`: until there is nothing left to do."""
        return subprocess.run(self.run_command("--once"), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=PATIENCE, env=asked_for_leaks())

    def call(self, *arguments, code=0):
        """Runs a command; `code` is the exit code that is expected, None for any."""
        done = subprocess.run([self.exe, *arguments, *self.places()], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE)
        check(code is None or done.returncode == code, "baton", *arguments, "gave", done.returncode,
              done.stdout, done.stderr)
        return done

    def lines(self, *arguments):
        """What a reading command prints with --json, one object per line."""
        return [json.loads(line) for line in self.call(*arguments, "--json").stdout.splitlines()]

    def explain(self, what):
        return json.loads(self.call("explain", what, "--json").stdout)

    # --- the agents ---

    def starts(self, flow=None):
        with open(self.log) as file:
            all_starts = [Start(line) for line in file.read().split("\n") if line.strip()]
        return [each for each in all_starts if flow is None or each.flow == flow]

    def ticket(self, name, status, **more):
        write(f"{self.root}/tickets/{name}.{self.suffix}", {"status": status, **more})

    def canary(self):
        """A new ticket that calls for an agent. When it was started, the daemon has seen everything that
        happened before in the same folder."""
        self.canaries += 1
        name = f"canary{self.canaries}"
        self.ticket(name, "ready")
        wait_until(lambda: self.starts(f"rules/t/{name}"), name, "was not answered")

    def idle(self):
        """Waits until no agent runs."""
        wait_until(lambda: all(run["state"] == "ended" for run in self.lines("agents")), "agents end")


def main_parts(parts, number=None):
    """Runs those parts of a test that are named behind the path of baton. When none is named it runs all of them, or a
    sample of that number. A part that cannot run here does not keep the others from running."""
    def test(exe, *names):
        skipped = []
        chosen = [part for part in parts if part.__name__ in names] if names else sample(parts, number or len(parts))
        for part in chosen:
            print(part.__name__, flush=True)
            try:
                part(exe)
            except SystemExit as end:
                if end.code != 77:
                    raise
                skipped.append(part.__name__)
        if skipped:
            skip("of this test only", ", ".join(skipped), "(reasons above)")
    main(test)


def main(test, *more):
    """Runs a test with the path of baton as its argument."""
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} BATON [...]")
    # Who runs it in the background of a script has SIGINT ignored, and so would all that it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    test(*sys.argv[1:], *more)
    print("passed")
