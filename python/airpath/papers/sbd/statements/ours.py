"""What the paper's text says about its results, checked on ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from airpath.papers.base import Cell, Statement, StatementSpec
from airpath.papers.sbd.clouds import strengths
from airpath.papers.sbd.data import Aqm, DropTail, Red, Sbd, published_table
from airpath.papers.sbd.measures import (
    compared,
    completion_s,
    delay_s,
    goodput_kbps,
    jain_in_windows,
    overflows,
    rtt_s,
)
from airpath.papers.sbd.scenarios import ByRate, Case, Use
from airpath.papers.sbd.tables import TABLE6_CELLS, averages
from airpath.papers.session import Estimate, Session

__all__ = ["STATEMENTS"]

RTPD_S = 0.25
"""RTT_w + RTT_f (sbd-2006 §5)."""

SDU_BITS = 12_000


def _sbd(bearer: int) -> Sbd:
    aqm = published_table(3)[bearer].aqm
    assert isinstance(aqm, Sbd)
    return aqm


def _red(bearer: int) -> Red:
    aqm = published_table(5)[bearer].aqm
    assert isinstance(aqm, Red)
    return aqm


def _known(session: Session, case: Case, value: Callable[[Mapping[str, Any]], float]) -> Estimate:
    estimate = session.estimate(case, value)
    if estimate is None:
        raise ValueError("a statement is checked only when all its cells were simulated")
    return estimate


# --- T_r ---------------------------------------------------------------------------------------

SWEPT = (384, 128)
"""The bearers of Figs. 6 and 8."""

FLAT = 0.95
"""Share of the largest goodput that counts as flat."""


CHECKED = Use(replications=100)
"""The same number of runs in every mode, so that the statements are checked on the same numbers; as
many as make their outcome the same whatever the seed."""

T_R_MS = strengths("sbd", 4)
"""What T_r is swept over, ms."""


UP_TO_CHOSEN_MS = {384: (50, 100, 200), 128: (50, 200, 500, 1300)}
"""T_r up to that of Table 3, by bearer, ms: each about twice the one before or more."""


def _sweep(bearer: int, min_th: int) -> list[Case]:
    return [Case(bearer, 1, Sbd(int(t_r), min_th), use=CHECKED) for t_r in T_R_MS]


def _up_to_chosen(bearer: int) -> list[Case]:
    min_th = _sbd(bearer).min_th
    return [Case(bearer, 1, Sbd(t_r, min_th), use=CHECKED) for t_r in UP_TO_CHOSEN_MS[bearer]]


def _reaction_time(session: Session) -> Statement:
    holds, measured, values = True, [], {}
    for bearer in SWEPT:
        chosen = _sbd(bearer)
        upto = _up_to_chosen(bearer)
        goodputs = [_known(session, case, goodput_kbps).mean for case in upto]
        delays = [_known(session, case, delay_s).mean for case in upto]
        flat = min(after / max(goodputs[: n + 1]) for n, after in enumerate(goodputs))
        falls = all(after < before for before, after in pairwise(delays))
        low = [_known(session, case, goodput_kbps).mean for case in _sweep(bearer, 5)]
        beyond = low[-1] / max(low)
        holds = holds and flat >= FLAT and falls and beyond < FLAT
        measured.append(
            f"{bearer} kbit/s, minth {chosen.min_th}, T_r "
            f"{', '.join(map(str, UP_TO_CHOSEN_MS[bearer]))} ms: delay "
            f"{', '.join(f'{one:.2f}' for one in delays)} s, goodput {goodputs[0]:.1f} to "
            f"{goodputs[-1]:.1f} kbit/s, never below {flat:.1%} of what a smaller T_r gave; "
            f"minth 5, T_r {T_R_MS[-1]:g} ms: {beyond:.0%} of its largest"
        )
        values[f"bearer={bearer}"] = {"flat": flat, "delay_s": delays, "beyond": beyond}
    return Statement(
        "reaction-time",
        "The delay falls with T_r at nearly the same goodput, until the discarding is too "
        "aggressive (§5, Figs. 6 and 8).",
        f"With minth of Table 3, from T_r = {T_R_MS[0]:g} ms to that of Table 3, each delay is "
        f"below the one before and each goodput at least {FLAT:.0%} of every one before; with "
        f"minth = 5 and T_r = {T_R_MS[-1]:g} ms it is not.",
        holds,
        measured,
        values,
    )


REACTION_CELLS: list[Cell] = [
    case
    for bearer in SWEPT
    for case in (
        *_up_to_chosen(bearer),
        *_sweep(bearer, 5),
    )
]

# --- minth -------------------------------------------------------------------------------------

KEPT = 0.8
"""Share of the largest goodput that counts as near the optimum over all of the grid's T_r."""


def _twice_bdp(bearer: int) -> float:
    return 2 * bearer * 1e3 * RTPD_S / SDU_BITS


def _above(bearer: int) -> int:
    """Return the smallest minth of the grid from 2 BDP on."""
    return next(n for n in (5, 10, 15, 20, 25, 30) if n >= _twice_bdp(bearer))


def _lowest(session: Session, bearer: int, min_th: int) -> float:
    return min(_known(session, case, goodput_kbps).mean for case in _sweep(bearer, min_th))


def _min_th(session: Session) -> Statement:
    measured, values, holds = [], {}, True
    for bearer in SWEPT:
        min_ths = (5, _above(bearer), 30)
        best = max(
            _known(session, case, goodput_kbps).mean
            for min_th in min_ths
            for case in _sweep(bearer, min_th)
        )
        kept = {min_th: _lowest(session, bearer, min_th) / best for min_th in min_ths}
        holds = holds and min(kept[_above(bearer)], kept[30]) >= KEPT
        listed = ", ".join(f"{share:.0%} with minth {min_th}" for min_th, share in kept.items())
        measured.append(
            f"{bearer} kbit/s, 2 BDP = {_twice_bdp(bearer):.1f} SDUs: lowest share of the largest "
            f"goodput {listed}"
        )
        values[f"bearer={bearer}"] = {f"minth={min_th}": share for min_th, share in kept.items()}
        if min_ths[0] < _twice_bdp(bearer) / 2:
            holds = holds and kept[min_ths[0]] < KEPT
    return Statement(
        "minth-bdp",
        "minth of at least 2 BDP keeps the goodput near the optimum for a wide range of T_r (§5).",
        f"For every T_r from {T_R_MS[0]:g} to {T_R_MS[-1]:g} ms, the goodput is at least "
        f"{KEPT:.0%} of the largest with the smallest minth of the grid from 2 BDP on, and with "
        "the largest; with a minth below BDP (5 at 384 kbit/s) it is not.",
        holds,
        measured,
        values,
    )


MIN_TH_CELLS: list[Cell] = [
    case
    for bearer in SWEPT
    for min_th in (5, _above(bearer), 30)
    for case in _sweep(bearer, min_th)
]

# --- slow start --------------------------------------------------------------------------------

STARTING = Use(duration_s=6.0, replications=100)
"""Slow start and the losses that end it."""

START_FLOWS = (1, 2)


def _start_cases(flows: int) -> dict[str, Case]:
    aqms: dict[str, Aqm] = {"drop-tail": DropTail(), "SBD": _sbd(384), "RED": _red(384)}
    return {name: Case(384, flows, aqm, use=STARTING) for name, aqm in aqms.items()}


def _slow_start(session: Session) -> Statement:
    measured, values, holds = [], {}, True
    for flows in START_FLOWS:
        lost = {
            name: _known(session, case, overflows) for name, case in _start_cases(flows).items()
        }
        difference = compared(
            session.values(_start_cases(flows)["RED"], overflows),
            session.values(_start_cases(flows)["SBD"], overflows),
            session,
        )
        clear = difference is not None and difference.low > 0
        holds = holds and clear and lost["SBD"].mean <= 0.1 * lost["drop-tail"].mean
        listed = ", ".join(f"{name} {found.mean:.2f}" for name, found in lost.items())
        measured.append(f"{flows} flow{'s' if flows > 1 else ''}: {listed} SDUs")
        values[f"flows={flows}"] = {name: found.mean for name, found in lost.items()}
    return Statement(
        "slow-start",
        "SBD avoids the overflow in slow start, RED is less capable of it (§6, Figs. 14 and 15).",
        f"384 kbit/s, settings of Tables 3 and 5, first {STARTING.duration_s:g} s: with SBD at "
        "most a tenth of the overflow drops of drop-tail; with RED more than with SBD, the "
        "interval of the difference run by run above 0.",
        holds,
        measured,
        values,
    )


# --- short downloads ---------------------------------------------------------------------------

DOWNLOADS_KB = (50, 100, 200)
DOWNLOAD_BEARER = 384


def _download(aqm: Aqm, size_kb: int) -> Case:
    return Case(
        DOWNLOAD_BEARER, 4, aqm, use=Use(duration_s=60.0, replications=100, download_kb=size_kb)
    )


def _downloads(session: Session) -> Statement:
    measured, values, holds = [], {}, True
    aqms: dict[str, Aqm] = {
        "drop-tail": DropTail(),
        "SBD": _sbd(DOWNLOAD_BEARER),
        "RED": _red(DOWNLOAD_BEARER),
    }
    for size_kb in DOWNLOADS_KB:
        took = {
            name: _known(session, _download(aqm, size_kb), completion_s)
            for name, aqm in aqms.items()
        }
        difference = compared(
            session.values(_download(aqms["drop-tail"], size_kb), completion_s),
            session.values(_download(aqms["SBD"], size_kb), completion_s),
            session,
        )
        holds = holds and difference is not None and difference.low > 0
        listed = ", ".join(f"{name} {found.mean:.2f}" for name, found in took.items())
        measured.append(f"4 downloads of {size_kb} kB: {listed} s")
        values[f"size_kb={size_kb}"] = {name: found.mean for name, found in took.items()}
    return Statement(
        "short-downloads",
        "Multiple downloads of short files gain by SBD (§7).",
        f"{DOWNLOAD_BEARER} kbit/s, four downloads at once: their mean time with SBD is shorter "
        "than with drop-tail, the interval of the difference run by run above 0, for each size.",
        holds,
        measured,
        values,
    )


DOWNLOAD_CELLS: list[Cell] = [
    _download(aqm, size_kb)
    for size_kb in DOWNLOADS_KB
    for aqm in (DropTail(), _sbd(DOWNLOAD_BEARER), _red(DOWNLOAD_BEARER))
]

# --- alpha -------------------------------------------------------------------------------------

ALPHAS = (1, 2, 3, 5, 7, 10, 15)
HIGH = 0.97
"""Share of the largest goodput from which a setting counts."""

NEAR_BEST = 1.2


def _with_alpha(bearer: int, alpha: int) -> list[Case]:
    settings = (Sbd(int(t_r), _sbd(bearer).min_th, alpha) for t_r in strengths("sbd", 2))
    return [Case(bearer, 1, setting, use=CHECKED) for setting in settings]


def _lowest_delay(session: Session, cases: Sequence[Case], least_kbps: float) -> float | None:
    """Return the lowest delay at a goodput of at least `least_kbps`; None if there is none."""
    enough = [case for case in cases if _known(session, case, goodput_kbps).mean >= least_kbps]
    return min((_known(session, case, delay_s).mean for case in enough), default=None)


def _alpha(session: Session) -> Statement:
    measured, values, holds = [], {}, True
    for bearer in SWEPT:
        cases = {alpha: _with_alpha(bearer, alpha) for alpha in ALPHAS}
        most = max(_known(session, c, goodput_kbps).mean for row in cases.values() for c in row)
        lowest = {a: _lowest_delay(session, row, HIGH * most) for a, row in cases.items()}
        best = min(delay for delay in lowest.values() if delay is not None)
        chosen = lowest[5]
        holds = holds and chosen is not None and chosen <= NEAR_BEST * best
        listed = [f"α = {a}: {f'{d:.2f} s' if d else 'no setting'}" for a, d in lowest.items()]
        measured.append(f"{bearer} kbit/s: {', '.join(listed)}")
        values[f"bearer={bearer}"] = {f"alpha={a}": delay for a, delay in lowest.items()}
    return Statement(
        "alpha",
        "α = 5 SDUs is near its optimum (§5).",
        f"One flow, minth of Table 3: the lowest delay over T_r at {HIGH:.0%} of the largest "
        f"goodput with α = 5 is at most {NEAR_BEST:g} times the lowest with any α of "
        f"{', '.join(map(str, ALPHAS))}.",
        holds,
        measured,
        values,
    )


ALPHA_CELLS: list[Cell] = [
    case for bearer in SWEPT for alpha in ALPHAS for case in _with_alpha(bearer, alpha)
]

# --- over-buffering ----------------------------------------------------------------------------

SIZES = (20, 40, 80)
NEWCOMER_S = 20.0
WINDOW_S = 10.0
JOINED = Use(
    duration_s=NEWCOMER_S + WINDOW_S, newcomer_s=NEWCOMER_S, replications=20, record=("delivered",)
)


def _buffered(size: int) -> Case:
    return Case(384, 2, DropTail(size), use=JOINED)


def _jains(session: Session, case: Case) -> list[float]:
    times = (NEWCOMER_S, NEWCOMER_S + WINDOW_S)
    return [
        jain_in_windows(session.series(case, "delivered", run), case.flows, WINDOW_S, times)
        for run in range(len(session.replications(case)))
    ]


def _over_buffering(session: Session) -> Statement:
    rtts = {size: _known(session, _buffered(size), rtt_s).mean for size in SIZES}
    jains = {size: _jains(session, _buffered(size)) for size in SIZES}
    mean = {size: sum(found) / len(found) for size, found in jains.items()}
    rises = all(after > before for before, after in pairwise(rtts.values()))
    falls = all(after < before for before, after in pairwise(mean.values()))
    difference = compared(jains[SIZES[0]], jains[SIZES[-1]], session)
    return Statement(
        "over-buffering",
        "Too large a drop-tail buffer inflates the RTT and makes the sharing unfair (§2).",
        f"384 kbit/s, a second flow joins after {NEWCOMER_S:g} s: from each buffer to the next "
        f"larger one the mean RTT rises and Jain's index of what the two get in the {WINDOW_S:g} s "
        "from then on falls; the interval of the difference between smallest and largest, run by "
        "run, is above 0.",
        rises and falls and difference is not None and difference.low > 0,
        [f"{size} SDUs: mean RTT {rtts[size]:.2f} s, Jain {mean[size]:.3f}" for size in SIZES],
        {f"buffer={size}": {"rtt_s": rtts[size], "jain": mean[size]} for size in SIZES},
    )


# --- reconfiguration ---------------------------------------------------------------------------

SWITCHED = Use(duration_s=65.0, warmup_s=50.0, replications=60, switch=True)


def _switched() -> dict[str, Case]:
    aqms: dict[str, Aqm | ByRate] = {
        "drop-tail": DropTail(),
        "SBD as for 384": _sbd(384),
        "SBD reconfigured": ByRate("sbd"),
        "RED as for 384": _red(384),
        "RED reconfigured": ByRate("red"),
    }
    return {name: Case(384, 2, aqm, use=SWITCHED) for name, aqm in aqms.items()}


def _is_less(
    session: Session, case: Case, other: Case, measure: Callable[[Mapping[str, Any]], float]
) -> bool:
    """Whether the interval of the differences, run by run, is below 0."""
    difference = compared(session.values(case, measure), session.values(other, measure), session)
    return difference is not None and difference.high < 0


def _reconfiguration(session: Session) -> Statement:
    cases = _switched()
    lost = {name: _known(session, case, overflows).mean for name, case in cases.items()}
    delays = {name: _known(session, case, delay_s).mean for name, case in cases.items()}
    holds = all(
        _is_less(session, cases[f"{aqm} reconfigured"], cases["drop-tail"], overflows)
        and _is_less(session, cases[f"{aqm} reconfigured"], cases[f"{aqm} as for 384"], delay_s)
        for aqm in ("SBD", "RED")
    )
    return Statement(
        "reconfiguration",
        "Automatic reconfiguration avoids over-buffering when the bearer drops from 384 to "
        "128 kbit/s (§6, Figs. 14 and 15).",
        "Two flows, the 15 s after the change: with reconfigured SBD and RED the delay is less "
        "than with the settings for 384 kbit/s, and fewer SDUs overflow than with drop-tail; the "
        "intervals of both differences run by run are below 0. That reconfiguring lessens the "
        "overflow too is not asked for: with SBD it does not.",
        holds,
        [f"{name}: {lost[name]:.2f} overflow drops, delay {delays[name]:.2f} s" for name in cases],
        {name: {"overflows": lost[name], "delay_s": delays[name]} for name in cases},
    )


# --- the conclusions ---------------------------------------------------------------------------

CONCLUDED = {"goodput": 12.0, "delay": -45.0}
"""Average improvements for one flow, per cent (sbd-2006 §7)."""

POINTS = 8.0


def _conclusions(session: Session) -> Statement:
    found = averages(session)
    assert found is not None
    both = {
        quantity: sum(each[quantity] for each in found.values()) / len(found)
        for quantity in CONCLUDED
    }
    holds = all(abs(both[quantity] - CONCLUDED[quantity]) <= POINTS for quantity in CONCLUDED)
    return Statement(
        "conclusions",
        "Compared to drop-tail, delay falls by about 45 % and goodput rises by 12 % for one flow "
        "(§7).",
        f"The averages over the bearers and over SBD and RED are within {POINTS:g} percentage "
        "points of that.",
        holds,
        [
            *(
                f"{aqm.upper()}: goodput {each['goodput']:+.1f} %, delay {each['delay']:+.1f} %"
                for aqm, each in found.items()
            ),
            f"both: goodput {both['goodput']:+.1f} %, delay {both['delay']:+.1f} %",
        ],
        {**found, "both": both},
    )


def _spec(key: str, cells: Sequence[Cell], check: Callable[[Session], Statement]) -> StatementSpec:
    return StatementSpec(key, list(dict.fromkeys(cells)), check)


STATEMENTS: tuple[StatementSpec, ...] = (
    _spec("reaction-time", REACTION_CELLS, _reaction_time),
    _spec("minth-bdp", MIN_TH_CELLS, _min_th),
    _spec(
        "slow-start",
        [case for flows in START_FLOWS for case in _start_cases(flows).values()],
        _slow_start,
    ),
    _spec("short-downloads", DOWNLOAD_CELLS, _downloads),
    _spec("alpha", ALPHA_CELLS, _alpha),
    _spec("over-buffering", [_buffered(size) for size in SIZES], _over_buffering),
    _spec("reconfiguration", list(_switched().values()), _reconfiguration),
    _spec("conclusions", TABLE6_CELLS, _conclusions),
)
"""Every statement that is checked."""
