"""Number of random examples of a property."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

LONG_FACTOR = 10
"""Ratio of the numbers of examples in `make long-tests` and `make test`."""


def examples(number: int, **options: Any) -> settings:
    """Return settings of Hypothesis with `number` examples; ten times as many in long tests.

    Parameters
    ----------
    number : int
        Examples in `make test`.
    options
        Further settings of Hypothesis.
    """
    is_long = settings.get_current_profile_name() == "long"
    return settings(max_examples=number * LONG_FACTOR if is_long else number, **options)
