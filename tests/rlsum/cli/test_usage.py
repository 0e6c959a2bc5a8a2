"""What a wrong command is told leads on to the right one, in one line; what is only a little wrong works."""

import pytest
from rows import jsonl


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder with two files of texts, outputs, judgments with one score, and two wrong configurations."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("the cat sat\nrain fell\n")
    (tmp_path / "b.txt").write_text("a cat sat\nrain fell all day\n")
    (tmp_path / "tabs.txt").write_text("the cat sat\ta cat sat\nrain fell\tit rained\n")
    outputs = [{"id": name, "candidate": "a b", "references": ["a c"]} for name in ("x", "y")]
    jsonl(tmp_path / "out.jsonl", *outputs)
    lines = [f"{n},{system},text {n},text,{n + len(system)}" for n in range(4) for system in ("s", "tt")]
    (tmp_path / "judged.csv").write_text("\n".join(["id,system,candidate,reference,quality", *lines]))
    (tmp_path / "run.yaml").write_text("run: r\ndata: {train: a, valid: b}\ntraining: {step: 3, lr: 1}\n")
    (tmp_path / "compare.yaml").write_text("folder: f\ncell: {}\nstart: r\nrewards: [rouge-l, sms]\nseeds: 2\n")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("evalute out.jsonl", ["did you mean 'evaluate'", "--help`"]),
        ("evaluate", ["missing argument", "for example `rlsum evaluate outputs.jsonl`"]),
        ("evaluate out.jsonl --metric rouge-l", ["--metrics", "for example `rlsum evaluate"]),
        ("evaluate a.txt b.txt", ["as in --references b.txt"]),
        ("evaluate --references b.txt a.txt", ["missing argument", "mle.txt rl.txt --references gold.txt gold2.txt"]),
        ("evaluate out.jsonl --metrics rouge-1 rouge-2", ["write commas, as in --metrics 'rouge-1,rouge-2'"]),
        ("score out.jsonl --metrics rouge-1 --metrics rouge-2", ["--metrics: given twice"]),
        ("score --candidates a.txt b.txt --references b.txt", ["`rlsum evaluate a.txt b.txt --references R.txt`"]),
        ("score a.txt --references tabs.txt", ["tabs.txt: a tab in every line", "a file each"]),
        ("evaluate none.jsonl", ["none.jsonl: cannot be read (No such file or directory)"]),
        ("score a.txt b.txt", ["--candidates a.txt --references b.txt"]),
        ("generate facebook/bart-large-cnn", ["`rlsum generate facebook/bart-large-cnn test.jsonl -o bart.jsonl"]),
        ("generate facebook/bart-large-cnn a.txt", ["missing option '--out'", "-o bart.jsonl"]),
        ("generate run a.txt -o o.jsonl --top-p x", ["--top-p x: must be", "for example"]),
        ("generate run a.txt -o o.jsonl --beam 0", ["--beam 0: must be greater than or equal to 1; for example"]),
        ("generate run a.txt -o o.jsonl --method top", ["--method top: 'top' is not one of 'beam', 'sample'"]),
        ("human-eval build out.jsonl -o s --items 0", ["--items 0: must be greater than or equal to 1; for example"]),
        ("human-eval build out.jsonl -o s --swapped 101", ["--swapped 101: must be less than or equal to 100"]),
        ("train demo/mle --steps 5", ["no such option: --steps", "rlsum train demo/mle"]),
        ("train run.yaml", ["did you mean training.steps?", "did you mean training.learning_rate?"]),
        ("train out.jsonl", ["out.jsonl: data, not a configuration; `rlsum init out.jsonl`"]),
        ("compare compare.yaml", ["write {rouge-l: rouge-l, sms: sms}", "must be a list, not 2; write [2]"]),
        ("compare demo", ["did you mean compare/demo?"]),
        ("explain a.txt", ["give the reference, too"]),
        ("explain out.jsonl", ["give --id, such as x"]),
        ("explain out.jsonl --id 9", ["give one of the file, such as x, y"]),
        ("fit-metric judged.csv --metric cka -o m --learning-rate 0", ["--learning-rate 0.0: must be greater than 0"]),
        ("fit-metric judged.csv --metric cka -o m --score x=qual*,no", ["no row has 'no', the column of --score"]),
        ("data outputs judged.csv -o o.jsonl", ["missing option '--candidate'", "--candidate pointer_gen"]),
        ("human-eval build out.jsonl", ["missing option '--out'", "for example `rlsum human-eval build"]),
        ("correlate judged.csv --score qualit --no-cache", ["did you mean 'quality'?"]),
    ],
)
def test_a_wrong_command_leads_to_the_right_one(rlsum, command, words):
    code, printed, told = rlsum(*command.split())
    assert (code, printed) == (2, "")
    message = told[told.index("rlsum: ") :]
    assert [word for word in words if word not in message] == []
    assert len(message.splitlines()) <= 4
    assert "Traceback" not in message


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("score a.txt --references b.txt --metrics rouge-1", "rouge-1"),
        ("correlate judged.csv --metrics rouge-1 --resamples 20 --no-cache", "human score: quality, the only one"),
        ("correlate judged.csv --score qual* --metrics rouge-1 --resamples 20 --no-cache", "qual"),
        ("configs demo", "demo/sms"),
    ],
)
def test_what_is_only_a_little_short_works(ran, command, words):
    printed = ran(*command.split())
    assert words in " ".join(printed.split())


@pytest.mark.parametrize(
    "references", [("b.txt", "a.txt"), ("b.txt", "--references", "a.txt"), ("b.txt", "a.txt", "--clean")]
)
def test_what_follows_references_is_references(ran, references):
    for command in ("evaluate", "score"):
        printed = ran(command, "a.txt", "--references", *references, "--metrics", "rouge-1")
        assert "100.00" in printed  # of its own text


@pytest.mark.parametrize("lists", ["sentences", "alternatives"])
def test_every_command_that_reads_references_is_told_what_lists_are(rlsum, ran, tmp_path, lists):
    row = {"id": "1", "system": "s", "candidate": "a b", "reference": ["a c", "b d"], "scores": {"overall": 1}}
    rows = ({**row, "id": str(n), "candidate": "a " * n + "b", "scores": {"overall": n}} for n in range(4))
    jsonl(tmp_path / "l.jsonl", *rows)
    for command in (
        ("score", "l.jsonl"),
        ("evaluate", "l.jsonl"),
        ("correlate", "l.jsonl", "--no-cache", "--resamples", 20),
        ("explain", "l.jsonl", "--id", 1, "-o", "e.json", "--overwrite"),
    ):
        code, _, told = rlsum(*command, "--metrics", "rouge-1")
        assert (code, "--reference-lists" in told) == (2, True), told
        ran(*command, "--metrics", "rouge-1", "--reference-lists", lists)
    fit = ("fit-metric", "l.jsonl", "--metric", "cka(encoder=nowhere)", "-o", "m", "--reference-lists", lists)
    assert "--reference-lists" not in rlsum(*fit)[2]
