# SPDX-License-Identifier: Apache-2.0
"""One folder of a pattern that cannot be listed (a link, a mount point, a FIFO or a file in its place, one that may
not be read) is told once, with its place, and keeps nothing else from being scanned. usage: closed_folder_test.py
BATON"""

import ctypes
import json
import os
import subprocess

import world
from world import check, skip, wait_until, write

NOBODY = 65534


class Two(world.World):
    """Tickets in two folders, one of which is closed."""

    def __init__(self, exe, as_nobody=False):
        closed = {**self.TICKETS, "name": "c", "files": "closed/{flow}.json"}
        super().__init__(exe, rules=[closed, self.TICKETS])
        self.closed = self.root + "/closed"
        self.before = []
        if as_nobody:
            self.before = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]

    def give_away(self):
        subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", self.home], check=True)

    def run_command(self, *more):
        return [*self.before, *super().run_command(*more)]

    def call(self, *arguments, code=0):
        done = subprocess.run([*self.before, self.exe, *arguments, *self.places()], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=world.PATIENCE)
        check(code is None or done.returncode == code, "baton", *arguments, "gave", done.returncode,
              done.stdout, done.stderr)
        return done

    def told(self, word="rejected"):
        """Events about the folder, which is no flow's."""
        return [each["why"] for each in self.lines("events") if each["event"] == word and each["flow"] == ""]

    def doctor(self, says):
        findings = json.loads(self.call("doctor", "--json", code=None).stdout)["findings"]
        return [each for each in findings if says in each["message"]]

    def line(self):
        """What status says of the root."""
        return [each for each in self.lines("status") if each["flow"] == ""]


def link(baton):
    os.mkdir(baton.home + "/elsewhere")
    write(baton.home + "/elsewhere/x.json", {"status": "ready"})
    os.symlink(baton.home + "/elsewhere", baton.closed)


def link_to_itself(baton):
    os.symlink("closed", baton.closed)


def link_to_nothing(baton):
    os.symlink("nothing", baton.closed)


def fifo(baton):
    os.mkfifo(baton.closed)


def plain_file(baton):
    write(baton.closed, "no folder")


def unreadable(baton):
    os.mkdir(baton.closed)
    write(baton.closed + "/x.json", {"status": "ready"})
    if baton.before:
        baton.give_away()
    os.chmod(baton.closed, 0)


def mount(baton):
    os.mkdir(baton.closed)
    made = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", baton.closed], capture_output=True, text=True)
    if made.returncode != 0:
        skip("cannot mount: " + made.stderr.strip())
    write(baton.closed + "/x.json", {"status": "ready"})


def open_again(baton, make):
    """With something to do in it."""
    if make is mount:
        subprocess.run(["umount", baton.closed], check=True)
    elif make is unreadable:
        os.chmod(baton.closed, 0o755)
    else:
        os.unlink(baton.closed)
        os.mkdir(baton.closed)
    write(baton.closed + "/z.json", {"status": "ready"})


def there_at_start(exe, make):
    with Two(exe, make is unreadable and os.geteuid() == 0) as baton:
        baton.ticket("early", "ready")
        make(baton)
        try:
            # Without a daemon status says it, too.
            check(len(baton.line()) == 1, baton.line())
            check([each["level"] for each in baton.doctor("/closed: ")] == ["error"], baton.doctor("/closed"))
            once = baton.once()
            # The agent leaves its stage as it was, and the root needs a person, too.
            check(once.returncode == 1 and once.stderr.splitlines()[-1].endswith("1 flow: 1 blocked"), once)
            check(len(baton.starts("rules/t/early")) == 1 and len(baton.starts()) == 1, once, baton.starts())
            for says in " rejected: closed: ", " blocked [closed]: closed: ", " the root is blocked: folder_unreadable: closed: ":
                check(once.stderr.count(says) == 1, says, once.stderr)
            check(once.stderr.count("closed: ") == 3 or make in (link, mount, unreadable), once.stderr)
            baton.start()
            baton.canary()
            check(len(baton.told()) == 1, baton.told())
            check(baton.told()[0].startswith("closed: "), baton.told())
            said = baton.line()
            check(len(said) == 1 and said[0]["condition"] == "blocked" and said[0]["reason"] == "folder_unreadable", said)
            check("`baton doctor`" in said[0]["do"], said)
            check("closed: " in said[0]["why"], said)
            table = baton.call("status").stdout
            check("(root)" in table and "closed: " in table, table)
            check("(root)" not in baton.call("status", "--names").stdout, "the root has a name")
            check(baton.call("validate", code=None).returncode != 0, "is called valid")
        finally:
            open_again(baton, make)
        if make in (mount, unreadable):
            baton.call("reload")  # No event tells of it; the next full look within a minute would find it, too.
        wait_until(lambda: baton.starts("rules/c/z"), "what lies there is started when it is mended")
        wait_until(lambda: baton.told("back"), "mended, and nothing is said")
        check(not baton.line(), baton.line())
        check(baton.daemon.poll() is None, "the daemon ended")


def exchange(one, other):
    """Both names change places in one step, so that nobody sees a moment without either."""
    libc = ctypes.CDLL(None, use_errno=True)
    at_here, both = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    if libc.renameat2(at_here, os.fsencode(one), at_here, os.fsencode(other), both) != 0:
        raise OSError(ctypes.get_errno(), "renameat2", one)


def comes_while_running(exe, at_once):
    """The last good state stays in force; the link is told at once, not at the next full look. A flow whose folder
    was seen to be away before is gone, and in no list until it is back."""
    with Two(exe) as baton:
        os.mkdir(baton.closed)
        write(baton.closed + "/x.json", {"status": "idle"})
        baton.start()
        baton.canary()
        # The canary was in another folder.
        wait_until(lambda: [each for each in baton.lines("events") if each["flow"] == "rules/c/x" and each["event"] == "accepted"],
                   "its file is seen")
        if at_once:
            os.symlink(baton.home + "/away", baton.home + "/away")
            exchange(baton.closed, baton.home + "/away")
        else:
            os.rename(baton.closed, baton.home + "/away")
            wait_until(lambda: [each for each in baton.lines("events")
                                if each["flow"] == "rules/c/x" and each["event"] == "gone"], "its file is gone")
            os.symlink(baton.home + "/away", baton.closed)
        write(baton.home + "/away/x.json", {"status": "ready"})
        wait_until(lambda: baton.told(), "a link in a folder's place is told")
        listed = [each["reason"] for each in baton.lines("status") if each["flow"] == "rules/c/x"]
        check(listed == (["file_rejected"] if at_once else []), listed)
        baton.canary()
        check(len(baton.told()) == 1 and "symbolic link" in baton.told()[0], baton.told())
        check(not baton.starts("rules/c/x"), baton.starts())
        os.unlink(baton.closed)
        os.rename(baton.home + "/away", baton.closed)
        wait_until(lambda: baton.starts("rules/c/x"), "it goes on")
        wait_until(lambda: not baton.line(), "status forgets it")


def below_a_placeholder(exe):
    """So it is with a folder that only a placeholder names. A file beside it is nobody's business."""
    with world.World(exe, rules=[{**world.World.TICKETS, "files": "tickets/{part}/{flow}.json"}]) as baton:
        baton.configure()
        place = baton.root + "/tickets"
        os.makedirs(place + "/good")
        write(place + "/README", b"words")
        os.mkdir(baton.home + "/elsewhere")
        write(baton.home + "/elsewhere/x.json", {"status": "ready"})
        os.symlink(baton.home + "/elsewhere", place + "/linked")
        os.symlink(place + "/README", place + "/also")
        os.symlink("good", place + "/latest")
        os.mkdir(place + "/mounted")
        mounted = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place + "/mounted"],
                                 capture_output=True).returncode == 0

        def told():
            return sorted(each["why"].split(":")[0] for each in baton.lines("events")
                          if each["event"] == "rejected" and each["flow"] == "")
        try:
            baton.start()
            write(place + "/good/a.json", {"status": "ready"})
            wait_until(lambda: baton.starts("rules/t/a"), "the others go on")
            check(told() == ["tickets/linked", *["tickets/mounted"] * mounted], told())
            check("tickets/linked" in baton.call("status").stdout, baton.call("status").stdout)
            check("tickets/also" not in baton.call("status").stdout, baton.call("status").stdout)
        finally:
            subprocess.run(["umount", place + "/mounted"], capture_output=True)
        os.unlink(place + "/linked")
        os.rename(baton.home + "/elsewhere", place + "/linked")
        baton.call("reload")
        wait_until(lambda: baton.starts("rules/t/x"), "what lies there is started when it is mended")
        wait_until(lambda: "(root)" not in baton.call("status").stdout, lambda: baton.call("status").stdout)


def not_writable(exe):
    """baton has to write there itself now and then, beside what agents write."""
    if os.geteuid() != 0:
        skip("only root can give a folder away")
    with Two(exe, as_nobody=True) as baton:
        baton.ticket("a", "elsewhere")
        baton.give_away()
        tickets = baton.root + "/tickets"
        check(not baton.doctor("cannot be written"), baton.doctor("cannot be written"))
        os.chown(tickets, 0, 0)
        found = baton.doctor("cannot be written")
        check([each["level"] for each in found] == ["warning"] and found[0]["message"].startswith(tickets), found)


def test(exe):
    for make in (link, link_to_itself, link_to_nothing, fifo, plain_file, mount, unreadable):
        print(make.__name__, flush=True)
        there_at_start(exe, make)
    for at_once in (True, False):
        print("comes_while_running", "at once" if at_once else "in two steps", flush=True)
        comes_while_running(exe, at_once)
    print("below_a_placeholder", flush=True)
    below_a_placeholder(exe)
    print("not_writable", flush=True)
    not_writable(exe)


if __name__ == "__main__":
    world.main(test)
