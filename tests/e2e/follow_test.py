# SPDX-License-Identifier: Apache-2.0
"""The commands that follow: `status --watch`, `logs -f`, `events -f`. They show what is new and nothing
twice, and end when there is nothing more to come, on a signal, and when nobody reads any more.
usage: follow_test.py BATON"""

import json
import os
import signal
import subprocess

import world
from world import check, wait_until

# Says a word, then waits for a file of the name of the next one.
TALKER = """for word in one two three; do
  until [ -e "$word" ]; do sleep 0.05; done
  echo "$word"; echo "not $word" >&2
done
until [ -e end ]; do sleep 0.05; done
printf 'the last, without newline'"""


class Follower:
    """A command whose output goes into a pipe."""

    def __init__(self, baton, *arguments):
        self.errors = open(baton.home + "/errors", "w+")
        self.process = subprocess.Popen([baton.exe, *arguments, *baton.places()], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=self.errors)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.text = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.errors.close()

    def said(self):
        if not self.process.stdout.closed:
            self.text += (self.process.stdout.read() or b"").decode()
        return self.text

    def follows(self, text):
        wait_until(lambda: text in self.said(), repr(text), "does not come, only", lambda: repr(self.text))
        check(self.process.poll() is None, "it ended after", repr(self.text))

    def ends(self, code, why):
        wait_until(lambda: self.process.poll() is not None, "it ends:", why)
        check(self.process.returncode == code, why, "it ended with", self.process.returncode)
        self.errors.seek(0)
        said = self.errors.read()
        check(not said, why, "it said:", said)

    def lines(self):
        return [json.loads(line) for line in self.said().splitlines()]


def endings(baton, *arguments, begins):
    """A signal ends it as it ends any program, and so does a reader who leaves."""
    for number in (signal.SIGINT, signal.SIGTERM):
        with Follower(baton, *arguments) as follower:
            follower.follows(begins)
            follower.process.send_signal(number)
            follower.ends(-number, number.name)
            check(follower.said() == "" or follower.said().endswith("\n"), "half a line:", follower.text)
    with Follower(baton, *arguments) as follower:
        follower.follows(begins)
        follower.process.stdout.close()
        follower.ends(0, "nobody reads")  # although nothing happens on the root


def status(baton):
    with Follower(baton, "status", "--watch") as table, Follower(baton, "status", "--watch", "--json") as lines:
        table.follows("rules/t/a")
        lines.follows("rules/t/a")
        baton.ticket("b", "ready")
        wait_until(lambda: baton.starts("rules/t/b"))
        table.follows("rules/t/b")
        lines.follows("rules/t/b")
        baton.ticket("b", "elsewhere")
        table.follows("elsewhere")
        lines.follows('"elsewhere"')
        last = {}
        for line in lines.lines():
            check(last.get(line["flow"]) != line, "shown again, though nothing changed:", line)
            last[line["flow"]] = line
        check(last["rules/t/b"]["declared"] == "elsewhere", last)
        tables = table.said().split("FLOW ")
        check(len(tables) == len(set(tables)), "shown again, though nothing changed:", table.text)
    endings(baton, "status", "--watch", begins="served by")
    endings(baton, "status", "--watch", "--json", begins="rules/t/b")


def logs(baton):
    run = baton.starts("rules/t/a")[0].run
    with Follower(baton, "logs", "-f", "--stdout", run) as out, Follower(baton, "logs", "-f", "--stderr", run) as err:
        for word in ("one", "two"):
            world.write(f"{baton.root}/{word}", b"")
            out.follows(word + "\n")
            err.follows(f"not {word}\n")
        endings(baton, "logs", "-f", "--stdout", run, begins="two\n")
        for word in ("three", "end"):
            world.write(f"{baton.root}/{word}", b"")
        out.ends(0, "the run has ended")
        err.ends(0, "the run has ended")
        check(out.said() == "one\ntwo\nthree\nthe last, without newline", repr(out.text))
        check(err.said() == "not one\nnot two\nnot three\n", repr(err.text))
    done = baton.call("logs", "-f", "--stdout", run)
    check(done.stdout == "one\ntwo\nthree\nthe last, without newline", "of an ended run:", repr(done.stdout))


def events(baton):
    with Follower(baton, "events", "-f", "--json") as everything, \
            Follower(baton, "events", "-f", "--json", "--flow", "rules/t/a") as one:
        one.follows('"ended"')
        baton.ticket("c", "ready")
        wait_until(lambda: any(each["flow"] == "rules/t/c" and each["event"] == "ended"
                               for each in everything.lines() if everything.text.endswith("\n")))
        baton.ticket("a", "done")
        wait_until(lambda: sum(each["event"] == "accepted" for each in one.lines()) == 2)
        numbers = [each["seq"] for each in everything.lines()]
        check(numbers == sorted(set(numbers)), "not each once and in order:", numbers)
        check({each["flow"] for each in one.lines()} == {"rules/t/a"}, one.text)
    endings(baton, "events", "-f", begins="started")


def test(exe):
    with world.World(exe, command=("sh", "-c", TALKER)) as baton:
        baton.start()
        baton.ticket("a", "ready")
        wait_until(lambda: baton.starts("rules/t/a"))
        for part in (status, logs, events):
            part(baton)
            print(part.__name__, "passed", flush=True)


if __name__ == "__main__":
    world.main(test)
