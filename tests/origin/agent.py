#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the agent of a loop and for its judge, called as the original calls its agents or as baton does. Its
instruction says what happens: `Say: TEXT` prints the text, `Fail: TEXT` fails with it. As a judge it answers with the
word behind JUDGE in the output that it has to judge, else with yes. For all else it says that it is done."""

import json
import os
import re
import sys


def instruction():
    """The prompt: behind -p (original), of the file (an agent of baton), or on stdin (its judge)."""
    words = sys.argv[1:]
    if "-p" in words:
        return words[words.index("-p") + 1]
    if sys.argv[1:] == ["judge"]:
        return sys.stdin.read()
    with open(os.environ["BATON_PROMPT_FILE"]) as file:
        return file.read()


text = instruction()
if "<action_output>" in text:
    said = re.search(r"JUDGE (\w+)", text.split("<action_output>")[1])
    word = said.group(1) if said else "yes"
    answer = {"verdict": word, "confidence": 0.9, "reason": "it says so", "evidence": "JUDGE " + word}
    print(json.dumps(answer if sys.argv[1:] == ["judge"] else
                     {"type": "result", "subtype": "success", "is_error": False, "result": "", "structured_output": answer}))
    sys.exit()
found = re.search(r"^(Say|Fail): (.*)", text)
what, said = found.groups() if found else ("Say", "It is done.")
if "--output-format" in sys.argv:
    print(json.dumps({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": said}]}}))
    print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": said}), flush=True)
else:
    print(said, end="")
sys.exit(what == "Fail")
