"""Ozturk and Akar 2015: decoder and mapping of the error rates, and the rule that selected them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from airpath.reproduction.files import read_table
from airpath_papers.qawla.data import mcs_table
from airpath_papers.qawla.error_rates import AWGN, CHANNELS, ITU_A
from studies.qawla.decoders import (
    ALIKE,
    CHOSEN,
    DECODERS,
    DIRECTORY,
    ITERATIONS,
    MAPPINGS,
    TOO_FEW,
    Decoder,
    Fit,
    common_rates,
    decide,
    fits,
)


def fit(mapping: str, iterations: int, total: float, **changed: Any) -> Fit:
    pers = changed.get("pers", {"awgn": 0.05, "itu-a": 0.01})
    below = {"awgn": 0.9, "itu-a": 0.1}
    within = changed.get("within", True)
    return Fit(Decoder(iterations, mapping), pers, below, [0.0], total, within)


def test_values_the_paper_omits_follow_the_rule() -> None:
    """Regression test: ten iterations were assumed as the default of the simulator, without a
    comparison with Table 2."""
    assert decide(fits()).decoder == CHOSEN


def test_rule_excludes_candidates_that_miss_a_goal_or_mcs0_bound() -> None:
    good = fit("random", 10, 9.0)
    for bad in (
        fit("fusc", 4, 1.0, pers={"awgn": 0.1, "itu-a": 0.01}),
        fit("fusc", 4, 1.0, pers={"awgn": 0.05, "itu-a": 0.12}),
        fit("fusc", 4, 1.0, within=False),
    ):
        assert not bad.accepted
        assert decide([bad, good]) is good


def test_rule_selects_least_sum_and_prefers_fusc_on_tie() -> None:
    least, near, far = (
        fit("random", 10, 3.0),
        fit("fusc", 8, 3.0 + ALIKE),
        fit("fusc", 6, 3.1 + ALIKE),
    )
    assert decide([near, least, far]) is near
    assert decide([least, far]) is least
    assert decide([least, fit("fusc", 6, 4.0), near]).decoder == Decoder(6, "fusc")


def test_every_candidate_has_all_counts() -> None:
    rows = read_table(DIRECTORY, "decoders.csv")
    keys = [(row["channel"], row["iterations"], row["mcs"], row["snr_db"]) for row in rows]
    assert len(keys) == len(set(keys))
    assert len(fits()) == len(DECODERS) == len(ITERATIONS) * len(MAPPINGS)
    for row in rows:
        assert int(row["errors"]) >= 200 or int(row["blocks"]) == 10**7
    assert len(common_rates()) == 11


def test_sum_is_sum_of_squares_over_variances() -> None:
    found = next(each for each in fits() if each.decoder == CHOSEN)
    counted = {
        (int(row["mcs"]), float(row["snr_db"])): (int(row["errors"]), int(row["blocks"]))
        for row in read_table(DIRECTORY, "decoders.csv")
        if row["channel"] == f"itu-a/{CHOSEN.mapping}" and int(row["iterations"]) == 6
    }
    total = 0.0
    for (snr_db, mcs), rate in common_rates().items():
        errors, blocks = counted[mcs, snr_db]
        assert rate.published is not None
        published_fer = 1 - (1 - rate.published) ** (1 / mcs_table()[mcs].blocks(1500))
        deviation = math.log(errors / blocks / published_fer)
        total += deviation**2 / (1 / (published_fer * 1e7) + 1 / errors + 0.05**2)
    assert found.total == pytest.approx(total, rel=0.02)


@pytest.mark.parametrize("decoder", DECODERS, ids=lambda decoder: decoder.name)
def test_candidate_has_separate_error_rates(decoder: Decoder) -> None:
    for channel in CHANNELS.values():
        rates = decoder.rates(channel)
        if rates is None:
            assert (channel, decoder.iterations) == (ITU_A, TOO_FEW)
            assert not next(fit for fit in fits() if fit.decoder == decoder).begins
            continue
        about = rates.document
        assert about["settings"]["iterations"] == decoder.iterations
        assert about["complete"]
        suffix = "/fusc" if decoder.mapping == "fusc" and channel is ITU_A else ""
        assert about["channel"] == ("awgn" if channel is AWGN else f"vehicular-a{suffix}")
        counted = {float(point["snr_db"]) for point in about["curves"][7]["points"]}
        assert counted >= {snr for snr in channel.snrs_db() if snr < max(counted)}


def test_shipped_tables_belong_to_selected_candidate() -> None:
    for channel in CHANNELS.values():
        assert CHOSEN.rates(channel) is channel.table()
