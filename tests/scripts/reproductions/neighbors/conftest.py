"""Small judged texts, and files of them in the published layouts."""

import random

import numpy as np
import pytest
from reproductions.neighbors.tasks import JudgedTexts
from rows import jsonl, lines

SUBJECTS = ("old dogs", "red foxes", "small cats", "mayors", "my sisters", "tall men")
VERBS = ("run over", "look at", "walk through", "jump across", "wait for")
PLACES = ("long bridges", "deep rivers", "cold houses", "green gardens", "last trains")


def sentence(generator):
    return " ".join(generator.choice(part) for part in (SUBJECTS, VERBS, PLACES))


def make_judged(name, count=40, judges=4, seed=0):
    """Texts whose score depends on who does something, up to noise."""
    generator = random.Random(seed)
    texts = tuple(sentence(generator) for _ in range(count))
    quality = np.array([(SUBJECTS.index(next(s for s in SUBJECTS if t.startswith(s))) + 0.5) / 6 for t in texts])
    votes = np.clip(quality[:, None] + np.random.default_rng(seed).normal(0, 0.1, (count, judges)), 0, 1)
    return JudgedTexts(name, texts, votes.mean(axis=1), tuple(map(str, range(count))), votes)


@pytest.fixture
def judged_texts():
    return make_judged


@pytest.fixture
def public_data(tmp_path):
    """A folder of 40 summaries of HUSE and of 10 topics of ASAP-SAS, in their published layouts."""
    folder = tmp_path / "human"
    _write_huse(folder / "huse")
    _write_essays(folder / "asap_sas")
    return folder


def _write_huse(folder):
    votes, rows = make_judged("huse", 40, judges=5), []
    for place, text in enumerate(votes.texts):
        kind = {"hit": place // 20, "item": place, "type": ("SUM", "HUMAN_SUM")[place % 2]}
        given = [round(float(1 + 5 * vote)) for vote in votes.judgments[place]]
        rows.append({**kind, "context": f"source {place // 2}", "output": text, "judgments": given})
    jsonl(folder / "huse_summarization.jsonl", *({**row, "workers": list(range(5))} for row in rows))


def _write_essays(folder):
    generator = random.Random(1)
    train, test = ["Id\tEssaySet\tScore1\tScore2\tEssayText"], ["Id\tEssaySet\tScore\tUsage\tEssayText"]
    for number in range(10 * 25):
        topic = number % 10 + 1
        score = generator.randrange(3)
        train.append(f"{number}\t{topic}\t{score}\t{score}\t{_essay(generator, score)}")
        if topic == 3:
            test.append(f"{1000 + number}\t3\t{score}\tPublicTest\t{_essay(generator, score)}")
    lines(folder / "asap_sas_train.tsv", *train)
    lines(folder / "asap_sas_public_leaderboard.tsv", *test)


def _essay(generator, score):
    """Better essays have more sentences: 4, 6 or 8."""
    return " ".join(sentence(generator).capitalize() + "." for _ in range(4 + 2 * score))
