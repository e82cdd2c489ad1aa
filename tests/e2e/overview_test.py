# SPDX-License-Identifier: Apache-2.0
"""What `baton status`, `agents` and `events` show: order, width, filters, totals, the page of one flow, and --watch on a
terminal. usage: overview_test.py BATON [PART...]"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

import world
from world import check, write

HERE = os.path.dirname(os.path.abspath(__file__))
STAGES = {"ready": "reddy", "parser": "draft", "printer": "draft", "docs": "done",
          "a-name-that-is-much-longer-than-any-terminal-should-have-to-show": "done"}


class Terminal:
    """A program on a terminal of its own."""
    def __init__(self, command, columns, lines, env=None):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            os.execve(command[0], command, {**os.environ, "NO_COLOR": "1", **(env or {})})
        self.text = ""

    def resize(self, columns, lines):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self, until=None, patience=30):
        """Reads until the text is there, or until the program has ended."""
        end = time.monotonic() + patience
        while time.monotonic() < end and not (until and until in self.text):
            if not select.select([self.fd], [], [], 0.2)[0]:
                continue
            try:
                piece = os.read(self.fd, 65536)
            except OSError:
                piece = b""
            if not piece:
                break
            self.text += piece.decode(errors="replace").replace("\r", "")
        check(not until or until in self.text, until, "is not in", self.text)
        return self.text

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def code(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def frames(self):
        """The screens that --watch has drawn, as lists of lines."""
        drawn = re.split(r"\x1b\[H", self.text)[1:]
        return [[line for line in re.sub(r"\x1b\[[?0-9]*[a-zA-Z]", "", frame).split("\n")] for frame in drawn]


class Overview(world.World):
    def __init__(self, exe, **more):
        rules = [{"name": "t", "files": "tickets/{flow}.json", "stage": "/status", "done": ["done"], "stages": ["ready", "draft", "done"],
                  "react": [{"to": "ready", "run": "worker"}]}]
        super().__init__(exe, rules=rules, agents={"worker": {"command": ["true"]}}, **more)

    def tickets(self, stages):
        for name, stage in stages.items():
            self.ticket(name, stage)

    def on_terminal(self, columns, *words, lines=24):
        done = Terminal([self.exe, *words, *self.places()], columns, lines)
        text = done.read()
        return done.code(), text


def steady(text):
    """Without what differs from run to run."""
    text = re.sub(r"\b[0-9]s ago", "0s ago", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME", text)
    return text


def golden(name, text):
    path = f"{HERE}/golden/status/{name}.txt"
    if os.environ.get("BATON_RECORD"):
        write(path, steady(text).encode())
    with open(path) as file:
        check(file.read() == steady(text), name, "is now\n" + steady(text))


def widest(text):
    return max(len(line) for line in text.split("\n"))


def widths(exe):
    """The table and the page of one flow at several widths and in a pipe; no line is wider than the terminal."""
    with Overview(exe) as box:
        box.tickets(STAGES)
        box.once()
        golden("pipe", box.call("status").stdout)
        golden("page", box.call("status", "t/ready").stdout)
        for columns in (120, 80, 60, 20):
            code, text = box.on_terminal(columns, "status")
            check(code == 0 and widest(text) <= columns, columns, widest(text), text)
            golden(str(columns), text)
            code, text = box.on_terminal(columns, "status", "t/ready")
            check(code == 0 and widest(text) <= columns, columns, text)
            code, text = box.on_terminal(columns, "agents")
            check(code == 0 and widest(text) <= columns, columns, text)
        # The signs that agents like have two columns.
        box.ticket("⚡❌✅⭐✨" * 6, "draft")
        code, text = box.on_terminal(40, "status", "--only", "idle")
        check(all(sum(2 if ord(each) > 0x2300 else 1 for each in line.replace("…", ".")) <= 40 for line in text.split("\n")), text)
        os.remove(box.root + "/tickets/" + "⚡❌✅⭐✨" * 6 + ".json")
        # A name of wide characters and one that is cut within its folder.
        box.ticket("配置文件-検証する", "draft")
        code, text = box.on_terminal(40, "status", "--only", "idle")
        check("検証する" in text and all(len(line.encode("utf-16-le")) <= 80 for line in text.split("\n")), text)


def choices(exe):
    """Order, filters, limits and totals; a filter that matches nothing is no error, a word that means nothing is."""
    with Overview(exe) as box:
        box.tickets({**STAGES, "broken": "draft"})
        write(box.root + "/tickets/broken.json", b"{ broken")
        box.once()
        flows = lambda *words: [row["flow"].split("/")[2] for row in box.lines("status", *words)]
        first = [row["condition"] for row in box.lines("status")]
        check(first[:2] == ["blocked", "blocked"] and first[-2:] == ["idle", "idle"], first)
        check(flows("--only", "idle") == ["parser", "printer"], flows("--only", "idle"))
        check(flows("--only", "gone,failed") == [], "nothing matches")
        check(flows("--sort", "flow") == sorted(flows()), flows("--sort", "flow"))
        check(len(flows("--limit", "2")) == 2 and flows("--dialect", "fsm_loop") == [], "limit, dialect")
        check(len(flows("--since", "1h")) == 6 and flows("--since", "2026-01-01T00:00:00Z") == flows(), "since")
        # The last part of a name is enough if it is unique.
        check("rules/t/parser: idle" in box.call("status", "parser").stdout, "by its last part")
        said = box.call("status", "--only", "gone").stdout
        check("6 flows: 2 blocked, 2 done, 2 idle; not shown: 6 that your filters leave out" in said, said)
        for words, why in ((["--only", "bloked"], "did you mean `blocked`?"), (["--sort", "size"], "condition, flow, since, cost"),
                           (["--limit", "0"], "a number from 1 on"), (["--dialect", "rule"], "did you mean `rules`?"),
                           (["--since", "yesterday"], "a duration such as 2h")):
            done = box.call("status", *words, code=2)
            check(why in done.stderr and not done.stdout, words, done.stderr)
        box.tickets({"again": "ready"})
        box.once()
        runs = box.lines("agents")
        check([run["role"] for run in runs] == ["worker"], runs)
        check(box.lines("agents", "--outcome", "failed") == [] and len(box.lines("agents", "--outcome", "succeeded", "--role", "worker")) == 1,
              "outcome, role")
        check("no outcome `faild`; did you mean `failed`?" in box.call("agents", "--outcome", "faild", code=2).stderr, "outcome")
        words = [event["event"] for event in box.lines("events", "--event", "started,ended")]
        check(words == ["started", "ended"], words)
        check(len(box.lines("events", "--limit", "3")) == 3, "limit")
        said = box.call("events", "--limit", "3").stdout
        check("earlier events; --limit N or --since TIME shows more" in said and said.count("\n") == 4, said)
        said = box.call("events", "--event", "startd").stderr
        check("there is no such event; there are " in said, said)
        check("there is no such run" in box.call("agents", "--role", "nobody").stdout, "role")


def watch(exe):
    """--watch fills the screen and no more, keeps who needs a person in view, and ends with q (0) or Ctrl-C (130)."""
    with Overview(exe) as box:
        box.tickets({f"ticket-{i}": "done" for i in range(60)})
        box.tickets({"needs-you": "reddy"})
        box.once()
        command = [exe, "status", "--watch", *box.places()]
        screen = Terminal(command, 60, 12)
        screen.read("q: quit")
        screen.read("and 5")
        frame = screen.frames()[0]
        check(len(frame) <= 12 and all(len(line) <= 60 for line in frame), frame)
        check("needs-you" in frame[2] and any("(--all shows them)" in line for line in frame), frame)
        screen.text = ""
        screen.resize(30, 8)
        screen.read("needs-you")
        screen.read("shows them)")
        frame = screen.frames()[-1]
        check(len(frame) <= 8 and all(len(line) <= 30 for line in frame), frame)
        # What changes is seen.
        box.ticket("second", "reddy")
        screen.resize(100, 30)
        screen.read("second")
        screen.type("q")
        check("\x1b[?1049l" in screen.read() and screen.code() == 0, "q")
        for how in ("key", signal.SIGTERM):
            screen = Terminal(command, 80, 24)
            screen.read("q: quit")
            screen.type("\x03") if how == "key" else os.kill(screen.pid, how)
            check("\x1b[?1049l" in screen.read() and screen.code() == 130, how)
        # A message is seen after the screen is gone, and a page can be watched, too.
        screen = Terminal([exe, "status", "--watch", "nobody", *box.places()], 80, 24)
        said = screen.read()
        check("there is no flow nobody" in said.split("\x1b[?1049l")[-1] and screen.code() == 2, said)
        screen = Terminal([exe, "status", "--watch", "needs-you", *box.places()], 80, 24)
        screen.read("last events:")
        screen.type("q")
        screen.read()
        check(screen.code() == 0, "the page")
        # In a pipe there is no screen.
        check("\x1b" not in box.call("status").stdout, "colours in a pipe")


def many(exe):
    """Five thousand flows are one screen on a terminal, and all of them in a pipe."""
    with Overview(exe) as box:
        box.tickets({f"ticket-{i}": "draft" for i in range(5000)})
        box.ticket("needs-you", "reddy")
        box.once()
        code, text = box.on_terminal(80, "status")
        check(code == 0 and text.count("\n") < 24 and widest(text) <= 80, text)
        check("needs-you" in text.split("\n")[1] and "5001 flows: 1 blocked, 5000 idle" in text, text)
        check(box.call("status").stdout.count("\n") > 5001, "a pipe gets all")


def logs(exe):
    """`baton logs` has both streams in order of time; --stdout and --stderr narrow it; --follow is no different."""
    script = "for i in 1 2 3; do echo out $i; sleep 0.1; echo err $i >&2; sleep 0.1; done; exit 1"
    with Overview(exe) as box:
        box.settings["agents"] = {"worker": {"command": ["sh", "-c", script], "max_attempts": 1}}
        box.configure()
        box.tickets({"a": "ready"})
        box.once()
        run = box.lines("agents")[0]["run"]
        both = "".join(f"out {i}\nerr {i}\n" for i in (1, 2, 3))
        for words in ([], ["--follow"]):
            check(box.call("logs", run, *words).stdout == both, words, box.call("logs", run, *words).stdout)
        check(box.call("logs", run, "--stdout").stdout == "out 1\nout 2\nout 3\n", "stdout")
        check(box.call("logs", run, "--stderr").stdout == "err 1\nerr 2\nerr 3\n", "stderr")
        box.call("logs", run, "--stdout", "--stderr", code=2)
        # An agent can write the file with the order; then the logs come one after the other.
        for order in (b"x" * 5_000_000, b"o 0\n" * 1_000_000, b"e 99999999999999999999\n", b""):
            write(f"{box.state}/{[at for at, _, names in os.walk(box.state) if 'output.order' in names][0][len(box.state) + 1:]}/output.order", order)
            said = box.call("logs", run).stdout
            check(sorted(said.split("\n")) == sorted(both.split("\n")), order[:20], said)
        # The page of the flow quotes the last lines of stderr.
        said = box.call("status", "t/a").stdout
        check("last error output" in said and "  err 3" in said, said)


def lost(exe):
    """doctor says which files baton does not look at any more, and what it advises helps."""
    with Overview(exe) as box:
        box.tickets({"a": "done", "b": "draft"})
        box.once()
        doctor = lambda: box.call("doctor", code=None).stdout
        check("any more" not in doctor() and "are gone" not in doctor(), doctor())
        os.rename(box.root + "/tickets", box.home + "/away")
        check("baton accepted files in folders that are gone: tickets" in doctor(), doctor())
        os.rename(box.home + "/away", box.root + "/tickets")
        check("are gone" not in doctor(), doctor())
        box.settings["rules"][0]["files"] = "tikets/{flow}.json"
        box.configure()
        check("that no rule and no dialect knows any more: tickets/a.json, tickets/b.json" in doctor(), doctor())
        os.mkdir(box.root + "/tikets")
        check("any more" in doctor(), doctor())
        box.settings["rules"][0]["files"] = "tickets/{flow}.json"
        box.configure()
        check("any more" not in doctor(), doctor())
        # Its flows can be forgotten for good.
        for name in ("a", "b"):
            os.remove(f"{box.root}/tickets/{name}.json")
        os.rmdir(box.root + "/tickets")
        check("are gone: tickets" in doctor(), doctor())
        box.once()
        for name in ("a", "b"):
            box.call("forget", f"rules/t/{name}", code=None)
        box.once()
        check("are gone" not in doctor(), doctor())
        # A configuration that acts on nothing.
        del box.settings["rules"]
        box.configure()
        check("it names no dialects and no rules, so baton starts nothing" in doctor(), doctor())


PARTS = [widths, choices, watch, many, logs, lost]


if __name__ == "__main__":
    world.main_parts(PARTS)
