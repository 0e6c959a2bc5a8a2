from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from rlsum.compare.report.designs import (
    DesignError,
    enough,
    estimates,
    family_of,
    pilot_variances,
    plan_blocks,
    pooled,
    power_blocks,
    read_variances,
    spread_bound,
    to_values,
)
from rlsum.compare.results import Results, System
from rlsum.evaluation.trained.hierarchical import components
from rlsum.evaluation.trained.power import DEFAULTS, Family, power
from rlsum.pages.blocks import Paragraph
from rlsum.pages.table import Table


def results(seeds: int, systems: int = 1) -> Results:
    generator = np.random.default_rng(0)
    shape = (seeds, 200)

    def system(name: str, kind: str) -> System:
        scores = generator.normal(0.4, 0.1, shape) + generator.normal(0, 0.05, (seeds, 1))
        return System(name, name, kind, "m", {"m": scores}, {})

    rows = [system("none", "control"), *(system(f"r{number}", "reward") for number in range(systems))]
    return Results("beam", tuple(range(seeds)), tuple(map(str, range(200))), {each.name: each for each in rows}, {})


def test_the_variances_of_one_difference_are_its_own():
    found = results(3)
    table = found.systems["r0"].metrics["m"] - found.systems["none"].metrics["m"]
    pool = pooled(found, "m")
    assert pool is not None
    of_seed, *others = estimates(components(table))
    assert (pool.article, pool.residual) == pytest.approx([max(0, x) for x in others])
    assert pool.seed > of_seed


def test_the_spread_of_seeds_is_bounded_from_above():
    generator = np.random.default_rng(0)
    for seeds, systems in ((2, 1), (2, 5), (3, 3)):
        # differences from one control: its own seeds are in all of them
        effects = generator.normal(0, 1, (4000, seeds, systems)) - generator.normal(0, 1, (4000, seeds, 1))
        squares = effects.var(axis=1, ddof=1).mean(axis=1)
        assert 0.77 < np.mean(squares * spread_bound(seeds, systems) > 2) < 0.9


def test_no_spread_of_seeds_is_never_believed():
    pool = pooled(alike(), "m")
    assert pool is not None
    assert pool.seed == DEFAULTS.seed
    assert "where it is 0 the usual SD" in pool.source
    (table,) = power_blocks(alike())
    assert not table.rows[0][-1].text.startswith("2 seeds")


def alike() -> Results:
    """Two seeds that give the same scores."""
    values = np.tile(np.random.default_rng(0).normal(0.4, 0.1, (2, 1, 200)), (1, 2, 1))
    rows = [System(name, name, kind, "m", {"m": scores}, {})
            for name, kind, scores in zip(("none", "r0"), ("control", "reward"), values, strict=True)]  # fmt: skip
    return Results("beam", (1, 2), tuple(map(str, range(200))), {each.name: each for each in rows}, {})


def test_variances_of_one_comparison_are_recovered():
    generator = np.random.default_rng(0)
    seed, article = generator.standard_normal((400, 1)), generator.standard_normal((1, 400))
    found = estimates(components(0.5 * seed + 2 * article + 3 * generator.standard_normal((400, 400))))
    assert found == pytest.approx((0.25, 4, 9), rel=0.15)
    # Articles without any effect of their own, all seeds alike: an estimate is below 0.
    assert estimates(components(np.array([[1.0, -1], [-1, 1]])))[0] < 0


def test_many_differences_recover_the_truth():
    pool = pooled(results(4, systems=60), "m")
    assert pool is not None
    # The control is in every difference, so its own share of the seeds' variance is drawn once.
    assert pool.residual == pytest.approx(2 * 0.1**2, rel=0.1)
    assert 0.05**2 < pool.seed < 5 * 0.05**2


def test_the_table_has_the_power_of_this_design():
    found = results(3)
    (table,) = power_blocks(found)
    assert isinstance(table, Table)
    pool = pooled(found, "m")
    assert pool is not None
    assert table.rows[0][4].text == f"{power(0.01, pool, 3, 200):.0%}"


@pytest.mark.parametrize("order", [("none", "r0", "r1"), ("none", "r1", "r0")])
def test_rows_that_lack_something_are_taken_by_their_own_seeds_and_articles_in_any_order(order):
    found = results(3, systems=2)
    found.systems["r0"].metrics["m"][:, 8:] = np.nan
    found.systems["r1"].metrics["m"][2] = np.nan
    pool = pooled(replace(found, systems={name: found.systems[name] for name in order}), "m")
    base = found.systems["none"].metrics["m"]
    few = components((found.systems["r0"].metrics["m"] - base)[:, :8])
    many = components((found.systems["r1"].metrics["m"] - base)[:2])
    seed = [
        (each.by_seed * spread_bound(seeds, 2) - each.residual) / articles
        for each, seeds, articles in ((few, 3, 8), (many, 2, 200))
    ]
    assert pool is not None
    assert pool.seed == pytest.approx(np.mean(seed))
    assert "of 2 or 3 seeds" in pool.source


def test_rewards_without_a_row_are_in_the_family():
    found = replace(results(3), family=5)
    assert family_of(found) == Family(5, 1)
    (table,) = power_blocks(found)
    assert "correction for 5 rewards" in table.notes[0]


def test_one_seed_knows_nothing_about_seeds():
    (text,) = power_blocks(results(1))
    assert isinstance(text, Paragraph)
    assert to_values(results(1)) == {}


def test_variances_are_read_back(tmp_path):
    found = results(2)
    path = tmp_path / "results.json"
    path.write_text(json.dumps([{"variances": to_values(found)}]))
    assert read_variances(path) == {"m": pooled(found, "m")}
    path.write_text(json.dumps([{"variances": {}}]))
    with pytest.raises(DesignError, match="two seeds"):
        read_variances(path)
    path.write_text("{}")
    with pytest.raises(DesignError, match="two seeds"):
        read_variances(path)
    with pytest.raises(DesignError, match="cannot be read"):
        read_variances(tmp_path / "absent.json")


def test_a_pilot_gives_the_metric_that_needs_most(tmp_path):
    assert pilot_variances(None) is DEFAULTS
    path = tmp_path / "results.json"
    wide = {"seed": 0.01**2, "article": 0.1**2, "residual": 0.1**2, "source": "2 seeds"}
    narrow = {**wide, "article": 0.01**2, "seed": 0.001**2}
    path.write_text(json.dumps([{"variances": {"narrow": narrow, "wide": wide}}]))
    found = pilot_variances(path)
    assert found.seed == wide["seed"]
    assert found.source.startswith("wide in ")


def test_a_plan_marks_itself_and_says_how_many_seeds_are_enough():
    said, table = plan_blocks(4, 500, DEFAULTS)
    assert isinstance(said, Paragraph)
    assert said.text == enough(4, 500, DEFAULTS)
    assert said.text.startswith("On 500 articles: 4 seeds show a gain of 1 point with a probability of")
    assert isinstance(table, Table)
    (marked,) = [cell.text for row in table.rows for cell in row if cell.mark]
    assert marked == f"{power(0.01, DEFAULTS, 4, 500):.0%}"
    assert "One seed" in enough(1, 500, DEFAULTS)
    assert "even one of 100 points with less than 80%" in enough(2, 2, DEFAULTS, family=Family(2, 2))
    assert len(plan_blocks(1, 500, DEFAULTS)[1].rows) == 5
