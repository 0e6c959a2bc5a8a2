from __future__ import annotations

import json
from dataclasses import replace

import pytest
from rows import jsonl
from sacrebleu import corpus_bleu

from rlsum.records import Output, read_outputs, write_outputs

ARTICLES = ("the crew saved the bridge .", "the mayor opened a school .", "a doctor left the market .")


def system(name: str, candidates: tuple[str, ...], references: tuple[str, ...] = ARTICLES) -> list[Output]:
    return [
        Output(f"id-{number}", ARTICLES[number], (references[number],), candidate, name)
        for number, candidate in enumerate(candidates)
    ]


@pytest.fixture
def files(tmp_path):
    write_outputs(tmp_path / "good.jsonl", system("good [1]", ARTICLES))
    write_outputs(tmp_path / "poor.jsonl", system("poor", ("the bridge .", "", "a doctor left .")))
    return tmp_path


def test_one_system_has_scores_properties_and_signatures(ran, files):
    printed = ran("evaluate", files / "good.jsonl")
    assert "100.00" in printed
    assert "length" in printed
    assert "rouge-lsum|d:f1|st:yes" in printed
    assert "rouge-lsum F1" in printed
    assert "Against" not in printed


def test_several_systems_are_compared_with_the_first(ran, files):
    printed = ran("evaluate", files / "poor.jsonl", files / "good.jsonl", "--metrics", "rouge-1")
    assert "Against poor" in printed
    # With words over three letters unstemmed: F1 of 2/5 and 5 words, of nothing, of 3 and 5: mean (4/7 + 0 + 3/4) / 3.
    assert "44.05" in printed
    assert "0.2500" in printed  # three items, all better: 2 of 8 sign patterns are as extreme


@pytest.mark.parametrize(
    ("candidates", "said"),
    [
        (("the crew saved .", "a mayor opened it .", "a doctor left ."), ""),
        (("the crew saved .", "", "a doctor left ."), "33% have no word."),
        ((". the . the , .",) * 3, "100% have more than a mark for every two words, 100% have hardly a word but stop"),
        (("rain fell on the town today .",) * 3, "100% are word for word that of another article."),
    ],
)
def test_outputs_that_are_no_text_are_told_beside_their_scores(rlsum, tmp_path, candidates, said):
    write_outputs(tmp_path / "out.jsonl", [replace(one, source="") for one in system("s", candidates)])
    printed = " ".join(rlsum("evaluate", tmp_path / "out.jsonl", "--metrics", "rouge-1")[1].split())
    assert ("read the outputs of s before its scores" in printed) == bool(said)
    assert said in printed


def test_json_holds_raw_scores_and_null_for_undefined(ran, files):
    arguments = ("evaluate", files / "poor.jsonl", files / "good.jsonl", "--baseline", "good [1]", "--json")
    data = json.loads(ran(*arguments, "--metrics", "rouge-1,rouge-l(stemmer=true)", "--resamples", 100, "--seed", 3))
    assert [row["system"] for row in data["systems"]] == ["poor", "good [1]"]
    assert data["systems"][1]["metrics"]["rouge-1"] == {"mean": 1, "low": None, "high": None, "n": 3}
    assert data["systems"][0]["properties"]["invented-names"]["mean"] is None
    assert data["resampling"] == {"level": 0.95, "resamples": 100, "seed": 3}
    assert [(row["system"], row["metric"]) for row in data["differences"]] == [("poor", "rouge-1"), ("poor", "rouge-l")]
    assert list(data["signatures"]) == ["rouge-1", "rouge-l"]


def test_a_folder_gets_the_report_in_every_form(rlsum, refused, ran, files):
    command = ("evaluate", files / "good.jsonl", files / "poor.jsonl", "--resamples", 50, "-o", files / "report")
    printed = ran(*command)
    assert "report.html" in printed
    page = (files / "report" / "report.html").read_text()
    assert "Against good [1]" in page
    assert "rouge-lsum|direction:f1|stemmer:yes" in page
    assert (files / "report" / "differences.png").read_bytes().startswith(b"\x89PNG")
    scores = (files / "report" / "scores.csv").read_text().splitlines()
    assert "good [1],rouge-1,1.0,,,3,3" in scores
    assert "poor,invented-names,,,,0,3" in scores
    assert len((files / "report" / "differences.csv").read_text().splitlines()) == 1 + 3
    assert "add --overwrite" in refused(*command)
    assert rlsum(*command, "--overwrite")[0] == 0


def test_the_folder_of_one_system_has_no_picture_not_even_an_old_one(rlsum, ran, files):
    folder = files / "report"
    rlsum("evaluate", files / "good.jsonl", files / "poor.jsonl", "--resamples", 50, "-o", folder)
    printed = ran("evaluate", files / "good.jsonl", "--metrics", "bleu", "-o", folder, "--overwrite")
    *_, last = printed.splitlines()
    assert sorted(last.partition(": ")[2].split(", ")) == sorted(path.name for path in folder.iterdir())
    assert not (folder / "differences.png").exists()
    rows = (folder / "scores.csv").read_text().splitlines()
    assert any(row.startswith("good [1],bleu of the corpus,1.0") and row.endswith(",,,3,3") for row in rows)


def test_systems_that_wrote_the_same_are_named(rlsum, files):
    write_outputs(files / "same.jsonl", system("same", ARTICLES))
    printed = rlsum("evaluate", files / "good.jsonl", files / "poor.jsonl", files / "same.jsonl")[1]
    assert "good [1] and same wrote the same text for all 3 articles" in " ".join(printed.split())
    assert printed.count("wrote the same") == 1


def test_a_metric_that_cannot_be_loaded_has_its_reason_in_the_report(rlsum, ran, files):
    metrics = "rouge-1, twmd(encoder=./nowhere), sms(vectors=nowhere.txt)"
    data = json.loads(ran("evaluate", files / "good.jsonl", "--metrics", metrics, "--json"))
    assert list(data["systems"][0]["metrics"]) == ["rouge-1"]
    assert "nowhere" in data["missing"]["twmd"]
    assert "nowhere.txt" in data["missing"]["sms"]
    assert "no such file" in ran("evaluate", files / "good.jsonl", "--metrics", metrics)
    assert rlsum("evaluate", files / "good.jsonl", "--metrics", "sms(vectors=nowhere.txt)")[0] == 2


def test_bleu_of_the_corpus_is_beside_the_mean_of_texts(ran, files):
    printed = ran("evaluate", files / "good.jsonl", files / "poor.jsonl", "--metrics", "bleu", "--json")
    corpus = [row["corpus"]["bleu"] for row in json.loads(printed)["systems"]]
    outputs = read_outputs(files / "poor.jsonl")
    official = corpus_bleu([output.candidate for output in outputs], [[output.references[0] for output in outputs]])
    assert corpus == pytest.approx([1, official.score / 100])
    assert "of the corpus" in ran("evaluate", files / "good.jsonl", "--metrics", "bleu")


def test_what_only_one_system_has_and_other_references_are_said(ran, files):
    write_outputs(files / "part.jsonl", system("part", ARTICLES[:2], ("another reference", ARTICLES[1])))
    printed = ran("evaluate", files / "good.jsonl", files / "part.jsonl", "--metrics", "rouge-1")
    told = " ".join(printed.split())
    assert "part and good [1] share 2 articles; 1 articles with an output of only one" in told
    assert "for 1 articles the references of part differ from those of good [1]" in told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["evaluate", "good.jsonl", "--metrics", "rogue-1"], "did you mean 'rouge-1'"),
        (["evaluate", "good.jsonl", "--metrics", "rouge-1(stemmr=true)"], "stemmer"),
        (["evaluate", "good.jsonl", "--baseline", "x"], "choose one of good [1]"),
        (["evaluate", "empty.jsonl"], "no records"),
        (["evaluate", "nowhere.jsonl"], "cannot be read"),
        (["evaluate", "good.jsonl", "good.jsonl"], "given twice"),
        (["score", "good.jsonl", "-o", "good.jsonl/out.jsonl"], "--out good.jsonl/out.jsonl: cannot be written"),
        (["score", "good.jsonl", "-o", "."], "cannot be written"),
        (["rewards", "smss"], "did you mean 'sms'"),
    ],
)
def test_errors_are_one_line_and_exit_code_2(rlsum, files, monkeypatch, arguments, words):
    (files / "empty.jsonl").touch()
    monkeypatch.chdir(files)
    code, printed, error = rlsum(*arguments)
    assert code == 2
    assert printed == ""
    *understood, told = error.splitlines()
    assert words in told
    assert all("rows; candidates" in line for line in understood)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "expected"),
    [("see2017_pointer_gen", (36.18, 15.62, 33.23)), ("see2017_pointer_gen_cov", (39.26, 17.23, 36.17))],
)
def test_published_outputs_score_what_the_field_agrees_on(rlsum, shared, tmp_path, column, expected):
    """ROUGE-1/2/Lsum of See et al. 2017 by rouge-score with its stemmer, one sentence a line, all 11,490 articles."""
    from rlsum.data.system_outputs import OutputColumns, convert

    file = tmp_path / "see.jsonl"
    path = shared / "data" / "cnndm" / "systems_test_outputs.jsonl.gz"
    assert write_outputs(file, convert(path, OutputColumns(column, "reference"), "see")) == 11_490
    _, printed, _ = rlsum("evaluate", file, "--json", "--resamples", 10)
    found = [row["mean"] * 100 for row in json.loads(printed)["systems"][0]["metrics"].values()]
    assert found == pytest.approx(expected, abs=0.02)


def test_a_metric_reads_the_other_fields_of_the_records(refused, ran, tmp_path):
    outputs = [replace(output, columns={"topic": "bridge"}) for output in system("good", ARTICLES)]
    write_outputs(tmp_path / "out.jsonl", outputs)
    assert read_outputs(tmp_path / "out.jsonl") == outputs
    command = ("evaluate", tmp_path / "out.jsonl", "--metrics", "rouge-1,source_rewards:on_topic")
    printed = ran(*command)
    assert "source_rewards:on_topic" in printed
    write_outputs(tmp_path / "out.jsonl", [*outputs[:2], replace(outputs[2], columns={})])
    told = refused(*command)
    assert all(part in told for part in ("'topic'", "id-2"))


FRENCH = (
    "Le maire a annoncé que le pont de la ville est fermé pour la semaine et que la tempête est terminée",
    "Une quarantaine de personnes sont dans un hôtel de la ville, et il n'y a pas de blessés dans le port",
    "Ça",
)


def test_a_mean_of_some_rows_has_its_share_beside_it_wherever_it_is(rlsum, ran, files):
    path = files / "french.jsonl"
    jsonl(path, *({"id": str(i), "candidate": t, "reference": t, "system": "s"} for i, t in enumerate(FRENCH)))
    for command in ("score", "evaluate"):
        printed = ran(command, path, "--metrics", "rouge-2")
        assert "(2 of 3)" in printed
        assert printed.count("French") == 1
        assert "--language fr" in " ".join(printed.split())
        printed = " ".join(rlsum(command, path, "--metrics", "rouge-1", "--language", "fr")[1].split())
        assert "F1 stems fr" in printed
        assert "look French" not in printed
    assert rlsum("evaluate", path, "--metrics", "rouge-2", "-o", files / "french", "--json")[0] == 0
    for name in ("report.html", "report.md", "report.tex"):
        assert "(2 of 3)" in (files / "french" / name).read_text(encoding="utf-8")
    assert "s,rouge-2,1.0,,,2,3" in (files / "french" / "scores.csv").read_text().splitlines()
    data = json.loads((files / "french" / "report.json").read_text())
    assert "look French" in data["notes"][0]
    assert (data["systems"][0]["metrics"]["rouge-2"]["n"], data["systems"][0]["articles"]) == (2, 3)


def test_an_unknown_language_is_refused_before_anything_is_read(refused, files):
    for command in ("score", "evaluate", "correlate"):
        assert "did you mean 'fr'" in refused(command, files / "good.jsonl", "--language", "french")
