"""OpenAI-compatible servers on loopback, whose answers a test decides."""

from __future__ import annotations

import hashlib
import json
import math
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = (
    Any  # a text; (status, message) or (status, message, headers); a mapping number -> probability; bytes as they are
)


class JudgeServer:
    """``reply``: the body of a request, how many came before it -> its answer, after ``delay`` seconds.

    ``pause``: seconds before each byte of it.
    """

    def __init__(self, reply: Callable[[dict, int], Answer], delay: float = 0.0, pause: float = 0.0) -> None:
        self.reply, self.delay, self.pause = reply, delay, pause
        self.bodies: list[dict] = []
        self.headers: list[dict] = []
        self.at_once = self.most = 0
        self.lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.0"

            def do_POST(self) -> None:
                server.handle(self)

            def log_message(self, *_: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}/v1"

    @property
    def prompts(self) -> list[str]:
        return [body["messages"][0]["content"] for body in self.bodies]

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        with self.lock:
            before = len(self.bodies)
            self.bodies.append({**body, "path": handler.path})
            self.headers.append(dict(handler.headers))
            self.at_once += 1
            self.most = max(self.most, self.at_once)
        time.sleep(self.delay)
        answer = self.reply(body, before)
        with self.lock:
            self.at_once -= 1
        status, headers = 200, {}
        if isinstance(answer, tuple):
            status, message, *more = answer
            headers, answer = (more or [{}])[0], json.dumps({"error": {"message": message}}).encode()
        content = answer if isinstance(answer, bytes) else json.dumps(completion(answer)).encode()
        try:
            handler.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                handler.send_header(name, value)
            handler.end_headers()
            for start in range(len(content)) if self.pause else ():
                time.sleep(self.pause)
                handler.wfile.write(content[start : start + 1])
            if not self.pause:
                handler.wfile.write(content)
        except OSError:  # the client has gone
            pass

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()


def completion(answer: str | dict[Any, float]) -> dict:
    """A chat completion; of probabilities, with the most probable one as its text."""
    usage = {"prompt_tokens": 100, "completion_tokens": 2}
    if isinstance(answer, str):
        return {"choices": [{"message": {"content": answer}, "logprobs": None}], "usage": usage}
    best = max(answer, key=answer.__getitem__)
    top = [{"token": str(token), "logprob": math.log(share)} for token, share in answer.items()]
    logprobs = {"content": [{"token": str(best), "logprob": math.log(answer[best]), "top_logprobs": top}]}
    return {"choices": [{"message": {"content": str(best)}, "logprobs": logprobs}], "usage": usage}


@contextmanager
def serving(reply: Callable[[dict, int], Answer], delay: float = 0.0, pause: float = 0.0):
    server = JudgeServer(reply, delay, pause)
    try:
        yield server
    finally:
        server.close()


@cache
def steady() -> str:
    """The endpoint of a server that lasts as long as the process, whose answers depend on the question alone."""

    def reply(body: dict, _: int) -> Answer:
        asked = body["messages"][0]["content"]
        drawn = hashlib.sha256(asked.encode("utf-8", "surrogatepass")).digest()
        return {1 + place: (1 + drawn[place]) / 2000 for place in range(2 if "with 1 or 2" in asked else 5)}

    return JudgeServer(reply).endpoint
