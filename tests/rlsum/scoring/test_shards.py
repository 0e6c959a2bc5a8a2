import pytest
from rows import jsonl

from rlsum.api import score
from rlsum.errors import UserError
from rlsum.scoring.processes import CHUNK
from rlsum.scoring.shards import WHOLE, Shard

ROWS = 2 * CHUNK + 5


@pytest.fixture
def pairs(tmp_path):
    rows = ({"id": n, "candidate": f"a {'b ' * (n % 7)}", "reference": "a b b c" * (n % 3)} for n in range(ROWS))
    return jsonl(tmp_path / "pairs.jsonl", *rows)


def scored(pairs, out, shard=None, metrics="rouge-1, repetition", **options):
    return score(pairs, metrics=metrics, out=out, shard=shard, say=lambda line: None, **options)


def test_shards_put_together_are_the_file_of_one_job(pairs, tmp_path, monkeypatch):
    whole, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    one = scored(pairs, whole)
    assert scored(pairs, out, "2/3").rows == CHUNK
    with pytest.raises(UserError, match=r"not complete: 1/3, 3/3"):
        scored(pairs, out, "all/3")
    for rank in ("0", "2"):  # as a launcher names its processes
        monkeypatch.setenv("RANK", rank)
        monkeypatch.setenv("WORLD_SIZE", "3")
        scored(pairs, out)
    monkeypatch.undo()
    with pytest.raises(UserError, match="signatures differed"):
        scored(pairs, out, "all/3", "rouge-1")
    second = tmp_path / "out.jsonl.2-of-3"
    content = second.read_bytes()
    second.write_bytes(content[: content.rindex(b"\n", 0, -1) + 1])  # a copy that broke off
    with pytest.raises(UserError, match=r"out\.jsonl\.2-of-3: not as shard 2/3 left it"):
        scored(pairs, out, "all/3")
    second.write_bytes(content)
    calls = []
    merged = scored(pairs, out, "all/3", advance=lambda *done: calls.append(done))
    assert not calls, "nothing is scored again"
    assert out.read_bytes() == whole.read_bytes()
    assert merged.blocks() == one.blocks()
    written = [(tmp_path / f"{name}.jsonl.signatures.json").read_bytes() for name in ("out", "whole")]
    assert written[0] == written[1]


def test_of_all_shards_each_row_is_in_one():
    for total in (3, 40, 41):
        rows = [row for number in range(1, 4) for row in Shard(number, 3).rows(total, 1)]
        assert rows == list(range(total)) == list(WHOLE.rows(total, 7)) == list(Shard(0, 3).rows(total, 1))
    assert [Shard(number, 2).rows(21, 10) for number in (1, 2)] == [range(10), range(10, 21)]


@pytest.mark.parametrize("text", ["3", "0/2", "3/2", "2/0", "all", "-1/2", "x/2", "1/2/3"])
def test_a_shard_is_written_as_its_number_and_that_of_all(text):
    with pytest.raises(UserError, match="3/8"):
        Shard.parse(text)


def test_shards_need_a_file_and_enough_rows(pairs, tmp_path):
    with pytest.raises(UserError, match="needs out"):
        score(["a"], ["b"], "rouge-1", shard="1/2")
    with pytest.raises(UserError, match="use at most 3"):
        scored(pairs, tmp_path / "out.jsonl", "1/4")
