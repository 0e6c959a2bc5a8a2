"""Summaries, articles and comments that attack: shown as text, kept as they are, and the page stays whole."""

import json
import re
from html import escape
from html.parser import HTMLParser

import pytest
from served import make_study

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</div></form><form action='http://evil.test'>",
    "{{ 7*7 }} {% raw %} ${7*7}",
    "javascript:alert(1) &#x3C;script&#x3E;",
    '=HYPERLINK("http://evil.test","x")',
    "\u202eright to left override\u2066 isolate",
    "مرحبا بالعالم שלום",
    "]]><!-- --><svg/onload=alert(1)>",
    "a\u0000b\u0007c\u2028d",
    "x" * 100_000,
    "word " * 20_000,
]


class Tags(HTMLParser):
    """The tags of a page, and the text of its ``text`` blocks."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.scripts, self.handlers, self.texts, self._depth = [], [], [], [], None

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        values = dict(attributes)
        self.handlers += [name for name, _ in attributes if name.startswith("on") or name == "style"]
        if tag == "script":
            self.scripts.append(values.get("src"))
        if values.get("class") == "text":
            self.texts.append("")
            self._depth = tag

    def handle_endtag(self, tag):
        if tag == self._depth:
            self._depth = None

    def handle_data(self, data):
        if self._depth:
            self.texts[-1] += data


def parsed(response):
    tags = Tags()
    tags.feed(response.text)
    return tags


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_texts_are_shown_as_text_and_change_nothing_else_of_the_page(app_of, text):
    plain = parsed(app_of().visit("judge", "anna").begin())
    app = app_of(make_study(texts=[(text, "Fine.")], article=text, title=text[:200], instructions=text))
    browser = app.visit("judge", "ben")
    reply = browser.begin()
    found = parsed(reply)
    assert found.tags == plain.tags
    assert found.handlers == []
    assert len(found.scripts) == 1
    assert re.fullmatch(r"/static/item\.js\?v=\w+", found.scripts[0])
    assert found.texts == [text, text, "Fine."]
    assert "<script>alert" not in browser.get("/").text


@pytest.mark.parametrize("comment", [text for text in HOSTILE if len(text) < 1000 and "\u0000" not in text])
def test_comments_come_back_as_they_were_and_as_text(app, comment, anna):
    anna.say(anna.begin(), "left", "none", comment=comment)
    assert app.store.responses()[0].comment == comment.strip()
    last = anna.get("/last")
    assert parsed(last).handlers == []
    assert f"\n{escape(comment.strip(), quote=False)}</textarea>" in last.text.replace("&#34;", '"').replace(
        "&#39;", "'"
    )
    exported = app.visit("admin").get("/admin/judgments.jsonl")
    assert [json.loads(line)["comment"] for line in exported.text.split("\n")[:-1]] == [comment.strip()]
    assert exported.headers["content-disposition"].startswith("attachment")


def test_names_in_links_are_no_markup(app):
    browser = app.visit("judge", "<b>anna</b>")
    browser.begin()
    assert "<b>anna" not in app.visit("admin").get("/admin").text
