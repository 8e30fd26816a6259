"""Conversion of the errors of validators into problems."""

from __future__ import annotations

import pydantic
import pytest

import airpath as ap
from airpath.errors import Problem
from airpath.scenario.faults import problems_of


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (
            ap.errors.ScenarioError([Problem("study", ("flows", 0, "cc"), "x", "not one")]),
            'study: flows.0.cc = "x": not one.',
        ),
        (ValueError("no route"), "here: no route."),
    ],
)
def test_error_of_a_validator_is_a_problem(raised: ValueError, expected: str) -> None:
    """Regression: only faults of Airpath's validators were converted; others were a KeyError."""

    class Table(pydantic.BaseModel):
        @pydantic.model_validator(mode="before")
        @classmethod
        def _refuse(cls, _values: object) -> object:
            raise raised

    with pytest.raises(pydantic.ValidationError) as caught:
        Table()
    assert [str(problem) for problem in problems_of(caught.value, "here")] == [expected]
