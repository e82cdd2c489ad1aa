# SPDX-License-Identifier: Apache-2.0
"""2,000 mutated state files are judged equally by baton and by an independent validator (Debian's
python3-jsonschema). The mutants are made of the valid examples of schemas/ with a fixed seed, and judged by
their schema alone. Where the two differ, one of the rules below has to say why. usage: mutants_test.py BATON"""

import collections
import copy
import json
import datetime
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import world  # noqa: E402

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
COUNT = 2000
VALUES = [None, True, False, 0, -1, 1, 1.0, 2.5, 10**20, "", "x", "pending", "2026-01-22T10:00:00Z", "2026-02-30T10:00:00Z",
          "today", [], {}, [1, 1], ["a"], {"a": 1}, "a\n", "\u00e9\U0001f600"]


def examples():
    """(schema path, document) of every valid example in JSON."""
    found = []
    for dialect in sorted(os.listdir(f"{TOP}/schemas")):
        folder = f"{TOP}/schemas/{dialect}/examples/valid"
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            schema = f"{TOP}/schemas/{dialect}/{name.split('__')[0]}.schema.json"
            if name.endswith(".json") and os.path.exists(schema):
                with open(f"{folder}/{name}", encoding="utf-8-sig") as file:
                    found.append((schema, json.load(file)))
    return found


def places(value, found):
    """Every container with the key of every part of it."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        found.append((value, key))
        places(part, found)
    return found


def mutate(document, dice):
    box = [copy.deepcopy(document)]
    for _ in range(dice.choice([1, 1, 1, 2, 3])):
        where, key = dice.choice(places(box, []))
        change = dice.randrange(6)
        if change == 0 and where is not box:
            del where[key]
        elif change == 1:
            where[key] = copy.deepcopy(dice.choice(VALUES))
        elif change == 2 and isinstance(where, dict):
            where[dice.choice(["x", "status ", "_note", "Status"])] = dice.choice(VALUES)
        elif change == 3 and isinstance(where[key], str):
            where[key] += dice.choice(["x", " ", "\n", "-"])
        elif change == 4 and isinstance(where[key], (int, float)) and not isinstance(where[key], bool):
            where[key] = dice.choice([-where[key], where[key] + 0.5, float(where[key]), where[key] * 1000, str(where[key])])
        elif change == 5 and isinstance(where[key], list) and where[key]:
            where[key].append(copy.deepcopy(dice.choice(where[key])))
        else:
            where[key] = copy.deepcopy(dice.choice(VALUES))
    return box[0]


def is_date_time(text):
    """RFC 3339. The peer's own check is a package that Debian does not have."""
    found = re.fullmatch(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.[0-9]+)?(?:[Zz]|[+-]([0-9]{2}:[0-9]{2}))",
                         text) if isinstance(text, str) else None
    if not isinstance(text, str):
        return True
    try:
        datetime.datetime.fromisoformat(f"{found[1]}T{found[2]}")
        datetime.time.fromisoformat(found[3] or "00:00")
    except (TypeError, ValueError):
        return False
    return True


def explained(findings, text):
    """The rule that explains why only baton refuses, or nothing."""
    rules = {finding["rule"] for finding in findings}
    if rules <= {"schema/pattern"} and "\\n" in text:
        return "in Python, $ also matches before a newline at the end"
    return None


def main(baton):
    try:
        import jsonschema
    except ImportError:
        world.skip("there is no python3-jsonschema (scripts/install-deps brings it)")
    formats = jsonschema.FormatChecker(formats=())
    formats.checks("date-time")(is_date_time)
    dice = random.Random(2000)
    originals = examples()
    mutants = collections.defaultdict(list)
    for _ in range(COUNT):
        schema, document = dice.choice(originals)
        mutants[schema].append(mutate(document, dice))
    world.check(len(mutants) > 5, "only", len(mutants), "kinds have examples")

    verdicts = collections.Counter()
    reasons = collections.Counter()
    wrong = []
    with tempfile.TemporaryDirectory(prefix="baton-mutants-") as folder:
        for schema, documents in sorted(mutants.items()):
            with open(schema, encoding="utf-8") as file:
                peer = jsonschema.Draft7Validator(json.load(file), format_checker=formats)
            paths = []
            for number, document in enumerate(documents):
                paths.append(f"{folder}/{os.path.basename(schema)}-{number}.json")
                with open(paths[-1], "w", encoding="utf-8") as file:
                    json.dump(document, file)
            run = subprocess.run([baton, "validate", "--json", "--schema", schema, *paths], capture_output=True, text=True)
            world.check(run.returncode in (0, 1), schema, run.returncode, run.stderr)
            report = json.loads(run.stdout)
            world.check(report["checked"] == len(documents), schema, report["checked"], "of", len(documents))
            refused = collections.defaultdict(list)
            for finding in report["findings"]:
                if finding["severity"] == "error":
                    refused[finding["path"]].append(finding)
            for path, document in zip(paths, documents):
                ours, theirs = path not in refused, peer.is_valid(document)
                verdicts["accepted" if ours else "refused"] += 1
                if ours == theirs:
                    continue
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                reason = explained(refused[path], text) if theirs else None
                reasons[reason] += 1
                if reason is None:
                    wrong.append((schema, "accepted" if ours else refused[path], text))
    for schema, ours, text in wrong[:10]:
        print(os.path.basename(schema), ours, text)
    print(sum(verdicts.values()), "mutants:", dict(verdicts), "differences:", dict(reasons))
    world.check(not wrong, len(wrong), "differences that nothing explains")
    world.check(verdicts["accepted"] > COUNT / 10 and verdicts["refused"] > COUNT / 10, verdicts)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
