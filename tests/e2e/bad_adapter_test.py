# SPDX-License-Identifier: Apache-2.0
"""Bad input for adapters: each kind is said by `baton validate` (what a file shows), by `baton doctor` and by
`baton run --once`, with its place and what to do, and nothing is started. usage: bad_adapter_test.py BATON"""

import os
import shutil

import world
from world import check, write

GOOD = {"name": "mine", "tested": "none", "command": ["./program", "${args}"]}
EVERYWHERE = ("validate", "doctor", "run")
NOT_IN_FILES = ("doctor", "run")  # `validate` looks at files only


def adapter(**changes):
    return {**GOOD, **changes}


# A file adapters/mine.yaml, where it shows, and what is said of it.
FILES = [
    ("an unknown key", adapter(colour="red"), EVERYWHERE, ("mine.yaml", "colour")),
    ("a slip in a key", adapter(promt={"by": "stdin"}), EVERYWHERE, ("mine.yaml", "did you mean", "prompt")),
    ("a wrong pointer", adapter(output={"answer": ["answer"]}), EVERYWHERE, ("mine.yaml:1:", "write a JSON pointer")),
    ("a wrong escape in a pointer", adapter(output={"answer": ["/a~2"]}), EVERYWHERE, ("mine.yaml:1:", "write a JSON pointer")),
    ("a wrong pattern", adapter(errors=[{"class": "auth", "like": ["("]}]), EVERYWHERE, ("mine.yaml:1:",)),
    ("an unknown class", adapter(errors=[{"class": "auht", "like": ["x"]}]), EVERYWHERE, ("mine.yaml:1:", "auht")),
    ("an unknown placeholder", adapter(command=["./program", "${promt}"]), EVERYWHERE, ("mine.yaml:1:", "promt", "the placeholders here are `${model}`")),
    ("a model without arguments", adapter(command=["./program", "${model}"]), EVERYWHERE, ("nobody fills in `${model}`",)),
    ("a model without a place", adapter(model=["--model", "${model}"]), EVERYWHERE, ("mine.yaml:1:", "no place")),
    ("a session without rules", adapter(command=["./program", "${session}"]), EVERYWHERE, ("nobody fills in `${session}`",)),
    ("a session without a place", adapter(session={"resume": ["${session}"]}), EVERYWHERE, ("mine.yaml:1:", "no place")),
    ("arguments inside of a text", adapter(command=["./program", "--all=${args}"]), EVERYWHERE, ("as an argument of its own",)),
    ("a prompt that gets nowhere", adapter(prompt={"by": "argument"}), EVERYWHERE, ("has no `${prompt}`",)),
    ("a prompt that is not an argument", adapter(command=["./program", "${prompt}"]), EVERYWHERE, ("only for a prompt that is an argument",)),
    ("a prompt file without a name", adapter(prompt={"by": "file"}), EVERYWHERE, ("does not name it",)),
    ("an included adapter that is none", adapter(include=["cluade"]), EVERYWHERE, ("mine.yaml:1:", "claude")),
    ("no YAML", b"name: [\n", EVERYWHERE, ("mine.yaml:",)),
    ("a program that is missing", adapter(command=["./no-program", "${args}"]), NOT_IN_FILES, ("no-program",)),
]


def put_file(box, content):
    write(f"{box.home}/adapters/mine.yaml", content)


def put_link(box):
    os.symlink(f"{box.home}/elsewhere.yaml", f"{box.home}/adapters/mine.yaml")
    write(f"{box.home}/elsewhere.yaml", GOOD)


def put_linked_folder(box):
    os.mkdir(f"{box.home}/other")
    write(f"{box.home}/other/mine.yaml", GOOD)
    os.rmdir(f"{box.home}/adapters")
    os.symlink("other", f"{box.home}/adapters")


def put_writable(box):
    put_file(box, GOOD)
    os.chmod(f"{box.home}/adapters/mine.yaml", 0o666)


def put_program(mode):
    def put(box):
        put_file(box, GOOD)
        os.chmod(f"{box.home}/program", mode)
    return put


# How the files lie.
PLACES = [
    ("no file", lambda box: None, "./adapters/mine.yaml", EVERYWHERE, ("mine.yaml",)),
    ("a path that leaves the folder", lambda box: None, "../mine.yaml", EVERYWHERE, ("outside of", "put the file there")),
    ("an absolute path elsewhere", lambda box: None, "/etc/passwd", EVERYWHERE, ("outside of",)),
    ("a link", put_link, "./adapters/mine.yaml", EVERYWHERE, ("is a link", "put the file itself there")),
    ("a folder that is a link", put_linked_folder, "./adapters/mine.yaml", EVERYWHERE, ("behind one",)),
    ("a file that others can write", put_writable, "./adapters/mine.yaml", NOT_IN_FILES, ("written by",)),
    ("a program that is not executable", put_program(0o644), "./adapters/mine.yaml", NOT_IN_FILES, ("not executable",)),
    ("a program that others can write", put_program(0o777), "./adapters/mine.yaml", NOT_IN_FILES, ("written by",)),
    ("a setuid program", put_program(0o4755), "./adapters/mine.yaml", NOT_IN_FILES, ("setuid",)),
]

# The agents of a configuration that is wrong as it stands: no command goes on with it.
CONFIGURATIONS = [
    ("an adapter that is none", {"worker": {"adapter": "cluade"}}, ("did you mean", "claude")),
    ("a fallback that is none", {"worker": {"adapter": "claude", "fallback": ["wroker"]}}, ("no agent 'wroker'",)),
    ("a fallback to itself", {"worker": {"adapter": "claude", "fallback": ["worker"]}}, ("stand in for itself",)),
    ("fallbacks that go round", {"worker": {"adapter": "claude", "fallback": ["b"]}, "b": {"adapter": "codex", "fallback": ["c"]},
                                 "c": {"adapter": "gemini", "fallback": ["worker"]}}, ("go round",)),
    ("an adapter and a command", {"worker": {"adapter": "claude", "command": ["x"]}}, ("baton.yaml:1:",)),
    ("arguments without an adapter", {"worker": {"command": ["true"], "args": ["x"]}}, ("baton.yaml:1:", "adapter")),
]


class Box(world.World):
    """A ticket is ready, and a worker by the adapter ./adapters/mine.yaml would do it."""

    def __init__(self, exe, agents=None):
        super().__init__(exe, agents=agents or {"worker": {"adapter": "./adapters/mine.yaml", "args": ["-x"]}})
        os.mkdir(self.home + "/adapters")
        write(self.home + "/program", f"#!/bin/sh\ntouch {self.home}/started\n".encode())
        os.chmod(self.home + "/program", 0o755)
        self.ticket("a", "ready")

    def said(self, command):
        """What the command says, which has to fail."""
        done = self.once() if command == "run" else self.call(command, code=None)
        check(done.returncode != 0, command, "gave 0:", done.stdout, done.stderr)
        return done.stdout + done.stderr


def look(box, name, where, says):
    for command in where:
        said = box.said(command)
        check(all(each in said for each in says), name, "is not said by", command, says, said)
    check(not os.path.exists(box.home + "/started"), name, "started the program")


def test(exe):
    for name, content, where, says in FILES:
        with Box(exe) as box:
            put_file(box, content)
            if name == "a program that is missing":
                box.call("validate")
            look(box, name, where, says)
    for name, put, adapter_at, where, says in PLACES:
        with Box(exe, {"worker": {"adapter": adapter_at}}) as box:
            put(box)
            look(box, name, where, says)
    for name, agents, says in CONFIGURATIONS:
        with Box(exe, agents) as box:
            look(box, name, EVERYWHERE, says)
    # What the agent gives and the adapter has no place for.
    with Box(exe) as box:
        put_file(box, adapter(command=["./program"]))
        look(box, "arguments without a place", NOT_IN_FILES, ("has `args:`",))
    # The good one works, and `validate` takes it by its path, by its schema and with everything.
    with Box(exe) as box:
        put_file(box, GOOD)
        for words in ([], [box.home + "/adapters/mine.yaml"], ["--schema", "adapter", box.home + "/adapters/mine.yaml"]):
            check(" 0 errors" in box.call("validate", *words).stdout, words)
        box.once()
        check(os.path.exists(box.home + "/started"), "the program of the good adapter was not started")
        shutil.rmtree(box.home + "/adapters")
    print(len(FILES) + len(PLACES) + len(CONFIGURATIONS) + 2, "adapters")


if __name__ == "__main__":
    world.main(test)
