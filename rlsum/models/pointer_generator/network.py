"""The pointer-generator of See et al. 2017 (arXiv 1704.04368), in log space.

Notation: B rows, S source tokens, T target tokens, V vocabulary, E embedding, H hidden, A = 2H attention size.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from rewards.text.words import joined
from rlsum.data.batch import Batch, collate
from rlsum.data.vocabulary import BOS, EOS, PAD, UNK, VOCABULARY, Vocabulary
from rlsum.models.decoding import Decoding, Sampling
from rlsum.models.pointer_generator import search, unrolling
from rlsum.models.pointer_generator.encoder import BidirectionalEncoder, Encoded, State, StepOutput
from rlsum.models.pointer_generator.kernels.attention import Memory
from rlsum.models.pointer_generator.kernels.tempering import CHUNK_BACKWARD, Drawing, drawn_log_prob, mixed
from rlsum.models.pointer_generator.kernels.word_scores import WordColumns, WordOdds, target_log_prob
from rlsum.models.pointer_generator.search import READABLE
from rlsum.models.pointer_generator.unrolling import SharedWeight, Unrolled
from rlsum.models.sampling import NEVER, Drawn, log_scattered, target_log_policy
from rlsum.models.sizes import PointerGeneratorConfig
from rlsum.models.summarizer import WEIGHTS, DrawnScores, TargetScores, Tokens, repeat_rows

if TYPE_CHECKING:
    import datasets

MODEL_TYPE = "rlsum-pointer-generator"  # in the config.json of a checkpoint


class PointerGenerator(nn.Module):
    """Bidirectional LSTM encoder, attentive LSTM decoder with input feeding, and a gate that copies source words."""

    word_bias: Tensor

    def __init__(self, config: PointerGeneratorConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config, self.vocabulary = config, vocabulary
        embedding, hidden, wide = config.embedding, config.hidden, 2 * config.hidden
        self.embed = nn.Embedding(len(vocabulary), embedding, padding_idx=PAD)
        self.encoder = BidirectionalEncoder(embedding, hidden, config.encoder_layers, config.dropout)
        self.reduce_h = nn.Linear(wide, hidden)
        self.reduce_c = nn.Linear(wide, hidden)
        self.feed = nn.Linear(embedding + wide, embedding)
        sizes = [embedding] + [hidden] * config.decoder_layers
        self.cells = nn.ModuleList(nn.LSTMCell(size, hidden) for size in sizes[:-1])
        self.key = nn.Linear(wide, wide)
        self.query = nn.Linear(wide, wide, bias=False)
        self.spent_weight = nn.Parameter(torch.zeros(wide)) if config.coverage else None
        self.energy = nn.Linear(wide, 1, bias=False)
        self.gate = nn.Linear(wide + wide + embedding, 1)
        self.hidden_out = nn.Linear(hidden + wide, hidden)
        self.word_out = nn.Linear(hidden, len(vocabulary))
        self.dropout = nn.Dropout(config.dropout)
        self.register_buffer("word_bias", word_bias(len(vocabulary)), persistent=False)
        nn.init.normal_(self.embed.weight, std=0.1)
        with torch.no_grad():
            self.embed.weight[PAD].zero_()

    # ---- encoding -------------------------------------------------------------------------------------------------

    def encode(self, batch: Batch) -> Encoded:
        """Encode the articles of a batch. An empty article is read as one PAD without attention."""
        embedded = self.dropout(self.embed(batch.src))
        states, last = self.encoder(embedded, batch.src_lengths.to(embedded.device))
        states = self.dropout(states)
        initial_h, initial_c = torch.relu(self.reduce_h(last)), torch.relu(self.reduce_c(last))
        layers = self.config.decoder_layers
        return Encoded(
            memory=Memory(states, 2 * self.key(states)),
            mask=batch.src != PAD,
            extended=batch.src_extended,
            initial=(initial_h.expand(layers, -1, -1), initial_c.expand(layers, -1, -1)),
            unknowns=max((len(words) for words in batch.unknown), default=0),
        )

    def start(self, encoded: Encoded) -> State:
        """The state before the first word."""
        h, c = encoded.initial
        states = encoded.memory.states
        context = states.new_zeros(len(encoded.mask), states.shape[2])
        return State(h, c, context, torch.zeros_like(encoded.mask, dtype=torch.float))

    # ---- decoding, one step ---------------------------------------------------------------------------------------

    def step(self, encoded: Encoded, state: State, embedded: Tensor) -> tuple[StepOutput, State]:
        """Read the previous word's embedding (B, E), attend, and return the parts of the word distribution."""
        x = self.feed(torch.cat([embedded, state.context], -1))
        hs, cs, below = [], [], x
        for cell, h, c in zip(self.cells, state.h, state.c, strict=True):
            h, c = cell(below, (h, c))
            hs.append(h)
            cs.append(c)
            below = self.dropout(h)
        seen = torch.cat([below, cs[-1]], -1)
        log_attention = self._attend(encoded, seen, state.spent)
        attention = log_attention.exp()  # all-padding rows attend to nothing
        context = encoded.memory.read(attention)
        gate = self.gate(torch.cat([context, seen, x], -1)).float()
        features = torch.cat([below, context], -1)
        spent = state.spent + attention if self.config.coverage else state.spent
        return StepOutput(features, log_attention, gate), State(torch.stack(hs), torch.stack(cs), context, spent)

    def _attend(self, encoded: Encoded, seen: Tensor, spent: Tensor) -> Tensor:
        """Log attention (B, S) float32; NEVER at padding. See et al. 2017, equations 1, 2 and 11.

        v tanh(x) = 2 v sigmoid(2 x) - sum(v), and the softmax does not see the constant: the same attention.
        """
        spent_weight = None if self.spent_weight is None else 2 * self.spent_weight
        energy = encoded.memory.energies(2 * self.query(seen), 2 * self.energy.weight.squeeze(0), spent, spent_weight)
        return energy.masked_fill(~encoded.mask, NEVER).log_softmax(-1).masked_fill(~encoded.mask, NEVER)

    def advance(
        self, encoded: Encoded, state: State, previous: Tensor, columns: WordColumns
    ) -> tuple[Tensor, StepOutput, State]:
        """P (B, V + unknowns) of the next word after ``previous`` (B,) extended ids, its parts, and the next state."""
        inputs = previous.masked_fill(previous >= len(self.vocabulary), UNK)
        out, after = self.step(encoded, state, self.embed(inputs))
        return self.distribution(encoded, out, columns), out, after

    # ---- word distribution ----------------------------------------------------------------------------------------

    def word_columns(self) -> WordColumns:
        """The output layer, prepared once for all steps of a decoding."""
        return WordColumns(self.word_out.weight, self._bias())

    def distribution(self, encoded: Encoded, out: StepOutput, columns: WordColumns) -> Tensor:
        """P over extended ids (B, V + unknowns) float32: equation 9 of See et al. 2017. For decoding only.

        ``columns`` comes from ``word_columns()``.
        """
        log_generate, log_copy = self._log_gate(out.gate, encoded.mask.any(-1, keepdim=True))
        p = columns.probabilities(self.hidden_out(out.features), log_generate.exp(), encoded.unknowns)
        return p.scatter_add_(1, encoded.extended, (out.log_attention + log_copy).exp())

    def mix(self, encoded: Encoded, out: StepOutput, odds: Tensor, total: Tensor, start: int) -> Tensor:
        """Like ``distribution``, for rows from ``start``, from the odds (B, V) of all words and their totals (B,)."""
        some = slice(start, None)
        log_generate, log_copy = self._log_gate(out.gate[some], encoded.mask[some].any(-1, keepdim=True))
        share, copied = log_generate.squeeze(1).exp() / total[some], (out.log_attention[some] + log_copy).exp()
        return mixed(odds[some], share, copied, encoded.extended[some], encoded.unknowns)

    def log_p(self, encoded: Encoded, out: StepOutput, start: int, rows: Tensor) -> Tensor:
        """Like ``distribution``, for some ``rows`` (n,) after row ``start``, in log space: right where P underflows."""
        rows = rows + start
        log_generate, log_copy = self._log_gate(out.gate[rows], encoded.mask[rows].any(-1, keepdim=True))
        log_copied = out.log_attention[rows] + log_copy
        features = self.hidden_out(out.features[rows])
        return self._log_mixed(features, log_generate, log_copied, encoded.extended[rows], encoded.unknowns)

    def _log_mixed(
        self, features: Tensor, log_generate: Tensor, log_copied: Tensor, extended: Tensor, unknowns: int
    ) -> Tensor:
        """Log P (n, V + unknowns) from what the output layer reads (n, H), log p_gen (n, 1) and log (1 - p_gen) times
        attention (n, S). Differentiable."""
        logits = F.linear(features, self.word_out.weight).float() + self._bias().float()
        generated = F.pad(logits.log_softmax(-1) + log_generate, (0, unknowns), value=NEVER)
        return torch.logaddexp(generated, log_scattered(log_copied, extended, generated.shape[1]))

    def word_odds(self, capacity: int) -> WordOdds:
        """Room for the odds of all words after ``capacity`` outputs."""
        return WordOdds(capacity, self.word_out.weight.detach())

    def embedder(self) -> Callable[[Tensor], Tensor]:
        """Extended ids (R,) -> embeddings (R, E), for all steps."""
        table = SharedWeight(self.embed.weight, without=PAD)
        return lambda ids: self.dropout(table.rows(ids.masked_fill(ids >= len(self.vocabulary), UNK)))

    def _bias(self) -> Tensor:
        return self.word_out.bias + self.word_bias.to(self.word_out.bias.dtype)

    def _log_gate(self, gate: Tensor, can_copy: Tensor) -> tuple[Tensor, Tensor]:
        """Log p_gen and log (1 - p_gen), exact if p_gen rounds to 0 or 1; p_gen = 1 for an empty article."""
        log_generate = F.logsigmoid(gate).masked_fill(~can_copy, 0.0)
        return log_generate, F.logsigmoid(-gate).masked_fill(~can_copy, NEVER)

    # ---- the summarizer protocol ----------------------------------------------------------------------------------

    def read(self, rows: datasets.Dataset, max_source: int, max_target: int) -> datasets.Dataset:
        """Return the rows unchanged: the corpus has already cut them into words."""
        return rows

    def collate(self, rows: dict[str, list[Any]]) -> Batch:
        """A batch; see Summarizer.collate."""
        return collate(rows, self.vocabulary)

    def forward(self, batch: Batch, target: Tensor, drawn: Drawn | None = None) -> TargetScores:
        """Log-probabilities (R, T) of targets of extended ids, each word given the target before it; see Scorer."""
        encoded = self.encode(batch)
        if len(target) != len(batch):  # several targets an article: rows i*k .. i*k+k-1 belong to article i
            encoded = encoded.select(repeat_rows(len(batch), len(target) // len(batch)).to(target.device))
        embedded = self.dropout(self.embed(self._inputs(target)))
        return self._scores(encoded, unrolling.forced(self, encoded, embedded, target), target, drawn)

    def _scores(self, encoded: Encoded, unrolled: Unrolled, target: Tensor, drawn: Drawn | None) -> TargetScores:
        """Scores of targets (R, T) after the decoder was unrolled over them."""
        steps, overlap, place, odds = unrolled

        def unpacked(values: Tensor) -> Tensor:  # (N, ...) -> (R, T, ...)
            padded = values.new_zeros(target.numel(), *values.shape[1:]).index_copy(0, place, values)
            return padded.unflatten(0, target.shape)

        coverage = unpacked(overlap)
        if drawn is None or drawn.sampling.plain:
            known = None if drawn is None else drawn.rows
            log_prob = unpacked(self._target_log_prob(encoded, steps, target, place, known, odds))
        else:
            sampled = drawn.rows[place // target.shape[1]]
            of_samples = partial(self._cut_log_prob if drawn.sampling.cuts else self._drawn_log_prob, drawn.sampling)
            log_prob = torch.zeros_like(coverage).flatten()
            for mask, score in ((sampled, of_samples), (~sampled, self._target_log_prob)):
                some = mask.nonzero().squeeze(1)
                if len(some):
                    own = None if odds is None else odds.select(some)
                    scored = score(encoded, steps.select(some), target, place[some], odds=own)
                    log_prob = log_prob.index_put((place[some],), scored)
            log_prob = log_prob.view_as(target)
        return TargetScores(log_prob, coverage * (target != PAD))

    def _inputs(self, target: Tensor) -> Tensor:
        """Decoder inputs: the target shifted right behind BOS, copied words as UNK."""
        shifted = F.pad(target[:, :-1], (1, 0), value=BOS)
        return shifted.masked_fill(shifted >= len(self.vocabulary), UNK)

    def _target_log_prob(
        self, encoded: Encoded, steps: StepOutput, target: Tensor, place: Tensor, known: Tensor | None = None,
        odds: WordOdds | None = None,
    ) -> Tensor:  # fmt: skip
        """Log p (N,) of the words at some places of the target, without building the extended distribution.

        Rows of the mask ``known`` (R,) are scored as if UNK were impossible. ``odds``: of all words, if computed.
        """
        size, row, target = len(self.vocabulary), place // target.shape[1], target.flatten()[place]
        log_generate, log_copy = self._log_gate(steps.gate.squeeze(-1), encoded.mask.any(-1)[row])
        in_vocabulary = (target < size) & (target != PAD)
        words = target.masked_fill(~in_vocabulary, UNK)
        layer, left_out = (self.word_out.weight, self._bias()), None if known is None else UNK
        log_word, log_known = target_log_prob(self.hidden_out(steps.features), *layer, words, left_out, odds)
        log_generated = log_word.masked_fill(~in_vocabulary, NEVER)
        elsewhere = encoded.extended[row] != target.unsqueeze(1)
        log_attended = steps.log_attention.masked_fill(elsewhere, NEVER).logsumexp(-1)
        log_prob = torch.logaddexp(log_generate + log_generated, log_copy + log_attended)
        if known is not None:  # UNK is never copied
            log_prob = log_prob - torch.logaddexp(log_generate + log_known, log_copy) * known[row]
        return log_prob.masked_fill(target == PAD, 0.0)

    def _drawn_log_prob(
        self, sampling: Sampling, encoded: Encoded, steps: StepOutput, target: Tensor, place: Tensor,
        odds: WordOdds | None = None,
    ) -> Tensor:  # fmt: skip
        """Log-probabilities (N,) of the words at some places of samples under the distribution that drew them."""
        row, drawing = place // target.shape[1], Drawing.of(sampling, target, place)
        log_generate, log_copy = self._log_gate(steps.gate.squeeze(-1), encoded.mask.any(-1)[row])
        log_copied = steps.log_attention + log_copy.unsqueeze(1)
        features, extended, unknowns = self.hidden_out(steps.features), encoded.extended[row], encoded.unknowns
        layer = features, self.word_out.weight, self._bias()
        log_prob, lost = drawn_log_prob(*layer, log_generate, log_copied, extended, unknowns, drawing, odds)

        def in_log_space(some: Tensor) -> Tensor:
            parts = features[some], log_generate[some].unsqueeze(1), log_copied[some], extended[some]
            return drawing.select(some).log_prob(self._log_mixed(*parts, unknowns))

        for some in lost.nonzero().squeeze(1).split(CHUNK_BACKWARD // (len(self.vocabulary) + unknowns) or 1):
            if len(some):
                scored = checkpoint(in_log_space, some, use_reentrant=False, preserve_rng_state=False)
                log_prob = log_prob.index_put((some,), scored)
        return log_prob.masked_fill(drawing.targets == PAD, 0.0)

    def _cut_log_prob(
        self, sampling: Sampling, encoded: Encoded, steps: StepOutput, target: Tensor, place: Tensor,
        odds: WordOdds | None = None,
    ) -> Tensor:  # fmt: skip
        """The same where only the most probable words were drawn; step by step, because of memory."""
        row, step = place // target.shape[1], place % target.shape[1]
        rows, position = row.unique(return_inverse=True)
        log_generate, log_copy = self._log_gate(steps.gate.squeeze(-1), encoded.mask.any(-1)[row])
        features, log_copied = self.hidden_out(steps.features), steps.log_attention + log_copy.unsqueeze(1)

        def log_p(t: int) -> Tensor:
            at = step == t
            parts = features[at], log_generate[at].unsqueeze(1), log_copied[at], encoded.extended[row[at]]
            p = self._log_mixed(*parts, encoded.unknowns)
            return p.new_full((len(rows), p.shape[1]), NEVER).index_put((position[at],), p)

        log_prob = target_log_policy(log_p, target[rows], sampling, *READABLE)
        return log_prob[position, step].masked_fill(target[row, step] == PAD, 0.0)

    @torch.no_grad()
    def generate(self, batch: Batch, decoding: Decoding, scored: bool = True) -> Tokens:
        """Decode a batch; see Summarizer.generate."""
        encoded = self.encode(batch)
        if decoding.method == "beam":
            return search.beam(self, encoded, decoding)
        if decoding.method == "greedy":
            return search.rollout(self, encoded, search.greedy(decoding), decoding.max_length)
        encoded = encoded.select(repeat_rows(len(batch), decoding.samples).to(batch.src.device))
        return search.rollout(self, encoded, search.sampler(decoding.sampling), decoding.max_length)

    @torch.no_grad()
    def self_critical(
        self, batch: Batch, samples: int, sampling: Sampling, noise: Tensor | None = None
    ) -> tuple[Tokens, Tokens]:
        """Samples and greedy texts in one batch of (samples + 1) B rows; see Summarizer.self_critical."""
        encoded, size = self.encode(batch), len(batch)
        cut = size * samples
        rows = torch.cat([repeat_rows(size, samples), torch.arange(size)]).to(batch.src.device)
        choose = search.split_at(cut, len(rows), search.sampler(sampling, noise), search.greedy(sampling))
        return search.rollout(self, encoded.select(rows), choose, sampling.limit).split(cut)

    @torch.no_grad()
    def sample(self, batch: Batch, samples: int, sampling: Sampling, noise: Tensor | None = None) -> Tokens:
        """See Summarizer.sample."""
        encoded = self.encode(batch).select(repeat_rows(len(batch), samples).to(batch.src.device))
        return search.rollout(self, encoded, search.sampler(sampling, noise), sampling.limit)

    def draw_and_score(
        self, batch: Batch, samples: int, sampling: Sampling, noise: Tensor | None, greedy: bool, references: bool
    ) -> DrawnScores:
        """See DrawsAndScores. What the decoder computed to draw a sample is kept to score it."""
        encoded, size, device = self.encode(batch), len(batch), batch.src.device
        article, cut = torch.arange(size, device=device), size * samples
        target, best = batch.target[: size * references], article[: size * greedy]
        rows = torch.cat([article[: len(target)], article.repeat_interleave(samples), best])
        learning = len(rows) - len(best)
        choose = search.sampler(sampling, noise)
        if greedy:
            choose = search.split_at(cut, cut + size, choose, search.greedy(sampling))
        every = encoded.select(rows, learning)
        drawn = unrolling.drawn(self, every, target, len(best), choose, sampling.limit, not sampling.cuts)
        is_sample = torch.arange(learning, device=device) >= len(target)
        scores = self._scores(every, drawn.unrolled, drawn.target, Drawn(is_sample, sampling))
        of_references, of_samples = (
            TargetScores(scores.log_prob[rows, : ids.shape[1]], scores.coverage[rows, : ids.shape[1]])
            for rows, ids in ((~is_sample, target), (is_sample, drawn.samples.ids))
        )
        texts = drawn.greedy if greedy else None
        return DrawnScores(drawn.samples, texts, (of_samples, of_references if references else None))

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

    def save_to(self, folder: Path) -> None:
        """Write the vocabulary, and a config.json that transformers reads (see hub.py)."""
        self.vocabulary.save(folder / VOCABULARY)
        sizes = {name: value for name, value in asdict(self.config).items() if name != "kind"}
        described = {"model_type": MODEL_TYPE, "architectures": ["PointerGeneratorForSummarization"], **sizes}
        (folder / "config.json").write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")

    def weight_files(self) -> dict[str, dict[str, Tensor]]:
        """All tensors by name."""
        return {WEIGHTS: self.state_dict()}


def word_bias(size: int) -> Tensor:
    """(V,) bias that rules out padding and the start token."""
    bias = torch.zeros(size)
    bias[[PAD, BOS]] = NEVER
    return bias
