"""Who is at the other end: signed links, the cookies they turn into, and the tokens that forms carry.

Everything is signed with the secret of the study's database and nothing is kept on the server, so a link works after a
restart. A link or cookie names a role and who has it, and runs out; a form's token says what was shown to whom, and
when, so a form of another judge, of another site or of long ago is noticed.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from itsdangerous import BadSignature, URLSafeSerializer

Role = Literal["judge", "admin", "everyone"]

NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
FORM_LIFE = 12 * 3600.0  # seconds; an older page is shown again before its answers are taken


class NoAccess(Exception):
    """A link, cookie or form that is not accepted; the message says what to do."""


class Expired(NoAccess):
    """Signed by us, but too old."""


@dataclass(frozen=True)
class Visitor:
    """Who holds a link: a judge by name, the one who runs the study, or everyone who has the invitation."""

    role: Role
    name: str
    expires: float  # seconds since 1970


@dataclass(frozen=True)
class Shown:
    """What a form was shown for: ``what`` names the form and its object, ``at`` the time (seconds since 1970)."""

    what: tuple[str, ...]
    at: float


class Access:
    """Makes and checks the tokens of one study."""

    def __init__(self, secret: bytes, now: Callable[[], float] = time.time) -> None:
        self._secret, self.now = secret, now

    def link(self, visitor: Visitor) -> str:
        """The token of a link, and of the cookie that it turns into."""
        return self._signer(visitor.role).dumps([visitor.name, visitor.expires])

    def visitor(self, role: Role, token: str) -> Visitor:
        """Who holds the token. Raises NoAccess for a forged one or one of another role, Expired for an old one."""
        name, expires = self._signed(role, token, "This link is not valid. Please ask for a new one.")
        if expires <= self.now():
            raise Expired("This link has run out. Please ask for a new one.")
        return Visitor(role, name, expires)

    def form(self, visitor: Visitor, *what: str) -> str:
        """The token of a form shown to the visitor now."""
        return self._signer("form").dumps([visitor.role, visitor.name, self.now(), *what])

    def shown(self, visitor: Visitor, form: str, token: str) -> Shown:
        """What the form called ``form`` was shown for. Raises NoAccess unless it was shown to this visitor."""
        told = "This page does not belong to you. Please open your link again."
        role, name, at, *what = self._signed("form", token, told)
        if (role, name) != (visitor.role, visitor.name) or what[:1] != [form]:
            raise NoAccess(told)
        return Shown(tuple(what[1:]), at)

    def _signed(self, purpose: str, token: str, told: str) -> list[Any]:
        try:
            return self._signer(purpose).loads(token)
        except BadSignature as error:
            raise NoAccess(told) from error

    def _signer(self, purpose: str) -> URLSafeSerializer:
        return URLSafeSerializer(
            self._secret, salt=f"rlsum human-eval {purpose}", signer_kwargs={"digest_method": hashlib.sha256}
        )
