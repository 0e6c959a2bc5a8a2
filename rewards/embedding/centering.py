"""Ways to move word vectors to a common origin before cosines are taken (Chen et al. 2020, section 4).

Pure functions on torch tensors ``(L, D)``: a text's token vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from torch import Tensor

Centering = Literal["none", "dimension", "sentence", "batch", "corpus"]

OFFICIAL_BATCH = 32  # pairs that share one mean for the candidates and one for the references in the official code
NOISE = 1e-5  # of a vector's length


def by_dimension(vectors: Tensor) -> Tensor:
    """Subtract from each vector the mean of its own coordinates: ``(L, D) -> (L, D)``."""
    return vectors - vectors.mean(dim=1, keepdim=True)


def by_sentence(vectors: Tensor) -> Tensor:
    """Subtract the mean over the text's tokens; a text of one token vanishes, so it must not come here."""
    return vectors - vectors.mean(dim=0, keepdim=True)


def token_mean(texts: Sequence[Tensor]) -> Tensor:
    """The mean ``(D,)`` over all tokens of all texts, each token counting once; at least one token is needed."""
    total = texts[0].new_zeros(texts[0].shape[1])
    for vectors in texts:
        total = total + vectors.sum(dim=0)
    return total / sum(len(vectors) for vectors in texts)


def without_noise(centred: Tensor, vectors: Tensor) -> Tensor:
    """``centred`` with zeros for the vectors of which centering left only rounding, ``vectors`` being the originals.

    Scaled to unit length, what is left would be a random direction. Float32 vectors are exact to about 1e-7.
    """
    left = centred.norm(dim=1, keepdim=True) > NOISE * vectors.norm(dim=1, keepdim=True)
    return centred * left


def unit(vectors: Tensor) -> Tensor:
    """Scale each vector to length 1, after centering; a zero vector stays zero."""
    return vectors / vectors.norm(dim=1, keepdim=True).clamp_min(1e-12)
