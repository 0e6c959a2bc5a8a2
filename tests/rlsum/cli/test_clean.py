"""What is no part of a text: every command that scores says so, and --clean scores without it."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest
from rows import jsonl

from rewards.text.cleaning import NAME
from rlsum.data.corpus import Tokenization, load_corpus
from rlsum.records import Output, read_outputs, write_outputs

WORDS = [
    *("mayor", "crew", "bridge", "storm", "river", "school", "doctor"),
    *("market", "garden", "saw", "left", "opened", "saved", "the"),
]
KINDS = {
    "special tokens": "<s> {} </s> <pad>",
    "thinking": "<think>The crew should save the bridge.</think> {}",
    "preamble": "Summary: {}",
    "shared prefix": "Article in brief -> {}",
    "HTML tags": "<p>{}</p>",
    "Markdown": "**Crew:** {}",
}


def outputs(name: str, form: str = "{}", count: int = 30, system: str = "plain") -> list[Output]:
    draw = random.Random(name)
    texts, others = ([" ".join(draw.choices(WORDS, k=8)) for _ in range(count)] for _ in range(2))
    rows = enumerate(zip(texts, others, strict=True))
    return [Output(str(row), text, (text,), form.format(other), system) for row, (text, other) in rows]


@pytest.mark.parametrize("kind", KINDS)
def test_evaluate_warns_once_and_cleans(rlsum, ran, tmp_path, kind):
    form = KINDS[kind]
    write_outputs(tmp_path / "plain.jsonl", outputs("x"))
    write_outputs(tmp_path / "other.jsonl", outputs("x", form, system="other"))
    command = ("evaluate", tmp_path / "plain.jsonl", tmp_path / "other.jsonl", "--metrics", "rouge-1")
    printed = ran(*command, "-o", tmp_path / "report")
    warning = f"Warning: candidates of other: {kind} in 30 of 30"
    flowing = " ".join(printed.split())
    assert flowing.count(warning) == 1
    assert "--clean" in flowing
    assert "candidates of plain" not in flowing
    for page in ("report.html", "report.md", "report.tex"):
        assert (tmp_path / "report" / page).read_text().count("candidates of other") == 1
    told = json.loads(rlsum(*command, "--json")[1])
    assert [warning in line for line in told["debris"]] == [True]

    cleaned = json.loads(rlsum(*command, "--json", "--clean")[1])
    systems = {row["system"]: row for row in cleaned["systems"]}
    assert systems["other"]["properties"] == systems["plain"]["properties"]
    if kind == "Markdown":
        return  # its bold word remains
    assert systems["other"]["metrics"] == systems["plain"]["metrics"]
    assert cleaned["signatures"]["rouge-1"].startswith(f"cleaned|rules:{NAME}|")
    assert ("prefix:'Article in brief ->'" in cleaned["signatures"]["rouge-1"]) == (kind == "shared prefix")


def test_score_cleans_in_every_process_and_keeps_the_raw_text(rlsum, ran, tmp_path):
    write_outputs(tmp_path / "plain.jsonl", outputs("x"))
    write_outputs(tmp_path / "other.jsonl", outputs("x", "Brief -> <s> {} </s>"))
    rlsum("score", tmp_path / "plain.jsonl", "--metrics", "rouge-1", "-o", tmp_path / "wanted.jsonl")
    wanted = [output.scores for output in read_outputs(tmp_path / "wanted.jsonl")]
    for workers in (1, 2):
        out = tmp_path / f"scored-{workers}.jsonl"
        options = ("--metrics", "rouge-1", "-o", out, "--workers", workers)
        printed = ran("score", tmp_path / "other.jsonl", *options, "--clean")
        assert f"Note: cleaned by {NAME}: candidates of plain" in " ".join(printed.split())
        assert [output.scores for output in read_outputs(out)] == wanted
        assert [output.candidate for output in read_outputs(out)] == [
            output.candidate for output in read_outputs(tmp_path / "other.jsonl")
        ]
        signatures = json.loads((tmp_path / f"{out.name}.signatures.json").read_text())
        assert signatures["rouge-1"].startswith(f"cleaned|rules:{NAME}|prefix:'Brief ->'|reward:[rouge-1|")
    _, printed, _ = rlsum("score", tmp_path / "other.jsonl", "--metrics", "rouge-1")
    assert "Warning: candidates of plain: special tokens in 30 of 30 rows" in " ".join(printed.split())


def test_correlate_says_so_and_cleans_lengths_too(rlsum, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    articles = outputs("a", count=20)
    for name, form in (("plain", "{}"), ("debris", "<s> {} </s>")):
        rows = [
            {"id": each.id, "system": system, "candidate": form.format(each.candidate),
             "references": articles[number].references, "scores": {"overall": number * 7 % 5}}
            for system in "ab" for number, each in enumerate(outputs(system, count=20))
        ]  # fmt: skip
        jsonl(tmp_path / f"{name}.jsonl", *rows)
    options = ("--metrics", "rouge-1", "--resamples", 20, "--statistic", "spearman", "--json")
    plain, debris, cleaned = (
        json.loads(rlsum("correlate", tmp_path / f"{name}.jsonl", *options, *more)[1])
        for name, more in (("plain", ()), ("debris", ()), ("debris", ["--clean"]))
    )
    assert plain["notes"] == []
    assert debris["notes"][0].startswith("candidates of a: special tokens in 20 of 20 rows ('<s>")
    assert cleaned["notes"][0].startswith(f"cleaned by {NAME}: candidates of a: special tokens")
    assert cleaned["results"][0]["correlations"] == plain["results"][0]["correlations"]
    assert cleaned["columns"]["rouge-1"]["signature"].startswith(f"cleaned|rules:{NAME}|")


def test_a_single_row_among_many_is_not_told_nor_ordinary_text(rlsum, tmp_path):
    rows = outputs("x", count=30)
    odd = Output("odd", "a", ("AT&T - a < b `` c '' 3 * 4 * 5",), "<s> a C# e-mail @@ 5 #1 </s>", "plain")
    write_outputs(tmp_path / "some.jsonl", [*rows, odd])
    _, printed, _ = rlsum("evaluate", tmp_path / "some.jsonl", "--metrics", "rouge-1")
    assert "Warning" not in printed
    write_outputs(tmp_path / "one.jsonl", [odd])
    _, printed, _ = rlsum("evaluate", tmp_path / "one.jsonl", "--metrics", "rouge-1")
    assert "special tokens in 1 of 1 rows" in " ".join(printed.split())


def test_metrics_that_clean_by_themselves_are_warned_of_nothing_and_one_text_again_and_again_has_no_prefix(
    rlsum, tmp_path
):
    write_outputs(tmp_path / "a.jsonl", outputs("x", "<s> {} </s>"))
    _, printed, _ = rlsum("evaluate", tmp_path / "a.jsonl", "--metrics", "cleaned(reward=rouge-1)")
    assert "Warning: candidates" not in printed
    assert f"Note: cleaned by {NAME}: candidates of plain: special tokens" in " ".join(printed.split())
    write_outputs(tmp_path / "b.jsonl", [replace(each, candidate="the mayor : saw") for each in outputs("x")])
    _, printed, _ = rlsum("evaluate", tmp_path / "b.jsonl", "--metrics", "rouge-1")
    assert "prefix" not in printed


def test_references_are_surveyed_and_cleaned_like_candidates(rlsum, tmp_path):
    rows = [
        Output(str(row), "", (f"<t> {word} bridge </t>", "b"), f"{word} bridge", "a") for row, word in enumerate(WORDS)
    ]
    write_outputs(tmp_path / "a.jsonl", rows)
    command = ("evaluate", tmp_path / "a.jsonl", "--metrics", "rouge-1")
    assert "Warning: references: special tokens in 14 of 14 rows" in " ".join(rlsum(*command)[1].split())
    (system,) = json.loads(rlsum(*command, "--clean", "--json")[1])["systems"]
    assert (system["system"], system["metrics"]["rouge-1"]["mean"]) == ("a", 1.0)


def test_build_says_what_judges_would_read_and_leaves_it_out(rlsum, ran, tmp_path):
    for name, form in (("a", "{}"), ("b", "**Summary:** {} <|im_end|>")):
        rows = [replace(each, source=f"article {each.id}") for each in outputs(name, form, 20, name)]
        write_outputs(tmp_path / f"{name}.jsonl", rows)
    command = ("human-eval", "build", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--seed", 1, "--items", 6)
    printed = ran(*command, "-o", tmp_path / "raw")
    assert "Warning: candidates of b: special tokens in 20 of 20 rows" in printed
    assert "judges read it: --clean leaves it out" in printed
    assert "candidates of a" not in printed
    printed = ran(*command, "-o", tmp_path / "clean", "--clean")
    assert f"Note: cleaned by {NAME}: candidates of b: special tokens in 20 of 20 rows" in printed
    shown = {folder: (tmp_path / folder / "tasks.jsonl").read_text() for folder in ("raw", "clean")}
    assert ["im_end" in text and "Summary:" in text for text in shown.values()] == [True, False]


def test_loading_a_corpus_says_what_its_references_hold(tmp_path, caplog):
    for name, form in (("plain", "{} ."), ("marked", "<t> {} . </t>")):
        rows = [{"article": each.source, "highlights": form.format(each.candidate)} for each in outputs("x", count=20)]
        jsonl(tmp_path / f"{name}.jsonl", *rows)
        load_corpus(tmp_path / f"{name}.jsonl", how=Tokenization(tokenizer="spacy"))
    assert [record.message for record in caplog.records if "learns" in record.message] == [
        f"{tmp_path / 'marked.jsonl'} (train): references: special tokens in 20 of 20 rows "
        f"({'<t> ' + outputs('x', count=20)[0].candidate[:20]!r}); a model learns to write it: leave it out of the file"
    ]
