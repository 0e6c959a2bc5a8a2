"""Steps that are recorded, on a CPU with stand-ins for CUDA's graphs."""

import gc
import weakref

import gpu
import pytest
import torch

from rlsum.models import graphs
from rlsum.models.graphs import EAGER, Repeated

CPU = torch.device("cpu")


class Text:
    """What a rollout keeps: a state that each step changes."""

    def __init__(self):
        self.state, self.repeated = torch.zeros(2), Repeated(CPU)

    def next(self, word):
        return self.repeated(self._step, word)

    def _step(self, word):
        self.state.copy_(word)
        return self.state + 1


def words(count):
    return torch.arange(2.0 * count).view(count, 2)


def test_a_graph_is_freed_with_the_texts_that_it_made(monkeypatch):
    made = gpu.forced(monkeypatch)
    text = Text()
    for word in words(EAGER + 3):
        assert torch.equal(text.next(word), word + 1)
    graph, ours = weakref.ref(text.repeated._graph), weakref.ref(made.pop())
    with graphs.nothing_collected():
        del text
        assert graph() is None
        assert ours() is None


def test_nothing_is_collected_while_a_graph_is_recorded(monkeypatch):
    """A graph that is collected then, of an earlier training step, say, makes the recording fail on a GPU."""
    gpu.forced(monkeypatch)
    inside, collected = [], []
    usual = torch.cuda.graph

    def noted(graph, **options):
        inside.append(True)
        try:
            with usual(graph, **options):
                yield
        finally:
            inside.pop()

    monkeypatch.setattr(torch.cuda, "graph", gpu.contextlib.contextmanager(noted))

    class Circle:
        def __init__(self):
            self.itself = self
            weakref.finalize(self, lambda: collected.append(bool(inside)))

    def step(word):
        for _ in range(5000):
            Circle()
        return word + 1

    repeated = Repeated(CPU)
    for word in words(EAGER + 2):
        assert torch.equal(repeated(step, word), word + 1)
    assert collected
    assert not any(collected)
    assert gc.isenabled()


def test_after_a_recording_that_failed_another_one_ends_and_the_stream_is_the_usual(monkeypatch):
    made, streams = gpu.forced(monkeypatch), []
    monkeypatch.setattr(torch.cuda, "set_stream", streams.append)

    def step(word):
        return word + word.sum().item()  # waits for the GPU

    repeated = Repeated(CPU)
    for number, word in enumerate(words(EAGER + 3)):
        if number == EAGER:
            with pytest.warns(UserWarning, match="without a CUDA graph"):
                found = repeated(step, word)
        else:
            found = repeated(step, word)
        assert torch.equal(found, word + word.sum())
    assert streams == [gpu.STREAM]
    failed, other = made
    assert graphs.BROKEN[-1] is failed
    assert other.calls
