# SPDX-License-Identifier: Apache-2.0
"""The project of somebody else: files are judged there, nothing is started, and what is refused names the command that
is right. usage: other_project_test.py BATON [PART...]"""

import json
import os
import pwd
import re
import shutil
import subprocess

import world
from foreign_state_test import OTHER, THIRD, Place, tree
from world import check

CONFIG = """version: 1
%s
agents: { dev: { command: [./agent.sh] }, own: { adapter: ./adapter.yaml } }
dialects: { fsm_loop: {} }
rules:
  - { name: t, files: "t/{flow}.json", schema: s.json, stage: /status, react: [ { to: ready, run: dev } ] }
"""


def project(place, user, more=""):
    """A project in the home of its owner, with everything that could be executed marking that it was."""
    place.folder("home", user)
    root = place.folder("home/project", user)
    place.folder("home/project/t", user)
    mark = f"#!/bin/sh\nid -u >>{place.folder('marks', 0, 0o777)}/$$\n"
    for name in ("agent.sh", "monitor"):
        place.file("home/project/" + name, user, mark, 0o755)
    place.file("home/project/s.json", user, '{"properties": {"status": {"enum": ["ready", "done"]}}}\n')
    place.file("home/project/baton.yaml", user, CONFIG % more)
    place.file("home/project/adapter.yaml", user, subprocess.run(
        [place.exe, "schema", "adapter", "claude"], capture_output=True, text=True, check=True).stdout)
    place.file("home/project/t/1.json", user, '{"status": "strange"}\n')
    if shutil.which("git"):
        git = lambda *words: subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, user=user, group=user,
                                            extra_groups=[], env={"PATH": os.environ["PATH"], "HOME": "/"})
        git("init", "-q")
        git("config", "core.fsmonitor", root + "/monitor")
        git("config", "filter.x.clean", root + "/monitor")
    return root


def roots_state():
    return sorted(os.listdir("/var/lib/baton")) if os.path.isdir("/var/lib/baton") else []


def unchanged(place, before):
    check(tree(place.home) == before, "changed", set(tree(place.home)) ^ set(before))
    check(not os.listdir(place.home + "/marks"), "something was executed")


def judged_everywhere(exe):
    """`validate` in all its forms judges in any project, whoever asks; nothing is executed and no state is opened."""
    with Place(exe) as place:
        root = project(place, OTHER)
        place.folder("home/state", OTHER, 0o700)
        forms = ([], ["t/1.json"], ["."], ["--format", "github"], ["--json"], ["--as", "t", "t/1.json"], ["t", "adapter.yaml"],
                 ["--root", root], ["--config", root + "/baton.yaml"])
        for status, code in (("strange", 1), ("ready", 0)):
            place.file("home/project/t/1.json", OTHER, json.dumps({"status": status}) + "\n")
            before, state = tree(place.home), roots_state()
            for user in (0, OTHER, THIRD):
                for form in forms:
                    done = place.baton(user, root, "validate", *form)
                    check(done.returncode == code and "trusted" not in done.stderr, user, form, done)
                    check(code == 0 or "t/1.json" in done.stdout + done.stderr, user, form, done)
                done = place.baton(user, root + "/t", "validate", "1.json")
                check(done.returncode == code, user, done)
                done = place.baton(user, root, "explain", "--as", "t", "t/1.json")
                check(done.returncode == 0 and ("rejected" in done.stdout) == (code == 1), user, done)
                done = place.baton(user, root, "explain", "t/1.json")
                check(done.returncode == 0 and ("rejected" in done.stdout) == (code == 1), user, done)
                check(place.baton(user, root, "schema", "config").returncode == 0, user)
            unchanged(place, before)
            check(roots_state() == state, "root has new state", roots_state())


def roots_elsewhere(exe):
    """The configuration of somebody else does not choose which other folders are read."""
    with Place(exe) as place:
        elsewhere = place.folder("elsewhere", 0)
        root = project(place, OTHER, f"roots: [{elsewhere}]")
        for user in (0, THIRD):
            done = place.baton(user, root, "validate")
            check(done.returncode == 3 and elsewhere in done.stderr and "--root" in done.stderr, user, done)
            check(place.baton(user, root, "validate", "--root", root).returncode == 1, user)
        place.file("home/project/baton.yaml", OTHER, CONFIG % "roots: [.]")
        for user in (0, THIRD):
            check(place.baton(user, root, "validate").returncode == 1, user)


def the_right_command(exe):
    """What is refused in the project of one other user names the command that is right, and no folder to take away."""
    named = next((each for each in pwd.getpwall() if each.pw_name in ("games", "nobody")), None)
    for owner in filter(None, (OTHER, named and named.pw_uid)):
        with Place(exe) as place:
            root = project(place, owner)
            before, state = tree(place.home), roots_state()
            refused = (["run", "--once"], ["status"], ["stop", "--all"], ["pause", "--all"], ["resume", "--all"], ["agents"],
                       ["start", "t/1"], ["send", "t/1", "{}"], ["events"], ["limits"], ["doctor"], ["reload"])
            for words in (*refused, ["set", "t/1.json", '/status="ready"']):
                done = place.baton(0, root, *words)
                line = ("sudo -u " + named.pw_name if owner != OTHER else
                        f"setpriv --reuid {OTHER} --regid {OTHER} --clear-groups") + f" {place.exe} {words[0]}"
                said = done.stdout + done.stderr
                check(done.returncode in (1, 2, 3), words, done)
                check(line in said and "chown" not in said and f"belongs to user {owner}" in said, words, line, done)
                check(words == ["doctor"] or len(done.stderr.splitlines()) == 1, words, done)
            for words in refused:
                done = place.baton(THIRD, root, *words)
                said = done.stdout + done.stderr
                check(done.returncode in (1, 2, 3) and f"ask user {owner}" in said, words, done)
                check("chown" not in said and "sudo" not in said and "setpriv" not in said, words, done)
            unchanged(place, before)
            check(roots_state() == state, "root has new state", roots_state())
            if owner == OTHER:
                line = re.search("`(setpriv [^`]*)`", place.baton(0, root, "set", "t/1.json", '/status="done"').stderr)[1]
                done = subprocess.run(["sh", "-c", line], cwd=root, capture_output=True, text=True, timeout=world.PATIENCE,
                                      env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/"})
                check(done.returncode == 0 and "done" in open(root + "/t/1.json").read(), line, done)


def set_by_a_colleague(exe):
    """Who may write a state file may set it in the project of somebody else; the schema there counts."""
    with Place(exe) as place:
        root = project(place, OTHER)
        os.chown(root + "/t", OTHER, THIRD)
        os.chmod(root + "/t", 0o775)
        os.chown(root + "/t/1.json", THIRD, THIRD)
        done = place.baton(THIRD, root, "set", "t/1.json", '/status="wrong"')
        check(done.returncode == 1 and "strange" in open(root + "/t/1.json").read(), done)
        done = place.baton(THIRD, root, "set", "t/1.json", '/status="ready"')
        check(done.returncode == 0 and "ready" in open(root + "/t/1.json").read(), done)


def single_files(exe):
    """A single file of somebody else in a folder of one's own can be taken over; then the line says how."""
    with Place(exe) as place:
        root = place.root("mine", 0)
        for user, name in ((0, "root"), (THIRD, str(THIRD))):
            os.chown(root, user, user)
            os.chown(root + "/baton.yaml", OTHER, OTHER)
            done = place.baton(user, root, "run", "--once", state=place.state)
            check(done.returncode == 2 and f"`chown {name} {root}/baton.yaml`" in done.stderr, done)


def linked_configuration(exe):
    """A link makes its folder a root. Whoever could make the link does not choose where agents of others work."""
    with Place(exe) as place:
        place.folder("marks", 0, 0o777)
        for user, other in ((0, OTHER), (OTHER, THIRD)):
            own, theirs = place.folder(f"own{user}", user), place.folder(f"linked{user}", other)
            place.folder(f"linked{user}/t", other)
            place.file(f"own{user}/baton.yaml", user, f"""version: 1
agents: {{ dev: {{ command: [sh, -c, "id -u >{place.home}/marks/$$"] }} }}
rules: [ {{ name: t, files: "t/{{flow}}.json", stage: /status, react: [ {{ to: ready, run: dev }} ] }} ]
""")
            place.file(f"linked{user}/t/1.json", other, '{"status": "ready"}\n')
            os.symlink(f"{own}/baton.yaml", f"{theirs}/baton.yaml")
            os.lchown(f"{theirs}/baton.yaml", other, other)
            for folder in (theirs, theirs + "/t"):
                for words in (["run", "--once"], ["run", "--dry-run"], ["set", f"{theirs}/t/1.json", '/status="done"']):
                    done = place.baton(user, folder, *words)
                    check(done.returncode in (2, 3), user, words, done)
                    check(str(other) in done.stderr or "Permission denied" in done.stderr, user, words, done)
            # The file itself is fine, and so is a link that the user has made.
            os.symlink(f"{own}/baton.yaml", f"{own}/link.yaml")
            os.lchown(f"{own}/link.yaml", user, user)
            done = place.baton(user, own, "run", "--dry-run", "--config", "link.yaml")
            check(done.returncode == 0, user, done)
        check(not os.listdir(place.home + "/marks"), "something was executed")


def root_of_another(exe):
    """Root starts no agents in a folder of another user, whoever wrote the configuration."""
    with Place(exe) as place:
        theirs = place.folder("theirs", OTHER)
        place.folder("theirs/t", OTHER)
        place.folder("marks", 0, 0o777)
        place.folder("own", 0)
        place.file("own/baton.yaml", 0, f"""version: 1
roots: [{theirs}]
agents: {{ dev: {{ command: [sh, -c, "id -u >{place.home}/marks/$$"] }} }}
rules: [ {{ name: t, files: "t/{{flow}}.json", stage: /status, react: [ {{ to: ready, run: dev }} ] }} ]
""")
        place.file("theirs/t/1.json", OTHER, '{"status": "ready"}\n')
        for words in (["--once"], ["--once", "--root", theirs], ["--dry-run"]):
            done = place.baton(0, place.home + "/own", "run", *words, "--config", f"{place.home}/own/baton.yaml")
            check(done.returncode == 2 and "in folders of other users" in done.stderr and str(OTHER) in done.stderr, words, done)
        check(not os.listdir(place.home + "/marks"), "something was executed")


if __name__ == "__main__":
    if os.geteuid() != 0:
        world.skip("not root, so there are no other users to try")
    world.main_parts([judged_everywhere, roots_elsewhere, the_right_command, set_by_a_colleague, single_files,
                       linked_configuration, root_of_another])
