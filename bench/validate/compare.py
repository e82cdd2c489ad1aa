"""`baton validate` beside other validators, in one run and in turns: medians, and the ratio to baton. A peer that
is not there is skipped, and says so. usage: compare.py BUILD [ROUNDS]

JSONSCHEMA and AJV name the programs of sourcemeta and of ajv-cli; with BATON_BENCH_INSTALL=1 npm brings them into
a temporary folder. fastjsonschema and jsonschema are Debian's packages for Python."""

import glob
import importlib.util
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


def installed(folder):
    """Programs that npm brought."""
    if os.environ.get("BATON_BENCH_INSTALL") != "1" or not shutil.which("npm"):
        return {}
    npm = ["npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", folder, "@sourcemeta/jsonschema", "ajv-cli"]
    if subprocess.run(npm, stdout=subprocess.DEVNULL).returncode != 0:
        return {}
    # The program itself: its wrapper starts node first.
    native = [path for path in glob.glob(f"{folder}/node_modules/@sourcemeta/jsonschema/**/*linux-x86_64", recursive=True)
              if os.access(path, os.X_OK) and os.path.isfile(path)]
    return {"JSONSCHEMA": native[0] if native else None, "AJV": f"{folder}/node_modules/.bin/ajv"}


def commands(build, folder):
    """Name → the command in front of the files."""
    found = installed(folder)
    peers = {"baton": [build + "/baton", "validate", "--schema", SCHEMA]}
    sourcemeta = os.environ.get("JSONSCHEMA") or found.get("JSONSCHEMA") or shutil.which("jsonschema")
    ajv = os.environ.get("AJV") or found.get("AJV") or shutil.which("ajv")
    if sourcemeta:
        peers["sourcemeta"] = [sourcemeta, "validate", SCHEMA]
        peers["sourcemeta --fast"] = [sourcemeta, "validate", "--fast", SCHEMA]
    else:
        print("skipped: sourcemeta's jsonschema (JSONSCHEMA=, or BATON_BENCH_INSTALL=1)")
    if ajv:
        peers["ajv-cli"] = [ajv, "validate", "--strict=false", "--validate-formats=false", "-s", SCHEMA]
    else:
        print("skipped: ajv-cli (AJV=, or BATON_BENCH_INSTALL=1)")
    for name, script in PYTHON.items():
        if importlib.util.find_spec(name):
            peers[f"python {name}"] = [sys.executable, "-c", script, SCHEMA]
        else:
            print(f"skipped: python3-{name} is not installed")
    return peers


def words(name, command, paths):
    return command + [word for path in paths for word in ("-d", path)] if name == "ajv-cli" else command + paths


def measure(title, peers, paths, rounds):
    took = {name: [] for name in peers}
    for _ in range(rounds):
        for name, command in peers.items():
            began = time.perf_counter()
            run = subprocess.run(words(name, command, paths), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            took[name].append((time.perf_counter() - began) * 1000)
            if run.returncode != 0:
                print(f"{name}: exit code {run.returncode}, not counted")
                took[name] = []
    base = statistics.median(took["baton"])
    print(f"\n{title}, {rounds} rounds, load {os.getloadavg()[0]:.1f}\n{'':20}{'median ms':>12}{'least ms':>12}{'baton is':>12}")
    for name, times in took.items():
        if times:
            middle = statistics.median(times)
            print(f"{name:20}{middle:12.2f}{min(times):12.2f}{base / middle:11.2f}x")


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
        fast = {name: command for name, command in peers.items() if name != "python jsonschema"}
        measure("10,000 files of 4 KB", fast, small, max(3, rounds // 3))
        print("\nin the process")
        sys.stdout.flush()
        subprocess.run([build + "/validate_engine", SCHEMA, *small[:100]], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
