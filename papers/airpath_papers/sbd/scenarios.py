"""The scenarios: one path for all (sbd-2006 Fig. 5), differing in what a `Case` names.

README.md lists every value that the paper leaves open; a `Variant` changes some of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import airpath as ap
from airpath.reproduction.base import Cell, Effort
from airpath_papers.sbd.data import (
    BEARERS,
    BUFFER,
    Aqm,
    AveragedRed,
    DropTail,
    Red,
    Sbd,
    drop_tail,
    published_table,
)
from airpath_papers.sbd.table1 import (
    base_rtt_ms,
    errors,
    link_settings,
    tcp_settings,
    wired_ms,
)
from airpath_papers.sbd.traces import RECORDED

__all__ = [
    "SWITCH_S",
    "TABLE_RUNS",
    "TRACE",
    "ByRate",
    "Case",
    "Use",
    "Variant",
    "build",
    "effort_of",
    "keys",
    "simulated",
]

WIRED: Final = ap.Wire(rate="1 Mbit/s", delay=f"{wired_ms() / 2:g} ms")
"""The wired network (sbd-2006 §4, Table 1)."""

LINK: Final[Mapping[str, Any]] = {**link_settings(), "window_poll": "timed"}
"""RLC: Table 1 and README.md."""

TCP: Final[Mapping[str, Any]] = {
    **tcp_settings(),
    "window_growth": "bytes",
    "delayed_ack_segments": 2,
    "delayed_ack_timeout": "200 ms",
    "initial_rto": "3 s",
    "min_rto": "1 s",
    "limited_transmit": False,
    "timestamps": False,
}
"""What differs from the profile ``rfc``: Table 1 and README.md."""

RED: Final[Mapping[str, Any]] = {"drop": "front", "count": False}
"""RED: README.md."""

SWITCH_S: Final = 50.0
SWITCHED_TO: Final = 128
"""The bearer changes from 384 to 128 kbit/s (sbd-2006 §6)."""


class ByRate(NamedTuple):
    """SBD or RED with the table of proposed settings (Table 3 or 5), chosen by the rate."""

    of: str
    """``sbd`` or ``red``."""


class Use(NamedTuple):
    """What a case is simulated for, where that is not the mode's length from t = 0 on.

    Parameters
    ----------
    duration_s : float
        Simulated time, s; 0 for the mode's.
    warmup_s : float
        What of it is not counted, s.
    replications : int
        How many runs; 0 for the mode's.
    switch : bool
        Whether the bearer changes its rate at 50 s.
    download_kb : int
        Payload that each flow transfers, kB; 0 for flows without end.
    newcomer_s : float
        When the last flow starts, s; 0 for with the others.
    record : tuple of str
        Series to record.
    """

    duration_s: float = 0.0
    warmup_s: float = 0.0
    replications: int = 0
    switch: bool = False
    download_kb: int = 0
    newcomer_s: float = 0.0
    record: tuple[str, ...] = ()


BULK: Final = Use()
TRACE: Final = Use(duration_s=100.0, replications=1, switch=True, record=RECORDED)


class Case(NamedTuple):
    """One simulated scenario.

    Parameters
    ----------
    bearer : int
        Nominal rate, kbit/s.
    flows : int
        How many flows.
    aqm : Aqm or ByRate
        What manages the RLC buffer.
    variant : str
        Names what a study changes; empty for the choices of README.md.
    use : Use
        What it is simulated for.
    """

    bearer: int
    flows: int
    aqm: Aqm | ByRate
    variant: str = ""
    use: Use = BULK


def keys(case: Case) -> dict[str, int | float | str]:
    """Return what names a row: the bearer, the flows, the discipline and its setting."""
    named: dict[str, int | float | str] = {"bearer": case.bearer, "flows": case.flows}
    match case.aqm:
        case DropTail():
            return {**named, "aqm": "droptail"}
        case Sbd():
            return {**named, "aqm": "sbd", "T_r_ms": case.aqm.t_r_ms, "minth": case.aqm.min_th}
        case Red() | AveragedRed():
            return {**named, "aqm": "red", "maxp": case.aqm.max_p, "minth": case.aqm.min_th}
        case _:
            return {**named, "aqm": case.aqm.of}


class Variant(NamedTuple):
    """What is changed of the choices of README.md: entries by the part that they go into."""

    about: str
    tcp: Mapping[str, Any] = {}
    link: Mapping[str, Any] = {}
    sbd: Mapping[str, Any] = {}
    red: Mapping[str, Any] = {}
    duration_s: float = 0.0


AS_CHOSEN: Final = Variant("as chosen")


TABLE_RUNS: Final = 100
"""Runs of the cases of Tables 2 to 6, in every mode."""

TABLED: Final = frozenset(
    [
        *(Case(row.bearer, row.flows, row.aqm) for row in drop_tail().values()),
        *(
            Case(row.bearer, flows, row.aqm)
            for number in (2, 3, 4, 5)
            for row in published_table(number).values()
            for flows in (1, 4)
        ),
    ]
)
"""The cases of Tables 2 to 6."""


def effort_of(cell: Cell, effort: Effort) -> Effort:
    """Return how long and how often a case is simulated, given the mode's effort."""
    case = Case(*cell)
    usual = TABLE_RUNS if case in TABLED else effort.replications
    return Effort(
        replications=case.use.replications or usual,
        duration_s=case.use.duration_s or effort.duration_s,
        warmup_s=case.use.warmup_s,
    )


def simulated(cell: Cell, effort: Effort) -> ap.Scenario:
    """Return the scenario of a case, which may take as long as `effort` says."""
    return build(Case(*cell), effort)


def build(case: Case, effort: Effort, variant: Variant = AS_CHOSEN) -> ap.Scenario:
    """Return the scenario of a case with the entries of a variant.

    Parameters
    ----------
    case : Case
        Which; what it says about a variant is not looked at.
    effort : Effort
        How long it is simulated.
    variant : Variant
        What is changed. Default: nothing.
    """
    use = case.use
    link = ap.link.RlcAm(
        rate=f"{case.bearer} kbit/s",
        errors=errors(),
        **{**LINK, **variant.link},
    )
    change = [ap.Control(at=SWITCH_S, rate=f"{SWITCHED_TO} kbit/s")] if use.switch else []
    early = case.flows - bool(use.newcomer_s)
    groups = [(early, "0 s" if early == 1 else ap.traffic.Uniform(uniform=["0 s", "0.5 s"]))]
    if use.newcomer_s:
        groups.append((1, f"{use.newcomer_s} s"))
    flows = [
        ap.traffic.Tcp(
            count=count,
            cc="reno",
            profile="rfc",
            tcp={**TCP, **variant.tcp},
            base_rtt=f"{base_rtt_ms()} ms",
            start=start,
            size=f"{use.download_kb} kB" if use.download_kb else None,
        )
        for count, start in groups
    ]
    return ap.Scenario(
        name=f"sbd {case.bearer} kbit/s",
        duration=effort.duration_s,
        warmup=effort.warmup_s,
        bottleneck=ap.Bottleneck(aqm=_queue(case.aqm, variant), link=link),
        ack_path=ap.ack_path.Reverse(),
        backhaul=WIRED,
        control=change,
        flows=flows,
        record=ap.Record(series=list(use.record)),
    )


def _queue(aqm: Aqm | ByRate, variant: Variant) -> ap.aqm.QueueDisc:
    match aqm:
        case DropTail(limit):
            return ap.aqm.DropTail(limit=f"{limit} packets")
        case Sbd():
            alpha = aqm.alpha
            return ap.aqm.Sbd(**_sbd_setting(aqm), alpha=alpha, **variant.sbd)
        case Red():
            return ap.aqm.RlcRed(**_red_setting(aqm), **{**RED, **variant.red})
        case AveragedRed():
            return ap.aqm.Red(
                limit=BUFFER,
                min_th=aqm.min_th,
                max_th=BUFFER,
                max_p=aqm.max_p,
                weight=aqm.weight,
                gentle=False,
                wait=False,
            )
        case ByRate("sbd"):
            rows = [
                {"rate": f"{rate} kbit/s", **_sbd_setting(_proposed(3, rate))} for rate in BEARERS
            ]
            return ap.aqm.Sbd(by_rate=rows, **variant.sbd)
        case ByRate():
            rows = [
                {"rate": f"{rate} kbit/s", **_red_setting(_proposed(5, rate))} for rate in BEARERS
            ]
            return ap.aqm.RlcRed(by_rate=rows, **{**RED, **variant.red})


def _proposed(table: int, bearer: int) -> Any:
    return published_table(table)[bearer].aqm


def _sbd_setting(aqm: Sbd) -> dict[str, Any]:
    return {"min_th": aqm.min_th, "reaction_time": f"{aqm.t_r_ms} ms"}


def _red_setting(aqm: Red) -> dict[str, Any]:
    return {"min_th": aqm.min_th, "max_p": aqm.max_p}
