# SPDX-License-Identifier: Apache-2.0
"""Everything schemas/ml_workflow/README.md gives an id is shown by a scenario, a sample, an example or a test: each
row of its table, each decision, each rule, each type of error. usage: ml_workflow_ids_test.py"""

import json
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parent.parent.parent


def page_ids():
    page = (TOP / "schemas/ml_workflow/README.md").read_text(encoding="utf-8")
    rows = {f"row {number}" for number in re.findall(r"^\| (\d+) \| [^|]*\|", page.split("One row applies.")[1], re.M)}
    marked = set(re.findall(r"^\| (K-\d+|[ST]\d+) \|", page, re.M))
    errors = page.split("| error_type |")[1].split("\n\n")[0]
    types = {word for line in errors.splitlines()[2:] for word in re.findall(r"[a-z]+_[a-z]+|timeout", line.split("|")[1])}
    return rows, marked, types


def shown():
    """Id → the files that say that they show it."""
    found = {}

    def note(text, where):
        for first, last in re.findall(r"\brows? (\d+)(?:(?:[-–]| to )(\d+))?", text):
            for number in range(int(first), int(last or first) + 1):
                found.setdefault(f"row {number}", []).append(where)
        for head in re.findall(r"\brows ([\d, and]+)", text):
            for number in re.findall(r"\d+", head):
                found.setdefault(f"row {number}", []).append(where)
        for each in re.findall(r"\b(K-\d+|[ST]\d+)\b", text):
            found.setdefault(each, []).append(where)

    for path in sorted((TOP / "tests/scenarios/ml_workflow").glob("*.jsonl")):
        text = path.read_text(encoding="utf-8")
        first = json.loads(text.splitlines()[0])
        note(first["scenario"] + " " + ", ".join(first.get("shows", [])), path.name)
        for kind in re.findall(r'"/step_history/\d+/error_info(?:/error_type)?": "?([a-z_]+)"|"error_type": "([a-z_]+)"', text):
            found.setdefault(kind[0] or kind[1], []).append(path.name)
    for row in json.loads((TOP / "tests/samples/ml_workflow/manifest.json").read_text(encoding="utf-8")):
        note(" ".join([*row.get("rules", []), *row.get("shows", [])]).replace("ml_workflow/", ""), row["file"])
    for path in sorted((TOP / "tests/dialects").glob("ml_workflow_*.cpp")):
        note(" ".join(re.findall(r'TEST_CASE\("([^"]*)"', path.read_text(encoding="utf-8"))), path.name)
    note(" ".join(re.findall(r"[KTS]-?\d+", (TOP / "tests/e2e/ml_workflow_test.py").read_text(encoding="utf-8"))), "e2e")
    return found


rows, marked, types = page_ids()
assert rows == {f"row {number}" for number in range(1, 17)}, sorted(rows)
assert {f"K-{number}" for number in range(1, 37)} <= marked, sorted(marked)
assert {f"S{number}" for number in range(1, 23)} | {f"T{number}" for number in range(1, 6)} <= marked, sorted(marked)
assert {"agent_timeout", "timeout", "agent_exit", "resource_exhaustion", "validation_error", "critical_error"} <= types, types
where = shown()
missing = sorted((rows | marked | types) - where.keys())
print(*(f"{each}: shown nowhere" for each in missing), sep="\n")
print(f"{len(rows | marked | types)} ids, {len(missing)} without a test")
raise SystemExit(1 if missing else 0)
