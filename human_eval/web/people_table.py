"""The table of all people who came to a study: judges.csv, and what the owner's page shows of each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from human_eval.collection.people import Person
from human_eval.collection.responses import Response
from human_eval.study import Study
from human_eval.web.payment import to_pay
from human_eval.web.progress import JudgeRow


def people_rows(
    study: Study,
    responses: Sequence[Response],
    rows: Sequence[JudgeRow],
    people: Sequence[Person],
    *,
    closed: bool,
    checked: bool,
) -> list[dict[str, Any]]:
    """A row for each person, by name of column; what they told about themselves comes last. Further as `to_pay`."""
    row_of, tables = {row.judge: row for row in rows}, []
    for person in people:
        answered = [response for response in responses if response.judge == person.judge]
        action, reason = to_pay(person, row_of.get(person.judge), closed, checked)
        times = {name: _time(getattr(person, name)) for name in ("enrolled", "joined", "seen")}
        tables.append(
            {
                "judge": person.judge,
                "booklet": "" if person.booklet is None else person.booklet + 1,
                "answered": len(answered),
                "comments": sum(bool(response.comment) for response in answered),
                "device": person.device,
                "barred": person.barred,
                "to do": action,
                "why": reason,
                "session": person.session,
                "panel_study": person.panel_study,
                **times,
                **{asked.id: person.about.get(asked.id, "") for asked in study.enrolment.questions},
            }
        )
    return tables


def _time(seconds: float | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
