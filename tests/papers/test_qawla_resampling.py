"""Ozturk and Akar 2015: resampled counts of the error rates for Table 6."""

from __future__ import annotations

import random
from copy import deepcopy
from fractions import Fraction
from itertools import accumulate
from math import comb, sqrt
from statistics import fmean, pvariance

import pytest

from airpath_papers.qawla.error_rates import AWGN, CHANNELS, Channel, binomial, resampled


@pytest.mark.parametrize(
    ("trials", "probability"),
    [(1, Fraction(1, 2)), (5, Fraction(1, 5)), (12, Fraction(11, 12)), (40, Fraction(1, 40))],
)
def test_quantiles_match_binomial_distribution(trials: int, probability: Fraction) -> None:
    below = list(
        accumulate(
            comb(trials, k) * probability**k * (1 - probability) ** (trials - k)
            for k in range(trials + 1)
        )
    )
    assert below[-1] == 1
    for step in range(1000):
        uniform = Fraction(2 * step + 1, 2000)
        expected = next(k for k, share in enumerate(below) if share > uniform)
        assert binomial(float(uniform), trials, float(probability)) == expected


@pytest.mark.parametrize(
    ("errors", "blocks"), [(1, 10**7), (400, 10**7), (4000, 8192), (8189, 8192)]
)
def test_resampled_counts_have_the_mean_and_variance_of_the_counts(
    errors: int, blocks: int
) -> None:
    uniform, number = random.Random(1).random, 4000
    drawn = [binomial(uniform(), blocks, errors / blocks) for _ in range(number)]
    variance = errors * (1 - errors / blocks)
    assert abs(fmean(drawn) - errors) < 4 * sqrt(variance / number)
    # The variance of a variance, with the excess kurtosis of a Poisson count.
    assert abs(pvariance(drawn) / variance - 1) < 4 * sqrt((2 + 1 / variance) / number)


def test_certain_events_are_certain() -> None:
    for uniform in (0.0, 0.5, 0.999999):
        assert binomial(uniform, 8192, 0.0) == 0
        assert binomial(uniform, 8192, 1.0) == 8192


@pytest.mark.parametrize("channel", CHANNELS.values(), ids=lambda channel: channel.key)
def test_all_points_are_resampled(channel: Channel) -> None:
    rates = channel.table()
    before = deepcopy(rates.document)
    again = resampled(rates, random.Random(1).random)
    assert rates.document == before
    changed = open_points = 0
    counted = rates.points().itertuples(), again.points().itertuples()
    for old, new in zip(*counted, strict=True):
        assert (new.mcs, new.snr_db, new.blocks) == (old.mcs, old.snr_db, old.blocks)
        if old.errors in (0, old.blocks):
            assert new.errors == old.errors
            continue
        spread = sqrt(old.errors * (1 - old.errors / old.blocks))
        assert abs(new.errors - old.errors) < 5 * spread + 5
        open_points += 1
        changed += new.errors != old.errors
    assert changed > 0.7 * open_points


def test_resamples_are_reproducible_and_different() -> None:
    first, again = (resampled(AWGN.table(), random.Random(1).random) for _ in range(2))
    assert first.document == again.document
    uniform = random.Random(1).random
    one, other = (resampled(AWGN.table(), uniform) for _ in range(2))
    assert one.document == first.document != other.document
