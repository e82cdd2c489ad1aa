# SPDX-License-Identifier: Apache-2.0
"""The pages tell the truth: every shell block of every page is run, in order, with a stand-in for the agent on PATH,
and every link, configuration and command name in a page is checked. How a page steers this is in `Page` below.
usage: readme_test.py BATON [PAGE...]"""

import concurrent.futures
import contextlib
import glob
import json
import os
import re
import subprocess
import tempfile

import world
from world import check

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

# Stands in for Claude Code: says its version; reads the prompt from stdin, does what that of `baton init` asks for (the
# work, then the status), and says so as the program does.
CLAUDE = """#!/bin/sh
[ "$1" != --version ] || exec echo '2.1.293 (Claude Code)'
cat | grep -qF -e "$BATON_STATE_FILE" -e BATON_STATE_FILE || exit 1
echo hello >hello.txt
"$BATON_EXE" set "$BATON_STATE_FILE" '/status="done"' >&2
echo '{"type": "result", "subtype": "success", "is_error": false, "total_cost_usd": 0.01}'
"""

FENCE = re.compile(r"(?:^<!-- test: ([^\n]*) -->\n)?^```(\w*)\n(.*?)^```$", re.M | re.S)


def pages():
    """All pages for people who use baton."""
    found = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md", "systemd/README.md"]
    for pattern in ("docs/*.md", "docs/dialects/*.md", "schemas/*/README.md"):
        found += sorted(glob.glob(pattern, root_dir=TOP))
    return found


class Page:
    """One page. A `sh` block is run in the folder where the block before it ended; `#> TEXT` in it says that the answer
    of the commands above has TEXT. `<!-- test: WORD -->` in the line before a block changes that. `new folder`: an
    empty root. `daemon`: beside `baton run`. `service, WHO`: run by service_test.sh, in a box with a systemd, as WHO.
    `skip, REASON`: not run; said aloud and counted."""

    def __init__(self, exe, name):
        self.exe, self.name = exe, name
        with open(os.path.join(TOP, name), encoding="utf-8") as file:
            self.text = file.read()
        self.ran = self.skipped = 0
        self.said = []  # pages run side by side; each that fails prints this at its end
        self.folder = self.environment = None

    def new_folder(self, home):
        self.folder = tempfile.mkdtemp(prefix="page-", dir=home)
        self.environment = {"HOME": self.folder, "PATH": home + "/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8",
                            "BATON_STATE_DIR": self.folder + ".state"}

    def call(self, *command, **more):
        return subprocess.run(command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=world.PATIENCE, **more)

    def commands(self, script):
        """Runs what stands between two answers at once, as somebody who pastes it."""
        done = self.call("bash", "-ec", "exec 2>&1\n" + script + '\npwd >"$HOME/.where"')
        self.said.append(f"{self.name}$ {script.strip()}\n{done.stdout}")
        check(done.returncode == 0, self.name, script, "gave", done.returncode)
        with open(self.environment["HOME"] + "/.where", encoding="utf-8") as file:
            self.folder = file.read().strip()
        self.ran += len(re.findall(r"^\s*baton ", script, re.M))
        return done.stdout

    def shell(self, content):
        answer = ""
        for part in re.split(r"^((?:#> [^\n]*\n)+)", content, flags=re.M):
            if not part.startswith("#> "):
                answer = self.commands(part) if part.strip() else answer
                for variable in re.findall(r"^(BATON_\w+)=", answer, re.M):
                    check(f"| `{variable}` |" in self.text, self.name, "does not explain", variable)
                continue
            for line in part.splitlines():
                check(line[3:] in answer, self.name, line[3:], "is not in the rest of the answer:", answer)
                answer = answer[answer.index(line[3:]) + len(line) - 3:]

    @contextlib.contextmanager
    def daemon(self):
        # Beside the root: the daemon must not be woken by its own log.
        with open(self.environment["HOME"] + ".log", "a", encoding="utf-8") as log:
            daemon = subprocess.Popen(["baton", "run"], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stderr=log)
        try:
            world.wait_until(lambda: "served by process" in self.call("baton", "status").stdout)
            yield
        finally:
            daemon.terminate()
            check(daemon.wait(timeout=world.PATIENCE) == 0, self.name, "the daemon's end")

    def daemon_said(self):
        with contextlib.suppress(FileNotFoundError), open(self.environment["HOME"] + ".log", encoding="utf-8") as log:
            return log.read()
        return "nothing"

    def block(self, home, word, kind, content):
        check(kind in ("sh", "yaml", "json", "text", "mermaid", "ini"), self.name, "has a block of another kind:", kind)
        if word in ("service, person", "service, system"):
            self.said.append(f"{self.name}: a block for service_test.sh")
        elif word and word.startswith("skip, "):
            self.said.append(f"skipped: {self.name} {word[6:]}")
            self.skipped += 1
        elif kind == "sh":
            if word == "new folder":
                self.new_folder(home)
            with self.daemon() if word == "daemon" else contextlib.nullcontext():
                self.shell(content)
        elif kind == "json":
            json.loads(content)
        elif kind == "yaml" and content.startswith("version: 1\n"):
            with tempfile.NamedTemporaryFile("w", suffix=".yaml", dir=home) as file:
                file.write(content)
                file.flush()
                done = self.call("baton", "validate", "--schema", "config", file.name)
                check(done.returncode == 0, self.name, content, done.stdout, done.stderr)

    def names(self, commands):
        """Every command and every script that the text names is one."""
        for script in re.findall(r"\bscripts/[a-z]+[a-z-]*(?![a-z./-])", self.text):
            path = os.path.join(TOP, script)
            check(os.path.exists(path), self.name, "names a script that is not there:", script)
            with open(path, encoding="utf-8") as file:
                check(file.read(2) != "#!" or os.access(path, os.X_OK), self.name, script, "cannot be run")
        for name in re.findall(r"`baton ([a-z][a-z_]*)\b", self.text):
            check(name in commands, self.name, "names a command that is none:", name)

    def links(self):
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"^```.*?^```$", "", self.text, flags=re.M | re.S)):
            if re.match(r"https?:", target):
                continue
            path, _, anchor = target.partition("#")
            where = os.path.normpath(os.path.join(TOP, os.path.dirname(self.name), path)) if path else os.path.join(TOP, self.name)
            check(os.path.exists(where), self.name, "links to what is not there:", target)
            if anchor and where.endswith(".md"):
                with open(where, encoding="utf-8") as file:
                    headings = re.findall(r"^#+ (.*)$", file.read(), re.M)
                anchors = {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}
                check(anchor in anchors, self.name, "links to a heading that is not there:", target)

    def run(self, home, commands):
        try:
            self.new_folder(home)
            outside = FENCE.sub("", self.text)
            check(not re.findall(r"^    (?:\$ )?baton ", outside, re.M), self.name, "has commands outside of a `sh` block")
            for word, kind, content in FENCE.findall(self.text):
                self.block(home, word, kind, content)
            self.names(commands)
            self.links()
        except BaseException:
            # The page that failed alone: a log that is cut in its middle still has the reason.
            self.said.append(f"--- {self.name} fails here; its daemon wrote:\n{self.daemon_said()}")
            print("\n".join(self.said), flush=True)
            raise
        print("\n".join([each for each in self.said if each.startswith("skipped: ")] +
                        [f"--- {self.name}: {self.ran} commands, {self.skipped} blocks skipped"]), flush=True)
        return self


def keys(schema):
    """All names of members in a schema."""
    if isinstance(schema, dict):
        yield from (key for key in schema.get("properties", {}) if isinstance(schema["properties"], dict))
        for each in schema.values():
            yield from keys(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from keys(each)


def every_key_is_explained():
    """Each key of the configuration and each option of a dialect stands on the page that explains it."""
    where = {"schemas/config.schema.json": ["docs/configuration.md", "docs/rules.md"],
             "schemas/adapter.schema.json": ["docs/adapters.md"]}
    for options in glob.glob("schemas/*/options.schema.json", root_dir=TOP):
        where[options] = [f"docs/dialects/{options.split('/')[1]}.md"]
    check(len(where) == 7, where)
    for schema, names in where.items():
        text = ""
        for name in names:
            with open(os.path.join(TOP, name), encoding="utf-8") as file:
                text += file.read()
        words = {word for code in re.findall(r"`([^`\n]+)`", text) for word in re.findall(r"[a-z_]+", code)}
        with open(os.path.join(TOP, schema), encoding="utf-8") as file:
            missing = set(keys(json.load(file))) - words
        check(not missing, *names, "do not explain", missing, "of", schema)


def every_adapter_is_listed():
    """With its provider and the versions that its file names."""
    with open(os.path.join(TOP, "docs/adapters.md"), encoding="utf-8") as file:
        text = file.read()
    for path in glob.glob("adapters/*.yaml", root_dir=TOP):
        with open(os.path.join(TOP, path), encoding="utf-8") as file:
            keys_of = dict(re.findall(r"^(name|provider|tested): (.*)$", file.read(), re.M))
        tested = ", ".join(re.findall(r"[\w.]+", keys_of["tested"]))
        row = rf"^\| `{keys_of['name']}` \| .* \| {keys_of.get('provider', keys_of['name'])} \| {re.escape(tested)} \|$"
        check(keys_of["name"] == "generic" or re.search(row, text, re.M), "docs/adapters.md does not list", keys_of)


def test(exe, *wanted):
    every_key_is_explained()
    every_adapter_is_listed()
    with tempfile.TemporaryDirectory(prefix="baton-pages-", ignore_cleanup_errors=True) as home:
        os.mkdir(home + "/bin")
        os.symlink(os.path.abspath(exe), home + "/bin/baton")
        with open(home + "/bin/claude", "w", encoding="utf-8") as file:
            file.write(CLAUDE)
        os.chmod(home + "/bin/claude", 0o755)
        told = subprocess.run([exe, "--help"], capture_output=True, text=True, check=True).stdout
        commands = set(re.findall(r"^  ([a-z]+)  ", told, re.M)) | {"help"}
        check(len(commands) > 25, "--help names", commands)
        with open(os.path.join(TOP, "README.md"), encoding="utf-8") as file:
            missing = commands - {"help"} - set(re.findall(r"`([a-z]+)`", file.read()))
        check(not missing, "README.md leaves out the commands", missing)
        codes = re.findall(r"^  (\d+)  ", told.split("Exit codes:")[1], re.M)
        with open(os.path.join(TOP, "docs/status.md"), encoding="utf-8") as file:
            check(re.findall(r"^\| (\d+) \|", file.read(), re.M) == codes, "docs/status.md has other exit codes than --help")
        with concurrent.futures.ThreadPoolExecutor(4) as workers:
            done = list(workers.map(lambda name: Page(exe, name).run(home, commands), wanted or pages()))
        ran, skipped = sum(page.ran for page in done), sum(page.skipped for page in done)
        print(f"{ran} commands of the pages were run, {skipped} blocks were skipped")
        check(wanted or ran >= 100, "only", ran, "commands were found")


if __name__ == "__main__":
    world.main(test)
