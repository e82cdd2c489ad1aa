# SPDX-License-Identifier: Apache-2.0
"""Every test that tests/ABUSE.md names exists and is run, and every case has its row. usage: abuse_names_test.py"""

import os
import re
import sys

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
CASES = [f"A{number:02}" for number in range(1, 70)]


def text(path):
    with open(os.path.join(TESTS, path), encoding="utf-8") as file:
        return file.read()


def is_run(path, cmake):
    """C++ tests are listed one by one or as all of a folder; the others by the name of the test."""
    folder, file = os.path.split(path)
    if file.endswith(".cpp"):
        return f"tests/{path}" in cmake or f"tests/{folder}/*.cpp" in cmake
    name = os.path.splitext(file)[0].removesuffix("_test")
    return re.search(rf"\b{name}\b", re.sub(r"#.*", "", cmake)) is not None


def fault(path, name, cmake):
    if not os.path.isfile(os.path.join(TESTS, path)):
        return "there is no such file"
    if path.startswith("scenarios/"):
        return None  # all of them are run
    if path != "e2e/service_steps.sh" and not is_run(path, cmake):
        return "the file is not run"
    escaped = re.escape(name)
    pattern = {".cpp": rf'TEST_CASE\(\s*"{escaped}"', ".py": rf"^def {escaped}\(", ".sh": rf'^step "{escaped}"'}
    if not re.search(pattern[os.path.splitext(path)[1]], text(path), re.M):
        return f"there is no test {name!r}"
    return None


def main():
    rows = [row.split(" | ", 2) for row in text("ABUSE.md").splitlines() if row.startswith("| A")]
    faults = []
    if [row[0].removeprefix("| ") for row in rows] != CASES:
        faults.append("the rows are not A01 to A69, each once")
    cmake = text("../CMakeLists.txt")
    named = 0
    for case, _, shown in rows:
        tests = re.findall(r'`([^`]+)`(?: "([^"]+)")?', shown)
        if not tests and not shown.startswith("nothing yet: "):
            faults.append(f"{case} names no test")
        for path, name in tests:
            named += 1
            wrong = fault(path, name, cmake)
            if wrong:
                faults.append(f"{case} `{path}`: {wrong}")
    print("\n".join(faults) or f"{len(rows)} cases, {named} tests named, all there")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
