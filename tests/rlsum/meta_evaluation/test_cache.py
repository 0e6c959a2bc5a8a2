import numpy as np
import pytest
from awkward import Counting
from rated import rated

from rewards.errors import RewardError
from rlsum.errors import UserError
from rlsum.meta_evaluation import cache
from rlsum.meta_evaluation.cache import cached_scores, default_folder, scores_file


class Together(Counting):
    """A metric whose scores depend on its batch mates, as its signature says."""

    @property
    def signature(self):
        return "together|centering:batch"

    def scores(self, inputs):
        scores = super().scores(inputs)
        return np.where(np.arange(len(scores)) == 1, np.nan, scores - np.nanmean(scores))


@pytest.fixture
def file(tmp_path):
    return scores_file(tmp_path / "new" / "cache")


def ask(reward, rows, file):
    return cached_scores(reward, [rows], file, lambda count: None)[0]


@pytest.mark.parametrize("kind", [Counting, Together])
def test_what_was_scored_is_not_scored_again(kind, file):
    rows = rated().rows
    first, second = kind(), kind()
    scores = ask(first, rows, file)
    np.testing.assert_array_equal(ask(second, rows, file), scores)
    assert first.asked
    assert second.asked == []
    np.testing.assert_array_equal(ask(kind(), rows, None), scores)


def test_other_batch_mates_or_another_order_are_other_scores(file):
    rows = rated().rows
    ask(Together(), rows, file)
    for other in (rows[:-1], rows[::-1]):
        again = Together()
        np.testing.assert_array_equal(ask(again, other, file), ask(Together(), other, None))
        assert len(again.asked) == len(other)


def test_another_option_is_another_score(file):
    rows = rated().rows
    ask(Counting(), rows, file)
    np.testing.assert_array_equal(ask(Counting(option=5), rows, file), ask(Counting(), rows, None) + 5)


def test_what_was_scored_before_a_failure_stays(file, monkeypatch):
    monkeypatch.setattr(cache, "CHUNK", 4)
    rows = rated().rows

    class Failing(Counting):
        def scores(self, inputs):
            if self.asked:
                raise KeyboardInterrupt
            return super().scores(inputs)

    with pytest.raises(KeyboardInterrupt):
        ask(Failing(), rows, file)
    again = Counting()
    ask(again, rows, file)
    assert set(again.asked).isdisjoint({row.candidate for row in rows[:4]})


def test_places_that_cannot_be_used(tmp_path, file):
    (tmp_path / "taken").write_text("")
    with pytest.raises(UserError, match=r"cache=.*taken/cache'?: "):
        scores_file(tmp_path / "taken" / "cache")
    file.write_text("no database, but long enough to be taken for one" * 50)
    with pytest.raises(RewardError, match="remove it, or name another"):
        ask(Counting(), rated().rows, file)


def test_the_default_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "rlsum"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_folder().parts[-2:] == (".cache", "rlsum")
