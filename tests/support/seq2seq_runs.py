"""Runs of tiny pretrained summarizers: articles, configurations, training, the command line."""

from pathlib import Path

import language_models
import pretrained as tiny
from commands import invoked
from rows import jsonl

from rlsum import config as configs
from rlsum.training import build

NEWS = [*tiny.NEWS[:3], *((article[:20].strip(), text) for article, text in tiny.NEWS[:3])]  # none is cut
LANGUAGE_MODELS = ("llama", "gpt2")  # with a chat template and without
MIXED = {"kind": "mixed", "reward": "pretrained:vowels", "gamma": 0.5, "samples": 2}


def furnish(folder):
    """Write articles, and a folder of each architecture."""
    rows = [{"id": str(i), "article": article, "highlights": text} for i, (article, text) in enumerate(NEWS)]
    jsonl(folder / "news.jsonl", *rows)
    for name in tiny.ARCHITECTURES:
        tiny.save(folder / name, name)
    for name in LANGUAGE_MODELS:
        language_models.save(folder / name, name, chat=name != "gpt2")


def settings(place, name, run, **sections):
    """A configuration of a run as a mapping."""
    kind = {"kind": "causal" if name in LANGUAGE_MODELS else "seq2seq"}
    plain = {"template": "plain"} if name == "gpt2" else {}
    model = {**kind, **plain, "pretrained": str(place / name), **sections.pop("model", {})}
    training = {"steps": 4, "batch_size": 2, "learning_rate": 1e-3}
    training |= {"validate_every": 2, "log_every": 1, "tracker": None}
    data = {name: str(place / "news.jsonl") for name in ("train", "valid")}
    return {
        "run": str(run),
        "data": {**data, "max_source": 64, "max_target": 20, **sections.pop("data", {})},
        "model": model,
        "training": {**training, **sections.pop("training", {})},
        "decoding": {"max_length": 10, "beam": 2},
        "metrics": ["rouge-l"],
        **sections,
    }


def trained(values, **options):
    """The run folder of a configuration, trained to its end."""
    config = configs.check(values, "test")
    build.trainer(config, **options).fit()
    return Path(config.run)


def rlsum(*arguments):
    result = invoked(*arguments)
    assert result.exit_code == 0, result.output
    return result
