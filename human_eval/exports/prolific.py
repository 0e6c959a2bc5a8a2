"""Prolific: the one address that its participants are sent to, and what to enter beside it."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit, urlunsplit

from human_eval.study import Study, StudyError
from human_eval.wording import spread

# Prolific puts the participant's values in place of these.
FIELDS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")


def prolific(study: Study, invitation: str) -> dict[str, str]:
    """File name -> text: the study's address for Prolific, and the settings that belong to it.

    invitation: the link for everyone that ``rlsum human-eval serve`` prints, under the address that the world sees.
    """
    sizes = [len(booklet) for booklet in study.booklets]
    settings = (
        f"Study URL\n    {address(invitation)}\n"
        f"How to record Prolific IDs\n    by URL parameters\n"
        f"Number of participants\n    {len(sizes)}, one for each booklet; what one leaves undone goes to another\n"
        f"Submissions per participant\n    1\n"
        f"Work of one participant\n    {spread(sizes, 'comparison')}; time a few before you set the pay\n"
    )
    return {"prolific.txt": settings}


def address(invitation: str) -> str:
    """The invitation with the fields that Prolific fills in. Raises StudyError for what cannot be sent to people."""
    try:
        parts = urlsplit(invitation)
    except ValueError as error:
        raise StudyError(f"--link {invitation}: expected the whole link ({error})") from error
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise StudyError(f"--link {invitation}: expected the whole link, such as https://study.example.org/join/...")
    if parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
        raise StudyError(f"--link {invitation}: answers of people travel over it; give an https link")
    taken = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)} & set(FIELDS)
    if taken:
        raise StudyError(
            f"--link {invitation}: has {', '.join(sorted(taken))} already; give the link as it was printed"
        )
    fields = "&".join(f"{name}={{{{%{name}%}}}}" for name in FIELDS)
    return urlunsplit(parts._replace(query=f"{parts.query}&{fields}" if parts.query else fields))
