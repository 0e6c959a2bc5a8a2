"""A device that is not the CPU, on the CPU: a tensor is a box around one, and meets no other tensor outside of it.

What a GPU refuses, two tensors of different devices in one operation, is refused here, too, and code that asks for the
kind of a device takes a GPU's way. Only for a process of its own: torch keeps a device until it ends.
"""

import torch
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.backend_registration import _DummyBackendModule, _setup_privateuseone_for_python_backend

NAME = "elsewhere"
WAITS = {"_local_scalar_dense", "nonzero", "equal", "masked_select"}  # a GPU's results that the CPU must know
WAITED: list[str] = []  # which of them were asked for, and copies to the CPU
MAY_MEET = {"index", "index_put_", "_index_put_impl_", "copy_", "set_"}  # indices may be on the CPU; copies cross


class Module(_DummyBackendModule):
    """What torch asks a device for."""

    def get_amp_supported_dtype(self):
        return [torch.bfloat16, torch.float16]


class Boxed(torch.Tensor):
    """A tensor of the device."""

    @staticmethod
    def __new__(cls, inside):
        box = torch.Tensor._make_wrapper_subclass(
            cls, inside.shape, strides=inside.stride(), storage_offset=inside.storage_offset(), dtype=inside.dtype,
            device=f"{NAME}:0",
        )  # fmt: skip
        box.inside = inside
        return box

    def tolist(self):
        WAITED.append("tolist")
        return self.inside.tolist()

    @classmethod
    def __torch_dispatch__(cls, operation, types, arguments=(), named=None):
        return run(operation, arguments, named or {})


def run(operation, arguments, named):
    """An operation on what is in the boxes. Refuses tensors of both devices, but numbers."""
    tensors = [leaf for leaf in tree_leaves((arguments, named)) if isinstance(leaf, torch.Tensor)]
    boxes = [tensor for tensor in tensors if isinstance(tensor, Boxed)]
    name = operation._schema.name.split("::")[1]
    if boxes and name not in MAY_MEET and any(t.dim() and not isinstance(t, Boxed) for t in tensors):
        raise RuntimeError(f"{name}: Expected all tensors to be on the same device, but found {NAME}:0 and cpu")
    asked = named.get("device")
    at = tree_leaves(arguments[1]) if name in ("index", "index_put_") else ()
    masks = [index for index in at if index is not None and index.dtype == torch.bool]
    to_cpu = boxes and (
        (asked is not None and asked.type == "cpu") or (name == "copy_" and not isinstance(tensors[0], Boxed))
    )
    if boxes and (name in WAITS or masks or to_cpu):
        WAITED.append(name)
    here = (boxes and asked is None) or (asked is not None and torch.device(asked).type == NAME)
    if asked is not None:
        named = {**named, "device": "cpu"}

    def inside(value):
        return value.inside if isinstance(value, Boxed) else value

    found = operation(*tree_map(inside, arguments), **tree_map(inside, named))
    by_inside = {id(box.inside): box for box in boxes}

    def boxed(value):
        if not isinstance(value, torch.Tensor) or not here:
            return value
        return by_inside[id(value)] if id(value) in by_inside else Boxed(value)

    return tree_map(boxed, found)


def arange(*limits, dtype=None, **_):
    """Numbers of the device."""
    return Boxed(torch.arange(*limits, dtype=dtype, device="cpu"))


def fused_lstm_cell(igates, hgates, cell, input_bias=None, hidden_bias=None):
    """What torch expects other devices to have of their own."""
    gates = igates + hgates
    for bias in (input_bias, hidden_bias):
        gates = gates if bias is None else gates + bias
    i, f, g, o = gates.chunk(4, 1)
    cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
    return o.sigmoid() * cell.tanh(), cell, gates


def begin():
    """Make the device. Returns what keeps it."""
    of_numbers = torch.tensor
    torch.tensor = lambda data, device=None, **named: of_numbers(data, **named).to(device or "cpu")
    _setup_privateuseone_for_python_backend(NAME, backend_module=Module())
    every, aten = torch.library.Library("_", "IMPL"), torch.library.Library("aten", "IMPL")
    every.fallback(lambda operation, *arguments, **named: run(operation, arguments, named), "PrivateUse1")
    for name in ("arange", "arange.start", "arange.start_step"):  # torch's own resizes what is in the box
        aten.impl(name, arange, "PrivateUse1")
    aten.impl("_thnn_fused_lstm_cell", fused_lstm_cell, "AutogradPrivateUse1")
    return every, aten
