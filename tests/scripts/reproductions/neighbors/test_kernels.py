import numpy as np
import pytest
from reproductions.neighbors.kernels import BLEU, LEXICAL, Kernel, Matrices, bertscore, similarities

import rewards

TEXTS = ("the fox is quick", "a dog", "")
EXAMPLES = ("the dog was quick", "it is the fox", "dogs are lazy", "the fox is quick")


@pytest.mark.parametrize("kernel", LEXICAL, ids=lambda kernel: kernel.name)
def test_values_are_the_kernels_own(kernel):
    reward = rewards.from_spec(kernel.spec)
    found = similarities(reward, TEXTS[:2], EXAMPLES)
    for text, row in zip(TEXTS[:2], found, strict=True):
        expected = reward([text] * 4, [[example] for example in EXAMPLES])
        assert row == pytest.approx(np.nan_to_num(expected), abs=1e-12)  # three words have no 4-gram: no neighbour


def test_thresholds_are_those_of_the_paper():
    found = {kernel.name: kernel.tau for kernel in LEXICAL}
    assert found == {"BLEU*": 0.08, "BLEU* as printed": 0.08, "ROUGE": 0.06, "METEOR": 0.18}


def test_values_are_computed_once(tmp_path):
    told = []
    matrices = Matrices(tmp_path / "kernels", told.append)
    first = matrices(BLEU, TEXTS, EXAMPLES)
    (saved,) = (tmp_path / "kernels").iterdir()
    np.save(saved, first + 1)  # what is read the second time is the file
    assert Matrices(tmp_path / "kernels", told.append)(BLEU, TEXTS, EXAMPLES).tolist() == (first + 1).tolist()
    assert told == ["BLEU*: 3 x 4 pairs"]


def test_another_option_or_text_is_another_matrix(tmp_path):
    told = []
    matrices = Matrices(tmp_path, told.append)
    clipped = Kernel("BLEU*", "bleu-star(zero_order=stop, clip=true)", 0.08)
    for kernel, texts in ((BLEU, TEXTS), (clipped, TEXTS), (BLEU, TEXTS[:2]), (BLEU, TEXTS)):
        matrices(kernel, texts, EXAMPLES)
    assert len(told) == len(list(tmp_path.iterdir())) == 3


def test_rescaled_bertscore_is_a_kernel(tmp_path, tiny_encoder):
    from rewards.embedding.rescaling import add_baseline, measure_baseline

    texts = ["the cat runs", "a dog sleeps", "the red bridge falls", "the mayor"]
    path = tmp_path / "odd name, 1.json"
    add_baseline(path, measure_baseline(rewards.load("bertscore", encoder=str(tiny_encoder)), texts, 40))
    kernel = bertscore(str(tiny_encoder), path)
    reward = rewards.from_spec(kernel.spec)
    found = similarities(reward, texts[:2], texts)
    assert np.diag(found) == pytest.approx([1, 1])
    assert kernel.tau == 0.10
    examples = list(zip(texts, [0.1, 0.2, 0.3, 0.4], strict=True))
    neighbors = rewards.load("bleu-neighbors", examples=examples, kernel=kernel.spec, a=1, b=1)
    near = found[0] >= 0.10
    assert neighbors([texts[0]])[0] == pytest.approx(np.array([0.1, 0.2, 0.3, 0.4])[near].mean())
