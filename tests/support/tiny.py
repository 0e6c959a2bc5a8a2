"""Models, batches and corpora small enough that a test of training takes milliseconds."""

from __future__ import annotations

import torch

from rlsum.data.batch import Batch, collate
from rlsum.data.vocabulary import EOS, PAD, Vocabulary
from rlsum.models.pointer_generator import PointerGenerator
from rlsum.models.sizes import PointerGeneratorConfig

WORDS = ("ash", "birch", "cedar", "elm", "fir", "oak")

# (article, summary): words out of the vocabulary are capitalised; some are copied, one (Nowhere) cannot be
PAIRS = (
    ("Quercus oak elm Quercus Acer fir ash birch", "Quercus elm Acer oak"),
    ("Tilia", "Tilia Tilia Nowhere"),
    ("cedar Zelkova cedar", ""),
    ("fir ash oak Zelkova Quercus", "ash Quercus fir fir Zelkova"),
)
EMPTY = ("", "ash Nowhere")


def vocabulary(words=WORDS) -> Vocabulary:
    return Vocabulary.build([words], size=100)


def rows(pairs) -> dict:
    """Columns as a corpus has them."""
    return {
        "id": [str(i) for i in range(len(pairs))],
        "source": [source for source, _ in pairs],
        "references": [[reference] for _, reference in pairs],
        "src_tokens": [source.split() for source, _ in pairs],
        "tgt_tokens": [reference.split() for _, reference in pairs],
    }


def batch(pairs=PAIRS, words=WORDS) -> Batch:
    return collate(rows(pairs), vocabulary(words))


def model(seed=1, std=0.4, words=WORDS, **sizes) -> PointerGenerator:
    """A model whose weights are large enough that its distributions are far from uniform."""
    torch.manual_seed(seed)
    built = PointerGenerator(PointerGeneratorConfig(**{"embedding": 6, "hidden": 8, **sizes}), vocabulary(words))
    with torch.no_grad():
        for parameter in built.parameters():
            parameter.normal_(std=std)
        built.embed.weight[PAD].zero_()
    return built.eval()


def copier(**options) -> PointerGenerator:
    """A model that copies about as often as it generates, and ends soon enough."""
    built = model(std=0.8, **options)
    with torch.no_grad():
        built.gate.bias.fill_(0.0)
        built.word_out.bias[EOS] = 2.0
    return built


def gradients(module: torch.nn.Module, loss: torch.Tensor) -> dict[str, torch.Tensor]:
    """Gradient of a loss by parameter, zeros where a parameter plays no part."""
    names, parameters = zip(*module.named_parameters(), strict=True)
    found = torch.autograd.grad(loss, parameters, allow_unused=True)
    pairs = zip(names, parameters, found, strict=True)
    return {name: torch.zeros_like(p) if g is None else g for name, p, g in pairs}
