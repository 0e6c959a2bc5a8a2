"""The demo's cheap parts: what it refuses, and the corpus it makes or keeps. The whole of it takes minutes."""

from pathlib import Path

import pytest

from rlsum.compare import demo
from rlsum.errors import UserError

CONFIGS = Path(__file__).resolve().parents[3] / "configs" / "demo"


@pytest.fixture
def said(monkeypatch):
    """What simulate() says, on a corpus that takes no time."""
    for name, size in {"TRAIN": 3, "VALID": 2, "TEST": 1}.items():
        monkeypatch.setattr(demo, name, size)
    monkeypatch.setattr(demo, "train_from_corpus", lambda corpus, path: path.write_text("vectors"))
    return []


def plan(folder, seed=1, rewards=("sms",), shuffled=False):
    return demo.Plan(CONFIGS, folder, seed, rewards, shuffled)


def test_an_unknown_reward_is_one_line_that_names_the_known(tmp_path):
    with pytest.raises(UserError, match=r"^rewards=sms,nothing: no nothing; known: rouge-l, wms, sms, s\+wms, twmd$"):
        demo.check(plan(tmp_path / "d", rewards=("sms", "nothing")))
    assert not (tmp_path / "d").exists()


def test_a_corpus_is_kept_when_whole_and_made_again_when_not(tmp_path, said):
    for _ in range(2):
        demo.check(plan(tmp_path))
        demo.simulate(plan(tmp_path), said.append)
    assert len(said) == 1
    for lost in (tmp_path / "plan.json", tmp_path / "data" / "test.jsonl"):
        content = lost.read_bytes()
        lost.unlink()
        demo.simulate(plan(tmp_path), said.append)
        assert lost.read_bytes() == content
    assert len(said) == 3


def test_a_folder_made_of_another_seed_or_size_is_refused_and_other_rewards_are_not(tmp_path, said, monkeypatch):
    demo.check(plan(tmp_path))
    demo.simulate(plan(tmp_path), said.append)
    demo.check(plan(tmp_path, rewards=("rouge-l", "wms"), shuffled=True))
    with pytest.raises(UserError, match=r'"seed": 1, .*, not of \{"seed": 2, .*choose another --folder'):
        demo.check(plan(tmp_path, seed=2))
    monkeypatch.setattr(demo, "TRAIN", 4)
    with pytest.raises(UserError, match="choose another --folder"):
        demo.check(plan(tmp_path))


def test_a_reward_named_twice_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"rewards=sms,sms: one stands there twice"):
        demo.check(plan(tmp_path / "d", rewards=("sms", "sms")))
