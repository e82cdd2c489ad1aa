# SPDX-License-Identifier: Apache-2.0
"""What other programs read of `baton validate`: SARIF for code scanning, JUnit for CI, commands for GitHub, and
the mark below a place and the colours for a person at a terminal. usage: report_test.py BATON"""

import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import world
from world import check, on_terminal, write

SCHEMA = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "required": ["status"],
          "properties": {"status": {"enum": ["ready", "done"]}}}
FILES = {
    b"good.json": b'{"status": "ready"}\n',
    b"wrong <&.json": b'{\n  "status": "redy \\u0001 <&>"\n}\n',
    b"torn.json": b'{"status": ',
    b"bom.json": b'\xef\xbb\xbf{"status": "done"}\n',
    b"not\xff-utf8.json": b"{}\n",
}


def call(exe, folder, *words, code):
    done = subprocess.run([exe, "validate", *words], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, "NO_COLOR": "1"}, timeout=600)
    check(done.returncode == code, words, "ended with", done.returncode, done.stdout, done.stderr)
    return done.stdout


def sarif(exe, folder):
    log = json.loads(call(exe, folder, "--format", "sarif", "--schema", "s.json", "files", "gone.json", code=3))
    check(log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json"), log)
    check(set(log) == {"$schema", "version", "runs"} and len(log["runs"]) == 1, log)
    run = log["runs"][0]
    check(run["columnKind"] == "unicodeCodePoints", run)
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    check(len(rules) == len(set(rules)), rules)
    prints = set()
    for result in run["results"]:
        check(result["ruleId"] in rules, result)
        check(result["level"] in ("error", "warning"), result)
        check(result["message"]["text"], result)
        place = result["locations"][0]["physicalLocation"]
        check(re.fullmatch(r"[A-Za-z0-9%&._/-]+", place["artifactLocation"]["uri"]), "no URI", place)
        region = place["region"]
        check(region["startLine"] >= 1 and region["startColumn"] >= 1, region)
        check(("endLine" in region) == ("endColumn" in region), region)
        check(re.fullmatch("[0-9a-f]{32}", result["partialFingerprints"]["baton/v1"]), result)
        prints.add(result["partialFingerprints"]["baton/v1"])
    check(len(prints) == len(run["results"]), "two results have one fingerprint")
    found = sorted((r["ruleId"], r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
                   for r in run["results"])
    check(found == [("file", "gone.json"), ("json", "files/bom.json"), ("json", "files/torn.json"),
                    ("schema/enum", "files/wrong%20%3C&.json"), ("schema/required", "files/not%FF-utf8.json")], found)
    # Absolute names below the current folder become relative: services know no others.
    again = json.loads(call(exe, folder, "--format", "sarif", "--schema", "s.json", folder + "/files", code=1))
    uris = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in again["runs"][0]["results"]}
    check(all(uri.startswith("files/") for uri in uris), uris)
    empty = json.loads(call(exe, folder, "--format", "sarif", "--schema", "s.json", "files/good.json", code=0))
    check(empty["runs"][0]["results"] == [], "no result is an empty list, which is not none")


def junit(exe, folder):
    text = call(exe, folder, "--format", "junit", "--schema", "s.json", "files", "gone.json", code=3)
    suites = xml.etree.ElementTree.fromstring(text)
    check(suites.tag == "testsuites" and [suite.tag for suite in suites] == ["testsuite"], text)
    suite = suites[0]
    check((suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("6", "2", "2"), suite.attrib)
    cases = {case.get("name"): case for case in suite}
    check(set(cases) == {"files/good.json", "files/wrong <&.json", "files/torn.json", "files/bom.json",
                         "files/not\\xff-utf8.json", "gone.json"}, list(cases))
    inner = {name: [part.tag for part in case] for name, case in cases.items()}
    check(inner["files/good.json"] == [] and inner["files/bom.json"] == ["system-out"], inner)
    check(inner["files/torn.json"] == ["error"] and inner["gone.json"] == ["error"], inner)
    check(inner["files/wrong <&.json"] == ["failure"], inner)
    check("files/wrong <&.json:2:13: error: /status: " in cases["files/wrong <&.json"][0].text, text)
    # A second parser, where there is one by chance.
    if os.path.exists("/usr/bin/xmllint"):
        subprocess.run(["/usr/bin/xmllint", "--noout", "-"], input=text, check=True)


def github(exe, folder):
    text = call(exe, folder, "--format", "github", "--schema", "s.json", "files", code=1).decode()
    commands = [line for line in text.splitlines() if line.startswith("::")]
    check(len(commands) == 4, commands)
    check(any(line.startswith("::error file=files/wrong <&.json,line=2,col=13,endColumn=") for line in commands),
          commands)
    check(any(line.startswith("::warning file=files/bom.json,line=1,col=1") for line in commands), commands)


def terminal(exe, folder):
    """The mark stands below the value, and no byte of the file reaches the terminal that could steer it."""
    write(folder + "/steer.json", '{"status": "ä\x1b[31m"}'.encode() + b"\n")
    write(folder + "/plain.json", b'{\n\t"status": "redy"\n}\n')
    write(folder + "/there.yaml", "# ä\nstatus: redy\n".encode())
    code, said = on_terminal([exe, "validate", "--schema", "s.json", "plain.json", "steer.json", "there.yaml"], folder)
    check(code == 1, said)
    lines = said.decode().splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("plain.json:2:12: error"))
    check(lines[at + 1] == '   "status": "redy"' and lines[at + 2] == "             ^~~~~~", lines)
    at = next(i for i, line in enumerate(lines) if line.startswith("there.yaml:2:9: error"))
    check(lines[at + 1] == "  status: redy" and lines[at + 2] == "          ^~~~", lines)
    check(b"\x1b" not in said and b"did you mean" in said, said)
    # Not for a pipe: scripts read one line per finding.
    check(b"^" not in call(exe, folder, "--schema", "s.json", "plain.json", code=1), "a mark in a pipe")


def colour(exe, _):
    """Only on a terminal, and not with NO_COLOR; empty it stands for nothing."""
    with world.World(exe) as baton:
        baton.ticket("a", "idle")
        check(baton.once().returncode == 0)
        for words in (["status"], ["doctor"]):
            command = [exe, *words, *baton.places()]
            code, plain = on_terminal(command)
            check(code == 0 and b"\x1b" not in plain, "with NO_COLOR", words, plain)
            code, painted = on_terminal(command, no_colour="")
            check(code == 0 and b"\x1b[" in painted, "no colour on a terminal", words, painted)
            unpainted, plain = (re.sub(rb"\d+s ago *", b"just now ", re.sub(rb"\x1b\[\d*m", b"", each)) for each in (painted, plain))
            check(unpainted == plain, "colour is all there is to it", plain, painted)
            piped = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=600,
                                   env={name: value for name, value in os.environ.items() if name != "NO_COLOR"})
            check(piped.returncode == 0 and b"\x1b" not in piped.stdout + piped.stderr, "in a pipe", words, piped)


def main():
    exe = os.path.realpath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="baton-report-") as folder:
        folder = os.path.realpath(folder)
        write(folder + "/s.json", SCHEMA)
        os.mkdir(folder + "/files")
        for name, content in FILES.items():
            with open(os.path.join(os.fsencode(folder), b"files", name), "wb") as file:
                file.write(content)
        for each in (sarif, junit, github, terminal, colour):
            each(exe, folder)
            print(each.__name__, "ok", flush=True)


if __name__ == "__main__":
    main()
