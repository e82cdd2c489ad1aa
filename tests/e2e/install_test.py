"""What is installed works from where it lies, with the shim in libexec, and nothing is missing that is said to be put
there; and what scripts/demo configures on a bare machine, without the tests, can be configured.
usage: install_test.py CMAKE SOURCE BUILD"""

import os
import subprocess
import sys
import tempfile

import world
from world import check

FILES = {"bin/baton", "libexec/baton/baton-shim", "lib/systemd/system/baton.service",
         "lib/systemd/system/baton@.service", "lib/systemd/user/baton.service", "lib/sysusers.d/baton.conf", "share/baton/systemd/users.conf",
         "share/doc/baton/README.md", "share/doc/baton/baton.spdx.json",
         *(f"share/baton/notify/{name}" for name in ("baton_notify.py", "mail", "ntfy", "slack", "telegram"))}


def call(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    check(done.returncode == 0, *command, "gave", done.returncode, done.stdout, done.stderr)


def installed(cmake, build):
    with tempfile.TemporaryDirectory(prefix="baton-e2e-") as prefix:
        call(cmake, "--install", build, "--prefix", prefix)
        found = {os.path.relpath(f"{folder}/{name}", prefix) for folder, _, names in os.walk(prefix) for name in names}
        check(found == FILES, "there are", sorted(found ^ FILES), "too many or too few")
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
    installed(cmake, build)
    without_tests(cmake, source)
    print("passed")
