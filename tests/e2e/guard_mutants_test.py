# SPDX-License-Identifier: Apache-2.0
"""Each guard that SECURITY.md promises is taken out, and a test has to notice. tests/guards/mutants.py lists the guards.

All guards are taken out of one copy of the sources at once, each behind a number: code asks the file `guard_mutant`
which one is missing. So there is one build, and a mutant costs one run of its test.

usage: guard_mutants_test.py [NAME]...    default: all. A name ends with `*` if only its beginning is given.
       guard_mutants_test.py --table      only looks whether the table fits the sources
BATON_GUARDS_FOLDER: a folder for the copy, kept for the next time. BATON_GUARDS_CMAKE: further options of CMake."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, TOP + "/tests/guards")
from mutants import MUTANTS  # noqa: E402

LONGEST = 420  # seconds for one test
HEADER = """#ifndef BATON_GUARD_MUTANT
#define BATON_GUARD_MUTANT
#include <fcntl.h>
#include <unistd.h>
// The number of the guard that is missing in this process; 0: none.
static int baton_guard_mutant() {
  char text[8] = {};
  const int file = open("@FILE@", O_RDONLY | O_CLOEXEC);
  const ssize_t size = file < 0 ? 0 : read(file, text, 7);
  if (file >= 0)
    close(file);
  int number = 0;
  for (ssize_t i = 0; i < size && text[i] >= '0' && text[i] <= '9'; ++i)
    number = number * 10 + (text[i] - '0');
  return number;
}
static const int kBatonGuardMutant = baton_guard_mutant();
#endif
"""


def parts(mutant):
    """The text in its file before the guard, the guard, and the text behind it."""
    before, guard, behind = "", mutant.text, ""
    if "⟦" in guard:
        before, guard = guard.split("⟦")
        guard, behind = guard.split("⟧")
    return before, guard, behind


def number_of(mutant):
    """Stays when other rows come and go, so that only their files are built again."""
    return zlib.crc32(mutant.name.encode()) % 999_999 + 1


def table():
    """What does not fit."""
    faults = []
    names = set()
    texts = {}
    for mutant in MUTANTS:
        if number_of(mutant) in names:
            faults.append(f"{mutant.name}: another one has this name or number")
        names.add(number_of(mutant))
        if mutant.file not in texts:
            with open(f"{TOP}/{mutant.file}") as file:
                texts[mutant.file] = file.read()
        count = texts[mutant.file].count("".join(parts(mutant)))
        if count != 1:
            faults.append(f"{mutant.name}: its text is {count} times in {mutant.file}, and has to be there once")
        kind, _, rest = mutant.test.partition(" ")
        if kind == "e2e":
            path = f"{TOP}/tests/e2e/{rest.split()[0]}_test.py"
            missing = not os.path.exists(path) or any(f"def {word}(" not in open(path).read() for word in rest.split()[1:])
        elif kind == "scenarios":
            missing = any(not os.path.exists(f"{TOP}/tests/scenarios/{each}.jsonl") for each in rest.split())
        else:
            missing = kind not in ("unit", "io")
        if missing:
            faults.append(f"{mutant.name}: there is no test `{mutant.test}`")
    return faults


def without(mutant, number, switch):
    """The guard, or what stands there when it is missing."""
    before, guard, behind = parts(mutant)
    if not mutant.file.endswith((".cpp", ".h")):  # a template of a script for a shell
        changed = f"if [[ $(<{switch}) == {number} ]]; then {mutant.instead}; else {guard}; fi"
    elif guard.rstrip().endswith((";", "}")) and not mutant.expression:
        changed = f"if (kBatonGuardMutant == {number}) {{ {mutant.instead} }} else {{ {guard} }}"
    else:
        changed = f"(kBatonGuardMutant == {number} ? ({mutant.instead}) : ({guard}))"
    return before + changed + behind


class Copy:
    """The sources with all mutants, built."""

    def __init__(self, folder):
        self.folder = folder
        self.build = folder + "/build/quick"
        self.switch = self.build + "/guard_mutant"
        self.passes = {}

    def make(self):
        listed = subprocess.run(["git", "-C", TOP, "ls-files", "-z"], capture_output=True)
        if listed.returncode == 0:
            paths = [path for path in listed.stdout.decode().split("\0") if path and os.path.exists(f"{TOP}/{path}")]
        else:
            paths = [os.path.relpath(os.path.join(at, name), TOP) for at, folders, names in os.walk(TOP) for name in names
                     if not os.path.relpath(at, TOP).startswith(("build", ".git"))]
        os.makedirs(self.build, exist_ok=True)
        header = self.build + "/guard_mutant.h"
        self.write(header, HEADER.replace("@FILE@", self.switch))
        for path in paths:
            with open(f"{TOP}/{path}", "rb") as file:
                text = file.read()
            of_this = [(number_of(each), each) for each in MUTANTS if each.file == path]
            if of_this:
                text = text.decode()
                for number, mutant in of_this:
                    changed = text.replace("".join(parts(mutant)), without(mutant, number, self.switch))
                    assert changed != text, (mutant.name, "overlaps with another one")
                    text = changed
                if path.endswith((".cpp", ".h")):
                    text = f'#include "{header}"\n#line 1\n' + text
                text = text.encode()
            self.write(f"{self.folder}/{path}", text)
            shutil.copymode(f"{TOP}/{path}", f"{self.folder}/{path}")
        self.turn(0)

    @staticmethod
    def write(path, text):
        """Leaves a file alone that is the same, so that it is not built again."""
        text = text.encode() if isinstance(text, str) else text
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.exists(path) and open(path, "rb").read() == text:
            return
        with open(path, "wb") as file:
            file.write(text)

    def turn(self, number):
        with open(self.switch, "w") as file:
            file.write(f"{number}\n")
        os.chmod(self.switch, 0o644)

    def compile(self, kinds):
        options = ["-G", "Ninja"] if shutil.which("ninja") else []
        options += ["-D", "CMAKE_BUILD_TYPE=Debug", "-D", "CMAKE_CXX_FLAGS=-g0"]
        options += shlex.split(os.environ.get("BATON_GUARDS_CMAKE", ""))
        targets = ["baton", "baton-shim"]
        targets += ["baton_test"] if kinds & {"unit", "scenarios"} else []
        targets += ["baton_io_test"] if "io" in kinds else []
        for command in (["cmake", "-S", self.folder, "-B", self.build, *options],
                        ["cmake", "--build", self.build, "--parallel", os.environ.get("BATON_JOBS", str(os.cpu_count())),
                         "--target", *targets]):
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                sys.exit(done.stdout[-20000:] + "\nthe sources with all mutants cannot be built")

    def command(self, test):
        kind, _, rest = test.partition(" ")
        if kind == "e2e":
            name, *part = rest.split()
            return ["python3", f"e2e/{name}_test.py", self.build + "/baton", *part]
        if kind == "scenarios":
            self.choose_scenarios(rest.split())
            return [self.build + "/baton_test", "--test-case=every file below tests/scenarios holds*"]
        # A comma would begin another name.
        return [f"{self.build}/baton_{'io_' if kind == 'io' else ''}test", "--test-case=" + rest.replace(",", "?")]

    def choose_scenarios(self, names):
        """The folder with those alone: all of them take a minute."""
        folder = f"{self.folder}/tests/scenarios"
        shutil.rmtree(folder)
        shutil.copytree(f"{TOP}/tests/scenarios", folder, ignore=lambda at, inner: [
            name for name in inner if name.endswith(".jsonl")
            and os.path.relpath(f"{at}/{name}", f"{TOP}/tests/scenarios")[:-len(".jsonl")] not in names])

    def run(self, test):
        # A test that waits in vain fails sooner than usual.
        env = {**os.environ, "BATON_PATIENCE": os.environ.get("BATON_PATIENCE", "60")}
        env.pop("BATON_COMPLETE", None)
        if test.startswith("scenarios"):
            env["BATON_COMPLETE"] = "1"  # also with one file for each step
        try:
            done = subprocess.run(self.command(test), cwd=self.folder + "/tests", stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=env, timeout=LONGEST)
        except subprocess.TimeoutExpired as end:
            return 1, (end.stdout or b"").decode(errors="replace")
        text = done.stdout.decode(errors="replace")
        # doctest is content when no test has this name.
        if "test cases: 0 |" in text.replace("  ", " ") or "test cases:  0" in text:
            return None, text
        # A case of doctest that cannot run here only says so.
        if test.startswith(("unit", "io")) and done.returncode == 0 and "MESSAGE: skipped: " in text:
            return 77, text
        return done.returncode, text

    def passes_without(self, test):
        if test not in self.passes:
            self.turn(0)
            self.passes[test] = self.run(test)
        return self.passes[test]


def judge(copy, number, mutant):
    """killed, skipped, survived, or why the row cannot be used."""
    code, text = copy.passes_without(mutant.test)
    if code == 77:
        return "skipped"
    if code != 0:
        return f"its test `{mutant.test}` does not pass when nothing is missing:\n{text[-3000:]}"
    copy.turn(number)
    code, text = copy.run(mutant.test)
    copy.turn(0)
    if os.environ.get("BATON_GUARDS_SHOW"):
        print(text[-1500:])
    return "survived" if code in (0, 77) else "killed"


def main(words):
    faults = table()
    if faults:
        sys.exit("\n".join(faults) + "\ntests/guards/mutants.py has to follow the sources")
    if words == ["--table"]:
        print(f"{len(MUTANTS)} guards, all in their places\npassed")
        return
    chosen = [(number_of(mutant), mutant) for mutant in MUTANTS
              if not words or any(mutant.name == word or word.endswith("*") and mutant.name.startswith(word[:-1])
                                  for word in words)]
    if not chosen:
        sys.exit("no guard has this name")
    kept = os.environ.get("BATON_GUARDS_FOLDER")
    with tempfile.TemporaryDirectory(prefix="baton-guards-") as temporary:
        os.chmod(temporary, 0o755)
        copy = Copy(os.path.realpath(kept or temporary))
        begin = time.monotonic()
        copy.make()
        copy.compile({mutant.test.split()[0] for _, mutant in chosen})
        print(f"built in {time.monotonic() - begin:.0f} s", flush=True)
        ends = {}
        for number, mutant in sorted(chosen, key=lambda row: row[1].test):
            start = time.monotonic()
            end = judge(copy, number, mutant)
            ends.setdefault(end.split("\n")[0], []).append(mutant.name)
            print(f"{mutant.name}: {end} ({time.monotonic() - start:.0f} s)", flush=True)
    killed, skipped = ends.pop("killed", []), ends.pop("skipped", [])
    print(f"{len(killed)} of {len(chosen)} guards are missed by their tests when they are gone")
    if ends:
        sys.exit("not missed:\n" + "\n".join(f"{end}: {', '.join(names)}" for end, names in ends.items()))
    if skipped:
        print("skipped: their tests cannot run here:", ", ".join(skipped))
        sys.exit(77)
    print("passed")


if __name__ == "__main__":
    main(sys.argv[1:])
