"""A server as a user starts it, and scripted judges who use it in a real browser."""

import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from ports import free_port

from human_eval.collection.collect import collect
from human_eval.collection.returns import read_returned

ROOT = Path(__file__).resolve().parents[2]
KEYS = {"left": "1", "right": "2", "none": "0"}


def chromium():
    """The path of an installed Chromium or Chrome, else None."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
    return next((found for found in map(shutil.which, names) if found), None)


@contextmanager
def browser():
    """A headless Chromium; nothing is downloaded."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Root, as in a container, has no sandbox; the pages are our own.
        started = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield started
        started.close()


class Server:
    """``rlsum human-eval serve`` in a process of its own. ``judges``, ``everyone`` and ``admin`` are its links."""

    def __init__(self, study, port, *options):
        command = [sys.executable, "-m", "rlsum", "human-eval", "serve", study, "--port", port, *options]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [str(part) for part in command],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # which nohup has its children ignore
        )
        self.judges, self.everyone, self.admin, said = {}, "", "", []
        for line in self.process.stdout:
            said.append(line)
            if found := re.match(r"  (\S+)  (http\S+/judge/\S+)", line):
                self.judges[found[1]] = found[2]
            elif found := re.match(r"  (http\S+/join/\S+)", line):
                self.everyone = found[1]
            elif found := re.match(r"  (http\S+/admin/\S+)", line):
                self.admin = found[1]
            elif line.startswith("Serving"):
                self.address = line.split()[1].rstrip(";")
                return
        raise RuntimeError("".join(said))

    def kill(self):
        """As a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self._wait()

    def stop(self, number=signal.SIGINT):
        """As Ctrl-C does, or another signal. Returns the exit status."""
        self.process.send_signal(number)
        return self._wait()

    def _wait(self):
        self.process.communicate(timeout=120)  # a busy machine takes its time; a server that hangs takes for ever
        return self.process.returncode


@contextmanager
def served(study, port, *options):
    """A server that is gone afterwards."""
    server = Server(study, port, *options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.kill()


def stopping(study, *options):
    """Servers of one study that end in every way, one after the other, and how: in order, as by a power cut, at last.

    The body answers some of it; the last time all the rest.
    """
    port = free_port()
    for stop in ("SIGTERM", "SIGKILL", ""):
        with served(study, port, *options) as server:
            yield server, stop
            if stop == "SIGKILL":
                server.kill()
            elif stop:
                assert server.stop(signal.SIGTERM) == 0


def collected(folder, study):
    """The responses in the app's database: one for each task."""
    made = collect(study, read_returned(folder / "judging.sqlite", study))
    assert (sorted(row.task for row in made.responses), made.rejects) == (sorted(study.by_id), ())
    return made.responses


class Judge:
    """Someone with a page, who answers what ``choose(left, right)`` says: a side for each question."""

    def __init__(self, page, link, choose):
        self.page, self.choose = page, choose
        self.errors = []
        page.set_default_timeout(120_000)  # of which a machine that is not busy needs nothing
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda told: self.errors.append(told.text) if told.type == "error" else None)
        page.goto(link)

    def begin(self):
        self._saved(lambda: self.page.click("button[type=submit]"))

    def on_item(self):
        return self.page.url.endswith(("/item", "/last"))

    def sides(self):
        """What the judge answers to what is shown."""
        left, right = self.page.locator(".summary .text").all_inner_texts()
        return self.choose(left, right)

    def by_keyboard(self):
        """Answer the item without touching anything but keys."""
        for side in self.sides():
            self.page.keyboard.press(KEYS[side])
        self._saved(lambda: self.page.keyboard.press("Enter"))

    def by_mouse(self):
        """Answer the item with clicks alone."""
        for number, side in enumerate(self.sides()):
            # Through the label, as people do: the input itself is invisible.
            self.page.click(f"label:has(input[name=answer-{number}][value={side}])")
        self._saved(lambda: self.page.click("form#answers button[type=submit]"))

    def by_touch(self):
        """Answer the item with a finger."""
        for number, side in enumerate(self.sides()):
            self.page.tap(f"label:has(input[name=answer-{number}][value={side}])")
        self._saved(lambda: self.page.tap("form#answers button[type=submit]"))

    def _saved(self, send):
        with self.page.expect_navigation():
            send()
