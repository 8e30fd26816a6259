"""Later criteria for sentences that have an earlier one (sbd-2006 §2, §5 and §6)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from airpath.reproduction.claims import ClaimSpec, Finding, gathered, is_less, joined, known, means
from airpath.reproduction.measures import delay_s, goodput_kbps, overflows
from airpath.reproduction.session import Session
from airpath_papers.sbd.claims.common import CLAIMS, Cases, proposals, proposed, share
from airpath_papers.sbd.claims.runs import (
    changed,
    changed_lines,
    jain_falls,
    of_sizes,
    shared,
    switched,
)
from airpath_papers.sbd.claims.settings import (
    at_least_2_bdp,
    by_min_th,
    twice_bdp,
    up_to_proposed,
    with_alphas,
)
from airpath_papers.sbd.data import flows_named
from airpath_papers.sbd.scenarios import Case, Use

__all__: list[str] = []

# --- buffer sizes (Fig. 1) ---------------------------------------------------------------------


@CLAIMS.check("buffer-beyond-40", of_sizes)
def _beyond_40(session: Session, spec: ClaimSpec, cases: Mapping[int, list[Case]]) -> Finding:
    of_tables, largest = spec["sizes"][3], spec["sizes"][-1]

    def with_flows(flows: int, sizes: list[Case]) -> Finding:
        first, last = (session.values(sizes[n], goodput_kbps) for n in (3, -1))
        change = session.difference(last, first)
        if change is None:
            return Finding(False, ["one run has no interval"], {})
        return Finding(
            not change.high < 0,
            [
                f"{flows_named(flows)}: from {of_tables} to {largest} SDUs goodput "
                f"{change.mean:+.1f} ± {change.half_width:.1f} kbit/s"
            ],
            {"change_kbps": change.mean, "half_width_kbps": change.half_width},
        )

    return gathered("flows", cases, with_flows)


@CLAIMS.check("over-buffering-each-size", shared)
def _each_size(session: Session, spec: ClaimSpec, cases: Mapping[int, Case]) -> Finding:
    return jain_falls(session, cases, spec["window_s"], (spec["window_s"], 60.0), step_by_step=True)


# --- T_r, minth and α (Figs. 6 and 8) ----------------------------------------------------------


def lowest_share(goodputs: list[float], largest: float | None = None) -> tuple[int, float]:
    """Return where the goodput is largest, and the lowest share of `largest` from there on."""
    place = goodputs.index(max(goodputs))
    return place, min(goodputs[place:]) / (largest or max(goodputs))


@CLAIMS.check("reaction-time-falling", up_to_proposed)
def _reaction_time(session: Session, spec: ClaimSpec, cases: Mapping[int, Any]) -> Finding:
    def at(bearer: int, found: Mapping[str, list[Case]]) -> Finding:
        upto, low = found["upto"], means(session, found["low"], goodput_kbps)
        goodputs, delays = means(session, upto, goodput_kbps), means(session, upto, delay_s)
        place, flat = lowest_share(goodputs)
        falls = all(after < before for before, after in pairwise(delays))
        return Finding(
            flat >= spec["flat"] and falls and low[-1] / max(low) < spec["flat"],
            [
                f"{bearer} kbit/s, minth {proposed(3, bearer).min_th}: delay "
                f"{joined(delays, '.2f')} s; from T_r = {upto[place].aqm[0]} ms on at least "
                f"{flat:.1%} of the largest goodput; minth 5, T_r 5000 ms: {low[-1] / max(low):.0%}"
            ],
            {"flat": flat, "delay_s": delays, "beyond": low[-1] / max(low)},
        )

    return gathered("bearer", cases, at)


def _min_ths(spec: ClaimSpec) -> dict[int, list[Case]]:
    return by_min_th(*spec["wide_ms"])[spec["bearer"]]


@CLAIMS.check("minth-bdp-384", _min_ths)
@CLAIMS.check("minth-bdp-128", _min_ths)
def _min_th(session: Session, spec: ClaimSpec, cases: Mapping[int, list[Case]]) -> Finding:
    goodputs = {min_th: means(session, found, goodput_kbps) for min_th, found in cases.items()}
    largest = max(map(max, goodputs.values()))
    kept = {min_th: lowest_share(found, largest) for min_th, found in goodputs.items()}
    lines = [
        f"minth {min_th}: from T_r = {cases[min_th][place].aqm[0]} ms on at least {flat:.1%} of "
        "the largest goodput"
        for min_th, (place, flat) in kept.items()
    ]
    return Finding(
        kept[at_least_2_bdp(spec["bearer"])][1] >= spec["flat"],
        [f"2 BDP = {twice_bdp(spec['bearer']):.1f} SDUs", *lines],
        {f"minth={min_th}": flat for min_th, (_, flat) in kept.items()},
    )


@CLAIMS.check("alpha-rule", with_alphas)
def _alpha(session: Session, spec: ClaimSpec, cases: Mapping[int, Mapping[int, Case]]) -> Finding:
    alphas, chosen = spec["alphas"], spec["chosen"]
    goodputs, delays = (
        {
            bearer: dict(zip(alphas, means(session, list(row.values()), value), strict=True))
            for bearer, row in cases.items()
        }
        for value in (goodput_kbps, delay_s)
    )
    lost = {
        alpha: max(100 * (1 - row[alpha] / max(row.values())) for row in goodputs.values())
        for alpha in alphas
    }
    allowed = [alpha for alpha in alphas if lost[alpha] <= spec["paid"]]
    shortest = all(row[chosen] == min(row[alpha] for alpha in allowed) for row in delays.values())
    losses = [f"α = {alpha}: {each:.1f} %" for alpha, each in lost.items()]
    return Finding(
        chosen in allowed and shortest,
        [
            f"the most that is lost of the largest goodput on one bearer: {joined(losses)}",
            *(
                f"{bearer} kbit/s: delay {joined([f'α = {a}: {row[a]:.2f}' for a in alphas])} s"
                for bearer, row in delays.items()
            ),
        ],
        {"lost_per_cent": lost, "delay_s": delays},
    )


# --- slow start and reconfiguration (Figs. 14 and 15) ------------------------------------------


def _started(spec: ClaimSpec) -> dict[str, Case]:
    return proposals(384, 2, Use(duration_s=spec["first_s"], replications=100))


def _without(session: Session, case: Case) -> float:
    """Return the share of the runs in which no SDU overflows."""
    return share([lost == 0 for lost in session.values(case, overflows)])


@CLAIMS.check("slow-start-two-flows", _started)
def _slow_start(session: Session, spec: ClaimSpec, cases: Cases) -> Finding:
    lost = {name: known(session, case, overflows).mean for name, case in cases.items()}
    none = {name: _without(session, case) for name, case in cases.items()}
    avoided = lost["SBD"] <= spec["avoided"] * lost["drop-tail"] and none["SBD"] > 0.5
    return Finding(
        avoided and is_less(session, cases["SBD"], cases["RED"], overflows),
        [f"{name}: {lost[name]:.2f} SDUs, none in {none[name]:.0%} of the runs" for name in cases],
        {name: {"overflows": lost[name], "without": none[name]} for name in cases},
    )


@CLAIMS.check("reconfiguration-most-runs", lambda _spec: switched())
def _reconfiguration(session: Session, _spec: ClaimSpec, cases: Cases) -> Finding:
    found = changed(session, cases)
    none = {name: _without(session, case) for name, case in cases.items()}
    holds = none["drop-tail"] < 0.5 and all(
        none[f"{aqm} reconfigured"] > 0.5
        and is_less(session, cases[f"{aqm} reconfigured"], cases[f"{aqm} as for 384"], delay_s)
        for aqm in ("SBD", "RED")
    )
    lines = [
        f"{line}; no overflow in {without:.0%} of the runs"
        for line, without in zip(changed_lines(found), none.values(), strict=True)
    ]
    return Finding(holds, lines, {**found, "without": none})
