"""Ozturk and Akar 2015 §6: link-adaptation policies, compared by the fixed point.

The error rates in this file are simple functions of SNR and MCS. `test_qawla_table6` uses the error
rates shipped with Airpath.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist, fmean
from typing import Any

import numpy as np
import pytest

from airpath import _airpath, reproduction
from airpath.phy import PerTable
from airpath.reproduction import Effort, Report, reproduce
from airpath.reproduction.sweeps import model_point
from airpath.scenario.policy import LinkAdaptation, MaxPhyThroughput, Qawla, Tagla, Tfer
from airpath_papers.qawla import claims, quantities
from airpath_papers.qawla.data import TRAFFIC, Traffic, link_rate_bps, mcs_table
from airpath_papers.qawla.error_rates import AWGN, CHANNELS, ITU_A, Channel, poisson_test
from airpath_papers.qawla.link_adaptation import (
    BASE_RTTS_S,
    BOUNDARIES,
    OPTIMUM_PAIRS,
    PAIRS,
    POLICIES,
    TH_PER,
    Adaptation,
)
from studies.qawla import PAPER as STUDIES
from studies.qawla.resampling import choices_table
from studies.qawla.sample import SAMPLED_TRAFFIC, optimum_pair, sampled_snrs_db
from studies.qawla.sensitivity import CHOICES, changed_rates, with_choices_of

BLOCKS = 10**7
BRIEF = Effort(1, 40.0, 10.0, resamples=0)


def tables_of(channel: Channel, fer: Callable[[int, float], float]) -> PerTable:
    """Return error-rate tables from a function of MCS and SNR, in the file format."""
    curves = []
    for m, mcs in mcs_table().items():
        points: list[Mapping[str, float]] = []
        for snr_db in channel.grid():
            errors = round(fer(m, snr_db) * BLOCKS)
            points.append({"snr_db": snr_db, "errors": errors, "blocks": BLOCKS})
            if not errors:
                break
        over, under = mcs.code_rate
        about = {
            "name": f"mcs{m}",
            "bits_per_symbol": round(math.log2(mcs.constellation_points)),
            "code_rate": over / under,
            "block_bytes": mcs.fec_block_bytes,
            "rate_bps": link_rate_bps(mcs),
        }
        curves.append({"mcs": about, "points": points})
    document = {
        "channel": channel.name,
        "snr_range_db": list(channel.grid_db[:2]),
        "provenance": {"command": "made up"},
        "curves": curves,
    }
    return PerTable(document, "made up")


def falling(m: int, snr_db: float) -> float:
    """Return the error rate of MCS m: 1 at 4 m dB, and a factor of ten lower per 2 dB; mcs3 is
    slightly better than mcs4.
    """
    return min(1.0, 10 ** ((4 * m - 0.2 * (m == 3) - snr_db) / 2))


@pytest.fixture(scope="module")
def itu_a() -> Adaptation:
    return Adaptation(ITU_A, tables_of(ITU_A, falling))


# --- traffic and SNRs --------------------------------------------------------------------------


def test_section_4_has_72_traffic_scenarios() -> None:
    assert len(TRAFFIC) == len(set(TRAFFIC)) == 72
    assert len({tuple(traffic.rtt0_ns()) for traffic in TRAFFIC}) == 72
    assert Traffic("SF", 4, 20).rtt0_ns() == [Fraction(20 * 10**6)] * 4
    assert Traffic("SU", 4, 20).rtt0_ns() == [Fraction(ms * 10**6) for ms in (8, 16, 24, 32)]
    for traffic in TRAFFIC:
        assert sum(traffic.rtt0_ns()) == traffic.flows * traffic.mean_rtt0_ms * 10**6
    # Framing and processing take 2.5 ms in each direction.
    at = TRAFFIC.index(Traffic("SU", 4, 20))
    assert BASE_RTTS_S[at] == pytest.approx([0.013, 0.021, 0.029, 0.037])


def test_grids_match_figures_and_averages() -> None:
    assert (AWGN.grid()[0], AWGN.grid()[1], AWGN.grid()[-1]) == (0, 0.5, 22)
    assert (ITU_A.grid()[0], ITU_A.grid()[1], ITU_A.grid()[-1]) == (0, 2, 40)
    assert (AWGN.snrs_db()[0], len(AWGN.snrs_db()), AWGN.snrs_db()[-1]) == (2, 41, 22)
    assert (ITU_A.snrs_db()[0], len(ITU_A.snrs_db()), ITU_A.snrs_db()[-1]) == (14, 14, 40)


@pytest.mark.parametrize(("channel", "mean_db"), [(AWGN, 12), (ITU_A, 26)])
def test_weights_follow_truncated_normal_distribution(channel: Channel, mean_db: float) -> None:
    normal, half = NormalDist(mean_db, 8), channel.grid_db[2] / 2
    cells = [normal.cdf(snr + half) - normal.cdf(snr - half) for snr in channel.snrs_db()]
    assert channel.weights() == pytest.approx([cell / sum(cells) for cell in cells])
    assert channel.weights().sum() == pytest.approx(1)


def test_each_sampled_snr_represents_a_quarter() -> None:
    for channel in CHANNELS.values():
        snrs, weights = np.array(channel.snrs_db()), channel.weights()
        for place, snr_db in enumerate(sampled_snrs_db(channel)):
            middle = (2 * place + 1) / 8
            assert weights[snrs < snr_db].sum() <= middle <= weights[snrs <= snr_db].sum()
    assert len(set(SAMPLED_TRAFFIC)) == 12


# --- fixed points ------------------------------------------------------------------------------


def test_section_4_has_35_policies() -> None:
    rates = {m: link_rate_bps(mcs) for m, mcs in mcs_table().items()}
    assert len(OPTIMUM_PAIRS) == 35
    assert sum(rates[a] < rates[b] for a, b in OPTIMUM_PAIRS) == 27
    assert sum(a == b for a, b in OPTIMUM_PAIRS) == 8


def test_throughputs_agree_with_independent_solution(
    itu_a: Adaptation, second_solution: Callable[..., Any]
) -> None:
    draw = random.Random(1)
    for _ in range(60):
        at, traffic = draw.randrange(len(itu_a.snrs_db)), draw.randrange(72)
        place, boundary = draw.randrange(len(PAIRS)), draw.choice(BOUNDARIES)
        pair = PAIRS[place]
        rates = [link_rate_bps(mcs_table()[m]) for m in pair]
        fers = [falling(m, itu_a.snrs_db[at]) for m in pair]
        blocks = [math.ceil(1500 / mcs_table()[m].fec_block_bytes) for m in pair]
        pers = [1 - (1 - f) ** n for f, n in zip(fers, blocks, strict=True)]
        if max(pers) > 0.9:
            continue
        solved = second_solution(
            tuple(BASE_RTTS_S[traffic]), (rates[0], rates[1]), (pers[0], pers[1]), boundary
        )
        found = itu_a.throughput_bps[boundary][at, place, traffic]
        # Counts are integers of 1e7 blocks.
        assert found == pytest.approx(solved.throughput_bps, rel=1e-3), (pair, at, traffic)


def test_optimum_is_best_policy_and_excludes_mcs3_mcs4(itu_a: Adaptation) -> None:
    best = itu_a.optimum_bps[None]
    for boundary in BOUNDARIES:
        for pair in OPTIMUM_PAIRS:
            assert (itu_a.throughput_bps[boundary][:, PAIRS.index(pair)] <= best).all()
    for policy in POLICIES.values():
        assert itu_a.normalised(policy).max() <= 1
    for at, snr_db in enumerate(itu_a.snrs_db):
        for traffic in range(72):
            pair = optimum_pair(itu_a, snr_db, traffic)
            assert pair != (3, 4)
            throughput = itu_a.throughput_bps[20][at, PAIRS.index(pair), traffic]
            of_20 = [itu_a.throughput_bps[20][at, PAIRS.index(p), traffic] for p in OPTIMUM_PAIRS]
            assert throughput == pytest.approx(max(of_20), rel=2e-6)


def test_single_mcs_is_optimum_among_equal_pairs(itu_a: Adaptation) -> None:
    # Without losses and with 16 flows the queue stays above B, so MCS_1 has no effect.
    at, traffic = itu_a.snrs_db.index(40), TRAFFIC.index(Traffic("SF", 16, 1))
    throughput = itu_a.throughput_bps[20][at, :, traffic]
    same = [
        pair for pair, t in zip(PAIRS, throughput, strict=True) if t > 0.999999 * max(throughput)
    ]
    assert len(same) > 1
    assert optimum_pair(itu_a, 40, traffic) == (7, 7)


# --- choices, T_M and T_W ----------------------------------------------------------------------


def brute_choice(policy: LinkAdaptation, snr_db: float) -> tuple[int, int]:
    """Select the MCSs by the text of §2 and §6, with the error rates of `falling`."""
    fers = [round(falling(m, snr_db) * BLOCKS) / BLOCKS for m in range(8)]
    pers = [1 - (1 - f) ** mcs_table()[m].blocks(1500) for m, f in enumerate(fers)]
    efficiency = [
        math.log2(m.constellation_points) * m.code_rate[0] / m.code_rate[1]
        for m in mcs_table().values()
    ]

    def fastest(rates: list[float], threshold: float) -> int:
        below = [m for m in range(8) if rates[m] < threshold]
        if not below:
            return min(range(8), key=lambda m: (rates[m], m))
        return max(below, key=lambda m: (efficiency[m], -rates[m], -m))

    if isinstance(policy, Qawla):
        return fastest(pers, policy.th_per / policy.h), fastest(pers, policy.th_per)
    if isinstance(policy, MaxPhyThroughput):
        rates = pers if policy.error_rate == "per" else fers
        best = max(range(8), key=lambda m: ((1 - rates[m]) * efficiency[m], -rates[m], -m))
        return best, best
    if isinstance(policy, Tfer):
        chosen = fastest(fers, policy.th_fer)
        return chosen, chosen
    assert isinstance(policy, Tagla)
    chosen = fastest(pers, policy.th_per)
    return chosen, chosen


def qawla(th_per: float, h: float) -> Qawla:
    return Qawla(th_per=th_per, h=h, threshold=20)


SOME = [
    *(qawla(th, h) for th in (1e-4, 0.05, 0.4) for h in (1, 10, 1000)),
    *(Tagla(th_per=th) for th in (1e-5, 0.0032, 0.3)),
    *(Tfer(th_fer=th) for th in (1e-5, 0.0032, 0.3)),
    MaxPhyThroughput(error_rate="per"),
    MaxPhyThroughput(error_rate="fer"),
]


@pytest.mark.parametrize("policy", SOME, ids=repr)
def test_choices_match_text_of_paper(itu_a: Adaptation, policy: LinkAdaptation) -> None:
    expected = [brute_choice(policy, snr_db) for snr_db in itu_a.snrs_db]
    assert itu_a.choices(policy) == expected
    # A link whose SNR is overestimated gets the MCS of a better link.
    for db in (2, 4):
        estimated = [brute_choice(policy, min(snr_db + db, 40)) for snr_db in itu_a.snrs_db]
        assert itu_a.choices(policy, db) == estimated


@pytest.mark.parametrize("over_rating_db", [0, 4])
@pytest.mark.parametrize("policy", SOME, ids=repr)
def test_t_m_and_t_w_match_definition(
    itu_a: Adaptation, policy: LinkAdaptation, over_rating_db: int
) -> None:
    ratios = [
        [
            itu_a.throughput_bps[20][at, PAIRS.index(pair), traffic]
            / max(
                itu_a.throughput_bps[b][at, PAIRS.index(p), traffic]
                for b in BOUNDARIES
                for p in OPTIMUM_PAIRS
            )
            for traffic in range(0, 72, 9)
        ]
        for at, pair in enumerate(itu_a.choices(policy, over_rating_db))
    ]
    found = itu_a.normalised(policy, over_rating_db)
    assert found[:, ::9] == pytest.approx(np.array(ratios))
    mean = sum(w * fmean(row) for w, row in zip(ITU_A.weights(), found, strict=True))
    assert itu_a.mean(policy, over_rating_db) == pytest.approx(mean)
    worst = fmean(min(column) for column in found.T)
    assert itu_a.worst(policy, over_rating_db) == pytest.approx(worst)


def test_less_reliable_of_mcs3_and_mcs4_may_be_mcs_2() -> None:
    """In this case mcs3 counts as more efficient, and mcs4 is much more reliable."""
    rates = tables_of(ITU_A, lambda m, snr: falling(m, snr + 7 * (m == 4)))
    itu_a = Adaptation(ITU_A, rates)
    policy = qawla(0.05, 100)
    assert (4, 3) not in itu_a.choices(policy)
    changed = with_choices_of(itu_a, changed_rates(itu_a, CHOICES["mcs3"]))
    at = changed.choices(policy).index((4, 3))
    # MCS_1 is better at the same rate, so the result of the pair is between the two.
    place = {pair: itu_a.throughput_bps[20][at, PAIRS.index(pair)] for pair in PAIRS}
    pair = changed.normalised(policy)[at] * changed.optimum_bps[None][at]
    assert (place[3, 3] * 0.999 <= pair).all()
    assert (pair <= place[4, 4] * 1.001).all()
    assert (4, 3) not in OPTIMUM_PAIRS


def test_effects_of_single_changes_add_up_to_the_joint_effect(
    itu_a: Adaptation,
) -> None:
    found = {ITU_A.key: itu_a}
    assert choices_table(found, [found], "").rows == []
    # The same links, but all policies use error rates that are worse by 1 dB.
    rates = tables_of(ITU_A, lambda m, snr: falling(m, snr - 1))
    other = with_choices_of(itu_a, rates)
    rows = choices_table(found, [found, {ITU_A.key: other}], "").rows
    for name, policy in POLICIES.items():
        lines = [row for row in rows if row[0] == name]
        pairs = zip(itu_a.choices(policy), other.choices(policy), strict=True)
        assert len(lines) == sum(computed != changed for computed, changed in pairs) > 0
        assert {line[5] for line in lines} == {"1 of 20"}
        # T_M is a sum over the SNRs.
        together = other.mean(policy) - itu_a.mean(policy)
        assert sum(float(line[6]) for line in lines) == pytest.approx(together, abs=0.004)


def test_best_threshold_has_largest_average(
    itu_a: Adaptation, monkeypatch: pytest.MonkeyPatch
) -> None:
    both: Any = {"awgn": itu_a, "itu-a": itu_a}
    for module in (quantities, claims):
        monkeypatch.setattr(module, "adaptations", lambda _session: both)
    averages = {th: itu_a.mean(Tagla(th_per=th)) for th in TH_PER}
    # The last of equal values.
    best = max(reversed(averages), key=averages.__getitem__)
    session: Any = None
    place = {"policy": "TAGLA", "channel": "itu-a", "over_rating_db": 0, "H": "", "B": ""}
    cell = model_point(place).cell
    measures: Any = claims.NAMED
    found: Any = quantities.QUANTITIES
    assert found["best_threshold"].value(session, cell) == best
    assert found["average_at_best"].value(session, cell) == averages[best]
    assert found["best_of_mean_normalised_throughput"].value(session, cell) == best
    assert measures["peak_at"].values(session, cell) == (best, None)
    assert measures["peak_value"].values(session, cell) == (averages[best], None)
    high = [average for th, average in averages.items() if th >= 0.99e-3]
    assert measures["mean_from"].values(session, cell, 1e-3)[0] == pytest.approx(fmean(high))


def test_qawla_with_h_1_equals_tagla(itu_a: Adaptation) -> None:
    for th_per in TH_PER[::5]:
        assert itu_a.mean(qawla(th_per, 1)) == itu_a.mean(Tagla(th_per=th_per))


# --- error rates -------------------------------------------------------------------------------


def test_two_poisson_counts_are_compared_exactly() -> None:
    assert poisson_test((5, 100), (5, 100)) == 1
    # 0 and 8 errors in the same number of blocks: twice 1 / 2^8.
    assert poisson_test((0, 10**7), (8, 10**7)) == pytest.approx(2 / 2**8)
    # 3 and 9 errors: twice (1 + 12 + 66 + 220) / 2^12.
    assert poisson_test((3, 10**7), (9, 10**7)) == pytest.approx(2 * 299 / 2**12)
    assert poisson_test((9, 10**7), (3, 10**7)) == pytest.approx(2 * 299 / 2**12)
    # 2 errors in 1e7 blocks and 0 in 1e6: the probability of 2 in the first is (10/11)^2.
    assert poisson_test((2, 10**7), (0, 10**6)) == 1
    assert poisson_test((0, 10**7), (2, 10**6)) == pytest.approx(2 / 121)
    assert poisson_test((0, 10**7), (0, 10**6)) == 1


# --- the report --------------------------------------------------------------------------------


@pytest.fixture
def on_made_up_rates(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Return a function that replaces the shipped error rates by those of a function."""

    def use_rates(fer: Callable[[Channel, int, float], float]) -> None:
        found = {
            channel: tables_of(channel, lambda m, snr, channel=channel: fer(channel, m, snr))
            for channel in CHANNELS.values()
        }
        monkeypatch.setattr(Channel, "table", lambda channel: found[channel])

    return use_rates


ADAPTATION_ITEMS = ["fig2", "fig3", "fig7", "fig9", "fig11", "table6"]
KEYS = [spec.key for spec in reproduction.load("qawla").claims if not spec.cells]


def verdicts(report: Report) -> dict[str, bool]:
    json.dumps(report.to_dict(), allow_nan=False)
    return {claim.key: claim.holds for claim in report.claims}


def test_claims_can_fail(on_made_up_rates: Any) -> None:
    # Flat curves, mcs4 worse than mcs3 at all SNRs, the same curves on both channels.
    on_made_up_rates(lambda _channel, m, snr: min(1.0, 10 ** ((3 * m - snr - (m == 3)) / 6)))
    found = verdicts(reproduce("qawla", ADAPTATION_ITEMS, effort=BRIEF))
    assert list(found) == KEYS
    for key in (
        "support",
        "mcs3-mcs4",
        "steepness",
        "h-100",
        "h-100-visible",
        "near-optimum",
        "worst-peak",
        "b-40-like-optimum",
        "b-40-well-above",
        "similar-trend",
        "over-rated-better",
        "over-rating-fixed",
        "worst-case-as-printed",
        "order-as-printed",
        "max-phy-slightly",
        "max-phy-worst",
    ):
        assert not found[key], key


def test_claims_of_items_not_requested_are_not_checked() -> None:
    assert verdicts(reproduce("qawla", ["table2"], effort=BRIEF)) == {}
    requested = verdicts(reproduce("qawla", ["fig11"], effort=BRIEF))
    assert set(requested) == {"worst-case", "similar-trend", "worst-peak", "worst-peak-tagla"}


def test_measures_that_replaced_criterion_are_not_claims_of_paper(
    on_made_up_rates: Any,
) -> None:
    """Regression test: additional measures replaced first criteria and counted as claims of the
    paper."""
    on_made_up_rates(lambda _channel, m, snr: falling(m, snr))
    report = reproduce("qawla", ["fig7", "fig9"], effort=BRIEF)
    computed = {claim.key for claim in report.claims if not claim.of_paper}
    assert computed == {
        "over-rating-mean",
        "b-40-one-optimum",
        "b-20-one-optimum",
        "h-100-visible",
    }


def test_rate_equal_to_its_bound_leaves_verdict_undecided(
    on_made_up_rates: Any,
) -> None:
    """Regression test: `support` held with a PER 10 % below its bound and few counted errors."""
    share = 1 - 0.9 ** (1 / mcs_table()[0].blocks(1500))

    def fer(channel: Channel, m: int, snr_db: float) -> float:
        # A PER of 0.1 at the lowest SNR.
        at = channel.support_db[0] + 4 * m
        return float(min(1.0, share * 10 ** ((at - snr_db) * 4)))

    on_made_up_rates(fer)
    report = reproduce("qawla", ["fig2"], effort=replace(BRIEF, resamples=40))
    [support] = [claim for claim in report.claims if claim.key == "support"]
    assert support.strength is not None
    # Each channel is below its bound in about half of the resamples.
    assert 0.05 < support.strength.share < 0.5
    assert support.outcome == "undecided"


def test_lowest_snr_is_checked_from_both_sides(on_made_up_rates: Any) -> None:
    """Regression test: `support` (PER below 0.1 at the lowest SNR) also held if the SNR was 2 dB
    too high."""

    def verdict(too_good_db: float) -> dict[str, bool]:
        def fer(channel: Channel, m: int, snr_db: float) -> float:
            # A PER of 0.1 half a step below the lowest SNR.
            at = channel.support_db[0] - channel.grid_db[2] / 2 + 4 * m - too_good_db
            share = 1 - 0.9 ** (1 / mcs_table()[m].blocks(1500))
            return float(min(1.0, share * 10 ** ((at - snr_db) * 4)))

        on_made_up_rates(fer)
        found = verdicts(reproduce("qawla", ["fig2"], effort=BRIEF))
        return {key: found[key] for key in ("support", "least-snr")}

    assert verdict(0) == {"support": True, "least-snr": True}
    assert verdict(2) == {"support": True, "least-snr": False}
    assert verdict(-2) == {"support": False, "least-snr": False}


def test_curve_is_normalised_by_best_policy_with_equal_b(itu_a: Adaptation) -> None:
    """Regression test: T_M for B = 40 was compared with an *optimum* for B = 20."""
    for policy, boundary, of in (("QAWLA", 40, 40), ("QAWLA", 20, 20), ("TAGLA", 40, 20)):
        described: LinkAdaptation = Tagla(th_per=0.05)
        if policy == "QAWLA":
            described = Qawla(th_per=0.05, h=100, threshold=boundary)
        places = [PAIRS.index(pair) for pair in itu_a.choices(described)]
        chosen = [PAIRS.index(pair) for pair in OPTIMUM_PAIRS]
        shares = [
            fmean(table[place] / table[chosen].max(axis=0))
            for table, place in zip(itu_a.throughput_bps[of], places, strict=True)
        ]
        expected = sum(w * share for w, share in zip(ITU_A.weights(), shares, strict=True))
        found = itu_a.at(policy, 0.05, boundary=boundary, optimum_b=of)
        assert found == pytest.approx(expected)
        assert found >= itu_a.at(policy, 0.05, boundary=boundary)


def test_interrupted_reproduction_is_not_complete(
    fake_engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_arguments: Any, **_options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_airpath, "fixed_points", interrupt)
    for paper, items in (("qawla", ["fig7", "table6"]), (STUDIES, ["sensitivity", "ranking"])):
        report = fake_engine.reproduce(paper, items)
        assert report.interrupted
        assert [item.complete for item in report.items] == [False] * 2
        assert report.claims == []
        json.dumps(report.to_dict(), allow_nan=False)


def test_every_item_of_section_6_is_reproduced() -> None:
    keys = [item.key for item in reproduction.load("qawla").items]
    for key in (
        "fig2",
        "fig3",
        "table6",
        *(f"fig{n}" for n in range(7, 13)),
    ):
        assert key in keys
