"""``rlsum generate`` on a tiny saved model: the run's options, columns, and refusals before anything is decoded."""

from dataclasses import replace
from functools import partial

import pytest
import tiny
from commands import invoked
from rows import jsonl

from rlsum.errors import UserError
from rlsum.generation import outputs as generation
from rlsum.generation.options import Generating, decoding_of
from rlsum.models.decoding import Decoding
from rlsum.models.pointer_generator.model import PointerGenerator
from rlsum.records import read_outputs

pytestmark = pytest.mark.usefixtures("own_module_cache")
ARTICLES = [{"id": str(i), "article": source, "highlights": summary} for i, (source, summary) in enumerate(tiny.PAIRS)]
BARE = [{"id": row["id"], "article": row["article"]} for row in ARTICLES]
TRAINED = Decoding(beam=3, max_length=7, min_length=2, length_penalty=0.5, block_ngrams=2)
generate = partial(invoked, "generate")


@pytest.fixture
def run_folder(tmp_path):
    """A run whose best checkpoint is a tiny model that copies."""
    return tiny.save_copier(tmp_path / "run", max_length=6, min_length=2, block_ngrams=1, beam=2)


def test_what_is_not_given_is_the_runs_and_the_search_a_beam():
    assert decoding_of(TRAINED, Generating()) == replace(TRAINED, method="beam")
    assert decoding_of(TRAINED, Generating(beam=1, min_length=0, block_ngrams=0)) == replace(
        TRAINED, beam=1, min_length=0, block_ngrams=0
    )
    assert decoding_of(Decoding(), Generating()) == Decoding("beam", beam=5)
    with pytest.raises(UserError, match="min_length=2: must be smaller than the maximum of 2"):
        decoding_of(TRAINED, Generating(max_length=2))


def test_samples_have_their_own_options_and_the_runs_limits():
    trained = Decoding(max_length=7, min_length=2, block_ngrams=2, samples=4, temperature=0.7, top_k=9)
    expected = Decoding("sample", max_length=7, min_length=2, block_ngrams=2, temperature=0.7, top_k=3, top_p=0.9)
    assert decoding_of(trained, Generating(top_k=3, top_p=0.9), sampled=True) == expected
    with pytest.raises(UserError, match="top_k=3: not with beam search"):
        decoding_of(trained, Generating(top_k=3))
    with pytest.raises(UserError, match="beam=2: not with sampling"):
        decoding_of(trained, Generating(beam=2), sampled=True)


def test_a_value_out_of_its_range_is_refused_where_it_is_given():
    inf, nan = float("inf"), float("nan")
    for option, value in (("temperature", 0.0), ("temperature", inf), ("top_p", 0.0), ("top_p", 1.5), ("beam", 0),
                          ("length_penalty", nan)):  # fmt: skip
        with pytest.raises(ValueError, match=option):
            Generating(**{option: value})
    with pytest.raises(UserError, match=r"--top-p 1\.5: must be less than or equal to 1"):
        generate("run", "articles", "-o", "out.jsonl", "--method", "sample", "--top-p", "1.5")


def test_samples_are_a_function_of_the_seed(run_folder, tmp_path):
    articles = jsonl(tmp_path / "a.jsonl", *ARTICLES)

    def texts(name, *options):
        out = tmp_path / name
        done = generate(run_folder, articles, "-o", out, "--method", "sample", "--temperature", 3, *options)
        assert done.exit_code == 0, done.output
        return [output.candidate for output in read_outputs(out)]

    first = texts("a1")
    assert texts("a2") == first
    assert texts("b", "--seed", 2) != first
    assert texts("c", "--top-k", 1) == texts("d", "--top-k", 1, "--seed", 2)  # nothing is left to chance


def test_the_runs_options_decode(run_folder, tmp_path, monkeypatch):
    seen = []
    original = PointerGenerator.generate

    def generate_and_see(model, batch, decoding, scored=True):
        seen.append(decoding)
        return original(model, batch, decoding, scored)

    monkeypatch.setattr(PointerGenerator, "generate", generate_and_see)
    articles = jsonl(tmp_path / "a.jsonl", *ARTICLES)
    assert generate(run_folder, articles, "-o", tmp_path / "o.jsonl").exit_code == 0
    assert generate(run_folder, articles, "-o", tmp_path / "p.jsonl", "--beam", 1, "--max-length", 4).exit_code == 0
    assert seen == [
        Decoding(name, beam=beam, max_length=longest, min_length=2, block_ngrams=1)
        for name, beam, longest in (("beam", 2, 6), ("greedy", 1, 4))
    ]


def test_articles_need_no_references_and_columns_may_have_other_names(run_folder, tmp_path):
    plain, bare, named = tmp_path / "o.jsonl", tmp_path / "bare.jsonl", tmp_path / "named.jsonl"
    assert generate(run_folder, jsonl(tmp_path / "a.jsonl", *ARTICLES), "-o", plain).exit_code == 0
    assert generate(run_folder, jsonl(tmp_path / "b.jsonl", *BARE), "-o", bare).exit_code == 0
    expected = read_outputs(plain)
    assert [output.references for output in read_outputs(bare)] == [()] * len(ARTICLES)
    assert [output.candidate for output in read_outputs(bare)] == [output.candidate for output in expected]
    other = [{"key": row["id"], "text": row["article"], "sum": row["highlights"] or "x"} for row in ARTICLES]
    columns = ["--id-column", "key", "--source-column", "text", "--reference-column", "sum"]
    assert generate(run_folder, jsonl(tmp_path / "c.jsonl", *other), "-o", named, *columns).exit_code == 0
    assert [(o.id, o.candidate) for o in read_outputs(named)] == [(o.id, o.candidate) for o in expected]
    assert read_outputs(named)[0].references == expected[0].references
    with pytest.raises(UserError, match="no row has nosuch"):
        generate(run_folder, tmp_path / "c.jsonl", "-o", tmp_path / "x.jsonl", *columns[:-1], "nosuch")


@pytest.mark.parametrize(
    ("rows", "arguments", "message"),
    [
        ([*BARE, BARE[0]], [], "a.jsonl: two articles have the id '0'"),
        (BARE, ["--device", "foo"], "--device foo: "),
        (BARE, ["--device", "meta"], "--device meta: "),
        (BARE, ["-o", "/proc/o.jsonl"], "--out /proc/o.jsonl: cannot be written"),
    ],
    ids=["ids", "device", "meta", "proc"],
)
def test_what_cannot_be_is_refused_before_decoding(run_folder, tmp_path, monkeypatch, rows, arguments, message):
    monkeypatch.setattr(generation, "write_summaries", lambda *_: pytest.fail("decoded"))
    where = [] if "-o" in arguments else ["-o", tmp_path / "o.jsonl"]
    with pytest.raises(UserError, match=message):
        generate(run_folder, jsonl(tmp_path / "a.jsonl", *rows), *where, *arguments)
    assert not (tmp_path / "o.jsonl").exists()


def test_a_duplicate_beyond_the_limit_does_not_matter(run_folder, tmp_path):
    articles = jsonl(tmp_path / "a.jsonl", *BARE, BARE[0])
    assert generate(run_folder, articles, "-o", tmp_path / "o.jsonl", "--limit", len(BARE)).exit_code == 0


@pytest.mark.parametrize("option", ["--prefix", "--line-break", "--max-source"])
def test_how_a_run_reads_is_its_own(run_folder, tmp_path, option):
    with pytest.raises(UserError, match=f"{option} 7: set by the configuration of the run .*leave it out"):
        generate(run_folder, jsonl(tmp_path / "a.jsonl", *BARE), "-o", tmp_path / "o.jsonl", option, 7)
