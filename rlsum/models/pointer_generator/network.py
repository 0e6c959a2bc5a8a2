"""The network of See et al. 2017 (arXiv 1704.04368), in log space: encoder, one step of the decoder, output layer.

Notation: B rows, S source tokens, T target tokens, V vocabulary, E embedding, H hidden, A = 2H attention size.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from rlsum.data.batch import Batch
from rlsum.data.vocabulary import BOS, PAD, UNK, Vocabulary
from rlsum.models.pointer_generator.distribution import Layer, WordDistribution
from rlsum.models.pointer_generator.encoder import BidirectionalEncoder, Encoded, State, StepOutput
from rlsum.models.pointer_generator.kernels.attention import Memory
from rlsum.models.pointer_generator.kernels.shared_weight import SharedWeight
from rlsum.models.pointer_generator.kernels.word_scores import WordColumns, WordOdds
from rlsum.models.pointer_generator.options import PointerGeneratorConfig
from rlsum.models.sampling import NEVER, NextWords


class Network(nn.Module):
    """Bidirectional LSTM encoder, attentive LSTM decoder with input feeding, and a gate that copies source words."""

    word_bias: Tensor

    def __init__(self, config: PointerGeneratorConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config, self.vocabulary = config, vocabulary
        embedding, hidden, wide = config.embedding, config.hidden, 2 * config.hidden
        self.embed = nn.Embedding(len(vocabulary), embedding, padding_idx=PAD)
        self.encoder = BidirectionalEncoder(config)
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

    def embedded(self, ids: Tensor) -> Tensor:
        """The vectors of words, (..., embedding), with dropout."""
        return self.dropout(self.embed(ids))

    # ---- encoding -------------------------------------------------------------------------------------------------

    def encode(self, batch: Batch) -> Encoded:
        """Encode the articles of a batch. An empty article is read as one PAD without attention."""
        embedded = self.embedded(batch.src)
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
    ) -> tuple[Tensor, WordDistribution, State]:
        """P (B, V + unknowns) of the next word after ``previous`` (B,) extended ids, without gradient; what it is
        computed from, and the next state. ``columns`` comes from ``word_columns()``.
        """
        inputs = previous.masked_fill(previous >= len(self.vocabulary), UNK)
        out, after = self.step(encoded, state, self.embed(inputs))
        words = self.words(encoded, out)
        return words.p(columns), words, after

    # ---- word distribution ----------------------------------------------------------------------------------------

    def words(self, encoded: Encoded, out: StepOutput, rows: Tensor | slice = slice(None)) -> WordDistribution:
        """The distribution of the word after each output; ``rows`` (N,): the row that each belongs to."""
        can_copy = encoded.mask.any(-1)[rows]  # p_gen = 1 for an empty article
        gate = out.gate.squeeze(-1)
        log_generate = F.logsigmoid(gate).masked_fill(~can_copy, 0.0)
        log_copy = F.logsigmoid(-gate).masked_fill(~can_copy, NEVER)
        copied = out.log_attention, encoded.extended[rows], encoded.unknowns
        return WordDistribution(self.hidden_out(out.features), log_generate, log_copy, *copied)

    def next_words(self, p: Tensor, words: WordDistribution) -> NextWords:
        """Probabilities (R, V'), as ``advance`` gives them, and the way to compute them in log space."""
        return NextWords(p, lambda rows: words.select(rows).log_p(self.layer()))

    def layer(self) -> Layer:
        """The output layer."""
        return Layer(self.word_out.weight, self.word_out.bias + self.word_bias.to(self.word_out.bias.dtype))

    def word_columns(self) -> WordColumns:
        """The output layer, prepared once for all steps of a decoding."""
        return WordColumns(*self.layer())

    def word_odds(self, capacity: int) -> WordOdds:
        """Room for the odds of all words after ``capacity`` outputs."""
        return WordOdds(capacity, self.word_out.weight.detach())

    def embedder(self) -> Callable[[Tensor], Tensor]:
        """Extended ids (R,) -> embeddings (R, E), for all steps."""
        table = SharedWeight(self.embed.weight, without=PAD)
        return lambda ids: self.dropout(table.rows(ids.masked_fill(ids >= len(self.vocabulary), UNK)))


def word_bias(size: int) -> Tensor:
    """(V,) bias that rules out padding and the start token."""
    bias = torch.zeros(size)
    bias[[PAD, BOS]] = NEVER
    return bias
