"""Parts that a test registers exist only during the test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from airpath.scenario import FAMILIES, part_files


@pytest.fixture(autouse=True)
def parts_of_this_test() -> Iterator[None]:
    """Restore the registries of components and of parts after the test."""
    kinds = {family: dict(family.registry) for family in FAMILIES.values()}
    registered = dict(part_files._registered)
    yield
    for family, known in kinds.items():
        family.registry.clear()
        family.registry.update(known)
    part_files._registered.clear()
    part_files._registered.update(registered)
