"""The kept digits equal those of the independent evaluation."""

from __future__ import annotations

import digits
import pytest


@pytest.mark.long
def test_independent_evaluation_matches_kept_digits() -> None:
    assert digits.computed() == digits.kept()


def test_every_case_is_kept() -> None:
    assert list(digits.kept()) == [
        digits.case_of(case) for case in (*digits.RECEIVED, *digits.FAILURES)
    ]
