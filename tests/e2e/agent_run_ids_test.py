# SPDX-License-Identifier: Apache-2.0
"""Everything schemas/agent_run/README.md gives an id is shown by a scenario, a sample or the test of the whole program, and
these name no id that the page does not have. usage: agent_run_ids_test.py"""

import json
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
ID = r"D-AO-\d+"


def page_ids():
    page = (TOP / "schemas/agent_run/README.md").read_text(encoding="utf-8")
    return set(re.findall(rf"^\| ({ID}|S\d+) \|", page, re.M))


def ids_in(text):
    """`D-AO-2, 3, 4` names three."""
    for head in re.findall(rf"{ID}(?:, \d+)*", text):
        yield from (f"D-AO-{number}" for number in re.findall(r"\d+", head))


def shown():
    """Id to the files that say that they show it."""
    found = {}

    def note(ids, where):
        for each in ids:
            found.setdefault(each, []).append(where)

    for path in sorted((TOP / "tests/scenarios/agent_run").glob("*.jsonl")):
        first = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
        note([*ids_in(first["scenario"]), *first.get("shows", [])], path.name)
        named = re.match(r"d_ao_((?:\d\d_)+)", path.name)
        told = {f"D-AO-{int(number)}" for number in named[1].split("_") if number} if named else set()
        assert told <= set(ids_in(first["scenario"])), f"{path.name} does not say that it shows {told}"
    for row in json.loads((TOP / "tests/samples/agent_run/manifest.json").read_text(encoding="utf-8")):
        note([rule.removeprefix("agent_run/") for rule in row.get("rules", []) if rule.startswith("agent_run/")],
             row["file"])
    note(ids_in((TOP / "tests/e2e/agent_run_test.py").read_text(encoding="utf-8")), "agent_run_test.py")
    return found


ids = page_ids()
assert {f"D-AO-{number}" for number in range(1, 29)} <= ids, sorted(ids)
assert {f"S{number}" for number in (*range(1, 11), *range(20, 29), *range(40, 48), 60, 61, 70)} <= ids, sorted(ids)
where = shown()
missing, unknown = sorted(ids - where.keys()), sorted(where.keys() - ids)
print(*(f"{each}: shown nowhere" for each in missing), sep="\n")
print(*(f"{each}: not on the page, named by {', '.join(where[each])}" for each in unknown), sep="\n")
print(f"{len(ids)} ids, {len(missing)} without a test, {len(unknown)} without a place")
raise SystemExit(1 if missing or unknown else 0)
