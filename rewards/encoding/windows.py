"""Texts -> token ids, in stretches that an encoder can read at once. The tokenizer is handed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

UNLIMITED = 10**6  # tokenizers without a limit announce a huge one


@dataclass(frozen=True)
class Window:
    """Token ids of one stretch of a text, and the part of it (special tokens included) that is kept."""

    text: int
    ids: list[int]
    keep: slice
    before: int
    after: int


class Windows:
    """A tokenizer and how it treats a text over ``limit`` tokens: in overlapping windows, or cut at the limit."""

    def __init__(self, tokenizer: Any, limit: int | None, overlapping: bool) -> None:
        self.tokenizer, self.limit = tokenizer, limit
        self.overlap = limit // 4 if limit and overlapping else 0

    def __str__(self) -> str:
        """For signatures: ``512-128`` tokens and their overlap, ``truncate-512``, or ``none`` without a limit."""
        if not self.limit:
            return "none"
        return f"{self.limit}-{self.overlap}" if self.overlap else f"truncate-{self.limit}"

    def __call__(self, texts: Sequence[str]) -> list[Window]:
        """The windows of all texts, in order; where two overlap, a token is kept where it has more context."""
        return [window for window, _ in self._read(texts, spans=False)]

    def spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """For each kept token where it stands in its text: ``text[start:end]``; special ones at ``(0, 0)``.

        ``texts`` are stripped and free of lone surrogates: ``readable`` would move the places.
        """
        found: list[list[tuple[int, int]]] = [[] for _ in texts]
        for window, spans in self._read(texts, spans=True):
            found[window.text] += spans[window.keep]
        return found

    def _read(self, texts: Sequence[str], spans: bool) -> list[tuple[Window, list[tuple[int, int]]]]:
        """Each window, and where its tokens stand, if asked for."""
        if not texts:
            return []
        cut = {"truncation": True, "max_length": self.limit, "stride": self.overlap} if self.limit else {}
        batch = self.tokenizer(
            [readable(text) for text in texts],
            return_overflowing_tokens=self.overlap > 0,
            return_special_tokens_mask=True,
            return_offsets_mapping=spans,
            verbose=False,
            **cut,
        )
        owners = batch["overflow_to_sample_mapping"] if self.overlap else range(len(texts))
        rows = zip(batch["input_ids"], batch["special_tokens_mask"], strict=True)
        windows = [self._window(place, owners, ids, special) for place, (ids, special) in enumerate(rows)]
        return list(zip(windows, batch["offset_mapping"] if spans else [[]] * len(windows), strict=True))

    def _window(self, place: int, owners: Sequence[int], ids: list[int], special: list[int]) -> Window:
        before = next((spot for spot, mark in enumerate(special) if not mark), len(special))
        after = next((spot for spot, mark in enumerate(reversed(special[before:])) if not mark), 0)
        first = place == 0 or owners[place - 1] != owners[place]
        last = place == len(owners) - 1 or owners[place + 1] != owners[place]
        start = 0 if first else before + self.overlap // 2
        end = len(ids) if last else len(ids) - after - (self.overlap - self.overlap // 2)
        return Window(owners[place], ids, slice(start, end), before, after)


def positions(config: Any, tokenizer: Any) -> int | None:
    """How many tokens, special ones included, an encoder reads at once; None where it has no limit."""
    found = getattr(config, "max_position_embeddings", None) or UNLIMITED
    if config.model_type in ("roberta", "xlm-roberta", "camembert"):
        found -= config.pad_token_id + 1  # their positions start after the padding's
    limit = min(tokenizer.model_max_length, found)
    return limit if limit < UNLIMITED else None


def readable(text: str) -> str:
    """Stripped, and without lone surrogates, which no tokenizer reads: each becomes the replacement character."""
    text = text.strip()
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
