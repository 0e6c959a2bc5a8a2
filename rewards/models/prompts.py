"""Prompts: templates with fields in braces, and their hash in a signature."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping

from rewards.errors import RewardError

FIELD = re.compile(r"\{(\w+)\}")


def check_prompt(name: str, prompt: str, known: Collection[str], needed: Collection[str]) -> None:
    """Raise RewardError for a field that is not ``known``, or without one that is ``needed``."""
    fields = set(FIELD.findall(prompt))
    if unknown := sorted(fields - set(known)):
        listed = ", ".join(f"{{{field}}}" for field in sorted(known))
        raise RewardError(f"{name}: prompt={prompt!r} has the unknown field {{{unknown[0]}}}; the fields are {listed}")
    if missing := sorted(set(needed) - fields):
        raise RewardError(f"{name}: prompt={prompt!r} has no {{{missing[0]}}}, where the text is put; add it")


def rendered(prompt: str, values: Mapping[str, object]) -> str:
    """The prompt with its fields replaced; braces in the values stay as they are."""
    return FIELD.sub(lambda field: str(values[field[1]]), prompt)


def prompt_hash(prompt: str) -> str:
    """12 hex digits, for the signature."""
    return hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()[:12]
