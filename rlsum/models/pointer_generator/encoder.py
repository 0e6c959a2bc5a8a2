"""The pointer-generator's encoder: a bidirectional LSTM whose states do not depend on padding, and what it hands over.

Each direction is a plain LSTM over right-padded rows; the backward one reads each row reversed within its own length.
So no real position ever sees padding. Rows are not packed: on the CPU, the backward pass of packed sequences is
quadratic in the length.

Notation: B rows, S source positions, H hidden, A attention size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor, nn

from rlsum.models.execution import execution
from rlsum.models.pointer_generator.kernels.attention import Memory
from rlsum.models.pointer_generator.options import PointerGeneratorConfig


@dataclass(frozen=True)
class Encoded:
    """Articles, encoded once. ``select`` repeats or reorders rows, for samples and beams.

    memory   encoder states h_i (B, S, 2H), and keys 2 (W_h h_i + b) (B, S, A), computed once for all steps; for the 2
             see Network._attend
    mask     (B, S) bool  True at source tokens
    extended (B, S) int64 extended ids
    initial  (h, c), each (layers, B, H)
    unknowns largest number of unknown words in a row: the width by which V is extended
    """

    memory: Memory
    mask: Tensor
    extended: Tensor
    initial: tuple[Tensor, Tensor]
    unknowns: int

    def select(self, rows: Tensor, learning: int | None = None) -> Encoded:
        """Rows by number (R,). Only the first ``learning`` of them need a gradient; None: all."""
        h, c = self.initial
        return replace(
            self,
            memory=self.memory.select(rows, learning),
            mask=self.mask[rows],
            extended=self.extended[rows],
            initial=(h[:, rows], c[:, rows]),
        )


class State(NamedTuple):
    """Decoder state: h and c of each layer (layers, B, H), last context (B, 2H), attention spent so far (B, S)."""

    h: Tensor
    c: Tensor
    context: Tensor
    spent: Tensor

    def select(self, rows: Tensor) -> State:
        """Rows by number (R,)."""
        return State(self.h[:, rows], self.c[:, rows], self.context[rows], self.spent[rows])


class StepOutput(NamedTuple):
    """One decoder step: features [s_t; h*_t] (R, 3H), log attention (R, S) float32, logit of p_gen (R, 1) float32."""

    features: Tensor
    log_attention: Tensor
    gate: Tensor

    def select(self, rows: Tensor | slice) -> StepOutput:
        """Rows by number (R,), or a range of them."""
        return StepOutput(*(values[rows] for values in self))


class EncoderOutput(NamedTuple):
    """States (B, S, 2H), meaningful at the first ``length`` positions; ``last`` (B, 2H), where each direction ended."""

    states: Tensor
    last: Tensor


class BidirectionalEncoder(nn.Module):
    """``encoder_layers`` bidirectional LSTM layers with dropout between them."""

    def __init__(self, config: PointerGeneratorConfig) -> None:
        super().__init__()
        hidden = config.hidden
        sizes = [config.embedding] + [2 * hidden] * (config.encoder_layers - 1)
        self.forwards = nn.ModuleList(nn.LSTM(size, hidden, batch_first=True) for size in sizes)
        self.backwards = nn.ModuleList(nn.LSTM(size, hidden, batch_first=True) for size in sizes)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, inputs: Tensor, lengths: Tensor) -> EncoderOutput:
        """(B, S, embedding) and lengths (B,) int64; a row of length 0 is read as one padding position."""
        lengths = lengths.clamp(min=1)
        rows = torch.arange(len(inputs), device=inputs.device)
        mirror = reversal(lengths, inputs.shape[1])
        states = inputs
        for number, (ahead, back) in enumerate(zip(self.forwards, self.backwards, strict=True)):
            if number:
                states = self.dropout(states)
            ahead_states = run(ahead, states)
            back_states = run(back, states[rows.unsqueeze(1), mirror])
            last = torch.cat([ahead_states[rows, lengths - 1], back_states[rows, lengths - 1]], -1)
            states = torch.cat([ahead_states, back_states[rows.unsqueeze(1), mirror]], -1)
        return EncoderOutput(states, last)


def run(lstm: nn.Module, inputs: Tensor) -> Tensor:
    """(B, S, input) -> (B, S, H). Autocast stops here on a CPU, see ``Execution.half_lstm``."""
    if execution(inputs.device).half_lstm:
        return lstm(inputs)[0]
    with torch.autocast(inputs.device.type, enabled=False):
        return lstm(inputs.to(next(lstm.parameters()).dtype))[0]


def reversal(lengths: Tensor, width: int) -> Tensor:
    """(B, width) positions that turn each row around within its length and leave its padding in place."""
    position = torch.arange(width, device=lengths.device)
    mirrored = lengths.unsqueeze(1) - 1 - position
    return torch.where(mirrored >= 0, mirrored, position)
