"""Loads a comparison from its JSON document."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airpath.arguments import check_all, path_like
from airpath.comparison.answers import Answer
from airpath.comparison.facts import Fact
from airpath.comparison.quantities import ComparedQuantity
from airpath.comparison.result import FILES, Comparison
from airpath.engine.advisory import Advisory
from airpath.engine.resolved import ResolvedScenario
from airpath.errors import BadValueError, one_line
from airpath.execution import Execution
from airpath.files import LARGEST, read_bytes

__all__ = ["DOCUMENT", "comparison_of", "load_comparison"]

DOCUMENT = FILES[0]
"""File with the complete document of a comparison."""


def load_comparison(path: str | os.PathLike[str]) -> Comparison:
    """Read a comparison that ``airpath compare --out`` or `Comparison.save` wrote.

    Parameters
    ----------
    path : path
        The directory, or ``comparison.json`` in it.

    Returns
    -------
    comparison : Comparison
        Comparison with the rows, facts and provenance of the saved comparison. Its answers have
        neither `result` nor `solution`; `load_result` reads a result from its directory.

    Raises
    ------
    BadValueError
        If there is no comparison, or if an incompatible version of Airpath wrote it.
    """
    check_all(path_like("path", path))
    place = Path(path)
    file = place / DOCUMENT if place.is_dir() else place
    try:
        document = json.loads(read_bytes(file, LARGEST))
    except ValueError as error:
        if isinstance(error, BadValueError):
            raise
        raise BadValueError(f"{one_line(str(file))}: not JSON: {error}.") from None
    try:
        return comparison_of(document)
    except BadValueError as error:
        raise BadValueError(f"{one_line(str(file))}: {error}") from None


def comparison_of(document: Mapping[str, Any]) -> Comparison:
    """Return the comparison of a document.

    Parameters
    ----------
    document : mapping
        Document of `Comparison.to_dict`.

    Raises
    ------
    BadValueError
        If it is not the complete document of a comparison of this version.
    """
    try:
        return _comparison(document)
    except (AttributeError, KeyError, TypeError, ValueError):
        wrong = "not the complete document of a comparison. Create it again with compare --out"
        raise BadValueError(f"{wrong}.") from None


def _comparison(document: Mapping[str, Any]) -> Comparison:
    about = document["provenance"]
    engines = document["engines"]
    return Comparison(
        provenance=about,
        resolved=ResolvedScenario(about["scenario"]),
        confidence=about["confidence"],
        answers={each["engine"]: _answer(each) for each in engines if each["answered"]},
        refused={each["engine"]: each["reason"] for each in engines if not each["answered"]},
        wanted=[_quantity(row) for row in document["rows"]],
        base=document["base"],
        interrupted=not document["complete"],
        facts=[Fact(**{**fact, "affects": tuple(fact["affects"])}) for fact in document["facts"]],
    )


def _answer(document: Mapping[str, Any]) -> Answer:
    own = ("engine", "answered", "advisories", "values", "execution")
    execution = document["execution"]
    return Answer(
        document["engine"],
        None,
        None,
        {name: _sample(values) for name, values in document["values"].items()},
        [Advisory(**advisory) for advisory in document["advisories"]],
        None if execution is None else Execution.from_dict(execution),
        {key: value for key, value in document.items() if key not in own},
    )


def _sample(values: Any) -> Any:
    """Return values with null replaced by NaN."""
    if isinstance(values, list):
        return [math.nan if value is None else float(value) for value in values]
    return math.nan if values is None else float(values)


def _quantity(row: Mapping[str, Any]) -> ComparedQuantity:
    return ComparedQuantity(
        row["quantity"], row["label"], row["of"], row["unit"], row["scale"], row["decimals"]
    )
