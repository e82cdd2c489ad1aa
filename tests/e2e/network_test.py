# SPDX-License-Identifier: Apache-2.0
"""No reference, no schema and no format makes `baton validate` ask the network: under strace, no call of it (nor of
git, which it starts) opens a socket of the Internet or looks up a name. usage: network_test.py BATON"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from world import check, skip, write

URL = "https://example.org/schemas/status.json"


def traced(folder, *words):
    """What a command does on the network, and its exit code."""
    log = folder + "/trace"
    done = subprocess.run(["strace", "-f", "-qq", "-o", log, "-e", "trace=%network,openat", *words], cwd=folder + "/top",
                          env={**os.environ, "HOME": folder, "GIT_CONFIG_NOSYSTEM": "1", "BATON_STATE_DIR": folder,
                               # A leak sanitizer traces its own process, which is traced already.
                               "ASAN_OPTIONS": "detect_leaks=0"},
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=600)
    with open(log, encoding="utf-8", errors="replace") as file:
        calls = file.read().splitlines()
    return done.returncode, [each for each in calls if re.search(r"AF_INET|AF_PACKET|resolv\.conf|/hosts\"|connect\(", each)]


def main(exe):
    if shutil.which("strace") is None or subprocess.run(["strace", "-o", "/dev/null", "true"]).returncode != 0:
        skip("strace cannot be used here")
    with tempfile.TemporaryDirectory(prefix="baton-network-") as folder:
        top = folder + "/top"
        write(top + "/good.json", {"status": "ready", "$schema": URL})
        write(top + "/remote.json", {"$id": "https://example.org/a.json", "properties": {"status": {"$ref": URL}}})
        write(top + "/meta.json", {"$schema": "https://json-schema.org/draft-07/schema#", "properties":
                                   {"status": {"$ref": "http://json-schema.org/draft-07/schema#/definitions/nonNegativeInteger"}}})
        write(top + "/newer.json", {"$schema": "https://json-schema.org/draft/2020-12/schema",
                                    "$ref": "https://json-schema.org/draft/2019-09/meta/core"})
        write(top + "/newest.json", {"$schema": "https://json-schema.org/draft/2099-12/schema"})
        write(top + "/formats.json", {"properties": {"status": {"format": "uri"}, "$schema": {"format": "hostname"}}})
        write(top + "/parts/status.json", {"enum": ["ready"]})
        subprocess.run(["git", "init", "-q", top], check=True)
        subprocess.run(["git", "-C", top, "add", "good.json"], check=True)
        # The trace sees what it is meant to see.
        _, seen = traced(folder, sys.executable, "-c", "import socket; socket.socket(socket.AF_INET).close()")
        check(len(seen) == 1, "the trace is blind", seen)
        mapped = ("--map", "https://example.org/schemas=parts")
        for code, words in ((2, ("--schema", "remote.json", "good.json")),
                            (0, ("--schema", "remote.json", *mapped, "good.json")),
                            (1, ("--schema", "meta.json", "good.json")), (0, ("--schema", "newer.json", "good.json")),
                            (2, ("--schema", "newest.json", "good.json")),
                            (2, ("--schema", URL, "good.json")), (1, ("--schema", "formats.json", "good.json")),
                            (0, ("--schema", "remote.json", *mapped, "--staged")), (1, ("good.json",)),
                            (0, ("--schema", "remote.json", *mapped, "--format", "sarif", "good.json"))):
            got, seen = traced(folder, exe, "validate", *words)
            check(got == code, words, "ended with", got)
            check(seen == [], words, "used the network", seen)
        print("no network")


if __name__ == "__main__":
    main(os.path.realpath(sys.argv[1]))
