"""The description of a distribution: README.md, whose links must lead somewhere outside the repository, too."""

import re
from pathlib import Path

from setuptools import setup

HOME = ""  # the address below which the repository's files are published, such as https://example.org/rlsum/
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://)([^)]+)\)")  # relative: leads nowhere on an index's page


def described(readme: str, home: str) -> str:
    """``readme`` with its relative links below ``home``; without a home, their words alone, and no pictures."""
    if home:
        return LINK.sub(rf"\1[\2]({home}\3)", readme)
    return LINK.sub(lambda link: "" if link[1] else link[2], readme)


if __name__ == "__main__":
    setup(
        long_description=described(Path(__file__).with_name("README.md").read_text(encoding="utf-8"), HOME),
        long_description_content_type="text/markdown",
        project_urls={"Home": HOME} if HOME else {},
    )
