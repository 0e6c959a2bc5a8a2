"""The people of a study: what they agreed to and told about themselves, and who does not go on."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from human_eval.collection.database import OF_JUDGES, Database

Barred = Literal["screened out", "not qualified", "failed checks", "stopped", "banned", "withdrew"]


@dataclass(frozen=True)
class Person:
    """One judge. ``enrolled``: when they agreed and answered (seconds since 1970), or None.

    ``about``: question -> answer; ``device``: computer, phone or tablet, "" if unknown; ``barred``: why they do not go
    on, "" if they may; ``booklet`` (0..), ``joined`` and ``seen``: None for who never began; ``session`` and
    ``panel_study``: as the panel calls them, "" without a panel.
    """

    judge: str
    enrolled: float | None
    about: Mapping[str, str]
    device: str
    barred: str
    booklet: int | None
    joined: float | None
    seen: float | None
    session: str
    panel_study: str


class People:
    """Who judges, in the database of a study."""

    def __init__(self, database: Database, now: Callable[[], float] = time.time) -> None:
        self._database, self._now = database, now

    def all(self) -> list[Person]:
        """Everyone who came from a panel, enrolled, began or was barred, by name."""
        tables = ("judges", "enrolled", "barred", "arrivals")
        query = f"""
            SELECT judge, enrolled.enrolled, ifnull(about, '{{}}'), ifnull(device, ''), ifnull(reason, ''), booklet,
            joined, seen, ifnull(session, ''), ifnull(panel_study, '')
            FROM ({" UNION ".join(f"SELECT judge FROM {table}" for table in tables)})
            {" ".join(f"LEFT JOIN {table} USING (judge)" for table in tables)} ORDER BY judge
        """
        with self._database.reading() as connection:
            rows = connection.execute(query).fetchall()
        return [
            Person(judge, enrolled, json.loads(about), device, barred, booklet, joined, seen, session, study)
            for judge, enrolled, about, device, barred, booklet, joined, seen, session, study in rows
        ]

    def arrive(self, judge: str, session: str, panel_study: str) -> None:
        """Record where a panel's participant comes from; the last time counts."""
        with self._database.writing() as connection:
            row = (judge, session, panel_study)
            connection.execute("INSERT OR REPLACE INTO arrivals VALUES (?, ?, ?)", row)

    def is_enrolled(self, judge: str) -> bool:
        """Whether the judge has agreed and answered."""
        with self._database.reading() as connection:
            return connection.execute("SELECT 1 FROM enrolled WHERE judge = ?", (judge,)).fetchone() is not None

    def enrol(self, judge: str, about: Mapping[str, str], device: str) -> None:
        """Record that a judge agrees now, with the answers about themselves. The first time counts.

        Nothing is recorded of a barred judge, who may have left a page open.
        """
        row = (judge, self._now(), json.dumps(dict(about), ensure_ascii=False), device)
        with self._database.writing() as connection:
            unless = "WHERE NOT EXISTS (SELECT 1 FROM barred WHERE judge = ?1)"
            connection.execute(f"INSERT OR IGNORE INTO enrolled SELECT ?1, ?2, ?3, ?4 {unless}", row)

    def barred(self, judge: str) -> str:
        """Why the judge does not go on; "" if they may."""
        with self._database.reading() as connection:
            return (connection.execute("SELECT reason FROM barred WHERE judge = ?", (judge,)).fetchone() or ("",))[0]

    def bar(self, judge: str, reason: Barred) -> None:
        """Keep a judge from going on, and release what is open of the booklet: all of it if they failed the checks.

        Answers stay. If a judge withdrew, everything is deleted but the name, which keeps the judge from beginning
        again by mistake, and how much of a booklet came back in files.
        """
        with self._database.writing() as connection:
            conflict = "IGNORE" if reason == "stopped" else "REPLACE"  # who failed the checks and then stops has failed
            connection.execute(f"INSERT OR {conflict} INTO barred VALUES (?, ?, ?)", (judge, reason, self._now()))
            connection.execute("DELETE FROM loans WHERE judge = ?", (judge,))
            if reason == "withdrew":
                for table in OF_JUDGES:
                    connection.execute(f"DELETE FROM {table} WHERE judge = ?", (judge,))

    def admit(self, judge: str) -> None:
        """Let a barred judge go on, with their booklet unless another judge has taken it over."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM barred WHERE judge = ?", (judge,))
            given = "SELECT booklet FROM loans UNION SELECT booklet FROM handed_out WHERE reserved"
            own = f"SELECT booklet, judge, ?2 FROM judges WHERE judge = ?1 AND booklet NOT IN ({given})"
            connection.execute(f"INSERT INTO loans (booklet, judge, until) {own}", (judge, self._now()))
