import json
import re

import pytest
from encoders import WORDS
from judged import judged
from rows import jsonl

import rewards
from rlsum.cli import fit_metric
from rlsum.judgments.layout import Layout


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "judgments.jsonl"
    rows = [each.to_json() for each in judged(48, groups=("cs-en", "de-en", "en-ru"))]
    rows.append('{"id": "unjudged", "system": "ours", "candidate": "cat", "references": ["dog"], "group": "de-en"}')
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_from_judgments_to_a_reward(rlsum, data, tiny_encoder, tmp_path):
    test = tmp_path / "test.jsonl"
    test.write_text("".join(each.to_json() + "\n" for each in judged(20, seed=9, groups=("cs-en", "de-en"))))
    fit = ("fit-metric", data, "--metric", f"twmd(encoder={tiny_encoder}, centering=batch)", "--groups", "*-en")
    training = ("--epochs", 2, "--learning-rate", 1e-3, "--batch-size", 8, "--holdout", 0.25, "--seed", 3)
    code, printed, progress = rlsum(*fit, *training, "--test", test, "-o", tmp_path / "new" / "metric")
    assert code == 0, progress
    assert "left out 17 of 49, of other groups or without 'overall'" in printed
    assert "24 judgments to train on, 8 to validate, 20 to test" in printed
    assert "epoch 0  validation: Pearson" in progress
    assert "epoch 2  loss" in progress
    for row in ("validation", "test cs-en", "test de-en", "test, average"):
        assert row in printed
    assert "learned-twmd|encoder:bert-" in printed

    outputs, scored = tmp_path / "pairs.jsonl", tmp_path / "scored.jsonl"
    outputs.write_text('{"candidate": "cat runs", "references": ["dog runs"]}\n')
    metric = f"learned(path={tmp_path / 'new' / 'metric'})"
    assert rlsum("score", "--input", outputs, "--metrics", metric, "-o", scored)[0] == 0
    expected = rewards.from_spec(metric)(["cat runs"], [["dog runs"]])[0]
    assert json.loads(scored.read_text())["scores"]["learned"] == pytest.approx(expected, abs=1e-6)


def test_votes_become_two_rewards_with_their_agreement(rlsum, tiny_encoder, tmp_path):
    """Two texts of each article, which two judges rated; of the articles of the test one was trained on, and the texts
    of one are too long.
    """
    texts, others = ("the cat runs", "a red dog sleeps"), ["cy", "di"]
    for name, articles in (("votes", range(12)), ("test", range(11, 15))):
        rows = [
            {"id": f"{n}", "system": system, "candidate": text * (1 + 40 * (n == 14)), "references": [],
             "source": f"{WORDS[n % 12]} {n}",
             "raw_scores": {"overall": [value, n % 3]}, "scores": {"overall": value},
             "judges": others if (n, system) == (13, "b") else ["ann", "bo"]}
            for n in articles
            for system, text, value in zip("ab", texts, (n % 2, 1), strict=True)
        ]  # fmt: skip
        jsonl(tmp_path / f"{name}.jsonl", *rows)
    fit = ("fit-metric", tmp_path / "votes.jsonl", "--test", tmp_path / "test.jsonl", "--epochs", 1, "--holdout", 0.25)
    metric = f"reward-model(model={tiny_encoder})"
    code, printed, said = rlsum(*fit, "--metric", metric, "--judges", "random", "-o", tmp_path / "m")
    assert code == 0, said
    assert "18 votes to train on, 6 to validate, 7 to test" in printed
    assert "--test: 2 of 7 votes, by their articles, are also in the training data" in said
    assert said.count("left out 2 of 7 votes of the test, with a text too long for the model") == 2
    assert "1 of 31 votes are of mean scores: no named judge rated both texts" in said
    for row in ("as voted:.* validation", "as voted:.* test", "length apart:.* test"):  # names may be folded
        assert re.search(row, " ".join(printed.split()))
    for folder in (tmp_path / "m", tmp_path / "m" / "length-controlled"):
        assert f"learned(path={folder})" in printed
        assert rewards.load("learned", path=str(folder)).signature in printed
    code, printed, said = rlsum(
        *fit[:2], "--epochs", 1, "--metric", metric, "-o", tmp_path / "one"
    )  # one article of 12
    assert code == 0, said
    assert "nan" not in printed
    assert "(no interval)" in " ".join(printed.split())
    metric = f"reward-model(model={tiny_encoder}, given=reference)"
    code, _, said = rlsum(*fit, "--metric", metric, "-o", tmp_path / "n")
    assert code == 2
    assert "has no reference, with which its text is read" in said


def test_texts_on_both_sides_are_told(rlsum, data, tiny_encoder, tmp_path):
    fit = ("fit-metric", data, "--metric", f"sbert(encoder={tiny_encoder})", "--epochs", 1)
    code, _, told = rlsum(*fit, "--valid", data, "-o", tmp_path / "metric")
    assert code == 0
    assert "--valid: 48 of 48 pairs of texts are also in the training data" in told
    again = tmp_path / "again.jsonl"
    again.write_text(data.read_text().replace('"id": "', '"id": "doc-'))
    code, printed, told = rlsum(*fit, again, "--holdout", 0.5, "-o", tmp_path / "held")
    assert code == 0
    shared = int(re.search(r"--holdout: (\d+) pairs of texts are held out under another id, and left out", told)[1])
    counts = re.search(r"(\d+) judgments to train on, (\d+) to validate", printed)
    assert shared + int(counts[1]) + int(counts[2]) == 96


def test_errors_are_one_line(rlsum, data, tiny_encoder, tmp_path):
    out = ("-o", tmp_path / "metric")
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"id": 1}\n')
    sbert = f"sbert(encoder={tiny_encoder})"
    cases = {
        "exact transport has no gradient; use twmd": (data, "--metric", f"moverscore(encoder={tiny_encoder})", *out),
        "rouge-l has no gradient": (data, "--metric", "rouge-l", *out),
        "did you mean 'twmd'": (data, "--metric", "twmdd", *out),
        "broken.jsonl:1: no 'system'": (broken, "--metric", sbert, *out),
        "no judgment has this score": (data, "--metric", sbert, "--score", "fluency", *out),
        "exists; give another name": (data, "--metric", sbert, "-o", tmp_path),
        "--learning-rate -1.0: must be greater than 0": (data, "--metric", sbert, "--learning-rate", -1, *out),
        "judgments.jsonl is given twice; leave one out": (data, data, "--metric", sbert, *out),
        "judgments.csv: cannot be read": (data.with_suffix(".csv"), "--metric", sbert, *out),
    }
    for told, arguments in cases.items():
        code, printed, error = rlsum("fit-metric", *arguments)
        assert code == 2, told
        assert told in error
        assert len([line for line in error.splitlines() if " rows; " not in line]) == 1
        assert not printed or "left out" in printed
    assert not (tmp_path / "metric").exists()


def test_scores_where_lower_is_better_are_learned_the_other_way_round(tmp_path, capsys):
    row = {"system": "s", "candidate": "a", "references": ["b"]}
    path = jsonl(tmp_path / "j.jsonl", *({"id": str(n), **row, "scores": {"errors": n}} for n in (1, 2)))
    for lower, expected in (("errors", [-1, -2]), ("", [1, 2])):
        rows, score = fit_metric.Sources(score="errors", lower_is_better=lower)._read([str(path)], Layout())
        assert [row.scores[score] for row in rows] == expected
    assert "lower_is_better='errors'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("metric", "given", "needs"),
    [("reward-model(model=minilm)", ("--scale", "none"), "human scores"), ("twmd", ("--judges", "equal"), "votes")],
)
def test_an_option_of_the_other_kind_of_learning_is_refused(rlsum, data, tmp_path, metric, given, needs):
    code, _, error = rlsum("fit-metric", data, "--metric", metric, "-o", tmp_path / "new", *given)
    assert (code, (tmp_path / "new").exists()) == (2, False)
    assert " ".join(given) in error
    assert needs in error
