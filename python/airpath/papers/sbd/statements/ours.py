"""Measures of ours beside the statements: weaker than what the text says, or of something near it.

Their criteria were settled after first numbers had been seen. They say by how much a claim holds
and that the engine behaves as it did; they are no test of the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from airpath.papers.kit.base import Statement
from airpath.papers.kit.session import Session
from airpath.papers.kit.statements import known, means, spec
from airpath.papers.sbd.clouds import strengths
from airpath.papers.sbd.data import DropTail, Sbd
from airpath.papers.sbd.measures import (
    compared,
    delay_s,
    goodput_kbps,
    jain_in_windows,
    overflows,
    rtt_s,
)
from airpath.papers.sbd.scenarios import Case, Use
from airpath.papers.sbd.statements.change import SWITCHED_CELLS, changed, switched
from airpath.papers.sbd.statements.common import (
    CHECKED,
    FLAT,
    SWEPT,
    T_R_MS,
    is_less,
    sbd_proposed,
    sweep,
)
from airpath.papers.sbd.statements.settings import ALPHAS, at_least_2_bdp
from airpath.papers.sbd.statements.start import START_FLOWS, slow_start_statement, start_cases

__all__ = ["OURS"]

# --- T_r ---------------------------------------------------------------------------------------

UP_TO_CHOSEN_MS: Final = {384: (50, 100, 200), 128: (50, 200, 500, 1300)}
"""T_r up to that of Table 3, by bearer, ms: each about twice the one before or more."""


def _up_to_chosen(bearer: int) -> list[Case]:
    min_th = sbd_proposed(bearer).min_th
    return [Case(bearer, 1, Sbd(t_r, min_th), use=CHECKED) for t_r in UP_TO_CHOSEN_MS[bearer]]


def _rising_t_r(session: Session) -> Statement:
    holds, measured, values = True, [], {}
    for bearer in SWEPT:
        upto = _up_to_chosen(bearer)
        goodputs, delays = means(session, upto, goodput_kbps), means(session, upto, delay_s)
        flat = min(after / max(goodputs[: n + 1]) for n, after in enumerate(goodputs))
        falls = all(after < before for before, after in pairwise(delays))
        holds = holds and flat >= FLAT and falls
        measured.append(
            f"{bearer} kbit/s, minth {sbd_proposed(bearer).min_th}, T_r "
            f"{', '.join(map(str, UP_TO_CHOSEN_MS[bearer]))} ms: delay "
            f"{', '.join(f'{one:.2f}' for one in delays)} s, goodput {goodputs[0]:.1f} to "
            f"{goodputs[-1]:.1f} kbit/s, never below {flat:.1%} of what a smaller T_r gave"
        )
        values[f"bearer={bearer}"] = {"flat": flat, "delay_s": delays}
    return Statement(
        "rising-t-r",
        "Ours, weaker than `reaction-time`: a larger T_r costs little of what a smaller one gives.",
        "With minth of Table 3, up to its T_r, each delay is below the one before and each "
        f"goodput at least {FLAT:.0%} of every one before; that it may rise does not count.",
        holds,
        measured,
        values,
        of_paper=False,
    )


# --- minth -------------------------------------------------------------------------------------

KEPT: Final = 0.8


def _min_ths(bearer: int) -> tuple[int, ...]:
    return 5, at_least_2_bdp(bearer), 30


def _kept_goodput(session: Session) -> Statement:
    measured, values, holds = [], {}, True
    for bearer in SWEPT:
        goodputs = {n: means(session, sweep(bearer, n), goodput_kbps) for n in _min_ths(bearer)}
        best = max(map(max, goodputs.values()))
        kept = {min_th: min(found) / best for min_th, found in goodputs.items()}
        holds = holds and min(kept[at_least_2_bdp(bearer)], kept[30]) >= KEPT
        listed = ", ".join(f"{share:.0%} with minth {min_th}" for min_th, share in kept.items())
        measured.append(f"{bearer} kbit/s: lowest share of the largest goodput {listed}")
        values[f"bearer={bearer}"] = {f"minth={min_th}": share for min_th, share in kept.items()}
    return Statement(
        "kept-goodput",
        "Ours, weaker than `minth-bdp`: what is left of the goodput over the whole range of T_r.",
        f"For every T_r from {T_R_MS[0]:g} to {T_R_MS[-1]:g} ms, the goodput is at least "
        f"{KEPT:.0%} of the largest with the smallest minth of the grid from 2 BDP on, and with "
        "the largest.",
        holds,
        measured,
        values,
        of_paper=False,
    )


# --- slow start --------------------------------------------------------------------------------

FIRST_LOSSES: Final = Use(duration_s=6.0, replications=100)


def _first_losses(session: Session) -> Statement:
    found = slow_start_statement(
        session,
        "first-losses",
        "Ours, weaker than `slow-start`: the first 6 s, slow start and the losses that end it.",
        FIRST_LOSSES,
    )
    return replace(found, of_paper=False)


# --- alpha -------------------------------------------------------------------------------------

HIGH: Final = 0.97
"""Share of the largest goodput from which a setting counts."""

NEAR_BEST: Final = 1.2


def _with_alpha(bearer: int, alpha: int) -> list[Case]:
    settings = (Sbd(int(t_r), sbd_proposed(bearer).min_th, alpha) for t_r in strengths("sbd", 2))
    return [Case(bearer, 1, setting, use=CHECKED) for setting in settings]


def _lowest_delay(session: Session, cases: Sequence[Case], least_kbps: float) -> float | None:
    """Return the lowest delay at a goodput of at least `least_kbps`; None if there is none."""
    enough = [case for case in cases if known(session, case, goodput_kbps).mean >= least_kbps]
    return min(means(session, enough, delay_s), default=None)


def _alpha_delay(session: Session) -> Statement:
    measured, values, holds = [], {}, True
    for bearer in SWEPT:
        cases = {alpha: _with_alpha(bearer, alpha) for alpha in ALPHAS}
        most = max(max(means(session, row, goodput_kbps)) for row in cases.values())
        lowest = {a: _lowest_delay(session, row, HIGH * most) for a, row in cases.items()}
        best = min(delay for delay in lowest.values() if delay is not None)
        chosen = lowest[5]
        holds = holds and chosen is not None and chosen <= NEAR_BEST * best
        listed = [f"α = {a}: {f'{d:.2f} s' if d else 'no setting'}" for a, d in lowest.items()]
        measured.append(f"{bearer} kbit/s: {', '.join(listed)}")
        values[f"bearer={bearer}"] = {f"alpha={a}": delay for a, delay in lowest.items()}
    return Statement(
        "alpha-delay",
        "Ours, weaker than `alpha`: how short the delay can be with each α.",
        f"One flow, minth of Table 3: the lowest delay over T_r at {HIGH:.0%} of the largest "
        f"goodput with α = 5 is at most {NEAR_BEST:g} times the lowest with any α of "
        f"{', '.join(map(str, ALPHAS))}.",
        holds,
        measured,
        values,
        of_paper=False,
    )


# --- over-buffering ----------------------------------------------------------------------------

SIZES: Final = (20, 40, 80)
NEWCOMER_S: Final = 20.0
WINDOW_S: Final = 10.0
JOINED: Final = Use(
    duration_s=NEWCOMER_S + WINDOW_S, newcomer_s=NEWCOMER_S, replications=20, record=("delivered",)
)


def _joined(size: int) -> Case:
    return Case(384, 2, DropTail(size), use=JOINED)


def _jains(session: Session, case: Case) -> list[float]:
    times = (NEWCOMER_S, NEWCOMER_S + WINDOW_S)
    return [
        jain_in_windows(session.series(case, "delivered", run), case.flows, WINDOW_S, times)
        for run in range(len(session.replications(case)))
    ]


def _newcomer(session: Session) -> Statement:
    rtts = dict(zip(SIZES, means(session, [_joined(n) for n in SIZES], rtt_s), strict=True))
    jains = {size: _jains(session, _joined(size)) for size in SIZES}
    mean = {size: sum(found) / len(found) for size, found in jains.items()}
    rises = all(after > before for before, after in pairwise(rtts.values()))
    falls = all(after < before for before, after in pairwise(mean.values()))
    difference = compared(jains[SIZES[0]], jains[SIZES[-1]], session)
    return Statement(
        "newcomer",
        "Ours, of something near `over-buffering`: what a flow gets that joins another.",
        f"384 kbit/s, a second flow joins after {NEWCOMER_S:g} s: from each buffer to the next "
        f"larger one the mean RTT rises and Jain's index of what the two get in the {WINDOW_S:g} s "
        "from then on falls; the interval of the difference between smallest and largest, run by "
        "run, is above 0.",
        rises and falls and difference is not None and difference.low > 0,
        [f"{size} SDUs: mean RTT {rtts[size]:.2f} s, Jain {mean[size]:.3f}" for size in SIZES],
        {f"buffer={size}": {"rtt_s": rtts[size], "jain": mean[size]} for size in SIZES},
        of_paper=False,
    )


# --- reconfiguration ---------------------------------------------------------------------------


def _less_after_the_change(session: Session) -> Statement:
    cases = switched()
    lost, delays, lines = changed(session)
    holds = all(
        is_less(session, cases[f"{aqm} reconfigured"], cases["drop-tail"], overflows)
        and is_less(session, cases[f"{aqm} reconfigured"], cases[f"{aqm} as for 384"], delay_s)
        for aqm in ("SBD", "RED")
    )
    return Statement(
        "less-after-the-change",
        "Ours, weaker than `reconfiguration`: less delay and less overflow when the rate falls.",
        "Two flows, the 15 s after the change: with reconfigured SBD and RED the delay is less "
        "than with the settings for 384 kbit/s, and fewer SDUs overflow than with drop-tail; the "
        "intervals of both differences run by run are below 0.",
        holds,
        lines,
        {name: {"overflows": lost[name], "delay_s": delays[name]} for name in lost},
        of_paper=False,
    )


OURS: Final = (
    spec("rising-t-r", [case for bearer in SWEPT for case in _up_to_chosen(bearer)], _rising_t_r),
    spec(
        "kept-goodput",
        [case for bearer in SWEPT for n in _min_ths(bearer) for case in sweep(bearer, n)],
        _kept_goodput,
    ),
    spec(
        "first-losses",
        [case for flows in START_FLOWS for case in start_cases(flows, FIRST_LOSSES).values()],
        _first_losses,
    ),
    spec(
        "alpha-delay",
        [case for bearer in SWEPT for alpha in ALPHAS for case in _with_alpha(bearer, alpha)],
        _alpha_delay,
    ),
    spec("newcomer", [_joined(size) for size in SIZES], _newcomer),
    spec("less-after-the-change", SWITCHED_CELLS, _less_after_the_change),
)
