# SPDX-License-Identifier: Apache-2.0
"""A local HTTP server that takes down what programs post to it and answers as it is told to."""

import http.server
import json
import threading


class Webhook:
    """Use as a context manager. `answers`: the status of each answer, the last one for all others; "hang": none;
    a text: a redirect to that place."""

    def __init__(self, *answers):
        self.answers = list(answers or (200,))
        self.posts = []  # path, headers in lower case, body as JSON
        self.over = threading.Event()
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                hook.answer(self)

            def do_GET(self):  # what a client that follows a redirect may make of it
                hook.answer(self)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.server.shutdown()
        self.server.server_close()

    def answer(self, request):
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.posts.append((request.path, headers, json.loads(body or b"null")))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer == "hang":
            self.over.wait()
            return
        request.send_response(302 if isinstance(answer, str) else answer)
        if isinstance(answer, str):
            request.send_header("Location", answer)
        said = f"this is what {request.path} gets".encode()
        request.send_header("Content-Length", str(len(said)))
        request.end_headers()
        request.wfile.write(said)
