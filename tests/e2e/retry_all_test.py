# SPDX-License-Identifier: Apache-2.0
"""`baton retry --all`: every flow that waits for a retry, and no other, with and without a daemon.
usage: retry_all_test.py BATON"""

import world
from world import check, wait_until

# By the stage: the agent of `wrong` fails, that of `idle` changes nothing, that of `gone` is missing.
RULE = {"name": "t", "files": "tickets/{flow}.json", "stage": "/status", "done": ["done"],
        "react": [{"to": "wrong", "run": "failing"}, {"to": "idle", "run": "lazy"}, {"to": "gone", "run": "missing"}]}


class Box(world.World):
    def __init__(self, exe):
        super().__init__(exe, rules=[RULE], limits={"max_attempts": 1})
        self.settings["agents"] = {"failing": self.counting("false"), "lazy": self.counting("true"),
                                   "missing": {"command": [self.home + "/missing"]}}
        self.configure()
        for name, status in (("failed", "wrong"), ("lazy", "idle"), ("missing", "gone"), ("done", "done")):
            self.ticket(name, status)

    def stand(self):
        """Waits until the four flows stand, and says how."""
        def settled():
            found = {each["flow"]: (each["condition"], each["reason"]) for each in self.lines("status")}
            return found if len(found) == 4 and all(each[0] in ("blocked", "failed", "done") for each in found.values()) else None
        return wait_until(settled, lambda: self.lines("status"))

    def counts(self):
        return {name: len(self.starts(f"rules/t/{name}")) for name in ("failed", "lazy", "missing", "done")}


def retries(box):
    box.stand()
    check(box.counts() == {"failed": 1, "lazy": 1, "missing": 0, "done": 0}, box.counts())
    # Only what has failed.
    done = box.call("retry", "--all", "--only", "failed")
    check("rules/t/failed" in done.stdout and "lazy" not in done.stdout and "missing" not in done.stdout, done.stdout)
    return done


def served(exe):
    with Box(exe) as box:
        box.start()
        retries(box)
        wait_until(lambda: box.counts()["failed"] == 2, box.counts)
        box.stand()
        # An agent that is missing is no case for a retry: baton looks for it by itself.
        done = box.call("retry", "--all")
        check("rules/t/failed" in done.stdout and "rules/t/lazy" in done.stdout, done.stdout)
        check("missing" not in done.stdout and "rules/t/done" not in done.stdout, done.stdout)
        wait_until(lambda: box.counts() == {"failed": 3, "lazy": 2, "missing": 0, "done": 0}, box.counts)
        box.stand()
        done = box.call("retry", "--all", "--only", "blocked")
        check("lazy" in done.stdout and "failed" not in done.stdout, done.stdout)
        wait_until(lambda: box.counts()["lazy"] == 3, box.counts)


def unserved(exe):
    with Box(exe) as box:
        box.once()
        retries(box)
        box.once()
        check(box.counts() == {"failed": 2, "lazy": 1, "missing": 0, "done": 0}, box.counts())
        box.call("retry", "--all")
        box.once()
        check(box.counts() == {"failed": 3, "lazy": 2, "missing": 0, "done": 0}, box.counts())


def words(exe):
    with Box(exe) as box:
        check("no flow waits for a retry" in box.call("retry", "--all").stdout)
        for wrong, says in ((["retry"], "name a flow, or use --all"), (["retry", "--only", "failed", "t/lazy"], "--only is for --all"),
                            (["retry", "--all", "--only", "done"], "failed or blocked"), (["retry", "--all", "t/lazy"], "exclude each other")):
            done = box.call(*wrong, code=2)
            check(says in done.stderr, wrong, done.stderr)


if __name__ == "__main__":
    world.main_parts([served, unserved, words])
