"""Files for crowdsourcing platforms: Mechanical Turk and Prolific."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from human_eval.answers import LETTERS
from human_eval.exports.booklets import TEXTS
from human_eval.formatting import csv_text, spread
from human_eval.minutes import minutes
from human_eval.study import Interface, Study, StudyError
from rlsum.pages.templates import render

MTURK_COLUMNS = ("study", "task", "article")
PROLIFIC_FIELDS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")  # Prolific replaces these by the participant's values

# Characters that stay as they are. None of them begins a formula.
_PLAIN = re.compile(r"[^A-Za-z0-9 .,;:!?()]")


def mturk(study: Study, booklets: Sequence[int]) -> dict[str, str]:
    """File name -> text: ``tasks.csv`` for a batch, one row a task, and ``template.html`` for the project's layout.

    ``booklets`` (0..) are those whose tasks are exported.
    Mechanical Turk inserts the cells into the layout without escaping them, so they are written as HTML. Character
    references keep scripts, formulas and ``${...}`` inert, and avoid characters that the upload refuses.
    Raises StudyError if tasks have different numbers of summaries, since all share one layout.
    """
    if len({len(task.texts) for task in study.tasks}) > 1:
        raise StudyError("--to mturk: some systems wrote equal texts, so tasks differ; use the app or --to offline")
    rows = (
        [study.id, task.id, *map(as_html, (study.articles[task.item], *task.texts))]
        for booklet in booklets
        for task in study.booklets[booklet]
    )
    most = study.most_texts
    values = {
        "study": study,
        "summaries": list(zip(LETTERS, TEXTS[:most], strict=False)),
        "t": Interface(),  # these files are English
        "questions": [(asked, asked.kind.fields(asked.id, most)) for asked in study.criteria],
    }
    return {
        "tasks.csv": csv_text([[*MTURK_COLUMNS, *TEXTS[:most]], *rows]),
        "template.html": render("exports/mturk.html", values, "human_eval"),
    }


def as_html(text: str) -> str:
    """A text as ASCII HTML: <br> for line breaks, a replacement character for what HTML does not allow."""
    return "<br>".join(_PLAIN.sub(_reference, line) for line in re.split(r"\r\n|\r|\n", text))


def _reference(match: re.Match[str]) -> str:
    code = ord(match[0])
    allowed = code == 9 or 0x20 <= code <= 0x7E or code >= 0xA0
    return f"&#{code};" if allowed else "\ufffd".encode("ascii", "xmlcharrefreplace").decode("ascii")


def prolific(study: Study, invitation: str) -> dict[str, str]:
    """File name -> text: the address of the study for Prolific and the settings to enter there.

    ``invitation``: the public link for everyone that ``rlsum human-eval serve`` prints. Raises as `prolific_url`.
    """
    sizes = [len(booklet) for booklet in study.booklets]
    longest = max(minutes(study, booklet) for booklet in study.booklets)
    settings = (
        f"Study URL\n    {prolific_url(invitation)}\n"
        f"How to record Prolific IDs\n    by URL parameters\n"
        f"Number of participants\n    {len(sizes)}, one for each booklet; others finish what one leaves\n"
        f"Submissions per participant\n    1\n"
        f"Work of one participant\n    {spread(sizes, 'comparison')}, about {longest} minutes, as the first page says\n"
        "Completion codes\n    one each for completed, screened out, failed training and partial work, as addresses of "
        "`serve`:\n    --completion-url, --screened-out-url, --not-qualified-url, --partial-url\n"
    )
    return {"prolific.txt": settings}


def prolific_url(invitation: str) -> str:
    """The invitation with the fields that Prolific fills in. Raises StudyError for an unsuitable link."""
    try:
        parts = urlsplit(invitation)
    except ValueError as error:
        raise StudyError(f"--link {invitation}: not a link ({error}); give the whole link") from error
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise StudyError(f"--link {invitation}: expected the whole link, such as https://study.example.org/join/...")
    if parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
        raise StudyError(f"--link {invitation}: would send judges' answers unencrypted; give an https link")
    taken = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)} & set(PROLIFIC_FIELDS)
    if taken:
        raise StudyError(
            f"--link {invitation}: already contains {', '.join(sorted(taken))}; give the link as it was printed"
        )
    fields = "&".join(f"{name}={{{{%{name}%}}}}" for name in PROLIFIC_FIELDS)
    return urlunsplit(parts._replace(query=f"{parts.query}&{fields}" if parts.query else fields))
