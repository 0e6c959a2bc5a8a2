"""The language of the judge's pages: a table from English to another language, of this package or of a user."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

from human_eval.parsing import parse, read_yaml
from human_eval.study import Interface, StudyError

_NAMES = re.compile(r"\{\w+\}")


def bundled() -> list[str]:
    """The languages of this package beside English."""
    folder = resources.files("human_eval") / "languages"
    return sorted(path.name.removesuffix(".yaml") for path in folder.iterdir() if path.name.endswith(".yaml"))


def read_interface(language: str) -> Interface:
    """The interface in a language of `bundled`, in English (``en``), or of a YAML file {language, texts}.

    Texts that a file lacks stay English. Raises StudyError.
    """
    if language == "en":
        return Interface()
    known = language in bundled()
    path = Path(str(resources.files("human_eval"))) / "languages" / f"{language}.yaml" if known else Path(language)
    if not path.is_file():
        raise StudyError(f"--language {language}: neither {', '.join(['en', *bundled()])} nor a file")
    row = read_yaml("--language", path)
    if not isinstance(row, dict) or not row.keys() >= {"language", "texts"}:
        raise StudyError(f"--language {language}: expected a mapping with language and texts")
    for english in row["texts"] if isinstance(row["texts"], dict) else ():
        if not isinstance(english, str):  # YAML reads yes and no as booleans
            raise StudyError(f"--language {language}: {english!r} must be a text with its translation; quote both")
    interface = parse(Interface, row, f"--language {language}")
    for english, text in interface.texts.items():
        if sorted(_NAMES.findall(english)) != sorted(_NAMES.findall(text)):
            raise StudyError(f"--language {language}: {english!r} and its translation need the same names in braces")
    return interface


def untranslated(interface: Interface) -> list[str]:
    """The texts of judges' pages that stay English."""
    if interface.language == "en":
        return []
    return [text for text in read_interface("de").texts if text not in interface.texts]
