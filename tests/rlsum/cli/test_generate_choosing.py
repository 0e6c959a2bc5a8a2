"""``rlsum generate --best-of`` and ``--mbr`` on tiny models of both kinds, and what they refuse."""

import numpy as np
import pretrained
import pytest
import tiny
from commands import invoked
from rows import jsonl

from rewards import RewardError
from rlsum.errors import RecordError, UserError
from rlsum.records import read_outputs

pytestmark = pytest.mark.usefixtures("own_module_cache")

ARTICLES = [source for source, _ in tiny.PAIRS]
COPIED, LETTERS = "source_rewards:copied", f"{__name__}:letters"
LIMITS = ("--max-length", 6, "--min-length", 1, "--temperature", 2)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder with a run of a pointer-generator, a model of transformers, and articles."""
    folder = tmp_path_factory.mktemp("models")
    tiny.save_copier(folder / "pointer-generator")
    pretrained.save(folder / "transformers", "t5")
    rows = [{"id": str(i), "article": text, "highlights": "a b", "topic": "oak"} for i, text in enumerate(ARTICLES)]
    jsonl(folder / "a.jsonl", *rows)
    return folder


def generate(models, kind, out, *options):
    result = invoked("generate", models / kind, models / "a.jsonl", "-o", out, *options)
    assert result.exit_code == 0, result.output
    return result


def letters(candidates):
    """A reward that reads no reference and is defined for every text."""
    return [text.count("e") + len(text) / 100 for text in candidates]


def mean_letters(path):
    return np.mean(letters([row.candidate for row in read_outputs(path)]))


@pytest.mark.parametrize("kind", ["pointer-generator", "transformers"])
def test_a_reward_chooses_among_the_samples_of_either_kind_of_model(models, tmp_path, kind):
    sample, best, closest = (tmp_path / name for name in ("sample.jsonl", "best.jsonl", "closest.jsonl"))
    generate(models, kind, sample, "--method", "sample", *LIMITS)
    assert f"each of 12 samples (best-of {LETTERS})" in " ".join(
        generate(models, kind, best, "--best-of", 12, "--by", LETTERS, *LIMITS).output.split()
    )
    generate(models, kind, closest, "--mbr", LETTERS, "--samples", 12, *LIMITS)
    assert best.read_bytes() == closest.read_bytes(), "a reward that reads no reference agrees with itself"
    assert [row.id for row in read_outputs(best)] == [row.id for row in read_outputs(sample)]
    assert mean_letters(best) > mean_letters(sample)

    generate(models, kind, closest, "--overwrite", "--mbr", "rouge-1", "--samples", 12, *LIMITS)
    assert closest.read_bytes() != best.read_bytes()
    assert [row.references for row in read_outputs(closest)] == [("a b",)] * len(ARTICLES)
    again = tmp_path / "again.jsonl"
    generate(models, kind, again, "--mbr", "rouge-1", "--samples", 12, *LIMITS, "--batch-size", 3)
    assert again.read_bytes() == closest.read_bytes()


def test_an_article_without_a_scored_sample_is_named_with_the_reason(models, tmp_path):
    told = generate(models, "pointer-generator", tmp_path / "o.jsonl", "--best-of", 2, "--by", f"{__name__}:nothing")
    assert told.stderr.count("no sample has a score by") == len(ARTICLES)


def nothing(candidates):
    """A reward that is never defined."""
    return [float("nan")] * len(candidates)


def test_a_reward_reads_the_columns_of_the_corpus(models, tmp_path):
    out = tmp_path / "o.jsonl"
    generate(models, "pointer-generator", out, "--best-of", 8, "--by", "source_rewards:on_topic", *LIMITS)
    assert all(row.columns == {"topic": "oak"} for row in read_outputs(out))
    generate(models, "pointer-generator", tmp_path / "one.jsonl", "--best-of", 1, "--by", COPIED, *LIMITS)
    oaks = [sum("oak" in row.candidate for row in read_outputs(path)) for path in (out, tmp_path / "one.jsonl")]
    assert oaks[0] > oaks[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--best-of", 4], "--best-of 4: needs --by REWARD"),
        (["--by", COPIED], "--by .*: needs --best-of N"),
        (["--mbr", "rouge-l"], "--mbr rouge-l: needs --samples N"),
        (["--samples", 4], "--samples 4: needs --mbr REWARD"),
        (["--best-of", 4, "--by", COPIED, "--mbr", "rouge-l", "--samples", 4], "exclude each other"),
        (["--best-of", 4, "--by", COPIED, "--method", "beam"], "--method beam: "),
        (["--best-of", 4, "--by", COPIED, "--beam", 2], "--beam 2: not with sampling"),
        (["--best-of", 4, "--by", "rouge-l"], "--by rouge-l: cannot score without references .*--mbr rouge-l"),
        (["--mbr", "rouge-m", "--samples", 4], "unknown reward 'rouge-m'"),
        (["--mbr", f"{__name__}:by_author", "--samples", 4], "no field 'author'"),
    ],
)
def test_what_cannot_choose_is_refused_before_the_model_is_loaded(models, tmp_path, monkeypatch, options, message):
    monkeypatch.setattr("rlsum.training.start.origin.load_model", lambda *_: pytest.fail("loaded"))
    with pytest.raises((UserError, RewardError, RecordError), match=message):
        generate(models, "pointer-generator", tmp_path / "o.jsonl", *options)


def by_author(candidates, author):
    """A reward of a column that the corpus lacks."""
    return [0.0] * len(candidates)
