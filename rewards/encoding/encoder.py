"""A loaded encoder: texts -> contextual token vectors of one layer, the same in every batch.

A text longer than the encoder's positions is read in overlapping windows, or cut with ``long_texts=truncate``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rewards.encoding.layers import Layers
from rewards.encoding.windows import Window, Windows, batches
from rewards.errors import RewardError

if TYPE_CHECKING:
    from torch import Tensor

KeptTokens = Literal["first", "none", "all", "matched"]
Device = Literal["auto", "cpu", "cuda"]
Precision = Literal["float32", "bfloat16"]

CACHE_BYTES = 2**30
TOKENS = {"cpu": 512, "cuda": 16384}  # of a batch, padding counted: small batches are the fastest on a CPU


@dataclass(frozen=True, eq=False)
class EncodedTexts:
    """A text's token vectors ``(t, d)`` float32 on the encoder's device, and their ids.

    The first ``before`` and last ``after`` are special.
    """

    vectors: Tensor
    ids: tuple[int, ...]
    before: int
    after: int

    @property
    def words(self) -> int:
        """The number of tokens that come from the text."""
        return len(self.ids) - self.before - self.after

    def kept(self, special: KeptTokens) -> slice:
        """The range of kept tokens: with all, no or only the leading special ones (``first``: Chen et al. 2020)."""
        start = self.before if special == "none" else 0
        return slice(start, len(self.ids) - (self.after if special in ("none", "first") else 0))


class Encoder:
    """An encoder at some layers, with a cache of the vectors of recent texts (``CACHE_BYTES``)."""

    def __init__(self, model: Any, windows: Windows, layers: Layers, digest: str, device: Device) -> None:
        self.model, self.windows, self.layers, self.device = model, windows, layers, device
        self.name = f"{model.config.model_type}-{digest}"
        self._cache: OrderedDict[str, EncodedTexts] = OrderedDict()
        self._bytes = 0

    @property
    def reading(self) -> dict[str, object]:
        """For signatures: how texts are read, and the precision where it is not float32."""
        precision = str(self.model.dtype).removeprefix("torch.")
        return {"window": self.windows} | ({} if precision == "float32" else {"dtype": precision})

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text, special ones included; nothing is encoded."""
        ids: list[list[int]] = [[] for _ in texts]
        for window in self.windows(texts):
            ids[window.text] += window.ids[window.kept]
        return ids

    def spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """The position of each token in its text, in the order of ``ids``; texts are stripped. Encodes nothing."""
        return self.windows.spans(texts)

    def strings(self, ids: Sequence[int]) -> list[str]:
        """The word pieces of token ids, as the vocabulary writes them."""
        pieces: list[str] = self.windows.tokenizer.convert_ids_to_tokens(list(ids))
        return pieces

    def __call__(self, texts: Sequence[str]) -> list[EncodedTexts]:
        """The vectors of each text, in order. Cached texts are not encoded again, repeated ones once."""
        import torch

        encoded = {text: self._cache[text] for text in texts if text in self._cache}
        new = [text for text in dict.fromkeys(texts) if text not in encoded]
        if new:
            with torch.inference_mode():
                encoded |= dict(zip(new, self.encode(new), strict=True))
        for text in encoded:
            self._bytes += 0 if text in self._cache else encoded[text].vectors.nbytes
            self._cache[text] = encoded[text]
            self._cache.move_to_end(text)
        while self._bytes > CACHE_BYTES:
            self._bytes -= self._cache.popitem(last=False)[1].vectors.nbytes
        return [encoded[text] for text in texts]

    def forget(self) -> None:
        """Empty the cache."""
        self._cache.clear()
        self._bytes = 0

    def encode(self, texts: Sequence[str]) -> list[EncodedTexts]:
        """The vectors of each text, uncached, with gradient if torch's mode keeps one. Raises RewardError."""
        windows = self.windows(texts)
        vectors: list[Any] = [None] * len(windows)
        for batch in batches([len(window.ids) for window in windows], TOKENS[self.device]):
            states = self._forward([windows[number].ids for number in batch])
            if not states.isfinite().all():
                raise RewardError(f"encoder {self.name}: its vectors are not finite; its weights are damaged")
            for number, hidden in zip(batch, states, strict=True):
                vectors[number] = hidden[windows[number].kept].clone()
        by_text: list[list[tuple[Window, Tensor]]] = [[] for _ in texts]
        for window, rows in zip(windows, vectors, strict=True):
            by_text[window.text].append((window, rows))
        return [_joined(pairs) for pairs in by_text]

    def _forward(self, rows: list[list[int]]) -> Tensor:
        """Vectors ``(batch, longest, d)`` of rows of ids, padded on the right and masked; float32 on the device."""
        import torch

        longest = max(len(row) for row in rows)
        ids = torch.full((len(rows), longest), self.windows.tokenizer.pad_token_id or 0)
        mask = torch.zeros_like(ids)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = torch.tensor(row)
            mask[number, : len(row)] = 1
        output = self.model(
            input_ids=ids.to(self.device), attention_mask=mask.to(self.device), output_hidden_states=True
        )
        return self.layers.join(output.hidden_states)


def _joined(windows: Sequence[tuple[Window, Tensor]]) -> EncodedTexts:
    import torch

    ids = tuple(number for window, _ in windows for number in window.ids[window.kept])
    return EncodedTexts(torch.cat([vectors for _, vectors in windows]), ids, windows[0][0].before, windows[-1][0].after)
