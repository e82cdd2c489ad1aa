# SPDX-License-Identifier: Apache-2.0
"""What the programs of this folder share: read notifications from stdin, turn them into one message, send it.

stdin is a JSON array as `baton schema output/notify` describes it. A program exits with 0 only if the server has
accepted the message, with 1 if it has not, and with 2 if something is missing or wrong on our side.
"""

import collections
import json
import os
import re
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request

# Characters that could steer a terminal or break a line. Output of agents has them.
CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
NEEDS_PERSON = ("blocked", "failed", "gone")
ERROR_LINES = 3


class Trouble(Exception):
    """Why the message is not delivered: one line, without secrets."""

    def __init__(self, why, code=1):
        super().__init__(why)
        self.code = code


def settings():
    """The environment, and over it the lines NAME=value of the file that the first argument names. baton gives the
    program of `notify:` only PATH, so a file is the usual way."""
    if len(sys.argv) > 2:
        raise Trouble("takes one argument at most, a file with lines NAME=value", 2)
    if len(sys.argv) == 2:
        try:
            with open(sys.argv[1], encoding="utf-8") as file:
                lines = file.read().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise Trouble(f"cannot read {sys.argv[1]}: {error}", 2) from None
        for number, line in enumerate(lines, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            name, is_pair, value = line.partition("=")
            if not is_pair or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
                raise Trouble(f"{sys.argv[1]}:{number}: this line must be NAME=value", 2)
            if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
                value = value[1:-1]
            os.environ[name] = value
    return os.environ


def needed(name):
    value = os.environ.get(name, "").strip()
    if not value:
        raise Trouble(f"{name} is not set; see the beginning of this program", 2)
    return value


def limit_seconds():
    text = os.environ.get("NOTIFY_TIMEOUT", "20")
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds <= 3600:
        raise Trouble(f"NOTIFY_TIMEOUT must be a number of seconds, not {text[:40]!r}", 2)
    return seconds


def notifications():
    try:
        array = json.loads(sys.stdin.buffer.read().decode("utf-8", "replace"))
    except ValueError as error:
        raise Trouble(f"stdin is not JSON: {error}", 2) from None
    if not isinstance(array, list) or not array or not all(isinstance(each, dict) for each in array):
        raise Trouble("stdin is not a JSON array of 1 to 100 notifications", 2)
    return array


def plain(text):
    return CONTROL.sub("", str(text or ""))


def one_line(text):
    return " ".join(plain(text).split())


def urgent(array):
    """Whether a person has to do something."""
    return any(each.get("event") in (*NEEDS_PERSON, "reminder", "disk_full", "root_away") for each in array)


def title_of(array):
    """`baton: failed rules/tickets/a`, or `baton: 2 failed, 1 finished`."""
    if len(array) == 1:
        each = array[0]
        return one_line(f"baton: {each.get('event')} {each.get('flow') or each.get('root')}")[:200]
    counts = collections.Counter(one_line(each.get("event")) for each in array)
    return "baton: " + ", ".join(f"{count} {event}" for event, count in counts.most_common())[:190]


def paragraph_of(each, root_shown, error_lines):
    head = " ".join(one_line(each.get(name)) for name in ("event", "flow") if each.get(name))
    subject = one_line(each.get("subject"))
    if subject and subject != "main":
        head += f" [{subject}]"
    if root_shown:
        head = f"{one_line(each.get('root'))}: {head}"
    lines = [f"{head}: {one_line(each['why'])}" if each.get("why") else head]
    if each.get("do"):
        lines.append("  do: " + one_line(each["do"]))
    if each.get("condition") in NEEDS_PERSON and each.get("stderr"):
        shown = [line for line in plain(each["stderr"]).splitlines() if line.strip()]
        lines += ["  | " + line for line in shown[-error_lines:]]
    return "\n".join(lines)


def cut(text, most_bytes):
    data = text.encode("utf-8", "replace")
    return text if len(data) <= most_bytes else data[:most_bytes - 4].decode("utf-8", "ignore") + " ..."


def body_of(array, most_bytes, error_lines=ERROR_LINES):
    """A paragraph per notification. What does not fit is counted in the last line."""
    roots = {each.get("root") for each in array}
    last = f"root: {one_line(roots.pop())}" if len(roots) == 1 else ""
    room = most_bytes - len(last.encode("utf-8", "replace")) - 40  # for the line about what is left out
    shown, used = [], 0
    for number, each in enumerate(array):
        text = cut(paragraph_of(each, not last, error_lines), max(room // 2, 200))
        size = len(text.encode("utf-8", "replace")) + 1
        if shown and used + size > room:
            shown.append(f"... and {len(array) - number} more: baton status")
            break
        shown.append(text)
        used += size
    return cut("\n".join(shown + [last] if last else shown), most_bytes)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """A message is for one host, and so are its secrets: an answer that leads elsewhere is a failure."""

    def redirect_request(self, *_):
        return None


def host_of(url):
    """The part of the URL that may be shown: tokens are in its path."""
    parts = urllib.parse.urlsplit(url)
    try:
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        port = ""
    return (parts.hostname or "?") + port


def answer_text(error, secrets):
    try:
        text = one_line(error.read(2000).decode("utf-8", "replace"))
    except Exception:  # the status says enough
        return ""
    for secret in secrets:
        text = text.replace(secret, "***")
    return ": " + text[:200] if text else ""


def ask(url, body, headers, seconds, secrets):
    host = host_of(url)
    request = urllib.request.Request(url, data=json.dumps(body).encode(), method="POST",
                                     headers={"Content-Type": "application/json", "User-Agent": "baton-notify",
                                              **headers})
    try:
        with urllib.request.build_opener(NoRedirect).open(request, timeout=seconds) as answer:
            status = answer.status
    except urllib.error.HTTPError as error:
        if 300 <= error.code < 400:
            raise Trouble(f"{host} answered {error.code} and leads to {host_of(error.headers.get('Location') or '')}; "
                          "redirects are not followed: set the URL to the place itself") from None
        raise Trouble(f"{host} answered {error.code}{answer_text(error, secrets)}") from None
    except TimeoutError:
        raise Trouble(f"{host} did not answer within {seconds:g} s") from None
    except urllib.error.URLError as error:
        if isinstance(error.reason, TimeoutError):
            raise Trouble(f"{host} did not answer within {seconds:g} s") from None
        raise Trouble(f"{host} cannot be reached: {one_line(error.reason)}") from None
    except Exception as error:  # http.client and ssl have many kinds
        raise Trouble(f"{host} did not answer as a web server does: {type(error).__name__}") from None
    if not 200 <= status < 300:
        raise Trouble(f"{host} answered {status}")


def post(url, body, headers=None, secrets=()):
    """Sends `body` as JSON. The limit is for all of it: a thread is left behind when it is over, because neither the
    lookup of a name nor a server that sends a byte now and then can be interrupted."""
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise Trouble("the URL must begin with https:// or http://", 2)
    seconds = limit_seconds()
    ended = []

    def work():
        try:
            ask(url, body, headers or {}, seconds, [each for each in secrets if each])
            ended.append(None)
        except Trouble as trouble:
            ended.append(trouble)
        except Exception as error:  # a value that cannot be a header, or a URL that cannot be one
            ended.append(Trouble(f"the message cannot be sent: {type(error).__name__}"))

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join(seconds)
    if not ended:
        raise Trouble(f"{host_of(url)} did not answer within {seconds:g} s")
    if ended[0] is not None:
        raise ended[0]


def run(send):
    """Calls `send` with the notifications. Ends the program."""
    name = os.path.basename(sys.argv[0])
    code = 0
    try:
        settings()
        send(notifications())
    except Trouble as trouble:
        print(f"{name}: {one_line(trouble)}", file=sys.stderr)
        code = trouble.code
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {one_line(error)}", file=sys.stderr)
        code = 1
    sys.stderr.flush()
    # Not sys.exit: a thread that waits for a server must not keep the program.
    os._exit(code)
