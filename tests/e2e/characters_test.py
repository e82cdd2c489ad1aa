# SPDX-License-Identifier: Apache-2.0
"""Characters that steer a terminal, or that nobody sees but a model reads, come out of no command as they are.
usage: characters_test.py BATON"""

import os
import re
import shutil
import subprocess
import sys

import world
from world import check, on_terminal, write

# First and last character of each range.
RANGES = [(0x01, 0x08), (0x0B, 0x1F), (0x7F, 0x9F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0xFEFF, 0xFEFF),
          (0x2028, 0x2029), (0xE0000, 0xE007F)]
FORBIDDEN = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in RANGES) + "]")
NASTY = "".join(chr(each) for row in RANGES for each in row)
# A line that the runner of GitHub Actions takes for a command.
COMMAND = re.compile(r"^\s*::|##\[", re.MULTILINE)
AGENT = r"""#!/bin/sh
printf '\033]0;owned\007 \302\233 \342\200\256 \360\237\230\200 a\tb\n'
printf '\033[2J\n' >&2
exit 3
"""


def characters(exe):
    with world.World(exe, limits={"max_attempts": 1}) as baton:
        agent = baton.home + "/nasty.sh"
        write(agent, AGENT.encode())
        os.chmod(agent, 0o755)
        write(baton.home + "/prompt.md", f"Work. {NASTY}\n".encode())
        baton.settings["agents"] = {"worker": {"command": [agent], "prompt": baton.home + "/prompt.md"}}
        baton.settings["rules"] = [{"name": "t", "files": "tickets/{flow}.json", "stage": "/{subject}/status",
                                    "values": {"title": "/{subject}/title"},
                                    "react": [{"to": "ready", "run": "worker"}, {"to": "bad", "notify": True}]}]
        baton.configure()
        shutil.copy(baton.config, baton.root + "/baton.yaml")
        write(baton.root + "/tickets/fine.json", {f"a{NASTY}b": {"status": "ready", "title": NASTY},
                                                  f"c{NASTY}": {"status": "bad", "title": NASTY}})
        write(baton.root + "/tickets/stage.json", {f"s{NASTY}": {"status": f"ready{NASTY}"}})
        write(baton.root + "/tickets/list.json", {f"s{NASTY}": {"status": [NASTY]}})
        write(f"{baton.root}/tickets/n{NASTY}.json", f'{{"a": tru{NASTY}}}'.encode())
        log = baton.once().stderr
        run = baton.call("agents", "--names").stdout.strip()
        flows = ("rules/t/fine", "rules/t/stage", "rules/t/list")
        said = {"log": log}
        for words in (("status",), ("status", "--all"), ("status", "--names"), ("events",), ("agents",),
                      *[("explain", flow) for flow in flows], ("explain", "tickets/list.json"),
                      ("explain", f"tickets/n{NASTY}.json")):
            done = baton.call(*words, code=None)
            said[words] = done.stdout + done.stderr
        for words in (("validate",), ("doctor",)):
            done = subprocess.run((exe, *words), cwd=baton.root, capture_output=True, text=True, timeout=600,
                                  env={**os.environ, "BATON_STATE_DIR": baton.state})
            said[words] = done.stdout + done.stderr
        for whence, text in said.items():
            found = FORBIDDEN.search(text)
            check(found is None, whence, "has", repr(found and text[max(0, found.start() - 60):found.end() + 60]))
        check("\\x1b" in said[("agents",)] + said[("status",)] + said["log"], "nothing nasty was shown", said)
        logs_and_prompt(exe, baton, run)


def logs_and_prompt(exe, baton, run):
    """Escaped on a terminal, byte for byte elsewhere."""
    places = baton.places()
    raw = subprocess.run((exe, "logs", "--stdout", run, *places), capture_output=True, check=True, timeout=600).stdout
    check(raw == b"\x1b]0;owned\x07 \xc2\x9b \xe2\x80\xae \xf0\x9f\x98\x80 a\tb\n", raw)
    code, shown = on_terminal([exe, "logs", "--stdout", run, *places])
    check(code == 0 and shown == b"\\x1b]0;owned\\x07 \\xc2\\x9b \\xe2\\x80\\xae \xf0\x9f\x98\x80 a\tb\r\n", code, shown)
    code, shown = on_terminal([exe, "logs", "--stderr", run, *places])
    check(code == 0 and shown == b"\\x1b[2J\r\n", code, shown)
    raw = subprocess.run((exe, "prompt", run, *places), capture_output=True, check=True, timeout=600).stdout
    check(NASTY.encode() in raw, raw)
    code, shown = on_terminal([exe, "prompt", run, *places])
    check(code == 0 and FORBIDDEN.search(shown.decode().replace("\r\n", "\n")) is None, code, shown)
    # A character that two reads share, and one that is never completed.
    folder = next(at for at, _, names in os.walk(baton.state) if "stdout.log" in names)
    for bytes_ in (b"x" * 65535 + "ä\u200b\n".encode(), b"x\xe2\x80"):
        with open(folder + "/stdout.log", "wb") as file:
            file.write(bytes_)
        code, shown = on_terminal([exe, "logs", "--stdout", run, *places])
        wanted = bytes_.replace("\u200b".encode(), b"\\xe2\\x80\\x8b").replace(b"\n", b"\r\n")
        if not bytes_.endswith(b"\n"):
            wanted = b"x\\xe2\\x80"
        check(code == 0 and shown == wanted, code, shown[-80:])
    no_link(exe, baton, run, folder)


def no_link(exe, baton, run, folder):
    """A log is a file with one name in the folder of its run."""
    secret = baton.home + "/secret"
    write(secret, b"precious\n")
    for make in (os.symlink, os.link):
        for name, words in (("stdout.log", ("logs",)), ("stderr.log", ("logs", "--stderr")), ("prompt", ("prompt",))):
            os.remove(f"{folder}/{name}")
            make(secret, f"{folder}/{name}")
            done = baton.call(*words, run, code=3)
            check("precious" not in done.stdout and "link" in done.stderr, done)


def github_job(exe):
    names = ["::stop-commands::x", "::error title=Fake::All tests failed, see http:", "##[error]fake", "\u3000::error::x", " ::x",
             "a ##[group]"]
    env = {**os.environ, "GITHUB_ACTIONS": "true"}
    with world.World(exe) as baton:
        baton.settings["rules"] = [{"name": "t", "files": "{flow}.json", "stage": "/status", "react": [{"to": "r", "run": "worker"}]}]
        baton.configure()
        shutil.copy(baton.config, baton.root + "/baton.yaml")
        for name in names:
            write(f"{baton.root}/{name}.json", b"{")
        write(baton.root + "/torn.json", b"{\n::error::x ##[error]x\n}")
        os.makedirs(baton.root + "/##[group]")
        write(baton.root + "/##[group]/x.json", b"{")
        state = ("--state-dir", baton.state)
        for words in (("validate",), ("validate", "##[group]"), *[("validate", name + ".json") for name in names],
                      *[("explain", name + ".json", *state) for name in names], ("status", *state), ("events", *state),
                      ("run", "--once", *state)):
            command = (exe, *words)
            done = subprocess.run(command, cwd=baton.root, env=env, capture_output=True, text=True, timeout=600)
            for text in (done.stdout, done.stderr):
                found = COMMAND.search(text)
                check(found is None, words, "has a command:", text)
        # The lines of the files are shown on a terminal only.
        os.environ["GITHUB_ACTIONS"] = "true"
        shown = on_terminal([exe, "validate"], folder=baton.root)[1].decode()
        del os.environ["GITHUB_ACTIONS"]
        check("x3a:error::x ## [error]x" in shown and COMMAND.search(shown.replace("\r", "")) is None, shown)
        plain = subprocess.run((exe, "validate"), cwd=baton.root, capture_output=True, text=True, timeout=600).stdout
        check("\n::stop-commands::x.json:1:2: error" in "\n" + plain, "elsewhere a path is as it is:", plain)
        known = subprocess.run((exe, "validate", "--format", "github"), cwd=baton.root, env=env, capture_output=True, text=True,
                               timeout=600).stdout
        check(known.startswith("::") and "##[" not in known, known)


def main():
    exe = os.path.realpath(sys.argv[1])
    for each in (characters, github_job):
        if len(sys.argv) < 3 or each.__name__ in sys.argv[2:]:
            each(exe)
            print(each.__name__, "ok", flush=True)


if __name__ == "__main__":
    main()
