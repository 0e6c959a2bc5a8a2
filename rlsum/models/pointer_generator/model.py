"""The pointer-generator of See et al. 2017 as a summarizer: decoding, scoring, checkpoint files.

Notation: B articles, R rows (several an article), T target tokens, N places of the target.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor

from rewards.text.words import joined
from rlsum.data.batch import Batch, collate
from rlsum.data.vocabulary import BOS, EOS, PAD, UNK, VOCABULARY
from rlsum.models.constraints import Constraints
from rlsum.models.decoding import Decoding, Limits, Sampling
from rlsum.models.pointer_generator import search, unrolling
from rlsum.models.pointer_generator.encoder import Encoded
from rlsum.models.pointer_generator.network import Network
from rlsum.models.pointer_generator.options import PointerGeneratorConfig
from rlsum.models.pointer_generator.search import Chooser
from rlsum.models.pointer_generator.unrolling import Unrolled
from rlsum.models.sampling import Drawing, Drawn
from rlsum.models.summarizer import WEIGHTS, DrawnScores, Model, TargetScores, Tokens, repeat_rows

if TYPE_CHECKING:
    import datasets

    from rlsum.data.corpus import Tokenization

MODEL_TYPE = "rlsum-pointer-generator"  # in the config.json of a checkpoint


class PointerGenerator(Network, Model):
    """Bidirectional LSTM encoder, attentive LSTM decoder with input feeding, and a gate that copies source words."""

    config: PointerGeneratorConfig

    # ---- the summarizer protocol ----------------------------------------------------------------------------------

    def read(self, rows: datasets.Dataset, how: Tokenization) -> datasets.Dataset:
        """Return the rows unchanged: the corpus has already cut them into words."""
        return rows

    def collate(self, rows: dict[str, list[Any]]) -> Batch:
        """A batch; see Model.collate."""
        return collate(rows, self.vocabulary)

    def forward(self, batch: Batch, target: Tensor, drawn: Drawn | None = None) -> TargetScores:
        """Log-probabilities (R, T) of targets of extended ids, each word given the target before it; see Scorer."""
        encoded, article = self.encode(batch), repeat_rows(len(batch), len(target) // len(batch)).to(target.device)
        if len(target) != len(batch):  # several targets an article: rows i*k .. i*k+k-1 belong to article i
            encoded = encoded.select(article)
        unrolled = unrolling.forced(self, encoded, self.embedded(self._inputs(target)), target)
        return self._scores(batch, article, encoded, unrolled, target, drawn)

    def _scores(
        self, batch: Batch, article: Tensor, encoded: Encoded, unrolled: Unrolled, target: Tensor, drawn: Drawn | None
    ) -> TargetScores:
        """Scores of targets (R, T), each of an ``article`` (R,), after the decoder was unrolled over them."""
        steps, overlap, place, odds = unrolled
        row, written, layer = place // target.shape[1], target.flatten()[place], self.layer()
        words = self.words(encoded, steps, row)

        def unpacked(values: Tensor) -> Tensor:  # (N, ...) -> (R, T, ...)
            padded = values.new_zeros(target.numel(), *values.shape[1:]).index_copy(0, place, values)
            return padded.unflatten(0, target.shape)

        if drawn is None or drawn.sampling.plain:
            log_prob = words.target_log_prob(layer, written, None if drawn is None else drawn.rows[row], odds)
        else:
            log_prob = torch.zeros_like(overlap)
            for sampled in (True, False):
                some = (drawn.rows[row] == sampled).nonzero().squeeze(1)
                if not len(some):
                    continue
                of_some, some_odds = words.select(some), None if odds is None else odds.select(some)
                if sampled:
                    forbidden = self.constraints(drawn.sampling, batch, article).within(target, place[some])
                    drawing = Drawing(drawn.sampling, written[some], forbidden)
                    scored = of_some.drawn_log_prob(layer, drawing, some_odds)
                else:
                    scored = of_some.target_log_prob(layer, written[some], None, some_odds)
                log_prob = log_prob.index_put((some,), scored)
        return TargetScores(unpacked(log_prob), unpacked(overlap) * (target != PAD))

    def _inputs(self, target: Tensor) -> Tensor:
        """Decoder inputs: the target shifted right behind BOS, copied words as UNK."""
        shifted = F.pad(target[:, :-1], (1, 0), value=BOS)
        return shifted.masked_fill(shifted >= len(self.vocabulary), UNK)

    @torch.no_grad()
    def generate(self, batch: Batch, decoding: Decoding, scored: bool = True) -> Tokens:
        """Decode a batch; see Model.generate."""
        if decoding.method == "sample":
            return self.sample(batch, decoding.samples, decoding.sampling)
        constraints = self.constraints(decoding, batch, torch.arange(len(batch), device=batch.src.device))
        if decoding.method == "beam":
            return search.beam(self, self.encode(batch), decoding, constraints)
        choose = search.greedy(constraints, decoding.temperature)
        return search.rollout(self, self.encode(batch), choose, decoding.max_length)

    def drawn(self, batch: Batch, rows: Tensor, cut: int, sampling: Sampling, noise: Tensor | None) -> Tokens:
        """See Model.drawn."""
        choose = self._chooser(cut, sampling, self.constraints(sampling, batch, rows), noise)
        return search.rollout(self, self.encode(batch).select(rows), choose, sampling.limit)

    def constraints(self, limits: Limits, batch: Batch, rows: Tensor) -> Constraints:
        """What texts of the articles ``rows`` (R,) may not have. Readers cannot use UNK."""
        return Constraints(limits, batch, rows, never=(UNK,))

    def _chooser(self, cut: int, sampling: Sampling, constraints: Constraints, noise: Tensor | None) -> Chooser:
        """Draws the texts before number ``cut``; the others are greedy."""
        choose, total = search.sampler(sampling, constraints, noise), len(constraints.article)
        if cut == total:
            return choose
        return search.split_at(cut, total, choose, search.greedy(constraints, sampling.temperature))

    def draw_and_score(
        self, batch: Batch, samples: int, sampling: Sampling, noise: Tensor | None, greedy: bool, references: bool
    ) -> DrawnScores:
        """See DrawsAndScores. What the decoder computed to draw a sample is kept to score it."""
        encoded, size, device = self.encode(batch), len(batch), batch.src.device
        article, cut = torch.arange(size, device=device), size * samples
        target, best = batch.target[: size * references], article[: size * greedy]
        rows = torch.cat([article[: len(target)], article.repeat_interleave(samples), best])
        learning = len(rows) - len(best)
        choose = self._chooser(cut, sampling, self.constraints(sampling, batch, rows[len(target) :]), noise)
        every = encoded.select(rows, learning)
        drawn = unrolling.drawn(self, every, target, len(best), choose, sampling.limit, not sampling.cuts)
        is_sample = torch.arange(learning, device=device) >= len(target)
        written = drawn.unrolled, drawn.target, Drawn(is_sample, sampling)
        scores = self._scores(batch, rows[:learning], every, *written)
        of_samples = scores.select(is_sample, drawn.samples.ids.shape[1])
        of_references = scores.select(~is_sample, target.shape[1]) if references else None
        return DrawnScores(drawn.samples, drawn.greedy if greedy else None, (of_samples, of_references))

    def to_text(self, batch: Batch, tokens: Tokens) -> list[str]:
        """One text a row, words joined as ``spaces`` of its configuration says, the end token left out."""
        rows: Sequence[Sequence[int]] = tokens.ids.tolist()
        per_article = len(rows) // len(batch)
        unknown = [batch.unknown[i // per_article] for i in range(len(rows))]
        join = joined if self.config.spaces is False else " ".join
        return [
            join([self.vocabulary.surface(token, words) for token in row if token not in (PAD, EOS)])
            for row, words in zip(rows, unknown, strict=True)
        ]

    # ---- checkpoint files ------------------------------------------------------------------------------------

    def save_to(self, folder: Path, reading: Mapping[str, Any], decoding: Decoding) -> None:
        """Write the vocabulary, and a config.json that transformers reads (see rlsum.models.hub)."""
        self.vocabulary.save(folder / VOCABULARY)
        sizes = {name: value for name, value in asdict(self.config).items() if name != "kind"}
        described = {"model_type": MODEL_TYPE, "architectures": ["PointerGeneratorForSummarization"], **sizes}
        described |= {"reading": dict(reading), "decoding": asdict(decoding)}
        (folder / "config.json").write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")

    def weight_files(self) -> dict[str, dict[str, Tensor]]:
        """All tensors by name."""
        return {WEIGHTS: self.state_dict()}
