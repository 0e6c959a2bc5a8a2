from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.errors import RewardError
from rewards.specs import as_spec, split_specs

SUM = "weighted(rouge-l=0.7, s+wms(vectors=v.txt.gz, oov=drop)=0.3)"  # the last equals sign is that of the weight


@pytest.mark.parametrize(
    ("text", "name", "options", "written"),
    [
        *((text, "rouge-l", {}, "rouge-l") for text in ("rouge-l", "rouge-l()", "rouge-l( )")),
        (
            " sms( vectors = a/b.gz , oov=drop ) ",
            "sms",
            {"vectors": "a/b.gz", "oov": "drop"},
            "sms(vectors=a/b.gz, oov=drop)",
        ),
        (SUM, "weighted", {"parts": [("rouge-l", "0.7"), ("s+wms(vectors=v.txt.gz, oov=drop)", "0.3")]}, SUM),
        ("cached(reward=sms(vectors=v), size=3)", "cached", {"reward": "sms(vectors=v)", "size": "3"}, None),
        ("wms(vectors='odd, name).txt')", "wms", {"vectors": "odd, name).txt"}, None),
        ("wms(vectors=bob's.txt)", "wms", {"vectors": "bob's.txt"}, None),
    ],
)
def test_text_has_a_name_and_options(text: str, name: str, options: dict, written: str | None) -> None:
    spec = as_spec(text)
    assert (spec.name, spec.options, str(spec)) == (name, options, written or text)
    assert as_spec(str(spec)) == spec


def test_several_are_split_at_top_level_only() -> None:
    assert split_specs("rouge-l, weighted(a(x=1,y=2)=.5, b=.5) ,s+wms(v=w)") == [
        "rouge-l",
        "weighted(a(x=1,y=2)=.5, b=.5)",
        "s+wms(v=w)",
    ]


def test_weighted_as_mapping_in_both_forms() -> None:
    flat = as_spec({"name": "weighted", "rouge-l": 0.7, "rouge-2": 0.3})
    assert flat == as_spec({"name": "weighted", "parts": [["rouge-l", 0.7], ["rouge-2", 0.3]]})


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "empty"),
        ("rouge-l(", "')' is missing"),
        ("rouge-l)", "unexpected ')'"),
        ("rouge-l(a=1)b", "after the closing"),
        ("rouge-l(stemmer)", "not option=value"),
        ("rouge-l(stemmer=1,stemmer=2)", "twice"),
        ("rouge-l(stemmer=1,,)", "empty"),
        ("rouge l", "not a reward"),
        ("rouge-l,rouge-2", "more than one"),
        ("weighted", "at least one part"),
        ("weighted(rouge-l)", "not reward=weight"),
        ("wms(vectors='a)", "missing"),
    ],
)
def test_broken_text_is_an_error(text: str, part: str) -> None:
    with pytest.raises(RewardError, match=part.replace(")", r"\)")):
        as_spec(text)


@pytest.mark.parametrize("spec", [3, None, {}, {"name": 3}, {"name": "weighted", "parts": [["rouge-l"]]}])
def test_broken_mapping_is_an_error(spec: object) -> None:
    with pytest.raises(RewardError):
        as_spec(spec)  # type: ignore[arg-type]


@given(st.text(alphabet="ab(),='\" []", max_size=30))
def test_any_text_is_a_spec_or_a_reward_error(text: str) -> None:
    try:
        spec = as_spec(text)
    except RewardError:
        return
    assert spec.name


keys = st.text("abc_", min_size=1, max_size=4)
values = st.text("abc./(1)", max_size=6).filter(lambda text: text.count("(") == text.count(")") == 0)


@given(st.text("abc-+", min_size=1, max_size=5), st.dictionaries(keys, values, max_size=4))
def test_written_and_read_again(name: str, options: dict[str, str]) -> None:
    spec = as_spec({"name": name, **{key: value for key, value in options.items() if key != "name"}})
    assert as_spec(str(spec)) == spec
