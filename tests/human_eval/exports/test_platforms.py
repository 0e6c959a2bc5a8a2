import csv
import html
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import table
from studies import hostile_study, study

from human_eval.collection.collect import collect
from human_eval.collection.returns import read_returned
from human_eval.exports.platforms import as_html, mturk, prolific, prolific_url
from human_eval.study import StudyError

FIELDS = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def filled(template, row):
    """What Mechanical Turk shows: each ${column} replaced by the cell as it is."""
    return re.sub(r"\$\{(\w+)\}", lambda match: row[match[1]], template)


@given(st.text())
def test_any_text_is_harmless_ascii_html_and_reads_as_before(text):
    made = as_html(text)
    assert made.isascii()
    assert not set(made.replace("<br>", "")) & set("<>\"'=+-@$`{}\t\r\n")
    kept = "".join(c if c in "\t\n\r" or " " <= c <= "~" or c >= "\xa0" else "\ufffd" for c in text)
    shown = html.unescape(made.replace("<br>", "\n"))
    # unescape leaves out what HTML knows no character for; a browser shows the replacement
    strip = re.compile("[\ufdd0-\ufdef\ufffe\uffff]|[\U0001fffe-\U0010ffff]")
    assert strip.sub("", shown) == strip.sub("", re.sub("\r\n|\r", "\n", kept))


def test_the_template_asks_for_every_column_of_the_csv_that_is_a_text():
    files = mturk(study()[0], [0])
    columns = set(rows_of(files["tasks.csv"])[0])
    asked = set(re.findall(r"\$\{(\w+)\}", files["template.html"]))
    assert columns - asked == {"study", "task"}  # they come back as Input.*
    assert asked <= columns


def test_a_page_judged_in_a_browser_comes_back_as_judgments(browser, tmp_path):
    """The form of the platform around the layout; its results have the inputs as Answer.* and the CSV as Input.*."""
    blind, _ = study()
    files = mturk(blind, range(len(blind.booklets)))
    results = []
    tab = browser.new_page()
    for row in rows_of(files["tasks.csv"])[:3]:
        tab.set_content(f"<form>{filled(files['template.html'], row)}<button>Submit</button></form>")
        assert tab.evaluate("document.forms[0].checkValidity()") is False  # a question that is open stops it
        for group in tab.locator(".question").all():
            group.get_by_label("B", exact=True).check()
        tab.get_by_label("Comment").fill("-1")
        assert tab.evaluate("document.forms[0].checkValidity()") is True
        answers = tab.evaluate("Object.fromEntries(new FormData(document.forms[0]))")
        results.append({f"Input.{name}": cell for name, cell in row.items()})
        results[-1] |= {"WorkerId": "W1"} | {f"Answer.{name}": value for name, value in answers.items()}
    tab.close()
    found = collect(blind, read_returned(table(tmp_path / "batch.csv", *results), blind))
    assert found.rejects == ()
    assert [row.task for row in found.responses] == [task.id for task in blind.booklets[0][:3]]
    assert {(row.judge, row.answers["overall"], row.comment) for row in found.responses} == {("W1", "right", "-1")}


def test_hostile_texts_run_nothing_and_read_as_they_are(browser):
    blind = hostile_study()
    files = mturk(blind, range(len(blind.booklets)))
    assert files["tasks.csv"].isascii()
    tab = browser.new_page()
    for row, task in zip(rows_of(files["tasks.csv"]), blind.booklets[0], strict=True):
        tab.set_content(filled(files["template.html"], row))
        tab.wait_for_timeout(20)
        assert tab.title() == ""
        assert tab.locator("script, img").count() == 0
        if "\x00" not in task.left:
            shown = tab.locator("section .text").first.evaluate("node => node.innerHTML.replaceAll('<br>', '\\n')")
            assert html.unescape(shown) == task.left
    tab.close()


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_fits_the_screen(browser, width):
    blind = hostile_study()
    files = mturk(blind, range(len(blind.booklets)))
    tab = browser.new_page(viewport={"width": width, "height": 800})
    for row in rows_of(files["tasks.csv"]):
        tab.set_content(filled(files["template.html"], row))
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.close()


@pytest.mark.parametrize(
    ("link", "made"),
    [
        ("https://study.example.org/join/abc", f"https://study.example.org/join/abc?{FIELDS}"),
        ("https://study.example.org/join?token=a.b-c_", f"https://study.example.org/join?token=a.b-c_&{FIELDS}"),
        ("http://127.0.0.1:8000/join/abc", f"http://127.0.0.1:8000/join/abc?{FIELDS}"),
    ],
)
def test_the_address_carries_what_prolific_fills_in(link, made):
    assert prolific_url(link) == made


@pytest.mark.parametrize(
    ("link", "told"),
    [
        ("/join/abc", "expected the whole link"),
        ("javascript:alert(1)", "expected the whole link"),
        ("http://study.example.org/join/abc", "give an https link"),
        (f"https://study.example.org/join?{FIELDS}", "already contains PROLIFIC_PID, SESSION_ID, STUDY_ID"),
        ("https://[", "give the whole link"),
    ],
)
def test_a_link_that_cannot_be_sent_is_refused(link, told):
    with pytest.raises(StudyError, match=told):
        prolific_url(link)


def test_the_settings_say_how_many_participants():
    blind, _ = study()
    settings = prolific(blind, "https://study.example.org/join/abc")["prolific.txt"]
    assert f"    {len(blind.booklets)}, one for each booklet" in settings
