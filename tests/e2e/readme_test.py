"""What README.md tells people to type works: its files are written, its commands run, in order, with a
stand-in for the agent on PATH. usage: readme_test.py BATON"""

import os
import re
import shlex
import subprocess
import tempfile

import world
from world import check

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

# Does what the prompt asks for: reads it from stdin, does the work, sets the status.
CLAUDE = """#!/bin/sh
cat | grep -q BATON_STATE_FILE || exit 1
echo hello >hello.txt
"$BATON_EXE" set "$BATON_STATE_FILE" '/status="done"' >&2
echo '{"type": "result", "subtype": "success", "is_error": false, "total_cost_usd": 0.01}'
"""


def blocks(readme):
    """Kind and content of each fenced block."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", readme, re.M | re.S)


def test(exe):
    with open(os.path.join(TOP, "README.md"), encoding="utf-8") as file:
        readme = file.read()
    # The two commands of the indented block are the demo's own test, and the runner of this test.
    check(re.findall(r"^    (\S+) ", readme.split("```")[0], re.M) == ["scripts/demo", "scripts/test"], "the two commands")
    for command in ("scripts/demo", "scripts/test"):
        check(os.access(os.path.join(TOP, command), os.X_OK), command, "cannot be run")

    with tempfile.TemporaryDirectory(prefix="baton-readme-") as home:
        os.mkdir(home + "/bin")
        os.symlink(os.path.abspath(exe), home + "/bin/baton")
        with open(home + "/bin/claude", "w") as file:
            file.write(CLAUDE)
        os.chmod(home + "/bin/claude", 0o755)
        environment = {**os.environ, "PATH": home + "/bin:/usr/bin:/bin", "BATON_STATE_DIR": home + "/state"}
        folder, ran = home, 0
        for kind, content in blocks(readme):
            named = re.search(r"file: (\S+)", content.split("\n", 1)[0])
            if named:
                with open(os.path.join(folder, named[1]), "w") as file:
                    file.write(content)
            if kind != "sh":
                continue
            # What is said to be done beside a daemon is.
            beside = "baton wait " in content
            if beside:
                daemon = subprocess.Popen(["baton", "run"], cwd=folder, env=environment, stdin=subprocess.DEVNULL)
                world.wait_until(lambda: "served by process" in subprocess.run(
                    ["baton", "status"], cwd=folder, env=environment, capture_output=True, text=True).stdout)
            for line in content.splitlines():
                if line.startswith("cd "):
                    folder = os.path.join(folder, shlex.split(line)[1])
                    continue
                done = subprocess.run(["sh", "-c", line], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True, timeout=world.PATIENCE)
                print("$", line, "\n" + done.stdout + done.stderr, flush=True)
                check(done.returncode == 0, line, "gave", done.returncode)
                ran += 1
            if beside:
                daemon.terminate()
                check(daemon.wait(timeout=world.PATIENCE) == 0, "the daemon's end")
        with open(folder + "/hello.txt") as file:
            check(file.read() == "hello\n", "the agent did its work")
        check(ran >= 14, "only", ran, "commands were found")


if __name__ == "__main__":
    world.main(test)
