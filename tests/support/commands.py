"""Commands as users type them, and a folder with what a first training leaves."""

import re

import yaml
from typer.testing import CliRunner

from rlsum.cli.app import USER_ERRORS, app
from rlsum.simulation.stories import write_corpus

TINY = """
vocabulary: {size: 200, min_count: 2}
model: {embedding: 8, hidden: 8}
training: {steps: 4, batch_size: 4, learning_rate: 1e-2, validate_every: 2, validate_decoded: 4, log_every: 1}
decoding: {max_length: 12}
metrics: [rouge-l]
"""


def invoked(*arguments):
    """The result of a command. Whatever it raises is raised, and no line of a table is folded."""
    wide = {"COLUMNS": "500", "LINES": "50"}  # both, or a dumb terminal has 80 columns
    return CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False, env=wide)


def cells(output, name):
    """The cells of the table row that begins with ``name``; sentences may begin with the same word."""
    row = re.search(rf"^ *{re.escape(name)}.*?  .*$", output, re.MULTILINE)
    assert row, output
    return re.split("  +", row[0].strip())


def run(*arguments):
    """The command line, as ``rlsum`` runs it: exit code 2 and one message for errors of the user's making."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, (*USER_ERRORS, SystemExit)):
        raise result.exception
    return result


def refused(*arguments):
    """The message of an error of the user's making."""
    result = run(*arguments)
    assert result.exit_code != 0
    return str(result.exception) if not isinstance(result.exception, SystemExit) else result.output


def furnish(folder):
    """Write a corpus, configurations, and a run trained by likelihood."""
    paths = write_corpus(folder / "data", 1, {"train": 20, "valid": 6, "test": 5})
    data = {"train": str(paths["train"]), "valid": str(paths["valid"]), "max_source": 60, "max_target": 20}
    mle = {**yaml.safe_load(TINY), "run": str(folder / "mle"), "data": data}
    objective = {"kind": "mixed", "reward": "rouge-l", "samples": 2}
    mixed = {"base": "mle.yaml", "run": str(folder / "mixed"), "objective": objective}
    for name, values in (("mle", mle), ("mixed", mixed)):
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    assert run("train", folder / "mle.yaml").exit_code == 0
