"""The demo's cheap parts: what it refuses, and the corpus it makes or keeps. The whole of it takes minutes."""

from pathlib import Path

import pytest

from rlsum.compare import demo, variants
from rlsum.errors import UserError
from rlsum.records import Output, write_outputs

CONFIGS = Path(__file__).resolve().parents[3] / "configs" / "demo"


@pytest.fixture
def said(monkeypatch):
    """What simulate() says, on a corpus that takes no time."""
    for name, size in {"TRAIN": 3, "VALID": 2, "TEST": 1}.items():
        monkeypatch.setattr(demo, name, size)
    monkeypatch.setattr(demo, "train_from_corpus", lambda corpus, path: path.write_text("vectors"))
    return []


def settings(folder, seed=1, rewards=("sms",), shuffled=False):
    return demo.DemoSettings(CONFIGS, folder, seed, rewards, shuffled)


def test_an_unknown_reward_is_one_line_that_names_the_known(tmp_path):
    with pytest.raises(UserError, match=r"^rewards=sms,nothing: no nothing; known: rouge-l, wms, sms, s\+wms, twmd$"):
        demo.check(settings(tmp_path / "d", rewards=("sms", "nothing")))
    assert not (tmp_path / "d").exists()


def test_a_corpus_is_kept_when_whole_and_made_again_when_not(tmp_path, said):
    for _ in range(2):
        demo.check(settings(tmp_path))
        demo.simulate(settings(tmp_path), said.append)
    assert len(said) == 1
    for lost in (tmp_path / "plan.json", tmp_path / "data" / "test.jsonl"):
        content = lost.read_bytes()
        lost.unlink()
        demo.simulate(settings(tmp_path), said.append)
        assert lost.read_bytes() == content
    assert len(said) == 3


def test_a_folder_made_of_another_seed_or_size_is_refused_and_other_rewards_are_not(tmp_path, said, monkeypatch):
    demo.check(settings(tmp_path))
    demo.simulate(settings(tmp_path), said.append)
    demo.check(settings(tmp_path, rewards=("rouge-l", "wms"), shuffled=True))
    with pytest.raises(UserError, match=r'"seed": 1, .*, not of \{"seed": 2, .*choose another --folder'):
        demo.check(settings(tmp_path, seed=2))
    monkeypatch.setattr(demo, "TRAIN", 4)
    with pytest.raises(UserError, match="choose another --folder"):
        demo.check(settings(tmp_path))


def test_a_reward_named_twice_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"rewards=sms,sms: a reward is named twice"):
        demo.check(settings(tmp_path / "d", rewards=("sms", "sms")))


def test_each_system_is_scored_once_in_each_way_with_the_untrained_systems(tmp_path, said, monkeypatch):
    """All but the scoring processes is a stand-in."""
    trained, decoded, shown = [], [], []

    def decode(variant, articles, folder, log):
        decoded.append(variant.name)
        for method in variants.METHODS:
            path = variants.outputs_path(folder, variant, method)
            write_outputs(path, [Output("1", "a", ("b",), f"{variant.name} by {method.suffix}", variant.name)])

    monkeypatch.setattr(variants, "train", lambda variant, init, log: trained.append((variant.name, init)))
    monkeypatch.setattr(variants, "decode", decode)
    monkeypatch.setattr(demo, "score", scored)
    monkeypatch.setattr(demo, "make_report", lambda settings, ordered, scores: shown.append((ordered, scores)))
    demo.run(settings(tmp_path, rewards=("rouge-l", "sms")), said.append)
    names = ["MLE", "MLE continued", "MLE+RL rouge-l", "MLE+RL sms"]
    assert trained[0] == ("MLE", None)  # before all that begins from it
    assert sorted(trained[1:], key=str) == sorted(((name, tmp_path / "mle") for name in names), key=str)
    assert sorted(decoded) == names
    [(ordered, sections)] = shown
    assert [variant.name for variant in ordered] == names
    for method, section in zip(variants.METHODS, sections, strict=True):
        assert section[:2] == ["lead-3", "oracle"]
        assert section[2:] == [f"{name} by {method.suffix}" for name in names]


def scored(systems, data):
    """In place of scores: the texts, or the names of untrained systems. Run by a scoring process."""
    return [system.read()[0].candidate if system.run else system.name for system in systems]
