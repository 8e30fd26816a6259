"""The examples in the docstrings of public names run."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator
from typing import Any

import pytest

import airpath as ap


def public() -> Iterator[tuple[str, Any]]:
    for name in ap.__all__:
        value = getattr(ap, name)
        if not inspect.ismodule(value):
            yield name, value
            continue
        for member in getattr(value, "__all__", ()):
            yield f"{name}.{member}", getattr(value, member)


EXAMPLES = {
    name: test
    for name, value in public()
    if inspect.isclass(value) or inspect.isroutine(value)
    for test in doctest.DocTestFinder(recurse=False).find(value, name)
    if test.examples
}


def test_there_are_examples() -> None:
    assert "Scenario" in EXAMPLES


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_of_a_docstring_runs(name: str) -> None:
    printed: list[str] = []
    doctest.DocTestRunner().run(EXAMPLES[name], out=printed.append)
    assert not printed, "".join(printed)
