# SPDX-License-Identifier: Apache-2.0
"""Each finding of `baton doctor`: a fault is made, doctor names it with its remedy, the remedy is carried out as it is
written, and the finding is gone. What needs other machines or kernels is in the tests `network_root` and `hardening`; the
programs of adapters are in `adapter_doctor`, trust in `trust`.

usage: doctor_test.py BATON [PART...]
"""

import contextlib
import json
import os
import re
import resource
import shlex
import shutil
import subprocess

import world
from world import check, skip, wait_until, write

NOBODY = 65534
CASES = []


class Skipped(Exception):
    """This fault cannot be made here."""


def case(found, level="warning"):
    """A test of one finding: the function makes the fault, yields, and does what cannot be read out of the advice."""
    def keep(make):
        CASES.append((make, found, level))
        return make
    return keep


class Box(world.World):
    def __init__(self, exe):
        super().__init__(exe)
        # Programs beside the real ones, and no service's directories.
        self.bin = self.home + "/bin"
        os.makedirs(self.bin)
        os.chmod(self.home, 0o755)
        self.user = None
        self.files = None
        self.given = None
        self.within = []
        self.rule("t")

    def become_nobody(self):
        """The program may lie where nobody but root can go."""
        self.user = NOBODY
        for name in ("baton", "baton-shim"):
            shutil.copy(os.path.dirname(self.exe) + "/" + name, self.bin + "/" + name)
        self.exe = self.bin + "/baton"
        os.chown(self.state, NOBODY, NOBODY)

    def rule(self, name, **more):
        self.settings["rules"] = [{**self.TICKETS, "name": name, "done": ["done"], "stages": ["new"], **more}]
        os.makedirs(self.root + "/tickets", exist_ok=True)
        self.configure()

    def set(self, **settings):
        self.settings.update(settings)
        self.configure()

    def program(self, name):
        write(f"{self.bin}/{name}", b"#!/bin/sh\nexit 0\n")
        os.chmod(f"{self.bin}/{name}", 0o755)

    def as_asked(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (self.files, hard))) if self.files else None
        return {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": world.PATIENCE,
                "env": {**os.environ, "PATH": self.bin + ":/usr/bin:/bin", "HOME": self.home}, "cwd": self.root,
                "user": self.user, "group": self.user, "extra_groups": None if self.user is None else [], "preexec_fn": limit}

    def findings(self):
        done = subprocess.run([*self.within, self.exe, "doctor", "--json", *(self.given or self.places())], **self.as_asked())
        check(done.returncode in (0, 1) and not done.stderr, done)
        found = json.loads(done.stdout)["findings"]
        check(done.returncode == any(each["level"] == "error" for each in found), done)
        return found

    def named(self, text):
        return [each for each in self.findings() if re.search(text, each["message"])]

    def do(self, advice):
        """Runs the commands of an advice, each between backquotes; returns how many there were."""
        commands = [each for each in re.findall(r"`([^`]+)`", advice) if re.match(r"(baton (reload|forget)|chmod|git init|mv)\b", each)
                    and not re.search(r" [A-Z]+$", each)]
        for command in commands:
            words = shlex.split(command)
            if words[0] == "baton":
                words = [self.exe, *words[1:], *(self.given or self.places())]
            done = subprocess.run(words, **self.as_asked())
            check(done.returncode == 0, command, done)
        return len(commands)


# --- agents and programs ---

@case(r"nothere: no such program in PATH", "error")
def missing_program(box):
    box.set(agents={"worker": {"command": ["nothere"]}})
    yield "fix what the message names"
    box.program("nothere")


@case(r"needs the interpreter /nowhere/sh", "error")
def no_interpreter(box):
    write(box.bin + "/old", b"#!/nowhere/sh -e\n")
    os.chmod(box.bin + "/old", 0o755)
    box.set(agents={"worker": {"command": ["old"]}})
    yield "fix what the message names"
    box.program("old")


@case(r"prompts/coordination/developr.md is not used")
def prompt_of_no_role(box):
    write(box.home + "/prompts/coordination/developr.md", b"x")
    box.set(dialects={"coordination": {}})
    yield "rename or remove the file"
    os.rename(box.home + "/prompts/coordination/developr.md", box.home + "/prompts/coordination/developer.md")


@case(r"no agent plays `tech_lead`")
def role_without_agent(box):
    box.set(dialects={"coordination": {}})
    yield "add it below `agents:`"
    box.set(agents={**box.settings["agents"], "tech_lead": {"command": [box.agent, box.log]}})


@case(r"there is no agent 'tester'")
def reaction_without_agent(box):
    box.rule("t", react=[{"to": "ready", "run": "tester"}])
    yield "see docs/configuration.md"
    box.rule("t", react=[{"to": "ready", "run": "worker"}])


@case(r"/late is found by this shell; a service looks in /usr/local/sbin:")
def program_of_a_shell(box):
    # Only in /etc/baton is a configuration that of a service.
    if subprocess.run(["unshare", "-m", "true"]).returncode:
        raise Skipped("no mount namespace can be made")
    box.program("late")
    box.set(agents={"worker": {"command": ["late"]}})
    box.within = ["unshare", "-m", "sh", "-c", 'mkdir -p /etc/baton && mount -t tmpfs none /etc/baton && cp "$0" /etc/baton/config.yaml && exec "$@"',
                  box.config]
    box.given = ["--root", box.root, "--config", "/etc/baton/config.yaml", "--state-dir", box.state]
    yield "write the whole path into `command:`"
    box.set(agents={"worker": {"command": [box.bin + "/late"]}})
    yield
    with contextlib.suppress(OSError):
        os.rmdir("/etc/baton")


@case(r"`timeout` is 0s, and other agents may work in its folder")
def no_timeout(box):
    box.set(agents={"worker": {"command": [box.agent], "timeout": "0s", "idle_timeout": "5m"}})
    yield "give it a `timeout`"
    box.set(agents={"worker": {"command": [box.agent], "timeout": "1h", "idle_timeout": "5m"}})


@case(r"`memory_max` is not enforced")
def memory_without_cgroup(box):
    box.set(agents={"worker": {"command": [box.agent], "memory_max": "1GiB"}})
    yield "or remove `memory_max`"
    box.set(agents={"worker": {"command": [box.agent]}})


@case(r"this machine has no user `nobody-here`", "error")
def user_who_is_none(box):
    box.set(agents={"worker": {"command": [box.agent], "user": "nobody-here"}})
    yield "or change `agents:`"
    box.set(agents={"worker": {"command": [box.agent]}})


@case(r"no program|no such program", "error")
def notify_program(box):
    box.set(notify={"command": ["tell-me"]})
    yield "install the program, or change `notify:`"
    box.program("tell-me")


@case(r"no agent has the provider `antropic`")
def provider_nobody_has(box):
    box.set(agents={"worker": {"command": [box.agent], "provider": "anthropic"}},
            providers={"antropic": {"max_running": 2}})
    yield "write `anthropic`"
    box.set(providers={"anthropic": {"max_running": 2}})


@case(r"the agent `worker` reports no cost")
def cap_on_nothing(box):
    box.program("codex")
    box.set(agents={"worker": {"adapter": "codex"}}, limits={**box.settings["limits"], "cost_per_day": 5})
    yield "limit its starts"
    box.set(limits={**{key: value for key, value in box.settings["limits"].items() if key != "cost_per_day"},
                    "spawns_per_day": 50})


# --- rules and files ---

@case(r"neither `done:` nor `stages:`")
def no_stages(box):
    box.set(rules=[{**box.TICKETS, "name": "t"}])
    yield "name the last stages in `done:`"
    box.rule("t")


@case(r"agents may start each other in a cycle")
def cycle(box):
    box.rule("t", react=[{"to": "ready", "run": "worker"}, {"to": "again", "run": "worker"}])
    yield "say with `next` which stage an agent sets"
    box.rule("t", react=[{"to": "ready", "run": "worker", "next": ["again"]},
                         {"to": "again", "run": "worker", "next": ["done"]}])


@case(r"the folder nowhere below .* does not exist")
def folder_never_there(box):
    box.rule("t", files="nowhere/{flow}.json")
    yield "create it"
    os.mkdir(box.root + "/nowhere")


@case(r"accepted files in folders that are gone: tickets")
def folder_gone(box):
    box.ticket("a", "new")
    check(box.once().returncode == 0)
    shutil.rmtree(box.root + "/tickets")
    os.mkdir(box.root + "/cards")
    yield "put the folder back, or tell baton to forget its flows: `baton forget FLOW`"
    box.call("forget", "rules/t/a")


@case(r"accepted files that no rule and no dialect knows any more: tickets/a.json")
def pattern_changed(box):
    box.ticket("a", "new")
    check(box.once().returncode == 0)
    os.mkdir(box.root + "/cards")
    box.rule("t", files="cards/{flow}.json")
    yield "or move the files"
    os.rename(box.root + "/tickets/a.json", box.root + "/cards/a.json")
    box.call("forget", "rules/t/a", code=None)
    box.rule("t")
    os.rename(box.root + "/cards/a.json", box.root + "/tickets/a.json")


@case(r"ignored for their names: tickets/a copy.json")
def copy_of_a_file(box):
    box.ticket("a", "new")
    write(box.root + "/tickets/a copy.json", {"status": "new"})
    yield "remove them, give them other names"
    os.rename(box.root + "/tickets/a copy.json", box.root + "/tickets/b.json")


@case(r"prompt", "error")
def prompt_missing(box):
    box.rule("t", react=[{"to": "ready", "run": "worker", "prompt": "gone.md"}])
    yield "fix "
    write(box.home + "/gone.md", b"do it\n")


@case(r"the daemon has read it like this, and the file is correct now")
def prompt_mended(box):
    box.rule("t", react=[{"to": "ready", "run": "worker", "prompt": "late.md"}])
    box.start()
    write(box.home + "/late.md", b"do it\n")
    yield "`baton reload`"


@case(r"comes first, so nothing of the rule happens")
def rule_never_asked(box):
    box.set(dialects={"coordination": {}})
    box.rule("t", files="coordination/group_status.json")
    yield "remove the rule or the dialect"
    box.set(dialects={})


@case(r"nothing in the schema|the schema|no member", "warning")
def pointer_to_nothing(box):
    write(box.home + "/ticket.json", {"type": "object", "properties": {"state": {"type": "string"}}, "additionalProperties": False})
    box.rule("t", schema="ticket.json")
    yield "fix baton.yaml or the schema"
    write(box.home + "/ticket.json", {"type": "object", "properties": {"status": {"type": "string"}}, "additionalProperties": False})


@case(r"ticket.json", "error")
def schema_broken(box):
    write(box.home + "/ticket.json", {"type": "objekt"})
    box.rule("t", schema="ticket.json")
    yield "fix the schema"
    write(box.home + "/ticket.json", {"type": "object"})


# --- configuration ---

@case(r"the member \"agentz\" is not allowed here", "error")
def configuration_broken(box):
    box.set(agentz={})
    yield "correct it"
    del box.settings["agentz"]
    box.configure()


@case(r"bin/file cannot be created or written", "error")
def state_is_a_file(box):
    box.program("file")
    box.given = ["--root", box.root, "--config", box.config, "--state-dir", box.bin + "/file"]
    yield "or name another with --state-dir"
    # Relative to where the command is called, which is the root.
    box.given = ["--root", box.root, "--config", box.config, "--state-dir", "../new/deep"]


@case(r"there is no baton.yaml")
def no_configuration(box):
    box.given = ["--root", box.root, "--state-dir", box.state]
    yield "`baton init` writes one"
    subprocess.run([box.exe, "init"], check=True, **box.as_asked())


@case(r"names no dialects and no rules")
def acts_on_nothing(box):
    del box.settings["rules"]
    box.configure()
    yield "write `rules:` for your files"
    box.rule("t")


@case(r"Too many levels of symbolic links", "error")
def configuration_links_to_itself(box):
    os.remove(box.config)
    os.symlink("baton.yaml", box.config)
    yield "put a readable file there"
    os.remove(box.config)
    box.configure()


@case(r"differs|changed|not the one", "warning")
def not_reloaded(box):
    box.start()
    box.set(limits={**box.settings["limits"], "max_running": 3})
    yield "run `baton reload` when the file is ready"


@case(r"baton.yaml: there is no such configuration", "error")
def configuration_gone(box):
    box.start()
    os.rename(box.config, box.config + ".kept")
    yield "put a readable file there"
    os.rename(box.config + ".kept", box.config)


@case(r"the daemon's copy of its configuration cannot be used")
def copy_damaged(box):
    box.start()
    copies = [os.path.join(folder, name) for folder, _, names in os.walk(box.state) for name in names if "config" in name]
    check(copies, "there is no copy below", box.state)
    for copy in copies:
        write(copy, b"{")
    yield "run `baton reload` as the daemon's user: it writes the copy anew"


@case(r"(un)?seal: no such program in PATH", "error")
def backups_filter(box):
    box.set(dialects={"ml_workflow": {"backups": {"encrypt": ["seal"], "decrypt": ["unseal"]}}})
    yield "install the program, or change `backups:` of ml_workflow"
    box.program("seal")
    box.program("unseal")


@case(r"`encrypt` is configured and `decrypt` is not")
def backups_without_decrypt(box):
    box.program("seal")
    box.set(dialects={"ml_workflow": {"backups": {"encrypt": ["seal"]}}})
    yield "configure `decrypt`"
    box.set(dialects={"ml_workflow": {"backups": {"encrypt": ["seal"], "decrypt": ["seal"]}}})


# --- places, state and daemon ---

@case(r"no daemon serves")
def no_daemon(box):
    yield "start one with `baton run`"
    box.start()


@case(r"there is no such folder")
def root_missing(box):
    box.set(roots=[box.root, box.home + "/more"])
    box.given = ["--config", box.config, "--state-dir", box.state]
    yield "create it"
    os.mkdir(box.home + "/more")


@case(r"is no folder, so it cannot be a root", "warning")
def root_is_a_file(box):
    write(box.home + "/more", b"")
    box.set(roots=[box.root, box.home + "/more"])
    box.given = ["--config", box.config, "--state-dir", box.state]
    yield "correct `roots:`"
    box.set(roots=[box.root])


@case(r"lies inside the root", "error")
def state_in_root(box):
    box.given = ["--root", box.root, "--config", box.config, "--state-dir", box.root + "/state"]
    yield "name a folder outside all roots with --state-dir"
    box.given = None


@case(r"cannot be created or written", "error")
def state_of_others(box):
    box.become_nobody()
    os.chown(box.state, 0, 0)
    os.chmod(box.state, 0o755)
    yield "or name another with --state-dir"
    os.mkdir(box.home + "/mine")
    os.chown(box.home + "/mine", NOBODY, NOBODY)
    box.given = ["--root", box.root, "--config", box.config, "--state-dir", box.home + "/mine"]


@case(r"the journal is damaged|journal.* damaged|not a database|malformed", "error")
def journal_damaged(box):
    box.ticket("a", "new")
    check(box.once().returncode == 0)
    for folder, _, names in os.walk(box.state):
        for name in names:
            if name.endswith((".db", ".sqlite")):
                with open(os.path.join(folder, name), "r+b") as file:
                    file.seek(4096 + 8)
                    file.write(b"\xff" * 4096)
    yield "copy the folder before you change anything in it"
    os.rename(box.state, box.home + "/kept")
    os.mkdir(box.state)


@case(r"open files per process is low")
def few_files(box):
    box.files = 500
    yield "ulimit -n"
    box.files = 4096


@case(r"shim", "error")
def shim_gone(box):
    shutil.copy(box.exe, box.home + "/baton")
    real, box.exe = box.exe, box.home + "/baton"
    yield "install baton-shim beside baton"
    shutil.copy(os.path.dirname(real) + "/baton-shim", box.home + "/baton-shim")


@case(r"baton runs as root")
def as_root(box):
    yield "run it as its own user"
    box.become_nobody()


@case(r"cannot be written", "warning")
def folder_read_only(box):
    box.ticket("a", "new")
    box.become_nobody()
    os.chmod(box.root, 0o755)
    os.chmod(box.root + "/tickets", 0o755)
    yield ""
    os.chown(box.root, NOBODY, NOBODY)
    os.chown(box.root + "/tickets", NOBODY, NOBODY)


@case(r"cannot be read|Permission denied", "error")
def root_closed(box):
    box.become_nobody()
    os.chmod(box.root + "/tickets", 0o700)
    box.ticket("a", "new")
    yield "let this user read it"
    os.chown(box.root + "/tickets", NOBODY, NOBODY)


@case(r"can be written by everybody")
def open_to_all(box):
    box.ticket("a", "new")
    os.chmod(box.root + "/tickets", 0o777)
    yield "`chmod o-w"


def test(exe, *names):
    if os.geteuid():
        skip("only root can make these faults")
    chosen = [row for row in CASES if not names or row[0].__name__ in names]
    wrong, skipped = [], []
    for make, text, level in chosen:
        with Box(exe) as box:
            steps = make(box)
            try:
                advises = next(steps)
                found = [each for each in box.named(text) if each["level"] == level]
                check(found, make.__name__, "is not found:",
                      *(each["level"] + " " + each["message"] for each in box.findings() if each["level"] != "fine"))
                for each in found:
                    check(each["advice"] and advises in each["advice"], make.__name__, "has another remedy:", each)
                box.do(found[0]["advice"])
                next(steps, None)
                left = wait_until(lambda: [] == [each for each in box.named(text) if each["level"] == level] or None,
                                  make.__name__, "is still there:", lambda: box.named(text))
                check(left)
                next(steps, None)
            except Skipped as why:
                skipped.append(f"{make.__name__}: {why}")
            except (AssertionError, subprocess.TimeoutExpired) as fault:
                wrong.append(make.__name__)
                print(make.__name__, str(fault)[:2000], flush=True)
    print(f"{len(chosen) - len(wrong) - len(skipped)} of {len(chosen)} findings went away by what doctor advised")
    check(not wrong, wrong)
    if skipped:
        skip(*skipped)


if __name__ == "__main__":
    world.main(test)
