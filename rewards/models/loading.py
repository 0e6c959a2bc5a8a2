"""Models with a head: loading, batches of similar length, texts in windows that a model can read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rewards.encoding.encoder import Device, Precision
from rewards.encoding.loading import LongTexts, available, digest_of, locate, not_loaded, quiet
from rewards.encoding.windows import batches, positions
from rewards.errors import RewardError
from rewards.scoring import library
from rewards.text.chunks import encodable

if TYPE_CHECKING:
    from torch import Tensor

Head = Literal["language", "classes"]
Encoded = Mapping[str, list[int]]  # what a tokenizer gives for a text
HEADS = ("score", "classifier", "pooler", "pre_classifier", "classification_head")  # of classifiers in transformers
TOKENS = {"cpu": 2048, "cuda": 16384}  # of a batch, padding counted


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model in evaluation mode and its tokenizer; ``limit``: tokens that it reads at once, None: no limit.

    ``unpadded``: neither has a token for padding. A classifier reads the last token that is none, so rows are padded
    with one that they do not have: the end of a turn may be the token to read.
    """

    model: Any
    tokenizer: Any
    limit: int | None
    name: str
    device: Device
    unpadded: bool = False

    @property
    def location(self) -> str:
        """What it was loaded from, for messages."""
        return str(self.tokenizer.name_or_path)

    @property
    def is_encoder_decoder(self) -> bool:
        """Whether another network reads what is given."""
        return bool(self.model.config.is_encoder_decoder)

    @property
    def room(self) -> tuple[int | None, int | None]:
        """Tokens for what is given and for a text after it: all of an encoder and of a decoder, else 3/4 and 1/4."""
        if self.limit is None or self.is_encoder_decoder:
            return self.limit, getattr(self.model.config, "max_decoder_position_embeddings", self.limit)
        return self.limit - self.limit // 4, self.limit // 4

    def batches(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """As ``windows.batches``, of at most ``TOKENS`` tokens."""
        return batches(lengths, TOKENS[self.device])

    def padded(self, rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Ids and mask ``(rows, longest)``, int64, padded on the right, on the device."""
        import torch

        longest = max(map(len, rows))
        pad = self.tokenizer.pad_token_id or 0
        ids = torch.tensor([[*row, *[pad] * (longest - len(row))] for row in rows], device=self.device)
        lengths = torch.tensor([len(row) for row in rows], device=self.device)
        return ids, (torch.arange(longest, device=self.device) < lengths[:, None]).long()

    def ids(self, texts: Sequence[str], special: bool) -> list[list[int]]:
        """The token ids of each text, of any length; ``special``: with those that the tokenizer adds."""
        rows: list[list[int]] = self.tokenizer(
            [encodable(text) for text in texts], add_special_tokens=special, verbose=False
        )["input_ids"]
        return rows

    def chat(self, *turns: str, answered: bool) -> str:
        """Turns of user and assistant by the chat template, ``answered`` or up to where an answer begins.

        Raises RewardError for a template that is broken, or refuses them.
        """
        from jinja2 import TemplateError

        said = [{"role": role, "content": turn} for role, turn in zip(("user", "assistant"), turns, strict=False)]
        try:
            text: str = self.tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=not answered)
        except TemplateError as error:
            raise RewardError(f"model {self.location!r}: its chat template cannot be used ({error})") from error
        return text

    def logits(self, encoded: Mapping[str, Sequence[Sequence[int]]]) -> NDArray[np.float32]:
        """The numbers (n, classes) of a classifier for what its tokenizer gave for n texts. Raises RewardError."""
        import torch

        rows: list[Any] = [None] * len(encoded["input_ids"])
        for batch in self.batches([len(ids) for ids in encoded["input_ids"]]):
            chosen = {key: [values[number] for number in batch] for key, values in encoded.items()}
            with torch.inference_mode():
                found = self.numbers(chosen).float().cpu().numpy()
            for number, row in zip(batch, found, strict=True):
                rows[number] = row
        numbers = np.array(rows, dtype=np.float32).reshape(len(rows), self.model.config.num_labels)
        if not np.isfinite(numbers).all():
            raise RewardError(f"model {self.location!r}: its numbers are not finite; its weights are damaged")
        return numbers

    def numbers(self, encoded: Mapping[str, Sequence[Sequence[int]]]) -> Tensor:
        """As ``logits``, in one batch and with a gradient, in the precision of the model."""
        padded = self.tokenizer.pad(dict(encoded), return_tensors="pt").to(self.device)
        if self.unpadded:
            used = {token for row in encoded["input_ids"] for token in row}
            free = next(token for token in range(len(self.tokenizer)) if token not in used)
            padded["input_ids"] = padded["input_ids"].masked_fill(padded["attention_mask"] == 0, free)
            self.model.config.pad_token_id = free
        logits: Tensor = self.model(**padded).logits
        return logits

    def windows(self, text: str, size: int | None) -> list[str]:
        """The text, cut into windows of at most ``size`` tokens that overlap by a quarter if it is longer."""
        text = encodable(text).strip()
        if size is None:
            return [text]
        cut = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        spans = cut["offset_mapping"]
        return [text[spans[start][0] : spans[end - 1][1]] for start, end in ranges(len(spans), size)] or [text]


def ranges(count: int, size: int | None) -> list[tuple[int, int]]:
    """Ranges of at most ``size`` items that cover ``count``, each a quarter of its size over the one before."""
    if size is None or count <= size:
        return [(0, count)] if count else []
    step = max(1, size - size // 4)
    return [(start, min(start + size, count)) for start in range(0, count - (size - step), step)]


def fitted(
    loaded: LoadedModel, text: str, limit: int | None, render: Callable[[str], Encoded], windows: bool
) -> list[Encoded]:
    """``render(window)`` for windows of ``text`` that fit into ``limit`` tokens, or for the first alone.

    Raises RewardError where nothing of the text fits.
    """
    whole = render(text)
    if limit is None or len(whole["input_ids"]) <= limit:
        return [whole]
    alone = len(render("")["input_ids"])
    size = limit - alone
    while size > 0:
        rows = [render(window) for window in loaded.windows(text, size)]
        if all(len(row["input_ids"]) <= limit for row in rows):  # a window's tokens are not always those of the text
            return rows if windows else rows[:1]
        size -= 1 + size // 16
    raise RewardError(
        f"model {loaded.location!r}: the prompt alone has {alone} tokens, and the model reads {limit} of it; give a "
        "shorter prompt="
    )


@dataclass(frozen=True)
class ModelSource:
    """A model as written in options; ``head``: what it computes."""

    location: str
    head: Head
    dtype: Precision
    device: Device

    @lru_cache(maxsize=4)  # noqa: B019 # a source is small, and is not changed
    def load(self) -> LoadedModel:
        """The model, loaded once per process.

        Raises EncoderMissing where it cannot be loaded, RewardError for missing weights (they would be random) or a
        tokenizer without positions.
        """
        return self._read()

    def apart(self, seed: int) -> LoadedModel:
        """A private model of one number whose weights may change; a head that is missing is drawn from ``seed``.

        Raises as ``load``.
        """
        import torch

        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return self._read(drawn=(HEADS, {"num_labels": 1}))

    def _read(self, drawn: tuple[tuple[str, ...], Mapping[str, int]] = ((), {})) -> LoadedModel:
        """``drawn``: parts whose weights may be missing, and what the configuration is given."""
        import torch
        import transformers

        folder, more = self.location, {}
        if folder.endswith(".gguf"):
            folder, more = str(Path(folder).parent), {"gguf_file": Path(folder).name}
        device = available(self.device)
        try:
            with quiet():
                config = transformers.AutoConfig.from_pretrained(folder, **more)
                tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **more)
                model, report = self._kind(config.is_encoder_decoder).from_pretrained(
                    folder, dtype=getattr(torch, self.dtype), output_loading_info=True, **more, **drawn[1]
                )
        except Exception as error:  # of a damaged file any; ImportError: of gguf
            raise not_loaded(self.location, error, "model") from error
        if missing := [key for key in report["missing_keys"] if not set(key.split(".")) & {*drawn[0]}]:
            what = f"no weights for {min(missing)} and {len(missing) - 1} more"
            raise RewardError(f"model {self.location!r}: {what}, which would be random; give a model trained for this")
        if not tokenizer.is_fast:
            raise RewardError(f"model {self.location!r}: it has no fast tokenizer, which knows positions; give another")
        if tokenizer.pad_token_id is None and model.config.pad_token_id is not None:
            tokenizer.pad_token = tokenizer.convert_ids_to_tokens(model.config.pad_token_id)
        unpadded = tokenizer.pad_token_id is None
        if unpadded:
            tokenizer.pad_token = tokenizer.eos_token
        model.config.pad_token_id = tokenizer.pad_token_id  # by which a classifier finds the last token
        tokenizer.padding_side = "right"
        name = f"{model.config.model_type}-{digest_of(model, tokenizer)}"
        limit = positions(model.config, tokenizer)
        return LoadedModel(model.eval().to(device), tokenizer, limit, name, device, unpadded)

    def _kind(self, is_encoder_decoder: bool) -> Any:
        import transformers

        if self.head == "classes":
            return transformers.AutoModelForSequenceClassification
        return transformers.AutoModelForSeq2SeqLM if is_encoder_decoder else transformers.AutoModelForCausalLM


@dataclass(kw_only=True)
class ModelOptions:
    """Options of rewards that load a model."""

    model: str
    """a directory that transformers wrote, a GGUF file, or a hub name"""
    long_texts: LongTexts = "windows"
    """a text longer than the model reads is read in overlapping windows, of which the best counts, or truncated"""
    dtype: Precision = "float32"
    """the precision of the weights"""
    device: Device = "auto"
    """where the model runs"""

    def source(self, head: Head) -> ModelSource:
        """The model; its directory is checked and nothing is loaded. Raises as ``locate``."""
        is_file = self.model.endswith(".gguf") and Path(self.model).expanduser().is_file()
        location = str(Path(self.model).expanduser()) if is_file else locate(self.model, "model")
        return ModelSource(location, head, self.dtype, self.device)


def model_fields(loaded: LoadedModel, options: ModelOptions) -> dict[str, object]:
    """The model for the signature: hash of weights and tokenizer, precision, how long texts are read, the library."""
    window = "none" if loaded.limit is None else f"{options.long_texts}-{loaded.limit}"
    return {"model": loaded.name, "dtype": options.dtype, "window": window, "library": library("transformers")}
