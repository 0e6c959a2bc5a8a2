"""Rules for single tokens in a pretrained model's generation config, which are part of its distribution.

Lengths, beams and n-grams are decoding options of the run instead. Notation: R rows, T tokens, V ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor

from rlsum.data.subwords import IGNORED
from rlsum.errors import UserError
from rlsum.models.constraints import Constraints
from rlsum.models.decoding import IN_TRANSFORMERS, Decoding, Limits, Sampling, Search
from rlsum.models.sampling import NEVER, Drawing

if TYPE_CHECKING:
    from transformers import GenerationConfig

NEUTRAL = {  # values without effect, of settings of a generation config that change texts and are not IN_TRANSFORMERS
    "do_sample": False,
    "repetition_penalty": 1.0,
    "encoder_repetition_penalty": 1.0,
    "encoder_no_repeat_ngram_size": 0,
    "num_beam_groups": 1,
    "diversity_penalty": 0.0,
    "exponential_decay_length_penalty": None,
    "sequence_bias": None,
    "guidance_scale": None,
    "stop_strings": None,
}


@dataclass(frozen=True)
class TokenRules:
    """Tokens that start and end a text, and tokens that are forced or suppressed.

    start, pad        decoder inputs before the first token, and for padding; no start behind a prompt
    ends              each of them ends a text
    forced_first      the only possible first token (BART: <s>)
    forced_end        replaces the last token of a text of maximum length
    suppressed        impossible tokens
    suppressed_first  tokens that are impossible as the first one that is not forced
    """

    start: int | None
    pad: int
    ends: tuple[int, ...]
    forced_first: int | None = None
    forced_end: tuple[int, ...] = ()
    suppressed: tuple[int, ...] = ()
    suppressed_first: tuple[int, ...] = ()

    @classmethod
    def of(cls, config: GenerationConfig, pad: int) -> TokenRules:
        """The rules of a generation config; ``pad`` is the tokenizer's. Raises UserError for unsupported ones."""
        start, bad = config.decoder_start_token_id, config.bad_words_ids or ()
        start = config.bos_token_id if start is None else start
        for key, ids in (("decoder_start_token_id", start), ("eos_token_id", config.eos_token_id)):
            if ids is None:
                raise UserError(f"generation_config.json: no {key}, which texts need to start and end; add it")
        if any(len(ids) > 1 for ids in bad):
            raise UserError(
                f"generation_config.json: bad_words_ids={bad} forbids sequences of tokens, which scoring does not "
                "support; remove them from the file"
            )
        return cls(
            start=start,
            pad=pad,
            ends=_ids(config.eos_token_id),
            forced_first=config.forced_bos_token_id,
            forced_end=_ids(config.forced_eos_token_id),
            suppressed=(*_ids(config.suppress_tokens), *(ids[0] for ids in bad)),
            suppressed_first=_ids(config.begin_suppress_tokens),
        )

    @classmethod
    def behind_a_prompt(cls, config: GenerationConfig, pad: int, end: int) -> TokenRules:
        """Those of a language model: what ends its texts, ``end`` included. Raises UserError for unsupported ones."""
        for key in ("forced_bos_token_id", "forced_eos_token_id", "suppress_tokens", "begin_suppress_tokens",
                    "bad_words_ids"):  # fmt: skip
            if getattr(config, key, None):
                raise UserError(f"generation_config.json: {key} is not followed for language models; remove it")
        return cls(start=None, pad=pad, ends=tuple(dict.fromkeys((end, *_ids(config.eos_token_id)))))

    def beyond(self, size: int) -> str:
        """The first of the rules' ids that a network of so many tokens does not have, as ``key=id``; "" if none."""
        config = self.unlimited(Decoding()).to_dict()
        rules = {key: _ids(ids) for key, ids in config.items() if ids and key.endswith(("token_id", "suppress_tokens"))}
        return next((f"{key}={id_}" for key, ids in rules.items() for id_ in ids if not 0 <= id_ < size), "")

    def generation_config(self, decoding: Decoding) -> GenerationConfig:
        """The rules with decoding options, for files."""
        config = self.unlimited(decoding)
        config.update(**_in_transformers(decoding, Limits))
        return config

    def unlimited(self, decoding: Decoding) -> GenerationConfig:
        """The rules with decoding options, for transformers' ``generate``, where ``Constraints`` say what is forbidden.

        Of ``Limits``, only the longest text: explicit, because transformers replaces None by a default.
        """
        from transformers import GenerationConfig

        beam = _in_transformers(decoding, Search)
        sample = {"do_sample": True, "temperature": decoding.temperature, "top_k": 0, "top_p": 1.0}
        methods = {"greedy": {}, "beam": beam if decoding.beam > 1 else {}, "sample": sample}
        return GenerationConfig(
            decoder_start_token_id=self.start,
            pad_token_id=self.pad,
            eos_token_id=list(self.ends),
            forced_bos_token_id=self.forced_first,
            forced_eos_token_id=list(self.forced_end) or None,
            suppress_tokens=list(self.suppressed) or None,
            begin_suppress_tokens=list(self.suppressed_first) or None,
            max_new_tokens=decoding.max_length,
            use_cache=True,
            **{"do_sample": False, "num_beams": 1, **methods[decoding.method]},
        )

    def following(self, logits: Tensor, place: int, last: int) -> Tensor:
        """Logits (R, V) of the ids at a place, from 0 to ``last``, as transformers' generate follows the rules."""
        forced = _ids(self.forced_first if place == 0 else None)
        if place == last and self.forced_end:
            forced = self.forced_end
        if forced:
            possible = torch.full_like(logits, float("-inf"))
            for token in forced:  # a list would be copied to a GPU
                possible[:, token] = 0.0
            return possible
        first = self.suppressed_first if place == (0 if self.forced_first is None else 1) else ()
        logits = logits.clone() if self.suppressed or first else logits
        for token in (*self.suppressed, *first):
            logits[:, token] = float("-inf")
        return logits

    def inputs(self, target: Tensor) -> Tensor:
        """Decoder inputs to score a target (R, T): the target shifted right behind the start token."""
        before = target[:, :-1]
        assert self.start is not None
        return F.pad(before.masked_fill(before == IGNORED, self.pad), (1, 0), value=self.start)

    def log_prob(self, logits: Tensor, target: Tensor) -> Tensor:
        """Log-probabilities (R, T) float32 of a target, 0 at padding; logits (R, T, V).

        The log-probability of a forced token is 0. Probability of suppressed tokens goes to the others; a suppressed
        token in a reference keeps its own logit, so that the loss is finite.
        """
        words = target.masked_fill(target == IGNORED, 0)
        logits = self._without_suppressed(logits, target)
        log_prob = -F.cross_entropy(logits.flatten(0, 1), words.flatten(), reduction="none").view_as(target)
        return log_prob.masked_fill(self._settled(target), 0.0)

    def sampled_log_prob(self, logits: Tensor, target: Tensor, sampling: Sampling, constraints: Constraints) -> Tensor:
        """Log-probabilities (R, T) float32 of samples under the distribution that drew them; logits (R, T, V)."""
        logits = self._without_suppressed(logits, target).flatten(0, 1)
        place, words = torch.arange(target.numel(), device=target.device), target.clamp(min=0)
        drawing = Drawing(sampling, words.flatten(), constraints.within(words, place))
        log_prob = drawing.log_prob(lambda rows: logits[rows].log_softmax(-1), place, logits.shape[1])
        return log_prob.view_as(target).masked_fill(self._settled(target), 0.0)

    def mean_log_prob(self, logits: Tensor, target: Tensor) -> Tensor:
        """Means (R, T) float32 of log-probabilities over all possible tokens; 0 at padding and forced tokens."""
        logits = self._without_suppressed(logits, target)
        if self.suppressed or self.suppressed_first:
            possible = logits > NEVER / 2
            mean = logits.masked_fill(~possible, 0.0).sum(-1) / possible.sum(-1)
        else:
            mean = logits.mean(-1)
        return (mean - logits.logsumexp(-1)).masked_fill(self._settled(target), 0.0)

    def _settled(self, target: Tensor) -> Tensor:
        """Mask (R, T) of padding and of the forced first token."""
        settled = target == IGNORED
        if self.forced_first is not None:
            settled[:, 0] |= target[:, 0] == self.forced_first
        return settled

    def _without_suppressed(self, logits: Tensor, target: Tensor) -> Tensor:
        logits, words = logits.float(), target.masked_fill(target == IGNORED, 0).unsqueeze(-1)
        if not (self.suppressed or self.suppressed_first):
            return logits
        kept = logits.gather(-1, words)
        forbidden = torch.zeros(logits.shape[1:], dtype=torch.bool, device=logits.device)
        forbidden[:, list(self.suppressed)] = True
        first = 0 if self.forced_first is None else 1
        forbidden[first : first + 1, list(self.suppressed_first)] = True
        return logits.masked_fill(forbidden, NEVER).scatter(-1, words, kept)

    def ends_of(self, ids: Tensor, max_length: int) -> Tensor:
        """Decoded ids (R, L) with IGNORED after each text's end.

        A forced end was not predicted by the model: the text was cut off there.
        """
        ended = torch.isin(ids, torch.tensor(self.ends, device=ids.device))
        after = ended.cumsum(-1) - ended.long() > 0
        if self.forced_end and ids.shape[1] == max_length:
            after[:, -1] = True
        return ids.masked_fill(after, IGNORED)


def unfollowed(settings: dict[str, Any]) -> list[str]:
    """Settings that change the outputs of transformers and are not followed here, as ``key=value``."""
    asked = {key: settings[key] for key, neutral in NEUTRAL.items() if settings.get(key) not in (None, neutral)}
    return [f"{key}={value}" for key, value in asked.items() if key not in IN_TRANSFORMERS.values()]


def _in_transformers(decoding: Decoding, kind: Any) -> dict[str, Any]:
    """The options of a ``kind``, as far as transformers has them, by its names."""
    names = kind.__dataclass_fields__
    return {theirs: getattr(decoding, name) for name, theirs in IN_TRANSFORMERS.items() if name in names}


def _ids(value: int | Sequence[int] | None) -> tuple[int, ...]:
    ids = () if value is None else tuple(value) if isinstance(value, list | tuple) else (value,)
    if any(type(id_) is not int for id_ in ids):
        raise UserError(f"generation_config.json: {value!r} is no id of a token; write a number, or a list of numbers")
    return ids
