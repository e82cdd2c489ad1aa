# SPDX-License-Identifier: Apache-2.0
"""A dialect that is promoted as schemas/rules/README.md says is one like the others: validate, schema, doctor,
run, status, explain, and its examples, with the very commands of baton. usage: sixth_test.py BATON_SIXTH"""

import glob
import json
import os
import subprocess

import world
from world import check, only_unchanged

TREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sixth")
# Two builds fail, the third one is good.
MAKE = """echo "$2" >>"$3"
[ "$2" -ge 3 ] || exit 1
printf '{"try": %s, "ok": true}\\n' "$2" >"$BATON_ROOT/builds/results/a.json"
"""


def findings(exe, kind, path):
    done = subprocess.run([exe, "validate", "--json", "--as", kind, path], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    check(done.returncode in (0, 1), path, "gave", done.returncode, done.stderr)
    return json.loads(done.stdout)["findings"]


def examples(exe):
    files = glob.glob("schemas/*/examples/*/*.json", root_dir=TREE)
    check(len(files) >= 4, "there are no examples")
    for file in files:
        dialect, _, verdict, name = file.split("/")[1:]
        found = findings(exe, f"{dialect}/{name.split('__')[0].removesuffix('.json')}", os.path.join(TREE, file))
        check(bool(found) == (verdict == "invalid"), file, "has", found)


def test(exe):
    # The shim is looked for beside the program; both lie in one folder of the build.
    check(os.path.exists(os.path.join(os.path.dirname(os.path.abspath(exe)), "baton-shim")), "there is no shim")
    examples(exe)
    with world.World(exe) as w:
        tries = w.home + "/tries"
        w.settings["agents"] = {"builder": {"command": ["sh", "-c", MAKE, "make", "${target}", "${try}", tries]}}
        w.settings["dialects"] = {"builds": {"tries": 4}}
        w.settings["rules"] = []
        w.configure()
        os.makedirs(w.root + "/builds/results")
        schema = subprocess.run([w.exe, "schema", "builds/job"], capture_output=True, text=True)
        check(json.loads(schema.stdout)["$id"] == "urn:baton:schema:builds:job", schema.stdout, schema.stderr)
        world.write(w.root + "/builds/a.json", {"state": "queued", "target": "all"})
        world.write(w.root + "/builds/b.json", {"state": "built", "target": "all"})
        done = w.once()
        check(only_unchanged(done, "blocked: file_rejected"), "run gave", done.returncode, done.stderr)
        with open(w.root + "/builds/a.json") as file:
            check(json.load(file)["state"] == "built", "a is not built")
        with open(tries) as file:
            check(file.read().split() == ["1", "2", "3"], "not three tries")
        row = next(each for each in w.lines("status") if each["flow"] == "builds/a")
        check(row["declared"] == "built" and row["condition"] == "done", row)
        check(w.explain("builds/b")["documents"][0]["verdict"] == "rejected", w.explain("builds/b"))
        check("builds/B1" in w.call("validate", code=1).stdout, "B1 is not told")
        # A wrong option is named with its place.
        w.settings["dialects"] = {"builds": {"trys": 4}}
        w.configure()
        refused = w.call("run", "--once", code=2)
        check("did you mean 'tries'" in refused.stderr, refused.stderr)


if __name__ == "__main__":
    world.main(test)
