# SPDX-License-Identifier: Apache-2.0
"""`baton validate` beside other validators, in one run and in turns: medians, and what part of each baton takes. A
peer that is not there is skipped, and says so. usage: compare.py BUILD [ROUNDS]

JSONSCHEMA and AJV name the programs of sourcemeta and of ajv-cli; with BATON_BENCH_INSTALL=1 npm brings them into
a temporary folder. fastjsonschema and jsonschema are Debian's packages for Python. The lower bound is RapidJSON's
own validator (`validate_engine --bound`): no formats, no draft but 4, no list of faults, not safe."""

import glob
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import data  # noqa: E402

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SCHEMA = os.path.join(TOP, "schemas/coordination/group_status.schema.json")
PYTHON = {
    "fastjsonschema": "import fastjsonschema, json, sys\ncheck = fastjsonschema.compile(json.load(open(sys.argv[1])))\n"
                      "for path in sys.argv[2:]: check(json.load(open(path)))",
    "jsonschema": "import jsonschema, json, sys\ncheck = jsonschema.Draft7Validator(json.load(open(sys.argv[1])))\n"
                  "for path in sys.argv[2:]: check.validate(json.load(open(path)))",
}


# Who checks the formats, which costs: each document has ten times.
WITHOUT_FORMATS = ("sourcemeta --fast", "lower bound")


def answers(*command):
    """What a program says, or None when it cannot be run or fails."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    except OSError:
        return None
    return run.stdout if run.returncode == 0 else None


def installed(folder):
    """Programs that npm brought."""
    if os.environ.get("BATON_BENCH_INSTALL") != "1":
        return {}
    if not shutil.which("npm"):
        print("skipped: there is no npm to install with")
        return {}
    npm = ["npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", folder, "@sourcemeta/jsonschema", "ajv-cli",
           "ajv-formats"]
    if subprocess.run(npm, stdout=subprocess.DEVNULL).returncode != 0:
        print("npm could not install the peers")
        return {}
    # The program itself: its wrapper starts node first.
    native = [path for path in glob.glob(f"{folder}/node_modules/@sourcemeta/jsonschema/**/*linux-x86_64", recursive=True)
              if os.access(path, os.X_OK) and os.path.isfile(path)]
    return {"JSONSCHEMA": native[0] if native else None, "AJV": f"{folder}/node_modules/.bin/ajv"}


def sourcemeta(found):
    """Its program, which shares its name with one of Python's; only this one answers to `version`."""
    for path in (os.environ.get("JSONSCHEMA"), found.get("JSONSCHEMA"), shutil.which("jsonschema")):
        if path and answers(path, "version"):
            return path
    return None


def python_with(module):
    """The interpreter that runs this, or Debian's, whose packages another one does not see."""
    for python in (sys.executable, "/usr/bin/python3"):
        if answers(python, "-c", f"import {module}") is not None:
            return python
    return None


def commands(build, folder):
    """Name → the command in front of the files."""
    found = installed(folder)
    peers = {"baton": [build + "/baton", "validate", "--schema", SCHEMA]}
    native = sourcemeta(found)
    if native:
        peers["sourcemeta"] = [native, "validate", "--format-assertion", SCHEMA]
        peers["sourcemeta --fast"] = [native, "validate", "--fast", SCHEMA]
    else:
        print("skipped: sourcemeta's jsonschema (JSONSCHEMA=, or BATON_BENCH_INSTALL=1)")
    ajv = os.environ.get("AJV") or found.get("AJV") or shutil.which("ajv")
    if ajv:
        peers["ajv-cli"] = [ajv, "validate", "--spec=draft7", "--strict=false", "-c", "ajv-formats", "-s", SCHEMA]
    else:
        print("skipped: ajv-cli (AJV=, or BATON_BENCH_INSTALL=1)")
    for name, script in PYTHON.items():
        python = python_with(name)
        if python:
            peers[f"python {name}"] = [python, "-c", script, SCHEMA]
        else:
            print(f"skipped: python3-{name} is not installed")
    peers["lower bound"] = [build + "/validate_engine", "--bound", SCHEMA]
    return peers


def words(name, command, paths):
    return command + [word for path in paths for word in ("-d", path)] if name == "ajv-cli" else command + paths


def measure(title, peers, paths, rounds):
    took = {name: [] for name in peers}
    before = os.getloadavg()[0]
    for _ in range(rounds):
        for name, command in peers.items():
            if took[name] is None:
                continue
            began = time.perf_counter()
            run = subprocess.run(words(name, command, paths), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            took[name].append((time.perf_counter() - began) * 1000)
            if run.returncode != 0:
                print(f"{name}: exit code {run.returncode}, not measured: {run.stderr.decode(errors='replace')[:200]}")
                took[name] = None
    if not took["baton"]:
        sys.exit("baton itself failed")
    base = statistics.median(took["baton"])
    print(f"\n{title}, {rounds} rounds, load {before:.1f} before and {os.getloadavg()[0]:.1f} after\n"
          f"{'':20}{'median ms':>12}{'least ms':>12}{'baton takes':>13}{'by least':>11}")
    for name, times in took.items():
        if times:
            middle = statistics.median(times)
            print(f"{name:20}{middle:12.2f}{min(times):12.2f}{base / middle:12.2f}x{min(took['baton']) / min(times):10.2f}x"
                  + ("  (no formats)" if name in WITHOUT_FORMATS else ""), flush=True)


def main(build, rounds="9"):
    rounds = int(rounds)
    build = os.path.abspath(build)
    with tempfile.TemporaryDirectory(prefix="baton-bench-") as folder:
        peers = commands(build, folder + "/npm")
        small = data.write(folder + "/small", 10_000)
        large = data.write(folder + "/large", 1, groups=75)
        measure("cold start, one file of 4 KB", peers, small[:1], 2 * rounds + 1)
        measure(f"one file of {os.path.getsize(large[0]) // 1000} KB", peers, large, 2 * rounds + 1)
        measure("1,000 files of 4 KB", peers, small[:1000], rounds)
        measure("10,000 files of 4 KB", peers, small, max(3, rounds // 3))
        print("\nin the process")
        sys.stdout.flush()
        subprocess.run([build + "/validate_engine", SCHEMA, *small[:100]], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
