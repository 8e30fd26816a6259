"""How the claims of ``claims.toml`` on Tables 3 to 5, Figs. 5 and 6, and rates are checked.

Those on link adaptation are in ``adaptation_claims.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import log
from statistics import fmean, median
from typing import Any, Final

from airpath.reproduction.base import Cell
from airpath.reproduction.claims import (
    Claims,
    ClaimSpec,
    Finding,
    gathered,
    interval,
    joined,
    known,
    told,
)
from airpath.reproduction.measures import ip_throughput_mbps, queue_distribution, queue_probability
from airpath.reproduction.session import Session
from airpath_papers.paths import QAWLA
from airpath_papers.qawla.curves import AWGN, CHANNELS, ITU_A, rates_of
from airpath_papers.qawla.data import (
    AT_BOUNDARY,
    BOUNDARIES,
    ELSEWHERE,
    FIG5_IDX,
    FIG6_B,
    mcs_table,
    published,
    published_table,
)
from airpath_papers.qawla.error_rates import Channel, ErrorRates

__all__ = ["CLAIMS", "least_snr_db"]

CLAIMS: Final = Claims(QAWLA)

Cells = Mapping[int, Cell]


# --- the queue (Figs. 5 and 6) -----------------------------------------------------------------


@CLAIMS.check("empty-queue", lambda _spec: {b: (FIG5_IDX, b) for b in BOUNDARIES})
def _empty_grows(session: Session, _spec: ClaimSpec, cells: Cells) -> Finding:
    empty = {b: known(session, cell, queue_probability(0)) for b, cell in cells.items()}
    means = [empty[b].mean for b in sorted(BOUNDARIES)]
    return Finding(
        all(after < before for before, after in pairwise(means)),
        [f"B = {b}: u_0 = {interval(found)}" for b, found in empty.items()],
        {f"B={b}": told(found) for b, found in empty.items()},
    )


@CLAIMS.check(
    "mass-at-boundary", lambda _spec: {i: (i, FIG6_B) for i in (*AT_BOUNDARY, *ELSEWHERE)}
)
def _gathers(session: Session, spec: ClaimSpec, cells: Cells) -> Finding:
    around = queue_probability(FIG6_B, spec["near"])
    near = {idx: known(session, cell, around) for idx, cell in cells.items()}
    contrast = max(near[idx].mean for idx in ELSEWHERE)

    def at(idx: int, cell: Cell) -> Finding:
        found = queue_distribution(session, cell)
        assert found is not None, "it is simulated"
        close = abs(found.mode - FIG6_B) <= spec["near"] and near[idx].mean > contrast
        elsewhere = "" if idx in AT_BOUNDARY else " (not at the boundary)"
        return Finding(
            close or idx not in AT_BOUNDARY,
            [
                f"idx {idx}{elsewhere}: {interval(near[idx])} of the time within {spec['near']} "
                f"packets of B, most likely length {found.mode}"
            ],
            {**told(near[idx]), "most_likely": found.mode},
        )

    return gathered("idx", cells, at)


# --- model and simulation (Tables 3 to 5) ------------------------------------------------------


@CLAIMS.check("optimistic-model", lambda spec: {idx: (idx, 10) for idx in spec["idx"]})
def _optimistic(session: Session, _spec: ClaimSpec, cells: Cells) -> Finding:
    def at(idx: int, cell: Cell) -> Finding:
        simulated = known(session, cell, ip_throughput_mbps)
        analysed = session.solution(cell).throughput_bps / 1e6
        upper = simulated.high if simulated.reps > 1 else simulated.mean
        excess = analysed / simulated.mean - 1
        return Finding(
            analysed > upper,
            [
                f"idx {idx}: analysis {analysed:.4f}, simulation {interval(simulated)} Mbit/s: "
                f"{excess:+.1%}"
            ],
            {**told(simulated), "analysis": analysed, "excess": excess},
        )

    return gathered("idx", cells, at)


@CLAIMS.check("optimistic-as-printed", lambda _spec: {i: (i, 10) for i in published_table(10)})
def _optimistic_as_printed(session: Session, spec: ClaimSpec, cells: Cells) -> Finding:
    ours = {idx: _difference(session, cell) for idx, cell in cells.items()}
    rest = max(excess for idx, excess in ours.items() if idx not in spec["idx"])

    def at(idx: int, excess: float) -> Finding:
        theirs = _printed_difference((idx, 10))
        near = 100 * abs(excess - theirs) <= spec["points"]
        line = f"idx {idx}: {excess:+.1%}, printed {theirs:+.1%}"
        return Finding(near and excess > rest, [line], {"excess": excess})

    holds, lines, values = gathered("idx", {idx: ours[idx] for idx in spec["idx"]}, at)
    return Finding(holds, [*lines, f"the others: at most {rest:+.1%}"], values)


def _difference(session: Session, cell: Cell) -> float:
    """Return by how much T analysed is above T simulated, as a share of it."""
    analysed_mbps = session.solution(cell).throughput_bps / 1e6
    return analysed_mbps / known(session, cell, ip_throughput_mbps).mean - 1


def _printed_difference(cell: Cell) -> float:
    row = published(*cell)
    return row.analysis_mbps / row.ns3_mbps - 1


def _all_cells(_spec: ClaimSpec) -> dict[int, dict[int, Cell]]:
    return {b: {idx: (idx, b) for idx in published_table(b)} for b in BOUNDARIES}


@CLAIMS.check("agreement", _all_cells)
def _agreement(session: Session, spec: ClaimSpec, cells: Mapping[int, Cells]) -> Finding:
    means = {}

    def at(boundary: int, of_table: Cells) -> Finding:
        each = {idx: _difference(session, cell) for idx, cell in of_table.items()}
        means[boundary] = sum(map(abs, each.values())) / len(each)
        worst = max(each, key=lambda idx: abs(each[idx]))
        values = {
            "mean_absolute_difference": means[boundary],
            "largest_difference": each[worst],
            "largest_difference_at": worst,
        }
        line = f"B = {boundary}: mean |difference| {means[boundary]:.2%}, "
        return Finding(True, [f"{line}largest {each[worst]:+.1%} (idx {worst})"], values)

    _, lines, values = gathered("B", cells, at)
    closest = max(means[20], means[30])
    return Finding(closest <= spec["mean"] and closest < means[10], lines, values)


@CLAIMS.check("agreement-as-printed", _all_cells)
def _agreement_as_printed(session: Session, spec: ClaimSpec, cells: Mapping[int, Cells]) -> Finding:
    def at(boundary: int, of_table: Cells) -> Finding:
        ours = {idx: 100 * _difference(session, cell) for idx, cell in of_table.items()}
        theirs = {idx: 100 * _printed_difference(cell) for idx, cell in of_table.items()}
        apart = {idx: ours[idx] - theirs[idx] for idx in ours}
        worst = max(apart, key=lambda idx: abs(apart[idx]))
        mean, printed = (fmean(map(abs, each.values())) for each in (ours, theirs))
        line = f"B = {boundary}: mean size {mean:.2f} %, printed {printed:.2f} %; a cell at most "
        line += f"{apart[worst]:+.2f} percentage points (idx {worst})"
        holds = abs(apart[worst]) <= spec["cell"] and abs(mean - printed) <= spec["mean"]
        return Finding(holds, [line], {"mean": mean, "printed": printed, "most": apart[worst]})

    return gathered("B", cells, at)


@CLAIMS.check("agreement-median", _all_cells)
def _agreement_median(session: Session, _spec: ClaimSpec, cells: Mapping[int, Cells]) -> Finding:
    ours, theirs = {}, {}
    for boundary, of_table in cells.items():
        ours[boundary] = median(abs(_difference(session, cell)) for cell in of_table.values())
        theirs[boundary] = median(abs(_printed_difference(cell)) for cell in of_table.values())
    lines = [f"B = {b}: {ours[b]:.2%}, printed {theirs[b]:.2%}" for b in ours]
    values = {f"B={b}": found for b, found in ours.items()}
    return Finding(max(ours[20], ours[30]) < ours[10], lines, values)


# --- error rates (Figs. 2 and 3) ---------------------------------------------------------------


@CLAIMS.check("support", is_random=True)
def _support(session: Session, spec: ClaimSpec, _cells: Any) -> Finding:
    def on(key: str, channel: Channel) -> Finding:
        lowest, step = channel.support_db[0], channel.grid_db[2]
        rates = rates_of(session)[key]
        at, below = rates.per(0, lowest), rates.per(0, lowest - step)
        line = f"{channel.name}: {at:.3g} at {lowest:g} dB, {below:.3g} at {lowest - step:g} dB"
        return Finding(at < spec["per"], [line], {"per": at, "one_step_below": below})

    return gathered("", CHANNELS, on)


def least_snr_db(rates: ErrorRates, channel: Channel) -> float | None:
    """Return the lowest SNR of the grid at which mcs0 has a PER below 0.1, dB."""
    highest = CLAIMS.specs["least-snr"]["per"]
    curve = zip(channel.grid(), rates.pers(0, channel.grid()), strict=True)
    return next((snr for snr, per in curve if per < highest), None)


@CLAIMS.check("least-snr", is_random=True)
def _least_snr(session: Session, _spec: ClaimSpec, _cells: Any) -> Finding:
    found = {key: least_snr_db(rates, CHANNELS[key]) for key, rates in rates_of(session).items()}
    return Finding(
        all(found[key] == channel.support_db[0] for key, channel in CHANNELS.items()),
        [
            f"{CHANNELS[key].name}: " + ("nowhere" if snr is None else f"{snr:g} dB")
            for key, snr in found.items()
        ],
        found,
    )


@CLAIMS.check("mcs3-mcs4", is_random=True)
def _mcs3_mcs4(session: Session, spec: ClaimSpec, _cells: Any) -> Finding:
    low, high = spec["compared"]

    def on(key: str, better: int) -> Finding:
        channel, worse = CHANNELS[key], 7 - better
        rates = rates_of(session)[key]
        grid = channel.grid()
        each_rate = zip(rates.pers(better, grid), rates.pers(worse, grid), strict=True)
        pairs = dict(zip(grid, each_rate, strict=True))
        compared = {snr: pair for snr, pair in pairs.items() if low <= max(pair) <= high}
        right = [snr for snr, pair in compared.items() if pair[0] < pair[1]]
        each = [f"{snr:g} dB {a:.2g} and {b:.2g}" for snr, (a, b) in compared.items()]
        return Finding(
            bool(compared) and len(right) == len(compared),
            [
                f"{channel.name}: mcs{better} has the lower PER at {len(right)} of "
                f"{len(compared)} SNRs: mcs{better} and mcs{worse} {'; '.join(each)}"
            ],
            {"compared": len(compared), "as_said": len(right)},
        )

    return gathered("", {AWGN.key: 3, ITU_A.key: 4}, on)


def _snr_of(rates: ErrorRates, channel: Channel, mcs: int, per: float) -> float | None:
    """Return where a curve crosses a PER, ln PER linear in dB; None when it does not."""
    curve = list(zip(channel.grid(), rates.pers(mcs, channel.grid()), strict=True))
    for (low, above), (high, below) in pairwise(curve):
        if below <= per < above:
            # A point without errors: half an error.
            floor = 0.5 * rates.blocks(mcs) / rates.count_from(mcs, high).blocks
            share = log(above / per) / log(above / max(below, floor))
            return low + share * (high - low)
    return None


@CLAIMS.check("steepness", is_random=True)
def _steepness(session: Session, spec: ClaimSpec, _cells: Any) -> Finding:
    def span(key: str, mcs: int) -> float | None:
        """Return the distance of the two PERs, dB."""
        rates = rates_of(session)[key]
        high, low = (_snr_of(rates, CHANNELS[key], mcs, per) for per in spec["pers"])
        return None if high is None or low is None else low - high

    spans = {key: [span(key, mcs) for mcs in mcs_table()] for key in CHANNELS}
    texts = {
        key: [
            f"mcs{mcs} " + ("not crossed" if db is None else f"{db:.2f} dB")
            for mcs, db in enumerate(each)
        ]
        for key, each in spans.items()
    }
    return Finding(
        all(
            steep is not None and flat is not None and steep < flat
            for steep, flat in zip(spans[AWGN.key], spans[ITU_A.key], strict=True)
        ),
        [f"{CHANNELS[key].name}: {joined(each)}" for key, each in texts.items()],
        spans,
    )
