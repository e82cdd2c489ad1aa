# SPDX-License-Identifier: Apache-2.0
"""Everything schemas/fsm_loop/README.md gives an id is shown by a scenario, a sample or a test, and these name no id that
the page does not have: each decision (D-LL-…), each rule (S…), each evaluator that baton runs, each way on (W…), each reason to end
(terminated_by). usage: fsm_loop_ids_test.py"""

import json
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
ID = r"\b(D-LL-\d+|W\d+|S\d+)\b"


def table(page, heading):
    """First and last cells of the table behind a heading."""
    rows = page.split(heading, 1)[1].split("\n\n", 1)[0].splitlines()[1:]
    cells = [[each.strip() for each in row.strip("| ").split(" | ")] for row in rows]
    return [(row[0], row[-1]) for row in cells]


def page_ids():
    page = (TOP / "schemas/fsm_loop/README.md").read_text(encoding="utf-8")
    marked = set(re.findall(r"^\| (D-LL-\d+|W\d+|S\d+) \|", page, re.M))
    evaluators = {word.strip() for names, driven in table(page, "| type | needs | may have | baton |\n")
                  if driven.startswith("implemented") for word in names.replace("[M]", "").split(",")}
    reasons = {"ends " + word.strip() for names, _ in table(page, "| terminated_by | status | when |\n")
               for word in names.replace("[M]", "").split(",")}
    return marked, evaluators, reasons


def shown():
    """Id → the files that say that they show it."""
    found = {}

    def note(ids, where):
        for each in ids:
            found.setdefault(each, []).append(where)

    for path in sorted((TOP / "tests/scenarios/fsm_loop").glob("*.jsonl")):
        first = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
        note(set(first.get("shows", [])) | set(re.findall(ID, first["scenario"])), path.name)
    for row in json.loads((TOP / "tests/samples/fsm_loop/manifest.json").read_text(encoding="utf-8")):
        note(re.findall(ID, row.get("why", "")), row["file"])
        note([rule.removeprefix("fsm_loop/") for rule in row.get("rules", []) if re.fullmatch(r"fsm_loop/S\d+", rule)],
             row["file"])
    for path in sorted((TOP / "tests/dialects").glob("fsm_*.cpp")):
        text = path.read_text(encoding="utf-8")
        note(re.findall(ID, " ".join(re.findall(r'TEST_CASE\("([^"]*)"', text))), path.name)
        note(re.findall(r'"(?:fsm_loop/)?(S\d+)"', text), path.name)
    for path in sorted((TOP / "tests/e2e").glob("fsm_*_test.py")):
        if path.name != pathlib.Path(__file__).name:
            note(re.findall(ID, path.read_text(encoding="utf-8")), path.name)
    return found


marked, evaluators, reasons = page_ids()
# The page is read here as text: a table that moved would otherwise be one without ids.
assert {f"D-LL-{number}" for number in range(1, 29)} <= marked, sorted(marked)
assert {f"W{number}" for number in range(1, 15)} <= marked, sorted(marked)
assert len([each for each in marked if each.startswith("S")]) >= 35, sorted(marked)
assert {"exit_code", "llm_structured", "action_stall", "harbor_scorer"} <= evaluators and len(evaluators) == 13, evaluators
assert {"ends terminal", "ends max_steps", "ends user_stopped"} <= reasons and len(reasons) == 11, reasons
known = marked | evaluators | reasons
where = shown()
missing = sorted(known - where.keys())
unknown = sorted(where.keys() - known)
print(*(f"{each}: shown nowhere" for each in missing), *(f"{each}: not on the page, but in {where[each]}" for each in unknown),
      sep="\n")
print(f"{len(known)} ids, {len(missing)} without a test, {len(unknown)} unknown")
raise SystemExit(1 if missing or unknown else 0)
