# SPDX-License-Identifier: Apache-2.0
"""scripts/packages is what the build and the tests really use: nothing missing, nothing idle.

Forwards: every CMake package, pkg-config module and header that CMakeLists.txt asks for, every command that
scripts and tests call and that does not come with every Debian, and every folder of /usr/share that unit tests
read, stands in the list. Backwards: every word of the list occurs where its kind says.

And every source file names its licence. usage: packages_test.py"""

import os
import re
import shutil
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# Come with CMake or the compiler.
OWN = {"Threads"}

LICENCE = "SPDX-License-Identifier: Apache-2.0"
SOURCE = re.compile(r"\.(cpp|h|c|py|sh|cmake|service|conf)$|(^|/)CMakeLists\.txt$|^scripts/|^\.ci/")
# What people copy, what is compiled into the program or printed by it, and what tests compare.
WITHOUT_LICENCE = ("adapters/", "examples/", "schemas/", "templates/", "tests/e2e/golden/", "tests/fuzz/corpus/", "tests/samples/")


def text(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return file.read()


def tracked(*patterns):
    files = subprocess.run(["git", "-C", TOP, "ls-files", *patterns], check=True, capture_output=True, text=True)
    return files.stdout.split()


def listed():
    """Package → (kind, words)."""
    found = {}
    for line in text("scripts/packages").splitlines():
        if not line or line.startswith("#"):
            continue
        row = re.fullmatch(r"(\S+) +# (build|test): (.+)", line)
        assert row, f"not in the format of the list: {line}"
        found[row[1]] = (row[2], row[3].split())
    return found


def asked_by_cmake():
    cmake = re.sub(r"#.*", "", text("CMakeLists.txt"))
    names = set(re.findall(r"find_package\(\s*([\w-]+)", cmake))
    for modules in re.findall(r"pkg_check_modules\(([^)]*)\)", cmake):
        names |= set(modules.split()[1:]) - {"REQUIRED", "IMPORTED_TARGET"}
    names |= {header for header in re.findall(r"find_path\(\s*\w+\s+(?:NAMES\s+)?(\S+)", cmake)}
    return names - OWN


def called():
    """Words in command position in scripts, and first words of commands in Python."""
    words = set()
    for path in tracked("scripts/*", "tests/*.sh", "tests/*.py", "examples/*.sh", "bench/*.py", ".ci/run"):
        content = text(path)
        if content.startswith("#!") and "python" not in content.split("\n", 1)[0]:
            content = re.sub(r"<<(-?)'?(\w+)'?\n.*?\n\2\n", "\n", content, flags=re.S)
            content = re.sub(r"(^|\s)#.*", "", content)
            content = re.sub(r"'[^'\n]*'|\(\([^\n]*?\)\)", "''", content)
            words |= set(re.findall(r"(?:^|[|;&(!]|\bthen|\bdo|\belse|\bif|\bexec|\bneed)[ \t]*([a-z][\w.+-]*)(?![\w.+-]*=)", content, re.M))
            for needs in re.findall(r"\bneed ([\w -]+)", content):
                words |= set(needs.split())
        elif path.endswith(".py"):
            lists = set(re.findall(r"(?<![\w)\]])(?<!== )\[\s*\"([a-z][\w.+-]*)\"", content))
            # A bench does without a peer that is not there, and says so.
            words |= lists - set(re.findall(r"shutil\.which\(\"(\w+)\"\)", content) if path.startswith("bench/") else ())
    builtins = subprocess.run(["bash", "-c", "compgen -b"], check=True, capture_output=True, text=True)
    return words - set(builtins.stdout.split())


def package_of(command):
    """The package a command comes from, if it is not on every Debian; its priority decides."""
    path = shutil.which(command, path="/usr/sbin:/usr/bin:/sbin:/bin")
    if path is None:
        return None
    for candidate in (path, path.removeprefix("/usr"), os.path.realpath(path)):
        found = subprocess.run(["dpkg", "-S", candidate], capture_output=True, text=True)
        owners = [line for line in found.stdout.splitlines() if not line.startswith("diversion ")]
        if owners:
            package = owners[0].split(":")[0].split(",")[0]
            priority = subprocess.run(["dpkg-query", "-W", "-f", "${Essential} ${Priority}\n", package],
                                      capture_output=True, text=True).stdout.split("\n")[0]
            return None if "yes" in priority or "required" in priority else package
    return None


def is_source(path, content):
    return not path.startswith(WITHOUT_LICENCE) and bool(SOURCE.search(path) or content.startswith(b"#!"))


def names_licence(content):
    """In the first line, or in the second one after `#!`."""
    lines = content.split(b"\n", 2)
    return LICENCE.encode() in lines[1 if content.startswith(b"#!") else 0]


def sources():
    """Path and content of each."""
    names = subprocess.run(["git", "-C", TOP, "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    for path in names.split("\0")[:-1]:
        if os.path.isfile(os.path.join(TOP, path)):
            with open(os.path.join(TOP, path), "rb") as file:
                content = file.read()
            if is_source(path, content):
                yield path, content


def unlicensed():
    for path, content in (("a.cpp", b"#pragma once\n"), ("scripts/a", b"#!/bin/sh\n\n# " + LICENCE.encode())):
        assert is_source(path, content) and not names_licence(content), path
    return [path for path, content in sources() if not names_licence(content)]


def main():
    packages = listed()
    words = {word for _, row in packages.values() for word in row}
    faults = [f"CMakeLists.txt asks for {name}, which no package of the list stands for"
              for name in sorted(asked_by_cmake() - words)]
    for command in sorted(called()):
        package = package_of(command)
        if package and command not in words and package not in packages:
            faults.append(f"{command} (of {package}) is called, but its package is not in the list")
    cmake = asked_by_cmake() | {"CXX", "Ninja"}
    for path in tracked("tests/*.cpp"):
        faults += [f"{path} reads /usr/share/{folder}, whose package is not in the list"
                   for folder in re.findall(r"\"/usr/share/([\w.+-]+)", text(path)) if folder not in packages]
    everything = "\n".join(text(path) for path in tracked("scripts/*", "tests/e2e/*", "tests/base/*", "tests/*.sh", ".ci/run", "CMake*")
                           if path not in ("scripts/packages", "tests/e2e/packages_test.py"))
    for package, (kind, row) in packages.items():
        for word in row:
            if word not in cmake and not re.search(rf"\b{re.escape(word)}\b", everything):
                faults.append(f"{package} is in the list for {word}, which nothing uses")
            if kind == "test" and word in asked_by_cmake() and word != "doctest":
                faults.append(f"{package} is needed to build, not to test")
    faults += [f"{path} does not begin with a comment `{LICENCE}`" for path in unlicensed()]
    for fault in faults:
        print(fault)
    if faults:
        sys.exit(1)
    print(len(packages), "packages, each used; nothing missing;", len(list(sources())), "sources name their licence")


if __name__ == "__main__":
    main()
