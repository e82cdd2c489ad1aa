# SPDX-License-Identifier: Apache-2.0
"""Every labelled sample, judged by the program itself: exit code, and what --json says."""

import json
import pathlib
import subprocess
import sys

BATON = sys.argv[1]
SAMPLES = pathlib.Path(__file__).resolve().parent.parent / "samples"


def verdict(row, folder):
    run = subprocess.run([BATON, "validate", "--root", folder, "--as", row.get("as"), "--json", row.get("file")],
                         cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    findings = json.loads(run.stdout)["findings"]
    severity = "error" if row["expect"] == "invalid" else "warning"
    told = [f for f in findings if f["severity"] == severity]
    faults = []
    if run.returncode != (1 if row["expect"] == "invalid" else 0):
        faults.append(f"exit code {run.returncode}: {run.stderr.strip()}")
    if (row["expect"] == "valid") != (not findings):
        faults.append(f"{len(findings)} findings")
    if "pointer" in row and not any((f["pointer"] + "/").startswith(row["pointer"] + "/") for f in told):
        faults.append(f"nothing at {row['pointer']!r}")
    faults += [f"no {rule}" for rule in row.get("rules", []) if rule not in [f["rule"] for f in told]]
    faults += [f"no place: {f['rule']}" for f in findings if f["line"] < 1 or not f["message"]]
    return [f"{folder.name}/{row['file']}: {fault}; found {findings}" for fault in faults]


manifests = sorted(SAMPLES.glob("*/manifest.json"))
rows = [(row, m.parent) for m in manifests for row in json.loads(m.read_text(encoding="utf-8"))]
failures = [line for row, folder in rows for line in verdict(row, folder)]
print(*failures, sep="\n")
print(f"{len(rows)} samples")
sys.exit(1 if failures or not rows else 0)
