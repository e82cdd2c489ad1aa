# SPDX-License-Identifier: Apache-2.0
"""The Debian package in a bare system that debootstrap makes from the package sources of this machine: installed, tried by
the first page, upgraded from a lower version while an agent runs and over a journal of 0.1.0, removed and purged; lintian finds nothing.

The bare system is part of scripts/prove; scripts/test only asks lintian.
usage: package_test.py BATON PACKAGE
"""

import glob
import os
import re
import shutil
import subprocess
import tarfile
import tempfile

import world
from world import check, skip, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
JOURNAL = os.path.join(HERE, "../journals/0.1.0.tar.gz")
PAGE = os.path.join(HERE, "../../docs/getting-started.md")


def call(*command, code=0, **more):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900, **more)
    check(code is None or done.returncode == code, *command, "gave", done.returncode, done.stdout[-3000:], done.stderr[-3000:])
    return done.stdout + done.stderr


def lowered(new, folder):
    """The same package with a lower version."""
    call("dpkg-deb", "-R", new, folder + "/older")
    with open(folder + "/older/DEBIAN/control") as file:
        control = file.read()
    with open(folder + "/older/DEBIAN/control", "w") as file:
        file.write(re.sub(r"^Version: .*", "Version: 0.0.1", control, flags=re.M))
    call("dpkg-deb", "--root-owner-group", "-b", folder + "/older", folder + "/old.deb")
    return folder + "/old.deb"


class System:
    """A bare Debian in a folder."""

    def __init__(self, folder):
        self.folder = folder
        release = re.search(r"^VERSION_CODENAME=(\S+)", open("/etc/os-release").read(), re.M)[1]
        sites = call("apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)", "Created-By: Packages").splitlines()
        site, = {line.split()[0] for line in sites if line.split()[1] == release}
        done = subprocess.run(["debootstrap", "--variant=minbase", release, folder, site], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=900)
        if done.returncode:
            skip("debootstrap cannot make a bare system here:", done.stdout[-300:], done.stderr[-300:])
        shutil.copy("/etc/resolv.conf", folder + "/etc/resolv.conf")
        shutil.copytree("/etc/apt/apt.conf.d", folder + "/etc/apt/apt.conf.d", dirs_exist_ok=True)
        call("mount", "-t", "proc", "proc", folder + "/proc")
        # Nothing may start a service here, as in every chroot.
        world.write(folder + "/usr/sbin/policy-rc.d", b"#!/bin/sh\nexit 101\n")
        os.chmod(folder + "/usr/sbin/policy-rc.d", 0o755)

    def run(self, script, code=0):
        return call("chroot", self.folder, "sh", "-ec", script, code=code,
                    env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"})

    def install(self, package):
        shutil.copy(package, self.folder + "/tmp/baton.deb")
        return self.run("apt-get install -y --no-install-recommends /tmp/baton.deb")

    def close(self):
        for pid in os.listdir("/proc"):
            try:
                if pid.isdigit() and os.readlink(f"/proc/{pid}/root") == self.folder:
                    os.kill(int(pid), 9)
            except OSError:
                pass
        wait_until(lambda: subprocess.run(["umount", self.folder + "/proc"], capture_output=True).returncode == 0)


def first_page(system):
    """The commands of the page, as they stand on it, in empty folders where it says so; with what it says they print."""
    with open(PAGE) as file:
        blocks = re.findall(r"^(<!-- test: ([^\n]*) -->\n)?```sh\n(.*?)^```", file.read(), re.M | re.S)
    check(blocks, "the page has no commands")
    script = ""
    for number, (_, marks, block) in enumerate(blocks):
        if "service" in marks:
            continue  # there is none in a bare system
        if number == 0 or "new folder" in marks:
            script += f"mkdir /root/first{number}; cd /root/first{number}\n"
        script += "".join(line + "\n" for line in block.splitlines() if not line.startswith("#>"))
    said = system.run(script)
    for _, marks, block in blocks:
        if "service" in marks:
            continue
        for line in re.findall(r"^#> (.*)$", block, re.M):
            check(line in said, "the page says", line, "and it printed", said)


def after_installation(system):
    """doctor names files that are there, and no service was started."""
    said = system.run("mkdir /root/empty; cd /root/empty; baton doctor || true")
    for path in set(re.findall(r"/usr/share/[\w/.-]+\w", said)):
        check(os.path.exists(system.folder + path), "doctor names", path, "which is not there")
    check("baton init" in said or "write `rules:`" in said, said)
    check("baton-shim" in said and "no daemon serves" in said, said)
    system.run("getent passwd baton; baton validate /etc/baton/config.yaml; zcat /usr/share/man/man1/baton-status.1.gz | head -n 1")


def keep_journal(system):
    """A state folder of version 0.1.0 (tests/journals), which was never packaged, for a root of its own."""
    system.run("""mkdir -p /root/kept/tickets; cd /root/kept
cat >baton.yaml <<'END'
version: 1
agents: { worker: { command: [sh, -c, 'echo "$BATON_FLOW" >>started; sleep 1000'] } }
rules: [{ name: t, files: "tickets/{flow}.json", stage: /status, react: [{ to: ready, run: worker }] }]
END
baton run --once""")
    state, = glob.glob(system.folder + "/var/lib/baton/kept-*") + glob.glob(system.folder + "/root/.local/state/baton/kept-*")
    shutil.rmtree(state)
    os.mkdir(state, 0o750)
    with tarfile.open(JOURNAL) as kept:
        kept.extractall(state)
    for flow, status in (("a", "done"), ("b", "done"), ("fails", "ready"), ("long", "ready"), ("rests", "waiting")):
        world.write(f"{system.folder}/root/kept/tickets/{flow}.json", {"status": status})


def journal_is_migrated(system):
    """All of it still counts: only what was at work starts again. The journal is there as it was before, too."""
    said = system.run("""cd /root/kept
baton run >log 2>&1 &
while [ ! -e started ]; do sleep 0.1; done
baton status
kill $!
wait $! || true
cat log started""")
    check("from version 7 to " in said and "/journal.db.v7" in said, said)
    check(said.splitlines()[-1] == "rules/t/long" and said.count("started rules/t/") == 1, said)
    check(re.search(r"^rules/t/fails +failed", said, re.M) and re.search(r"^rules/t/rests +paused", said, re.M), said)
    system.run("cd /root/kept; baton stop --all")


def symbols_apart(new):
    """The programs are stripped; their symbols are in a package beside it, under the ids that the programs name."""
    apart, = glob.glob(os.path.dirname(new) + "/*.ddeb")
    listed = call("dpkg-deb", "--contents", apart)
    with tempfile.TemporaryDirectory() as folder:
        call("dpkg-deb", "-x", new, folder)
        for program in ("bin/baton", "libexec/baton/baton-shim"):
            path = f"{folder}/usr/{program}"
            check(", stripped" in call("file", "-b", path), path, "is not stripped")
            name = re.search(r"Build ID: (\w\w)(\w+)", call("readelf", "-n", path))
            check(f"/.build-id/{name[1]}/{name[2]}.debug" in listed, listed)


def upgrade(system, new):
    """The agent goes on under the old shim; the new daemon takes it up, and it ends once."""
    system.run("""mkdir -p /root/long/tickets; cd /root/long
cat >baton.yaml <<'END'
version: 1
agents: { worker: { command: [./agent.sh] } }
rules: [{ name: t, files: "tickets/{flow}.json", stage: /status, done: [done], react: [{ to: ready, run: worker }] }]
END
printf '#!/bin/sh\\necho begins >>work\\nwhile [ ! -e go ]; do sleep 0.1; done\\necho ends >>work\\n"$BATON_EXE" set "$BATON_STATE_FILE" "/status=\\\\"done\\\\""\\n' >agent.sh
chmod +x agent.sh
echo '{"status": "ready"}' >tickets/a.json
baton run --act-on-existing >log 2>&1 &
echo $! >pid
while [ ! -e work ]; do sleep 0.1; done""")
    check("0.0.1" in system.run("dpkg-query -W baton"))
    system.install(new)
    check("0.0.1" not in system.run("dpkg-query -W baton"))
    said = system.run("""cd /root/long
kill "$(cat pid)"
while kill -0 "$(cat pid)" 2>/dev/null; do sleep 0.1; done
baton run --act-on-existing >>log 2>&1 &
while ! grep -q "takes up" log; do sleep 0.1; done
touch go
baton wait rules/t/a --until done --timeout 60s
cat work log""")
    check(said.count("begins") == 1 and said.count("ends") == 1, said)


def test(_, new):
    if os.geteuid():
        skip("only root can make a bare system")
    with tempfile.TemporaryDirectory(prefix="baton-package-") as folder:
        old = lowered(new, folder)
        said = call("lintian", "--tag-display-limit", "0", new, code=None)
        check(not re.search(r"^[EWI]: ", said, re.M), said)
        symbols_apart(new)
        if not world.COMPLETE:
            return print("a bare system is made in scripts/prove")
        system = System(folder + "/debian")
        try:
            system.run("apt-get update; apt-get install -y --no-install-recommends systemd-standalone-sysusers git")
            system.install(old)
            after_installation(system)
            first_page(system)
            keep_journal(system)
            upgrade(system, new)
            journal_is_migrated(system)
            system.run("apt-get remove -y baton; test ! -e /usr/bin/baton; test -e /etc/baton/config.yaml; test -e /var/lib/baton")
            system.run("apt-get purge -y baton; test ! -e /etc/baton; test ! -e /var/lib/baton")
        finally:
            system.close()


if __name__ == "__main__":
    world.main(test)
