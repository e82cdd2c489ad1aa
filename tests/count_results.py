# SPDX-License-Identifier: Apache-2.0
"""Counts the tests of several presets from ctest's results. usage: count_results.py SECONDS PRESET=FILE...

A part of a unit test that cannot be run here says so with a MESSAGE of doctest; it counts as skipped beside the
test it belongs to.
"""

import re
import sys
import xml.etree.ElementTree as xml

passed, failed, skipped = 0, [], []
for argument in sys.argv[2:]:
    preset, path = argument.split("=", 1)
    try:
        cases = xml.parse(path).getroot().findall("testcase")
    except (OSError, xml.ParseError) as error:
        failed.append(f"{preset}: no results ({error})")
        continue
    if not cases:
        failed.append(f"{preset}: no test was run")
    for case in cases:
        name = f"{preset}: {case.get('name')}"
        skip = case.find("skipped")
        if case.get("status") == "run":
            passed += 1
            said = case.findtext("system-out") or ""
            skipped += [f"{name}: {why}" for why in re.findall(r"MESSAGE: skipped: (.*)", said)]
        elif skip is not None and "SKIP_RETURN_CODE" in (skip.get("message") or ""):
            said = (case.findtext("system-out") or "").strip().splitlines()
            skipped.append(f"{name}: {said[-1] if said else 'gave no reason'}")
        else:  # failed, timed out, or not run at all
            failed.append(name)

for name in skipped:
    print("skipped", name)
for name in failed:
    print("FAILED ", name)
print(f"in {sys.argv[1]} s")
print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
sys.exit(1 if failed or passed == 0 else 0)
