"""The claims of ``claims.toml``: the points and measures that their formulas name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from airpath.reproduction.claims import Claims, ClaimSpec, PointSet, points_of, same
from airpath.reproduction.formulas import Measure, Point, of_point, of_replication, of_run
from airpath.reproduction.session import Session
from airpath_papers.paths import WIMAX
from airpath_papers.wimax import measures
from airpath_papers.wimax.analysis import (
    CHOSEN,
    DEFAULTS,
    Analysed,
    WindowRule,
    analysis_mbps,
    eq9_mbps,
    goodput_of,
    ideal_mbps,
    ideal_of,
    model1_mbps,
    model2_mbps,
    printed_ideal_mbps,
)
from airpath_papers.wimax.crowds import COLLIDING, COUNTS, Crowd
from airpath_papers.wimax.data import BASE_RTTS_MS, IDEAL, POLICIES, table1, table2
from airpath_papers.wimax.scenarios import CURVES, SEGMENT, Case, places
from airpath_papers.wimax.validation import SWEEPS, Validation, cell_of
from airpath_papers.wimax.variants import DISTANCES, RADIO, SCHEDULED_RTTS_MS, SCHEDULERS, SIZING

__all__ = ["CLAIMS"]

# --- points ------------------------------------------------------------------------------------

RULES: Final = (CHOSEN, WindowRule(8.5, "constant"), WindowRule(63.0, "constant"))


def _solved(cases: Iterable[Analysed], **more: Any) -> list[Point]:
    return [Point({**case._asdict(), **more}, cell_of(case)) for case in cases]


def _typical(spec: ClaimSpec) -> list[Point]:
    return _solved(DEFAULTS._replace(contention_ms=spec[at]) for at in ("from_ms", "to_ms"))


def _of_policies(names: Iterable[str], base_rtts_ms: Sequence[int] = (100,)) -> PointSet:
    cases = [
        Case(policy, rtt, variant=name)
        for name in names
        for rtt in base_rtts_ms
        for policy in POLICIES
    ]
    return same(points_of(cases))


POINTS: Final[Mapping[str, PointSet]] = {
    "model": same(_solved(dict.fromkeys(case for each in SWEEPS.values() for case in each))),
    "fig3": same(_solved(SWEEPS["contention_ms"])),
    "fig4": same(
        point
        for over, cases in SWEEPS.items()
        if over != "contention_ms"
        for point in _solved(cases, over=over)
    ),
    "typical": _typical,
    "rules": same(
        Point({**case._asdict(), "rule": f"{rule.packets:g}-{rule.rule}"}, (case, rule))
        for rule in RULES
        for case in SWEEPS["contention_ms"]
    ),
    "table1": same(Point({"policy": policy}, Case(policy)) for policy in POLICIES),
    "table2": same(
        Point({"base_rtt_ms": rtt, "policy": policy}, case)
        for (rtt, policy), case in places().items()
    ),
    "ideal": same(Point({"base_rtt_ms": rtt}, Case(IDEAL, rtt)) for rtt in BASE_RTTS_MS),
    "fig7": same(
        Point({"curve": curve, "loss": case.loss}, case)
        for curve, cases in CURVES.items()
        for case in cases
    ),
    "sizing": _of_policies(SIZING),
    "schedulers": _of_policies(
        [name for name in SCHEDULERS if name != "round-robin"], SCHEDULED_RTTS_MS
    ),
    "distances": _of_policies(DISTANCES),
    "radio": _of_policies(RADIO),
    "colliding": same(Point({"policy": policy}, cell) for policy, cell in COLLIDING.items()),
    "crowd": same([Point({"policy": "uni"}, Crowd("uni", COUNTS[-1]))]),
}

# --- measures ----------------------------------------------------------------------------------

ACK_BYTES: Final = 46
"""An ACK in the uplink: 40 bytes and the MAC header."""


def _of_model(compute: Callable[..., float]) -> Measure:
    """Return a measure of the parameters of §3.2, which a cell of Figs. 3 and 4 begins with."""
    return of_point(lambda _session, cell, *more: compute(Analysed(*cell[:4]), *more))


def _eq9(session: Session, cell: Validation) -> float:
    found = session.estimate(cell, measures.mean_rtt_s)
    assert found is not None
    return eq9_mbps(found.mean, cell.loss)


def _duplicates(session: Session, run: int, cell: Case) -> float:
    return measures.duplicate_acks(session.series(cell, "seq_received", run), SEGMENT)


def _without_duplicates(session: Session, run: int, cell: Case) -> float:
    """Return the efficiency without the bytes of duplicate ACKs."""
    replication = session.replications(cell)[run]
    used = 1e3 * measures.USED.measure(replication)
    used -= ACK_BYTES * _duplicates(session, run, cell)
    return used / (1e3 * measures.ALLOCATED.measure(replication))


def _of_delays(take: Callable[..., float]) -> Measure:
    """Return a measure of the uplink delays of all runs together."""
    return of_point(
        lambda session, cell, *more: take(measures.DelayDistribution(session, cell), *more),
        is_simulated=True,
    )


def _longer(found: measures.DelayDistribution, above_ms: float) -> float:
    # At the edge itself, whatever doubles make of it.
    return 1 - found.at(found.quantile(0.5) + above_ms - 1e-6)


def _stepped(found: measures.DelayDistribution, apart_ms: float, within_ms: float) -> float:
    """Return the share of delays near the median and multiples of a distance above it."""
    median = found.quantile(0.5)
    most = int((found.delays_ms[-1] - median) // apart_ms) + 1
    return found.near([median + n * apart_ms for n in range(most + 1)], within_ms)


MEASURES: Final[Mapping[str, Measure]] = {
    **{name: of_replication(each.measure) for name, each in measures.QUANTITIES.items()},
    "contention_share": of_replication(measures.contention_share),
    "timeouts": of_replication(measures.timeouts),
    "collided": of_replication(measures.collided_share),
    "duplicates": of_run(_duplicates),
    "efficiency_without_duplicates": of_run(_without_duplicates),
    "delay_share": _of_delays(measures.DelayDistribution.at),
    "delay_quantile": _of_delays(measures.DelayDistribution.quantile),
    "delay_share_above_median": _of_delays(_longer),
    "delay_share_at_steps": _of_delays(_stepped),
    "eq9": of_point(_eq9, is_simulated=True),
    "solution": _of_model(analysis_mbps),
    "analysis_goodput": _of_model(goodput_of),
    "ideal": _of_model(ideal_mbps),
    "model1": _of_model(model1_mbps),
    "model2": _of_model(model2_mbps),
    "by_rule": of_point(lambda _session, cell: analysis_mbps(*cell)),
    "model2_of_rules": of_point(lambda _session, cell: model2_mbps(cell[0])),
    "ideal_mbps": of_point(
        lambda _session, cell: ideal_of(cell.base_rtt_ms, cell.loss).throughput_bps / 1e6
    ),
    "printed_ideal_mbps": of_point(lambda _session, cell: printed_ideal_mbps(cell.base_rtt_ms)),
    "table1": of_point(lambda _session, cell, quantity: table1()[cell.policy][quantity]),
    "table2": of_point(
        lambda _session, cell, quantity: table2()[cell.base_rtt_ms, cell.policy][quantity]
    ),
    "table2_ideal": of_point(lambda _session, cell: table2()[cell.base_rtt_ms, IDEAL]["goodput"]),
}

CLAIMS: Final = Claims(WIMAX, POINTS, MEASURES)
