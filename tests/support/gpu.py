"""A GPU's way through the models, on a CPU, with stand-ins for what a CPU lacks.

A CUDA graph records and repeats a step's operations. An LSTM in half precision is one in float32, rounded.
"""

import contextlib
from types import SimpleNamespace

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from rlsum.models import execution

STREAM = SimpleNamespace(device=torch.device("cpu"))


def forced(monkeypatch, how=execution.ON_GPU):
    """Compute on a CPU as on a GPU, or as ``how`` says. Returns the graphs that will be made."""
    made = []

    class Graph(RecordedGraph):
        def __init__(self):
            super().__init__()
            made.append(self)

    def half(lstm, inputs, *more, forward=torch.nn.LSTM.forward):
        if not torch.is_autocast_enabled("cpu"):
            return forward(lstm, inputs, *more)
        with torch.autocast("cpu", enabled=False):
            states, last = forward(lstm, inputs.float(), *more)
        return states.to(torch.get_autocast_dtype("cpu")), last

    monkeypatch.setattr(torch.nn.LSTM, "forward", half)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
    monkeypatch.setattr(torch.cuda, "graph", recording)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: STREAM)
    monkeypatch.setattr(torch.cuda, "set_stream", lambda stream: None)
    monkeypatch.setattr(execution, "ON_CPU", how)
    return made


class RecordedGraph:
    """Like torch.cuda.CUDAGraph: the same operations on the same memory, whatever Python would do."""

    def __init__(self):
        self.calls = []

    def replay(self):
        for operation, arguments, named, result in self.calls:
            again = operation(*arguments, **named)
            for new, kept in zip(tree_leaves(again), tree_leaves(result), strict=True):
                if isinstance(kept, torch.Tensor) and new.data_ptr() != kept.data_ptr():
                    kept.copy_(new)


class Recording(TorchDispatchMode):
    """Records operations. What they overwrite is put back at the end: to record is not to run."""

    def __init__(self, graph):
        super().__init__()
        self.graph, self.before = graph, []

    def __torch_dispatch__(self, operation, types, arguments=(), named=None):
        named = named or {}
        if operation is torch.ops.aten._local_scalar_dense.default:
            raise RuntimeError("operation not permitted when stream is capturing")
        for argument, schema in zip(arguments, operation._schema.arguments, strict=False):
            if schema.alias_info is not None and schema.alias_info.is_write:
                self.before.append((argument, argument.clone()))
        result = operation(*arguments, **named)
        self.graph.calls.append((operation, arguments, named, result))
        return result


@contextlib.contextmanager
def recording(graph, capture_error_mode="global"):
    with Recording(graph) as mode:
        yield
    for argument, before in reversed(mode.before):
        argument.copy_(before)
