import numpy as np
import pytest
from calibration.preference import draw_votes, rejections
from votes import study_of, votes_of

from human_eval.planning.simulation import Assumptions, claimed, sign_flip_p
from human_eval.statistics.analysis import analyse
from human_eval.statistics.preference import preference
from human_eval.statistics.settings import THESE, AnalysisSettings, Planned
from rlsum.evaluation.statistics import Uncertainty


def matrix_of(counts):
    """Votes (items, judges) of counts (items, 3)."""
    return np.array([np.repeat([-1, 0, 1], row.astype(int)) for row in counts], dtype=float)


@pytest.mark.parametrize("items", [4, 40])
def test_it_makes_the_very_tests_of_an_analysis(items):
    generator = np.random.default_rng(0)
    votes = draw_votes(Assumptions(0.6, 0.2, 0.3), items, 3, 20, generator)
    together = sign_flip_p((votes[..., 2] - votes[..., 0]) / 3, 9_999, generator)
    found = [preference(matrix_of(counts), how=Uncertainty(resamples=9_999)) for counts in votes]
    tolerance = 1e-12 if items == 4 else 0.025  # exact, or other random flips
    assert together == pytest.approx([each.p for each in found], abs=tolerance)


@pytest.mark.parametrize("correlation", [0.0, 0.1, 0.5, 1.0])
def test_votes_are_as_assumed(correlation):
    assumed = Assumptions(0.7, 0.2, correlation)
    votes = draw_votes(assumed, 20_000, 2, 1, np.random.default_rng(0))[0]
    assert votes.mean(0) / 2 == pytest.approx([0.24, 0.2, 0.56], abs=0.012)
    pairs = matrix_of(votes)
    flipped = np.concatenate([pairs, pairs[:, ::-1]])  # both orders: the coefficient within items
    assert np.corrcoef(flipped.T)[0, 1] == pytest.approx(correlation, abs=0.025)


@pytest.mark.parametrize(("correlation", "power"), [(0.1, 0.88), (0.3, 0.76), (0.5, 0.68)])
def test_power_of_100_items_with_3_judges_at_60_to_40(correlation, power):
    found = rejections(Assumptions(0.6, 0.0, correlation), 100, 3, draws=4_000)
    assert found == pytest.approx(power, abs=0.02)


@pytest.mark.parametrize("correlation", [0.0, 0.1, 0.3, 0.5])
def test_the_test_keeps_its_level(correlation):
    assert 0.035 <= rejections(Assumptions(0.5, 0.0, correlation), 100, 3, draws=8_000) <= 0.06


@pytest.mark.parametrize(
    ("items", "judges", "ties"), [(5, 3, 0.0), (8, 2, 0.3), (15, 1, 0.0), (30, 5, 0.5), (300, 3, 0)]
)
def test_at_any_size_no_more_than_6_percent(items, judges, ties):
    assert rejections(Assumptions(0.5, ties, 0.3), items, judges, draws=6_000) <= 0.06


@pytest.mark.parametrize("people", [4, 6])
def test_what_is_claimed_is_what_a_card_claims(people):
    """Three comparisons, of which one rests on one judge, as Holm's correction and each judge in turn have it."""
    generator = np.random.default_rng(0)
    assigned = np.array([generator.choice(people, 3, replace=False) for _ in range(24)])
    votes = generator.choice([-1.0, 0.0, 1.0, 1.0], (3, 12, 24, 3))
    votes[1, :, assigned == 0] = 1.0
    votes[2] *= generator.choice([-1, 1], votes.shape[1:])
    found = claimed(votes, assigned, alike=people > 4, alpha=0.05, generator=generator)
    leaning, preferred, names = [], [], ("x", "y", "z")
    for study in votes.swapaxes(0, 1):
        rows = []
        for name, given in zip(names, study, strict=True):
            matrix = np.full((24, people), np.nan)
            np.put_along_axis(matrix, assigned, given, 1)
            rows += votes_of(matrix, criterion=name)
        planned = None if people > 4 else Planned(24, 3, 1, people, THESE)
        analysis = analyse(study_of(rows), AnalysisSettings(resamples=1_999, planned=planned))
        leaning.append([bool(row.leaning()) and not row.decided_by for row in analysis.outcomes])
        preferred.append([bool(row.preferred()) for row in analysis.outcomes])
    assert (leaning == found.leaning.T).mean() > 0.97  # but for the random flips
    assert (preferred == found.preferred.T).mean() > 0.97
    assert 0 < np.mean(preferred) <= np.mean(leaning) < 1
