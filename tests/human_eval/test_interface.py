"""Languages of judges' pages: complete, with the same names in braces, and shown."""

import re
from importlib import resources

import pytest

from human_eval.answers import KINDS
from human_eval.interface import bundled, read_interface, untranslated
from human_eval.study import Interface, StudyError

TEMPLATES = resources.files("human_eval") / "web" / "templates"
PAGES = [page.name for page in TEMPLATES.iterdir() if page.name != "admin.html"]  # the owner of a study reads English


@pytest.mark.parametrize("language", bundled())
def test_every_text_of_the_pages_is_translated(language):
    texts = read_interface(language).texts
    parts = [part for kind in KINDS.values() for part in kind.parts(kind.texts[1])]
    asked = {text for part in parts for option in part.options for text in (option.label, option.sentence)}
    asked |= {part.label for part in parts if part.label} | {kind.hint for kind in KINDS.values() if kind.hint}
    asked = {text for text in asked if re.search("[A-Za-z]{2}", text)}  # letters and numbers are those of any language
    for page in PAGES:
        source = (TEMPLATES / page).read_text(encoding="utf-8")
        asked |= set(re.findall(r'\bt\("([^"]+)"', source)) | set(
            re.findall(r'\bt\("[^"]+" if \w+ else "([^"]+)"', source)
        )
    assert len(asked) > 50
    assert asked - set(texts) == set()


def test_texts_of_a_file_lay_over_english(tmp_path):
    path = tmp_path / "fr.yaml"
    path.write_text('language: fr\ntexts: {"Begin": "Commencer", "Continue with comparison {n}": "Continuer {n}"}')
    french = read_interface(str(path))
    assert (french.language, french("Begin"), french("Keys")) == ("fr", "Commencer", "Keys")
    assert french("Continue with comparison {n}", n=3) == "Continuer 3"
    assert "Keys" in untranslated(french)
    assert untranslated(Interface()) == untranslated(read_interface("de")) == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "neither en, de"),
        ("[", "neither YAML nor JSON"),
        ("language: fr", "expected a mapping with language and texts"),
        ("language: fr\ntexts: {Begin: 3}", "must be text"),
        ("language: fr\ntexts: {No: Non}", "False must be a text"),
        ('language: fr\ntexts: {"Continue with comparison {n}": "Continuer"}', "same names in braces"),
    ],
)
def test_other_files_are_refused(tmp_path, content, told):
    path = tmp_path / "fr.yaml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(StudyError, match=told):
        read_interface(str(path))
