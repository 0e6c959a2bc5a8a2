"""Answers of a model on an OpenAI-compatible server: several requests at a time, repeated where that may help.

What is asked goes to the endpoint alone: redirects are refused. The key is read from the environment when a request is
sent, and stands in no signature, file, error or log.
"""

from __future__ import annotations

import atexit
import json
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from rewards.errors import RewardError, Unavailable
from rewards.models.asking import AskingOptions

FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0  # seconds before a request is repeated; the wait doubles
REPEATED = (408, 409, 425, 429)  # and every status from 500 on
REFUSED = (400, 403, 413, 422)
LARGEST = 2**24  # bytes of an answer
SHOWN = 200  # characters of the server's message


class Refused(RewardError):
    """The server does not take this request, whenever it is sent."""


@dataclass
class Spent:
    """What the requests of this process have cost."""

    requests: int = 0
    answered: int = 0
    repeated: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    from_file: int = 0
    prices: tuple[float, float] | None = None

    def __str__(self) -> str:
        tokens = f"{self.prompt_tokens:,} + {self.completion_tokens:,} tokens"
        cost = ""
        if self.prices is not None:
            paid = (self.prompt_tokens * self.prices[0] + self.completion_tokens * self.prices[1]) / 1e6
            cost = f", {paid:.4f} at {self.prices[0]:g}/{self.prices[1]:g} a million"
        kept = f"; {self.from_file:,} answers were kept from before" if self.from_file else ""
        return f"{self.requests:,} requests, {self.repeated:,} of them repeated, {tokens}{cost}{kept}"


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None  # urllib then raises the status as an error


class Server:
    """A server. A line at the end of the process says what was spent; repeated requests count for the ``limit``."""

    def __init__(self, options: AskingOptions) -> None:
        self.options, self.spent = options, Spent(prices=options.prices())
        self.url = options.endpoint.rstrip("/").removesuffix("/chat/completions") + "/chat/completions"
        self._lock, self._stopped = threading.Lock(), threading.Event()
        self._opener = build_opener(_NoRedirect())

    def answers(
        self, bodies: Mapping[bytes, Mapping[str, Any]], keep: Callable[[bytes, dict[str, Any]], None]
    ) -> dict[bytes, Refused]:
        """Ask for an answer to each of ``bodies``, which ``keep`` takes at once, and return what was refused.

        After an error that is no refusal nothing new is asked, what is being answered is still kept, and the error is
        raised: RewardError, Unavailable for a server that does not answer.
        """
        self._stopped.clear()
        refused: dict[bytes, Refused] = {}

        def ask(key: bytes) -> None:
            if self._stopped.is_set():
                return
            try:
                answer = self.ask(bodies[key])
            except Refused as error:
                refused[key] = error
                return
            with self._lock:
                self.spent.answered += 1
                keep(key, answer)

        with ThreadPoolExecutor(self.options.concurrency) as pool:
            asked = [pool.submit(ask, key) for key in bodies]
            try:
                done, _ = wait(asked, return_when=FIRST_EXCEPTION)
            finally:  # also an interrupt
                if any(not one.done() or one.exception() for one in asked):
                    self._stopped.set()
                    pool.shutdown(cancel_futures=True)
        for one in done:
            one.result()
        return refused

    def ask(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one request, repeated up to ``retries`` times after longer and longer waits."""
        reason, wait, headers = "", FIRST_WAIT, {"Content-Type": "application/json"}
        if secret := self._secret():
            headers["Authorization"] = f"Bearer {secret}"
        for attempt in range(self.options.retries + 1):
            if attempt and self._stopped.wait(wait * random.uniform(0.5, 1.0)):
                break
            self._count(attempt)
            wait = min(2 * wait, LONGEST_WAIT)
            try:
                return self._post(body, headers)
            except HTTPError as error:
                reason = f"it answered {error.code}: {self._message(error)}"
                if error.code in REFUSED:
                    raise Refused(f"the server refused it ({reason})") from None
                if error.code not in REPEATED and error.code < 500:
                    key = f"set the key in the environment variable {self.options.key}"
                    fix = key if error.code == 401 else "check both"
                    raise RewardError(
                        f"judge: endpoint={self.options.endpoint!r}, model={body['model']!r}: {reason}; {fix}"
                    ) from None
                wait = max(wait, min(_seconds(error.headers.get("Retry-After")), LONGEST_WAIT))
            except (OSError, HTTPException) as error:
                cause = getattr(error, "reason", error)
                late = f"it did not answer in {self.options.timeout:g} seconds"
                reason = late if isinstance(cause, TimeoutError) else str(cause)
            except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
                reason = "it answered something other than a chat completion"
        raise Unavailable(
            f"judge: endpoint={self.options.endpoint!r}: {reason}, {self.options.retries + 1} times; see that the "
            "server runs, or give a longer timeout= or more retries="
        )

    def _count(self, attempt: int) -> None:
        with self._lock:
            if self.options.limit is not None and self.spent.requests >= self.options.limit:
                raise RewardError(f"judge: the limit of {self.options.limit} requests is used up; give a higher limit=")
            if not self.spent.requests:
                atexit.register(lambda: print(f"judge {self.options.model}: {self.spent}", file=sys.stderr))
            self.spent.requests += 1
            self.spent.repeated += attempt > 0

    def _secret(self) -> str:
        """The key, "" without one. Raises RewardError for what cannot stand in a request."""
        secret = os.environ.get(self.options.key, "").strip()
        if not (secret.isascii() and secret.isprintable()):
            raise RewardError(
                f"judge: the environment variable {self.options.key} holds no key: not one line of ASCII; set it"
            )
        return secret

    def _post(self, body: Mapping[str, Any], headers: dict[str, str]) -> dict[str, Any]:
        """The first choice of an answer: its text and the most probable tokens at each of its positions."""
        deadline, content = time.monotonic() + self.options.timeout, b""
        request = Request(self.url, json.dumps(body).encode(), headers)
        with self._opener.open(request, timeout=self.options.timeout) as response:
            while part := response.read1(2**16):
                content += part
                if time.monotonic() > deadline:
                    raise TimeoutError
                if len(content) > LARGEST:
                    raise ValueError
        answer = json.loads(content)
        choice = answer["choices"][0]
        positions = (choice.get("logprobs") or {}).get("content") or ()
        top = [
            [(str(one["token"]), float(one["logprob"])) for one in place.get("top_logprobs") or ()]
            for place in positions
        ]
        usage = answer.get("usage") or {}
        with self._lock:
            self.spent.prompt_tokens += int(usage.get("prompt_tokens") or 0)
            self.spent.completion_tokens += int(usage.get("completion_tokens") or 0)
        tokens = [str(place["token"]) for place in positions]
        cut = choice.get("finish_reason") == "length"
        return {"text": str(choice["message"]["content"] or ""), "tokens": tokens, "top": top, "cut": cut}

    def _message(self, error: HTTPError) -> str:
        """What the server says of an error, on one line, without the key."""
        try:
            content = error.read(LARGEST).decode(errors="replace")
        except (OSError, HTTPException):
            content = ""
        try:
            said = json.loads(content)["error"]
            content = str(said["message"] if isinstance(said, dict) else said)
        except (ValueError, LookupError, TypeError):
            pass
        secret = self._secret()
        shown = " ".join((content.replace(secret, "***") if secret else content).split())
        return shown[:SHOWN] or str(error.reason)


def _seconds(header: str | None) -> float:
    try:
        return max(0.0, float(header or 0))
    except ValueError:  # a date
        return 0.0
