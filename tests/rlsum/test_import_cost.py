"""What a newcomer waits for: importing and asking for help load nothing heavy."""

import importlib
import os
import subprocess
import sys

import pytest

import rlsum
from human_eval.cli.app import COMMANDS as OF_STUDIES
from rlsum.cli.usage import COMMANDS

HEAVY = ("torch", "transformers", "spacy", "ot", "datasets", "accelerate", "scipy", "matplotlib", "pyarrow", "nltk")
HELP = "from typer.testing import CliRunner; from rlsum.cli.app import app; r = CliRunner().invoke(app, {arguments})"


def loaded_by(code):
    code += f"; import sys; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    "module", ["rlsum", "rewards", "rlsum.api", "rlsum.config", "rlsum.cli", "rlsum.cli.app", "human_eval"]
)
def test_importing_loads_nothing_heavy(module):
    assert loaded_by(f"import {module}") == "[]"


def test_help_loads_nothing_heavy():
    commands = [[], *([name] for name in COMMANDS), *(["human-eval", name] for name in OF_STUDIES)]
    code = "; ".join(
        HELP.format(arguments=[*command, "--help"]) + "; assert r.exit_code == 0, r.output" for command in commands
    )
    assert loaded_by(f"{code}; {HELP.format(arguments=['rewards'])}") == "[]", "nor does the list of rewards"


def test_a_stem_loads_nothing_heavy_and_leaves_all_of_nltk_to_others():
    code = "from rewards.lexical.words import stems; stem = stems('porter')('running')"
    assert loaded_by(code) == "[]"
    code += "; import nltk; from nltk.stem.porter import PorterStemmer as P; assert stem == P().stem('running')"
    assert "nltk" in loaded_by(f"{code}; assert stem == nltk.stem.PorterStemmer().stem('running') == 'run'")


def test_a_run_on_one_device_loads_nothing_of_sharding():
    """Half a second of processor time, of every command that trains, decodes or scores."""
    code = "import rlsum.training.build, rlsum.generation.outputs, sys"
    code += "; print('torch.distributed.tensor' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_the_list_of_heavy_modules_would_be_noticed():
    assert "torch" in loaded_by("import torch")


def test_help_answers_in_under_a_second_of_processor_time():
    """Processor time, since the machine may be busy; the best of three, since the first may compile. On a machine so
    slow or so crowded that the libraries of every command line take long, seven times what they take."""
    import resource

    def seconds(*arguments):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    found, libraries = [], []
    for _ in range(3):
        found.append(seconds("-m", "rlsum", "--help"))
        libraries.append(seconds("-c", "import typer, rich.console"))
    assert min(found) < max(1.0, 7 * min(libraries))


def test_help_teaches_by_example():
    done = subprocess.run(
        [sys.executable, "-m", "rlsum", "train", "--help"], capture_output=True, text=True, check=True
    )
    assert "rlsum train demo/sms --init runs/demo/mle" in done.stdout
    assert "--resume" in done.stdout


@pytest.mark.parametrize("has_them", [False, True])
def test_large_pages_are_asked_for_where_linux_has_them(has_them, monkeypatch):
    monkeypatch.setenv("THP_MEM_ALLOC_ENABLE", "")  # restored afterwards
    monkeypatch.delenv("THP_MEM_ALLOC_ENABLE")
    monkeypatch.setattr(os.path, "isdir", lambda _: has_them)
    importlib.reload(rlsum)
    assert ("THP_MEM_ALLOC_ENABLE" in os.environ) == has_them
