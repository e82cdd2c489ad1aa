# SPDX-License-Identifier: Apache-2.0
"""What an agent could get or change by writing files: variables of the daemon by a loop, the prompt of another agent.
usage: secrets_test.py BATON [PART...]"""

import json
import os

import world
from world import check, wait_until

SECRET = "sk-secret-of-another-role"


class Loops(world.World):
    def __init__(self, exe, shell=None):
        super().__init__(exe, agents={"agent": {"command": ["sh", "-c", "cat"]}})
        self.settings["dialects"] = {"fsm_loop": {} if shell is None else {"shell": shell}}
        del self.settings["rules"]
        self.configure()

    def begin(self):
        self.start(env={**os.environ, "QA_API_KEY": SECRET, "CI": "yes", "LC_TIME": "C"})

    def define(self, name, *states):
        path = f"{self.root}/.loops/{name}.yaml"
        lines = [f"name: {name}", "initial: a", "states:", *(f"  {each}" for each in states), "  done: {terminal: true}"]
        world.write(path, "\n".join([*lines, ""]).encode())
        return path

    def status(self, name):
        try:
            with open(f"{self.root}/.loops/.running/{name}.state.json") as file:
                return json.load(file)["status"]
        except FileNotFoundError:
            return None

    def ended(self, name):
        wait_until(lambda: self.status(name) == "completed", name, "ends", lambda: self.call("status").stdout)


def files_with(word, *folders):
    found = []
    for folder in folders:
        for at, _, names in os.walk(folder):
            for path in (os.path.join(at, name) for name in names):
                if os.path.isfile(path):
                    with open(path, "rb") as file:
                        found += [path] if word.encode() in file.read() else []
    return found


def a_loop_gets_no_other_variable(exe):
    """A shell action sees what is listed, in its environment and in /proc; a definition that names more is not started."""
    with Loops(exe, {"env": ["CI"]}) as loops:
        loops.define("sees", 'a: {action: "printenv >printed; cat /proc/self/environ >own; '
                             'echo [${env.CI}] [${env.LC_TIME}] ${env.PATH:shell} >filled", next: done}')
        asks = [loops.define("asks", 'a: {action: "echo got=${env.QA_API_KEY}", next: done}'),
                loops.define("prompts", 'a: {action: "say ${env.QA_API_KEY?}", action_type: prompt, next: done}'),
                loops.define("judges", 'a: {action: "true", evaluate: {type: output_contains, pattern: x, '
                                       'source: "${env.QA_API_KEY}"}, on_yes: done, on_no: done}')]
        loops.begin()
        for path in asks:
            name = os.path.basename(path)[:-5]
            said = loops.call("validate", path, code=1)
            line = "dialects: { fsm_loop: { shell: { env: [CI, QA_API_KEY] } } }"
            check("fsm_loop/S15" in said.stdout + said.stderr and line in said.stdout + said.stderr, said)
            said = loops.call("start", f"fsm_loop/{name}", code=None)
            check(said.returncode != 0 and "QA_API_KEY" in said.stderr + said.stdout
                  and line in said.stderr + said.stdout, said)
        loops.call("start", "fsm_loop/sees")
        loops.ended("sees")
        with open(loops.root + "/filled") as file:
            check(file.read().startswith("[yes] [C] "), "what was filled in")
        for name in ("printed", "own"):
            with open(f"{loops.root}/{name}") as file:
                seen = {line.split("=", 1)[0] for line in file.read().replace("\0", "\n").splitlines()}
            check({"CI", "PATH", "LC_TIME"} <= seen, name, seen)
            check("QA_API_KEY" not in seen, name, seen)
        check(not files_with(SECRET, loops.home), files_with(SECRET, loops.home))


def shell_actions_can_be_forbidden(exe):
    with Loops(exe, {"allow": False}) as loops:
        path = loops.define("runs", 'a: {action: "touch ran", next: done}')
        loops.define("talks", 'a: {action: "hello", action_type: prompt, next: done}')
        loops.begin()
        said = loops.call("validate", path, code=1)
        check("fsm_loop/S16" in said.stdout + said.stderr, said)
        said = loops.call("start", "fsm_loop/runs", code=None)
        check(said.returncode != 0 and "forbids shell actions" in said.stderr + said.stdout, said)
        loops.call("start", "fsm_loop/talks")
        loops.ended("talks")
        check(not os.path.exists(loops.root + "/ran"), "a forbidden action ran")


def prompts_are_not_exchanged(exe):
    """An agent puts another prompt into the folder that lies ready for the next run."""
    with world.World(exe) as baton:
        world.write(baton.home + "/p.md", b"told ${flow}\n")
        # It plants for up to five seconds, for the next folder may still be made.
        plant = ('cat >"$OUT.told"; for i in $(seq 50); do for d in "$BATON_RUN_DIR"/../.spare/*/; do '
                 '[ -d "$d" ] && rm -f "$d/prompt" && echo planted >"$d/prompt" && touch "$OUT.planted" && exit; '
                 'done; sleep 0.1; done')
        tell = 'cat >"$OUT.told"; cat "$BATON_PROMPT_FILE" >"$OUT.part"; mv "$OUT.part" "$OUT.file"'
        script = f'OUT={baton.home}/$(basename "$BATON_FLOW"); case $BATON_FLOW in *one) {plant};; *) {tell};; esac'
        baton.settings["agents"]["worker"] = {"command": ["sh", "-c", script], "prompt": baton.home + "/p.md"}
        baton.settings["limits"] = {"max_running": 1}
        baton.configure()
        baton.start()
        baton.ticket("one", "ready")
        wait_until(lambda: os.path.exists(baton.home + "/one.planted"), "a prompt is planted",
                   lambda: baton.call("agents").stdout)
        baton.ticket("two", "ready")
        wait_until(lambda: os.path.exists(baton.home + "/two.file"), "the second agent runs",
                   lambda: baton.call("status").stdout)
        for name in ("told", "file"):
            with open(f"{baton.home}/two.{name}") as file:
                text = file.read()
            check(text.startswith("told rules/t/two") and "planted" not in text, name, text)


def prompts_of_workflows_stay_inside(exe):
    with world.World(exe) as baton:
        del baton.settings["rules"]
        baton.settings["dialects"] = {"agent_run": {}}
        baton.configure()
        world.write(baton.home + "/p.md", b"SECRET\n")
        world.write(baton.root + "/in/p.md", b"inside\n")
        os.symlink(baton.home + "/p.md", baton.root + "/link.md")
        os.symlink(baton.home, baton.root + "/folder")
        os.symlink("in/p.md", baton.root + "/own.md")
        for i, (prompt, fine) in enumerate((("../p.md", False), ("link.md", False), ("folder/p.md", False),
                                            ("in/../../p.md", False), ("in/p.md", True), ("own.md", True),
                                            (baton.home + "/p.md", True))):
            workflow = f"{baton.root}/w{i}.yaml"
            world.write(workflow, f"name: w\nsteps: [ {{ id: s, agent: worker, prompt: '{prompt}' }} ]\n".encode())
            said = baton.call("start", workflow, "--run-id", f"r{i}", code=None)
            check((said.returncode == 0) == fine, prompt, said.returncode, said.stdout, said.stderr)
            check(fine or "leads out of the repository" in said.stderr, prompt, said.stderr)


def bad_starts_are_refused_at_once(exe):
    """Without a daemon, what the next one would refuse is not recorded; `explain` says the same."""
    with Loops(exe) as loops:
        path = loops.define("asks", 'a: {action: "echo ${env.QA_API_KEY}", next: done}')
        loops.define("fine", 'a: {action: "true", next: done}')
        said = loops.call("start", "asks", code=1)
        check("QA_API_KEY" in said.stderr and "recorded" not in said.stdout, said)
        said = loops.call("explain", path)
        check("S15" in said.stdout and "baton start" not in said.stdout and "baton validate" in said.stdout, said)
        said = loops.call("explain", "fine")
        check("do: baton start" in said.stdout, said)
        check("recorded" in loops.call("start", "fine").stdout, "a good start")
        loops.call("run", "--once")
        check(loops.status("asks") is None and loops.status("fine") == "completed", loops.status("asks"), loops.status("fine"))
    with world.World(exe) as baton:
        del baton.settings["rules"]
        baton.settings["dialects"] = {"agent_run": {}}
        baton.configure()
        world.write(baton.root + "/p.md", b"work\n")
        world.write(baton.root + "/w.yaml", b"name: w\nsteps: [ { id: s, agent: worker, prompt: p.md } ]\n")
        for name in ("LD_PRELOAD", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "CC"):
            said = baton.call("start", baton.root + "/w.yaml", "--run-id", "one", "--set", name + "=/x", code=1)
            check(f"--set {name}=" in said.stderr and "recorded" not in said.stdout, said)
        said = baton.call("start", baton.root + "/w.yaml", "--run-id", "one", "--set", "COLOUR=red")
        check("recorded" in said.stdout, said)


PARTS = [bad_starts_are_refused_at_once, a_loop_gets_no_other_variable, shell_actions_can_be_forbidden, prompts_are_not_exchanged,
         prompts_of_workflows_stay_inside]

if __name__ == "__main__":
    world.main_parts(PARTS)
