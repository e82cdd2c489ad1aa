"""TAB runs no program that a file or the journal names. usage: completions_test.py BATON"""

import os
import shutil
import sqlite3
import subprocess
import sys

import world
from world import check

HOSTILE = ["$(touch PWNED)", "`touch PWNED`", "a;touch PWNED", "x$(touch${IFS}PWNED)", "${BASH_SOURCE:+}$(touch PWNED)",
           "a b", "a\x1b[31m", "zero\u200bwidth", "*", "~root", "{a,b}", "'quote", 'double"', "a\\b", "!!", "a|b", "a>b"]
PLAIN = ["one", "two-2", "v1.2"]


def offered(baton, *words):
    """What bash offers for the last word."""
    script = """eval "$(baton completions bash)"
COMP_WORDS=(baton "$@"); COMP_CWORD=$#; COMPREPLY=()
_baton
printf '%s\\n' "${COMPREPLY[@]}"
"""
    folder = baton.home + "/bin"
    os.makedirs(folder, exist_ok=True)
    if not os.path.lexists(folder + "/baton"):
        os.symlink(baton.exe, folder + "/baton")
    env = {**os.environ, "PATH": folder + ":" + os.environ["PATH"], "BATON_STATE_DIR": baton.state}
    done = subprocess.run(("bash", "-c", script, "bash", *words), cwd=baton.root, env=env, check=True, capture_output=True,
                          text=True, timeout=600)
    check(not done.stderr, done)
    check(not os.path.exists(baton.root + "/PWNED"), "TAB ran a program")
    return done.stdout.split("\n")[:-1]


def main():
    with world.World(os.path.realpath(sys.argv[1])) as baton:
        for name in PLAIN + HOSTILE:
            baton.ticket(name, "idle")
        baton.once()
        shutil.copy(baton.config, baton.root + "/baton.yaml")
        path = next(os.path.join(at, "journal.db") for at, _, names in os.walk(baton.state) if "journal.db" in names)
        with sqlite3.connect(path) as rows:
            for name in HOSTILE:
                rows.execute("INSERT INTO controls VALUES('rules',?,'pause','paused','x',1,0,1)", ("t/" + name,))
        names = baton.call("status", "--names").stdout.split("\n")[:-1]
        check(names == sorted("rules/t/" + each for each in PLAIN), names)
        check(offered(baton, "status", "") == names, offered(baton, "status", ""))
        check(offered(baton, "status", "rules/t/t") == ["rules/t/two-2"], offered(baton, "status", "rules/t/t"))
        for command in ("approve", "reject", "revise", "answer", "skip", "recover"):
            check(offered(baton, command, "rules/t/t") == ["rules/t/two-2"], command, "offers no flows")
        check("rules/t/one" in offered(baton, "start", "") and "baton.yaml" in offered(baton, "start", ""), offered(baton, "start", ""))
        check(offered(baton, "status", "--dialect", "fsm") == ["fsm_loop"] and offered(baton, "status", "--only", "fa") == ["failed"], "values")
        check("--json" in offered(baton, "status", "--js"), "no options are offered")
        check(offered(baton, "$(touch PWNED)", "--js") == [""], "an unknown command has options")
        check("validate" in offered(baton, "val"), "no commands are offered")
        check(offered(baton, "hook", "ins") == ["install"], "no words are offered")
        # Nothing that is typed is expanded, either.
        for typed in HOSTILE:
            offered(baton, "status", typed)
            offered(baton, "logs", typed)
            offered(baton, "schema", typed)
        check(len(offered(baton, "schema", "")) > 5, "no schemas are offered")


if __name__ == "__main__":
    main()
