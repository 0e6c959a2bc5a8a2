"""Templates -> one HTML page that needs no other file: styles and pictures inside, every text escaped."""

from __future__ import annotations

import base64
from importlib import resources
from typing import Any


def render(template: str, values: dict[str, Any], package: str = "rlsum") -> str:
    """The page of a ``template`` of a package, such as ``compare/report.html``. A name it lacks is an error.

    Templates of any package may extend ``pages/base.html`` of this one.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader([str(resources.files(name)) for name in (package, "rlsum")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["base64"] = lambda content: base64.b64encode(content).decode("ascii")
    return environment.get_template(template).render(values)
