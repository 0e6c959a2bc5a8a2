"""Memory is handed on only when nothing needs it any more."""

import threading

import pytest
import torch

from rlsum.models import execution
from rlsum.models.pointer_generator.kernels import word_scores
from rlsum.models.pointer_generator.kernels.kept_memory import KeptMemory

LIKE = torch.empty(0)


@pytest.fixture(autouse=True)
def keeping(monkeypatch):
    monkeypatch.setattr(execution, "ON_CPU", execution.ON_CPU._replace(keeps_memory=True))


def test_a_tensor_that_nothing_uses_gives_its_memory_to_the_next():
    kept = KeptMemory()
    place = kept.empty((5, 4), LIKE).data_ptr()
    assert kept.empty((2, 3), LIKE).data_ptr() == place


@pytest.mark.parametrize("use", [lambda x: x, lambda x: x[1:, :2], lambda x: x.detach().numpy()])
def test_a_tensor_that_a_view_needs_keeps_its_values(use):
    kept = KeptMemory()
    used = use(kept.empty((3, 3), LIKE).fill_(1.0))
    other = kept.empty((3, 3), LIKE).fill_(2.0)
    assert (used == 1.0).all()
    assert (other == 2.0).all()
    del used
    first = kept.empty((3, 3), LIKE)
    assert first.data_ptr() != other.data_ptr()


def test_a_graph_keeps_the_memory_until_it_has_run_backward():
    kept, x = KeptMemory(), torch.ones(3, requires_grad=True)
    place = kept.empty((3,), LIKE).data_ptr()
    loss = (kept.empty((3,), LIKE).fill_(2.0) * x).sum()
    assert kept.empty((3,), LIKE).fill_(5.0).data_ptr() != place
    loss.backward()
    assert x.grad.tolist() == [2.0] * 3
    assert kept.empty((3,), LIKE).data_ptr() == place  # though the loss is still there


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_shapes_and_types_are_those_asked_for(dtype):
    kept, like = KeptMemory(), torch.empty(0, dtype=dtype)
    for shape in [(3, 5), (0, 4), (7,), (40, 50), (2, 2)]:
        found = kept.empty(shape, like)
        assert found.shape == shape
        assert found.dtype == dtype
        assert (found.fill_(1.0) == 1.0).all()
        assert not found.numel() or found.data_ptr() % like.itemsize == 0
        del found


def test_each_thread_has_its_own():
    kept, places = KeptMemory(), []
    mine = kept.empty((9,), LIKE).data_ptr()
    thread = threading.Thread(target=lambda: places.append(kept.empty((9,), LIKE).data_ptr()))
    thread.start()
    thread.join()
    assert places
    assert places != [mine]


def test_scores_of_two_updates_at_once_have_their_own_gradients():
    def inputs(seed):
        generator = torch.Generator().manual_seed(seed)
        parts = [torch.randn(shape, generator=generator).requires_grad_() for shape in ((6, 4), (9, 4), (9,))]
        return *parts, torch.randint(9, (6,), generator=generator)

    def gradients(given, scored):
        return torch.autograd.grad(scored[0].sum() + scored[1].sum(), given[:3])

    alone = [gradients(given, word_scores.target_log_prob(*given, 2)) for given in (inputs(1), inputs(2))]
    both = [(given, word_scores.target_log_prob(*given, 2)) for given in (inputs(1), inputs(2))]
    for expected, (given, scored) in zip(alone, both, strict=True):
        torch.testing.assert_close(gradients(given, scored), expected, rtol=0, atol=0)
