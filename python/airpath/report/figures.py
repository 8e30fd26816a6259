"""Embeds figures in a report as sanitized SVG: no scripts, no external content, unique IDs.

The identifiers of several figures in one document would collide, so each figure gets a prefix.
Elements and attributes that matplotlib writes are kept. Scripts, style sheets, links and foreign
content are removed.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from xml.etree import ElementTree as ET

from airpath.errors import BadValueError

__all__ = ["data_uri", "inlined"]

_ELEMENT_NAMES = """
svg g defs path use rect circle ellipse line polyline polygon text tspan title desc
clipPath linearGradient radialGradient stop pattern marker image
"""
_ATTRIBUTE_NAMES = """
id class d x y x1 y1 x2 y2 cx cy r rx ry dx dy width height points transform viewBox
preserveAspectRatio style fill fill-opacity fill-rule stroke stroke-width stroke-opacity
stroke-linejoin stroke-linecap stroke-dasharray stroke-dashoffset opacity clip-path clip-rule
offset stop-color stop-opacity gradientUnits gradientTransform patternUnits patternTransform
font-family font-size font-style font-weight text-anchor href dominant-baseline
marker-start marker-mid marker-end refX refY markerWidth markerHeight orient
"""
_ELEMENTS, _ATTRIBUTES = frozenset(_ELEMENT_NAMES.split()), frozenset(_ATTRIBUTE_NAMES.split())
_URL = re.compile(r"url\(\s*['\"]?(.*?)['\"]?\s*\)")
_INLINE_IMAGE = re.compile(r"data:image/(?:png|jpeg);base64,[A-Za-z0-9+/=\s]*")
_GROUND = "stroke-linejoin: round; stroke-linecap: butt"
"""Style that matplotlib puts into a style sheet, which would apply to the entire page."""


def inlined(
    data: bytes, prefix: str, title: str = "", hints: Mapping[str, str] | None = None
) -> str:
    """Return an SVG file as markup for the inside of an HTML page.

    Parameters
    ----------
    data : bytes
        The file.
    prefix : str
        Prefix of every identifier in the figure. Different for each figure of a page.
    title : str
        Description of the figure for screen readers.
    hints : mapping of str to str, optional
        Texts shown on hover, by the `id` of an element in the file.

    Raises
    ------
    BadValueError
        If the file is not SVG.
    """
    try:
        root = ET.fromstring(data)
    except (ET.ParseError, ValueError):
        raise BadValueError(f"{title or prefix}: not a figure in SVG.") from None
    if _local(root.tag) != "svg":
        raise BadValueError(f"{title or prefix}: not a figure in SVG.")
    made = _Cleaner(prefix, hints or {}).clean(root)
    for name in ("width", "height"):
        made.attrib.pop(name, None)
    if "viewBox" not in made.attrib:
        width, height = (_points(root.get(name)) for name in ("width", "height"))
        made.set("viewBox", f"0 0 {width:g} {height:g}")
    # The style sheet makes the figure as wide as the page, but not wider than its natural width.
    made.set("style", f"{_GROUND}; --natural: {_points(root.get('width')):g}pt")
    made.set("role", "img")
    made.set("aria-label", title)
    return ET.tostring(made, encoding="unicode")


def data_uri(data: bytes) -> str:
    """Return a PNG file as a data URI."""
    return f"data:image/png;base64,{base64.b64encode(data).decode('ascii')}"


class _Cleaner:
    def __init__(self, prefix: str, hints: Mapping[str, str]) -> None:
        self.prefix = prefix
        self.hints = hints

    def clean(self, element: ET.Element) -> ET.Element:
        """Return a copy with only the allowed elements and attributes."""
        made = ET.Element(_local(element.tag), dict(self._attributes(element)))
        if made.tag in {"text", "tspan", "title", "desc"}:
            made.text = element.text
        hint = self.hints.get(element.get("id", ""))
        if hint is not None:
            ET.SubElement(made, "title").text = hint
        if hint is not None or (made.tag == "use" and len(element)):
            made.set("class", "has-value")
        for inner in element:
            # Tags of comments and processing instructions are not strings.
            is_known = isinstance(inner.tag, str) and _local(inner.tag) in _ELEMENTS
            if is_known and not (element.tag.endswith("svg") and _local(inner.tag) == "title"):
                made.append(self.clean(inner))
        return made

    def _attributes(self, element: ET.Element) -> Iterator[tuple[str, str]]:
        for full, value in element.attrib.items():
            name = _local(full)
            if name not in _ATTRIBUTES:
                continue
            if name == "id":
                yield name, self.prefix + value
            elif name == "href":
                kept = self._target(value, element)
                if kept is not None:
                    yield name, kept
            elif self._is_safe(value):
                yield name, _URL.sub(self._inside, value)

    def _target(self, value: str, element: ET.Element) -> str | None:
        if value.startswith("#"):
            return f"#{self.prefix}{value[1:]}"
        is_image = _local(element.tag) == "image" and _INLINE_IMAGE.fullmatch(value)
        return value if is_image else None

    def _is_safe(self, value: str) -> bool:
        return all(found.startswith("#") for found in _URL.findall(value))

    def _inside(self, found: re.Match[str]) -> str:
        return f"url(#{self.prefix}{found[1][1:]})"


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _points(text: str | None) -> float:
    found = re.match(r"\d+(?:\.\d*)?", text or "")
    return float(found[0]) if found else 600.0
