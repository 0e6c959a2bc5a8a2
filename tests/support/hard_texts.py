"""Texts that break tokenizers."""

HARD = {
    "empty": "",
    "blank": " \n\t ",
    "one character": "x",
    "one mark": ".",
    "3,000 words": "the cat runs and the dog sleeps in the red garden . " * 250,
    "one word of 10,000 letters": "y" * 10_000,
    "3,000 lines": "cat\n" * 3_000,
    "emoji": "👩‍👩‍👧‍👦 🐈 runs 🏃🏽‍♀️ !",
    "Chinese": "市长说、桥在暴风雨中倒塌了。",
    "right to left": "رئيس البلدية يقول إن الجسر سقط\nהחתול ישן בבית",
    "control characters": "the \x00cat\x07 \x1b[31m runs\x7f \u200b\u202e\ufeff",
    "separators": "cat\u2028dog\x85river\x1cstorm\u00a0mayor\r\nbridge",
    "lone surrogates": "the \ud800 cat \udfff\ud83d",
    "a surrogate alone": "\udc00",
    "combining marks": "e\u0301\u0301\u0301 ca\u0308t",
    "letters that grow when lower-cased": "İstanbul K ẞ",
    "entities": "&quot; &amp;amp; <skipped>",
}
