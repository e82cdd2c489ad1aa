# SPDX-License-Identifier: Apache-2.0
"""The official test suite of JSON Schema, by the real binary: every required test of the drafts passes, and the optional ones
are counted. The suite (github.com/json-schema-org/JSON-Schema-Test-Suite) is not part of this repository.

usage: SUITE=PATH schema_suite_test.py BATON [DRAFT...]
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import tempfile

import world
from world import check, skip

URIS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
# Meta-schemas of ours under which formats have to hold; the drafts' own leave that open since 2019-09.
STRICT = {"draft2019-09": ("format", ("core", "applicator", "validation", "format")),
          "draft2020-12": ("format-assertion", ("core", "applicator", "unevaluated", "validation", "format-assertion"))}


def strict_meta(draft):
    base = URIS[draft].removesuffix("schema")
    return {"$schema": URIS[draft], "$id": f"http://strict.example/{draft}.json",
            "$vocabulary": {f"{base}vocab/{name}": True for name in STRICT[draft][1]},
            "$ref": URIS[draft]}


def failures(baton, suite, draft, path, number, group):
    """Of one schema: descriptions of the tests that gave another answer than the suite's."""
    schema = group["schema"]
    strict = draft in STRICT and "format" in path.parts
    if isinstance(schema, dict) and (strict or "$schema" not in schema):
        schema = {**schema, "$schema": f"http://strict.example/{draft}.json" if strict else URIS[draft]}
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "strict").mkdir()
        if draft in STRICT:
            (pathlib.Path(folder) / "strict" / f"{draft}.json").write_text(json.dumps(strict_meta(draft)))
        (pathlib.Path(folder) / "schema.json").write_text(json.dumps(schema))
        for place, test in enumerate(group["tests"]):
            (pathlib.Path(folder) / f"{place}.json").write_text(json.dumps(test["data"]))
        done = subprocess.run(
            [baton, "validate", "--json", "--schema", "schema.json", "--map", f"http://localhost:1234/={suite}/remotes",
             "--map", "http://strict.example/=strict", *(f"{place}.json" for place in range(len(group["tests"])))],
            cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=world.PATIENCE)
    name = f"{draft} {path.name} {number}: {group['description']}"
    if done.returncode not in (0, 1):
        return [f"{name}: {(done.stdout + done.stderr).strip()[-300:]}"] * len(group["tests"])
    said = json.loads(done.stdout)
    wrong = {finding["path"] for finding in said["findings"] if finding["severity"] == "error"}
    return [f"{name}: {test['description']}" for place, test in enumerate(group["tests"])
            if (f"{place}.json" not in wrong) != test["valid"]]


def test(baton, *drafts):
    if not os.environ.get("SUITE"):
        skip("SUITE names no copy of the official test suite of JSON Schema")
    suite = pathlib.Path(os.environ["SUITE"]).resolve()
    wrong = []
    for draft in drafts or URIS:
        folder = suite / "tests" / draft
        check(folder.is_dir(), folder, "is no folder of the suite")
        for optional in (False, True):
            files = sorted(folder.glob("optional/**/*.json") if optional else folder.glob("*.json"))
            jobs = [(path, number, group) for path in files
                    for number, group in enumerate(json.loads(path.read_text()))]
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                failed = [failure for found in pool.map(lambda job: failures(baton, suite, draft, *job), jobs)
                          for failure in found]
            tests = sum(len(group["tests"]) for _, _, group in jobs)
            print(draft, "optional" if optional else "required", f"{tests - len(failed)} of {tests} tests")
            for failure in failed:
                print("  ", failure)
            if not optional:
                wrong += failed
    check(not wrong, len(wrong), "required tests gave another answer")


if __name__ == "__main__":
    world.main(test)
