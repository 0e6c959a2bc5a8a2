"""The pointer-generator through transformers' own loaders, from local folders."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tiny
import torch
from huggingface_hub import ModelCard
from transformers import AutoConfig, AutoModel

from rlsum.config import Config, DataConfig, Training
from rlsum.models import hub
from rlsum.models.decoding import Decoding
from rlsum.models.summarizer import WEIGHTS
from rlsum.training import checkpoint

SIZES = [pytest.param({}, id="plain"), pytest.param({"coverage": True, "encoder_layers": 2}, id="coverage")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a run's checkpoint holds of its model."""
    return written(tmp_path / "best")


def written(folder: Path, **sizes) -> Path:
    model = tiny.copier(**sizes)
    folder.mkdir()
    model.save_to(folder, {}, Decoding())
    assert list(model.weight_files()) == [WEIGHTS]
    checkpoint.save_weights(folder, model, {})
    return folder


def same(model: hub.PointerGeneratorForSummarization, **sizes) -> None:
    expected, batch = tiny.copier(**sizes), tiny.batch()
    for name, tensor in expected.state_dict().items():
        assert torch.equal(model.network.state_dict()[name], tensor), name
    scores = (summarizer(batch, batch.target).log_prob for summarizer in (model, expected))
    torch.testing.assert_close(*scores, atol=1e-6, rtol=1e-6)  # weights read from a file lie differently in memory
    assert model.network.vocabulary == expected.vocabulary


@pytest.mark.parametrize("sizes", SIZES)
def test_a_checkpoint_of_a_run_is_a_model_of_transformers(sizes: dict, tmp_path: Path) -> None:
    folder = written(tmp_path / "best", **sizes)
    found = AutoModel.from_pretrained(folder)
    assert isinstance(found, hub.PointerGeneratorForSummarization)
    assert AutoConfig.from_pretrained(folder).sizes == found.network.config == tiny.copier(**sizes).config
    same(found, **sizes)


def test_saved_and_loaded_it_is_the_same(folder: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    AutoModel.from_pretrained(folder).save_pretrained(again)
    same(AutoModel.from_pretrained(again))
    same(hub.PointerGeneratorForSummarization.from_pretrained(again))


def test_it_writes_what_the_summarizer_writes(folder: Path) -> None:
    model, batch, decoding = tiny.copier(), tiny.batch(), Decoding(method="beam", max_length=12)
    expected = model.to_text(batch, model.generate(batch, decoding))
    articles = [source.split() for source, _ in tiny.PAIRS]
    assert AutoModel.from_pretrained(folder).summarize(articles, decoding) == expected
    assert any("Quercus" in text for text in expected)  # a word that no vocabulary holds was copied


def test_texts_are_read_and_decoded_as_by_the_run(tmp_path: Path) -> None:
    model, decoding = tiny.copier(), Decoding(beam=3, max_length=7, min_length=2)
    data = DataConfig(train="t", valid="v", lowercase=True, max_source=4)
    config = Config(run="r", data=data, training=Training(steps=1), decoding=decoding)
    checkpoint.create(tmp_path / "best", config, model, {})
    checkpoint.save_weights(tmp_path / "best", model, {})
    AutoModel.from_pretrained(tmp_path / "best").save_pretrained(tmp_path / "again")
    for folder in ("best", "again"):
        found = AutoModel.from_pretrained(tmp_path / folder)
        texts = ["The Dog\nsaw Quercus and more .", "a B"]
        words = [["the", "dog", "saw", "quercus"], ["a", "b"]]
        assert found.summarize(texts) == found.summarize(words, Decoding("beam", beam=3, max_length=7, min_length=2))
    with pytest.raises(ValueError, match="not one text"):
        found.summarize("the storm")


def test_without_a_run_words_are_needed(folder: Path) -> None:
    with pytest.raises(ValueError, match="list of words"):
        AutoModel.from_pretrained(folder).summarize(["the storm"])


@pytest.mark.parametrize("name", ["vocab.txt", WEIGHTS])
def test_a_folder_that_lacks_words_or_weights_is_refused(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(OSError, match=re.escape(name)):
        AutoModel.from_pretrained(folder)


def test_half_precision(folder: Path) -> None:
    found = AutoModel.from_pretrained(folder, dtype=torch.bfloat16)
    assert found.network.embed.weight.dtype == torch.bfloat16
    assert len(found.summarize([["Quercus", "oak"]], Decoding(max_length=5))) == 1


def test_what_is_pushed_to_the_hub_is_the_whole_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All but the network's own calls is real."""
    model, pushed = AutoModel.from_pretrained(folder), set()

    class Repositories:
        def create_repo(self, repo_id: str, **options: object) -> Repositories:
            self.repo_id = repo_id
            return self

    def upload(folder: str, repo_id: str, **options: object) -> None:
        pushed.update((repo_id, path.name) for path in Path(folder).iterdir())

    monkeypatch.setattr("transformers.utils.hub.hf_api", Repositories)
    monkeypatch.setattr("transformers.utils.hub.create_and_tag_model_card", lambda *_, **__: ModelCard("---\n---\n"))
    monkeypatch.setattr(model, "_upload_modified_files", upload)
    model.push_to_hub("someone/pointer")
    assert pushed == {("someone/pointer", name) for name in ("README.md", "config.json", WEIGHTS, "vocab.txt")}
