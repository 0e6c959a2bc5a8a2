"""Plain functions as rewards, importable by worker processes, that read sources and columns of a dataset."""

import numpy as np

import rewards


def copied(candidates, references, sources):
    """The share of a text's words that its source holds; NaN for a text without a word."""
    return [_share(text.split(), source.split()) for text, source in zip(candidates, sources, strict=True)]


def on_topic(candidates, references, sources, topic):
    """The share of a text's words that are its topic; NaN for a text without a word."""
    return [_share(text.split(), [name]) for text, name in zip(candidates, topic, strict=True)]


def on_any_topic(candidates, references=None, sources=None, topic=None):
    """1 for every text where the data have no topics, else as ``on_topic``."""
    return [1.0] * len(candidates) if topic is None else on_topic(candidates, references, sources, topic)


class Ranked(rewards.BaseReward):
    """The place of a text's length among those of its batch: a score that depends on its company."""

    name, signature = "ranked", "ranked|centering:batch|version:1"

    def scores(self, inputs):
        return np.argsort(np.argsort([len(text) for text in inputs.candidates])).astype(float)


def _share(words, others):
    return sum(word in others for word in words) / len(words) if words else float("nan")
