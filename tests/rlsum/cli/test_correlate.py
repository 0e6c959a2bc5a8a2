import json
import random

import pytest
from rated import rated
from rows import jsonl, rows_of

from rlsum.judgments.records import write_jsonl

FAST = ("--resamples", 40, "--statistic", "spearman")


@pytest.fixture
def rlsum(rlsum, monkeypatch, tmp_path):
    """The same, with a folder of caches of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user-cache"))
    return rlsum


@pytest.fixture
def data(tmp_path):
    write_jsonl(tmp_path / "judged.jsonl", rated(20).rows)
    return tmp_path / "judged.jsonl"


def judged(**fields):
    return {"id": "1", "system": "s", "candidate": "a b", "references": ["a"], "scores": {"overall": 1.0}, **fields}


def test_the_table_the_report_and_the_cache(refused, ran, data, tmp_path):
    command = ("correlate", data, "--metrics", "rouge-1,rouge-1(direction=recall)", *FAST)
    printed = ran(*command, "-o", tmp_path / "report")
    assert "Agreement with people: overall" in printed
    assert "60 judged texts of 20 inputs by 3 systems" in printed
    assert "length (letters)" in printed
    assert "judges: one against the others" in printed
    assert "no test: 20 inputs" in printed
    assert (tmp_path / "user-cache" / "rlsum" / "scores.sqlite").is_file()
    assert (tmp_path / "report" / "report.html").is_file()
    assert "exists; add --overwrite" in refused(*command, "-o", tmp_path / "report")


def test_json_is_the_same_twice_and_without_a_cache(rlsum, data):
    command = ("correlate", data, "--metrics", "rouge-1", *FAST, "--json")
    first, second, third = (rlsum(*command, *more)[:2] for more in ((), (), ("--no-cache",)))
    assert first == second == third
    assert json.loads(first[1])["columns"]["rouge-1"]["kind"] == "metric"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--statistic", "sperman"), "'sperman' is unknown; did you mean 'spearman'?"),
        (("--length", "bytes"), "--length: 'bytes' is unknown"),
        (("--metrics", "ruge-l"), "unknown reward 'ruge-l'"),
        (("--score", "fluency"), "no row has the score 'fluency'"),
        (("--average", "rows"), "add --by-group"),
        (("--test", "williams", "--level", "system"), "--level pooled"),
        (("--test", "permutation", "--by-group"), "only 'clustered permutation'"),
        (("--test", "permutation", "--level", "input", "--statistic", "pearson"), "swaps rows"),
    ],
)
def test_errors_name_the_option_and_the_fix(refused, data, options, told):
    assert told in refused("correlate", data, *options)


def test_a_single_text_one_input_and_one_judge_are_undefined_with_the_reason(ran, tmp_path):
    one = jsonl(tmp_path / "one.jsonl", judged(raw_scores={"overall": [1.0]}))
    printed = ran("correlate", one, "--metrics", "rouge-1", *FAST)
    assert "only one row has both scores" in printed
    assert "no item has two judgments" in printed
    rows = [judged(system=f"s{n}", candidate="a " * n + "b", scores={"overall": n / 9}) for n in range(9)]
    printed = ran("correlate", jsonl(tmp_path / "input.jsonl", *rows), "--metrics", "rouge-1", *FAST)
    assert "no interval: 1 input" in printed


def test_a_strangers_hundred_systems_on_a_hundred_inputs(ran, tmp_path):
    draw = random.Random(0)
    rows = []
    for place in range(10_000):
        right = draw.randint(0, 5)
        rows.append(
            judged(
                id=place // 100,
                system=f"s{place % 100}",
                candidate=" ".join(["a"] * right + ["b"] * (5 - right)),
                references=[] if place % 1000 == 7 else ["a a a a a"],
                scores={"overall": None if place % 49 == 3 else right + draw.random(), "flat": 3},
                raw_scores={"overall": [right]},
            )
        )
    path = jsonl(tmp_path / "many.jsonl", *rows)
    metrics = "rouge-1,repetition,length(low=1)"
    printed = ran("correlate", path, "--metrics", metrics, *FAST, "--length", "whitespace", "--json")
    found = json.loads(printed)
    assert (found["texts"], found["inputs"], found["systems"]) == (9_795, 100, 100)
    assert found["left_out"] == {"without a score 'overall'": 205}
    assert found["columns"]["rouge-1"]["undefined"] == {"it has no reference": 10}
    values = {label: each["average"] for label, each in found["results"][0]["correlations"].items()}
    assert values["rouge-1"]["n"] == 9_785
    assert values["rouge-1"]["coverage"] == pytest.approx(9_785 / 9_795)
    assert values["rouge-1"]["value"] > 0.9
    for constant in ("length", "length (whitespace)"):
        assert values[constant]["value"] is None
        assert values[constant]["reason"] == "the metric's scores are constant"
    assert found["alpha"]["reason"] == "no item has two judgments"
    printed = ran("correlate", path, "--metrics", "rouge-1", *FAST, "--score", "flat")
    assert "the human scores are constant" in printed


def test_rows_of_single_judges_and_columns_of_judges_give_the_same_numbers(rlsum, tmp_path):
    """And not those of as many inputs as rows."""
    rows = rated(30).rows
    texts = [f"{row.id},{row.system},{row.candidate},right" for row in rows]
    raw = [row.raw_scores["overall"] for row in rows]
    long = [
        f"{text},{judge},{-score}" for text, pair in zip(texts, raw, strict=True) for judge, score in enumerate(pair)
    ]
    wide = [f"{text},{-one},{-two}" for text, (one, two) in zip(texts, raw, strict=True)]
    (tmp_path / "long.csv").write_text("\n".join(["nr,system,text,reference,judge,errors", *long]))
    (tmp_path / "wide.csv").write_text("\n".join(["nr,system,text,reference,errors_a,errors_b", *wide]))
    options = ("--metrics", "rouge-1", *FAST, "--id-column", "nr", "--candidate", "text", "--json")
    options += ("--lower-is-better", "errors", "--score")
    write_jsonl(tmp_path / "records.jsonl", rows)
    found = [
        json.loads(rlsum("correlate", tmp_path / name, *given)[1])
        for name, given in (
            ("long.csv", (*options, "errors")),
            ("wide.csv", (*options, "errors=errors_a,errors_b")),
            ("records.jsonl", ("--metrics", "rouge-1", *FAST, "--json")),
        )
    ]
    assert [each["texts"] for each in found] == [90, 90, 90]
    assert [each["score"] for each in found] == ["negated_errors", "negated_errors", "overall"]
    for label in ("rouge-1", "length (letters)"):
        values = [each["results"][0]["correlations"][label]["average"] for each in found]
        for end in ("value", "low", "high"):
            assert values[0][end] == values[1][end] == pytest.approx(values[2][end])
    assert found[0]["alpha"]["value"] == pytest.approx(found[2]["alpha"]["value"])


def test_within_groups(rlsum, ran, tmp_path):
    write_jsonl(tmp_path / "g.jsonl", rated(24, groups=("cs-en", "de-en")).rows)
    command = ("correlate", tmp_path / "g.jsonl", "--metrics", "rouge-1", *FAST)
    printed = ran(*command, "--by-group", "--average", "rows")
    assert "Within groups: spearman, pooled" in printed
    assert "weighted by their rows" in printed
    assert "The rows of 2 groups are pooled" in rlsum(*command)[1]


def test_a_metric_reads_the_other_fields_of_the_rows(refused, ran, data):
    rows = [row | {"topic": "right"} for row in rows_of(data)]
    command = ("correlate", jsonl(data, *rows), "--metrics", "rouge-1,source_rewards:on_topic", *FAST, "--json")
    for _ in range(2):  # the second from the cache
        printed = ran(*command)
    assert "source_rewards:on_topic" in printed
    told = refused("correlate", data, "--metrics", "rouge-1", *FAST)
    assert "'topic'" in told, "a field that no metric reads may be a misspelt one"
    del rows[3]["topic"]
    assert "'topic'" in refused("correlate", jsonl(data, *rows), "--metrics", "source_rewards:on_topic", *FAST)
