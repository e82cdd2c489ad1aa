# SPDX-License-Identifier: Apache-2.0
"""Every example beside a schema is what its folder says, and so is every template of a ready-made folder.
`schemas/DIALECT/examples/{valid,invalid}/KIND__what.json`. usage: examples_test.py BATON"""

import glob
import json
import os
import re
import subprocess

import world
from world import check

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def findings(exe, kind, path):
    done = subprocess.run([exe, "validate", "--json", "--as", kind, path], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    check(done.returncode in (0, 1), path, "gave", done.returncode, done.stderr)
    found = [each for each in json.loads(done.stdout)["findings"] if each["severity"] == "error"]
    check((done.returncode == 1) == bool(found), path, "exit code and findings differ:", found)
    return found


def test(exe):
    files = glob.glob("schemas/*/examples/*/*.json", root_dir=TOP)
    check(files, "there are no examples")
    for file in sorted(files):
        dialect, _, verdict, name = file.split("/")[1:]
        found = findings(exe, f"{dialect}/{name.split('__')[0].removesuffix('.json')}", os.path.join(TOP, file))
        check(bool(found) == (verdict == "invalid"), file, "has", found or "no finding")
    templates = glob.glob("coordination/**/*.json", root_dir=TOP, recursive=True)
    for file in templates:
        kind = os.path.basename(file).removesuffix(".json")
        found = findings(exe, f"coordination/{kind}", os.path.join(TOP, file))
        check(not found, file, "has", found)
    # Every decision of a format page on a contradiction names a scenario that exists.
    for page in glob.glob("schemas/*/README.md", root_dir=TOP):
        folder = os.path.join(TOP, "tests/scenarios", page.split("/")[1])
        with open(os.path.join(TOP, page), encoding="utf-8") as file:
            decisions = [line for line in file if re.match(r"\| V-\d+ \|", line)]
        for number, line in enumerate(decisions, 1):
            check(line.startswith(f"| V-{number} |"), page, "V-", number, "is not there")
            named = re.findall(r"`(\w+\.jsonl)`", line)
            check(named or "_test.cpp" in line, page, "names no test:", line)
            for name in named:
                check(os.path.exists(os.path.join(folder, name)), page, "names", name, "which is not there")
    # An example has a real agent, and beside it stand-ins that work without a model.
    for path in glob.glob("examples/*/*.yaml", root_dir=TOP):
        if os.path.basename(path) not in ("baton.yaml", "demo.yaml"):
            continue
        done = subprocess.run([exe, "validate", "--schema", "config", os.path.join(TOP, path)], capture_output=True, text=True)
        check(done.returncode == 0, path, done.stdout, done.stderr)
        with open(os.path.join(TOP, path), encoding="utf-8") as file:
            agents = re.findall(r"^  \w+: \{ (adapter|command):", file.read(), re.M)
        wanted = "command" if path.endswith("demo.yaml") else "adapter"
        check(set(agents) <= {wanted}, path, "has agents by", agents)
    print(len(files), "examples,", len(templates), "templates")


if __name__ == "__main__":
    world.main(test)
