"""Log-probabilities of texts by a language model. What stands before a text is read once for all that follow it."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rewards.errors import RewardError
from rewards.models.loading import Encoded, LoadedModel, fitted, ranges

if TYPE_CHECKING:
    from torch import Tensor

LogProbs = NDArray[np.float64]  # (m,), of the tokens of a text
Ids = Sequence[int]
# Targets (b, T), padded on the right, and (b,) which of the contexts that were read stands before each -> (b, T, V)
Logits = Callable[["Tensor", "Tensor"], "Tensor"]


def target_ids(loaded: LoadedModel, texts: Sequence[str]) -> list[list[int]]:
    """The ids that are counted: those of the text, and the special ones that an encoder-decoder's tokenizer adds."""
    return loaded.ids([text.strip() for text in texts], special=loaded.is_encoder_decoder)


def text_log_probs(
    loaded: LoadedModel, texts: Mapping[str, Sequence[str]], prompt: Callable[[str], Encoded], windows: bool
) -> dict[tuple[str, str], list[LogProbs]]:
    """Log-probabilities of each text after each window of what is given: (given, text) -> one for each window.

    ``texts``: what is given -> texts, none twice. ``prompt``: what is given -> what is read before the text. Of a text
    longer than the model reads, each window follows the last quarter of the one before, or only the first counts.
    """
    room, share = loaded.room
    contexts: list[Ids] = []
    rows: list[tuple[int, Ids]] = []
    windowed: list[tuple[tuple[str, str], list[int]]] = []  # a text after one context, the starts of its windows
    for given, listed in texts.items():
        for context in fitted(loaded, given, room, prompt, windows):
            for text, ids in zip(listed, target_ids(loaded, listed), strict=True):
                cuts = ranges(len(ids), share)[: None if windows else 1]
                windowed.append(((given, text), [start for start, _ in cuts]))
                rows += [(len(contexts), ids[start:end]) for start, end in cuts]
            contexts.append(context["input_ids"])
    scored = iter(log_probs(loaded, contexts, rows))
    found: dict[tuple[str, str], list[LogProbs]] = {}
    for key, starts in windowed:
        joined = np.empty(0)
        for start in starts:
            joined = np.concatenate([joined, next(scored)[len(joined) - start :]])
        found.setdefault(key, []).append(joined)
    return found


def log_probs(loaded: LoadedModel, contexts: Sequence[Ids], rows: Sequence[tuple[int, Ids]]) -> list[LogProbs]:
    """The log-probabilities of the tokens of each of ``rows``, (number of the context before it, its ids)."""
    import torch

    rows_of: dict[int, list[int]] = {}
    for number, (context, _) in enumerate(rows):
        rows_of.setdefault(context, []).append(number)
    scored = [np.empty(0)] * len(rows)
    read = _after_states if loaded.is_encoder_decoder else _after_cache
    with torch.inference_mode():
        for group in loaded.batches([len(context) for context in contexts]):
            logits = read(loaded, [contexts[number] for number in group])
            owned = [(place, number) for place, context in enumerate(group) for number in rows_of.get(context, ())]
            lengths = [len(contexts[rows[number][0]]) + len(rows[number][1]) for _, number in owned]
            for batch in loaded.batches(lengths):
                targets, _ = loaded.padded([rows[owned[one][1]][1] for one in batch])
                owners = torch.tensor([owned[one][0] for one in batch], device=loaded.device)
                words = logits(targets, owners).float()  # (b, T, V)
                # cross_entropy adds up 50,000 words less exactly: wrong in the fourth decimal
                values = words.gather(-1, targets[..., None])[..., 0] - words.logsumexp(-1)
                if not values.isfinite().all():
                    raise RewardError(
                        f"model {loaded.location!r}: its probabilities are not finite; its weights are damaged"
                    )
                for one, row in zip(batch, values.double().cpu().numpy(), strict=True):
                    number = owned[one][1]
                    scored[number] = row[: len(rows[number][1])]  # padding follows, so it changes nothing before it
    return scored


def _after_states(loaded: LoadedModel, contexts: Sequence[Ids]) -> Logits:
    """After the states of an encoder, which reads the contexts."""
    from transformers.modeling_outputs import BaseModelOutput

    ids, mask = loaded.padded(contexts)
    states = loaded.model.get_encoder()(input_ids=ids, attention_mask=mask).last_hidden_state

    def logits(targets: Tensor, owners: Tensor) -> Tensor:
        output: Tensor = loaded.model(
            encoder_outputs=BaseModelOutput(last_hidden_state=states[owners]),
            attention_mask=mask[owners],
            decoder_input_ids=loaded.model.prepare_decoder_input_ids_from_labels(labels=targets),
            use_cache=False,
        ).logits
        return output

    return logits


def _after_cache(loaded: LoadedModel, contexts: Sequence[Ids]) -> Logits:
    """After contexts that a causal model reads into a cache, padded on the left, so that all end where texts begin."""
    import torch

    ids, mask = (side.flip(1) for side in loaded.padded([context[::-1] for context in contexts]))
    places = (mask.cumsum(1) - 1).clamp(min=0)
    parameters = inspect.signature(loaded.model.forward).parameters
    name = "cache" if "cache" in parameters else "past_key_values"  # its name in older releases
    read = loaded.model(input_ids=ids, attention_mask=mask, position_ids=places, use_cache=True, logits_to_keep=1)
    if not all(hasattr(layer, "batch_select_indices") for layer in read[name].layers):
        raise RewardError(
            f"model {loaded.location!r}: its layers keep a state, not a token each; give one of attention alone"
        )

    def logits(targets: Tensor, owners: Tensor) -> Tensor:
        first: Tensor = read.logits[owners, -1:]
        if targets.shape[1] == 1:
            return first
        cache = copy.copy(read[name])
        cache.layers = [copy.copy(layer) for layer in cache.layers]  # selecting makes tensors of its own
        cache.batch_select_indices(owners)
        following = targets[:, :-1]
        rest = loaded.model(
            input_ids=following,
            attention_mask=torch.cat([mask[owners], torch.ones_like(following)], 1),
            position_ids=places[owners, -1:] + 1 + torch.arange(following.shape[1], device=loaded.device),
            use_cache=True,
            **{name: cache},
        ).logits
        return torch.cat([first, rest], 1)

    return logits
