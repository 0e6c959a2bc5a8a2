"""CPU seconds of rewards on one pair of longer and longer texts.

    OMP_NUM_THREADS=1 python scripts/scoring/long_texts.py articles.jsonl.gz --metrics 'rouge-1, rouge-l, meteor'

The pair is made of articles in turn (``article``, as written by scripts/prepare_cnndm.py), 20 words a line. A short
pair is scored first, so that vectors and encoders are loaded. After more than ``--seconds``, a metric is left out.
"""

from __future__ import annotations

import argparse
import itertools
import time
from pathlib import Path

import rewards
from rlsum.readers import read_file

LINE = 20  # words


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("articles", type=Path, help="JSONL with article")
    parser.add_argument("--metrics", default="rouge-1, rouge-2, rouge-l, bleu, meteor, repetition")
    parser.add_argument("--words", type=int, nargs="*", default=[10_000, 30_000, 100_000])
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    articles = [read.fields["article"] for read in read_file(options.articles)]
    print("CPU seconds", *(f"{words:,} words" for words in options.words), sep="\t")
    for name, reward in rewards.from_specs(options.metrics).items():
        reward([articles[0]], [articles[1:2]], [articles[0]])
        print(name, *times(reward, articles, options.words, options.seconds), sep="\t", flush=True)


def times(reward: rewards.Reward, articles: list[str], lengths: list[int], most: float) -> list[str]:
    """CPU seconds for a pair of each length, "-" after one of more than ``most``."""
    took: list[str] = []
    for words in lengths:
        if took and (took[-1] == "-" or float(took[-1]) > most):
            took.append("-")
            continue
        candidate, reference = text(articles[::2], words), text(articles[1::2], words)
        begin = time.process_time()
        reward([candidate], [[reference]], [candidate])
        took.append(f"{time.process_time() - begin:.2f}")
    return took


def text(articles: list[str], words: int) -> str:
    """The first words of articles, which begin again where they end."""
    stream = itertools.chain.from_iterable(article.split() for article in itertools.cycle(articles))
    return "\n".join(" ".join(itertools.islice(stream, min(LINE, words - n))) for n in range(0, words, LINE))


if __name__ == "__main__":
    main()
