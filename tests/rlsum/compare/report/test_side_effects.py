from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlsum.compare.report.gains import lengths as lengths_beside
from rlsum.compare.report.overoptimization import Path
from rlsum.compare.report.side_effects import equal_length_table, is_longer, side_effects
from rlsum.compare.results import Results, System, contrasts
from rlsum.evaluation.trained.hierarchical import compare_systems

ARTICLES = 200


def system(name: str, kind: str, scores: dict[str, np.ndarray], lengths: np.ndarray) -> System:
    return System(name, name, kind, "m" if kind == "reward" else None, scores, {"length": lengths})


def results(*systems: System, seeds: int = 3) -> Results:
    ids = tuple(map(str, range(ARTICLES)))
    found = Results("beam", tuple(range(1, seeds + 1)), ids, {each.name: each for each in systems}, {})
    return replace(found, against={"start": contrasts(found, "start")} if "start" in found.systems else {})


def noise(seed: int, mean: float, seeds: int = 3) -> np.ndarray:
    return mean + np.random.default_rng(seed).normal(0, 0.05, (seeds, ARTICLES))


def lengths(mean: int, seeds: int = 3) -> np.ndarray:
    return np.random.default_rng(mean).integers(mean - 5, mean + 6, (seeds, ARTICLES)).astype(float)


def trained_and_start(seeds: int = 3, tokens: int = 50) -> Results:
    start = system("start", "start", {"m": noise(0, 0.5, 1), "other": noise(1, 0.5, 1)}, lengths(12, 1))
    own = {"m": noise(2, 0.6, seeds), "other": noise(3, 0.4, seeds)}
    return results(start, system("a", "reward", own, lengths(tokens, seeds)), seeds=seeds)


def test_what_fell_and_what_length_explains_is_said():
    falls = Path("a", "nll", np.array([0.0, 60, 120]), np.zeros((1, 3)), {"other": np.array([[0.5, 0.5, 0.4]])})
    found = trained_and_start()
    said = side_effects(found, found.trained[0], [falls])
    assert said.startswith("Its summaries have 50.")
    assert "times those of start, and what m gained besides length cannot be judged (one is longer in 100%" in said
    assert "Below the start: other (-" in said
    assert said.endswith(", in validation from update 120 on).")


@pytest.mark.parametrize(("gain", "word"), [(0.0, "no gain besides length is shown"), (0.1, "a gain besides length")])
def test_summaries_cut_to_the_length_of_the_start_say_whether_the_gain_is_length(gain, word):
    found = trained_and_start()
    same = compare_systems(noise(7, 0.5 + gain), noise(8, 0.5, 1))
    said = side_effects(found, found.trained[0], (), {"a": same})
    assert f"one is longer in 100% of the pairs; cut to the lengths of start they score {100 * same.mean:+.2f}" in said
    assert word in said
    one = compare_systems(noise(7, 0.5)[:, :1], noise(8, 0.5, 1)[:, :1])
    assert "on m (no interval): no gain" in side_effects(found, found.trained[0], (), {"a": one})


def test_where_the_texts_became_longer_is_said():
    longer = Path("a", "nll", np.array([0.0, 60, 120]), np.zeros((1, 3)), {"length": np.array([[12.0, 12.5, 50]])})
    found = trained_and_start()
    assert "longer than the start's in validation from update 120 on" in side_effects(found, found.trained[0], [longer])


def test_one_seed_cannot_tell():
    found = trained_and_start(seeds=1, tokens=12)
    said = side_effects(found, found.trained[0])
    assert "One seed cannot tell whether other metrics fell: the least is -" in said


def test_harmless_trainings_are_seldom_said_to_lose():
    generator = np.random.default_rng(0)

    def harmless(rows: int) -> dict[str, np.ndarray]:
        effect = generator.normal(0, 0.005, (rows, 1))
        return {name: effect + generator.normal(0, 0.05, (rows, ARTICLES)) for name in ("m", "b", "c", "d", "e")}

    same, false = lengths(12), 0
    for _ in range(100):
        start, own = harmless(3), harmless(3)
        found = results(system("start", "start", start, same), system("a", "reward", own, same))
        false += bool(side_effects(found, found.trained[0]))
    assert false / 100 <= 0.1


def test_lengths_are_those_of_seeds_and_articles_that_both_have():
    def row(name: str, kind: str, *tokens: float) -> System:
        return system(name, kind, {"m": noise(0, 0.5)}, np.repeat(np.array(tokens)[:, None], ARTICLES, axis=1))

    control, start = row("none", "control", 10, 10, 40), row("start", "start", 10)
    same, twice, other = (row("a", "reward", *tokens) for tokens in ((10, 10, np.nan), (20, 20, np.nan), [np.nan] * 3))
    assert side_effects(results(control, same), same) == ""
    assert "20.0 tokens, 2.0 times those of none" in side_effects(results(control, twice), twice)
    assert is_longer(twice, control)  # its summaries are cut
    assert not is_longer(other, control)
    assert lengths_beside(same, control) == "10.0 tokens a summary; none 10.0"
    assert lengths_beside(other, control) == ""
    start.properties["length"][:, : ARTICLES // 2] = 40
    twice.properties["length"][:, : ARTICLES // 2] = np.nan
    assert lengths_beside(twice, start) == "20.0 tokens a summary; start 10.0"


def test_a_gain_by_length_alone_is_gone_at_equal_length():
    generator = np.random.default_rng(0)
    shorter = generator.integers(10, 30, (3, ARTICLES)).astype(float)
    longer = shorter + generator.integers(-3, 10, (3, ARTICLES))
    control = system("none", "control", {"m": 0.01 * shorter}, shorter)
    table = equal_length_table(results(control, system("a", "reward", {"m": 0.01 * longer}, longer)))
    assert table is not None
    (row,) = table.rows
    assert float(row[1].text) == pytest.approx((longer - shorter).mean(), abs=0.06)
    assert abs(float(row[2].text)) == 0
    assert f"raw {(longer - shorter).mean():+.2f}" in row[2].detail
    assert equal_length_table(results(system("a", "reward", {"m": longer}, longer))) is None


def test_a_fall_that_the_correction_hides_is_named_as_not_shown():
    generator = np.random.default_rng(3)
    seeds = generator.normal(-0.1, 0.01, (3, 1))
    others = {f"m{number}": noise(number, 0.5) for number in range(20)}
    start = system("start", "start", {"m": noise(0, 0.5, 1), "b": noise(1, 0.5, 1), **others}, lengths(12, 1))
    own = {"m": noise(2, 0.6), "b": noise(3, 0.5) + seeds, **{name: values.copy() for name, values in others.items()}}
    found = results(start, system("a", "reward", own, lengths(12)))
    (test,) = [test for test in found.against["start"] if test.metric == "b"]
    assert test.difference.p < 0.05 < test.difference.p_holm
    said = side_effects(found, found.trained[0])
    assert f"fall, {100 * test.difference.mean:+.2f} on b over the start, is not shown" in said
