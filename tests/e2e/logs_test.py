# SPDX-License-Identifier: Apache-2.0
"""Logs with a stage (`.jsonl`): each line that asks for work gets it once and in order, whatever happens to the daemon
and to the file. logrotate itself rotates it, by rename (create) and by copy (copytruncate).
usage: logs_test.py BATON [PART...]"""

import json
import os
import shutil
import signal
import subprocess

import world
from world import check, wait_until

RULE = {"name": "l", "files": "logs/{flow}.jsonl", "stage": "/s", "values": {"n": "/n"},
        "react": [{"to": "go", "run": "worker", "prompt": "n.md"}]}
# How much of the memory of the daemon a log may take.
MOST_MEMORY = 48 << 20


class Logs(world.World):
    def __init__(self, exe):
        super().__init__(exe, rules=[RULE])
        self.done = self.home + "/done"
        self.settings["agents"] = {"worker": {"command": ["sh", "-c", 'cat >>"$0"', self.done]}}
        with open(self.home + "/n.md", "w") as file:
            file.write("${n}\n")
        open(self.done, "w").close()
        self.configure()
        os.mkdir(self.root + "/logs")
        self.path = self.root + "/logs/a.jsonl"
        self.asked = 0
        self.append("rest")
        check(self.once().returncode == 0, "the first look")

    def append(self, *stages):
        """Appends lines in one write; each `go` gets the next number."""
        lines = []
        for stage in stages:
            self.asked += stage == "go"
            lines.append(json.dumps({"s": stage, "n": self.asked}) + "\n")
        self.append_text("".join(lines))

    def append_text(self, text):
        with open(self.path, "a") as file:
            file.write(text)

    def worked(self):
        with open(self.done) as file:
            return [int(line) for line in file.read().split()]

    def wait_for_all(self):
        wait_until(lambda: len(self.worked()) >= self.asked, "all lines are worked:", self.worked, self.asked)
        check(self.worked() == list(range(1, self.asked + 1)), self.worked())

    def kill(self):
        self.daemon.send_signal(signal.SIGKILL)
        self.daemon.wait()


def at_once(exe):
    with Logs(exe) as logs:
        logs.start()
        logs.append("go", "rest", "go", "rest")
        logs.wait_for_all()
        logs.append_text('{"s": "g')
        logs.append_text('{"s": "go", "n": 99}\n')
        logs.append("go")
        logs.wait_for_all()
        check("1 line of logs/a.jsonl cannot be read and is skipped (line 6: " in logs.call("status", "l/a", code=None).stdout,
              logs.call("status", "l/a", code=None).stdout)


def while_down(exe):
    with Logs(exe) as logs:
        for _ in range(3):
            logs.start()
            logs.append("go", "rest", "go", "rest")
            wait_until(logs.worked, "the first one is worked")
            logs.kill()
            logs.append("go", "rest")
        logs.start()
        logs.wait_for_all()


def rotate(logs, *how):
    program = shutil.which("logrotate", path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if program is None:
        world.skip("logrotate is not installed")
    configuration = logs.home + "/rotate.conf"
    with open(configuration, "w") as file:
        file.write(f'"{logs.path}" {{\n  rotate 9\n  ' + "\n  ".join(how) + "\n}\n")
    os.chmod(configuration, 0o644)
    os.chmod(logs.root + "/logs", 0o755)
    done = subprocess.run([program, "--force", "--state", logs.home + "/rotate.state", configuration],
                          capture_output=True, text=True, check=False)
    check(done.returncode == 0, done.stderr)


def rotated(exe, *how):
    with Logs(exe) as logs:
        logs.start()
        for turn in range(4):
            logs.append("go", "rest")
            # Some lines wait, and all were read at other times.
            if turn % 2 == 1:
                logs.wait_for_all()
            rotate(logs, *how)
            logs.append("go", "rest", "go", "rest")
            if turn == 2:
                logs.kill()
                logs.append("go", "rest")
                rotate(logs, *how)
                logs.append("go", "rest")
                logs.start()
        logs.wait_for_all()


def rotated_by_rename(exe):
    rotated(exe, "create 0644")


def rotated_by_copy(exe):
    rotated(exe, "copytruncate")


def edited(exe):
    """Tools remove lines that were read: the lines behind them are worked once all the same."""
    with Logs(exe) as logs:
        logs.start()
        logs.append("go", "rest", "go", "rest")
        logs.wait_for_all()
        edits = ("sed -i 1d \"$0\"", "tail -n 2 \"$0\" >\"$0.tmp\" && mv \"$0.tmp\" \"$0\"")
        for edit in edits:
            logs.append("go", "rest", "go", "rest")
            logs.wait_for_all()
            subprocess.run(["sh", "-c", edit, logs.path], check=True)
            logs.append("go", "rest")
            logs.wait_for_all()
        git = ["git", "-C", logs.root, "-c", "user.name=n", "-c", "user.email=n@example.org"]
        if shutil.which("git") is None:
            world.skip("git is not installed")
        for words in ("init -q", "add -A", "commit -q -m log"):
            subprocess.run([*git, *words.split()], check=True)
        logs.append("go", "rest", "go", "rest")
        logs.wait_for_all()

        def events():
            return [each["why"] for each in logs.lines("events") if each["event"] == "blocked"]

        count = len(events())
        subprocess.run([*git, "stash", "-q"], check=True)
        wait_until(lambda: len(events()) > count, "the cut is seen", events)
        subprocess.run([*git, "stash", "pop", "-q"], check=True)
        logs.append("go", "rest")
        logs.wait_for_all()


def memory_of(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM:"))


def large(exe):
    """A log of 500 MB. In scripts/prove it grows by another GB while the daemon runs."""
    with Logs(exe) as logs:
        if shutil.disk_usage(logs.home).free < 2 << 30:
            world.skip("less than 2 GiB of disk space are free")
        logs.path = logs.root + "/logs/b.jsonl"
        beats = ("".join(json.dumps({"s": "rest", "beat": n, "text": "x" * 900}) + "\n" for n in range(1000))).encode()
        with open(logs.path, "ab") as file:
            for _ in range((500 << 20) // len(beats) + 1):
                file.write(beats)
        logs.start()
        # The daemon serves before it has read 500 MB, and of what it reads first only the last line counts.
        wait_until(lambda: "rest" in logs.call("status", "l/b", code=None).stdout, "the log is read")
        before = memory_of(logs.daemon.pid)
        logs.append("go", "rest")
        logs.wait_for_all()
        logs.append_text("y" * (20 << 20))
        logs.append_text("\n")
        logs.append("go", "rest")
        logs.wait_for_all()
        if world.COMPLETE and not world.sanitized(exe):
            line = json.dumps({"s": "rest", "text": "z" * 500_000}) + "\n"
            for _ in range((1 << 30) // len(line) + 1):
                logs.append_text(line)
            logs.append("go", "rest")
            logs.wait_for_all()
        grown = memory_of(logs.daemon.pid) - before
        check(world.sanitized(exe) or grown < MOST_MEMORY, "the daemon has grown by", grown)
        logs.kill()
        logs.append("go")
        logs.start()
        logs.wait_for_all()


if __name__ == "__main__":
    world.main_parts([at_once, while_down, rotated_by_rename, rotated_by_copy, edited, large])
