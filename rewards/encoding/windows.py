"""Texts -> token ids, in windows that an encoder can read at once. The tokenizer is an argument."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rewards.text.chunks import encodable

UNLIMITED = 10**6  # tokenizers without a limit state a huge one


@dataclass(frozen=True)
class Window:
    """Token ids of one window of a text, and the range of them (special tokens included) that is kept."""

    text: int
    ids: list[int]
    kept: slice
    before: int
    after: int


class Windows:
    """A tokenizer that splits a text of more than ``limit`` tokens into overlapping windows, or truncates it."""

    def __init__(self, tokenizer: Any, limit: int | None, overlapping: bool) -> None:
        self.tokenizer, self.limit = tokenizer, limit
        self.overlap = limit // 4 if limit and overlapping else 0

    def __str__(self) -> str:
        """For signatures: ``512-128`` tokens and their overlap, ``truncate-512``, or ``none`` without a limit."""
        if not self.limit:
            return "none"
        return f"{self.limit}-{self.overlap}" if self.overlap else f"truncate-{self.limit}"

    def __call__(self, texts: Sequence[str]) -> list[Window]:
        """The windows of all texts, in order; of two that overlap, a token is kept in the one with more context."""
        return [window for window, _ in self._read(texts, spans=False)]

    def spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """The position of each kept token in its stripped text: ``text[start:end]``; special tokens have ``(0, 0)``."""
        spans_of: list[list[tuple[int, int]]] = [[] for _ in texts]
        for window, spans in self._read(texts, spans=True):
            spans_of[window.text] += spans[window.kept]
        return spans_of

    def _read(self, texts: Sequence[str], spans: bool) -> list[tuple[Window, list[tuple[int, int]]]]:
        """Each window, with the positions of its tokens if ``spans``."""
        if not texts:
            return []
        cut = {"truncation": True, "max_length": self.limit, "stride": self.overlap} if self.limit else {}
        batch = self.tokenizer(
            [encodable(text).strip() for text in texts],
            return_overflowing_tokens=self.overlap > 0,
            return_special_tokens_mask=True,
            return_offsets_mapping=spans,
            verbose=False,
            **cut,
        )
        owners = batch["overflow_to_sample_mapping"] if self.overlap else range(len(texts))
        rows = zip(batch["input_ids"], batch["special_tokens_mask"], strict=True)
        windows = [self._window(number, owners, ids, special) for number, (ids, special) in enumerate(rows)]
        return list(zip(windows, batch["offset_mapping"] if spans else [[]] * len(windows), strict=True))

    def _window(self, number: int, owners: Sequence[int], ids: list[int], special: list[int]) -> Window:
        """``owners``: the text of each window."""
        before = next((position for position, mark in enumerate(special) if not mark), len(special))
        after = next((position for position, mark in enumerate(reversed(special[before:])) if not mark), 0)
        first = number == 0 or owners[number - 1] != owners[number]
        last = number == len(owners) - 1 or owners[number + 1] != owners[number]
        start = 0 if first else before + self.overlap // 2
        end = len(ids) if last else len(ids) - after - (self.overlap - self.overlap // 2)
        return Window(owners[number], ids, slice(start, end), before, after)


def batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """The numbers of rows of some ``lengths``, the short first, by batches of at most ``tokens``, padding counted."""
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[number] > tokens:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def positions(config: Any, tokenizer: Any) -> int | None:
    """How many tokens, special ones included, an encoder reads at once; None without a limit."""
    stated = (getattr(config, f"max_{side}position_embeddings", None) for side in ("", "encoder_"))
    available = next(filter(None, stated), UNLIMITED)
    if config.model_type in ("roberta", "xlm-roberta", "camembert"):
        available -= config.pad_token_id + 1  # their positions start after the padding's
    limit = min(tokenizer.model_max_length, available)
    return limit if limit < UNLIMITED else None
