"""The tokenizer of a pretrained model: texts -> ids -> batches, and ids -> texts."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from rlsum.data.batch import Batch, batch_texts, pad

if TYPE_CHECKING:
    import datasets
    from transformers import PreTrainedTokenizerBase

    from rlsum.data.corpus import Tokenization

IGNORED = -100  # pads targets: any id, even the tokenizer's padding, may be a token that the model predicts
READ = ("src_tokens", "tgt_tokens", "tgt_whole")


@dataclass(frozen=True)
class Subwords:
    """A tokenizer, the text before every article, and the text that replaces line breaks in summaries.

    Articles are read with the tokenizer's special tokens, and with spaces for line breaks.
    """

    tokenizer: PreTrainedTokenizerBase
    prefix: str = ""
    line_break: str = " "

    def read(self, rows: datasets.Dataset, how: Tokenization) -> datasets.Dataset:
        """Rows of a corpus with the tokenizer's ids instead of words; texts are those of the corpus, uncut.

        An article cut at ``how.max_source`` ids keeps the special tokens at its end, as in pretraining. A reference cut
        at ``how.max_target`` ids loses its end token, which would teach the model to stop in the middle of a sentence.
        Limits include special tokens.
        """
        from datasets.fingerprint import Hasher

        key = (rows._fingerprint, *self._key(), *how.cuts)
        return rows.map(
            self._ids,
            batched=True,
            batch_size=200,
            remove_columns=[name for name in READ if name in rows.column_names],
            fn_kwargs={"how": how},
            new_fingerprint=Hasher.hash(key),
            desc="subwords",
        )

    @property
    def pad(self) -> int:
        """The id of padding."""
        return int(self.tokenizer.pad_token_id)

    @property
    def around(self) -> int:
        """Tokens of every source that are not the article's, and that no limit counts."""
        return 0

    def _key(self) -> tuple[Any, ...]:
        """What the ids depend on beside the rows and the limits."""
        return self.content(), self.prefix, self.line_break

    def reach(self) -> int:
        """One more than the tokenizer's largest id."""
        return max(self.tokenizer.get_vocab().values()) + 1

    def _ids(self, rows: dict[str, list[Any]], how: Tokenization) -> dict[str, list[Any]]:
        sources = [self.prefix + self._spelled(source).replace("\n", " ") for source in rows["source"]]
        firsts = [self._spelled(references[0]) if references else "" for references in rows["references"]]
        targets = [text.replace("\n", self.line_break) for text in firsts]
        target_ids = self.tokenizer(text_target=targets, verbose=False)["input_ids"]  # no warning of long ones
        return {
            "src_tokens": self.tokenizer(sources, truncation=True, max_length=how.max_source)["input_ids"],
            "tgt_tokens": [ids[: how.max_target] for ids in target_ids],
            "tgt_whole": [len(ids) <= how.max_target for ids in target_ids],
        }

    def _spelled(self, text: str) -> str:
        """The text with a space inside every special token that it spells, which would else become that token."""
        added = self.tokenizer.added_tokens_decoder.values()
        special = [token.content for token in added if token.special]
        for token in dict.fromkeys([*self.tokenizer.all_special_tokens, *special]):
            text = text.replace(token, f"{token[0]} {token[1:]}")
        return text

    def collate(self, rows: dict[str, list[Any]], ends: tuple[int, ...]) -> Batch:
        """A batch of rows from ``read``; ``ends`` are the ids that end a text."""
        src = pad(rows["src_tokens"], self.pad)
        return Batch(
            src=src,
            src_extended=src,
            src_lengths=torch.tensor([len(ids) for ids in rows["src_tokens"]]),
            target=pad(rows["tgt_tokens"], IGNORED),
            unknown=((),) * len(src),
            **batch_texts(rows),
            pad=IGNORED,
            ends=ends,
        )

    def texts(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """The text of each row of ids, special tokens left out."""
        tokens = [[token for token in row if token != IGNORED] for row in rows]
        texts = [text.strip() for text in self.tokenizer.batch_decode(tokens, skip_special_tokens=True)]
        if self.line_break == " ":
            return texts
        return ["\n".join(line.strip() for line in text.split(self.line_break)) for text in texts]

    def save_to(self, folder: Path) -> None:
        """Write the tokenizer in the format of transformers, the same whether it has been called or not."""
        if backend := getattr(self.tokenizer, "backend_tokenizer", None):
            backend.no_truncation()
            backend.no_padding()
        try:
            self.tokenizer.save_pretrained(folder)
        except Exception as error:  # tokenizers raises this class itself, and a full disk is told by OSError
            if number := re.search(r"\(os error (\d+)\)", str(error)):
                raise OSError(int(number[1]), os.strerror(int(number[1])), str(folder)) from error
            raise

    def content(self) -> str:
        """Everything that its ids depend on."""
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        if backend is None:
            return repr((type(self.tokenizer).__name__, self.tokenizer.init_kwargs, self.tokenizer.get_vocab()))
        volatile = ("truncation", "padding")  # set by the last call
        return json.dumps({name: value for name, value in json.loads(backend.to_str()).items() if name not in volatile})


def largest_id(rows: datasets.Dataset, column: str) -> int:
    """The largest id in a column of lists of ids; -1 if all are empty."""
    from pyarrow import compute

    peaks = (compute.max(compute.list_flatten(batch[column])).as_py() for batch in rows.with_format("arrow").iter(1000))
    return max((largest for largest in peaks if largest is not None), default=-1)
