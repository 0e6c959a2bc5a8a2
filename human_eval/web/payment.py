"""What to do with the work of each person who came: approve it, pay it in part, reject it, wait."""

from __future__ import annotations

from human_eval.collection.people import Person
from human_eval.formatting import counted
from human_eval.web.progress import JudgeRow

BARRED_FOR = {  # reason that is also what to do -> why
    "screened out": "by an answer about themselves",
    "not qualified": "failed the training round",
    "withdrew": "answers deleted",
}


def to_pay(person: Person, row: JudgeRow | None, closed: bool, checked: bool) -> tuple[str, str]:
    """What to do with the submission of a panel's participant, and why. The owner of the study decides.

    ``closed``: the study is, so nobody goes on. ``checked``: it is known which tasks are checks.
    """
    saved = f"{row.done} of {row.total} saved" if row and row.total > row.done else f"{row.done} saved" if row else ""
    if person.barred in BARRED_FOR:
        return person.barred, BARRED_FOR[person.barred]
    if row and ((row.failing and row.stage != "judging") or person.barred == "failed checks"):
        return "reject, or pay in part", f"{row.failing or person.barred}; {saved}"
    if row is None:
        no_place = "came, did not begin" if person.enrolled is None else "began, has no place"
        return "nothing", no_place if person.joined is None else "began, saved nothing, was inactive"
    if row.stage == "finished":
        if not checked:
            return "approve if no checks failed", f"{saved}; checks are known with --key"
        return "approve", saved + (f"; only {counted(row.checks, 'check')}" if row.few else "")
    if row.stage == "left":
        return "pay in part", f"{saved}, then {person.barred or 'inactive'}"
    if closed:
        return "pay in part" if row.done else "nothing", f"{saved}, then the study closed"
    return "wait", "; ".join(filter(None, (saved, row.failing, "inactive" * (row.stage == "away"))))
