from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hard_texts import HARD
from hypothesis import given, settings
from hypothesis import strategies as st

from rewards.text.cleaning import PREFIX, RULES, clean, cleaned, prefixes_of

CAT = "The cat sat."
FOUND = {
    "thinking": {
        "<think>Short.</think>\n\nThe cat sat.": CAT,
        "<THINKING>\na\n\nb</THINKING> The cat sat.": CAT,
        "a thought without a start</think>The cat sat.": CAT,
        "<think>a<think>b</think>c</think>The cat sat.": CAT,
        "<think>I write <think> once more.</think>The cat sat.": CAT,
        "<think>a</think>The cat <think>b</think>sat.": CAT,
        "The cat sat.<think>and then": CAT,
        "<think>a thought without an end": "",
        "◁think▷a◁/think▷The cat sat.": CAT,
        "[THINK]a[/THINK]The cat sat.": CAT,
        "<reasoning>a</reasoning>The cat sat.": CAT,
        "<analysis>a</analysis>\n<summary>The cat sat.</summary>": CAT,
        "<|channel|>analysis<|message|>a<|start|>assistant<|channel|>final<|message|>The cat sat.<|return|>": CAT,
        "<|channel|>analysis<|message|>a thought without an end": "",
        "<|channel|>analysis<|message|>a<|channel|>commentary<|message|>b<|channel|>final<|message|>The cat sat.": CAT,
        "< think > a </ think > The cat sat.": CAT,
        "<|think|>a<|/think|>The cat sat.": CAT,
        "<|start_think|>a<|end_think|>The cat sat.": CAT,
        "<chain_of_thought>a</chain_of_thought>The cat sat.": CAT,
        "The cat <think>a<think>b</think>c</think>sat.": CAT,
    },
    "special tokens": {
        "<s> The cat sat. </s> <pad> <pad>": CAT,
        "<t> a cat . </t> <t> a dog . </t>": "a cat .\na dog .",
        "a cat .<q>a dog .": "a cat .\na dog .",
        "a cat . ##SENT## a dog .": "a cat .\na dog .",
        "@highlight\n\nThe cat sat.": CAT,
        "[CLS] The cat sat. [SEP] [PAD]": CAT,
        "The cat sat.<|endoftext|>": CAT,
        "<|im_start|>assistant\nThe cat sat.<|im_end|>": CAT,
        "<｜begin▁of▁sentence｜>The cat sat.": CAT,
        "The <unk> cat sat.<extra_id_0>": CAT,
        "<start_of_turn>model\nThe cat sat.<end_of_turn>": CAT,
    },
    "word pieces": {
        "The c@@ at s@@ at.": CAT,
        "The ca ##t sa ##t.": CAT,
        "two do ##g ##s": "two dogs",
        "▁The ▁c at ▁s at .": CAT,
        "▁The▁cat▁sat.": CAT,
        "The Ġcat Ġs at .": CAT,
        "TheĠcatĠsat.": CAT,
        "ten @-@ year": "ten-year",
    },
    "written escapes": {
        "The cat sat.\\nA dog.": "The cat sat.\nA dog.",
        "a cat\\na dog": "a cat\na dog",
        "caf\\u00e9": "café",
    },
    "HTML entities": {
        "Tom &amp; Co": "Tom & Co",
        "It&#39;s &quot;his&quot;": 'It\'s "his"',
        "it &apos;s": "it 's",
        "Tom &amp;amp; Co": "Tom & Co",
        "Tom & amp ; Co": "Tom & Co",
        "a&nbsp;b": "a b",
    },
    "HTML tags": {
        "<p class='x'>The cat <b>sat</b>.</p>": CAT,
        "a cat<br/>a dog": "a cat\na dog",
        "<!-- x -->The cat sat.": CAT,
        '<a href="https://x.org/a?b=c">The cat</a> sat.': CAT,
    },
    "Markdown": {
        "**The cat** sat.": CAT,
        "The *cat* sat.": CAT,
        "__The cat__ sat.": CAT,
        "## Cats\nThe cat sat.": f"Cats\n{CAT}",
        "# Cats\nThe cat sat.": f"Cats\n{CAT}",
        "* a cat\n* a dog": "a cat\na dog",
        "• a cat\n• a dog": "a cat\na dog",
        "**Cats**\n- a cat\n1. a dog\n> a cow": "Cats\na cat\na dog\na cow",
        "- a cat\n- a dog": "a cat\na dog",
        "1. a cat\n2) a dog\n": "a cat\na dog",
        "```text\nThe cat sat.\n```": CAT,
        "The `cat` sat.": CAT,
        "[The cat](https://x.org/a_(b)) sat.": CAT,
        "![A cat](https://x.org/cat.png)": "A cat",
    },
    "preamble": {
        "Here is a summary:\n\nThe cat sat.": CAT,
        "Sure! Here's a brief summary of the article: The cat sat.": CAT,
        "Summary: The cat sat.": CAT,
        "TL;DR: The cat sat.": CAT,
        "**TL;DR** The cat sat.": CAT,
        "Summary - The cat sat.": CAT,
        "Certainly. Below is the summary: The cat sat.": CAT,
        "Summary of the article: The cat sat.": CAT,
        "summary : summary : The cat sat.": CAT,
        "The summary of the text is as follows:\nThe cat sat.": CAT,
        "This text can be summarized as follows: The cat sat.": CAT,
        "Final answer: The cat sat.": CAT,
        "To summarize: The cat sat.": CAT,
        "Sure! The cat sat.": CAT,
        "Sure, here you go:\nThe cat sat.": CAT,
        "I'd be happy to help! Here's the summary.\n\nThe cat sat.": CAT,
        "Here is the text summarized in one sentence: The cat sat.": CAT,
        "Here are the key points:\n- a cat\n- a dog": "a cat\na dog",
        "Here is a summary:\n> The cat sat.": CAT,
        "Conversation summary\n\nThe cat sat.": CAT,
        "Zusammenfassung: Die Katze.": "Die Katze.",
        "要約：猫": "猫",
        "ملخص: القطة": "القطة",
        "สรุป: แมว": "แมว",
    },
}
CLEAN = (
    "a < b and b > c", "if a <b and c> d", "3 * 4 * 5", "2**3**4", "C# code", "AT&T", "R&D;", "e-mail @@ 5",
    "`` quotes '' and `` more ''", "` one ' and ` two '", "well - known - fact", "- a cat\na dog",
    "- a cat", "1. a cat\n- a dog", "<3", "x@y.org <x@y.org>", "#1 and #2", "# 1 is out .", "f**k and s**t",
    "**** off ****", "a 5* hotel and a 4* one", "C:\\new\\names",
    "the \\nabla of \\nu", "snake_case and __init__", "[sic] and [1]", "x[i](j)", "a\n\nb  c \n",
    "Sure, he said. It is.", "Sure!", "Okay! He went.", "Here it is. A cat.",
    "In summary, the cat sat.", "The summary was short: a cat.", "* a note", "a ; b : c",
    "a ##-year-old man", "### men on jan. ##th", "in the ##th minute", "the highlight of 1990 : this is it",
    "Ġorġ mar il-Ġermanja ma' ħuh u martu.", "(^_^)~~~(^_^)", "(CNN) -- The cat sat.", "\n", "", " a ",
)  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "text", "expected"), [(r, t, e) for r, texts in FOUND.items() for t, e in texts.items()]
)
def test_what_is_no_part_of_a_text_is_left_out(rule: str, text: str, expected: str) -> None:
    assert clean(text) == expected
    assert (rule in cleaned(text)[1]) == (text != expected)


def test_every_rule_has_cases_and_the_example_of_the_documentation() -> None:
    assert [rule.name for rule in RULES] == list(FOUND)
    page = (Path(__file__).resolve().parents[3] / "docs" / "reference" / "rewards.md").read_text(encoding="utf-8")
    examples = dict(re.findall(r"^- ([\w ]+): `([^`]+)`", page, re.MULTILINE))
    for rule in RULES:
        assert list(cleaned(examples[rule.name])[1]) == [rule.name]


def test_rules_work_together() -> None:
    text = "<think>Hm.</think>\n\nSure! Here is a summary:\n\n**Summary:** The &lt;b&gt;cat&lt;/b&gt; sat.<|im_end|>"
    assert clean(text) == CAT


@pytest.mark.parametrize("text", [*CLEAN, *(text for name, text in HARD.items() if name != "entities")])
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert cleaned(text) == (text, {})


pieces = st.sampled_from([
    *("a", "Cat", " ", "\n", ".", ":", "5", "-", "*", "**", "***", "_", "__", "#", "##", "`", "```", "[", "]", "("),
    *(")", "<", ">", "/", "</", "<s>", "s>", "think", "<think>", "</think>", "◁think▷", "&", "amp;", ";", "lt;"),
    *("@@", "@@ ", " ##", "▁", "Ġ", "http://x", "Summary:", "Here is a summary:", "|>", "<|", "~~", "• ", "p>"),
    *("\\", "\\n", "u0041"),
])  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(st.lists(pieces, max_size=20).map("".join), st.lists(st.sampled_from(["a", "Cat:", "5"]), max_size=2))
def test_a_clean_text_is_clean_and_every_step_takes_signs_away(text: str, prefixes: list[str]) -> None:
    once = clean(text, prefixes)
    assert cleaned(once, prefixes) == (once, {})
    assert (once == text) == (not cleaned(text, prefixes)[1])
    for rule in RULES:
        changed = rule.apply(text)
        assert changed == text or len("".join(changed.split())) < len("".join(text.split()))
        assert changed == text or any(sign in text for sign in rule.signs)


@settings(max_examples=200, deadline=None)
@given(
    st.text(
        st.characters(categories=["L", "M", "N", "Zs", "P"], exclude_characters="*_`@#&<>[]\\▁Ġ:\uff1a"), max_size=40
    )
)
def test_words_and_punctuation_of_every_script_stay(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    "unit", ["<", "@@", "@@ ", "*", "**a ", "_a b ", "# ", " ", "&amp;", "<!--", "<p a=b ", "[", "▁ "]
)
def test_texts_that_repeat_themselves_take_no_long_time(unit: str) -> None:
    start = time.process_time()
    for text in (unit * 5000, f"_{unit * 5000}", f"# {unit * 5000}", f"<|start|>{unit * 5000}"):
        clean(text)
    assert time.process_time() - start < 5


def test_prefixes_are_left_out_at_the_start() -> None:
    assert clean("<s> Article -> The cat sat. </s>", ["Article ->"]) == CAT
    assert clean("An Article -> The cat", ["Article ->"]) == "An Article -> The cat"
    assert cleaned("Article -> x", ["Article ->"]) == ("x", {PREFIX: "Article ->"})
    assert prefixes_of("b:| a longer: |") == prefixes_of(["a longer:", "b:", ""]) == ("a longer:", "b:")
    assert prefixes_of(None) == ()
