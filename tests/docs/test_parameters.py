"""The reference contains the parameters of the classes, and docstrings match their classes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import engine_files
import parameter_docs
import pytest
import reference_pages
import tcp_texts
from engine_files import FILES, ROOT
from parameter_docs import DocError
from reference_pages import MODELS, regenerated

from airpath.scenario import FAMILIES
from airpath.scenario.base import Model
from airpath.scenario.units import Duration
from airpath.scenario.values import choice

PAGES = reference_pages.pages()
COMPONENTS = [component for family in FAMILIES.values() for component in family.registry.values()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_matches_classes(page: Path) -> None:
    assert page.read_text("utf-8") == regenerated(page), f"{page.name}: run make generate-docs"


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda component: component.public_name())
def test_every_component_with_parameters_has_its_table_on_a_page(component: type[Model]) -> None:
    if parameter_docs.parameters(component):
        assert component.public_name() in reference_pages.described()


def test_wrong_default_on_a_page_is_detected(tmp_path: Path) -> None:
    text = (MODELS / "pie.md").read_text("utf-8")
    changed = tmp_path / "pie.md"
    changed.write_text(
        text.replace('| `"15 ms"` | RFC 8033 §4.2 |', '| `"20 ms"` | RFC 8033 §4.2 |')
    )
    assert changed.read_text("utf-8") != text
    assert regenerated(changed) != changed.read_text("utf-8")


def test_class_of_tcp_parameters_matches_table() -> None:
    assert tcp_texts.CLASS.read_text("utf-8") == tcp_texts.class_text(), "run make generate-docs"


@pytest.mark.parametrize("name", FILES)
def test_parameters_of_rust_and_of_the_classes_agree(name: str) -> None:
    assert (ROOT / name).read_text("utf-8") == engine_files.text(name), (
        f"{name}: run make generate-docs"
    )


# --- docstrings that their class contradicts -----------------------------------------------------


class _Kept(Model):
    limit: Duration = Duration.parse("15 ms")
    word: Annotated[str, choice("one", "two")] = "one"


class _True(_Kept):
    """A class whose docstring is correct.

    Parameters
    ----------
    limit : Duration
        A limit, above 0. Default 15 ms (a source).
    word : {"one", "two"}
        A word. Default one.
    """


class _WrongDefault(_Kept):
    __doc__ = (_True.__doc__ or "").replace("15 ms", "1 ms")


class _LongerDefault(_Kept):
    __doc__ = (_True.__doc__ or "").replace("Default one", "Default one.5")


class _NoDefault(_Kept):
    __doc__ = (_True.__doc__ or "").replace(" Default one.", "")


class _OtherWords(_Kept):
    __doc__ = (_True.__doc__ or "").replace('"two"', '"three"')


class _OneTooMany(_Kept):
    __doc__ = (_True.__doc__ or "") + "third : int\n    None of them.\n"


def test_docstring_is_parsed() -> None:
    limit, word = parameter_docs.parameters(_True)
    assert (limit.meaning, limit.default, limit.source) == (
        "A limit, above 0.",
        '`"15 ms"`',
        "a source",
    )
    assert (word.default, word.source) == ('`"one"`', "")


@pytest.mark.parametrize(
    "wrong", [_WrongDefault, _LongerDefault, _NoDefault, _OtherWords, _OneTooMany]
)
def test_docstring_that_contradicts_its_class_is_rejected(wrong: type[Model]) -> None:
    with pytest.raises(DocError, match=wrong.public_name()):
        parameter_docs.parameters(wrong)
