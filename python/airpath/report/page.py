"""Converts a `Page` to HTML."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib import resources
from typing import TYPE_CHECKING

from airpath.report.blocks import Page

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["html"]

_JOINTS = re.compile(r"([a-z0-9][._:])(?=[a-z0-9])", re.IGNORECASE)
"""Positions where the name of a key or of a file may be wrapped."""


def html(page: Page) -> str:
    """Return a report as a self-contained HTML document; equal pages give equal bytes.

    Parameters
    ----------
    page : Page
        Content of the report. All its texts are escaped.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("airpath.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["breakable"] = _breakable
    script = _file("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return environment.get_template("report.html").render(
        page=page,
        # Trusted content; figures come from `figures.inlined`.
        style=Markup(_file("report.css")),
        script=Markup(script),
        script_digest=Markup(digest),
        drawn=Markup,
    )


def _breakable(text: str) -> Markup:
    """Return a text that may be wrapped after the dots and underscores of long words."""
    from markupsafe import Markup, escape

    return Markup(_JOINTS.sub(r"\1<wbr>", str(escape(text))))


def _file(name: str) -> str:
    return (resources.files("airpath.report") / "templates" / name).read_text("utf-8")
