"""A crowd of 60 on one server: careful judges, some who leave, come back, click, come late, or cheat with files.

    python scripts/studies/crowd.py --out runs/crowd

Everybody comes by the link for everyone, as from Prolific, and knows only what the pages show; careful judges tell a
text from its shuffled words by the article. Then two booklets come back as files, one of them under two names and with
a third that nobody was given. Checked: every pair has its one judge who counts; who counts passed the checks; nobody
waited longer than stated; the owner's table says what to do with everyone. It takes some minutes.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import random
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from html import unescape
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from complete import rlsum
from judges import Server
from load import Judge, token_of
from ports import free_port

from human_eval.criteria import StudyWording
from human_eval.design.build import build
from human_eval.design.design import StudyDesign
from human_eval.design.outputs import align
from human_eval.files import read_key, save
from human_eval.study import Study
from human_eval.web.judging import PATIENCE
from rlsum.records import Output
from rlsum.simulation.stories import stories

ITEMS, JUDGES, BOOKLET = 20, 9, 4
# Kind of person -> number. They come in this order, careful ones once the places that others leave are lent again.
CROWD = {"leaver": 8, "clicker": 6, "returner": 6, "capitals": 2, "careful": 38}
LEASE = 0.02  # hours


class Person(threading.Thread):
    """One of the crowd. ``waited``: seconds on the waiting page; ``saved``: answers; ``end``: the last heading."""

    def __init__(self, number: int, kind: str, link: str) -> None:
        super().__init__(daemon=True)
        self.kind, self.pid = kind, f"{number:024x}"
        self.random, self.waited, self.saved, self.end = random.Random(number), 0.0, 0, ""
        pid = "ABCDEF" + self.pid[6:] if kind == "capitals" else self.pid
        self.client = Judge(link, self.pid, 0, threading.Event())
        self.path = f"{self.client.address.path}?PROLIFIC_PID={pid}&SESSION_ID=5{self.pid[1:]}&STUDY_ID={'2' * 24}"

    def run(self) -> None:
        """Come, judge, and leave as one's kind does."""
        status, headers, page = self.client.ask("GET", self.path)
        if status != 303:
            self.end = heading(page)
            return
        self.client.cookie = headers["set-cookie"].split(";")[0]
        self.client.ask("POST", "/start", {"token": token_of(self.client.ask("GET", "/")[2])})
        begun = time.monotonic()
        while (answer := self.client.ask("GET", "/wait"))[0] == 200 and "http-equiv" in answer[2]:
            time.sleep(2)
        self.waited, self.end = time.monotonic() - begun, heading(answer[2])
        for number in range(99):
            status, _, page = self.client.ask("GET", "/item")
            if status != 200:
                self.end = heading(self.client.ask("GET", "/")[2])
                return
            if number == 3 and self.kind == "leaver":
                return
            if number == 3 and self.kind == "returner":
                time.sleep(5)
            answers = {f"answer-{place}": side for place, side in enumerate(self.sides(page))}
            form = {"token": token_of(page), "comment": "", **answers}
            self.saved += self.client.ask("POST", "/item", form)[0] == 303

    @property
    def due(self) -> tuple[str, str]:
        """What the owner should be told to do, and how the reason begins."""
        if self.kind == "clicker" and "Thank you" not in self.end:
            return "reject, or pay in part", "failed "
        if not self.saved:
            return "nothing", "began, "
        if self.kind == "leaver":
            return "pay in part", f"{self.saved} saved, then inactive"
        return "approve", f"{self.saved} saved"

    def sides(self, page: str) -> list[str]:
        """What this person answers to what a page shows."""
        article, left, right = (
            unescape(text) for text in re.findall(r'<div class="text"[^>]*>(.*?)</div>', page, re.S)
        )
        if self.kind == "clicker":
            return [self.random.choice(("left", "none", "right")) for _ in range(4)]
        if left == right:
            return ["none"] * 4
        known = set(pairwise(article.split()))
        here, there = (len(known & set(pairwise(text.split()))) for text in (left, right))
        if sorted(left) == sorted(right):  # the same letters: one of the two is shuffled
            return ["left" if here > there else "right"] * 4
        return [self.random.choice(("left", "none", "right")) for _ in range(4)]


def heading(page: str) -> str:
    """The heading of a page."""
    match = re.search(r"<h1[^>]*>(.*?)</h1>", page, re.S)
    return match[1] if match else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where everything goes; must be new")
    folder = parser.parse_args().out
    study = made(folder / "study")
    files = [f"{study_number}" for study_number in (len(study.booklets) - 1, len(study.booklets))]
    rlsum("export", folder / "study", "--to", "csv", "--booklets", ",".join(files), "-o", folder / "sheets")
    options = ("--key", folder / "study" / "key.json", "--lease", LEASE, "--stop-failing")
    server = Server(folder / "study", free_port(), *options)
    kinds = [kind for kind, number in CROWD.items() for _ in range(number)]
    people = [Person(number, kind, server.everyone) for number, kind in enumerate(kinds, 1)]
    for person in people:
        person.start()
        time.sleep(0.5)
    for person in people:
        person.join(PATIENCE + 300)
    owner = Judge(server.admin, "admin", 0, threading.Event())
    owner.cookie = owner.ask("GET", owner.address.path)[1]["set-cookie"].split(";")[0]
    table = list(csv.DictReader(io.StringIO(owner.ask("GET", "/admin/judges.csv")[2])))
    shown = unescape(owner.ask("GET", "/admin")[2])
    server.stop()
    returned = returns(folder, study)
    collected = ("collect", folder / "study", folder / "study" / "judging.sqlite", *returned, "-o")
    rlsum(*collected, folder / "undecided.jsonl")
    rlsum(*collected, folder / "judgments.jsonl", "--whose", f"{len(study.booklets) - 1}=emil")
    rlsum("analyse", folder / "study", folder / "judgments.jsonl", "-o", folder / "verdict")
    report(folder, study, people, table, shown)


def made(folder: Path) -> Study:
    """A study of stories: the lead against the end."""
    outputs = []
    for story in stories(1, "test", ITEMS + 10):
        for name, lines in (("lead", story.article[:3]), ("end", story.article[-3:])):
            outputs.append((name, Output(story.id, "\n".join(story.article), (), "\n".join(lines), name)))
    design = StudyDesign(items=ITEMS, judges=JUDGES, booklet=BOOKLET)
    study, key = build(align(outputs), design, StudyWording(), seed=1)
    save(folder, study, folder / "key.json", key)
    return study


def returns(folder: Path, study: Study) -> list[Path]:
    """The sheets as judges return them: one by dora, the other by emil and under a second name; a third of nobody's."""
    number, tasks = len(study.booklets), read_key(folder / "study" / "key.json").tasks
    written = []
    names = ((number, "dora"), (number - 1, "emil"), (number - 1, "emma"), (1, "fritz"))
    for booklet, name in names:
        generator = random.Random(booklet)
        rows = [["task", "judge", *(criterion.id for criterion in study.criteria)]]
        for task in study.booklets[booklet - 1]:
            side = tasks[task.id].expected or generator.choice(("left", "right"))
            rows.append([task.id, name, *[side] * len(study.criteria)])
        path = folder / f"{name}.csv"
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(rows)
        written.append(path)
    return written


def report(folder: Path, study: Study, people: list[Person], table: list[dict[str, str]], shown: str) -> None:
    """Print what became of everyone, and exit with an error where it is not what it should be.

    ``table``: the owner's, as CSV; ``shown``: the owner's page.
    """
    key = read_key(folder / "study" / "key.json")
    results = json.loads((folder / "verdict" / "results.json").read_text(encoding="utf-8"))
    left_out = {row["judge"] for row in results["excluded"]}
    lines = map(json.loads, (folder / "judgments.jsonl").read_text(encoding="utf-8").splitlines())
    pairs = [row for row in lines if key.tasks[row["task"]].kind == "pair"]
    counted = Counter(row["task"] for row in pairs if row["judge"] not in left_out)
    wanted = {task for task, secret in key.tasks.items() if secret.kind == "pair"}
    rows = {row["judge"]: row for row in table}
    for person in people:
        row = rows.get(f"guest:{person.pid}", {})
        print(f"{person.kind:9} {person.end:32} waited {person.waited:3.0f} s  {row.get('to do')}: {row.get('why')}")
    print(*(f"! {line}" for line in results["warnings"] if "not counted" in line or "left out" in line), sep="\n")
    twice, lacking = {task for task in counted if counted[task] > 1}, wanted - counted.keys()
    print(f"{len(wanted)} pairs: {len(counted)} counted, {len(twice)} twice, {len(lacking)} not")
    faults = [f"waited {p.waited:.0f} s" for p in people if p.waited > PATIENCE + 30]
    faults += [f"counted twice: {task}" for task in twice]
    faults += [f"counted by nobody: {task}" for task in lacking]
    counting = {row["judge"] for row in pairs} - left_out
    faults += [
        fault
        for person in people
        if person.kind != "capitals"
        for fault in faults_of(person, rows.get(f"guest:{person.pid}", {}), shown, f"guest:{person.pid}" in counting)
    ]
    faults += [f"{p.pid} was not refused" for p in people if p.kind == "capitals" and p.end != "No access"]
    faults += [f"{name} counts" for name in ("emma", "fritz") if any(row["judge"] == name for row in pairs)]
    faults += [f"{name} does not count" for name in ("dora", "emil") if all(row["judge"] != name for row in pairs)]
    undecided = {json.loads(line)["judge"] for line in (folder / "undecided.jsonl").read_text().splitlines()}
    faults += [f"{name} counts before the owner says so" for name in undecided & {"emil", "emma"}]
    warned = "\n".join(results["warnings"])
    faults += [f"{name} is not named on the card" for name in ("emma", "fritz") if name not in warned]
    if faults:
        raise SystemExit("\n".join(faults))


def faults_of(person: Person, row: dict[str, str], shown: str, counts: bool) -> Iterator[str]:
    """What is wrong in the ``row`` of the owner's table on a person whose answers count, or do not."""
    action, reason = person.due
    who = f"{person.pid}, {person.kind}"
    if row.get("to do") != action or not row["why"].startswith(reason):
        yield f"{who}: {row.get('to do')}: {row.get('why')}; not {action}: {reason}"
    if row.get("session") != f"5{person.pid[1:]}" or f"session 5{person.pid[1:]}" not in shown:
        yield f"{who}: no session is told"
    if counts != (action in ("approve", "pay in part")):
        yield f"{who}: {'' if counts else 'does not '}count, and the owner reads {action}"


if __name__ == "__main__":
    main()
