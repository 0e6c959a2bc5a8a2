"""The demo's cheap parts: what it refuses, and the corpus it makes or keeps. The whole of it takes minutes."""

from pathlib import Path

import pytest

from rlsum.compare import cells, demo
from rlsum.compare.report import read_cell
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


def test_each_system_is_scored_once_in_each_way_beside_the_marks(tmp_path, said, monkeypatch):
    """All but the scoring processes is a stand-in."""
    trained, decoded, shown = [], [], []

    def decode(cell, articles, folder, ways, say):
        decoded.append(cell.name)
        for way in ways:
            text = f"{cell.name} by {way.suffix}"
            write_outputs(cells.outputs_path(folder, cell, way), [Output("1", "a", ("b",), text, cell.name)])

    monkeypatch.setattr(cells, "train", lambda cell, init, say: trained.append((cell.name, init)))
    monkeypatch.setattr(cells, "decode", decode)
    monkeypatch.setattr(demo, "score", scored)
    monkeypatch.setattr(demo, "make_report", lambda plan, every, scores: shown.append((every, scores)))
    demo.run(plan(tmp_path, rewards=("rouge-l", "sms")), said.append)
    names = ["MLE", "MLE continued", "MLE+RL rouge-l", "MLE+RL sms"]
    assert trained[0] == ("MLE", None)  # before all that begins from it
    assert sorted(trained[1:], key=str) == sorted(((name, tmp_path / "mle") for name in names), key=str)
    assert sorted(decoded) == names
    [(every, sections)] = shown
    assert [cell.name for cell in every] == names
    for way, section in zip(demo.WAYS, sections, strict=True):
        assert section[:2] == ["lead-3", "oracle"]
        assert section[2:] == [f"{name} by {way.suffix}" for name in names]


def scored(results, data):
    """In place of scores: the texts, or the names of marks. Run by a scoring process."""
    return [read_cell(each)[0].candidate if each.run else each.name for each in results]
