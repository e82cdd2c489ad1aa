"""The complete layouts of schemas/rules/README.md work exactly as they are printed: the files of each section are
written, its commands run in order, and what they answer has every line behind `#>`.
usage: rules_page_test.py BATON"""

import os
import re
import subprocess
import tempfile

import world
from world import check

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "schemas", "rules", "README.md")


def sections():
    """Title and fenced blocks of each section that brings its own baton.yaml."""
    with open(PAGE, encoding="utf-8") as file:
        parts = re.split(r"^## (.*)\n", file.read(), flags=re.M)
    for title, text in zip(parts[1::2], parts[2::2]):
        blocks = re.findall(r"^```(\w+)(?: file=([^\n]+))?\n(.*?)^```$", text, re.M | re.S)
        if any(name == "baton.yaml" for _, name, _ in blocks):
            yield title, blocks


def put(folder, name, content):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(content)
    if content.startswith("#!"):
        os.chmod(path, 0o755)


def run(lines, folder, environment):
    """Each command, and what is to be found in its answer, in order."""
    answer, ran = "", 0
    for line in lines:
        if line.startswith("#> "):
            check(line[3:] in answer, line[3:], "is not in the rest of the answer:", answer)
            answer = answer[answer.index(line[3:]) + len(line) - 3:]
            continue
        done = subprocess.run(["sh", "-c", line], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=world.PATIENCE)
        print("$", line, "\n" + done.stdout + done.stderr, flush=True)
        check(done.returncode == 0, line, "gave", done.returncode)
        answer, ran = done.stdout + done.stderr, ran + 1
    return ran


def layout(exe, title, blocks):
    print("---", title, flush=True)
    with tempfile.TemporaryDirectory(prefix="baton-layout-") as home:
        os.mkdir(home + "/bin")
        os.mkdir(home + "/root")
        os.symlink(os.path.abspath(exe), home + "/bin/baton")
        environment = {**os.environ, "PATH": home + "/bin:/usr/bin:/bin", "BATON_STATE_DIR": home + "/state"}
        for _, name, content in blocks:
            if name:
                put(home + "/root", name, content)
        valid = subprocess.run([home + "/bin/baton", "validate"], cwd=home + "/root", env=environment,
                               capture_output=True, text=True, timeout=world.PATIENCE)
        check(valid.returncode == 0, title, "has files that are wrong:", valid.stdout, valid.stderr)
        commands = [line for kind, name, content in blocks if kind == "sh" and not name
                    for line in content.splitlines()]
        check(sum(line.startswith("#> ") for line in commands) >= 3, title, "says too little")
        check(run(commands, home + "/root", environment) >= 3, title, "has too few commands")


def test(exe):
    found = list(sections())
    check([title for title, _ in found] == ["A ticket folder", "A mailbox", "A build queue", "A board of folders"],
          [title for title, _ in found])
    for title, blocks in found:
        layout(exe, title, blocks)


if __name__ == "__main__":
    world.main(test)
