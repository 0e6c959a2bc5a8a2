"""Authentication: signed links, the cookies that replace them, and form tokens.

All tokens are signed with the secret in the study's database, so links survive a restart. A link or cookie names a
role, a visitor and a generation, and expires. Links are not stored, but the current generation of a visitor is:
revoking the links of a visitor begins the next one. A form token says what was shown to whom and when, so that a form
of another judge, from another site or from long ago is refused.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from itsdangerous import BadSignature, URLSafeSerializer

from human_eval.collection.store import ResponseStore

Role = Literal["judge", "admin", "everyone"]

NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
FORM_LIFE = 12 * 3600.0  # seconds; an older form is shown again before it is accepted


class NoAccess(Exception):
    """A link, cookie or form is not accepted. The message tells the visitor what to do."""


class Expired(NoAccess):
    """The signature is valid, but the link has expired."""


@dataclass(frozen=True)
class Visitor:
    """The holder of a link: a judge by name, the admin, or everyone with the invitation."""

    role: Role
    name: str
    expires: float  # seconds since 1970


@dataclass(frozen=True)
class ShownForm:
    """What a form token says: the ``subject`` of the form and ``at``, when it was shown (seconds since 1970)."""

    subject: tuple[str, ...]
    at: float


class Access:
    """Creates and checks the tokens of one study, by the secret and generations in its database as they are now."""

    def __init__(self, keys: ResponseStore, now: Callable[[], float] = time.time) -> None:
        self._keys, self.now = keys, now

    def link(self, visitor: Visitor) -> str:
        """The token of a visitor's link and cookie."""
        generation = self._keys.generation(visitor.role, visitor.name)
        return self._signer(visitor.role).dumps([visitor.name, visitor.expires, generation])

    def visitor(self, role: Role, token: str) -> Visitor:
        """The holder of a token. Raises NoAccess if it is forged, revoked or of another role, Expired if it is old."""
        invalid = "This link is not valid. Please ask for a new one."
        name, expires, generation = self._signed(role, token, invalid)
        if self._keys.generation(role, name) != generation:
            raise NoAccess(invalid)
        if expires <= self.now():
            raise Expired("This link has expired. Please ask for a new one.")
        return Visitor(role, name, expires)

    def form(self, visitor: Visitor, form: str, *subject: str) -> str:
        """The token of a form shown to the visitor now."""
        return self._signer("form").dumps([visitor.role, visitor.name, self.now(), form, *subject])

    def shown(self, visitor: Visitor, form: str, token: str) -> ShownForm:
        """The content of the token of ``form``. Raises NoAccess unless that form was shown to this visitor."""
        refusal = "This page was not made for you. Please open your link again."
        role, name, at, *shown = self._signed("form", token, refusal)
        if (role, name) != (visitor.role, visitor.name) or shown[:1] != [form]:
            raise NoAccess(refusal)
        return ShownForm(tuple(shown[1:]), at)

    def _signed(self, purpose: str, token: str, refusal: str) -> list[Any]:
        try:
            return self._signer(purpose).loads(token)
        except BadSignature as error:
            raise NoAccess(refusal) from error

    def _signer(self, purpose: str) -> URLSafeSerializer:
        return URLSafeSerializer(
            self._keys.secret, salt=f"rlsum human-eval {purpose}", signer_kwargs={"digest_method": hashlib.sha256}
        )
