"""Many judges on one server that is killed several times: response times, and lost or duplicate judgments.

python scripts/studies/load.py --judges 20 --seconds 60 --kills 3 --idle 600 --wrong 20

Every judge is a thread with its own connection that fetches an item, waits, answers, and repeats a failed request, like
the reload of a browser. Response times are those of answered requests, measured by the judge. Beside them, from the
same address, others open connections that send nothing or half a request, and try wrong links.
"""

from __future__ import annotations

import argparse
import http.client
import os
import random
import re
import socket
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))
from judges import Server
from ports import free_port

from human_eval.collection.database import read_database
from human_eval.criteria import StudyWording
from human_eval.design.build import build
from human_eval.design.design import StudyDesign
from human_eval.design.outputs import align
from human_eval.files import write_study
from human_eval.study import Study
from rlsum.records import Output
from rlsum.simulation.stories import stories

ITEMS = 400  # more than a judge can do in the time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judges", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--kills", type=int, default=3, help="SIGKILLs of the server, evenly spread")
    parser.add_argument("--think", type=float, default=0.5, help="mean seconds between an item and its answer")
    parser.add_argument("--idle", type=int, default=0, help="idle connections, opened again when they are closed")
    parser.add_argument("--wrong", type=float, default=0.0, help="wrong links a second")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = small_study(folder, options.judges)
        load = os.getloadavg()[0]
        judges, down = run(folder, options)
        report(study, folder, judges, down, load, options)


def small_study(folder: Path, judges: int) -> Study:
    outputs = []
    for story in stories(1, "test", ITEMS):
        source, reference = "\n".join(story.article), "\n".join(story.highlights)
        outputs.append(("a.jsonl", Output(story.id, source, (reference,), reference, "reference")))
        outputs.append(("b.jsonl", Output(story.id, source, (reference,), "\n".join(story.article[:3]), "lead")))
    study, _ = build(align(outputs), StudyDesign(items=ITEMS, judges=judges, booklet=ITEMS), StudyWording(), seed=1)
    write_study(folder, study)
    return study


@dataclass
class Judge(threading.Thread):
    """Answers items until told to stop. ``acknowledged``: the comments that went with acknowledged answers."""

    link: str
    name_: str
    think: float
    stop: threading.Event
    acknowledged: dict[str, tuple[str, ...]] = field(default_factory=dict)
    times: dict[str, list[float]] = field(default_factory=lambda: {"item": [], "answer": []})
    again: int = 0

    def __post_init__(self) -> None:
        super().__init__(daemon=True)
        self.random = random.Random(self.name_)
        self.address = urlsplit(self.link)
        self.connection: http.client.HTTPConnection | None = None
        self.cookie = ""

    __hash__ = threading.Thread.__hash__

    def run(self) -> None:
        """Go through the booklet."""
        status, headers, _ = self.ask("GET", self.address.path)
        assert status == 303, status
        self.cookie = headers["set-cookie"].split(";")[0]
        _, _, page = self.ask("GET", "/")
        self.ask("POST", "/start", {"token": token_of(page)})
        while not self.stop.is_set():
            status, _, page = self.ask("GET", "/item", measured="item")
            assert status == 200, status
            time.sleep(self.random.uniform(0.5, 1.5) * self.think)
            sides = tuple(self.random.choice(("left", "none", "right")) for _ in range(4))
            comment = f"{self.name_} {len(self.acknowledged)}"
            form = {f"answer-{number}": side for number, side in enumerate(sides)}
            form |= {"token": token_of(page), "comment": comment}
            status, _, _ = self.ask("POST", "/item", form, measured="answer")
            assert status == 303, status
            self.acknowledged[comment] = sides

    def ask(self, method: str, path: str, form: dict[str, str] | None = None, measured: str = ""):
        """The answer to a request, sent again until there is one."""
        headers = {"cookie": self.cookie, "origin": f"http://{self.address.netloc}"}
        if form is not None:
            headers["content-type"] = "application/x-www-form-urlencoded"
        while True:
            begun = time.perf_counter()
            try:
                if self.connection is None:
                    self.connection = http.client.HTTPConnection(self.address.netloc, timeout=30)
                self.connection.request(method, path, form and urlencode(form), headers)
                response = self.connection.getresponse()
                body = response.read().decode()
            except (OSError, http.client.HTTPException):
                self.again += 1
                self.connection = None
                time.sleep(0.1)
                continue
            if measured:
                self.times[measured].append(time.perf_counter() - begun)
            return response.status, response.headers, body


def token_of(page: str) -> str:
    match = re.search(r'name="token" value="([^"]+)"', page)
    assert match, page[:500]
    return match[1]


def run(folder: Path, options: argparse.Namespace) -> tuple[list[Judge], list[float]]:
    """The judges after their time, and how long the server was down at each kill."""
    port, stop, down = free_port(), threading.Event(), []
    server = Server(folder, port)
    judges = [Judge(link, name, options.think, stop) for name, link in server.judges.items()]
    beside = [
        threading.Thread(target=keep_idle, args=(port, options.idle, stop), daemon=True),
        threading.Thread(target=try_wrong_links, args=(port, options.wrong, stop), daemon=True),
    ]
    for thread in beside:
        thread.start()
    time.sleep(5.0 if options.idle else 0.0)  # the judges come last
    for judge in judges:
        judge.start()
    for _ in range(options.kills):
        time.sleep(options.seconds / (options.kills + 1))
        server.kill()
        begun = time.perf_counter()
        server = Server(folder, port)
        down.append(time.perf_counter() - begun)
    time.sleep(options.seconds / (options.kills + 1))
    stop.set()
    for judge in judges:
        judge.join(60)
    server.stop()
    return judges, down


def keep_idle(port: int, count: int, stop: threading.Event) -> None:
    """Hold ``count`` connections that ask for nothing; every other one sends half a request."""
    held: list[socket.socket] = []
    while not stop.is_set():
        held = [connection for connection in held if not closed(connection)]
        with suppress(OSError):  # the server is down
            while len(held) < count:
                held.append(socket.create_connection(("127.0.0.1", port), timeout=1))
                if len(held) % 2:
                    held[-1].send(b"GET / HTTP/1.1\r\nHost: ")
        stop.wait(0.5)


def closed(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def try_wrong_links(port: int, rate: float, stop: threading.Event) -> None:
    """Ask for ``rate`` wrong links a second."""
    while rate and not stop.wait(1 / rate):
        with suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", f"/judge/{random.random()}")
            connection.getresponse().read()
            connection.close()


def report(study: Study, folder: Path, judges: list[Judge], down: list[float], load: float, options) -> None:
    kept = read_database(folder / "judging.sqlite", study)
    kept_sides = {row.comment: tuple(row.answers[criterion.id] for criterion in study.criteria) for row in kept}
    acknowledged = {comment: sides for judge in judges for comment, sides in judge.acknowledged.items()}
    lost = [comment for comment, sides in acknowledged.items() if kept_sides.get(comment) != sides]
    doubled = len(kept) - len({response.task for response in kept}) + len(kept) - len(kept_sides)
    print(f"{options.judges} judges for {options.seconds:g} s, {options.think:g} s to think on average")
    print(f"load of the machine before: {load:.1f}, after: {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    print(f"{options.idle} idle connections, {options.wrong:g} wrong links a second")
    seconds_down = ", ".join(f"{seconds:.1f}" for seconds in down)
    again = sum(judge.again for judge in judges)
    print(f"killed {len(down)} times, back after {seconds_down or '-'} s; {again} requests repeated")
    print(f"acknowledged {len(acknowledged)}, kept {len(kept)}, lost {len(lost)}, doubled {doubled}")
    if lost or doubled or not all(judge.acknowledged for judge in judges):
        raise SystemExit("judgments were lost or doubled, or a judge never got through")
    for kind, kinds in (("item", ("item",)), ("answer", ("answer",)), ("both", ("item", "answer"))):
        times = 1000 * np.array([seconds for judge in judges for step in kinds for seconds in judge.times[step]])
        median, high, most = np.percentile(times, (50, 95, 99))
        print(f"{kind}: {len(times)} answered, median {median:.1f} ms, 95% {high:.1f} ms, 99% {most:.1f} ms")


if __name__ == "__main__":
    main()
