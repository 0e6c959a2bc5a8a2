"""A bidirectional LSTM encoder whose states do not depend on padding.

Each direction is a plain LSTM over right-padded rows; the backward one reads each row reversed within its own length.
So no real position ever sees padding, and nothing is packed: packed sequences take a path on the CPU whose backward
pass is quadratic in the length.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn


class EncoderOutput(NamedTuple):
    """States (B, S, 2H), meaningful at the first ``length`` positions; ``last`` (B, 2H), where each direction ended."""

    states: Tensor
    last: Tensor


class BidirectionalEncoder(nn.Module):
    """``layers`` bidirectional LSTM layers with dropout between them. Notation: B rows, S positions, H hidden."""

    def __init__(self, input_size: int, hidden: int, layers: int, dropout: float) -> None:
        super().__init__()
        sizes = [input_size] + [2 * hidden] * (layers - 1)
        self.forwards = nn.ModuleList(nn.LSTM(size, hidden, batch_first=True) for size in sizes)
        self.backwards = nn.ModuleList(nn.LSTM(size, hidden, batch_first=True) for size in sizes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, inputs: Tensor, lengths: Tensor) -> EncoderOutput:
        """(B, S, input_size) and lengths (B,) int64; a row of length 0 is read as one padding position."""
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
    """(B, S, input) -> (B, S, H). Autocast stops here on a CPU: many have no half-precision LSTM and would raise."""
    if inputs.device.type != "cpu":
        return lstm(inputs)[0]
    with torch.autocast("cpu", enabled=False):
        return lstm(inputs.to(next(lstm.parameters()).dtype))[0]


def reversal(lengths: Tensor, width: int) -> Tensor:
    """(B, width) positions that turn each row around within its length and leave its padding in place."""
    position = torch.arange(width, device=lengths.device)
    mirrored = lengths.unsqueeze(1) - 1 - position
    return torch.where(mirrored >= 0, mirrored, position)
