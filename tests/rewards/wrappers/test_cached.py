from __future__ import annotations

import pickle
import sqlite3
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from awkward import Counting

import rewards
from rewards.wrappers.cached import Store, item_key
from rlsum.errors import disk_full


def cached(inner: Counting, **options: object) -> rewards.Reward:
    return rewards.load("cached", reward=inner, **options)


def test_the_same_texts_are_scored_once() -> None:
    inner = Counting()
    reward = cached(inner)
    np.testing.assert_array_equal(reward(["a", "bb", "a"]), [1, 2, 1])
    np.testing.assert_array_equal(reward(["bb", "ccc"]), [2, 3])
    assert inner.asked == ["a", "bb", "ccc"]
    assert reward.signature == inner.signature


@pytest.mark.parametrize("names", [["cached"], ["limited"], ["cached", "limited"]])
def test_a_reward_that_is_fitted_again_scores_anew(tiny_encoder: Path, names: list[str]) -> None:
    """Its signature names the new mean at once."""
    wrapped = reward = rewards.load("twmd", encoder=str(tiny_encoder), centering="corpus")
    for name in names:
        wrapped = rewards.load(name, reward=wrapped, **({"seconds": 60} if name == "limited" else {}))
    means = []
    for texts in (["the cat runs", "a dog"], ["the mayor sleeps", "a red storm falls ."]):
        reward.fit(texts)
        found, expected = (scorer(["the cat sleeps"], [["a red dog"]]) for scorer in (wrapped, reward))
        assert found == pytest.approx(expected, abs=1e-6)  # another process may have other threads
        means.append(expected)
    assert abs(means[0] - means[1]) > 1e-3


def test_references_and_sources_are_part_of_the_content() -> None:
    inner = Counting()
    reward = cached(inner)
    contexts = ((), ([["b"]],), ([["b", "c"]],), ([["bc"]],), ([["c", "b"]],), ([["b"]], [""]), ([["b"]], ["s"]))
    for text, context in (*(("a", context) for context in contexts), ("ab", ([[""]],))):
        for _ in range(2):
            reward([text], *context)
    assert inner.asked == ["a"] * 7 + ["ab"]


def test_undefined_is_asked_again_and_keeps_its_reason() -> None:
    inner = Counting()
    reward = cached(inner)
    for _ in range(2):
        np.testing.assert_equal(reward(["nan", "a"]), [np.nan, 1])
    assert inner.asked == ["nan", "a", "nan"]
    assert reward.undefined("nan") == "it is nan"


def test_the_least_recently_used_leave() -> None:
    inner = Counting()
    reward = cached(inner, size=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        reward([text])
    assert inner.asked == ["a", "b", "c", "b"]
    np.testing.assert_array_equal(reward(["x", "yy", "zzz"]), [1, 2, 3])  # more in one call than it may keep


def test_a_file_outlives_the_reward_and_is_bounded(tmp_path: Path) -> None:
    file = str(tmp_path / "scores.sqlite")
    cached(Counting(), file=file, size=3)(["a", "bb", "ccc"])
    inner = Counting()
    np.testing.assert_array_equal(cached(inner, file=file, size=3)(["bb", "dddd", "a"]), [2, 4, 1])
    assert inner.asked == ["dddd"]
    assert sqlite3.connect(file).execute("SELECT COUNT(*) FROM scores").fetchone() == (3,)


def test_rewards_that_share_a_file_do_not_mix(tmp_path: Path) -> None:
    file = str(tmp_path / "scores.sqlite")
    assert cached(Counting(0), file=file)(["a"])[0] == 1
    assert cached(Counting(5), file=file)(["a"])[0] == 6


def score(reward: rewards.Reward, texts: list[str]) -> list[float]:
    return reward(texts).tolist()


def test_processes_share_a_file(tmp_path: Path) -> None:
    """It is sent to another process, and both write."""
    reward = cached(Counting(), file=str(tmp_path / "scores.sqlite"))
    reward(["a"])
    with get_context("fork").Pool(2) as pool:
        texts = [["x" * (number + place) for place in range(30)] for number in range(8)]
        found = pool.starmap(score, [(reward, some) for some in texts])
    assert found == [[float(number + place) for place in range(30)] for number in range(8)]
    assert len(pickle.loads(pickle.dumps(reward))._look_up([item_key(reward.signature, rewards.Item("xxx"))])) == 1


def test_a_file_that_is_none_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(rewards.RewardError, match="nowhere"):
        cached(Counting(), file=str(tmp_path / "nowhere" / "x.sqlite"))
    (tmp_path / "text").write_text("no database " * 1000)
    with pytest.raises(rewards.RewardError, match="cannot be used"):
        cached(Counting(), file=str(tmp_path / "text"))(["a"])


def test_a_full_disk_is_no_reason_to_remove_what_is_kept(tmp_path: Path) -> None:
    file = str(tmp_path / "scores.sqlite")
    store = Store[float](file, 100_000)
    store.put({b"a": 1.0})
    store.connection.execute("PRAGMA max_page_count=4")
    with pytest.raises(rewards.RewardError, match=r"full.*; keep it") as caught:
        store.put({b"%d" % number * 9: 1.0 for number in range(10_000)})
    assert disk_full(caught.value)
    assert Store[float](file, 100_000).get([b"a"]) == {b"a": 1.0}


def test_rewards_that_need_company_are_refused() -> None:
    with pytest.raises(rewards.RewardError, match="depend on the batch"):
        rewards.from_spec("cached(reward=weighted(source_rewards:Ranked=1))")(["a", "b"], [["a"], ["b"]])


@pytest.mark.parametrize("code", [sqlite3.SQLITE_BUSY, sqlite3.SQLITE_READONLY])
def test_a_new_file_that_another_process_is_making_is_waited_for(tmp_path, monkeypatch, code: int) -> None:
    """Of two that make it at one moment, SQLite refuses one at once, whatever its timeout."""
    refused = []

    class Connection(sqlite3.Connection):
        def execute(self, statement, *values):
            if "WAL" in statement and not refused:
                refused.append(error := sqlite3.OperationalError("database is locked"))
                error.sqlite_errorcode = code
                raise error
            return super().execute(statement, *values)

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **options: connect(*given, factory=Connection, **options))
    store = Store[float](str(tmp_path / "new.sqlite"), 10)
    if code == sqlite3.SQLITE_BUSY:
        store.put({b"a": 1.0})
        assert store.get([b"a"]) == {b"a": 1.0}
    else:
        with pytest.raises(rewards.RewardError, match="cannot be used"):
            store.put({b"a": 1.0})
    assert refused
