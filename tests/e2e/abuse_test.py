# SPDX-License-Identifier: Apache-2.0
"""Cases of tests/ABUSE.md that need the whole program: agents and files that mean no good.
usage: abuse_test.py BATON"""

import fcntl
import glob
import json
import os
import signal
import socket
import stat
import subprocess
import threading

import world
from world import check, only_unchanged, processes_with, skip, wait_until, write

NOBODY = 65534
GROUPS = {"name": "g", "files": "groups.json", "stage": "/{subject}/status",
          "react": [{"to": "ready", "run": "worker"}]}


def a01_a02_words_stay_words(exe):
    """A subject fills in one argument, as it is, or nothing is started for it."""
    subjects = ["$(touch canary)", "`touch canary`", "a; touch canary", "a\ntouch canary", "'; touch canary #",
                "${BATON_ROOT}", "$HOME", "* ?", "--dangerously-skip-permissions", "-rf", "|touch canary", "plain"]
    agent = {"command": ["/bin/sh", "-c", 'printf "%s\\0" "$@" >"$BATON_RUN_DIR/got"', "sh", "<${subject}>",
                         "${subject}"]}
    with world.World(exe, rules=[GROUPS], agents={"worker": agent}) as baton:
        write(baton.root + "/groups.json", {each: {"status": "ready"} for each in subjects})
        baton.once()
        got = []
        for path in glob.glob(baton.state + "/*/runs/*/got"):
            with open(path) as file:
                marked, bare, end = file.read().split("\0")
            check(marked == f"<{bare}>" and bare in subjects and not end, "not as it was:", marked, bare)
            got.append(bare)
        check("plain" in got and len(got) == len(set(got)), got)
        held = {each["subject"] for each in baton.explain("rules/g")["holds"]
                if each["subject"] not in got}
        check(held == set(subjects) - set(got), "neither started nor said why:", set(subjects) - set(got) - held)
        check(not [each for each in got if each.startswith("-")], "became an option:", got)
        check(not glob.glob(baton.home + "/**/canary", recursive=True), "a word was executed")


def a03_only_the_configuration_names_programs(exe):
    with world.World(exe) as baton:
        evil = {"status": "ready", "agent": "/bin/sh", "role": "/bin/sh", "run": "evil", "cwd": "/",
                "command": ["/bin/sh", "-c", f"touch {baton.home}/canary"], "env": {"LD_PRELOAD": "/x"}}
        write(baton.root + "/tickets/x.json", evil)
        baton.once()
        check(len(baton.starts()) == 1 and not os.path.exists(baton.home + "/canary"), baton.starts())


def a26_closed_descriptors(exe):
    """An agent without any descriptor is still known, adopted, and not started again."""
    script = "exec <&- >&- 2>&- 3>&- 4>&- 5>&- 6>&-; until [ -e go ]; do /bin/sleep 0.05; done"
    with world.World(exe, command=("sh", "-c", script)) as baton:
        baton.start()
        baton.ticket("x", "ready")
        wait_until(lambda: baton.starts("rules/t/x"))
        baton.daemon.kill()
        baton.daemon.wait()
        baton.start()
        wait_until(lambda: [each["state"] for each in baton.lines("agents")] == ["running"])
        write(baton.root + "/go", b"")
        baton.canary()
        baton.idle()
        check(len(baton.starts("rules/t/x")) == 1, baton.starts())
        check({each["outcome"] for each in baton.lines("agents")} == {"succeeded"}, baton.lines("agents"))


def a28_stops_itself(exe):
    """An agent that stops itself is ended by the idle limit, and the daemon goes on meanwhile."""
    script = 'case $BATON_FLOW in */x) kill -STOP $$;; esac'
    with world.World(exe, command=("sh", "-c", script), limits={"idle_timeout": "1s", "max_attempts": 1}) as baton:
        baton.start()
        baton.ticket("x", "ready")
        run = wait_until(lambda: baton.starts("rules/t/x"))[0].run
        baton.canary()
        wait_until(lambda: [each["outcome"] for each in baton.lines("agents") if each["run"] == run] == ["stalled"])
        check(not processes_with("BATON_RUN_ID=" + run), "it is left behind")


def a30_kills_the_daemon(exe):
    """Agents of the same user can end the daemon; the next one knows them, and starts none again."""
    turns = 6
    with world.World(exe, command=("sh", "-c", 'kill -KILL "$(cat daemon.pid)"; sleep 0.1')) as baton:
        for number in range(turns):
            baton.start()
            write(baton.root + "/daemon.pid", f"{baton.daemon.pid}\n".encode())
            baton.ticket(f"x{number}", "ready")
            baton.daemon.wait()
        write(baton.root + "/daemon.pid", b"none\n")
        check(only_unchanged(baton.once()))
        flows = sorted(each.flow for each in baton.starts())
        check(flows == [f"rules/t/x{number}" for number in range(turns)], flows)


def a31_a55_state_is_nobody_elses(exe):
    """What baton keeps is closed to others, and holds no secrets of the environment for its group."""
    with world.World(exe, command=("sleep", "1000")) as baton:
        os.chmod(baton.home, 0o755)
        baton.settings["agents"]["worker"]["env"] = {"set": {"KEY": "much-too-secret"}}
        baton.configure()
        os.chmod(baton.config, 0o600)
        baton.start()
        baton.ticket("x", "ready")
        wait_until(lambda: baton.starts("rules/t/x"))
        for top, folders, files in os.walk(baton.state):
            for path in [os.path.join(top, name) for name in folders + files]:
                mode = stat.S_IMODE(os.lstat(path).st_mode)
                check(mode & 0o027 == 0, "others may", oct(mode), path)
                if os.path.isfile(path):
                    with open(path, "rb") as file:
                        check(b"much-too-secret" not in file.read(), "a secret lies in", path)
        with open(f"/proc/{baton.daemon.pid}/status") as status:
            check("much-too-secret" not in status.read())
        if os.geteuid() != 0:
            skip("of this test only, what another user may: that needs root")
        journal = glob.glob(baton.state + "/*/journal.db")[0]
        for command in (["cat", journal], ["touch", os.path.dirname(journal) + "/requests/x.json"], ["rm", journal]):
            done = subprocess.run(command, capture_output=True, user=NOBODY, group=NOBODY, extra_groups=[])
            check(done.returncode != 0, command, "was allowed to somebody else")


def a33_fake_exit_file(exe):
    """What an agent writes about its own end does not count while its shim lives."""
    fake = ('printf \'{"version": 1, "run_id": "%s", "cause": "exit", "exit_code": 0}\' "$BATON_RUN_ID" '
            '>"$BATON_RUN_DIR/exit.json"; exit 7')
    with world.World(exe, command=("sh", "-c", fake), limits={"max_attempts": 1}) as baton:
        baton.ticket("x", "ready")
        baton.once()
        run = baton.lines("agents")[0]
        check(run["outcome"] == "failed" and run["exit"] == 7, run)


def a34_a35_nothing_leaks_into_agents(exe):
    script = 'tr "\\0" "\\n" <"/proc/$$/environ"; echo descriptors; ls "/proc/$$/fd"'
    with world.World(exe, command=("sh", "-c", script)) as baton:
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        manager.bind(baton.home + "/notify")
        manager.settimeout(world.PATIENCE)
        baton.ticket("x", "ready")
        many = [os.open("/dev/null", os.O_RDONLY) for _ in range(200)]
        environment = {"SECRET": "1", "ANTHROPIC_KEY": "2", "NOTIFY_SOCKET": baton.home + "/notify",
                       "WATCHDOG_USEC": "30000000", "LISTEN_FDS": "3", "JOURNAL_STREAM": "1:2"}
        daemon = subprocess.Popen(baton.run_command("--once"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, pass_fds=many, env={**os.environ, **environment})
        check(manager.recv(4096), "it tells the manager")
        check(daemon.wait(world.PATIENCE) == 1)
        check([each["reason"] for each in baton.lines("status")] == ["no_change"], baton.lines("status"))
        for fd in many:
            os.close(fd)
        run = baton.starts()[0].run
        said = baton.call("logs", run).stdout
        names = {line.split("=")[0] for line in said.split("descriptors\n")[0].splitlines()}
        check("BATON_RUN_ID" in names and not names & set(environment), names)
        fds = said.split("descriptors\n")[1].split()
        check(set(fds) <= {"0", "1", "2"}, "descriptors:", fds)


def peak_memory_kib(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(status.read().split("VmHWM:")[1].split()[0])


def a36_what_agents_print(exe):
    """Much, without a newline, and with escape sequences: the log has its cap, the daemon does not grow."""
    script = "head -c 40000000 /dev/zero | tr '\\0' x; printf '\\033]0;evil\\007' >&2; exit 9"
    with world.World(exe, command=("sh", "-c", script), limits={"log_cap": "100KiB", "max_attempts": 1}) as baton:
        baton.start()
        before = peak_memory_kib(baton.daemon.pid)
        baton.ticket("x\x1b[2J", "ready")
        baton.canary()
        baton.idle()
        for path in glob.glob(baton.state + "/*/runs/*/stdout.log"):
            check(os.path.getsize(path) < 110000, os.path.getsize(path))
        grown = peak_memory_kib(baton.daemon.pid) - before
        # With the address sanitizer freed memory is kept for a while, so it says nothing there.
        check(grown < 35000 or world.sanitized(exe), "the daemon grew by", grown, "KiB")
        for words in (["status"], ["events"], ["agents"]):
            check("\x1b" not in baton.call(*words).stdout, words, "prints escape sequences")


def a43_clocks_of_files(exe):
    """Times of files decide nothing."""
    times = {"epoch": 0, "before": -10 ** 9, "far": 4291747200, "tomorrow": 2000000000}
    with world.World(exe) as baton:
        baton.start()
        for name, moment in times.items():
            baton.ticket(name, "idle")
            os.utime(f"{baton.root}/tickets/{name}.json", (moment, moment))
        baton.canary()
        for name, moment in times.items():
            baton.ticket(name, "ready")
            os.utime(f"{baton.root}/tickets/{name}.json", (moment, moment))
        for name in times:
            wait_until(lambda: baton.starts(f"rules/t/{name}"), name, "was not started")
        baton.canary()
        check(len(baton.starts()) == len(times) + 2, baton.starts())


def damaged_word(exe):
    """daemon.json cut or damaged anywhere: reading commands work as without it."""
    with world.World(exe) as baton:
        baton.start()
        baton.canary()
        path = glob.glob(baton.state + "/*/daemon.json")[0]
        wait_until(lambda: json.load(open(path))["pid"] == baton.daemon.pid)
        baton.daemon.send_signal(signal.SIGSTOP)
        with open(path, "rb") as file:
            whole = file.read()
        for at in range(0, len(whole.rstrip()) + 1, 9):
            flipped = bytearray(whole)
            flipped[at] ^= 0x80
            for content in (whole[:at], bytes(flipped)):
                with open(path, "wb") as file:
                    file.write(content)
                said = baton.call("status").stdout
                check(f"served by process {baton.daemon.pid} since 20" in said and "()" not in said, at, said)
        baton.daemon.send_signal(signal.SIGCONT)
        baton.canary()


def a24_fork_bomb(exe):
    """An agent takes every process its user may have: it fails and is ended, and others get their turn."""
    if os.geteuid() != 0:
        skip("a user with a limit of processes of its own needs root")
    bomb = "case $BATON_FLOW in */x) while :; do sleep 1000 & done;; esac"
    with world.World(exe, command=("sh", "-c", bomb), limits={"max_attempts": 1}) as baton:
        for path in [baton.home, *glob.glob(baton.home + "/*")]:
            os.chown(path, NOBODY, NOBODY)
        with open(baton.home + "/daemon.log", "ab") as log:
            baton.daemon = subprocess.Popen(["prlimit", "--nproc=100:100", *baton.run_command()], user=NOBODY,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        os.mkdir(baton.root + "/tickets")
        baton.ticket("x", "ready")
        run = wait_until(lambda: baton.starts("rules/t/x"))[0].run
        wait_until(lambda: [each["outcome"] for each in baton.lines("agents") if each["run"] == run] == ["failed"],
                   lambda: baton.lines("agents"))
        check(not processes_with("BATON_RUN_ID=" + run), "something is left behind")
        baton.canary()
        check(baton.daemon.poll() is None, "the daemon ended")


def nobody_reads_stderr(exe):
    """The daemon's log goes into a pipe that is full and that nobody reads: it works on, and says later what was
    lost."""
    with world.World(exe) as baton:
        reading, writing = os.pipe()
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
        baton.daemon = subprocess.Popen(baton.run_command(), stdin=subprocess.DEVNULL, stdout=writing,
                                        stderr=writing)
        os.close(writing)
        for _ in range(60):  # more lines than the pipe holds
            baton.canary()
        baton.idle()
        lines = []
        with open(reading, encoding="utf-8") as said:
            thread = threading.Thread(target=lambda: lines.extend(said))
            thread.start()
            wait_until(lambda: len(lines) >= 10, "what fits is there")
            baton.canary()
            baton.call("drain")
            check(baton.daemon.wait(world.PATIENCE) == 0, baton.daemon.returncode)
            thread.join(world.PATIENCE)
        check(any("lost here: no room to write" in line for line in lines), lines[-40:])
        check("drained" in lines[-1], lines[-1])


def test(exe):
    for part in (a01_a02_words_stay_words, a03_only_the_configuration_names_programs, a26_closed_descriptors,
                 a28_stops_itself, a30_kills_the_daemon, a31_a55_state_is_nobody_elses, a33_fake_exit_file,
                 a34_a35_nothing_leaks_into_agents, a36_what_agents_print, a43_clocks_of_files, damaged_word,
                 nobody_reads_stderr,
                 a24_fork_bomb):
        part(exe)
        print(part.__name__, "passed", flush=True)


if __name__ == "__main__":
    world.main(test)
