"""What four of the statements become when one choice of README.md is changed at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any, Final, NamedTuple

from airpath.papers.clamp.measures import FLOWS_MS
from airpath.papers.clamp.scenarios import AS_CHOSEN, Case, Variant
from airpath.papers.clamp.statements import SAYS
from airpath.papers.clamp.statements.rates import clamp_fast, clamp_slow, download, timeouts
from airpath.papers.clamp.sweeps import NAMES, sweep
from airpath.papers.kit.base import Cell, ItemResult, Row, Table
from airpath.papers.kit.declared import Evaluate
from airpath.papers.kit.session import Session
from airpath.papers.kit.statements import Finding, Said
from airpath.scenario import AdaptiveMargin, RayleighSnr

__all__ = ["SENSITIVITY", "VARIANTS", "variant_of"]

TITLE: Final = "what the numbers depend on: one choice of README.md changed at a time"

VARIANTS: Final[Mapping[str, Variant]] = {
    "margin-from-0": Variant(
        "the margin does not fall below 0",
        link={"margin": AdaptiveMargin(target_loss=1e-3, least=0.0)},
    ),
    "margin-0.5": Variant("the margin is 0.5", link={"margin": 0.5}),
    "natural-log": Variant(
        "the natural logarithm in Eq. 18: the bandwidth times ln 2",
        rate={"bandwidth": f"{round(4.3e6 * log(2))} Hz"},
    ),
    "min-rto": Variant("the smallest timeout is 0.2 s", tcp={"min_rto": "200 ms"}),
    "ssthresh": Variant("ssthresh is half of CWND", tcp={"flight_bound": "replaced"}),
    "rate-0.1s": Variant("μ_c over 0.1 s", queue={"rate_time_constant": "100 ms"}),
    "rate-5s": Variant("μ_c over 5 s", queue={"rate_time_constant": "5 s"}),
    "available": Variant(
        "r of Eq. 19 from the rate that was available", scheduler={"average": "available"}
    ),
    "rayleigh": Variant("Clarke's fading, circular", fading=RayleighSnr),
    "alpha-100": Variant("α = 100 packets", window={"average_packets": 100}),
}
"""The changes, by name."""

FEWER: Final = {
    (False, True): slice(2, 10, 2),
    (True, True): slice(0, 9, 2),
    (False, False): slice(1, 9, 2),
}
"""Which knobs are run, by (fast, CLAMP): every second around the delays of the statements."""


def variant_of(case: Case) -> Variant:
    """Return what a case changes."""
    return VARIANTS[case.variant] if case.variant else AS_CHOSEN


def _sweep(fast: bool, clamp: bool, variant: str) -> list[Case]:
    return sweep(fast, clamp, variant=variant)[FEWER[fast, clamp]]


class Looked(NamedTuple):
    """One of the statements: its check, what it is asked with, and the numbers that are kept.

    Parameters
    ----------
    check : callable
        The statement's own.
    sweeps : callable
        Gives by the name of a variant what the check is asked with.
    kept : mapping
        By name and unit what a row keeps, as the place of a number in what the check found.
    """

    check: Callable[[Session, Said, Any], Finding]
    sweeps: Callable[[str], Any]
    kept: Mapping[tuple[str, str], Sequence[Any]]


def _download_sweeps(variant: str) -> Mapping[str, Sequence[Case]]:
    return {name: _sweep(False, clamp, variant) for clamp, name in NAMES.items()}


LOOKED: Final[Mapping[str, Looked]] = {
    "clamp-slow": Looked(
        clamp_slow,
        lambda variant: _sweep(False, True, variant),
        {(f"throughput_{flow}", "Mbit/s"): ("mbps", flow) for flow in FLOWS_MS},
    ),
    "clamp-fast": Looked(
        clamp_fast,
        lambda variant: _sweep(True, True, variant),
        {
            (f"{name}_{ms}ms", "1"): (f"delay_ms={ms}", name)
            for ms in SAYS.said["clamp-fast"]["delays_ms"]
            for name in ("queues_off", "flows_apart")
        },
    ),
    "timeouts": Looked(
        timeouts,
        lambda variant: _sweep(True, True, variant),
        {(f"timeouts_10_{ms}ms", "1/s"): (f"delay_ms={ms}", 10) for ms in (50, 75, 100, 150)},
    ),
    "download": Looked(download, _download_sweeps, {("download_time_ratio", "1"): ("of",)}),
}
"""The statements that are looked at, by key."""

NAMED: Final = {"": AS_CHOSEN, **VARIANTS}

CELLS: Final[Sequence[Cell]] = list(
    dict.fromkeys(
        case for variant in NAMED for fast, clamp in FEWER for case in _sweep(fast, clamp, variant)
    )
)


def _rows(variant: str, key: str, values: Mapping[str, Any]) -> list[Row]:
    rows = []
    for (quantity, unit), place in LOOKED[key].kept.items():
        found: Any = values
        for name in place:
            found = found[name]
        about = {"variant": variant or "as chosen", "statement": key}
        rows.append(Row(about, quantity, unit, None, float(found)))
    return rows


def _evaluate(session: Session, _out: Path | None) -> ItemResult:
    complete = session.complete(CELLS)
    rows: list[Row] = []
    lines: list[list[str]] = []
    for name, variant in NAMED.items() if complete else ():
        for key, looked in LOOKED.items():
            try:
                found = looked.check(session, SAYS.said[key], looked.sweeps(name))
            except ValueError as error:  # the delays of this variant are others
                lines.append([variant.about, key, "-", str(error)])
                continue
            lines.append([variant.about, key, "yes" if found.holds else "no", found.measured[0]])
            lines += [["", "", "", more] for more in found.measured[1:]]
            rows += _rows(name, key, found.values)
    columns = [("", "changed"), ("", "statement"), ("", "holds"), ("", "measured")]
    notes = [
        "Of the variants half of the runs (quick: half of their length), over some of the knobs."
    ]
    table = Table(TITLE, columns, lines, notes)
    return ItemResult("sensitivity", TITLE, rows, [table], complete=complete)


SENSITIVITY: Final[tuple[Sequence[Cell], Evaluate]] = (CELLS, _evaluate)
"""The item's cells, and what makes its result."""
