"""The vocabulary, and its extension by the words of one article, so that unknown words can be copied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rlsum.errors import UserError
from rlsum.files import bytes_of

PAD, UNK, BOS, EOS = range(4)
SPECIALS = ("<pad>", "<unk>", "<s>", "</s>")
VOCABULARY = "vocab.txt"  # in a checkpoint
MOST_DIGITS = 20  # of a count; Python reads no number of thousands


class VocabularyError(UserError):
    """An unusable vocabulary file."""


@dataclass(frozen=True)
class Vocabulary:
    """Words by id: the four specials, then words from most to least frequent.

    An *extended* id is an id, or ``len(vocabulary) + k`` for the k-th unknown word of an article (See et al. 2017,
    2.2).
    """

    words: tuple[str, ...]
    counts: tuple[int, ...]

    @classmethod
    def of_counts(cls, counter: Counter[str], size: int, min_count: int = 1) -> Vocabulary:
        """The ``size`` most frequent words (without the specials), ties in alphabetical order."""
        for special in SPECIALS:  # a text that spells "<unk>" must not become the special
            counter.pop(special, None)
        entries = sorted(((w, c) for w, c in counter.items() if c >= min_count), key=lambda item: (-item[1], item[0]))
        entries = entries[:size]
        return cls(SPECIALS + tuple(w for w, _ in entries), (0,) * len(SPECIALS) + tuple(c for _, c in entries))

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def index(self) -> dict[str, int]:
        """Word -> id, without the specials: texts never encode to them, except to UNK."""
        return {word: i for i, word in enumerate(self.words) if i >= len(SPECIALS)}

    def extend(self, src: Sequence[str]) -> tuple[list[int], tuple[str, ...]]:
        """Extended ids of an article, and its unknown words by first occurrence."""
        index, unknown = self.index, dict[str, int]()
        ids = [index[token] if token in index else unknown.setdefault(token, len(self) + len(unknown)) for token in src]
        return ids, tuple(unknown)

    def encode_target(self, target: Sequence[str], unknown: Sequence[str]) -> list[int]:
        """Extended ids of a summary: unknown words are UNK unless they are in the article."""
        index, copied = self.index, {word: len(self) + k for k, word in enumerate(unknown)}
        return [index[token] if token in index else copied.get(token, UNK) for token in target]

    def surface(self, extended_id: int, unknown: Sequence[str]) -> str:
        """The word of an extended id; copied unknown words in their surface form."""
        return self.words[extended_id] if extended_id < len(self) else unknown[extended_id - len(self)]

    def save(self, path: str | Path) -> None:
        """Write ``word<TAB>count`` lines."""
        lines = (f"{word}\t{count}\n" for word, count in zip(self.words, self.counts, strict=True))
        Path(path).write_text("".join(lines), encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path: str | Path) -> Vocabulary:
        """Read what ``save`` wrote. Raises VocabularyError with the line that is not ``word<TAB>count``."""
        try:
            lines = bytes_of(Path(path)).decode("utf-8").removesuffix("\n").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise VocabularyError(f"{path}: cannot be read ({error}); give a file that a run saved") from error
        counts: dict[str, int] = {}
        for number, line in enumerate(lines, 1):
            word, tab, count = line.rpartition("\t")
            if not tab or not (count.isascii() and count.isdecimal() and len(count) < MOST_DIGITS):
                raise VocabularyError(f"{path}:{number}: expected word<TAB>count, found {line[:40]!r}")
            if word in counts:
                raise VocabularyError(f"{path}:{number}: {word!r} is there twice; give a file that a run saved")
            counts[word] = int(count)
        if tuple(counts)[: len(SPECIALS)] != SPECIALS:
            raise VocabularyError(f"{path}: the first lines must be {', '.join(SPECIALS)}")
        return cls(tuple(counts), tuple(counts.values()))
