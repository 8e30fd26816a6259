"""What the text says about data that is lost (wimax-2009 §5.4, Fig. 7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from airpath.reproduction.claims import ClaimSpec, Finding, gathered, joined, means
from airpath.reproduction.session import Session
from airpath_papers.wimax.analysis import ideal_of
from airpath_papers.wimax.claims.common import CLAIMS, gain
from airpath_papers.wimax.measures import (
    ALLOCATED,
    EFFICIENCY,
    GOODPUT,
    MAC_DELAY,
    USED,
    contention_share,
    duplicate_acks,
)
from airpath_papers.wimax.scenarios import SEGMENT, Case

__all__ = ["CURVES", "LOSSES", "LOSS_CELLS", "RULES", "relative_gains"]

LOSSES: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05)
"""p of Fig. 7; the paper gives its ends."""

RULES: Final = {"packet": "UNI, requests per packet", "queue": "UNI, requests per queue"}
"""UNI under both rules of requests."""

CURVES: Final[Mapping[str, Sequence[Case]]] = {
    RULES["packet"]: [Case("uni", loss=loss) for loss in LOSSES],
    RULES["queue"]: [Case("uni", loss=loss, per="queue") for loss in LOSSES],
    # What arrives is recorded: duplicate ACKs are counted.
    "blind-BI": [Case("blind-bi", loss=loss, record=("seq_received",)) for loss in LOSSES],
    "adapt-BI": [Case("adapt-bi", loss=loss) for loss in LOSSES],
}
"""The cells of Fig. 7 by curve, in the order of p."""

LOSS_CELLS: Final = [case for cases in CURVES.values() for case in cases]

ACK_BYTES: Final = 46
"""An ACK in the uplink: 40 bytes and the MAC header."""


def relative_gains(session: Session) -> dict[str, list[float]]:
    """Return the gain of adapt-BI over UNI at each p, by the rule of requests."""
    adapt = means(session, CURVES["adapt-BI"], GOODPUT.measure)
    return {
        rule: [
            gain(ours, theirs)
            for ours, theirs in zip(
                adapt, means(session, CURVES[name], GOODPUT.measure), strict=True
            )
        ]
        for rule, name in RULES.items()
    }


def _all(_spec: ClaimSpec) -> Mapping[str, Sequence[Case]]:
    return CURVES


def _ends(spec: ClaimSpec, cases: Sequence[Case]) -> list[Case]:
    return [case for case in cases if case.loss in (spec["first"], spec["last"])]


@CLAIMS.check("falls-with-loss", _all)
def _falls(session: Session, spec: ClaimSpec, curves: Mapping[str, Sequence[Case]]) -> Finding:
    goodput = {name: means(session, cases, GOODPUT.measure) for name, cases in curves.items()}

    def of_curve(name: str, found: Sequence[float]) -> Finding:
        falls = all(later < before for before, later in pairwise(found))
        return Finding(falls, [f"{name}: {joined(found, '.3f')} Mbit/s"], {"mbps": found})

    every = gathered("curve", goodput, of_curve)
    ends = [LOSSES.index(spec["first"]), LOSSES.index(spec["last"])]
    shrinks, lines = True, []
    for name in RULES.values():
        first, last = (goodput["adapt-BI"][n] - goodput[name][n] for n in ends)
        shrinks = shrinks and last < first
        lines.append(f"gain over {name}: {first:.3f} to {last:.3f} Mbit/s")
    return Finding(every.holds and shrinks, [*every.measured, *lines], every.values)


@CLAIMS.check("relative-gain", _all)
def _relative(session: Session, spec: ClaimSpec, _curves: object) -> Finding:
    def of_rule(rule: str, found: Sequence[float]) -> Finding:
        return Finding(
            spec["low"] <= min(found) and max(found) <= spec["high"],
            [f"over {RULES[rule]}: {joined(found, '.1%')}"],
            {"gain": found},
        )

    return gathered("per", relative_gains(session), of_rule)


@CLAIMS.check("delay-over-loss", lambda spec: {n: _ends(spec, c) for n, c in CURVES.items()})
def _delay(session: Session, spec: ClaimSpec, curves: Mapping[str, Sequence[Case]]) -> Finding:
    delays = {name: means(session, cases, MAC_DELAY.measure) for name, cases in curves.items()}
    changes = {name: gain(last, first) for name, (first, last) in delays.items()}
    shares = means(session, curves[RULES["queue"]], contention_share)
    grows = changes[RULES["queue"]]
    holds = (
        abs(changes[RULES["packet"]]) <= spec["flat"]
        and grows >= spec["grows"]
        and shares[1] > shares[0]
        and all(abs(changes[name]) < grows for name in ("blind-BI", "adapt-BI"))
    )
    lines = [
        f"{name}: {delays[name][0]:.1f} to {delays[name][1]:.1f} ms, {change:+.1%}"
        for name, change in changes.items()
    ]
    lines.append(f"by contention, per queue: {shares[0]:.2f} to {shares[1]:.2f} of the requests")
    return Finding(holds, lines, {"delays_ms": delays, "contention_share": shares})


@CLAIMS.check("delay-over-loss-drawn", lambda spec: {n: _ends(spec, c) for n, c in CURVES.items()})
def _delay_drawn(
    session: Session, spec: ClaimSpec, curves: Mapping[str, Sequence[Case]]
) -> Finding:
    delays = {name: means(session, cases, MAC_DELAY.measure) for name, cases in curves.items()}
    changes = {name: last - first for name, (first, last) in delays.items()}
    shares = means(session, curves[RULES["queue"]], contention_share)
    grows = changes[RULES["queue"]]
    most = max(abs(changes[name]) for name in ("blind-BI", "adapt-BI"))
    return Finding(
        grows > 0 and shares[1] > shares[0] and most <= spec["share"] * grows,
        [f"{name}: {change:+.1f} ms" for name, change in changes.items()],
        {"changes_ms": changes, "contention_share": shares},
    )


def _efficiencies(session: Session, cases: Sequence[Case]) -> list[float]:
    return means(session, cases, EFFICIENCY.measure)


_LOSS_ENDS: Final = (LOSSES[0], LOSSES[-1])


def _at_ends(name: str) -> list[Case]:
    return [case for case in CURVES[name] if case.loss in _LOSS_ENDS]


def _points_lost(
    session: Session, curves: Mapping[str, Sequence[Case]], is_right: Callable[[float], bool]
) -> Finding:
    """Return whether what each curve's efficiency loses from end to end, in points, is right."""

    def of_curve(name: str, cases: Sequence[Case]) -> Finding:
        first, last = _efficiencies(session, cases)
        points = 100 * (first - last)
        return Finding(
            is_right(points),
            [f"{name}: {first:.3f} to {last:.3f}, {points:.1f} points"],
            {"points": points},
        )

    return gathered("curve", curves, of_curve)


@CLAIMS.check(
    "efficiency-over-loss", lambda _spec: {n: _at_ends(n) for n in CURVES if n != "blind-BI"}
)
def _efficiency(session: Session, spec: ClaimSpec, curves: Mapping[str, Sequence[Case]]) -> Finding:
    return _points_lost(session, curves, lambda points: points < spec["points"])


@CLAIMS.check(
    "efficiency-as-printed",
    lambda _spec: {name: _at_ends(name) for name in (RULES["queue"], "adapt-BI")},
)
def _as_printed(session: Session, spec: ClaimSpec, curves: Mapping[str, Sequence[Case]]) -> Finding:
    def is_near(points: float) -> bool:
        return bool(abs(points - spec["points"]) <= spec["within"])

    return _points_lost(session, curves, is_near)


@CLAIMS.check("blind-efficiency", lambda _spec: _at_ends("blind-BI"))
def _blind(session: Session, spec: ClaimSpec, cases: Sequence[Case]) -> Finding:
    first, last = _efficiencies(session, cases)
    points = 100 * (first - last)
    return Finding(
        abs(points - spec["points"]) <= spec["within"],
        [f"{first:.3f} to {last:.3f}: falls by {points:.1f} points"],
        {"points": points},
    )


def _without_duplicates(session: Session, case: Case) -> tuple[float, float]:
    """Return the mean of duplicate ACKs of a run, and the efficiency without them."""

    def counted(whole: Session, run: int) -> int:
        return duplicate_acks(whole.series(case, "seq_received", run), SEGMENT)

    counts = session.per_run(case, "duplicate-acks", counted)
    shares = []
    for count, replication in zip(counts, session.replications(case), strict=True):
        used = 1e3 * USED.measure(replication) - ACK_BYTES * count
        shares.append(used / (1e3 * ALLOCATED.measure(replication)))
    return sum(counts) / len(counts), sum(shares) / len(shares)


@CLAIMS.check("duplicate-acks", lambda _spec: _at_ends("blind-BI"))
def _duplicates(session: Session, _spec: ClaimSpec, cases: Sequence[Case]) -> Finding:
    whole = _efficiencies(session, cases)
    (few, first), (many, last) = (_without_duplicates(session, case) for case in cases)
    return Finding(
        whole[1] > whole[0] and last <= first,
        [
            f"{few:.1f} and {many:.1f} duplicate ACKs; efficiency {whole[0]:.3f} to "
            f"{whole[1]:.3f}, without them {first:.3f} to {last:.3f}"
        ],
        {"duplicates": [few, many], "efficiency": whole, "without": [first, last]},
    )


@CLAIMS.check("near-ideal", lambda spec: [c for c in CURVES["adapt-BI"] if c.loss <= spec["loss"]])
def _near_ideal(session: Session, spec: ClaimSpec, cases: Sequence[Case]) -> Finding:
    ideal = [ideal_of(case.base_rtt_ms, case.loss).throughput_bps / 1e6 for case in cases]
    ours = means(session, cases, GOODPUT.measure)
    shares = [each / most for each, most in zip(ours, ideal, strict=True)]
    return Finding(
        min(shares) >= spec["share"],
        [f"p = {case.loss:.1%}: {share:.1%}" for case, share in zip(cases, shares, strict=True)],
        {"share": shares, "ideal_mbps": ideal},
    )
