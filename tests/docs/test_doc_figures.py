"""The committed pictures of the pages equal those that `make generate-docs` plots."""

from __future__ import annotations

import figures
import pytest
from PIL import Image


@pytest.mark.parametrize("name", figures.PICTURES)
def test_picture_matches_current_page(name: str) -> None:
    """Run `make generate-docs` if this fails."""
    title, _draw, source = figures.PICTURES[name]
    with Image.open(figures.ROOT / name) as picture:
        assert picture.info["Title"] == title
        assert picture.info["Source"] == source()
