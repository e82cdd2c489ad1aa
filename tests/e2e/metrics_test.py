# SPDX-License-Identifier: Apache-2.0
"""`metrics:`: the file for Prometheus has what the page lists and no more, in its format; counters survive the daemon;
and a file that cannot be written is said once and disturbs nothing. usage: metrics_test.py BATON [PART ...]"""

import contextlib
import ctypes
import glob
import json
import math
import os
import re
import shutil
import signal
import stat
import subprocess

import world
from fake_clis import Fakes, Provided
from world import check, skip, wait_until, write

PAGE = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/operations.md"))
ESCAPES = {"\\\\": "\\", "\\n": "\n", '\\"': '"'}
NUMBER = r"(?:-?\d+(?:\.\d+)?(?:e[+-]\d+)?|[+-]Inf|NaN)"


def unescaped(text, quotes):
    check(re.fullmatch(r'(?:[^\\"\n]|\\[\\n"])*' if quotes else r"(?:[^\\\n]|\\[\\n])*", text), "badly escaped:", text)
    return re.sub(r'\\[\\n"]', lambda found: ESCAPES[found[0]], text)


class Family:
    def __init__(self, name, means):
        self.name, self.means, self.kind, self.samples = name, means, None, {}


def parsed(text):
    """The families of a file, by name. Refuses what the format (0.0.4) or promtool's linter refuses."""
    check(text.endswith("\n"), "the last line is torn:", text[-200:])
    check(text.startswith("# Written by baton for "), text[:200])
    families, family = {}, None
    for line in text.split("\n")[1:-1]:
        if found := re.fullmatch(r"# HELP ([a-z_]+) (.+)", line):
            check(found[1] not in families, "twice:", line)
            family = families[found[1]] = Family(found[1], unescaped(found[2], False))
        elif found := re.fullmatch(r"# TYPE ([a-z_]+) (counter|gauge|histogram)", line):
            check(family.name == found[1] and family.kind is None and not family.samples, "out of place:", line)
            family.kind = found[2]
        else:
            found = re.fullmatch(r'([a-z_]+)\{((?:[a-z]+="(?:[^"\\]|\\.)*",?)+)\} (' + NUMBER + ")", line)
            check(found, "neither a comment nor a sample:", line)
            suffix = found[1].removeprefix(family.name)
            allowed = ("_bucket", "_sum", "_count") if family.kind == "histogram" else ("",)
            check(found[1].startswith(family.name) and suffix in allowed, "a sample of another family:", line)
            labels = re.findall(r'([a-z]+)="((?:[^"\\]|\\.)*)"(?:,|$)', found[2])
            check(",".join(f'{name}="{value}"' for name, value in labels) == found[2], "bad labels:", line)
            check(len({name for name, value in labels}) == len(labels), "a label twice:", line)
            key = (suffix, tuple(sorted((name, unescaped(value, True)) for name, value in labels)))
            check(key not in family.samples, "a series twice:", line)
            family.samples[key] = float(found[3])
    for each in families.values():
        check((each.kind == "counter") == each.name.endswith("_total"), each.name, "is a", each.kind)
        if each.kind != "gauge":
            check(all(value >= 0 and math.isfinite(value) for value in each.samples.values()), each.name, each.samples)
        if each.kind == "histogram":
            check_histogram(each)
    return families


def check_histogram(family):
    roots = {dict(labels)["root"] for _, labels in family.samples}
    for root in roots:
        of_root = {key: value for key, value in family.samples.items() if dict(key[1])["root"] == root}
        buckets = sorted((float(dict(labels)["le"]), value) for (suffix, labels), value in of_root.items()
                         if suffix == "_bucket")
        check(buckets[-1][0] == math.inf, family.name, "has no +Inf")
        counts = [value for _, value in buckets]
        check(counts == sorted(counts), family.name, "does not add up:", buckets)
        check(of_root[("_count", (("root", root),))] == counts[-1], family.name, of_root)
        check(("_sum", (("root", root),)) in of_root, family.name, of_root)


class Measured(Provided):
    """A world with a file of metrics, beside the root."""

    def __init__(self, exe, **more):
        super().__init__(exe, **more)
        self.folder = self.home + "/textfiles"
        self.file = self.folder + "/baton.prom"
        os.mkdir(self.folder)
        self.settings["metrics"] = {"textfile": "textfiles/baton.prom", "interval": "1s"}
        self.configure()

    def said(self):
        with open(self.home + "/daemon.log", errors="replace") as log:
            return log.read()

    def text(self):
        with contextlib.suppress(FileNotFoundError), open(self.file, encoding="utf-8") as file:
            return file.read()
        return ""

    def families(self):
        return parsed(wait_until(self.text, "the file is written", self.said))

    def value(self, name, suffix="", root=None, **labels):
        """Of one series; None: it is not there."""
        labels["root"] = os.path.realpath(root or self.root)
        return self.families()[name].samples.get((suffix, tuple(sorted(labels.items()))))

    def until(self, value, name, **labels):
        wait_until(lambda: self.value(name, **labels) == value, name, labels, "is", value, self.text)

    def end(self, how=signal.SIGTERM):
        self.daemon.send_signal(how)
        return self.daemon.wait(timeout=world.PATIENCE)

    def interval(self):
        """Waits until the daemon has tried once more: it keeps its counters each time if they have changed."""
        def kept():
            places = glob.glob(self.state + "/*/counters.json")
            return [os.stat(place).st_mtime_ns for place in places]
        before = kept()
        self.canary()
        wait_until(lambda: kept() != before, "the counters are kept")

    def problems(self):
        """What `baton doctor` says of metrics, by level."""
        found = json.loads(self.call("doctor", "--json", code=None).stdout)["findings"]
        return {each["level"]: each["message"] for each in found if each["check"] == "metrics"}


def section():
    with open(PAGE, encoding="utf-8") as page:
        return page.read().split("\n### Metrics\n")[1].split("\n## ")[0]


def listed():
    """The table of the page: name → type, labels, meaning."""
    rows = re.findall(r"^\| `(baton_\w+)` \| (\w+) \| (.*?) ?\| (.+) \|$", section(), re.M)
    check(len(rows) == section().count("\n| `baton_"), "a row of the page cannot be read")
    return {name: (kind, {"root", *re.findall(r"`(\w+)`", labels)}, means) for name, kind, labels, means in rows}


def as_listed(exe):
    """The file has the metrics of the page, with these types, labels and sentences, and the page has all of them. Every
    one of them has a series when there is something to say."""
    with Measured(exe) as baton:
        limited = Fakes(baton.home + "/limited", {"claude": [{"do": "fail", "text": "Claude AI usage limit reached|@+7200@"}]})
        baton.settings["agents"]["limited"] = limited.agent("claude")
        baton.settings["rules"][0]["react"].append({"to": "limited", "run": "limited"})
        baton.configure()
        baton.start()
        baton.ticket("a", "limited")
        wait_until(lambda: baton.families()["baton_provider_parked_until_timestamp_seconds"].samples,
                   "a provider is parked", baton.text, baton.said)
        families = baton.families()
        page = listed()
        check(set(families) == set(page), "only in one of both:", set(families) ^ set(page))
        for name, family in families.items():
            kind, labels, means = page[name]
            check(family.kind == kind and family.means == means, name, family.kind, family.means, "but", page[name])
            for suffix, its in family.samples:
                names = {label for label, _ in its} - ({"le"} if suffix == "_bucket" else set())
                check(names == labels, name, "has", names, "and not", labels)
            check(family.samples, name, "has no series")
        until = next(iter(families["baton_provider_parked_until_timestamp_seconds"].samples.values()))
        row = baton.lines("limits")[0]
        check(row["until"] and abs(until - world_time(row["until"])) <= 1.001, until, row)
        baton.call("limits", "--clear", row["provider"])
        wait_until(lambda: not baton.families()["baton_provider_parked_until_timestamp_seconds"].samples, baton.text)


def world_time(text):
    import datetime
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def by_promtool(exe):
    """The checker of Prometheus itself finds nothing to say."""
    # Its package starts a server, so scripts/packages does not list it.
    promtool = shutil.which("promtool")
    if promtool is None:
        skip("promtool is not there (package prometheus); the parser of this test looked at the same files")
    with Measured(exe) as baton:
        # A root whose path needs every escape.
        odd = baton.home + '/ro"ot\\n\n{x="y"} 1'
        os.rename(baton.root, odd)
        baton.root = odd
        baton.ticket("a", "ready")
        baton.start()
        baton.until(1, "baton_runs_started_total", agent="worker")
        done = subprocess.run([promtool, "check", "metrics"], input=baton.text(), capture_output=True, text=True)
        check(done.returncode == 0 and not done.stdout + done.stderr, done.stdout, done.stderr)
        # It takes the alerts of the page, too.
        block = re.search(r"\nUseful alerts:\n\n```text\n(.*?)\n```", section(), re.S)[1]
        alerts = [line.split("   #")[0].strip() for line in block.split("\n")]
        check(len(alerts) >= 5, alerts)
        write(baton.home + "/rules.yml", {"groups": [{"name": "baton", "rules": [
            {"alert": f"Alert{number}", "expr": alert} for number, alert in enumerate(alerts)]}]})
        done = subprocess.run([promtool, "check", "rules", baton.home + "/rules.yml"], capture_output=True, text=True)
        check(done.returncode == 0, done.stdout, done.stderr)
        check(set(re.findall(r"baton_\w+?(?=_bucket\b|\b)", block)) - {"baton"} <= set(listed()), "no such metric:", block)


def odd_names(exe):
    """A root whose name needs escapes is read back as it is, and bytes that are no UTF-8 do no harm."""
    with Measured(exe) as baton:
        odd = baton.home + '/ro"ot\\n\n{x="y"} 1'
        os.rename(baton.root, odd)
        baton.root = odd
        done = baton.once()
        check(done.returncode == 0 and baton.value("baton_up") == 0, done.stderr, baton.text())
        bad = os.fsencode(baton.home) + b"/ro\xffot"
        os.rename(odd, bad)
        command = [bad if each == odd else each for each in baton.run_command("--once")]
        subprocess.run(command, stdin=subprocess.DEVNULL, check=True, capture_output=True, timeout=world.PATIENCE)
        check(baton.value("baton_up", root=f"{os.path.realpath(baton.home)}/ro\ufffdot") == 0, baton.text())


def counted(exe):
    """Starts, ends, cost and tokens by agent; running and waiting runs; flows by condition; and what is accepted."""
    usage = '{"total_cost_usd": 0.25, "usage": {"input_tokens": 5, "output_tokens": 7}}'
    with Measured(exe, limits={"max_running": 1, "max_attempts": 1}) as baton:
        good = f"while ! [ -e {baton.home}/go ]; do sleep 0.05; done; echo '{usage}'; echo '{{\"status\": \"done\"}}' >$BATON_STATE_FILE"
        baton.settings["agents"] = {"good": {"command": ["sh", "-c", good]}, "idle": {"command": ["true"]},
                                    "default": {"command": ["false"]}}
        baton.settings["rules"] = [{"name": "t", "files": "tickets/{flow}.json", "stage": "/status", "done": ["done"],
                                    "react": [{"to": "ready", "run": "good"}, {"to": "other", "run": "somebody"}]}]
        baton.configure()
        baton.start()
        baton.until(1, "baton_up")
        for agent in ("good", "idle", "default"):
            check(baton.value("baton_runs_started_total", agent=agent) == 0, "no series yet:", agent, baton.text())
            check(baton.value("baton_runs_ended_total", agent=agent, outcome="failed") == 0, agent, baton.text())
        before = baton.value("baton_decision_latency_seconds", "_count")
        baton.ticket("a", "ready")
        baton.until(1, "baton_runs_running", agent="good")
        baton.ticket("b", "ready")
        baton.until(1, "baton_runs_waiting", reason="free_place")
        check(baton.value("baton_flows", condition="running") == 1, baton.text())
        check(baton.value("baton_flows", condition="waiting") == 1, baton.text())
        check(baton.value("baton_decision_latency_seconds", "_count") == before + 2, baton.text())
        write(baton.home + "/go", b"")
        baton.until(2, "baton_flows", condition="done")
        baton.until(2, "baton_runs_ended_total", agent="good", outcome="succeeded")
        check(baton.value("baton_runs_started_total", agent="good") == 2, baton.text())
        check(baton.value("baton_runs_running", agent="good") == 0, baton.text())
        check(baton.value("baton_runs_waiting", reason="free_place") == 0, baton.text())
        check(baton.value("baton_cost_dollars_total", agent="good") == 0.5, baton.text())
        check(baton.value("baton_tokens_total", agent="good") == 24, baton.text())
        check(baton.value("baton_decision_latency_seconds", "_count") == before + 4, baton.text())
        # A role without an agent of its own, of which files may name any number.
        baton.ticket("c", "other")
        baton.until(1, "baton_runs_ended_total", agent="default", outcome="failed")
        baton.until(1, "baton_flows", condition="failed")
        check(baton.value("baton_runs_started_total", agent="somebody") is None, baton.text())
        journal = glob.glob(baton.state + "/*/journal.db")[0]
        check(baton.value("baton_journal_bytes") >= os.path.getsize(journal), baton.text())
        check(baton.value("baton_cost_dollars_total", agent="default") == 0, baton.text())


def survives(exe):
    """No end of a daemon loses or repeats what it has counted, and no series goes back."""
    with Measured(exe) as baton:
        baton.settings["metrics"]["interval"] = "1h"
        baton.configure()
        for how in (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
            baton.start()
            number = len(baton.starts())
            baton.until(number, "baton_runs_started_total", agent="worker")
            baton.canary()
            baton.idle()
            baton.end(how)
        baton.start()
        baton.until(4, "baton_runs_started_total", agent="worker")
        check(baton.value("baton_runs_ended_total", agent="worker", outcome="succeeded") == 4, baton.text())
        baton.end()
        # What a command does without a daemon counts, too.
        baton.settings["agents"]["worker"] = baton.counting("sleep", "1000")
        baton.configure()
        baton.start()
        baton.canary()
        baton.end(signal.SIGKILL)
        baton.call("stop", "--all")
        baton.start()
        baton.until(1, "baton_runs_ended_total", agent="worker", outcome="stopped")
        check(baton.value("baton_runs_started_total", agent="worker") == 5, baton.text())
        baton.end()
        # Without its counters it begins anew, and says nothing wrong.
        counters = glob.glob(baton.state + "/*/counters.json")[0]
        for damage in (b"", b"{", b"[]", b"\xff" * 100):
            write(counters, damage)
            baton.once()
            check(baton.value("baton_runs_started_total", agent="worker") == 0, damage, baton.text())


def again_and_again(exe):
    """Calls of `baton run --once` add up, and each leaves the file behind."""
    with Measured(exe) as baton:
        for number in (1, 2, 3):
            baton.ticket(f"n{number}", "ready")
            baton.once()
            check(baton.value("baton_runs_started_total", agent="worker") == number, baton.text())
            check(baton.value("baton_up") == 0, baton.text())


def several_roots(exe):
    """One file has all roots of a daemon, and a root that is given up leaves it."""
    with Measured(exe) as baton:
        roots = [baton.home + "/one", baton.home + "/two"]
        for root in roots:
            write(root + "/tickets/a.json", {"status": "ready"})
        baton.settings["roots"] = roots
        baton.configure()
        with open(baton.home + "/daemon.log", "ab") as log:
            baton.daemon = subprocess.Popen([exe, "run", "--config", baton.config, "--state-dir", baton.state, "--act-on-existing"],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        for root in roots:
            baton.until(1, "baton_runs_ended_total", root=root, agent="worker", outcome="succeeded")
            check(baton.value("baton_up", root=root) == 1, baton.text())
        baton.settings["roots"] = roots[:1]
        baton.configure()
        subprocess.run([exe, "reload", "--root", roots[0], "--config", baton.config, "--state-dir", baton.state],
                       check=True, capture_output=True)
        wait_until(lambda: baton.value("baton_up", root=roots[1]) is None, baton.text)
        check(baton.value("baton_up", root=roots[0]) == 1, baton.text())
        check(baton.end() == 0)
        check(baton.value("baton_up", root=roots[0]) == 0, baton.text())


def for_everybody(exe):
    """The file is readable for node_exporter, whatever the umask is; a reader never sees a part of it; nothing else is
    left in the folder; and it is written again although nothing happens."""
    with Measured(exe) as baton:
        mask = os.umask(0o077)
        try:
            baton.start()
        finally:
            os.umask(mask)
        baton.families()
        check(stat.S_IMODE(os.stat(baton.file).st_mode) == 0o644, oct(os.stat(baton.file).st_mode))
        seen = set()

        def looked():
            with open(baton.file, encoding="utf-8") as file:
                parsed(file.read())
                seen.add(os.fstat(file.fileno()).st_mtime_ns)
            return len(seen) >= 4
        wait_until(looked, "it is written again and again")
        baton.end()
        check(os.listdir(baton.folder) == ["baton.prom"], os.listdir(baton.folder))


def reloaded(exe):
    """A reload writes at once; another file takes the place of the former one; and a file that is no longer named is
    removed, but not one that somebody else has put there."""
    with Measured(exe) as baton:
        baton.settings["metrics"]["interval"] = "1h"
        baton.configure()
        baton.start()
        baton.until(None, "baton_runs_running", agent="another")
        baton.settings["agents"]["another"] = baton.counting()
        baton.configure()
        baton.call("reload")
        check(baton.value("baton_runs_running", agent="another") == 0, baton.text())
        baton.settings["metrics"]["textfile"] = "textfiles/second.prom"
        baton.configure()
        baton.call("reload")
        check(os.listdir(baton.folder) == ["second.prom"], os.listdir(baton.folder))
        write(baton.folder + "/second.prom", b"# theirs\n")
        del baton.settings["metrics"]
        baton.configure()
        baton.call("reload")
        check(os.listdir(baton.folder) == ["second.prom"], os.listdir(baton.folder))
        check("the former file stays" in baton.said(), baton.said())
        baton.settings["metrics"] = {"textfile": "gone/baton.prom"}
        baton.configure()
        done = baton.call("reload")
        check("metrics are not written" in done.stdout and "gone" in done.stdout, done.stdout)
        baton.canary()
        check("baton_" not in baton.text())


def says_once(baton, what, mend):
    """The fault is said once however long it lasts, in the log and by doctor; baton works on; and it is said once that
    the file is written again."""
    begin = baton.said().count("metrics are not written")
    wait_until(lambda: baton.said().count("metrics are not written") == begin + 1, "the fault is said", baton.said)
    line = [each for each in baton.said().splitlines() if "metrics are not written" in each][-1]
    check(re.search(what, line), line, "does not say", what)
    wait_until(lambda: re.search(what, baton.problems().get("error", "")), baton.problems)
    check(baton.call("doctor", code=1))
    for _ in range(3):
        baton.interval()
    again = baton.said().count("is written again")
    mend()
    wait_until(lambda: baton.said().count("is written again") == again + 1, "it works again", baton.said)
    check(baton.said().count("metrics are not written") == begin + 1, "said again:", baton.said())
    wait_until(lambda: "fine" in baton.problems(), baton.problems)


def faults(exe):
    """What can be in the way: a folder that is gone, and all that may have the name of the file."""
    with Measured(exe) as baton:
        baton.start()
        baton.families()
        check(baton.problems() == {"fine": os.path.realpath(baton.home) + "/textfiles/baton.prom"}, baton.problems())
        os.rename(baton.folder, baton.home + "/elsewhere")
        says_once(baton, "textfiles: the folder cannot be opened", lambda: os.rename(baton.home + "/elsewhere", baton.folder))

        def put(make):
            # The name is never free, so the daemon cannot come in between.
            place = baton.folder + "/new"
            make(place)
            if os.path.isdir(place) and not os.path.islink(place):
                exchange(place, baton.file)
                os.unlink(place)
            else:
                os.rename(place, baton.file)

        target = baton.home + "/target"
        write(target, b"precious\n")
        put(lambda place: os.symlink(target, place))
        says_once(baton, "is a symbolic link", lambda: os.unlink(baton.file))
        check(open(target).read() == "precious\n", "written through a link")
        put(os.mkdir)
        says_once(baton, "is a folder", lambda: os.rmdir(baton.file))
        put(os.mkfifo)
        says_once(baton, "is not a regular file", lambda: os.unlink(baton.file))
        put(lambda place: write(place, b"# HELP other Other.\n"))
        says_once(baton, "belongs to another program", lambda: os.unlink(baton.file))
        baton.families()


def exchange(one, other):
    libc = ctypes.CDLL(None, use_errno=True)
    check(libc.renameat2(-100, os.fsencode(one), -100, os.fsencode(other), 2) == 0, os.strerror(ctypes.get_errno()))


def mounted(place, *options):
    made = subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", place], capture_output=True, text=True)
    if made.returncode != 0:
        skip("cannot mount a small disk:", made.stderr.strip())


def full_disk(exe):
    """On a full disk the last whole version stays, and the first one with room is written."""
    with Measured(exe) as baton:
        mounted(baton.folder, "-o", "size=64k")
        try:
            baton.start()
            baton.families()
            with contextlib.suppress(OSError), open(baton.folder + "/fill", "wb", buffering=0) as fill:
                while True:
                    fill.write(bytes(4096))
            says_once(baton, "No space left", lambda: os.unlink(baton.folder + "/fill"))
            check(os.listdir(baton.folder) == ["baton.prom"], os.listdir(baton.folder))
            baton.end()
        finally:
            subprocess.run(["umount", "-l", baton.folder], check=False)


def read_only(exe):
    """A folder that the daemon may not write, as in the sandbox of a unit. Only the daemon sees that, so doctor asks it."""
    with Measured(exe) as baton:
        mounted(baton.folder)
        try:
            command = ["unshare", "-m", "sh", "-c", 'mount -o remount,bind,ro "$0" && exec "$@"', baton.folder,
                       *baton.run_command()]
            with open(baton.home + "/daemon.log", "ab") as log:
                baton.daemon = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            wait_until(baton.serves, "the daemon serves")
            wait_until(lambda: "Read-only" in baton.said(), baton.said)
            wait_until(lambda: "the daemon says: " in baton.problems().get("error", ""), baton.problems)
            baton.canary()
            baton.end()
        finally:
            subprocess.run(["umount", "-l", baton.folder], check=False)


def two_daemons(exe):
    """A second daemon with the same file leaves it to the first one, whether it has another configuration or not. When
    the first has ended, one of the same configuration takes over."""
    with Measured(exe) as baton, world.World(exe) as other:
        baton.start()
        baton.families()
        other.settings["metrics"] = {"textfile": baton.file, "interval": "1s"}
        other.configure()
        done = other.once()
        check("another configuration of baton" in done.stderr and baton.config in done.stderr, done.stderr)
        second = baton.home + "/second"
        os.mkdir(second)
        command = [exe, "run", "--once", "--root", second, "--config", baton.config, "--state-dir", baton.state]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=world.PATIENCE)
        check("another daemon of baton writes this file" in done.stderr, done.stderr)
        check(baton.value("baton_up") == 1 and baton.value("baton_up", root=second) is None, baton.text())
        check("not written" not in baton.said(), baton.said())
        baton.end(signal.SIGKILL)
        subprocess.run(command, stdin=subprocess.DEVNULL, check=True, capture_output=True, timeout=world.PATIENCE)
        check(baton.value("baton_up") is None and baton.value("baton_up", root=second) == 0, baton.text())


def overflows(exe):
    """Events that inotify lost are counted."""
    with open("/proc/sys/fs/inotify/max_queued_events") as limit:
        most = int(limit.read())
    if most > 100_000:
        skip("the queue of inotify holds", most, "events")
    with Measured(exe) as baton:
        baton.start()
        baton.canary()
        baton.until(0, "baton_watch_overflows_total")
        baton.daemon.send_signal(signal.SIGSTOP)
        paths = [f"{baton.root}/tickets/{name}" for name in "xy"]
        for path in paths:
            open(path, "w").close()
        for number in range(most):
            # Events that follow each other and are the same count as one.
            os.utime(paths[number % 2])
        for number in range(most // 2):
            os.rename(paths[0], paths[0] + "2")
            os.rename(paths[0] + "2", paths[0])
        baton.daemon.send_signal(signal.SIGCONT)
        wait_until(lambda: baton.value("baton_watch_overflows_total") >= 1, baton.text)


def wrong_name(exe):
    """node_exporter would not read the file: that is an error of the configuration, which says what to do."""
    with Measured(exe) as baton:
        baton.settings["metrics"] = {"textfile": "textfiles/baton.txt"}
        baton.configure()
        done = baton.once()
        check(done.returncode == 2 and "names end in `.prom`" in done.stderr, done.returncode, done.stderr)
        check("names end in `.prom`" in baton.call("doctor", code=1).stdout)


if __name__ == "__main__":
    world.main_parts((as_listed, by_promtool, odd_names, counted, survives, again_and_again, several_roots, for_everybody, reloaded,
                      faults, full_disk, read_only, two_daemons, overflows, wrong_name))
