# SPDX-License-Identifier: Apache-2.0
"""What is installed works from where it lies, with the shim in libexec, and nothing is missing that is said to be put
there; and what scripts/demo configures on a bare machine, without the tests, can be configured.
usage: install_test.py CMAKE SOURCE BUILD"""

import os
import re
import subprocess
import sys
import tempfile

import world
from world import check

FILES = {"bin/baton", "libexec/baton/baton-shim", "lib/systemd/system/baton.service",
         "lib/systemd/system/baton@.service", "lib/systemd/user/baton.service", "lib/sysusers.d/baton.conf", "share/baton/systemd/users.conf",
         *(f"share/doc/baton/{name}" for name in ("README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", "baton.spdx.json", "systemd/README.md")),
         *(f"share/baton/notify/{name}" for name in ("baton_notify.py", "mail", "ntfy", "slack", "telegram")),
         "share/baton/schemas/catalog.json", "share/man/man5/baton.yaml.5.gz", "share/man/man7/baton-agents.7.gz", "share/man/man1/baton.1.gz",
         "share/bash-completion/completions/baton", "share/zsh/vendor-completions/_baton", "share/fish/vendor_completions.d/baton.fish"}


def tracked(source, *patterns):
    return subprocess.run(["git", "-C", source, "ls-files", "-z", *patterns], check=True, capture_output=True, text=True).stdout.strip("\0").split("\0")


def expected(source, exe):
    """FILES, and what has as many files as there are pages, schemas, adapters, examples and commands."""
    pages = tracked(source, "docs/*.md", "schemas/*/README.md", "examples")
    schemas = [path for path in tracked(source, "schemas/*.schema.json") if "/examples/" not in path]
    commands = re.search(r"Commands:\n(.*?)\n\n", call(exe, "--help"), re.S)[1]
    return (FILES | {"share/doc/baton/" + path for path in pages} | {"share/baton/" + path for path in schemas}
            | {"share/baton/" + path for path in tracked(source, "adapters/*.yaml")}
            | {f"share/man/man1/baton-{line.split()[0]}.1.gz" for line in commands.splitlines()})


def call(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    check(done.returncode == 0, *command, "gave", done.returncode, done.stdout, done.stderr)
    return done.stdout


def manual(prefix):
    """Every page can be shown without a warning, and names every option that --help names."""
    for folder in ("man1", "man5", "man7"):
        for name in os.listdir(f"{prefix}/share/man/{folder}"):
            page = f"{prefix}/share/man/{folder}/{name}"
            done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", page], capture_output=True, text=True,
                                  env={**os.environ, "MANWIDTH": "200", "MAN_KEEP_FORMATTING": "", "LC_ALL": "C.UTF-8"}, timeout=60)
            check(done.returncode == 0 and not done.stderr, name, done.stderr)
            command = re.fullmatch(r"baton-(\w+)\.1\.gz", name)
            if command:
                said = call(prefix + "/bin/baton", command[1], "--help")
                options = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", said, re.M))
                check(options and all(option in done.stdout for option in options), name, "lacks one of", options)


def units(prefix, source):
    """They name the program where it lies, and are what they were otherwise."""
    for unit in ("system/baton.service", "system/baton@.service", "user/baton.service"):
        with open(f"{prefix}/lib/systemd/{unit}") as file:
            text = file.read()
        commands = re.findall(r"^Exec\w+=(\S+)", text, re.M)
        check(commands and set(commands) == {prefix + "/bin/baton"}, unit, commands)
        with open(f"{source}/systemd/{unit.removeprefix('system/')}") as file:
            check(text == re.sub(r"^(Exec\w+)=baton ", rf"\1={prefix}/bin/baton ", file.read(), flags=re.M), unit, text)


def installed(cmake, source, build):
    with tempfile.TemporaryDirectory(prefix="baton-e2e-") as prefix:
        call(cmake, "--install", build, "--prefix", prefix)
        found = {os.path.relpath(f"{folder}/{name}", prefix) for folder, _, names in os.walk(prefix) for name in names}
        wanted = expected(source, prefix + "/bin/baton")
        check(found == wanted, "there are", sorted(found ^ wanted), "too many or too few")
        units(prefix, source)
        manual(prefix)
        with world.World(prefix + "/bin/baton") as baton:
            baton.ticket("a", "ready")
            # The agent does nothing, so that its ticket stays where it is.
            check(baton.once().returncode == 1)
            check(len(baton.starts("rules/t/a")) == 1, baton.lines("status"))


def without_tests(cmake, source):
    with open(source + "/scripts/demo") as file:
        check("cmake --preset release -DBATON_TESTS=OFF" in file.read(), "the demo configures in another way")
    with tempfile.TemporaryDirectory(prefix="baton-e2e-") as build:
        call(cmake, "-S", source, "--preset", "release", "-DBATON_TESTS=OFF", "-B", build)


if __name__ == "__main__":
    cmake, source, build = sys.argv[1:]
    installed(cmake, source, build)
    without_tests(cmake, source)
    print("passed")
