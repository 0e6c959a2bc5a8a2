"""The language of the judge's pages: a table from English to another language, of this package or of a user."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

from human_eval.files import checked
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
    import yaml

    if language == "en":
        return Interface()
    if language in bundled():
        content = (resources.files("human_eval") / "languages" / f"{language}.yaml").read_text(encoding="utf-8")
    else:
        try:
            content = Path(language).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            known = ", ".join(["en", *bundled()])
            raise StudyError(f"--language {language}: neither {known} nor a file that can be read") from error
    try:
        row = checked(yaml.safe_load(content), {"language": str, "texts": dict}, f"--language {language}")
    except yaml.YAMLError as error:
        raise StudyError(f"--language {language}: not YAML ({' '.join(str(error).split())[:200]})") from error
    for english, text in row["texts"].items():
        if not isinstance(english, str) or not isinstance(text, str):
            raise StudyError(f"--language {language}: {english!r} must be a text with its translation; quote both")
        if sorted(_NAMES.findall(english)) != sorted(_NAMES.findall(text)):
            raise StudyError(f"--language {language}: {english!r} and its translation need the same names in braces")
    return Interface(row["language"], row["texts"])


def untranslated(interface: Interface) -> list[str]:
    """The texts of judges' pages that stay English."""
    if interface.language == "en":
        return []
    return [text for text in read_interface("de").texts if text not in interface.texts]
