import gzip
import json
import logging
import os
from pathlib import Path

import datasets
import pyarrow
import pytest
from rows import table

from rlsum.data.columns import Columns
from rlsum.data.corpus import Tokenization, load_corpus
from rlsum.errors import RecordError, UserError
from rlsum.readers import CorpusError

pytestmark = pytest.mark.usefixtures("own_module_cache")
STORIES = [
    {"id": "a", "article": "The cat sat . It slept .", "highlights": "Cat sat .\nIt slept ."},
    {"id": "b", "article": "A dog\u2028barked at noon .", "highlights": "Dog barks ."},
    {"id": "c", "article": "Zürich won 3 - 0 .", "highlights": "Zürich wins .\nBig ."},
    {"id": "d", "article": "Rain fell , then snow .", "highlights": "Rain , snow ."},
]


def jsonl(rows) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def check(corpus, stories=STORIES):
    assert corpus.rows.column_names == ["id", "source", "references", "src_tokens", "tgt_tokens", "tgt_whole"]
    assert corpus.rows["id"][:] == [story["id"] for story in stories]
    for row, story in zip(corpus.rows, stories, strict=True):
        assert row["src_tokens"] == story["article"].split()
        assert row["source"] == " ".join(story["article"].split())
        assert row["references"] == [story["highlights"]]
        assert row["tgt_tokens"] == story["highlights"].split()
    assert corpus.skipped == {}


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz", "x.json"])
def test_jsonl(tmp_path, name):
    check(load_corpus(write(tmp_path / name, jsonl(STORIES))))


def test_csv_field_longer_than_pythons_default_limit(tmp_path):
    path = table(tmp_path / "x.csv", {"id": "a", "article": "w " * 100_000, "highlights": "w ."})
    assert len(load_corpus(path, how=Tokenization(max_source=10**6)).rows[0]["src_tokens"]) == 100_000


def test_parquet(tmp_path):
    datasets.Dataset.from_list(STORIES).to_parquet(tmp_path / "x.parquet")
    check(load_corpus(tmp_path / "x.parquet"))


def test_story_folder(tmp_path):
    text = "LONDON (CNN) -- It rained.\n\nIt snowed\n\n@highlight\n\nRain falls\n\n@highlight\n\nSnow too!\n"
    write(tmp_path / "b.story", text.encode())
    write(tmp_path / "a.story.gz", text.encode())
    write(tmp_path / "broken.story", b"No summary here.\n")
    write(tmp_path / "empty.story", b"@highlight\n\nA summary of nothing\n")
    corpus = load_corpus(tmp_path)
    assert corpus.rows["id"][:] == ["a", "b"]
    assert corpus.rows[0]["source"] == "LONDON (CNN) -- It rained. It snowed ."
    assert corpus.rows[0]["references"] == ["Rain falls .\nSnow too!"]
    assert corpus.skipped == {"no @highlight": 1, "article: empty": 1}
    assert corpus.examples["no @highlight"] == f"{tmp_path}/broken.story:1"


def test_story_folder_with_a_folder_a_split(tmp_path):
    for split in ("train", "val"):
        write(tmp_path / split / f"{split}1.story", b"It rained.\n\n@highlight\n\nRain.\n")
    assert load_corpus(tmp_path, split="valid").rows["id"][:] == ["val1"]


@pytest.mark.parametrize("name", ["valid.jsonl", "validation.jsonl.gz", "val.json"])
def test_folder_with_a_file_a_split(tmp_path, name):
    write(tmp_path / "data" / "train.jsonl", jsonl(STORIES[:1]))
    write(tmp_path / "data" / name, jsonl(STORIES[1:]))
    check(load_corpus(tmp_path / "data", split="valid"), STORIES[1:])
    check(load_corpus(tmp_path / "data"), STORIES[:1])
    with pytest.raises(CorpusError, match=r"no split 'test'; there are train.jsonl, val"):
        load_corpus(tmp_path / "data", split="test")


def test_two_files_for_one_split_are_refused(tmp_path):
    write(tmp_path / "valid.jsonl", jsonl(STORIES))
    write(tmp_path / "val.jsonl", jsonl(STORIES))
    with pytest.raises(CorpusError, match=r"valid\.jsonl or val\.jsonl"):
        load_corpus(tmp_path, split="valid")


@pytest.mark.parametrize("whole", [True, False])
def test_saved_dataset(tmp_path, whole):
    data = datasets.Dataset.from_list(STORIES)
    (datasets.DatasetDict({"train": data}) if whole else data).save_to_disk(tmp_path / "saved")
    check(load_corpus(tmp_path / "saved"))


@pytest.mark.parametrize("prefix", ["", "hf://"])
def test_folder_in_the_hubs_layout(tmp_path, prefix):
    (tmp_path / "repo" / "data").mkdir(parents=True)
    rows = [*STORIES, {"id": "e", "article": "", "highlights": "x"}, {"id": "f", "article": None, "highlights": "x"}]
    datasets.Dataset.from_list(rows).to_parquet(tmp_path / "repo" / "data" / "validation-00000-of-00001.parquet")
    for _ in range(2):
        corpus = load_corpus(f"{prefix}{tmp_path}/repo", split="valid")
        assert corpus.rows["id"][:] == ["a", "b", "c", "d"]
        assert corpus.skipped == {"article: empty": 1, "article: missing": 1}
        assert corpus.examples["article: empty"].endswith("repo:5")
    with pytest.raises(CorpusError, match="no split 'test'; there are validation"):
        load_corpus(f"{prefix}{tmp_path}/repo", split="test")


BROKEN = [
    (b"{not json", "not JSON"),
    (b"[" * 100_000, "JSON of more than 100 levels"),
    (b"[1, 2]", "not a JSON object"),
    (b'{"id": "x", "article": "bad \xff", "highlights": "x"}', "not UTF-8"),
    (b'{"id": "x", "article": "half a pair \\ud800", "highlights": "x"}', "not UTF-8 (half a surrogate pair)"),
    (b'{"id": "x", "article": "no summary"}', "highlights: missing"),
    (b'{"id": "x", "article": null, "highlights": "x"}', "article: missing"),
    (b'{"id": "x", "article": 7, "highlights": "x"}', "article: not text"),
    (b'{"id": "x", "article": " \\n\\u2028", "highlights": "x"}', "article: empty"),
    (b'{"id": "x", "article": "x", "highlights": " "}', "highlights: empty"),
    (b'{"id": "x", "article": "x", "highlights": []}', "highlights: empty"),
    (b'{"id": "x", "article": "x", "highlights": ["x", 3]}', "highlights: not text"),
]


@pytest.mark.parametrize(("line", "reason"), BROKEN)
def test_a_broken_row_costs_itself_and_is_named(tmp_path, caplog, line, reason):
    path = write(tmp_path / "x.jsonl", jsonl(STORIES[:2]) + b"\n" + line + b"\n" + jsonl(STORIES[2:]))
    with caplog.at_level(logging.WARNING):
        corpus = load_corpus(path)
        load_corpus(path, how=Tokenization(max_source=3))
    assert corpus.rows["id"][:] == ["a", "b", "c", "d"]
    assert corpus.skipped == {reason: 1}
    assert corpus.examples == {reason: f"{path}:4"}
    assert caplog.text.count(f"1 skipped ({reason}; first: {path}:4)") == 1  # not once a reader


def test_broken_csv_rows(tmp_path):
    rows = b'id,article,highlights\na,x y,x\nb,x\nc,"x"y,x\nd,bad \xff,x\n\ne,x y,z\nf,1,2,3\n'
    corpus = load_corpus(write(tmp_path / "x.csv", rows))
    assert corpus.rows["id"][:] == ["a", "e"]
    assert corpus.skipped == {"wrong number of CSV fields": 2, "broken CSV quoting": 1, "article: not UTF-8": 1}
    assert corpus.examples["wrong number of CSV fields"] == f"{tmp_path}/x.csv:3"
    assert corpus.examples["broken CSV quoting"] == f"{tmp_path}/x.csv:4"


def test_second_load_comes_from_the_cache_with_the_same_counts(tmp_path, monkeypatch):
    path = write(tmp_path / "x.jsonl", jsonl(STORIES) + b"nonsense\n")
    first = load_corpus(path)
    monkeypatch.setattr("rlsum.data.corpus.Tokenization.lines", lambda *_: pytest.fail("tokenised again"))
    monkeypatch.setattr("rlsum.data.sources.clean", lambda *_: pytest.fail("read again"))
    path.chmod(0o400)
    os.utime(path, ns=(10**18, 10**18))
    second = load_corpus(path)
    assert second.skipped == first.skipped == {"not JSON": 1}
    assert second.examples == first.examples
    assert second.rows.to_list() == first.rows.to_list()


def test_a_cache_that_cannot_be_written_is_named_with_the_fix(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", "/proc/cache")
    with pytest.raises(UserError, match=r"HF_DATASETS_CACHE='/proc/cache': cannot be written .*; .* set it to"):
        load_corpus(write(tmp_path / "x.jsonl", jsonl(STORIES)))


@pytest.mark.parametrize("where", ["data", "cache"])
def test_a_damaged_file_of_arrow_is_named(tmp_path, monkeypatch, where):
    """Cut anywhere, between batches of rows too, where Arrow reads on without a word; lost; JSON that says nothing."""
    rows = [{"article": f"the cat {n} sat", "highlights": f"cat {n}"} for n in range(450)]  # batches of 200
    data, cache = tmp_path / "data", tmp_path / "cache"
    datasets.Dataset.from_list(rows).save_to_disk(data / "saved")
    sources = [data / "saved", write(tmp_path / "x.jsonl", jsonl(rows))][: 1 if where == "data" else 2]
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", cache)
    for source in sources:
        load_corpus(source)
        written = {"data": data, "cache": cache / ("rlsum" if source.is_dir() else "generator")}[where]
        files = [file for file in written.rglob("*") if file.suffix == ".arrow" or file.name == "state.json"]
        assert len(files) == 2
        for file in files:
            whole, between = file.read_bytes(), []
            if file.suffix == ".arrow":
                with pyarrow.memory_map(str(file)) as content:
                    pyarrow.ipc.open_stream(content).read_next_batch()
                    between = [content.tell()]
            for cut in (0, 1, 30, *between, len(whole) // 2, len(whole) - 3):
                file.write_bytes(whole[:cut])
                with pytest.raises(UserError, match=f"{file}.* (again|which)"):
                    load_corpus(source)
            file.unlink()
            if file.name.startswith(("data-", "generator-")):  # others are made again, or not needed
                with pytest.raises(UserError, match=str(file)):
                    load_corpus(source)
            file.write_bytes(whole)
        load_corpus(source)


def test_a_changed_file_or_option_is_not_served_from_the_cache(tmp_path):
    path = write(tmp_path / "x.jsonl", jsonl(STORIES[:2]))
    before = path.stat()
    load_corpus(path)
    assert load_corpus(path, how=Tokenization(lowercase=True)).rows[0]["src_tokens"][0] == "the"
    assert load_corpus(path, how=Tokenization(max_source=1)).rows[0]["src_tokens"] == ["The"]
    path.write_bytes(path.read_bytes().replace(b"cat", b"cow"))  # the same size
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert load_corpus(path).rows[0]["src_tokens"][1] == "cow"


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("card", [True, False])
def test_nor_one_that_was_given_its_old_time_again(tmp_path, ending, card):
    """As `cp -p` and `rsync -t` do; with a card `datasets` reads the folder, and looks at no time at all."""
    folder, path = tmp_path / "corpus", tmp_path / "corpus" / f"rows.{ending}"
    folder.mkdir()
    if card:
        files = f"configs:\n- config_name: default\n  data_files:\n  - split: train\n    path: {path.name}\n"
        write(folder / "README.md", f"---\n{files}---\n".encode())
    sizes = set()
    for animal in ("cat", "dog", "rat"):
        rows = datasets.Dataset.from_list([{"article": f"the {animal} sat", "highlights": animal}])
        {"jsonl": rows.to_json, "csv": rows.to_csv, "parquet": rows.to_parquet}[ending](path)
        os.utime(path, ns=(10**18, 10**18))
        sizes.add(path.stat().st_size)
        assert load_corpus(folder if card else path).rows[0]["source"] == f"the {animal} sat"
    assert len(sizes) == 1


def test_nothing_is_written_beside_the_data(tmp_path):
    sources = tmp_path / "sources"
    write(sources / "train.jsonl", jsonl(STORIES))
    datasets.Dataset.from_list(STORIES).save_to_disk(sources / "saved")
    before = sorted(sources.rglob("*"))
    for file in before:
        file.chmod(0o555 if file.is_dir() else 0o444)
    load_corpus(sources)
    load_corpus(sources / "saved")
    assert sorted(sources.rglob("*")) == before


def test_several_processes_give_the_same_rows(tmp_path):
    rows = [{"id": str(i), "article": f"word {i} ' s", "highlights": f"{i} ."} for i in range(50)]
    lines = jsonl(rows[:25]) + b"broken\n" + jsonl(rows[25:])
    single = load_corpus(write(tmp_path / "x.jsonl", lines))
    double = load_corpus(write(tmp_path / "y.jsonl", lines), num_proc=2)
    assert double.rows.to_list() == single.rows.to_list()
    assert double.skipped == single.skipped
    for i in range(9):
        write(tmp_path / "stories" / f"{i}.story", b"Text %d.\n" % i + b"@highlight\nIt.\n" * (i != 4))
    stories = load_corpus(tmp_path / "stories", num_proc=2)
    assert stories.rows["id"][:] == list("01235678")
    assert stories.skipped == {"no @highlight": 1}


@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("piece", [1, 90, 333])
def test_pieces_of_a_large_file_are_read_apart(tmp_path, monkeypatch, piece, end):
    rows = [{"article": f"word {i} \u2028 s", "highlights": f"{i} ."} for i in range(20)]
    lines = b"\xef\xbb\xbf" + jsonl(rows[:9]) + b"\nbroken\n\n" + jsonl(rows[9:]).removesuffix(b"\n") + end
    whole = load_corpus(write(tmp_path / "a" / "x.jsonl", lines))
    monkeypatch.setattr("rlsum.data.sources.PIECE", piece)
    apart = load_corpus(write(tmp_path / "b" / "x.jsonl", lines), num_proc=2)
    assert apart.rows.to_list() == whole.rows.to_list()
    assert apart.rows["id"][8:10] == ["x-9", "x-13"]
    assert apart.skipped == whole.skipped == {"not JSON": 1}
    assert apart.examples == {"not JSON": f"{tmp_path / 'b' / 'x.jsonl'}:11"}
    for text in (json.dumps(rows, indent=0).encode(), gzip.compress(jsonl(rows)), jsonl(rows).replace(b"\n", b"\r")):
        assert load_corpus(write(tmp_path / "c" / "y.jsonl", text), num_proc=2).rows["source"][:] == [
            " ".join(row["article"].split()) for row in rows
        ]


def test_cuts_are_on_tokens_and_texts_stay_whole(tmp_path):
    row = load_corpus(write(tmp_path / "x.jsonl", jsonl(STORIES)), how=Tokenization(max_source=3, max_target=4)).rows[0]
    assert row["src_tokens"] == ["The", "cat", "sat"]
    assert row["tgt_tokens"] == ["Cat", "sat", ".", "It"]
    assert not row["tgt_whole"]
    assert row["source"] == STORIES[0]["article"]
    assert row["references"] == [STORIES[0]["highlights"]]


def test_several_references_and_sentence_lines(tmp_path):
    story = {"id": "a", "article": "One .\n\n Two  here .\r\nThree .", "highlights": ["x y .\nz .", "other ."]}
    row = load_corpus(write(tmp_path / "x.jsonl", jsonl([story])), columns=Columns(lists="alternatives")).rows[0]
    assert row["source"] == "One .\nTwo here .\nThree ."
    assert row["references"] == ["x y .\nz .", "other ."]
    assert row["tgt_tokens"] == ["x", "y", ".", "z", "."]
    assert row["tgt_whole"]


def test_our_own_records_are_recognised(tmp_path):
    records = [{"id": 1, "source": "x y", "references": ["r", "q"]}]
    row = load_corpus(write(tmp_path / "x.jsonl", jsonl(records))).rows[0]
    assert (row["id"], row["source"], row["references"]) == ("1", "x y", ["r", "q"])


def test_cnn_dailymail_with_a_column_named_source_is_not_taken_for_records(tmp_path):
    path = write(tmp_path / "x.jsonl", jsonl([{**STORIES[0], "source": "cnn", "references": "no"}]))
    check(load_corpus(path), STORIES[:1])


def test_column_names_and_articles_alone(tmp_path):
    path = write(tmp_path / "x.jsonl", jsonl([{"key": 9, "text": "a b", "sum": "c"}, {"text": "d", "sum": "e"}]))
    corpus = load_corpus(path, columns=Columns(id="key", source="text", reference="sum"))
    assert corpus.rows["id"][:] == ["9"]
    assert corpus.skipped == {"key: missing": 1}
    alone = load_corpus(path, columns=Columns(source="text", reference=None))
    assert alone.rows["id"][:] == ["x-1", "x-2"]
    assert alone.rows["references"][:] == [[], []]
    assert alone.rows["tgt_tokens"][:] == [[], []]


def test_references_are_optional_where_that_is_asked(tmp_path):
    rows = [{"id": "a", "article": "x"}, {"id": "b", "article": "y", "highlights": " "}, STORIES[2], {"id": "d"}]
    path = write(tmp_path / "x.jsonl", jsonl(rows))
    corpus = load_corpus(path, columns=Columns(optional=True))
    assert corpus.rows["id"][:] == ["a", "b", "c"]
    assert corpus.rows["references"][:] == [[], [], [STORIES[2]["highlights"]]]
    assert corpus.skipped == {"article: missing": 1}
    assert load_corpus(path).rows["id"][:] == ["c"]
    bare = write(tmp_path / "bare.jsonl", jsonl(rows[:1]))
    assert load_corpus(bare, columns=Columns(optional=True)).rows["references"][:] == [[]]
    with pytest.raises(CorpusError, match="no row has highlights"):
        load_corpus(bare)


@pytest.mark.parametrize("records", [[{"id": 1, "source": "x"}], [{"id": 1, "source": "x", "references": []}]])
def test_our_own_records_may_lack_references_where_that_is_asked(tmp_path, records):
    path = write(tmp_path / "x.jsonl", jsonl(records))
    row = load_corpus(path, columns=Columns(optional=True)).rows[0]
    assert (row["id"], row["source"], row["references"], row["tgt_tokens"]) == ("1", "x", [], [])


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_a_broken_row_in_a_folder_of_files_of_any_name_costs_itself(tmp_path, suffix):
    folder = tmp_path / "corpus"
    broken = jsonl(STORIES[:2]) + b"{half\n" + jsonl(STORIES[2:])
    if suffix == "csv":
        table(tmp_path / "x.csv", *STORIES)
        broken = (tmp_path / "x.csv").read_bytes() + b"too,few\n"
    write(folder / f"articles-1.{suffix}", broken)
    corpus = load_corpus(folder)
    assert corpus.rows["id"][:] == ["a", "b", "c", "d"]
    assert sum(corpus.skipped.values()) == 1
    with pytest.raises(CorpusError, match="no split 'test'; there are train"):
        load_corpus(folder, split="test")


def test_a_local_snapshot_with_two_configurations(tmp_path):
    folder = tmp_path / "snapshot"
    write(folder / "one.jsonl", jsonl(STORIES[:1]))
    write(folder / "rest.jsonl", jsonl(STORIES[1:]))
    configs = "".join(f"- config_name: {name}\n  data_files: {name}.jsonl\n" for name in ("one", "rest"))
    write(folder / "README.md", f"---\nconfigs:\n{configs}---\n".encode())
    check(load_corpus(f"{folder}/one"), STORIES[:1])
    check(load_corpus(f"hf://{folder}/rest"), STORIES[1:])
    with pytest.raises(CorpusError, match=r"one.*rest.*folder/config"):
        load_corpus(folder)
    with pytest.raises(CorpusError, match="two"):
        load_corpus(folder / "two")
    (folder / "one.jsonl").write_bytes(jsonl(STORIES[2:]) + b"{half\n")
    assert load_corpus(f"{folder}/one").rows["id"][:] == ["c", "d"]


def test_a_broken_row_where_datasets_reads_is_told_as_such(tmp_path):
    write(tmp_path / "corpus" / "one.json", jsonl(STORIES) + b"{half\n")
    with pytest.raises(CorpusError, match=r"cannot read one of its files .*give the path of the file"):
        load_corpus(tmp_path / "corpus")


def test_parquet_without_rows(tmp_path):
    datasets.Dataset.from_list(STORIES).select([]).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(CorpusError, match=": no rows"):
        load_corpus(tmp_path / "x.parquet")


def test_spacy_tokens(tmp_path):
    story = {"id": "a", "article": "It didn't rain, she said.", "highlights": "No rain."}
    how = Tokenization(tokenizer="spacy", lowercase=True)
    row = load_corpus(write(tmp_path / "x.jsonl", jsonl([story])), how=how).rows[0]
    assert row["source"] == "it did n't rain , she said ."
    assert row["tgt_tokens"] == ["no", "rain", "."]


def test_limit_takes_good_rows_first_or_at_random(tmp_path):
    rows = [{"id": str(i), "article": "x", "highlights": "y"} for i in range(100)]
    path = write(tmp_path / "x.jsonl", b"broken\n" + jsonl(rows))
    assert load_corpus(path, limit=3).rows["id"][:] == ["0", "1", "2"]
    chosen = [int(i) for i in load_corpus(path, limit=10, seed=1).rows["id"]]
    assert chosen == sorted(set(chosen))
    assert len(chosen) == 10
    assert max(chosen) > 30
    assert load_corpus(path, limit=10, seed=1).rows["id"][:] == [str(i) for i in chosen]
    assert load_corpus(path, limit=10, seed=2).rows["id"][:] != [str(i) for i in chosen]
    assert load_corpus(path, limit=3).skipped == {"not JSON": 1}
    assert len(load_corpus(path, limit=101, seed=1).rows) == 100


def test_texts_that_stand_for_none_are_said(tmp_path, caplog):
    rows = [{"article": text, "highlights": summary} for text, summary in [("nan", "a"), ("b", "NaN"), ("nan", "c")]]
    load_corpus(write(tmp_path / "x.jsonl", jsonl([*rows, {"article": None, "highlights": "nan"}, *STORIES])))
    assert "2 x the text 'nan', which is no text; 1 x the text 'NaN'" in caplog.text


def test_duplicate_ids_are_kept_and_counted(tmp_path):
    corpus = load_corpus(write(tmp_path / "x.jsonl", jsonl([*STORIES, STORIES[0]])))
    assert (len(corpus.rows), corpus.duplicate_ids) == (5, 1)
    assert "1 duplicate ids kept" in corpus.report()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.jsonl", b"one\ntwo\n", r"no row can be read \(.*x.jsonl:1: not JSON\); JSONL needs an object per line"),
        ("x.json", b"[1, 2]", "no row can be read .*not a JSON object"),
        ("x.jsonl", b"", ": no rows"),
        ("x.jsonl", b"\xef\xbb\xbf", ": no rows"),
        ("x.csv", b"article,highlights\n", ": no rows"),
        ("x.jsonl", b'{"text": "a", "highlights": "b"}\n', "no row has article; found: text, highlights"),
        (
            "x.jsonl",
            b'{"article": "", "highlights": "b"}\n',
            r"no usable row: 1 x article: empty \(first: .*x.jsonl:1\)",
        ),
        ("x.txt", b"text", "unknown format"),
        ("x.parquet", b"PAR1 this is not", "broken parquet"),
    ],
)
def test_useless_files_are_refused_with_the_fix(tmp_path, name, content, message):
    with pytest.raises(CorpusError, match=message):
        load_corpus(write(tmp_path / name, content))


def test_damaged_gzip_is_an_error_and_not_a_shorter_corpus(tmp_path):
    rows = [{"id": str(i), "article": os.urandom(50).hex(), "highlights": "y"} for i in range(1000)]
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(jsonl(rows))[:-2000])
    with pytest.raises(RecordError, match=r"x\.jsonl\.gz:\d+: cannot be read"):
        load_corpus(path)


@pytest.mark.parametrize("path", ["nowhere.jsonl", "/no/such/folder", "./nothing", "tests/nothing"])
def test_a_missing_path_is_said_at_once(path):
    with pytest.raises(CorpusError, match="no such file or folder"):
        load_corpus(path)


@pytest.mark.parametrize("name", ["tokenizer", "max_source", "max_target", "limit", "num_proc"])
def test_options_out_of_range(tmp_path, name):
    given = {name: "bert" if name == "tokenizer" else 0}
    options = given if name in ("limit", "num_proc") else {"how": Tokenization(**given)}
    with pytest.raises(CorpusError, match=name):
        load_corpus(tmp_path / "unread.jsonl", **options)


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("cnn_dailymail", ("cnn_dailymail", None, None)),
        ("abisee/cnn_dailymail@v2", ("abisee/cnn_dailymail", None, "v2")),
        ("hf://abisee/cnn_dailymail/3.0.0@main", ("abisee/cnn_dailymail", "3.0.0", "main")),
    ],
)
def test_hub_names(monkeypatch, path, asked):
    def load_dataset(name, config, revision, cache_dir):
        assert (name, config, revision, cache_dir) == (*asked, None)
        return datasets.DatasetDict({"validation": datasets.Dataset.from_list(STORIES)})

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    check(load_corpus(path, split="valid"))
