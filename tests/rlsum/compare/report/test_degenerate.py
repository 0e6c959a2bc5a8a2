"""Whether the report says that summaries are no text, where decoding cut them, and how much is copied."""

from __future__ import annotations

from pathlib import Path

import comparisons
import language_models as lm
import pytest
import yaml

from rlsum.compare.report.degenerate import findings_of_texts, limits_of, no_texts, read_texts
from rlsum.compare.report.findings import findings
from rlsum.compare.results import gather
from rlsum.records import Output, write_outputs

WORDS = "river council storm harbour doctor engine museum valley teacher bridge market forest".split()  # noqa: SIM905


def ordinary(number: int) -> str:
    kept = WORDS[number % 12 :] + WORDS[: number % 12]
    return f"the {kept[0]} closed the {kept[3]} on day {number} ."


def read(tmp_path, texts, **changes):
    """What the report says of texts that ``texts(cell, number)`` gives, with the results."""
    folder, cells = comparisons.finished(tmp_path, {"rouge-l": 0.2}, articles=40, **changes)
    results = gather(folder, cells, "beam")
    for cell in cells:
        if cell.kind != "outputs":
            outputs = (
                Output(f"test-{n}", f"article {n} {ordinary(n)}", (ordinary(n),), texts(cell, n), cell.title)
                for n in range(40)
            )
            write_outputs(folder.outputs(cell)["beam"], outputs)
    return read_texts(folder, cells, results), results, folder, cells


def test_ordinary_texts_have_a_sentence_behind_what_was_asked(tmp_path):
    texts, results, _, _ = read(tmp_path, lambda cell, number: ordinary(number))
    said = list(findings(results, texts=texts))
    assert any(line.startswith("All systems write texts") for line in said[1:])
    assert not any("Read the summaries" in line or "limit of length (" in line for line in said)


def test_a_system_that_writes_no_text_is_named_first_and_others_are_not(tmp_path):
    def texts(cell, number):
        return f". the . the , . {number} ." if cell.system == "rouge-l" else ordinary(number)

    found, results, _, _ = read(tmp_path, texts)
    said = list(findings(results, texts=found))
    told = "Read the summaries before the scores: of rouge-l 100% have more than a mark for every two"
    assert said[0].startswith(told)
    assert not any("All systems write texts" in line for line in said)


def test_the_seed_that_went_wrong_is_named(tmp_path):
    def texts(cell, number):
        return "" if cell.name == "rouge-2-2" else ordinary(number)

    found, *_ = read(tmp_path, texts)
    assert "of rouge-2 100% in seed 2 have no word" in no_texts(found)


def test_the_verdict_says_that_most_summaries_end_at_the_limit_of_decoding(tmp_path):
    def texts(cell, number):
        return f"{ordinary(number)} and the {ordinary(number + 1)}" if cell.system == "rouge-l" else ordinary(number)

    found, results, _, _ = read(tmp_path, texts)  # of the run: 12
    (verdict,) = [line for line in findings(results, texts=found) if line.startswith("Training on rouge-l ")]
    assert verdict.endswith("but 100% of its summaries end at the limit of length (decoding.max_length=12).")
    longer, results, _, _ = read(tmp_path / "longer", texts, decoding={"beam": {"beam": 2, "max_length": 50}})
    assert not any("limit of length (" in line for line in findings(results, texts=longer))


@pytest.mark.parametrize(
    ("changes", "system", "lengths"),
    [
        ({}, "rouge-l", (0, 12)),  # the run's
        ({"decoding": {"beam": {"beam": 2, "max_length": 30, "min_length": 5}}}, "rouge-l", (5, 30)),
        ({}, "oracle", (0, None)),
    ],
)
def test_the_limit_is_that_of_decoding(tmp_path, changes, system, lengths):
    folder, cells = comparisons.finished(tmp_path, {}, **changes)
    cell = next(cell for cell in cells if cell.system == system)
    limits = limits_of(folder, cell, "beam")
    assert (limits.shortest, limits.longest) == lengths


def test_the_limit_of_a_run_is_known_when_its_weights_are_gone(tmp_path):
    folder, cells = comparisons.finished(tmp_path, {})
    cell = comparisons.named(cells, "rouge-l-1")
    best = Path(cell.model) / "best"
    best.mkdir()
    (best / "config.yaml").write_text(yaml.safe_dump({**cell.config, "decoding": {"max_length": 9}}))
    (best / "rewards.json").write_text("{}")
    assert limits_of(folder, cell, "beam").longest == 9


@pytest.mark.parametrize("padding", ["[PAD]", None])
def test_tokens_of_a_language_model_are_those_of_its_tokenizer(tmp_path, padding):
    """Many have no token for padding."""
    folder, cells = comparisons.finished(tmp_path, {})
    cell = comparisons.named(cells, "rouge-l-1")
    best = lm.save(Path(cell.model) / "best", "llama")
    tokenizer = lm.tokenizer()
    tokenizer.pad_token = padding
    tokenizer.save_pretrained(best)
    model = {"kind": "causal", "pretrained": str(best), "prompt": "Sum up: {article}"}
    data = {key: value for key, value in cell.config["data"].items() if key not in ("tokenizer", "lowercase")}
    (best / "config.yaml").write_text(yaml.safe_dump({**cell.config, "data": data, "model": model}))
    (best / "rewards.json").write_text("{}")
    text = ordinary(1)
    assert limits_of(folder, cell, "beam").count(text) == len(tokenizer(text)["input_ids"])


def test_extracts_are_called_so(tmp_path):
    found, results, _, _ = read(tmp_path, lambda cell, number: ordinary(number))
    for copied, new, extracts in ((0.999, 0.03, True), (0.8, 0.4, False)):
        for system in results.compared:
            shape = system.properties["length"].shape
            system.properties.update({"copy-rate": copied + 0 * system.properties["length"], "novelty": None})
            system.properties["novelty"] = system.properties["copy-rate"] * 0 + new
            assert system.properties["novelty"].shape == shape
        (said,) = [line for line in findings_of_texts(found, results) if line.startswith("Of the words")]
        assert f"{100 * copied:.1f}% are in the article" in said
        assert "of the references 100.0%" in said
        assert said.endswith("extracts, whatever they are trained on.") == extracts


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (str.lower, None),
        (str.title, "are cased, unlike"),
        (lambda text: text.replace(" .", "."), "are not tokenised, unlike"),
        (lambda text: text.title().replace(" .", "."), "are cased and not tokenised, unlike"),
        (lambda text: text.replace(" .", ""), None),  # no mark shows it
    ],
)
def test_outputs_of_other_systems_that_are_written_otherwise_are_marked(tmp_path, change, words):
    _, results, folder, cells = read(tmp_path, lambda cell, number: ordinary(number))
    cell = next(cell for cell in cells if cell.system == "oracle")
    texts = (Output(f"test-{n}", f"article {n}", (ordinary(n),), change(ordinary(n)), "oracle") for n in range(40))
    write_outputs(folder.outputs(cell)["beam"], texts)
    lines = [line for line in findings_of_texts(read_texts(folder, cells, results), results) if "unlike" in line]
    assert [words in line for line in lines if "of oracle" in line] == ([True] if words else [])
