import numpy as np
import pytest
from calibration.claims import BLOCK, CROWDS, SYSTEMS, assigned_to, claims
from calibration.sentences import OUT, SHAPES, exclusions, length, liked, liking, metrics

ASSIGNED = assigned_to(10, 30, np.random.default_rng(1))


@pytest.mark.parametrize("kind", SYSTEMS)
@pytest.mark.parametrize("crowd", CROWDS)
def test_equal_systems_seldom_get_a_claim(kind, crowd):
    generator = np.random.default_rng(0)
    made = [claims(kind, ASSIGNED, 10, crowd, generator) for _ in range(2)]
    leaning, preferred, strong, errors, of_a_kind, side, together = np.concatenate(made, axis=1)
    assert len(together) == 2 * BLOCK
    assert not (preferred & ~leaning).any()
    assert not ((strong | errors) & ~preferred).any()
    assert not (of_a_kind & ~errors).any()
    assert preferred.mean() <= 0.12  # of 5%, 100 studies: more with a probability of .2%
    assert side.mean() <= 0.06  # of 1%
    assert (together == preferred | side).all()


@pytest.mark.parametrize("crowd", CROWDS)
def test_what_is_told_beside_the_verdicts_is_seldom_wrong(crowd):
    generator = np.random.default_rng(0)
    assert length(ASSIGNED, 10, crowd, "", generator)[0] <= 0.12 * BLOCK
    assert all(metrics(ASSIGNED, 10, crowd, shape, generator)[0] <= 0.12 * BLOCK for shape in SHAPES)
    for choose in OUT:
        card, everyone, either = exclusions(ASSIGNED, 10, crowd, choose, generator)
        assert max(card, everyone) <= either <= 0.16 * BLOCK


def test_judges_like_length_just_so_much_that_it_predicts_as_well_as_a_judge():
    votes, longer = liked(ASSIGNED, 10, "alike", np.random.default_rng(0), liking(10, "alike"))
    others = np.sign(votes.sum(3, keepdims=True) - votes)
    assert (others * longer).mean() == pytest.approx((others * votes).mean(), abs=0.03)
    assert (others * longer).mean() > 0.1
