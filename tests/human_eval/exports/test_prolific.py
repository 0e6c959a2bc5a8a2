import pytest
from studies import study

from human_eval.exports.prolific import address, prolific
from human_eval.study import StudyError

FIELDS = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"


@pytest.mark.parametrize(
    ("link", "made"),
    [
        ("https://study.example.org/join/abc", f"https://study.example.org/join/abc?{FIELDS}"),
        ("https://study.example.org/join?token=a.b-c_", f"https://study.example.org/join?token=a.b-c_&{FIELDS}"),
        ("http://127.0.0.1:8000/join/abc", f"http://127.0.0.1:8000/join/abc?{FIELDS}"),
    ],
)
def test_the_address_carries_what_prolific_fills_in(link, made):
    assert address(link) == made


@pytest.mark.parametrize(
    ("link", "told"),
    [
        ("/join/abc", "expected the whole link"),
        ("javascript:alert(1)", "expected the whole link"),
        ("http://study.example.org/join/abc", "give an https link"),
        (f"https://study.example.org/join?{FIELDS}", "has PROLIFIC_PID, SESSION_ID, STUDY_ID already"),
        ("https://[", "expected the whole link"),
    ],
)
def test_a_link_that_cannot_be_sent_is_refused(link, told):
    with pytest.raises(StudyError, match=told):
        address(link)


def test_the_settings_say_how_many_participants():
    blind, _ = study()
    settings = prolific(blind, "https://study.example.org/join/abc")["prolific.txt"]
    assert f"    {len(blind.booklets)}, one for each booklet" in settings
