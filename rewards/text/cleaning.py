"""What is no part of a text: thinking blocks, special tokens, pieces of words, HTML, Markdown, preambles.

A table of named rules. A text without any of it is returned as it is, its white space too. Whatever strips texts before
they are scored calls ``clean``, so ``NAME``, which signatures contain, says how all of them were cleaned.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

NAME = "clean-2"  # raised when any text comes out differently
PREFIX = "shared prefix"


class Rule(NamedTuple):
    """``apply`` takes signs other than white space away, or returns the text as it is: where it has none of ``signs``.

    The list in docs/reference/rewards.md says what each of them does, with an example.
    """

    name: str
    signs: str
    apply: Callable[[str], str]


def clean(text: str, prefixes: Sequence[str] = ()) -> str:
    """The text without what ``RULES`` name, and without ``prefixes`` at its start; ``clean(clean(text))`` is the same.

    White space stays, but at the ends of a text that is changed. What is left of a text may be empty, such as of a
    thinking block that never ends.
    """
    return cleaned(text, prefixes)[0]


def cleaned(text: str, prefixes: Sequence[str] = ()) -> tuple[str, dict[str, str]]:
    """The clean text, and what was changed: name of the rule -> the first stretch that it changed."""
    changes: dict[str, str] = {}
    before = None if prefixes or SIGNS.search(text) else text
    while text != before:
        before = text
        for rule in RULES:
            if not any(sign in text for sign in rule.signs):
                continue
            changed = rule.apply(text)
            if changed != text:
                changes.setdefault(rule.name, _changed(text, changed))
                text = changed.strip()
        for prefix in prefixes:
            if prefix and text.startswith(prefix):
                changes.setdefault(PREFIX, prefix)
                text = text.removeprefix(prefix).strip()
    return text, changes


def prefixes_of(option: str | Iterable[str] | None) -> tuple[str, ...]:
    """Prefixes as an option has them: texts, or one text with ``|`` between them."""
    texts = option.split("|") if isinstance(option, str) else option or ()
    return tuple(sorted({text.strip() for text in texts if text.strip()}, key=lambda text: (-len(text), text)))


def _changed(before: str, after: str) -> str:
    """The stretch of ``before`` where it begins to differ, for a message."""
    same = next((place for place, (old, new) in enumerate(zip(before, after, strict=False)) if old != new), len(after))
    start = max(before.rfind(" ", 0, same), before.rfind("\n", 0, same)) + 1
    return before[start:][:24].splitlines()[0].strip()


# ---- the rules ---------------------------------------------------------------------------------------------------

THINKING = re.compile(
    r"< ?/? ?(?:think(?:ing)?|thoughts?|analysis|reason(?:ing)?|reflection|scratch_?pad|inner_?monologue"
    r"|chain_?of_?thought|seed:think)(?:\s[^<>\n]*)?>|◁/?think(?:ing)?▷|\[/?THINK\]"
    r"|<\|/?(?:(?:begin|start|end)(?:_?of)?_?)?(?:think(?:ing)?|thought)\|>"
    r"|<\|channel\|>\s*(?P<channel>analysis|commentary|final)\b",
    re.IGNORECASE,
)


def _without_thinking(text: str) -> str:
    """What is outside the blocks. One that never ends runs to the end; one that never starts, from the start.

    A block with more starts than ends runs to the last end. Channels do not nest.
    """
    outside, start, depth, ended = "", 0, 0, True
    for tag in THINKING.finditer(text):
        channel, written = tag["channel"], tag[0].lower().replace(" ", "")
        if not (written.endswith("final") if channel else "/" in written[1:3] or written.startswith("<|end")):
            if not depth:
                outside, ended = outside + text[start : tag.start()], False
            depth = 1 if channel else depth + 1
        elif depth or not channel:
            outside = outside if depth else ""
            depth = 0 if channel else max(0, depth - 1)
            start, ended = tag.end(), True
    return outside + text[start:] if ended else outside


# Which of them end a sentence, so that a line ends there.
SENTENCE = r"</?(?:s|t|q|n|nl|sent|sentence|d)>|##SENT##|(?<!\S)@highlight(?!\S)"
SPECIAL = (
    r"</?(?:pad|bos|eos|unk|sep|cls|mask|eot|eod|summ|blank|extra_id_\d+|startoftext|endoftext|end_of_turn)>"
    r"|<start_of_turn>(?:\s*(?:model|user)\b)?|<0x[0-9A-F]{2}>"
    r"|<\|im_start\|>(?:\s*(?:assistant|user|system)\b)?|<\|start_header_id\|>\s?\w*\s?<\|end_header_id\|>"
    r"|(?:<\|start\|>\s?\w*\s?)?<\|channel\|>\s?\w*\s?<\|message\|>"
    r"|<[|\uff5c][^<>|\uff5c\n]{1,40}[|\uff5c]>|<</?SYS>>|\[/?(?:SEP|CLS|PAD|UNK|MASK|BOS|EOS|EOT|INST|X_SEP)\]"
    r"|@@(?:PADDING|UNKNOWN|START|END)@@"
)
TOKENS = re.compile(rf"[ \t]?(?:{SENTENCE}|{SPECIAL})(?:[ \t]*(?:{SENTENCE}|{SPECIAL}))*[ \t]*", re.IGNORECASE)
SENTENCES = re.compile(SENTENCE, re.IGNORECASE)


def _without_tokens(text: str) -> str:
    return TOKENS.sub(lambda tokens: "\n" if SENTENCES.search(tokens[0]) else " ", text)


BPE = re.compile(r"(?<=[^\s@])@@(?: +@@(?= ))*(?: +(?=\S)|$)", re.MULTILINE)
WORDPIECE = re.compile(r"(?<=\w) +##(?=[^\W_])")
# In Gigaword, # stands for a digit: "##-year-old", "### men", "the ##th".
DIGITS = re.compile(
    r"#(?![#\w])|###|\b(?:the|an?|in|on|of|at|to|by|for|from|until|about|nearly|over|than|and|jan\w*|feb\w*|mar\w*|apr\w*"
    r"|may|june?|july?|aug\w*|sept?\w*|oct\w*|nov\w*|dec\w*)\.? +##(?:th|st|nd|rd|s|am|pm|k?m|kg|bn|gmt)\b",
    re.IGNORECASE,
)
ESCAPED_HYPHEN = re.compile(r"(?<=\S) @([-,.])@ (?=\S)")  # of Moses and WikiText
MARK = re.compile(r"[▁Ġ]")


def _joined(text: str) -> str:
    """Words from their pieces: of BPE (``@@``), wordpiece (``##``), sentencepiece and byte-level BPE (a mark)."""
    text = ESCAPED_HYPHEN.sub(r"\1", BPE.sub("", text))
    text = text if DIGITS.search(text) else WORDPIECE.sub("", text)
    pieces = text.split() if MARK.search(text) else []
    marked = sum(piece[0] in "▁Ġ" for piece in pieces)
    if marked > 1 and 3 * marked >= len(pieces):  # a space separates pieces, a mark words
        return re.sub(r"[▁Ġ]+|Ċ", lambda mark: "\n" if mark[0] == "Ċ" else " ", re.sub(r"(?<=\S) ", "", text))
    if len(re.findall(r"(?<=\S)Ġ(?=\w)", text)) >= 2 * (len(pieces) - 1) + 2:  # Ġ is a letter of Maltese
        text = text.replace("Ġ", " ").replace("Ċ", "\n")
    return re.sub(r" ?(?<![▂-█])▁+(?![▂-█]) ?", " ", text)


# A backslash that a path or a formula may have is not one.
LINE = re.compile(r"(?:\\r)?\\n(?!(?:abla|u|eq|e|ot|otin|i|ode|ewline|ewcommand|oindent)\b)")
OTHER_ESCAPES = re.compile(r"\\(?![nrtu\"])|\b[A-Za-z]:\\|\\t(?=[a-z])|\\r(?!\\n)")


def _unescaped(text: str) -> str:
    """``\\n``, ``\\t`` and ``\\u2019`` written out become what they stand for, where there is no other backslash."""
    if "\\" not in text or OTHER_ESCAPES.search(text):
        return text
    text = LINE.sub("\n", text).replace("\\t", "\t").replace('\\"', '"')
    return re.sub(r"(?:\\u[0-9a-fA-F]{4})+", lambda code: json.loads(f'"{code[0]}"'), text)


ENTITY = re.compile(
    r"&(?:amp;)*(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
    r"|& ?(?:# ?\d{1,7}|amp|lt|gt|quot|apos|nbsp) ;"
)


def _without_entities(text: str) -> str:
    def decoded(entity: re.Match[str]) -> str:
        written = re.sub(r"^&(?:amp;)+(?=.)", "&", entity[0].replace(" ", ""))
        return html.unescape(written).replace("\xa0", " ") if written != "&" else entity[0]

    return ENTITY.sub(decoded, text)


BLOCKS = (
    "p|br|hr|div|li|ul|ol|dl|dt|dd|tr|td|table|tbody|thead|h[1-6]|blockquote|pre|section|article|header|footer|html"
    "|body|head|title|summary|answer|final_answer|output|response|result"
)
INLINE = "b|i|u|a|em|strong|small|big|span|font|center|code|tt|sub|sup|strike|del|ins|mark|cite|abbr|img"
ATTRIBUTES = r"(?:\s+[\w:-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>=]+))*\s*/?"
BLOCK_TAG = re.compile(rf"[ \t]?</?(?:{BLOCKS}){ATTRIBUTES}>[ \t]*", re.IGNORECASE)
INLINE_TAG = re.compile(rf"</?(?:{INLINE}){ATTRIBUTES}>|<!--[^<>]*-->", re.IGNORECASE)


def _without_tags(text: str) -> str:
    return BLOCK_TAG.sub("\n", INLINE_TAG.sub("", text))


INSIDE = r"(?=[^\s*])([^*\n]*(?:\*(?!\*)[^*\n]+)*)(?<=[^\s*])"
LINK = r"!?\[([^\[\]\n]*)\]\((?:https?://|www\.|mailto:|/|#)[^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?: \"[^\"\n]*\")?\)"
# A character without which the pattern is nowhere, what is Markdown, what remains of it.
MARKED = tuple(
    (sign, re.compile(pattern, re.MULTILINE), replacement)
    for sign, pattern, replacement in (
        ("```", r"^[ \t]*```+[ \t]*[\w+-]*[ \t]*(?:\n|\Z)", ""),
        (
            "# ",
            r"^[ \t]*#{2,6}[ \t]+(?=\S[^\n]*\n)|(?<=\n)#{2,6}[ \t]+(?=\S)|\A\s*#[ \t]+(?=\S)(?=[^\n]*[^\s.!?][ \t]*\n)",
            "",
        ),
        ("***", rf"(?<![\w*])\*\*\*{INSIDE}\*\*\*(?!\*)", r"\1"),
        ("**", rf"(?<![\w*])\*\*{INSIDE}\*\*(?!\*)", r"\1"),
        ("*", r"(?<![\w*])\*(?=[^\W_])([^*\n]+)(?<=[^\s*])\*(?![\w*])", r"\1"),
        ("_", r"(?<![\w/])(_{1,3})([^\W_][^\s_]*\s[^_\n]*)(?<=[^\s_])\1(?!\w)", r"\2"),
        ("~~", r"(?<!~)~~(?=[^\s~])([^~\n]+)~~(?!~)", r"\1"),
        ("`", r"(?<![`\w])(`|```)(?=[^\s`])([^`\n]*)(?<=[^\s`])\1(?![`\w])", r"\2"),
        ("](", LINK, r"\1"),
    )
)
BULLET = re.compile(r"^[ \t]*[*+•][ \t]+(?=\S)", re.MULTILINE)
# How plain text has lists and lines, too: Markdown only beside what is Markdown alone.
PLAIN = re.compile(
    r"^[ \t]*(?:[-*+•]|\d{1,2}[.)])[ \t]+(?=\S)|^[ \t]*>[ \t]*(?=\S)|^[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*(?:\n|\Z)",
    re.MULTILINE,
)


ITEMS = (re.compile(r"-[ \t]+\S"), re.compile(r"\d{1,2}[.)][ \t]+\S"))


def _is_list(text: str) -> bool:
    """Whether every line of several is an item."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return len(lines) > 1 and any(all(map(item.match, lines)) for item in ITEMS)


def _without_markdown(text: str) -> str:
    before = text
    for sign, pattern, replacement in MARKED:
        if sign in text:
            text = pattern.sub(replacement, text)
    if len(BULLET.findall(text)) > 1:
        text = BULLET.sub("", text)
    return text if text == before and not _is_list(text) else PLAIN.sub("", text)


LABEL = (
    "summary|(?:final )?answer|in summary|in short|to (?:summari[sz]e|sum up)"
    "|tl ?; ?dr|tldr|abstract|résumé|resumen|resumo|riassunto|sommario|zusammenfassung|samenvatting"
    "|kurzfassung|podsumowanie|streszczenie|özet|ringkasan|tóm tắt|ملخص|الملخص|สรุป"
    "|резюме|краткое содержание|要約|摘要|总结|總結|概要|요약|सारांश"
)
POLITE = (
    r"(?:sure|certainly|of course|okay|ok|absolutely|great|i(?:'d|\u2019d| would) be (?:happy|glad) to)\b"
    r"[^\n:]{0,60}?[!,.:]\s*"
)
EAGER = r"(?:sure(?: thing)?|certainly|of course|absolutely)!(?=\s+\S)"
HERE = r"(?:here(?:'s|\u2019s| is| are)|below is|(?:the )?following is|this is)\b"
NOUN = r"(?:summar(?:y|i[sz]ed|i[sz]ation)|overview|tl;dr|(?:key|main) points|highlights|(?:short\w*|concise) version)"
KIND = (
    r"(?:(?:the|a|an|my|final|short|brief|concise|news|article|text|dialogue|conversation|chat|one[- ]sentence)"
    r"[ \t]+){0,3}"
)
PREAMBLE = re.compile(
    rf"\s*(?:(?:{POLITE})?(?:{HERE}[^\n:.]{{0,80}}\b{NOUN}\b[^\n:.]{{0,80}}(?::|\.?[ \t]*\n)|here (?:you go|it is):"
    rf"|{KIND}(?:{LABEL})(?: of th(?:e|is) \w+)?(?: is(?: as follows)?(?=:))?[ \t]*"
    rf"(?:[:\uff1a]|[-\u2013\u2014](?=\s)|\n)|tl ?; ?dr(?=\s)|{EAGER}"
    r"|[^\n:.]{0,60}\bsummari[sz]ed as follows:)\s*)+",
    re.IGNORECASE,
)


def _without_preamble(text: str) -> str:
    """The text behind what announces it; a list or a quotation there is Markdown."""
    preamble = PREAMBLE.match(text)  # sub would look for it at every place
    return PLAIN.sub("", text[preamble.end() :]) if preamble else text


RULES = (
    Rule("thinking", "<◁[", _without_thinking),
    Rule("special tokens", "<[@#", _without_tokens),
    Rule("word pieces", "@#▁Ġ", _joined),
    Rule("written escapes", "\\", _unescaped),
    Rule("HTML entities", "&", _without_entities),
    Rule("HTML tags", "<", _without_tags),
    Rule("Markdown", "*#`_~]+•\n", _without_markdown),
    Rule("preamble", ":\uff1a\n;-\u2013\u2014!", _without_preamble),
)
SIGNS = re.compile(f"[{re.escape(''.join(rule.signs for rule in RULES))}]")  # most texts have none
