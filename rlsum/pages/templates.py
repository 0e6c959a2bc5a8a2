"""Templates of pages: every text is escaped, and a name that is missing is an error."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, values: Mapping[str, Any], package: str = "rlsum") -> str:
    """The page of a ``template`` of a package, such as ``pages/report.html``. A name it lacks is an error.

    Templates of any package may extend ``pages/base.html`` of this one.
    """
    return environment(package).get_template(template).render(values)


def environment(package: str) -> Environment:
    """The templates of a package and of this one."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader([str(resources.files(name)) for name in (package, "rlsum")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["base64"] = lambda content: base64.b64encode(content).decode("ascii")
    templates.filters["kind"] = lambda block: type(block).__name__
    return templates


def fragment(blocks: Iterable[object], legend: Mapping[Any, str]) -> str | None:
    """The blocks as a part of a page, such as a notebook; None where jinja2 is not installed: it shows text then.

    ``legend`` explains the marks of examples.
    """
    try:
        return render("pages/fragment.html", {"blocks": list(blocks), "legend": legend})
    except ModuleNotFoundError:
        return None
