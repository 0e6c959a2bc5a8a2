from __future__ import annotations

import functools
import importlib
import linecache
import os
import subprocess
import sys

import pytest

import rewards
from rewards.dependencies import edited

ODD = """import enum
import functools
import threading
import numpy as np
import torch

try:
    from .beside_of_mine import one
except ImportError:
    from beside_of_mine import one


class Slotted:
    __slots__ = ("weight",)

    def __init__(self, weight):
        self.weight = weight

    def __call__(self, candidates):
        return [self.weight * one(text) for text in candidates]


class Node:
    def __init__(self):
        self.others = []

    def __call__(self, candidates):
        return [one(text) for text in candidates]


class Kind(enum.Enum):
    A = 1


def made():
    lock, file = threading.Lock(), open(__file__)

    def inner(candidates):
        if lock is file:
            return unset
        return [1.0 for text in candidates if text in {"a", "b", "c"}]

    if file is None:
        unset = []
    return inner


def asserted(candidates):
    def inner(text):
        assert text
        return 1.0

    return [inner(text) for text in candidates]


def given(value):
    def inner(candidates, kind=Kind.A):
        return [1.0 for text in candidates if value is not None]

    return inner


def apart(candidates):
    return [1.0 for text in candidates]


slotted, other_slotted = Slotted(1), Slotted(2)
nodes = [Node() for _ in range(12)]
for node in nodes:
    node.others = nodes
(node, *_), around = nodes, made()
kept = functools.lru_cache(apart)
ungraded = torch.no_grad()(apart)
half, other_half = given(torch.ones(2, dtype=torch.bfloat16)), given(torch.zeros(2, dtype=torch.bfloat16))
torch.manual_seed(0)
linear, other_linear = given(torch.nn.Linear(1, 1)), given(torch.nn.Linear(1, 1))
sparse, other_sparse = given(torch.eye(2).to_sparse()), given(2 * torch.eye(2).to_sparse())
meta, other_meta = given(torch.ones(2, device="meta")), given(torch.ones(3, device="meta"))
objects = given(np.array([{"a", "b", "c"}, None, slotted], dtype=object))
long = given(range(10**12))
"""


def test_what_a_function_holds_may_be_anything(tmp_path):
    """No crash, no hour, and one signature in every process; but for other values, which are others."""
    (tmp_path / "odd_of_mine.py").write_text(ODD)
    (tmp_path / "beside_of_mine.py").write_text("def one(text):\n    return 1.0\n")
    names = ["slotted", "node", "around", "asserted", "kept", "ungraded", "half", "linear", "sparse", "meta"]
    program = (
        "import sys, rewards\nfor name in sys.argv[1:]: print(rewards.from_spec(f'odd_of_mine:{name}').signature)\n"
    )
    others = [f"other_{name}" for name in names if f"other_{name}" in ODD]
    command = [sys.executable, "-c", program, *names, "objects", "long", *others]
    first, again = (
        subprocess.check_output(command, env={**os.environ, **changed}, text=True)
        for changed in ({"PYTHONHASHSEED": seed, "PYTHONPATH": f"{tmp_path}:{os.getcwd()}"} for seed in "12")
    )
    signatures = [line for line in again.splitlines() if ":given.<locals>" in line or "Slotted" in line]
    assert len({*signatures}) == 2 * len(others) + 2 == 12
    assert first.splitlines() == again.splitlines()


def test_too_many_objects_within_one_another_are_told():
    class Link:
        def __init__(self, after):
            self.after = after

        def __call__(self, candidates):
            return [0.0 for _ in candidates]

    link = functools.reduce(lambda after, _: Link(after), range(2000), None)
    with pytest.raises(rewards.RewardError, match="holds too many objects within one another; keep them in a list"):
        rewards.Plain("linked", link).signature  # noqa: B018


def test_a_function_that_a_tool_rewrote_within_was_not_edited(tmp_path):
    file = tmp_path / "rewritten.py"
    file.write_text("def outer(texts):\n    def inner(text):\n        return len(text)\n    return inner\n")
    watched = file.read_text().replace("len(text)", "watch(text) or len(text)")
    (watching,) = (part for part in compile(watched, str(file), "exec").co_consts if hasattr(part, "co_code"))
    assert not edited(watching)
    file.write_text(file.read_text().replace("len(text)", "sum(text)"))
    assert edited(watching)


def test_a_function_of_a_script_has_its_signature_in_the_processes_that_it_starts():
    def score(candidates):
        return [1.0 for _ in candidates]

    score.__module__ = "__main__"
    signature = rewards.Plain("score", score).signature
    score.__module__ = "__mp_main__"
    assert rewards.Plain("score", score).signature == signature


@pytest.mark.parametrize("wraps", ["", "@functools.wraps(function)"])
@pytest.mark.parametrize("apart", [False, True])
def test_a_signature_changes_with_a_decorator(tmp_path, monkeypatch, wraps, apart):
    """It scales what the function returns, in this file or another."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    deco = (
        f"import functools\ndef scaled(function):\n    {wraps}\n    def wrapper(candidates):\n"
        "        return [1 * score for score in function(candidates)]\n    return wrapper\n"
    )
    function = "def metric(candidates):\n    return [1.0 for _ in candidates]\n"
    text = "from deco_of_mine import scaled\n@scaled\n" if apart else f"{deco}\n@scaled\n"
    (tmp_path / "decorated_of_mine.py").write_text(text + function)
    (tmp_path / "deco_of_mine.py").write_text(deco)

    def signature() -> str:
        linecache.clearcache()
        for module in ("decorated_of_mine", "deco_of_mine"):
            monkeypatch.delitem(sys.modules, module, raising=False)
        importlib.invalidate_caches()
        return rewards.from_spec("decorated_of_mine:metric").signature

    before = signature()
    assert signature() == before
    changed = tmp_path / ("deco_of_mine.py" if apart else "decorated_of_mine.py")
    changed.write_text(changed.read_text().replace("1 * score", "2 * score"))
    assert signature() != before


@pytest.mark.parametrize(
    ("reading", "call"),
    [
        ("import packed_of_mine.words", "packed_of_mine.words.count"),
        ("from packed_of_mine import words", "words.count"),
        ("from packed_of_mine.words import count", "count"),
        ("from . import words", "words.count"),
    ],
)
def test_a_signature_is_the_same_whatever_else_of_a_package_was_imported(tmp_path, monkeypatch, reading, call):
    """Its training part is imported by a run and not by who scores; both find the same scores in a file."""
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.startswith("packed_of_mine")]:
        del sys.modules[name]
    folder = tmp_path / "packed_of_mine"
    folder.mkdir()
    files = {
        "__init__": "", "train": "RATE = 1\n", "words": "from .counts import count\n",
        "counts": "def count(text):\n    return 1.0\n",
        "metric": f"{reading}\ndef metric(candidates):\n    return [{call}(text) for text in candidates]\n",
    }  # fmt: skip
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)

    def signature() -> str:
        return rewards.from_spec("packed_of_mine.metric:metric").signature

    before = signature()
    importlib.import_module("packed_of_mine.train")
    assert signature() == before
    (folder / "counts.py").write_text(files["counts"] + "OTHER = 1\n")
    assert signature() != before, "what it calls is in it"
